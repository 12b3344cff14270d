/* The line that is typed while `appell monitor` runs: commands for the board. */
#ifndef TOOLS_MONITOR_PROMPT_H
#define TOOLS_MONITOR_PROMPT_H

#include "tools/monitor/watch.h"

enum { PROMPT_LINE = 200 };

typedef struct {
    char typed[PROMPT_LINE];
    bool moves;          /* a motion of this prompt is or may be under way, and it has the lease */
    bool confirmed;      /* the board has answered that it takes the motion */
    uint32_t moved_tick; /* the tick before it */
    bool quit;
} prompt_t;

/* Takes a key: a character, or a terminal_key_t. Enter carries out what was typed; KEY_STOP stops
 * the arm at once, whatever was typed. The answer is watch->event. */
void prompt_key(prompt_t *prompt, watch_t *watch, int key);
/* Gives the lease back when the motion has ended, and tells what the arm does then. Call it after
 * watch_look. */
void prompt_follow(prompt_t *prompt, watch_t *watch);
/* Stops a motion that is still under way, and waits until the arm rests. Returns what is known then,
 * for the user, or NULL if nothing moved. */
const char *prompt_end(prompt_t *prompt, watch_t *watch);

#endif
