/* What the parts of the chip model share: time, clocks, devices. Only chip*.c include this file. */
#ifndef TEST_SUPPORT_HAL_CHIP_INSIDE_H
#define TEST_SUPPORT_HAL_CHIP_INSIDE_H

#include "hal/stm32/board.h"
#include "test/support/hal/chip.h"

#define CHIP_NEVER UINT64_MAX

/* A device handles a range of addresses. Without the clock of its gate it reads 0 and ignores
 * writes; 0: it has no gate. */
typedef struct {
    uint32_t first, last;
    rcc_bit_t gate;
    void (*reset)(void);
    uint32_t (*read)(uint32_t address);
    void (*write)(uint32_t address, uint32_t value);
    uint64_t (*due)(void); /* time of its next event */
    void (*event)(void);   /* acts on everything that is due */
} chip_device_t;

extern const chip_device_t chip_timers[], chip_pins[], chip_lines[], chip_core[];
extern const unsigned chip_timers_count, chip_pins_count, chip_lines_count, chip_core_count;

void chip_wrong(const char *what);
void chip_reschedule(void); /* a due time or a request for an interrupt may have changed */
void chip_pend(int irq);
void chip_nmi(void);
void chip_reset_now(chip_reset_t why);
bool chip_locked(void);       /* interrupts are locked */
void chip_spend(uint64_t ns); /* a slow access: time passes, without interrupts */

/* chip_core.c: clocks and flash. */
uint32_t chip_core_hz(void);
uint32_t chip_bus_hz(rcc_bit_t clock);
uint32_t chip_timer_hz(rcc_bit_t clock);
bool chip_gate_open(rcc_bit_t clock);
bool chip_flash_busy(void);
bool chip_core_requests(int irq);

/* chip_timers.c */
void chip_break_look(void);          /* the level of an e-stop pin may have changed */
void chip_break_all(void);           /* the clock security system stops all motor timers */
void chip_timers_before_clock(void); /* called around a change of the clocks */
void chip_timers_after_clock(void);
bool chip_timer_requests(int irq);
bool chip_timer_moe(unsigned motor_timer);
/* The share of a period in which a channel is high, 0 to 1; 0 if the output is idle. */
double chip_timer_high(unsigned motor_timer, unsigned channel, bool complementary);

/* chip_pins.c */
typedef enum { PIN_INPUT, PIN_OUTPUT, PIN_ALTERNATE, PIN_ANALOG } chip_mode_t;
chip_mode_t chip_pin_mode(pin_t pin);
unsigned chip_pin_af(pin_t pin);
bool chip_pin_level(pin_t pin); /* inputs: as the world and the pulls set it; outputs: as driven */
bool chip_adc_requests(void);

/* chip_lines.c */
void chip_select_look(void); /* the level of a select line may have changed */
bool chip_line_requests(int irq);

#endif
