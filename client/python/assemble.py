"""assemble.py STAMP FOLDER FILE...: makes FOLDER hold exactly these files, for the build."""

import shutil
import sys
from pathlib import Path


def main(stamp, folder, *files):
    target = Path(folder)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name in files:
        shutil.copy(name, target)
    Path(stamp).touch()


if __name__ == "__main__":
    main(*sys.argv[1:])
