/* Writes whole files. */
#include "tools/cli/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/cli/out.h"
#include "tools/cli/diagnostics.h"

static int write_all(int file, const char *bytes, size_t size) {
    while (size > 0) {
        const ssize_t n = write(file, bytes, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        bytes += n;
        size -= (size_t)n;
    }
    return 0;
}

static int failed(const char *path, const char *what) {
    const int why = errno;
    return diag_error(path, "check the path, its permissions and the space on the disk", "%s: %s",
                      what, strerror(why));
}

int file_write(const char *path, const void *bytes, size_t size) {
    struct stat about;
    /* A device or a pipe is written directly; only a regular file can be replaced by renaming. */
    const bool plain = stat(path, &about) != 0 || S_ISREG(about.st_mode);
    char *own = NULL;
    if (plain) {
        own = malloc(strlen(path) + 8);
        if (!own)
            return diag_no_memory();
        sprintf(own, "%s.XXXXXX", path);
    }
    const int file = plain ? mkstemp(own) : open(path, O_WRONLY | O_CLOEXEC);
    int status = EXIT_YES;
    if (file < 0)
        status = failed(path, "cannot be written");
    if (file >= 0 && write_all(file, bytes, size) != 0)
        status = failed(path, "writing failed");
    if (file >= 0 && plain) {
        const mode_t mask = umask(0);
        umask(mask);
        (void)fchmod(file, 0666 & ~mask);
    }
    if (file >= 0 && close(file) != 0 && status == EXIT_YES)
        status = failed(path, "writing failed");
    if (plain && file >= 0) {
        if (status == EXIT_YES && rename(own, path) != 0)
            status = failed(path, "cannot be replaced");
        if (status != EXIT_YES)
            unlink(own);
    }
    free(own);
    return status;
}

int file_check(const char *path) {
    struct stat about;
    const bool there = stat(path, &about) == 0;
    /* a pipe is not opened for the check, because that would wait for its reader */
    if (there && !S_ISREG(about.st_mode)) {
        errno = S_ISDIR(about.st_mode) ? EISDIR : 0;
        if (errno != 0 || access(path, W_OK) != 0)
            return failed(path, "cannot be written");
        return EXIT_YES;
    }
    char *own = malloc(strlen(path) + 8);
    if (!own)
        return diag_no_memory();
    sprintf(own, "%s.XXXXXX", path);
    const int file = mkstemp(own);
    const int status = file < 0 ? failed(path, "cannot be written") : EXIT_YES;
    if (file >= 0) {
        close(file);
        unlink(own);
    }
    free(own);
    return status;
}

void file_column(FILE *stream, const char *name) {
    for (; *name; name++)
        fputc(strchr(", \"\t\n", *name) ? '_' : *name, stream);
}

FILE *file_text_begin(file_text_t *text) {
    *text = (file_text_t){0};
    text->stream = open_memstream(&text->text, &text->size);
    return text->stream;
}

int file_text_end(file_text_t *text, const char *path) {
    const bool failed = !text->stream || ferror(text->stream);
    int status = EXIT_YES;
    if ((text->stream && fclose(text->stream) != 0) || failed)
        status = diag_no_memory();
    else if (!strcmp(path, "-"))
        out_text(text->text);
    else
        status = file_write(path, text->text, text->size);
    free(text->text);
    return status;
}
