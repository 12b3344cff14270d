# The simulator of the host tool: sources and libraries.
#   SIM_CORE   sources that tests can link without the rest of the tool
SIM_CORE := $(filter-out %/session.c %/elastic.c %/firmware.c,$(wildcard tools/sim/*.c))
SIM_SRC  := $(wildcard tools/sim/*.c tools/sim/output/*.c tools/shell/*.c)
SIM_LIBS := -ledit

# animation.c includes the HTML page, so its object depends on it.
$(TOOL_OUT)/tools/sim/output/animation.o $(TOOL_OUT)-san/tools/sim/output/animation.o: tools/sim/output/animation.html
