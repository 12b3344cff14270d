/* The only object that is compiled again after a new commit; the Makefile defines both macros for
 * this file alone. */
#include "firmware/app/version.h"

const char version_number[] = VERSION_NUMBER;
const char version_commit[24] = VERSION_COMMIT;
