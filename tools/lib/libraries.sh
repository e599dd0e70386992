#!/bin/bash
# libraries.sh PREFIX MIRROR PROCESSOR COMPILERS: what a wheel carries, from Debian's sources, by the compilers of glibc.sh: libzmq without Kerberos, PGM, NORM and libbsd;
# libmicrohttpd without GnuTLS; LMDB; and, as archives that are linked in, libsodium, msgpack, xxHash, Jansson and libunistring.
# A second time they are there, unless this script has changed. Needs apt's source index, which it keeps in PREFIX; no root. Leaves SOURCE.version, SOURCE.copyright and
# SOURCE.sha256 (of the files that Debian has it in) of each source package.
set -euo pipefail

prefix=$(realpath -m "$1") mirror=$2 processor=$3 compilers=$(realpath -m "$4")
# shellcheck source=/dev/null
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")

wanted="$(sha256sum <"${BASH_SOURCE[0]}") $codename $(cat "$compilers/made")"
if [ "$(cat "$prefix/made" 2>/dev/null)" = "$wanted" ]; then
	exit 0
fi
rm -rf "$prefix"
mkdir -p "$prefix/apt/lists/partial" "$prefix/apt/cache/archives/partial" "$prefix/source" "$prefix/include" "$prefix/lib/pkgconfig"

echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $codename main" >"$prefix/apt/sources.list"
apt=(apt-get -q -o Dir::State="$prefix/apt" -o Dir::State::status=/var/lib/dpkg/status -o Dir::Cache="$prefix/apt/cache"
	-o Dir::Etc::SourceList="$prefix/apt/sources.list" -o Dir::Etc::SourceParts=- -o APT::Sandbox::User="$(id -un)")
"${apt[@]}" update

export CC="$compilers/bin/cc" CXX="$compilers/bin/c++" AR="$processor-linux-gnu-ar" RANLIB="$processor-linux-gnu-ranlib" STRIP="$processor-linux-gnu-strip"
export PKG_CONFIG_LIBDIR="$prefix/lib/pkgconfig" CPPFLAGS="-D_FORTIFY_SOURCE=2"
export CFLAGS="-O2 -fPIC -fstack-protector-strong -ffunction-sections -fdata-sections -ffile-prefix-map=$prefix=." LDFLAGS="-Wl,-z,relro -Wl,-z,now -Wl,--gc-sections"
export CXXFLAGS="$CFLAGS"

# enter SOURCE: into the folder of a source package, with Debian's changes to it.
enter() {
	cd "$prefix/source"
	"${apt[@]}" source "$1"
	cd "$1"-*/
	version=$(dpkg-parsechangelog -S Version)
	echo "$version" >"$prefix/$1.version"
	cp debian/copyright "$prefix/$1.copyright"
	(cd .. && sha256sum "$1"_* >"$prefix/$1.sha256")
}

# configure OPTIONS...: for the processor, into PREFIX.
configure() {
	[ -x configure ] || autoreconf --install --force
	./configure --host="$processor-linux-gnu" --prefix="$prefix" --libdir="$prefix/lib" --disable-dependency-tracking "$@"
}

# describe NAME LIBRARY: what pkg-config says of a library that was compiled here by hand.
describe() {
	printf '%s\n' "Name: $1" "Description: $1" "Version: ${version%%[-+]*}" "Libs: -L$prefix/lib -l$2" "Cflags: -I$prefix/include" >"$prefix/lib/pkgconfig/$1.pc"
}

# archive NAME FILES...: libNAME.a of these sources.
archive() {
	local name=$1
	shift
	# shellcheck disable=SC2086 # lists of words
	"$CC" $CPPFLAGS $CFLAGS -Iinclude -c "$@"
	"$AR" rcs "$prefix/lib/lib$name.a" ./*.o
}

enter libsodium
configure --disable-shared --enable-static --disable-ssp --disable-pie --with-pic
make -s -j2 install

enter zeromq3
rm -f configure
# What configure can only find out on the processor itself, and takes for missing otherwise, is in every Linux: the collector needs accept4.
# pthread's condition variables: waiting on those of C++ would be a call of a later C library.
configure --disable-static --without-docs --with-libsodium --without-pgm --without-norm --without-libgssapi_krb5 --without-vmci \
	--disable-libbsd --disable-libunwind --disable-curve-keygen --disable-perf --disable-Werror --disable-drafts --disable-ws --with-cv-impl=pthread \
	libzmq_cv_{sock,o,efd}_cloexec=yes libzmq_cv_so_{bindtodevice,keepalive,priority}=yes libzmq_cv_tcp_keep{cnt,idle,intvl}=yes libzmq_cv_getrandom=yes \
	ax_cv_func_posix_memalign_works=yes
# All its files as one, which takes a tenth of the time; those of WebSocket, which is disabled, ask for GnuTLS.
(cd src && printf '#include "%s"\n' ./*.cpp) | grep -vE '/wss?_' >src/all.cc
echo '{ global: zmq_*; local: *; };' >exported # not the C++ library's symbols, too
# shellcheck disable=SC2086 # lists of words
"$CXX" -DHAVE_CONFIG_H -D_GNU_SOURCE -D_REENTRANT -D_THREAD_SAFE $CPPFLAGS -I. -Isrc -I"$prefix/include" $CXXFLAGS -w -fvisibility=hidden -pthread \
	-shared $LDFLAGS -Wl,-soname,libzmq.so.5 -Wl,-z,defs -Wl,--version-script=exported src/all.cc -L"$prefix/lib" -lsodium -lrt -ldl -o "$prefix/lib/libzmq.so.5"
ln -s libzmq.so.5 "$prefix/lib/libzmq.so"
make -s install-pkgconfigDATA install-includeHEADERS

enter libmicrohttpd
configure --disable-static --disable-https --disable-curl --disable-doc --disable-examples --disable-tools
make -s -j2 -C src/microhttpd install
make -s -C src/include install
make -s install-pkgconfigDATA

enter lmdb
cd libraries/liblmdb
# shellcheck disable=SC2086 # lists of words
"$CC" $CPPFLAGS $CFLAGS -pthread -shared $LDFLAGS -Wl,-soname,liblmdb.so.0 mdb.c midl.c -o "$prefix/lib/liblmdb.so.0"
ln -s liblmdb.so.0 "$prefix/lib/liblmdb.so"
cp lmdb.h "$prefix/include"
describe lmdb lmdb

enter msgpack-c
for name in sysdep pack_template; do # as CMake would
	sed 's/@MSGPACK_ENDIAN_BIG_BYTE@/0/; s/@MSGPACK_ENDIAN_LITTLE_BYTE@/1/' "cmake/$name.h.in" >"include/msgpack/$name.h"
done
archive msgpack-c src/*.c
cp -r include/. "$prefix/include"
describe msgpack-c msgpack-c

enter xxhash
archive xxhash xxhash.c
cp xxhash.h xxh3.h "$prefix/include"
describe libxxhash xxhash

enter jansson
configure --disable-shared --enable-static
make -s -j2 -C src install
make -s install-pkgconfigDATA

enter libunistring
configure --disable-shared --enable-static --disable-rpath
make -s -j2 -C lib install ACLOCAL=: AUTOCONF=: AUTOHEADER=: AUTOMAKE=: # whose files are there, by another release of automake

"$STRIP" --strip-unneeded "$prefix"/lib/libzmq.so.5 "$prefix"/lib/libmicrohttpd.so.*.* "$prefix/lib/liblmdb.so.0"
rm -rf "$prefix/source" "$prefix/apt"
echo "$wanted" >"$prefix/made"
