/* The one object that a new commit compiles again; the Makefile defines both macros for it alone. */
#include "firmware/app/version.h"

const char version_number[] = VERSION_NUMBER;
const char version_commit[24] = VERSION_COMMIT;
