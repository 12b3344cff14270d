/*
 * Fuzz targets of the readers and the plain driver for machines without a fuzzing compiler. With
 * clang a target is used as it is: `make fuzz-yaml` (-urdf, -parts, -image; test/robot_tests.mk).
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

/* Says what is broken and ends the program with abort(). */
_Noreturn void fuzz_failed(const char *what);
/* Memory to be freed, or the end. */
void *fuzz_memory(size_t size) __attribute__((returns_nonnull));

/*
 * Whatever the bytes: no crash, an error exactly when it does not load; and what loads can be
 * checked, saved, and loads again into the identical model. Ends the program where that is broken.
 * True where it loaded; then `robot` and the `copy` that was loaded from what was saved are to be
 * freed. options as for robot_parse.
 */
bool fuzz_robot_load(const uint8_t *data, size_t size, const robot_options_t *options,
                     robot_t *robot, robot_t *copy);
/* The same with nothing left behind. */
void fuzz_robot_one(const uint8_t *data, size_t size);

typedef struct {
    const void *bytes;
    size_t size;
} fuzz_seed_t;

typedef struct {
    const char *const *files; /* seeds as files, or NULL */
    const fuzz_seed_t *seeds; /* and as bytes, ended by one of size 0, or NULL */
    const char *const *words; /* pieces of the language; NULL: binary, words of 4 bytes */
} fuzz_plan_t;

/* Seeded mutations for so many seconds of processor time; returns the number of inputs tried. */
uint64_t fuzz_drive(const fuzz_plan_t *plan, double seconds, uint64_t seed);
/* How many inputs loaded so far: a run in which none did has tested little. */
uint64_t fuzz_loaded(void);

#endif
