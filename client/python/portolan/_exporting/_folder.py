"""The layout of the folder that portolan.export() writes to.

    DIR/_portolan.json                            says what the folder is
    DIR/run=NAME/_portolan-STORE.json             what was exported of a run, from which store
    DIR/run=NAME/epoch=N/part-STORE.parquet       the observations of an epoch

STORE is the store's id: so the parts of several stores that hold a run of the same name stand beside one another. Programs that read such
folders skip names that begin with ``_`` or ``.``.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from portolan._exporting import _parquet
from portolan._portolan import Error

_MARK = "_portolan.json"
_VERSION = 1
_ABOUT = {
    "what": "observations, as portolan.export() writes them",
    "version": _VERSION,
    "files": "run=NAME/epoch=N/part-STORE.parquet",
    "NAME": "the run's name, percent-encoded",
    "STORE": "the id of the store that recorded it",
}


def encoded(run: str) -> str:
    """A run's name as the name of a folder, without ``/``."""
    return urllib.parse.quote(run, safe="")


class Folder:
    """The folder for the observations of one run from one store.

    Args:
        path: the folder, which is made if it is missing. Error if it holds anything but exported observations.
        run: the run's name.
        store: the store's id.
    """

    def __init__(self, path: bytes, run: str, store: str) -> None:
        self._top, self._store = Path(os.fsdecode(path)), store
        self.path = self._top / f"run={encoded(run)}"
        self._check()

    def part(self, epoch: int) -> Path:
        return self.path / f"epoch={epoch}" / f"part-{self._store}.parquet"

    def parts(self) -> Iterator[tuple[int, Path]]:
        """The epochs that this store's files hold, each with its file."""
        for folder in self.path.glob("epoch=*"):
            number = folder.name.removeprefix("epoch=")
            if number.isdecimal() and self.part(int(number)).is_file():
                yield int(number), self.part(int(number))

    @contextlib.contextmanager
    def place(self, epoch: int) -> Iterator[Path]:
        """Makes the folder of an epoch, and gives the path of its file. If the file is not completed, the folder is removed."""
        part = self.part(epoch)
        with _errors(part):
            part.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield part
        except BaseException:
            with contextlib.suppress(OSError):  # the folder is not empty
                part.parent.rmdir()
            raise

    def remove(self, part: Path) -> None:
        with _errors(part):
            part.unlink()
            with contextlib.suppress(OSError):  # another store's file is there
                part.parent.rmdir()

    def mark(self) -> None:
        """Makes the folder, in it the file that says what the folder is, and then the run's folder."""
        with _errors(self._top):
            self._top.mkdir(parents=True, exist_ok=True)
        if not (self._top / _MARK).exists():
            _write(self._top / _MARK, _ABOUT)
        with _errors(self.path):
            self.path.mkdir(exist_ok=True)

    def describe(self, what: dict[str, Any]) -> None:
        """Writes what was exported, and when, unless it is written there already."""
        path = self.path / f"_portolan-{self._store}.json"
        with contextlib.suppress(OSError, ValueError, AttributeError):
            there = json.loads(path.read_bytes())
            if what == {name: value for name, value in there.items() if name != "written"}:
                return
        _write(path, {**what, "written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())})

    def _check(self) -> None:
        with _errors(self._top):
            names = os.listdir(self._top) if os.path.lexists(self._top) else []
        if _MARK not in names:
            others = [name for name in names if not name.startswith(f".{_MARK}")]
            if others:
                raise Error(f"{self._top} holds something else ({sorted(others)[0]!r}, ...): name a new folder, or one that was exported to")
            return
        try:
            about = json.loads((self._top / _MARK).read_bytes())
            version = about["version"] if about["what"] == _ABOUT["what"] else None
        except (OSError, ValueError, KeyError, TypeError):
            version = None
        if version is None:
            raise Error(f"{self._top / _MARK} is no file of portolan.export(): name another folder")
        if version != _VERSION:
            raise Error(f"{self._top} was written by another version of portolan.export() ({version!r}): use that one, or name another folder")
        with _errors(self.path):
            found = [path for path in (*self._top.glob("*.parquet"), *self.path.rglob("*.parquet")) if path.is_file()]
        for path in found:
            if not path.name.startswith(("_", ".")) and not self._is_part(path):
                raise Error(f"{path} is no file of portolan.export(), and readers of {self._top} would take it for the run's: move it away")

    def _is_part(self, path: Path) -> bool:
        """By its place, its name and what it says of itself, one of the files that exports write; damaged files are."""
        of_epoch = path.parent.parent == self.path and path.parent.name.startswith("epoch=") and path.name.startswith("part-")
        return of_epoch and not _parquet.is_of_another(path)


def _write(path: Path, what: dict[str, Any]) -> None:
    begun = path.with_name(f".{path.name}.{os.getpid()}")
    with _errors(path):
        try:
            with open(begun, "w", encoding="utf-8") as file:
                json.dump(what, file, indent=2, ensure_ascii=False)
                file.write("\n")
                file.flush()
                os.fsync(file.fileno())
            os.replace(begun, path)
        except BaseException:
            begun.unlink(missing_ok=True)
            raise


@contextlib.contextmanager
def _errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Error(f"cannot write {path}: {error.strerror}") from None
