"""Ids where the data set is at hand: each example has one of its own, which is looked at before training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from portolan._recording import _arrays


def check_unique(who: str, ids: Any) -> None:
    """ValueError with the first two rows that share an id."""
    values = _arrays.listed(ids.tolist() if hasattr(ids, "tolist") else _arrays.identifiers(ids))
    if len(set(values)) == len(values):
        return
    seen: dict[Any, int] = {}
    for row, one in enumerate(values):
        first = seen.setdefault(one, row)
        if first != row:
            raise ValueError(
                f"{who}: rows {first} and {row} have the same id, {one!r}; of the {len(values):,} ids {len(set(values)):,} differ. Each example "
                "needs an id of its own: of examples that share one, only the observation logged last is kept"
            )


def check_column(who: str, dataset: Any, name: str) -> None:
    """The same of a dataset's column, where it can be had without the examples: of a datasets.Dataset, or a list of dicts."""
    if name in (getattr(dataset, "column_names", None) or ()) and hasattr(dataset, "__len__"):
        check_unique(who, list(dataset[name]))
    elif isinstance(dataset, (list, tuple)) and all(isinstance(one, Mapping) and name in one for one in dataset):
        check_unique(who, [one[name] for one in dataset])
