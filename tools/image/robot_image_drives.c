/* What a robot image says about the drives beyond its joints' fields: the heat that motors stand
 * (section THRM), and whether the gains can work. */
#include <stdio.h>
#include <stdlib.h>

#include "firmware/params/bytes.h"
#include "firmware/params/gains.h"
#include "tools/image/robot_image_inside.h"

uint8_t *robot_image_thermal(const robot_t *robot, image_t *image) {
    const uint32_t size = robot->n * IMAGE_THERMAL_SIZE;
    uint8_t *bytes = malloc(size), *at = bytes;
    bool any = false;
    for (uint32_t i = 0; bytes && i < robot->n; i++) {
        const robot_thermal_t *t = &robot->joint[i].thermal;
        at = put_f32(put_f32(at, (float)t->continuous), (float)t->time);
        any = any || t->continuous > 0 || t->time > 0;
    }
    if (any)
        image->section[IMAGE_SECTION_THRM] = (image_section_t){bytes, size};
    return bytes;
}

/* Adds a note if nothing is said about the heat of a motor that has a torque limit. */
static void note_thermal(const robot_t *robot, messages_t *messages) {
    uint32_t taken = 0, first = 0;
    for (uint32_t i = robot->n; i-- > 0;) {
        const robot_joint_t *j = &robot->joint[i];
        if (!(j->source.drive.limits.torque > 0) ||
            (j->thermal.continuous > 0 && j->thermal.time > 0))
            continue;
        first = i;
        taken++;
    }
    if (taken == 0)
        return;
    char others[60] = "";
    if (taken > 1)
        snprintf(others, sizeof others, "; the same holds for %u more joint%s", (unsigned)taken - 1,
                 taken == 2 ? "" : "s");
    messages_add(
        messages, MESSAGE_NOTE, MESSAGE_LIMITS,
        (message_place_t){robot->file, robot->joint[first].line.joint, robot->joint[first].name},
        "give `thermal: {continuous: ..., time: ...}` in a robot file",
        "the file does not say what heat the motor stands; it is assumed to give "
        "hold_fraction (%g) of its torque limit for ever, and its limit for 30 s%s",
        (double)parameter_table[PARAMETER_hold_fraction].fallback, others);
}

/* Refuses gains that no loop can have, as the board does. */
static bool gains_work(const robot_t *robot, const image_t *image, messages_t *messages) {
    bool good = true;
    for (uint32_t i = 0; i < image->n; i++) {
        const robot_joint_t *j = &robot->joint[i];
        const gains_t most = gains_most(gains_inertia(image, i), image->arm.rate_hz[0]);
        const struct {
            const char *name;
            float value, most;
        } gain[] = {{"kp", image->joint[i].kp[0], most.kp}, {"kd", image->joint[i].kd[0], most.kd}};
        for (size_t k = 0; k < 2; k++) {
            if (gain[k].value <= gain[k].most)
                continue;
            messages_add(
                messages, MESSAGE_ERROR, MESSAGE_VALUE,
                (message_place_t){robot->file, j->line.gains, j->name},
                "lower the gain, raise control.rate, or give the rotor_inertia of the motor",
                "%s is %g; above %g no loop at %g Hz is stable, in whatever pose", gain[k].name,
                (double)gain[k].value, (double)gain[k].most, (double)image->arm.rate_hz[0]);
            good = false;
        }
    }
    return good;
}

bool robot_image_drives(const robot_t *robot, messages_t *messages) {
    const message_place_t place = {robot->file, 0, NULL};
    image_t *image = calloc(1, sizeof *image);
    bool good = false;
    if (image) {
        robot_to_image(robot, image);
        note_thermal(robot, messages);
        good = gains_work(robot, image, messages);
    } else {
        messages_add(messages, MESSAGE_ERROR, MESSAGE_MEMORY, place, NULL,
                     "there is not enough memory");
    }
    free(image);
    return good;
}
