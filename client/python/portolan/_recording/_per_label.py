"""Examples with several labels, or none: each label of each example becomes an example of its own, with a sigmoid's two classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from portolan._recording import _shapes

# Stands between an example's id and a label's name; no name contains it, so the last one in an id is the separator.
_BETWEEN = "#"


def per_label(ids: Any, scores: Any, gold: Any, names: Sequence[str] | None = None) -> tuple[list[str], Any, list[int]]:
    """Turns a multi-label batch into (ids, scores, gold) for a log call: a row for each label of each example, with the id ``"ID#LABEL"``.

    Args:
        ids: (n,) integers or strings.
        scores: (n, labels) logits, or probabilities, each label by itself: from a sigmoid, not from a softmax.
        gold: (n, labels): 1 for a label that the example has, else 0. -100 or NaN if it is not known; the row is then left out.
        names: the names of the labels; default: 0 ... labels-1.

    Example: ``run.log_logits(epoch, *portolan.per_label(ids, model(x), y, ["cat", "dog"]))``
    """
    examples = _shapes.plain_ids(ids)
    rows = gold.tolist() if hasattr(gold, "tolist") else [list(row) if hasattr(row, "__len__") else row for row in gold]
    shape = _shapes.shape_of(scores) or _shape_of_lists(scores)
    if len(shape) != 2 or len(rows) != shape[0] or any(not isinstance(row, list) or len(row) != shape[1] for row in rows):
        found = _shapes.shape_of(gold) or _shape_of_lists(rows)
        raise ValueError(f"per_label: scores have the shape {shape}, gold {found}: both must be (n, labels)")
    if len(examples) != len(rows):
        raise ValueError(f"per_label: there are {len(examples)} ids and {len(rows)} rows")
    labels = _checked_names(names, shape[1])
    known = [place for place, value in enumerate(value for row in rows for value in row) if _is_known(value)]
    pairs = [f"{example}{_BETWEEN}{label}" for example in examples for label in labels]
    flat: Any = scores.reshape(-1) if hasattr(scores, "reshape") else [score for row in scores for score in row]
    values = [_as_gold(value) for row in rows for value in row if _is_known(value)]
    if len(known) == len(pairs):
        return pairs, flat, values
    return [pairs[place] for place in known], flat[known] if hasattr(flat, "shape") else [flat[place] for place in known], values


def _checked_names(names: Sequence[str] | None, count: int) -> list[str]:
    labels = [str(label) for label in (range(count) if names is None else names)]
    if len(labels) != count:
        raise ValueError(f"per_label: there are {len(labels)} names for {count} labels")
    if len(set(labels)) != count:
        raise ValueError(f"per_label: two labels have the same name: {', '.join(labels)}")
    for label in labels:
        if _BETWEEN in label:
            raise ValueError(f"per_label: the name {label!r} holds {_BETWEEN!r}, which stands between an example's id and a label's name")
    return labels


def _shape_of_lists(rows: Any) -> tuple[int, ...]:
    if not len(rows) or not hasattr(rows[0], "__len__"):
        return (len(rows),)
    return len(rows), len(rows[0])


def _is_known(value: Any) -> bool:
    return not (value == _shapes.IGNORED or isinstance(value, float) and math.isnan(value))


def _as_gold(value: Any) -> int:
    if value not in (0, 1):
        raise ValueError(f"per_label: gold holds {value!r}: 1 for a label that an example has, 0 for one that it has not, -100 where it is not known")
    return int(value)
