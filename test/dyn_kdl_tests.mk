# The oracle test against the Orocos KDL (Debian: liborocos-kdl-dev) is the one place with C++.
TESTS_HOST += dyn_kdl
TEST_SRC_dyn_kdl  := test/dyn_arms.c test/dyn_forward.c
TEST_LIBS_dyn_kdl := -lorocos-kdl -lstdc++
ifeq ($(BOARD),host)
HOSTCXX ?= g++
$(OUT)/test/test_dyn_kdl: $(OUT)/test/dyn_kdl/oracle.o
# Not sanitized: Eigen allocates in another way then than in the library, which is not.
$(OUT)/test/dyn_kdl/oracle.o: test/dyn_kdl.cpp
	@mkdir -p $(@D)
	$(call say,CXX,$@)
	$(Q)$(HOSTCXX) -std=c++14 -O1 -g -I. -MMD -MP -Wall -Wextra \
	    -isystem /usr/include/eigen3 -c $< -o $@
endif
