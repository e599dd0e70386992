"""Where libraries are missing, the build says in one line which of Debian's packages bring them.

    run_missing.py SOURCES
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LIBRARIES = {"libzmq": "libzmq3-dev", "lmdb": "liblmdb-dev", "msgpack": "libmsgpack-c-dev", "libxxhash": "libxxhash-dev", "jansson": "libjansson-dev",
             "libmicrohttpd": "libmicrohttpd-dev"}  # by pkg-config's name


def named(sources, folder, libraries):
    """The packages that are asked for where pkg-config knows these libraries alone."""
    known, build = Path(folder, "known"), Path(folder, "build")
    known.mkdir()
    for name in libraries:
        (known / f"{name}.pc").write_text(f"Name: {name}\nDescription: {name}\nVersion: 99\nLibs:\nCflags:\n")
    done = subprocess.run(["/usr/bin/meson", "setup", build, sources, "-Dtests=false"], capture_output=True, text=True,
                          env=dict(os.environ, PKG_CONFIG_LIBDIR=str(known), PKG_CONFIG_PATH="", PATH="/usr/bin:/bin"))
    line = re.search(r"ERROR: .*this needs packages that are not there.*: apt-get install ([^(\n]+)( \(on Debian 12, libmsgpack-c-dev is libmsgpack-dev\))?\n", done.stdout)
    if done.returncode == 0 or not line or bool(line[2]) != ("libmsgpack-c-dev" in line[1]):
        raise SystemExit(f"with {libraries} alone: {done}")
    return line[1].split()


def main():
    problems = []
    rest = [name for name in LIBRARIES if name not in ("libmicrohttpd", "msgpack")]
    for there in ([], [*rest, "msgpack"], [*rest, "msgpack-c"]):  # msgpack-c 6 has that name, earlier ones the other
        with tempfile.TemporaryDirectory() as folder:
            got = named(sys.argv[1], folder, there)
            want = [package for name, package in LIBRARIES.items() if name not in there and f"{name}-c" not in there]
            if got != want:
                problems.append(f"with {there}: {got}, not {want}")
    print("\n".join(problems) if problems else "all named")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
