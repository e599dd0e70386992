"""Finds examples in a dataset: from ids to the positions that ``torch.utils.data.Subset`` and similar classes take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from portolan._reading import _words


def positions(wanted: Sequence[Any], dataset: Any, ids: Any) -> list[int]:
    """The position in `dataset` of each id of `wanted`. `ids` says which ids the dataset's examples have; see Selection.indices()."""
    known = _ids_of(dataset, ids)
    if known is None:
        _refuse_texts(wanted)
        return _within(wanted, dataset)
    check_kind(wanted, known)
    place = dict(zip(known, range(len(known))))
    missing = [one for one in wanted if one not in place]
    if missing:
        raise ValueError(
            f"{len(missing):,} of the {len(wanted):,} selected ids {'is' if len(missing) == 1 else 'are'} not among the dataset's {len(known):,}, "
            f"{missing[0]!r} the first: is it the dataset that was recorded, and are these its ids?"
        )
    _refuse_doubles(wanted, known, place)
    return [place[one] for one in wanted]


def check_kind(wanted: Sequence[Any], known: Sequence[Any]) -> None:
    """ValueError if one of the two has integers as ids, and the other texts: they can have no id in common."""
    if len(wanted) and len(known) and isinstance(wanted[0], str) != isinstance(known[0], str):
        kinds = {True: "texts", False: "integers"}
        raise ValueError(
            f"the run's ids are {kinds[isinstance(wanted[0], str)]}, as {wanted[0]!r}, and those given are {kinds[isinstance(known[0], str)]}, "
            f"as {known[0]!r}: give them as they were logged"
        )


def _ids_of(dataset: Any, ids: Any) -> list[Any] | None:
    """The ids by position; None: an example's id is its position."""
    if isinstance(ids, str):
        return _column(dataset, ids)
    if ids is not None:
        known = _words.id_list(ids)
        if dataset is not None and len(known) != len(dataset):
            raise ValueError(f"there are {len(known):,} ids for {len(dataset):,} examples: one for each is needed, in the dataset's order")
        return known
    return _own_ids(dataset)


def _own_ids(dataset: Any) -> list[Any] | None:
    """The ids that a portolan.torch.WithIds gives. For a torch Subset: the ids of its examples in the whole dataset. None: the dataset has none."""
    if callable(getattr(dataset, "id_of", None)):
        named = dataset.ids_from
        return _column(dataset.dataset, named) if isinstance(named, str) else [_plain(dataset.id_of(i)) for i in range(len(dataset))]
    if hasattr(dataset, "dataset") and hasattr(dataset, "indices"):
        whole = _own_ids(dataset.dataset)
        return [int(i) if whole is None else whole[i] for i in dataset.indices]
    return None


def _column(dataset: Any, name: str) -> list[Any]:
    names = getattr(dataset, "column_names", None) or getattr(dataset, "columns", None)
    if names is None and isinstance(dataset, Mapping):
        names = list(dataset)
    if names is None:  # examples that are dicts
        try:
            return [_plain(dataset[i][name]) for i in range(len(dataset))]
        except (KeyError, TypeError, IndexError):
            raise ValueError(f"ids={name!r}: the dataset's examples have no entry of this name; or give the ids themselves, ids=[...]") from None
    if name not in list(names):
        raise ValueError(f"ids={name!r}: the dataset has no such column; it has {', '.join(map(str, names))}")
    return _words.id_list(dataset[name])


def _plain(one: Any) -> Any:
    return one.item() if callable(getattr(one, "item", None)) else one


def _refuse_texts(wanted: Sequence[Any]) -> None:
    if len(wanted) and isinstance(wanted[0], str):
        raise ValueError(
            f"the run's ids are texts, as {wanted[0]!r}, and of this dataset's examples only the positions are known: say which ids they have, "
            "ids=[...], one for each, or ids='COLUMN'"
        )


def _within(wanted: Sequence[int], dataset: Any) -> list[int]:
    size = None if dataset is None else len(dataset)
    outside = [one for one in wanted if size is not None and one >= size]
    if outside:
        raise ValueError(
            f"{len(outside):,} of the {len(wanted):,} selected ids {'is' if len(outside) == 1 else 'are'} no position in a dataset of {size:,} examples, "
            f"{outside[0]} the first: say which ids its examples have, ids=[...], one for each, or ids='COLUMN'"
        )
    return list(wanted)


def _refuse_doubles(wanted: Sequence[Any], known: Sequence[Any], place: Mapping[Any, int]) -> None:
    if len(place) == len(known):
        return
    chosen, seen = set(wanted), set()
    for one in known:
        if one in seen and one in chosen:
            raise ValueError(f"id {one!r} stands more than once in the dataset: which of the examples was recorded is not known")
        seen.add(one)
