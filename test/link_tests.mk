# What the tests of the link and of the parameter store link beside the core of the firmware. Frames run on
# the target, too; the rest is for the host.
TESTS_HOST     += store link
TEST_SRC_store := tools/link/cut.c
TEST_SRC_link  := tools/link/cut.c tools/link/client.c tools/link/stream.c tools/link/port.c test/link_board.c
TESTS_HOST     += supervisor
