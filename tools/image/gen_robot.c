/* Makes the graphs of a robot (tools/image/gen_robot.h). */
#include "tools/image/gen_robot.h"

#include <stdlib.h>
#include <string.h>

#include "firmware/params/image.h"
#include "tools/image/robot_image.h"
#include "tools/cli/diagnostics.h"
#include "tools/gen/poly.h"
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
    if (options->keep & GEN_KEEP_PAYLOAD)
        return diag_error(
            robot->file, "leave out --strategy, or payload in --keep",
            "--strategy uicker-kahn: the closed form cannot keep the payload as an argument");
    return diag_error(
        robot->file,
        "raise --monomials, or leave out --strategy: the default strategy has no such limit",
        "--strategy uicker-kahn: the closed form of this arm has more than %d monomials, or %d "
        "times as many terms",
        (int)(options->monomials > 0 ? options->monomials : GEN_MONOMIALS), POLY_TERMS);
}

/* Code that does not compute what the general kernels do must not leave the tool. */
static int check_graphs(const robot_t *robot, gen_robot_t *made, bool fixed_point) {
    for (int k = 0; k < GEN_KERNELS; k++) {
        if (!made->gen->graph[k])
            continue;
        const gen_verdict_t verdict = gen_check(made->gen, (gen_kernel_t)k);
        if (verdict == GEN_WRONG)
            return diag_error(robot->file, "choose another --effort, and please report it",
                              "the code for %s differs from the general kernel; nothing is written",
                              gen_kernel_info[k].name);
        if (verdict == GEN_NO_NUMBER && !fixed_point) {
            gen_lose(made->gen, (gen_kernel_t)k, NULL);
            diag_note(robot->file, "%s is not generated: %s", gen_kernel_info[k].name,
                      made->gen->why[k]);
        }
    }
    return EXIT_YES;
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
    gen_options_t all = *options;
    all.units = fixed_point ? &made->units : NULL;
    made->gen = gen_make(&robot->model, &all);
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
            gen_lose(made->gen, (gen_kernel_t)k, made->fixed[k]);
            fixed_free(made->fixed[k]);
            made->fixed[k] = NULL;
            diag_note(robot->file, "%s is not generated in q31: %s", gen_kernel_info[k].name,
                      made->gen->why[k]);
        }
    if (check_graphs(robot, made, fixed_point) != EXIT_YES) {
        gen_robot_free(made);
        return NULL;
    }
    bool any = false;
    for (int k = 0; k < GEN_KERNELS; k++)
        any = any || made->gen->graph[k];
    if (any)
        return made;
    diag_error(robot->file, "generate f32",
               "no kernel of this arm can be generated in q31: the guaranteed errors fill the "
               "number formats");
    gen_robot_free(made);
    return NULL;
}

void gen_robot_free(gen_robot_t *made) {
    if (!made)
        return;
    gen_free(made->gen);
    for (int k = 0; k < GEN_KERNELS; k++)
        fixed_free(made->fixed[k]);
    free(made);
}
