/* Counts the operations of the kernels for one arm. */
#include "tools/eval/eval.h"

#include "tools/proof/real_count.h"

#define REAL_IN(value, exponent)  ((void)(exponent), count_input(value))
#define REAL_OUT(value, exponent) ((void)(exponent), (value).v)
#define ANGLE_IN(rad)             count_input(rad)
#define BATCH_BEGIN()             ((void)0)
#define BATCH_OVERFLOWS()         0
#define EVAL_FIXED                false
#define EVAL_GEN_REAL             GEN_F64
/* eval_count_arm counts the generated graph itself */
#define EVAL_GENERATED(gen, in, out) ((void)(in), (void)(out))
#define EVAL_NO_TYPE

#include "tools/eval/eval_body.inc"

count_ops_t eval_count_ops(const dyn_model_t *model, method_id_t method) {
    static dyn_model_t plain;
    plain = *model;
    for (uint32_t i = 0; i < plain.n && !method_generated(method); i++)
        plain.joint[i].drive.motor.rotor_inertia = 0;
    return eval_count_arm(&plain, method);
}

count_ops_t eval_count_arm(const dyn_model_t *model, method_id_t method) {
    static const double rest[3 * DYN_MAX_JOINTS];
    int status;
    count_ops_t ops = {0};
    if (method_generated(method))
        return eval_gen_count(model, method_table[method].problem);
    evaluator_t *e = make(model, NULL, NULL, &status);
    if (!e)
        return ops;
    convert_in(e, method_table[method].problem, rest);
    count_begin();
    (void)call(e, method);
    ops = count_all();
    drop(e);
    return ops;
}
