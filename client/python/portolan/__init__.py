"""Portolan: record how a model sees every training example, epoch after epoch.

    import portolan

    with portolan.Run("snli/seed1", store="portolan-store") as run:
        for epoch in range(6):
            ...train...
            for ids, inputs, gold in batches:
                run.log_logits(epoch, ids, model(inputs), gold)
            run.end_epoch(epoch)

    m = portolan.measures("snli/seed1", store="portolan-store")
    m["id"][m["variability"].argsort()[::-1][:100]]      # the hundred most ambiguous examples
    m.to_pandas()                                        # to_polars(), to_arrow(), and programs that read Arrow take it directly
    portolan.map("snli/seed1")                           # in a notebook: the data map
    portolan.select("snli/seed1", by="ambiguous", fraction=0.33).indices(train_set)

Ids are your own, integers from 0 on or strings. Arrays are NumPy arrays, torch tensors on any device, anything else
that exports a buffer or ``__array__``, or plain lists; none of these packages is needed to record.
"""

from importlib import import_module as _import_module
from typing import Any as _Any

from portolan._exporting._export import Exported, export
from portolan._portolan import (
    Closed,
    Error,
    Forked,
    NoCollector,
    Refused,
    RowsRefused,
    TimedOut,
)
from portolan._portolan import version as __version__
from portolan._reading._dynamics import dynamics
from portolan._reading._epochs import epochs
from portolan._reading._map import map as map  # not in __all__: import * would hide the built-in one
from portolan._reading._measures import measures
from portolan._reading._report import report
from portolan._reading._runs import runs
from portolan._reading._select import select
from portolan._reading._serve import serve
from portolan._reading._suspects import suspects
from portolan._recording._per_label import per_label
from portolan._recording._run import Run
from portolan._recording._tdds import TddsMoves

# portolan.map is left out: import * must not replace Python's own map().
__all__ = [
    "Closed",
    "Error",
    "Exported",
    "Forked",
    "NoCollector",
    "Refused",
    "RowsRefused",
    "Run",
    "TddsMoves",
    "TimedOut",
    "__version__",
    "dynamics",
    "epochs",
    "export",
    "measures",
    "per_label",
    "report",
    "runs",
    "select",
    "serve",
    "suspects",
]

# Imported, with what they need, when first used. dir() lists none of them: help() would import them all, or fail.
_MODULES = ("bridges", "keras", "lightgbm", "lightning", "skorch", "sklearn", "spark", "torch", "transformers", "xgboost")


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        return _import_module(f"portolan.{name}")
    raise AttributeError(f"module 'portolan' has no attribute {name!r}")
