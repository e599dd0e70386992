"""Draws a map with matplotlib if there is no gnuplot. It reads the script and the data made for gnuplot, and draws the same points, axes,
colours, shapes and labels. ``portolan`` starts it instead of gnuplot (_picture.py) with the script as the last argument, and reads the picture
from its standard output. Lengths are in the script's unit, 1/96 inch, from the bottom left.

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
from matplotlib.patches import Rectangle
from matplotlib.path import Path
from matplotlib.ticker import FixedLocator, FuncFormatter, MultipleLocator
from matplotlib.transforms import IdentityTransform

from portolan._reading._sheet import Sheet

INK, PALE, FRAME, GRID = "#33363d", "#646974", "#c4c8cf", "#e4e6ea"
POINT = 0.75  # a unit, in points
RAMP = [(0, "#c38408"), (0.3, "#478a5d"), (0.6, "#28698a"), (1, "#171d4f")]
SHIFT = [(0, "#00466e"), (0.25, "#0072b2"), (0.44, "#9cc9e6"), (0.5, "#dcdcdc"), (0.56, "#f4b88e"), (0.75, "#d55e00"), (1, "#7a3600")]
REGIONS = (("easy-to-learn", "#d0452f"), ("ambiguous", "#26262c"), ("hard-to-learn", "#3f55b5"))
PATHS = ("#b84a00", "#0072b2", "#00775a", "#a34a7e", "#000000", "#1a76ad", "#8a5f00")
PANELS = ("#5d3a8e", "#3f8785", "#6f9a6a")
PANEL_GAP = 62
GREY = 0x8F949F

# The shapes by gnuplot's numbers, with radius 1. The two crosses are lines without an area.
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
# Each gnuplot terminal has its own scale. The radius of a marker of size 1, in units, and how far its diamonds and triangles reach, in radii.
_RADIUS = {"svg": (4.65, 1.4)}


class _Painting:
    def __init__(self, sheet: Sheet, data: bytes) -> None:
        self.sheet, self.data = sheet, data
        self.width, self.height = sheet["width"], sheet["height"]
        self.style, self.levels, self.format = sheet["style"], int(sheet["levels"]), sheet["format"]
        self.text = sheet.get("text_size", 1.0)
        self.radius, self.reach = _RADIUS.get(self.format, (3.075, 1.0))
        self.figure = Figure(figsize=(self.width / 96, self.height / 96), facecolor="white")
        FigureCanvasAgg(self.figure)
        self.paper = self.figure.add_axes((0, 0, 1, 1), zorder=5)  # covers the figure; its coordinates are units
        self.paper.set(xlim=(0, self.width), ylim=(0, self.height))
        self.paper.axis("off")

    def draw(self) -> None:
        sheet, beside = self.sheet, self.sheet["beside"]
        self.write(sheet["text_left"], self.height - 34 * self.text, sheet["map_title"], sheet["title_points"], INK)
        for frame in range(int(sheet["frames"])):
            moved = beside * frame
            self.write(sheet["text_left"] + moved, self.height - 60 * self.text, sheet["Caption"][frame], 10, PALE)
            axes = self.map_axes(moved)
            if self.style == "points":
                self.points(axes, frame)
            else:
                self.cells(axes, frame)
            self.cuts(axes, frame)
            if self.style == "points":
                self.paths(axes)
            self.regions(frame, moved)
            for panel in range(int(sheet["panels"])):
                self.panel(frame, panel)
        self.key(moved)

    def save(self, stream: Any) -> None:
        dpi = 96 * self.sheet.get("dots", 2.0)
        self.figure.savefig(stream, format=self.format, dpi=dpi, metadata={"Date": None} if self.format == "svg" else None)

    # Things placed in units.

    def write(self, x: float, y: float, text: str, size: float, colour: str, **more: Any) -> None:
        self.paper.text(x, y, text, **{"fontsize": size * self.text, "color": colour, "ha": "left", "va": "center", **more})

    def axes_at(self, left: float, bottom: float, right: float, top: float) -> Any:
        axes = self.figure.add_axes((left / self.width, bottom / self.height, (right - left) / self.width, (top - bottom) / self.height))
        axes.tick_params(length=0, labelcolor=INK, labelsize=11 * self.text)
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
                text = "\n".join(line for line in (name, str(sheet["LabelCount"][item])) if line)
                self.write(sheet["LabelX"][item] + moved, sheet["LabelY"][item], text, 10, "#16181d", ha="center",
                           rotation=sheet["label_angle"], bbox=box)

    def key(self, moved: float) -> None:
        """The key of the colours: the levels, or a bar. A map with paths has the key of their points instead."""
        sheet, text, top = self.sheet, self.text, self.sheet["map_top"]
        if sheet["colour_bar"]:
            counts, left = self.style == "counts", self.sheet["map_right"] + moved + 18 * text
            high = (0.36 if counts else 0.55) * (top - sheet["map_bottom"])
            down = high + (30 * text if counts else 0)
            bar = self.figure.colorbar(self.colours(), cax=self.axes_at(left, top - down, left + 16 * text, top - down + high))
            bar.outline.set_visible(False)
            bar.ax.grid(False)
            if counts:
                self.write(left - 4 * text, top - 10 * text, "examples", 11, INK)
                bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
                bar.ax.minorticks_off()
            else:
                bar.ax.yaxis.set(major_locator=MultipleLocator(sheet["colour_step"]), major_formatter=_ticks(sheet["colour_format"]))
                bar.set_label(sheet["colour_note"], size=10 * text, color=INK)
            if self.style == "shift":
                for name, colour, y in (("no change", SHIFT[3][1], 60), ("no examples", "white", 38)):
                    y = sheet["map_bottom"] + y * text
                    self.paper.add_patch(Rectangle((left, y - 8 * text), 16 * text, 16 * text, facecolor=colour, edgecolor=PALE, linewidth=POINT))
                    self.write(left + 22 * text, y, name, 10, INK)
        elif sheet["keys"]:
            paths = bool(sheet["paths"])
            self.write(sheet["key_left"], sheet["key_top"] - 8 * text, sheet["key_title"], 11, INK)
            places = [(x + 8 * text, y) for x, y in zip(sheet["KeyX"], sheet["KeyY"])]
            if paths:
                for (x, y), size, colour in zip(places, (5.1, 3.2, 6.5, 3.2), (INK, INK, INK, "#8f949f")):
                    self.paper.plot([x], [y], "o", color=colour, markersize=size * text, markeredgewidth=0)
                self.paper.plot(*([one] for one in places[0]), "o", color="white", markersize=2.8 * text, markeredgewidth=0)
            else:
                sizes = np.array([size * self.radius * text for size in sheet["KeySize"]])
                self.markers(self.paper, places, [int(shape) for shape in sheet["Shape"]], sizes, [_rgb(colour) for colour in sheet["Colour"]], 1.4)
                for (x, y), count in zip(places, sheet["LevelCount"]):
                    self.write(x + sheet["key_count"] - 8 * text, y, str(count), 11, PALE, ha="right")
            for (x, y), name in zip(places, sheet["PathKey" if paths else "Level"]):
                self.write(x + 14 * text, y, str(name), 11, INK)

    # Things placed by the data.

    def map_axes(self, moved: float) -> Any:
        sheet = self.sheet
        axes = self.axes_at(sheet["map_left"] + moved, sheet["map_bottom"], sheet["map_right"] + moved, sheet["map_top"])
        axes.set(xlim=(sheet["x_from"], sheet["x_to"]), ylim=(sheet["y_from"], sheet["y_to"]))
        axes.xaxis.set(major_locator=MultipleLocator(sheet["x_step"]), major_formatter=_ticks(sheet["x_format"]))
        axes.yaxis.set(major_locator=MultipleLocator(sheet["y_step"]), major_formatter=_ticks(sheet["y_format"]))
        axes.set_xlabel(sheet["x_name"], color=INK, size=11 * self.text)
        if moved:
            axes.tick_params(labelleft=False)
        else:
            axes.set_ylabel(sheet["y_name"], color=INK, size=11 * self.text)
        return axes

    def points(self, axes: Any, frame: int) -> None:
        """Draws records of x, y, value, edge. A record with edge 1 is the white margin below a marker."""
        sheet, markers = self.sheet, int(self.sheet["markers"])
        records = np.frombuffer(self.data, "<f4", 4 * int(sheet["Points"][frame]), int(sheet["Skip"][frame])).reshape(-1, 4)
        edge, value = records[:, 3] > 0, records[:, 2].astype(float)
        level = value.astype(int) if self.levels else np.zeros(len(records), int)
        shapes = np.where(edge, np.array(sheet["EdgeShape"], int)[level], np.array(sheet["Shape"], int)[level])
        of_frame = slice(markers * frame, markers * (frame + 1))
        sizes = np.where(edge, np.array(sheet["EdgeSize"][of_frame])[level], np.array(sheet["Size"][of_frame])[level])
        if self.levels:
            fill = np.array([_rgb(colour) for colour in sheet["Colour"]])[level]
        elif sheet["colouring"] == "value":
            fill = self.colours().to_rgba(np.ma.masked_invalid(value))[:, :3]
        else:
            fill = np.tile(_rgb(GREY), (len(records), 1))
        fill[edge] = 1
        self.markers(axes, records[:, :2].astype(float), shapes.tolist(), sizes * self.radius, fill, sheet["Line"][frame])

    def markers(self, axes: Any, places: Any, shapes: list[int], radii: Any, fill: Any, line: float) -> None:
        """Draws the markers in this order, each above those before it."""
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

    def cuts(self, axes: Any, frame: int) -> None:
        """Draws the lines between the regions: two lines for each frame."""
        if self.sheet["lined"]:
            rows = [rows for rows in self.sheet["$cuts"] if rows]
            for line in rows if int(self.sheet["frames"]) == 1 else rows[2 * frame : 2 * frame + 2]:
                x, y = np.array(line).T
                axes.plot(x, y, color="white", linewidth=2.4 * POINT, zorder=4)
                axes.plot(x, y, color="#16181d", linewidth=POINT, dashes=(6, 4), zorder=4)

    def paths(self, axes: Any) -> None:
        sheet = self.sheet
        for number in range(int(sheet["paths"])):
            x, y = np.array(sheet["$paths"][number]).T
            colour, dashes = PATHS[number % len(PATHS)], "--" if number >= len(PATHS) else "-"
            axes.plot(x, y, color="white", linewidth=4 * POINT, zorder=4)
            axes.plot(x, y, dashes, color=colour, linewidth=1.8 * POINT, marker="o", markersize=3.2 * self.text, zorder=4)
            axes.plot(x[-1:], y[-1:], "o", color=colour, markersize=6.5 * self.text, markeredgewidth=0, zorder=4)
            axes.plot(x[:1], y[:1], "o", color=colour, markersize=5.1 * self.text, markeredgewidth=0, zorder=4)
            axes.plot(x[:1], y[:1], "o", color="white", markersize=2.8 * self.text, markeredgewidth=0, zorder=4)
            self.write(sheet["PathX"][number], sheet["PathY"][number], str(sheet["PathName"][number]), 10, colour,
                       ha="right" if sheet["PathToLeft"][number] else "left", bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})
        for corners in sheet["$arrows"] if sheet["paths"] else ():
            if corners:
                x, y, number = np.array(corners).T
                axes.fill(x, y, color=PATHS[(int(number[0]) - 1) % len(PATHS)], linewidth=0, zorder=4)
        for k in range(int(sheet["numbers"]) if sheet["paths"] else 0):
            self.write(sheet["NumberX"][k], sheet["NumberY"][k], f"{sheet['NumberEpoch'][k]:.0f}", 8,
                       PATHS[(int(sheet["NumberPath"][k]) - 1) % len(PATHS)], ha="center")

    def colours(self) -> ScalarMappable:
        low, high = self.sheet["colour_from"], self.sheet["colour_to"]
        norm = LogNorm(low, high, clip=True) if self.style == "counts" else Normalize(low, high, clip=True)
        colours: Colormap = LinearSegmentedColormap.from_list("map", SHIFT if self.style == "shift" else RAMP)
        colours.set_bad("#8f949f" if self.style == "points" else "white")
        return ScalarMappable(norm, colours)

    def cells(self, axes: Any, frame: int) -> None:
        """Draws a map of cells. The data hold a number for each cell, the lowest row first; NaN: the cell has no example."""
        sheet, columns, rows = self.sheet, int(self.sheet["cells_x"]), int(self.sheet["cells_y"])
        cells = np.frombuffer(self.data, "<f4", columns * rows, int(sheet["Skip"][frame])).reshape(rows, columns)
        colours = self.colours()
        axes.imshow(np.ma.masked_invalid(cells), origin="lower", aspect="auto", interpolation="nearest", cmap=colours.cmap, norm=colours.norm,
                    extent=(sheet["x_from"], sheet["x_to"], sheet["y_from"], sheet["y_to"]), zorder=2)

    def panel(self, frame: int, number: int) -> None:
        """Draws a histogram right of the map: of its y, its x, or the measure that colours it. For a shift it has both runs."""
        sheet, top, bottom, gap = self.sheet, self.sheet["map_top"], self.sheet["map_bottom"], PANEL_GAP * self.text
        tall = (top - bottom - 2 * gap) / 3
        top -= number * (tall + gap)
        shift = self.style == "shift"
        if number == 0:
            self.write(sheet["panel_left"], top + 10 * self.text, "% of examples" if shift else "examples", 9, PALE)
        axes = self.axes_at(sheet["panel_left"], top - tall, sheet["panel_right"], top)
        middle, before, after = np.array(sheet["$bars"][int(sheet["panels"]) * frame + number]).T
        most, wide = max(before.max(), after.max()) or 1, sheet["PanelBin"][number]
        axes.bar(middle, before, 0.9 * wide, color="#0072b2" if shift else PANELS[number], alpha=0.45 if shift else 1, zorder=2)
        if shift:
            axes.stairs(after, np.append(middle - wide / 2, middle[-1] + wide / 2), color="#d55e00", linewidth=1.6 * POINT, zorder=3)
        axes.set_xlabel(sheet["PanelName"][number], color=INK, size=11 * self.text)
        axes.tick_params(labelsize=9 * self.text)
        axes.set(xlim=(sheet["PanelFrom"][number], sheet["PanelTo"][number]), ylim=(0, 1.06 * most))
        axes.xaxis.set(major_locator=MultipleLocator(sheet["PanelStep"][number]), major_formatter=_ticks("%g"))
        if number == 2 and self.levels:
            axes.set_xlim(-0.6, self.levels - 0.4)
            axes.set_xticks([0, self.levels - 1], ["none", "all"])
        step = max(1.0, _round_up(most / 4.5))
        axes.yaxis.set(major_locator=FixedLocator(np.arange(0, 1.06 * most, step)), major_formatter=_ticks("%g"))


def _rgb(colour: float) -> tuple[float, float, float]:
    number = int(colour)
    return (number >> 16 & 255) / 255, (number >> 8 & 255) / 255, (number & 255) / 255


def _round_up(n: float) -> float:
    unit = 10.0 ** math.floor(math.log10(n))
    return next(unit * factor for factor in (1, 2, 5, 10) if n <= unit * factor * (1 + 1e-12))


def _ticks(form: str) -> FuncFormatter:
    """Formats tick labels by a format of C. Thousands have commas, as in the map's texts: 25,000."""

    def tick(value: float, _: Any = None) -> str:
        value = value if abs(value) > 1e-12 else 0.0
        return f"{value:,.0f}" if 1e3 <= abs(value) < 1e9 and "." not in form else form % value

    return FuncFormatter(tick)


def main(arguments: list[str]) -> None:
    """`arguments` are those of gnuplot: -d -e "picture=''; data='FILE'" GATE. GATE names the script to load. It is a pipe: reading it waits until
    the script is written."""
    (data,) = re.findall(r"data='([^']*)'", " ".join(arguments[:-1]))
    with open(arguments[-1], encoding="utf-8") as gate:
        (path,) = re.findall(r"load '([^']*)'", gate.read())
    with open(path, encoding="utf-8", errors="replace") as script, open(data, "rb") as file:
        sheet, content = Sheet(script.read()), file.read()
    matplotlib.rcdefaults()  # no configuration file of the user is read
    fonts = [sheet.get("font_name", "DejaVu Sans"), "DejaVu Sans"]
    matplotlib.rcParams.update({"text.parse_math": False, "font.family": fonts, "svg.fonttype": "none", "svg.hashsalt": "portolan"})
    painting = _Painting(sheet, content)
    painting.draw()
    painting.save(sys.stdout.buffer)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Exception as error:
        sys.exit(f"matplotlib {matplotlib.__version__} could not draw it: {type(error).__name__}: {error}")
