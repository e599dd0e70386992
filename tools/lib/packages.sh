# shellcheck shell=bash
# packages.sh: which packages of Debian 12 and 13 each command of tools/ needs, installing them, and whose work the rest is. Sourced.

# a|b: a where apt-get offers it, otherwise b, its name in an older release.
declare -A package_lists=(
	[build]="gcc libc6-dev pkg-config meson ninja-build scdoc libzmq3-dev libmsgpack-c-dev|libmsgpack-dev liblmdb-dev libxxhash-dev libjansson-dev
		libunistring-dev libmicrohttpd-dev python3 python3-dev gnuplot-nox"
	[demo]="python3-numpy python3-sklearn wamerican wbritish wfrench wngerman wspanish witalian wswedish wdutch wportuguese"
	[test]="libcmocka-dev g++ groff-base nginx nodejs openssl python3-numpy python3-prometheus-client python3-pytest python3-sklearn python3-zmq python3-msgpack
		zsh fish"
	[lint]="clang-tidy git python3-venv shellcheck"
	[browser]="chromium chromium-driver firefox-esr libgl1-mesa-dri python3-selenium python3-venv xvfb"
	[frameworks]="python3-venv"
	[spark]="default-jre-headless python3-venv"
	[wheel]="git python3-venv dpkg-dev gcc-aarch64-linux-gnu make autoconf automake libtool"
	[aarch64]="gcc-aarch64-linux-gnu qemu-user-static binfmt-support"
	[fuzz]="clang libclang-rt-dev"
)
declare -A package_floors=([meson]=1.0.1 [python3]=3.11 [libjansson-dev]=2.14 [libmicrohttpd-dev]=0.9.75) # meson.build has them too

# packages_missing LIST...: what of these lists is not installed, one per line.
packages_missing() {
	local list entry package
	for list in "$@"; do
		for entry in ${package_lists[$list]}; do
			for package in ${entry//|/ }; do
				[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ] || continue 2
			done
			echo "$entry"
		done
	done | sort -u
}

# refuse_old_packages: ends the script where the packages of this system are older than meson.build asks for.
refuse_old_packages() {
	local package version old=()
	while read -r package version; do
		if dpkg --compare-versions "$version" lt "${package_floors[$package]}"; then
			old+=("$package is $version, and ${package_floors[$package]} is needed;")
		fi
	done < <(LC_ALL=C apt-cache policy "${!package_floors[@]}" | awk '/^[^ ]/ { sub(":$", ""); name = $0 } /^  Candidate: [^(]/ { print name, $2 }')
	[ ${#old[@]} -eq 0 ] || { echo "$0: this system is too old: ${old[*]} Debian 12 and 13 have what is needed" >&2; exit 1; }
}

# install_packages LIST...: installs what is missing, as root or through sudo. With nothing missing it asks neither the
# network nor for a password. What apt-get says is shown if it fails.
install_packages() {
	local missing wanted log as_root=()
	command -v apt-get >/dev/null || { echo "$0: installs Debian's packages, and there is no apt-get here; tools/README.md has other systems' names" >&2; exit 1; }
	mapfile -t missing < <(packages_missing "$@")
	[ ${#missing[@]} -gt 0 ] || { refuse_old_packages; return 0; }
	if [ "$(id -u)" != 0 ]; then
		if ! command -v sudo >/dev/null; then
			echo "$0: Debian packages are missing, and installing them takes root: ${missing[*]}" >&2
			exit 1
		fi
		as_root=(sudo)
	fi
	echo "installing Debian packages: ${missing[*]}" | fold -s -w 110 | sed '1s/^/      /; 2,$s/^/        /'
	"${as_root[@]}" true # a password is asked for here, not into the log
	log=$(mktemp -t portolan-apt.XXXXXX)
	printf -v wanted '%s, ' "${missing[@]//|/ | }"
	if ! { "${as_root[@]}" apt-get update -q && refuse_old_packages 2>&3 &&
		"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get satisfy -q -y --no-install-recommends "${wanted%, }"
	} 3>&2 >"$log" 2>&1 </dev/null; then
		tail -n 25 "$log" >&2
		echo "$0: installing packages failed (everything apt-get said is in $log)" >&2
		exit 1
	fi
	rm -f "$log"
}

# rerun_as_user ARGUMENTS...: when root works in somebody else's clone (sudo tools/demo), starts the script again as that
# user, with --as-user before its arguments, so that no file of root's is left in the clone. To be called after the packages
# are installed, in the clone's root.
rerun_as_user() {
	local owner home
	[ "$(id -u)" = 0 ] || return 0
	owner=$(stat -c %U .)
	if [ "$owner" = root ] || [ "$owner" = UNKNOWN ] || ! runuser -u "$owner" -- test -w .; then
		return 0
	fi
	home=$(getent passwd "$owner" | cut -d: -f6)
	exec runuser -u "$owner" -- env HOME="$home" USER="$owner" LOGNAME="$owner" "tools/$(basename "$0")" --as-user "$@"
}
