/* ops: prints the operation counts of every kernel for this arm, beside those of the papers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/args/arm.h"
#include "tools/cmd/commands.h"
#include "tools/eval/eval.h"
#include "tools/eval/eval_gen.h"
#include "tools/image/gen_robot.h"
#include "tools/cli/json.h"
#include "tools/eval/ops_elastic.h"
#include "tools/cli/out.h"
#include "tools/cli/diagnostics.h"

static long polynomial(const double c[4], double n) {
    return lround(((c[0] * n + c[1]) * n + c[2]) * n + c[3]);
}

static void print_csv(const dyn_model_t *model) {
    out_text("problem,method,mul,add\n");
    for (int i = 0; i < METHOD_COUNT; i++) {
        const count_ops_t ops = eval_count_ops(model, (method_id_t)i);
        out_format("%s,%s,%ld,%ld\n", problem_name(method_table[i].problem),
                   method_name((method_id_t)i), ops.mul, ops.add);
    }
}

static void print_json(const robot_t *robot) {
    json_begin(NULL);
    json_string("robot", robot->name);
    json_integer("joints", (long)robot->n);
    json_list("kernels");
    for (int i = 0; i < METHOD_COUNT; i++) {
        const method_t *m = &method_table[i];
        const count_ops_t ops = eval_count_ops(&robot->model, (method_id_t)i);
        json_begin(NULL);
        json_string("problem", problem_name(m->problem));
        json_string("method", method_name((method_id_t)i));
        json_integer("mul", ops.mul);
        json_integer("add", ops.add);
        json_integer("div", ops.div);
        json_integer("sqrt", ops.sqrt);
        json_integer("sincos", ops.sincos);
        if (*m->paper) {
            json_string("paper", m->paper);
            json_integer("paper_mul", polynomial(m->products, robot->n));
            json_integer("paper_add", polynomial(m->sums, robot->n));
        }
        json_end();
    }
    json_list_end();
    json_end();
}

static void print_text(const robot_t *robot) {
    bool prismatic = false;
    for (uint32_t i = 0; i < robot->n; i++)
        prismatic = prismatic || robot->model.joint[i].type == DYN_PRISMATIC;
    out_format("%s, %u joints: operations of one call, the kernel alone (no friction, no wrench; "
               "rotors only in method gen)\n\n",
               robot->name, (unsigned)robot->n);
    out_format("%-9s %-7s %7s %7s %5s %5s %7s   %s\n", "problem", "method", "mul", "add", "div",
               "sqrt", "sincos", "paper: mul, add");
    for (int i = 0; i < METHOD_COUNT; i++) {
        const method_t *m = &method_table[i];
        const count_ops_t ops = eval_count_ops(&robot->model, (method_id_t)i);
        out_format("%-9s %-7s %7ld %7ld %5ld %5ld %7ld", problem_name(m->problem),
                   method_name((method_id_t)i), ops.mul, ops.add, ops.div, ops.sqrt, ops.sincos);
        if (*m->paper)
            out_format("   %ld, %ld (%s)", polynomial(m->products, robot->n),
                       polynomial(m->sums, robot->n), m->paper);
        out_text("\n");
    }
    out_text(
        "\nMethod gen is the code of `appell gen`: it contains the constants of this robot, rotors "
        "included; its changes of sign and sums of angles are not counted.\n");
    out_text("The papers count divisions and square roots as multiplications");
    out_text(prismatic ? " and cover revolute joints only; this arm has other joints.\n" : ".\n");
}

/* -------------------------------------------------------------------------------- elastic links */

/* Computes the operation counts of Table 2 of paper 004, for n links of which nf have m modes each.
 * Both are -1 if the elastic links differ in their number of modes, which the table does not
 * cover. */
static void paper_004(const dyn_flex_model_t *flex, uint32_t joints, long *mul, long *add) {
    double n = joints, nf = 0, m = 0;
    *mul = *add = -1;
    for (uint32_t i = 0; i < joints; i++) {
        const uint32_t modes = dyn_flex_modes(&flex->link[i]);
        if (modes > 0 && nf > 0 && modes != m)
            return;
        nf += modes > 0;
        m = modes > 0 ? modes : m;
    }
    *mul = lround(-15 * m - 790.5 * n + 6 * m * nf + 475.5 * n * n + 18 * m * m +
                  42 * m * m * nf * nf + 30 * m * nf * nf - 60 * m * m * nf + 300);
    *add = lround(6 * m - 553 * n - 49.5 * m * nf + 351 * n * n + 18 * m * m +
                  53.5 * m * m * nf * nf + 52.5 * m * nf * nf - 89.5 * m * m * nf + 188);
}

static const struct {
    const char *problem, *help;
} elastic_rows[OPS_ELASTIC_COUNT] = {
#define X(name, problem, help) {problem, help},
    OPS_ELASTIC_TABLE(X)
#undef X
};

static void elastic_text(const robot_t *robot, const dyn_flex_model_t *flex) {
    long mul, add;
    paper_004(flex, robot->n, &mul, &add);
    out_format("%s, %u joints and %u modes: operations of one call, without rotors, friction and "
               "wrench\n(the paper is Korayem, Shafei 2009)\n\n%-9s %7s %7s %5s %5s %7s   %s\n",
               robot->name, (unsigned)robot->n,
               (unsigned)(dyn_flex_size(&robot->model, flex) - robot->n), "problem", "mul", "add",
               "div", "sqrt", "sincos", "what");
    for (int i = 0; i < OPS_ELASTIC_COUNT; i++) {
        const count_ops_t ops = ops_elastic(&robot->model, flex, (ops_elastic_t)i);
        out_format("%-9s %7ld %7ld %5ld %5ld %7ld   %s", elastic_rows[i].problem, ops.mul, ops.add,
                   ops.div, ops.sqrt, ops.sincos, elastic_rows[i].help);
        if (i == OPS_ELASTIC_EQUATIONS && mul >= 0)
            out_format("; the paper: %ld mul, %ld add", mul, add);
        out_text("\n");
    }
}

static void elastic_json(const robot_t *robot, const dyn_flex_model_t *flex) {
    long mul, add;
    paper_004(flex, robot->n, &mul, &add);
    json_begin(NULL);
    json_string("robot", robot->name);
    json_integer("joints", (long)robot->n);
    json_integer("modes", (long)(dyn_flex_size(&robot->model, flex) - robot->n));
    json_list("kernels");
    for (int i = 0; i < OPS_ELASTIC_COUNT; i++) {
        const count_ops_t ops = ops_elastic(&robot->model, flex, (ops_elastic_t)i);
        json_begin(NULL);
        json_string("problem", elastic_rows[i].problem);
        json_string("method", "flex");
        json_integer("mul", ops.mul);
        json_integer("add", ops.add);
        json_integer("div", ops.div);
        json_integer("sqrt", ops.sqrt);
        json_integer("sincos", ops.sincos);
        if (i == OPS_ELASTIC_EQUATIONS && mul >= 0) {
            json_string("paper", "Korayem, Shafei 2009");
            json_integer("paper_mul", mul);
            json_integer("paper_add", add);
        }
        json_end();
    }
    json_list_end();
    json_end();
}

static int elastic_run(const request_t *request, const robot_t *robot) {
    dyn_flex_model_t flex;
    if (arm_flex(request, robot, &flex) != EXIT_YES)
        return EXIT_BAD;
    if (request_has(request, OPTION_JSON)) {
        elastic_json(robot, &flex);
    } else if (request_has(request, OPTION_CSV)) {
        out_text("problem,method,mul,add\n");
        for (int i = 0; i < OPS_ELASTIC_COUNT; i++) {
            const count_ops_t ops = ops_elastic(&robot->model, &flex, (ops_elastic_t)i);
            out_format("%s,flex,%ld,%ld\n", elastic_rows[i].problem, ops.mul, ops.add);
        }
    } else {
        elastic_text(robot, &flex);
    }
    return EXIT_YES;
}

int cmd_ops(const request_t *request) {
    long effort = 0;
    if (request_has(request, OPTION_EFFORT) &&
        request_integer(request, OPTION_EFFORT, 0, 10000, &effort) != EXIT_YES)
        return EXIT_BAD;
    eval_gen_effort = (double)effort / GEN_EFFORT;
    if (request_has(request, OPTION_CSV) && request_has(request, OPTION_JSON))
        return diag_error(NULL, "leave one of them out",
                          "--csv and --json cannot be used together");
    robot_t *robot = arm_load_compute(request);
    int status = EXIT_YES;
    if (!robot)
        return EXIT_BAD;
    if (arm_elastic(request, robot))
        status = elastic_run(request, robot);
    else if (request_has(request, OPTION_CSV))
        print_csv(&robot->model);
    else if (request_has(request, OPTION_JSON))
        print_json(robot);
    else
        print_text(robot);
    arm_free(robot);
    return status;
}
