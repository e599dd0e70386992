# shellcheck shell=bash
# pypi.sh: what tools take from PyPI, in versions that a list of tools/lib/ pins. Sourced, in the root of the repository.

# from_pypi NAME [FOLDER]: makes a virtual environment in FOLDER (build-NAME/) with what tools/lib/NAME.txt lists, unless it is there. Fails after the last that pip said.
from_pypi() {
	local list=tools/lib/$1.txt folder=${2:-build-$1} log
	! cmp -s "$list" "$folder/$1.txt" || return 0
	rm -rf "$folder"
	log=$(mktemp -t "portolan-$1.XXXXXX")
	if ! { /usr/bin/python3 -m venv "$folder" && "$folder/bin/pip" install --disable-pip-version-check --no-deps --requirement "$list"; } >"$log" 2>&1; then
		tail -n 5 "$log" >&2
		echo "what $list lists could not be installed from PyPI (everything pip said is in $log)" >&2
		return 1
	fi
	rm -f "$log"
	cp "$list" "$folder/"
}
