#!/bin/bash
# try_wheel.sh ROOT WHEEL: an ordinary user in the Debian root ROOT, which has Python alone, goes from `pip install` to a picture: to a page; to a PNG,
# which takes gnuplot, and is refused; and to a PNG by matplotlib. Each command is shown with its seconds. Where the root is for another processor, and
# build/ has the programs for this one, either reads the store that the other wrote, and finds the same measures to the last digit.
set -euo pipefail

root=$1 wheel=$(realpath "$2")
build=$(realpath -m "$(dirname "$0")/../../build")
home=$root/home/sailor
die() {
	echo "tools/fresh: $*" >&2
	exit 1
}

inside() {
	chroot "$root" env -i HOME=/home/sailor PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 PIP_DISABLE_PIP_VERSION_CHECK=1 \
		su sailor -c "cd && PATH=\$HOME/env/bin:/usr/bin:/bin && $1"
}

# timed COMMAND: as it is typed there.
timed() {
	local begin=${EPOCHREALTIME/./} status=0
	inside "$1" >"$root/said" 2>&1 || status=$?
	printf '%7.2f s  $ %s\n' "$(((${EPOCHREALTIME/./} - begin) / 1000))e-3" "$1"
	sed 's/^/             /' "$root/said" | tail -n 4
	return "$status"
}

processor=$(chroot "$root" uname -m)
chroot "$root" useradd --create-home --shell /bin/bash sailor
found=$(chroot "$root" sh -c 'ls /usr/bin | grep -xE "cc|gcc|g[+][+]|gnuplot|clang"; ldconfig -p | grep -E "libzmq|liblmdb|libmicrohttpd"' || true)
[ -z "$found" ] || die "the root is not empty: $found"
cp "$wheel" "$home"
cat >"$home/first.py" <<'PY'
import random
import portolan

# 300 examples of 3 classes that are learned in 6 epochs; the gold labels of the first 20 are wrong.
random.seed(0)
gold = [random.randrange(3) for _ in range(300)]
with portolan.Run("toy", store="store") as run:
    for epoch in range(6):
        seen = [(label + (example < 20)) % 3 for example, label in enumerate(gold)]
        logits = [[random.uniform(-2, 2) + (k == label) * epoch for k in range(3)] for label in seen]
        run.log_logits(epoch, range(300), logits, gold)
        run.end_epoch(epoch)
portolan.map("toy", store="store").save("map.html")
PY
printf '%s\n' 'import portolan' 'portolan.map("toy", store="store").save("map.png")' >"$home/again.py"
chroot "$root" chown -R sailor:sailor /home/sailor

name=$(basename "$wheel")
timed "python3 -m venv env"
timed "pip install $name"
timed "python first.py"
timed "portolan runs --store store"
grep -q '^toy,300,6,1800,closed' "$root/said" || die "the run is not what was recorded"
[ "$(head -c 15 "$home/map.html" | tr '[:upper:]' '[:lower:]')" = '<!doctype html>' ] || die "map.html is no page"
timed "portolan map toy --store store -o map.png" && die "drawn, though there is no gnuplot"
if [ "$processor" = "$(uname -m)" ]; then # qemu's vfork() copies the memory, in which a child says why it did not start
	grep -q 'apt-get install gnuplot-nox, or conda install' "$root/said" || die "what is missing is not said"
fi

if [ "$processor" != "$(uname -m)" ] && [ -x "$build/analyzer/portolan" ]; then
	mkdir "$home/here"
	(cd "$home/here" && PYTHONPATH="$build/python" /usr/bin/python3 ../first.py) >"$root/said" 2>&1 || { cat "$root/said" >&2; die "build/ does not record"; }
	for store in store here/store; do
		"$build/analyzer/portolan" metrics toy --store "$home/$store" --format csv >"$root/read-here"
		chroot "$root" /home/sailor/env/bin/portolan metrics toy --store "/home/sailor/$store" --format csv >"$root/read-there"
		cmp "$root/read-here" "$root/read-there" || die "the measures of $store are not the same on $processor and on $(uname -m)"
		cp "$root/read-here" "$root/measures-${store%%/*}"
	done
	cmp "$root/measures-store" "$root/measures-here" || die "what is recorded on $processor and on $(uname -m) is not the same"
	echo "             recorded on $processor and on $(uname -m), read on both: the same measures to the last digit"
fi

mkdir "$home/wheels"
/usr/bin/python3 -m venv "$root/pip"
python=$(chroot "$root" python3 -c 'import sysconfig; print(sysconfig.get_python_version())')
"$root/pip/bin/pip" download --quiet --disable-pip-version-check --only-binary :all: --dest "$home/wheels" --python-version "$python" \
	--platform "manylinux_2_28_$processor" --platform "manylinux2014_$processor" matplotlib
timed "pip install --no-index --find-links wheels matplotlib"
timed "python again.py"
[ "$(head -c 4 "$home/map.png" | tail -c 3)" = PNG ] || die "map.png is no picture"
ls -l "$home"/map.*
