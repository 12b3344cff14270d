/* The robot image: writer and reader. */
#include "firmware/params/image.h"

#include "firmware/params/bytes.h"

#include <math.h>
#include <string.h>

typedef struct {
    uint8_t parameter; /* that has the same range, or PARAMETERS */
    span_t span;
} range_t;

typedef struct {
    const char *name;
    uint32_t count;
    range_t range;
} field_t;

#define FROM(least, most)                 ((range_t){PARAMETERS, {least, most, SPAN_ALL}})
#define WHOLE(least, most)                ((range_t){PARAMETERS, {least, most, SPAN_WHOLE}})
#define LIKE(parameter)                   ((range_t){PARAMETER_##parameter, {0, 0, 0}})
#define ANGLE                             FROM(-IMAGE_ANGLE_MOST, IMAGE_ANGLE_MOST)
#define X(name, count, unit, range, help) {#name, count, range},
static const field_t arm_fields[] = {IMAGE_ARM_FIELDS(X)};
static const field_t joint_fields[] = {IMAGE_JOINT_FIELDS(X)};
#undef X

enum {
    ARM_FIELDS = sizeof arm_fields / sizeof arm_fields[0],
    JOINT_FIELDS = sizeof joint_fields / sizeof joint_fields[0]
};

static const struct {
    const char *cause, *cure;
} errors[] = {
#define X(number, name, cause, cure) [-(number)-1] = {HELP(cause), HELP(cure)},
    IMAGE_ERROR_TABLE(X)
#undef X
};

enum { ERRORS = sizeof errors / sizeof errors[0] };

const char *image_cause(int status) {
    return status < 0 && -status <= ERRORS ? errors[-status - 1].cause : "nothing is wrong";
}

const char *image_cure(int status) {
    return status < 0 && -status <= ERRORS ? errors[-status - 1].cure : "";
}

static const uint8_t magic[4] = IMAGE_MAGIC_BYTES;

static const struct {
    uint32_t tag, most;
    const char *name;
} sections[IMAGE_SECTIONS] = {
#define X(name, tag, most, help) {tag, most, #name},
    IMAGE_SECTION_TABLE(X)
#undef X
};

static int fail(image_where_t *where, uint32_t joint, const char *field, int status) {
    if (where)
        *where = (image_where_t){.joint = joint, .field = field};
    return status;
}

static int fail_number(image_where_t *where, uint32_t joint, const char *field, const float *at,
                       span_t span) {
    if (where)
        *where = (image_where_t){joint, field, at, span};
    return IMAGE_E_NUMBER;
}

/* -------------------------------------------------------------------------------------- numbers */

static const span_t together = {1, 0, SPAN_ALL}; /* empty: see image_where_t */

static const uint32_t minus_zero = 0x80000000;

static void get_numbers(const uint8_t *bytes, uint32_t count, float *out) {
    for (; count > 0; count--, bytes += 4, out++)
        *out = get_f32(bytes);
}

static void put_numbers(uint8_t *bytes, uint32_t count, const float *in) {
    for (; count > 0; count--, bytes += 4, in++)
        put_f32(bytes, *in == 0 ? 0 : *in);
}

static int check_fields(const field_t *field, uint32_t count, uint32_t joint, const float *value,
                        image_where_t *where) {
    for (; count > 0; count--, field++) {
        const span_t span = field->range.parameter < PARAMETERS
                                ? parameter_span(field->range.parameter)
                                : field->range.span;
        for (uint32_t i = 0; i < field->count; i++, value++)
            if (!span_contains(span, *value))
                return fail_number(where, joint, field->name, value, span);
    }
    return IMAGE_OK;
}

/* Factorises the tensor, with the allowed error on its diagonal: then all pivots are positive. */
bool image_inertia_possible(const double inertia[6]) {
    double size = 0;
    for (int i = 0; i < 6; i++)
        size = fmax(size, fabs(inertia[i]));
    if (size == 0)
        return true;
    const double allowed = 1e-6 * size;
    const double xx = inertia[0] + allowed, xy = inertia[3], xz = inertia[5];
    const double yy = inertia[1] + allowed - xy * xy / xx, yz = inertia[4] - xy * xz / xx;
    return xx > 0 && yy > 0 && inertia[2] + allowed - xz * xz / xx - yz * yz / yy > 0;
}

static int check_inertia(const float six[6], uint32_t joint, const char *field,
                         image_where_t *where) {
    const double inertia[6] = {(double)six[0], (double)six[1], (double)six[2],
                               (double)six[3], (double)six[4], (double)six[5]};
    return image_inertia_possible(inertia) ? IMAGE_OK
                                           : fail_number(where, joint, field, six, together);
}

static int check_joint(const image_joint_t *j, uint32_t i, image_where_t *where) {
    const int status =
        check_fields(joint_fields, JOINT_FIELDS, i, (const float *)j + IMAGE_JOINT_FIRST, where);
    if (status != IMAGE_OK)
        return status;
    if (!span_ordered(j->position[0], j->position[1]))
        return fail_number(where, i, "position", j->position, together);
    for (int k = 0; k < 2; k++) /* friction acts against the motion */
        if (k == 0 ? j->coulomb[k] > 0 : j->coulomb[k] < 0)
            return fail_number(where, i, "coulomb", &j->coulomb[k], together);
    return check_inertia(j->inertia, i, "inertia", where);
}

int image_check(const image_t *image, image_where_t *where) {
    const image_joint_t *first = &image->joint[0];
    int status =
        check_fields(arm_fields, ARM_FIELDS, IMAGE_NO_JOINT, (const float *)&image->arm, where);
    if (status == IMAGE_OK)
        status =
            check_inertia(image->arm.payload_inertia, IMAGE_NO_JOINT, "payload_inertia", where);
    for (uint32_t i = 0; i < image->n && status == IMAGE_OK; i++) {
        const span_t span = parameter_span(PARAMETER_home_position);
        status = check_joint(&image->joint[i], i, where);
        if (status == IMAGE_OK && !span_contains(span, image->home_position[i]))
            status = fail_number(where, i, "home_position", &image->home_position[i], span);
    }
    /* The base frame lies on the first axis (dyn/model/model.h). */
    if (status == IMAGE_OK &&
        (first->alpha[0] != 0 || first->a[0] != 0 || first->theta[0] != 0 || first->d[0] != 0))
        status = fail_number(where, 0, "alpha, a, theta, d", first->a, together);
    return status;
}

/* ---------------------------------------------------------------------------------------- names */

static uint32_t continued(uint8_t c) {
    return (c & 0xc0) == 0x80;
}

/* Returns the length of the character at s, a zero-terminated text; 0 if it is not UTF-8 or is a
 * control code. */
static uint32_t character(const uint8_t *s) {
    if (s[0] >= 0x20 && s[0] < 0x7f)
        return 1;
    if (s[0] >= 0xc2 && s[0] < 0xe0)
        return continued(s[1]) ? 2 : 0;
    if ((s[0] & 0xf0) == 0xe0) {
        if (!continued(s[1]) || !continued(s[2]))
            return 0;
        const uint32_t code = (s[0] & 15u) << 6 | (s[1] & 63u); /* code without its last six bits */
        return code >= 0x20 && (code < 0x360 || code >= 0x380) ? 3 : 0;
    }
    if ((s[0] & 0xf8) == 0xf0) {
        if (!continued(s[1]) || !continued(s[2]) || !continued(s[3]))
            return 0;
        const uint32_t code = (s[0] & 7u) << 6 | (s[1] & 63u); /* code without its last twelve
                                                                * bits */
        return code >= 0x10 && code < 0x110 ? 4 : 0;
    }
    return 0;
}

/* Returns the size of a name in bytes, with its final zero; 0 if the name is empty, does not end
 * within `room` and IMAGE_NAME_MAX bytes, or is not UTF-8 text. */
static uint32_t name_size(const char *name, size_t room) {
    const uint8_t *s = (const uint8_t *)name;
    uint32_t size = 0;
    while (size < room && size < IMAGE_NAME_MAX && s[size])
        size++;
    if (size == 0 || size == room || size == IMAGE_NAME_MAX)
        return 0;
    for (uint32_t i = 0; i < size;) {
        const uint32_t step = character(s + i);
        if (step == 0)
            return 0;
        i += step;
    }
    return size + 1;
}

/* Reads the names; *taken is their size, padded to a whole word. */
static int get_names(const uint8_t *bytes, size_t size, image_t *out, size_t *taken,
                     image_where_t *where) {
    const size_t all = size;
    for (uint32_t i = 0; i <= out->n; i++) {
        const char *name = (const char *)bytes;
        const uint32_t used = name_size(name, size);
        if (used == 0)
            return fail(where, i > 0 ? i - 1 : IMAGE_NO_JOINT, "name", IMAGE_E_NAMES);
        if (i == 0)
            out->name = name;
        else
            out->joint_name[i - 1] = name;
        bytes += used;
        size -= used;
    }
    for (; size % 4 != 0; size--)
        if (*bytes++ != 0)
            return fail(where, IMAGE_NO_JOINT, NULL, IMAGE_E_LENGTH);
    *taken = all - size;
    return IMAGE_OK;
}

/* -------------------------------------------------------------------------------------- reading */

uint32_t image_length(const uint8_t *bytes, size_t size) {
    if (size < IMAGE_HEAD_SIZE || memcmp(bytes, magic, sizeof magic) != 0 ||
        get_u32(bytes + 8) != IMAGE_VERSION)
        return 0;
    return get_u32(bytes + 12);
}

/* Reads the sections after the names. `size` is a multiple of 4. */
static int get_sections(const uint8_t *bytes, size_t size, image_t *out, image_where_t *where) {
    uint32_t next = 0;
    while (size > 0) {
        const uint32_t tag = size >= 8 ? get_u32(bytes) : 0;
        while (next < IMAGE_SECTIONS && sections[next].tag != tag)
            next++;
        if (next == IMAGE_SECTIONS)
            return fail(where, IMAGE_NO_JOINT, "tag of a section", IMAGE_E_CODE);
        const uint32_t length = get_u32(bytes + 4);
        if (length % 4 != 0 || length > size - 8)
            return fail(where, IMAGE_NO_JOINT, sections[next].name, IMAGE_E_LENGTH);
        out->section[next++] = (image_section_t){bytes + 8, length};
        bytes += 8 + length;
        size -= 8 + length;
    }
    return IMAGE_OK;
}

/* Reads from the section HOME, if there is one, how the joints find their positions. */
static int get_home(image_t *out, image_where_t *where) {
    const image_section_t *section = &out->section[IMAGE_SECTION_HOME];
    bool any = false;
    memset(out->home_how, 0, sizeof out->home_how);
    memset(out->home_position, 0, sizeof out->home_position);
    if (!section->bytes)
        return IMAGE_OK;
    if (section->size != out->n * IMAGE_HOME_SIZE)
        return fail(where, IMAGE_NO_JOINT, "HOME", IMAGE_E_LENGTH);
    for (uint32_t i = 0; i < out->n; i++) {
        const uint8_t *at = section->bytes + i * IMAGE_HOME_SIZE;
        const int32_t how = (int32_t)get_u32(at);
        if (how < -IMAGE_HOME_MOST || how > IMAGE_HOME_MOST)
            return fail(where, i, "code of homing", IMAGE_E_CODE);
        out->home_position[i] = get_f32(at + 4);
        if (get_u32(at + 4) == minus_zero || (how == 0 && out->home_position[i] != 0))
            return fail_number(where, i, "home_position", &out->home_position[i], together);
        out->home_how[i] = (int8_t)how;
        any = any || how != 0;
    }
    return any ? IMAGE_OK : fail(where, IMAGE_NO_JOINT, "HOME", IMAGE_E_CODE);
}

image_thermal_t image_thermal(const image_t *image, uint32_t joint) {
    const uint8_t *at = image->section[IMAGE_SECTION_THRM].bytes;
    image_thermal_t out = {0, 0};
    if (at)
        out = (image_thermal_t){get_f32(at + joint * IMAGE_THERMAL_SIZE),
                                get_f32(at + joint * IMAGE_THERMAL_SIZE + 4)};
    return out;
}

/* Checks the section THRM, if there is one. */
static int check_thermal(const image_t *image, image_where_t *where) {
    const image_section_t *section = &image->section[IMAGE_SECTION_THRM];
    const span_t span = {0, IMAGE_THERMAL_MOST, SPAN_ALL};
    float most = 0;
    if (!section->bytes)
        return IMAGE_OK;
    if (section->size != image->n * IMAGE_THERMAL_SIZE)
        return fail(where, IMAGE_NO_JOINT, "THRM", IMAGE_E_LENGTH);
    for (uint32_t i = 0; i < 2 * image->n; i++) {
        const float number = get_f32(section->bytes + 4 * i);
        if (!span_contains(span, number) || get_u32(section->bytes + 4 * i) == minus_zero)
            return fail(where, i / 2, "thermal", IMAGE_E_NUMBER);
        most = number > most ? number : most;
    }
    return most > 0 ? IMAGE_OK : fail(where, IMAGE_NO_JOINT, "THRM", IMAGE_E_CODE);
}

static int put_home(const image_t *image, uint8_t *bytes, size_t room, size_t *used,
                    image_where_t *where) {
    bool any = false;
    for (uint32_t i = 0; i < image->n; i++)
        any = any || image->home_how[i] != 0;
    if (!any)
        return IMAGE_OK;
    const uint32_t size = image->n * IMAGE_HOME_SIZE;
    if (room - *used < 8 || room - *used - 8 < size)
        return fail(where, IMAGE_NO_JOINT, "HOME", IMAGE_E_ROOM);
    put_u32(bytes + *used, sections[IMAGE_SECTION_HOME].tag);
    put_u32(bytes + *used + 4, size);
    *used += 8;
    for (uint32_t i = 0; i < image->n; i++, *used += IMAGE_HOME_SIZE) {
        put_u32(bytes + *used, (uint32_t)image->home_how[i]);
        put_numbers(bytes + *used + 4, 1, &image->home_position[i]);
    }
    return IMAGE_OK;
}

/* Returns the checksum that joins the constants for fixed point to the numbers before the names. */
static uint32_t q31_crc(const uint8_t *bytes, uint32_t names, const image_section_t *q31) {
    uint32_t crc = crc32_add(0, bytes + 16, names - 16);
    crc = crc32_add(crc, q31->bytes, 4);
    return crc32_add(crc, q31->bytes + IMAGE_Q31_HEAD, q31->size - IMAGE_Q31_HEAD);
}

static int check_constants(const uint8_t *bytes, uint32_t names, const image_t *image,
                           image_where_t *where) {
    const image_section_t *q31 = &image->section[IMAGE_SECTION_Q31A];
    if (q31->bytes && q31->size < IMAGE_Q31_HEAD)
        return fail(where, IMAGE_NO_JOINT, "Q31A", IMAGE_E_LENGTH);
    if (q31->bytes && get_u32(q31->bytes + 4) != q31_crc(bytes, names, q31))
        return fail(where, IMAGE_NO_JOINT, "Q31A", IMAGE_E_CONSTANTS);
    return IMAGE_OK;
}

static int get_joint(const uint8_t *bytes, bool proved, image_joint_t *out, const char **field) {
    out->type = get_u32(bytes);
    out->has = get_u32(bytes + 4);
    out->q31_mass = (int32_t)get_u32(bytes + 8);
    *field = "type";
    if (out->type > DYN_PRISMATIC || out->has & ~(uint32_t)IMAGE_JOINT_HAS_ALL)
        return IMAGE_E_CODE;
    *field = "q31 unit of mass";
    if (proved ? out->q31_mass < -128 || out->q31_mass > 127 : out->q31_mass != 0)
        return IMAGE_E_CODE;
    get_numbers(bytes + 12, IMAGE_JOINT_NUMBERS, (float *)out + IMAGE_JOINT_FIRST);
    return IMAGE_OK;
}

static int get_head(const uint8_t *bytes, image_t *out, image_where_t *where) {
    const uint32_t units = get_u32(bytes + 28);
    out->n = get_u32(bytes + 16);
    out->has = get_u32(bytes + 20);
    out->feedback = get_u32(bytes + 24);
    out->proved = units & 1;
    out->q31_length = (int8_t)(uint8_t)(units >> 8);
    out->q31_time = (int8_t)(uint8_t)(units >> 16);
    if (out->n < 1 || out->n > DYN_MAX_JOINTS)
        return fail(where, IMAGE_NO_JOINT, "number of joints", IMAGE_E_JOINTS);
    if (out->has & ~(uint32_t)IMAGE_HAS_ALL || out->feedback >= FEEDBACKS)
        return fail(where, IMAGE_NO_JOINT, "feedback", IMAGE_E_CODE);
    if ((out->has & (IMAGE_BRAKES | IMAGE_HAS_BRAKES)) == IMAGE_BRAKES)
        return fail(where, IMAGE_NO_JOINT, "brakes", IMAGE_E_CODE);
    if (units & 0xff0000fe || (!out->proved && units != 0))
        return fail(where, IMAGE_NO_JOINT, "q31 units", IMAGE_E_CODE);
    get_numbers(bytes + 32, sizeof out->arm / 4, (float *)&out->arm);
    return IMAGE_OK;
}

int image_read(const uint8_t *bytes, size_t size, image_t *out, image_where_t *where) {
    fail(where, IMAGE_NO_JOINT, NULL, IMAGE_OK);
    if (size < 4 || memcmp(bytes, magic, sizeof magic) != 0)
        return IMAGE_E_MAGIC;
    if (size < IMAGE_HEAD_SIZE)
        return IMAGE_E_SHORT;
    if (get_u32(bytes + 8) != IMAGE_VERSION)
        return IMAGE_E_VERSION;
    const uint32_t length = get_u32(bytes + 12);
    if (length > size)
        return IMAGE_E_SHORT;
    if (length < IMAGE_HEAD_SIZE || length % 4 != 0)
        return IMAGE_E_LENGTH;
    if (get_u32(bytes + 4) != crc32_add(0, bytes + 8, length - 8))
        return IMAGE_E_CRC;
    int status = get_head(bytes, out, where);
    if (status != IMAGE_OK)
        return status;
    const uint32_t names = IMAGE_HEAD_SIZE + out->n * IMAGE_JOINT_SIZE;
    if (length < names)
        return fail(where, IMAGE_NO_JOINT, NULL, IMAGE_E_LENGTH);
    for (uint32_t i = 0; i < out->n; i++) {
        const uint8_t *at = bytes + IMAGE_HEAD_SIZE + i * IMAGE_JOINT_SIZE;
        const char *field;
        status = get_joint(at, out->proved, &out->joint[i], &field);
        if (status != IMAGE_OK)
            return fail(where, i, field, status);
    }
    /* The layout does not allow -0: equal robots would have different images. */
    for (uint32_t at = 32; at < names; at += 4)
        if (get_u32(bytes + at) == minus_zero)
            return fail_number(where,
                               at < IMAGE_HEAD_SIZE ? IMAGE_NO_JOINT
                                                    : (at - IMAGE_HEAD_SIZE) / IMAGE_JOINT_SIZE,
                               "-0", NULL, together);
    size_t taken = 0;
    status = get_names(bytes + names, length - names, out, &taken, where);
    if (status != IMAGE_OK)
        return status;
    memset(out->section, 0, sizeof out->section);
    status = get_sections(bytes + names + taken, length - names - taken, out, where);
    if (status == IMAGE_OK)
        status = get_home(out, where);
    if (status == IMAGE_OK)
        status = check_thermal(out, where);
    if (status == IMAGE_OK)
        status = image_check(out, where);
    if (status == IMAGE_OK)
        status = check_constants(bytes, names, out, where);
    /* Compares the checksum a second time: a supply glitch that skips one instruction must not let
     * a damaged image in (test/system/test_skips.py). */
    if (status == IMAGE_OK && get_u32(bytes + 4) != crc32_add(0, bytes + 8, length - 8))
        status = fail(where, IMAGE_NO_JOINT, NULL, IMAGE_E_CRC);
    return status;
}

/* -------------------------------------------------------------------------------------- writing */

static int put_names(const image_t *image, uint8_t *bytes, size_t room, size_t *used,
                     image_where_t *where) {
    for (uint32_t i = 0; i <= image->n; i++) {
        const uint32_t joint = i > 0 ? i - 1 : IMAGE_NO_JOINT;
        const char *name = i > 0 ? image->joint_name[i - 1] : image->name;
        const uint32_t size = name_size(name, IMAGE_NAME_MAX);
        if (size == 0)
            return fail(where, joint, "name", IMAGE_E_NAMES);
        if (room - *used < size + 3)
            return fail(where, joint, "name", IMAGE_E_ROOM);
        memcpy(bytes + *used, name, size);
        *used += size;
    }
    while (*used % 4 != 0)
        bytes[(*used)++] = 0;
    return IMAGE_OK;
}

static int put_sections(const image_t *image, uint8_t *bytes, size_t room, size_t *used,
                        image_where_t *where) {
    for (uint32_t i = 0; i < IMAGE_SECTIONS; i++) {
        const image_section_t *section = &image->section[i];
        const int home =
            i == IMAGE_SECTION_HOME ? put_home(image, bytes, room, used, where) : IMAGE_OK;
        if (home != IMAGE_OK)
            return home;
        if (!section->bytes || i == IMAGE_SECTION_HOME)
            continue;
        const bool q31 = i == IMAGE_SECTION_Q31A;
        if (section->size % 4 != 0 || (q31 && section->size < IMAGE_Q31_HEAD))
            return fail(where, IMAGE_NO_JOINT, sections[i].name, IMAGE_E_LENGTH);
        if (room - *used < 8 || room - *used - 8 < section->size)
            return fail(where, IMAGE_NO_JOINT, sections[i].name, IMAGE_E_ROOM);
        put_u32(bytes + *used, sections[i].tag);
        put_u32(bytes + *used + 4, section->size);
        memcpy(bytes + *used + 8, section->bytes, section->size);
        if (q31)
            put_u32(bytes + *used + 12,
                    q31_crc(bytes, IMAGE_HEAD_SIZE + image->n * IMAGE_JOINT_SIZE, section));
        *used += 8 + section->size;
    }
    return IMAGE_OK;
}

static void put_head(const image_t *image, uint8_t *bytes) {
    memcpy(bytes, magic, sizeof magic);
    put_u32(bytes + 8, IMAGE_VERSION);
    put_u32(bytes + 16, image->n);
    put_u32(bytes + 20, image->has);
    put_u32(bytes + 24, image->feedback);
    const uint32_t units =
        1u | (uint32_t)(uint8_t)image->q31_length << 8 | (uint32_t)(uint8_t)image->q31_time << 16;
    put_u32(bytes + 28, image->proved ? units : 0);
}

int image_write(const image_t *image, uint8_t *bytes, size_t room, size_t *size,
                image_where_t *where) {
    fail(where, IMAGE_NO_JOINT, NULL, IMAGE_OK);
    if (image->n < 1 || image->n > DYN_MAX_JOINTS)
        return fail(where, IMAGE_NO_JOINT, "number of joints", IMAGE_E_JOINTS);
    size_t used = IMAGE_HEAD_SIZE + image->n * IMAGE_JOINT_SIZE;
    if (room < used)
        return IMAGE_E_ROOM;
    int status = image_check(image, where);
    if (status != IMAGE_OK)
        return status;
    put_head(image, bytes);
    put_numbers(bytes + 32, sizeof image->arm / 4, (const float *)&image->arm);
    for (uint32_t i = 0; i < image->n; i++) {
        const image_joint_t *joint = &image->joint[i];
        uint8_t *at = bytes + IMAGE_HEAD_SIZE + i * IMAGE_JOINT_SIZE;
        put_u32(at, joint->type);
        put_u32(at + 4, joint->has);
        put_u32(at + 8, image->proved ? (uint32_t)joint->q31_mass : 0);
        put_numbers(at + 12, IMAGE_JOINT_NUMBERS, (const float *)joint + IMAGE_JOINT_FIRST);
    }
    status = put_names(image, bytes, room, &used, where);
    if (status == IMAGE_OK)
        status = put_sections(image, bytes, room, &used, where);
    if (status != IMAGE_OK)
        return status;
    put_u32(bytes + 12, (uint32_t)used);
    put_u32(bytes + 4, crc32_add(0, bytes + 8, used - 8));
    *size = used;
    return IMAGE_OK;
}
