# What the tests of the link and of the parameter store need. Frames run on the target, too; the rest is for
# the host.
LINK_CORE := firmware/core/crc.c firmware/core/frame.c

TEST_SRC_frame := $(LINK_CORE)
TEST_SRC_store := $(LINK_CORE) firmware/core/store.c tools/link/cut.c
TESTS_HOST     += store
