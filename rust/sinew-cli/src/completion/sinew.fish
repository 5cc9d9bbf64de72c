# Completes the command sinew in fish: have it as sinew.fish among the completions, or source it.

function __sinew_complete
    set -l typed (commandline -ct)
    set -l found (sinew complete -- (commandline -opc) "$typed" 2>/dev/null)
    if test "$found[1]" = :files
        set -l option (string match -r -- '^--[^=]*=' $typed)
        for path in (__fish_complete_path (string replace -r -- '^--[^=]*=' '' "$typed"))
            printf '%s\n' "$option$path"
        end
    else
        printf '%s\n' $found
    end
end

complete --command sinew --no-files --keep-order --arguments '(__sinew_complete)'
