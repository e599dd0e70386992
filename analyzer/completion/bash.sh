# bash completion for portolan. What may stand where the program says itself: `portolan completion candidates`.
_portolan()
{
	local line=${COMP_LINE:0:COMP_POINT} candidate before quoted=
	local -a words

	# A word in quotes that are not closed yet is one word, and stands in them as it is.
	[[ ${COMP_WORDS[COMP_CWORD]} == [\"\']* ]] && quoted=${COMP_WORDS[COMP_CWORD]}
	read -a words <<<"${line%"$quoted"}" || return
	[[ $line =~ (^|[^\\])[[:space:]]$ || $quoted ]] && words+=("${quoted:1}")
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
		candidate=${candidate#"$before"}
		[[ $quoted ]] || printf -v candidate %q "$candidate"
		COMPREPLY+=("$candidate")
	done < <("${words[0]}" completion candidates -- "${words[@]:1}" 2>/dev/null)
}
complete -F _portolan portolan
