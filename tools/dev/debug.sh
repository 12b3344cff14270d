#!/bin/sh
# Starts gdb on a board's firmware, in the emulator or through a debug probe.
# usage: debug.sh IMAGE.elf SERVER COMMAND...     (make debug BOARD=x [PROBE=1] calls it)
# SERVER is the name of the gdb server in messages; COMMAND starts that server on localhost:3333.
set -u

elf=$1 server=$2
shift 2
log=$(dirname "$elf")/debug.log

"$@" >"$log" 2>&1 </dev/null &
pid=$!
trap 'kill $pid 2>/dev/null' EXIT
sleep 1
if ! kill -0 $pid 2>/dev/null; then
    echo "debug: the $server did not start:" >&2
    tail -n 5 "$log" | sed 's/^/  /' >&2
    [ "$server" = probe ] && echo "debug: plug in and power the board and its probe; make flash BOARD=... says more" >&2
    exit 1
fi
echo "debug: the console of the board goes to $log"
gdb-multiarch -q "$elf" -ex "target remote localhost:3333" -ex "load" -ex "tbreak main" -ex "continue"
