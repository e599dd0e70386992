"""Draws a map with matplotlib if there is no gnuplot: the same points, axes, colours, shapes and labels, from the script and the data made
for gnuplot. ``portolan`` starts it instead of gnuplot (_picture.py), with the script as the last argument, and reads the picture from its
standard output. Lengths are the script's: units, 96 to an inch, from the bottom left.

No text is parsed for formulas: users' texts are shown as they are."""

from __future__ import annotations

import math
import re
import sys
from typing import Any

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PathCollection
from matplotlib.colors import Colormap, LinearSegmentedColormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.ticker import FixedLocator, FuncFormatter, MultipleLocator
from matplotlib.transforms import IdentityTransform

from portolan._reading._sheet import Sheet

INK, PALE, FRAME, GRID = "#33363d", "#8a8f99", "#c4c8cf", "#e4e6ea"
POINT = 0.75  # a unit, in points
RAMP = [(0, "#efcb7c"), (0.3, "#93c795"), (0.6, "#358f9c"), (1, "#1d2a5f")]
SHIFT = [(0, "#00466e"), (0.25, "#0072b2"), (0.44, "#9cc9e6"), (0.5, "#f7f7f7"), (0.56, "#f4b88e"), (0.75, "#d55e00"), (1, "#7a3600")]
REGIONS = (("easy-to-learn", "#d0452f"), ("ambiguous", "#26262c"), ("hard-to-learn", "#3f55b5"))
PATHS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#000000", "#56b4e9", "#e69f00")
PANELS = ("#5d3a8e", "#3f8785", "#93b48f")
PANEL_LEFT, PANEL_RIGHT, PANEL_GAP = 838, 984, 62
KEY_LEFT, KEY_STEP = 690, 22

# gnuplot's numbers of the shapes, of radius 1; crosses have lines alone.
_PLUS, _CROSS = 1, 2
_SHAPES = {
    _PLUS: Path([(-1, 0), (1, 0), (0, -1), (0, 1)], [Path.MOVETO, Path.LINETO] * 2),
    _CROSS: Path([(-1, -1), (1, 1), (-1, 1), (1, -1)], [Path.MOVETO, Path.LINETO] * 2),
    5: Path([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)], closed=True),
    7: Path.unit_circle(),
    9: Path([(-1, -1), (1, -1), (0, 1), (-1, -1)], closed=True),
    11: Path([(-1, 1), (1, 1), (0, -1), (-1, 1)], closed=True),
    13: Path([(-1, 0), (0, -1), (1, 0), (0, 1), (-1, 0)], closed=True),
}
# The script's sizes are for one terminal of gnuplot's: the radius of its size 1, and how far its diamonds and triangles reach.
_RADIUS = {"svg": (4.65, 1.4)}


class _Painting:
    def __init__(self, sheet: Sheet, data: bytes) -> None:
        self.sheet, self.data = sheet, data
        self.width, self.height = sheet["width"], sheet["height"]
        self.style, self.levels, self.format = sheet["style"], int(sheet["levels"]), sheet["format"]
        self.radius, self.reach = _RADIUS.get(self.format, (3.075, 1.0))
        self.figure = Figure(figsize=(self.width / 96, self.height / 96), facecolor="white")
        FigureCanvasAgg(self.figure)
        self.paper = self.figure.add_axes((0, 0, 1, 1), zorder=5)  # for things placed in units
        self.paper.set(xlim=(0, self.width), ylim=(0, self.height))
        self.paper.axis("off")

    def draw(self) -> None:
        sheet, beside = self.sheet, self.sheet["beside"]
        self.write(sheet["map_left"], self.height - 34, sheet["map_title"], 16, INK)
        for frame in range(int(sheet["frames"])):
            moved = beside * frame
            self.write(sheet["map_left"] + moved, self.height - 60, sheet["Caption"][frame], 10, PALE)
            axes = self.map_axes(moved)
            if self.style == "points":
                self.points(axes, frame)
                self.paths(axes)
            else:
                self.cells(axes, frame)
            self.regions(frame, moved)
            for panel in range(int(sheet["panels"])):
                self.panel(frame, panel)
        self.key(moved)

    def save(self, stream: Any) -> None:
        self.figure.savefig(stream, format=self.format, dpi=192, metadata={"Date": None} if self.format == "svg" else None)

    # Things placed in units.

    def write(self, x: float, y: float, text: str, size: float, colour: str, **more: Any) -> None:
        self.paper.text(x, y, text, **{"fontsize": size, "color": colour, "ha": "left", "va": "center", **more})

    def axes_at(self, left: float, bottom: float, right: float, top: float) -> Any:
        axes = self.figure.add_axes((left / self.width, bottom / self.height, (right - left) / self.width, (top - bottom) / self.height))
        axes.tick_params(length=0, labelcolor=INK, labelsize=11)
        axes.grid(color=GRID, linewidth=POINT)
        axes.set_axisbelow(True)
        for spine in axes.spines.values():
            spine.set(color=FRAME, linewidth=POINT)
        return axes

    def regions(self, frame: int, moved: float) -> None:
        sheet = self.sheet
        for number, (name, colour) in enumerate(REGIONS):
            item = len(REGIONS) * frame + number
            if sheet["LabelShown"][item]:
                box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": colour, "linewidth": 1.6 * POINT}
                self.write(sheet["LabelX"][item] + moved, sheet["LabelY"][item], name, 10, "#16181d", ha="center",
                           rotation=sheet["label_angle"], bbox=box)

    def key(self, moved: float) -> None:
        """The key of the colours: the levels, or a bar."""
        sheet, left, top = self.sheet, KEY_LEFT + moved, self.sheet["map_top"]
        if sheet["colour_bar"]:
            counts = self.style == "counts"
            high, down = (200, 230) if counts else (300, 300)
            bar = self.figure.colorbar(self.colours(), cax=self.axes_at(left + 4, top - down, left + 20, top - down + high))
            bar.outline.set_visible(False)
            bar.ax.grid(False)
            if counts:
                self.write(left, top - 10, "examples", 11, INK)
                bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
                bar.ax.minorticks_off()
            else:
                bar.ax.yaxis.set(major_locator=MultipleLocator(sheet["colour_step"]), major_formatter=_ticks(sheet["colour_format"]))
                bar.set_label(sheet["colour_note"], size=10, color=INK)
        elif self.style == "points" and self.levels:
            self.write(left + 10, top - 7, "correctness", 11, INK)
            shapes = [int(shape) for shape in sheet["Shape"]]
            places = [(left + 16, top - 5 - KEY_STEP * (self.levels - k)) for k in range(self.levels)]
            sizes = np.array([sheet["KeySize"][k] * self.radius for k in range(self.levels)])
            self.markers(self.paper, places, shapes, sizes, [_rgb(colour) for colour in sheet["Colour"]], 1.4)
            for (x, y), name in zip(places, sheet["Level"]):
                self.write(x + 16, y, str(name), 11, INK)

    # Things placed by the data.

    def map_axes(self, moved: float) -> Any:
        sheet = self.sheet
        axes = self.axes_at(sheet["map_left"] + moved, sheet["map_bottom"], sheet["map_right"] + moved, sheet["map_top"])
        axes.set(xlim=(sheet["x_from"], sheet["x_to"]), ylim=(sheet["y_from"], sheet["y_to"]))
        axes.xaxis.set(major_locator=MultipleLocator(sheet["x_step"]), major_formatter=_ticks(sheet["x_format"]))
        axes.yaxis.set(major_locator=MultipleLocator(sheet["y_step"]), major_formatter=_ticks(sheet["y_format"]))
        axes.set_xlabel(sheet["x_name"], color=INK, size=11)
        if moved:
            axes.tick_params(labelleft=False)
        else:
            axes.set_ylabel(sheet["y_name"], color=INK, size=11)
        return axes

    def points(self, axes: Any, frame: int) -> None:
        """Records of x, y, value, edge; edge 1: the white below a marker."""
        sheet, markers = self.sheet, int(self.sheet["markers"])
        records = np.frombuffer(self.data, "<f4", 4 * int(sheet["Points"][frame]), int(sheet["Skip"][frame])).reshape(-1, 4)
        edge, value = records[:, 3] > 0, records[:, 2].astype(float)
        level = value.astype(int) if self.levels else np.zeros(len(records), int)
        shapes = np.where(edge, np.array(sheet["EdgeShape"], int)[level], np.array(sheet["Shape"], int)[level])
        of_frame = slice(markers * frame, markers * (frame + 1))
        sizes = np.where(edge, np.array(sheet["EdgeSize"][of_frame])[level], np.array(sheet["Size"][of_frame])[level])
        if sheet["colouring"] == "correctness":
            fill = np.array([_rgb(colour) for colour in sheet["Colour"]])[level]
        elif sheet["colouring"] == "value":
            fill = self.colours().to_rgba(np.ma.masked_invalid(value))[:, :3]
        else:
            fill = np.tile(_rgb(0xCDD0D6), (len(records), 1))
        fill[edge] = 1
        self.markers(axes, records[:, :2].astype(float), shapes.tolist(), sizes * self.radius, fill, sheet["Line"][frame])

    def markers(self, axes: Any, places: Any, shapes: list[int], radii: Any, fill: Any, line: float) -> None:
        """In this order, each above those before it."""
        crosses = np.isin(shapes, (_PLUS, _CROSS))
        radii = radii * np.where(np.isin(shapes, (9, 11, 13)), self.reach, 1.0)
        faces = np.column_stack([fill, ~crosses])
        collection = PathCollection(
            [_SHAPES[shape] for shape in shapes],
            sizes=(radii * POINT) ** 2,
            offsets=np.asarray(places, float).reshape(-1, 2),
            offset_transform=axes.transData,
            facecolors=faces,
            edgecolors=fill,
            linewidths=line * POINT,
            joinstyle="round",
            zorder=3,
        )
        collection.set_transform(IdentityTransform())  # the shapes' own lengths are points, not the axes'
        axes.add_collection(collection, autolim=False)

    def paths(self, axes: Any) -> None:
        sheet = self.sheet
        for number in range(int(sheet["paths"])):
            x, y = np.array(sheet["$paths"][number]).T
            colour, dashes = PATHS[number % len(PATHS)], "--" if number >= len(PATHS) else "-"
            axes.plot(x, y, color="white", linewidth=4 * POINT, zorder=4)
            axes.plot(x, y, dashes, color=colour, linewidth=1.8 * POINT, marker="o", markersize=3.2, zorder=4)
            axes.plot(x[-1:], y[-1:], "o", color=colour, markersize=6.5, markeredgewidth=0, zorder=4)
            axes.plot(x[:1], y[:1], "o", color="white", markersize=1.6, markeredgewidth=0, zorder=4)
            self.write(sheet["PathX"][number], sheet["PathY"][number], str(sheet["PathName"][number]), 10, colour,
                       ha="right" if sheet["PathToLeft"][number] else "left", bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})

    def colours(self) -> ScalarMappable:
        low, high = self.sheet["colour_from"], self.sheet["colour_to"]
        norm = LogNorm(low, high, clip=True) if self.style == "counts" else Normalize(low, high, clip=True)
        colours: Colormap = LinearSegmentedColormap.from_list("map", SHIFT if self.style == "shift" else RAMP)
        colours.set_bad("#b4b8c1" if self.style == "points" else "white")
        return ScalarMappable(norm, colours)

    def cells(self, axes: Any, frame: int) -> None:
        """A number for each cell, rows from below; NaN: no example."""
        sheet, columns, rows = self.sheet, int(self.sheet["cells_x"]), int(self.sheet["cells_y"])
        cells = np.frombuffer(self.data, "<f4", columns * rows, int(sheet["Skip"][frame])).reshape(rows, columns)
        colours = self.colours()
        axes.imshow(np.ma.masked_invalid(cells), origin="lower", aspect="auto", interpolation="nearest", cmap=colours.cmap, norm=colours.norm,
                    extent=(sheet["x_from"], sheet["x_to"], sheet["y_from"], sheet["y_to"]), zorder=2)

    def panel(self, frame: int, number: int) -> None:
        """A histogram right of the map: of its y, its x, or what colours it; of a shift, of both runs."""
        sheet, top, bottom = self.sheet, self.sheet["map_top"], self.sheet["map_bottom"]
        tall = (top - bottom - 2 * PANEL_GAP) / 3
        top -= number * (tall + PANEL_GAP)
        shift = self.style == "shift"
        if number == 0:
            self.write(PANEL_LEFT, top + 10, "% of examples" if shift else "examples", 9, PALE)
        axes = self.axes_at(PANEL_LEFT, top - tall, PANEL_RIGHT, top)
        middle, before, after = np.array(sheet["$bars"][int(sheet["panels"]) * frame + number]).T
        most, wide = max(before.max(), after.max()) or 1, sheet["PanelBin"][number]
        axes.bar(middle, before, 0.9 * wide, color="#0072b2" if shift else PANELS[number], alpha=0.45 if shift else 1, zorder=2)
        if shift:
            axes.stairs(after, np.append(middle - wide / 2, middle[-1] + wide / 2), color="#d55e00", linewidth=1.6 * POINT, zorder=3)
        axes.set_xlabel(sheet["PanelName"][number], color=INK, size=11)
        axes.tick_params(labelsize=9)
        axes.set(xlim=(sheet["PanelFrom"][number], sheet["PanelTo"][number]), ylim=(0, 1.06 * most))
        axes.xaxis.set(major_locator=MultipleLocator(sheet["PanelStep"][number]), major_formatter=_ticks(sheet["PanelFormat"][number]))
        if number == 2 and self.levels:
            ticks = {0.0: "0", self.levels - 1.0: "1"} | ({(self.levels - 1) / 2: "0.5"} if self.levels > 2 else {})
            axes.set_xlim(-0.6, self.levels - 0.4)
            axes.set_xticks(list(ticks), list(ticks.values()))
        step = max(1.0, _round_up(most / 4.5))
        axes.yaxis.set(major_locator=FixedLocator(np.arange(0, 1.06 * most, step)), major_formatter=_ticks(_unit(step)))


def _rgb(colour: float) -> tuple[float, float, float]:
    number = int(colour)
    return (number >> 16 & 255) / 255, (number >> 8 & 255) / 255, (number & 255) / 255


def _round_up(n: float) -> float:
    unit = 10.0 ** math.floor(math.log10(n))
    return next(unit * factor for factor in (1, 2, 5, 10) if n <= unit * factor * (1 + 1e-12))


def _unit(step: float) -> str:
    return "%.1s%c" if step >= 1e3 else "%.0f"


def _ticks(form: str) -> FuncFormatter:
    """By gnuplot's format: C's of a number, or with %s and %c of its multiple of a thousand, and the letter for that."""

    def tick(value: float, _: Any = None) -> str:
        value = value if abs(value) > 1e-12 else 0.0
        if "%c" not in form:
            return form % value
        unit, letter = next(((u, c) for u, c in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")) if abs(value) >= u), (1, ""))
        return f"{value / unit:.4g}{letter}"

    return FuncFormatter(tick)


def main(arguments: list[str]) -> None:
    """-d -e "picture=''; data='FILE'" SCRIPT: gnuplot's."""
    (data,) = re.findall(r"data='([^']*)'", " ".join(arguments[:-1]))
    with open(arguments[-1], encoding="utf-8", errors="replace") as script, open(data, "rb") as file:
        sheet, content = Sheet(script.read()), file.read()
    matplotlib.rcdefaults()  # no configuration file of the user is read
    matplotlib.rcParams.update({"text.parse_math": False, "font.family": "DejaVu Sans", "svg.fonttype": "none", "svg.hashsalt": "portolan"})
    painting = _Painting(sheet, content)
    painting.draw()
    painting.save(sys.stdout.buffer)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Exception as error:
        sys.exit(f"matplotlib {matplotlib.__version__} could not draw it: {type(error).__name__}: {error}")
