/*
 * Content of the store: the robot image, every parameter by its name, the choice of telemetry.
 *
 * Names are stored as CRC-32 of their text, so that a set survives a firmware with other parameters
 * or fields. Entries that the firmware does not have are skipped and counted; parameters that the
 * set does not have keep their defaults. Another layout of image or set is refused.
 *
 *     byte  content (words)
 *       0   SET_VERSION
 *       4   length of the image
 *       8   the image, a whole number of words
 *           number of parameters; for each: CRC-32 of its name, joint, value (single)
 *           decimation of the telemetry, number of fields; for each: CRC-32 of its name
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
    SET_VERSION = 2,                           /* version 1 had other names of parameters */
    SET_VALUES = 0 PARAMETER_TABLE(SET_COUNT), /* number of values of all parameters and joints */
    SET_IMAGE = 8,                             /* offset of the image in bytes */
    SET_PARAMETER = 12,                        /* bytes per value of a parameter */
    /* largest size of the set without the image */
    SET_TABLES = SET_IMAGE + 4 + SET_VALUES * SET_PARAMETER + 8 + SAMPLE_FIELDS * 4
};

/* Returns STORE_OK and the length of the stored image, or STORE_E_EMPTY, STORE_E_VERSION,
 * STORE_E_CONTENT. */
int set_image(const store_t *store, uint32_t *length);

/*
 * Writes a set in pieces, between store_begin and store_commit: first the head, then the image by
 * store_put, then the tables.
 */
int set_put_head(store_t *store, uint32_t image_length);
int set_put_tables(store_t *store, const app_t *app, const telemetry_t *telemetry);
/* Writes empty tables: the set contains only its image. */
int set_put_no_tables(store_t *store);

/* Sets the parameters of the stored set in the application, whose arm must be loaded, and writes
 * its telemetry choice to field, fields and every. Returns the number of entries that this firmware
 * does not have or refuses. */
uint32_t set_take_tables(const store_t *store, app_t *app, uint8_t field[SAMPLE_FIELDS],
                         uint32_t *fields, uint32_t *every);

/* Returns whether the store contains this choice of telemetry. */
bool set_chosen(const store_t *store, const telemetry_t *telemetry);
/* Returns whether the store contains this value. */
bool set_contains(const store_t *store, uint32_t parameter, uint32_t joint, float value);

#endif
