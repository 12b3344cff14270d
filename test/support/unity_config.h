/* Configures Unity: 64-bit integers and doubles, output through the harness. */
#ifndef TEST_SUPPORT_UNITY_CONFIG_H
#define TEST_SUPPORT_UNITY_CONFIG_H

#include <stdint.h>

#define UNITY_SUPPORT_64
#define UNITY_INCLUDE_DOUBLE
#define UNITY_DOUBLE_PRECISION 0.0
#define UNITY_FLOAT_PRECISION  0.0f
#define UNITY_OUTPUT_CHAR(c)   harness_put((char)(c))
#define UNITY_OUTPUT_FLUSH()   harness_flush()

void harness_put(char c);
void harness_flush(void);

#endif
