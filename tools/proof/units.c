/* Bounds every method of inverse dynamics and chooses the units of q31 from the bounds. */
#include "tools/proof/units.h"

#include <stdio.h>
#include <string.h>

#include "firmware/params/image.h"

typedef dyn_real_range_t real;

/* Names the constants of the bodies about their origins, for methods that use them. A constant that
 * does not fit must count as an overflow. */
static void name_bodies(const dyn_arm_range_t *arm, real tau[]) {
    for (uint32_t i = 0; i < arm->n; i++) {
        const dyn_joint_range_t *j = &arm->joint[i];
        range_named_vec("const_ms", i, j->ms);
        range_named_vec("const_r", i, j->r);
        range_named_vec("const_I", i, range_vec_make(j->I.xx, j->I.yy, j->I.zz));
        range_named_vec("const_Ix", i, range_vec_make(j->I.xy, j->I.yz, j->I.xz));
    }
    if (dyn_ready_range(arm, DYN_NEEDS_BODIES) != DYN_OK)
        tau[0] = (real){-1e30, 1e30, 0};
}

static void denoc(const dyn_arm_range_t *arm, const real q[], const real qd[], const real qdd[],
                  real tau[]) {
    static dyn_denoc_scratch_range_t scratch;
    dyn_denoc_inverse_range(arm, &scratch, q, qd, qdd, tau);
    name_bodies(arm, tau);
}

static void drive(const dyn_arm_range_t *arm, const real qd[], const real qdd[], real tau[]) {
    dyn_rotor_inverse_range(arm, qdd, tau);
    dyn_friction_range(arm, qd, tau);
    if (dyn_ready_range(arm, DYN_NEEDS_DRIVES) != DYN_OK)
        tau[0] = (real){-1e30, 1e30, 0};
}

/* Names the elements of the inertia matrix. An element has the mass unit of the joint with the
 * smaller index. */
static void name_matrix(const dyn_arm_range_t *arm, real M[], real tau[]) {
    dyn_rotor_mass_range(arm, M);
    for (uint32_t i = 0; i < arm->n; i++)
        for (uint32_t j = 0; j <= i; j++)
            range_named_real("M", j, M[i * (i + 1) / 2 + j]);
    name_bodies(arm, tau);
}

typedef dyn_crba_scratch_range_t crba_scratch_t;
typedef dyn_wo1_scratch_range_t wo1_scratch_t;
typedef dyn_ga_scratch_range_t ga_scratch_t;
typedef dyn_fast_scratch_range_t fast_scratch_t;
typedef dyn_denoc_mass_scratch_range_t denoc_scratch_t;

/* Defines three kernels that bound a method: the nearest inverse dynamics alone, the same with the
 * method's own inertia matrix, and the same with the inertia matrix by composite bodies. */
#define BOUND_MATRIX(method, name, mass)                                                           \
    static void bound_##method##_##name(const dyn_arm_range_t *arm, const real q[],                \
                                        const real qd[], const real qdd[], real tau[]) {           \
        static mass##_scratch_t scratch;                                                           \
        static real M[DYN_MAX_JOINTS * (DYN_MAX_JOINTS + 1) / 2];                                  \
        bound_##method(arm, q, qd, qdd, tau);                                                      \
        dyn_##mass##_mass_range(arm, &scratch, q, M);                                              \
        name_matrix(arm, M, tau);                                                                  \
    }
#define BOUND(method, inverse, mass)                                                               \
    static void bound_##method(const dyn_arm_range_t *arm, const real q[], const real qd[],        \
                               const real qdd[], real tau[]) {                                     \
        inverse(arm, q, qd, qdd, tau);                                                             \
        drive(arm, qd, qdd, tau);                                                                  \
    }                                                                                              \
    BOUND_MATRIX(method, matrix, mass)                                                             \
    BOUND_MATRIX(method, bodies, crba)
BOUND(ne, range_ne, crba)
BOUND(wo1, range_ne, wo1)
BOUND(ga, range_ga, ga)
BOUND(fast, range_fast, fast)
BOUND(denoc, denoc, denoc)

static const struct {
    const char *name;
    range_inverse_t bound, matrix, bodies;
} bounds[] = {
#define ENTRY(method)                                                                              \
    { #method, bound_##method, bound_##method##_matrix, bound_##method##_bodies }
    ENTRY(ne), ENTRY(wo1), ENTRY(ga), ENTRY(fast), ENTRY(denoc)};

int units_prove(const dyn_model_t *model, dyn_units_t *units, range_report_t *report) {
    return range_choose_units(range_all, model, units, report);
}

int units_choose(const dyn_model_t *model, method_id_t method, dyn_units_t *units,
                 range_report_t *report) {
    const method_t *m = &method_table[method];
    if (method == method_find(m->problem, NULL)) {
        const int status = units_prove(model, units, report);
        if (status != DYN_E_UNITS)
            return status;
    }
    /* Methods that are not in the table, such as crba and aba, use the bounds of ne. */
    size_t which = 0;
    const char *name = method_generated(method) ? "fast" : m->name;
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
        if (!strcmp(bounds[i].name, name))
            which = i;
    if (m->problem != PROBLEM_MASS && m->problem != PROBLEM_FD)
        return range_choose_units(bounds[which].bound, model, units, report);
    int status = range_choose_units(bounds[which].matrix, model, units, report);
    if (status != DYN_E_UNITS)
        return status;
    /*
     * A matrix kernel has values without names, so range_choose_units may attribute their overflow
     * to the wrong link. The loop starts from units that fit composite bodies and tries coarser
     * units of length or mass; every doubling costs one bit of precision. If none fits, the units
     * of the composite bodies are used; the checked kernel still checks every sum.
     */
    dyn_units_t fallback;
    status = range_choose_units(bounds[which].bodies, model, &fallback, report);
    for (int bits = 0; status == DYN_OK && bits < 8; bits++)
        for (int longer = 0; longer <= bits; longer++) {
            *units = fallback;
            units->length = (int8_t)(units->length + longer);
            for (uint32_t i = 0; i < model->n; i++)
                units->mass[i] = (int8_t)(units->mass[i] + bits - longer);
            (void)range_run(bounds[which].matrix, model, units, RANGE_Q31, report);
            if (report->fits)
                return DYN_OK;
        }
    *units = fallback;
    return status;
}

double units_acceleration(const dyn_limits_t *limits) {
    return limits->acceleration > 0 ? limits->acceleration
                                    : limits->velocity / (double)IMAGE_RISE_DEFAULT_S;
}

void units_missing(const dyn_model_t *model, uint32_t joint, char *out, size_t size) {
    const dyn_model_joint_t *j = &model->joint[joint];
    const dyn_limits_t *l = &j->drive.limits;
    const char *missing[3] = {
        l->velocity > 0 ? NULL : "velocity", l->acceleration > 0 ? NULL : "acceleration",
        j->type == DYN_REVOLUTE || l->position[1] > l->position[0] ? NULL : "position"};
    size_t used = 0;
    *out = '\0';
    for (int i = 0; i < 3; i++)
        if (missing[i] && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", missing[i]);
}
