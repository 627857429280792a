#compdef tilescope
# Completion of tilescope for zsh: the program itself says what can follow.
local line
local -a told endings
for line in "${(@f)$(${(Q)words[1]} complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
    :*) endings+=("*${line#:}") ;;
    *$'\t'*) told+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
    ?*) told+=("${line//:/\\:}") ;;
    esac
done
(( $#told )) && _describe -t words 'tilescope' told
(( $#endings )) && _files -g "(${(j:|:)endings})"
