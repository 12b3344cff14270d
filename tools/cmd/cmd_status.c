/* status: what a board does, what its hardware is, and whether the real arm may move. */
#include <stdio.h>

#include "firmware/safety/faults.h"
#include "tools/args/board.h"
#include "tools/cli/diagnostics.h"
#include "tools/cli/json.h"
#include "tools/cli/out.h"
#include "tools/cmd/commands.h"

enum { TEXT_MAX = 512 };

typedef struct {
    device_status_t status;
    device_fault_t fault;
    device_hardware_t hardware;
    float real; /* parameter `arm` */
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

static void text(const client_t *client, const board_now_t *b) {
    const hardware_t *h = &b->hardware.is;
    char line[TEXT_MAX];
    out_format("%s: %s, %s arm, outputs %s\n", client->device.board, board_state(&b->status),
               b->real != 0 ? "real" : "simulated", b->fault.enabled ? "on" : "off");
    if (b->fault.fault != APP_FAULT_NONE)
        out_format("fault %u, %s: %s\n    cure: %s\n", b->fault.fault,
                   app_fault_name(b->fault.fault), app_fault_cause(b->fault.fault),
                   app_fault_cure(b->fault.fault));
    if (h->flags & HARDWARE_ESTOP) {
        out_format("e-stop: %s",
                   h->active & CAUSE_ESTOP ? "open (pressed, or not wired)" : "closed");
        causes_text(h->latched, line);
        out_format("%s%s\n", *line ? "; latched until it is cleared: " : "", line);
    }
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
    out_text("Appell is not safety-rated.\n");
}

static void json(const client_t *client, const board_now_t *b) {
    const hardware_t *h = &b->hardware.is;
    char line[TEXT_MAX];
    json_begin(NULL);
    json_string("board", client->device.board);
    json_string("state", board_state(&b->status));
    json_string("arm", b->real != 0 ? "real" : "simulated");
    json_bool("enabled", b->fault.enabled);
    json_integer("fault", b->fault.fault);
    json_string("name", app_fault_name(b->fault.fault));
    json_string("cure", app_fault_cure(b->fault.fault));
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
}

int cmd_status(const request_t *request) {
    client_t *client = board_open(request, DISCOVER_PARAMETERS);
    board_now_t b = {0};
    uint32_t arm = 0;
    bool saved;
    int joint, status = EXIT_BAD;
    if (!client)
        return EXIT_BAD;
    if (client_status(client, &b.status) != 0 || client_fault(client, &b.fault) != 0 ||
        client_hardware(client, &b.hardware) != 0 ||
        client_parameter(client, "arm", &arm, &joint) != 0 ||
        client_get(client, arm, 0, &b.real, &saved) != 0) {
        status = board_error(client);
    } else {
        request_has(request, OPTION_JSON) ? json(client, &b) : text(client, &b);
        status = b.fault.fault == APP_FAULT_NONE && b.hardware.misfits == 0 ? EXIT_YES : EXIT_NO;
    }
    client_close(client);
    return status;
}
