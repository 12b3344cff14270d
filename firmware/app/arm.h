/* The prepared arm: made from a robot image, with elastic links and payload. Runs in the
 * background. */
#ifndef FIRMWARE_APP_ARM_H
#define FIRMWARE_APP_ARM_H

#include "firmware/app/app.h"

/* All of these return APP_OK or a negative app_error_t. */

/* Makes the arm from the image in app->memory, or takes one that is prepared already and stays
 * where it is. */
int arm_make(app_t *app);
int arm_take(app_t *app, const arm_t *ready);
/* Makes the elastic links of that image. Fixed point refuses them: it has no proof for them. */
int arm_make_flex(app_t *app);
/* Prepares the arm again with the payload in the parameters. */
int arm_change_payload(app_t *app);

#endif
