/* status: what a board does, what its hardware is, and whether the real arm may move. */
#include <stdio.h>
#include <stdlib.h>

#include "firmware/params/image.h"
#include "firmware/safety/faults.h"
#include "firmware/safety/thermal.h"
#include "tools/args/board.h"
#include "tools/args/board_fault.h"
#include "tools/args/watch.h"
#include "tools/cli/diagnostics.h"
#include "tools/cli/json.h"
#include "tools/cli/out.h"
#include "tools/cmd/commands.h"

enum { TEXT_MAX = 512 };

typedef struct {
    device_status_t status;
    device_fault_t fault;
    device_hardware_t hardware;
    float real, feedback, feedforward; /* parameters; real: `arm` */
    uint32_t counter[COUNTERS];
    char leader[CLIENT_NAME];
    uint8_t heat[DYN_MAX_JOINTS]; /* percent of what trips; 255: no guard */
} board_now_t;

static const struct {
    const char *name, *yes, *no;
} hardware_table[] = {
#define X(bit, name, yes, no) {#name, yes, no},
    HARDWARE_TABLE(X)
#undef X
};
enum { HARDWARE_FLAGS = sizeof hardware_table / sizeof hardware_table[0] };

static const char *const cause_name[] = {"e-stop", "driver fault", "tick stopped", "clock",
                                         "board supply"};
enum { CAUSES = sizeof cause_name / sizeof cause_name[0] };

static void causes_text(unsigned bits, char text[TEXT_MAX]) {
    size_t used = 0;
    *text = 0;
    for (unsigned i = 0; i < CAUSES && used < TEXT_MAX; i++)
        if (bits >> i & 1)
            used += (size_t)snprintf(text + used, TEXT_MAX - used, "%s%s", used ? ", " : "",
                                     cause_name[i]);
}

static unsigned count(uint32_t bits) {
    return (unsigned)__builtin_popcount(bits);
}

/* A limit or guard that somebody has weakened or a command overrides: its name, its value, and the
 * value that it has otherwise. */
typedef void (*change_t)(const char *name, const char *kind, double value, double otherwise);

static void name_of(const client_t *client, uint32_t parameter, uint32_t joint, char *name,
                    size_t size) {
    const device_parameter_t *t = &client->device.parameter[parameter];
    snprintf(name, size, t->per_joint ? "%s[%s]" : "%s", t->name, client->device.joint[joint]);
}

/* Tells every guard that is weaker than its default. */
static int list_weaker(client_t *client, change_t report) {
    for (uint32_t i = 0; i < client->device.parameters; i++) {
        const device_parameter_t *t = &client->device.parameter[i];
        float now;
        bool saved;
        if (t->weaker == 0 || t->fallback == 0) /* 0: the guard is off by default */
            continue;
        if (client_get(client, i, 0, &now, &saved) != 0)
            return -1;
        if ((now - t->fallback) * (float)t->weaker > 0)
            report(t->name, "weaker than its default", (double)now, (double)t->fallback);
    }
    return 0;
}

/* Tells every position limit that is wider than that of the robot file. */
static int list_wider(client_t *client, change_t report) {
    static const char *const name[] = {"position_lower", "position_upper"};
    static image_t image;
    uint32_t length = 0, parameter;
    int joint, status = 0;
    uint8_t *bytes = client_read_image(client, 0, &length);
    if (!bytes || image_read(bytes, length, &image, NULL) != IMAGE_OK) {
        free(bytes);
        return client->error.what[0] ? -1 : 0;
    }
    for (uint32_t k = 0; k < 2 * image.n && status == 0; k++) {
        const float *limit = image.joint[k / 2].position;
        char title[2 * CLIENT_NAME];
        float now;
        bool saved;
        status = client_parameter(client, name[k % 2], &parameter, &joint) != 0 ||
                 client_get(client, parameter, k / 2, &now, &saved) != 0;
        if (status != 0 || !(limit[1] > limit[0]) || !(k % 2 ? now > limit[1] : now < limit[0]))
            continue;
        name_of(client, parameter, k / 2, title, sizeof title);
        report(title, "wider than the robot file", (double)now, (double)limit[k % 2]);
    }
    free(bytes);
    return status ? -1 : 0;
}

static int list_overrides(client_t *client, change_t report) {
    for (uint32_t k = 0;; k++) {
        device_override_t o;
        char title[2 * CLIENT_NAME];
        float now;
        bool saved;
        const int status = client_overridden(client, k, &o);
        if (status != 0)
            return status > 0 ? 0 : -1;
        if (o.parameter >= client->device.parameters ||
            client_get(client, o.parameter, o.joint, &now, &saved) != 0)
            continue; /* it has ended meanwhile */
        name_of(client, o.parameter, o.joint, title, sizeof title);
        report(title, "overridden", (double)now, (double)o.beneath);
    }
}

static int list_changes(client_t *client, change_t report) {
    return list_weaker(client, report) != 0 || list_wider(client, report) != 0 ||
                   list_overrides(client, report) != 0
               ? -1
               : 0;
}

static void change_text(const char *name, const char *kind, double value, double otherwise) {
    out_format("%s is %s: %g instead of %g\n", name, kind, value, otherwise);
}

static void change_json(const char *name, const char *kind, double value, double otherwise) {
    json_begin(NULL);
    json_string("parameter", name);
    json_string("kind", kind);
    json_number("value", value);
    json_number("otherwise", otherwise);
    json_end();
}

/* Returns the hottest motor, or the number of joints if none is guarded. */
static uint32_t hottest(const client_t *client, const board_now_t *b) {
    uint32_t found = client->device.joints;
    for (uint32_t i = 0; i < client->device.joints; i++)
        if (b->heat[i] != THERMAL_NONE &&
            (found == client->device.joints || b->heat[i] > b->heat[found]))
            found = i;
    return found;
}

static void heat_text(const client_t *client, const board_now_t *b) {
    const uint32_t at = hottest(client, b);
    if (client->device.joints == 0)
        return;
    if (at < client->device.joints)
        out_format("heat: the motor of %s has %u %% of what it stands, the others less\n",
                   client->device.joint[at], b->heat[at]);
    for (uint32_t i = 0; i < client->device.joints; i++)
        if (b->heat[i] == THERMAL_NONE)
            out_format("heat: the motor of %s is not guarded: the joint has no torque limit\n",
                       client->device.joint[i]);
}

/* Names the joints that must be homed before they can move. */
static void unhomed_text(const client_t *client, const board_now_t *b, char text[TEXT_MAX]) {
    size_t used = 0;
    *text = 0;
    for (uint32_t i = 0; i < client->device.joints && used < TEXT_MAX; i++)
        if (b->status.unhomed >> i & 1)
            used += (size_t)snprintf(text + used, TEXT_MAX - used, "%s%s", used ? ", " : "",
                                     client->device.joint[i]);
}

static const char *const feedback_name[] = {"off", "pd", "computed torque"};
static const char *const feedforward_name[] = {"off", "gravity", "full"};

static const char *name_in(const char *const name[3], float value) {
    return value >= 0 && value < 3 ? name[(unsigned)value] : "?";
}

/* What the loop does with the robot: homed joints, mode, supply, cost of a tick. */
static void loop_text(const client_t *client, const board_now_t *b) {
    char line[TEXT_MAX];
    const device_status_t *s = &b->status;
    if (s->joints == 0) {
        out_text("no robot: load one with `appell flash ROBOT`\n");
        return;
    }
    unhomed_text(client, b, line);
    out_format("robot %s, %u joints, %s%s%s\n", client->device.robot, s->joints,
               *line ? "not homed: " : "all homed", line, *line ? " (`appell home`)" : "");
    if (s->flags & (STATUS_UNSAVED_IMAGE | STATUS_UNSAVED_PARAMETERS))
        out_format("not saved: %s; `appell save` keeps it over a reset\n",
                   s->flags & STATUS_UNSAVED_IMAGE ? "the robot" : "a parameter");
    out_format("mode position: feedback %s, feedforward %s\n", name_in(feedback_name, b->feedback),
               name_in(feedforward_name, b->feedforward));
    if (s->supply_mV == SUPPLY_FAILED)
        out_text("supply: its sensor is silent\n");
    else if (s->supply_mV == SUPPLY_UNMEASURED)
        out_text("supply: not measured on this board\n");
    else
        out_format("supply: %.2f V\n", s->supply_mV / 1000.0);
    out_format("tick: %u to %u %s at %u Hz; overruns: %u, lost ticks: %u\n",
               (unsigned)b->counter[COUNTER_BEST], (unsigned)b->counter[COUNTER_WORST],
               client->device.flags & HELLO_INSTRUCTIONS ? "instructions" : "cycles",
               (unsigned)s->rate_hz, (unsigned)b->counter[COUNTER_OVERRUNS],
               (unsigned)b->counter[COUNTER_LOST]);
}

/* What is connected to the board, and what keeps the real arm from moving. */
static void hardware_text(const client_t *client, const board_now_t *b) {
    const hardware_t *h = &b->hardware.is;
    char line[TEXT_MAX];
    out_format("hardware: %u motors, %u encoders, %u home switches\n", count(h->motors),
               count(h->encoders), count(h->switches));
    for (unsigned i = 0; i < HARDWARE_JOINTS; i++)
        if (h->encoders >> i & 1)
            out_format("    encoder %u: %s, %u counts\n", i + 1,
                       h->absolute >> i & 1 ? "absolute" : "counts from power-up",
                       (unsigned)h->counts[i]);
    for (unsigned i = 0; i < HARDWARE_FLAGS; i++)
        out_format("    %s\n", h->flags >> i & 1 ? hardware_table[i].yes : hardware_table[i].no);
    if (h->flags & HARDWARE_BRAKE)
        out_format("    the brakes open in %u ms and close in %u ms\n", h->brake_open_ms,
                   h->brake_close_ms);
    out_text(b->hardware.misfits ? "the real arm is refused:\n"
                                 : "robot and hardware fit: the real arm may move\n");
    for (unsigned part = 0; part < FITS; part++) {
        if (!(b->hardware.misfits >> part & 1))
            continue;
        board_fit_joints(client, &b->hardware, part, line, sizeof line);
        out_format("    %s%s%s\n        cure: %s\n", line, *line ? ": " : "", board_fit_cause(part),
                   board_fit_cure(part));
    }
}

static int text(client_t *client, const board_now_t *b) {
    const hardware_t *h = &b->hardware.is;
    char line[TEXT_MAX];
    watch_line(&b->status, line, sizeof line);
    out_format("%s: %s, %s arm, outputs %s\n", client->device.board, line,
               b->real != 0 ? "real" : "simulated", b->fault.enabled ? "on" : "off");
    board_fault_text(client, &b->status, &b->fault);
    loop_text(client, b);
    heat_text(client, b);
    out_format("lease: %s%s%s\n", *b->leader ? "the command `" : "nobody moves the arm", b->leader,
               *b->leader ? "` moves the arm; everybody may stop it" : "");
    if (b->status.flags & STATUS_CRASHED)
        out_text("the firmware has crashed before its last start: `appell crash` shows where\n");
    if (list_changes(client, change_text) != 0)
        return -1;
    if (b->status.flags & STATUS_UNRESTORED)
        out_text("a stored value was refused at the start: `appell get` shows which values are not "
                 "the saved ones; `appell clear` acknowledges it\n");
    if (b->status.load_joint < b->status.joints)
        out_format("the load is not that of the model: joint %u needs %+.3g %s more, as at least "
                   "%.2g kg at the tool would; set payload_mass\n",
                   b->status.load_joint + 1u, (double)b->status.load_torque,
                   client->device.prismatic[b->status.load_joint] ? "N" : "N m",
                   (double)b->status.load_mass);
    if (h->flags & HARDWARE_ESTOP) {
        out_format("e-stop: %s",
                   h->active & CAUSE_ESTOP ? "open (pressed, or not wired)" : "closed");
        causes_text(h->latched, line);
        out_format("%s%s\n", *line ? "; latched until it is cleared: " : "", line);
    }
    if (client->device.flags & HELLO_EMULATED && b->real == 0)
        out_format("no motors are connected to this emulated board, so the real arm would be "
                   "refused: %u parts do not fit (--json lists them)\n",
                   count(b->hardware.misfits));
    else
        hardware_text(client, b);
    if (b->real != 0)
        out_text("Appell is not safety-rated.\n");
    return 0;
}

static int json(client_t *client, const board_now_t *b) {
    const hardware_t *h = &b->hardware.is;
    char line[TEXT_MAX];
    json_begin(NULL);
    json_string("board", client->device.board);
    json_string("state", board_state(&b->status));
    json_string("arm", b->real != 0 ? "real" : "simulated");
    json_bool("enabled", b->fault.enabled);
    board_fault_json(client, &b->status, &b->fault);
    json_string("robot", client->device.robot);
    json_bool("moving", b->status.flags & STATUS_MOVING);
    unhomed_text(client, b, line);
    json_string("unhomed", line);
    json_bool("saved", !(b->status.flags & (STATUS_UNSAVED_IMAGE | STATUS_UNSAVED_PARAMETERS)));
    json_bool("crashed", b->status.flags & STATUS_CRASHED);
    json_string("mode", "position");
    json_string("feedback", name_in(feedback_name, b->feedback));
    json_string("feedforward", name_in(feedforward_name, b->feedforward));
    if (b->status.supply_mV >= 0)
        json_number("supply", b->status.supply_mV / 1000.0);
    else
        json_null("supply");
    json_begin("tick");
    json_string("unit", client->device.flags & HELLO_INSTRUCTIONS ? "instructions" : "cycles");
    json_integer("least", (long)b->counter[COUNTER_BEST]);
    json_integer("most", (long)b->counter[COUNTER_WORST]);
    json_integer("rate_hz", (long)b->status.rate_hz);
    json_integer("overruns", (long)b->counter[COUNTER_OVERRUNS]);
    json_integer("lost", (long)b->counter[COUNTER_LOST]);
    json_end();
    json_list("heat");
    for (uint32_t i = 0; i < client->device.joints; i++)
        json_integer(NULL, b->heat[i] == THERMAL_NONE ? -1 : b->heat[i]);
    json_list_end();
    json_string("leader", b->leader);
    json_bool("unrestored", b->status.flags & STATUS_UNRESTORED);
    if (b->status.load_joint < b->status.joints) {
        json_integer("load_joint", b->status.load_joint + 1);
        json_number("load_torque", (double)b->status.load_torque);
        json_number("load_mass", (double)b->status.load_mass);
    }
    json_list("changes");
    if (list_changes(client, change_json) != 0)
        return -1;
    json_list_end();
    causes_text(h->active, line);
    json_string("active", line);
    causes_text(h->latched, line);
    json_string("latched", line);
    json_integer("motors", (long)count(h->motors));
    json_integer("encoders", (long)count(h->encoders));
    json_integer("switches", (long)count(h->switches));
    for (unsigned i = 0; i < HARDWARE_FLAGS; i++)
        json_bool(hardware_table[i].name, h->flags >> i & 1);
    json_list("misfits");
    for (unsigned part = 0; part < FITS; part++) {
        if (!(b->hardware.misfits >> part & 1))
            continue;
        board_fit_joints(client, &b->hardware, part, line, sizeof line);
        json_begin(NULL);
        json_string("joints", line);
        json_string("cause", board_fit_cause(part));
        json_string("cure", board_fit_cure(part));
        json_end();
    }
    json_list_end();
    json_end();
    return 0;
}

static int get(client_t *client, const char *name, float *value) {
    uint32_t parameter;
    int joint;
    bool saved;
    return client_parameter(client, name, &parameter, &joint) == 0
               ? client_get(client, parameter, 0, value, &saved)
               : -1;
}

/* Prints the status once. */
static int show(const request_t *request, client_t *client) {
    board_now_t b = {0};
    if (client_status(client, &b.status) != 0 || client_fault(client, &b.fault) != 0 ||
        client_hardware(client, &b.hardware) != 0 || get(client, "arm", &b.real) != 0 ||
        get(client, "feedback", &b.feedback) != 0 ||
        get(client, "feedforward", &b.feedforward) != 0 ||
        client_counters(client, b.counter) != 0 || client_leader(client, b.leader) != 0 ||
        client_heat(client, b.heat) != 0 ||
        (request_has(request, OPTION_JSON) ? json(client, &b) : text(client, &b)) != 0)
        return board_error(client);
    const bool misfit = b.real != 0 && b.hardware.misfits != 0;
    return b.fault.fault == APP_FAULT_NONE && !misfit ? EXIT_YES : EXIT_NO;
}

int cmd_status(const request_t *request) {
    client_t *client = board_open(request, DISCOVER_PARAMETERS);
    if (!client)
        return EXIT_BAD;
    int status = show(request, client);
    out_flush();
    if (status != EXIT_BAD && request_has(request, OPTION_WATCH)) {
        status = watch_board(client, client->device.board, " (control-C ends the watch)");
        if (status != EXIT_YES)
            status = board_error(client);
    }
    client_close(client);
    return status;
}
