/* info: prints what is known about an arm after reading it, and the cost of computing with it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/args/arm.h"
#include "tools/args/budget.h"
#include "tools/cmd/commands.h"
#include "tools/eval/eval.h"
#include "tools/cli/json.h"
#include "tools/cli/out.h"
#include "tools/cli/diagnostics.h"
#include "tools/proof/units.h"

static const char *format_name(robot_format_t format) {
    static const char *const names[] = {"robot file", "URDF", "parts database", "robot image"};
    return names[format];
}

static const char *convention_name(dyn_convention_t convention) {
    static const char *const names[] = {"dh", "mdh", "frames"};
    return names[convention];
}

/* Returns the feedback that the board uses; without a value in the file, that is its default. */
static const char *feedback_name(const robot_t *robot) {
    static const char *const names[] = {"off", "pd", "computed_torque"};
    return names[robot->has & IMAGE_HAS_FEEDBACK ? robot->feedback : FEEDBACK_PD];
}

static const char *type_name(dyn_joint_type_t type) {
    return type == DYN_PRISMATIC ? "prismatic" : "revolute";
}

static double total_mass(const dyn_model_t *model) {
    double sum = model->payload.mass;
    for (uint32_t i = 0; i < model->n; i++)
        sum += model->joint[i].link.mass;
    return sum;
}

/* Returns an upper bound of the distance from the first axis' origin to the end effector, over all
 * poses. A prismatic joint without limits counts with q = 0. */
static double longest_reach(const dyn_model_t *model) {
    double reach = sqrt(model->tool.p[0] * model->tool.p[0] + model->tool.p[1] * model->tool.p[1] +
                        model->tool.p[2] * model->tool.p[2]);
    for (uint32_t i = 0; i < model->n; i++) {
        const dyn_model_joint_t *j = &model->joint[i];
        const double *l = j->drive.limits.position;
        double d = fabs(j->d);
        if (j->type == DYN_PRISMATIC && l[1] > l[0])
            d = fmax(fabs(j->d + l[0]), fabs(j->d + l[1]));
        reach += hypot(j->a, d);
    }
    return reach;
}

/* True if a prismatic joint has no position limits. */
static bool unbounded(const dyn_model_t *model) {
    for (uint32_t i = 0; i < model->n; i++) {
        const double *l = model->joint[i].drive.limits.position;
        if (model->joint[i].type == DYN_PRISMATIC && !(l[1] > l[0]))
            return true;
    }
    return false;
}

static double cycles(const budget_core_t *core, const dyn_model_t *model, method_id_t method) {
    const count_ops_t ops = eval_count_arm(model, method);
    return budget_cycles(core, method, (double)(ops.mul + ops.add + ops.div + ops.sqrt));
}

typedef struct {
    int status;
    dyn_units_t units;
    double error; /* largest guaranteed error of a torque, relative to its bound */
} proof_t;

static proof_t prove(const dyn_model_t *model) {
    proof_t proof = {.status = DYN_E_NUMBER};
    range_report_t *report = calloc(1, sizeof *report);
    if (report)
        proof.status = units_prove(model, &proof.units, report);
    for (uint32_t i = 0; proof.status == DYN_OK && i < model->n; i++)
        if (report->tau_bound[i] > 0)
            proof.error = fmax(proof.error, report->tau_error[i] / report->tau_bound[i]);
    free(report);
    return proof;
}

/* ----------------------------------------------------------------------------------------- text */

static void limit(const robot_joint_t *joint, uint32_t has, double value) {
    if (joint->has & has)
        out_format(" %8.4g", value);
    else
        out_format(" %8s", "-");
}

static void print_joints(const robot_t *robot) {
    int width = 18;
    for (uint32_t i = 0; i < robot->n; i++)
        width =
            (int)strlen(robot->joint[i].name) > width ? (int)strlen(robot->joint[i].name) : width;
    out_format("\n%-3s %-*s %-9s %9s %9s %9s %9s %9s\n", "", width, "joint", "type", "alpha", "a",
               "theta", "d", "mass");
    for (uint32_t i = 0; i < robot->n; i++) {
        const dyn_model_joint_t *j = &robot->model.joint[i];
        out_format("%-3u %-*s %-9s %9.5g %9.5g %9.5g %9.5g %9.5g%s\n", (unsigned)i + 1, width,
                   robot->joint[i].name, type_name(j->type), j->alpha, j->a, j->theta, j->d,
                   j->link.mass, robot->joint[i].elastic ? " elastic" : "");
    }
    out_text("    (modified DH, as in the kernels; in rad, m and kg)\n");
    out_format("\n%-3s %-*s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n", "", width, "limits and drive",
               "from", "to", "velocity", "accel.", "torque", "gear", "rotor", "viscous", "volt");
    for (uint32_t i = 0; i < robot->n; i++) {
        const robot_joint_t *r = &robot->joint[i];
        const dyn_drive_t *d = &robot->model.joint[i].drive;
        out_format("%-3u %-*s", (unsigned)i + 1, width, r->name);
        limit(r, IMAGE_JOINT_HAS_POSITION, d->limits.position[0]);
        limit(r, IMAGE_JOINT_HAS_POSITION, d->limits.position[1]);
        limit(r, IMAGE_JOINT_HAS_VELOCITY, d->limits.velocity);
        limit(r, IMAGE_JOINT_HAS_ACCELERATION, d->limits.acceleration);
        limit(r, IMAGE_JOINT_HAS_TORQUE, d->limits.torque);
        limit(r, ROBOT_JOINT_MOTOR, d->motor.gear);
        limit(r, IMAGE_JOINT_HAS_ROTOR_INERTIA, dyn_model_rotor(&robot->model.joint[i]));
        limit(r, IMAGE_JOINT_HAS_VISCOUS, d->friction.viscous);
        limit(r, IMAGE_JOINT_HAS_VOLTAGE, d->motor.voltage);
        out_text("\n");
    }
    out_text("    (rotor: inertia of the rotor at the joint side of the gear; -: not given)\n");
}

static void print_cycles(const robot_t *robot, const budget_core_t *core, method_id_t method) {
    const double count = cycles(core, &robot->model, method);
    if (count < 0)
        out_format(" %9s %8s  ", "-", "");
    else
        out_format(" %9.0f %8.2f %%", count, 100 * count * robot->rate_hz / core->clock_hz);
}

static void print_cost(const robot_t *robot) {
    const dyn_model_t *model = &robot->model;
    out_format("\nmemory      constants %zu bytes (f32), %zu (q31); the table gives the scratch "
               "memory of each kernel\n",
               eval_f32.arm_bytes(robot->n), eval_q31.arm_bytes(robot->n));
    out_format("\n%-9s %-7s %6s %6s %10s", "problem", "method", "mul", "add", "scratch");
    for (int c = 0; c < BUDGET_CORES; c++)
        out_format(" %9s %10s", budget_core[c].title, "of a tick");
    out_text("\n");
    for (int i = 0; i < METHOD_COUNT; i++) {
        const method_id_t method = (method_id_t)i;
        if (method_generated(method))
            continue; /* generating takes too long here; `appell ops` counts this method */
        const count_ops_t ops = eval_count_ops(model, method);
        out_format("%-9s %-7s %6ld %6ld %8zu B", problem_name(method_table[i].problem),
                   method_name(method), ops.mul, ops.add, eval_f32.scratch_bytes(method, robot->n));
        for (int c = 0; c < BUDGET_CORES; c++)
            print_cycles(robot, &budget_core[c], method);
        out_text("\n");
    }
    out_format(
        "    (cycles of one call, estimated from the rows of `make bench`; a tick at %g Hz has\n"
        "    ",
        robot->rate_hz);
    for (int c = 0; c < BUDGET_CORES; c++)
        out_format("%s%.0f cycles on %s", c ? ", " : "", budget_core[c].clock_hz / robot->rate_hz,
                   budget_core[c].board);
    out_text(")\n");
}

static void print_proof(const robot_t *robot) {
    char missing[80];
    for (uint32_t i = 0; i < robot->n; i++) {
        units_missing(&robot->model, i, missing, sizeof missing);
        if (*missing) {
            out_format("q31         not provable: joint %s has no limits of %s\n",
                       robot->joint[i].name, missing);
            return;
        }
    }
    const proof_t proof = prove(&robot->model);
    if (proof.status != DYN_OK)
        out_text(
            "q31         not provable: it can overflow within these limits, whatever the units\n");
    else
        out_format("q31         proved within the limits, in units of 2^%d m and 2^%d s; the error "
                   "of a torque is at most %.1e times the bound of that torque\n",
                   proof.units.length, proof.units.time, proof.error);
}

static void print_text(const robot_t *robot) {
    out_format("robot       %s (%s, %s)\n", robot->name, robot->file, format_name(robot->format));
    out_format("convention  %s\n", convention_name(robot->convention));
    out_format("joints      %u\n", (unsigned)robot->n);
    out_format("mass        %.6g kg\n", total_mass(&robot->model));
    out_format("reach       at most %.4g m from the first axis%s\n", longest_reach(&robot->model),
               unbounded(&robot->model) ? ", with q = 0 for prismatic joints without limits" : "");
    out_format("gravity     %g %g %g m/s^2 in the base frame of the file\n", robot->gravity[0],
               robot->gravity[1], robot->gravity[2]);
    if (robot->payload.mass != 0)
        out_format("payload     %.6g kg\n", robot->payload.mass);
    out_format("control     %g Hz, feedback %s\n", robot->rate_hz, feedback_name(robot));
    print_proof(robot);
    print_joints(robot);
    print_cost(robot);
}

/* ----------------------------------------------------------------------------------------- JSON */

static void json_optional(const robot_joint_t *joint, uint32_t has, const char *key, double value) {
    if (joint->has & has)
        json_number(key, value);
}

static void json_joint(const robot_t *robot, uint32_t i) {
    const robot_joint_t *r = &robot->joint[i];
    const dyn_model_joint_t *j = &robot->model.joint[i];
    const dyn_drive_t *d = &j->drive;
    json_begin(NULL);
    json_string("name", r->name);
    json_string("link", r->link_name);
    json_string("type", type_name(j->type));
    json_bool("elastic", r->elastic);
    json_number("alpha", j->alpha);
    json_number("a", j->a);
    json_number("theta", j->theta);
    json_number("d", j->d);
    json_number("mass", j->link.mass);
    json_numbers("com", j->link.com, 3, 17);
    json_numbers("inertia", j->link.inertia, 6, 17);
    if (r->has & IMAGE_JOINT_HAS_POSITION)
        json_numbers("position", d->limits.position, 2, 17);
    json_optional(r, IMAGE_JOINT_HAS_VELOCITY, "velocity", d->limits.velocity);
    json_optional(r, IMAGE_JOINT_HAS_ACCELERATION, "acceleration", d->limits.acceleration);
    json_optional(r, IMAGE_JOINT_HAS_TORQUE, "torque", d->limits.torque);
    json_optional(r, IMAGE_JOINT_HAS_RESISTANCE, "resistance", d->motor.resistance);
    json_optional(r, IMAGE_JOINT_HAS_TORQUE_CONSTANT, "torque_constant", d->motor.torque_constant);
    json_optional(r, ROBOT_JOINT_MOTOR, "gear", d->motor.gear);
    json_optional(r, IMAGE_JOINT_HAS_ROTOR_INERTIA, "rotor_inertia", d->motor.rotor_inertia);
    json_optional(r, IMAGE_JOINT_HAS_VOLTAGE, "voltage", d->motor.voltage);
    json_optional(r, IMAGE_JOINT_HAS_VISCOUS, "viscous", d->friction.viscous);
    if (r->has & IMAGE_JOINT_HAS_COULOMB)
        json_numbers("coulomb", d->friction.coulomb, 2, 17);
    json_optional(r, IMAGE_JOINT_HAS_COUNTS, "encoder_counts", r->encoder.counts);
    json_optional(r, IMAGE_JOINT_HAS_KP, "kp", r->kp);
    json_optional(r, IMAGE_JOINT_HAS_KD, "kd", r->kd);
    json_end();
}

static void print_json(const robot_t *robot) {
    const dyn_model_t *model = &robot->model;
    json_begin(NULL);
    json_string("robot", robot->name);
    json_string("file", robot->file);
    json_string("format", format_name(robot->format));
    json_string("convention", convention_name(robot->convention));
    json_bool("elastic", robot->elastic);
    json_integer("n", (long)robot->n);
    json_number("mass", total_mass(model));
    json_number("reach", longest_reach(model));
    json_numbers("gravity", robot->gravity, 3, 17);
    json_number("payload_mass", robot->payload.mass);
    json_number("rate_hz", robot->rate_hz);
    json_string("feedback", feedback_name(robot));
    const proof_t proof = prove(model);
    json_bool("q31_proved", proof.status == DYN_OK);
    if (proof.status == DYN_OK) {
        json_integer("q31_length_exponent", proof.units.length);
        json_integer("q31_time_exponent", proof.units.time);
        json_number("q31_relative_error", proof.error);
    }
    json_list("joints");
    for (uint32_t i = 0; i < robot->n; i++)
        json_joint(robot, i);
    json_list_end();
    json_integer("constants_bytes_f32", (long)eval_f32.arm_bytes(robot->n));
    json_integer("constants_bytes_q31", (long)eval_q31.arm_bytes(robot->n));
    json_list("kernels");
    for (int i = 0; i < METHOD_COUNT; i++) {
        const method_id_t method = (method_id_t)i;
        if (method_generated(method))
            continue; /* generating takes too long here; `appell ops` counts this method */
        const count_ops_t ops = eval_count_ops(model, method);
        json_begin(NULL);
        json_string("problem", problem_name(method_table[i].problem));
        json_string("method", method_name(method));
        json_integer("mul", ops.mul);
        json_integer("add", ops.add);
        json_integer("scratch_bytes_f32", (long)eval_f32.scratch_bytes(method, robot->n));
        for (int c = 0; c < BUDGET_CORES; c++) {
            const double count = cycles(&budget_core[c], model, method);
            char key[64];
            snprintf(key, sizeof key, "cycles_estimate_%s_%s", budget_core[c].board,
                     budget_core[c].real);
            if (count >= 0)
                json_number(key, count);
        }
        json_end();
    }
    json_list_end();
    json_end();
}

int cmd_info(const request_t *request) {
    robot_t *robot = arm_load(request, NULL);
    if (!robot)
        return EXIT_BAD;
    if (robot->elastic && !request_has(request, OPTION_QUIET))
        diag_note(robot->file, "elastic links are shown as stiff beams");
    if (request_has(request, OPTION_JSON))
        print_json(robot);
    else
        print_text(robot);
    arm_free(robot);
    return EXIT_YES;
}
