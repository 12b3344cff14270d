/*
 * Keeps results of the annealer in the folder that APPELL_CACHE names, for tests and benches, which
 * anneal the same robots again and again. Without the variable nothing is stored or looked up.
 *
 * The name of a file is the hash of its key. The file contains the key (everything that the result
 * depends on, including the graph), the result, and the hash of both. A file with any other content
 * is ignored and written again. If the folder cannot be written, nothing is kept.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/gen/anneal.h"

/* Increase this number with every change of the annealer, the graph or the file format that changes
 * a result. */
static const char version[] = "appell anneal 3";

typedef struct {
    char *at;
    size_t size;
} bytes_t;

static uint64_t hash_of(const char *at, size_t size) {
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        h = (h ^ (unsigned char)at[i]) * 0x100000001b3u;
    return h;
}

/* The key contains a copy of the graph, because the annealer also starts from a copy. */
static bool make_key(const graph_t *from, const anneal_t *how, bytes_t *key) {
    graph_t *copy = graph_copy(from);
    const double number[] = {how->cost.mul,           how->cost.add,      how->cost.recip,
                             how->cost.sincos,        how->cost.constant, (double)how->moves,
                             (double)how->seeds,      how->hot,           how->cold,
                             (double)graph_size(copy)};
    FILE *out = open_memstream(&key->at, &key->size);
    if (out) {
        fwrite(version, sizeof version, 1, out);
        fwrite(number, sizeof number, 1, out);
        graph_save(copy, out);
    }
    graph_free(copy);
    return out && fclose(out) == 0;
}

static bytes_t read_file(const char *path) {
    bytes_t file = {0};
    struct stat about;
    FILE *in = fopen(path, "rb");
    if (!in)
        return file;
    if (fstat(fileno(in), &about) == 0 && about.st_size > 0)
        file.at = malloc((size_t)about.st_size);
    if (file.at)
        file.size = fread(file.at, 1, (size_t)about.st_size, in);
    fclose(in);
    return file;
}

static graph_t *cache_read(const char *path, const bytes_t *key) {
    bytes_t file = read_file(path);
    graph_t *g = NULL;
    uint64_t sum;
    if (file.size > key->size + sizeof sum && memcmp(file.at, key->at, key->size) == 0) {
        const size_t all = file.size - sizeof sum;
        memcpy(&sum, file.at + all, sizeof sum);
        FILE *in = fmemopen(file.at + key->size, all - key->size, "rb");
        if (in && sum == hash_of(file.at, all))
            g = graph_load(in);
        if (in)
            fclose(in);
    }
    free(file.at);
    return g;
}

/* Writes a temporary file and renames it, because another process may be reading `path`. */
static void keep(const char *path, const bytes_t *key, const graph_t *g) {
    bytes_t file = {0};
    FILE *out = open_memstream(&file.at, &file.size);
    if (!out)
        return;
    fwrite(key->at, key->size, 1, out);
    graph_save(g, out);
    fflush(out);
    const uint64_t sum = hash_of(file.at, file.size);
    fwrite(&sum, sizeof sum, 1, out);
    char part[4096];
    const bool whole = fclose(out) == 0 && snprintf(part, sizeof part, "%s.%ld", path,
                                                    (long)getpid()) < (int)sizeof part;
    FILE *to = whole ? fopen(part, "wb") : NULL;
    if (to) {
        const bool written = fwrite(file.at, file.size, 1, to) == 1;
        if (fclose(to) != 0 || !written || rename(part, path) != 0)
            remove(part);
    }
    free(file.at);
}

graph_t *anneal_cached(const graph_t *from, const anneal_t *how) {
    const char *folder = getenv("APPELL_CACHE");
    bytes_t key = {0};
    char path[4000];
    graph_t *g = NULL;
    if (!folder || !*folder)
        return anneal_run(from, how);
    const bool named = make_key(from, how, &key) &&
                       snprintf(path, sizeof path, "%s/%016llx", folder,
                                (unsigned long long)hash_of(key.at, key.size)) < (int)sizeof path;
    if (named)
        g = cache_read(path, &key);
    if (!g) {
        g = anneal_run(from, how);
        (void)mkdir(folder, 0777);
        if (named)
            keep(path, &key, g);
    }
    free(key.at);
    return g;
}
