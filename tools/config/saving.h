/* Saves what a board runs, and puts a board back as it was after a change that failed. */
#ifndef TOOLS_CONFIG_SAVING_H
#define TOOLS_CONFIG_SAVING_H

#include "tools/args/board.h"
#include "tools/link/snapshot.h"

typedef struct {
    bool done;
    uint32_t sequence; /* number of the set */
} saving_t;

/* Call it before the first write. From then on SIGINT, SIGTERM and SIGHUP do not end the process:
 * they are obeyed between two steps, by saving_interrupted, so that no board stays half changed. */
void saving_catch(void);
/* Returns whether such a signal has come, after printing that; then roll back. */
bool saving_interrupted(const client_t *client);

/* Saves `wanted`, which runs, and verifies by reading back that it still runs and is stored: a board
 * that was reset just before would have saved what it had. If that fails on a board that can store,
 * or if a signal has come before it, puts the board back as it was. Returns EXIT_YES, or another
 * code after printing what is wrong and what the board has now. `again`: how to repeat the command.
 */
int saving_store(client_t *client, const snapshot_t *before, const snapshot_t *wanted,
                 const char *again, saving_t *out);
/* Prints the result as text. */
void saving_print(const client_t *client, const saving_t *saved);
/* Writes the members "saved", "set" and, if there is something to know, "hint" of a JSON object. */
void saving_json(const client_t *client, const saving_t *saved);

/* Puts the board back after a change that failed, and prints what it has now, and whether it was
 * reset meanwhile. Returns EXIT_NO. */
int saving_roll_back(client_t *client, const snapshot_t *before, const char *again);

#endif
