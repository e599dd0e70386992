"""Checks ids before training, if the data set is at hand: each example must have one of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from portolan._recording import _arrays


def check_unique(who: str, ids: Any) -> None:
    """ValueError with the first two rows that share an id."""
    values = _arrays.listed(ids.tolist() if hasattr(ids, "tolist") else _arrays.identifiers(ids))
    first, row = _first_two(values)
    if row:
        raise ValueError(
            f"{who}: rows {first} and {row} have the same id, {values[row]!r}; of the {len(values):,} ids {len(set(values)):,} differ. Each "
            "example needs an id of its own: of examples that share one, only the observation logged last is kept"
        )


def check_positions(who: str, positions: list[int]) -> None:
    """The same check for a subset, whose ids are the positions in the whole."""
    first, row = _first_two(positions)
    if row:
        raise ValueError(
            f"{who}: rows {first} and {row} of the Subset are the same example, {positions[row]} of its dataset; of {len(positions):,} rows "
            f"{len(set(positions)):,} differ. An example is observed once per epoch: to train on some more often, take the dataset as it is and "
            "a sampler (WeightedRandomSampler), and observe with a loader that goes through it once"
        )


def _first_two(values: list[Any]) -> tuple[int, int]:
    """The first two rows that share a value; (0, 0) if there are none."""
    if len(set(values)) == len(values):
        return 0, 0
    seen: dict[Any, int] = {}
    return next((seen[one], row) for row, one in enumerate(values) if seen.setdefault(one, row) != row)


def check_column(who: str, dataset: Any, name: str) -> None:
    """The same check for the column of a datasets.Dataset or of a list of dicts, which can be read without the examples."""
    if name in (getattr(dataset, "column_names", None) or ()) and hasattr(dataset, "__len__"):
        check_unique(who, list(dataset[name]))
    elif isinstance(dataset, (list, tuple)) and all(isinstance(one, Mapping) and name in one for one in dataset):
        check_unique(who, [one[name] for one in dataset])


class PopIds:
    """(ids, batch) of a list of examples that carry their ids."""

    def __init__(self, collator: Callable[[Any], Any], id_column: str) -> None:
        self.collator, self.id_column = collator, id_column

    def __call__(self, examples: list[Any]) -> tuple[list[Any], Any]:
        for example in examples:
            if not isinstance(example, Mapping) or self.id_column not in example:
                has = ", ".join(map(str, example)) if isinstance(example, Mapping) else type(example).__name__
                raise KeyError(f"an example has no entry {self.id_column!r}; it has {has}")
        ids = [example[self.id_column] for example in examples]
        return ids, self.collator([_without(example, self.id_column) for example in examples])


class DropIds:
    """The batch of a list of examples, without their ids. Examples that have none are collated as they are."""

    def __init__(self, collator: Callable[[Any], Any], id_column: str) -> None:
        self.collator, self.id_column = collator, id_column

    def __call__(self, examples: list[Any]) -> Any:
        return self.collator([_without(example, self.id_column) for example in examples])


def _without(example: Any, name: str) -> Any:
    return {key: value for key, value in example.items() if key != name} if isinstance(example, Mapping) and name in example else example
