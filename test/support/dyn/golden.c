/* Implements golden.h: reads puma560 and every random chain, with rows in all three conventions. */
#include "test/support/dyn/golden.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, const char *where) {
    fprintf(stderr, "golden: %s: %s\n", where, what);
    exit(1);
}

static cJSON *read_json(const char *folder, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    if (!text || fread(text, 1, (size_t)size, file) != (size_t)size)
        fail("cannot read", path);
    text[size] = 0;
    fclose(file);
    cJSON *json = cJSON_Parse(text);
    if (!json)
        fail("not JSON", path);
    free(text);
    return json;
}

static const cJSON *item(const cJSON *object, const char *key) {
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, key);
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

static void numbers(const cJSON *object, const char *key, double *out, int n) {
    const cJSON *list = item(object, key);
    if (cJSON_GetArraySize(list) != n)
        fail("wrong count", key);
    for (int i = 0; i < n; i++)
        out[i] = cJSON_GetArrayItem(list, i)->valuedouble;
}

static void read_rows(const cJSON *rows, golden_arm_t *arm) {
    bool frames = arm->source.convention == DYN_CONVENTION_FRAMES;
    arm->source.n = (uint32_t)cJSON_GetArraySize(rows);
    for (uint32_t i = 0; i < arm->source.n; i++) {
        const cJSON *row = cJSON_GetArrayItem(rows, (int)i);
        dyn_source_joint_t *j = &arm->source.joint[i];
        j->type = item(row, "type")->valuestring[0] == 'P' ? DYN_PRISMATIC : DYN_REVOLUTE;
        j->link.mass = number(row, "m");
        numbers(row, "I", j->link.inertia, 6);
        if (frames) {
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
        j->drive.motor.rotor_inertia = number(row, "Jm");
        j->drive.motor.gear = number(row, "G");
        arm->rotor[i] = number(row, "Jr");
    }
}

static void read_states(const cJSON *states, const char *tau, golden_arm_t *arm) {
    int n = (int)arm->source.n, count = cJSON_GetArraySize(states);
    for (int k = 0; k < count; k++) {
        const cJSON *in = cJSON_GetArrayItem(states, k);
        golden_state_t *out = &arm->state[arm->states++];
        if (arm->states > GOLDEN_STATES)
            fail("too many states", arm->name);
        numbers(in, "q", out->q, n);
        numbers(in, "qd", out->qd, n);
        numbers(in, "qdd", out->qdd, n);
        numbers(in, tau, out->tau, n);
        /* The torques of the chains in the files include those of rotors, which are subtracted
         * here. */
        for (int i = 0; i < n; i++)
            if (!strcmp(tau, "tau"))
                out->tau[i] -= arm->rotor[i] * out->qdd[i];
    }
}

uint32_t golden_read(golden_arm_t **arms) {
    const char *folder = getenv("GOLDEN");
    if (!folder)
        folder = "../shared/golden";
    cJSON *puma = read_json(folder, "puma560.json");
    cJSON *random = puma ? read_json(folder, "random_chains.json") : NULL;
    if (!puma || !random)
        return 0;
    const cJSON *chains = item(random, "chains");
    uint32_t count = 1 + (uint32_t)cJSON_GetArraySize(chains);
    golden_arm_t *out = calloc(count, sizeof *out);
    if (!out)
        fail("no memory", folder);
    *arms = out;

    strcpy(out[0].name, "puma560");
    numbers(puma, "gravity", out[0].source.gravity, 3);
    read_rows(item(puma, "rows"), &out[0]);
    read_states(item(puma, "states"), "tau_nomotor", &out[0]);
    read_states(item(item(puma, "straight_line"), "samples"), "tau_nomotor", &out[0]);

    for (uint32_t k = 1; k < count; k++) {
        const cJSON *chain = cJSON_GetArrayItem(chains, (int)k - 1);
        const char *convention = item(chain, "convention")->valuestring;
        snprintf(out[k].name, sizeof out[k].name, "chain%d_%s", (int)number(chain, "id"),
                 convention);
        out[k].source.convention = !strcmp(convention, "std_dh")   ? DYN_CONVENTION_DH
                                   : !strcmp(convention, "mod_dh") ? DYN_CONVENTION_MDH
                                                                   : DYN_CONVENTION_FRAMES;
        numbers(chain, "gravity", out[k].source.gravity, 3);
        read_rows(item(chain, "rows"), &out[k]);
        read_states(item(chain, "states"), "tau", &out[k]);
    }
    cJSON_Delete(puma);
    cJSON_Delete(random);
    return count;
}
