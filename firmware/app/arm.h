/* The prepared arm, made from a robot image, with elastic links and payload. These functions run in
 * the background. */
#ifndef FIRMWARE_APP_ARM_H
#define FIRMWARE_APP_ARM_H

#include "firmware/app/app.h"

/* All of these return APP_OK or a negative app_error_t. */

/* arm_make makes the arm from the image in app->memory. arm_take uses an arm that is already
 * prepared and stays in its place. */
int arm_make(app_t *app);
int arm_take(app_t *app, const arm_t *ready);
/* Prepares the elastic links in the image. A build without APP_FLEX returns APP_E_FLEX for them, and
 * so does a fixed-point build, because no limits are proved for the deflections. */
int arm_make_flex(app_t *app);
/* Prepares the arm again with the payload in the parameters; `hold` as in control_change. */
int arm_change_payload(app_t *app, bool hold);

#endif
