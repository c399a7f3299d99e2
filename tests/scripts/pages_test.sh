#!/bin/bash
# Goal: man pages and completions contain everything that the programs' --help shows. Method: every
# --help is parsed; each command and option is searched in the man page, requested from the
# completions of bash and fish, and searched in those of zsh, which completes only on a terminal.
#   pages_test.sh BUILD_DIR
set -euo pipefail
build=$1
pages=$build/pages

failed=0
fault() {
    printf '%s\n' "$*" >&2
    failed=1
}

# Prints bash's completions for these words, the last of which is incomplete.
offered_by_bash() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    "_$1"
    printf '%s\n' "${COMPREPLY[@]}"
}

offered_by_fish() {
    fish --no-config -c "source $pages/fish/$1.fish; complete -C '$*'" | cut -f 1
}

# Prints the options and commands of a --help text.
options_in() { grep -oE '^  (-h,)?--[a-z-]+' <<<"$1" | grep -oE -- '--[a-z-]+'; }
commands_in() { sed -n '/^Subcommands:/,$p' <<<"$1" | grep -oE '^  [a-z-]+' | tr -d ' ' || true; }

# check PROGRAM SECTION COMMAND...
check() {
    local program=$1 section=$2
    shift 2
    local help options commands offered in_zsh word
    help=$("$build/$program" "$@" --help)
    options=$(options_in "$help")
    commands=$(commands_in "$help")
    local page=$pages/man/$program.$section name="_$program" part
    for part in "$@"; do name+="_$part"; done
    in_zsh=$(sed -n "/^$name() {/,/^}/p" "$pages/zsh/_$program")
    [[ $# -eq 0 || -n $commands ]] || grep -qF "${program} ${*//-/\\-}" "$page" ||
        fault "$page: no $program $*"

    offered=$(offered_by_bash "$program" "$@" --)
    for word in $options; do
        grep -qF -- "${word//-/\\-}" "$page" || fault "$page: no $word"
        grep -qxF -- "$word" <<<"$offered" || fault "bash does not offer: $program $* $word"
        grep -qF -- "$word" <<<"$in_zsh" || fault "zsh does not offer: $program $* $word"
    done
    offered=$(offered_by_bash "$program" "$@" '')
    for word in $commands; do
        grep -qxF -- "$word" <<<"$offered" || fault "bash does not offer: $program $* $word"
        grep -qF -- "'$word:" <<<"$in_zsh" || fault "zsh does not offer: $program $* $word"
    done
    if command -v fish >/dev/null; then
        offered=$(offered_by_fish "$program" "$@" --; offered_by_fish "$program" "$@" '')
        for word in $options $commands; do
            grep -qxF -- "$word" <<<"$offered" || fault "fish does not offer: $program $* $word"
        done
    fi
    checked=$((checked + 1))
    for word in $commands; do check "$program" "$section" "$@" "$word"; done
}

# expect WHAT WANTED FOUND
expect() { [[ $2 == "$3" ]] || fault "$1: wanted '$2', found '$3'"; }

# shellcheck source=/dev/null
source "$pages/bash/callsign"
# shellcheck source=/dev/null
source "$pages/bash/callsignd"
checked=0
check callsign 1
check callsignd 8
[[ $checked -gt 30 ]] || fault "only $checked commands were found"

expect 'what begins so' 'account' "$(offered_by_bash callsign acc)"
expect 'an option behind a value' '--prefix' "$(offered_by_bash callsign account create team --pre)"
expect 'a command behind a value' 'account' "$(offered_by_bash callsign --url token acc)"
expect 'choices' 'admin' "$(offered_by_bash callsign token create team --scope a)"
expect 'choices behind =' 'write' "$(offered_by_bash callsign token create team --scope = w)"
expect 'nothing for a text' '' "$(offered_by_bash callsign account create --prefix '')"
expect 'global options everywhere' '--json' "$(offered_by_bash callsign reaper status --js)"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/a folder"
touch "$folder/a file"
expect 'a file' "$folder/a file" "$(offered_by_bash callsign account manage --secret-file "$folder/a fi")"
expect 'an argument that is a file' "$folder/a file" "$(offered_by_bash callsign master-key new "$folder/a fi")"
expect 'a folder alone' "$folder/a folder" "$(offered_by_bash callsign check --data-dir "$folder/a")"
expect 'a configuration' "$folder/a file" "$(offered_by_bash callsignd --config "$folder/a fi")"

for page in "$pages"/man/*; do
    ! command -v mandoc >/dev/null || mandoc -T lint -W warning "$page" || fault "$page: mandoc warns"
    ! command -v groff >/dev/null || [[ -z $(groff -man -ww -z -T utf8 "$page" 2>&1) ]] ||
        fault "$page: groff warns"
done
for program in callsign callsignd; do
    bash -n "$pages/bash/$program" || fault "bash: $program"
    ! command -v zsh >/dev/null || zsh -n "$pages/zsh/_$program" || fault "zsh: $program"
done
exit $failed
