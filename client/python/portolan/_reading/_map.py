"""The data map from Python: the function map()."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portolan._reading import _measures, _picture, _words
from portolan._recording import _options
from portolan._recording._run import Run

if TYPE_CHECKING:
    from portolan._reading._measures import Epochs

_FORMATS = {"png": 0, "svg": 1}


class Map:
    """A run's data map. A notebook shows it when it is the last line of a cell; ``save()`` writes it. Made by ``portolan.map()``.

    It is drawn when it is shown or saved, from the observations recorded until then; a picture that was shown does not
    change."""

    def __init__(self, run: str, words: _words.Words, page_words: _words.Words, format: str) -> None:
        self._run, self._words, self._page_words, self._format = run, words, page_words, format
        self._shown: bytes | None = None

    def save(self, path: str | os.PathLike[str]) -> str:
        """Write the map to a file, and return its path. The ending decides the format: .png, .svg or .pdf; .gif, an animation with the map
        after each epoch; .html, the page of ``portolan serve`` with its data inside, which opens without a server. Without gnuplot,
        matplotlib draws .png, .svg and .pdf; .html needs neither.

        Example: ``portolan.map("words").save("words.html")``"""
        path = os.fsdecode(_options.path("path", path, "a file"))
        words = [*self._words, *(self._page_words if path.lower().endswith(".html") else ())]
        _picture.draw(os.path.abspath(path), *words, "--", self._run)
        return path

    def _repr_png_(self) -> bytes | None:
        return self._picture() if self._format == "png" else None

    def _repr_svg_(self) -> str | None:
        return self._picture().decode() if self._format == "svg" else None

    def _picture(self) -> bytes:
        if self._shown is None:
            with tempfile.TemporaryDirectory(prefix="portolan-map-") as folder:
                self._shown = Path(self.save(os.path.join(folder, f"map.{self._format}"))).read_bytes()
        return self._shown

    def __repr__(self) -> str:
        return f'<portolan.Map of {self._run!r}: .save("map.png"), .svg, .pdf, .gif or .html writes it>'


def map(
    run: str | Run,
    store: str | os.PathLike[str] | None = None,
    epochs: Epochs | None = None,
    *,
    window: int | None = None,
    loss_threshold: float | None = None,
    never: str | None = None,
    minus: str | Run | None = None,
    minus_epochs: Epochs | None = None,
    format: str = "png",
    x: str | None = None,
    y: str | None = None,
    colour: str | None = None,
    color: str | None = None,
    colour_file: str | os.PathLike[str] | None = None,
    id_field: str | None = None,
    data: str | os.PathLike[str] | None = None,
    text: str | Sequence[str] | None = None,
    glue: bool = False,
    density: bool = False,
    beside: str | Run | None = None,
    shift: str | Run | None = None,
    path: Sequence[Any] | None = None,
    facet: bool = False,
    highlight: str | os.PathLike[str] | None = None,
    corrections: str | os.PathLike[str] | None = None,
    compact: bool = False,
    regions: str | None = None,
    width: str | None = None,
    font: str | None = None,
    sample: int | None = None,
    seed: int | None = None,
    title: str | None = None,
) -> Map:
    """The data map of a run, also of one in progress: variability to the right, confidence upwards, coloured by correctness (Swayamdipta et
    al. 2020).

    Args:
        run: the run; or an open Run: its observations are flushed first.
        store: the store's directory. Default: the open run's; else ``$PORTOLAN_STORE``, then ``./portolan-store``.
        epochs, window: which epochs, and how many of them a window has; see measures(). ``"auto"`` leaves the burn-in out. Default: all; 10.
        loss_threshold: of a run of losses; never: what ``x="first_learned"`` is where that never came true; see measures().
        minus, minus_epochs: another run: every measure is less that of the other run; see measures(). Then there are no regions.
        format: the format in a notebook, ``"png"`` or ``"svg"``; for save() the file's ending decides.
        x, y, colour (or color): other measures; colour also ``"gold"``, the run's labels, or a column of `data`.
        data, id_field, text: the file that the model was trained on, the field of its ids, and the fields that
            ``save("FILE.html")`` shows as text; ``data="@texts"``: the texts that the run keeps (run.log_examples()). colour_file: the same as
            data, for pictures alone.
        glue: read `data`, and `colour_file`, as ``--glue`` does: a file of SNLI, MNLI or QNLI, for logs made by the code of Swayamdipta et al. 2020.
        facet: a map for each category that `colour` names.
        highlight: a file of ids. Their examples are drawn in colour, above all others, which become grey.
        corrections: a file that ``portolan suspects --corrections`` wrote and you edited. What it changes and drops is drawn above all
            others, which become grey; with colour="gold", the labels are the corrected ones.
        density: a heat map of all examples instead of points.
        beside: a second run, drawn beside the first. shift: a second run; the map shows its density minus that of the first.
        path: ids of examples. A line shows how each moves from epoch to epoch.
        compact: without the histograms.
        regions: where lines divide the regions, ``"0.3,0.5"``: a variability and a confidence; ``"auto"``; or ``"none"``.
        width: on paper, ``"3.3in"``, ``"84mm"``. font: ``"Times New Roman"``, or with its size, ``"Times New Roman,9"``.
        sample: draw at most this many points, chosen at random by `seed`.
        title: default: the run's name.

    Returns:
        Map: shown in a notebook; ``save("map.png")``. gnuplot draws it (Debian: gnuplot-nox; conda-forge: gnuplot); without gnuplot
        matplotlib does, except .gif; .html needs neither.

    Example::

        portolan.map("words", epochs="auto")                     # the last line of a cell
        portolan.map("words").save("words.svg")
    """
    _options.choice("format", format, _FORMATS)
    name, folder = _measures.locate(run, store)
    words, page_words = _words.Words(), _words.Words()
    words += ["--store", folder, *_measures.epoch_words(epochs)]
    for option, value in (("window", window), ("loss-threshold", loss_threshold), ("never", never), *_measures.minus_options(minus, minus_epochs).items(),
                          ("x", x), ("y", y), ("colour", colour), ("color", color), ("sample", sample), ("seed", seed),
                          ("title", title), ("regions", regions), ("width", width), ("font", font)):
        words.add(option, value)
    words.add_data("colour-file", colour_file)
    words.add_path("highlight", highlight)
    words.add_path("corrections", corrections)
    drawn = data is not None and (colour is not None or color is not None)
    (words if drawn else page_words).add_data("data", data)
    (words if drawn or colour_file is not None or highlight is not None else page_words).add("id-field", id_field)
    (words if drawn or colour_file is not None else page_words).add("glue", _options.flag("glue", glue))
    for field in [text] if isinstance(text, str) else text or ():
        page_words.add("text", field)
    words.add("density", _options.flag("density", density))
    words.add("facet", _options.flag("facet", facet))
    words.add("compact", _options.flag("compact", compact))
    words.add_run("beside", beside)
    words.add_run("shift", shift)
    if path is not None:
        words.add("path", ",".join(str(one).replace("\\", "\\\\").replace(",", "\\,") for one in _words.id_list(path)))
    return Map(name, words, page_words, format)
