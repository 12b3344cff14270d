# The simulator of the host tool: sources and libraries.
#   SIM_CORE   what a test links that needs no program around it
SIM_CORE := $(addprefix tools/sim/,rk.c sim.c stops.c drives.c rigid.c motion.c table.c source.c)
SIM_SRC  := $(SIM_CORE) $(addprefix tools/sim/,session.c csv.c plot.c animation.c line.c shell.c \
            elastic.c elastic_output.c firmware.c)
SIM_LIBS := -ledit

# The page is part of the object.
$(TOOL_OUT)/tools/sim/animation.o $(TOOL_OUT)-san/tools/sim/animation.o: tools/sim/animation.html
