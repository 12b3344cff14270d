/*
 * Loads an arm by name: finds and reads the file, detects its format, calls the reader and makes
 * the model.
 */
#include <dirent.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/robot/readers.h"
#include "tools/robot/schema.h"

/* Sets the C locale while a file is read, because strtod and printf must not use the decimal comma
 * of the user's language. */
typedef struct {
    locale_t plain, before;
} locale_guard_t;

static locale_guard_t locale_enter(void) {
    locale_guard_t guard = {newlocale(LC_ALL_MASK, "C", (locale_t)0), (locale_t)0};
    if (guard.plain)
        guard.before = uselocale(guard.plain);
    return guard;
}

static void locale_leave(locale_guard_t *guard) {
    if (guard->plain) {
        uselocale(guard->before);
        freelocale(guard->plain);
    }
}

static int fail(messages_t *messages, message_code_t code, const char *file, const char *cure,
                const char *text) {
    messages_add(messages, MESSAGE_ERROR, code, (message_place_t){file, 0, NULL}, cure, "%s", text);
    return -1;
}

static void free_shapes(robot_shape_t *shape, uint32_t count) {
    for (uint32_t i = 0; shape && i < count; i++)
        free(shape[i].value);
    free(shape);
}

void robot_free(robot_t *robot) {
    for (uint32_t i = 0; i < DYN_MAX_JOINTS; i++) {
        robot_flex_t *f = &robot->joint[i].flex;
        free_shapes(f->shape_xy, f->modes_xy);
        free_shapes(f->shape_xz, f->modes_xz);
        free_shapes(f->shape_torsion, f->modes_torsion);
    }
    free(robot->piece);
    free(robot->part);
    free(robot->integrals);
    free(robot->file);
    memset(robot, 0, sizeof *robot);
}

/* ------------------------------------------------------------------------------------ the model */

static void source_from(const robot_t *robot, dyn_source_t *source) {
    *source = (dyn_source_t){.convention = robot->convention, .n = robot->n};
    memcpy(source->gravity, robot->gravity, sizeof source->gravity);
    memcpy(source->base_xyz, robot->base_xyz, sizeof source->base_xyz);
    memcpy(source->base_rpy, robot->base_rpy, sizeof source->base_rpy);
    memcpy(source->tool_xyz, robot->tool_xyz, sizeof source->tool_xyz);
    memcpy(source->tool_rpy, robot->tool_rpy, sizeof source->tool_rpy);
    source->payload = robot->payload;
    for (uint32_t i = 0; i < robot->n; i++)
        source->joint[i] = robot->joint[i].source;
}

int robot_settle(robot_t *robot, double parallel_rad, messages_t *messages) {
    dyn_source_t *source = malloc(sizeof *source);
    if (!source)
        return fail(messages, MESSAGE_MEMORY, robot->file, NULL, "there is not enough memory");
    source_from(robot, source);
    if (!(parallel_rad > 0))
        parallel_rad = DYN_PARALLEL_DEFAULT;
    int status = dyn_convert(source, parallel_rad, &robot->model, &robot->report);
    free(source);
    /* Finite numbers may still overflow in the conversion, so the model is checked too. */
    if (status == DYN_OK)
        status = dyn_model_check(&robot->model);
    const robot_joint_t *joint =
        &robot->joint[robot->report.joint < DYN_MAX_JOINTS ? robot->report.joint : 0];
    message_place_t place = {robot->file, joint->line.joint, joint->name};
    switch (status) {
    case DYN_OK:
        break;
    case DYN_E_JOINTS:
        messages_add(messages, MESSAGE_ERROR, MESSAGE_LIMIT,
                     (message_place_t){robot->file, robot->line_joints, NULL},
                     dyn_status_cure(status), "the robot has %u joints; 1 to %u are possible",
                     (unsigned)robot->n, DYN_MAX_JOINTS);
        return -1;
    case DYN_E_AXIS:
        place.line = joint->line.axis ? joint->line.axis : place.line;
        messages_add(messages, MESSAGE_ERROR, MESSAGE_AXIS, place, dyn_status_cure(status), "%s",
                     dyn_status_cause(status));
        return -1;
    default:
        messages_add(
            messages, MESSAGE_ERROR, MESSAGE_NUMBER, (message_place_t){robot->file, 0, NULL},
            "use SI units",
            "numbers of this arm are too large: they overflow when the frames are converted");
        return -1;
    }
    if (robot->report.bent_angle > 0) {
        joint = &robot->joint[robot->report.bent_joint];
        messages_add(
            messages, MESSAGE_NOTE, MESSAGE_PARALLEL,
            (message_place_t){robot->file, joint->line.frame, joint->name}, "",
            "the axis was turned by %.2g rad to be parallel to the axis of the joint before",
            robot->report.bent_angle);
    }
    return 0;
}

/* ------------------------------------------------------------------------------------- the file */

const char *robot_motor_missing(const robot_t *robot, uint32_t joint) {
    const dyn_motor_t *m = &robot->model.joint[joint].drive.motor;
    return m->gear == 0              ? "motor"
           : m->resistance <= 0      ? "resistance"
           : m->torque_constant == 0 ? "torque_constant"
                                     : NULL;
}

static bool looks_like_xml(const char *bytes, size_t size) {
    size_t i = 0;
    if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
        i = 3;
    if (size >= 2 && (memcmp(bytes, "\xFF\xFE", 2) == 0 || memcmp(bytes, "\xFE\xFF", 2) == 0))
        return size >= 4 && (bytes[2] == '<' || bytes[3] == '<');
    while (i < size &&
           (bytes[i] == ' ' || bytes[i] == '\t' || bytes[i] == '\r' || bytes[i] == '\n'))
        i++;
    return i < size && bytes[i] == '<';
}

static bool looks_binary(const char *bytes, size_t size) {
    size_t odd = 0, seen = size < 4096 ? size : 4096;
    if (size >= 2 && (memcmp(bytes, "\xFF\xFE", 2) == 0 || memcmp(bytes, "\xFE\xFF", 2) == 0))
        return false; /* UTF-16; both parsers can read it */
    for (size_t i = 0; i < seen; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c == 0)
            return true;
        odd += c < 32 && c != '\n' && c != '\r' && c != '\t';
    }
    return odd > seen / 16;
}

static int read_yaml(const char *file, const char *bytes, size_t size, robot_symbols_t *symbols,
                     robot_t *out, messages_t *messages) {
    tree_t tree;
    int status = tree_parse(file, bytes, size, &tree, messages);
    if (status == 0) {
        if (tree.root->kind != TREE_MAP)
            status = fail(messages, MESSAGE_FORMAT, file,
                          "a robot file begins with name:, a URDF with <robot>",
                          "the content is neither a robot file nor a parts database");
        else if (tree_get(tree.root, "parts"))
            status = reader_parts(&tree, out, messages);
        else
            status = reader_robot_file(&tree, symbols, out, messages);
    }
    tree_free(&tree);
    return status;
}

static int parse(const char *file, const char *bytes, size_t size, const robot_options_t *options,
                 robot_t *out, messages_t *messages) {
    if (size > ROBOT_FILE_MAX)
        return fail(messages, MESSAGE_LIMIT, file, "is this a robot description?",
                    "the file is larger than 16 MB");
    if (size == 0)
        return fail(messages, MESSAGE_FORMAT, file, "see tools/robots for examples",
                    "the file is empty");
    const size_t magic = options->image_magic_size;
    if (options->image_reader && magic > 0 && size >= magic &&
        memcmp(bytes, options->image_magic, magic) == 0) {
        out->format = ROBOT_FORMAT_IMAGE;
        return options->image_reader(file, (const uint8_t *)bytes, size, options, out, messages);
    }
    if (looks_like_xml(bytes, size))
        return reader_urdf(file, bytes, size, options, out, messages);
    if (looks_binary(bytes, size))
        return fail(messages, MESSAGE_FORMAT, file,
                    "give a robot file (YAML), a URDF (XML), a parts database or an image",
                    "the content is binary and of an unknown kind");
    if (options->tip || options->freeze_count > 0)
        return fail(messages, MESSAGE_VALUE, file, "change the joints in the file instead",
                    "--tip and --freeze work with a URDF only");
    return read_yaml(file, bytes, size, options->symbols, out, messages);
}

int robot_parse(const char *file, const void *bytes, size_t size, const robot_options_t *options,
                robot_t *out, messages_t *messages) {
    static const robot_options_t none = {0};
    if (!options)
        options = &none;
    memset(out, 0, sizeof *out);
    out->file = strdup(file);
    if (!out->file)
        return fail(messages, MESSAGE_MEMORY, file, NULL, "there is not enough memory");
    locale_guard_t guard = locale_enter();
    const size_t errors = messages->errors;
    int status = parse(file, bytes, size, options, out, messages);
    if (status == 0 && options->gravity)
        memcpy(out->gravity, options->gravity, sizeof out->gravity);
    if (status == 0 && messages->errors == errors)
        status = robot_settle(out, options->parallel_rad, messages);
    locale_leave(&guard);
    return status == 0 && messages->errors == errors ? 0 : -1;
}

/* Reads a whole stream of unknown length (possibly a pipe). Gives up once it has more than
 * ROBOT_FILE_MAX bytes; it has read at most twice as many then. */
static char *read_stream(FILE *stream, size_t *size) {
    size_t room = 64 << 10, used = 0;
    char *bytes = malloc(room);
    while (bytes) {
        used += fread(bytes + used, 1, room - used, stream);
        if (used < room || used > ROBOT_FILE_MAX)
            break;
        room *= 2;
        char *more = realloc(bytes, room);
        if (!more)
            free(bytes);
        bytes = more;
    }
    *size = used;
    return bytes;
}

static int load_path(const char *path, const robot_options_t *options, robot_t *out,
                     messages_t *messages) {
    struct stat about;
    char text[256];
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return fail(messages, MESSAGE_FILE, path, "give the path of a file in this folder",
                    "this is a folder");
    FILE *stream = fopen(path, "rb");
    if (!stream) {
        snprintf(text, sizeof text, "cannot be opened: %s", strerror(errno));
        return fail(messages, MESSAGE_FILE, path, "check the path and its permissions", text);
    }
    size_t size = 0;
    errno = 0;
    char *bytes = read_stream(stream, &size);
    const bool broken = ferror(stream);
    const int why = errno;
    fclose(stream);
    int status;
    if (!bytes) {
        status = fail(messages, MESSAGE_MEMORY, path, NULL, "there is not enough memory");
    } else if (broken) {
        snprintf(text, sizeof text, "reading failed: %s", strerror(why));
        status = fail(messages, MESSAGE_FILE, path, "copy the file to another disk", text);
    } else {
        status = robot_parse(path, bytes, size, options, out, messages);
    }
    free(bytes);
    return status;
}

/* ------------------------------------------------------------------------------- robots by name */

static char *join(const char *folder, const char *name) {
    size_t size = strlen(folder) + strlen(name) + 2;
    char *out = malloc(size);
    if (out)
        snprintf(out, size, "%s/%s", folder, name);
    return out;
}

static char *program_folder(void) {
    char path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    if (size <= 0)
        return NULL;
    path[size] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash)
        return NULL;
    *slash = '\0';
    return join(path, "../../tools/robots");
}

size_t robot_folders(char **folder, size_t max) {
    const char *chosen = getenv("APPELL_ROBOTS");
    char *candidate[3] = {chosen && *chosen ? strdup(chosen) : NULL, strdup("tools/robots"),
                          program_folder()};
    size_t count = 0;
    for (size_t i = 0; i < 3; i++)
        if (candidate[i] && count < max)
            folder[count++] = candidate[i];
        else
            free(candidate[i]);
    return count;
}

/* The robots in the searched folders; suggestions for a mistyped name come from this list. Free it
 * with names_free. */
typedef struct {
    char *name[64];
    const char *list[65]; /* the same names, terminated by NULL */
    size_t count;
} names_t;

static void names_add(names_t *names, const char *folder) {
    DIR *open = opendir(folder);
    for (const struct dirent *e; open && (e = readdir(open)) && names->count < 64;) {
        const char *dot = strrchr(e->d_name, '.');
        if (!dot || dot == e->d_name || (strcmp(dot, ".yaml") != 0 && strcmp(dot, ".urdf") != 0))
            continue;
        char *name = strndup(e->d_name, (size_t)(dot - e->d_name));
        if (name)
            names->list[names->count] = names->name[names->count] = name, names->count++;
    }
    if (open)
        closedir(open);
}

static void names_free(names_t *names) {
    for (size_t i = 0; i < names->count; i++)
        free(names->name[i]);
}

static int load_named(const char *what, const robot_options_t *options, robot_t *out,
                      messages_t *messages) {
    static const char *const endings[] = {".yaml", ".yml", ".urdf"};
    char *folder[3];
    const size_t folders = robot_folders(folder, 3);
    char *found = NULL, where[512] = "";
    names_t names = {0};
    for (size_t i = 0; i < folders; i++) {
        names_add(&names, folder[i]);
        for (size_t k = 0; k < 3 && !found; k++) {
            char name[300];
            snprintf(name, sizeof name, "%.280s%s", what, endings[k]);
            char *path = join(folder[i], name);
            if (path && access(path, F_OK) == 0)
                found = path;
            else
                free(path);
        }
        size_t used = strlen(where);
        snprintf(where + used, sizeof where - used, "%s%.150s", i ? ", " : "", folder[i]);
        free(folder[i]);
    }
    char text[700],
        cure[200] =
            "give the path of a robot file or URDF, or set APPELL_ROBOTS to a folder of robots";
    const char *near = messages_nearest(what, names.list);
    if (near)
        snprintf(cure, sizeof cure, "did you mean %.60s?", near);
    names_free(&names);
    if (found) {
        int status = load_path(found, options, out, messages);
        free(found);
        return status;
    }
    snprintf(text, sizeof text, "there is no file of this name, and no robot of this name in %s",
             where);
    return fail(messages, MESSAGE_FILE, what, cure, text);
}

int robot_load(const char *what, const robot_options_t *options, robot_t *out,
               messages_t *messages) {
    memset(out, 0, sizeof *out);
    struct stat about;
    const bool plain = *what && !strchr(what, '/') && !strchr(what, '.');
    if (plain && (stat(what, &about) != 0 || S_ISDIR(about.st_mode)))
        return load_named(what, options, out, messages);
    return load_path(what, options, out, messages);
}
