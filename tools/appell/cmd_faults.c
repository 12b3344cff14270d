/* faults: the table of what can go wrong; with a robot, all of it provoked on a simulated arm. */
#include <stdlib.h>
#include <sys/stat.h>

#include "firmware/core/faults.h"
#include "firmware/core/sample.h"
#include "tools/appell/arm.h"
#include "tools/appell/board.h"
#include "tools/appell/commands.h"
#include "tools/appell/json.h"
#include "tools/appell/out.h"
#include "tools/appell/say.h"
#include "tools/run/faults.h"

static void table_text(void) {
    for (unsigned f = 1; f < APP_FAULTS; f++)
        out_format("%2u  %-12s stop: at best %s\n    %s\n    cure: %s\n", f, app_fault_name(f),
                   app_stop_name(app_fault_stop(f)), app_fault_cause(f), app_fault_cure(f));
    out_text("\nstops, the best first\n");
    for (unsigned s = 0; s < APP_STOPS; s++)
        out_format("    %-8s %s\n", app_stop_name(s), app_stop_does(s));
}

static void table_json(void) {
    json_begin(NULL);
    json_list("faults");
    for (unsigned f = 1; f < APP_FAULTS; f++) {
        json_begin(NULL);
        json_integer("number", (long)f);
        json_string("name", app_fault_name(f));
        json_string("unit", quantity_unit(app_fault_quantity(f), 0));
        json_string("stop", app_stop_name(app_fault_stop(f)));
        json_string("cause", app_fault_cause(f));
        json_string("cure", app_fault_cure(f));
        json_end();
    }
    json_list_end();
    json_list("stops");
    for (unsigned s = 0; s < APP_STOPS; s++) {
        json_begin(NULL);
        json_string("name", app_stop_name(s));
        json_string("does", app_stop_does(s));
        json_end();
    }
    json_list_end();
    json_end();
}

static void say_line(const char *line) {
    out_format("%s\n", line);
    out_flush();
}

static int provoke(const request_t *request, const robot_t *robot) {
    size_t size = 0;
    uint32_t done = 0;
    const char *folder = request_has(request, OPTION_OUTPUT) ? request->value[OPTION_OUTPUT] : ".";
    uint8_t *image = board_image(request, robot, &size);
    client_t *client = image ? board_open(request, DISCOVER_ALL) : NULL;
    int status = EXIT_BAD;
    (void)mkdir(folder, 0777);
    if (client) {
        const int failed = faults_provoke(client, robot, image, size, folder, say_line, &done);
        status = failed < 0 ? board_error(client) : failed > 0 ? EXIT_NO : EXIT_YES;
        out_format("%u faults as expected, %d not; rows in %s/fault-*.csv\n", (unsigned)done,
                   failed < 0 ? 1 : failed, folder);
        client_close(client);
    }
    free(image);
    return status;
}

int faults_run(const request_t *request) {
    if (request->arguments == 0) {
        if (request_has(request, OPTION_JSON))
            table_json();
        else
            table_text();
        return EXIT_YES;
    }
    robot_t *robot = arm_load_rigid(request);
    if (!robot)
        return EXIT_BAD;
    const int status = provoke(request, robot);
    arm_free(robot);
    return status;
}
