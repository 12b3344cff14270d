#!/bin/sh
# Checks that every header compiles alone, and twice in one file: it must include what it needs and have an include
# guard. A file that is included with macros set, or for its data, is not a header and has the suffix .inc. Headers
# for users of the kernels must also compile as C++.
# usage: lint_headers.sh FILE... (checks only the .h)
set -eu

# shellcheck source-path=SCRIPTDIR source=lint_flags.sh
. "$(dirname "$0")/lint_flags.sh"

for_users() {
    case $1 in
    dyn/number/f32.h | dyn/number/f64.h | dyn/number/q31.h | dyn/model/*.h) return 0 ;;
    firmware/params/image.h | firmware/params/image_flex.h | firmware/params/bytes.h) return 0 ;;
    esac
    return 1
}

# compile HEADER COMPILER FLAG...: on an error, prints one line about the header and the first lines
# of the compiler's output.
compile() {
    header=$1
    shift
    if ! said=$(printf '#include "%s"\n#include "%s"\n' "$header" "$header" | "$@" -fsyntax-only -Wall -Wextra -Werror - 2>&1); then
        echo "$header does not compile alone and twice with $1: include what it needs, guard it, or name it .inc"
        printf '%s\n' "$said" | grep -E 'error|warning' | head -n 5
        return 1
    fi
}

if [ "${1:-}" = --one ]; then
    status=0
    # For hal/cortexm any core of CMSIS is good enough.
    # shellcheck disable=SC2046,SC2086,SC2090
    compile "$2" gcc -x c -std=gnu11 -I. -Itest/support $flags $(family "$2") '-DHAL_CORE_H=<core_cm4.h>' \
        -isystem "$(path_of UNITY_SRC)" -isystem "$(path_of CMSIS_INC)" || status=1
    if for_users "$2"; then
        compile "$2" g++ -x c++ -std=c++11 -I. || status=1
    fi
    exit $status
fi

for file in "$@"; do
    case $file in *.h) echo "$file" ;; esac
done | xargs -r -P "$(nproc)" -n 1 "$0" --one
