# Completion of tilescope for bash: the program itself says what can follow.
_tilescope() {
    local line word=${COMP_WORDS[COMP_CWORD]} endings=()
    COMPREPLY=()
    [[ $word == = ]] && word=
    while IFS= read -r line; do
        if [[ $line == :* ]]; then
            endings+=("${line#:}")
        else
            COMPREPLY+=("${line%%$'\t'*}")
        fi
    done < <("${COMP_WORDS[0]/#\~/$HOME}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    ((${#endings[@]})) || return 0
    # Files with these endings, and folders.
    compopt -o filenames 2>/dev/null
    while IFS= read -r line; do
        COMPREPLY+=("$line")
    done < <(
        compgen -d -- "$word"
        for line in "${endings[@]}"; do compgen -f -X "!*$line" -- "$word"; done |
            while IFS= read -r line; do [[ -d $line ]] || printf '%s\n' "$line"; done
    )
}
complete -F _tilescope tilescope
