"""Selecting a subset, and finding it in the dataset: the function select()."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from portolan import _packages, _programs
from portolan._reading import _measures, _output, _positions, _words
from portolan._reading._table import Table
from portolan._recording import _options
from portolan._recording._run import Run

if TYPE_CHECKING:
    import numpy as np

    from portolan._reading._measures import Epochs


class Selection(Table):
    """Examples of a run in the order of a rule, with their measures. Made by ``portolan.select()``.

    ``why``: with ``why=True``, what the selection is made of beside the whole run, as a list of dicts: ``of`` ("examples", "suspects",
    "region", "class"), ``name``, and ``observed``, ``chosen`` and their shares; else None."""

    _unit = "example"
    why: list[dict[str, Any]] | None = None

    def ids(self) -> list[int] | list[str]:
        """The ids in rank order, as a list."""
        return self._rows["id"].tolist()

    def indices(self, dataset: Any = None, *, ids: Any = None) -> list[int]:
        """The positions of the selected examples in a dataset, in rank order. ``torch.utils.data.Subset``, Hugging Face's
        ``Dataset.select`` and arrays take them.

        Args:
            dataset: the dataset that the model was trained on. A ``portolan.torch.WithIds`` gives the ids itself, also inside a
                ``torch.utils.data.Subset``; otherwise an example's id is its position (in the whole of a Subset), unless `ids` is
                given.
            ids: one id for each example, in the dataset's order; or the name of the dataset's column (entry) that holds the ids.

        Raises:
            ValueError: a selected id is not in the dataset, or stands there twice, or the dataset's ids are unknown. The message names the
                first such id.

        Example::

            hard = portolan.select("snli/seed1", by="hard-to-learn", count=100)
            torch.utils.data.Subset(train_set, hard.indices(train_set))
            train.select(hard.indices(train, ids="guid"))             # Hugging Face
        """
        return _positions.positions(self.ids(), dataset, ids)

    def mask(self, ids: Any) -> np.ndarray[Any, Any]:
        """Which of `ids`, (n,), are selected, as a NumPy array of n booleans.

        Raises:
            ValueError: the run has integers as ids and these are texts, or the reverse; or none of `ids` was selected.

        Example: ``X[portolan.select("words", by="ambiguous", fraction=0.33).mask(ids)]``"""
        import numpy

        known, chosen = _words.id_list(ids), self.ids()
        _positions.check_kind(chosen, known)
        among = set(chosen)
        mask = numpy.fromiter((one in among for one in known), bool, len(known))
        if chosen and len(known) and not mask.any():
            raise ValueError(f"none of the {len(chosen):,} selected ids is among the {len(known):,} given: are they those that were logged?")
        return mask


def select(
    run: str | Run,
    by: str | None = None,
    fraction: float | None = None,
    count: int | str | None = None,
    *,
    store: str | os.PathLike[str] | None = None,
    epochs: Epochs | None = None,
    window: int | None = None,
    loss_threshold: float | None = None,
    never: str | None = None,
    minus: str | Run | None = None,
    minus_epochs: Epochs | None = None,
    threshold: float | None = None,
    sizes: str | None = None,
    offset: float | None = None,
    both_ends: float | None = None,
    per_class: bool = False,
    stratified: bool = False,
    mix: Mapping[str, float] | None = None,
    within: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    only: _words.Ids | None = None,
    exclude: _words.Ids | None = None,
    with_: str | Run | Sequence[str | Run] | None = None,
    union: bool = False,
    never_learned: str | None = None,
    strata: int | None = None,
    cut: float | None = None,
    regions: tuple[float, float] | str | None = None,
    c_d: float | None = None,
    clusters: int | None = None,
    starts: int | None = None,
    sources: str | None = None,
    data: str | os.PathLike[str] | None = None,
    id_field: str | None = None,
    features: Any = None,
    feature_ids: _words.Ids | None = None,
    seed: int | None = None,
    corrections: str | os.PathLike[str] | None = None,
    without_suspects: bool = False,
    why: bool = False,
) -> Selection:
    """Choose examples of a run, as ``portolan select`` does. ``portolan help select`` describes every rule and option.

    Args:
        run: the run; or an open Run: its observations are flushed first.
        by: the rule: ``"ambiguous"``, ``"hard-to-learn"``, ``"easy-to-learn"``, ``"forgettable"``, ``"random"``, ``"variability:desc"``, ... any
            measure with asc or desc, ``"region:ambiguous"``, ... ``"group:easy"``, ... or a baseline.
        fraction, count, threshold: the size; give one of them, or none: then all examples that the rule ranks are selected. fraction is a share
            of the candidates, above 0, up to 1. count is a number of examples; with per_class, ``"smallest"`` takes as many of each class as
            the smallest class has. threshold selects all examples whose value is at least this (with asc: at most this).
        sizes: how a fraction becomes a number: ``"rounded"``, or ``"published"``: int(fraction * n) + 1, as in the code published with Swayamdipta
            et al. 2020.
        offset: leave out the first examples of the ranking: a share of the candidates, below 1, or a number of examples.
        store: the store's directory. Default: the open run's; else ``$PORTOLAN_STORE``, then ``./portolan-store``.
        epochs, window: which epochs, and how many of them a window has; see measures(). Default: all; 10.
        loss_threshold: of a run of losses; see measures(). never, minus, minus_epochs: see measures().
        both_ends: this share of the selection comes from the top of the ranking, the rest from its other end.
        per_class: the size holds for each gold class. stratified: the classes have the same shares of the selection as of the candidates.
        mix: ``{"easy-to-learn": 0.1}``: another rule chooses this share of the selection.
        within: a selection made in the live page: a file, or what ``page.selection()`` returned. `by` may then be left out.
        only, exclude: choose among these ids, or leave them out: ids, a selection, another table with ids, or a file with one id a line.
        with_: further runs (seeds of the same data), taken together with this one. union: choose among the examples that any of the runs
            has, not among those that all have.
        never_learned: how many forgetting events an example counts that the run never learned: ``"flag"``, ``"1000"``, ``"epochs"``,
            ``"infinity"`` or ``"0"``. Default: ``"epochs"`` with `with_` and by ``"forgetting"``, else ``"flag"``.
        strata, cut: cover the measure's range (CCS): the share `cut` at the top of the ranking is left out, the rest is divided into `strata`
            strata, and each gives equally many examples, chosen at random, as far as it has them.
        regions: where ``region:`` rules divide the map: (variability, confidence).
        c_d: the constant of ``"dual-beta"``. clusters: the number of clusters of ``"s2l"``, and starts: how often it
            clusters them, of which the best is kept. sources: for ``"s2l"``, the field of the file `data` that names the source of each
            example, among which the size is shared out first; ``data="@texts"``: the texts that the run keeps (run.log_examples()). id_field:
            the field of its ids, of ``"@texts"`` always ``"id"``.
        features: for ``"k-center"``: a matrix, one row for each example, or a .npy file; feature_ids: the ids of its rows.
        seed: the seed of random choices.
        corrections: a file that ``portolan suspects --corrections`` wrote and you edited: examples marked ``drop`` are left out, and the
            labels (``gold``, classes) are the corrected ones.
        without_suspects: leave out the examples that ``portolan suspects`` would call wrong. With this, or `corrections`, `by` may be left out.
        why: find out what the selection is made of (suspected wrong labels, regions, classes): the attribute ``why``; a warning tells of many
            suspects.

    Returns:
        Selection: a table in rank order with the columns of measures(): ``s["id"]``, ``s.to_pandas()``; and ``s.ids()``,
        ``s.indices(dataset)``, ``s.mask(ids)``. It needs NumPy.

    Raises:
        portolan.Error: the run or an argument is refused; the message is the program's, and names its option.

    Example::

        ambiguous = portolan.select("snli/seed1", by="ambiguous", fraction=0.33, epochs="auto")
        subset = torch.utils.data.Subset(train_set, ambiguous.indices(train_set))
    """
    known_in_progress = isinstance(run, Run) and run.is_open
    name, folder = _measures.locate(run, store)
    words = _words.Words()
    words += ["select", "--with-measures", "--format", "npy", "--store", folder, *_measures.epoch_words(epochs)]
    asked = {
        "by": by,
        "fraction": fraction,
        "count": count,
        "window": window,
        "loss-threshold": loss_threshold,
        "never": never,
        **_measures.minus_options(minus, minus_epochs),
        "threshold": threshold,
        "sizes": sizes,
        "offset": offset,
        "both-ends": both_ends,
        "never-learned": never_learned,
        "strata": strata,
        "cut": cut,
        "c-d": c_d,
        "clusters": clusters,
        "starts": starts,
        "seed": seed,
    }
    for option, value in asked.items():
        words.add(option, value)
    words.add("per-class", _options.flag("per_class", per_class))
    words.add("stratified", _options.flag("stratified", stratified))
    for rule, share in (mix or {}).items():
        words.add("mix", f"{rule}={float(share)!r}")
    words.add_json("within", within)
    words.add_ids("only", only)
    words.add_ids("exclude", exclude, may_be_empty=True)
    for other in [with_] if isinstance(with_, (str, Run)) else with_ or ():
        words.add_run("with", other)
    words.add("union", _options.flag("union", union))
    words.add("sources", sources)
    words.add_data("sources-data", data)
    words.add("id-field", id_field)
    words.add("regions", regions if regions is None or isinstance(regions, str) else ",".join(repr(float(cut)) for cut in regions))
    words.add_matrix("features", features)
    words.add_ids("feature-ids", feature_ids)
    words.add_path("corrections", corrections)
    words.add("without-suspects", _options.flag("without_suspects", without_suspects))
    title = f"selection from {name}{f' by {by}' if by else ''}"
    if _options.flag("why", why):
        return _with_why(title, words, name, warn=not known_in_progress)
    table = _output.table(*words, "--", name, reader="portolan.select()", warn=not known_in_progress, said=words.said)
    return Selection(title, table)


def _with_why(title: str, words: _words.Words, name: str, warn: bool) -> Selection:
    """The selection, from a file, as the program prints what it is made of."""
    numpy = _packages.needed("numpy", "portolan.select()")
    with tempfile.TemporaryDirectory(prefix="portolan-select-") as folder:
        path = os.path.join(folder, "selection.npy")
        printed = _programs.analyze(*words, "-o", path, "--no-manifest", "--why", "--json", "--", name, warn=warn, said=words.said)
        table = numpy.load(path, allow_pickle=True)  # the program's own: NumPy then reads headers of any size
    kind = _output.narrowed(table.dtype)
    selection = Selection(title, table if kind == table.dtype else _output.narrow(table, numpy.empty(len(table), kind)))
    selection.why = json.loads(printed)["selections"][0]["why"]
    return selection
