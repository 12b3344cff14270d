/* Selects the number type in which a source file is compiled: the backend that the build names
 * (DYN_REAL_H), unless the file has already included one. Kernels and their vocabulary include this
 * file. */
#ifndef DYN_NUMBER_REAL_H
#define DYN_NUMBER_REAL_H

#ifndef DYN_REAL
#include DYN_REAL_H
#endif

#endif
