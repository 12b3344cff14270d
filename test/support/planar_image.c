/* Implements test/support/planar_image.h. */
#include "test/support/planar_image.h"

#include <string.h>

#include "firmware/params/parameters.h"

void planar_image(image_t *image) {
    memset(image, 0, sizeof *image);
    image->n = 2;
    image->name = "planar";
    image->has = IMAGE_HAS_RATE | IMAGE_HAS_FEEDBACK;
    image->feedback = FEEDBACK_PD;
    image->arm.rate_hz[0] = 1000;
    for (unsigned i = 0; i < image->n; i++) {
        image_joint_t *j = &image->joint[i];
        j->has = IMAGE_JOINT_HAS_ALL;
        j->a[0] = i == 0 ? 0 : 0.5f;
        j->mass[0] = 1;
        j->com[0] = 0.25f;
        j->inertia[0] = j->inertia[1] = j->inertia[2] = 0.02f;
        j->position[0] = -3;
        j->position[1] = 3;
        j->velocity[0] = 2;
        j->acceleration[0] = 10;
        j->torque[0] = 50;
        j->counts[0] = 16384;
        j->sign[0] = j->ratio[0] = 1;
        j->kp[0] = 900;
        j->kd[0] = 60;
        image->joint_name[i] = i == 0 ? "shoulder" : "elbow";
    }
}

void planar_image_motors(image_t *image) {
    planar_image(image);
    image->arm.gravity[1] = -9.81f;
    for (unsigned i = 0; i < image->n; i++) {
        image_joint_t *j = &image->joint[i];
        j->resistance[0] = 1;
        j->torque_constant[0] = 0.1f;
        j->gear[0] = j->ratio[0] = 100;
        j->rotor_inertia[0] = 1e-4f;
        j->voltage[0] = 40;
    }
}
