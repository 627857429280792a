# Completion of tilescope for fish: the program itself says what can follow.
function __tilescope_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    for line in ($words[1] complete -- $words[2..-1] "$word" 2>/dev/null)
        if string match -q ':*' -- $line
            __fish_complete_suffix "$word" (string sub -s 2 -- $line)
        else
            echo $line
        end
    end
end
complete -c tilescope -f -a '(__tilescope_complete)'
