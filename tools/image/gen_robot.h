/* The graphs of a robot as the commands want them: with its units for fixed point and its hash. */
#ifndef TOOLS_IMAGE_GEN_ROBOT_H
#define TOOLS_IMAGE_GEN_ROBOT_H

#include "tools/gen/gen.h"
#include "tools/robot/robot.h"

/* --effort of this is what is done without it. */
enum { GEN_EFFORT = 10 };

typedef struct {
    gen_t *gen;
    dyn_units_t units;           /* those of the robot's image */
    fixed_t *fixed[GEN_KERNELS]; /* fixed point only */
    uint32_t hash;
    bool hashed; /* the robot has an image: it is rigid and can be written */
} gen_robot_t;

/* NULL after saying what is wrong. */
gen_robot_t *gen_robot_make(const robot_t *robot, const gen_options_t *options, bool fixed_point);
void gen_robot_free(gen_robot_t *made);

#endif
