# shellcheck shell=bash
# steps.sh: numbered steps with times, quiet commands, the build. Sourced by a script of tools/.
#
# Only Debian's programs are used, whatever else is first on the caller's PATH: another meson or python3 would not
# see Debian's packages.

export PATH=/usr/sbin:/usr/bin:/sbin:/bin
unset PYTHONHOME PYTHONPATH
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build

die() {
	echo "tools/$(basename "$0"): $*" >&2
	exit 1
}

# step TITLE: begins a numbered step; steps_total says how many there are.
step_number=0
steps_total=${steps_total:-0}
step() {
	step_number=$((step_number + 1))
	step_start=$SECONDS
	echo "[$step_number/$steps_total] $*"
}

step_done() {
	echo "      ${*:-done} ($((SECONDS - step_start)) s)"
}

# logged LOG COMMAND...: runs it quietly; what it said is shown only if it fails.
logged() {
	local log=$1
	shift
	if ! "$@" >"$log" 2>&1 </dev/null; then
		show_failure "$log" "$*"
	fi
}

show_failure() {
	{
		echo
		tail -n 25 "$1" 2>/dev/null | sed 's/^/      | /' || true
		die "this failed: $2 (everything it said is in $1)"
	} >&2
}

# build_targets LOG OPTIONS... -- TARGETS...: configures build/ where that is needed, with these Meson options, and builds.
build_targets() {
	local log=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	if [ -e "$build" ] && [ ! -w "$build" ]; then
		die "$build belongs to $(stat -c %U "$build"): remove it, or run this as that user"
	fi
	if [ ! -e "$build/build.ninja" ]; then
		rm -rf "$build"
		logged "$log" /usr/bin/meson setup "$build" "$root" "${options[@]}"
	elif ! /usr/bin/meson setup --reconfigure "$build" "$root" "${options[@]}" >"$log" 2>&1 </dev/null; then
		logged "$log" /usr/bin/meson setup --wipe "$build" "$root" "${options[@]}" # made by another Meson, or half made
	fi
	logged "$log" /usr/bin/ninja -C "$build" "$@"
}
