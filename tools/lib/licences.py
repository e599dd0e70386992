"""licences.py WHEEL COMPILED: puts into a repaired wheel, beside the project's own licence, that of every library which it carries: what Debian's packages
say of themselves; COMPILED is the folder of those that were compiled here (libraries.sh).
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path


COMPILED = {"libzmq": "zeromq3", "libmicrohttpd": "libmicrohttpd"}  # by library, its source package


def copyright_of(name, compiled):
    source = COMPILED.get(name.partition(".so")[0])
    if source:
        return Path(compiled, f"{source}.copyright").read_text(encoding="utf-8")
    found = subprocess.run(["dpkg-query", "--search", f"*/{name}"], capture_output=True, text=True, check=True).stdout
    package = found.split(":")[0]
    return Path(f"/usr/share/doc/{package}/copyright").read_text(encoding="utf-8")


def main(wheel, compiled):
    path = Path(wheel)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "wheel", "unpack", "--dest", folder, path], check=True)
        (root,) = Path(folder).iterdir()
        (info,) = root.glob("*.dist-info")
        target = info / "licenses" / "libraries"
        target.mkdir(parents=True)
        for library in sorted((root / "portolan.libs").iterdir()):
            name = re.sub(r"-[0-9a-f]{8}(?=\.so)", "", library.name)  # auditwheel's mark: libgmp-1bd8ad59.so.10.4.1
            (target / f"{name.partition('.so')[0]}.txt").write_text(copyright_of(name, compiled), encoding="utf-8")
        path.unlink()
        subprocess.run([sys.executable, "-m", "wheel", "pack", "--dest-dir", path.parent, root], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
