"""Reading back: the function measures()."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

from portolan import _options, _programs
from portolan._run import Run

if TYPE_CHECKING:
    import numpy as np

    Epochs = str | slice | range | tuple[int | None, int | None]


def measures(name: str | Run, store: str | os.PathLike[str] | None = None, epochs: Epochs | None = None) -> np.recarray[Any, Any]:
    """The measures of every example of run `name`, by ascending id; also of a run in progress.

    Args:
        name: the run; or an open Run, whose observations are waited for first.
        store: the store's directory. Default: the open run's; else ``$PORTOLAN_STORE``, then ``./portolan-store``.
        epochs: which epochs, half-open: ``"2:"``, ``(2, None)``, ``slice(2, None)`` or ``range(2, 8)``. Default: all.

    Returns:
        A NumPy record array of shape (n,) with the fields id (uint64 or str), gold, epochs, confidence, variability, correctness,
        forgetting_events, never_learned, first_learned, ...: ``m["confidence"]`` and ``m.confidence`` are columns, ``m[0]``
        is one example. It needs NumPy, and the program ``portolan``, which computes them.

    Example::

        m = portolan.measures("words", epochs="2:")
        ambiguous = m["id"][m["variability"].argsort()[::-1][: len(m) // 3]]
    """
    known_in_progress = isinstance(name, Run) and name.is_open
    name, folder = locate(name, store)
    words = ["metrics", "--format", "npy", "--store", folder]
    if epochs is not None:
        words += ["--epochs", epoch_range(epochs)]
    return read_table(_programs.analyze(*words, "--", name, warn=not known_in_progress))


def read_table(table: bytes) -> np.recarray[Any, Any]:
    import numpy

    return numpy.load(io.BytesIO(table), allow_pickle=False).view(numpy.recarray)


def locate(run: str | Run, store: str | os.PathLike[str] | None) -> tuple[str, str]:
    """(name, store's directory). What an open run has logged is on disk then."""
    if not isinstance(run, Run):
        return _options.name(run), os.fspath(store or _programs.default_store())
    if run.is_open:
        run.flush()
    if store is None and run.store is None:
        raise ValueError(f"run {run.name} goes to an endpoint: say which directory its collector's store is, with store=")
    return run.name, os.fspath(store or run.store)


def epoch_range(epochs: Epochs) -> str:
    if isinstance(epochs, str):
        return epochs
    if isinstance(epochs, (slice, range)):
        if epochs.step not in (None, 1):
            raise ValueError(f"epochs must be without a step, not {epochs!r}")
        epochs = (epochs.start, epochs.stop)
    if not isinstance(epochs, tuple) or len(epochs) != 2 or not all(e is None or hasattr(e, "__index__") for e in epochs):
        raise TypeError(f"epochs must be 'A:B', (A, B), a slice or a range, not {epochs!r}")
    first, last = ("" if epoch is None else epoch.__index__() for epoch in epochs)
    return f"{first}:{last}"
