/*
 * The largest gains follow from sampling. A torque is held for the period h. An inertia m with the
 * feedback kp and kd then has the characteristic polynomial
 *
 *     z^2 - (2 - kd h/m - kp h^2/2m) z + (1 - kd h/m + kp h^2/2m)
 *
 * whose roots are inside the unit circle only if kd < 2 m/h and kp < 2 kd/h, so kp < 4 m/h^2. The
 * observer and the coupling of the joints only make these bounds smaller. So a loop with larger
 * gains is unstable whatever the other gain is, and with the largest inertia that the joint can have
 * it is so in every pose.
 *
 * Viscous friction b damps, too: the bounds become kd < 2 m/h + b and, where b h < m,
 * kp < 4 (m + 2 b h)/h^2. Both are met by m + 2 b h with the longest period, 10 ms.
 */
#include "firmware/params/gains.h"

#include <math.h>

#define TWO_PERIODS_S 0.02f /* at 100 Hz, the lowest rate */
#define FREE_M        25.0f /* range of a prismatic joint without limits, m */

static float norm(const float v[3]) {
    return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Returns a bound of the moment of inertia of a body about an axis at this distance from the origin
 * of its frame. The norm of a tensor is at least its largest eigenvalue. */
static float about(float mass, const float com[3], const float inertia[6], float away) {
    const float r = away + norm(com), d = norm(inertia), p = norm(inertia + 3);
    return fabsf(mass) * r * r + sqrtf(d * d + 2 * p * p);
}

/* Returns a bound of the distance between the origins of a link frame and of the one before. */
static float length(const image_joint_t *j) {
    const bool bounded = j->position[1] > j->position[0];
    float d = fabsf(j->d[0]);
    if (j->type == DYN_PRISMATIC)
        d += bounded ? fmaxf(fabsf(j->position[0]), fabsf(j->position[1])) : FREE_M;
    return sqrtf(j->a[0] * j->a[0] + d * d);
}

float gains_inertia(const image_t *image, uint32_t at) {
    const image_joint_t *first = &image->joint[at];
    const image_arm_t *arm = &image->arm;
    const bool linear = first->type == DYN_PRISMATIC;
    float sum = first->rotor_inertia[0] * first->gear[0] * first->gear[0] +
                TWO_PERIODS_S * fabsf(first->viscous[0]);
    float away = 0;
    for (uint32_t i = at; i < image->n; i++) {
        const image_joint_t *j = &image->joint[i];
        away += i > at ? length(j) : 0;
        sum += linear ? fabsf(j->mass[0]) : about(j->mass[0], j->com, j->inertia, away);
    }
    return sum + (linear
                      ? arm->payload_mass[0]
                      : about(arm->payload_mass[0], arm->payload_com, arm->payload_inertia, away));
}

gains_t gains_most(float inertia, float rate_hz) {
    return (gains_t){4 * inertia * rate_hz * rate_hz, 2 * inertia * rate_hz};
}
