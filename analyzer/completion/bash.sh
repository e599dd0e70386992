# bash completion for portolan. What may stand where the program says itself: `portolan completion candidates`.
_portolan()
{
	local line=${COMP_LINE:0:COMP_POINT} candidate before
	local -a words
	read -a words <<<"$line" || return
	[[ $line == *[[:space:]] ]] && words+=('')
	((${#words[@]} > 1)) || return

	# bash breaks words at these, and replaces only what stands after the last one.
	before=${words[-1]}
	while [[ -n $before && (${before: -1} != [:=] || $COMP_WORDBREAKS != *"${before: -1}"*) ]]; do
		before=${before%?}
	done

	COMPREPLY=()
	while IFS= read -r candidate; do
		if [[ $candidate == $'\t'* ]]; then
			compopt -o default 2>/dev/null
			continue
		fi
		candidate=${candidate%%$'\t'*}
		printf -v candidate %q "${candidate#"$before"}"
		COMPREPLY+=("$candidate")
	done < <("${words[0]}" completion candidates -- "${words[@]:1}" 2>/dev/null)
}
complete -F _portolan portolan
