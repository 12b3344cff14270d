# shellcheck shell=sh disable=SC2034,SC2089
# Compiler flags to check a single file, for the lints that source this script: a board's code with the register
# model, a kernel in f64, the core of the firmware with its laboratory as on the host.

flags='-DFIRMWARE_LAB -DHAL_REG_MODEL -DUNITY_INCLUDE_CONFIG_H -DBOARD_NAME="board" -DVERSION_NUMBER="0" -DVERSION_COMMIT="0" -DDYN_REAL_H="dyn/number/real_f64.h"'

family() {
    case $1 in
    */f1/* | boards/stm32vldiscovery/* | test/*_f1.[ch] | test/support/hal/flash_f1_model.[ch]) echo "-DHAL_STM32F1 -DHAL_CHIP_STM32F100" ;;
    *) echo "-DHAL_STM32F4 -DHAL_CHIP_STM32F405" ;;
    esac
}

# The number type of the control core for a test: f32, unless test/list.mk says q31 (TEST_REAL_).
core() {
    name=${1##*/test_}
    if grep -q "^TEST_REAL_${name%.c} *:= q31" test/list.mk; then echo "-DCONTROL_Q31"; fi
}

# Where tools/dev/setup.sh has put a library: path_of UNITY_SRC.
path_of() {
    sed -n "s/^$1 := //p" build/deps/paths.mk
}
