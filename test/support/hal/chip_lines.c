/* The serial lines of the chip model: SPI2 with six AS5047P, USART2 with its DMA stream. */
#include "test/support/hal/chip_inside.h"

#include <math.h>
#include <string.h>

#include "test/support/hal/regmodel.h"

/* -------------------------------------------------------------------------------------- AS5047P */

enum {
    REG_ERRFL = 0x0001,
    REG_DIAAGC = 0x3FFC,
    REG_MAG = 0x3FFD,
    REG_ANGLEUNC = 0x3FFE,
    REG_ANGLECOM = 0x3FFF,
    ERRFL_FRAMING = 1,
    ERRFL_COMMAND = 2,
    ERRFL_PARITY = 4,
    DIAAGC_LF = 1 << 8, /* the chip has started */
    DIAAGC_MAGH = 1 << 10,
    DIAAGC_MAGL = 1 << 11,
    COUNTS = 16384,
    SELECT_NS = 350, /* from select to the first clock, and between two frames */
};

static struct {
    bool selected;
    uint16_t request, answer, errors;
    uint64_t edge; /* time of the last edge of the select line */
} as5047[CHIP_ENCODERS];
static uint32_t noise_state = 1;

static bool odd(uint32_t word) {
    return __builtin_parity(word) != 0;
}

static uint16_t angle_of(unsigned i) {
    const double turns = chip_world.encoder[i].turns;
    if (chip_world.encoder[i].magnet == CHIP_MAGNET_GONE) { /* noise of the Hall cells */
        noise_state = noise_state * 1664525u + 1013904223u;
        return (uint16_t)(noise_state >> 18);
    }
    return (uint16_t)((uint32_t)floor((turns - floor(turns)) * COUNTS) % COUNTS);
}

static uint16_t diagnostics_of(unsigned i) {
    const chip_magnet_t magnet = chip_world.encoder[i].magnet;
    return magnet == CHIP_MAGNET_GOOD   ? DIAAGC_LF | 0x80
           : magnet == CHIP_MAGNET_NEAR ? DIAAGC_LF | DIAAGC_MAGH
                                        : DIAAGC_LF | DIAAGC_MAGL | 0xFF;
}

/* The answer to the request of the last frame; the angle is that of the moment of the select. */
static uint16_t answer_of(unsigned i) {
    const uint16_t request = as5047[i].request, errors = as5047[i].errors;
    uint16_t data = 0;
    if (request == REG_ANGLECOM || request == REG_ANGLEUNC)
        data = angle_of(i);
    else if (request == REG_DIAAGC)
        data = diagnostics_of(i);
    else if (request == REG_MAG)
        data = chip_world.encoder[i].magnet == CHIP_MAGNET_GONE ? 0x0010 : 0x1000;
    else if (request == REG_ERRFL)
        data = errors;
    if (request == REG_ERRFL)
        as5047[i].errors = 0;
    const uint16_t frame = (uint16_t)(data | (errors != 0 ? 1 << 14 : 0));
    return (uint16_t)(frame | (odd(frame) ? 1 << 15 : 0));
}

static void command(unsigned i, uint16_t frame) {
    const uint16_t address = frame & 0x3FFF;
    const bool known = address == 0 || address == REG_ERRFL || address >= REG_DIAAGC ||
                       (address >= 0x0016 && address <= 0x001A);
    if (odd(frame))
        as5047[i].errors |= ERRFL_PARITY;
    else if (!known || (frame & 1 << 14) == 0)
        as5047[i].errors |= ERRFL_COMMAND;
    as5047[i].request = odd(frame) ? 0 : address;
}

void chip_select_look(void) {
    for (unsigned i = 0; i < board.encoder.count; i++) {
        const pin_t pin = board.encoder.select[i];
        const bool selected = pin != 0 && chip_pin_mode(pin) == PIN_OUTPUT && !chip_pin_level(pin);
        if (selected == as5047[i].selected)
            continue;
        if (selected && chip_now() - as5047[i].edge < SELECT_NS && as5047[i].edge != 0)
            chip_wrong("an encoder is selected again too soon");
        as5047[i].selected = selected;
        as5047[i].edge = chip_now();
        if (selected)
            as5047[i].answer = answer_of(i);
    }
}

/* ------------------------------------------------------------------------------------------ SPI */

enum { SPI_IRQ = 36, CR2_RXNEIE = 1 << 6, CR2_TXEIE = 1 << 7, SR_OVR = 1 << 6 };
static struct {
    uint32_t cr1, cr2, sr, in;
    uint32_t shift, waiting;
    bool shifts, waits;
    int slave; /* -1: none is selected */
    uint64_t end;
} spi;

static uint64_t bits_ns(unsigned bits) {
    const uint32_t divider = 2u << (spi.cr1 >> SPI_CR1_BR_SHIFT & 7);
    return (uint64_t)bits * divider * 1000000000u / chip_bus_hz(RCC_BIT(RCC_BUS_APB1, 14));
}

static void spi_begin(uint32_t word) {
    enum { CLOCK_MAX_HZ = 10000000 };
    spi.shift = word;
    spi.shifts = true;
    spi.slave = -1;
    for (unsigned i = 0; i < board.encoder.count; i++) {
        if (!as5047[i].selected)
            continue;
        if (spi.slave >= 0)
            chip_wrong("two encoders are selected");
        spi.slave = (int)i;
        if (chip_now() - as5047[i].edge < SELECT_NS)
            chip_wrong("the clock of an encoder begins too soon after its select");
    }
    const uint32_t mode = SPI_CR1_CPHA | SPI_CR1_MSTR | SPI_CR1_SPE | SPI_CR1_DFF;
    if ((spi.cr1 & (mode | 1u << 1)) != mode)
        chip_wrong("the SPI is not in mode 1 with 16 bits");
    if (bits_ns(1000) * CLOCK_MAX_HZ < (uint64_t)1000 * 1000000000u)
        chip_wrong("the clock of the encoders is too fast");
    spi.end = chip_now() + bits_ns(16);
}

static void spi_event(void) {
    uint16_t in = 0xFFFF; /* nobody drives the line, and it is pulled up */
    const int i = spi.slave;
    spi.shifts = false;
    if (i >= 0 && !as5047[i].selected) {
        as5047[i].errors |= ERRFL_FRAMING;
    } else if (i >= 0 && chip_world.encoder[i].powered) {
        in = (uint16_t)(as5047[i].answer ^ chip_world.encoder[i].noise);
        chip_world.encoder[i].noise = 0;
        command((unsigned)i, (uint16_t)spi.shift);
        as5047[i].answer = 0;
    }
    if (spi.sr & SPI_SR_RXNE)
        spi.sr |= SR_OVR;
    else
        spi.in = in;
    spi.sr |= SPI_SR_RXNE;
    if (spi.waits) {
        spi.waits = false;
        spi_begin(spi.waiting);
    }
}

static uint64_t spi_due(void) {
    return spi.shifts ? spi.end : CHIP_NEVER;
}

static uint32_t spi_read(uint32_t address) {
    switch (address - REGMODEL_ADDRESS(SPI2)) {
    case offsetof(spi_t, CR1):
        return spi.cr1;
    case offsetof(spi_t, CR2):
        return spi.cr2;
    case offsetof(spi_t, SR):
        return spi.sr | (spi.waits ? 0 : SPI_SR_TXE) | (spi.shifts ? SPI_SR_BSY : 0);
    case offsetof(spi_t, DR):
        spi.sr &= ~(uint32_t)(SPI_SR_RXNE | SR_OVR);
        return spi.in;
    default:
        return 0;
    }
}

static void spi_write(uint32_t address, uint32_t value) {
    switch (address - REGMODEL_ADDRESS(SPI2)) {
    case offsetof(spi_t, CR1):
        spi.cr1 = value;
        break;
    case offsetof(spi_t, CR2):
        spi.cr2 = value;
        break;
    case offsetof(spi_t, DR):
        if (spi.waits)
            chip_wrong("the data register of the SPI is full");
        if (spi.shifts) {
            spi.waits = true;
            spi.waiting = value;
        } else {
            spi_begin(value);
        }
        break;
    default:
        break;
    }
}

/* ---------------------------------------------------------------------------------- USART and DMA */

enum { LINE_ROOM = 1 << 16, DMA_IRQ = 16, USART_IRQ = 38, DMA_STREAM = 5, DMA_SHIFT = 6 };
typedef struct {
    uint8_t bytes[LINE_ROOM];
    uint32_t head, tail;
} line_t;
static line_t to_chip, from_chip;

static struct {
    usart_t r;
    uint32_t in, out, holding;
    bool shifts, holds;
    uint64_t sent, came; /* times at which the byte on the line has passed */
    bool coming;
} usart;
static struct {
    dma_stream_t r;
    uint32_t flags, left; /* flags: as those of stream 0 */
} dma;

static uint64_t byte_ns(void) {
    return 10ull * usart.r.BRR * 1000000000u / chip_bus_hz(RCC_BIT(RCC_BUS_APB1, 17));
}

static bool usart_on(uint32_t bit) {
    return (usart.r.CR1 & USART_CR1_UE) && (usart.r.CR1 & bit) && usart.r.BRR != 0;
}

/* The register has 32 bits, a host pointer 64: the ring lies in the data of this program, so the
 * upper half is that of an object of it. */
static uint8_t *dma_memory(void) {
    const uintptr_t near = (uintptr_t)&dma;
    uintptr_t at = (near & ~(uintptr_t)UINT32_MAX) | dma.r.M0AR;
    if (at > near && at - near > UINT32_MAX / 2)
        at -= (uintptr_t)UINT32_MAX + 1;
    else if (at < near && near - at > UINT32_MAX / 2)
        at += (uintptr_t)UINT32_MAX + 1;
    return (uint8_t *)at;
}

static void receive(uint8_t byte) {
    if ((usart.r.CR3 & USART_CR3_DMAR) && (dma.r.CR & DMA_CR_EN)) {
        dma_memory()[dma.r.NDTR - dma.left] = byte;
        dma.left--;
        if (dma.left == dma.r.NDTR / 2)
            dma.flags |= DMA_FLAG_HT;
        if (dma.left == 0) {
            dma.flags |= DMA_FLAG_TC;
            dma.left = dma.r.NDTR;
        }
        return;
    }
    if (usart.r.SR & USART_SR_RXNE)
        usart.r.SR |= USART_SR_ORE;
    else
        usart.in = byte;
    usart.r.SR |= USART_SR_RXNE;
}

static uint64_t usart_due(void) {
    uint64_t due = CHIP_NEVER;
    if (to_chip.head != to_chip.tail)
        due = usart_on(USART_CR1_RE) && usart.coming ? usart.came : chip_now();
    return usart.shifts && usart.sent < due ? usart.sent : due;
}

static void usart_event(void) {
    if (to_chip.head != to_chip.tail) {
        if (!usart_on(USART_CR1_RE)) {
            to_chip.tail = to_chip.head; /* nobody listens */
        } else if (!usart.coming) {
            usart.coming = true;
            usart.came = chip_now() + byte_ns();
        } else if (usart.came <= chip_now()) {
            receive(to_chip.bytes[to_chip.tail++ % LINE_ROOM]);
            usart.coming = to_chip.head != to_chip.tail;
            usart.came += byte_ns();
        }
    }
    if (usart.shifts && usart.sent <= chip_now()) {
        if (from_chip.head - from_chip.tail < LINE_ROOM)
            from_chip.bytes[from_chip.head++ % LINE_ROOM] = (uint8_t)usart.out;
        usart.shifts = usart.holds;
        usart.out = usart.holding;
        usart.sent += byte_ns();
        usart.holds = false;
    }
}

static uint32_t usart_read(uint32_t address) {
    const uint32_t offset = address - REGMODEL_ADDRESS(USART2);
    uint32_t word = 0;
    if (offset == offsetof(usart_t, SR))
        return usart.r.SR | (usart.holds ? 0 : USART_SR_TXE);
    if (offset == offsetof(usart_t, DR)) {
        usart.r.SR &= ~(uint32_t)(USART_SR_RXNE | USART_SR_ORE);
        return usart.in;
    }
    if (offset < sizeof usart.r)
        memcpy(&word, (const char *)&usart.r + offset, sizeof word);
    return word;
}

static void usart_write(uint32_t address, uint32_t value) {
    const uint32_t offset = address - REGMODEL_ADDRESS(USART2);
    if (offset == offsetof(usart_t, DR)) {
        if (!usart_on(USART_CR1_TE) || usart.holds) {
            chip_wrong("a byte that the USART cannot take");
        } else if (usart.shifts) {
            usart.holds = true;
            usart.holding = value;
        } else {
            usart.shifts = true;
            usart.out = value;
            usart.sent = chip_now() + byte_ns();
        }
    } else if (offset != offsetof(usart_t, SR) && offset < sizeof usart.r) {
        memcpy((char *)&usart.r + offset, &value, sizeof value);
    }
}

static uint32_t dma_read(uint32_t address) {
    const uint32_t offset = address - REGMODEL_ADDRESS(DMA1);
    const uint32_t stream = offsetof(dma_t, stream) + DMA_STREAM * sizeof(dma_stream_t);
    uint32_t word = 0;
    if (offset == offsetof(dma_t, ISR) + 4)
        return dma.flags << DMA_SHIFT;
    if (offset == stream + offsetof(dma_stream_t, NDTR))
        return dma.r.CR & DMA_CR_EN ? dma.left : dma.r.NDTR;
    if (offset >= stream && offset < stream + sizeof dma.r)
        memcpy(&word, (const char *)&dma.r + offset - stream, sizeof word);
    return word;
}

static void dma_write(uint32_t address, uint32_t value) {
    const uint32_t offset = address - REGMODEL_ADDRESS(DMA1);
    const uint32_t stream = offsetof(dma_t, stream) + DMA_STREAM * sizeof(dma_stream_t);
    if (offset == offsetof(dma_t, IFCR) + 4)
        dma.flags &= ~(value >> DMA_SHIFT);
    if (offset < stream || offset >= stream + sizeof dma.r)
        return;
    if ((dma.r.CR & DMA_CR_EN) && offset != stream)
        chip_wrong("a running DMA stream is configured");
    else if (offset == stream && (value & DMA_CR_EN) && (dma.r.CR & DMA_CR_EN) == 0)
        dma.left = dma.r.NDTR;
    memcpy((char *)&dma.r + offset - stream, &value, sizeof value);
}

static void lines_reset(void) {
    memset(&usart, 0, sizeof usart);
    memset(&dma, 0, sizeof dma);
    memset(&spi, 0, sizeof spi);
}

void chip_line_send(const void *bytes, size_t count) {
    const uint8_t *from = bytes;
    for (size_t i = 0; i < count; i++)
        to_chip.bytes[to_chip.head++ % LINE_ROOM] = from[i];
    chip_reschedule();
}

size_t chip_line_receive(void *bytes, size_t most) {
    uint8_t *to = bytes;
    size_t n = 0;
    while (n < most && from_chip.tail != from_chip.head)
        to[n++] = from_chip.bytes[from_chip.tail++ % LINE_ROOM];
    return n;
}

bool chip_line_requests(int irq) {
    if (irq == SPI_IRQ) {
        return ((spi.cr2 & CR2_RXNEIE) && (spi.sr & SPI_SR_RXNE)) ||
               ((spi.cr2 & CR2_TXEIE) && !spi.waits);
    }
    if (irq == USART_IRQ) {
        return ((usart.r.CR1 & USART_CR1_TXEIE) && !usart.holds) ||
               ((usart.r.CR1 & USART_CR1_RXNEIE) && (usart.r.SR & (USART_SR_RXNE | USART_SR_ORE)));
    }
    if (irq == DMA_IRQ) {
        return ((dma.r.CR & DMA_CR_HTIE) && (dma.flags & DMA_FLAG_HT)) ||
               ((dma.r.CR & DMA_CR_TCIE) && (dma.flags & DMA_FLAG_TC));
    }
    return false;
}

const chip_device_t chip_lines[] = {
    {0x40003800, 0x40003BFF, RCC_BIT(RCC_BUS_APB1, 14), lines_reset, spi_read, spi_write, spi_due,
     spi_event},
    {0x40004400, 0x400047FF, RCC_BIT(RCC_BUS_APB1, 17), NULL, usart_read, usart_write, usart_due,
     usart_event},
    {0x40026000, 0x400263FF, RCC_BIT(RCC_BUS_AHB, 21), NULL, dma_read, dma_write, NULL, NULL},
};
const unsigned chip_lines_count = sizeof chip_lines / sizeof chip_lines[0];
