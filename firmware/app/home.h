/* Homing before it starts. */
#ifndef FIRMWARE_APP_HOME_H
#define FIRMWARE_APP_HOME_H

#include "firmware/app/app.h"

/* Prepares the motion of the one joint whose value is not zero. APP_OK or a negative app_error_t.
 */
int homing_start(app_t *app, const motion_t *motion);

#endif
