# Host tests of the drivers against the register model: what each links, and for which chip family the
# drivers are compiled.
HAL_MODEL   := test/regmodel.c hal/host/irq.c
HAL_FAKES   := $(HAL_MODEL) test/fake_clock.c
HAL_DEFS_F4 := -DHAL_REG_MODEL -DHAL_STM32F4
HAL_DEFS_F1 := -DHAL_REG_MODEL -DHAL_STM32F1

HAL_TESTS_F4 := flash_f4 clock_f4 gpio_f4 motor encoder switches uart watchdog supply reset tick boards
HAL_TESTS_F1 := flash_f1 clock_f1 gpio_f1 motor_f1 uart_f1 supply_f1 boards_f1

TEST_SRC_hal_flash_f4  := firmware/medium.c hal/stm32/flash.c hal/stm32/f4/flash.c $(HAL_FAKES)
TEST_SRC_hal_flash_f1  := firmware/medium.c hal/stm32/flash.c hal/stm32/f1/flash.c test/flash_f1_model.c $(HAL_FAKES)
TEST_SRC_hal_clock_f4  := hal/stm32/f4/clock.c $(HAL_MODEL)
TEST_SRC_hal_clock_f1  := hal/stm32/f1/clock.c $(HAL_MODEL)
TEST_SRC_hal_gpio_f4   := hal/stm32/f4/gpio.c $(HAL_FAKES)
TEST_SRC_hal_gpio_f1   := hal/stm32/f1/gpio.c $(HAL_FAKES)
TEST_SRC_hal_motor     := hal/stm32/motor.c hal/stm32/f4/gpio.c $(HAL_FAKES)
TEST_SRC_hal_motor_f1  := hal/stm32/motor.c hal/stm32/f1/gpio.c $(HAL_FAKES)
TEST_SRC_hal_encoder   := hal/stm32/encoder.c hal/stm32/f4/gpio.c $(HAL_FAKES)
TEST_SRC_hal_switches  := hal/stm32/switches.c hal/stm32/f4/gpio.c $(HAL_FAKES)
TEST_SRC_hal_uart      := hal/stm32/uart.c hal/stm32/f4/dma.c hal/stm32/f4/gpio.c $(HAL_FAKES)
TEST_SRC_hal_uart_f1   := hal/stm32/uart.c hal/stm32/f1/dma.c hal/stm32/f1/gpio.c $(HAL_FAKES)
TEST_SRC_hal_watchdog  := hal/stm32/watchdog.c $(HAL_FAKES)
TEST_SRC_hal_supply    := hal/stm32/supply.c hal/stm32/f4/gpio.c $(HAL_FAKES)
TEST_SRC_hal_supply_f1 := hal/stm32/supply.c hal/stm32/f1/gpio.c $(HAL_FAKES)
TEST_SRC_hal_reset     := hal/stm32/reset.c $(HAL_FAKES)
TEST_SRC_hal_tick      := hal/stm32/tick_tim2.c hal/stm32/f4/counter.c $(HAL_FAKES)

$(foreach t,$(HAL_TESTS_F4),$(eval TEST_DEFS_hal_$t := $(HAL_DEFS_F4)))
$(foreach t,$(HAL_TESTS_F1),$(eval TEST_DEFS_hal_$t := $(HAL_DEFS_F1)))
TEST_DEFS_hal_uart    += -DUART_TX_RING=16 -DUART_RX_RING=8
TEST_DEFS_hal_uart_f1 += -DUART_TX_RING=16 -DUART_RX_RING=8

TESTS_TARGET += hal_emulated
TESTS_HOST   += $(addprefix hal_,$(HAL_TESTS_F4) $(HAL_TESTS_F1))
