/*
 * Writes the animation: a copy of tools/sim/output/animation.html that contains the data of a run.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/file.h"
#include "tools/cli/diagnostics.h"
#include "tools/sim/output/output.h"

/* The assembler includes the HTML page, so the program needs no file at run time. */
__asm__(".section .rodata\n"
        ".global animation_page\n"
        "animation_page: .incbin \"tools/sim/output/animation.html\"\n"
        ".global animation_page_end\n"
        "animation_page_end: .byte 0\n"
        ".previous\n");
extern const char animation_page[], animation_page_end[];

/* A longer record is thinned evenly to this number of frames. */
enum { FRAMES_MAX = 1200 };

/* Writes a JSON string, escaped so that its text cannot end the surrounding script. */
static void text(FILE *file, const char *s) {
    fputc('"', file);
    for (; *s; s++)
        if (*s == '"' || *s == '\\')
            fprintf(file, "\\%c", *s);
        else if ((unsigned char)*s < ' ' || *s == '<' || *s == '>' || *s == '&')
            fprintf(file, "\\u%04x", (unsigned)(unsigned char)*s);
        else
            fputc(*s, file);
    fputc('"', file);
}

static void number(FILE *file, double value) {
    fprintf(file, "%.6g", isfinite(value) ? value : 0);
}

static void numbers(FILE *file, const double *value, size_t count) {
    for (size_t i = 0; i < count; i++) {
        fputs(i ? "," : "[", file);
        number(file, value[i]);
    }
    fputs("]", file);
}

/* Calls `one` for every frame that is shown; the first and the last row are always shown. */
static void each(FILE *file, const char *key, const sim_system_t *arm, const sim_record_t *record,
                 void (*one)(FILE *file, const sim_system_t *arm, const sim_row_t *row)) {
    const size_t frames = record->rows < FRAMES_MAX ? record->rows : FRAMES_MAX;
    fprintf(file, ",\n\"%s\":[", key);
    for (size_t i = 0; i < frames; i++) {
        const size_t index = frames > 1 ? i * (record->rows - 1) / (frames - 1) : 0;
        const sim_row_t row = sim_record_row(record, index);
        fputs(i ? "," : "", file);
        one(file, arm, &row);
    }
    fputs("]", file);
}

static void frame_t(FILE *file, const sim_system_t *arm, const sim_row_t *row) {
    (void)arm;
    number(file, row->t);
}

static void frame_q(FILE *file, const sim_system_t *arm, const sim_row_t *row) {
    double q[DYN_MAX_JOINTS];
    for (uint32_t i = 0; i < arm->joints; i++)
        q[i] = row->q[arm->coordinate[i]];
    numbers(file, q, arm->joints);
}

static void frame_kinetic(FILE *file, const sim_system_t *arm, const sim_row_t *row) {
    (void)arm;
    number(file, row->kinetic);
}

static void frame_potential(FILE *file, const sim_system_t *arm, const sim_row_t *row) {
    (void)arm;
    number(file, row->potential);
}

static void frame_points(FILE *file, const sim_system_t *arm, const sim_row_t *row) {
    double point[SIM_POINTS_MAX][3];
    dyn_pose_t effector;
    arm->shape(arm->self, row->q, point, &effector);
    numbers(file, point[0], 3 * (size_t)arm->points);
}

static void frame_tool(FILE *file, const sim_system_t *arm, const sim_row_t *row) {
    double point[SIM_POINTS_MAX][3];
    dyn_pose_t effector;
    arm->shape(arm->self, row->q, point, &effector);
    numbers(file, effector.r[0], 9);
}

static void write_data(FILE *file, const sim_system_t *arm, const sim_record_t *record,
                       const output_names_t *names) {
    const double *g = arm->gravity;
    const bool falls = g[0] != 0 || g[1] != 0 || g[2] != 0;
    const double up[3] = {-g[0], -g[1], falls ? -g[2] : 1};
    fputs("{\"title\":", file);
    text(file, names->title);
    fputs(",\"names\":[", file);
    for (uint32_t i = 0; i < arm->joints; i++) {
        fputs(i ? "," : "", file);
        text(file, names->joint[i]);
    }
    fputs("],\"prismatic\":[", file);
    for (uint32_t i = 0; i < arm->joints; i++)
        fprintf(file, "%s%s", i ? "," : "", names->prismatic[i] ? "true" : "false");
    fputs("],\"up\":", file);
    numbers(file, up, 3);
    fprintf(file, ",\"points\":%u,\"owner\":[", (unsigned)arm->points);
    for (uint32_t i = 0; i + 1 < arm->points; i++)
        fprintf(file, "%s%u", i ? "," : "", (unsigned)arm->owner[i]);
    fputs("]", file);
    each(file, "t", arm, record, frame_t);
    each(file, "q", arm, record, frame_q);
    each(file, "kinetic", arm, record, frame_kinetic);
    each(file, "potential", arm, record, frame_potential);
    each(file, "xyz", arm, record, frame_points);
    each(file, "effector", arm, record, frame_tool);
    fputs("}", file);
}

int output_animation(const sim_system_t *arm, const sim_record_t *record,
                     const output_names_t *names, const char *path) {
    static const char begin[] = "/*DATA*/", end[] = "/*END*/";
    const char *head = strstr(animation_page, begin), *tail = strstr(animation_page, end);
    assert(head && tail); /* the page is part of the program */
    tail += sizeof end - 1;
    file_text_t page;
    FILE *file = file_text_begin(&page);
    if (file) {
        fwrite(animation_page, 1, (size_t)(head - animation_page), file);
        write_data(file, arm, record, names);
        fwrite(tail, 1, (size_t)(animation_page_end - tail), file);
    }
    return file_text_end(&page, path);
}
