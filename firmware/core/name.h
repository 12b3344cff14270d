/* CORE(app_tick) is app_tick_f32 and CORE_T(app) is app_f32_t where DYN_REAL is f32. */
#ifndef FIRMWARE_CORE_NAME_H
#define FIRMWARE_CORE_NAME_H

#define CORE_PASTE_(name, real)   name##_##real
#define CORE_PASTE_T_(name, real) name##_##real##_t
#define CORE_PASTE(name, real)    CORE_PASTE_(name, real)
#define CORE_PASTE_T(name, real)  CORE_PASTE_T_(name, real)
#define CORE(name)                CORE_PASTE(name, DYN_REAL)
#define CORE_T(name)              CORE_PASTE_T(name, DYN_REAL)

#endif
