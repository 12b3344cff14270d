/* The section FLEX of a robot image. */
#include "firmware/params/image_flex.h"

#include "firmware/params/bytes.h"

#include <math.h>
#include <string.h>

enum {
#define X(name, unit, help) +1
    BEAM_WORDS = 0 IMAGE_BEAM_FIELDS(X)
#undef X
};

static uint32_t modes_of(const image_beam_t *beam) {
    return beam->modes[0] + beam->modes[1] + beam->modes[2];
}

static uint32_t beam_words(const image_beam_t *beam) {
    const uint32_t modes = modes_of(beam);
    return beam->beam ? BEAM_WORDS + modes * (4 + 2 * modes) : 0;
}

uint32_t image_flex_size(uint32_t n, const image_beam_t beam[]) {
    uint32_t words = 0;
    for (uint32_t i = 0; i < n; i++)
        words += 1 + beam_words(&beam[i]);
    return 4 * words;
}

/* -------------------------------------------------------------------------------------- writing */

static uint8_t *put_number(uint8_t *at, double value) {
    const float single = (float)value + 0.0f; /* never -0 */
    return put_f32(at, single);
}

static uint8_t *put_mode(uint8_t *at, const dyn_flex_mode_t *mode, uint32_t modes) {
    at = put_number(at, mode->tip);
    at = put_number(at, mode->slope);
    at = put_number(at, mode->weight);
    at = put_number(at, mode->moment);
    for (uint32_t k = 0; k < modes; k++)
        at = put_number(at, mode->mass[k]);
    for (uint32_t k = 0; k < modes; k++)
        at = put_number(at, mode->stiffness[k]);
    return at;
}

void image_put_flex(uint32_t n, const image_beam_t beam[], const dyn_flex_model_t *flex,
                    uint8_t *at) {
    for (uint32_t i = 0; i < n; i++) {
        const image_beam_t *b = &beam[i];
        at = put_u32(at, b->modes[0] | b->modes[1] << 8 | b->modes[2] << 16 |
                             (b->beam ? IMAGE_BEAM : 0u) | (b->tables ? IMAGE_BEAM_TABLES : 0u));
        if (!b->beam)
            continue;
#define X(name, unit, help) at = put_number(at, (double)b->name);
        IMAGE_BEAM_FIELDS(X)
#undef X
        for (uint32_t k = 0; k < modes_of(b); k++)
            at = put_mode(at, &flex->link[i].mode[k], modes_of(b));
    }
}

/* -------------------------------------------------------------------------------------- reading */

typedef struct {
    const uint8_t *at;
    uint32_t words; /* words left */
    bool good;
} reader_t;

static uint32_t next_word(reader_t *r) {
    if (r->words == 0) {
        r->good = false;
        return 0;
    }
    r->at += 4;
    r->words--;
    return get_u32(r->at - 4);
}

static float get_number(reader_t *r) {
    const uint32_t word = next_word(r);
    float value;
    memcpy(&value, &word, sizeof value);
    if (!isfinite(value)) {
        r->good = false;
        return 0;
    }
    return value;
}

static void get_mode(reader_t *r, uint32_t modes, dyn_flex_mode_t *mode) {
    mode->tip = (double)get_number(r);
    mode->slope = (double)get_number(r);
    mode->weight = (double)get_number(r);
    mode->moment = (double)get_number(r);
    for (uint32_t k = 0; k < modes; k++)
        mode->mass[k] = (double)get_number(r);
    for (uint32_t k = 0; k < modes; k++)
        mode->stiffness[k] = (double)get_number(r);
}

static int get_beam(reader_t *r, image_beam_t *b, dyn_flex_link_t *link) {
    const uint32_t word = next_word(r);
    *b = (image_beam_t){.modes = {word & 0xff, word >> 8 & 0xff, word >> 16 & 0xff},
                        .beam = (word & IMAGE_BEAM) != 0,
                        .tables = (word & IMAGE_BEAM_TABLES) != 0};
    if (word >> 26 != 0 || (!b->beam && word != 0))
        return IMAGE_E_CODE;
    if (!b->beam)
        return IMAGE_OK;
    const uint32_t modes = modes_of(b);
    if (modes > DYN_FLEX_LINK_MODES)
        return IMAGE_E_JOINTS;
#define X(name, unit, help) b->name = get_number(r);
    IMAGE_BEAM_FIELDS(X)
#undef X
    for (int kind = 0; kind < DYN_FLEX_KINDS; kind++)
        link->modes[kind] = b->modes[kind];
    link->length = (double)b->length;
    link->damping = (double)b->damping;
    for (uint32_t k = 0; k < modes; k++)
        get_mode(r, modes, &link->mode[k]);
    return IMAGE_OK;
}

bool image_elastic(const image_t *image) {
    return image->section[IMAGE_SECTION_FLEX].bytes != NULL;
}

int image_get_flex(const image_t *image, image_beam_t beam[], dyn_flex_model_t *flex) {
    const image_section_t *section = &image->section[IMAGE_SECTION_FLEX];
    reader_t r = {section->bytes, section->size / 4, true};
    memset(flex, 0, sizeof *flex);
    if (!section->bytes)
        return IMAGE_OK;
    if (image->n > DYN_FLEX_MAX_JOINTS)
        return IMAGE_E_JOINTS;
    for (uint32_t i = 0; i < image->n; i++) {
        image_beam_t own;
        const int status = get_beam(&r, beam ? &beam[i] : &own, &flex->link[i]);
        if (status != IMAGE_OK)
            return status;
    }
    return !r.good ? IMAGE_E_NUMBER : r.words != 0 ? IMAGE_E_LENGTH : IMAGE_OK;
}
