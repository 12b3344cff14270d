/*
 * Output and exit code of a test program through semihosting of the emulator. For tests only: on
 * silicon without a debugger a semihosting call is a fault.
 */
#ifndef TEST_SUPPORT_SEMIHOST_H
#define TEST_SUPPORT_SEMIHOST_H

void semihost_put(char c); /* buffered until a newline or semihost_flush */
void semihost_flush(void);
_Noreturn void semihost_exit(int code);

#endif
