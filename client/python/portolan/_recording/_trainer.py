"""The examples that the Trainer's hooks pass over, in the form that its collator takes, with their ids.

A trainer may prepare its data set, as TRL's SFTTrainer does: it tokenizes, and the prepared data set has neither the columns nor the ids of
the original. Its examples are those of the original at the same places. If it has dropped or shuffled some, it has a table of the places.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.utils.data import Dataset

from portolan._recording import _hooks

IDS = "portolan_ids"


def share(dataset: Any, id_column: str | None, args: Any, prepared: Any, signature: set[str]) -> Share:
    """The examples that this process passes over.

    Args:
        dataset: the one that the hook was given.
        args: the Trainer's.
        prepared: the data set of the Trainer's data loader; None: not known.
        signature: the columns that the model takes.
    """
    columns = getattr(prepared, "column_names", None)
    keep = set(columns) if columns else signature if args.remove_unused_columns else None
    ids: str | Sequence[Any] | None = id_column
    has = _columns_of(dataset)
    if columns and has and not has & set(columns):
        places, given = _places(dataset, args, prepared, has), _ids_of(dataset, id_column)
        ids = [given[place] for place in places]
        dataset = prepared
    return Share(dataset, ids, keep, args.process_index, args.world_size)


def warn_of_others(dataset: Any, args: Any, trained: Any) -> None:
    """Says if the pass observes more examples than the trainer trains on. `args`: the Trainer's; `trained`: the data set of its data loader. Rows
    that are packed are fewer than their examples; a stream has no length, or a __len__ that says so."""
    count = operator.length_hint(trained, len(dataset))
    if count < len(dataset) and not getattr(args, "packing", False):
        _hooks.warn(
            f"PortolanCallback was given {len(dataset):,} examples, and the trainer trains on {count:,}: the others are recorded too, though no "
            "step trains on them. If that is not meant, give the callback the data set that the trainer has"
        )


def _columns_of(dataset: Any) -> set[str]:
    columns = getattr(dataset, "column_names", None)
    if columns is not None:
        return set(columns)
    first = dataset[0] if len(dataset) > 0 else None
    return set(first) if isinstance(first, Mapping) else set()


def check_packing(hook: str, args: Any) -> None:
    """ValueError if TRL packs: its rows keep only the tokens, labels and lengths of the examples, in another order."""
    if getattr(args, "packing", False):
        raise ValueError(
            f"{hook}: packing=True puts examples into rows, in an order of its own, and drops their ids. Give both the trainer that packs and "
            "PortolanCallback what a trainer with packing=False has made of them, prepared = trainer.train_dataset, which has the ids; or "
            "padding_free=True, which packs what is in a batch, and keeps them"
        )


def _places(dataset: Any, args: Any, prepared: Any, has: set[str]) -> Sequence[int]:
    """The place in `dataset` of each example of `prepared`. A data set that was filtered or shuffled has a table of these places."""
    count = len(dataset)
    check_packing("PortolanCallback", args)
    if not hasattr(prepared, "__len__"):
        why = "takes them from a stream: use PortolanMixin"
    elif getattr(prepared, "_indices", None) is not None and len(prepared._data) == count:
        return prepared._indices.column(0).to_pylist()  # type: ignore[no-any-return]
    elif len(prepared) == count:
        return range(count)
    else:
        why = f"has made {len(prepared)} of them: which, is not known"
    raise ValueError(
        f"PortolanCallback was given {count} examples with {', '.join(sorted(has))}, and the trainer {why}. Or give the callback what the trainer has "
        'made of them, if the ids are still there: trainer.add_callback(PortolanCallback(trainer.train_dataset, "id"))'
    )


def _ids_of(dataset: Any, id_column: str | None) -> Sequence[Any]:
    if id_column is None:
        return range(len(dataset))
    return list(dataset[id_column]) if hasattr(dataset, "column_names") else [one[id_column] for one in dataset]


class Share(Dataset):  # type: ignore[type-arg]
    """(id, example) for every world-th example; as many for each process, some seen twice, so that all do the same number of steps.
    `ids`: one for each example, from the column that holds them; None: the positions."""

    def __init__(self, dataset: Any, ids: str | Sequence[Any] | None, keep: set[str] | None, process: int, world: int) -> None:
        self.dataset, self.ids, self.keep = dataset, ids, keep
        self.process, self.world = process, world

    def __len__(self) -> int:
        return (len(self.dataset) + self.world - 1) // self.world

    def __getitem__(self, index: int) -> tuple[Any, dict[str, Any]]:
        at = (index * self.world + self.process) % len(self.dataset)
        example = dict(self.dataset[at])
        if isinstance(self.ids, str):
            if self.ids not in example:
                raise KeyError(f"example {at} has no entry {self.ids!r}; it has {', '.join(map(str, example))}")
            one = example.pop(self.ids)
        else:
            one = at if self.ids is None else self.ids[at]
        return one, {name: value for name, value in example.items() if self.keep is None or name in self.keep}


class Collator:
    """Collates without the ids, which the Trainer's collator could not pad. With `merge` the ids become an entry of the batch, which is
    then a plain dict, since a BatchEncoding loses text on its way to the device."""

    def __init__(self, collator: Callable[[Any], Any], merge: bool = False) -> None:
        self.collator, self.merge = collator, merge

    def __call__(self, examples: list[Any]) -> Any:
        if self.merge:
            ids, batch = self.collator(examples)
        else:
            ids, batch = [one for one, _ in examples], self.collator([example for _, example in examples])
        ids = [one.item() if hasattr(one, "item") else one for one in ids]
        if ids and not isinstance(ids[0], str):
            ids = torch.tensor(ids)
        return {**batch, IDS: ids} if self.merge else (ids, dict(batch))
