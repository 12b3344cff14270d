/* Makes the generated graphs of a robot for the commands, together with its fixed-point units and
 * its hash. */
#ifndef TOOLS_IMAGE_GEN_ROBOT_H
#define TOOLS_IMAGE_GEN_ROBOT_H

#include "tools/gen/gen.h"
#include "tools/robot/robot.h"

/* Default of the option --effort. */
enum { GEN_EFFORT = 10 };

typedef struct {
    gen_t *gen;
    dyn_units_t units;           /* units of the robot image */
    fixed_t *fixed[GEN_KERNELS]; /* set for fixed point only */
    uint32_t hash;
    bool hashed; /* the hash is valid, because a robot image could be made */
} gen_robot_t;

/* Returns NULL after it has printed what is wrong. */
gen_robot_t *gen_robot_make(const robot_t *robot, const gen_options_t *options, bool fixed_point);
void gen_robot_free(gen_robot_t *made);

#endif
