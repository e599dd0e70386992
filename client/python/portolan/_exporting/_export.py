"""Writes a run as Parquet files for other programs: the function export().

The export reads observations from ``portolan dynamics`` through a pipe, block by block, and writes them epoch by epoch. Each file says which
store, run and epoch it holds, and the state that the epoch had. A file appears only when it is whole. So an export that is started again,
after a crash or because more was recorded, writes only the epochs whose file is missing or describes another state.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from portolan import _packages, _programs
from portolan._exporting import _ahead, _folder, _parquet, _progress
from portolan._reading import _measures, _output
from portolan._recording import _closing, _options

if TYPE_CHECKING:
    import numpy as np

    from portolan._reading._measures import Epochs
    from portolan._recording._run import Run

_BLOCK = 32 << 20  # bytes of observations in a block, which becomes a row group; three blocks are in memory
_MOST = 1 << 20  # rows
_MEMORY = "256M"  # for the program that reads the store
_OBSERVATIONS, _MEASURES = "observations", "measures"


class Exported(NamedTuple):
    """The result of export(). As text it is a sentence."""

    run: str
    path: str  # the run's folder; of measures, the file
    epochs: tuple[int, ...]  # written, ascending
    kept: int  # epochs that were exported already, unchanged
    removed: int  # epochs of an earlier run of this name
    rows: int  # rows written: observations, or examples
    bytes: int  # written
    in_progress: bool  # the run was still being recorded

    def __str__(self) -> str:
        size = f"{_closing.bytes_as_text(self.bytes)} in {self.path}"
        if self.epochs:
            text = f"{_counted(len(self.epochs), 'epoch')} with {_counted(self.rows, 'observation')} written, {size}"
        else:
            text = f"nothing to write to {self.path}" if self.kept else f"the measures of {_counted(self.rows, 'example')} written, {size}"
        if self.kept:
            text += f"; {_counted(self.kept, 'epoch')} there already"
        if self.removed:
            text += f"; {_counted(self.removed, 'epoch')} of an earlier run of that name removed"
        if self.in_progress:
            text += "; it is still being recorded: export it again for the rest"
        return f"run {self.run}: {text}"


def export(
    run: str | Run,
    path: str | os.PathLike[str],
    store: str | os.PathLike[str] | None = None,
    epochs: Epochs | None = None,
    what: str = _OBSERVATIONS,
    format: str = "parquet",
) -> Exported:
    """Write a run's observations as a Parquet data set, for Spark, DuckDB, polars, pandas, ...; also for a run in progress.

    The files are ``PATH/run=NAME/epoch=N/part-STORE.parquet``, which is the layout of Hive: readers add the columns ``run`` and
    ``epoch``. The other columns: id (int64; uint64 where one is 2^63 or more; string), gold_prob (float32), correct (bool) (of a run of
    losses task_loss, float32, in place of both), the other
    signals that were recorded and your own columns (float32; predicted: int32), gold (the label last logged, int32), and the
    session that recorded the observation: session_started (ns since 1970, int64), rank (int64), session (32 hexadecimal digits).
    Absent values are null. Rows ascend by id.

    A second call writes the epochs that are missing or have changed, and leaves the others as they are. So it completes an export that
    was broken off, and updates the export of a run in progress. A file appears when it is whole. One folder may hold several runs, also of
    several stores. export() takes about 200 MB of memory, whatever the run's size.

    Args:
        run: the run; or an open Run: its observations are flushed first.
        path: the folder, which is made if it is missing; a folder with other content is refused. For measures, a file.
        store: the store's directory. Default: the open run's; else ``$PORTOLAN_STORE``, then ``./portolan-store``.
        epochs: which epochs; see measures(). Default: all.
        what: ``"observations"``; or ``"measures"``: one file ``PATH`` with a row per example and the columns of measures(). A file of that name is
            replaced.
        format: ``"parquet"`` is the only one.

    Returns:
        Exported: run, path, epochs (those written), kept (epochs that were there), removed, rows, bytes, in_progress; as text, a sentence.

    Raises:
        portolan.Error: there is no such run, the folder holds something else, the disk is full, ...
        ModuleNotFoundError: pyarrow or NumPy is missing; the message has pip's command.

    Example::

        portolan.export("snli/seed1", "exported/")
        duckdb.sql("SELECT epoch, avg(gold_prob) FROM read_parquet('exported/run=*/epoch=*/*.parquet') GROUP BY epoch")
    """
    if format != "parquet":
        raise ValueError(f"format must be 'parquet', not {format!r}")
    if what not in (_OBSERVATIONS, _MEASURES):
        raise ValueError(f"what must be {_OBSERVATIONS!r} or {_MEASURES!r}, not {what!r}")
    _packages.needed("numpy", "portolan.export()")
    _parquet.needed()
    where = _options.path("path", path, "a folder" if what == _OBSERVATIONS else "a file")
    name, folder = _measures.locate(run, store)
    source = _Source(name, folder)
    return _export_observations(source, where, epochs) if what == _OBSERVATIONS else _export_measures(source, where, epochs)


class _Source:
    """A run in a store, and its contents when the export began."""

    def __init__(self, name: str, folder: str) -> None:
        self.name, self.folder = name, folder
        self.contents = self.look(None)

    def look(self, epochs: Epochs | None) -> dict[str, Any]:
        words = ["dynamics", "--contents", "-q", "--store", self.folder, *_measures.epoch_words(epochs)]
        return json.loads(_programs.analyze(*words, "--", self.name, warn=False))

    def in_progress(self) -> bool:
        return self.contents["state"] == "recording"


class _Wanted(NamedTuple):
    """An epoch to export, and the description that its file will hold."""

    epoch: int
    observations: int
    what: dict[str, Any]


def _export_observations(source: _Source, path: bytes, epochs: Epochs | None) -> Exported:
    contents = source.contents
    target = _folder.Folder(path, source.name, contents["store"])
    form = _parquet.Form(_parquet.id_type(contents), tuple(contents["columns"]))
    chosen = contents["epochs"] if epochs is None else source.look(epochs)["epochs"]
    wanted = [_Wanted(one["epoch"], one["observations"], _what(contents, one, form)) for one in chosen]
    missing = [one for one in wanted if _parquet.what_is_in(target.part(one.epoch)) != one.what]
    target.mark()
    written = _write(source, target, form, missing)
    removed = _remove_others(target, contents, {one.epoch for one in wanted})
    target.describe(_description(contents, form, target))
    return Exported(
        run=source.name,
        path=str(target.path),
        epochs=tuple(part.epoch for part in written),
        kept=len(wanted) - len(missing),
        removed=removed,
        rows=sum(part.rows for part in written),
        bytes=sum(part.bytes for part in written),
        in_progress=source.in_progress(),
    )


def _what(contents: dict[str, Any], epoch: dict[str, Any], form: _parquet.Form) -> dict[str, Any]:
    """The description that a file of observations holds. A file with the same description would be written the same."""
    return {
        "format": _parquet.FORMAT,
        "store": contents["store"],
        "run": contents["run"],
        "number": contents["number"],
        "epoch": epoch["epoch"],
        "state": epoch["state"],
        "ids": form.id_type,
        "columns": list(form.signals),
    }


def _remove_others(target: _folder.Folder, contents: dict[str, Any], wanted: set[int]) -> int:
    """Removes the files of an earlier run of this name. Epochs of this run stay."""
    removed = 0
    for epoch, part in target.parts():
        what = None if epoch in wanted else _parquet.what_is_in(part)
        if what is not None and what["number"] != contents["number"]:
            target.remove(part)
            removed += 1
    return removed


def _description(contents: dict[str, Any], form: _parquet.Form, target: _folder.Folder) -> dict[str, Any]:
    schema = form.schema()
    return {
        "what": "observations of a run, as portolan.export() wrote them",
        **{name: contents[name] for name in ("run", "store", "number", "created", "state", "mode", "labels")},
        "columns": {field.name: str(getattr(field.type, "value_type", field.type)) for field in schema},
        "epochs": sorted(epoch for epoch, _ in target.parts()),
    }


class _Written(NamedTuple):
    epoch: int
    rows: int
    bytes: int


def _write(source: _Source, target: _folder.Folder, form: _parquet.Form, missing: list[_Wanted]) -> list[_Written]:
    written: list[_Written] = []
    with _progress.Progress(f"exporting {source.name}", sum(one.observations for one in missing), "observations") as progress:
        for first, last in _ranges([one["epoch"] for one in source.contents["epochs"]], {one.epoch for one in missing}):
            with contextlib.closing(_pieces(source, form, first, last)) as pieces:
                for one, of_epoch in _epochs(pieces, missing):
                    written.append(_write_epoch(target, form, one, of_epoch, progress))
    return written


def _ranges(epochs: Iterable[int], missing: set[int]) -> Iterator[tuple[int, int]]:
    """The first and last epoch of each unbroken range of missing epochs. `epochs`: all epochs of the run, ascending."""
    begun: list[int] = []
    for epoch in epochs:
        if epoch in missing:
            begun = [begun[0] if begun else epoch, epoch]
        elif begun:
            yield begun[0], begun[-1]
            begun = []
    if begun:
        yield begun[0], begun[-1]


class _Piece(NamedTuple):
    epoch: int
    batch: Any  # a pyarrow.RecordBatch


def _pieces(source: _Source, form: _parquet.Form, first: int, last: int) -> Generator[_Piece, None, None]:
    """The observations of epochs `first` to `last`, in pieces of one epoch each."""
    import numpy

    epochs = f"{first}:{last + 1}"
    there = source.look(epochs)["columns"]  # the columns that have values in these epochs
    columns = [name for name in form.signals if name in there] + ["gold", "session_number"]
    with tempfile.TemporaryDirectory(prefix="portolan-export-") as folder:
        table = os.path.join(folder, "sessions.npy")
        words = ["dynamics", "-q", "--format", "npy", "--id-bytes", "--max-memory", _MEMORY, "--sessions", table, "--epochs", epochs]
        words += ["--columns", ",".join(columns), "--store", source.folder, "--", source.name]
        with _output.Output(*words, reader="portolan.export()", warn=False) as output:
            sessions = _parquet.Sessions(numpy.load(table))
            rows = max(1, min(_MOST, _BLOCK // output.dtype.itemsize))
            with _ahead.Ahead(_pieces_of(output.blocks(rows), form, sessions), output.kill) as pieces:
                yield from pieces


def _pieces_of(blocks: Iterator[np.ndarray[Any, Any]], form: _parquet.Form, sessions: _parquet.Sessions) -> Iterator[_Piece]:
    import numpy

    schema = form.schema()
    for block in blocks:
        for rows in numpy.split(block, numpy.flatnonzero(numpy.diff(block["epoch"])) + 1):
            yield _Piece(int(rows["epoch"][0]), _parquet.batch_of(rows, form, schema, sessions))


def _epochs(pieces: Iterator[_Piece], missing: list[_Wanted]) -> Iterator[tuple[_Wanted, Iterator[_Piece]]]:
    """Each wanted epoch with its pieces. The caller must read the pieces of an epoch to their end before the next epoch. Epochs that were recorded
    since the export began are left out."""
    known = {one.epoch: one for one in missing}
    piece = next(pieces, None)
    while piece is not None:
        epoch = piece.epoch

        def of_epoch(first: _Piece) -> Iterator[_Piece]:
            nonlocal piece
            yield first
            for piece in pieces:
                if piece.epoch != epoch:
                    return
                yield piece
            piece = None

        if epoch in known:
            yield known[epoch], of_epoch(piece)
        else:
            for _ in of_epoch(piece):
                pass


def _write_epoch(
    target: _folder.Folder, form: _parquet.Form, one: _Wanted, pieces: Iterator[_Piece], progress: _progress.Progress
) -> _Written:
    rows = 0
    with target.place(one.epoch) as path, _parquet.Part(path, form.schema(), _parquet.options(form), one.what) as part:
        for piece in pieces:
            part.write(piece.batch)
            rows += piece.batch.num_rows
            progress.add(piece.batch.num_rows)
    return _Written(one.epoch, rows, part.bytes)


def _export_measures(source: _Source, path: bytes, epochs: Epochs | None) -> Exported:
    from portolan._reading import _columns

    pyarrow, _ = _parquet.needed()
    file = _replaceable(Path(os.fsdecode(path)), source.folder)
    words = ["metrics", "-q", "--format", "npy", "--store", source.folder, *_measures.epoch_words(epochs), "--", source.name]
    with _output.Output(*words, reader="portolan.export()", warn=False) as output:
        block = max(1, min(_MOST, _BLOCK // output.dtype.itemsize))
        reader = _columns.arrow_reader(output.dtype, output.blocks(block))
        schema = reader.schema
        if _parquet.id_type(source.contents) == "int64":
            schema = schema.set(0, pyarrow.field("id", pyarrow.int64(), nullable=False))
        what = {"what": "measures of a run", **{name: source.contents[name] for name in ("store", "run", "number")}}
        with _parquet.Part(file, schema, {"compression": "zstd", "store_schema": False}, what) as part:
            for batch in reader:
                part.write(pyarrow.RecordBatch.from_arrays([batch.column(0).cast(schema.field(0).type), *batch.columns[1:]], schema=schema))
    return Exported(source.name, str(file), (), 0, 0, output.rows, part.bytes, source.in_progress())


def _replaceable(file: Path, store: str) -> Path:
    """`file`; ValueError if it exists and must not be replaced."""
    if file.is_dir():
        raise ValueError(f"path must be a file for measures, and {file} is a folder: {file / 'measures.parquet'}, say")
    if file.exists() and not file.is_file():
        raise ValueError(f"path must be a file for measures, and {file} is a device or a pipe, where Parquet cannot be written")
    for stored in Path(store).glob("*.mdb"):
        if file.exists() and file.samefile(stored):
            raise ValueError(f"the store's {stored} and path {file} are the same file, which would be lost: name another")
    return file


def _counted(count: int, unit: str) -> str:
    return f"{count:,} {unit}{'' if count == 1 else 's'}"
