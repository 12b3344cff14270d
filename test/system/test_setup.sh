#!/bin/sh
# Tests of tools/dev/setup.sh without a network and without touching the machine: each test has a
# box with a copy of the script in a tree of its own and a PATH of stubs that record their calls.
# What the stubs cannot show (real apt, real npm) must be tried on a fresh Debian machine.
set -u

here=$(CDPATH='' cd "$(dirname "$0")/../.." && pwd -P)
me=test/system/test_setup.sh
all=$(mktemp -d "${TMPDIR:-/tmp}/test_setup.XXXXXX") || exit 1
trap 'rm -rf "$all"' EXIT
trap 'exit 130' INT TERM

# the rows of the script's table, and the groups that make may ask for
sed -n "/^TABLE='/,/^'/p" "$here/tools/dev/setup.sh" | sed '1d;$d' >"$all/table"
GROUPS_ALL=$(cut -d' ' -f1 "$all/table" | tr ',' '\n' | grep -v '^+' | sort -u)
APT_INSTALL='install -y --no-install-recommends'
codename=$(sed -n 's/^VERSION_CODENAME="\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' /etc/os-release 2>/dev/null)
codename=${codename:-stable}

# ---- the box ------------------------------------------------------------------------------------

# The stubs find their box in $HOME, so that a box can be a copy of another one.
stub() {
    cat >"$box/bin/$1"
    chmod +x "$box/bin/$1"
}

# A box in which everything except CMSIS and Unity is installed, the account is root and the package
# lists exist. The script's copy expects the archives of the box.
first_box() {
    use_box "$1"
    mkdir -p "$all/real" "$box/bin" "$box/lists" "$box/etc/parts" "$tree/tools/dev" \
        "$box/c/package/CMSIS/Core/Include" "$box/u/cJSON/tests/unity/src"
    for c in sh env cat cksum chmod mkdir mv rm cp tar gzip sha256sum date awk sed grep dirname \
        flock sleep tail cut; do
        ln -s "$(command -v $c)" "$all/real/$c" || exit 1
    done
    for h in core_cm3.h core_cm4.h core_cm7.h; do
        echo "// $h" >"$box/c/package/CMSIS/Core/Include/$h"
    done
    for f in unity.c unity.h unity_internals.h; do
        echo "// $f" >"$box/u/cJSON/tests/unity/src/$f"
    done
    tar -czf "$box/cmsis.tgz" -C "$box/c" package
    tar -czf "$box/unity.tgz" -C "$box/u" cJSON
    cmsis_sum=$(sha256sum <"$box/cmsis.tgz" | cut -d' ' -f1)
    unity_sum=$(printf '// unity.c\n// unity.h\n// unity_internals.h\n' | sha256sum | cut -d' ' -f1)
    sed "s/^CMSIS_SHA256=.*/CMSIS_SHA256=$cmsis_sum/; s/^UNITY_KNOWN='.*/UNITY_KNOWN='$unity_sum/" \
        "$here/tools/dev/setup.sh" >"$tree/tools/dev/setup.sh"

    # a compiler finds the headers that are listed
    sed -n 's/.* | hdr [^ ]* \([^ ]*\) | .*/<\1>/p' "$all/table" >"$box/headers"
    : >"$box/lists/x_Packages"
    : >"$box/calls"
    echo 0 >"$box/uid"
    echo "deb http://mirror.invalid/debian $codename main" >"$box/etc/sources.list"
    for c in true $(sed -n 's/.* | cmd \([^ ]*\) | .*/\1/p' "$all/table"); do
        [ -e "$all/real/$c" ] || echo '#!/bin/sh' | stub "$c"
    done
    for c in arm-none-eabi-gcc gcc g++; do
        stub $c <<'EOF'
#!/bin/sh
read -r directive header # #if !__has_include(<cyaml/cyaml.h>)
header=${header#*(}
header=${header%)}
while read -r h; do
    [ "$h" != "$header" ] || exit 0
done <"$HOME/headers"
exit 1
EOF
    done
    stub id <<'EOF'
#!/bin/sh
case $1 in -u) cat "$HOME/uid" ;; *) echo someone ;; esac
EOF
    stub apt-config <<'EOF'
#!/bin/sh
echo "lists='$HOME/lists' list='$HOME/etc/sources.list' parts='$HOME/etc/parts'"
EOF
    # install fails as long as the file 'broken' has lines; an update removes one line
    stub apt-get <<'EOF'
#!/bin/sh
while [ "$1" = -o ]; do
    case $2 in Dir::Etc::SourceParts=*) private=${2#*=} ;; esac
    shift 2
done
echo "apt-get${private:+ private} $*" >>"$HOME/calls"
[ ! -e "$HOME/slow" ] || until-out-says "another make is setting up"
case $1 in
update)
    [ -z "${private:-}" ] || cat "$private"/* >"$HOME/parts"
    : >"$HOME/lists/x_Packages"
    [ ! -s "$HOME/broken" ] || sed -i 1d "$HOME/broken"
    ;;
install)
    echo 'Need to get 12 MB of archives.'
    [ ! -s "$HOME/broken" ] || { echo 'E: unlucky'; exit 100; }
    for p; do
        case $p in
        qemu-system-arm) f=$p ;;
        gnuplot-nox) f=gnuplot ;;
        libcjson-dev) echo '<cjson/cJSON.h>' >>"$HOME/headers"; continue ;;
        *) continue ;;
        esac
        echo '#!/bin/sh' >"$HOME/bin/$f"
        chmod +x "$HOME/bin/$f"
    done
    ;;
source)
    [ ! -e "$HOME/offline" ] || { echo 'E: no route'; exit 100; }
    cp "$HOME/unity.tgz" cjson_9.9.orig.tar.gz
    : >cjson_9.9-1.debian.tar.xz
    ;;
esac
exit 0
EOF
    # Ends when the output of the tested script contains the text; otherwise after 5 s, and then the
    # test fails.
    stub until-out-says <<'EOF'
#!/bin/sh
for i in 1 2 3 4 5 6 7 8 9 10; do
    for j in 1 2 3 4 5 6 7 8 9 10; do
        ! grep -qF "$1" "$HOME/out" || exit 0
        sleep 0.05
    done
done
EOF
    stub npm <<'EOF'
#!/bin/sh
echo "npm $*" >>"$HOME/calls"
[ ! -e "$HOME/offline" ] || { echo 'npm ERR! no route'; exit 1; }
cp "$HOME/cmsis.tgz" got.tgz
EOF
}

use_box() {
    box=$all/$1
    tree=$box/tree
    deps=$tree/build/deps
    out=$box/out
}

new_box() {
    cp -RP "$all/first" "$all/$1"
    use_box "$1"
}

# A box after a complete set-up.
ready_box() {
    cp -RP "$all/ready" "$all/$1"
    use_box "$1"
}

# setup [VAR=value...] GROUP...: sets $rc, writes the file $out.
setup() {
    (
        cd "$tree" || exit 1
        vars=
        while case ${1:-} in *=*) ;; *) false ;; esac do
            vars="$vars $1"
            shift
        done
        # shellcheck disable=SC2086
        env -i PATH="$box/bin:$all/real" HOME="$box" $vars sh tools/dev/setup.sh "$@"
    ) >"$out" 2>&1
    rc=$?
}

lack() {
    for c; do rm "$box/bin/$c"; done
}

# ---- checks: the first that fails gives the reason; later failures are not reported -------------

fail() { [ -n "$reason" ] || reason=$1; }
show() { tr '\n' '~' <"$1"; }
want_rc() { [ "$rc" = "$1" ] || fail "exit $rc, expected $1: $(show "$out")"; }
want_silent() { [ ! -s "$out" ] || fail "not silent: $(show "$out")"; }
want_out() { grep -qF -e "$1" "$out" || fail "does not say '$1': $(show "$out")"; }
want_line() { grep -qxF -e "$1" "$out" || fail "has no line '$1': $(show "$out")"; }
want_calls() {
    printf '%s' "${1:+$1
}" >"$box/expected"
    cmp -s "$box/expected" "$box/calls" || fail "calls: $(show "$box/calls") expected: $1"
}
want_file() { [ -e "$1" ] || fail "there is no ${1#"$box"/}"; }
want_none() { [ ! -e "$1" ] || fail "${1#"$box"/} was left behind"; }
want_no_tmp() {
    for f in "$deps"/tmp.*; do
        want_none "$f"
    done
}
want_paths() {
    printf '# written by tools/dev/setup.sh\nCMSIS_INC := %s\nUNITY_SRC := %s\n' "$1" "$2" |
        cmp -s - "$deps/paths.mk" || fail "paths.mk: $(show "$deps/paths.mk")"
}

# ---- tests --------------------------------------------------------------------------------------

test_nothing_missing_is_silent_and_fast() {
    ready_box "$1"
    begin=$(date +%s)
    for time in first second third fourth; do
        # shellcheck disable=SC2086
        setup $GROUPS_ALL
        want_rc 0
        [ ! -s "$out" ] || fail "not silent at the $time call: $(show "$out")"
    done
    # whole seconds: a difference of at most 3 means that four calls took less than 4 s
    [ $(($(date +%s) - begin)) -le 3 ] || fail 'a call with nothing to do takes over a second'
    want_calls ''
}

test_root_installs_exactly_the_missing() {
    ready_box "$1"
    lack qemu-system-arm cppcheck gnuplot
    sed -i /cJSON/d "$box/headers"
    setup emu test plot
    want_rc 0
    want_calls "apt-get $APT_INSTALL qemu-system-arm libcjson-dev gnuplot-nox"
    want_out 'setup: installing qemu-system-arm: the emulator that runs the firmware'
    want_line 'setup: installing gnuplot-nox: draws the plots'
    want_out 'setup: ready after '
    want_file "$deps/setup.log"
    want_no_tmp
}

test_package_lists_are_read_first_when_there_are_none() {
    ready_box "$1"
    lack gnuplot
    rm "$box/lists/x_Packages"
    setup plot
    want_rc 0
    want_calls "apt-get update
apt-get $APT_INSTALL gnuplot-nox"
}

test_stale_lists_are_read_anew_once() {
    ready_box "$1"
    lack gnuplot
    echo once >"$box/broken"
    setup plot
    want_rc 0
    want_calls "apt-get $APT_INSTALL gnuplot-nox
apt-get update
apt-get $APT_INSTALL gnuplot-nox"
}

test_install_that_fails_shows_log_and_command() {
    ready_box "$1"
    lack gnuplot
    printf '1\n2\n3\n4\n' >"$box/broken"
    setup plot
    want_rc 1
    want_out 'E: unlucky'
    want_out 'build/deps/setup.log'
    want_out "apt-get $APT_INSTALL gnuplot-nox"
    want_no_tmp
}

test_install_that_brings_nothing_is_an_error() {
    ready_box "$1"
    lack openocd
    setup flash
    want_rc 1
    want_out 'still not found: openocd'
}

test_user_without_sudo_gets_the_command() {
    ready_box "$1"
    lack qemu-system-arm gnuplot
    echo 1000 >"$box/uid"
    setup emu plot
    want_rc 1
    want_calls ''
    want_line "    apt-get $APT_INSTALL qemu-system-arm gnuplot-nox"
    want_line 'setup: missing gnuplot-nox: draws the plots'
    rm "$box/lists/x_Packages"
    setup emu plot
    want_rc 1
    want_calls ''
    want_line "    apt-get update && apt-get $APT_INSTALL qemu-system-arm gnuplot-nox"
}

test_user_with_sudo_installs() {
    ready_box "$1"
    lack gnuplot
    echo 1000 >"$box/uid"
    stub sudo <<'EOF'
#!/bin/sh
[ "$1" != -n ] || shift
echo "sudo $1" >>"$HOME/calls"
exec "$@"
EOF
    setup plot
    want_rc 0
    want_calls "sudo true
sudo env
apt-get $APT_INSTALL gnuplot-nox"
}

test_sudo_that_refuses_is_as_none() {
    ready_box "$1"
    lack gnuplot
    echo 1000 >"$box/uid"
    printf '#!/bin/sh\nexit 1\n' | stub sudo
    setup plot
    want_rc 1
    want_calls ''
    want_line "    apt-get $APT_INSTALL gnuplot-nox"
}

test_user_fetches_without_root() {
    new_box "$1"
    echo 1000 >"$box/uid"
    setup build test
    want_rc 0
    want_file "$deps/cmsis/CMSIS/Core/Include/core_cm4.h"
    want_file "$deps/unity/src/unity.c"
}

test_without_apt_the_programs_are_named() {
    ready_box "$1"
    lack apt-get gnuplot
    setup plot
    want_rc 1
    want_out 'missing gnuplot: draws the plots (package gnuplot-nox of Debian)'
    want_out 'no apt-get'
}

test_removed_later_is_noticed() {
    ready_box "$1"
    setup plot
    want_silent
    lack gnuplot
    setup plot
    want_calls "apt-get $APT_INSTALL gnuplot-nox"
    rm "$deps/cmsis/CMSIS/Core/Include/core_cm4.h"
    setup build
    want_rc 0
    want_file "$deps/cmsis/CMSIS/Core/Include/core_cm4.h"
}

test_changed_script_checks_contents_again() {
    ready_box "$1"
    echo changed >>"$deps/unity/src/unity.c"
    echo 0 >"$deps/cmsis/.sha256"
    echo '# another version' >>"$tree/tools/dev/setup.sh"
    setup build test
    want_rc 0
    want_out 'fetching CMSIS-Core'
    want_out 'fetching Unity'
    [ "$(cat "$deps/unity/src/unity.c")" = '// unity.c' ] || fail 'the changed Unity stayed'
}

test_cmsis_is_fetched_and_make_told() {
    new_box "$1"
    setup build
    want_rc 0
    want_calls 'npm pack @xpack-3rd-party/arm-cmsis-core-m@5.4.0-5'
    want_file "$deps/cmsis/CMSIS/Core/Include/core_cm4.h"
    want_paths build/deps/cmsis/CMSIS/Core/Include build/deps/unity/src
    want_no_tmp
}

test_npm_is_installed_only_to_fetch() {
    new_box "$1"
    lack npm
    echo 1000 >"$box/uid"
    setup build
    want_rc 1
    want_line "    apt-get $APT_INSTALL npm"
    setup CMSIS="$box/c/package" build
    want_rc 0
    want_silent
}

test_cmsis_of_another_hash_is_refused() {
    new_box "$1"
    echo more >>"$box/cmsis.tgz"
    setup build
    want_rc 1
    want_out "sha256 expected $cmsis_sum"
    want_out 'CMSIS=<checkout>'
    want_none "$deps/cmsis"
    want_none "$deps/stamp-build"
    want_no_tmp
}

test_registry_failure_is_explained() {
    new_box "$1"
    : >"$box/offline"
    setup build
    want_rc 1
    want_out 'npm ERR! no route'
    want_out 'CMSIS=<checkout>'
    want_none "$deps/cmsis"
    setup test
    want_rc 1
    want_out 'E: no route'
    want_out 'UNITY=<checkout>'
    want_none "$deps/unity"
    want_no_tmp
}

test_unity_is_fetched_from_one_line_sources() {
    new_box "$1"
    cat >"$box/etc/sources.list" <<EOF
# deb http://no.invalid/debian $codename main
deb [ arch=amd64 signed-by=/k.gpg ] http://a.invalid/debian $codename main contrib # why
deb http://b.invalid/debian $codename-updates main
deb-src http://c.invalid/debian $codename main
EOF
    setup test
    want_rc 0
    want_calls 'apt-get private update
apt-get private source --download-only cjson'
    echo "deb-src [ arch=amd64 signed-by=/k.gpg ] http://a.invalid/debian $codename main contrib" |
        cmp -s - "$box/parts" || fail "sources: $(show "$box/parts")"
    want_file "$deps/unity/src/unity_internals.h"
    want_file "$deps/unity/examples/unity_config.h"
    want_no_tmp
}

test_unity_is_fetched_from_deb822_sources() {
    new_box "$1"
    : >"$box/etc/sources.list"
    cat >"$box/etc/parts/debian.sources" <<EOF
Types: deb deb-src
# a comment
URIs: http://a.invalid/debian
Suites: $codename-updates
 $codename
Components: main
Signed-By:
 -----BEGIN KEY-----
 .
 -----END KEY-----

Types: deb
URIs: http://b.invalid/debian
Suites: $codename-security
Components: main

Enabled: no
Types: deb
URIs: http://c.invalid/debian
Suites: $codename
Components: main
EOF
    setup test
    want_rc 0
    cat >"$box/expected" <<EOF
Types: deb-src
Suites: $codename
URIs: http://a.invalid/debian
Components: main
Signed-By:
 -----BEGIN KEY-----
 .
 -----END KEY-----

EOF
    cmp -s "$box/expected" "$box/parts" || fail "sources: $(show "$box/parts")"
    want_file "$deps/unity/src/unity.h"
}

test_unity_of_another_hash_is_refused_until_accepted() {
    new_box "$1"
    echo '// newer' >>"$box/u/cJSON/tests/unity/src/unity_internals.h"
    tar -czf "$box/unity.tgz" -C "$box/u" cJSON
    newer=$(printf '// unity.c\n// unity.h\n// unity_internals.h\n// newer\n' | sha256sum)
    newer=${newer%% *}
    setup test
    want_rc 1
    want_out "sha256 found $newer"
    want_out "UNITY_SHA256=$newer"
    want_none "$deps/unity"
    want_none "$deps/stamp-test"
    want_no_tmp
    setup UNITY_SHA256="$newer" test
    want_rc 0
    want_file "$deps/unity/src/unity.h"
}

test_bad_cmsis_is_refused() {
    ready_box "$1"
    setup CMSIS="$box/nowhere" build
    want_rc 1
    want_out "CMSIS=$box/nowhere: there is no such folder"
    rm "$box/c/package/CMSIS/Core/Include/core_cm4.h"
    setup CMSIS="$box/c/package" build
    want_rc 1
    want_out core_cm4.h
    want_calls ''
}

test_bad_unity_is_refused() {
    ready_box "$1"
    setup UNITY="$box/nowhere" test
    want_rc 1
    want_out "UNITY=$box/nowhere: there is no such folder"
    setup UNITY="$box/c" test
    want_rc 1
    want_out unity.h
    want_calls ''
}

test_own_checkouts_are_used() {
    new_box "$1"
    include=$box/c/package/CMSIS/Core/Include
    setup CMSIS="$box/c/package" UNITY="$box/u/cJSON" build test
    want_rc 0
    want_silent
    want_paths "$include" "$box/u/cJSON/tests/unity/src"
    setup CMSIS="$include" UNITY="$box/u/cJSON/tests/unity" build test
    want_rc 0
    want_paths "$include" "$box/u/cJSON/tests/unity/src"
    cp -R "$box/c/package" "$tree/mine"
    setup CMSIS=mine/CMSIS UNITY="$box/u/cJSON/tests/unity/src" build test
    want_rc 0
    want_paths mine/CMSIS/Core/Include "$box/u/cJSON/tests/unity/src"
    want_calls ''
    # without them the pinned ones are fetched
    setup build test
    want_rc 0
    want_paths build/deps/cmsis/CMSIS/Core/Include build/deps/unity/src
}

test_unchanged_paths_keep_their_time() {
    ready_box "$1"
    touch -d '2001-01-01' "$deps/paths.mk"
    : >"$box/reference"
    touch -d '2001-01-02' "$box/reference"
    setup build test
    [ "$deps/paths.mk" -ot "$box/reference" ] || fail 'paths.mk was written again'
}

test_lock_is_waited_for() {
    ready_box "$1"
    lack gnuplot
    PATH=$box/bin:$PATH HOME=$box flock "$deps/lock" \
        sh -c 'until-out-says "another make is setting up"; echo released >>"$HOME/calls"' &
    # the holder needs a moment to take the lock
    while flock -n "$deps/lock" true; do sleep 0.02; done
    setup plot
    want_rc 0
    want_out 'another make is setting up'
    want_calls "released
apt-get $APT_INSTALL gnuplot-nox"
    wait
}

test_lock_of_the_dead_holds_nobody() {
    ready_box "$1"
    lack gnuplot
    (
        exec 9>"$deps/lock"
        flock 9
        exec sleep 60
    ) &
    holder=$!
    while flock -n "$deps/lock" true; do sleep 0.02; done
    kill -9 $holder
    wait $holder 2>/dev/null
    mkdir "$deps/tmp.1"
    setup plot
    want_rc 0
    want_calls "apt-get $APT_INSTALL gnuplot-nox"
    want_no_tmp
}

test_two_at_once_install_once() {
    ready_box "$1"
    lack gnuplot
    : >"$box/slow"
    (
        out=$box/out_of_first
        setup plot
        [ "$rc" = 0 ] || : >"$box/first_failed"
    ) &
    while [ ! -s "$box/calls" ]; do sleep 0.02; done
    setup plot
    wait
    want_rc 0
    want_out 'another make is setting up'
    want_none "$box/first_failed"
    want_calls "apt-get $APT_INSTALL gnuplot-nox"
}

test_unknown_group_is_refused() {
    new_box "$1"
    setup build nonsense
    want_rc 1
    want_out "no group 'nonsense'"
    setup
    want_rc 1
    want_out 'usage:'
    want_none "$deps"
}

test_help_and_list() {
    new_box "$1"
    setup --help
    want_rc 0
    want_out 'usage: tools/dev/setup.sh GROUP...'
    want_out 'groups: build host '
    setup --list
    want_rc 0
    for p in gcc-arm-none-eabi qemu-system-arm CMSIS-Core Unity npm; do
        want_out " $p "
    done
    want_none "$deps"
}

test_table_is_well_formed() {
    [ "$(wc -l <"$all/table")" -ge 15 ] || fail 'the table was not found'
    bad=$(grep -vE '^[+a-z0-9,]+ \| (cmd [^ ]+|hdr [^ ]+ [^ ]+|cmsis|unity) \| [^ |]+ \| [^|]+$' \
        "$all/table")
    [ -z "$bad" ] || fail "bad row: $bad"
    for g in build host emu test lint flash debug plot; do
        case " $(echo "$GROUPS_ALL" | tr '\n' ' ')" in
        *" $g "*) ;;
        *) fail "no row for the group $g" ;;
        esac
    done
}

# -------------------------------------------------------------------------------------------------

first_box first
new_box ready
# shellcheck disable=SC2086
setup $GROUPS_ALL
: >"$box/calls"
if [ "$rc" != 0 ]; then
    echo "$me:1:first_set_up:FAIL: $(show "$out")"
    exit 1
fi

tests=0
failures=0
for name in $(sed -n 's/^\(test_[a-z0-9_]*\)() {$/\1/p' "$0"); do
    reason=
    $name "$name"
    tests=$((tests + 1))
    line=$(grep -n "^$name()" "$0" | cut -d: -f1)
    if [ -z "$reason" ]; then
        echo "$me:$line:$name:PASS"
    else
        failures=$((failures + 1))
        echo "$me:$line:$name:FAIL: $reason"
    fi
done
echo "$tests Tests $failures Failures 0 Ignored"
[ $failures = 0 ] && echo OK || echo FAIL
[ $failures = 0 ]
