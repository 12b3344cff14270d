/*
 * The import doctor: looks at an arm that was understood and says what is suspicious about it.
 * Errors are what cannot be computed with; the rest, and published data are full of it, are
 * warnings.
 *
 * The bounds are judgements about arms, not physics: what lies beyond them is named, never changed.
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "dyn/number/f64.h"
#include "tools/robot/readers.h"

typedef struct {
    const robot_t *robot;
    messages_t *messages;
    bool errors_only;
} doctor_t;

static void say(doctor_t *d, message_severity_t severity, message_code_t code, uint32_t line,
                const char *subject, const char *cure, const char *format, ...)
    __attribute__((format(printf, 7, 8)));

static void say(doctor_t *d, message_severity_t severity, message_code_t code, uint32_t line,
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

static double length3(const double v[3]) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static double largest(const double *x, size_t n) {
    double out = 0;
    for (size_t i = 0; i < n; i++)
        out = fmax(out, fabs(x[i]));
    return out;
}

/* Eigenvalues of a symmetric 3x3 tensor, ascending, by Jacobi rotations. */
static void eigenvalues(const double six[6], double out[3]) {
    double a[3][3] = {{six[0], six[3], six[5]}, {six[3], six[1], six[4]}, {six[5], six[4], six[2]}};
    for (int sweep = 0; sweep < 30; sweep++)
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                if (a[p][q] == 0)
                    continue;
                double t = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                t = (t >= 0 ? 1 : -1) / (fabs(t) + sqrt(t * t + 1));
                const double c = 1 / sqrt(t * t + 1), s = t * c;
                const int r = 3 - p - q;
                const double apq = a[p][q], arp = a[r][p], arq = a[r][q];
                a[p][p] -= t * apq;
                a[q][q] += t * apq;
                a[p][q] = a[q][p] = 0;
                a[r][p] = a[p][r] = c * arp - s * arq;
                a[r][q] = a[q][r] = s * arp + c * arq;
            }
    for (int i = 0; i < 3; i++)
        out[i] = a[i][i];
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2 - i; k++)
            if (out[k] > out[k + 1]) {
                const double swap = out[k];
                out[k] = out[k + 1];
                out[k + 1] = swap;
            }
}

/* ---------------------------------------------------------------------------------------- poses */

static bool looks_like_degrees(double angle) {
    /* More than a turn and a bit; and 90 is 14.3 turns. */
    return fabs(angle) > 7;
}

/* A place and a turn, either may be NULL. */
static void check_pose(doctor_t *d, const double xyz[3], const double rpy[3], uint32_t line,
                       const char *subject) {
    if (xyz && largest(xyz, 3) > 10)
        say(d, MESSAGE_WARNING, MESSAGE_UNITS, line, subject, "lengths are in metres",
            "a distance of %g m looks like millimetres", largest(xyz, 3));
    if (rpy && looks_like_degrees(largest(rpy, 3)))
        say(d, MESSAGE_WARNING, MESSAGE_UNITS, line, subject, "angles are in radians",
            "an angle of %g rad looks like degrees", largest(rpy, 3));
}

/* ------------------------------------------------------------------------------------- mass,
 * inertia */

/* Where a body is described: its name and lines. What stands with the base is in no computation. */
typedef struct {
    const char *name;
    uint32_t line_mass, line_com, line_inertia;
    bool stands;
} described_t;

/* Can there be such a body? False where it cannot be computed with. */
static bool check_possible(doctor_t *d, const dyn_body_t *body, const described_t *at) {
    const message_severity_t worst = at->stands ? MESSAGE_WARNING : MESSAGE_ERROR;
    const double size = largest(body->inertia, 6);
    double e[3];
    bool possible = true;
    eigenvalues(body->inertia, e);
    if (body->mass < 0) {
        say(d, worst, MESSAGE_MASS, at->line_mass, at->name, "give its mass in kg",
            "negative mass, %g kg", body->mass);
        possible = false;
    }
    /* A tensor typed with a few digits misses by these digits, not by more. */
    if (e[0] < -1e-9 * size) {
        say(d, worst, MESSAGE_INERTIA, at->line_inertia, at->name,
            "check the signs of ixy, iyz, ixz and the point that the tensor refers to: the centre "
            "of mass",
            "no body has this inertia: a principal moment is negative, %g kg m^2", e[0]);
        possible = false;
    }
    if (possible && body->mass > 0 && e[2] > (e[0] + e[1]) * (1 + 1e-6))
        say(d, MESSAGE_WARNING, MESSAGE_INERTIA, at->line_inertia, at->name,
            "check the tensor: two principal moments are never smaller than the third",
            "no body has this inertia: principal moments %.6g, %.6g, %.6g kg m^2 miss the triangle "
            "inequality",
            e[0], e[1], e[2]);
    return possible;
}

/* What a moving link should have. */
static void check_present(doctor_t *d, const dyn_body_t *body, const described_t *at) {
    const double size = largest(body->inertia, 6);
    if (body->mass == 0)
        say(d, MESSAGE_WARNING, MESSAGE_MASS, at->line_mass, at->name,
            "give its mass; published models leave it out where it does not matter",
            size > 0 ? "the link has inertia but no mass" : "the link has no mass");
    else if (body->mass > 0 && size == 0)
        say(d, MESSAGE_WARNING, MESSAGE_INERTIA, at->line_inertia, at->name,
            "give its inertia tensor", "%.6g kg without any inertia: a point", body->mass);
}

static void check_body_units(doctor_t *d, const dyn_body_t *body, const described_t *at) {
    if (largest(body->com, 3) > 10)
        say(d, MESSAGE_WARNING, MESSAGE_UNITS, at->line_com, at->name, "lengths are in metres",
            "a centre of mass at %g m looks like millimetres", largest(body->com, 3));
    if (body->mass > 2000)
        say(d, MESSAGE_WARNING, MESSAGE_UNITS, at->line_mass, at->name, "masses are in kg",
            "a mass of %g kg looks like grams", body->mass);
}

/* The bodies as they were written: in a sum of several nobody would find the wrong one again. */
static void check_pieces(doctor_t *d) {
    for (size_t i = 0; i < d->robot->pieces; i++) {
        const robot_piece_t *p = &d->robot->piece[i];
        const described_t at = {p->name, p->line_mass, p->line_com, p->line_inertia, p->stands};
        check_pose(d, p->xyz, p->rpy, p->line_joint, p->joint);
        check_pose(d, NULL, p->inertia_rpy, p->line_com, p->name);
        if (p->inertial && check_possible(d, &p->body, &at))
            check_body_units(d, &p->body, &at);
    }
}

static void check_link(doctor_t *d, const robot_joint_t *j) {
    const dyn_body_t body = reader_turned(&j->source.link, j->source.inertia_rpy);
    const described_t at = {j->link_name, j->line.mass, j->line.com, j->line.inertia, false};
    if (d->robot->pieces == 0) {
        check_pose(d, NULL, j->source.inertia_rpy, j->line.inertia, j->link_name);
        if (check_possible(d, &body, &at))
            check_body_units(d, &body, &at);
    }
    check_present(d, &body, &at);
}

/* How far the link reaches from its own origin, as its frames tell: to the joints on either side.
 */
static double link_reach(const robot_t *robot, uint32_t i) {
    const dyn_source_joint_t *s = &robot->joint[i].source;
    double reach = 0;
    if (robot->convention == DYN_CONVENTION_FRAMES) {
        reach = length3(s->xyz);
        if (i + 1 < robot->n)
            reach = fmax(reach, length3(robot->joint[i + 1].source.xyz));
    } else {
        const double own[3] = {s->a, s->d, 0};
        reach = length3(own);
        if (i + 1 < robot->n) {
            const dyn_source_joint_t *next = &robot->joint[i + 1].source;
            const double after[3] = {next->a, next->d, 0};
            reach = fmax(reach, length3(after));
        }
    }
    if (i + 1 == robot->n)
        reach = fmax(reach, length3(robot->tool_xyz));
    if (s->type == DYN_PRISMATIC)
        reach += largest(s->drive.limits.position, 2);
    return reach;
}

static void check_shape(doctor_t *d, uint32_t i) {
    const robot_joint_t *j = &d->robot->joint[i];
    const dyn_body_t *body = &j->source.link;
    const double reach = link_reach(d->robot, i), com = length3(body->com);
    if (j->elastic || !(body->mass > 0))
        return;
    double e[3];
    eigenvalues(body->inertia, e);
    const double gyration = sqrt(fmax(e[2], 0) / body->mass);
    /* A bar that turns about its end has its centre 1.7 radii of gyration away. */
    if (com > 2 * reach + 3 * gyration + 0.1)
        say(d, MESSAGE_WARNING, MESSAGE_COM, j->line.com, j->link_name,
            "give it in the link frame of the convention, in metres",
            "the centre of mass is %.3g m from the link frame, far outside of a link that reaches "
            "%.3g m",
            com, reach);
    if (gyration > 2 * fmax(reach, com) + 0.2)
        say(d, MESSAGE_WARNING, gyration > 5 ? MESSAGE_UNITS : MESSAGE_INERTIA, j->line.inertia,
            j->link_name,
            gyration > 5 ? "is the inertia in kg mm^2 or the mass in g? use kg m^2 and kg"
                         : "check that the tensor refers to the centre of mass and is in kg m^2",
            "the inertia is that of a body with a radius of gyration of %.3g m, the link reaches "
            "%.3g m",
            gyration, reach);
}

/* ---------------------------------------------------------------------------------------------
 * units */

static void check_units(doctor_t *d, uint32_t i) {
    const robot_joint_t *j = &d->robot->joint[i];
    const dyn_source_joint_t *s = &j->source;
    const bool frames = d->robot->convention == DYN_CONVENTION_FRAMES;
    const double lengths[3] = {s->a, s->d, 0}, angles[3] = {s->theta, s->alpha, 0};
    if (d->robot->pieces == 0)
        check_pose(d, frames ? s->xyz : lengths, frames ? s->rpy : angles, j->line.frame, j->name);
    const dyn_limits_t *limits = &s->drive.limits;
    const double *position = limits->position, range = largest(position, 2);
    if (s->type == DYN_REVOLUTE) {
        /* Arms with cables turn a few times at most, and nobody has a limit of exactly 30 rad. */
        const bool whole = position[0] == rint(position[0]) && position[1] == rint(position[1]);
        if (range > 40 || (whole && looks_like_degrees(range)))
            say(d, MESSAGE_WARNING, MESSAGE_UNITS, j->line.position, j->name,
                "angles are in radians", "a range up to %g rad looks like degrees", range);
        if (limits->velocity > 60)
            say(d, MESSAGE_WARNING, MESSAGE_UNITS, j->line.velocity, j->name, "speeds are in rad/s",
                "a speed of %g rad/s looks like degrees per second", limits->velocity);
        if (limits->acceleration > 1000)
            say(d, MESSAGE_WARNING, MESSAGE_UNITS, j->line.limits, j->name,
                "accelerations are in rad/s^2", "an acceleration of %g rad/s^2 looks like degrees",
                limits->acceleration);
        if (looks_like_degrees(j->encoder.offset))
            say(d, MESSAGE_WARNING, MESSAGE_UNITS, j->line.encoder, j->name,
                "angles are in radians", "an encoder offset of %g rad looks like degrees",
                j->encoder.offset);
    } else {
        if (range > 10)
            say(d, MESSAGE_WARNING, MESSAGE_UNITS, j->line.position, j->name,
                "lengths are in metres", "a range up to %g m looks like millimetres", range);
        if (limits->velocity > 20)
            say(d, MESSAGE_WARNING, MESSAGE_UNITS, j->line.velocity, j->name, "speeds are in m/s",
                "a speed of %g m/s looks like millimetres per second", limits->velocity);
    }
}

/* --------------------------------------------------------------------------------------------
 * limits */

static void check_limits(doctor_t *d, uint32_t i) {
    const robot_joint_t *j = &d->robot->joint[i];
    const dyn_limits_t *l = &j->source.drive.limits;
    const uint32_t line = j->line.limits ? j->line.limits : j->line.joint;
    const bool urdf = d->robot->format == ROBOT_FORMAT_URDF;
    char missing[80] = "";
    static const struct {
        uint32_t has;
        const char *name;
    } wanted[] = {{ROBOT_JOINT_POSITION, "position"},
                  {ROBOT_JOINT_VELOCITY, "velocity"},
                  {ROBOT_JOINT_TORQUE, "torque"}};
    for (size_t k = 0; k < 3; k++)
        if (!(j->has & wanted[k].has) && !(k == 0 && j->has & ROBOT_JOINT_ENDLESS)) {
            size_t used = strlen(missing);
            snprintf(missing + used, sizeof missing - used, "%s%s", used ? ", " : "",
                     wanted[k].name);
        }
    if (*missing)
        say(d, MESSAGE_WARNING, MESSAGE_LIMITS, line, j->name,
            urdf
                ? "add <limit lower=\"\" upper=\"\" velocity=\"\" effort=\"\"/> before the arm runs"
                : "add them under limits: before the arm runs",
            "no limits of %s", missing);
    if (j->has & ROBOT_JOINT_POSITION && l->position[0] > l->position[1])
        say(d, MESSAGE_ERROR, MESSAGE_LIMITS, j->line.position, j->name, "swap the two",
            "the lower limit %g is above the upper one, %g", l->position[0], l->position[1]);
    else if (j->has & ROBOT_JOINT_POSITION && l->position[0] == l->position[1])
        say(d, MESSAGE_WARNING, MESSAGE_LIMITS, j->line.position, j->name,
            "give the range, leave it out, or make the joint a fixed one",
            "a range of zero counts as no limit at all: the joint may move anywhere");
    if (j->has & ROBOT_JOINT_VELOCITY && l->velocity == 0)
        say(d, MESSAGE_WARNING, MESSAGE_LIMITS, j->line.velocity, j->name,
            "give the speed that the drive reaches", "a velocity limit of zero: it cannot move");
    if (j->has & ROBOT_JOINT_TORQUE && l->torque == 0)
        say(d, MESSAGE_WARNING, MESSAGE_LIMITS, j->line.torque, j->name,
            "give the torque or force that the drive has",
            "an effort limit of zero: it cannot hold anything");
    if (j->has & ROBOT_JOINT_ACCELERATION && l->acceleration == 0)
        say(d, MESSAGE_WARNING, MESSAGE_LIMITS, line, j->name,
            "give the acceleration that motions may have, or leave it out",
            "an acceleration limit of zero counts as no limit at all");
}

static void check_motor(doctor_t *d, uint32_t i) {
    const robot_joint_t *j = &d->robot->joint[i];
    const dyn_motor_t *m = &j->source.drive.motor;
    if (!(j->has & ROBOT_JOINT_MOTOR))
        return;
    if (j->has & ROBOT_JOINT_RESISTANCE && m->resistance == 0)
        say(d, MESSAGE_WARNING, MESSAGE_MOTOR, j->line.motor, j->name,
            "give the resistance of the winding in ohm", "a motor without resistance");
    if (j->has & ROBOT_JOINT_TORQUE_CONSTANT && m->torque_constant == 0)
        say(d, MESSAGE_WARNING, MESSAGE_MOTOR, j->line.motor, j->name,
            "give the torque constant in N m/A", "a motor without torque");
    if (j->has & ROBOT_JOINT_VOLTAGE && m->voltage == 0)
        say(d, MESSAGE_WARNING, MESSAGE_MOTOR, j->line.motor, j->name,
            "give the voltage of the supply, or leave it out",
            "a supply of 0 V counts as one without a limit");
    const double speed = j->source.drive.limits.velocity, volt = m->voltage;
    const double emf = fabs(m->torque_constant * m->gear) * speed;
    if (j->has & ROBOT_JOINT_VOLTAGE && volt > 0 && emf > volt)
        say(d, MESSAGE_WARNING, MESSAGE_MOTOR, j->line.motor, j->name,
            "lower limits.velocity, or check gear and torque_constant",
            "at the velocity limit the motor induces %.4g V, the supply has %.4g V", emf, volt);
}

/* -------------------------------------------------------------------------------------------
 * gravity */

/* xorshift64*: the same poses on every machine. */
static double uniform(uint64_t *state) {
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return (double)((x * 0x2545F4914F6CDD1Du) >> 11) / 9007199254740992.0;
}

/* Largest torque or force of the drive at rest, 0 where nothing is known. */
static double strength(const robot_joint_t *j, const char **what) {
    const dyn_motor_t *m = &j->source.drive.motor;
    const uint32_t motor =
        ROBOT_JOINT_RESISTANCE | ROBOT_JOINT_TORQUE_CONSTANT | ROBOT_JOINT_VOLTAGE;
    double out = 0;
    if (j->has & ROBOT_JOINT_TORQUE) {
        out = j->source.drive.limits.torque;
        *what = "its limit of torque";
    }
    if ((j->has & motor) == motor && m->resistance > 0 && m->voltage > 0) {
        const double stall = fabs(m->gear * m->torque_constant) * m->voltage / m->resistance;
        if (out == 0 || stall < out) {
            out = stall;
            *what = "the motor at its voltage";
        }
    }
    return out;
}

typedef struct {
    dyn_arm_f64_t arm;
    dyn_ne_scratch_f64_t scratch;
    double q[DYN_MAX_JOINTS], rest[DYN_MAX_JOINTS], tau[DYN_MAX_JOINTS];
    double worst[DYN_MAX_JOINTS], worst_q[DYN_MAX_JOINTS][DYN_MAX_JOINTS];
    unsigned over[DYN_MAX_JOINTS];
    double low[DYN_MAX_JOINTS], high[DYN_MAX_JOINTS];
} poses_t;

static void try_pose(poses_t *p, uint32_t n, const double *strong) {
    dyn_ne_inverse_f64(&p->arm, &p->scratch, p->q, p->rest, p->rest, p->tau);
    for (uint32_t i = 0; i < n; i++) {
        if (strong[i] > 0 && fabs(p->tau[i]) > strong[i])
            p->over[i]++;
        if (fabs(p->tau[i]) > p->worst[i]) {
            p->worst[i] = fabs(p->tau[i]);
            memcpy(p->worst_q[i], p->q, n * sizeof *p->q);
        }
    }
}

static void name_pose(const double *q, uint32_t n, char *out, size_t size) {
    out[0] = '\0';
    for (uint32_t i = 0; i < n; i++) {
        size_t used = strlen(out);
        snprintf(out + used, size - used, "%s%.4g", i ? ", " : "", q[i]);
    }
}

/*
 * Every corner of the range for up to 10 joints, random corners beyond, and random poses inside. A
 * gravity torque of a revolute joint is a sinusoid of each angle, its extreme need not be a corner.
 */
static void check_hold(doctor_t *d, poses_t *p) {
    enum { CORNERS = 1024, INSIDE = 4096 };
    const robot_t *robot = d->robot;
    const uint32_t n = robot->n;
    double strong[DYN_MAX_JOINTS];
    const char *what[DYN_MAX_JOINTS];
    bool any = false;
    uint64_t state = 20260101;
    for (uint32_t i = 0; i < n; i++) {
        const robot_joint_t *j = &robot->joint[i];
        const double *range = j->source.drive.limits.position;
        const double turn = j->source.type == DYN_REVOLUTE ? 3.14159265358979 : 0.5;
        const bool known = j->has & ROBOT_JOINT_POSITION && range[0] <= range[1];
        p->low[i] = known ? range[0] : -turn;
        p->high[i] = known ? range[1] : turn;
        what[i] = "";
        strong[i] = strength(j, &what[i]);
        any = any || strong[i] > 0;
    }
    if (!any || length3(robot->gravity) == 0)
        return;
    const unsigned corners = n <= 10 ? 1u << n : CORNERS;
    for (unsigned k = 0; k < corners; k++) {
        for (uint32_t i = 0; i < n; i++) {
            const bool high = n <= 10 ? k >> i & 1u : uniform(&state) < 0.5;
            p->q[i] = high ? p->high[i] : p->low[i];
        }
        try_pose(p, n, strong);
    }
    for (unsigned k = 0; k < INSIDE; k++) {
        for (uint32_t i = 0; i < n; i++)
            p->q[i] = p->low[i] + (p->high[i] - p->low[i]) * uniform(&state);
        try_pose(p, n, strong);
    }
    for (uint32_t i = 0; i < n; i++) {
        const robot_joint_t *j = &robot->joint[i];
        const char *unit = j->source.type == DYN_REVOLUTE ? "N m" : "N";
        if (p->over[i] == 0)
            continue;
        char pose[300];
        name_pose(p->worst_q[i], n, pose, sizeof pose);
        say(d, MESSAGE_WARNING, MESSAGE_HOLD,
            j->line.torque ? j->line.torque : (j->line.motor ? j->line.motor : j->line.joint),
            j->name, "a stronger drive, a smaller range, or check masses and units",
            "too weak to hold the arm against gravity at %u of %u poses tried: up to %.4g %s are "
            "needed, %s gives %.4g %s; worst at q = (%s)",
            p->over[i], corners + INSIDE, p->worst[i], unit, what[i], strong[i], unit, pose);
    }
}

/*
 * The inertia matrix column by column from unit accelerations, rotors added, then Cholesky: a pivot
 * that vanishes against its own diagonal element belongs to a joint that moves nothing of its own.
 */
static void check_singular(doctor_t *d, poses_t *p) {
    const uint32_t n = d->robot->n;
    double(*m)[DYN_MAX_JOINTS] = calloc(DYN_MAX_JOINTS, sizeof *m);
    dyn_model_t *floating = malloc(sizeof *floating);
    if (!m || !floating) {
        free(m);
        free(floating);
        return;
    }
    *floating = d->robot->model;
    memset(floating->gravity, 0, sizeof floating->gravity);
    (void)dyn_prepare_f64(floating, NULL, &p->arm);
    free(floating);
    /* A pose without symmetry: one at which an arm is singular in the ordinary sense is unlikely.
     */
    for (uint32_t i = 0; i < n; i++)
        p->q[i] = 0.3 + 0.7 * (double)i;
    for (uint32_t k = 0; k < n; k++) {
        double unit[DYN_MAX_JOINTS] = {0};
        unit[k] = 1;
        dyn_ne_inverse_f64(&p->arm, &p->scratch, p->q, p->rest, unit, p->tau);
        for (uint32_t i = 0; i < n; i++)
            m[i][k] = p->tau[i];
        m[k][k] += dyn_model_rotor(&d->robot->model.joint[k]);
    }
    for (uint32_t k = 0; k < n; k++) {
        double pivot = m[k][k];
        for (uint32_t i = 0; i < k; i++)
            pivot -= m[k][i] * m[k][i];
        const robot_joint_t *j = &d->robot->joint[k];
        if (!(pivot > 1e-13 * fabs(m[k][k]))) {
            say(d, MESSAGE_WARNING, MESSAGE_SINGULAR, j->line.link, j->name,
                "give the links behind it mass and inertia, or the motor a rotor inertia",
                "the joint moves no inertia of its own: forward dynamics cannot be computed");
            pivot = INFINITY; /* taken out: as if it could not move */
        }
        m[k][k] = sqrt(pivot);
        for (uint32_t i = k + 1; i < n; i++) {
            double sum = m[i][k];
            for (uint32_t c = 0; c < k; c++)
                sum -= m[i][c] * m[k][c];
            m[i][k] = sum / m[k][k];
        }
    }
    free(m);
}

static void check_gravity(doctor_t *d) {
    const robot_t *robot = d->robot;
    const double g = length3(robot->gravity);
    if (g == 0)
        say(d, MESSAGE_WARNING, MESSAGE_GRAVITY, robot->line_gravity, NULL,
            "[0, 0, -9.81] where z points up", "no gravity");
    else if (g < 1 || g > 30)
        say(d, MESSAGE_WARNING, MESSAGE_GRAVITY, robot->line_gravity, NULL,
            "give it in m/s^2, pointing down", "a gravity of %g m/s^2", g);
}

/* Axes that are almost parallel have their common normal far away: a sign of rounded angles. */
static void check_parallel(doctor_t *d) {
    const robot_t *robot = d->robot;
    for (uint32_t i = 1; i < robot->n; i++) {
        const dyn_model_joint_t *m = &robot->model.joint[i];
        const robot_joint_t *j = &robot->joint[i];
        double reach = 1;
        for (uint32_t k = 0; k < robot->n; k++)
            reach += link_reach(robot, k);
        if (fabs(m->a) > 100 * reach || fabs(m->d) > 100 * reach)
            say(d, MESSAGE_WARNING, MESSAGE_PARALLEL, j->line.frame, j->name,
                "write the angle with more digits, or take such axes as parallel with --parallel",
                "the axis is almost parallel to the one before it: their common normal is %.3g m "
                "away, which costs digits",
                fmax(fabs(m->a), fabs(m->d)));
    }
}

static void check_description(doctor_t *d) {
    const robot_t *robot = d->robot;
    check_gravity(d);
    check_pieces(d);
    for (uint32_t i = 0; i < robot->n; i++) {
        if (!robot->joint[i].elastic)
            check_link(d, &robot->joint[i]);
        check_shape(d, i);
        check_units(d, i);
        check_limits(d, i);
        check_motor(d, i);
    }
    if (robot->format != ROBOT_FORMAT_URDF) /* its tool is made of joints that were looked at */
        check_pose(d, robot->tool_xyz, robot->tool_rpy, robot->line_tool, "tool");
    check_pose(d, robot->base_xyz, robot->base_rpy, robot->line_base, "base");
    const uint32_t line = robot->line_payload;
    const described_t payload = {"payload", line, line, line, false};
    if (check_possible(d, &robot->payload, &payload))
        check_body_units(d, &robot->payload, &payload);
    check_parallel(d);
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
    if (messages->errors != errors)
        return -1;
    poses_t *p = calloc(1, sizeof *p);
    if (!p || dyn_prepare_f64(&robot->model, NULL, &p->arm) != DYN_OK) {
        say(&d, MESSAGE_ERROR, MESSAGE_NUMBER, 0, NULL, "use SI units",
            "the arm cannot be prepared for computing");
    } else {
        check_hold(&d, p);
        check_singular(&d, p);
    }
    free(p);
    return messages->errors == errors ? 0 : -1;
}
