/*
 * The requests of test/support/supervisor_rig.h, as a client sends them: the handlers of the server
 * take their bytes, so that token, store and start of the board are tested, too. Each request returns
 * APP_OK or the reason of a refusal. A status of the link becomes the reason that says the same, or
 * LINE_STATUS minus the status.
 */
#ifndef TEST_SUPPORT_SUPERVISOR_LINE_H
#define TEST_SUPPORT_SUPERVISOR_LINE_H

#include "firmware/app/app.h"
#include "firmware/link/protocol.h"

enum { LINE_STATUS = -1000 };

/* The board starts with what it has stored; `forget`: with an empty store. */
void line_start(app_t *app, bool forget);
void line_poll(void);
uint32_t line_flags(void);    /* flags of STATUS */
uint32_t line_sequence(void); /* number of the stored set */

int line_send(const uint8_t *bytes, size_t size); /* an image; line_load then loads it */
int line_load(void);
int line_motion(uint32_t token, const motion_t *motion);
int line_points(uint32_t token, const float q[], uint32_t points); /* 0: the end */
int line_stop(void);
int line_release(uint32_t token);
int line_clear(void);
int line_place(uint32_t token, const float q[]);
int line_set(uint32_t parameter, uint32_t joint, float value);
int line_override(uint32_t token, uint32_t parameter, uint32_t joint, float value);
int line_lease(uint32_t token, uint32_t ms);
int line_save(void);
int line_reset(void); /* whether the board may be reset; the caller does it */

#endif
