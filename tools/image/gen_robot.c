/* Makes the graphs of a robot (tools/image/gen_robot.h). */
#include "tools/image/gen_robot.h"

#include <stdlib.h>
#include <string.h>

#include "firmware/params/image.h"
#include "tools/image/robot_image.h"
#include "tools/cli/diagnostics.h"
#include "tools/proof/units.h"

/* Takes the hash and the proved units from the image that a board would receive. */
static void check_image(const robot_t *robot, bool fixed_point, gen_robot_t *made, bool *proved) {
    messages_t messages = MESSAGES_INIT;
    size_t size = 0;
    uint8_t *bytes = robot_image_make(robot, &size, &messages);
    image_t *image = calloc(1, sizeof *image);
    *proved = false;
    if (bytes && image && image_read(bytes, size, image, NULL) == IMAGE_OK) {
        made->hash = image_model_hash(image, fixed_point);
        made->hashed = true;
        *proved = image_units(image, &made->units);
    }
    free(image);
    free(bytes);
    messages_free(&messages);
}

static int report_unproved(const robot_t *robot) {
    char missing[80];
    for (uint32_t i = 0; i < robot->n; i++) {
        units_missing(&robot->model, i, missing, sizeof missing);
        if (*missing)
            return diag_error(robot->file,
                              "give them under `limits:` in a robot file, or generate f32",
                              "joint %s: the proof that q31 cannot overflow needs limits of %s",
                              robot->joint[i].name, missing);
    }
    return diag_error(robot->file, "tighten the limits, or generate f32",
                      "q31 can overflow within the limits of this arm, whatever the units");
}

static int report_no_closed_form(const robot_t *robot, const gen_options_t *options) {
    static const char cure[] = "leave out --strategy: the default strategy has no such limit";
    if (options->keep & GEN_KEEP_PAYLOAD)
        return diag_error(
            robot->file, cure,
            "--strategy uicker-kahn: the closed form cannot keep the payload as an argument");
    if (robot->n > FORM_UICKER_KAHN_MAX)
        return diag_error(
            robot->file, cure,
            "--strategy uicker-kahn: the closed form exists for up to %d joints; this arm has %u",
            FORM_UICKER_KAHN_MAX, (unsigned)robot->n);
    return diag_error(robot->file, cure,
                      "--strategy uicker-kahn: the closed form of this arm has too many monomials");
}

gen_robot_t *gen_robot_make(const robot_t *robot, const gen_options_t *options, bool fixed_point) {
    gen_robot_t *made = calloc(1, sizeof *made);
    bool proved;
    if (!made) {
        diag_no_memory();
        return NULL;
    }
    check_image(robot, fixed_point, made, &proved);
    if (fixed_point && !proved) {
        report_unproved(robot);
        gen_robot_free(made);
        return NULL;
    }
    /* Ranges, bounds and self-test must use the same acceleration limits as the proof of the robot
     * image. */
    dyn_model_t model = robot->model;
    for (uint32_t i = 0; fixed_point && i < model.n; i++)
        model.joint[i].drive.limits.acceleration = units_acceleration(&model.joint[i].drive.limits);
    made->gen = gen_make(&model, options);
    if (!made->gen) {
        diag_no_memory();
        gen_robot_free(made);
        return NULL;
    }
    if (made->gen->no_closed_form) {
        report_no_closed_form(robot, options);
        gen_robot_free(made);
        return NULL;
    }
    for (int k = 0; fixed_point && k < GEN_KERNELS; k++)
        if (made->gen->graph[k])
            made->fixed[k] = gen_fixed(made->gen, (gen_kernel_t)k, &made->units);
    for (int k = 0; k < GEN_KERNELS; k++)
        if (made->fixed[k] && fixed_lost(made->fixed[k])) {
            fixed_free(made->fixed[k]);
            made->fixed[k] = NULL;
            gen_lose(made->gen, (gen_kernel_t)k);
            diag_note(
                robot->file, "%s is not generated in q31: %s", gen_kernel_info[k].name,
                k == GEN_FD
                    ? "the rotor inertias are too small to keep every pivot of the inertia "
                      "matrix above its rounding error, so no bit of an acceleration is certain"
                    : "the error bound of a result reaches half of the range of its number format");
        }
    return made;
}

void gen_robot_free(gen_robot_t *made) {
    if (!made)
        return;
    gen_free(made->gen);
    for (int k = 0; k < GEN_KERNELS; k++)
        fixed_free(made->fixed[k]);
    free(made);
}
