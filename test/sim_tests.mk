# The simulator: its integrators and its core as host tests; test_sim.py runs $(APPELL_SAN).
include tools/sim/sim.mk
TESTS_HOST      += sim sim_rk
TEST_SRC_sim_rk := tools/sim/rk.c
TEST_SRC_sim    := $(SIM_CORE) $(addprefix tools/appell/,eval_f64.c eval_gen.c rows.c number.c say.c out.c) $(wildcard tools/gen/*.c) firmware/core/methods.c \
                   tools/robot/messages.c
