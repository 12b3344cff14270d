/* The basic operations of dyn_words.inc in q31. */
#include "dyn/number/real_q31.h"

#define WORD_IN(x)      dyn_q31_from(x, 0)
#define WORD_OUT(x)     dyn_q31_to(x, 0)
#define WORD_TURN_IN(x) turn_from_model(x)
#include "test/support/dyn/dyn_words.inc"
