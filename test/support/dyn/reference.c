/* Implements test/support/dyn/reference.h with cJSON. */
#include "test/support/dyn/reference.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static reference_arm_t *arm_list;
static uint32_t arm_count;

static void fail(const char *what, const char *where) {
    fprintf(stderr, "reference values: %s: %s\n", where, what);
    exit(1);
}

static void *must(void *memory) {
    if (!memory)
        fail("no memory", "reader");
    return memory;
}

static cJSON *read_json(const char *name) {
    char path[512];
    const char *folder = getenv("GOLDEN");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "../shared/golden", name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    rewind(file);
    char *text = must(malloc((size_t)size + 1));
    if (fread(text, 1, (size_t)size, file) != (size_t)size)
        fail("cannot read", path);
    text[size] = 0;
    fclose(file);
    cJSON *json = cJSON_Parse(text);
    if (!json)
        fail("not JSON", path);
    free(text);
    return json;
}

static const cJSON *get(const cJSON *object, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static const cJSON *item(const cJSON *object, const char *key) {
    const cJSON *found = get(object, key);
    if (!found)
        fail("no such key", key);
    return found;
}

static double number(const cJSON *object, const char *key) {
    const cJSON *found = item(object, key);
    if (!cJSON_IsNumber(found))
        fail("not a number", key);
    return found->valuedouble;
}

/* Copies a list, or the rows of a matrix one after the other. */
static int flatten(const cJSON *list, double *out, int room) {
    int n = 0;
    const cJSON *element;
    cJSON_ArrayForEach(element, list) {
        if (cJSON_IsArray(element))
            n += flatten(element, out + n, room - n);
        else if (n < room)
            out[n++] = element->valuedouble;
        else
            fail("too many numbers", list->string ? list->string : "matrix");
    }
    return n;
}

static void numbers(const cJSON *object, const char *key, double *out, int n) {
    if (flatten(item(object, key), out, n) != n)
        fail("wrong count of numbers", key);
}

static void read_rows(const cJSON *rows, bool rotors, dyn_source_t *source) {
    source->n = (uint32_t)cJSON_GetArraySize(rows);
    for (uint32_t i = 0; i < source->n; i++) {
        const cJSON *row = cJSON_GetArrayItem(rows, (int)i);
        dyn_source_joint_t *j = &source->joint[i];
        j->type = item(row, "type")->valuestring[0] == 'P' ? DYN_PRISMATIC : DYN_REVOLUTE;
        j->link.mass = number(row, "m");
        numbers(row, "I", j->link.inertia, 6);
        if (source->convention == DYN_CONVENTION_FRAMES) {
            numbers(row, "xyz", j->xyz, 3);
            numbers(row, "rpy", j->rpy, 3);
            numbers(row, "axis", j->axis, 3);
            numbers(row, "com_xyz", j->link.com, 3);
            numbers(row, "com_rpy", j->inertia_rpy, 3);
        } else {
            j->theta = number(row, "theta");
            j->d = number(row, "d");
            j->a = number(row, "a");
            j->alpha = number(row, "alpha");
            numbers(row, "c", j->link.com, 3);
        }
        if (rotors && get(row, "Jm")) {
            j->drive.motor.rotor_inertia = number(row, "Jm");
            j->drive.motor.gear = number(row, "G");
        }
        const double reach = j->type == DYN_PRISMATIC ? 1 : 3.14159265358979;
        j->drive.limits = (dyn_limits_t){{-reach, reach}, 3, 10, 0};
    }
}

static reference_arm_t *new_arm(const char *name, dyn_convention_t convention, const cJSON *gravity,
                                const cJSON *rows, bool rotors, int states) {
    arm_list = must(realloc(arm_list, (arm_count + 1) * sizeof *arm_list));
    reference_arm_t *arm = &arm_list[arm_count++];
    memset(arm, 0, sizeof *arm);
    snprintf(arm->name, sizeof arm->name, "%s", name);
    arm->source.convention = convention;
    if (flatten(gravity, arm->source.gravity, 3) != 3)
        fail("gravity is not a vector", name);
    read_rows(rows, rotors, &arm->source);
    if (dyn_convert(&arm->source, DYN_PARALLEL_DEFAULT, &arm->model, NULL) != DYN_OK)
        fail("the arm cannot be converted", name);
    arm->state = must(calloc((size_t)states, sizeof *arm->state));
    arm->states = (uint32_t)states;
    return arm;
}

static void read_vector(const cJSON *in, const char *key, double *out, int n, bool *has) {
    *has = get(in, key) != NULL;
    if (*has)
        numbers(in, key, out, n);
}

static void read_matrix(const cJSON *in, const char *key, reference_state_t *s, int n) {
    static double full[DYN_MAX_JOINTS * DYN_MAX_JOINTS];
    numbers(in, key, full, n * n);
    for (int r = 0; r < n; r++)
        for (int c = 0; c <= r; c++)
            s->M[r * (r + 1) / 2 + c] = full[r * n + c];
    s->has_M = true;
}

/* Reads the values that have the same names in every file. */
static void read_state(const cJSON *in, const char *tau, const char *M, reference_state_t *s,
                       int n) {
    bool has_c, has_g, has_qd, has_qdd;
    numbers(in, "q", s->q, n);
    read_vector(in, "qd", s->qd, n, &has_qd);
    read_vector(in, "qdd", s->qdd, n, &has_qdd);
    read_vector(in, tau, s->tau, n, &s->has_tau);
    read_vector(in, "c", s->bias, n, &has_c);
    read_vector(in, "g", s->gravity, n, &has_g);
    s->has_bias = has_g;
    for (int i = 0; i < n; i++)
        s->bias[i] += s->gravity[i];
    if (get(in, M))
        read_matrix(in, M, s, n);
    /* If the file gives no other case, forward dynamics of this torque gives this acceleration. */
    memcpy(s->fd_tau, s->tau, sizeof s->fd_tau);
    memcpy(s->fd_qdd, s->qdd, sizeof s->fd_qdd);
}

static void read_tool(const cJSON *in, reference_state_t *s, int n) {
    double r[9], p[3];
    numbers(in, "fd_tau", s->fd_tau, n);
    numbers(in, "fd_qdd", s->fd_qdd, n);
    numbers(in, "fd_qdd_wrench", s->fd_qdd_wrench, n);
    numbers(in, "tau_wrench", s->tau_wrench, n);
    numbers(in, "wrench_tip", s->wrench, 6);
    numbers(in, "wrench_base", s->wrench_base, 6);
    numbers(in, "tip_R", r, 9);
    numbers(in, "tip_p", p, 3);
    numbers(in, "J_tip", s->J, 6 * n);
    for (int i = 0; i < 3; i++) {
        memcpy(&s->pose[4 * i], &r[3 * i], 3 * sizeof r[0]);
        s->pose[4 * i + 3] = p[i];
    }
    s->has_tool = true;
}

static void read_puma(const cJSON *json, bool rotors) {
    const cJSON *states = item(json, "states");
    const cJSON *line = item(item(json, "straight_line"), "samples");
    const int n = 6, first = cJSON_GetArraySize(states), second = cJSON_GetArraySize(line);
    reference_arm_t *arm =
        new_arm(rotors ? "puma560" : "puma560 without rotors", DYN_CONVENTION_DH,
                item(json, "gravity"), item(json, "rows"), rotors, first + second);
    for (int k = 0; k < first; k++) {
        const cJSON *in = cJSON_GetArrayItem(states, k);
        reference_state_t *s = &arm->state[k];
        read_state(in, rotors ? "tau" : "tau_nomotor", rotors ? "M" : "M_nomotor", s, n);
        numbers(in, "fd_tau", s->fd_tau, n);
        numbers(in, rotors ? "fd_qdd" : "fd_qdd_nomotor", s->fd_qdd, n);
    }
    for (int k = 0; k < second; k++)
        read_state(cJSON_GetArrayItem(line, k), rotors ? "tau" : "tau_nomotor", "M",
                   &arm->state[first + k], n);
}

static void read_cases(const char *name, const cJSON *arm_json, const char *list) {
    const cJSON *cases = item(arm_json, list);
    reference_arm_t *arm = new_arm(name, DYN_CONVENTION_DH, item(arm_json, "gravity"),
                                   item(arm_json, "rows"), true, cJSON_GetArraySize(cases));
    for (uint32_t k = 0; k < arm->states; k++)
        read_state(cJSON_GetArrayItem(cases, (int)k), "tau", "M", &arm->state[k],
                   (int)arm->source.n);
}

static void read_two_body(const cJSON *run) {
    const cJSON *steps = item(run, "steps");
    char name[40];
    snprintf(name, sizeof name, "two-body %s", item(run, "name")->valuestring);
    reference_arm_t *arm = new_arm(name, DYN_CONVENTION_MDH, item(run, "gravity"),
                                   item(run, "rows"), true, cJSON_GetArraySize(steps));
    for (uint32_t k = 0; k < arm->states; k++) {
        reference_state_t *s = &arm->state[k];
        /* These states are at rest and without torque. */
        read_state(cJSON_GetArrayItem(steps, (int)k), "tau", "M", s, 2);
        s->has_tau = true;
    }
}

static void read_chain(const cJSON *chain) {
    const char *text = item(chain, "convention")->valuestring;
    const dyn_convention_t convention = !strcmp(text, "std_dh")   ? DYN_CONVENTION_DH
                                        : !strcmp(text, "mod_dh") ? DYN_CONVENTION_MDH
                                                                  : DYN_CONVENTION_FRAMES;
    const cJSON *states = item(chain, "states");
    char name[40];
    snprintf(name, sizeof name, "chain %d %s", (int)number(chain, "id"), text);
    reference_arm_t *arm = new_arm(name, convention, item(chain, "gravity"), item(chain, "rows"),
                                   true, cJSON_GetArraySize(states));
    for (uint32_t k = 0; k < arm->states; k++) {
        const cJSON *in = cJSON_GetArrayItem(states, (int)k);
        read_state(in, "tau", "M", &arm->state[k], (int)arm->source.n);
        read_tool(in, &arm->state[k], (int)arm->source.n);
    }
}

uint32_t reference_read(const reference_arm_t **arms) {
    if (arm_count == 0) {
        cJSON *puma = read_json("puma560.json"), *stanford = read_json("stanford.json");
        cJSON *planar = read_json("planar3r.json"), *two = read_json("ascher.json");
        cJSON *random = read_json("random_chains.json");
        if (!puma || !stanford || !planar || !two || !random)
            return 0;
        read_puma(puma, true);
        read_puma(puma, false);
        read_cases("stanford A", cJSON_GetArrayItem(item(stanford, "variants"), 0), "cases");
        read_cases("planar A", cJSON_GetArrayItem(item(planar, "sets"), 0), "cases");
        const cJSON *one;
        cJSON_ArrayForEach(one, item(two, "runs")) if (get(one, "steps")) read_two_body(one);
        cJSON_ArrayForEach(one, item(random, "chains")) read_chain(one);
        cJSON_Delete(puma);
        cJSON_Delete(stanford);
        cJSON_Delete(planar);
        cJSON_Delete(two);
        cJSON_Delete(random);
    }
    *arms = arm_list;
    return arm_count;
}

uint32_t reference_motors(const reference_motor_t **motors) {
    static reference_motor_t list[64];
    cJSON *json = read_json("motors.json");
    if (!json)
        return 0;
    const cJSON *one;
    uint32_t count = 0;
    cJSON_ArrayForEach(one, item(json, "cases")) {
        if (count == sizeof list / sizeof list[0])
            fail("more cases than there is room for", "motors.json");
        list[count++] = (reference_motor_t){
            .resistance = number(one, "R"),
            .torque_constant = number(one, "Kt"),
            .gear = number(one, "N"),
            .rotor_inertia = number(one, "Jm"),
            .tau = number(one, "tau"),
            .qd = number(one, "qd"),
            .qdd = number(one, "qdd"),
            .volt = number(one, "V"),
            .volt_rotor = number(one, "V_rotor"),
            .volt_in = number(one, "V_in"),
            .tau_from_volt_in = number(one, "tau_from_V_in"),
        };
    }
    cJSON_Delete(json);
    *motors = list;
    return count;
}
