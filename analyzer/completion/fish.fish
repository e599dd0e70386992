# fish completion for portolan. What may stand where the program says itself: `portolan completion candidates`.
function __portolan_candidates
	set -l words (commandline -opc)
	set -l word (commandline -ct)
	test (count $word) -gt 0; or set word ''
	for line in ($words[1] completion candidates -- $words[2..-1] "$word" 2>/dev/null)
		if string match -q \t'*' -- $line
			__fish_complete_path $word
		else
			echo $line
		end
	end
end
complete -c portolan -f -a '(__portolan_candidates)'
