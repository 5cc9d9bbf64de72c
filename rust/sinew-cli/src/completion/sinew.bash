# Completes the command sinew in bash: source it, or have it as sinew among the completions of bash-completion.

_sinew() {
    mapfile -t COMPREPLY < <(sinew complete --line "${COMP_LINE:0:COMP_POINT}" --word "$2" 2>/dev/null)
    COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
    if [[ ${COMPREPLY[0]-} == :files ]]; then
        COMPREPLY=()
        compopt -o default
    else
        compopt +o default
    fi
}

complete -o nosort -F _sinew sinew
