/* Implements firmware/link/batch_port.h. Memory is used twice: image and model are needed only
 * while the arm is prepared. */
#include "firmware/link/batch_port.h"

#if defined(BATCH_HAS_F32) || defined(BATCH_HAS_F64) || defined(BATCH_HAS_Q31)

#include "firmware/params/image.h"
#include "firmware/lab/batch.h"
#include "firmware/control/clock.h"

#include <string.h>

enum { ROW_NUMBERS = DYN_MAX_JOINTS * DYN_MAX_JOINTS };

static union {
    double aligned;
    uint8_t evaluator[BATCH_EVALUATOR_ROOM];
    image_t image;
} work;

typedef union {
    double numbers[ROW_NUMBERS];
    dyn_model_t model;
} row_t;

static row_t *row; /* in the memory of incoming images */

static const batch_type_t *type; /* type of the arm in the evaluator; NULL: no arm */

enum {
    HAS = 0
#ifdef BATCH_HAS_F32
          | 1 << BATCH_F32
#endif
#ifdef BATCH_HAS_F64
          | 1 << BATCH_F64
#endif
#ifdef BATCH_HAS_Q31
          | 1 << BATCH_Q31
#endif
};

static const batch_type_t *const types[BATCH_REALS] = {
#ifdef BATCH_HAS_F32
    [BATCH_F32] = &batch_f32,
#endif
#ifdef BATCH_HAS_F64
    [BATCH_F64] = &batch_f64,
#endif
#ifdef BATCH_HAS_Q31
    [BATCH_Q31] = &batch_q31,
#endif
};

static void board_describe(void *context, uint8_t method, uint8_t *problem,
                           const char **problem_text, const char **method_text) {
    (void)context;
    *problem = (uint8_t)method_table[method].problem;
    *problem_text = problem_name(method_table[method].problem);
    *method_text = method_name((method_id_t)method);
}

static evaluator_t *evaluator(void) {
    return (evaluator_t *)(void *)work.evaluator;
}

/* Puts the model into the memory of the rows, and the prepared arm into the memory of
 * the image. */
static int board_load(void *context, uint8_t real, const uint8_t *image, size_t size) {
    dyn_units_t units;
    (void)context;
    type = NULL;
    const int status = image_read(image, size, &work.image, NULL);
    if (status != IMAGE_OK)
        return APP_E_IMAGE + status;
    if (image_model(&work.image, &row->model) != DYN_OK)
        return APP_E_ARM;
    const bool proved = image_units(&work.image, &units);
    if (real != BATCH_Q31)
        memset(&units, 0, sizeof units);
    else if (!proved)
        return APP_E_UNPROVED;
    const bool fits = types[real]->fits(&work.image);
    if (types[real]->prepare(evaluator(), &row->model, &units) != DYN_OK)
        return APP_E_UNITS;
    types[real]->allow(evaluator(), fits);
    type = types[real];
    return APP_OK;
}

static int board_wrench(void *context, const double wrench[6]) {
    (void)context;
    if (type == NULL)
        return LINK_ORDER;
    type->wrench(evaluator(), wrench);
    return LINK_OK;
}

static int board_run(void *context, uint8_t method, int *reason, uint32_t *limited,
                     uint32_t *cost) {
    (void)context;
    if (method >= METHOD_COUNT)
        return LINK_INDEX;
    if (type == NULL)
        return LINK_ORDER;
    if (type->ready(evaluator(), (method_id_t)method) != DYN_OK) {
        *reason = method_generated((method_id_t)method) ? APP_E_GENERATED : APP_E_UNITS;
        return LINK_APP;
    }
    const int status =
        type->row(evaluator(), (method_id_t)method, row->numbers, row->numbers, limited);
    *cost = app_clock_cost(type->cost(evaluator()));
    *reason = status == DYN_OK ? APP_OK : APP_E_ARM;
    return status == DYN_OK ? LINK_OK : LINK_APP;
}

const server_batch_t *batch_service(void *memory, size_t size) {
    static server_batch_t service = {.methods = METHOD_COUNT,
                                     .reals = HAS,
                                     .describe = board_describe,
                                     .load = board_load,
                                     .wrench = board_wrench,
                                     .row_room = ROW_NUMBERS,
                                     .run = board_run};
    row = memory;
    service.row = row->numbers;
    return size >= sizeof *row ? &service : NULL;
}

#else

const server_batch_t *batch_service(void *memory, size_t size) {
    (void)memory;
    (void)size;
    return NULL;
}

#endif
