/* Checks the numbers of an arm for tools/robot/doctor.h as the board does, with the same table and
 * code (firmware/params/image.h). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/robot/doctor.h"

static const char *unit_of(const char *field) {
    static const struct {
        const char *field, *unit;
    } units[] = {
#define X(name, count, unit, range, help) {#name, unit},
        IMAGE_ARM_FIELDS(X) IMAGE_JOINT_FIELDS(X)
#undef X
            {"home_position", "rad or m"}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(units[i].field, field) == 0)
            return units[i].unit;
    return "";
}

/* Writes a number with as few digits as tell it from all others in single precision. */
static const char *shortest(float value, char out[32]) {
    int digits = 5;
    if (value == rintf(value) && fabsf(value) < 2e9F)
        snprintf(out, 32, "%.0f", (double)value);
    else
        do
            snprintf(out, 32, "%.*g", ++digits, (double)value);
        while (digits < 9 && strtof(out, NULL) != value);
    return out;
}

void robot_number_text(const image_where_t *where, char *out, size_t size) {
    static const struct {
        const char *field, *text;
    } together[] = {{"position", "the lower limit is not below the upper one"},
                    {"coulomb", "the Coulomb friction has the wrong sign"},
                    {"inertia", "a principal moment of inertia is negative"},
                    {"payload_inertia", "a principal moment of inertia of the payload is negative"},
                    {"alpha, a, theta, d", "the frame of the first joint is not zero"},
                    {"home_position", "an absolute encoder has a position of homing"},
                    {"thermal", "what a motor can give for ever, or its time, is not possible"},
                    {"-0", "-0 is written for 0"}};
    const char *field = where->field ? where->field : "";
    if (where->at && where->span.least <= where->span.most) {
        const char *unit = unit_of(field);
        static const char *const which[] = {"", ", a whole number", ", but not 0"};
        char is[32], least[32], most[32];
        snprintf(out, size, "%s is %s; it must be %s to %s%s%s%s", field, shortest(*where->at, is),
                 shortest(where->span.least, least), shortest(where->span.most, most),
                 *unit ? " " : "", unit, which[where->span.whole]);
        return;
    }
    snprintf(out, size, "%s", field);
    for (size_t i = 0; i < sizeof together / sizeof together[0]; i++)
        if (strcmp(together[i].field, field) == 0)
            snprintf(out, size, "%s", together[i].text);
}

/* Returns the line of a field in the file. */
static uint32_t line_of(const robot_t *robot, const image_where_t *where) {
    static const struct {
        const char *field;
        size_t robot, joint;
    } lines[] = {
#define ARM(field, member) {#field, offsetof(robot_t, member), 0}
#define JOINT(field, member)                                                                       \
    { #field, 0, offsetof(robot_joint_lines_t, member) }
        ARM(rate_hz, line_control),
        ARM(gravity, line_gravity),
        ARM(base_xyz, line_base),
        ARM(base_rpy, line_base),
        ARM(tool_xyz, line_tool),
        ARM(tool_rpy, line_tool),
        ARM(payload_mass, line_payload),
        ARM(payload_com, line_payload),
        ARM(payload_inertia, line_payload),
        JOINT(alpha, frame),
        JOINT(a, frame),
        JOINT(theta, frame),
        JOINT(d, frame),
        JOINT(mass, mass),
        JOINT(com, com),
        JOINT(inertia, inertia),
        JOINT(position, position),
        JOINT(velocity, velocity),
        JOINT(acceleration, limits),
        JOINT(torque, torque),
        JOINT(resistance, motor),
        JOINT(torque_constant, motor),
        JOINT(gear, motor),
        JOINT(rotor_inertia, motor),
        JOINT(voltage, motor),
        JOINT(viscous, friction),
        JOINT(coulomb, friction),
        JOINT(counts, encoder),
        JOINT(sign, encoder),
        JOINT(offset, encoder),
        JOINT(ratio, encoder),
        JOINT(kp, gains),
        JOINT(kd, gains)};
    const bool arm = where->joint >= robot->n;
    const void *in = arm ? (const void *)robot : (const void *)&robot->joint[where->joint].line;
    uint32_t line = 0;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (strcmp(lines[i].field, where->field) == 0)
            memcpy(&line, (const char *)in + (arm ? lines[i].robot : lines[i].joint), sizeof line);
    return line || arm ? line : robot->joint[where->joint].line.joint;
}

/* Each number that is found is replaced by one that is possible, to find the next one. */
void doctor_check_numbers(doctor_t *d) {
    image_t *image = calloc(1, sizeof *image);
    image_where_t where;
    size_t errors = 0;
    if (!image)
        return;
    robot_to_image(d->robot, image);
    while (image_check(image, &where) != IMAGE_OK && errors++ < 100) {
        char text[200];
        const bool joint = where.joint < d->robot->n;
        robot_number_text(&where, text, sizeof text);
        doctor_add(d, MESSAGE_ERROR, MESSAGE_VALUE, line_of(d->robot, &where),
                   joint ? d->robot->joint[where.joint].name : NULL,
                   "correct it; all numbers are in SI units", "%s", text);
        if (where.span.least > where.span.most)
            break;
        /* within the image, which this function owns */
        float *at = (float *)(uintptr_t)where.at;
        *at = where.span.least > 0 || where.span.whole == SPAN_SIGN ? where.span.most : 0;
    }
    free(image);
}
