# The application: on the host in f32 and q31, on a board in the number type of its loop.
TESTS_HOST           += control_q31
TEST_SRC_control     := test/control_arm.c test/dyn_arms.c
TEST_SRC_control_q31 := test/control_arm.c test/dyn_arms.c
