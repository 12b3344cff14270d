# The application: on the host in f32 and q31, on a board in the number type of its loop.
TESTS_HOST           += control_q31
TEST_SRC_control     := test/control_arm.c test/dyn_arms.c
TEST_SRC_control_q31 := test/control_arm.c test/dyn_arms.c
TESTS_HOST           += direction
TEST_SRC_direction   := test/control_arm.c test/dyn_arms.c
# The tick comes out of these functions, which the background calls.
TESTS_HOST           += between
TEST_SRC_between     := test/control_arm.c test/dyn_arms.c
TEST_LIBS_between    := -Wl,--wrap=setup_position_f32,--wrap=app_exponent_f32,--wrap=app_state_next
# The core once more, with a call in each of its blocks: there the tick may come.
TESTS_HOST += preempt preempt_q31
PREEMPT_SRC          := test/control_arm.c test/dyn_arms.c $(CORE_KERNELS:%=firmware/core/%.c)
PREEMPT_DEFS          = -fsanitize-coverage=trace-pc -DCONTROL_TWIN $(call DYN_REAL_H,$1)
TEST_SRC_preempt     := $(PREEMPT_SRC)
TEST_SRC_preempt_q31 := $(PREEMPT_SRC)
TEST_DEFS_preempt     = $(call PREEMPT_DEFS,f32)
TEST_DEFS_preempt_q31 = $(call PREEMPT_DEFS,q31)
