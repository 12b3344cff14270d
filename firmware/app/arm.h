/* The prepared arm: made from a robot image, with elastic links and payload. In the background. */
#ifndef FIRMWARE_APP_ARM_H
#define FIRMWARE_APP_ARM_H

#include "firmware/app/app.h"

/* All of them: APP_OK or a negative app_error_t. */

/* From the image in app->memory, or an arm that is prepared already and stays where it is. */
int arm_make(app_t *app);
int arm_take(app_t *app, const arm_t *ready);
/* The elastic links of that image; fixed point has no proof for them. */
int arm_make_flex(app_t *app);
/* With the payload of the parameters. */
int arm_change_payload(app_t *app);

#endif
