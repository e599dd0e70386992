"""Reading back: the function measures()."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from portolan import _programs
from portolan._portolan import Error
from portolan._reading import _output, _words
from portolan._reading._table import Table
from portolan._recording import _options
from portolan._recording._run import Run

if TYPE_CHECKING:
    Epochs = str | slice | range | tuple[int | None, int | None]


class Measures(Table):
    """The measures of a run's examples, a row each. Made by ``portolan.measures()``."""

    _unit = "example"


def measures(
    name: str | Run,
    store: str | os.PathLike[str] | None = None,
    epochs: Epochs | None = None,
    *,
    window: int | None = None,
    loss_threshold: float | None = None,
    never: str | None = None,
    minus: str | Run | None = None,
    minus_epochs: Epochs | None = None,
) -> Measures:
    """The measures of every example of run `name`, by ascending id; also for a run in progress.

    Args:
        name: the run; or an open Run: its observations are flushed first.
        store: the store's directory. Default: the open run's; else ``$PORTOLAN_STORE``, then ``./portolan-store``.
        epochs: which epochs, half-open: ``"2:"``, ``(2, None)``, ``slice(2, None)`` or ``range(2, 8)``; ``"auto"``: without the burn-in,
            in which all examples are learned together; a warning says which epochs. Default: all.
        window: how many epochs the windows of dyn_unc, dual and tdds have. A run with fewer epochs has no value for them. Default: 10.
        loss_threshold: in a run that log_loss() recorded, an example counts as right at an epoch if its loss is at most this, and
            forgetting_events, first_learned, ... are there. Default: nothing is right or wrong.
        never: ``"next"``: first_learned, always_right_after and always_wrong_after have the epoch after the last one where that never came
            true. Default: ``"empty"``.
        minus, minus_epochs: another run, and which of its epochs (default: those of `epochs`): every measure is less that of the other run,
            for the examples that both have; ``loss`` is RHO-loss then (Mindermann et al. 2022).

    Returns:
        Measures: a table with the columns id (uint64 or str), gold, epochs, confidence, variability, correctness,
        forgetting_events, never_learned, first_learned, ...: ``m["confidence"]`` and ``m.confidence`` are columns, NumPy arrays
        of shape (n,), ``m[0]`` is one example, ``m[mask]`` some of them. Absent values are NaN, or -1 for integers; null in
        ``m.to_pandas()``, ``m.to_polars()``, ``m.to_arrow()``, and for programs that read Arrow. It needs NumPy, and the program
        ``portolan``, which computes the measures.

    Raises:
        portolan.Error: there is no such run, or it cannot be read; the message is the program's.
        ModuleNotFoundError: a package is missing; the message has pip's command.

    Example::

        m = portolan.measures("words", epochs="2:")
        ambiguous = m["id"][m["variability"].argsort()[::-1][: len(m) // 3]]
    """
    known_in_progress = isinstance(name, Run) and name.is_open
    name, folder = locate(name, store)
    words = _words.Words()
    words += ["metrics", "--format", "npy", "--store", folder, *epoch_words(epochs)]
    words.add("window", window)
    words.add("loss-threshold", loss_threshold)
    words.add("never", never)
    for option, value in minus_options(minus, minus_epochs).items():
        words.add(option, value)
    table = _output.table(*words, "--", name, reader="portolan.measures()", warn=not known_in_progress)
    return Measures(f"measures of {name}", table)


def minus_options(minus: str | Run | None, epochs: Epochs | None) -> dict[str, str | None]:
    return {"minus": None if minus is None else locate(minus, ".")[0], "minus-epochs": None if epochs is None else epoch_range(epochs)}


def epoch_words(epochs: Epochs | None) -> list[str]:
    return [] if epochs is None else ["--epochs", epoch_range(epochs)]


def locate(run: str | Run, store: str | os.PathLike[str] | None) -> tuple[str, str]:
    """The run's name and its store's directory. An open run is flushed first."""
    if not isinstance(run, Run):
        return _options.name(run), os.fspath(store or _programs.default_store())
    if run.is_disabled:
        raise Error(f"run {run.name} is not recorded, as $PORTOLAN_DISABLED is set: there is nothing to read")
    if run.is_open:
        run.flush()
    store = store or run.store
    if store is None:
        raise ValueError(f"run {run.name} goes to an endpoint: say which directory its collector's store is, with store=")
    return run.name, os.fspath(store)


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
