/* gen: generates straight-line C for one robot. */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/args/arm.h"
#include "tools/cmd/cmd_gen.h"
#include "tools/cmd/commands.h"
#include "tools/cli/file.h"
#include "tools/image/gen_robot.h"
#include "tools/cli/json.h"
#include "tools/cli/progress.h"
#include "tools/cli/diagnostics.h"

/* -------------------------------------------------------------------------------------- options */

static int choose_keep(const request_t *request, uint32_t *keep) {
    static const struct {
        const char *name;
        uint32_t bit;
    } words[] = {
        {"gravity", GEN_KEEP_GRAVITY}, {"payload", GEN_KEEP_PAYLOAD}, {"wrench", GEN_KEEP_WRENCH}};
    const char *at = request->value[OPTION_KEEP];
    while (at && *at) {
        const size_t size = strcspn(at, ",");
        bool found = false;
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            if (strlen(words[i].name) == size && !strncmp(words[i].name, at, size)) {
                *keep |= words[i].bit;
                found = true;
            }
        if (!found)
            return diag_error(NULL, "choose from gravity, payload, wrench, separated by commas",
                              "--keep: '%.*s' cannot be kept as an argument", (int)size, at);
        at += size + (at[size] == ',');
    }
    return EXIT_YES;
}

static int choose_real(const request_t *request, gen_real_t *real) {
    static const char *const names[] = {"f32", "f64", "q31"};
    const char *name = request_has(request, OPTION_REAL) ? request->value[OPTION_REAL] : "f32";
    for (int i = 0; i < 3; i++)
        if (!strcmp(names[i], name)) {
            *real = (gen_real_t)i;
            return EXIT_YES;
        }
    return diag_error(NULL, "choose one of: f32, f64, q31", "there is no number type '%s'", name);
}

int gen_check_prefix(const request_t *request) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    const char *prefix = request->value[OPTION_PREFIX];
    if (!request_has(request, OPTION_PREFIX) ||
        (*prefix && !isdigit((unsigned char)*prefix) && strlen(prefix) <= ROBOT_NAME_MAX &&
         strspn(prefix, letters) == strlen(prefix)))
        return EXIT_YES;
    return diag_error(NULL, "use letters, digits and underscores, and do not begin with a digit",
                      "--prefix: '%s' cannot begin a C identifier, or is longer than %d bytes",
                      prefix, ROBOT_NAME_MAX);
}

static int choose(const request_t *request, gen_options_t *o, gen_real_t *real) {
    const char *strategy = request->value[OPTION_STRATEGY];
    long effort = GEN_EFFORT, monomials = GEN_MONOMIALS;
    if (strategy && strcmp(strategy, "trace") != 0 && strcmp(strategy, "uicker-kahn") != 0)
        return diag_error(NULL, "choose trace or uicker-kahn", "there is no strategy '%s'",
                          strategy);
    o->uicker_kahn = strategy && !strcmp(strategy, "uicker-kahn");
    if (choose_real(request, real) != EXIT_YES || choose_keep(request, &o->keep) != EXIT_YES ||
        gen_check_prefix(request) != EXIT_YES)
        return EXIT_BAD;
    if (request_has(request, OPTION_BASE) && request_has(request, OPTION_NO_BASE))
        return diag_error(NULL, "leave one of them out",
                          "--base and --no-base contradict each other");
    if (request_has(request, OPTION_EFFORT) &&
        request_integer(request, OPTION_EFFORT, 0, 10000, &effort) != EXIT_YES)
        return EXIT_BAD;
    if (request_has(request, OPTION_MONOMIALS) && !o->uicker_kahn)
        return diag_error(NULL, "add --strategy uicker-kahn, or leave --monomials out",
                          "--monomials: only the closed form has monomials");
    if (request_has(request, OPTION_MONOMIALS) &&
        request_integer(request, OPTION_MONOMIALS, 1, 100000000, &monomials) != EXIT_YES)
        return EXIT_BAD;
    o->monomials = (int32_t)monomials;
    if (*real == GEN_Q31 && o->keep)
        return diag_error(
            NULL, "generate f32, or leave out --keep",
            "--keep: gravity, payload and wrench must be constants in q31, because the proof needs "
            "their values");
    o->effort = (double)effort / GEN_EFFORT;
    o->real = *real;
    o->keep |= request_has(request, OPTION_NO_BASE) ? GEN_NO_BASE : 0;
    o->keep |= request_has(request, OPTION_FRICTION) ? GEN_FRICTION : 0;
    o->keep |= request_has(request, OPTION_NO_ROTOR) ? GEN_NO_ROTOR : 0;
    if (*real == GEN_Q31 && (o->keep & GEN_FRICTION))
        return diag_error(NULL, "leave the option out and add friction with dyn/kernel/drive.c",
                          "--friction: the code of friction needs sign(), which q31 does not have");
    return EXIT_YES;
}

/* ---------------------------------------------------------------------------------------- files */

void gen_prefix(const char *name, char *out, size_t size) {
    size_t used = 0;
    if (!*name || isdigit((unsigned char)*name))
        out[used++] = 'r';
    for (; *name && used + 1 < size; name++)
        out[used++] = isalnum((unsigned char)*name) ? (char)tolower((unsigned char)*name) : '_';
    out[used] = '\0';
}

/* Adds a word to a command line, with quotes where a shell needs them. */
static void add_word(FILE *out, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+.,:=/@%";
    if (*word && strspn(word, plain) == strlen(word)) {
        fprintf(out, " %s", word);
        return;
    }
    fputs(" '", out);
    for (; *word; word++)
        fputs(*word == '\'' ? "'\\''" : (const char[]){*word, '\0'}, out);
    fputc('\'', out);
}

char *gen_command(const char *command, const request_t *request) {
    static const option_id_t shown[] = {
        OPTION_REAL,    OPTION_STRATEGY, OPTION_EFFORT, OPTION_MONOMIALS, OPTION_KEEP,
        OPTION_GRAVITY, OPTION_PAYLOAD,  OPTION_LIMITS, OPTION_TIP,       OPTION_PARALLEL,
        OPTION_PREFIX,  OPTION_FORMAT,   OPTION_DIGITS};
    static const option_id_t flags[] = {OPTION_NO_BASE, OPTION_NO_ROTOR, OPTION_FRICTION,
                                        OPTION_RIGID, OPTION_PARAMETERS};
    const char *folder = strrchr(request->argument[0], '/');
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        diag_no_memory();
        return NULL;
    }
    fprintf(out, "appell %s", command);
    add_word(out, folder ? folder + 1 : request->argument[0]);
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        if (request_has(request, shown[i])) {
            fprintf(out, " --%s", option_table[shown[i]].name);
            add_word(out, request->value[shown[i]]);
        }
    for (size_t i = 0; i < request->freezes; i++) {
        fprintf(out, " --%s", option_table[OPTION_FREEZE].name);
        add_word(out, request->freeze[i]);
    }
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (request_has(request, flags[i]))
            fprintf(out, " --%s", option_table[flags[i]].name);
    if (fclose(out) == 0)
        return text;
    diag_no_memory();
    free(text);
    return NULL;
}

typedef void (*printer_t)(const gen_t *gen, const gen_print_t *how, FILE *out);

static void print_base(const gen_t *gen, const gen_print_t *how, FILE *out) {
    gen_print_base(gen, how->robot, out);
}

static int write_one(const char *folder, const gen_t *gen, const gen_print_t *how,
                     const char *suffix, printer_t printer) {
    char path[4096];
    file_text_t text;
    if (snprintf(path, sizeof path, "%s/%s%s", folder, how->prefix, suffix) >= (int)sizeof path)
        return diag_error(folder, "choose a shorter path", "the path is too long");
    if (file_text_begin(&text))
        printer(gen, how, text.stream);
    return file_text_end(&text, path);
}

/* Makes the output folder before the annealer runs, so that a mistyped path is reported at once. */
static int make_folder(const char *folder) {
    struct stat about;
    if (mkdir(folder, 0777) == 0)
        return EXIT_YES;
    if (errno == EEXIST && stat(folder, &about) == 0 && S_ISDIR(about.st_mode))
        return EXIT_YES;
    return diag_error(folder, "check the path and its permissions; the parent folder must exist",
                      "cannot be made: %s", strerror(errno));
}

static int write_all(const char *folder, const gen_t *gen, const gen_print_t *how) {
    if (write_one(folder, gen, how, ".h", gen_print_header) != EXIT_YES ||
        write_one(folder, gen, how, ".c", gen_print_source) != EXIT_YES ||
        write_one(folder, gen, how, "_base.csv", print_base) != EXIT_YES)
        return EXIT_BAD;
    return EXIT_YES;
}

/* ----------------------------------------------------------------------------------- the command */

static void progress(void *context, const char *kernel, double part, graph_ops_t ops) {
    const request_t *request = context;
    progress_show(kernel, (uint64_t)(100 * part), 100);
    if (part < 1 || request_has_any(request, OPTIONS(OPTION_QUIET, OPTION_JSON)))
        return;
    fprintf(stderr, "%-9s %ld multiplications, %ld additions\n", kernel, ops.mul, ops.add);
}

static void print_json(const gen_t *gen, const gen_print_t *how, const char *folder) {
    static const char *const suffix[] = {".h", ".c", "_base.csv"};
    char path[4096];
    json_begin(NULL);
    json_string("robot", how->robot);
    json_list("files");
    for (size_t i = 0; i < sizeof suffix / sizeof suffix[0]; i++) {
        snprintf(path, sizeof path, "%s/%s%s", folder, how->prefix, suffix[i]);
        json_string(NULL, path);
    }
    json_list_end();
    json_list("kernels");
    for (int k = 0; k < GEN_KERNELS; k++)
        if (gen->graph[k]) {
            json_begin(NULL);
            json_string("name", gen_kernel_info[k].name);
            json_integer("multiplications", gen->ops[k].mul);
            json_integer("additions", gen->ops[k].add);
            json_end();
        }
    json_list_end();
    json_end();
}

int cmd_gen(const request_t *request) {
    gen_options_t options = {0};
    gen_real_t real = GEN_F32;
    if (!request_has(request, OPTION_OUTPUT))
        return diag_error(NULL, "write -o DIR",
                          "the generated code is several files, so a folder is needed");
    if (choose(request, &options, &real) != EXIT_YES)
        return EXIT_BAD;
    robot_t *robot = arm_load_rigid(request);
    if (!robot)
        return EXIT_BAD;
    if (make_folder(request->value[OPTION_OUTPUT]) != EXIT_YES) {
        arm_free(robot);
        return EXIT_BAD;
    }
    options.both = true;
    options.progress = progress;
    options.context = (void *)(uintptr_t)request;
    char prefix[ROBOT_NAME_MAX + 1], *command = gen_command("gen", request);
    gen_prefix(robot->name, prefix, sizeof prefix);
    gen_robot_t *made = command ? gen_robot_make(robot, &options, real == GEN_Q31) : NULL;
    int status = EXIT_BAD;
    if (made) {
        gen_print_t how = {
            .real = real,
            .robot = robot->name,
            .prefix = request_has(request, OPTION_PREFIX) ? request->value[OPTION_PREFIX] : prefix,
            .command = command,
            .hash = made->hash,
            .hashed = made->hashed,
            .units = &made->units,
            .fixed = (const fixed_t *const *)made->fixed};
        for (uint32_t i = 0; i < robot->n; i++)
            how.joint[i] = robot->joint[i].name;
        status = write_all(request->value[OPTION_OUTPUT], made->gen, &how);
        if (status == EXIT_YES && request_has(request, OPTION_JSON))
            print_json(made->gen, &how, request->value[OPTION_OUTPUT]);
        gen_robot_free(made);
    }
    free(command);
    arm_free(robot);
    return status;
}
