/* Makes the f32 twin of a board compute with the code that `make GEN=1` generates for this arm. */
#ifndef TOOLS_MOTION_TWIN_GEN_H
#define TOOLS_MOTION_TWIN_GEN_H

#include "dyn/model/model.h"

/* Returns DYN_OK or a negative dyn_status_t. */
int twin_gen_use(const dyn_model_t *model);
void twin_gen_drop(void);

#endif
