/* Whole files, written so that a failure leaves nothing half-written behind. */
#ifndef TOOLS_APPELL_FILE_H
#define TOOLS_APPELL_FILE_H

#include <stddef.h>

/* Beside the target first, then renamed onto it. EXIT_YES, or EXIT_BAD after saying why not. */
int file_write(const char *path, const void *bytes, size_t size);

#endif
