# shellcheck shell=sh disable=SC2034,SC2089
# How a file is judged on its own, for the lints that source this: a board's code against the register model, a
# kernel as its f64 instance.

flags='-DHAL_REG_MODEL -DUNITY_INCLUDE_CONFIG_H -DBOARD_NAME="board" -DDYN_REAL_H="dyn/number/real_f64.h"'

family() {
    case $1 in
    */f1/* | boards/stm32vldiscovery/* | test/*_f1.[ch] | test/support/hal/flash_f1_model.[ch]) echo "-DHAL_STM32F1 -DHAL_CHIP_STM32F100" ;;
    *) echo "-DHAL_STM32F4 -DHAL_CHIP_STM32F405" ;;
    esac
}

# Where tools/dev/setup.sh has put a library: path_of UNITY_SRC.
path_of() {
    sed -n "s/^$1 := //p" build/deps/paths.mk
}
