#compdef sinew
# Completes the command sinew in zsh: have it as _sinew in a folder of $fpath, or source it behind compinit.

_sinew() {
    local line
    local -a values described
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            compset -P '--*='
            _files
            return
        fi
        values+=("${line%%$'\t'*}")
        described+=("${line/$'\t'/  -- }")
    done < <(sinew complete -- "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)
    (( $#values )) && compadd -V names -l -d described -a values
}

if [[ $funcstack[1] == _sinew ]]; then
    _sinew "$@"
else
    compdef _sinew sinew
fi
