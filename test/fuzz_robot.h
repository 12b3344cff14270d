/*
 * Fuzz targets of the readers and the plain driver for machines without a fuzzing compiler. With
 * clang a target is used as it is: clang -fsanitize=fuzzer,address test/fuzz_robot_yaml.c
 * test/fuzz_robot.c ...
 */
#ifndef TEST_FUZZ_ROBOT_H
#define TEST_FUZZ_ROBOT_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Whatever the bytes: no crash, an error exactly when it does not load; and what loads can be
 * checked, saved, and loads again into the identical model. Ends the program with abort() where
 * that is broken.
 */
void fuzz_robot_one(const uint8_t *data, size_t size);

/* Seeded mutations of the seed files for so many seconds; returns the number of inputs tried. */
uint64_t fuzz_drive(const char *const *seeds, const char *const *words, double seconds,
                    uint64_t seed);

#endif
