# The simulator of the host tool: sources and libraries.
#   SIM_CORE   what a test links that needs no program around it
SIM_CORE := $(filter-out %/session.c %/elastic.c %/firmware.c,$(wildcard tools/sim/*.c))
SIM_SRC  := $(wildcard tools/sim/*.c tools/sim/output/*.c tools/shell/*.c)
SIM_LIBS := -ledit

# The page is part of the object.
$(TOOL_OUT)/tools/sim/output/animation.o $(TOOL_OUT)-san/tools/sim/output/animation.o: tools/sim/output/animation.html
