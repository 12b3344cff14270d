/* Implements test/support/supervisor_script.h. */
#include "test/support/supervisor_script.h"

#include <math.h>
#include <string.h>

#include "firmware/control/motion.h"
#include "firmware/params/parameters.h"

static const struct {
    const char *name;
    uint32_t whole, numbers;
} table[SCRIPT_OPS] = {
#define X(NAME, name, whole, numbers, help) {name, whole, numbers},
    SCRIPT_TABLE(X)
#undef X
};

/* --------------------------------------------------------------------------------------- text */

static bool names_parameter(uint32_t op) {
    return op == EVENT_SET_OP || op == EVENT_OVERRIDE_OP;
}

void script_print(const script_t *script, FILE *to) {
    for (uint32_t k = 0; k < script->count; k++) {
        const script_event_t *e = &script->event[k];
        fprintf(to, "%s", table[e->op].name);
        for (uint32_t i = 0; i < table[e->op].whole; i++)
            if (i == 0 && names_parameter(e->op) && e->a[0] < PARAMETERS)
                fprintf(to, " %s", parameter_table[e->a[0]].name);
            else
                fprintf(to, " %u", (unsigned)e->a[i]);
        for (uint32_t i = 0; i < table[e->op].numbers; i++)
            fprintf(to, " %.9g", (double)e->v[i]);
        if (e->op == EVENT_MOTION_OP && e->a[0] < MOTIONS)
            fprintf(to, " # %s", motion_name(e->a[0]));
        fprintf(to, "\n");
    }
}

/* Reads a whole number, or the name of a parameter. */
static bool read_whole(const char *text, bool named, uint32_t *out, int *used) {
    char name[32];
    if (sscanf(text, "%u%n", out, used) == 1)
        return true;
    if (!named || sscanf(text, "%31s%n", name, used) != 1)
        return false;
    for (*out = 0; *out < PARAMETERS; (*out)++)
        if (strcmp(name, parameter_table[*out].name) == 0)
            return true;
    return false;
}

static bool read_event(const char *line, script_event_t *e) {
    char name[32];
    int at = 0;
    *e = (script_event_t){0};
    if (sscanf(line, "%31s%n", name, &at) != 1)
        return false;
    while (e->op < SCRIPT_OPS && strcmp(name, table[e->op].name) != 0)
        e->op++;
    if (e->op == SCRIPT_OPS)
        return false;
    const uint32_t whole = table[e->op].whole;
    for (uint32_t i = 0; i < whole + table[e->op].numbers; i++) {
        int used = 0;
        const bool good =
            i < whole ? read_whole(line + at, i == 0 && names_parameter(e->op), &e->a[i], &used)
                      : sscanf(line + at, "%f%n", &e->v[i - whole], &used) == 1;
        if (!good)
            return false;
        at += used;
    }
    return true;
}

bool script_read(script_t *script, FILE *from) {
    char line[200];
    script->count = 0;
    while (fgets(line, sizeof line, from) != NULL) {
        if (line[strspn(line, " \t\r\n")] == 0 || line[0] == '#')
            continue;
        if (script->count == SCRIPT_MOST || !read_event(line, &script->event[script->count]))
            return false;
        script->count++;
    }
    return true;
}

/* ------------------------------------------------------------------------------------- random */

static uint64_t state;

static uint64_t next(void) { /* splitmix64 */
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint32_t below(uint32_t n) {
    return (uint32_t)(next() >> 33) % n;
}

static bool chance(uint32_t percent) {
    return below(100) < percent;
}

static float between(float least, float most) {
    return least + (most - least) * (float)(next() >> 40) / (float)(1 << 24);
}

/* Small numbers are as frequent as large ones. */
static uint32_t some_ticks(uint32_t most) {
    return 1 + (uint32_t)expf(between(0, logf((float)most)));
}

static float strange(void) {
    static const float number[] = {0, -0.0f, 1, -1, 0.5f, 1e9f, -1e9f, 1e-20f};
    const uint32_t k = below(10);
    return k == 8 ? NAN : k == 9 ? INFINITY : number[k];
}

static float some_value(uint32_t p) {
    const parameter_info_t *info = &parameter_table[p];
    const uint32_t way = below(20);
    float value = info->fallback * between(0.5f, 2);
    if (p == PARAMETER_sample_every) /* every tick is looked at */
        return chance(50) ? 1 : -1;
#ifdef FIRMWARE_LAB
    if (p == PARAMETER_sim_defect && way < 17)
        return (float)(way < 8 ? 0 : below((uint32_t)info->most + 1));
#endif
    if (p == PARAMETER_rate_hz && way < 17)
        return (float)(200 + 100 * below(19));
    if (p == PARAMETER_encoder_ratio && way >= 8) /* larger ones overflow the counts */
        return 1e4f;
    if ((p == PARAMETER_kp || p == PARAMETER_kd) && way < 17)
        return (p == PARAMETER_kp ? 100 : 10) * between(0.3f, 3) * (way == 0 ? 100 : 1);
    if (way >= 17)
        return strange();
    if (way >= 15)
        return chance(50) ? info->most : info->least;
    if (way >= 13)
        return info->most + between(0.01f, 3);
    if (way >= 8)
        value = info->least + (info->most - info->least) * powf(between(0, 1), 3);
    if (way >= 7)
        value = info->fallback;
    value = fminf(fmaxf(value, info->least), info->most);
    return info->whole && way != 3 ? roundf(value) : value;
}

static uint32_t some_parameter(void) {
    static const uint32_t often[] = {
        PARAMETER_brakes,
        PARAMETER_arm,
        PARAMETER_guard_tracking,
        PARAMETER_guard_speed,
        PARAMETER_hold_fraction,
        PARAMETER_feedback,
        PARAMETER_feedforward,
        PARAMETER_payload_mass,
        PARAMETER_payload_x,
        PARAMETER_kp,
        PARAMETER_kd,
        PARAMETER_guard_position,
        PARAMETER_limits_scale,
        PARAMETER_home,
        PARAMETER_guard_setpoint,
        PARAMETER_jog_timeout_s,
        PARAMETER_tool_speed,
        PARAMETER_tool_speed,
#ifdef FIRMWARE_LAB
        PARAMETER_sim_defect,
#endif
    };
    return chance(50) ? often[below(sizeof often / sizeof often[0])] : below(PARAMETERS + 1);
}

static script_event_t *add(script_t *s, uint32_t op, uint32_t a, uint32_t b, uint32_t c) {
    static script_event_t full;
    script_event_t *e = s->count < SCRIPT_MOST ? &s->event[s->count++] : &full;
    *e = (script_event_t){op, {a, b, c}, {0, 0, 0}};
    return e;
}

static void add_set(script_t *s, uint32_t parameter, uint32_t joint, float value) {
    add(s, EVENT_SET_OP, parameter, joint, 0)->v[0] = value;
}

static void add_wait(script_t *s, uint32_t most) {
    add(s, EVENT_WAIT_OP, some_ticks(most), 0, 0);
}

/* Mostly the client that leads; or one without the lease, or none. */
static uint32_t some_token(void) {
    return chance(85) ? LEADER : below(3);
}

static void add_motion(script_t *s) {
    static const uint32_t kinds[] = {MOTION_HOLD,    MOTION_HOLD,      MOTION_QUINTIC,
                                     MOTION_CYCLOID, MOTION_TRAPEZOID, MOTION_POINTS,
                                     MOTION_JOG,     MOTION_JOG,       MOTION_HOME};
    const uint32_t kind = chance(2) ? MOTIONS + below(3) : kinds[below(9)];
    const uint32_t token = some_token();
    script_event_t *e = add(s, EVENT_MOTION_OP, kind, token, 0);
    const float reach = kind != MOTION_JOG ? 3.02f : chance(70) ? 0.2f : 1.2f;
    e->v[0] = chance(40) ? 0 : between(0.2f, 4);
    e->v[1] = between(-reach, reach);
    e->v[2] = between(-reach, reach);
    if (kind == MOTION_HOME) {
        e->v[1] = (float)(below(8) != 0);
        e->v[2] = (float)(below(8) == 0);
    }
    if (kind == MOTION_POINTS) {
        e->v[0] = chance(90) ? between(0.02f, 0.1f) : 0;
        add(s, EVENT_POINTS_OP, 1 + below(26), token, 0)->v[0] = between(-0.001f, 0.001f);
        if (chance(60))
            add(s, EVENT_POINTS_END_OP, token, 0, 0);
    }
    if (chance(3))
        e->v[below(3)] = strange();
    if (kind == MOTION_HOME && chance(50))
        add(s, EVENT_WAIT_OP, 4000, 0, 0);
    add_wait(s, 900);
}

static void add_set_some(script_t *s, uint32_t op) {
    const uint32_t p = some_parameter();
    const bool one = p >= PARAMETERS || !parameter_table[p].per_joint;
    script_event_t *e = add(s, op, p,
                            one             ? below(20) == 0
                            : below(8) == 0 ? 2
                                            : below(2),
                            1 + below(2));
    e->v[0] = p < PARAMETERS ? some_value(p) : 1;
}

static void add_input(script_t *s) {
    switch (below(9)) {
    case 0:
        add(s, EVENT_LATCH_OP, 1 + below(31), below(3) == 0 ? below(32) : 0, 0);
        break;
    case 1:
        add(s, EVENT_UNREAD_OP, 1 + below(3), some_ticks(30), below(3));
        break;
    case 2:
        add(s, EVENT_LOST_OP, some_ticks(3000), 0, 0);
        break;
    case 3:
        add(s, EVENT_OVERRUN_OP, some_ticks(5), 0, 0);
        break;
    case 4:
        add(s, EVENT_STALLED_OP, some_ticks(100), 0, 0);
        break;
    case 5:
        add(s, EVENT_SUPPLY_OP, chance(30) ? below(2) : below(40000), some_ticks(50), 0);
        break;
    case 6:
        add(s, EVENT_UNREADY_OP, some_ticks(700), 0, 0);
        break;
    case 7:
        add(s, EVENT_BUSY_OP, some_ticks(700), 0, 0);
        break;
    default:
        add(s, EVENT_PUSH_OP, some_ticks(400), 0, 0)->v[0] = between(-60, 60);
    }
    add_wait(s, 200);
}

static void add_lease(script_t *s) {
    const uint32_t token = below(12) == 0 ? 0 : 1 + below(2);
    switch (below(5)) {
    case 0:
        add(s, EVENT_LEASE_END_OP, token, 0, 0);
        break;
    case 1:
    case 2:
        add(s, EVENT_LEASE_OP, token,
            chance(60)      ? 1000
            : below(4) == 0 ? below(70000)
                            : 1 + below(1000),
            0);
        break;
    default:
        add(s, EVENT_LEAD_OP, token, some_ticks(6000), 0);
    }
}

/* A robot, its arm and its brakes; the real arm needs an e-stop that was tried. */
static void add_robot(script_t *s) {
    const bool real = chance(45);
    add(s, EVENT_LOAD_OP, below(5), 0, 0);
    if (chance(60))
        add_set(s, PARAMETER_brakes, 0, (float)below(2));
    if (!chance(10))
        add(s, EVENT_ESTOP_SEEN_OP, 1, 0, 0);
    if (!real && chance(60)) {
        script_event_t *e = add(s, EVENT_PLACE_OP, LEADER, 0, 0);
        e->v[0] = between(-3, 3);
        e->v[1] = between(-3, 3);
    }
    if (real) {
        add_set(s, PARAMETER_arm, 0, ARM_REAL);
        add(s, EVENT_WAIT_OP, 3, 0, 0);
    }
    if (chance(real ? 85 : 20)) /* until the client says goodbye or dies */
        add(s, EVENT_LEAD_OP, 1, some_ticks(real ? 60000 : 6000), 0);
}

/* To the end of the range, where somebody pushes. */
static void add_push_at_end(script_t *s) {
    const float side = chance(50) ? 1 : -1;
    script_event_t *e = add(s, EVENT_MOTION_OP, MOTION_TRAPEZOID, LEADER, 0);
    e->v[1] = side * between(2.98f, 3);
    add(s, EVENT_WAIT_OP, 5000, 0, 0);
    add(s, EVENT_PUSH_OP, 50 + below(400), 0, 0)->v[0] = side * between(3, 20);
    add_wait(s, 500);
}

/* A stiff joint without damping: it swings when somebody pushes. */
static void add_unstable(script_t *s) {
    const uint32_t joint = below(2);
    add(s, EVENT_RELEASE_OP, LEADER, 0, 0);
    add(s, EVENT_WAIT_OP, 3, 0, 0);
    add_set(s, PARAMETER_kd, joint, between(0.01f, 0.1f));
    add_set(s, PARAMETER_kp, joint, between(1e4f, 1e5f));
    add(s, EVENT_MOTION_OP, MOTION_HOLD, LEADER, 0);
    add(s, EVENT_WAIT_OP, 100, 0, 0);
    add(s, EVENT_PUSH_OP, 10, 0, 0)->v[0] = between(10, 60);
    add_wait(s, 900);
}

/* A reset in any state; the board starts with what it has stored, or gets a robot. */
static void add_reset(script_t *s) {
    if (chance(40))
        add(s, EVENT_SAVE_OP, 0, 0, 0);
    add(s, EVENT_RESET_OP, chance(50) ? 0 : 1 + below(3), 0, 0);
    if (chance(50))
        add(s, EVENT_CLEAR_OP, 0, 0, 0);
    if (chance(60))
        add_robot(s);
}

static void add_some(script_t *s) {
    const uint32_t way = below(100);
    if (way < 25)
        add_motion(s);
    else if (way < 26)
        (chance(50) ? add_push_at_end : add_unstable)(s);
    else if (way < 40)
        add_wait(s, 1500);
    else if (way < 46)
        add(s, EVENT_STOP_OP, 0, 0, 0);
    else if (way < 49)
        add(s, EVENT_RELEASE_OP, some_token(), 0, 0);
    else if (way < 60)
        add(s, EVENT_CLEAR_OP, 0, 0, 0);
    else if (way < 74)
        add_set_some(s, EVENT_SET_OP);
    else if (way < 79)
        add_set_some(s, EVENT_OVERRIDE_OP);
    else if (way < 86)
        add_lease(s);
    else if (way < 95)
        add_input(s);
    else if (way < 96)
        add(s, EVENT_QUIET_OP, 0, 0, 0);
    else if (way < 97)
        add(s, below(4) == 0 ? EVENT_LOAD_BAD_OP : EVENT_LOAD_OP, below(5), below(5) == 0, 0);
    else if (way < 98)
        add(s, EVENT_PLACE_OP, some_token(), 0, 0)->v[0] = between(-3.5f, 3.5f);
    else if (way < 99)
        add_reset(s);
    else if (chance(50))
        add(s, EVENT_POINTS_OP, 1 + below(4), some_token(), 0)->v[0] = between(-0.001f, 0.001f);
    else
        add(s, EVENT_SAVE_OP, 0, 0, 0);
}

void script_random(script_t *script, uint64_t seed) {
    state = seed * 0x2545f4914f6cdd1du + 1;
    script->count = 0;
    add_robot(script);
    for (uint32_t events = 10 + below(80); events > 0; events--)
        add_some(script);
    add_wait(script, 3000);
}

/* ---------------------------------------------------------------------------------------- shrink */

static bool without(script_t *script, uint32_t from, uint32_t count, script_run_t *run,
                    const char *kind) {
    static script_t less;
    less.count = script->count - count;
    memcpy(less.event, script->event, from * sizeof less.event[0]);
    memcpy(less.event + from, script->event + from + count,
           (script->count - from - count) * sizeof less.event[0]);
    if (run(&less) != kind)
        return false;
    *script = less;
    return true;
}

/* Tries smaller times, from one tick upwards. */
static void shorten(script_t *script, uint32_t k, uint32_t i, script_run_t *run, const char *kind) {
    const uint32_t before = script->event[k].a[i];
    for (uint32_t shift = 31; shift > 0; shift--) {
        const uint32_t less = before >> shift;
        if (less == 0)
            continue;
        script->event[k].a[i] = less;
        if (run(script) == kind)
            return;
    }
    script->event[k].a[i] = before;
}

static bool is_time(uint32_t op, uint32_t i) {
    return (i == 0 && (op == EVENT_WAIT_OP || op == EVENT_LOST_OP || op == EVENT_OVERRUN_OP ||
                       op == EVENT_STALLED_OP || op == EVENT_UNREADY_OP || op == EVENT_BUSY_OP ||
                       op == EVENT_PUSH_OP || op == EVENT_POINTS_OP)) ||
           (i == 1 && (op == EVENT_LEAD_OP || op == EVENT_UNREAD_OP || op == EVENT_SUPPLY_OP ||
                       op == EVENT_LEASE_OP));
}

/* Two waits that follow each other become one. */
static void join(script_t *script, script_run_t *run, const char *kind) {
    for (uint32_t k = 0; k + 1 < script->count;) {
        script_event_t *e = &script->event[k];
        const uint32_t first = e[0].a[0], second = e[1].a[0];
        bool joined = false;
        if (e[0].op == EVENT_WAIT_OP && e[1].op == EVENT_WAIT_OP) {
            e[0].a[0] = first + second;
            joined = without(script, k + 1, 1, run, kind);
            if (!joined)
                e[0].a[0] = first;
        }
        k += !joined;
    }
}

void script_shrink(script_t *script, script_run_t *run, const char *kind) {
    uint32_t before;
    do {
        before = script->count;
        for (uint32_t chunk = script->count / 2; chunk > 0; chunk /= 2)
            for (uint32_t from = 0; from + chunk <= script->count;)
                if (!without(script, from, chunk, run, kind))
                    from += chunk;
    } while (script->count < before);
    join(script, run, kind);
    for (uint32_t k = 0; k < script->count; k++)
        for (uint32_t i = 0; i < 2; i++)
            if (is_time(script->event[k].op, i))
                shorten(script, k, i, run, kind);
}
