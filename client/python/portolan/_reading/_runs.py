"""The list of runs: the function runs()."""

from __future__ import annotations

import json
import os
from typing import Any

from portolan import _packages, _programs
from portolan._reading._table import Table
from portolan._recording import _options

_COLUMNS = {"name": str, "examples": int, "epochs": int, "observations": int, "state": str, "mode": str, "created": str, "kind": str, "fingerprint": str, "texts": int}
_EMPTY = {str: "", int: -1}  # the columns of a damaged run


class Runs(Table):
    """The runs of a store, a row each. Made by ``portolan.runs()``."""

    _unit = "run"


def runs(store: str | os.PathLike[str] | None = None) -> Runs:
    """The runs in a store, also those in progress.

    Args:
        store: the store's directory. Default: ``$PORTOLAN_STORE``, then ``./portolan-store``.

    Returns:
        A table: name, examples, epochs, observations, state ("recording", "closed" or "damaged"), mode, created (UTC, as text), kind ("labels",
        "loss", or "" while nothing is recorded), fingerprint (of the ids, a hyphen, and of the ids with their gold labels: the same for runs of the
        same data, in whichever order they were logged), texts (the number of examples of which the run keeps texts). Of a damaged run only the name is known, and a warning says so. It needs NumPy.

    Example::

        for run in portolan.runs("portolan-store"):
            print(run.name, run.observations)
    """
    folder = _programs.default_store() if store is None else os.fsdecode(_options.path("store", store, "a directory"))
    numpy = _packages.needed("numpy", "portolan.runs()")
    reports = json.loads(_programs.analyze("runs", "--json", "--store", folder, despite=True))
    for report in reports:  # a damaged run has no observations
        report["texts"] = report["texts"]["examples"] if "texts" in report else 0 if "observations" in report else None
    table = numpy.empty(len(reports), [(name, _type(kind, [report.get(name) for report in reports])) for name, kind in _COLUMNS.items()])
    for name, kind in _COLUMNS.items():
        table[name] = [_EMPTY[kind] if report.get(name) is None else report[name] for report in reports]
    return Runs(folder, table)


def _type(kind: type, values: list[Any]) -> str:
    return "<i8" if kind is int else f"<U{max([1, *(len(value) for value in values if value is not None)])}"
