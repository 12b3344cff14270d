/* torture: writes an image into simulated flash while the power fails at every single operation. */
#include <stdlib.h>
#include <string.h>

#include "firmware/link/server.h"
#include "tools/args/arm.h"
#include "tools/args/board.h"
#include "tools/cmd/commands.h"
#include "tools/cli/out.h"
#include "tools/cli/diagnostics.h"
#include "tools/link/power_cut.h"

/* Size of the slots as on the STM32F4, but with pages of 1 KB, so that there are more erasures to
 * interrupt. */
enum { SLOT_BYTES = 128 * 1024, PAGE_BYTES = 1024, UNIT = 4 };

/* Makes a set as the request SAVE writes it, but without parameters. */
static uint8_t *set_of(const uint8_t *image, size_t length, uint32_t *size) {
    *size = (uint32_t)(SET_IMAGE + length + 12);
    uint8_t *set = calloc(1, *size);
    if (!set)
        return NULL;
    put_u32(set, SET_VERSION);
    put_u32(set + 4, (uint32_t)length);
    memcpy(set + SET_IMAGE, image, length);
    return set;
}

static int torture(const uint8_t *image, size_t length, uint64_t repetitions) {
    uint32_t size;
    uint8_t *set = set_of(image, length, &size);
    uint8_t *memory = malloc(2 * SLOT_BYTES);
    power_cut_result_t result;
    static const uint8_t old[] = "the set before";
    int status = EXIT_NO;
    if (!set || !memory) {
        free(set);
        free(memory);
        return diag_no_memory();
    }
    memset(memory, 0xff, 2 * SLOT_BYTES);
    power_cut_flash_t flash = {.slot_bytes = SLOT_BYTES,
                               .page_bytes = PAGE_BYTES,
                               .unit = UNIT,
                               .memory = memory,
                               .random = 1};
    const int lost = power_cut_torture(&flash, old, sizeof old, set, size, repetitions, &result);
    out_format("%llu writes of a set of %u bytes; the power failed in %llu of them, in every pass "
               "once at each of the %llu flash operations\n",
               (unsigned long long)result.sequences, (unsigned)size,
               (unsigned long long)result.cuts,
               (unsigned long long)(repetitions > 0 ? result.cuts / repetitions : 0));
    if (lost == 0) {
        out_format("after these failures the store always held a complete set: %llu times the old "
                   "one, %llu times the new one\n",
                   (unsigned long long)result.kept, (unsigned long long)result.made);
        status = EXIT_YES;
    } else {
        diag_error(NULL, "this is a bug: please report it", "a set was lost at write %llu",
                   (unsigned long long)result.sequences);
    }
    free(set);
    free(memory);
    return status;
}

int cmd_torture(const request_t *request) {
    long repetitions = 1;
    if (request_has(request, OPTION_TIMES) &&
        request_integer(request, OPTION_TIMES, 1, 1000000, &repetitions) != EXIT_YES)
        return EXIT_BAD;
    robot_t *robot = arm_load(request, NULL);
    if (!robot)
        return EXIT_BAD;
    size_t length = 0;
    uint8_t *image = board_image(request, robot, &length);
    arm_free(robot);
    const int status = image ? torture(image, length, (uint64_t)repetitions) : EXIT_BAD;
    free(image);
    return status;
}
