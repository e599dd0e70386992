"""Labels that are likely wrong: the function suspects()."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from portolan import _packages, _programs
from portolan._reading import _measures, _output, _words
from portolan._reading._select import Selection
from portolan._recording import _options
from portolan._recording._run import Run

if TYPE_CHECKING:
    import numpy as np

    from portolan._reading._measures import Epochs

_TYPES = {"rank": "u4", "score": "f8", "probability": "f8"}


class Suspects(Selection):
    """Examples whose label is likely wrong, the most suspect first. Made by ``portolan.suspects()``.

    Attributes:
        method: how they were found: ``by`` (``"aum"``, ``"log-odds"`` or ``"confidence"``), ``threshold`` (those with a higher score are called
            wrong), ``how`` (in words), ``out_of_fold``, and the numbers of examples ``ranked``, ``called`` and ``left_out``.
        weak: sentences that say why the list is worth less than it may look; empty: there is no reason known.
        expected: with `flips`: how many labels are ``wrong``, between ``low`` and ``high`` (90%), among so many ``examples``, and for which labels
            that ``holds_for``; else None.
    """

    _unit = "suspect"

    def __init__(self, name: str, rows: np.ndarray[Any, Any], found: dict[str, Any]) -> None:
        """`found`: the report of the command, without its rows."""
        super().__init__(name, rows)
        self.weak = [doubt["text"] for doubt in found["weak"]]
        self.expected = found["expected"]
        self.method = {key: value for key, value in found.items() if key not in ("run", "weak", "expected")}


def suspects(
    run: str | Run,
    data: str | os.PathLike[str] | None = None,
    *,
    id_field: str | None = None,
    text: str | Sequence[str] | None = None,
    count: int | None = None,
    fraction: float | None = None,
    all: bool = False,
    flips: str | os.PathLike[str] | None = None,
    corrections: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    epochs: Epochs | None = None,
    store: str | os.PathLike[str] | None = None,
) -> Suspects:
    """The labels of a run that are likely wrong, in one ranked list, as ``portolan suspects`` finds them.

    Args:
        run: the run; or an open Run: its observations are flushed first.
        data: the file that the model was trained on (JSON lines, CSV or TSV): its fields become columns; ``"@texts"``: the texts that the run
            keeps (run.log_examples()). id_field: the field that holds the ids, of ``"@texts"`` always ``"id"``; text: the fields to show,
            default all.
        count, fraction, all: how much of the ranking; give one of them, or none: then the labels that are called wrong.
        flips: the file of ``portolan noise plan``, for a run that was trained with these flips: the table has the column probability then, without
            the flips themselves.
        corrections: write the list to this file (TSV) as well, to be edited: id, old, new. A file that exists is refused, unless `overwrite`.
        epochs: which epochs; see measures(). Default: all.
        store: the store's directory. Default: the open run's; else ``$PORTOLAN_STORE``, then ``./portolan-store``.

    Returns:
        Suspects: a table with the columns rank, id, label, suggested, score (the higher, the more suspect; no probability), then those of
        `data`; ``s.ids()``, ``s.indices(dataset)``, ``s.mask(ids)``, ``s.to_pandas()``; ``s.method`` and ``s.weak``, whose sentences are
        warnings, too. It needs NumPy.

    Raises:
        portolan.Error: the run or an argument is refused; the message is the program's.

    Example::

        wrong = portolan.suspects("forest/out-of-fold", data="train.csv", id_field="id")
        wrong.to_pandas()[["id", "label", "suggested", "text"]]
    """
    known_in_progress = isinstance(run, Run) and run.is_open
    name, folder = _measures.locate(run, store)
    words = _words.Words()
    words += ["suspects", "--json", "--store", folder, *_measures.epoch_words(epochs)]
    words.add_data("data", data)
    words.add("id-field", id_field)
    words.add("text", text if text is None or isinstance(text, str) else ",".join(text))
    words.add("count", count)
    words.add("fraction", fraction)
    words.add("all", bool(all))
    words.add_path("flips", flips)
    words.add_path("corrections", corrections)
    words.add("overwrite", bool(overwrite))
    found = json.loads(_programs.analyze(*words, "--", _options.name(name), warn=not known_in_progress, notes=False))
    listed = Suspects(f"suspects of {name}", _table(found.pop("suspects")), found)
    for doubt in listed.weak if known_in_progress else ():  # else the program's warnings have said so
        _programs.warn_caller(f"the list is weak: {doubt}")
    return listed


def _table(rows: list[dict[str, Any]]) -> np.ndarray[Any, Any]:
    numpy = _packages.needed("numpy", "portolan.suspects()")
    names = list(rows[0]) if rows else ["rank", "id", "label", "suggested", "score"]
    columns = {name: _column(numpy, name, [row[name] for row in rows]) for name in names}
    table = numpy.empty(len(rows), [(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        table[name] = column
    return table


def _column(numpy: Any, name: str, values: list[Any]) -> Any:
    """A column. Ids and labels are integers or texts; absent values are NaN, -1 or an empty text."""
    if name in _TYPES:
        return numpy.array([float("nan") if value is None else value for value in values], _TYPES[name])
    if name in ("id", "label", "suggested") and not any(isinstance(value, str) for value in values):
        return numpy.array([-1 if value is None else value for value in values], "u8" if name == "id" else "i8")
    texts = ["" if value is None else str(value) for value in values]
    is_wide = max(map(len, texts), default=0) > _output.WIDE
    return numpy.array(texts, object if is_wide else None if texts else "U1")
