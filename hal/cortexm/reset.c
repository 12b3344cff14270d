/* The part of hal/reset.h that every chip shares: the names of the reasons. */
#include "hal/reset.h"

const char *reset_reason_name(reset_reason_t reason) {
    switch (reason) {
    case RESET_POWER:
        return "power";
    case RESET_PIN:
        return "the reset pin";
    case RESET_SOFTWARE:
        return "software";
    case RESET_WATCHDOG:
        return "the watchdog";
    case RESET_WINDOW_WATCHDOG:
        return "the window watchdog";
    case RESET_LOW_POWER:
        return "low power management";
    case RESET_UNKNOWN:
        break;
    }
    return "an unknown cause";
}
