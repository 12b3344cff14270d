/* Fuzz target of the reader of URDF files. */
#include "test/fuzz/fuzz_robot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_robot_one(data, size);
    return 0;
}
