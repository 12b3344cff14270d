# The application: on the host in f32 and q31, on a board in the number type of its loop.
TESTS_HOST           += control_q31
TEST_SRC_control     := test/control_arm.c test/dyn_arms.c
TEST_SRC_control_q31 := test/control_arm.c test/dyn_arms.c
# The tick comes out of these functions, which the background calls.
TESTS_HOST           += between
TEST_SRC_between     := test/control_arm.c test/dyn_arms.c
TEST_LIBS_between    := -Wl,--wrap=setup_position_f32,--wrap=app_exponent_f32,--wrap=app_state_next
