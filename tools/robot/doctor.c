/*
 * The import doctor: checks an arm that was read and reports what is suspicious about it. A value
 * is an error only if nothing can be computed with it. Everything else is a warning; published data
 * give many warnings.
 *
 * The limits of the checks are judgements about usual arms, not physics: values beyond them are
 * reported, never changed.
 *
 * This file checks frames, limits and motors, and calls all checks in order. doctor_body.c checks
 * bodies; doctor_numbers.c has the ranges of the robot image; doctor_motion.c has the checks that
 * compute with the arm.
 */
#include "tools/robot/doctor.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void doctor_add(doctor_t *d, message_severity_t severity, message_code_t code, uint32_t line,
                const char *subject, const char *cure, const char *format, ...) {
    char text[700];
    va_list arguments;
    if (d->errors_only && severity != MESSAGE_ERROR)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    messages_add(d->messages, severity, code, (message_place_t){d->robot->file, line, subject},
                 cure, "%s", text);
}

double doctor_length(const double v[3]) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

double doctor_largest(const double *x, size_t n) {
    double out = 0;
    for (size_t i = 0; i < n; i++)
        out = fmax(out, fabs(x[i]));
    return out;
}

static bool looks_like_degrees(double angle) {
    /* 7 rad is a little more than a turn. An angle of 90 that is meant in degrees would be 14.3
     * turns. */
    return fabs(angle) > 7;
}

void doctor_check_pose(doctor_t *d, const double xyz[3], const double rpy[3], uint32_t line,
                       const char *subject) {
    if (xyz && doctor_largest(xyz, 3) > 10)
        doctor_add(d, MESSAGE_WARNING, MESSAGE_UNITS, line, subject, "lengths are in metres",
                   "a distance of %g m looks like millimetres", doctor_largest(xyz, 3));
    if (rpy && looks_like_degrees(doctor_largest(rpy, 3)))
        doctor_add(d, MESSAGE_WARNING, MESSAGE_UNITS, line, subject, "angles are in radians",
                   "an angle of %g rad looks like degrees", doctor_largest(rpy, 3));
}

static void check_units(doctor_t *d, uint32_t i) {
    const robot_joint_t *j = &d->robot->joint[i];
    const dyn_source_joint_t *s = &j->source;
    const bool frames = d->robot->convention == DYN_CONVENTION_FRAMES;
    const double lengths[3] = {s->a, s->d, 0}, angles[3] = {s->theta, s->alpha, 0};
    if (d->robot->pieces == 0)
        doctor_check_pose(d, frames ? s->xyz : lengths, frames ? s->rpy : angles, j->line.frame,
                          j->name);
    const dyn_limits_t *limits = &s->drive.limits;
    const double *position = limits->position, range = doctor_largest(position, 2);
    if (s->type == DYN_REVOLUTE) {
        /* Arms with cables turn a few times at most. No arm has a limit of exactly 30 rad, so whole
         * numbers above 7 rad are suspicious too. */
        const bool whole = position[0] == rint(position[0]) && position[1] == rint(position[1]);
        if (range > 40 || (whole && looks_like_degrees(range)))
            doctor_add(d, MESSAGE_WARNING, MESSAGE_UNITS, j->line.position, j->name,
                       "angles are in radians", "a position limit of %g rad looks like degrees",
                       range);
        if (limits->velocity > 60)
            doctor_add(d, MESSAGE_WARNING, MESSAGE_UNITS, j->line.velocity, j->name,
                       "speeds are in rad/s", "a speed of %g rad/s looks like degrees per second",
                       limits->velocity);
        if (limits->acceleration > 1000)
            doctor_add(d, MESSAGE_WARNING, MESSAGE_UNITS, j->line.limits, j->name,
                       "accelerations are in rad/s^2",
                       "an acceleration of %g rad/s^2 looks like degrees/s^2",
                       limits->acceleration);
        if (looks_like_degrees(j->encoder.offset))
            doctor_add(d, MESSAGE_WARNING, MESSAGE_UNITS, j->line.encoder, j->name,
                       "angles are in radians", "an encoder offset of %g rad looks like degrees",
                       j->encoder.offset);
    } else {
        if (range > 10)
            doctor_add(d, MESSAGE_WARNING, MESSAGE_UNITS, j->line.position, j->name,
                       "lengths are in metres", "a position limit of %g m looks like millimetres",
                       range);
        if (limits->velocity > 20)
            doctor_add(d, MESSAGE_WARNING, MESSAGE_UNITS, j->line.velocity, j->name,
                       "speeds are in m/s", "a speed of %g m/s looks like millimetres per second",
                       limits->velocity);
    }
}

static void check_limits(doctor_t *d, uint32_t i) {
    const robot_joint_t *j = &d->robot->joint[i];
    const dyn_limits_t *l = &j->source.drive.limits;
    const uint32_t line = j->line.limits ? j->line.limits : j->line.joint;
    const bool urdf = d->robot->format == ROBOT_FORMAT_URDF;
    char missing[80] = "";
    static const struct {
        uint32_t has;
        const char *name;
    } wanted[] = {{IMAGE_JOINT_HAS_POSITION, "position"},
                  {IMAGE_JOINT_HAS_VELOCITY, "velocity"},
                  {IMAGE_JOINT_HAS_TORQUE, "torque"}};
    for (size_t k = 0; k < 3; k++)
        if (!(j->has & wanted[k].has) && !(k == 0 && j->has & ROBOT_JOINT_ENDLESS)) {
            size_t used = strlen(missing);
            snprintf(missing + used, sizeof missing - used, "%s%s", used ? ", " : "",
                     wanted[k].name);
        }
    if (*missing)
        doctor_add(d, MESSAGE_WARNING, MESSAGE_LIMITS, line, j->name,
                   urdf ? "before the arm runs, add <limit lower=\"\" upper=\"\" velocity=\"\" "
                          "effort=\"\"/>"
                        : "before the arm runs, add them under `limits:`",
                   "there are no limits for %s", missing);
    if (!span_ordered(robot_single(l->position[0]), robot_single(l->position[1])))
        doctor_add(d, MESSAGE_ERROR, MESSAGE_LIMITS, j->line.position, j->name,
                   "give the lower limit first, and a range between them",
                   "the lower limit %g is not below the upper limit %g", l->position[0],
                   l->position[1]);
    else if (j->has & IMAGE_JOINT_HAS_POSITION && l->position[0] == 0 && l->position[1] == 0)
        doctor_add(d, MESSAGE_WARNING, MESSAGE_LIMITS, j->line.position, j->name,
                   urdf ? "give the range, or make the joint fixed"
                        : "give the range, or leave it out",
                   "a range of zero counts as no limit, so the joint may move anywhere");
    if (j->has & IMAGE_JOINT_HAS_VELOCITY && l->velocity == 0)
        doctor_add(d, MESSAGE_WARNING, MESSAGE_LIMITS, j->line.velocity, j->name,
                   "give the speed that the drive reaches",
                   "a velocity limit of zero counts as not given");
    if (j->has & IMAGE_JOINT_HAS_TORQUE && l->torque == 0)
        doctor_add(d, MESSAGE_WARNING, MESSAGE_LIMITS, j->line.torque, j->name,
                   "give the torque or force that the drive has",
                   "a torque or force limit of zero counts as not given");
    if (j->has & IMAGE_JOINT_HAS_ACCELERATION && l->acceleration == 0)
        doctor_add(d, MESSAGE_WARNING, MESSAGE_LIMITS, line, j->name,
                   "give the largest acceleration of motions, or leave the key out",
                   "an acceleration limit of zero counts as not given");
}

static void check_motor(doctor_t *d, uint32_t i) {
    const robot_joint_t *j = &d->robot->joint[i];
    const dyn_motor_t *m = &j->source.drive.motor;
    if (!(j->has & ROBOT_JOINT_MOTOR))
        return;
    if (j->has & IMAGE_JOINT_HAS_RESISTANCE && m->resistance == 0)
        doctor_add(d, MESSAGE_WARNING, MESSAGE_MOTOR, j->line.motor, j->name,
                   "give the resistance of the winding in ohm",
                   "the resistance of the motor is zero");
    if (j->has & IMAGE_JOINT_HAS_TORQUE_CONSTANT && m->torque_constant == 0)
        doctor_add(d, MESSAGE_WARNING, MESSAGE_MOTOR, j->line.motor, j->name,
                   "give the torque constant in N m/A", "the torque constant of the motor is zero");
    if (j->has & IMAGE_JOINT_HAS_VOLTAGE && m->voltage == 0)
        doctor_add(d, MESSAGE_WARNING, MESSAGE_MOTOR, j->line.motor, j->name,
                   "give the voltage of the supply, or leave it out",
                   "a supply of 0 V counts as no limit");
    const double speed = j->source.drive.limits.velocity, volt = m->voltage;
    const double emf = fabs(m->torque_constant * m->gear) * speed;
    if (j->has & IMAGE_JOINT_HAS_VOLTAGE && volt > 0 && emf > volt)
        doctor_add(d, MESSAGE_WARNING, MESSAGE_MOTOR, j->line.motor, j->name,
                   "lower limits.velocity, or check gear and torque_constant",
                   "at the velocity limit the motor induces %.4g V, but the supply has %.4g V", emf,
                   volt);
}

static void check_gravity(doctor_t *d) {
    const robot_t *robot = d->robot;
    const double g = doctor_length(robot->gravity);
    if (g == 0)
        doctor_add(d, MESSAGE_WARNING, MESSAGE_GRAVITY, robot->line_gravity, NULL,
                   "write [0, 0, -9.81] if z points up", "gravity is zero");
    else if (g < 1 || g > 30)
        doctor_add(d, MESSAGE_WARNING, MESSAGE_GRAVITY, robot->line_gravity, NULL,
                   "give gravity in m/s^2, as a vector that points down",
                   "gravity is %g m/s^2, which looks wrong", g);
}

/* Axes that are almost parallel have a common normal far away from the arm. That suggests rounded
 * angles. */
static void check_parallel(doctor_t *d) {
    const robot_t *robot = d->robot;
    for (uint32_t i = 1; i < robot->n; i++) {
        const dyn_model_joint_t *m = &robot->model.joint[i];
        const robot_joint_t *j = &robot->joint[i];
        double reach = 1;
        for (uint32_t k = 0; k < robot->n; k++)
            reach += doctor_link_reach(robot, k);
        if (fabs(m->a) > 100 * reach || fabs(m->d) > 100 * reach)
            doctor_add(
                d, MESSAGE_WARNING, MESSAGE_PARALLEL, j->line.frame, j->name,
                "write the angle with more digits, or make such axes parallel with --parallel",
                "the axis is almost parallel to the previous one: their common normal is %.3g m "
                "away, so digits are lost",
                fmax(fabs(m->a), fabs(m->d)));
    }
}

static void check_description(doctor_t *d) {
    const robot_t *robot = d->robot;
    const size_t errors = d->messages->errors;
    check_gravity(d);
    doctor_check_pieces(d);
    for (uint32_t i = 0; i < robot->n; i++) {
        if (!robot->joint[i].elastic)
            doctor_check_link(d, &robot->joint[i]);
        doctor_check_shape(d, i);
        check_units(d, i);
        check_limits(d, i);
        check_motor(d, i);
    }
    /* the tool frame of a URDF comes from joints that were checked already */
    if (robot->format != ROBOT_FORMAT_URDF)
        doctor_check_pose(d, robot->tool_xyz, robot->tool_rpy, robot->line_tool, "tool");
    doctor_check_pose(d, robot->base_xyz, robot->base_rpy, robot->line_base, "base");
    doctor_check_payload(d);
    check_parallel(d);
    if (d->messages->errors == errors)
        doctor_check_numbers(d);
}

int robot_possible(const robot_t *robot, messages_t *messages) {
    doctor_t d = {robot, messages, true};
    const size_t errors = messages->errors;
    check_description(&d);
    return messages->errors == errors ? 0 : -1;
}

int robot_check(const robot_t *robot, messages_t *messages) {
    doctor_t d = {robot, messages, false};
    const size_t errors = messages->errors;
    check_description(&d);
    if (messages->errors == errors)
        doctor_check_motion(&d);
    return messages->errors == errors ? 0 : -1;
}
