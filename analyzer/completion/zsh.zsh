#compdef portolan
# zsh completion for portolan. What may stand where the program says itself: `portolan completion candidates`.
_portolan() {
	local line
	local -a lines matches shown
	local -i none=1 with_files=0

	lines=("${(@f)$("${(Q)words[1]}" completion candidates -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
	for line in $lines; do
		if [[ $line == $'\t'* ]]; then
			with_files=1
			continue
		fi
		matches+=("${line%%$'\t'*}")
		shown+=("${line/$'\t'/  -- }")
	done
	((${#matches})) && compadd -l -d shown -a matches && none=0
	if ((with_files)); then
		compset -P '--*='
		_files && none=0
	fi
	return none
}

# Found in $fpath the file is the function; read by `source` it announces the function.
if [[ ${funcstack[1]} == _portolan ]]; then
	_portolan "$@"
else
	compdef _portolan portolan
fi
