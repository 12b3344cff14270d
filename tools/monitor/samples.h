/* Where the samples of `appell monitor` go besides the screen: a file or a pipe of CSV or JSON lines,
 * a plot, and plotting programs on this machine. */
#ifndef TOOLS_MONITOR_SAMPLES_H
#define TOOLS_MONITOR_SAMPLES_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>

#include "tools/cli/command.h"
#include "tools/cli/plot.h"
#include "tools/link/client.h"

typedef struct {
    FILE *file; /* NULL: no rows */
    const char *path;
    bool json;
    bool failed; /* rows could not be written */
    int udp;
    struct sockaddr_in teleplot, plotjuggler;
    bool to_teleplot, to_plotjuggler;
    plot_t *plot;
    char *head; /* the titles of all values; NULL: no sample has been expected yet */
} samples_t;

/* Opens what the options ask for. Returns EXIT_YES, or EXIT_BAD after printing what is wrong. */
int samples_open(const request_t *request, samples_t *out);
/* Tells the titles of the values that come from now on. Returns EXIT_YES; EXIT_NO, after printing it,
 * if rows that were written before have others; EXIT_BAD after another error. */
int samples_head(const request_t *request, samples_t *out, const client_t *client);
/* Writes a sample; t is its time in s. */
void samples_add(samples_t *out, const client_t *client, const sample_in_t *sample, double t);
/* Breaks the lines of the plot, because samples are missing after the time t. */
void samples_gap(samples_t *out, double t);
/* Closes all; the plot is drawn if `good`. Returns EXIT_YES, or EXIT_BAD after printing why not. */
int samples_close(samples_t *out, bool good);

#endif
