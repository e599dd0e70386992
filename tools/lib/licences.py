"""licences.py WHEEL COMPILED SOURCES COMPILERS PROCESSOR: puts into a repaired wheel, beside the project's own licence, that of every library which it carries, in a file of its own or linked in:
what Debian says of the source packages that were compiled into the folder COMPILED (libraries.sh). And the bill of materials (bill.py), where PEP 770 looks for it.
"""

import platform
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import bill


def main(wheel, compiled, sources, compilers, processor):
    path = Path(wheel)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "wheel", "unpack", "--dest", folder, path], check=True)
        (root,) = Path(folder).iterdir()
        (info,) = root.glob("*.dist-info")
        target = info / "licenses" / "libraries"
        target.mkdir(parents=True)
        for copyright_file in sorted(Path(compiled).glob("*.copyright")):
            shutil.copyfile(copyright_file, target / f"{copyright_file.stem}.txt")
        (info / "sboms").mkdir(exist_ok=True)
        page = Path(sources, "analyzer/serve/page/d3.min.js").read_text(encoding="utf-8")
        codename = platform.freedesktop_os_release()["VERSION_CODENAME"]
        text = bill.written(path.name.split("-")[1], page, Path(compiled), Path(compilers), version("ziglang"), codename, processor)
        (info / "sboms" / bill.NAME).write_text(text, encoding="utf-8")
        path.unlink()
        subprocess.run([sys.executable, "-m", "wheel", "pack", "--dest-dir", path.parent, root], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
