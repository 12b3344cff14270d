/* The basic operations of dyn_words.inc in f64. */
#include "dyn/number/real_f64.h"

#define WORD_IN(x)      (x)
#define WORD_OUT(x)     (x)
#define WORD_TURN_IN(x) (x)
#include "test/support/dyn/dyn_words.inc"
