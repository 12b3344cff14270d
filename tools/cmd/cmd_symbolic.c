/* symbolic: prints the inertia matrix and the gravity torques of an arm as formulas. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/args/arm.h"
#include "tools/cmd/commands.h"
#include "tools/cmd/cmd_gen.h"
#include "tools/cli/diagnostics.h"
#include "tools/cli/file.h"
#include "tools/cli/json.h"
#include "tools/cli/progress.h"
#include "tools/gen/gen.h"
#include "tools/symbolic/symbolic.h"

/* The largest difference to the kernels: both sum a few hundred products in double. */
static const double agreement = 1e-12;

/* True if the file has DH parameters, and bodies on the axes of their links. */
static bool own_frames(const robot_t *robot) {
    bool own = robot->convention != DYN_CONVENTION_FRAMES;
    for (uint32_t i = 0; i < robot->n; i++)
        for (int k = 0; k < 3; k++)
            own = own && robot->joint[i].source.inertia_rpy[k] == 0;
    return own;
}

/* Takes the description in the frames of its file, where it has DH parameters and bodies on the
 * axes of their links; otherwise that of the model, which is proximal DH. */
static void take_source(const robot_t *robot, dyn_source_t *source) {
    const bool own = own_frames(robot);
    const dyn_model_t model = gen_quiet(&robot->model, gen_noise(GEN_F64));
    *source = (dyn_source_t){.convention = own ? robot->convention : DYN_CONVENTION_MDH,
                             .n = robot->n,
                             .payload = own ? robot->payload : model.payload};
    memcpy(source->gravity, own ? robot->gravity : model.gravity, sizeof source->gravity);
    for (uint32_t i = 0; i < robot->n; i++) {
        const dyn_model_joint_t *j = &model.joint[i];
        source->joint[i] = own ? robot->joint[i].source
                               : (dyn_source_joint_t){.type = j->type,
                                                      .theta = j->theta,
                                                      .d = j->d,
                                                      .a = j->a,
                                                      .alpha = j->alpha,
                                                      .link = j->link,
                                                      .drive = j->drive};
    }
}

/* Words that C, C++, <math.h> or the formulas use themselves. */
static bool is_reserved(const char *name) {
    static const char words[] =
        " alignas alignof and and_eq asm auto bitand bitor bool break case catch char class "
        "co_await co_return co_yield compl concept const const_cast consteval constexpr "
        "constinit continue decltype default delete do double dynamic_cast else enum "
        "explicit export extern false float for friend goto if inline int linux long "
        "mutable namespace new noexcept not not_eq nullptr operator or or_eq private "
        "protected public register reinterpret_cast requires restrict return short signed "
        "sizeof static static_assert static_cast struct switch template this thread_local "
        "throw true try typedef typeid typename typeof union unix unsigned using virtual "
        "void volatile wchar_t while xor xor_eq char8_t char16_t char32_t NAN INFINITY "
        "MATH_ERRNO MATH_ERREXCEPT math_errhandling NULL MAXFLOAT SNAN BIG_ENDIAN "
        "LITTLE_ENDIAN PDP_ENDIAN BYTE_ORDER RAND_MAX WNOHANG WUNTRACED g gx gy gz ";
    char word[ROBOT_SYMBOL_SIZE + 2];
    snprintf(word, sizeof word, " %s ", name);
    if (strstr(words, word))
        return true;
    return !strncmp(name, "M_", 2) || !strncmp(name, "FP_", 3) || !strncmp(name, "HUGE_", 5) ||
           (strchr("csoqHG", name[0]) && strspn(name + 1, "0123456789_") > 0);
}

/* True if the name is the usual one of another number, such as m2 for the mass of link 1. */
static bool is_anothers(const char *name, uint32_t joint, int kind) {
    for (int k = 0; k < SYMBOLIC_KINDS; k++) {
        const size_t size = strlen(symbolic_usual[k]);
        const char *rest = name + size;
        if (strncmp(name, symbolic_usual[k], size) != 0)
            continue;
        const bool number = *rest && strspn(rest, "0123456789") == strlen(rest);
        if (!strcmp(rest, "p") ||
            (number && (k != kind || strtoul(rest, NULL, 10) != (unsigned long)joint + 1)))
            return true;
    }
    return false;
}

static const char *without_sign(const char *number) {
    return number + (number[0] == '-');
}

static int check_name(const robot_t *robot, const robot_symbols_t *symbols, uint32_t i, int k) {
    static const char cure[] = "choose another name";
    const char *name = symbols->name[i][k], *joint = robot->joint[i].name;
    if (!*name)
        return EXIT_YES;
    if (is_reserved(name) || is_anothers(name, i, k))
        return diag_error(robot->file, cure,
                          "joint %s: the name %s means something else in the formulas", joint,
                          name);
    for (uint32_t other = 0; other <= i; other++)
        for (int slot = 0; slot < ROBOT_SYMBOLS; slot++)
            if (!strcmp(symbols->name[other][slot], name) &&
                ((k == SYMBOLIC_ALPHA) != (slot == SYMBOLIC_ALPHA) ||
                 strcmp(without_sign(symbols->number[other][slot]),
                        without_sign(symbols->number[i][k])) != 0))
                return diag_error(robot->file, cure,
                                  "joint %s: the name %s stands for two different quantities",
                                  joint, name);
    return EXIT_YES;
}

static int check_names(const robot_t *robot, const robot_symbols_t *symbols) {
    bool any = false;
    for (uint32_t i = 0; i < robot->n; i++)
        for (int k = 0; k < ROBOT_SYMBOLS; k++) {
            any = any || *symbols->name[i][k];
            if (check_name(robot, symbols, i, k) != EXIT_YES)
                return EXIT_BAD;
        }
    if (any && !own_frames(robot))
        return diag_error(robot->file, "write the link in the axes of its frame, in dh or mdh",
                          "names need convention dh or mdh, and links without rpy");
    return EXIT_YES;
}

static int report_names(const robot_t *robot, const robot_symbols_t *symbols) {
    char place[4096];
    if (!*symbols->first)
        return diag_error(robot->file, "give each joint a link, or add --parameters",
                          "there are joints without link, whose formulas have names");
    snprintf(place, sizeof place, "%s:%u", robot->file, (unsigned)symbols->line);
    return diag_error(place, "write a number, or add --parameters",
                      "'%s' is not a finite decimal number", symbols->first);
}

static void progress(void *context, uint32_t done, uint32_t of, int32_t monomials) {
    (void)context;
    (void)monomials;
    progress_show("closed form", done, of);
}

static symbolic_t *derive(const robot_t *robot, const robot_symbols_t *symbols, bool named,
                          int32_t most) {
    if (!named)
        return symbolic_numbers(&robot->model, most, progress);
    static symbolic_names_t names;
    dyn_source_t *source = calloc(1, sizeof *source);
    if (!source)
        return NULL;
    take_source(robot, source);
    for (uint32_t i = 0; i < robot->n; i++)
        for (int k = 0; k < ROBOT_SYMBOLS; k++) {
            memcpy(names[i][k], symbols->name[i][k], SYMBOLIC_NAME);
            if (!*names[i][k] && *symbols->number[i][k]) /* no link */
                snprintf(names[i][k], SYMBOLIC_NAME, "%s%u", symbolic_usual[k], (unsigned)i + 1);
        }
    symbolic_t *s = symbolic_named(source, names, most, progress);
    free(source);
    return s;
}

static void write_json(const symbolic_t *s) {
    /* The formulas stand in the text; a program wants the operations and the result of the check. */
    json_begin(NULL);
    json_string("robot", s->robot);
    json_integer("joints", s->closed->n);
    json_integer("dictionary", s->entries);
    json_integer("multiplications", s->matrix.dictionary + s->matrix.mul);
    json_integer("additions", s->matrix.add);
    json_integer("multiplications_with_gravity", s->all.dictionary + s->all.mul);
    json_integer("additions_with_gravity", s->all.add);
    json_integer("checked_states", s->states);
    json_number("matrix_error", s->worst_H);
    json_number("gravity_error", s->worst_G);
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (stream) {
        symbolic_text(s, stream);
        if (fclose(stream) == 0)
            json_string("text", text);
    }
    free(text);
    json_end();
}

typedef enum { FORMAT_TEXT, FORMAT_MARKDOWN, FORMAT_C, FORMATS } format_t;

static int choose_format(const request_t *request, format_t *format) {
    static const char *const names[FORMATS] = {"text", "markdown", "c"};
    const char *name = request_has(request, OPTION_FORMAT) ? request->value[OPTION_FORMAT] : "text";
    for (int i = 0; i < FORMATS; i++)
        if (!strcmp(names[i], name)) {
            *format = (format_t)i;
            return EXIT_YES;
        }
    return diag_error(NULL, "choose text, markdown or c", "there is no format '%s'", name);
}

static int write_formulas(const request_t *request, const symbolic_t *s, format_t format) {
    const char *path = request_has(request, OPTION_OUTPUT) ? request->value[OPTION_OUTPUT] : "-";
    char prefix[ROBOT_NAME_MAX + 1];
    file_text_t text;
    if (request_has(request, OPTION_JSON)) {
        write_json(s);
        return EXIT_YES;
    }
    char *command = gen_command("symbolic", request);
    if (!command)
        return EXIT_BAD;
    gen_prefix(s->robot, prefix, sizeof prefix);
    if (!file_text_begin(&text)) {
        free(command);
        return file_text_end(&text, path);
    }
    if (format == FORMAT_C)
        symbolic_c(s, request_has(request, OPTION_PREFIX) ? request->value[OPTION_PREFIX] : prefix,
                   command, text.stream);
    else
        (format == FORMAT_MARKDOWN ? symbolic_markdown : symbolic_text)(s, text.stream);
    free(command);
    return file_text_end(&text, path);
}

int cmd_symbolic(const request_t *request) {
    static robot_symbols_t symbols;
    const bool named = request_has(request, OPTION_PARAMETERS);
    long most = GEN_MONOMIALS, digits = 6;
    format_t format = FORMAT_TEXT;
    const char *wanted = request_has(request, OPTION_FORMAT) ? request->value[OPTION_FORMAT] : "";
    if (request_has(request, OPTION_JSON) &&
        request_has_any(request, OPTIONS(OPTION_OUTPUT, OPTION_FORMAT)))
        return diag_error(NULL, "leave --json or the other option out",
                          "--json prints to standard output, and has no format");
    if (request_has(request, OPTION_PREFIX) && strcmp(wanted, "c") != 0)
        return diag_error(NULL, "add --format c, or leave --prefix out",
                          "--prefix is that of a C function");
    if (choose_format(request, &format) != EXIT_YES || gen_check_prefix(request) != EXIT_YES ||
        (request_has(request, OPTION_MONOMIALS) &&
         request_integer(request, OPTION_MONOMIALS, 1, 100000000, &most) != EXIT_YES) ||
        (request_has(request, OPTION_DIGITS) &&
         request_integer(request, OPTION_DIGITS, 1, 17, &digits) != EXIT_YES))
        return EXIT_BAD;
    robot_t *robot = arm_load_symbols(request, &symbols);
    if (!robot)
        return EXIT_BAD;
    if ((symbols.any && !named && report_names(robot, &symbols)) ||
        check_names(robot, &symbols) != EXIT_YES) {
        arm_free(robot);
        return EXIT_BAD;
    }
    symbolic_t *s = derive(robot, &symbols, named, (int32_t)most);
    int status = EXIT_BAD;
    if (!s)
        diag_error(robot->file,
                   "raise --monomials, or let `appell gen` write the recursion as code",
                   "the closed form of this arm has more than %ld monomials, or %d times as many "
                   "terms",
                   most, POLY_TERMS);
    else {
        s->robot = robot->name;
        s->digits = (int)digits;
        s->by_dictionary = request_has(request, OPTION_DICTIONARY);
        const bool right = symbolic_check(s, &robot->model, agreement);
        status = write_formulas(request, s, format);
        if (!right && status == EXIT_YES) {
            diag_error(
                robot->file,
                "write quarter turns with more digits or use --parallel 1e-5 if `appell check` "
                "finds axes that are almost parallel; else please report it",
                "the formulas differ from the kernels by %g", fmax(s->worst_H, s->worst_G));
            status = EXIT_NO;
        }
    }
    symbolic_free(s);
    arm_free(robot);
    return status;
}
