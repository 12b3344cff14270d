/* Texts for the reasons why a board refuses a request: reason_cause and reason_cure of
 * tools/link/client.h. */
#include "firmware/app/errors.h"
#include "firmware/params/image.h"
#include "firmware/link/server.h"
#include "tools/link/client.h"

static const struct {
    int status;
    const char *cause, *cure;
} store_text[] = {
#define X(number, name, cause, cure) {number, cause, cure},
    STORE_ERROR_TABLE(X)
#undef X
};

static const char *text_of(int reason, bool cure) {
    if (reason > APP_E_IMAGE)
        return cure ? app_cure(reason) : app_cause(reason);
    if (reason > REASON_STORE)
        return cure ? image_cure(reason - APP_E_IMAGE) : image_cause(reason - APP_E_IMAGE);
    for (size_t i = 0; i < sizeof store_text / sizeof store_text[0]; i++)
        if (store_text[i].status == reason - REASON_STORE)
            return cure ? store_text[i].cure : store_text[i].cause;
    return cure ? "use `appell` and firmware of the same version"
                : "the board reports an error that this version of `appell` does not know";
}

const char *reason_cause(int reason) {
    return text_of(reason, false);
}

const char *reason_cure(int reason) {
    return text_of(reason, true);
}
