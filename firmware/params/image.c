/* The robot image: writer and reader. */
#include "firmware/params/image.h"

#include "firmware/params/bytes.h"

#include <math.h>
#include <string.h>

typedef enum { KIND_FREE, KIND_ANGLE, KIND_POSITIVE, KIND_STRICT, KIND_SIGN, KIND_ZERO } kind_t;

typedef struct {
    const char *name;
    uint8_t count;
    uint8_t kind;
} field_t;

#define X(name, count, unit, kind, help) {#name, count, KIND_##kind},
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
#define X(number, name, cause, cure) [-(number)-1] = {cause, cure},
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
        *where = (image_where_t){joint, field};
    return status;
}

/* -------------------------------------------------------------------------------------- numbers */

static bool number_possible(float value, uint8_t kind) {
    if (!isfinite(value))
        return false;
    switch (kind) {
    case KIND_POSITIVE:
        return value >= 0;
    case KIND_STRICT:
        return value > 0;
    case KIND_SIGN:
        return value == 1 || value == -1;
    case KIND_ZERO:
        return value == 0;
    default:
        return true;
    }
}

/* Refuses -0, which the layout does not allow: equal robots would have different images. */
static bool get_number(const uint8_t *bytes, uint8_t kind, float *out) {
    const uint32_t word = get_u32(bytes);
    memcpy(out, &word, sizeof word);
    return word != 0x80000000 && number_possible(*out, kind);
}

static bool put_number(uint8_t *bytes, uint8_t kind, float value) {
    uint32_t word;
    value = value == 0 ? 0 : value;
    memcpy(&word, &value, sizeof word);
    put_u32(bytes, word == 0x80000000 ? 0 : word);
    return number_possible(value, kind);
}

/* Returns NULL, or the name of the field with an impossible number. */
static const char *get_fields(const uint8_t *bytes, const field_t *field, uint32_t count,
                              float *out) {
    for (; count > 0; count--, field++)
        for (uint32_t i = 0; i < field->count; i++, bytes += 4, out++)
            if (!get_number(bytes, field->kind, out))
                return field->name;
    return NULL;
}

static const char *put_fields(uint8_t *bytes, const field_t *field, uint32_t count,
                              const float *in) {
    for (; count > 0; count--, field++)
        for (uint32_t i = 0; i < field->count; i++, bytes += 4, in++)
            if (!put_number(bytes, field->kind, *in))
                return field->name;
    return NULL;
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
        if (!get_number(at + 4, KIND_FREE, &out->home_position[i]) ||
            (how == 0 && out->home_position[i] != 0))
            return fail(where, i, "home position", IMAGE_E_NUMBER);
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
    float number, most = 0;
    if (!section->bytes)
        return IMAGE_OK;
    if (section->size != image->n * IMAGE_THERMAL_SIZE)
        return fail(where, IMAGE_NO_JOINT, "THRM", IMAGE_E_LENGTH);
    for (uint32_t i = 0; i < 2 * image->n; i++) {
        if (!get_number(section->bytes + 4 * i, KIND_POSITIVE, &number))
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
        if (!put_number(bytes + *used + 4, KIND_FREE, image->home_position[i]))
            return fail(where, i, "home position", IMAGE_E_NUMBER);
    }
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
    *field = get_fields(bytes + 12, joint_fields, JOINT_FIELDS, (float *)out + IMAGE_JOINT_FIRST);
    return *field ? IMAGE_E_NUMBER : IMAGE_OK;
}

/* The first joint's frame must be zero, because the base frame lies on the first axis
 * (dyn/model/model.h). */
static bool first_frame_zero(const image_joint_t *joint) {
    const image_joint_t *f = joint;
    return f->alpha[0] == 0 && f->a[0] == 0 && f->theta[0] == 0 && f->d[0] == 0;
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
    const char *field = get_fields(bytes + 32, arm_fields, ARM_FIELDS, (float *)&out->arm);
    if (field)
        return fail(where, IMAGE_NO_JOINT, field, IMAGE_E_NUMBER);
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
    if (!first_frame_zero(&out->joint[0]))
        return fail(where, 0, "alpha, a, theta, d", IMAGE_E_NUMBER);
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
        if (section->size % 4 != 0)
            return fail(where, IMAGE_NO_JOINT, sections[i].name, IMAGE_E_LENGTH);
        if (room - *used < 8 || room - *used - 8 < section->size)
            return fail(where, IMAGE_NO_JOINT, sections[i].name, IMAGE_E_ROOM);
        put_u32(bytes + *used, sections[i].tag);
        put_u32(bytes + *used + 4, section->size);
        memcpy(bytes + *used + 8, section->bytes, section->size);
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
    put_head(image, bytes);
    const char *field = put_fields(bytes + 32, arm_fields, ARM_FIELDS, (const float *)&image->arm);
    if (field)
        return fail(where, IMAGE_NO_JOINT, field, IMAGE_E_NUMBER);
    if (!first_frame_zero(&image->joint[0]))
        return fail(where, 0, "alpha, a, theta, d", IMAGE_E_NUMBER);
    for (uint32_t i = 0; i < image->n; i++) {
        const image_joint_t *joint = &image->joint[i];
        uint8_t *at = bytes + IMAGE_HEAD_SIZE + i * IMAGE_JOINT_SIZE;
        put_u32(at, joint->type);
        put_u32(at + 4, joint->has);
        put_u32(at + 8, image->proved ? (uint32_t)joint->q31_mass : 0);
        field = put_fields(at + 12, joint_fields, JOINT_FIELDS,
                           (const float *)joint + IMAGE_JOINT_FIRST);
        if (field)
            return fail(where, i, field, IMAGE_E_NUMBER);
    }
    int status = put_names(image, bytes, room, &used, where);
    if (status == IMAGE_OK)
        status = put_sections(image, bytes, room, &used, where);
    if (status != IMAGE_OK)
        return status;
    put_u32(bytes + 12, (uint32_t)used);
    put_u32(bytes + 4, crc32_add(0, bytes + 8, used - 8));
    *size = used;
    return IMAGE_OK;
}
