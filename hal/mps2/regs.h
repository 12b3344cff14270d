/* Registers of the Arm MPS2 FPGA images (AN385, AN386, AN500), from Arm's application notes. */
#ifndef HAL_MPS2_REGS_H
#define HAL_MPS2_REGS_H

#include <stdint.h>

typedef struct {
    volatile uint32_t DATA;
    volatile uint32_t STATE;
    volatile uint32_t CTRL;
    volatile uint32_t INT; /* reading gives the status; writing a one clears the bit */
    volatile uint32_t BAUDDIV;
} cmsdk_uart_t;

#define CMSDK_UART0         ((cmsdk_uart_t *)0x40004000U)
#define CMSDK_STATE_TX_FULL (1U << 0)
#define CMSDK_STATE_RX_FULL (1U << 1)
#define CMSDK_STATE_TX_OVER (1U << 2)
#define CMSDK_STATE_RX_OVER (1U << 3)
#define CMSDK_CTRL_TX       (1U << 0)
#define CMSDK_CTRL_RX       (1U << 1)
#define CMSDK_CTRL_TX_IRQ   (1U << 2)
#define CMSDK_CTRL_RX_IRQ   (1U << 3)
#define CMSDK_INT_TX        (1U << 0)
#define CMSDK_INT_RX        (1U << 1)

enum { MPS2_UART0_RX_IRQ = 0, MPS2_UART0_TX_IRQ = 1 };

/* Free-running counter at the system clock. */
#define MPS2_FPGAIO_COUNTER ((const volatile uint32_t *)0x40028018U)

enum { MPS2_SYSTEM_HZ = 25000000 };

#endif
