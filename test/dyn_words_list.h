/* Sizes of what test/dyn_words.h takes and gives. */
#ifndef TEST_DYN_WORDS_LIST_H
#define TEST_DYN_WORDS_LIST_H

enum { WORDS_IN = 20, WORDS_OUT = 12 * 3 + 2 * 6 + 8 };

#endif
