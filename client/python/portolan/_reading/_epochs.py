"""Reading back how each epoch went: the function epochs()."""

from __future__ import annotations

import json
import os
from portolan import _packages, _programs
from portolan._reading import _measures
from portolan._reading._table import Table
from portolan._recording._run import Run

_COLUMNS = {"epoch": "<i8", "examples": "<i8", "accuracy": "<f8", "mean_loss": "<f8", "forgotten": "<i8", "learned": "<i8"}


class EpochTable(Table):
    """The epochs of a run, a row each. Made by ``portolan.epochs()``."""

    _unit = "epoch"


def epochs(run: str | Run, store: str | os.PathLike[str] | None = None) -> EpochTable:
    """How each epoch of a run went, as ``portolan epochs`` prints it; also of a run in progress.

    Args:
        run: the run; or an open Run: its observations are flushed first.
        store: the store's directory. Default: the open run's; else ``$PORTOLAN_STORE``, then ``./portolan-store``.

    Returns:
        A table: epoch, examples (observed), accuracy, mean_loss (the mean of -ln p of the gold label), forgotten (examples that are incorrect
        now, and were correct when last observed), learned (examples that are correct for the first time). Of a run of losses: epoch,
        examples, mean_loss. It needs NumPy.

    Raises:
        portolan.Error: there is no such run, or it has no observations; the message is the program's.

    Example::

        e = portolan.epochs("snli/seed1", store="portolan-store")
        e.epoch[e.mean_loss.argmin()]
    """
    known_in_progress = isinstance(run, Run) and run.is_open
    numpy = _packages.needed("numpy", "portolan.epochs()")
    name, folder = _measures.locate(run, store)
    report = json.loads(_programs.analyze("epochs", "--json", "--store", folder, "--", name, warn=not known_in_progress))
    columns = {column: kind for column, kind in _COLUMNS.items() if column in report["epochs"][0]}
    rows = [tuple(row[column] for column in columns) for row in report["epochs"]]
    return EpochTable(f"epochs of {name}", numpy.array(rows, list(columns.items())))
