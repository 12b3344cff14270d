/* The registers of the STM32F2, F4 and F1 that the drivers use, from the reference manuals RM0033
 * (F205), RM0090 (F405), RM0390 (F446) and RM0041 (F100). F2 and F4 share one map (HAL_STM32F4);
 * the board files contain what differs between those chips. */
#ifndef HAL_STM32_REGS_H
#define HAL_STM32_REGS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#if defined(HAL_STM32F4) == defined(HAL_STM32F1)
#error "define exactly one of HAL_STM32F4 (F2 and F4) and HAL_STM32F1"
#endif

typedef volatile uint32_t reg_t;

#define REG_BLOCK(type, address)          ((type *)(uintptr_t)(address))
#define REG_OFFSET(type, field, expected) static_assert(offsetof(type, field) == (expected), #field)

/* -------------------------------------------------------------------------------- both families */
typedef struct {
    reg_t SR, DR, BRR, CR1, CR2, CR3, GTPR;
} usart_t;
REG_OFFSET(usart_t, GTPR, 0x18);

enum {
    USART_SR_PE = 1 << 0,
    USART_SR_FE = 1 << 1,
    USART_SR_NE = 1 << 2,
    USART_SR_ORE = 1 << 3,
    USART_SR_RXNE = 1 << 5,
    USART_SR_TXE = 1 << 7,
    USART_CR1_RE = 1 << 2,
    USART_CR1_TE = 1 << 3,
    USART_CR1_RXNEIE = 1 << 5,
    USART_CR1_TXEIE = 1 << 7,
    USART_CR1_UE = 1 << 13,
    USART_CR3_DMAR = 1 << 6,
};

typedef struct {
    reg_t CR1, CR2, SMCR, DIER, SR, EGR, CCMR[2], CCER, CNT, PSC, ARR, RCR, CCR[4], BDTR, DCR, DMAR,
        OR; /* F1: no OR */
} tim_t;
REG_OFFSET(tim_t, CCMR, 0x18);
REG_OFFSET(tim_t, CNT, 0x24);
REG_OFFSET(tim_t, ARR, 0x2C);
REG_OFFSET(tim_t, CCR, 0x34);
REG_OFFSET(tim_t, BDTR, 0x44);
REG_OFFSET(tim_t, OR, 0x50);

enum {
    TIM_CR1_CEN = 1 << 0,
    TIM_CR1_URS = 1 << 2,
    TIM_CR1_ARPE = 1 << 7,
    TIM_DIER_UIE = 1 << 0,
    TIM_DIER_BIE = 1 << 7,
    TIM_SR_UIF = 1 << 0,
    TIM_SR_CC1IF = 1 << 1,
    TIM_SR_BIF = 1 << 7,
    TIM_EGR_UG = 1 << 0,
    TIM_SMCR_ENCODER_3 = 3 << 0, /* counts the edges of both inputs */
    TIM_CCMR_INPUT = 1 << 0,     /* CCxS = 01: the channel is the input TIx, filtered */
    TIM_CCMR_FILTER_SHIFT = 4,
    /* OCxM = 110 and OCxPE of channel 1; those of the second channel are 8 bits higher */
    TIM_CCMR_PWM1_PRELOAD = 6 << 4 | 1 << 3,
    TIM_CCMR_INPUT_PRESCALE_8 = 1 << 0 | 3 << 2, /* CC1S = TI1, IC1PSC = 8 */
    TIM_CCER_CCE = 1 << 0, /* for channel 1; each further channel is 4 bits higher */
    TIM_CCER_CCNE = 1 << 2,
    TIM_BDTR_LOCK_3 = 3 << 8,
    TIM_BDTR_OSSI = 1 << 10,
    TIM_BDTR_OSSR = 1 << 11,
    TIM_BDTR_BKE = 1 << 12,
    TIM_BDTR_BKP = 1 << 13,
    TIM_BDTR_MOE = 1 << 15,
};

typedef struct {
    reg_t CR1, CR2, SR, DR;
} spi_t;
REG_OFFSET(spi_t, DR, 0x0C);

enum {
    SPI_CR1_CPHA = 1 << 0,
    SPI_CR1_MSTR = 1 << 2,
    SPI_CR1_BR_SHIFT = 3, /* clock = bus / 2^(BR + 1) */
    SPI_CR1_SPE = 1 << 6,
    SPI_CR1_SSI = 1 << 8,
    SPI_CR1_SSM = 1 << 9,
    SPI_CR1_DFF = 1 << 11, /* 16 bit */
    SPI_CR2_RXNEIE = 1 << 6,
    SPI_SR_RXNE = 1 << 0,
    SPI_SR_TXE = 1 << 1,
    SPI_SR_BSY = 1 << 7,
};

typedef struct {
    reg_t SR, CR1, CR2, SMPR1, SMPR2, JOFR[4], HTR, LTR, SQR1, SQR2, SQR3, JSQR, JDR[4], DR;
} adc_t;
REG_OFFSET(adc_t, SQR3, 0x34);
REG_OFFSET(adc_t, DR, 0x4C);

enum { ADC_SR_EOC = 1 << 1, ADC_CR2_ADON = 1 << 0 };

typedef struct {
    reg_t KR, PR, RLR, SR;
} iwdg_t;

enum {
    IWDG_KEY_FEED = 0xAAAA,
    IWDG_KEY_ACCESS = 0x5555,
    IWDG_KEY_START = 0xCCCC,
    IWDG_SR_PVU = 1 << 0,
    IWDG_SR_RVU = 1 << 1,
};

typedef struct {
    reg_t CR, CSR;
} pwr_t;

enum { PWR_CR_PVDE = 1 << 4, PWR_CR_PLS = 7 << 5, PWR_CSR_PVDO = 1 << 2 };

typedef struct {
    reg_t IMR, EMR, RTSR, FTSR, SWIER, PR;
} exti_t;
REG_OFFSET(exti_t, PR, 0x14);

enum { EXTI_PVD = 1 << 16 };

/* Reset flags in RCC_CSR; the F1 has no brown-out flag (bit 25 reads 0 there). */
#define RCC_CSR_RMVF     (1u << 24)
#define RCC_CSR_BORRSTF  (1u << 25)
#define RCC_CSR_PINRSTF  (1u << 26)
#define RCC_CSR_PORRSTF  (1u << 27)
#define RCC_CSR_SFTRSTF  (1u << 28)
#define RCC_CSR_IWDGRSTF (1u << 29)
#define RCC_CSR_WWDGRSTF (1u << 30)
#define RCC_CSR_LPWRRSTF (1u << 31)

enum {
    RCC_CR_HSION = 1 << 0,
    RCC_CR_HSIRDY = 1 << 1,
    RCC_CR_HSEON = 1 << 16,
    RCC_CR_HSERDY = 1 << 17,
    RCC_CR_HSEBYP = 1 << 18,
    RCC_CR_CSSON = 1 << 19,
    RCC_CR_PLLON = 1 << 24,
    RCC_CR_PLLRDY = 1 << 25,
    RCC_CFGR_SW = 3 << 0,
    RCC_CFGR_SW_HSI = 0 << 0,
    RCC_CFGR_SW_PLL = 2 << 0,
    RCC_CFGR_SWS = 3 << 2,
    RCC_CFGR_SWS_HSI = 0 << 2,
    RCC_CFGR_SWS_PLL = 2 << 2,
    RCC_CIR_CSSF = 1 << 7,
    RCC_CIR_CSSC = 1 << 23,
};

#define FLASH_KEY1 0x45670123u
#define FLASH_KEY2 0xCDEF89ABu

#define TIM6   REG_BLOCK(tim_t, 0x40001000)
#define IWDG   REG_BLOCK(iwdg_t, 0x40003000)
#define TIM3   REG_BLOCK(tim_t, 0x40000400)
#define TIM4   REG_BLOCK(tim_t, 0x40000800)
#define PWR    REG_BLOCK(pwr_t, 0x40007000)
#define USART2 REG_BLOCK(usart_t, 0x40004400)
#define SPI1   REG_BLOCK(spi_t, 0x40013000)
#define SPI2   REG_BLOCK(spi_t, 0x40003800)
#define SPI3   REG_BLOCK(spi_t, 0x40003C00)

/* A clock enable bit: register and bit number. 0 means no clock. */
typedef uint16_t rcc_bit_t;
enum { RCC_BUS_AHB = 1, RCC_BUS_APB1, RCC_BUS_APB2 };
#define RCC_BIT(bus, bit) ((rcc_bit_t)((bus) << 8 | (bit)))
#define RCC_TIM3          RCC_BIT(RCC_BUS_APB1, 1)
#define RCC_TIM4          RCC_BIT(RCC_BUS_APB1, 2)
#define RCC_TIM6          RCC_BIT(RCC_BUS_APB1, 4)
#define RCC_PWR           RCC_BIT(RCC_BUS_APB1, 28)

/* --------------------------------------------------------------------------------------- F2, F4 */
#ifdef HAL_STM32F4

typedef struct {
    reg_t CR, PLLCFGR, CFGR, CIR;
    reg_t reserved_10[8];
    reg_t AHB1ENR, AHB2ENR, AHB3ENR;
    reg_t reserved_3c;
    reg_t APB1ENR, APB2ENR;
    reg_t reserved_48[10];
    reg_t BDCR, CSR;
} rcc_t;
REG_OFFSET(rcc_t, AHB1ENR, 0x30);
REG_OFFSET(rcc_t, APB1ENR, 0x40);
REG_OFFSET(rcc_t, CSR, 0x74);

enum {
    RCC_PLLCFGR_SRC_HSE = 1 << 22,
    RCC_CFGR_PPRE1_SHIFT = 10,
    RCC_CFGR_PPRE2_SHIFT = 13,
    RCC_CFGR_RTCPRE_31 = 31 << 16, /* HSE / 31, the largest divider; also the mask of the field */
    RCC_HSI_HZ = 16000000,
    TIM11_OR_TI1_HSE = 2 << 0, /* channel 1 of TIM11 gets HSE / RTCPRE */
};

typedef struct {
    reg_t ACR, KEYR, OPTKEYR, SR, CR, OPTCR;
} flash_t;
REG_OFFSET(flash_t, CR, 0x10);

enum {
    FLASH_ACR_LATENCY = 7, /* the F4 has one more bit, which none of these chips needs */
    FLASH_ACR_PRFTEN = 1 << 8,
    FLASH_ACR_ICEN = 1 << 9,
    FLASH_ACR_DCEN = 1 << 10,
    FLASH_ACR_ICRST = 1 << 11,
    FLASH_ACR_DCRST = 1 << 12,
    FLASH_SR_EOP = 1 << 0,
    FLASH_SR_BSY = 1 << 16,
    /* errors: operation, write protection, alignment, parallelism, sequence, read protection
     * (F446) */
    FLASH_SR_ERRORS = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 8,
    FLASH_CR_PG = 1 << 0,
    FLASH_CR_SER = 1 << 1,
    FLASH_CR_SNB_SHIFT = 3,
    FLASH_CR_PSIZE_32 = 2 << 8,
    FLASH_CR_STRT = 1 << 16,
};
#define FLASH_CR_LOCK (1u << 31)

typedef struct {
    reg_t CR, NDTR, PAR, M0AR, M1AR, FCR;
} dma_stream_t;

typedef struct {
    reg_t ISR[2], IFCR[2]; /* index 0 for streams 0 to 3, index 1 for streams 4 to 7 */
    dma_stream_t stream[8];
} dma_t;
REG_OFFSET(dma_t, IFCR, 0x08);
REG_OFFSET(dma_t, stream, 0x10);
REG_OFFSET(dma_t, stream[1], 0x28);

enum {
    DMA_CR_EN = 1 << 0,
    DMA_CR_HTIE = 1 << 3,
    DMA_CR_TCIE = 1 << 4,
    DMA_CR_CIRC = 1 << 8,
    DMA_CR_MINC = 1 << 10,
    DMA_CR_PL_VERY_HIGH = 3 << 16,
    DMA_CR_CHSEL_SHIFT = 25,
    DMA_FLAGS = 0x3D, /* for streams 0 and 4; the others are 6, 16 and 22 bits higher */
    DMA_FLAG_HT = 1 << 4,
    DMA_FLAG_TC = 1 << 5,
};

typedef struct {
    reg_t MODER, OTYPER, OSPEEDR, PUPDR, IDR, ODR, BSRR, LCKR, AFR[2];
} gpio_t;
REG_OFFSET(gpio_t, BSRR, 0x18);
REG_OFFSET(gpio_t, AFR, 0x20);

typedef struct {
    reg_t IDCODE, CR, APB1_FZ, APB2_FZ;
} dbgmcu_t;

enum {
    DBGMCU_SLEEP = 1 << 0,       /* in CR */
    DBGMCU_FREEZE_TIM1 = 1 << 0, /* in APB2_FZ */
    DBGMCU_FREEZE_TIM8 = 1 << 1,
    DBGMCU_FREEZE_TIM6 = 1 << 4, /* in APB1_FZ */
    DBGMCU_FREEZE_IWDG = 1 << 12,
};

enum {
    ADC_CR2_SWSTART = 1 << 30,
    /* ADC clock = APB2 / 4: at most 21 MHz on these boards; F2 allows 30 MHz, F4 36 MHz */
    ADC_CCR_ADCPRE_4 = 1 << 16,
};

#define TIM1      REG_BLOCK(tim_t, 0x40010000)
#define TIM2      REG_BLOCK(tim_t, 0x40000000)
#define TIM5      REG_BLOCK(tim_t, 0x40000C00)
#define TIM8      REG_BLOCK(tim_t, 0x40010400)
#define TIM11     REG_BLOCK(tim_t, 0x40014800)
#define EXTI      REG_BLOCK(exti_t, 0x40013C00)
#define USART1    REG_BLOCK(usart_t, 0x40011000)
#define ADC1      REG_BLOCK(adc_t, 0x40012000)
#define ADC_CCR   REG_BLOCK(reg_t, 0x40012304)
#define GPIO_BASE 0x40020000
#define RCC       REG_BLOCK(rcc_t, 0x40023800)
#define FLASH     REG_BLOCK(flash_t, 0x40023C00)
#define DMA1      REG_BLOCK(dma_t, 0x40026000)
#define DMA2      REG_BLOCK(dma_t, 0x40026400)
#define DBGMCU    REG_BLOCK(dbgmcu_t, 0xE0042000)

#define DBGMCU_FREEZE_TIMERS   (&DBGMCU->APB2_FZ)
#define DBGMCU_FREEZE_WATCHDOG (&DBGMCU->APB1_FZ)

#define RCC_GPIO(port) RCC_BIT(RCC_BUS_AHB, (port))
#define RCC_DMA1       RCC_BIT(RCC_BUS_AHB, 21)
#define RCC_DMA2       RCC_BIT(RCC_BUS_AHB, 22)
#define RCC_TIM2       RCC_BIT(RCC_BUS_APB1, 0)
#define RCC_TIM5       RCC_BIT(RCC_BUS_APB1, 3)
#define RCC_SPI2       RCC_BIT(RCC_BUS_APB1, 14)
#define RCC_SPI3       RCC_BIT(RCC_BUS_APB1, 15)
#define RCC_USART2     RCC_BIT(RCC_BUS_APB1, 17)
#define RCC_TIM1       RCC_BIT(RCC_BUS_APB2, 0)
#define RCC_TIM8       RCC_BIT(RCC_BUS_APB2, 1)
#define RCC_USART1     RCC_BIT(RCC_BUS_APB2, 4)
#define RCC_ADC1       RCC_BIT(RCC_BUS_APB2, 8)
#define RCC_SPI1       RCC_BIT(RCC_BUS_APB2, 12)
#define RCC_TIM11      RCC_BIT(RCC_BUS_APB2, 18)

#endif

/* ------------------------------------------------------------------------------------------- F1 */
#ifdef HAL_STM32F1

typedef struct {
    reg_t CR, CFGR, CIR, APB2RSTR, APB1RSTR, AHBENR, APB2ENR, APB1ENR, BDCR, CSR;
    reg_t reserved_28;
    reg_t CFGR2;
} rcc_t;
REG_OFFSET(rcc_t, APB2ENR, 0x18);
REG_OFFSET(rcc_t, CSR, 0x24);
REG_OFFSET(rcc_t, CFGR2, 0x2C);

enum {
    RCC_CFGR_PPRE1_SHIFT = 8,
    RCC_CFGR_PPRE2_SHIFT = 11,
    RCC_CFGR_ADCPRE_2 = 0 << 14, /* APB2 / 2: 12 MHz, the highest ADC clock that the F100 allows */
    RCC_CFGR_PLLSRC_PREDIV1 = 1 << 16,
    RCC_CFGR_PLLMUL_SHIFT = 18, /* the field contains the multiplier minus 2 */
    RCC_HSI_HZ = 8000000,
};

typedef struct {
    reg_t ACR, KEYR, OPTKEYR, SR, CR, AR;
} flash_t;
REG_OFFSET(flash_t, AR, 0x14);

enum {
    FLASH_SR_BSY = 1 << 0,
    FLASH_SR_PGERR = 1 << 2,
    FLASH_SR_WRPRTERR = 1 << 4,
    FLASH_SR_EOP = 1 << 5,
    FLASH_SR_ERRORS = 1 << 2 | 1 << 4,
    FLASH_CR_PG = 1 << 0,
    FLASH_CR_PER = 1 << 1,
    FLASH_CR_STRT = 1 << 6,
    FLASH_CR_LOCK = 1 << 7,
};

typedef struct {
    reg_t CCR, CNDTR, CPAR, CMAR;
    reg_t reserved_10;
} dma_channel_t;

typedef struct {
    reg_t ISR, IFCR;
    dma_channel_t channel[7]; /* the manual counts from 1 */
} dma_t;
REG_OFFSET(dma_t, channel, 0x08);
REG_OFFSET(dma_t, channel[1], 0x1C);

enum {
    DMA_CCR_EN = 1 << 0,
    DMA_CCR_TCIE = 1 << 1,
    DMA_CCR_HTIE = 1 << 2,
    DMA_CCR_CIRC = 1 << 5,
    DMA_CCR_MINC = 1 << 7,
    DMA_CCR_PL_VERY_HIGH = 3 << 12,
    DMA_FLAGS = 0xF, /* for channel 1; each further channel is 4 bits higher */
    DMA_FLAG_TC = 1 << 1,
    DMA_FLAG_HT = 1 << 2,
};

typedef struct {
    reg_t CR[2], IDR, ODR, BSRR, BRR, LCKR; /* CR[0] is CRL, CR[1] is CRH */
} gpio_t;
REG_OFFSET(gpio_t, BSRR, 0x10);

typedef struct {
    reg_t EVCR, MAPR, EXTICR[4];
    reg_t reserved_18;
    reg_t MAPR2;
} afio_t;
REG_OFFSET(afio_t, MAPR2, 0x1C);

enum {
    AFIO_MAPR_SPI1 = 1 << 0,         /* SCK PB3, MISO PB4, MOSI PB5 */
    AFIO_MAPR_USART1 = 1 << 2,       /* TX PB6, RX PB7 */
    AFIO_MAPR_TIM1_PARTIAL = 1 << 6, /* BKIN PA6, CH1N PA7, CH2N PB0, CH3N PB1; CH1-CH4 stay */
    /* Switches JTAG off, which frees PB3, PB4, PA15. These bits cannot be read back. */
    AFIO_MAPR_SWD_ONLY = 2 << 24,
};

typedef struct {
    reg_t IDCODE, CR;
} dbgmcu_t;

enum {
    DBGMCU_FREEZE_IWDG = 1 << 8, /* all freeze bits are in CR */
    DBGMCU_FREEZE_TIM1 = 1 << 10,
    DBGMCU_FREEZE_TIM6 = 1 << 19,
    DBGMCU_FREEZE_TIM15 = 1 << 22,
    DBGMCU_FREEZE_TIM16 = 1 << 23,
    DBGMCU_FREEZE_TIM17 = 1 << 24,
};

enum {
    ADC_CR2_CAL = 1 << 2,
    ADC_CR2_RSTCAL = 1 << 3,
    ADC_CR2_EXTSEL_SWSTART = 7 << 17,
    ADC_CR2_EXTTRIG = 1 << 20,
    ADC_CR2_SWSTART = 1 << 22,
};

#define TIM1      REG_BLOCK(tim_t, 0x40012C00)
#define TIM15     REG_BLOCK(tim_t, 0x40014000)
#define TIM16     REG_BLOCK(tim_t, 0x40014400)
#define TIM17     REG_BLOCK(tim_t, 0x40014800)
#define USART1    REG_BLOCK(usart_t, 0x40013800)
#define ADC1      REG_BLOCK(adc_t, 0x40012400)
#define AFIO      REG_BLOCK(afio_t, 0x40010000)
#define EXTI      REG_BLOCK(exti_t, 0x40010400)
#define GPIO_BASE 0x40010800
#define RCC       REG_BLOCK(rcc_t, 0x40021000)
#define FLASH     REG_BLOCK(flash_t, 0x40022000)
#define DMA1      REG_BLOCK(dma_t, 0x40020000)
#define DBGMCU    REG_BLOCK(dbgmcu_t, 0xE0042000)

#define DBGMCU_FREEZE_TIMERS   (&DBGMCU->CR)
#define DBGMCU_FREEZE_WATCHDOG (&DBGMCU->CR)

#define RCC_DMA1       RCC_BIT(RCC_BUS_AHB, 0)
#define RCC_AFIO       RCC_BIT(RCC_BUS_APB2, 0)
#define RCC_GPIO(port) RCC_BIT(RCC_BUS_APB2, 2 + (port))
#define RCC_ADC1       RCC_BIT(RCC_BUS_APB2, 9)
#define RCC_TIM1       RCC_BIT(RCC_BUS_APB2, 11)
#define RCC_SPI1       RCC_BIT(RCC_BUS_APB2, 12)
#define RCC_USART1     RCC_BIT(RCC_BUS_APB2, 14)
#define RCC_TIM15      RCC_BIT(RCC_BUS_APB2, 16)
#define RCC_TIM16      RCC_BIT(RCC_BUS_APB2, 17)
#define RCC_TIM17      RCC_BIT(RCC_BUS_APB2, 18)
#define RCC_SPI2       RCC_BIT(RCC_BUS_APB1, 14)
#define RCC_USART2     RCC_BIT(RCC_BUS_APB1, 17)

#endif

#define GPIO(port) REG_BLOCK(gpio_t, GPIO_BASE + 0x400 * (port))

#endif
