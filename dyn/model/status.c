/* The texts of dyn/model/status.h. */
#include "dyn/model/status.h"

#include <stddef.h>

static const struct {
    int number;
    const char *name, *cause, *cure;
} table[] = {
#define ROW(name, number, cause, cure) {number, #name, cause, cure},
    DYN_STATUS_TABLE(ROW)
#undef ROW
};

static size_t row_of(int status) {
    size_t i = 0;
    while (i < sizeof table / sizeof table[0] && table[i].number != status)
        i++;
    return i;
}

const char *dyn_status_name(int status) {
    const size_t i = row_of(status);
    return i < sizeof table / sizeof table[0] ? table[i].name : "unknown";
}

const char *dyn_status_cause(int status) {
    const size_t i = row_of(status);
    return i < sizeof table / sizeof table[0] ? table[i].cause
                                              : "a status that is not in the table";
}

const char *dyn_status_cure(int status) {
    const size_t i = row_of(status);
    return i < sizeof table / sizeof table[0] ? table[i].cure : "this is a bug: please report it";
}
