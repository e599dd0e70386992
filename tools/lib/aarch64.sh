#!/bin/bash
# aarch64.sh BUILD FOLDER [SUITE...]: the suites on aarch64, under qemu. Programs and tests are compiled for it in FOLDER, against Debian's libraries of arm64 in FOLDER/root, which
# their names in the programs lead to: so this machine's Python, with its NumPy and SciPy, starts them like its own, and compares. Then stores cross over: what is written on aarch64 is read by
# the programs in BUILD, and what these write is read on aarch64. What was not run is named, with the reason. Needs no root, and qemu known to the kernel (binfmt_misc).
set -euo pipefail

cd "$(dirname "$0")/../.."
# shellcheck source=tools/lib/packages.sh
. tools/lib/packages.sh
build=$PWD/$1 folder=$PWD/$2
shift 2
[ $# -gt 0 ] || set -- unit fuzz oracles # of hours under qemu, those that the processor matters most to
suites=("${@/oracles/cli}")
root=$folder/root
processes=$(($(nproc) * 2))

grep -qs enabled /proc/sys/fs/binfmt_misc/qemu-aarch64 || {
	echo "tools/test: programs for aarch64 do not run here: apt-get install qemu-user-static binfmt-support" >&2
	exit 1
}

# make_root: Debian's packages for arm64, unpacked. apt takes a system in which nothing is installed, so that nothing is left out.
make_root() {
	local codename packages wanted state=$folder/apt apt package link
	# shellcheck source=/dev/null
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	packages=$(xargs -n 1 <<<"${package_lists[build]} ${package_lists[test]}" | grep -E '^lib.*-dev' | sed 's/|/ | /' | paste -sd ',')
	wanted="$codename $packages"
	[ "$(cat "$root/made" 2>/dev/null)" != "$wanted" ] || return 0
	echo "unpacking Debian's libraries for arm64 into ${root#"$PWD/"}"
	rm -rf "$root" "$state" "$folder/built"
	mkdir -p "$root" "$state/lists/partial" "$state/cache/archives/partial"
	: >"$state/status"
	echo "deb [arch=arm64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $codename main" >"$state/sources.list"
	apt=(apt-get -q -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::State="$state" -o Dir::State::status="$state/status" -o Dir::Cache="$state/cache"
		-o Dir::Etc::SourceList="$state/sources.list" -o Dir::Etc::SourceParts=- -o APT::Sandbox::User="$(id -un)")
	if ! { "${apt[@]}" update && "${apt[@]}" satisfy --download-only -y --no-install-recommends "$packages"; } >"$folder/apt.log" 2>&1 </dev/null; then
		tail -n 25 "$folder/apt.log" >&2
		return 1
	fi
	for package in "$state"/cache/archives/*.deb; do
		dpkg-deb -x "$package" "$root"
	done
	[ -e "$root/lib" ] || ln -s usr/lib "$root/lib" # where base-files is not among them
	find "$root" -type l -lname '/*' | while read -r link; do # libm.so: the linker would take libm.a in the place of a link to nothing
		ln -sfn "$root$(readlink "$link")" "$link"
	done
	rm -r "$state"
	echo "$wanted" >"$root/made"
}

# write_cross FILE: what Meson is told. RPATH, not RUNPATH: it counts for the libraries of libraries, too.
write_cross() {
	local places=$root/usr/lib/aarch64-linux-gnu:$root/lib/aarch64-linux-gnu compiler="'aarch64-linux-gnu-gcc'"
	! command -v ccache >/dev/null || compiler="'ccache', $compiler"
	cat >"$1" <<-TXT
		[binaries]
		c = [$compiler, '--sysroot=$root']
		ar = 'aarch64-linux-gnu-ar'
		strip = 'aarch64-linux-gnu-strip'
		pkgconfig = 'pkg-config' # as Meson 1.0 calls it
		pkg-config = 'pkg-config'
		exe_wrapper = '$PWD/tests/aarch64/run.sh'
		[built-in options]
		c_link_args = ['-Wl,--dynamic-linker=$root/lib/ld-linux-aarch64.so.1', '-Wl,--disable-new-dtags', '-Wl,-rpath,$places']
		[properties]
		sys_root = '$root'
		pkg_config_libdir = '${places//:*/}/pkgconfig:$root/usr/share/pkgconfig'
		[host_machine]
		system = 'linux'
		cpu_family = 'aarch64'
		cpu = 'aarch64'
		endian = 'little'
	TXT
}

mkdir -p "$folder"
make_root
if [ ! -e "$folder/built/build.ninja" ]; then
	write_cross "$folder/cross.ini"
	/usr/bin/meson setup "$folder/built" --cross-file "$folder/cross.ini" -Dtests=true -Dwerror=true -Dpython=disabled -Dman=disabled >"$folder/setup.log" 2>&1 || {
		tail -n 25 "$folder/setup.log" >&2
		exit 1
	}
fi
/usr/bin/ninja -C "$folder/built" --quiet build.ninja
mapfile -t targets < <(/usr/bin/python3 tools/lib/targets.py "$folder/built" "${suites[@]}")
/usr/bin/ninja -C "$folder/built" --quiet "${targets[@]}" analyzer/portolan collector/portoland client/log_run tests/cli/make_store

status=0
export UNDER_QEMU=1 # by which tests skip what it cannot do
mapfile -t tests < <(/usr/bin/python3 tests/aarch64/choose.py "$folder/built" "$@")
[ ${#tests[@]} -gt 0 ] || {
	echo "tools/test: nothing of $* is run on aarch64; tests/aarch64/left-out.txt says why" >&2
	exit 1
}
rm -f "$folder"/built/meson-logs/*.xml "$folder"/built/meson-logs/*.json
/usr/bin/meson test -C "$folder/built" --no-rebuild --print-errorlogs --num-processes "$processes" --timeout-multiplier 20 "${suites[@]/#/--suite=}" "${tests[@]}" || status=1
echo "== stores and runs that cross from one processor to the other"
/usr/bin/python3 tests/aarch64/crossed.py "$build" "$folder/built" || status=1
echo "== not run on aarch64:"
/usr/bin/python3 tests/aarch64/choose.py --left-out "$folder/built" "$@"
/usr/bin/python3 tools/lib/summary.py "$folder/built" || status=1
exit "$status"
