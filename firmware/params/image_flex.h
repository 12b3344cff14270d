/*
 * The section FLEX of a robot image: the elastic links of an arm. It is an object of its own, so
 * that firmware for rigid arms does not link it.
 *
 * Each of the n joints has a word: the numbers of modes along y, along z and of torsion in a byte
 * each, then IMAGE_BEAM_... bits. For a beam the IMAGE_BEAM_FIELDS follow, and for each of its
 * modes (there may be none) tip, slope, weight, moment, then a row of the mass matrix and one of
 * the stiffness matrix (dyn/model/flex_model.h), all in single precision. The tool makes the
 * integrals from the fields as they are stored here, so that the same fields give the same
 * integrals.
 */
#ifndef FIRMWARE_PARAMS_IMAGE_FLEX_H
#define FIRMWARE_PARAMS_IMAGE_FLEX_H

#include "dyn/model/flex_model.h"
#include "firmware/params/image.h"

#define IMAGE_BEAM_FIELDS(X)                                                                       \
    X(length, "m", "length of the beam")                                                           \
    X(mass_per_length, "kg/m", "mass of the beam per metre")                                       \
    X(EI_y, "N m^2", "bending stiffness about y, for deflections along z")                         \
    X(EI_z, "N m^2", "bending stiffness about z, for deflections along y")                         \
    X(GJ, "N m^2", "torsional stiffness")                                                          \
    X(damping, "s", "damping divided by stiffness")                                                \
    X(polar_inertia, "kg m", "moment of inertia of the beam about its axis, per metre")

enum {
    IMAGE_BEAM = 1u << 24,       /* the link is a beam, with modes or without */
    IMAGE_BEAM_TABLES = 1u << 25 /* the shapes were given as tables: only the integrals are
                                  * stored */
};

typedef struct {
    uint32_t modes[DYN_FLEX_KINDS];
    bool beam, tables;
#define X(name, unit, help) float name;
    IMAGE_BEAM_FIELDS(X)
#undef X
} image_beam_t;

/* Size of the section, and a function that writes it. */
uint32_t image_flex_size(uint32_t n, const image_beam_t beam[]);
void image_put_flex(uint32_t n, const image_beam_t beam[], const dyn_flex_model_t *flex,
                    uint8_t *bytes);

/* Returns whether the image has elastic links. */
bool image_elastic(const image_t *image);
/* Makes the elastic links of the arm; without the section all links are rigid. beam may be NULL.
 * Returns IMAGE_OK or a negative image_status_t. It checks only that the numbers are finite;
 * dyn_flex_check checks whether they are possible. */
int image_get_flex(const image_t *image, image_beam_t beam[], dyn_flex_model_t *flex);

#endif
