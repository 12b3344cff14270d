/* Which Appell this is. The number stands in the Makefile; the commit comes from git. */
#ifndef FIRMWARE_APP_VERSION_H
#define FIRMWARE_APP_VERSION_H

/* "0.2.0" */
extern const char version_number[];
/* "5c508e1d2a", with "-dirty" behind it where a tracked file was changed; "unknown" outside of
 * git. The array has a fixed size, so that no other address in the image depends on the commit. */
extern const char version_commit[24];

#endif
