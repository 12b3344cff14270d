/*
 * What the store holds: the robot image, every parameter by its name, the choice of telemetry.
 *
 * Names travel as CRC-32 of their text, so that a set outlives a firmware with other parameters or
 * fields: what the firmware no longer has is passed over and counted, what the set does not know
 * keeps its default. Another layout of image or set is refused.
 *
 * byte   what, words
 * 0    SET_VERSION
 * 4    length of the image
 * 8    the image, a whole number of words
 * number of parameters; for each: CRC-32 of its name, joint, value (single)
 * decimation of the telemetry, number of fields; for each: CRC-32 of its name
 */
#ifndef FIRMWARE_LINK_SET_H
#define FIRMWARE_LINK_SET_H

#include "firmware/app/app.h"
#include "firmware/params/store.h"
#include "firmware/link/telemetry.h"

#define SET_COUNT_ONE                                                        1
#define SET_COUNT_JOINT                                                      DYN_MAX_JOINTS
#define SET_COUNT(name, shape, when, unit, least, most, fallback, key, help) +SET_COUNT_##shape

enum {
    SET_VERSION = 1,
    SET_VALUES = 0 PARAMETER_TABLE(SET_COUNT), /* of all parameters and joints */
    SET_IMAGE = 8,                             /* where the image begins */
    SET_PARAMETER = 12,                        /* bytes of one */
    /* beside the image, at most */
    SET_TABLES = SET_IMAGE + 4 + SET_VALUES * SET_PARAMETER + 8 + SAMPLE_FIELDS * 4
};

/* STORE_OK and the length of the stored image; or STORE_E_EMPTY, STORE_E_NEWER, STORE_E_CONTENT. */
int set_image(const store_t *store, uint32_t *length);

/*
 * In pieces for a store that is being written: head, then the image by store_put, then the tables.
 */
int set_put_head(store_t *store, uint32_t image_length);
int set_put_tables(store_t *store, const app_t *app, const telemetry_t *telemetry);
/* The tables of a set that says nothing beside its image. */
int set_put_no_tables(store_t *store);

/* Parameters and choice of the stored set into the application, whose arm is loaded already.
 * Returns how many of them this firmware does not have or take. */
uint32_t set_take_tables(const store_t *store, app_t *app, uint8_t field[SAMPLE_FIELDS],
                         uint32_t *fields, uint32_t *every);

/* Is this the value that is stored? */
bool set_holds(const store_t *store, uint32_t parameter, uint32_t joint, float value);

#endif
