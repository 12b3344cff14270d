/*
 * The configuration of a board as a text file: the robot image, every parameter, and the choice of
 * telemetry fields. The file is for people, too: parameters stand one per line with their units,
 * and the robot stands as comments before the bytes of its image.
 *
 *     appell-config 1
 *     board = NAME
 *     firmware = BUILD
 *     telemetry = FIELD,FIELD or none
 *     PARAMETER = VALUE UNIT
 *     PARAMETER[JOINT] = VALUE UNIT      joints are counted from 1
 *     image = N bytes, CRC-32 XXXXXXXX
 *     OFFSET: BYTES                      both hexadecimal
 *
 * Empty lines, and # with all that follows it, mean nothing.
 */
#ifndef TOOLS_CONFIG_CONFIG_H
#define TOOLS_CONFIG_CONFIG_H

#include <stdio.h>

#include "tools/cli/command.h"
#include "tools/config/difference.h"
#include "tools/link/snapshot.h"

/* CONFIG_LINE: no line is as long as this. */
enum { CONFIG_VERSION = 1, CONFIG_LINE = 512 };

typedef struct {
    char name[CLIENT_NAME], unit[CLIENT_NAME];
    bool per_joint, saved;
    uint8_t joint; /* from 0 */
    float value;
    unsigned line; /* of the file; 0: not from a file */
} config_value_t;

typedef struct {
    const char *file; /* NULL: of a board */
    char board[64], build[48];
    char telemetry[256]; /* names with commas; "none" */
    unsigned line_board, line_build, line_telemetry, line_image;
    config_value_t *value; /* in the order of the board or of the file */
    uint32_t values, room;
    uint8_t *image;
    uint32_t length;
} config_t;

/* Makes the configuration of a board whose parameters and fields are known. Returns EXIT_YES, or
 * another code after printing what is wrong. Call config_free in either case. */
int config_of_board(client_t *client, const snapshot_t *state, config_t *out);
/* Reads a file. Returns EXIT_YES, or EXIT_BAD after printing everything that is wrong, with lines. */
int config_read(const char *path, config_t *out);
void config_free(config_t *config);

void config_print(FILE *stream, const config_t *config);
void config_json(const config_t *config);

/* Prints an error about a line of the file, or about the whole file if `line` is 0. */
void config_wrong(const config_t *config, unsigned line, const char *cure, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds the value to the list. Returns false if there is no memory. */
bool config_add(config_t *config, const config_value_t *value);
const config_value_t *config_find(const config_t *config, const char *name, uint32_t joint);

/* Checks whether this board can have the configuration, and prints a sentence for each reason why
 * it cannot. Returns EXIT_YES or EXIT_NO. */
int config_check(const config_t *config, client_t *client);
/* Makes the state that the configuration means on a board for which it was checked; everything is
 * saved in it. Returns EXIT_YES, or EXIT_BAD after printing that there is no memory. */
int config_state(const config_t *config, client_t *client, snapshot_t *out);

/* Adds what differs. */
void config_compare(const config_t *from, const config_t *to, differences_t *out);

#endif
