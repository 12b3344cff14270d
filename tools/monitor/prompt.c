/* Implements tools/monitor/prompt.h. */
#include "tools/monitor/prompt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "firmware/app/errors.h"
#include "firmware/params/parameters.h"
#include "firmware/safety/faults.h"
#include "tools/cli/messages.h"
#include "tools/cli/number.h"
#include "tools/lead/rest.h"
#include "tools/monitor/terminal.h"

/* A motion begins within this time of the board, or has begun and ended. */
enum { START_MS = 100 };

/* Reads what holds the arm, with rest_read or rest_wait, also for the screen. */
static bool take_rest(watch_t *watch, int (*take)(client_t *, rest_t *), rest_t *rest) {
    if (take(watch->client, rest) != 0)
        return false;
    watch->status = rest->status;
    watch->fault = rest->fault;
    return true;
}

static void report_error(watch_t *watch, const char *what) {
    watch_report(watch, "%s: %.400s; %.400s", what, watch->client->error.what,
                 watch->client->error.cure);
}

/* ----------------------------------------------------------------------------------- parameters */

static void run_get(watch_t *watch, const char *name) {
    client_t *client = watch->client;
    char text[WATCH_TEXT];
    size_t used = 0;
    uint32_t parameter;
    int joint;
    if (client_parameter(client, name, &parameter, &joint) != 0) {
        report_error(watch, "get");
        return;
    }
    const device_parameter_t *t = &client->device.parameter[parameter];
    used = (size_t)snprintf(text, sizeof text, "%.60s:", name);
    for (uint32_t i = 0; i < (t->per_joint ? client->device.joints : 1) && used < sizeof text;
         i++) {
        float value;
        bool saved;
        if (joint >= 0 && (uint32_t)joint != i)
            continue;
        if (client_get(client, parameter, i, &value, &saved) != 0) {
            report_error(watch, "get");
            return;
        }
        used += (size_t)snprintf(text + used, sizeof text - used, " %.7g", (double)value);
    }
    watch_report(watch, "%s %s", text, t->unit);
}

static void run_set(watch_t *watch, const char *name, const char *number) {
    client_t *client = watch->client;
    double value;
    float now;
    uint32_t parameter;
    int joint;
    const char *end = number_scan(number, &value);
    if (!end || *end || !isfinite(value)) {
        watch_report(watch, "set: '%.60s' is not a number; write: set NAME VALUE", number);
        return;
    }
    if (client_parameter(client, name, &parameter, &joint) != 0) {
        report_error(watch, "set");
        return;
    }
    const device_parameter_t *t = &client->device.parameter[parameter];
    for (uint32_t i = 0; i < (t->per_joint ? client->device.joints : 1); i++)
        if ((joint < 0 || (uint32_t)joint == i) &&
            client_set(client, parameter, i, (float)value, &now) != 0) {
            report_error(watch, "set");
            return;
        }
    watch_limits(watch);
    run_get(watch, name);
}

/* --------------------------------------------------------------------------------------- motions */

static const char unconfirmed[] = "the motion was not confirmed, so a stop was sent; ";

/* A board that has a fault has stopped the arm already, and refuses. */
static bool stop_confirmed(client_t *client) {
    return client_stop(client, false) == 0 || client->reason == APP_E_STATE;
}

static void report_stop(watch_t *watch, const char *why) {
    rest_t rest;
    if (!stop_confirmed(watch->client))
        watch_report(watch, "%sTHE STOP IS NOT CONFIRMED: %.300s; use the e-stop", why,
                     watch->client->error.what);
    else if (take_rest(watch, rest_read, &rest))
        watch_report(watch, "%sthe stop is confirmed: %s", why, rest_text(&rest));
    else
        watch_report(watch, "%sthe stop is confirmed; the state is not known: %.300s", why,
                     watch->client->error.what);
}

static void run_motion(prompt_t *prompt, watch_t *watch, const motion_t *motion) {
    client_t *client = watch->client;
    rest_t rest;
    if (!take_rest(watch, rest_read, &rest)) {
        report_error(watch, "not moved");
        return;
    }
    if (rest.arm != ARM_SIMULATED && !rest.fault.enabled) {
        watch_report(watch, "not moved: the outputs of the real arm are off; switch the outputs on "
                            "with `appell hold` first");
        return;
    }
    if (client_lead(client, "appell monitor") != 0) {
        report_error(watch, "not moved");
        return;
    }
    const bool confirmed = client_motion(client, motion) == 0;
    if (!confirmed && client->status >= 0) {
        const port_error_t error = client->error;
        if (!prompt->moves)
            (void)client_follow(client);
        client->error = error;
        report_error(watch, "not moved");
        return;
    }
    prompt->moves = true;
    prompt->confirmed = confirmed;
    prompt->moved_tick = rest.status.tick;
    if (confirmed)
        watch_report(watch, motion->kind == MOTION_HOLD ? "the loop closes; ^X stops"
                                                        : "the arm moves; ^X stops it");
    else /* only the answer may be lost */
        report_stop(watch, unconfirmed);
}

static void run_move(prompt_t *prompt, watch_t *watch, const char *list) {
    motion_t motion = {.kind = MOTION_QUINTIC};
    uint32_t count = 0;
    const char *at = list + strspn(list, " ");
    while (*at && count < DYN_MAX_JOINTS) {
        double value;
        const char *end = number_scan(at, &value);
        if (!end || (*end && *end != ',' && *end != ' ') || !isfinite(value)) {
            watch_report(
                watch, "not moved: '%.60s' is not a list of numbers; write: move Q1,Q2,...", list);
            return;
        }
        motion.value[count++] = (float)value;
        at = end + strspn(end, ", ");
    }
    if (*at || count != watch->client->device.joints) {
        watch_report(watch,
                     "not moved: the arm has %u joints; write that many positions, in rad or m",
                     (unsigned)watch->client->device.joints);
        return;
    }
    run_motion(prompt, watch, &motion);
}

static void run_stop(watch_t *watch) {
    if (!watch->client) {
        watch_report(watch, "NOT STOPPED: the line is closed; use the e-stop");
        return;
    }
    report_stop(watch, "");
}

static void run_clear(watch_t *watch) {
    rest_t rest;
    if (client_clear(watch->client) != 0)
        report_error(watch, "not cleared");
    else if (take_rest(watch, rest_read, &rest))
        watch_report(watch, "cleared: %s", rest_text(&rest));
    else
        report_error(watch, "cleared, but the state is not known");
}

void prompt_follow(prompt_t *prompt, watch_t *watch) {
    rest_t rest;
    if (!prompt->moves)
        return;
    if (!watch->client || watch->client->token == 0) {
        prompt->moves = false; /* the lease is lost, and watch has reported it */
        return;
    }
    const uint32_t ticks = watch->status.tick - prompt->moved_tick;
    const bool rests = watch->status.state != APP_STATE_STOPPING &&
                       watch->status.state != APP_STATE_HOMING &&
                       !(watch->status.flags & STATUS_MOVING);
    if (!rests || (uint64_t)ticks * 1000 < (uint64_t)START_MS * watch->status.rate_hz)
        return;
    const char *why = prompt->confirmed ? "" : unconfirmed;
    prompt->moves = false;
    if (client_follow(watch->client) != 0)
        report_error(watch, "the lease");
    else if (watch->status.fault != APP_FAULT_NONE)
        watch_report(watch, "%sthe motion has ended with the fault %s", why,
                     app_fault_name(watch->status.fault));
    else if (watch->status.state == APP_STATE_RUNNING)
        watch_report(watch,
                     "%sthe arm is at rest; the board goes on holding it, also without this "
                     "command",
                     why);
    else if (take_rest(watch, rest_read, &rest))
        watch_report(watch, "%sthe arm is at rest: %s", why, rest_text(&rest));
    else
        report_error(watch, "the arm is at rest, and what holds it is not known");
}

const char *prompt_end(prompt_t *prompt, watch_t *watch) {
    static char text[WATCH_TEXT];
    rest_t rest;
    if (!prompt->moves || !watch->client || watch->client->token == 0)
        return NULL;
    if (!stop_confirmed(watch->client))
        return "THE STOP IS NOT CONFIRMED: the motion ends with the fault `host`, because its "
               "lease lapses; use the e-stop if it does not";
    if (take_rest(watch, rest_wait, &rest))
        snprintf(text, sizeof text, "the stop is confirmed: %s", rest_text(&rest));
    else
        snprintf(text, sizeof text, "the stop is confirmed; the state is not known: %.300s",
                 watch->client->error.what);
    return text;
}

/* --------------------------------------------------------------------------------------- the line */

static void run_line(prompt_t *prompt, watch_t *watch) {
    static const char *const known[] = {"set",  "get",   "move", "hold",
                                        "stop", "clear", "quit", NULL};
    char line[PROMPT_LINE];
    snprintf(line, sizeof line, "%s", prompt->typed);
    prompt->typed[0] = '\0';
    char *rest = line + strspn(line, " ");
    char *word = rest;
    rest += strcspn(rest, " ");
    if (*rest)
        *rest++ = '\0';
    rest += strspn(rest, " ");
    if (!*word)
        return;
    if (!strcmp(word, "quit")) {
        prompt->quit = true;
    } else if (!strcmp(word, "stop")) {
        run_stop(watch);
    } else if (!watch->client) {
        watch_report(watch, "%.20s: the line is closed", word);
    } else if (!strcmp(word, "hold")) {
        run_motion(prompt, watch, &(motion_t){.kind = MOTION_HOLD});
    } else if (!strcmp(word, "move")) {
        run_move(prompt, watch, rest);
    } else if (!strcmp(word, "clear")) {
        run_clear(watch);
    } else if (!strcmp(word, "get") && *rest) {
        run_get(watch, rest);
    } else if (!strcmp(word, "set") && strchr(rest, ' ')) {
        char *number = strchr(rest, ' ');
        *number++ = '\0';
        run_set(watch, rest, number + strspn(number, " "));
    } else {
        const char *near = messages_nearest(word, known);
        const bool same = near && !strcmp(near, word), other = near && !same;
        watch_report(watch,
                     "%s%.30s%s%s%s; write set NAME VALUE, get NAME, move Q1,Q2,..., hold, "
                     "stop, clear or quit",
                     same ? "" : "there is no command ", word, same ? " needs more words" : "",
                     other ? ", did you mean " : "", other ? near : "");
    }
}

void prompt_key(prompt_t *prompt, watch_t *watch, int key) {
    const size_t size = strlen(prompt->typed);
    if (key == KEY_STOP) {
        run_stop(watch);
    } else if (key == KEY_ENTER) {
        run_line(prompt, watch);
    } else if (key == KEY_ERASE_LINE) {
        prompt->typed[0] = '\0';
    } else if (key == KEY_BACKSPACE && size > 0) {
        size_t left = size - 1;
        while (left > 0 && ((unsigned char)prompt->typed[left] & 0xc0) == 0x80)
            left--;
        prompt->typed[left] = '\0';
    } else if (key >= ' ' && key <= 0xff && key != KEY_BACKSPACE && size + 1 < PROMPT_LINE) {
        prompt->typed[size] = (char)key;
        prompt->typed[size + 1] = '\0';
    }
}
