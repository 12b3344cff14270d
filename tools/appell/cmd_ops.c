/* ops: operation counts of every kernel for this arm, beside those of the papers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/appell/arm.h"
#include "tools/appell/commands.h"
#include "tools/appell/eval.h"
#include "tools/appell/eval_gen.h"
#include "tools/appell/gen_robot.h"
#include "tools/appell/json.h"
#include "tools/appell/out.h"
#include "tools/appell/say.h"

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
    bool slides = false;
    for (uint32_t i = 0; i < robot->n; i++)
        slides = slides || robot->model.joint[i].type == DYN_PRISMATIC;
    out_format("%s, %u joints: operations of one call, the kernel alone (no rotors, friction, "
               "wrench)\n\n",
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
    out_text("\nMethod gen is `appell gen`: the constants of this robot are numbers in it, its "
             "rotors included; "
             "signs and sums of angles are not counted.\n");
    out_text("The papers count divisions and roots as multiplications");
    out_text(slides ? " and know revolute joints only; this arm has others.\n" : ".\n");
}

int ops_run(const request_t *request) {
    long effort = GEN_EFFORT;
    if (request_has(request, OPTION_EFFORT) &&
        request_integer(request, OPTION_EFFORT, 0, 10000, &effort) != EXIT_YES)
        return EXIT_BAD;
    eval_gen_effort = (double)effort / GEN_EFFORT;
    robot_t *robot = arm_load_rigid(request);
    if (!robot)
        return EXIT_BAD;
    if (request_has(request, OPTION_CSV))
        print_csv(&robot->model);
    else if (request_has(request, OPTION_JSON))
        print_json(robot);
    else
        print_text(robot);
    arm_free(robot);
    return EXIT_YES;
}
