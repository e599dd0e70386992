#!/bin/bash
# libraries.sh PREFIX MIRROR: Debian's libzmq and libmicrohttpd, compiled without what a wheel is not to carry: Kerberos, PGM, NORM and libbsd; GnuTLS.
# Encryption of the wire is libsodium's. A second time they are there. Needs apt's source index, which it keeps in PREFIX; no root.
# Leaves of each SOURCE.version and SOURCE.copyright, by the name of Debian's source package.
set -euo pipefail

prefix=$(realpath -m "$1")
mirror=$2
# shellcheck source=/dev/null
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")

wanted="5 $codename" # raised where what is below changes
if [ "$(cat "$prefix/made" 2>/dev/null)" = "$wanted" ]; then
	exit 0
fi
rm -rf "$prefix"
mkdir -p "$prefix/apt/lists/partial" "$prefix/apt/cache/archives/partial" "$prefix/source"

echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $codename main" >"$prefix/apt/sources.list"
apt=(apt-get -q -o Dir::State="$prefix/apt" -o Dir::State::status=/var/lib/dpkg/status -o Dir::Cache="$prefix/apt/cache"
	-o Dir::Etc::SourceList="$prefix/apt/sources.list" -o Dir::Etc::SourceParts=- -o APT::Sandbox::User="$(id -un)")
"${apt[@]}" update

# enter SOURCE: into the folder of a source package, with Debian's changes to it.
enter() {
	cd "$prefix/source"
	"${apt[@]}" source "$1"
	cd "$1"-*/
	dpkg-parsechangelog -S Version >"$prefix/$1.version"
	cp debian/copyright "$prefix/$1.copyright"
	eval "$(dpkg-buildflags --export=sh)"
}

enter zeromq3
autoreconf --install --force
# pthread's condition variables: those of C++ would ask for a newer libstdc++ than the C library they come with.
./configure --prefix="$prefix" --libdir="$prefix/lib" --disable-static --without-docs --with-libsodium --without-pgm --without-norm \
	--without-libgssapi_krb5 --without-vmci --disable-libbsd --disable-libunwind --disable-curve-keygen --disable-perf --disable-Werror \
	--with-cv-impl=pthread
make -s -j"$(nproc)" install-libLTLIBRARIES install-pkgconfigDATA install-includeHEADERS

enter libmicrohttpd
./configure --prefix="$prefix" --libdir="$prefix/lib" --disable-static --disable-https --disable-curl --disable-doc --disable-examples --disable-tools
make -s -j"$(nproc)" -C src/microhttpd install
make -s -C src/include install
make -s install-pkgconfigDATA

strip --strip-unneeded "$prefix"/lib/libzmq.so.*.* "$prefix"/lib/libmicrohttpd.so.*.*
rm -rf "$prefix/source" "$prefix/apt"
echo "$wanted" >"$prefix/made"
