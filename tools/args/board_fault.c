/* Implements tools/args/board_fault.h. */
#include "tools/args/board_fault.h"

#include "firmware/control/sample.h"
#include "firmware/safety/faults.h"
#include "tools/cli/json.h"
#include "tools/cli/out.h"

static bool has_joint(const client_t *client, const device_fault_t *fault) {
    return fault->joint < client->device.joints;
}

static const char *unit_of(const client_t *client, const device_fault_t *fault) {
    return quantity_unit(app_fault_quantity(fault->fault),
                         has_joint(client, fault) && client->device.prismatic[fault->joint]);
}

void board_fault_text(const client_t *client, const device_status_t *status,
                      const device_fault_t *fault) {
    const unsigned f = fault->fault;
    const bool joint = has_joint(client, fault);
    const bool refused = f == APP_FAULT_IMAGE && status->reason != 0;
    if (f != APP_FAULT_NONE)
        out_format("fault %u, %s%s%s: %.4g %s (limit %.4g)\n    %s%s%s\n    cure: %s; then `appell "
                   "clear`\n    stop: %s, %s\n",
                   f, app_fault_name(f), joint ? ", joint " : "",
                   joint ? client->device.joint[fault->joint] : "", (double)fault->value,
                   unit_of(client, fault), (double)fault->limit, app_fault_cause(f),
                   refused ? ": " : "", refused ? reason_cause(status->reason) : "",
                   refused ? reason_cure(status->reason) : app_fault_cure(f),
                   app_stop_name(fault->stop), app_stop_does(fault->stop));
    else if (status->reason != 0)
        out_format("no robot, because %s\n    cure: %s\n", reason_cause(status->reason),
                   reason_cure(status->reason));
}

void board_fault_json(const client_t *client, const device_status_t *status,
                      const device_fault_t *fault) {
    const unsigned f = fault->fault;
    json_integer("fault", f);
    json_string("name", app_fault_name(f));
    json_string("cause", app_fault_cause(f));
    json_string("cure", app_fault_cure(f));
    if (f != APP_FAULT_NONE) {
        if (has_joint(client, fault))
            json_string("joint", client->device.joint[fault->joint]);
        json_number("value", (double)fault->value);
        json_number("limit", (double)fault->limit);
        json_string("unit", unit_of(client, fault));
        json_string("stop", app_stop_name(fault->stop));
    }
    if (status->reason != 0) {
        json_string("reason", reason_cause(status->reason));
        json_string("reason_cure", reason_cure(status->reason));
    }
}
