# The functions that the firmware's calls through pointers can reach, for tools/dev/stack.py. The link has one handler
# for each message of its table.
comma := ,
empty :=
space := $(empty) $(empty)
LINK_HANDLERS := $(shell sed -n 's/^ *X.[0-9]*, \([A-Z_]*\), \(ONCE\|AGAIN\).*/serve_\1/p' firmware/link/protocol.h)

STACK_INDIRECT := dispatch:$(subst $(space),$(comma),$(strip $(LINK_HANDLERS))) \
    medium_read:slot_read medium_erase:slot_erase medium_program:slot_program \
    line_read:link_read line_room:link_room line_write:link_write start_again:link_reset \
    port_counters:link_counters port_crash:link_crash port_crash_clear:link_crash_clear
# Batch evaluation: the functions of each number type that the board has (firmware/lab/batch_body.inc).
STACK_INDIRECT += $(if $(filter-out -,$(BATCH_REALS)), \
    batch_describe:board_describe batch_load:board_load batch_run:board_run batch_wrench:board_wrench \
    board_load:prepare board_wrench:set_wrench board_run:ready$(comma)row$(comma)cost, \
    batch_describe:- batch_load:- batch_run:- batch_wrench:-)
# Flash: functions in RAM are called through a register.
STACK_INDIRECT += $(if $(filter stm32%,$(FAMILY)), flash_chip_erase:start_and_wait$(comma)wait_while_busy \
    unlock:wait_while_busy flash_chip_program:wait_while_busy)
# On the emulated F2 and F4 `restart` begins with an empty stack, so it adds nothing.
STACK_INDIRECT += $(if $(filter stm32f4,$(FAMILY)), restart:-)
