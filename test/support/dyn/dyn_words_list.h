/* Sizes of what test/support/dyn/dyn_words.inc takes and gives. */
#ifndef TEST_SUPPORT_DYN_DYN_WORDS_LIST_H
#define TEST_SUPPORT_DYN_DYN_WORDS_LIST_H

enum { WORDS_IN = 20, WORDS_OUT = 12 * 3 + 2 * 6 + 8 };

#endif
