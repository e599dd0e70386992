"""Converts the hooks' scores and gold labels to rows of one example each.

Arrays are recognised by their methods (NumPy arrays and torch tensors alike), so nothing is imported here; objects
without visible rows (lists) pass through. Every error says what to do instead.

  multi-class       scores (n, classes), gold (n,) or (n, 1)
  binary            scores (n,) or (n, 1), the logit of class 1; gold 0 and 1 of any type, also float
  multiple choice   scores (n, options), the options that an example lacks at -inf; or n rows of different lengths
  tokens            scores (n, length, classes), gold (n, length); -100 where there is no label
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

# The label that loss functions skip: padding, special tokens, examples without a label.
IGNORED = -100


class TokenIds:
    """The ids of an example's tokens: ``"ID/0"``, ``"ID/1"``, ... counts the tokens with a label, so that padding on either side
    changes nothing. They are formed once the gold labels are known."""

    def __init__(self, ids: Any, length: int) -> None:
        self.ids, self.length = plain_ids(ids), length

    def __len__(self) -> int:
        return len(self.ids) * self.length

    def resolve(self, gold: Sequence[int]) -> list[str]:
        """One id for each of the n * length entries of `gold`; "" for those without a label."""
        out = []
        for row, example in enumerate(self.ids):
            count = 0
            for label in gold[row * self.length : (row + 1) * self.length]:
                out.append("" if label == IGNORED else f"{example}/{count}")
                count += label != IGNORED
        return out


def as_rows(ids: Any, scores: Any, gold: Any) -> tuple[Any, Any, Any]:
    """(ids, scores, gold) of one batch with one row per example or token, still with the entries whose label is IGNORED."""
    if is_ragged(scores):
        scores = pad_choices(scores)
    shape, gold_shape = shape_of(scores), shape_of(gold)
    if shape is None or gold_shape is None:
        return ids, scores, gold
    if gold_shape in ((1,), (1, 1)) and (shape == () or len(shape) == 1 and shape[0] > 1):
        scores, shape = scores.reshape(1, -1), (1, *(shape or (1,)))  # one example, from a model that squeezes
    if len(shape) == 3 and gold_shape == shape[:2]:
        return TokenIds(ids, shape[1]), scores.reshape(-1, shape[2]), gold.reshape(-1)
    if len(shape) > 2:
        raise ValueError(
            f"logits have the shape {shape} and gold {gold_shape}: a row of scores per example is expected, (n, classes); for tokens "
            "(n, length, classes) and gold (n, length)"
        )
    if len(gold_shape) == 2 and gold_shape[1] == 1:
        gold = gold.reshape(-1)
    elif len(gold_shape) > 1:
        refuse_labels(shape, gold_shape)
    return ids, scores, gold


def refuse_labels(shape: tuple[int, ...], gold_shape: tuple[int, ...]) -> None:
    raise ValueError(
        f"gold has the shape {gold_shape}, logits {shape}: several labels per example (multi-label, or soft labels) have no gold "
        "probability. One-hot labels: pass gold.argmax(1). Multi-label: portolan.per_label(ids, logits, gold) makes each label of "
        "each example a binary example of its own"
    )


def without_ignored(ids: Any, scores: Any, gold: Any) -> tuple[Any, Any, Any]:
    """The rows that have a label, with gold as integers. For arrays in this machine's memory."""
    if shape_of(gold) is None:
        if not isinstance(ids, TokenIds):
            _check_of_one(scores, [label > 1 for label in gold], gold)
        if isinstance(ids, TokenIds) or not any(label == IGNORED for label in gold):
            return resolve(ids, gold), scores, gold
        keep = [row for row, label in enumerate(gold) if label != IGNORED]
        return _pick(ids, keep), _pick(scores, keep), _pick(gold, keep)
    gold = as_integers(gold)
    _check_of_one(scores, gold > 1, gold)
    ids = resolve(ids, gold)
    keep = gold != IGNORED
    if bool(keep.all()):
        return ids, scores, gold
    rows = [row for row, kept in enumerate(keep.tolist()) if kept]
    return _pick(ids, rows), scores[keep] if shape_of(scores) else _pick(scores, rows), gold[keep]


def _check_of_one(scores: Any, is_beyond: Any, gold: Any) -> None:
    """ValueError if there is one score for each row, the logit of class 1 or its probability, and a label beyond 1. `is_beyond`: which are."""
    shape = shape_of(scores)
    if not shape or shape[1:] not in ((), (1,)):
        return
    if is_beyond.any() if hasattr(is_beyond, "any") else any(is_beyond):
        row = list(is_beyond).index(True)
        raise ValueError(
            f"gold: row {row} has {gold[row]}, and of one output the classes are 0 and 1. Are these the targets of a regression? Say task=\"regression\""
        )


def resolve(ids: Any, gold: Any) -> Any:
    return ids.resolve(gold.tolist() if hasattr(gold, "tolist") else gold) if isinstance(ids, TokenIds) else ids


def as_integers(gold: Any) -> Any:
    """Labels that came as floats (targets of a binary loss), as integers."""
    if "float" not in str(getattr(gold, "dtype", "")):
        return gold
    whole = gold.round()
    if not bool((whole == gold).all()):
        raise ValueError(
            "gold has values that are no whole numbers: soft labels have no gold probability; pass the class numbers "
            "(for binary labels smoothed by the loss, those before smoothing). If they are the targets of a regression, say task=\"regression\""
        )
    return whole.astype("int64") if hasattr(whole, "astype") else whole.long()


def is_ragged(scores: Any) -> bool:
    """A list of rows of different lengths."""
    if not isinstance(scores, (list, tuple)) or not scores:
        return False
    lengths = {len(row) if hasattr(row, "__len__") and shape_of(row) != () else -1 for row in scores}
    return len(lengths) > 1 and -1 not in lengths


def pad_choices(rows: Sequence[Any]) -> list[list[float]]:
    """Scores of multiple-choice examples with different numbers of options, as one table: -inf where there is no option."""
    plain = [row.tolist() if hasattr(row, "tolist") else list(row) for row in rows]
    width = max(map(len, plain), default=0)
    return [row + [-math.inf] * (width - len(row)) for row in plain]


def plain_ids(ids: Any) -> list[Any]:
    return ids.tolist() if hasattr(ids, "tolist") else list(ids)


def shape_of(values: Any) -> tuple[int, ...] | None:
    shape = getattr(values, "shape", None)
    return None if shape is None else tuple(shape)


def _pick(values: Any, rows: list[int]) -> Any:
    if shape_of(values):
        return values[rows]
    return [values[row] for row in rows]
