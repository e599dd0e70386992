"""Pictures for the studies: panels side by side, in the look of the analyzer's charts (analyzer/plot), drawn by gnuplot."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

PLOT = Path(__file__).resolve().parents[2] / "analyzer/plot"
HEIGHT, PANEL, RIGHT = 440, 340, 24  # units: of the picture; the width of a panel; the gap right of the last
LABELLED, NUMBERS = 78, 56  # the gap left of a panel, with and without a label of its vertical axis
SAMPLE, CHARACTER = 76, 9  # units, rather too wide: a line in the key, and a character of a name


@dataclass
class Series:
    """Points (x, y), or (x, y, spread) with a bar of so much up and down. Hue: 1 blue, 2 orange, 3 green, 4 ink, 5 pale."""
    name: str
    points: list
    hue: int = 1
    dash: int = 1
    mark: int = 7
    style: str = "linespoints"  # or "lines", "boxes"


@dataclass
class Panel:
    title: str
    x_label: str
    y_label: str
    series: list
    x_range: tuple = ()
    y_range: tuple = ()
    tics: tuple = ()  # numbers along the horizontal axis; with them it is logarithmic
    y_tics: tuple = ()  # the same of the vertical axis


def power(number):
    """10⁵ for 100,000 and larger powers of ten, whose digits would run into each other; other numbers as they are."""
    digits = f"{number:.0f}"
    return "10" + str(len(digits) - 1).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")) if number >= 1e5 and digits.strip("0") == "1" else f"{number:g}"


def quoted(text):
    return "'" + text.replace("'", "’") + "'"  # gnuplot's own way, two quotes, fails at the beginning of a title


def plot_of(one, block):
    """What gnuplot's plot has for a series whose data are in this block."""
    look = f"linewidth 2 dashtype {one.dash} linecolor rgb Hue[{one.hue}]"
    if one.style == "boxes":
        return [f"${block} with boxes linecolor rgb Hue[{one.hue}] fillstyle transparent solid 0.3 noborder title {quoted(one.name)}"]
    if one.style == "lines":
        return [f"${block} with lines {look} title {quoted(one.name)}"]
    line = f"${block} with linespoints {look} pointtype {one.mark} pointsize 0.8 title {quoted(one.name)}"
    spread = f"${block} using 1:($2-$3):(0):(2*$3) with vectors nohead linewidth 5 linecolor rgb Hue[{one.hue}] notitle"
    return [spread, line] if len(one.points[0]) == 3 else [line]


def gap_before(panel):
    return LABELLED if panel.y_label else NUMBERS


def script_of_panel(place, start, panel, is_last, key):
    script, lines = [], []
    for i, one in enumerate(panel.series):
        script += [f"$set{place}_{i} << EOD", *(" ".join(f"{number:.10g}" for number in point) for point in one.points), "EOD"]
        lines += plot_of(one, f"set{place}_{i}")
    script += [f"set lmargin at screen X({start})", f"set rmargin at screen X({start + PANEL})", f"set title {quoted(panel.title)} textcolor rgb ink",
               f"set xlabel {quoted(panel.x_label)} textcolor rgb ink", f"set ylabel {quoted(panel.y_label)} textcolor rgb ink",
               *(f"set {axis}range [{'{}:{}'.format(*limits) if limits else '*:*'}]" for axis, limits in (("x", panel.x_range), ("y", panel.y_range))),
]
    script.append("unset logscale")
    for axis, tics in (("x", panel.tics), ("y", panel.y_tics)):
        script.append(f"set logscale {axis}\nset {axis}tics (" + ", ".join(f"'{power(tic)}' {tic}" for tic in tics) + ")" if tics else f"set {axis}tics autofreq")
    script.append("unset key" if key == "right" and not is_last else
                  f"set key at screen X({start + PANEL + 16}),Y(height - 40) left top Left reverse noenhanced samplen 3 textcolor rgb ink" if key == "right" else
                  f"set key {key} Left reverse noenhanced samplen 2 textcolor rgb ink")
    return [*script, "plot " + ", \\\n  ".join(lines)]


def draw(picture, panels, key="right"):
    """A PNG or an SVG, as the picture's name ends. The key stands once, right of the last panel; or within each panel at gnuplot's `key` ('top left')."""
    begin, chart = ((PLOT / name).read_text(encoding="utf-8") for name in ("begin.gp", "chart.gp"))
    longest = max(len(one.name) for panel in panels for one in panel.series)
    starts = [sum(map(gap_before, panels[:place + 1])) + place * PANEL for place in range(len(panels))]
    width = starts[-1] + PANEL + (SAMPLE + CHARACTER * longest if key == "right" else RIGHT)
    script = [f"own_picture = '{picture}'; own_data = ''; format = '{Path(picture).suffix[1:]}'; width = {width}; height = {HEIGHT}", begin,
              re.search("^array Hue.*", chart, re.MULTILINE)[0], "set multiplot\nset bmargin at screen Y(56)\nset tmargin at screen Y(height - 40)"]
    for place, panel in enumerate(panels):
        script += script_of_panel(place, starts[place], panel, place == len(panels) - 1, key)
    subprocess.run(["gnuplot", "-d"], input="\n".join(script) + "\n", check=True, text=True)
