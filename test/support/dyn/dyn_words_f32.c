/* The basic operations of dyn_words.inc in f32. */
#include "dyn/number/real_f32.h"

#define WORD_IN(x)      ((float)(x))
#define WORD_OUT(x)     ((double)(x))
#define WORD_TURN_IN(x) ((float)(x))
#include "test/support/dyn/dyn_words.inc"
