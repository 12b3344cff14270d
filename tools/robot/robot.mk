# The readers of robot descriptions, for the Makefile of the tree: sources and libraries.
ROBOT_SRC  := tools/cli/messages.c $(addprefix tools/robot/,tree.c schema.c robot_file.c parts.c solid.c pose.c \
              urdf_xml.c urdf.c load.c save.c check.c modes.c)
ROBOT_LIBS := $(shell pkg-config --libs libcyaml yaml-0.1 expat 2>/dev/null || echo -lcyaml -lyaml -lexpat)
