"""A state: a folder that keeps the sums of a run's epochs, so that later only those that were exported since are read.

DIR/N has sums/, and in epochs/ which epochs these are of: how many rows each had, when its files were written, and the state's version. The next one is written as
DIR/new, and renamed to DIR/N+1 when it is complete; then DIR/N is removed, and what earlier calls that were ended have left. So DIR has a
complete state at every moment.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from portolan._spark import _read, _sums

_VERSION = 1  # of the state's folders: another one is made anew
_NOTES = "run string, epoch int, rows long, written long, version int"
_Notes = dict[int, tuple[int, int]]  # of an epoch: its rows, and when the last of its files was written, µs since 1970


def keep_sums(spark: SparkSession, state: str | os.PathLike[str], run: str, *folders: str | os.PathLike[str]) -> DataFrame:
    """The sums of all exported epochs of run `run`, for measures_of(). Only the epochs that `state` lacks are read.

    The last epoch may still be under way: it is read each time, and not kept. If another epoch is not as it was when the state was written, or
    one came that is not later than those of the state, the state is made anew from all epochs, and stderr says why.

    The DataFrame reads the files of `state`, and the next call with this `state` may remove them: then Spark says that a file does not exist.
    Write what you make of it, or count it after ``persist()``, before you call again.

    Args:
        spark: the session, not one of Spark Connect.
        state: the folder, which only one call at a time may use. The first call makes it.
        run, folders: as of read().

    Raises:
        ValueError: the folder holds something else, or the state of another run; the observations are of losses; and as read().
    """
    place = _Place(spark, os.fspath(state).rstrip("/"))
    seen = _read.read(spark, run, *folders)
    there = {epoch: (rows, written) for epoch, rows, written in _read.epochs(spark, run, *folders).collect()}  # before the rows are read
    *over, last = sorted(there)
    number = place.number()
    held = _held(spark, place.path(number), run) if number else {}
    reason = "another version of portolan made it" if held is None else _why_anew(held, there, over)
    if reason or held is None:
        print(f"portolan.spark: the state {place.folder} is made anew from all epochs: {reason}", file=sys.stderr)
        held = {}
    missing = [epoch for epoch in over if epoch not in held]
    if missing:
        sums = _sums.sums(seen, (missing[0], missing[-1] + 1))
        if held:
            sums = _sums.add(_kept(spark, place.path(number)), sums)
        notes = spark.createDataFrame([(run, epoch, *there[epoch], _VERSION) for epoch in over], _NOTES)
        place.make_room()
        sums.write.parquet(f"{place.path('new')}/sums")
        notes.coalesce(1).write.parquet(f"{place.path('new')}/epochs")
        place.put(number)
        number += 1
    newest = _sums.sums(seen, (last, None))
    return _sums.add(_kept(spark, place.path(number)), newest) if over else newest


def _kept(spark: SparkSession, path: str) -> DataFrame:
    return spark.read.parquet(f"{path}/sums")


def _held(spark: SparkSession, path: str, run: str) -> _Notes | None:
    """The epochs that the state has; None: it is of another version."""
    notes = spark.read.parquet(f"{path}/epochs")
    others = {row[0] for row in notes.select("run").distinct().collect()} - {run}  # of every version
    if others:
        raise ValueError(f"{path} is the state of run '{others.pop()}', not of '{run}'")
    if "version" not in notes.columns:
        return None
    rows = notes.select("run", "epoch", "rows", "written", "version").collect()
    if {row[4] for row in rows} != {_VERSION}:
        return None
    return {epoch: (count, written) for _, epoch, count, written, _ in rows}


def _why_anew(held: _Notes, there: _Notes, over: list[int]) -> str | None:
    """Why the epochs that the state holds are no longer the first ones of the run; None: they are."""
    for epoch, (rows, written) in sorted(held.items()):
        if epoch not in there:
            return f"epoch {epoch} is no longer there"
        if there[epoch][0] != rows:
            return f"epoch {epoch} has {there[epoch][0]} rows, and had {rows}"
        if there[epoch][1] != written:
            return f"epoch {epoch} was written again"
    early = [epoch for epoch in over if held and epoch not in held and epoch < max(held)]
    if held and max(held) not in over:
        return f"epoch {max(held)} is now the last"
    return f"epoch {early[0]} came after epoch {max(held)}" if early else None


class _Place:
    """The folder of a state, on whatever file system Spark has for it."""

    def __init__(self, spark: SparkSession, folder: str) -> None:
        jvm, context = getattr(spark, "_jvm", None), getattr(spark, "_jsc", None)
        if jvm is None or context is None:
            raise ValueError("a state needs a session that is not of Spark Connect, which cannot rename folders")
        self.folder = folder
        self._path: Any = jvm.org.apache.hadoop.fs.Path
        self._files: Any = self._path(folder).getFileSystem(context.hadoopConfiguration())

    def path(self, name: int | str) -> str:
        return f"{self.folder}/{name}"

    def number(self) -> int:
        """That of the state that is there; 0: none. ValueError: the folder holds something else."""
        if not self._files.exists(self._path(self.folder)):
            return 0
        names = self._names()
        for name in names:
            if name != "new" and not name.isdecimal():
                raise ValueError(f"{self.folder} holds '{name}', which is not of a state: name a folder of its own")
        return max((int(name) for name in names if name != "new"), default=0)

    def _names(self) -> list[str]:
        return [status.getPath().getName() for status in self._files.listStatus(self._path(self.folder))]

    def make_room(self) -> None:
        """Removes what a call that was ended has left."""
        self._files.delete(self._path(self.path("new")), True)

    def put(self, number: int) -> None:
        """The new state, complete, becomes the one after `number`; all before it go, also those that a call that was ended has left."""
        if not self._files.rename(self._path(self.path("new")), self._path(self.path(number + 1))):
            raise OSError(f"{self.path('new')} could not be renamed to {number + 1}")
        for name in self._names():
            if name.isdecimal() and int(name) <= number:
                self._files.delete(self._path(self.path(name)), True)
