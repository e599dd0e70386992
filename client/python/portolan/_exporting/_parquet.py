"""Writes observations as Parquet: their columns, the encoding of each, and files that appear only when they are whole."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from portolan import _packages
from portolan._portolan import Error

if TYPE_CHECKING:
    import numpy as np

FORMAT = 1  # the files' version; an export writes files of another version again
_KEY = "portolan"
_SIGNED = 1 << 63

_FLAGS, _CLASSES = ("correct",), ("predicted", "gold")
_SOURCES = ("session_started", "rank", "session")


def needed() -> tuple[Any, Any]:
    """pyarrow and pyarrow.parquet."""
    pyarrow, parquet = _packages.needed("pyarrow", "portolan.export()"), _packages.needed("pyarrow.parquet", "portolan.export()")
    if not hasattr(parquet.ParquetWriter, "add_key_value_metadata"):
        raise Error(f"portolan.export() needs pyarrow 16 or later, and this is {pyarrow.__version__}: pip install -U pyarrow")
    return pyarrow, parquet


def id_type(contents: dict[str, Any]) -> str:
    """The type of the column id: "string", or "int64" if every id of the run fits, since few programs read "uint64"."""
    if contents["ids"] == "texts":
        return "string"
    return "int64" if contents["largest_id"] < _SIGNED else "uint64"


class Form(NamedTuple):
    """The columns of a file of observations: the type of its ids, and the signals."""

    id_type: str
    signals: tuple[str, ...]

    def schema(self) -> Any:
        """A pyarrow.Schema."""
        pyarrow, _ = needed()

        def field(name: str, kind: Any) -> Any:
            return pyarrow.field(name, kind, nullable=name not in ("id", "gold_prob", "correct", "task_loss", *_SOURCES))

        fields = [field("id", getattr(pyarrow, self.id_type)())]
        for name in (*self.signals, "gold"):
            kind = pyarrow.bool_() if name in _FLAGS else pyarrow.int32() if name in _CLASSES else pyarrow.float32()
            fields.append(field(name, kind))
        fields += [field("session_started", pyarrow.int64()), field("rank", pyarrow.int64())]
        fields.append(field("session", pyarrow.dictionary(pyarrow.int32(), pyarrow.string())))
        return pyarrow.schema(fields)


def options(form: Form) -> dict[str, Any]:
    """The options for pyarrow.parquet.ParquetWriter. Ids ascend, so their differences take little space. Signals rarely repeat, so they get no
    dictionary."""
    id_encoding = "DELTA_BYTE_ARRAY" if form.id_type == "string" else "DELTA_BINARY_PACKED"
    return {
        "compression": "zstd",
        "use_dictionary": [*(name for name in form.signals if name in _CLASSES), "gold", *_SOURCES],
        "column_encoding": {"id": id_encoding},
        "write_statistics": ["id"],  # readers skip parts of the file by them; no other column is sorted
        "store_schema": False,  # without Arrow's copy of the schema: the schema of Parquet says the same
    }


class Sessions:
    """The sessions of a run, found by their numbers.

    Args:
        table: the table that ``portolan dynamics --sessions FILE.npy`` writes.
    """

    def __init__(self, table: np.ndarray[Any, Any]) -> None:
        pyarrow, _ = needed()
        self._started = table["session_started"].clip(max=_SIGNED - 1).astype("i8")
        self._rank = table["rank"].astype("i8")
        self._names = pyarrow.array(table["session"].tolist(), pyarrow.string())

    def columns(self, numbers: np.ndarray[Any, Any]) -> list[Any]:
        """The columns session_started, rank and session, as Arrow arrays, for the session numbers of some observations."""
        pyarrow, _ = needed()
        names = pyarrow.DictionaryArray.from_arrays(pyarrow.array(numbers.astype("i4")), self._names)
        return [pyarrow.array(self._started[numbers]), pyarrow.array(self._rank[numbers]), names]


def batch_of(block: np.ndarray[Any, Any], form: Form, schema: Any, sessions: Sessions) -> Any:
    """A pyarrow.RecordBatch of observations that ``portolan dynamics --format npy --id-bytes`` printed. Signals that the block lacks are
    null."""
    pyarrow, _ = needed()
    arrays = [_ids(block["id"], form.id_type)]
    for name in (*form.signals, "gold"):
        arrays.append(_values(block[name]) if name in block.dtype.names else pyarrow.nulls(len(block), schema.field(name).type))
    arrays += sessions.columns(block["session_number"])
    return pyarrow.RecordBatch.from_arrays(arrays, schema=schema)


def _values(strided: np.ndarray[Any, Any]) -> Any:
    import numpy

    pyarrow, _ = needed()
    values = numpy.ascontiguousarray(strided)
    absent = numpy.isnan(values) if values.dtype.kind == "f" else values < 0 if values.dtype.kind == "i" else None
    return pyarrow.array(values, mask=absent if absent is not None and absent.any() else None)


def _ids(ids: np.ndarray[Any, Any], kind: str) -> Any:
    import numpy

    pyarrow, _ = needed()
    if kind != "string":
        values = numpy.ascontiguousarray(ids)
        if kind == "int64":
            if len(values) and values.max() >= _SIGNED:
                raise Error("an id of 2^63 or more has come while the run was exported: export it again")
            values = values.view("i8")
        return pyarrow.array(values)
    # Ids are padded with zero bytes, and contain none. All other bytes, one after another, are the text of the Arrow array.
    width = ids.dtype.itemsize
    padded = numpy.ascontiguousarray(ids).view("u1")
    there = padded != 0
    ends = numpy.zeros(len(ids) + 1, "i4")
    numpy.cumsum(there.reshape(-1, width).sum(1, dtype="i4"), out=ends[1:])
    text = padded[there]
    return pyarrow.StringArray.from_buffers(len(ids), pyarrow.py_buffer(ends), pyarrow.py_buffer(text))


def what_is_in(path: Path) -> dict[str, Any] | None:
    """The description in a file of observations. None: the file does not exist, or another program wrote it."""
    _, parquet = needed()
    try:
        return json.loads((parquet.read_metadata(path).metadata or {})[_KEY.encode()])
    except (OSError, ValueError, KeyError):  # pyarrow's errors are ValueErrors
        return None


def is_of_another(path: Path) -> bool:
    """Is it a whole Parquet file that another program wrote?"""
    _, parquet = needed()
    try:
        return _KEY.encode() not in (parquet.read_metadata(path).metadata or {})
    except (OSError, ValueError):
        return False


class Part:
    """A file that is being written. It is a context manager. At the end of the context the file appears under its name; after an error it is
    removed.

    What a killed process left of the same file is overwritten. If another process is writing the same file, entering raises Error.

    Args:
        path: the file's path.
        schema: a pyarrow.Schema.
        options: the options for pyarrow.parquet.ParquetWriter.
        what: the description to put into the file; see what_is_in().
    """

    bytes: int  # the file's size; set at the end of the context

    def __init__(self, path: Path, schema: Any, options: dict[str, Any], what: dict[str, Any]) -> None:
        self.path, self._schema, self._options, self._what = path, schema, options, what
        self._begun = path.with_name(f".{path.name}.partial")

    def __enter__(self) -> Part:
        _, parquet = needed()
        with self._errors():
            self._file = self._locked()
        self._writer = parquet.ParquetWriter(self._file, self._schema, **self._options)
        self._writer.add_key_value_metadata({_KEY: json.dumps(self._what, sort_keys=True)})
        return self

    def write(self, batch: Any) -> None:
        """Writes a batch as a row group."""
        with self._errors():
            self._writer.write_batch(batch, row_group_size=max(1, batch.num_rows))

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if kind is not None:
            self._discard()
            return
        try:
            with self._errors():
                self._writer.close()
                self._file.flush()
                os.fsync(self._file.fileno())
                self.bytes = self._file.tell()
                os.replace(self._begun, self.path)
                self._file.close()
        except BaseException:
            self._discard()
            raise

    def _locked(self) -> Any:
        """Opens the partial file, locks it, and empties it. Another process may have renamed the file before it was locked here; then the name
        belongs to another file, and opening is tried again."""
        while True:
            file = os.fdopen(os.open(self._begun, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666), "wb")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.close()
                raise Error(f"{self.path} is being written by another export: wait for its end") from None
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), os.stat(self._begun)):
                    file.truncate(0)
                    return file
            file.close()

    def _discard(self) -> None:
        for step in (self._writer.close, self._file.close, self._begun.unlink):
            with contextlib.suppress(Exception):  # closing reports a full disk once more
                step()

    @contextlib.contextmanager
    def _errors(self) -> Any:
        try:
            yield
        except OSError as error:
            raise Error(f"cannot write {self.path}: {os.strerror(error.errno) if error.errno else error}") from None
