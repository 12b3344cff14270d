/* Parts of the tick that the background also calls. When an arm is loaded, the background runs one
 * step to measure its time. */
#ifndef FIRMWARE_APP_TICK_H
#define FIRMWARE_APP_TICK_H

#include "firmware/app/app.h"

/* Updates the measured positions, from encoders or simulation. */
void app_sense(app_t *app, const control_t *control, const app_inputs_t *in);
/* Runs all stages once. */
void app_stages_run(app_t *app, const control_t *control, const app_inputs_t *in,
                    app_outputs_t *out);

#endif
