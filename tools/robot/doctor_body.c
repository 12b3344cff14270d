/* Checks the bodies of an arm for tools/robot/doctor.h: mass, centre of mass, inertia and shape. */
#include <math.h>

#include "tools/robot/doctor.h"
#include "tools/robot/readers.h"

/* Computes the eigenvalues of a symmetric 3x3 tensor, ascending, by Jacobi rotations. */
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

/* Where the file describes a body: its name and lines. `stands` means that the body is fixed to the
 * base, so that no computation uses it. */
typedef struct {
    const char *name;
    uint32_t line_mass, line_com, line_inertia;
    bool stands;
} described_t;

/* Checks that such a body can exist. Returns false if nothing can be computed with it. */
static bool check_possible(doctor_t *d, const dyn_body_t *body, const described_t *at) {
    const message_severity_t worst = at->stands ? MESSAGE_WARNING : MESSAGE_ERROR;
    double e[3];
    bool possible = true;
    eigenvalues(body->inertia, e);
    if (body->mass < 0) {
        doctor_add(d, worst, MESSAGE_MASS, at->line_mass, at->name, "give the mass in kg",
                   "the mass is negative: %g kg", body->mass);
        possible = false;
    }
    if (!image_inertia_possible(body->inertia)) {
        doctor_add(
            d, worst, MESSAGE_INERTIA, at->line_inertia, at->name,
            "check the signs of ixy, iyz and ixz; the tensor must refer to the centre of mass",
            "no body has this inertia: a principal moment is negative, %g kg m^2", e[0]);
        possible = false;
    }
    if (possible && body->mass > 0 && e[2] > (e[0] + e[1]) * (1 + 1e-6))
        doctor_add(
            d, MESSAGE_WARNING, MESSAGE_INERTIA, at->line_inertia, at->name,
            "check the tensor: the sum of two principal moments is never smaller than the third",
            "no body has this inertia: principal moments %.6g, %.6g, %.6g kg m^2 violate "
            "the triangle inequality",
            e[0], e[1], e[2]);
    return possible;
}

/* Checks that a moving link has mass and inertia. */
static void check_present(doctor_t *d, const dyn_body_t *body, const described_t *at) {
    const double size = doctor_largest(body->inertia, 6);
    if (body->mass == 0)
        doctor_add(
            d, MESSAGE_WARNING, MESSAGE_MASS, at->line_mass, at->name,
            "give the mass of the link, or ignore this if the mass cannot influence any torque",
            size > 0 ? "the link has inertia but no mass" : "the link has no mass");
    else if (body->mass > 0 && size == 0)
        doctor_add(d, MESSAGE_WARNING, MESSAGE_INERTIA, at->line_inertia, at->name,
                   "give its inertia tensor",
                   "the link has %.6g kg but no inertia: it counts as a point mass", body->mass);
}

static void check_body_units(doctor_t *d, const dyn_body_t *body, const described_t *at) {
    if (doctor_largest(body->com, 3) > 10)
        doctor_add(d, MESSAGE_WARNING, MESSAGE_UNITS, at->line_com, at->name,
                   "lengths are in metres", "a centre of mass at %g m looks like millimetres",
                   doctor_largest(body->com, 3));
    if (body->mass > 2000)
        doctor_add(d, MESSAGE_WARNING, MESSAGE_UNITS, at->line_mass, at->name, "masses are in kg",
                   "a mass of %g kg looks like grams", body->mass);
}

/* Checks the bodies as written in the source. After several bodies are summed, nobody could tell
 * which one is wrong. */
void doctor_check_pieces(doctor_t *d) {
    for (size_t i = 0; i < d->robot->pieces; i++) {
        const robot_piece_t *p = &d->robot->piece[i];
        const described_t at = {p->name, p->line_mass, p->line_com, p->line_inertia, p->stands};
        doctor_check_pose(d, p->xyz, p->rpy, p->line_joint, p->joint);
        doctor_check_pose(d, NULL, p->inertia_rpy, p->line_com, p->name);
        if (p->inertial && check_possible(d, &p->body, &at))
            check_body_units(d, &p->body, &at);
    }
}

void doctor_check_link(doctor_t *d, const robot_joint_t *j) {
    const dyn_body_t body = reader_turned(&j->source.link, j->source.inertia_rpy);
    const described_t at = {j->link_name, j->line.mass, j->line.com, j->line.inertia, false};
    if (d->robot->pieces == 0) {
        doctor_check_pose(d, NULL, j->source.inertia_rpy, j->line.inertia, j->link_name);
        if (check_possible(d, &body, &at))
            check_body_units(d, &body, &at);
    }
    check_present(d, &body, &at);
}

double doctor_link_reach(const robot_t *robot, uint32_t i) {
    const dyn_source_joint_t *s = &robot->joint[i].source;
    double reach = 0;
    if (robot->convention == DYN_CONVENTION_FRAMES) {
        reach = doctor_length(s->xyz);
        if (i + 1 < robot->n)
            reach = fmax(reach, doctor_length(robot->joint[i + 1].source.xyz));
    } else {
        const double own[3] = {s->a, s->d, 0};
        reach = doctor_length(own);
        if (i + 1 < robot->n) {
            const dyn_source_joint_t *next = &robot->joint[i + 1].source;
            const double after[3] = {next->a, next->d, 0};
            reach = fmax(reach, doctor_length(after));
        }
    }
    if (i + 1 == robot->n)
        reach = fmax(reach, doctor_length(robot->tool_xyz));
    if (s->type == DYN_PRISMATIC)
        reach += doctor_largest(s->drive.limits.position, 2);
    return reach;
}

void doctor_check_shape(doctor_t *d, uint32_t i) {
    const robot_joint_t *j = &d->robot->joint[i];
    const dyn_body_t *body = &j->source.link;
    const double reach = doctor_link_reach(d->robot, i), com = doctor_length(body->com);
    if (j->elastic || !(body->mass > 0))
        return;
    double e[3];
    eigenvalues(body->inertia, e);
    const double gyration = sqrt(fmax(e[2], 0) / body->mass);
    /* For comparison: the centre of a bar that turns about its end is 1.7 radii of gyration away
     * from the axis. */
    if (com > 2 * reach + 3 * gyration + 0.1)
        doctor_add(
            d, MESSAGE_WARNING, MESSAGE_COM, j->line.com, j->link_name,
            "give the centre of mass in the link frame of the convention, in metres",
            "the centre of mass is %.3g m from the link frame, far outside of a link that reaches "
            "%.3g m",
            com, reach);
    if (gyration > 2 * fmax(reach, com) + 0.2)
        doctor_add(
            d, MESSAGE_WARNING, gyration > 5 ? MESSAGE_UNITS : MESSAGE_INERTIA, j->line.inertia,
            j->link_name,
            gyration > 5 ? "is the inertia in kg mm^2 or g mm^2? use kg m^2, and kg for the mass"
                         : "check that the tensor refers to the centre of mass and is in kg m^2",
            "the inertia implies a radius of gyration of %.3g m, but the link reaches %.3g m",
            gyration, reach);
}

/* Checks the payload. The file has one line for all of it, so all messages name that line. */
void doctor_check_payload(doctor_t *d) {
    const uint32_t line = d->robot->line_payload;
    const described_t payload = {"payload", line, line, line, false};
    if (check_possible(d, &d->robot->payload, &payload))
        check_body_units(d, &d->robot->payload, &payload);
}
