#!/bin/sh
# Writes a firmware image into a board through its debug probe. If that fails, prints what to connect.
# usage: flash.sh BOARD FLASHER IMAGE.elf [openocd options...]     (make flash BOARD=x calls it)
set -u

board=$1 flasher=$2 elf=$3
shift 3
log=$(dirname "$elf")/flash.log

fail() {
    echo "flash: $1" >&2
    exit 1
}

case $flasher in
openocd)
    openocd "$@" -c "program $elf verify reset exit" >"$log" 2>&1 && status=0 || status=$?
    ;;
st-flash)
    bin=${elf%.elf}.bin
    "${CROSS:-arm-none-eabi-}objcopy" -O binary "$elf" "$bin" || fail "cannot convert $elf"
    st-flash --reset write "$bin" 0x08000000 >"$log" 2>&1 && status=0 || status=$?
    ;;
*)
    fail "$board is no hardware that can be flashed; make run BOARD=$board runs it in the emulator"
    ;;
esac

if [ "$status" -eq 0 ]; then
    echo "flash: $elf is in $board, verified, and was started"
    exit 0
fi
if grep -Eqi "open failed|no device found|couldn't find any st-link|unable to (find|open)|init mode failed" "$log"; then
    cat >&2 <<TEXT
flash: no debug probe answers.
  - Plug the board's ST-LINK (or a probe wired to SWDIO, SWCLK, GND) into USB; lsusb should show 0483:37xx.
  - Power the board: an ST-LINK does not power most targets.
  - As an ordinary user the probe must be yours to open: the packages openocd and stlink-tools bring udev
    rules; unplug and plug in again after installing them.
  - Another program (a debugger, another openocd) may hold the probe: end it.
The probe software said (whole text in $log):
TEXT
    grep -Ei "error|fail|find" "$log" | head -n 3 | sed 's/^/  /' >&2
    exit 1
fi
echo "flash: $flasher failed, the last lines of $log:" >&2
tail -n 8 "$log" | sed 's/^/  /' >&2
exit 1
