"""Reading back every observation: the function dynamics()."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from portolan._reading import _measures, _output, _words
from portolan._reading._table import BATCH, Table
from portolan._recording._run import Run

if TYPE_CHECKING:
    import numpy as np

    from portolan._reading._measures import Epochs



class Dynamics(Table):
    """The observations of a run, a row each, by epoch and ascending id. Made by ``portolan.dynamics()``.

    ``batches()``, and programs that read Arrow, get the rows block by block. A column, a row, a part of the table, pickling, or a conversion to a
    whole table reads all rows at its first use, and keeps them in memory; ``head()`` reads only the rows that it returns."""

    _unit = "observation"

    def __init__(self, name: str, words: _words.Words, warn: bool) -> None:
        super().__init__(name, None)
        self._words, self._warn = words, warn
        with self._output(partly=True) as output:
            self._kinds, self._known_rows = output.dtype, output.rows

    def batches(self, rows: int = BATCH) -> Iterator[np.ndarray[Any, Any]]:
        """The observations in structured NumPy arrays of at most `rows` rows, one after the other: memory holds one array at a time. A run in
        progress gives the observations recorded so far. Once the rows are in memory, as those of a part of the table are, the arrays are
        views of them.

        Example: ``sum(block["gold_prob"].sum() for block in portolan.dynamics("words").batches())``"""
        if rows < 1:
            raise ValueError(f"rows must be above 0, not {rows!r}")
        if self._rows is not None:
            yield from super()._blocks(rows)
            return
        with self._output() as output:
            yield from output.blocks(rows)
            self._warn = False  # warnings are given once, at the end

    def _output(self, partly: bool = False) -> _output.Output:
        return _output.Output(*self._words, reader="portolan.dynamics()", warn=self._warn, partly=partly, said=self._words.said)

    def _table(self) -> np.ndarray[Any, Any]:
        if self._rows is None:
            with self._output() as output:
                self._rows = output.read()
            self._warn = False
        return self._rows

    def _blocks(self, rows: int | None = None) -> Iterator[np.ndarray[Any, Any]]:
        return self.batches(rows or BATCH)

    def __getstate__(self) -> dict[str, Any]:
        """The rows, and not how to read them: that names files which are removed with this object."""
        return {"_name": self._name, "_rows": self._table()}

    def _head(self, rows: int) -> np.ndarray[Any, Any]:
        if self._rows is not None:
            return self._rows[:rows]
        with self._output(partly=True) as output:
            return output.read(min(rows, output.rows))

    def _count(self) -> int:
        return self._known_rows if self._rows is None else len(self._rows)

    def _dtype(self) -> np.dtype[Any]:
        return self._kinds if self._rows is None else self._rows.dtype


def dynamics(
    run: str | Run,
    store: str | os.PathLike[str] | None = None,
    epochs: Epochs | None = None,
    ids: _words.Ids | None = None,
    columns: Sequence[str] | None = None,
) -> Dynamics:
    """Every observation of a run, as it was recorded; also for a run in progress.

    Args:
        run: the run; or an open Run: its observations are flushed first.
        store: the store's directory. Default: the open run's; else ``$PORTOLAN_STORE``, then ``./portolan-store``.
        epochs: which epochs; see measures(). Default: all.
        ids: only these examples: (n,) integers or strings as they were logged, a table with the column id (a selection, measures), or a file with one
            id a line. Ids that the run does not have are counted in a warning when the observations have been read.
        columns: which columns after id and epoch, by name. Default: every signal that was recorded.

    Returns:
        A table by epoch, then ascending id: id, epoch (from 0), gold_prob (p(gold), from 0 to 1, float32), correct (booleans), or
        of a run of losses task_loss (float32) in place of both, then, if they were recorded, margin, other_sq, entropy, max_prob, predicted (a class number), and columns of your own. Absent values are
        NaN, or -1 for integers; null in polars and Arrow. ``batches()`` gives it block by block. It needs NumPy.

    Raises:
        portolan.Error: there is no such run, or it cannot be read; the message is the program's.

    Example::

        d = portolan.dynamics("words", ids=["haus", "gift"])
        d["gold_prob"][d["id"] == "haus"]                        # p(gold), epoch by epoch
        duckdb.sql("SELECT epoch, avg(gold_prob) FROM d GROUP BY epoch")
    """
    known_in_progress = isinstance(run, Run) and run.is_open
    name, folder = _measures.locate(run, store)
    words = _words.Words()
    words += ["dynamics", "--format", "npy", "--store", folder, *_measures.epoch_words(epochs)]
    words.add_ids("ids", ids)
    if columns is not None:
        words.add("columns", ",".join([columns] if isinstance(columns, str) else columns))
    words += ["--", name]
    return Dynamics(f"dynamics of {name}", words, warn=not known_in_progress)
