/* check: prints what the readers and the import doctor report about an arm. */
#include <string.h>

#include "tools/args/arm.h"
#include "tools/image/robot_image.h"
#include "tools/cmd/commands.h"
#include "tools/cli/json.h"
#include "tools/cli/out.h"
#include "tools/cli/diagnostics.h"

/* `read` is true if the file gave an arm that the doctor could check. */
static void print_json(const messages_t *messages, bool read) {
    json_begin(NULL);
    json_bool("complete", read);
    json_integer("errors", (long)messages->errors);
    json_integer("warnings", (long)messages->warnings);
    json_list("messages");
    for (size_t i = 0; i < messages->count; i++) {
        const message_t *m = &messages->item[i];
        json_begin(NULL);
        json_string("severity", messages_severity_name(m->severity));
        json_string("code", messages_code_name(m->code));
        json_integer("number", m->code);
        json_string("file", m->file);
        json_integer("line", (long)m->line);
        json_string("subject", m->subject);
        json_string("text", m->text);
        json_string("cure", m->cure);
        json_end();
    }
    json_list_end();
    json_end();
}

static void print_text(const messages_t *messages, bool read, bool quiet) {
    char text[2048];
    for (size_t i = 0; i < messages->count; i++) {
        const message_t *m = &messages->item[i];
        /* --quiet omits notes only, because warnings are part of the answer */
        if (quiet && m->severity == MESSAGE_NOTE)
            continue;
        messages_format(m, text, sizeof text);
        out_format("%s\n", text);
    }
    if (messages->dropped > 0)
        out_format("and %zu more\n", messages->dropped);
    out_format("%zu error%s, %zu warning%s%s\n", messages->errors, messages->errors == 1 ? "" : "s",
               messages->warnings, messages->warnings == 1 ? "" : "s",
               read ? ""
                    : "; masses, inertias and limits are checked once these errors are corrected");
}

/* True if the file cannot be found or read: then the exit code is EXIT_BAD. For a file that was
 * read and has errors it is EXIT_NO. */
static bool unreadable(const messages_t *messages) {
    for (size_t i = 0; i < messages->count; i++)
        if (messages->item[i].severity == MESSAGE_ERROR && messages->item[i].code == MESSAGE_FILE)
            return true;
    return false;
}

int cmd_check(const request_t *request) {
    messages_t messages = MESSAGES_INIT;
    int status = EXIT_BAD;
    robot_t *robot = arm_load(request, &messages);
    if (robot && robot_check(robot, &messages) == 0)
        (void)robot_image_drives(robot, &messages);
    if (!robot && messages.errors == 0) {
        status = EXIT_BAD; /* an option was wrong; its message is already printed */
    } else if (unreadable(&messages)) {
        diag_messages(&messages, true);
    } else {
        if (request_has(request, OPTION_JSON))
            print_json(&messages, robot != NULL);
        else
            print_text(&messages, robot != NULL, request_has(request, OPTION_QUIET));
        status = messages.errors > 0 ? EXIT_NO : EXIT_YES;
    }
    messages_free(&messages);
    arm_free(robot);
    return status;
}
