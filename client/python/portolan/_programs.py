"""Finds the programs that come with the package."""

from __future__ import annotations

import os
import shutil
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


def default_store() -> str:
    """The store of whoever names none, the same as the programs'."""
    return os.environ.get("PORTOLAN_STORE") or "./portolan-store"
