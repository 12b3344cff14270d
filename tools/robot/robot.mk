# The readers of robot descriptions, for the Makefile of the tree: sources and libraries.
ROBOT_SRC  := tools/cli/messages.c tools/cli/text.c $(wildcard tools/robot/*.c)
ROBOT_LIBS := $(shell pkg-config --libs libcyaml yaml-0.1 expat 2>/dev/null || echo -lcyaml -lyaml -lexpat)
