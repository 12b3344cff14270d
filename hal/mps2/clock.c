/* hal/clock.h on the Arm MPS2 with an FPGA image: one fixed clock. Only AN500 is used, as the
 * Cortex-M7 of the emulator. */
#include "hal/clock.h"
#include "hal/cortexm/counter.h"
#include "hal/mps2/regs.h"
#include "hal/reg.h"

static const clock_info_t info = {
    .source = CLOCK_CRYSTAL_PLL,
    .core_hz = MPS2_SYSTEM_HZ,
    .tick_timer_hz = MPS2_SYSTEM_HZ,
    .uart_hz = MPS2_SYSTEM_HZ,
    .emulated = true,
};

const clock_info_t *clock_init(void) {
    return &info;
}

const clock_info_t *clock_info(void) {
    return &info;
}

bool counter_start(void) {
    return true;
}

uint32_t counter_now(void) {
    return reg_read(MPS2_FPGAIO_COUNTER);
}

uint32_t counter_elapsed(uint32_t start, uint32_t end) {
    return end - start;
}

uint32_t counter_hz(void) {
    return MPS2_SYSTEM_HZ;
}
