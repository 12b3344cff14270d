/* Version and commit of this build. The version stands in the Makefile; the commit comes from
 * git. */
#ifndef FIRMWARE_APP_VERSION_H
#define FIRMWARE_APP_VERSION_H

/* for example "0.2.0" */
extern const char version_number[];
/* For example "5c508e1d2a"; followed by "-dirty" if a tracked file was changed; "unknown"
 * outside of git. The array has a fixed size, so that no other address in the image depends on
 * the commit. */
extern const char version_commit[24];

#endif
