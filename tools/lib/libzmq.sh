#!/bin/bash
# libzmq.sh PREFIX MIRROR: Debian's libzmq, compiled without what a wheel is not to carry: Kerberos, PGM, NORM, libbsd. Encryption is libsodium's.
# A second time it is there. Needs apt's source index, which it keeps in PREFIX; no root.
set -euo pipefail

prefix=$(realpath -m "$1")
mirror=$2
# shellcheck source=/dev/null
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")

wanted="4 $codename" # raised where what is below changes
if [ "$(cat "$prefix/made" 2>/dev/null)" = "$wanted" ]; then
	exit 0
fi
rm -rf "$prefix"
mkdir -p "$prefix/apt/lists/partial" "$prefix/apt/cache/archives/partial" "$prefix/source"

echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $codename main" >"$prefix/apt/sources.list"
apt=(apt-get -q -o Dir::State="$prefix/apt" -o Dir::State::status=/var/lib/dpkg/status -o Dir::Cache="$prefix/apt/cache"
	-o Dir::Etc::SourceList="$prefix/apt/sources.list" -o Dir::Etc::SourceParts=- -o APT::Sandbox::User="$(id -un)")
"${apt[@]}" update
cd "$prefix/source"
"${apt[@]}" source zeromq3 # with Debian's changes to it

cd zeromq3-*/
dpkg-parsechangelog -S Version >"$prefix/version"
cp debian/copyright "$prefix/copyright"
autoreconf --install --force
eval "$(dpkg-buildflags --export=sh)"
# pthread's condition variables: those of C++ would ask for a newer libstdc++ than the C library they come with.
./configure --prefix="$prefix" --libdir="$prefix/lib" --disable-static --without-docs --with-libsodium --without-pgm --without-norm \
	--without-libgssapi_krb5 --without-vmci --disable-libbsd --disable-libunwind --disable-curve-keygen --disable-perf --disable-Werror \
	--with-cv-impl=pthread
make -s -j"$(nproc)" install-libLTLIBRARIES install-pkgconfigDATA install-includeHEADERS
strip --strip-unneeded "$prefix"/lib/libzmq.so.*.*
rm -rf "$prefix/source" "$prefix/apt"
echo "$wanted" >"$prefix/made"
