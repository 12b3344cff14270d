/*
 * Fuzz targets of the readers, and a plain driver for machines without a fuzzing compiler. clang
 * uses the same targets: `make fuzz-yaml` (-urdf, -parts, -image; test/tests.mk).
 */
#ifndef TEST_FUZZ_FUZZ_ROBOT_H
#define TEST_FUZZ_FUZZ_ROBOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/robot/robot.h"

#ifdef TEST_LONG
#define FUZZ_SECONDS 600.0
#else
#define FUZZ_SECONDS 2.0
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Prints what is wrong and ends the program with abort(). */
_Noreturn void fuzz_failed(const char *what);
/* Returns memory that the caller frees; without memory the program ends. */
void *fuzz_memory(size_t size) __attribute__((returns_nonnull));

/*
 * Lets the reader load any bytes. It must not crash, and must report an error exactly when it does
 * not load them; a robot that loads can be checked and saved, and loads again as the identical
 * model. Ends the program if a check fails. Returns true if the robot loaded; then the caller frees
 * `robot` and `copy`, which is the robot loaded again. options: as for robot_parse.
 */
bool fuzz_robot_load(const uint8_t *data, size_t size, const robot_options_t *options,
                     robot_t *robot, robot_t *copy);
/* Does the same and frees everything. */
void fuzz_robot_one(const uint8_t *data, size_t size);

typedef struct {
    const void *bytes;
    size_t size;
} fuzz_seed_t;

typedef struct {
    const char *const *files; /* seeds as files, or NULL */
    const fuzz_seed_t *seeds; /* seeds as bytes, ended by one of size 0, or NULL */
    const char *const *words; /* tokens of the language; NULL: binary, words of 4 bytes */
} fuzz_plan_t;

/* Tries random mutations of the seeds for this many seconds of processor time; `seed` starts the
 * random numbers. Returns the number of inputs. */
uint64_t fuzz_drive(const fuzz_plan_t *plan, double seconds, uint64_t seed);
/* Returns the number of inputs that loaded so far. A run in which none loaded has tested little. */
uint64_t fuzz_loaded(void);

#endif
