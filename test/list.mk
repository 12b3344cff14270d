# The list of the tests: what each links in addition to the core and the dynamics, and where it runs. test/tests.mk
# explains the variables.

# Sources with arms, other formulations and golden values.
ARMS      := test/support/dyn/dyn_arms.c
FORWARD   := $(ARMS) test/support/dyn/dyn_forward.c
REFERENCE := $(if $(filter host,$(BOARD)),test/support/dyn/reference.c)
FLEX_ARMS := test/support/dyn/flex_arms.c
FLEX_BODY := $(FLEX_ARMS) test/support/dyn/flex_reference.c $(ARMS)
ON_BOARD  := test/support/control_arm.c $(ARMS)

# Tests of the chip itself and of constant time run only on a board.
TESTS_TARGET := fault tick cycles hal_emulated dyn_constant

# dyn/
TESTS_HOST += dyn_agree dyn_kdl dyn_mujoco flex flex_motion flex_backends
TEST_SRC_dyn_golden      := $(ARMS) $(if $(filter host,$(BOARD)),test/support/dyn/golden.c)
TEST_SRC_dyn_convert     := $(ARMS)
TEST_SRC_dyn_trig        := $(ARMS)
TEST_SRC_dyn_same        := $(ARMS) test/support/dyn/dyn_yardstick.c
TEST_SRC_dyn_words       := $(ARMS) $(addprefix test/support/dyn/dyn_words_,f32.c f64.c q31.c)
TEST_SRC_dyn_constant    := $(ARMS)
TEST_SRC_dyn_drive       := $(ARMS) $(REFERENCE)
TEST_SRC_dyn_kinematics  := $(ARMS) $(REFERENCE)
TEST_SRC_dyn_wrench      := $(ARMS) $(REFERENCE)
TEST_SRC_dyn_solve       := $(FORWARD)
TEST_SRC_dyn_kdl         := $(FORWARD)
TEST_SRC_dyn_agree       := $(FORWARD) $(REFERENCE)
TEST_SRC_dyn_crba        := $(FORWARD) $(REFERENCE)
TEST_SRC_dyn_aba         := $(FORWARD) $(REFERENCE)
TEST_SRC_dyn_denoc       := $(FORWARD) $(REFERENCE)
TEST_SRC_dyn_ga          := $(FORWARD) $(REFERENCE)
TEST_SRC_dyn_fast        := $(FORWARD) $(REFERENCE)
TEST_SRC_flex            := $(FLEX_BODY)
TEST_SRC_flex_motion     := $(FLEX_BODY)
TEST_SRC_flex_backends   := $(FLEX_ARMS) $(ARMS)
$(foreach t,golden drive kinematics wrench agree crba aba denoc ga fast,$(eval TEST_LIBS_dyn_$t := -lcjson))
TEST_LIBS_dyn_kdl        := -lorocos-kdl -lstdc++
TEST_SRC_dyn_mujoco      := test/support/mujoco_arm.c
TEST_LIBS_dyn_mujoco      = $(ROBOT_TEST_LIB) $(OUT)/libdyn.a $(ROBOT_LIBS) -lmujoco
FLEX_TEST_LIBS = $(ROBOT_TEST_LIB) $(OUT)/libdyn.a $(ROBOT_LIBS) -lcjson
TEST_LIBS_flex         = $(FLEX_TEST_LIBS)
TEST_LIBS_flex_motion  = $(FLEX_TEST_LIBS)

# hal/: the drivers against the register model, compiled for a chip family.
HAL_MODEL   := test/support/hal/regmodel.c hal/host/irq.c
HAL_FAKES   := $(HAL_MODEL) test/support/fake_clock.c
HAL_DEFS_F4 := -DHAL_REG_MODEL -DHAL_STM32F4
HAL_DEFS_F1 := -DHAL_REG_MODEL -DHAL_STM32F1

HAL_TESTS_F4 := flash_f4 clock_f4 clock_failure gpio_f4 motor latch encoder switches uart watchdog power supply reset tick boards
HAL_TESTS_F1 := flash_f1 clock_f1 gpio_f1 motor_f1 encoder_f1 uart_f1 watchdog_f1 power_f1 supply_f1 boards_f1

TEST_SRC_hal_flash_f4  := firmware/medium.c hal/stm32/flash.c hal/stm32/f4/flash.c $(HAL_FAKES)
TEST_SRC_hal_flash_f1  := firmware/medium.c hal/stm32/flash.c hal/stm32/f1/flash.c test/support/hal/flash_f1_model.c $(HAL_FAKES)
TEST_SRC_hal_clock_f4  := hal/stm32/f4/clock.c $(HAL_MODEL)
TEST_SRC_hal_clock_f1  := hal/stm32/f1/clock.c $(HAL_MODEL)
TEST_SRC_hal_clock_failure := hal/stm32/clock_failure.c $(HAL_MODEL)
TEST_SRC_hal_gpio_f4   := hal/stm32/f4/gpio.c $(HAL_FAKES)
TEST_SRC_hal_gpio_f1   := hal/stm32/f1/gpio.c $(HAL_FAKES)
HAL_MOTOR := $(addprefix hal/stm32/,motor.c latch.c) test/support/hal/motor_model.c $(HAL_FAKES)
TEST_SRC_hal_motor     := $(HAL_MOTOR) hal/stm32/f4/gpio.c
TEST_SRC_hal_motor_f1  := $(HAL_MOTOR) hal/stm32/f1/gpio.c
TEST_SRC_hal_latch     := $(HAL_MOTOR) hal/stm32/f4/gpio.c
# The model of the motor timers lets something happen before any access to a register.
$(foreach t,motor motor_f1 latch,$(eval TEST_LIBS_hal_$t := -Wl,--wrap=reg_read,--wrap=reg_write))
TEST_SRC_hal_encoder   := hal/stm32/encoder.c hal/stm32/f4/gpio.c $(HAL_FAKES)
TEST_SRC_hal_encoder_f1 := hal/stm32/encoder.c hal/stm32/f1/gpio.c $(HAL_FAKES)
TEST_SRC_hal_switches  := hal/stm32/switches.c hal/stm32/f4/gpio.c $(HAL_FAKES)
TEST_SRC_hal_uart      := hal/stm32/uart.c hal/stm32/f4/dma.c hal/stm32/f4/gpio.c $(HAL_FAKES)
TEST_SRC_hal_uart_f1   := hal/stm32/uart.c hal/stm32/f1/dma.c hal/stm32/f1/gpio.c $(HAL_FAKES)
TEST_SRC_hal_watchdog  := hal/stm32/watchdog.c $(HAL_FAKES)
TEST_SRC_hal_watchdog_f1 := hal/stm32/watchdog.c $(HAL_FAKES)
TEST_SRC_hal_power     := hal/stm32/power.c $(HAL_FAKES)
TEST_SRC_hal_power_f1  := hal/stm32/power.c $(HAL_FAKES)
TEST_SRC_hal_supply    := hal/stm32/supply.c hal/stm32/f4/gpio.c $(HAL_FAKES)
TEST_SRC_hal_supply_f1 := hal/stm32/supply.c hal/stm32/f1/gpio.c $(HAL_FAKES)
TEST_SRC_hal_reset     := hal/stm32/reset.c $(HAL_FAKES)
TEST_SRC_hal_tick      := hal/stm32/tick_tim2.c hal/stm32/f4/counter.c $(HAL_FAKES)

$(foreach t,$(HAL_TESTS_F4),$(eval TEST_DEFS_hal_$t := $(HAL_DEFS_F4)))
$(foreach t,$(HAL_TESTS_F1),$(eval TEST_DEFS_hal_$t := $(HAL_DEFS_F1)))
TEST_DEFS_hal_uart    += -DUART_TX_RING=16 -DUART_RX_RING=8
TEST_DEFS_hal_uart_f1 += -DUART_TX_RING=16 -DUART_RX_RING=8

TESTS_HOST   += $(addprefix hal_,$(HAL_TESTS_F4) $(HAL_TESTS_F1))

# firmware/: on the host in f32, or in q31 with TEST_REAL_<name>; on a board in the number type of its core.
TESTS_HOST += control_q31 jog jog_q31 fixed direction effort effort_q31 sensors sensors_q31 thermal thermal_q31 between fit preempt preempt_q31 store link link_f1 supervisor supervisor_model lease held
TESTS_HOST += supervisor_unit guard stop homing direction_unit effort_unit sensors_unit
# Only control loops in floats have elastic links.
TESTS_HOST += $(if $(filter q31,$(CONTROL_REAL)),flex_control)
TEST_SRC_control      := $(ON_BOARD)
TEST_SRC_control_q31  := $(ON_BOARD)
TEST_REAL_control_q31 := q31
TEST_REAL_jog_q31     := q31
TEST_SRC_fixed        := $(ARMS)
TEST_REAL_fixed       := q31
TEST_SRC_flex_control := $(FLEX_ARMS)
TEST_SRC_direction    := $(ON_BOARD)
TEST_SRC_effort       := $(ON_BOARD)
TEST_SRC_effort_q31   := $(ON_BOARD)
TEST_REAL_effort_q31  := q31
TEST_SRC_sensors      := $(ON_BOARD)
TEST_SRC_sensors_q31  := $(ON_BOARD)
TEST_REAL_sensors_q31 := q31
TEST_SRC_thermal      := $(ON_BOARD)
TEST_SRC_thermal_q31  := $(ON_BOARD)
TEST_REAL_thermal_q31 := q31
# The background calls the wrapped functions; the test runs a tick inside them.
TEST_SRC_fit          := test/support/planar_image.c
TEST_SRC_supervisor   := test/support/planar_image.c
TEST_SRC_supervisor_model := $(addprefix test/support/,supervisor_model.c supervisor_model_guards.c supervisor_model_requests.c supervisor_model_parameters.c \
                             supervisor_model_board.c supervisor_model_limits.c supervisor_script.c supervisor_rig.c supervisor_line.c planar_image.c) \
                             test/support/power_cut.c
TEST_SRC_lease        := test/support/planar_image.c
TEST_SRC_held         := test/support/planar_image.c
TEST_SRC_between      := $(ON_BOARD)
TEST_LIBS_between     := -Wl,--wrap=setup_position,--wrap=app_exponent,--wrap=app_state_next
# The core is compiled again with a call in each basic block; the test runs a tick in such a call.
PREEMPT_SRC           := $(ON_BOARD) $(foreach f,app control safety sim_arm,$(wildcard firmware/$(f)/*.c))
PREEMPT_DEFS          := -fsanitize-coverage=trace-pc -DCONTROL_TWIN
TEST_SRC_preempt      := $(PREEMPT_SRC)
TEST_SRC_preempt_q31  := $(PREEMPT_SRC)
TEST_DEFS_preempt     := $(PREEMPT_DEFS)
TEST_DEFS_preempt_q31 := $(PREEMPT_DEFS) $(CORE_DEFS_q31)
TEST_REAL_preempt_q31 := q31
TEST_SRC_image        :=
# What the ports of the tool need.
PORT_SRC              := $(wildcard tools/link/port*.c) tools/link/hub.c tools/link/run_folder.c tools/cli/text.c tools/cli/messages.c
TEST_SRC_store        := test/support/power_cut.c
TEST_SRC_link         := test/support/power_cut.c $(wildcard tools/link/client*.c) $(PORT_SRC) test/support/link_board.c \
                         test/support/planar_image.c
# The server as the 8 KB board builds it, on the flash driver of its chip and a model of the flash controller.
F1_BOARD_DEFS     := $(filter -DAPP_% -DSERVER_%,$(shell sed -n 's/^BOARD_DEFS *:=//p' boards/stm32vldiscovery/board.mk))
TEST_DEFS_link_f1  = $(HAL_DEFS_F1) $(F1_BOARD_DEFS) $(CORE_DEFS_q31)
TEST_SRC_link_f1   = $(TEST_SRC_link) $(TEST_SRC_hal_flash_f1) $(ON_BOARD) \
                     $(foreach f,app control safety sim_arm link,$(wildcard firmware/$(f)/*.c))
TEST_REAL_link_f1 := q31

# The whole firmware of the nucleo-f446re on a model of its chip, with an arm of MuJoCo at its pins.
SEAM_HAL := $(HAL_SRC_stm32) $(wildcard hal/stm32/f4/*.c) hal/stm32/tick_tim2.c hal/cortexm/reset.c boards/nucleo-f446re/board.c
TEST_SRC_seam  := $(addprefix test/support/hal/,regmodel.c chip.c chip_timers.c chip_pins.c chip_lines.c chip_core.c firmware_main.c rig.c) \
                  test/support/seam_board.c test/support/mujoco_arm.c $(SEAM_HAL) $(filter-out firmware/main.c,$(wildcard firmware/*.c)) firmware/app/version.c \
                  $(wildcard tools/link/client*.c tools/image/robot_image_*.c) $(PORT_SRC) tools/proof/units.c
TEST_DEFS_seam := $(HAL_DEFS_F4) -DHAL_CHIP_STM32F446 -DBOARD_NAME='"nucleo-f446re"'
TEST_LIBS_seam  = $(ROBOT_TEST_LIB) $(OUT)/libdyn.a $(ROBOT_LIBS) -lmujoco
SEAM_TESTS := seam_sensors seam_dead seam_brakes
$(foreach t,$(SEAM_TESTS),$(eval TEST_SRC_$t = $$(TEST_SRC_seam))$(eval TEST_LIBS_$t = $$(TEST_LIBS_seam))$(eval TEST_WITH_$t := seam))
TESTS_HOST += seam $(SEAM_TESTS)

# tools/: range, count, trace, the readers and the simulator exist only on the host.
TESTS_HOST += hub screen dyn_count dyn_range dyn_trace appell_number run_record robot_modes silicon_report sim sim_rk
TEST_SRC_dyn_count     := $(ARMS)
TEST_SRC_dyn_range     := $(ARMS)
TEST_SRC_dyn_trace     := $(ARMS) tools/gen/anneal.c
TEST_SRC_appell_number := tools/cli/number.c
TEST_SRC_run_record    := tools/motion/record.c
TEST_SRC_hub           := $(PORT_SRC)
TEST_SRC_screen        := tools/monitor/screen.c
TEST_SRC_silicon_report := tools/link/silicon.c
TEST_LIBS_silicon_report = $(ROBOT_LIBS)
TEST_SRC_robot_modes   := $(FLEX_ARMS)
TEST_LIBS_robot_modes   = $(FLEX_TEST_LIBS)
TEST_SRC_sim_rk        := tools/sim/rk.c
TEST_SRC_sim           := $(SIM_CORE) tools/eval/eval_f64.c tools/eval/eval_gen.c $(addprefix tools/cli/,rows.c number.c diagnostics.c out.c progress.c messages.c text.c) \
                          $(wildcard tools/gen/*.c) tools/proof/units.c firmware/lab/methods.c
ROBOT_TESTS    := golden urdf parts bad save check load accept fuzz_yaml fuzz_urdf fuzz_parts fuzz_image
TESTS_HOST     += $(addprefix robot_,$(ROBOT_TESTS))
# The readers check numbers with the table of the robot image. The fuzz target `image` also needs sources of the tool other than the readers.
FUZZ_ROBOT_SRC := $(addprefix firmware/params/,image.c parameters.c bytes.c)
FUZZ_TARGETS   := yaml urdf parts image
FUZZ_IMAGE_SRC := $(addprefix firmware/params/,image_flex.c image_model.c) $(wildcard tools/image/robot_image_*.c) tools/proof/units.c \
                  firmware/lab/methods.c
$(foreach t,$(FUZZ_TARGETS),$(eval TEST_SRC_robot_fuzz_$t := test/fuzz/fuzz_robot_$t.c test/fuzz/fuzz_driver.c))
TEST_SRC_robot_fuzz_image += $(FUZZ_IMAGE_SRC)
TEST_SRC_robot_accept := $(filter tools/%,$(FUZZ_IMAGE_SRC))
# The link order matters: the robot readers use the dynamics, so that library comes after them.
$(foreach t,$(ROBOT_TESTS),$(eval TEST_LIBS_robot_$t := $(ROBOT_TEST_LIB) $(CORE_LIB) $(OUT)/libdyn.a $(ROBOT_LIBS)))
TEST_LIBS_robot_golden += -lcjson

# Scripts.
SCRIPT_BOARDS_boot   := $(QEMU_BOARDS)
SCRIPT_BIN_boot       = $(if $(LAB),$(TEST_OUT)/uart_echo.elf)
# This script takes its board from test_skips.py.
SCRIPT_BOARDS_skips_latch := netduinoplus2
# These scripts need no board: they only name boards in reports that they invent.
SCRIPT_BOARDS_guards :=
SCRIPT_BOARDS_pages  :=
SCRIPT_BOARDS_completion :=
# Number of jobs of the long scripts. No job should take much more than 40 s while others run on two cores.
SCRIPT_PARTS_link   := 4
SCRIPT_PARTS_gen    := 3
SCRIPT_PARTS_appell := 3
SCRIPT_PARTS_config := 5
SCRIPT_PARTS_sim    := 2
SCRIPT_PARTS_faults := 2
SCRIPT_PARTS_move   := 3
SCRIPT_PARTS_first_hour := 3
SCRIPT_PARTS_emulate := 2
