/* The main program of the firmware under another name, beside the main program of the test. */
int firmware_main(void);
#define main firmware_main
#include "firmware/main.c"
