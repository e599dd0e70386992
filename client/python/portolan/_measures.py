"""Reading back: the function measures()."""

from __future__ import annotations

import io
import os
import subprocess
import warnings
from typing import TYPE_CHECKING, Any

from portolan import _programs
from portolan._portolan import Error

if TYPE_CHECKING:
    import numpy as np

    Epochs = str | slice | range | tuple[int | None, int | None]


def measures(name: str, store: str | os.PathLike[str] | None = None, epochs: Epochs | None = None) -> np.recarray[Any, Any]:
    """The measures of every example of run `name`, by ascending id; also of a run in progress.

    Args:
        name: the run.
        store: the store's directory. Default: ``$PORTOLAN_STORE``, then ``./portolan-store``.
        epochs: which epochs, half-open: ``"2:"``, ``(2, None)``, ``slice(2, None)`` or ``range(2, 8)``. Default: all.

    Returns:
        A NumPy record array of shape (n,) with the fields id (uint64 or str), gold, epochs, confidence, variability, correctness,
        forgetting_events, never_learned, first_learned, ...: ``m["confidence"]`` and ``m.confidence`` are columns, ``m[0]``
        is one example. It needs NumPy, and the program ``portolan``, which computes them.

    Example::

        m = portolan.measures("words", epochs="2:")
        ambiguous = m["id"][m["variability"].argsort()[::-1][: len(m) // 3]]
    """
    import numpy

    command = [_program(), "metrics", "--format", "npy", "--store", os.fspath(store or _programs.default_store())]
    if epochs is not None:
        command += ["--epochs", _epoch_range(epochs)]
    command += ["--", name]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as error:
        raise Error(f"cannot run {command[0]}: {error.strerror}") from None
    messages = done.stderr.decode(errors="replace").strip()
    if done.returncode != 0:
        raise Error(_bare(messages.splitlines()[-1]) if messages else f"portolan metrics ended with status {done.returncode}")
    for line in messages.splitlines():
        warnings.warn(_bare(line), stacklevel=2)
    return _decode_text(numpy.load(io.BytesIO(done.stdout), allow_pickle=False)).view(numpy.recarray)


def _program() -> str:
    program = _programs.find("portolan")
    if program is None:
        raise Error("the program portolan was not found: build it, or set $PORTOLAN to its path")
    return program


def _bare(line: str) -> str:
    return line.removeprefix("portolan: ").removeprefix("warning: ")


def _epoch_range(epochs: Epochs) -> str:
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


def _decode_text(table: Any) -> Any:
    """Text comes as UTF-8 bytes; as str it went in, and as str it comes out."""
    import numpy

    text = {name: numpy.char.decode(table[name], "utf-8") for name in table.dtype.names if table.dtype[name].kind == "S"}
    if not text:
        return table
    types = [(name, text[name].dtype if name in text else table.dtype[name]) for name in table.dtype.names]
    out = numpy.empty(table.shape, types)
    for name in table.dtype.names:
        out[name] = text[name] if name in text else table[name]
    return out
