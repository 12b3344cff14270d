/* Implements fuzz_robot.h: the property that every fuzz target checks, and the driver. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "test/fuzz/fuzz_robot.h"
#include "tools/robot/robot.h"

void fuzz_failed(const char *what) {
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

void *fuzz_memory(size_t size) {
    void *memory = calloc(1, size + (size == 0));
    if (!memory)
        fuzz_failed("no memory");
    return memory;
}

static bool same_bits(const void *a, const void *b, size_t size) {
    const unsigned char *x = a, *y = b;
    while (size > 0 && *x == *y)
        x++, y++, size--;
    return size == 0;
}

/* True if both models are equal to the last bit; structures with padding are compared member by
 * member. */
static bool same_model(const dyn_model_t *a, const dyn_model_t *b) {
    bool same = a->n == b->n && same_bits(a->gravity, b->gravity, sizeof a->gravity) &&
                same_bits(&a->base, &b->base, sizeof a->base) &&
                same_bits(&a->tool, &b->tool, sizeof a->tool) &&
                same_bits(&a->payload, &b->payload, sizeof a->payload);
    for (uint32_t i = 0; same && i < a->n; i++) {
        const dyn_model_joint_t *x = &a->joint[i], *y = &b->joint[i];
        const double frame[2][4] = {{x->alpha, x->a, x->theta, x->d},
                                    {y->alpha, y->a, y->theta, y->d}};
        same = x->type == y->type && same_bits(frame[0], frame[1], sizeof frame[0]) &&
               same_bits(&x->link, &y->link, sizeof x->link) &&
               same_bits(&x->drive, &y->drive, sizeof x->drive);
    }
    return same;
}

static uint64_t loaded;

uint64_t fuzz_loaded(void) {
    return loaded;
}

static void load_again(const robot_t *robot, robot_t *copy) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (!stream || robot_save(stream, robot) != 0)
        fuzz_failed("cannot be saved");
    fclose(stream);
    messages_t messages = MESSAGES_INIT;
    if (robot_parse("saved", text, length, NULL, copy, &messages) != 0) {
        char line[2500] = "";
        if (messages.count > 0)
            messages_format(&messages.item[0], line, sizeof line);
        fprintf(stderr, "%s\n%s\n", text, line);
        fuzz_failed("what was saved does not load");
    }
    if (!same_model(&robot->model, &copy->model)) {
        fprintf(stderr, "%s\n", text);
        fuzz_failed("what was saved is another arm");
    }
    messages_free(&messages);
    free(text);
}

bool fuzz_robot_load(const uint8_t *data, size_t size, const robot_options_t *options,
                     robot_t *robot, robot_t *copy) {
    messages_t messages = MESSAGES_INIT;
    const int status = robot_parse("fuzz", data, size, options, robot, &messages);
    if ((status == 0) != (messages.errors == 0))
        fuzz_failed("loaded with errors, or refused without one");
    if (status == 0) {
        (void)robot_check(robot, &messages);
        load_again(robot, copy);
        loaded++;
    } else {
        robot_free(robot);
    }
    messages_free(&messages);
    return status == 0;
}

void fuzz_robot_one(const uint8_t *data, size_t size) {
    static robot_t robot, copy;
    if (!fuzz_robot_load(data, size, NULL, &robot, &copy))
        return;
    robot_free(&robot);
    robot_free(&copy);
}

/* ----------------------------------------------------------------------------------- the driver */

enum { SEEDS_MAX = 16, INPUT_MAX = 64 << 10 };

typedef struct {
    uint64_t state;
    char *seed[SEEDS_MAX];
    size_t size[SEEDS_MAX], seeds, words;
    const char *const *word;
    char input[INPUT_MAX];
    size_t length;
} fuzz_t;

static uint32_t pick(fuzz_t *f, size_t below) {
    uint64_t x = f->state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    f->state = x;
    return below ? (uint32_t)(((x * 0x2545F4914F6CDD1Du) >> 32) % below) : 0;
}

static char *read_seed(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file)
        fuzz_failed(path);
    char *text = fuzz_memory(INPUT_MAX);
    *size = fread(text, 1, INPUT_MAX, file);
    fclose(file);
    return text;
}

/* Replaces `gone` bytes at `at` by these bytes. */
static void splice(fuzz_t *f, size_t at, size_t gone, const char *bytes, size_t size) {
    if (at > f->length)
        at = f->length;
    if (gone > f->length - at)
        gone = f->length - at;
    if (f->length - gone + size > INPUT_MAX)
        return;
    char copy[512];
    if (size > sizeof copy)
        size = sizeof copy;
    memcpy(copy, bytes, size);
    memmove(f->input + at + size, f->input + at + gone, f->length - at - gone);
    memcpy(f->input + at, copy, size);
    f->length = f->length - gone + size;
}

/* For binary input, which consists of words of four bytes: replaces a word by a plausible or an
 * extreme value. */
static void replace_word(fuzz_t *f) {
    static const uint32_t edges[] = {0,          1,          2,          0xffffffff, 0x80000000,
                                     0x7f800000, 0x7fc00000, 0x00000001, 0x3f800000, 0xbf800000,
                                     0x7f7fffff, 0x58635fa9, 33,         128};
    const float plausible = (float)(int32_t)(pick(f, 0xffffffff)) * 1e-8F;
    uint32_t word = edges[pick(f, sizeof edges / sizeof edges[0])];
    if (pick(f, 2))
        memcpy(&word, &plausible, sizeof word);
    const size_t at = pick(f, f->length / 4 + 1) * 4;
    char bytes[4];
    for (int i = 0; i < 4; i++)
        bytes[i] = (char)(word >> 8 * i);
    splice(f, at, 4, bytes, 4);
}

static void mutate(fuzz_t *f) {
    const size_t at = pick(f, f->length + 1);
    const char byte = (char)pick(f, 256);
    switch (pick(f, 8)) {
    case 0:
        if (at < f->length)
            f->input[at] = (char)(f->input[at] ^ (1 << pick(f, 8)));
        break;
    case 1:
        splice(f, at, 1, &byte, 1);
        break;
    case 2:
        splice(f, at, pick(f, 20), "", 0);
        break;
    case 3: { /* a piece from another place of the input */
        const size_t from = pick(f, f->length), size = pick(f, 200);
        splice(f, at, pick(f, 2) ? size : 0, f->input + from,
               size < f->length - from ? size : f->length - from);
        break;
    }
    case 4: { /* a piece of another seed */
        const size_t other = pick(f, f->seeds), from = pick(f, f->size[other]), size = pick(f, 300);
        splice(f, at, pick(f, 300), f->seed[other] + from,
               size < f->size[other] - from ? size : f->size[other] - from);
        break;
    }
    case 5: /* replaces the next digit by a random one */
        for (size_t i = at; i < f->length && i < at + 100; i++)
            if (f->input[i] >= '0' && f->input[i] <= '9') {
                f->input[i] = (char)('0' + pick(f, 10));
                break;
            }
        break;
    default: {
        if (!f->word) {
            replace_word(f);
            break;
        }
        const char *word = f->word[pick(f, f->words)];
        splice(f, at, pick(f, 3) * 4, word, strlen(word));
    }
    }
}

static char *copy_seed(const fuzz_seed_t *seed, size_t *size) {
    *size = seed->size < INPUT_MAX ? seed->size : INPUT_MAX;
    char *out = fuzz_memory(INPUT_MAX);
    memcpy(out, seed->bytes, *size);
    return out;
}

uint64_t fuzz_drive(const fuzz_plan_t *plan, double seconds, uint64_t seed) {
    fuzz_t *f = fuzz_memory(sizeof *f);
    *f = (fuzz_t){.state = seed | 1u, .word = plan->words};
    for (size_t i = 0; plan->files && plan->files[i] && f->seeds < SEEDS_MAX; i++, f->seeds++)
        f->seed[f->seeds] = read_seed(plan->files[i], &f->size[f->seeds]);
    for (size_t i = 0; plan->seeds && plan->seeds[i].size && f->seeds < SEEDS_MAX; i++, f->seeds++)
        f->seed[f->seeds] = copy_seed(&plan->seeds[i], &f->size[f->seeds]);
    while (f->word && f->word[f->words])
        f->words++;
    if (f->seeds == 0 || (f->word && f->words == 0))
        fuzz_failed("no seeds or no words");
    const clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
    uint64_t tried = 0;
    while (clock() < end) {
        const size_t chosen = pick(f, f->seeds);
        memcpy(f->input, f->seed[chosen], f->size[chosen]);
        f->length = f->size[chosen];
        for (uint32_t k = 1 + pick(f, 6); k > 0; k--)
            mutate(f);
        /* The copy has exactly this size, so that the sanitizer detects a read beyond its end. */
        uint8_t *exact = fuzz_memory(f->length);
        memcpy(exact, f->input, f->length);
        LLVMFuzzerTestOneInput(exact, f->length);
        free(exact);
        tried++;
    }
    for (size_t i = 0; i < f->seeds; i++)
        free(f->seed[i]);
    free(f);
    return tried;
}
