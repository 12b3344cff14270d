/* Sizes of the inputs and outputs of test/support/dyn/dyn_words.inc. */
#ifndef TEST_SUPPORT_DYN_DYN_WORDS_LIST_H
#define TEST_SUPPORT_DYN_DYN_WORDS_LIST_H

enum { WORDS_IN = 20, WORDS_OUT = 12 * 3 + 2 * 6 + 8 };

#endif
