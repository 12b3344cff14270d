/* Lists what another image or another configuration would change on a board: numbers of the image,
 * parameters, texts. The list is printed as text or as JSON. */
#ifndef TOOLS_CONFIG_DIFFERENCE_H
#define TOOLS_CONFIG_DIFFERENCE_H

#include "tools/link/snapshot.h"

typedef struct {
    char name[2 * CLIENT_NAME + 32]; /* such as "elbow mass" or "kp[elbow]"; "": the whole robot */
    bool number;                     /* value[] counts, else text[] */
    double value[2];                 /* before and after */
    char text[2][256], unit[32];
    const char *kind; /* text behind the value before, such as " on the board"; "" */
} difference_t;

typedef struct {
    difference_t *item;
    size_t count, room;
    bool failed; /* there was not enough memory */
} differences_t;

void differences_text(differences_t *list, const char *name, const char *from, const char *to);
void differences_number(differences_t *list, const char *name, double from, const char *kind,
                        double to, const char *unit);
/* Prints lines "  NAME: FROM -> TO UNIT". */
void differences_print(const differences_t *list);
void differences_json(const char *key, const differences_t *list);
void differences_free(differences_t *list);

/* Adds what the new image changes. If old is NULL, there was no image. */
void difference_images(differences_t *list, const uint8_t *old, uint32_t old_length,
                       const uint8_t *image, size_t length);
/* Adds the parameters that were set on the board since its image was loaded and that the new image
 * sets again. The client must have read the list of parameters. */
void difference_parameters(differences_t *list, const client_t *client, const snapshot_t *before,
                           const uint8_t *image, size_t length);
/* Adds the parameters of the whole arm that the new image does not set and that are not at their
 * defaults: the new robot inherits them. The second value is the default. */
void difference_stays(differences_t *list, const client_t *client, const snapshot_t *before,
                      const uint8_t *image, size_t length);

#endif
