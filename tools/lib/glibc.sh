#!/bin/bash
# glibc.sh PROCESSOR ZIG FOLDER: compilers in FOLDER/bin for a processor (x86_64, aarch64) and the C library of RHEL 8, whatever this system has: `cc` is
# Debian's gcc, as the kernels for wide registers need it; `c++` is Zig's clang, which links its own C++ library in. A second time they are there, unless this script has changed.
# Headers and the shared objects to link with come from Zig, which describes every release of glibc. A system's own libc would mark the programs with its versions of symbols.
set -euo pipefail

processor=$1 zig=$(realpath "$2") folder=$(realpath -m "$3")
minor=28
wanted="$(sha256sum <"${BASH_SOURCE[0]}") 2.$minor $("$zig" version)"
if [ "$(cat "$folder/made" 2>/dev/null)" = "$wanted" ]; then
	exit 0
fi
rm -rf "${folder:?}"/{bin,include,lib} # not Zig's cache, which has its C++ library compiled
mkdir -p "$folder/bin" "$folder/include" "$folder/lib" "$folder/zig"
export ZIG_GLOBAL_CACHE_DIR="$folder/zig" ZIG_LOCAL_CACHE_DIR="$folder/zig"

# A program that is linked leaves the shared objects in Zig's cache.
echo 'int main(void) { return 0; }' >"$folder/zig/main.c"
target=$processor-linux-gnu.2.$minor
"$zig" cc -target "$target" -fPIE -pie "$folder/zig/main.c" -o "$folder/zig/main" -lm -lpthread -ldl -lrt
find "$folder/zig/o" \( -name '*.so.[0-9]' -o -name libc_nonshared.a -o -name Scrt1.o \) -exec cp -t "$folder/lib" {} +
for library in "$folder"/lib/*.so.*; do
	ln -s "$(basename "$library")" "${library%.*}"
done
rm "$folder/lib/libc.so"
echo "GROUP($folder/lib/libc.so.6 $folder/lib/libc_nonshared.a AS_NEEDED($folder/lib/libld.so))" >"$folder/lib/libc.so"

# Of Zig's folders of headers, all but clang's own; where two have a file, that of the first counts.
"$zig" cc -target "$target" -E -v "$folder/zig/main.c" 2>&1 >/dev/null | sed -n 's|^ \([^"]*/libc/include/[^/]*\)$|\1|p' | tac | while read -r headers; do
	cp -r "$headers/." "$folder/include"
done
# The limited API takes nothing from pyconfig.h but the sizes of C's types, which all 64-bit processors with little endian share under Linux.
python=$(python3 -c 'import sysconfig; print("python" + sysconfig.get_python_version())')
mkdir -p "$folder/include/$processor-linux-gnu/$python"
cp "/usr/include/$(gcc -print-multiarch)/$python/pyconfig.h" "$folder/include/$processor-linux-gnu/$python"

gcc=$processor-linux-gnu-gcc
# Whose libgcc.a is linked in, for the bill of materials: Debian's source package, its version, and that of libgcc itself.
package=$(dpkg-query -S "$(realpath "$("$gcc" -print-libgcc-file-name)")" | cut -d : -f 1)
dpkg-query -W -f '${source:Package} ${source:Version} ${Version}\n' "$package" | head -n 1 >"$folder/libgcc"
ln -sf Scrt1.o "$folder/lib/crt1.o"
for name in crti.o crtn.o; do # gcc names them, though initialisers do not need them
	"$gcc" -x c -c /dev/null -o "$folder/lib/$name"
done
# No build id: it is a checksum of what is stripped later, too, and so of the folder's name. No debug information: that of Zig's objects names the folder.
cat >"$folder/bin/cc" <<TXT
#!/bin/sh
exec $gcc -nostdinc -isystem "$("$gcc" -print-file-name=include)" -isystem "$folder/include" -D__GLIBC_MINOR__=$minor \\
	-B"$folder/lib" -L"$folder/lib" -Wl,-rpath-link,"$folder/lib" -static-libgcc -Wl,--build-id=none -Wl,--strip-debug "\$@"
TXT
cat >"$folder/bin/c++" <<TXT
#!/bin/sh
export ZIG_GLOBAL_CACHE_DIR="$folder/zig" ZIG_LOCAL_CACHE_DIR="$folder/zig"
exec "$zig" c++ -target $target -fno-sanitize=undefined "\$@"
TXT
chmod +x "$folder/bin/cc" "$folder/bin/c++"
echo "$wanted" >"$folder/made"
