"""Reads a table (npy) that ``portolan`` prints: all at once, or in blocks of rows."""

from __future__ import annotations

import ast
import io
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from portolan import _packages, _programs
from portolan._portolan import Error

if TYPE_CHECKING:
    import numpy as np

# Texts of a column that is wider than this are kept as Python's strings, each as long as it is: a NumPy text array gives each the room of
# the longest, 4 bytes a character.
WIDE = 64
_PIECE = 1 << 24  # bytes of such rows that are in memory as they were printed

_DONE, _INCOMPLETE = 0, 3  # exit statuses; a warning says what is incomplete


class Output:
    """A command of ``portolan`` whose table is being read. It is a context manager. When the caller leaves it, the program has ended, and
    its warnings have become Python's. If the program failed, leaving raises Error with the program's message.

    Args:
        words: the words of the command line; they ask for npy.
        reader: the function that the user called; the message that NumPy is missing names it.
        warn: whether the program's warnings are passed on.
        partly: the caller will not read the whole table: then the program's failure to print the rest is no error, and no warning is passed on.
        said: turns a line that the program printed into a message.
    """

    dtype: np.dtype[Any]
    rows: int

    def __init__(
        self, *words: str, reader: str, warn: bool = True, partly: bool = False, said: Callable[[str], str] = _programs.bare
    ) -> None:
        self._numpy = _packages.needed("numpy", reader)
        self._words, self._partly, self._said = words, partly, said
        self._warn = warn and not partly

    def __enter__(self) -> Output:
        program = _programs.path_of("portolan")
        self._messages = tempfile.TemporaryFile()
        try:
            self._process = subprocess.Popen(
                [program, *self._words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._messages)  # fmt: skip
        except OSError as error:
            self._messages.close()
            raise Error(f"cannot run {program}: {error.strerror}") from None
        assert isinstance(self._process.stdout, io.BufferedReader)
        self._table = self._process.stdout
        try:
            self._printed, self.rows = self._read_head(self._table)
            self.dtype = narrowed(self._printed)
        except BaseException as error:
            self.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def read(self, rows: int | None = None) -> np.ndarray[Any, Any]:
        """The first `rows` rows, of which there must be so many. None: all."""
        return self._read_rows(self.rows if rows is None else rows)

    def blocks(self, rows: int) -> Iterator[np.ndarray[Any, Any]]:
        """The rows, in arrays of at most `rows` rows."""
        for begin in range(0, self.rows, rows):
            yield self._read_rows(min(rows, self.rows - begin))

    def kill(self) -> None:
        """Ends the program: the read that waits for its output ends, too."""
        self._process.kill()

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._table.close()
        if kind is not EOFError and (kind is not None or self._partly):
            self._process.kill()
        status = self._process.wait()
        self._messages.seek(0)
        lines = self._messages.read().decode(errors="replace").splitlines()
        self._messages.close()
        if kind is not None and kind is not EOFError:
            return
        if status != _DONE and (kind is not None or not self._partly and status != _INCOMPLETE):
            text = self._said(lines[-1]) if lines else f"portolan {self._words[0]} ended with status {status}"
            raise Error(text) from None
        if kind is EOFError:
            raise Error(f"portolan {self._words[0]} printed no whole table") from None
        for line in lines if self._warn else ():
            _programs.warn_caller(self._said(line))

    def _read_head(self, file: IO[bytes]) -> tuple[np.dtype[Any], int]:
        """Reads the header of the npy format. NumPy's own reader refuses headers above ten thousand characters, and has no public name for
        version 3 (column names that are not ASCII)."""
        magic = _exactly(file, 8)
        if magic[:6] != b"\x93NUMPY":
            raise EOFError
        size = int.from_bytes(_exactly(file, 2 if magic[6] == 1 else 4), "little")
        head = ast.literal_eval(_exactly(file, size).decode("latin-1" if magic[6] < 3 else "utf-8"))
        return self._numpy.dtype(head["descr"]), head["shape"][0]

    def _read_rows(self, rows: int) -> np.ndarray[Any, Any]:
        if self.dtype == self._printed:
            return self._read_printed(rows)
        table, step = self._numpy.empty(rows, self.dtype), max(1, _PIECE // self._printed.itemsize)
        for begin in range(0, rows, step):
            narrow(self._read_printed(min(step, rows - begin)), table[begin : begin + step])
        return table

    def _read_printed(self, rows: int) -> np.ndarray[Any, Any]:
        table = self._numpy.empty(rows, self._printed)
        room = memoryview(table.view("u1"))
        done = 0
        while done < len(room):
            count = self._table.readinto(room[done:])
            if count == 0:
                raise EOFError
            done += count
        return table


def narrowed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of a table whose printed type is `dtype`: columns of wide texts hold Python's strings."""
    import numpy

    fields = [(name, dtype[name]) for name in dtype.names or ()]
    if not any(_is_wide(kind) for _, kind in fields):
        return dtype
    return numpy.dtype([(name, numpy.dtype(object) if _is_wide(kind) else kind) for name, kind in fields])


def narrow(printed: np.ndarray[Any, Any], table: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Copies the rows `printed` to `table`, which has the narrowed type."""
    for name in table.dtype.names or ():
        table[name] = printed[name].astype(table.dtype[name])
    return table


def _is_wide(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "U" and dtype.itemsize > 4 * WIDE


def _exactly(file: IO[bytes], size: int) -> bytes:
    content = file.read(size)
    if len(content) < size:
        raise EOFError
    return content


def table(*words: str, reader: str, warn: bool = True, said: Callable[[str], str] = _programs.bare) -> np.ndarray[Any, Any]:
    """The whole table that ``portolan WORDS`` prints, a structured array."""
    with Output(*words, reader=reader, warn=warn, said=said) as output:
        return output.read()
