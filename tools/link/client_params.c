/* Reads and writes what the board stores, for tools/link/client.h: parameters and images. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/app/errors.h"
#include "firmware/params/bytes.h"
#include "firmware/params/image.h"
#include "firmware/params/parameters.h"
#include "tools/cli/messages.h"
#include "tools/link/client.h"

/* ----------------------------------------------------------------------------------- parameters */

static int find_joint(client_t *client, const char *text, size_t size) {
    const device_t *d = &client->device;
    char name[CLIENT_NAME], *end;
    if (size >= sizeof name)
        return -1;
    memcpy(name, text, size);
    name[size] = '\0';
    for (uint32_t i = 0; i < d->joints; i++)
        if (!strcmp(d->joint[i], name))
            return (int)i;
    const long number = strtol(name, &end, 10);
    return size > 0 && !*end && number >= 1 && number <= (long)d->joints ? (int)number - 1 : -1;
}

/* A board tells the number of its parameters in a byte. */
enum { PARAMETERS_MOST = 255 };

static int no_joint(client_t *client, const char *name, const char *joint, size_t size) {
    const char *known[DYN_MAX_JOINTS + 1] = {0};
    char word[CLIENT_NAME], cure[PORT_TEXT];
    for (uint32_t i = 0; i < client->device.joints; i++)
        known[i] = client->device.joint[i];
    snprintf(word, sizeof word, "%.*s", (int)size, joint);
    messages_suggest(cure, sizeof cure, word, known,
                     "write NAME[JOINT] with the name or number (from 1) of a joint");
    port_fail(&client->error, cure, "%s: there is no such joint", name);
    return -1;
}

static int no_parameter(client_t *client, const char *name, size_t size) {
    const char *known[PARAMETERS_MOST + 1] = {NULL};
    char word[CLIENT_NAME], cure[PORT_TEXT];
    for (uint32_t i = 0; i < client->device.parameters; i++)
        known[i] = client->device.parameter[i].name;
    snprintf(word, sizeof word, "%.*s", (int)size, name);
    messages_suggest(cure, sizeof cure, word, known, "`appell get` lists all parameters");
    port_fail(&client->error, cure, "the board has no parameter %s", word);
    return -1;
}

int client_parameter(client_t *client, const char *name, uint32_t *parameter, int *joint) {
    const device_t *d = &client->device;
    const size_t size = strcspn(name, "[");
    for (uint32_t i = 0; i < d->parameters; i++) {
        const device_parameter_t *t = &d->parameter[i];
        if (strlen(t->name) != size || memcmp(t->name, name, size) != 0)
            continue;
        *parameter = i;
        *joint = t->per_joint ? -1 : 0;
        if (!name[size])
            return 0;
        const char *inside = name + size + 1;
        const char *close = strchr(inside, ']');
        *joint = t->per_joint && close && !close[1]
                     ? find_joint(client, inside, (size_t)(close - inside))
                     : -1;
        if (*joint >= 0)
            return 0;
        return no_joint(client, name, inside, close ? (size_t)(close - inside) : 0);
    }
    for (uint32_t t = 0; t < PARAMETERS && !(d->flags & HELLO_LAB); t++)
        if (strlen(parameter_table[t].name) == size &&
            !memcmp(parameter_table[t].name, name, size)) {
            port_fail(&client->error,
                      "write the laboratory firmware into the board: make BOARD=... LAB=1 flash",
                      "%s needs the laboratory firmware, but this board runs the product firmware",
                      name);
            return -1;
        }
    return no_parameter(client, name, size);
}

void client_unit(const device_parameter_t *parameter, bool prismatic, char *out, size_t size) {
    /* "N m/rad|N/m": revolute before the bar, prismatic after it */
    const char *bar = strchr(parameter->unit, '|');
    if (bar && parameter->per_joint && prismatic)
        snprintf(out, size, "%s", bar + 1);
    else
        snprintf(out, size, "%.*s",
                 bar ? (int)(bar - parameter->unit) : (int)strlen(parameter->unit),
                 parameter->unit);
}

int client_get(client_t *client, uint32_t parameter, uint32_t joint, float *value, bool *saved) {
    const uint8_t request[2] = {(uint8_t)parameter, (uint8_t)joint};
    if (client_ask(client, ASK_GET, request, sizeof request) != 0)
        return -1;
    *value = client->reply_size >= 5 ? get_f32(client->reply) : NAN;
    *saved = client->reply_size >= 5 && client->reply[4];
    return 0;
}

/* Sets a parameter, or overrides it if `token` is not 0. */
static int set(client_t *client, uint32_t token, uint32_t parameter, uint32_t joint, float value,
               float *now) {
    uint8_t request[10] = {0};
    put_u32(request, token);
    request[4] = (uint8_t)parameter;
    request[5] = (uint8_t)joint;
    put_f32(request + 6, value);
    if ((token != 0 ? client_ask(client, ASK_OVERRIDE, request, 10)
                    : client_ask(client, ASK_SET, request + 4, 6)) != 0) {
        if (client->status == LINK_BUDGET)
            port_fail(&client->error,
                      "send fewer samples or fields first: `appell monitor --every N --fields ...`",
                      "with this value the line is too slow for the chosen samples");
        return -1;
    }
    *now = client->reply_size >= 4 ? get_f32(client->reply) : NAN;
    return 0;
}

int client_set(client_t *client, uint32_t parameter, uint32_t joint, float value, float *now) {
    return set(client, 0, parameter, joint, value, now);
}

int client_override(client_t *client, uint32_t parameter, uint32_t joint, float value, float *now) {
    return client_lead(client, "appell") == 0
               ? set(client, client->token, parameter, joint, value, now)
               : -1;
}

int client_simulated(client_t *client, const char *what) {
    uint32_t parameter;
    int joint;
    float arm;
    bool saved;
    if ((!client->device.parameter && client_discover_some(client, DISCOVER_PARAMETERS) != 0) ||
        client_parameter(client, "arm", &parameter, &joint) != 0 ||
        client_get(client, parameter, 0, &arm, &saved) != 0)
        return -1;
    if (arm == ARM_SIMULATED)
        return 0;
    port_fail(&client->error, "choose the simulated arm first: `appell set arm 0 --port P`",
              "%s is for the simulated arm only, and this board controls the real one", what);
    return -1;
}

/* --------------------------------------------------------------------------------------- images */

int client_takes(client_t *client, uint32_t joints) {
    const device_t *d = &client->device;
    char cure[PORT_TEXT];
    if (joints <= d->joints_max)
        return 0;
    snprintf(cure, sizeof cure,
             d->flags & HELLO_LAB ? "use a board with more memory"
                                  : "raise JOINTS in boards/%.60s/board.mk as far as the board's "
                                    "memory allows, and build the firmware again",
             d->board);
    port_fail(&client->error, cure, "the robot has %u joints; this firmware takes at most %u",
              (unsigned)joints, d->joints_max);
    client->status = LINK_APP; /* the same status as if the board had refused the image */
    client->reason = APP_E_IMAGE + IMAGE_E_JOINTS;
    return -1;
}

int client_send_image(client_t *client, uint8_t target, const uint8_t *image, uint32_t length,
                      bool *kept, client_progress_t progress, void *user) {
    enum { AT_JOINTS = 16 }; /* offset of the number of joints in firmware/params/image.h */
    uint8_t request[PROTOCOL_PAYLOAD_MAX];
    const uint32_t most = client->device.payload - 4u;
    if (image_length(image, length) != 0 && client_takes(client, get_u32(image + AT_JOINTS)) != 0)
        return -1;
    request[0] = target;
    put_u32(request + 1, length);
    put_u32(request + 5, crc32_add(0, image, length));
    if (target == TARGET_APP && client_follow(client) != 0)
        return -1;
    if (client_ask_long(client, ASK_IMAGE_BEGIN, request, 9) != 0)
        return -1;
    for (uint32_t at = 0; at < length;) {
        const uint32_t piece = client_piece(client, most);
        const uint32_t n = length - at < piece ? length - at : piece;
        put_u32(request, at);
        memcpy(request + 4, image + at, n);
        if (client_ask(client, ASK_IMAGE_DATA, request, 4 + n) != 0)
            return -1;
        at += n;
        if (progress)
            progress(user, at, length);
    }
    if (client_ask_long(client, ASK_IMAGE_END, &target, 1) != 0)
        return -1;
    *kept = client->reply_size >= 4 && client->reply[3];
    /* the earlier choice of fields was for another arm and is not restored */
    if (target == TARGET_APP) {
        client->found_known = true;
        client->founds = 0;
    }
    return 0;
}

static void *no_image(client_t *client, uint8_t *image) {
    free(image);
    port_fail(&client->error, "use `appell` and firmware of the same version",
              "the image on the board has an impossible length");
    return NULL;
}

uint8_t *client_read_image(client_t *client, uint8_t which, uint32_t *length) {
    uint8_t request[6] = {which};
    /* bytes at the start that contain the length, see firmware/params/image.h */
    enum { HEAD = 16 };
    *length = 0;
    request[5] = HEAD;
    if (client_ask(client, ASK_IMAGE_READ, request, sizeof request) != 0) {
        if (client->status == LINK_INDEX)
            client->error.what[0] = '\0'; /* a missing image is not an error */
        return NULL;
    }
    const uint32_t total = client->reply_size == HEAD ? get_u32(client->reply + HEAD - 4) : 0;
    uint8_t *image = total >= HEAD && total < 1u << 20 ? malloc(total + 1) : NULL;
    if (!image)
        return no_image(client, NULL);
    const uint32_t most = client->device.payload - 1u;
    for (uint32_t at = 0; at < total;) {
        const uint32_t piece = client_piece(client, most);
        const uint32_t n = total - at < piece ? total - at : piece;
        put_u32(request + 1, at);
        request[5] = (uint8_t)n;
        if (client_ask(client, ASK_IMAGE_READ, request, sizeof request) != 0) {
            free(image);
            return NULL;
        }
        if (client->reply_size != n)
            return no_image(client, image);
        memcpy(image + at, client->reply, n);
        at += n;
    }
    *length = total;
    return image;
}

int client_save(client_t *client, bool *persistent) {
    if (client_ask_long(client, ASK_SAVE, NULL, 0) != 0)
        return -1;
    *persistent = client->reply_size > 0 && client->reply[0];
    return 0;
}
