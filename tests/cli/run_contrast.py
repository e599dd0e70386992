"""Contrast of what pictures show against white, from the sources: text at least 4.5:1, marks at least 3:1 (WCAG 2.1); and how far
apart the colours of categories are, for readers of all colours and for those who do not see red or green as others do.

    run_contrast.py ANALYZER-FOLDER
"""

import itertools
import os
import re
import sys

import numpy as np

# Neither text nor marks: white; the frame and the grid; the cells of a shift, whose middle is no difference; the ground of a
# facet, over which its marks must be told apart without colours too.
LEFT_OUT = (re.compile(r"#ffffff|0xffffff"), re.compile(r"^set (border|grid) .*"), re.compile(r"^\tset palette defined \(-1 .*"),
            re.compile(r"^ *\[MAP_SLOT_BELOW\].*"))
TEXT = (re.compile(r"textcolor rgb '(#[0-9a-f]{6})'"), re.compile(r"^(?:ink|pale) = '(#[0-9a-f]{6})'"), re.compile(r"^path_colour.*"))
COLOUR = re.compile(r"(?:#|0x|\{\")([0-9a-f]{6})\b")
# What they see of linear RGB: Machado, Oliveira and Fernandes 2009, severity 1.
VISION = {
    "all colours": np.eye(3),
    "deuteranopia": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    "protanopia": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
}


def linear(colour):
    c = np.array([int(colour[i : i + 2], 16) for i in (0, 2, 4)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def contrast(colour):
    return 1.05 / (linear(colour) @ [0.2126, 0.7152, 0.0722] + 0.05)


def lab(rgb):
    xyz = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]) @ np.clip(rgb, 0, 1)
    xyz /= [0.95047, 1, 1.08883]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def lines_of(folder):
    for name in ("plot/begin.gp", "plot/chart.gp", "map/marks.gp", "map/map.gp", "map/facets.gp", "map/map_markers.c"):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                for pattern in LEFT_OUT:
                    line = pattern.sub("", line)
                yield f"{name}:{number}", line


def categories(folder):
    with open(os.path.join(folder, "map/map_markers.c"), encoding="utf-8") as file:
        table = re.search(r"\[MAP_SLOT_CATEGORIES\] = (.*?)\[MAP_SLOT_OTHERS\]", file.read(), re.S).group(1)
    return re.findall(r'\{"([0-9a-f]{6})", (\w+)\}', table)


def main():
    folder, problems, seen, texts = sys.argv[1], [], 0, 0
    for place, line in lines_of(folder):
        words = {c for pattern in TEXT for found in pattern.finditer(line) for c in COLOUR.findall(found.group(0))}
        for colour in COLOUR.findall(line):
            least = 4.5 if colour in words else 3.0
            seen, texts = seen + 1, texts + (colour in words)
            if contrast(colour) < least:
                problems.append(f"{place}: {colour} has a contrast of {contrast(colour):.2f} to white, less than {least}")
    looks = categories(folder)
    if seen < 40 or texts < 10 or len(looks) != 12:
        problems.append(f"the patterns find too little: {seen} colours, {texts} of text, {len(looks)} categories")
    if len(set(looks)) != len(looks):
        problems.append("two categories look the same")
    for (a, _), (b, _) in itertools.combinations(looks, 2):
        for who, seen_as in VISION.items():
            distance = np.linalg.norm(lab(seen_as @ linear(a)) - lab(seen_as @ linear(b)))
            if distance < 20:
                problems.append(f"categories {a} and {b} are {distance:.1f} apart: {who}")
    print("\n".join(problems) if problems else f"contrast: {seen} colours, {texts} of them text, are as they should be")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
