# What the tests of the host tool and of the parameter image link. test_appell.py and test_urdf_kdl.py run
# $(APPELL_SAN), which tools/appell/appell.mk builds for them.
TEST_SRC_image         := firmware/core/image.c
TESTS_HOST             += appell_number run_record
TEST_SRC_appell_number := tools/appell/number.c
TEST_SRC_run_record    := tools/run/record.c

ifeq ($(BOARD),host)
# The oracle of test_urdf_kdl.py; not sanitized, see test/dyn_kdl_tests.mk.
URDF_KDL := $(OUT)/test/urdf_kdl
$(URDF_KDL): test/urdf_kdl.cpp
	@mkdir -p $(@D)
	$(call say,CXX,$@)
	$(Q)$(HOSTCXX) -std=c++14 -O1 -g -I. -MMD -MP -Wall -Wextra -isystem /usr/include/eigen3 $< \
	    -lorocos-kdl -ltinyxml2 -o $@
test-build: $(if $(filter urdf_kdl,$(or $(TEST),urdf_kdl)),$(URDF_KDL))
endif
