# What the tests of dyn/ and tools/backend/ link. range, count and trace are host tools.
TESTS_HOST += dyn_count dyn_range dyn_trace fixed
TEST_SRC_dyn_golden  := test/dyn_arms.c $(if $(filter host,$(BOARD)),test/golden.c)
TEST_LIBS_dyn_golden := -lcjson
TEST_SRC_dyn_convert := test/dyn_arms.c
TEST_SRC_dyn_trig    := test/dyn_arms.c
TEST_SRC_dyn_same    := test/dyn_arms.c test/dyn_yardstick.c
TEST_SRC_dyn_count   := test/dyn_arms.c
TEST_SRC_dyn_range   := test/dyn_arms.c
TEST_SRC_fixed       := test/dyn_arms.c
TEST_SRC_dyn_trace   := test/dyn_arms.c tools/gen/anneal.c
TEST_SRC_dyn_words   := test/dyn_arms.c test/dyn_words_f32.c test/dyn_words_f64.c test/dyn_words_q31.c
