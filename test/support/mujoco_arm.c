/* Implements test/support/mujoco_arm.h. */
#include "test/support/mujoco_arm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/harness.h"
#include "test/support/robot_help.h"

/* Writes the placement of joint i and opens its body. Inertias are set after the compile, because the
 * compiler of MuJoCo refuses those that no rigid body has: the measured ones of the PUMA 560 break the
 * triangle inequality. */
static void put_body(help_text_t *text, const dyn_model_t *model, uint32_t i, double margin) {
    const dyn_model_joint_t *joint = &model->joint[i];
    const dyn_pose_t pose = dyn_pose_joint(joint, 0);
    double matrix[9], quat[4];
    for (int k = 0; k < 9; k++)
        matrix[k] = pose.r[k / 3][k % 3];
    mju_mat2Quat(quat, matrix);
    help_put(text, "<body pos='");
    help_put_numbers(text, pose.p, 3, " ");
    help_put(text, "' quat='");
    help_put_numbers(text, quat, 4, " ");
    help_put(text,
             "'><inertial pos='1 2 3' quat='1 2 3 4' mass='1' diaginertia='2 3 4'/><joint "
             "type='%s' axis='0 0 1'",
             joint->type == DYN_PRISMATIC ? "slide" : "hinge");
    const double *range = joint->drive.limits.position;
    if (margin > 0 && range[0] < range[1])
        help_put(text, " limited='true' range='%.17g %.17g' solreflimit='0.002 1'",
                 range[0] - margin, range[1] + margin);
    const dyn_friction_t *f = &joint->drive.friction;
    /* Dry friction that hardly creeps: the default is soft enough for a closed brake to sink. */
    help_put(text, " solreffriction='0.002 1' solimpfriction='0.999 0.999 0.001'");
    help_put(text, " armature='%.17g' damping='%.17g' frictionloss='%.17g'/>\n",
             dyn_model_rotor(joint), f->viscous, (f->coulomb[1] - f->coulomb[0]) / 2);
}

static mjModel *compile(const help_text_t *text) {
    static mjVFS files;
    char error[500] = "";
    mj_defaultVFS(&files);
    mj_makeEmptyFileVFS(&files, "arm.xml", (int)text->size);
    memcpy(files.filedata[mj_findFileVFS(&files, "arm.xml")], text->data, text->size);
    mjModel *model = mj_loadXML("arm.xml", &files, error, sizeof error);
    mj_deleteVFS(&files);
    TEST_ASSERT_NOT_NULL_MESSAGE(model, error);
    return model;
}

/* Body 0 is the world. MuJoCo has the principal axes. */
static void set_inertia(mjModel *model, uint32_t i, const dyn_body_t *body) {
    const double *t = body->inertia;
    const double matrix[9] = {t[0], t[3], t[5], t[3], t[1], t[4], t[5], t[4], t[2]};
    double axes[9];
    mju_eig3(&model->body_inertia[3 * (i + 1)], axes, &model->body_iquat[4 * (i + 1)], matrix);
    mju_copy3(&model->body_ipos[3 * (i + 1)], body->com);
    model->body_mass[i + 1] = body->mass;
}

void mujoco_arm_make(mujoco_arm_t *arm, const dyn_model_t *model, double step_s, double margin) {
    help_text_t text = {0};
    const double *g = model->gravity;
    arm->n = model->n;
    help_put(
        &text,
        "<mujoco><compiler angle='radian'/><option timestep='%.17g' gravity='%.17g %.17g %.17g' "
        "integrator='Euler' iterations='50' tolerance='1e-12'/><worldbody>\n",
        step_s, g[0], g[1], g[2]);
    for (uint32_t i = 0; i < model->n; i++)
        put_body(&text, model, i, margin);
    for (uint32_t i = 0; i < model->n; i++)
        help_put(&text, "</body>");
    help_put(&text, "</worldbody></mujoco>");
    arm->model = compile(&text);
    help_text_free(&text);
    for (uint32_t i = 0; i < model->n; i++) {
        const dyn_body_t last = dyn_model_last_link(model);
        set_inertia(arm->model, i, i + 1 == model->n ? &last : &model->joint[i].link);
    }
    arm->data = mj_makeData(arm->model);
    mj_setConst(arm->model, arm->data);
    for (uint32_t i = 0; i < model->n; i++) {
        const double *coulomb = model->joint[i].drive.friction.coulomb;
        arm->data->qfrc_applied[i] = -(coulomb[1] + coulomb[0]) / 2;
    }
}

void mujoco_arm_free(mujoco_arm_t *arm) {
    mj_deleteData(arm->data);
    mj_deleteModel(arm->model);
    *arm = (mujoco_arm_t){0};
}
