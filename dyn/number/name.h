/* Macros that make the names of a backend: if DYN_REAL is f32, DYN(ne_inverse) is
 * dyn_ne_inverse_f32 and DYN_T(arm) is dyn_arm_f32_t. */
#ifndef DYN_NUMBER_NAME_H
#define DYN_NUMBER_NAME_H

#define DYN_PASTE_(name, real)   dyn_##name##_##real
#define DYN_PASTE_T_(name, real) dyn_##name##_##real##_t
#define DYN_PASTE(name, real)    DYN_PASTE_(name, real)
#define DYN_PASTE_T(name, real)  DYN_PASTE_T_(name, real)
#define DYN(name)                DYN_PASTE(name, DYN_REAL)
#define DYN_T(name)              DYN_PASTE_T(name, DYN_REAL)

#endif
