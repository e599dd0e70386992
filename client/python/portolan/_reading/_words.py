"""Makes the words of a command line from Python arguments. Arguments without a file are written to files, which are removed with the
object."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from portolan import _programs
from portolan._reading._table import Table
from portolan._recording import _arrays, _options
from portolan._recording._run import Run

_CONTROL = re.compile("[\0-\x1f\x7f-\x9f]")

KEPT_TEXTS = ("@texts", "@none")  # in the place of the user's data: the texts that the run keeps, or none

Ids = str | os.PathLike[str] | Sequence[Any] | Any


class Words(list[str]):
    """The words of a command line. The temporary files that they name exist as long as this object."""

    def __init__(self) -> None:
        super().__init__()
        self._files: list[Any] = []
        self._names: dict[str, str] = {}  # the argument of the user that each temporary file holds, by the file's path

    def add(self, option: str, value: Any) -> None:
        """Adds ``--option VALUE``; for True ``--option`` alone, for None and False nothing."""
        if value is None or value is False:
            return
        self.append(f"--{option}")
        if value is not True:
            self.append(_options.text(option.replace("-", "_"), value) if isinstance(value, str) else _number(option, value))

    def add_path(self, option: str, value: str | bytes | os.PathLike[Any] | None) -> None:
        if value is not None:
            self += [f"--{option}", os.path.abspath(os.fsdecode(_options.path(option.replace("-", "_"), value, "a file")))]

    def add_data(self, option: str, value: str | bytes | os.PathLike[Any] | None, may_be_none: bool = False) -> None:
        """Adds the file of the user's data: its path, or one of KEPT_TEXTS, of which a file of that name is told apart as ``./@texts``.
        `may_be_none`: the command shows kept texts unasked, so that ``@none`` means something to it; otherwise it is a ValueError."""
        if isinstance(value, str) and value == "@none" and not may_be_none:
            raise ValueError(f"{option.replace('-', '_')} is '@none', which is for portolan.serve() and report(); a file of that name is './@none'")
        if isinstance(value, str) and value in KEPT_TEXTS:
            self += [f"--{option}", value]
        else:
            self.add_path(option, value)

    def add_run(self, option: str, value: str | Run | None) -> None:
        if value is None:
            return
        if isinstance(value, Run):
            if value.is_open:
                value.flush()
            value = value.name
        self += [f"--{option}", _options.name(value)]

    def add_ids(self, option: str, ids: Ids, may_be_empty: bool = False) -> None:
        """Adds a file of ids. `ids`: its path, or the ids themselves. `may_be_empty`: no ids add nothing; otherwise they are a ValueError."""
        if ids is None:
            return
        if isinstance(ids, (str, bytes, os.PathLike)):
            self.add_path(option, ids)
            return
        argument, lines = option.replace("-", "_"), [str(one) for one in id_list(ids)]
        if not lines and not may_be_empty:
            raise ValueError(f"{argument} holds no ids")
        for line in lines:
            if line == "" or _CONTROL.search(line):
                raise ValueError(f"{argument} holds {line!r}, which is no id: ids have at least one character, and no control characters")
        if lines:
            self.add_path(option, self._write(option, "".join(f"{line}\n" for line in lines).encode(), ".txt"))

    def add_json(self, option: str, value: Mapping[str, Any] | str | os.PathLike[str] | None) -> None:
        """Adds a file of JSON. `value`: its path, or its content."""
        if isinstance(value, Mapping):
            value = self._write(option, json.dumps(dict(value), allow_nan=False).encode(), ".json")
        self.add_path(option, value)

    def add_matrix(self, option: str, value: Any) -> None:
        """Adds a .npy file. `value`: its path, or an array."""
        if value is not None and not isinstance(value, (str, bytes, os.PathLike)):
            import numpy

            file = self._file(option, ".npy")
            numpy.save(file, numpy.ascontiguousarray(value), allow_pickle=False)
            file.flush()
            value = file.name
        self.add_path(option, value)

    def said(self, line: str) -> str:
        """A line that the program printed, as a message in Python: the temporary files are named by the user's arguments."""
        for path, name in self._names.items():
            line = line.replace(path, name)
        return _programs.bare(line)

    def _write(self, option: str, content: bytes, ending: str) -> str:
        file = self._file(option, ending)
        file.write(content)
        file.flush()
        return file.name

    def _file(self, option: str, ending: str) -> Any:
        file = tempfile.NamedTemporaryFile(prefix=f"portolan-{option}-", suffix=ending)
        self._files.append(file)
        self._names[os.path.abspath(file.name)] = f"{option.replace('-', '_')}=..."
        return file


def id_list(ids: Any) -> list[Any]:
    """The ids as a list. `ids`: any form in which ids can be logged; a table with the column id, such as a selection; or a column of a table."""
    if isinstance(ids, Table):
        ids = ids["id"]
    for name in ("ids", "to_pylist", "to_list"):  # of a selection; of pyarrow; of polars and pandas
        method = getattr(ids, name, None)
        if callable(method):
            return list(method())
    if not isinstance(ids, (list, tuple, range)) and not hasattr(ids, "shape") and hasattr(ids, "__len__") and hasattr(ids, "__getitem__"):
        ids = list(ids)  # a column of a dataset
    return [one.decode() if isinstance(one, bytes) else one for one in _arrays.listed(_arrays.identifiers(ids))]


def _number(option: str, value: Any) -> str:
    if hasattr(value, "__index__"):
        return str(value.__index__())
    if hasattr(value, "__float__"):
        return repr(float(value))
    raise TypeError(f"{option.replace('-', '_')} must be a number or a text, not {value!r}")
