/* Batch evaluation: runs rows of numbers through the kernels of a build. With `--port` the tool
 * lets a board compute them. An evaluator contains one prepared arm and the scratch of any method,
 * in one number type. The caller provides its memory. */
#ifndef FIRMWARE_LAB_BATCH_H
#define FIRMWARE_LAB_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dyn/model/model.h"
#include "dyn/number/q31.h"
#include "firmware/params/image.h"
#include "firmware/lab/methods.h"

/* An error in addition to those of dyn_status_t: a sum left the number format (q31, if the build
 * checks it). */
enum { BATCH_OVERFLOW = -100 };

typedef struct evaluator evaluator_t;

/* X(NAME, name): the number types, in the order of the bits that state which types a build has. */
#define BATCH_REAL_TABLE(X)                                                                        \
    X(F32, f32)                                                                                    \
    X(F64, f64)                                                                                    \
    X(Q31, q31)

typedef enum {
#define X(name, text) BATCH_##name,
    BATCH_REAL_TABLE(X)
#undef X
        BATCH_REALS
} batch_real_t;

/* Bytes for an evaluator of any type that the board has, aligned as a double. */
#ifndef BATCH_EVALUATOR_ROOM
#ifdef FIRMWARE_LAB
#define BATCH_EVALUATOR_ROOM 19584
#else
#define BATCH_EVALUATOR_ROOM (512 + DYN_MAX_JOINTS * (512 + 4 * DYN_MAX_JOINTS))
#endif
#endif

typedef struct {
    /* Whether the generated code in this build is for the arm of this image. */
    bool (*fits)(const image_t *image);
    /* Returns DYN_OK or the error of dyn_prepare. */
    int (*prepare)(evaluator_t *evaluator, const dyn_model_t *model, const dyn_units_t *units);
    /* Allows or forbids the method gen for the prepared arm. It is forbidden until this function is
     * called. */
    void (*allow)(evaluator_t *evaluator, bool generated_fits);
    void (*wrench)(evaluator_t *evaluator, const double wrench[6]);
    /* Returns DYN_OK, or the reason why this arm does not have the method in this type. */
    int (*ready)(const evaluator_t *evaluator, method_id_t method);
    /* Returns DYN_OK, DYN_E_PIVOT or BATCH_OVERFLOW. in and out may be the same memory. */
    int (*row)(evaluator_t *evaluator, method_id_t method, const double *in, double *out,
               uint32_t *limited);
    uint32_t (*cost)(const evaluator_t *evaluator); /* cost of the last kernel call */
} batch_type_t;

#define X(name, text) extern const batch_type_t batch_##text;
BATCH_REAL_TABLE(X)
#undef X

#endif
