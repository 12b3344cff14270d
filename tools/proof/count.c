/* Implements tools/proof/count.h: the counters of operations. */
#include "tools/proof/count.h"

static count_ops_t ops;

void count_begin(void) {
    ops = (count_ops_t){0};
}

dyn_real_count_t count_input(double value) {
    return (dyn_real_count_t){value, false};
}

dyn_real_count_t count_op(count_op_t op, double value) {
    switch (op) {
    case COUNT_ADD:
        ops.add++;
        break;
    case COUNT_MUL:
        ops.mul++;
        break;
    case COUNT_DIV:
        ops.div++;
        break;
    case COUNT_SQRT:
        ops.sqrt++;
        break;
    case COUNT_SINCOS:
        ops.sincos++;
        break;
    }
    return (dyn_real_count_t){value, false};
}

count_ops_t count_all(void) {
    return ops;
}
