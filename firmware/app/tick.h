/* Parts of the tick that the background also calls: it runs a step when an arm is loaded, to
 * measure its time. */
#ifndef FIRMWARE_APP_TICK_H
#define FIRMWARE_APP_TICK_H

#include "firmware/app/app.h"

/* Updates the measured positions, from encoders or simulation. */
void app_sense(app_t *app, const control_t *control, const app_inputs_t *in);
/* One pass through all stages. */
void app_stages_run(app_t *app, const control_t *control, const app_inputs_t *in,
                    app_outputs_t *out);

#endif
