# fish completion for portolan. What may stand where the program says itself: `portolan completion candidates`.
function __portolan_candidates
	set -l words (commandline -opc)
	# As the program would get it; quotes may not be closed yet.
	set -l typed (commandline -ct)
	set -l word (string unescape -- "$typed"; or string replace -r -- '^["\']' '' "$typed")
	for line in ($words[1] completion candidates -- $words[2..-1] "$word" 2>/dev/null)
		if string match -q \t'*' -- $line
			set -l before (string match -r -- '^--[^=]*=|' $word)
			for path in (__fish_complete_path (string replace -- "$before" '' $word))
				echo $before$path
			end
		else
			echo $line
		end
	end
end
complete -c portolan -f -a '(__portolan_candidates)'
