"""Finds the programs that come with the package."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent

# Where each program lies in a build tree, seen from BUILD/python/portolan.
_BUILT = {"portoland": "collector/portoland", "portolan": "analyzer/portolan"}


def find(name: str) -> str | None:
    """The path of `name`, or None: $PORTOLAND or $PORTOLAN, the package's own copy, the build tree, then $PATH."""
    given = os.environ.get(name.upper())
    if given:
        return given
    for path in (_PACKAGE / "bin" / name, _PACKAGE.parent.parent / _BUILT[name]):
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    return shutil.which(name)


def portolan() -> None:
    """The command ``portolan`` of an installed package."""
    _become("portolan")


def portoland() -> None:
    """The command ``portoland`` of an installed package."""
    _become("portoland")


def _become(name: str) -> None:
    # The command that pip made is first on $PATH, and is this one: only the package's own copy will do.
    path = _PACKAGE / "bin" / name
    try:
        os.execv(path, [name, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"{name}: cannot run {path}: {error.strerror}")


def default_store() -> str:
    """The store of whoever names none, the same as the programs'."""
    return os.environ.get("PORTOLAN_STORE") or "./portolan-store"
