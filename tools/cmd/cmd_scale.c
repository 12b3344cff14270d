/* scale: proves that q31 cannot overflow for an arm, and prints its units and its accuracy. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/args/arm.h"
#include "tools/cmd/commands.h"
#include "tools/cli/json.h"
#include "tools/cli/out.h"
#include "tools/cli/progress.h"
#include "tools/cli/diagnostics.h"
#include "tools/proof/units.h"
#include "tools/proof/verify.h"

typedef struct {
    robot_t *robot;
    int status; /* status of units_prove */
    dyn_units_t units;
    range_report_t report;
    bool verified;
    verify_t verify;
} scale_t;

/* Names of intermediates in words for users, and advice on how to make each smaller. */
static const struct {
    const char *name, *quantity, *cure;
} quantities[] = {
    {"w", "angular velocity",
     "lower the velocity limits of this joint and of the joints before it"},
    {"wd", "angular acceleration",
     "lower the limits of acceleration and velocity of this joint and of the joints before it"},
    {"a", "acceleration of the origin of the joint frame",
     "lower the limits of acceleration and velocity of the joints before this one"},
    {"f", "force", "lower the limits of acceleration and velocity"},
    {"n", "moment", "lower the limits of acceleration and velocity"},
    {"tau", "torque", "lower the limits of acceleration and velocity, or the friction"},
    {"L", "first moment of what the joint carries",
     "shorten or lighten the links that this joint moves"},
    {"J", "inertia of what the joint carries",
     "shorten or lighten the links that this joint moves"},
    {"Jx", "product of inertia of what the joint carries",
     "shorten or lighten the links that this joint moves"},
    {"M", "element of the inertia matrix", "shorten or lighten the links that this joint moves"},
    {"rotor", "inertia of the rotor", "check gear and rotor_inertia"},
    {"viscous", "viscous friction", "check the friction, or lower the velocity limit"},
    {"const_m", "mass of the links", "check the masses: they differ by too much"},
    {"const_l", "first moment of the links", "check masses and centres of mass"},
    {"const_J", "inertia of the links", "check the inertias and the lengths"},
    {"const_Jx", "product of inertia of the links", "check the inertias and the lengths"},
};

static size_t quantity_of(const char *name) {
    size_t i = 0;
    while (i + 1 < sizeof quantities / sizeof quantities[0] &&
           strcmp(quantities[i].name, name) != 0)
        i++;
    return i;
}

static const range_entry_t *tightest(const scale_t *s) {
    return &s->report.entry[s->report.tightest];
}

static const char *joint_name(const scale_t *s, uint32_t joint) {
    return joint < s->robot->n ? s->robot->joint[joint].name : "?";
}

/* -------------------------------------------------------------------------------------- the arm */

static int need_limits(const robot_t *robot) {
    char missing[80];
    for (uint32_t i = 0; i < robot->n; i++) {
        units_missing(&robot->model, i, missing, sizeof missing);
        if (*missing)
            return diag_error(robot->file,
                              "give them under `limits:` in the robot file, or give velocity and "
                              "acceleration with --limits V,A",
                              "joint %s: the proof needs limits of %s", robot->joint[i].name,
                              missing);
    }
    return EXIT_YES;
}

/* ----------------------------------------------------------------------------------------- text */

static const char *torque_unit(const scale_t *s, uint32_t i) {
    return s->robot->model.joint[i].type == DYN_PRISMATIC ? "N" : "N m";
}

/* Returns the entry of this joint with the least headroom. */
static const range_entry_t *tightest_of(const scale_t *s, uint32_t joint) {
    const range_entry_t *best = NULL;
    for (uint32_t i = 0; i < s->report.entries; i++) {
        const range_entry_t *e = &s->report.entry[i];
        if (e->joint == joint && (!best || e->headroom < best->headroom))
            best = e;
    }
    return best;
}

static void print_joints(const scale_t *s) {
    out_format("\n%-3s %-18s %10s %10s %9s %9s  %s\n", "", "joint", "mass unit", "torque", "error",
               "headroom", "tightest intermediate");
    for (uint32_t i = 0; i < s->robot->n; i++) {
        const range_entry_t *e = tightest_of(s, i);
        char mass[16];
        snprintf(mass, sizeof mass, "2^%d kg", s->units.mass[i]);
        out_format("%-3u %-18s %10s %10.4g %9.1e %4.2f bits  %s (%s) in %s\n", (unsigned)i + 1,
                   joint_name(s, i), mass, s->report.tau_bound[i], s->report.tau_error[i],
                   e->headroom, quantities[quantity_of(e->name)].quantity, e->name, e->problem);
    }
    out_text(
        "    (torque and error are guaranteed bounds in N m or N, derived without sampling)\n");
}

static void print_proof(const scale_t *s) {
    const range_entry_t *e = tightest(s);
    out_format("units       2^%d m, 2^%d s; each joint has its own unit of mass, see the table\n",
               s->units.length, s->units.time);
    out_text(
        "q31         cannot overflow within these limits in inverse dynamics, bias, gravity and\n"
        "            inertia matrix (default methods, rotors and friction included)\n");
    out_format("headroom    at least %.2f bits; tightest value: %s (%s) of %s in %s\n", e->headroom,
               quantities[quantity_of(e->name)].quantity, e->name, joint_name(s, e->joint),
               e->problem);
    double worst = 0;
    for (uint32_t i = 0; i < s->robot->n; i++)
        if (s->report.tau_bound[i] > 0)
            worst = fmax(worst, s->report.tau_error[i] / s->report.tau_bound[i]);
    out_format("error       the error of a torque is at most %.1e times the bound of that torque\n",
               worst);
    out_text("fd          forward dynamics is not proved: its pivots depend on the state. q31\n"
             "            reports a bad pivot. `appell fd`, with or without --port, detects a sum\n"
             "            that overflows; the kernel alone does not\n");
    print_joints(s);
}

/* Prints the limit that contributes most to an overflow. A speed counts squared, because the sums
 * contain its square. */
static void print_largest(const scale_t *s, uint32_t last) {
    uint32_t which = 0;
    bool speed = false;
    double most = 0;
    for (uint32_t i = 0; i <= last && i < s->robot->n; i++) {
        const dyn_limits_t *l = &s->robot->model.joint[i].drive.limits;
        const double does[2] = {l->acceleration, l->velocity * l->velocity};
        for (int k = 0; k < 2; k++)
            if (does[k] > most) {
                most = does[k];
                which = i;
                speed = k == 1;
            }
    }
    const dyn_limits_t *l = &s->robot->model.joint[which].drive.limits;
    out_format("limits      the %s limit of %s, %g, contributes most to the overflow%s\n",
               speed ? "velocity" : "acceleration", joint_name(s, which),
               speed ? l->velocity : l->acceleration,
               speed ? ", because the sums contain its square" : "");
}

static void print_refusal(const scale_t *s) {
    const range_entry_t *e = tightest(s);
    const size_t k = quantity_of(e->name);
    out_text("q31         can overflow within these limits, whatever the units\n");
    if (s->report.entries == 0 || e->headroom >= 0)
        out_text("overflow    a constant of the drives or frames is too large; check gears, "
                 "friction and lengths\n");
    else
        out_format("overflow    %s (%s) of %s in %s has %.2f bits too many, even in the best "
                   "units\nchange      %s\n",
                   quantities[k].quantity, e->name, joint_name(s, e->joint), e->problem,
                   -e->headroom, quantities[k].cure);
    print_largest(s, e->joint);
}

static void print_verify(const scale_t *s) {
    const verify_t *v = &s->verify;
    const range_entry_t *e = &s->report.entry[v->loosest];
    out_format("\n%ld states: %ld overflows, %ld values outside of their bounds, %ld errors above "
               "the guaranteed bound\n",
               v->states, v->overflows, v->outside, v->above);
    out_format(
        "the loosest bound is %.2f bits above the largest value seen, for %s (%s) of %s in %s\n",
        v->loosest_bits, quantities[quantity_of(e->name)].quantity, e->name,
        joint_name(s, e->joint), e->problem);
    out_format("\n%-3s %-18s %-8s %10s %10s %11s %11s\n", "", "joint", "problem", "largest",
               "worst error", "of largest", "guaranteed");
    for (uint32_t i = 0; i < s->robot->n; i++)
        for (int p = 0; p < VERIFY_COUNT; p++) {
            const verify_joint_t *j = &v->joint[p][i];
            out_format("%-3u %-18s %-8s %10.4g %11.1e %11.1e %11.1e\n", (unsigned)i + 1,
                       joint_name(s, i), verify_name((verify_problem_t)p), j->largest, j->error,
                       j->largest > 0 ? j->error / j->largest : 0, j->allowed);
        }
}

static void print_text(const scale_t *s) {
    out_format("robot       %s (%s), %u joints\n", s->robot->name, s->robot->file,
               (unsigned)s->robot->n);
    if (s->status == DYN_OK)
        print_proof(s);
    else
        print_refusal(s);
    if (s->verified)
        print_verify(s);
}

/* ----------------------------------------------------------------------------------------- JSON */

static void json_entry(const scale_t *s, const char *key, const range_entry_t *e) {
    const size_t k = quantity_of(e->name);
    json_begin(key);
    json_string("problem", e->problem);
    json_string("name", e->name);
    json_string("quantity", quantities[k].quantity);
    json_string("joint", joint_name(s, e->joint));
    json_number("headroom_bits", e->headroom);
    json_numbers("bound", e->bound, (size_t)e->parts, 9);
    if (s->verified)
        json_number("seen", s->verify.seen[e - s->report.entry]);
    if (s->status != DYN_OK)
        json_string("change", quantities[k].cure);
    json_end();
}

static void json_verify(const scale_t *s) {
    const verify_t *v = &s->verify;
    json_begin("verify");
    json_integer("states", v->states);
    json_integer("overflows", v->overflows);
    json_integer("outside", v->outside);
    json_integer("above", v->above);
    json_number("loosest_bits", v->loosest_bits);
    json_entry(s, "loosest", &s->report.entry[v->loosest]);
    json_list("joints");
    for (uint32_t i = 0; i < s->robot->n; i++) {
        json_begin(NULL);
        json_string("name", joint_name(s, i));
        for (int p = 0; p < VERIFY_COUNT; p++) {
            const verify_joint_t *j = &v->joint[p][i];
            json_begin(verify_name((verify_problem_t)p));
            json_number("largest", j->largest);
            json_number("error", j->error);
            json_number("guaranteed", j->allowed);
            json_end();
        }
        json_end();
    }
    json_list_end();
    json_end();
}

static void print_json(const scale_t *s) {
    json_begin(NULL);
    json_string("robot", s->robot->name);
    json_string("file", s->robot->file);
    json_integer("n", (long)s->robot->n);
    json_bool("proved", s->status == DYN_OK);
    if (s->report.entries > 0)
        json_entry(s, "tightest", tightest(s));
    if (s->status == DYN_OK) {
        json_integer("length_exponent", s->units.length);
        json_integer("time_exponent", s->units.time);
        json_list("joints");
        for (uint32_t i = 0; i < s->robot->n; i++) {
            json_begin(NULL);
            json_string("name", joint_name(s, i));
            json_integer("mass_exponent", s->units.mass[i]);
            json_string("unit", torque_unit(s, i));
            json_number("torque_bound", s->report.tau_bound[i]);
            json_number("torque_error", s->report.tau_error[i]);
            json_end();
        }
        json_list_end();
        json_list("intermediates");
        for (uint32_t i = 0; i < s->report.entries; i++)
            json_entry(s, NULL, &s->report.entry[i]);
        json_list_end();
    }
    if (s->verified)
        json_verify(s);
    json_end();
}

/* -------------------------------------------------------------------------------------- command */

static void show_states(uint64_t done, uint64_t all) {
    progress_show("states", done, all);
}

static int verify(const request_t *request, scale_t *s) {
    long states = 0, seed = 1;
    if (!request_has(request, OPTION_VERIFY) || s->status != DYN_OK)
        return EXIT_YES;
    if (request_integer(request, OPTION_VERIFY, 1, 1000000000L, &states) != EXIT_YES ||
        (request_has(request, OPTION_SEED) &&
         request_integer(request, OPTION_SEED, 0, 1000000000L, &seed) != EXIT_YES))
        return EXIT_BAD;
    s->verified = verify_states(&s->robot->model, &s->units, &s->report, states, (uint64_t)seed,
                                show_states, &s->verify) == DYN_OK;
    return EXIT_YES;
}

static int prove(const request_t *request, scale_t *s) {
    int status = need_limits(s->robot);
    if (status != EXIT_YES)
        return status;
    s->status = units_prove(&s->robot->model, &s->units, &s->report);
    status = verify(request, s);
    if (status != EXIT_YES)
        return status;
    if (request_has(request, OPTION_JSON))
        print_json(s);
    else
        print_text(s);
    return s->status == DYN_OK && (!s->verified || verify_holds(&s->verify)) ? EXIT_YES : EXIT_NO;
}

int cmd_scale(const request_t *request) {
    scale_t *s = calloc(1, sizeof *s);
    if (!s)
        return diag_no_memory();
    s->robot = arm_load_rigid(request);
    const int status = s->robot ? prove(request, s) : EXIT_BAD;
    arm_free(s->robot);
    free(s);
    return status;
}
