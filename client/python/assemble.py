"""assemble.py STAMP FOLDER SOURCES FILE...: makes FOLDER hold exactly these files, for the build. Files below SOURCES keep their subfolder; others go
to the top."""

import shutil
import sys
from pathlib import Path


def main(stamp, folder, sources, *files):
    target, package = Path(folder), Path(sources).resolve()
    shutil.rmtree(target, ignore_errors=True)
    for file in (Path(name).resolve() for name in files):
        place = target / (file.relative_to(package) if file.is_relative_to(package) else file.name)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)
    Path(stamp).touch()


if __name__ == "__main__":
    main(*sys.argv[1:])
