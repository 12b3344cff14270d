#!/usr/bin/env -S zsh -f
# Prints what zsh offers for LINE when the tab key is pressed, one candidate a line.
#
#     complete.zsh SCRIPT LINE
#
# SCRIPT is sourced after compinit. A separate zsh runs in a pseudo terminal; its compadd prints the candidates that match
# before it adds them.

zmodload zsh/zpty || exit 2
zpty inner zsh -f -i
() {
    zpty -w inner "source $1"
    repeat 20; do
        zpty -r inner line || break
        [[ $line == ready* ]] && return
    done
} =(<<<'
PROMPT=
autoload -Uz compinit && compinit -u -D
source '${(q)1}'
bindkey "^M" undefined
bindkey "^J" undefined
bindkey "^I" complete-word
marker() { echo -E - $'"'"'\0'"'"' }
compprefuncs=(marker)
comppostfuncs=(marker exit)
zstyle ":completion:*" list-grouped false
zstyle ":completion:*" insert-tab false
zstyle ":completion:*" list-separator ""
zstyle ":completion:*" verbose false
compadd() {
    # Calls that only filter or count, see _describe.
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
        builtin compadd "$@"
        return $?
    fi
    typeset -a hits before hidden
    builtin compadd -A hits "$@"
    zparseopts -E -a ignored P:=before p:=hidden
    setopt localoptions norcexpandparam extendedglob
    local hit
    for hit in $hits; do
        echo -E - "$IPREFIX${before[2]}${hidden[2]}$hit"
    done
    builtin compadd "$@"
}
echo ready
')
zpty -w inner "$2"$'\t'
integer seen=0
while zpty -r inner line; do
    if [[ $line == *$'\0'* ]]; then
        (( seen++ )) && break
        continue
    fi
    (( seen )) && print -r -- ${line%$'\r\n'}
done
zpty -d inner
