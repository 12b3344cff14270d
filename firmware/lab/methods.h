/*
 * The table of problems and the kernels that solve them, for evaluators, operation counts, help and
 * messages. The first method of a problem is its default.
 *
 *     X(problem, method, form, kernel, scratch, paper, products, sums)
 *
 * form states how the kernel is called (firmware/lab/batch_body.inc). GENERATED is code made for
 * one arm, including its rotors; the kernel beside it is the general one that computes the same.
 * paper names the source of the published count, for revolute joints without rotors and friction;
 * it is "" if there is none. products (with divisions) and sums are that count as polynomials {n^3,
 * n^2, n, 1}. The product image contains only the methods of its tick, for `appell selftest`.
 */
#ifndef FIRMWARE_LAB_METHODS_H
#define FIRMWARE_LAB_METHODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/params/variant.h"

/* X(NAME, "name", length of a row divided by n, "meaning of the numbers") */
#define PROBLEM_TABLE(X)                                                                           \
    X(ID, "id", 3, "q qd qdd")                                                                     \
    X(MASS, "mass", 1, "q")                                                                        \
    X(FD, "fd", 3, "q qd tau")                                                                     \
    X(BIAS, "bias", 2, "q qd")                                                                     \
    X(GRAVITY, "gravity", 1, "q")                                                                  \
    X(CORIOLIS, "coriolis", 2, "q qd")                                                             \
    X(FK, "fk", 1, "q")                                                                            \
    X(JACOBIAN, "jacobian", 1, "q")                                                                \
    X(VOLT, "volt", 2, "qd tau")

typedef enum {
#define X(name, text, blocks, meaning) PROBLEM_##name,
    PROBLEM_TABLE(X)
#undef X
        PROBLEM_COUNT
} problem_t;

// clang-format off
#define NO_PAPER "", {0}, {0}
// clang-format on

#define METHOD_TABLE(X)                                                                            \
    X(ID, fast, INVERSE, fast_inverse, fast_scratch, "Balafoutis, Patel 1991", {0, 0, 93, -108},   \
      {0, 0, 81, -100})                                                                            \
    LAB_X(X, ID, ne, INVERSE, ne_inverse, ne_scratch, "Luh, Walker, Paul 1980", {0, 0, 150, -48},  \
          {0, 0, 131, -48})                                                                        \
    LAB_X(X, ID, ga, INVERSE, ga_inverse, ga_scratch, "Mata et al. 2002", {0, 0, 96, -101},        \
          {0, 0, 84, -100})                                                                        \
    LAB_X(X, ID, denoc, INVERSE, denoc_inverse, denoc_scratch, "Saha 1999", {0, 0, 120, -44},      \
          {0, 0, 97, -55})                                                                         \
    X(ID, gen, GENERATED, fast_inverse, fast_scratch, NO_PAPER)                                    \
    X(MASS, fast, MASS, fast_mass, fast_scratch, "best published CRBA", {0, 10, 22, -32},          \
      {0, 6, 37, -43})                                                                             \
    LAB_X(X, MASS, crba, MASS, crba_mass, crba_scratch, "Walker, Orin 1982", {0, 12, 56, -27},     \
          {0, 7, 67, -56})                                                                         \
    LAB_X(X, MASS, ga, MASS, ga_mass, ga_scratch, "Mata et al. 2002", {0, 11.5, 19.5, -49},        \
          {0, 8.5, 31.5, -69})                                                                     \
    LAB_X(X, MASS, denoc, MASS, denoc_mass, denoc_mass_scratch, NO_PAPER)                          \
    LAB_X(X, MASS, wo1, MASS, wo1_mass, wo1_scratch, NO_PAPER)                                     \
    X(MASS, gen, GENERATED, fast_mass, fast_scratch, NO_PAPER)                                     \
    LAB_X(X, FD, fast, FORWARD, fast_forward, fast_forward_scratch, NO_PAPER)                      \
    LAB_X(X, FD, crba, FORWARD, crba_forward, crba_forward_scratch, NO_PAPER)                      \
    LAB_X(X, FD, ga, FORWARD, ga_forward, ga_forward_scratch, "Mata et al. 2002",                  \
          {1 / 6., 13, 695 / 6., -157}, {1 / 6., 10, 683 / 6., -174})                              \
    LAB_X(X, FD, aba, FORWARD, aba_forward, aba_scratch, "best published ABA", {0, 0, 224, -259},  \
          {0, 0, 205, -248})                                                                       \
    LAB_X(X, FD, denoc, FORWARD, denoc_forward, denoc_forward_scratch,                             \
          "Saha 1999, bias not counted", {0, 0, 201, -335}, {0, 0, 193, -361})                     \
    LAB_X(X, FD, gen, GENERATED, fast_forward, fast_forward_scratch, NO_PAPER)                     \
    X(BIAS, fast, BIAS, fast_bias, fast_scratch, NO_PAPER)                                         \
    LAB_X(X, BIAS, ne, BIAS, ne_bias, ne_scratch, NO_PAPER)                                        \
    LAB_X(X, BIAS, ga, BIAS, ga_bias, ga_scratch, "Mata et al. 2002", {0, 0, 96, -108},            \
          {0, 0, 83, -105})                                                                        \
    LAB_X(X, BIAS, denoc, BIAS, denoc_bias, denoc_scratch, NO_PAPER)                               \
    X(BIAS, gen, GENERATED, fast_bias, fast_scratch, NO_PAPER)                                     \
    X(GRAVITY, fast, GRAVITY, fast_gravity, fast_scratch, NO_PAPER)                                \
    LAB_X(X, GRAVITY, ne, REST, ne_bias, ne_scratch, NO_PAPER)                                     \
    LAB_X(X, GRAVITY, ga, REST, ga_bias, ga_scratch, NO_PAPER)                                     \
    LAB_X(X, GRAVITY, denoc, GRAVITY, denoc_gravity, denoc_scratch, NO_PAPER)                      \
    X(GRAVITY, gen, GENERATED, fast_gravity, fast_scratch, NO_PAPER)                               \
    LAB_X(X, CORIOLIS, denoc, CORIOLIS, denoc_coriolis, denoc_coriolis_scratch, NO_PAPER)          \
    LAB_X(X, FK, only, POSE, pose, ne_scratch, NO_PAPER)                                           \
    LAB_X(X, FK, gen, GENERATED, pose, ne_scratch, NO_PAPER)                                       \
    LAB_X(X, JACOBIAN, only, JACOBIAN, jacobian, ne_scratch, NO_PAPER)                             \
    LAB_X(X, JACOBIAN, gen, GENERATED, jacobian, ne_scratch, NO_PAPER)                             \
    X(VOLT, only, VOLT, voltage, ne_scratch, NO_PAPER)

typedef enum {
#define X(problem, method, ...) METHOD_##problem##_##method,
    METHOD_TABLE(X)
#undef X
        METHOD_COUNT
} method_id_t;

typedef struct {
    problem_t problem;
    const char *name;
    const char *paper;
    double products[4], sums[4];
} method_t;

extern const method_t method_table[METHOD_COUNT];

const char *problem_name(problem_t problem);
/* For example "q qd qdd". */
const char *problem_meaning(problem_t problem);
/* Return the length of an input and of an output row for n joints. */
size_t problem_inputs(problem_t problem, uint32_t n);
size_t problem_outputs(problem_t problem, uint32_t n);

/* Whether the method is code generated for one arm. */
bool method_generated(method_id_t method);
/* Returns the name of a method, or "-" if the problem has only one method for every arm. */
const char *method_name(method_id_t method);
/* Returns the method with this name, the default method if name is NULL, or METHOD_COUNT if there
 * is no such method. */
method_id_t method_find(problem_t problem, const char *name);
/* Writes a list of the methods, for example "fast, ne, ga". */
void method_list(problem_t problem, char *out, size_t size);

#endif
