"""A run in a few numbers, and on one page: the function report()."""

from __future__ import annotations

import functools
import html
import itertools
import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portolan import _programs
from portolan._reading import _measures, _output, _picture, _words
from portolan._recording import _options
from portolan._recording._run import Run

if TYPE_CHECKING:
    from portolan._reading._measures import Epochs

_numbers = itertools.count(1)

REGIONS = ("easy-to-learn", "ambiguous", "hard-to-learn")


class Report(dict[str, Any]):
    """A run in a few numbers, as a plain dict that trackers take. A notebook shows it as the page of ``portolan report``, and ``save()`` writes
    that page. Made by ``portolan.report()``."""

    def __init__(self, numbers: dict[str, Any], words: _words.Words, runs: list[str]) -> None:
        super().__init__(numbers)
        self._words, self._runs = words, runs

    def save(self, path: str | os.PathLike[str]) -> str:
        """Write the page to a file, and return its path: what to do next and why, from the observations recorded until then. The ending decides
        the format: .html, one file that needs no network; .md, with the map beside it; .json; .txt.

        Example: ``portolan.report("words").save("report.html")``"""
        path = os.fsdecode(_options.path("path", path, "a file"))
        _programs.analyze("report", *self._words, "-o", os.path.abspath(path), "--", *self._runs, notes=False)
        return path

    def _repr_html_(self) -> str:
        with tempfile.TemporaryDirectory(prefix="portolan-report-") as folder:
            page = Path(self.save(os.path.join(folder, "report.html"))).read_text(encoding="utf-8")
        # A frame of its own: the page's style is not the notebook's. It runs no script, and the sandbox lets none run.
        frame = 'sandbox style="width: 100%; height: 720px; border: 0"'
        return f'<iframe title="{html.escape(self["run"])}" {frame} srcdoc="{html.escape(page)}"></iframe>'


class _Empty(Report):
    """That of a run which $PORTOLAN_DISABLED has switched off."""

    def save(self, path: str | os.PathLike[str]) -> str:
        """Writes nothing."""
        return os.fsdecode(path)

    def _repr_html_(self) -> str:
        return f"<p>run {html.escape(self['run'])} is not recorded: PORTOLAN_DISABLED is set</p>"


def report(
    run: str | Run,
    store: str | os.PathLike[str] | None = None,
    epochs: Epochs | None = None,
    map: str | os.PathLike[str] | bool | None = True,
    *,
    with_: str | Run | Sequence[str | Run] | None = None,
    data: str | os.PathLike[str] | None = None,
    id_field: str | None = None,
    text: str | Sequence[str] | None = None,
    label_field: str | None = None,
    flips: str | os.PathLike[str] | None = None,
    glue: bool = False,
    loss_threshold: float | None = None,
) -> Report:
    """A summary of a run so far, as a plain dict of numbers, and its data map as a picture. Shown in a notebook, and saved, it is the page of
    ``portolan report``: what to do next, and why.

    Args:
        run: an open Run, or the name of a run. An open run is flushed first.
        store: the store's directory. Default: the open run's; else ``$PORTOLAN_STORE``, then ``./portolan-store``.
        epochs: which epochs to show, and to take the regions from; see measures(). ``"2:"`` leaves out a burn-in.
        map: a path ending in .png, .svg or .pdf; True: a PNG in a folder that is removed when the process ends; False: none.
        with_: further runs, for the page: do they agree?
        data, id_field, text, label_field, glue: for the page: the file that the model was trained on; the fields of it that hold the ids, the
            texts and the label; and how it is read: see ``portolan help report``. Default: the texts that the run keeps; ``data="@none"``
            leaves them out. flips: the labels that were flipped on purpose.
        loss_threshold: for the page, of a run of losses; see measures().

    Returns:
        ``run``, ``state`` ("recording", "closed"), ``examples``, ``observations``;
        ``forgettable``: the share of the examples with a forgetting event, or never learned (Yaghoobzadeh et al. 2021, 3.1);
        ``epochs``: a list with, for each epoch, ``epoch``, ``observed`` (examples), ``accuracy``, ``confidence`` (mean p(gold)), the
        shares of the observed that were ``forgotten`` (correct when last observed before, incorrect now) and ``learned`` (correct
        for the first time), and the shares of the regions as the map up to this epoch has them: ``easy-to-learn``,
        ``ambiguous``, ``hard-to-learn``; of a run of losses ``epoch``, ``observed``, ``mean_loss``, and no ``forgettable``;
        ``map``: the picture's path, or None. Of an open run that $PORTOLAN_DISABLED has switched off: the state "disabled", no epochs, no map, and
        a ``save()`` that writes nothing.

    A call reads only what is new since this process's last call. It needs NumPy, and for the map gnuplot or matplotlib.

    Example::

        r = portolan.report(run)
        print(r["epochs"][-1]["accuracy"], r["map"])
        r.save("report.html")
    """
    if isinstance(run, Run) and run.is_disabled:
        nothing = {"run": run.name, "state": "disabled", "examples": 0, "observations": 0, "epochs": [], "map": None, "forgettable": None}
        return _Empty(nothing, _words.Words(), [])
    name, folder = _measures.locate(run, store)
    others = [with_] if isinstance(with_, (str, Run)) else with_ or ()
    words = _words.Words()
    words += ["--store", os.path.abspath(folder), *_measures.epoch_words(epochs)]
    words.add_data("data", data, may_be_none=True)
    words.add("id-field", id_field)
    words.add("text", text if text is None or isinstance(text, str) else ",".join(text))
    words.add("label-field", label_field)
    words.add_path("flips", flips)
    words.add("glue", bool(glue))
    words.add("loss-threshold", loss_threshold)
    look = json.loads(_programs.analyze("watch", "--once", "--json", "--store", folder, "--", name))
    first, last = _bounds(epochs)
    shown = [epoch for epoch in look.get("epochs", []) if first <= epoch["epoch"] < last]
    forgetting = look.get("forgetting")  # None: a run of losses, in which nothing is right or wrong
    examples = look.get("examples", 0)
    out = {
        "run": name,
        "state": look["state"],
        "examples": examples,
        "observations": look.get("observations", 0),
        "epochs": [],
        "map": None,
    }
    if forgetting or not examples:
        out["forgettable"] = (forgetting["examples"] + forgetting["not_learned"]) / examples if forgetting and examples else None
    content: tuple[Any, ...] = ()
    for epoch in shown:
        content += (tuple(epoch.values()),)
        if not forgetting:
            out["epochs"].append(epoch)
            continue
        out["epochs"].append(_summary(epoch) | _region_shares(name, folder, f"{first}:{epoch['epoch'] + 1}", content))
    if shown and map is not None and map is not False:
        out["map"] = _draw(name, folder, f"{first}:{shown[-1]['epoch'] + 1}", map)
    return Report(out, words, [name, *(_measures.locate(other, folder)[0] for other in others)])


def _bounds(epochs: Epochs | None) -> tuple[int, float]:
    if epochs is None:
        return 0, float("inf")
    first, colon, last = _measures.epoch_range(epochs).partition(":")
    if not colon or not all(bound == "" or bound.isdecimal() for bound in (first, last)):
        raise ValueError(f"epochs must be 'A:B', not {epochs!r}")
    return int(first or 0), int(last) if last else float("inf")


def _summary(epoch: dict[str, Any]) -> dict[str, Any]:
    observed = max(1, epoch["observed"])
    shares = {name: epoch[name] / observed for name in ("forgotten", "learned")}
    return {name: epoch[name] for name in ("epoch", "observed", "accuracy", "confidence")} | shares


@functools.lru_cache(maxsize=4096)
def _region_shares(name: str, folder: str, epochs: str, content: tuple[Any, ...]) -> dict[str, float]:
    """The share of examples in each region, as analyzer/regions/regions.h defines the regions. `content` describes the epochs' contents: it is
    part of the cache's key, so a run that was overwritten does not get the shares of the old one."""
    import numpy as np

    words = ("metrics", "--format", "npy", "--store", folder, "--epochs", epochs, "--", name)
    m = _output.table(*words, reader="portolan.report()", warn=False)
    variability, confidence = m["variability"], m["confidence"]
    third = len(m) // 3
    cut = np.partition(variability, len(m) - third)[len(m) - third] if third else np.inf
    ambiguous = (variability >= cut) & (variability > 0)  # where nothing varies, nothing is ambiguous
    easy = ~ambiguous & (confidence >= 0.5)
    counts = (easy.sum(), ambiguous.sum(), (~ambiguous & ~easy).sum())
    return {region: float(count / len(m)) for region, count in zip(REGIONS, counts)}


def _draw(name: str, folder: str, epochs: str, target: str | os.PathLike[str] | bool) -> str:
    path = os.path.join(_pictures().name, f"map-{next(_numbers)}.png") if isinstance(target, bool) else os.fspath(target)
    _picture.draw(path, "--store", folder, "--epochs", epochs, "--", name, warn=False)
    return path


class _Folder:
    """A temporary folder. The process that made it removes it when it ends; a forked child leaves it."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="portolan-maps-")
        self._remove = weakref.finalize(self, _remove_of, os.getpid(), self.name)


def _remove_of(process: int, folder: str) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def _pictures() -> _Folder:
    return _Folder()
