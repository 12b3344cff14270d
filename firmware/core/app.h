/*
 * The application: everything that the board does with an arm, in the caller's memory, without
 * hardware. Firmware and host use the same object; on the board the interrupt calls app_tick and
 * nothing else, the background everything else.
 *
 * The number type is chosen when it is compiled: CONTROL_REAL (f32 | q31 | f64) and CONTROL_H, the
 * header of firmware/core of that name; f32 where nothing is said. A program on the host may link
 * several: the names below then carry the type (app_tick_f32), see firmware/core/name.h.
 */
#ifndef FIRMWARE_CORE_APP_H
#define FIRMWARE_CORE_APP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/core/app_types.h"

#ifndef CONTROL_REAL
#define CONTROL_REAL f32
#define CONTROL_H    "firmware/core/f32.h"
#endif
#include CONTROL_H

/* The types and functions of firmware/core/instance.h under the names of this build. */
#define APP_NAMED(name) CORE_PASTE(name, CONTROL_REAL)
typedef CORE_PASTE_T(app, CONTROL_REAL) app_t;
typedef CORE_PASTE_T(sample, CONTROL_REAL) app_sample_t;
#define app_init           APP_NAMED(app_init)
#define app_load           APP_NAMED(app_load)
#define app_lend           APP_NAMED(app_lend)
#define app_load_arm       APP_NAMED(app_load_arm)
#define app_rests          APP_NAMED(app_rests)
#define app_tick           APP_NAMED(app_tick)
#define app_status         APP_NAMED(app_status)
#define app_where          APP_NAMED(app_where)
#define app_motion_start   APP_NAMED(app_motion_start)
#define app_knot_push      APP_NAMED(app_knot_push)
#define app_knots_end      APP_NAMED(app_knots_end)
#define app_knot_credits   APP_NAMED(app_knot_credits)
#define app_stop           APP_NAMED(app_stop)
#define app_off            APP_NAMED(app_off)
#define app_clear          APP_NAMED(app_clear)
#define app_fault          APP_NAMED(app_fault)
#define app_place          APP_NAMED(app_place)
#define app_set            APP_NAMED(app_set)
#define app_get            APP_NAMED(app_get)
#define app_sample_peek    APP_NAMED(app_sample_peek)
#define app_sample_release APP_NAMED(app_sample_release)
#define app_sample_word    APP_NAMED(app_sample_word)
#define app_exponent       APP_NAMED(app_exponent)
#define app_real_name      APP_NAMED(app_real_name)
#define app_stages         APP_NAMED(app_stages)
#define app_stages_clear   APP_NAMED(app_stages_clear)

#endif
