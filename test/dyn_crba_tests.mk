# Tests of the solvers, of inertia matrices and of forward dynamics.
TEST_SRC_dyn_solve   := test/dyn_arms.c test/dyn_forward.c
TEST_SRC_dyn_crba    := test/dyn_arms.c test/dyn_forward.c $(if $(filter host,$(BOARD)),test/reference.c)
TEST_LIBS_dyn_crba   := -lcjson
TEST_SRC_dyn_aba     := test/dyn_arms.c test/dyn_forward.c $(if $(filter host,$(BOARD)),test/reference.c)
TEST_LIBS_dyn_aba    := -lcjson
TEST_SRC_dyn_table5  :=
