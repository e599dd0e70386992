"""Files that have their names only when they are whole."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def whole(path: str | os.PathLike[str], mode: str, **options: Any) -> Iterator[Any]:
    """The file to write, opened as open() does: it lies beside `path`, and takes its place at the end of the context. If the context ends with an
    error, it is removed, and what was at `path` is as before. It has the rights of a file that it replaces, and until then is
    its owner's alone; where there was none, it has those of any new file. A pipe or a device, which no file may replace, is written itself."""
    target = os.fsdecode(os.path.realpath(path))
    is_device = os.fsdecode(os.path.abspath(path)).startswith(("/dev/", "/proc/"))  # /dev/stdout may be a file, which others write to as well
    if is_device or (os.path.exists(target) and not os.path.isfile(target)):
        with open(path, mode, **options) as file:
            yield file
        return
    begun = os.path.join(os.path.dirname(target), f".portolan-{secrets.token_hex(8)}")
    try:
        rights = 0o600 if _is_there(target) else 0o666
        file = open(begun, mode, opener=lambda name, flags: os.open(name, flags | os.O_EXCL, rights), **options)
    except OSError as error:
        error.filename = os.fspath(path)  # the name that the caller knows
        raise
    try:
        with file:
            yield file
        if _is_there(target):
            shutil.copymode(target, begun)
        os.replace(begun, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.remove(begun)
        raise


def _is_there(path: str) -> bool:
    """As os.path.exists(); OSError: there can be no file of this name, or nobody may look."""
    try:
        os.stat(path)
    except FileNotFoundError:
        return False
    return True
