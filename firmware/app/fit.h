/* Whether robot and hardware fit: what must be true before the real arm is chosen, and before it
 * moves. Every part that does not fit is reported, not only the first. */
#ifndef FIRMWARE_APP_FIT_H
#define FIRMWARE_APP_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/app/app.h"
#include "firmware/app/fit_table.h"

typedef struct {
    uint32_t bits;               /* FIT_... that does not fit */
    uint32_t joints[FITS_JOINT]; /* the joints that do not fit, for the parts that concern joints */
} fit_t;

/* Compares the loaded robot with the hardware. `now` also asks for what a person must do before
 * each motion after power-up. */
void fit_check(const app_t *app, bool now, fit_t *out);
/* Returns whether joint i makes more than one turn of its encoder, so that its position is not
 * known at power-up. */
bool fit_turns(const app_t *app, const hardware_t *hardware, uint32_t i);
/* Returns after how many counts the reading of joint i's encoder wraps. The hardware decides for an
 * encoder that counts from power-up, the robot for an absolute one. */
int32_t fit_wrap(const app_t *app, const hardware_t *hardware, uint32_t i);
/* Returns for how many ticks without a reading the turns of joint i can still be followed, at four
 * times its velocity limit: a released arm falls faster than it may move. */
double fit_blind(const app_t *app, const hardware_t *hardware, uint32_t i);

#endif
