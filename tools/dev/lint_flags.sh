# shellcheck shell=sh disable=SC2034,SC2089
# Compiler flags for checking a single file. Lints source this script. Code of a board is checked with the
# register model of the tests, a kernel in f64, and the core of the firmware as in the host build, with the laboratory.

flags='-DFIRMWARE_LAB -DHAL_REG_MODEL -DUNITY_INCLUDE_CONFIG_H -DBOARD_NAME="board" -DVERSION_NUMBER="0" -DVERSION_COMMIT="0" -DDYN_REAL_H="dyn/number/real_f64.h"'

family() {
    case $1 in
    */f1/* | boards/stm32vldiscovery/* | test/*_f1.[ch] | test/support/hal/flash_f1_model.[ch]) echo "-DHAL_STM32F1 -DHAL_CHIP_STM32F100" ;;
    *) echo "-DHAL_STM32F4 -DHAL_CHIP_STM32F405" ;;
    esac
}

# Prints the compiler flag for the number type of a test's control core: -DCONTROL_Q31 if TEST_REAL_
# in test/list.mk says q31, nothing for f32.
core() {
    name=${1##*/test_}
    if grep -q "^TEST_REAL_${name%.c} *:= q31" test/list.mk; then echo "-DCONTROL_Q31"; fi
}

# Prints the folder of a library that tools/dev/setup.sh has installed, as in `path_of UNITY_SRC`.
path_of() {
    sed -n "s/^$1 := //p" build/deps/paths.mk
}
