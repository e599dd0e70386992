"""licences.py WHEEL COMPILED: puts into a repaired wheel, beside the project's own licence, that of every library which it carries, in a file of its own or linked in:
what Debian says of the source packages that were compiled into the folder COMPILED (libraries.sh).
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def main(wheel, compiled):
    path = Path(wheel)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "wheel", "unpack", "--dest", folder, path], check=True)
        (root,) = Path(folder).iterdir()
        (info,) = root.glob("*.dist-info")
        target = info / "licenses" / "libraries"
        target.mkdir(parents=True)
        for copyright_file in sorted(Path(compiled).glob("*.copyright")):
            shutil.copyfile(copyright_file, target / f"{copyright_file.stem}.txt")
        path.unlink()
        subprocess.run([sys.executable, "-m", "wheel", "pack", "--dest-dir", path.parent, root], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
