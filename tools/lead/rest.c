/* Implements tools/lead/rest.h. */
#include "tools/lead/rest.h"

#include "firmware/app/errors.h"
#include "firmware/params/parameters.h"
#include "firmware/safety/faults.h"

static int get(client_t *client, const char *name, float *value) {
    uint32_t parameter;
    int joint;
    bool saved;
    return client_parameter(client, name, &parameter, &joint) != 0
               ? -1
               : client_get(client, parameter, 0, value, &saved);
}

static int read_parameters(client_t *client, rest_t *rest) {
    if (!client->device.parameter && client_discover_some(client, DISCOVER_PARAMETERS) != 0)
        return -1;
    return get(client, "arm", &rest->arm) != 0 || get(client, "brakes", &rest->brakes) != 0 ||
                   get(client, "feedback", &rest->feedback) != 0
               ? -1
               : 0;
}

static int read_state(client_t *client, rest_t *rest) {
    return client_status(client, &rest->status) != 0 ? -1 : client_fault(client, &rest->fault);
}

int rest_read(client_t *client, rest_t *rest) {
    return read_parameters(client, rest) != 0 ? -1 : read_state(client, rest);
}

bool rest_falls(const rest_t *rest) {
    return rest->brakes == 0 || (rest->brakes < 0 && rest->arm != ARM_SIMULATED);
}

static bool rests(const rest_t *rest) {
    const uint32_t state = rest->status.state;
    if (state == APP_STATE_STOPPING || state == APP_STATE_HOMING)
        return false;
    if (!(rest->status.flags & STATUS_MOVING))
        /* while the brakes close the loop still holds, and the state changes when they have */
        return state != APP_STATE_FAULT || rest->fault.stop > APP_STOP_DAMP ||
               !rest->fault.enabled || rest_falls(rest);
    return state == APP_STATE_FAULT && rest->fault.stop == APP_STOP_LOWER && rest_falls(rest);
}

int rest_wait(client_t *client, rest_t *rest) {
    /* STILL_POLLS: a board without a robot may have no ticks to count */
    enum { TICKS = 2, STILL_POLLS = 2000, TIMEOUT_S = 60 };
    device_status_t first;
    uint32_t last, still = 0;
    if (client_status(client, &first) != 0 || read_parameters(client, rest) != 0)
        return -1;
    last = first.tick;
    do {
        if (client_poll(client, 1) < 0 || read_state(client, rest) != 0)
            return -1;
        still = rest->status.tick == last ? still + 1 : 0;
        last = rest->status.tick;
        if (last - first.tick >= TICKS && rests(rest))
            return 0;
    } while (still < STILL_POLLS && rest->status.state != APP_STATE_UNCONFIGURED &&
             last - first.tick < TIMEOUT_S * first.rate_hz);
    return 0; /* rest_text says that it moves */
}

int rest_stop(client_t *client, rest_t *rest) {
    if (client_stop(client, false) != 0 && client->reason != APP_E_STATE)
        return -1;
    /* a lease that is lost must not make a confirmed stop look like a failure */
    (void)client_follow(client);
    return rest_wait(client, rest);
}

static const char *off_text(const rest_t *rest) {
    return rest_falls(rest) ? "the outputs are off, and nothing holds the arm: it has no brakes"
                            : "the brakes hold the arm, and the outputs are off";
}

static const char *fault_text(const rest_t *rest) {
    if (!rest->fault.enabled)
        return off_text(rest);
    switch (rest->fault.stop) {
    case APP_STOP_HOLD:
        return rest->status.flags & STATUS_MOVING ? "the loop brakes the arm"
                                                  : "the loop holds the arm";
    case APP_STOP_LOWER:
        return "the loop lowers the arm until it meets its limits or gravity moves it no further";
    default:
        return "the motors only damp the arm, which can sink";
    }
}

const char *rest_text(const rest_t *rest) {
    switch (rest->status.state) {
    case APP_STATE_UNCONFIGURED:
        return "the board has no robot, and its outputs are off";
    case APP_STATE_IDLE:
        return off_text(rest);
    case APP_STATE_HOMING:
        return "the arm moves: a joint is being homed";
    case APP_STATE_STOPPING:
        return "the arm still brakes";
    case APP_STATE_DAMPING:
        return "the motors only damp the arm, which can sink; `appell hold` holds it";
    case APP_STATE_FAULT:
        return fault_text(rest);
    default:
        if (rest->status.flags & STATUS_MOVING)
            return "the arm moves";
        return rest->feedback == FEEDBACK_OFF
                   ? "the outputs are on without feedback, so nothing holds the arm in its place"
                   : "the loop holds the arm";
    }
}
