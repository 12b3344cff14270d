#!/bin/sh
# Static analysis with one configuration for everybody. usage: lint_static.sh cppcheck|clang-tidy FILE...
set -eu

# shellcheck source-path=SCRIPTDIR source=lint_flags.sh
. "$(dirname "$0")/lint_flags.sh"

tool=$1
shift

# Skips files that these tools cannot check: start-up code, two tests and two files of the self-test of a chip, which consist of linker symbols, registers
# and assembly (gcc and the test runs check them), and the bench of generated code, whose headers exist only in the
# build of a board.
judged() {
    case $1 in
    hal/cortexm/* | hal/mps2/* | test/support/semihost.c | test/hal/test_fault.c | test/hal/test_cycles.c | test/silicon/chip.c | test/silicon/main.c | test/bench/bench_gen.c) return 1 ;;
    *.c) return 0 ;;
    esac
    return 1
}

case $tool in
cppcheck)
    for f1 in "-DHAL_STM32F1" "-DHAL_STM32F4"; do
        list=
        for file in "$@"; do
            case $(family "$file") in "$f1"*) judged "$file" && list="$list $file" ;; esac
        done
        # shellcheck disable=SC2046,SC2086,SC2090
        [ -z "$list" ] || cppcheck --quiet --std=c11 --language=c --error-exitcode=1 --inline-suppr \
            -j "$(nproc)" -I. --enable=warning,performance,portability --suppress=missingIncludeSystem \
            --suppress=unknownMacro --suppress=shiftTooManyBitsSigned --suppress=selfAssignment $flags $(family "$list") $list
    done
    ;;
clang-tidy)
    for file in "$@"; do
        if judged "$file"; then echo "$file"; fi
    done | xargs -P "$(nproc)" -n 1 "$0" tidy-one
    ;;
tidy-one)
    # shellcheck disable=SC2046,SC2086,SC2090
    if ! said=$(clang-tidy --quiet "$1" -- -std=gnu11 -I. -Itest/support -isystem "$(path_of UNITY_SRC)" $flags $(family "$1") $(core "$1") 2>&1); then
        printf '%s\n' "$said" | grep -v 'warnings generated'
        exit 1
    fi
    ;;
*)
    echo "lint_static.sh: unknown tool $tool" >&2
    exit 2
    ;;
esac
