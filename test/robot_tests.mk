# Host tests of the readers of robot descriptions (tools/robot). They share one sanitized archive: ten
# tests with twelve sources each would be compiled ten times.
include tools/robot/robot.mk

ROBOT_TESTS    := golden urdf parts bad save check load fuzz_yaml fuzz_urdf fuzz_parts fuzz_image
ROBOT_TEST_LIB := $(OUT)/test/librobot.a

FUZZ_TARGETS := yaml urdf parts image
$(foreach t,$(FUZZ_TARGETS),$(eval TEST_SRC_robot_fuzz_$t := test/fuzz_robot_$t.c test/fuzz_driver.c))
# In this order: the readers need the dynamics.
$(foreach t,$(ROBOT_TESTS),$(eval TEST_LIBS_robot_$t := $(ROBOT_TEST_LIB) $(OUT)/libdyn.a $(ROBOT_LIBS)))
TEST_LIBS_robot_golden += -lcjson
# Images need what the tool has beside the readers.
FUZZ_IMAGE_SRC := firmware/core/image.c firmware/core/image_flex.c tools/appell/robot_image.c tools/appell/units.c \
                  firmware/core/methods.c
TEST_SRC_robot_fuzz_image += $(FUZZ_IMAGE_SRC)
TESTS_HOST += $(addprefix robot_,$(ROBOT_TESTS))

ifeq ($(BOARD),host)
# The readers as the sanitized tool has them (tools/appell/appell.mk).
ROBOT_TEST_OBJ := $(ROBOT_SRC:%.c=$(TOOL_OUT)-san/%.o) $(OUT)/test/common/test/robot_help.o

$(ROBOT_TESTS:%=$(OUT)/test/test_robot_%): $(ROBOT_TEST_LIB)

$(ROBOT_TEST_LIB): $(ROBOT_TEST_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^
endif

# The same targets with the fuzzer of clang, which looks where its inputs lead; FUZZ_TIME in seconds.
FUZZ_TIME ?= 600
FUZZ_OUT  := $(BUILD)/fuzz
fuzz_seeds_yaml  := $(filter-out %/cmu-dd.yaml,$(wildcard tools/robots/*.yaml)) $(filter-out %/parts.yaml,$(wildcard test/robot_data/*.yaml))
fuzz_seeds_urdf  := $(wildcard test/robot_data/*.urdf ../shared/robots/*.urdf)
fuzz_seeds_parts := tools/robots/cmu-dd.yaml test/robot_data/parts.yaml
.PHONY: $(FUZZ_TARGETS:%=fuzz-%)
$(FUZZ_TARGETS:%=fuzz-%): fuzz-%: $(FUZZ_OUT)/%
	@mkdir -p $(FUZZ_OUT)/corpus-$*
	$(if $(fuzz_seeds_$*),@cp $(fuzz_seeds_$*) $(FUZZ_OUT)/corpus-$*/,@for r in puma560 stanford planar3r; do \
	    $(APPELL) image -q $$r -o $(FUZZ_OUT)/corpus-$*/$$r.img || exit 1; done)
	@$< -max_len=20000 -timeout=20 -max_total_time=$(FUZZ_TIME) -artifact_prefix=$(FUZZ_OUT)/found-$*- $(FUZZ_OUT)/corpus-$*
fuzz-image: $(APPELL)
$(FUZZ_TARGETS:%=$(FUZZ_OUT)/%): $(FUZZ_OUT)/%: test/fuzz_robot_%.c test/fuzz_driver.c $(ROBOT_SRC) $(FUZZ_IMAGE_SRC) $(DYN_TOOL_LIB)
	@mkdir -p $(@D)
	$(call say,FUZZ,$@)
	$(Q)clang $(filter-out -MMD -MP,$(COMMON)) -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
	    $(filter-out $(if $(filter image,$*),,$(FUZZ_IMAGE_SRC)),$^) $(ROBOT_LIBS) -lm -o $@
