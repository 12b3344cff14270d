/*
 * Writes a robot as a robot file. Every number has enough digits to restore the same double, so the
 * loaded model is identical to the last bit.
 */
#include <ctype.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "tools/robot/robot.h"

static void put_number(FILE *f, double value) {
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    fputs(text, f);
}

static void put_key(FILE *f, const char *key, double value, bool *first) {
    fprintf(f, "%s%s: ", *first ? "" : ", ", key);
    *first = false;
    put_number(f, value);
}

static void put_list(FILE *f, const double *value, size_t count) {
    fputc('[', f);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", f);
        put_number(f, value[i]);
    }
    fputc(']', f);
}

static void put_key_list(FILE *f, const char *key, const double *value, size_t count, bool *first) {
    fprintf(f, "%s%s: ", *first ? "" : ", ", key);
    *first = false;
    put_list(f, value, count);
}

static void put_name(FILE *f, const char *name) {
    bool plain = isalpha((unsigned char)name[0]) || name[0] == '_';
    for (const char *s = name; *s; s++)
        plain = plain && (isalnum((unsigned char)*s) || *s == '_' || *s == '-' || *s == '.');
    if (plain) {
        fputs(name, f);
        return;
    }
    fputc('"', f);
    for (const char *s = name; *s; s++) {
        if (*s == '"' || *s == '\\')
            fputc('\\', f);
        fputc(*s, f);
    }
    fputc('"', f);
}

static bool any(const double *value, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (value[i] != 0)
            return true;
    return false;
}

static void put_frame(FILE *f, const robot_t *robot, const dyn_source_joint_t *s) {
    bool first = true;
    if (robot->convention == DYN_CONVENTION_FRAMES) {
        fputs("    origin: {", f);
        put_key_list(f, "xyz", s->xyz, 3, &first);
        put_key_list(f, "rpy", s->rpy, 3, &first);
        fputs("}\n    axis: ", f);
        put_list(f, s->axis, 3);
        fputc('\n', f);
        return;
    }
    fputs("    dh: {", f);
    put_key(f, "theta", s->theta, &first);
    put_key(f, "d", s->d, &first);
    put_key(f, "a", s->a, &first);
    put_key(f, "alpha", s->alpha, &first);
    fputs("}\n", f);
}

static void put_shapes(FILE *f, const char *plane, const robot_shape_t *shape, uint32_t count) {
    for (uint32_t i = 0; shape && i < count; i++) {
        fprintf(f, "        - plane: %s\n          values: ", plane);
        put_list(f, shape[i].value, shape[i].count);
        fputc('\n', f);
    }
}

static void put_flex(FILE *f, const robot_flex_t *x) {
    const struct {
        const char *key;
        double value;
    } optional[] = {{"EI_y", x->EI_y},
                    {"EI_z", x->EI_z},
                    {"GJ", x->GJ},
                    {"damping", x->damping},
                    {"polar_inertia", x->polar_inertia}};
    fputs("    flex:\n      length: ", f);
    put_number(f, x->length);
    fputs("\n      mass_per_length: ", f);
    put_number(f, x->mass_per_length);
    fputc('\n', f);
    for (size_t i = 0; i < sizeof optional / sizeof optional[0]; i++)
        if (optional[i].value != 0) {
            fprintf(f, "      %s: ", optional[i].key);
            put_number(f, optional[i].value);
            fputc('\n', f);
        }
    fprintf(f, "      modes: {xy: %u, xz: %u, torsion: %u}\n", (unsigned)x->modes_xy,
            (unsigned)x->modes_xz, (unsigned)x->modes_torsion);
    if (x->shape_xy || x->shape_xz || x->shape_torsion)
        fputs("      shapes:\n", f);
    put_shapes(f, "xy", x->shape_xy, x->modes_xy);
    put_shapes(f, "xz", x->shape_xz, x->modes_xz);
    put_shapes(f, "torsion", x->shape_torsion, x->modes_torsion);
}

static void put_link(FILE *f, const robot_joint_t *joint) {
    bool first = true;
    if (joint->elastic) {
        put_flex(f, &joint->flex);
        return;
    }
    fputs("    link: {", f);
    put_key(f, "mass", joint->source.link.mass, &first);
    put_key_list(f, "com", joint->source.link.com, 3, &first);
    put_key_list(f, "inertia", joint->source.link.inertia, 6, &first);
    if (any(joint->source.inertia_rpy, 3))
        put_key_list(f, "rpy", joint->source.inertia_rpy, 3, &first);
    fputs("}\n", f);
}

/*
 * A key of a section, and its values. put_section writes it only if one of the bits `has` is set.
 */
typedef struct {
    const char *key;
    uint32_t has;
    const double *value;
    size_t count;
} entry_t;

static void put_section(FILE *f, const char *name, uint32_t has, bool always, const entry_t *entry,
                        size_t count) {
    bool first = true, some = always;
    for (size_t i = 0; i < count; i++)
        some = some || (has & entry[i].has);
    if (!some)
        return;
    fprintf(f, "    %s: {", name);
    for (size_t i = 0; i < count; i++) {
        if (!(has & entry[i].has))
            continue;
        if (entry[i].count > 1)
            put_key_list(f, entry[i].key, entry[i].value, entry[i].count, &first);
        else
            put_key(f, entry[i].key, *entry[i].value, &first);
    }
    fputs("}\n", f);
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void put_drive(FILE *f, const robot_joint_t *j) {
    const dyn_drive_t *d = &j->source.drive;
    const entry_t limits[] = {
        {"position", IMAGE_JOINT_HAS_POSITION, d->limits.position, 2},
        {"velocity", IMAGE_JOINT_HAS_VELOCITY, &d->limits.velocity, 1},
        {"acceleration", IMAGE_JOINT_HAS_ACCELERATION, &d->limits.acceleration, 1},
        {"torque", IMAGE_JOINT_HAS_TORQUE, &d->limits.torque, 1}};
    const entry_t motor[] = {
        {"resistance", IMAGE_JOINT_HAS_RESISTANCE, &d->motor.resistance, 1},
        {"torque_constant", IMAGE_JOINT_HAS_TORQUE_CONSTANT, &d->motor.torque_constant, 1},
        {"gear", IMAGE_JOINT_HAS_GEAR, &d->motor.gear, 1},
        {"rotor_inertia", IMAGE_JOINT_HAS_ROTOR_INERTIA, &d->motor.rotor_inertia, 1},
        {"voltage", IMAGE_JOINT_HAS_VOLTAGE, &d->motor.voltage, 1}};
    const entry_t friction[] = {{"viscous", IMAGE_JOINT_HAS_VISCOUS, &d->friction.viscous, 1},
                                {"coulomb", IMAGE_JOINT_HAS_COULOMB, d->friction.coulomb, 2}};
    const entry_t encoder[] = {{"counts", IMAGE_JOINT_HAS_COUNTS, &j->encoder.counts, 1},
                               {"sign", IMAGE_JOINT_HAS_SIGN, &j->encoder.sign, 1},
                               {"offset", IMAGE_JOINT_HAS_OFFSET, &j->encoder.offset, 1},
                               {"ratio", IMAGE_JOINT_HAS_RATIO, &j->encoder.ratio, 1}};
    const entry_t gains[] = {{"kp", IMAGE_JOINT_HAS_KP, &j->kp, 1},
                             {"kd", IMAGE_JOINT_HAS_KD, &j->kd, 1}};
    put_section(f, "limits", j->has, false, limits, COUNT(limits));
    put_section(f, "motor", j->has, d->motor.gear != 0, motor, COUNT(motor));
    put_section(f, "friction", j->has, false, friction, COUNT(friction));
    put_section(f, "encoder", j->has, false, encoder, COUNT(encoder));
    if (j->homing.how != 0) {
        bool first = true;
        fprintf(f, "    homing: {to: %s, side: %s, ", abs(j->homing.how) == 1 ? "stop" : "switch",
                j->homing.how < 0 ? "lower" : "upper");
        put_key(f, "position", j->homing.position, &first);
        fputs("}\n", f);
    }
    if (j->thermal.continuous > 0 || j->thermal.time > 0) {
        bool first = true;
        fputs("    thermal: {", f);
        if (j->thermal.continuous > 0)
            put_key(f, "continuous", j->thermal.continuous, &first);
        if (j->thermal.time > 0)
            put_key(f, "time", j->thermal.time, &first);
        fputs("}\n", f);
    }
    put_section(f, "gains", j->has, false, gains, COUNT(gains));
}

static void put_pose(FILE *f, const char *name, const double xyz[3], const double rpy[3]) {
    bool first = true;
    fprintf(f, "%s: {", name);
    put_key_list(f, "xyz", xyz, 3, &first);
    put_key_list(f, "rpy", rpy, 3, &first);
    fputs("}\n", f);
}

static void put_robot(FILE *f, const robot_t *robot) {
    static const char *const convention[] = {"dh", "mdh", "frames"};
    static const char *const feedback[] = {"off", "pd", "computed_torque"};
    bool first = true;
    fputs("name: ", f);
    put_name(f, robot->name);
    fprintf(f, "\nconvention: %s\ngravity: ", convention[robot->convention]);
    put_list(f, robot->gravity, 3);
    fputc('\n', f);
    if (robot->has & IMAGE_HAS_BASE)
        put_pose(f, "base", robot->base_xyz, robot->base_rpy);
    if (robot->has & (IMAGE_HAS_RATE | IMAGE_HAS_FEEDBACK)) {
        fputs("control: {", f);
        if (robot->has & IMAGE_HAS_RATE)
            put_key(f, "rate", robot->rate_hz, &first);
        if (robot->has & IMAGE_HAS_FEEDBACK)
            fprintf(f, "%sfeedback: %s", first ? "" : ", ", feedback[robot->feedback]);
        fputs("}\n", f);
    }
    if (robot->has & IMAGE_HAS_BRAKES)
        fprintf(f, "brakes: %s\n", robot->has & IMAGE_BRAKES ? "true" : "false");
    fputs("joints:\n", f);
    for (uint32_t i = 0; i < robot->n; i++) {
        const robot_joint_t *j = &robot->joint[i];
        fputs("  - name: ", f);
        put_name(f, j->name);
        if (strcmp(j->name, j->link_name) != 0 && *j->link_name)
            fprintf(f, "  # moves %s", j->link_name);
        fprintf(f, "\n    type: %s\n", j->source.type == DYN_PRISMATIC ? "prismatic" : "revolute");
        put_frame(f, robot, &j->source);
        put_link(f, j);
        put_drive(f, j);
    }
    if (robot->has & IMAGE_HAS_TOOL)
        put_pose(f, "tool", robot->tool_xyz, robot->tool_rpy);
    if (robot->has & IMAGE_HAS_PAYLOAD) {
        first = true;
        fputs("payload: {", f);
        put_key(f, "mass", robot->payload.mass, &first);
        put_key_list(f, "com", robot->payload.com, 3, &first);
        put_key_list(f, "inertia", robot->payload.inertia, 6, &first);
        fputs("}\n", f);
    }
}

int robot_save(FILE *stream, const robot_t *robot) {
    /* Writes decimal points, whatever the user's language is. */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = plain ? uselocale(plain) : (locale_t)0;
    put_robot(stream, robot);
    if (plain) {
        uselocale(before);
        freelocale(plain);
    }
    return fflush(stream) == 0 && !ferror(stream) ? 0 : -1;
}
