#!/bin/sh
# The set-up step of every make target: finds missing programs and libraries, installs them and says
# why. It uses only POSIX sh and what a fresh Debian machine with git, make and apt has, because this
# script installs the rest.
# No registry is named here: apt and npm know theirs from the machine's own configuration.

set -u

# One row per dependency: groups | probe | package | why. The user reads the last column.
# Probes:  cmd NAME              a program on the PATH
#          hdr COMPILER HEADER   a header that this compiler finds
#          cmsis, unity          fetched into build/deps by fetch_cmsis and fetch_unity below
# Groups that begin with + are requested not by make but by a fetch that needs the tool.
TABLE='
build | cmd arm-none-eabi-gcc | gcc-arm-none-eabi | the cross compiler for the Cortex-M boards
build | hdr arm-none-eabi-gcc newlib.h | libnewlib-arm-none-eabi | the C library of the firmware
build | cmsis | CMSIS-Core | the headers of the Cortex-M core registers
host | cmd gcc | gcc | the compiler of the host tool and the host tests
host | hdr gcc stdio.h | libc6-dev | the C library headers of this machine
host | cmd pkg-config | pkgconf | tells the build where libraries are
host,test | cmd python3 | python3 | runs the small build and test helpers
host | hdr gcc cyaml/cyaml.h | libcyaml-dev | reads robot files (YAML)
host | hdr gcc yaml.h | libyaml-dev | finds the line of a mistake in a robot file
host | hdr gcc expat.h | libexpat1-dev | reads URDF
host | hdr gcc histedit.h | libedit-dev | line editing, history and completion of the simulator
emu | cmd qemu-system-arm | qemu-system-arm | the emulator that runs the firmware without a board
callgrind | cmd valgrind | valgrind | counts the instructions of the kernels on this machine
test | unity | Unity | the unit test framework
test | hdr gcc cjson/cJSON.h | libcjson-dev | reads the JSON output of the tool in tests
test | cmd g++ | g++ | compiles the comparison with Orocos KDL
test | hdr g++ kdl/chain.hpp | liborocos-kdl-dev | an independent dynamics library to compare with
test | hdr g++ tinyxml2.h | libtinyxml2-dev | reads URDF for that library, by another path than the tool
test | hdr gcc mujoco/mujoco.h | libmujoco-dev | the arm behind the registers in the test of the whole firmware
test | cmd gcovr | gcovr | counts the lines and branches that the tests reach
test | cmd tmux | tmux | a terminal in which the live screen of the tool is looked at
test | cmd zsh | zsh | tests the completion of that shell
test,debug | cmd gdb-multiarch | gdb-multiarch | the debugger for the emulated or the real board
lint | cmd cppcheck | cppcheck | static analysis
lint | cmd clang-tidy | clang-tidy | static analysis
lint | cmd clang-format | clang-format | checks the formatting
flash | cmd openocd | openocd | talks to the debug probe
flash | cmd st-flash | stlink-tools | programs boards over ST-LINK
plot,test | cmd gnuplot | gnuplot-nox | draws the plots
test | cmd chromium | chromium | looks at the animation of the simulator, without a window
+cmsis | cmd npm | npm | fetches CMSIS-Core (46 MB; CMSIS=<checkout> does without)
+xz | cmd xz | xz-utils | unpacks the source package that carries Unity
+bz2 | cmd bzip2 | bzip2 | unpacks the source package that carries Unity
'

CMSIS_PACKAGE='@xpack-3rd-party/arm-cmsis-core-m@5.4.0-5'
CMSIS_SHA256=b003c2bd84cce124baa03ad8d05a2289c36ae7b88e5941a808e4db755584343b

# Unity comes from Debian's source package cjson. Its version differs between releases, so the
# content is pinned: sha256 of unity.c, unity.h and unity_internals.h joined in this order. First
# value: cjson 1.7.15 and 1.7.18 (Debian 12, 13); second: cjson 1.7.19, which differs in the
# spelling of one comment.
UNITY_KNOWN='8a1934f3aac497179df60272560d84518cfefaf5f45c26456d0eccfaccaa86dc
a333c5dcd917550c8ccb7a60c9ac08d160a8d5ade8aa87037a6ea7c6d6322a4d'

DEPS=build/deps
LOG=$DEPS/setup.log
CMSIS_DIR=$DEPS/cmsis
CMSIS_MARK=$CMSIS_DIR/.sha256
UNITY_DIR=$DEPS/unity
INSTALL='apt-get install -y --no-install-recommends'

usage() {
    cat <<EOF
usage: tools/dev/setup.sh GROUP...    install what these groups need and lack
       tools/dev/setup.sh --list      what each group needs, and why
       tools/dev/setup.sh --help

groups:$known
environment:
  CMSIS=DIR         your own checkout of CMSIS (root or include folder) instead of the pinned one
  UNITY=DIR         your own checkout of Unity (root or src folder) instead of Debian's copy
  UNITY_SHA256=HEX  accept another content of Debian's copy of Unity
Fetched files, build/deps/paths.mk for make and the log build/deps/setup.log are under build/.
EOF
}

say() { printf 'setup: %s\n' "$*"; }
complain() { printf 'setup: %s\n' "$*" >&2; }
die() {
    complain "$@"
    exit 1
}
not_writable() { die "cannot write $1: does build/ belong to another user? Remove it first"; }
have() { command -v "$1" >/dev/null 2>&1; }

die_with_log() {
    complain "$1"
    if [ -s "$LOG" ]; then
        complain "the last lines of $LOG:"
        tail -n 15 "$LOG" | sed 's/^/    /' >&2
    fi
    shift
    for hint in "$@"; do
        complain "$hint"
    done
    exit 1
}

# Calls the function $1 for every row of the groups in $2. $probe has the words of the row's probe.
each_row() {
    visit=$1
    wanted=$2
    while IFS='|' read -r groups probe package why; do
        [ -n "$groups" ] || continue
        package=${package# } && package=${package%% *}
        why=${why# }
        case $wanted in
        all) $visit ;;
        *)
            for g in $wanted; do
                # the list of groups ends at the first blank
                case ",${groups%% *}," in *",$g,"*) $visit && break ;; esac
            done
            ;;
        esac
    done <<EOF
$TABLE
EOF
}

# Adds to $known the groups that make may request.
note_groups() {
    case $groups in +*) return ;; esac
    rest=${groups%% *},
    while [ -n "$rest" ]; do
        case $known in *" ${rest%%,*} "*) ;; *) known="$known${rest%%,*} " ;; esac
        rest=${rest#*,}
    done
}

list_row() {
    case $groups in +*) groups='(fetch)' ;; esac
    printf '%-11s %-24s %s\n' "${groups%% *}" "$package" "$why"
}

# ---- probes -------------------------------------------------------------------------------------

probe_hdr() {
    if have "$1"; then
        # Tests whether the header exists, not whether it compiles: a C++ header would not compile
        # here.
        printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$2" | "$1" -E -x c -o /dev/null - >/dev/null 2>&1
    else
        # without the compiler, looks where Debian installs headers
        [ -e "/usr/include/$2" ]
    fi
}

# If the stamp is set (thorough = 0), checks only that CMSIS is present, because its hash cannot
# have changed since.
probe_cmsis() {
    [ -n "${CMSIS:-}" ] && return 0
    [ -e "$CMSIS_DIR/CMSIS/Core/Include/core_cm4.h" ] || return 1
    [ "$thorough" = 0 ] || [ "$(cat "$CMSIS_MARK" 2>/dev/null)" = "$CMSIS_SHA256" ]
}

unity_hash() {
    (cd "$1" && cat unity.c unity.h unity_internals.h | sha256sum) | cut -d' ' -f1
}

unity_accepted() {
    for h in $UNITY_KNOWN ${UNITY_SHA256:-}; do
        [ "$1" = "$h" ] && return 0
    done
    return 1
}

probe_unity() {
    [ -n "${UNITY:-}" ] && return 0
    [ -e "$UNITY_DIR/src/unity.c" ] && [ -e "$UNITY_DIR/src/unity.h" ] || return 1
    [ "$thorough" = 0 ] || unity_accepted "$(unity_hash "$UNITY_DIR/src")"
}

present() {
    # shellcheck disable=SC2086
    set -- $probe
    case $1 in
    cmd) have "$2" ;;
    hdr) probe_hdr "$2" "$3" ;;
    cmsis) probe_cmsis ;;
    unity) probe_unity ;;
    *) die "the row of $package in tools/dev/setup.sh has the unknown probe '$1'" ;;
    esac
}

# Adds a row that is not satisfied to $missing (packages), $reasons (lines for the user) and
# $programs (lines for the user of a machine without apt), or to $fetch.
scan_row() {
    # a package that several rows need counts once
    case " $missing $fetch " in *" $package "*) return 0 ;; esac
    present && return 0
    case $probe in
    *cmsis*) fetch="$fetch CMSIS-Core" ;;
    *unity*) fetch="$fetch Unity" ;;
    *)
        missing="$missing $package"
        reasons="$reasons$package: $why
"
        # shellcheck disable=SC2086
        set -- $probe
        eval "name=\$$#"
        # shellcheck disable=SC2154
        programs="$programs$name: $why (package $package of Debian)
"
        ;;
    esac
}

scan() {
    missing=
    reasons=
    programs=
    fetch=
    each_row scan_row "$1"
    case $fetch in *CMSIS-Core*) each_row scan_row +cmsis ;; esac
    missing=${missing# }
}

# ---- installing ---------------------------------------------------------------------------------

# Prints each line of the text $2 with the prefix $1.
show_lines() {
    printf '%s' "$2" | while IFS= read -r line; do
        printf 'setup: %s %s\n' "$1" "$line"
    done
}

# Finds out how this account may install: sets $as to nothing (root) or to sudo, or fails.
find_rights() {
    as=
    [ "$(id -u)" = 0 ] && return 0
    have sudo || return 1
    as=sudo
    sudo -n true 2>/dev/null && return 0
    # if a person is at the terminal, sudo may ask for the password
    [ -t 2 ] && (: </dev/tty) 2>/dev/null || return 1
    say 'sudo asks for your password to install packages'
    sudo true
}

# Runs apt-get as root. LC_ALL is set, because the messages are parsed below. The lock time-out
# waits for the automatic updates of a machine that has just booted. A user's PATH may lack the sbin
# folders that dpkg needs. Descriptor 9, our lock, is closed, because a service that a package
# starts must not inherit it.
apt_root() {
    $as env DEBIAN_FRONTEND=noninteractive LC_ALL=C \
        PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" \
        apt-get -o DPkg::Lock::Timeout=300 "$@" </dev/null 9>&-
}

# Logs its input and prints the size of the download, so that the user knows why it takes long.
follow() {
    while IFS= read -r line; do
        printf '%s\n' "$line" >>"$LOG"
        case $line in
        'Need to get '*)
            line=${line#Need to get }
            say "downloading ${line%% of archives*}"
            ;;
        'Fetched '*) say "${line%% (*}, unpacking" ;;
        'After this operation, '*)
            line=${line#After this operation, }
            say "${line%% of *} more on the disk"
            ;;
        esac
    done
}

apt_install() {
    rm -f "$tmp/failed"
    # shellcheck disable=SC2086
    { apt_root install -y --no-install-recommends $missing 2>&1 || : >"$tmp/failed"; } | follow
    [ ! -e "$tmp/failed" ]
}

# True if the machine has package lists; without them apt finds no package.
have_lists() {
    eval "$(apt-config shell lists Dir::State::lists/d 2>/dev/null)"
    set -- "${lists:-/var/lib/apt/lists}"/*Packages*
    [ -e "$1" ]
}

# The exit code of update is not checked: it also fails on a broken list that is not needed, and the
# install that follows decides.
apt_update() {
    say 'reading the package lists of apt'
    updated=1
    apt_root update >>"$LOG" 2>&1 || :
}

install_packages() {
    [ -n "$missing" ] || return 0
    if ! have apt-get; then
        show_lines missing "$programs" >&2
        die 'there is no apt-get here: install these in the way of this system, then try again'
    fi
    if ! find_rights; then
        show_lines missing "$reasons" >&2
        command="$INSTALL $missing"
        have_lists || command="apt-get update && $command"
        complain 'this account cannot install packages: it is not root and sudo does not let it.'
        complain 'An administrator must run:'
        printf '    %s\n' "$command" >&2
        die 'then try again'
    fi
    show_lines installing "$reasons"
    updated=0
    have_lists || apt_update
    apt_install && return
    # the lists may be old and name versions that the mirror no longer has
    [ $updated = 1 ] || { apt_update && apt_install && return; }
    die_with_log "apt-get could not install: $missing" "the log is $LOG; is there a network?" \
        "by hand, as root: apt-get update && $INSTALL $missing"
}

# ---- what apt has no package for ----------------------------------------------------------------

make_tmp() {
    tmp=$root/$DEPS/tmp.$$
    mkdir -p "$tmp" || die "cannot make $tmp"
}

put_in_place() {
    rm -rf "$2" && mv "$1" "$2" || die "cannot replace $2"
}

# npm stores the archive exactly as the registry has it, so the version determines the hash. npm's
# cache is in our folder, so that an account without a home folder can fetch. Retries are short,
# because without a network the defaults wait for more than a minute.
fetch_cmsis() {
    say "fetching CMSIS-Core ($CMSIS_PACKAGE): the headers of the Cortex-M core registers"
    hint='CMSIS=<checkout> on the make command line uses your own copy instead'
    mkdir "$tmp/npm" "$tmp/cmsis"
    (
        cd "$tmp/npm" && npm_config_cache=$tmp/npm-cache npm_config_update_notifier=false \
            npm_config_logs_max=0 npm_config_fetch_retry_mintimeout=1000 \
            npm_config_fetch_retry_maxtimeout=5000 npm pack "$CMSIS_PACKAGE"
    ) </dev/null >>"$LOG" 2>&1 9>&- ||
        die_with_log "npm could not fetch $CMSIS_PACKAGE" \
            "the log is $LOG; is there a network, and does npm reach its registry?" "$hint"
    set -- "$tmp"/npm/*.tgz
    found=$(sha256sum <"$1" | cut -d' ' -f1)
    [ "$found" = "$CMSIS_SHA256" ] ||
        die "the archive of $CMSIS_PACKAGE is not the pinned one:
    sha256 expected $CMSIS_SHA256
    sha256 found    $found
setup: nothing was unpacked; $hint"
    tar -xzof "$1" -C "$tmp/cmsis" >>"$LOG" 2>&1 &&
        [ -e "$tmp/cmsis/package/CMSIS/Core/Include/core_cm4.h" ] ||
        die_with_log "cannot unpack $1" "$hint"
    echo "$CMSIS_SHA256" >"$tmp/cmsis/package/${CMSIS_MARK##*/}"
    put_in_place "$tmp/cmsis/package" "$CMSIS_DIR"
}

# Writes entries for source packages, made from the machine's own package sources, for the suites
# that match the expression $1. Folder $2 gets one file for each file read. Both formats of apt are
# supported.
copy_sources() {
    eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d 2>>"$LOG")"
    n=0
    for f in "${list:-/etc/apt/sources.list}" "${parts:-/etc/apt/sources.list.d}"/*; do
        [ -r "$f" ] || continue
        n=$((n + 1))
        case $f in
        *.list)
            awk -v want="$1" '
                $1 == "deb" {
                    line = $0
                    sub(/^[ \t]*deb[ \t]+/, "", line)
                    options = ""
                    if (match(line, /^\[[^]]*\][ \t]*/)) {
                        options = substr(line, 1, RLENGTH)
                        line = substr(line, RLENGTH + 1)
                    }
                    sub(/#.*/, "", line)
                    if (split(line, w) < 3 || w[2] !~ want)
                        next
                    printf "deb-src %s%s", options, w[1]
                    for (i = 2; i in w; i++)
                        printf " %s", w[i]
                    print ""
                }' "$f" >"$2/$n.list"
            ;;
        *.sources)
            # This format has paragraphs of fields; a line that begins with a blank continues the
            # field above.
            awk -v want="$1" '
                function flush_paragraph(   i, k, w, suites, deb) {
                    k = split(field["types"], w, /[ \t\n]+/)
                    for (i = 1; i <= k; i++)
                        if (w[i] == "deb") deb = 1
                    k = split(field["suites"], w, /[ \t\n]+/)
                    for (i = 1; i <= k; i++)
                        if (w[i] != "" && w[i] ~ want) suites = suites " " w[i]
                    if (deb && suites != "" && tolower(field["enabled"]) !~ /no|false|off|0/) {
                        print "Types: deb-src"
                        print "Suites:" suites
                        printf "%s\n", rest
                    }
                    delete field["types"]; delete field["suites"]; delete field["enabled"]
                    rest = ""; name = ""
                }
                /^#/ { next }
                /^[ \t]*$/ { flush_paragraph(); next }
                /^[ \t]/ {
                    field[name] = field[name] "\n" $0
                    if (name != "types" && name != "suites") rest = rest $0 "\n"
                    next
                }
                {
                    name = tolower($0); sub(/[ \t]*:.*/, "", name)
                    v = $0; sub(/^[^:]*:[ \t]*/, "", v)
                    field[name] = v
                    if (name != "types" && name != "suites") rest = rest $0 "\n"
                }
                END { flush_paragraph() }' "$f" >"$2/$n.sources"
            ;;
        esac
    done
    cat "$2"/* 2>/dev/null | grep -q deb-src
}

# Runs apt-get with private folders, so that it changes nothing on the machine and needs no root.
# The sources and their keys are those of the machine.
apt_private() {
    (cd "$tmp/apt" && LC_ALL=C apt-get -o Dir::Etc::SourceList=/dev/null \
        -o Dir::Etc::SourceParts="$tmp/apt/parts" -o Dir::State::Lists="$tmp/apt/lists" \
        -o Dir::Cache="$tmp/apt/cache" -o APT::Sandbox::User="$(id -un)" \
        -o APT::Get::List-Cleanup=0 -o Acquire::Languages=none "$@") </dev/null >>"$LOG" 2>&1 9>&-
}

fetch_unity() {
    say "fetching Unity (from Debian's source package cjson): the unit test framework"
    hint='UNITY=<checkout> on the make command line uses your own copy instead'
    have apt-get || die "there is no apt-get here to fetch Unity with; $hint"
    mkdir -p "$tmp/apt/parts" "$tmp/apt/lists/partial" "$tmp/apt/cache/archives/partial" "$tmp/x"
    codename=$(sed -n 's/^VERSION_CODENAME="\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' /etc/os-release)
    # the sources of a machine that follows stable, testing or unstable have no codename
    copy_sources "^${codename:-none}\$" "$tmp/apt/parts" ||
        copy_sources '^[a-z]+$' "$tmp/apt/parts" ||
        die "found no package source of this release in apt's configuration; $hint"
    # The exit code of update is ignored: it also fails if some source has no source packages. Only
    # the download counts.
    apt_private update
    apt_private source --download-only cjson ||
        die_with_log "apt could not fetch the source package cjson, which carries Unity" \
            "the log is $LOG; is there a network?" "$hint"
    archive=
    for f in "$tmp"/apt/cjson_*.tar.*; do
        case $f in
        *.asc | *.debian.tar.*) ;;
        *) archive=$f ;;
        esac
    done
    case $archive in
    *.xz) ensure +xz ;;
    *.bz2) ensure +bz2 ;;
    esac
    tar -xof "$archive" -C "$tmp/x" >>"$LOG" 2>&1 || die_with_log "cannot unpack $archive" "$hint"
    set -- "$tmp"/x/*/tests/unity
    [ -e "$1/src/unity_internals.h" ] ||
        die "${archive##*/} of Debian's cjson has no tests/unity/src any more; $hint"
    found=$(unity_hash "$1/src")
    unity_accepted "$found" ||
        die "${archive##*/} carries a Unity that is not known here:
    sha256 found $found
    (of unity.c, unity.h and unity_internals.h joined)
setup: nothing was unpacked. If you trust it, accept it with UNITY_SHA256=$found
setup: or $hint"
    mkdir -p "$tmp/unity/src" "$tmp/unity/examples"
    cp "$1/src/unity.c" "$1/src/unity.h" "$1/src/unity_internals.h" "$tmp/unity/src" ||
        die "cannot copy Unity out of ${archive##*/}"
    [ ! -e "$1/docs/license.txt" ] || cp "$1/docs/license.txt" "$tmp/unity"
    # This copy of unity_internals.h always includes ../examples/unity_config.h. The file that is
    # made here includes the project's configuration, under the condition that Unity documents.
    cat >"$tmp/unity/examples/unity_config.h" <<'EOF'
#ifdef UNITY_INCLUDE_CONFIG_H
#include <unity_config.h>
#endif
EOF
    put_in_place "$tmp/unity" "$UNITY_DIR"
}

# Installs the packages of the groups in $1 and checks again.
ensure() {
    scan "$1"
    # if Unity or CMSIS is still missing, the caller handles it
    install_packages
    [ -n "$missing" ] || return 0
    scan "$1"
    [ -z "$missing" ] ||
        die "apt-get ended well, yet this is still not found: $missing (is /usr/bin in the PATH?)"
}

# ---- the user's own checkouts, and what make is told --------------------------------------------

# own NAME DIR "FOLDERS to try" "REQUIRED FILES": sets $dir to the folder that has the files.
own() {
    for sub in $3; do
        dir=$2/$sub
        for f in $4; do
            [ -e "$dir/$f" ] || continue 2
        done
        dir=$(cd "$dir" && pwd -P)
        case $dir in
        *[[:space:]\#\$%:\;\\\"\'\(\)\&\|\*\?]*)
            die "$1=$2: make cannot take the path $dir; use a checkout without blanks and marks" ;;
        "$root"/*) dir=${dir#"$root"/} ;;
        esac
        return 0
    done
    [ -d "$2" ] || die "$1=$2: there is no such folder"
    die "$1=$2: found no folder with $(echo "$4" | sed 's/ /, /g') in it
    (tried $(echo "$3" | sed 's/ /, /g') there)"
}

write_paths() {
    paths="# written by tools/dev/setup.sh
CMSIS_INC := $cmsis_inc
UNITY_SRC := $unity_src"
    # an unchanged file is not written, so that it keeps its time stamp and objects can depend on it
    [ "$(cat $DEPS/paths.mk 2>/dev/null)" = "$paths" ] && return
    mkdir -p $DEPS && echo "$paths" >$DEPS/paths.mk.$$ && mv $DEPS/paths.mk.$$ $DEPS/paths.mk ||
        not_writable $DEPS/paths.mk
}

# -------------------------------------------------------------------------------------------------

known=" "
each_row note_groups all
case ${1:-} in
'')
    usage >&2
    exit 1
    ;;
--help | -h)
    usage
    exit 0
    ;;
--list)
    each_row list_row all
    exit 0
    ;;
esac
for g; do
    case $known in
    *" $g "*) ;;
    *)
        usage >&2
        die "there is no group '$g'"
        ;;
    esac
done
asked="$*"

started=$(date +%s)
called_in=$PWD
root=$(CDPATH='' cd "$(dirname "$0")/../.." && pwd -P) || die "cannot enter the folder above $0"
cd "$root" || die "cannot enter $root"

cmsis_inc=$CMSIS_DIR/CMSIS/Core/Include
unity_src=$UNITY_DIR/src
if [ -n "${CMSIS:-}" ]; then
    case $CMSIS in /*) ;; *) CMSIS=$called_in/$CMSIS ;; esac
    own CMSIS "$CMSIS" 'CMSIS/Core/Include Core/Include Include .' \
        'core_cm3.h core_cm4.h core_cm7.h'
    cmsis_inc=$dir
fi
if [ -n "${UNITY:-}" ]; then
    case $UNITY in /*) ;; *) UNITY=$called_in/$UNITY ;; esac
    own UNITY "$UNITY" 'src tests/unity/src .' 'unity.c unity.h unity_internals.h'
    unity_src=$dir
fi
write_paths

key="$(cksum <tools/dev/setup.sh) ${CMSIS:-} ${UNITY:-} ${UNITY_SHA256:-}"
thorough=0
for g in $asked; do
    [ "$(cat "$DEPS/stamp-$g" 2>/dev/null)" = "$key" ] || thorough=1
done

scan "$asked"
if [ -n "$missing$fetch" ]; then
    tmp=
    trap '[ -z "$tmp" ] || rm -rf "$tmp"' EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM

    for f in $DEPS $DEPS/lock $LOG; do
        [ ! -e "$f" ] || [ -w "$f" ] || not_writable "$f"
    done
    # Every Debian has flock, and the kernel drops the lock of a dead process. On other systems
    # nothing is installed, and a fetched library still appears in one step, by a rename.
    if have flock; then
        exec 9>$DEPS/lock
        if ! flock -n 9; then
            say 'another make is setting up: waiting for it'
            flock 9
        fi
        rm -rf $DEPS/tmp.*
    fi
    # another make may have finished the work while this one waited
    scan "$asked"
fi
if [ -n "$missing$fetch" ]; then
    make_tmp
    : >$LOG
    ensure "$asked"
    # fetch_unity may scan for other tools, which overwrites $fetch
    todo=$fetch
    case $todo in *CMSIS-Core*) fetch_cmsis ;; esac
    case $todo in *Unity*) fetch_unity ;; esac
    say "ready after $(($(date +%s) - started)) s"
fi
if [ $thorough = 1 ]; then
    for g in $asked; do
        # fails if build/ belongs to another user, which only costs time
        { echo "$key" >"$DEPS/stamp-$g"; } 2>/dev/null
    done
fi
exit 0
