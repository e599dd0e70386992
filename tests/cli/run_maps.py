"""What maps draw, read back from the data beside them, and calculated again in NumPy; and the published coordinates.

    run_maps.py PORTOLAN MAKE_STORE

The published data stand beside the clone (shared/data, or $PORTOLAN_SHARED_DATA); without them the test says so, and leaves
out what needs them.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stores

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ.get("PORTOLAN_SHARED_DATA", os.path.join(HERE, "..", "..", "..", "shared", "data"))
COORDINATES = os.path.abspath(os.path.join(DATA, "winogrande_roberta_0_6_data_map_coordinates.jsonl"))
EPOCHS = 5
LONG = "words/bert/seed2"
SHIFT_KEY = 40 + 11 * 0.6 * 10 / 0.75  # units: to "no examples", and its letters of 10 points
problems = []


def check(condition, what):
    if not condition:
        problems.append(what)


def make_run(name, n, seed):
    random = np.random.default_rng(seed)
    hard = random.random(n) ** 2
    p = np.clip(1 - hard + random.normal(0, 0.25, (EPOCHS, n)) * hard, 0, 1).astype("f4")
    correct = p > 0.5
    batches = [stores.batch(e, np.arange(n), p[e], correct[e]) for e in range(EPOCHS)]
    return stores.run(name, batches, declared=n), p.astype("f8"), correct


def draw(portolan, *words):
    done = subprocess.run([portolan, "map", *words, "--json", "--script"], capture_output=True, text=True)
    check(done.returncode == 0, f"map {' '.join(words)}: {done.stderr}")
    return json.loads(done.stdout) if done.returncode == 0 else None


def cells(values, report, axis, count):
    """The number of the cell along an axis that each value is in."""
    low, high = report[axis]["from"], report[axis]["to"]
    return np.clip(np.floor((values - low) / (high - low) * count), 0, count - 1).astype(int)


def cell_means(x, y, values, report, shape):
    at = cells(y, report, "y", shape[0]) * shape[1] + cells(x, report, "x", shape[1])
    there = ~np.isnan(values)
    counts = np.bincount(at[there], minlength=shape[0] * shape[1])
    with np.errstate(invalid="ignore"):
        return np.bincount(at[there], values[there], shape[0] * shape[1]) / counts


def read_cells(name, shape):
    """The cells of the data file; where a value falls is rounded otherwise in NumPy now and then: see same_cells()."""
    data = np.fromfile(name, "<f4").astype("f8")
    check(data.size % (shape[0] * shape[1]) == 0, f"{name}: {data.size} cells")
    return data[: shape[0] * shape[1]]


def same_cells(what, got, wanted):
    same = np.isclose(got, wanted, rtol=1e-5, equal_nan=True).mean()
    check(same > 0.999, f"{what}: {same:.4f} of the cells are as calculated")


def check_points(portolan, p, correct):
    report = draw(portolan, "a", "--sample", "200", "--seed", "7", "--colour", "confidence", "-o", "points.pdf")
    points = np.fromfile("points.map-data", "<f4").reshape(-1, 4)
    marks = points[points[:, 3] == 0].astype("f8")
    mean, spread = p.mean(0), p.std(0)
    check(report["maps"][0]["shown"] == 200 and len(marks) <= 200, "points: as many as asked for")
    check((points[::2, 3] == 1).all() and (points[1::2, 3] == 0).all(), "points: each after its edge")
    check((marks[:, 1] == marks[:, 2]).all(), "points: the value is what was asked for")
    ramp = "load 'points.gp'; do for [k in '1 39 64'] { print sprintf('%06x', Ramp[int(k)]) }"
    colours = subprocess.run(["gnuplot", "-e", "picture='again.pdf'", "-e", ramp], capture_output=True, text=True).stderr.split()
    check(colours == ["c38408", "28688a", "171d4f"], f"points: the colours of values: {colours}")
    nearest = np.abs(marks[:, None, :2] - np.stack([spread, mean], 1)[None]).max(2).min(1)
    check(nearest.max() < 1e-6, f"points: {nearest.max()} from any example")
    cut = np.sort(spread)[::-1][len(spread) // 3 - 1]
    ambiguous = spread >= cut
    regions = report["maps"][0]["regions"]
    check(abs(regions["variability_cut"] - cut) < 1e-9, "regions: the cut")
    check(regions["ambiguous"] == ambiguous.sum(), "regions: ambiguous")
    check(regions["easy-to-learn"] == (~ambiguous & (mean >= 0.5)).sum(), "regions: easy-to-learn")
    check(regions["hard-to-learn"] == (~ambiguous & (mean < 0.5)).sum(), "regions: hard-to-learn")


def check_cells(portolan, p, correct):
    mean, spread = p.mean(0), p.std(0)
    values = np.where(np.arange(len(mean)) % 3 == 0, np.nan, np.sin(np.arange(len(mean))))
    with open("values.csv", "w") as file:
        file.write("id,value\n" + "".join(f"{i},{v}\n" for i, v in enumerate(values) if i % 2))
    values[::2] = np.nan
    report = draw(portolan, "a", "--density", "--colour-file", "values.csv", "--colour", "value", "-o", "means.svg")
    shape = cells_of("means.gp")
    wanted = cell_means(spread, mean, values, report, shape)
    same_cells("means", read_cells("means.map-data", shape), wanted)
    check_colour_range("means.gp", wanted)
    check(report["colour"]["examples_without"] == np.isnan(values).sum(), "means: examples without")
    dense = np.sin(np.arange(len(mean)))
    with open("dense.csv", "w") as file:
        file.write("id,value\n" + "".join(f"{i},{v}\n" for i, v in enumerate(dense)))
    report = draw(portolan, "a", "--density", "--colour-file", "dense.csv", "--colour", "value", "-o", "dense.svg")
    wanted = cell_means(spread, mean, dense, report, shape)
    same_cells("dense means", read_cells("dense.map-data", shape), wanted)
    check_colour_range("dense.gp", wanted)
    learned = np.where(correct.any(0), correct.argmax(0), np.nan)
    report = draw(portolan, "a", "--density", "--x", "first_learned", "--y", "correctness", "-o", "counts.svg")
    there = ~np.isnan(learned)
    counts = np.zeros((EPOCHS + 1, int(np.nanmax(learned)) + 1))
    np.add.at(counts, (correct.sum(0)[there], learned[there].astype(int)), 1)
    got = np.nan_to_num(read_cells("counts.map-data", cells_of("counts.gp")))
    lowest = correct.sum(0)[there].min()
    check(report["maps"][0]["without_value"] == (~there).sum(), "counts: never learned")
    check(got.sum() == there.sum(), "counts: everything counted")
    check(sorted(got[got > 0]) == sorted(counts[lowest:][counts[lowest:] > 0]), "counts: one cell for each")


def check_compact(portolan):
    """What a compact map has no room for is left out whole, not cut."""
    draw(portolan, "a", "--compact", "--sample", "10000", "-o", "compact.svg")
    with open("compact.gp") as file:
        caption = re.search(r"Caption\[1\] = '(.*?)'", file.read()).group(1)
    check(caption == "10,000 of 20,000 examples shown, sampled · epochs 0 to 4", f"compact: {caption}")


def check_colour_range(script, means):
    """From 2 to 98% of the cells, as is said."""
    with open(script) as file:
        text = file.read()
    low, high = (float(re.search(rf"^colour_{end} = (\S+)$", text, re.M).group(1)) for end in ("from", "to"))
    order = np.sort(means[~np.isnan(means)])
    wanted = order[int(np.floor(0.02 * (len(order) - 1)))], order[int(np.ceil(0.98 * (len(order) - 1)))]
    check(np.allclose((low, high), wanted, atol=0.02), f"{script}: colours from {low} to {high}, not {wanted}")
    check("colours: 2 to 98% of cells" in text, f"{script}: what the colours are of")


def check_counts(portolan, p, correct):
    """Every cell has the colour of its mean; the colours of counts begin at 0, with whole tics, also where nearly all cells have none."""
    mean, spread, n = p.mean(0), p.std(0), p.shape[1]
    rare = np.zeros(n)
    rare[np.argsort(spread)[-3:]] = 7
    with open("rare.csv", "w") as file:
        file.write("id,rare,none,tenth\n" + "".join(f"{i},{v:g},0,{i % 10 == 0:d}\n" for i, v in enumerate(rare)))
    for words, values, end in ((["forgetting_events"], (correct[:-1] & ~correct[1:]).sum(0), 2), (["rare", "--data", "rare.csv"], rare, 7),
                               (["none", "--data", "rare.csv"], np.zeros(n), 1)):
        name = words[0]
        report = draw(portolan, "a", "--density", "--colour", *words, "-o", f"{name}.svg")
        wanted = cell_means(spread, mean, values, report, cells_of(f"{name}.gp"))
        same_cells(name, read_cells(f"{name}.map-data", cells_of(f"{name}.gp")), wanted)
        colours = [variable(f"{name}.gp", f"colour_{part}") for part in ("from", "to", "step")]
        check(colours == [0, end, 2 if end > 5 else 1], f"{name}: colours of means {colours}")
        draw(portolan, "a", "--colour", *words, "-o", f"{name}-points.svg")
        colours = [variable(f"{name}-points.gp", f"colour_{part}") for part in ("from", "to")]
        check(colours == [0, max(1, values.max())], f"{name}: colours of points {colours}")
    draw(portolan, "a", "--density", "--x", "epochs", "--y", "epochs", "--colour", "tenth", "--data", "rare.csv", "-o", "tenth.svg")
    colours = [variable("tenth.gp", f"colour_{part}") for part in ("from", "to", "step")]
    check(colours[0] == 0 and 0.1 <= colours[1] < 0.3 and colours[2] < 0.1, f"a mean of less than a half has its own tics: {colours}")


def numbers_of(script, name):
    with open(script, encoding="utf-8") as file:
        return [float(value) for value in re.findall(rf"\b{name}\[\d+\] = '?([-\d.,e]+)'?", file.read().replace(",", ""))]


def variable(script, name):
    with open(script, encoding="utf-8") as file:
        return float(re.search(rf"^{name} = (\S+)$", file.read(), re.M).group(1))


def check_regions(portolan, p):
    """The picture's lines and counts are those of the report, and of `portolan select --by region:...`."""
    mean, spread = p.mean(0), p.std(0)
    for words, lined in (([], True), (["--regions", "none"], False), (["--compact"], False), (["--compact", "--regions", "auto"], True),
                         (["--width", "3.3in"], False), (["--width", "7in"], True), (["--beside", "b"], False), (["--density"], True),
                         (["--width", "84mm", "--regions", "0.1,0.7"], True), (["--regions", "0.1,0.7", "--beside", "b"], True)):
        report = draw(portolan, "a", *words, "-o", "regions.svg")
        check(variable("regions.gp", "lined") == lined, f"{words}: lines")
        for m, shown in enumerate(report["maps"]):
            regions = shown["regions"]
            counts = numbers_of("regions.gp", "LabelCount")[3 * m : 3 * m + 3]
            check(counts == [regions[name] for name in ("easy-to-learn", "ambiguous", "hard-to-learn")] if lined else counts == [], f"{words}: {counts}")
        if "0.1,0.7" in words:
            regions, ambiguous = report["maps"][0]["regions"], spread >= 0.1
            check((regions["variability_cut"], regions["confidence_cut"]) == (0.1, 0.7), f"{words}: {regions}")
            check(regions["ambiguous"] == ambiguous.sum() and regions["hard-to-learn"] == (~ambiguous & (mean < 0.7)).sum(), f"{words}: {regions}")
            check_selected(portolan, regions, ["--regions", "0.1,0.7"])
        if lined:
            with open("regions.gp") as file:
                block = file.read().split("$cuts << EOD\n")[1].split("EOD")[0].split("\n\n\n")[0]
            rows = [[float(x) for x in line.split()] for line in block.splitlines() if line]
            cut = report["maps"][0]["regions"]
            check(np.allclose(rows, [[cut["variability_cut"], -0.03], [cut["variability_cut"], 1.03], [-0.012, cut["confidence_cut"]],
                                     [cut["variability_cut"], cut["confidence_cut"]]]), f"{words}: lines at {rows}")
    draw(portolan, "a", "--epochs", ":1", "-o", "one.svg")
    with open("one.gp") as file:
        lines = file.read().split("$cuts << EOD\n")[1].split("EOD")[0].split()
    check(len(lines) == 4 and lines[1] == lines[3] == "0.5", f"variability 0 is never ambiguous, and has no line: {lines}")
    check_selected(portolan, draw(portolan, "a", "-o", "regions.svg")["maps"][0]["regions"], [])


def check_selected(portolan, regions, words):
    for region in ("easy-to-learn", "ambiguous", "hard-to-learn"):
        done = subprocess.run([portolan, "select", "a", "--by", f"region:{region}", *words], capture_output=True, text=True)
        check(len(done.stdout.splitlines()) == regions[region], f"{region}: not as many as portolan select takes: {done.stderr}")


def check_on_paper(portolan):
    """Every text of a narrow picture has 7 points or more, and nothing lies outside."""
    with open("halves.csv", "w") as file:
        file.write("id,half\n" + "".join(f"{i},{'first' if i < 9000 else 'the second half'}\n" for i in range(20000)))
    for words, width in ((["--width", "3.3in"], 317), (["--width", "84mm", "--colour", "confidence"], 317), (["--width", "3.3in", "--density"], 317),
                         (["--width", "240pt", "--path", "5,17001"], 320), (["--width", "8.4cm", "--beside", "b"], 317), (["--width", "6in"], 576),
                         (["--width", "3.3in", "--shift", "b"], 317),
                         (["--width", "3.3in", "--data", "halves.csv", "--id-field", "id", "--colour", "half"], 317),
                         (["--width", "3.3in", "--data", "halves.csv", "--id-field", "id", "--colour", "half", "--facet"], 317)):
        draw(portolan, "a", *words, "-o", "paper.svg")
        with open("paper.svg", encoding="utf-8") as file:
            svg = file.read()
        size = re.search(r'<svg\s+width="(\d+)" height="(\d+)"', svg)
        check(size and int(size[1]) == width == variable("paper.gp", "width"), f"{words}: {size and size[0]}")
        fonts = [float(px) for px in re.findall(r'font-size="([\d.]+)"', svg)]
        check(len(fonts) > 10 and min(fonts) >= 7 * 1.33 - 0.01, f"{words}: {min(fonts) / 1.33} points")
        if "--facet" not in words:
            left, right, bottom, top = (variable("paper.gp", f"map_{side}") for side in ("left", "right", "bottom", "top"))
            check(right + variable("paper.gp", "beside") <= width and 0 < left < right - 95 and 0 < bottom < top < variable("paper.gp", "height"), f"{words}: the frame")
            x, y = numbers_of("paper.gp", "KeyX"), numbers_of("paper.gp", "KeyY")
            check(all(0 < a < width for a in x) and len(set(zip(x, y))) == len(x), f"{words}: the key: {x} {y}")
            check(width > 500 or all(top < b < variable("paper.gp", "height") for b in y), f"{words}: the key is not above: {y}")
            check("--shift" not in words or width - right > SHIFT_KEY * variable("paper.gp", "text_size"), f"{words}: 'no examples' is cut")
            shown = numbers_of("paper.gp", "LabelShown")
            check("--beside" not in words or not any(shown), f"{words}: labels hide a small map: {shown}")
            check(words != ["--width", "3.3in"] or all(shown), f"{words}: labels: {shown}")
    for words in (["--width", "2in"], ["--width", "2.1in", "--font", "Arial,10"], ["--width", "2.3in", "--font", "Arial,11"]):
        draw(portolan, "a", *words, "--regions", "auto", "-o", "paper.svg")  # without room for three labels
        shown, x, left = numbers_of("paper.gp", "LabelShown"), numbers_of("paper.gp", "LabelX"), variable("paper.gp", "map_left")
        check(all(at > left for at, is_shown in zip(x, shown) if is_shown), f"{words}: a label without a place: {shown} {x}")
    draw(portolan, "a", "--compact", "--shift", "b", "-o", "paper.svg")
    check(variable("paper.gp", "width") - variable("paper.gp", "map_right") > SHIFT_KEY, "compact shift: 'no examples' is cut")
    draw(portolan, "a", "--width", "3.3in", "-o", "dots.png")
    with open("dots.png", "rb") as file:
        check(abs(int.from_bytes(file.read()[16:20], "big") - 3.3 * 300) < 2, "dots.png: 300 dots to an inch")
    draw(portolan, "a", "--font", "Times New Roman,9", "-o", "paper.svg")
    with open("paper.svg", encoding="utf-8") as file:
        svg = file.read()
    check(set(re.findall(r'font-family="([^"]*)"', svg)) == {"Times New Roman, Verdana, Arial, sans-serif"}, "fonts")
    check(variable("paper.gp", "width") == 1000 and abs(variable("paper.gp", "text_size") - 9 / 11) < 1e-9, "font: its size")
    for path, font, is_said in (("font.pdf", "No Such Font", True), ("font.png", "No Such Font,9", True), ("font.svg", "No Such Font", False), ("font.pdf", "DejaVu Sans", False), ("font.pdf", "DejaVu Sans Bold", False),
                                ("font.pdf", "Monospace", False), ("font.pdf", "DejaVu Sansation", True)):
        done = subprocess.run([portolan, "map", "a", "-o", path, "--font", font], capture_output=True, text=True)
        check(done.returncode == 0 and (f"warning: {path}: no font here is called '{font.split(',')[0]}': '" in done.stderr) == is_said, f"--font: {done}")
    for words, said in ((["--width", "3.3"], "say a length with its unit"), (["--width", "3.3ft"], "say a length with its unit"), (["--width", "0.5in"], "from 1 to 40in"),
                        (["--width", "nanin"], "from 1 to 40in"), (["--font", "x`y"], "not `"), (["--font", "a'b"], "not '"), (["--font", "x,300"], "from 4 to 40"),
                        (["--font", "x,"], "from 4 to 40"), (["--regions", "0.1"], "say V,C"), (["--regions", "auto", "--x", "aum"], "leave --x and --y out"),
                        (["--regions", "auto", "--shift", "b"], "--shift"), (["--regions", "none", "-o", "x.html"], "of pictures"),
                        (["--regions", "auto", "-o", "x.gif"], "other cuts after each epoch"), (["--width", "3in", "-o", "x.html"], "of pictures")):
        done = subprocess.run([portolan, "map", "a", "-o", "x.svg", *words], capture_output=True, text=True)
        check(done.returncode == 2 and said in done.stderr, f"{words}: {done}")
    done = subprocess.run([portolan, "map", "a", "-o", "x.svg", "--width", "1in"], capture_output=True, text=True)
    check(done.returncode == 1 and "a larger --width" in done.stderr and not os.path.exists("x.svg"), f"1in: {done}")


def check_captions(portolan):
    """No caption reaches the histograms' own; counts without room are left out; a long title is smaller, then cut, and whole in the SVG's title."""
    draw(portolan, "a", "--colour", "first_learned", "-o", "caption.svg")
    with open("caption.gp", encoding="utf-8") as file:
        caption = re.search(r"Caption\[1\] = '(.*?)'", file.read()).group(1)
    check("grey: no first learned" in caption and 72 + 0.55 * 13.3 * len(caption) < 838, f"caption: {caption}")
    for words, wanted in ((["--shift", LONG], [f"{LONG} (900 examples, orange) less a (20,000 examples, blue)"]),
                          (["--shift", LONG, "--width", "3.3in"], [f"{LONG} (orange) less a (blue)"]), (["--beside", LONG, "--width", "8.4cm"], ["a · 20,000 examples", LONG])):
        draw(portolan, "a", *words, "-o", "caption.svg")
        with open("caption.gp", encoding="utf-8") as file:
            captions = re.findall(r"Caption\[\d\] = '(.*?)'", file.read())
        check(captions == wanted, f"{words}: {captions}")
    for title, points, whole in (("short", 16, True), ("words " * 12, 14, True), ("words " * 60, 11, False)):
        draw(portolan, "a", "--title", title, "-o", "title.svg")
        with open("title.gp", encoding="utf-8") as file:
            shown = re.search(r"map_title = '(.*?)'", file.read()).group(1)
        with open("title.svg", encoding="utf-8") as file:
            check(f"<title>{title}</title>" in file.read(), f"{title}: not in the SVG")
        check((shown == title) == whole and variable("title.gp", "title_points") <= points, f"{title}: {shown}, {variable('title.gp', 'title_points')}")


def cells_of(script):
    with open(script) as file:
        text = file.read()
    return tuple(int(re.search(rf"^cells_{axis} = (\d+)$", text, re.M).group(1)) for axis in "yx")


def check_shift(portolan, first, second):
    report = draw(portolan, "a", "--shift", "b", "-o", "shift.png")
    shape = cells_of("shift.gp")
    shares = []
    for p in (first, second):
        at = cells(p.mean(0), report, "y", shape[0]) * shape[1] + cells(p.std(0), report, "x", shape[1])
        shares.append(100 * np.bincount(at, minlength=shape[0] * shape[1]) / p.shape[1])
    wanted = np.where(shares[0] + shares[1] > 0, shares[1] - shares[0], np.nan)
    same_cells("shift", read_cells("shift.map-data", shape), wanted)


def path_key(script):
    return re.findall(r"^PathKey\[\d+\] = '(.*)'; PathKeyKind\[\d+\] = (\d)", script, re.M)


def check_path(portolan, p):
    report = draw(portolan, "a", "--path", "5,17001", "-o", "path.png")
    for path in report["paths"]:
        own = p[:, int(path["id"])]
        wanted = [[own[: e + 1].std(), own[: e + 1].mean()] for e in range(EPOCHS)]
        check(np.allclose(path["places"], wanted, atol=1e-9), f"path of {path['id']}")
    with open("path.gp", encoding="utf-8") as file:
        text = file.read()
    check("key_title = 'after epoch'" in text and path_key(text) == [("0", "1"), ("1–3", "2"), ("4, with id", "3"), ("others", "4")], "path: the key")
    for epochs, wanted in ((":1", [("0, with id", "1"), ("others", "4")]), (":2", [("0", "1"), ("1, with id", "3"), ("others", "4")]),
                           (":3", [("0", "1"), ("1", "2"), ("2, with id", "3"), ("others", "4")])):
        draw(portolan, "a", "--path", "5", "--epochs", epochs, "--width", "3.3in", "-o", "short.png")
        with open("short.gp", encoding="utf-8") as file:
            check(path_key(file.read()) == wanted, f"path: the key of {epochs}")
    arrows = [[float(x) for x in line.split()] for line in text.split("$arrows << EOD\n")[1].split("EOD")[0].splitlines() if line]
    check(len(arrows) >= 4 and len(arrows) % 4 == 0, f"path: arrows {arrows}")
    ways = [np.diff(np.array(path["places"]), axis=0) for path in report["paths"]]
    for tip, left, right, _ in (np.array(arrows[i : i + 4]) for i in range(0, len(arrows), 4)):
        forward = tip[:2] - (left[:2] + right[:2]) / 2
        turns = [np.cross(forward, way) / np.linalg.norm(forward) / np.linalg.norm(way) for way in ways[int(tip[2]) - 1] if forward @ way > 0]
        check(min(map(abs, turns), default=1) < 1e-6, f"path: an arrow at {tip} points nowhere")
    for number, path, x, y in zip(*(numbers_of("path.gp", f"Number{what}") for what in ("Epoch", "Path", "X", "Y"))):
        place = report["paths"][int(path) - 1]["places"][int(number)]
        at = [72 + (place[0] + 0.012) / 0.524 * 604, 66 + (place[1] + 0.03) / 1.06 * 552]
        check(np.hypot(x - at[0], y - at[1]) < 16, f"path: {number} is not beside its point")
    check({0, 4} <= set(numbers_of("path.gp", "NumberEpoch")), "path: numbers of epochs")


def check_frames(portolan, p):
    report = draw(portolan, "b", "--frames", "frames", "--sample", "100", "-o", "moving.gif")
    for e in range(EPOCHS):
        points = np.fromfile(f"frames/epoch-00{e}.map-data", "<f4").reshape(-1, 4)[1::2].astype("f8")
        places = np.stack([p[: e + 1].std(0), p[: e + 1].mean(0)], 1)
        nearest = np.abs(points[:, None, :2] - places[None]).max(2).min(1)
        check(nearest.max() < 1e-6, f"frame {e}: {nearest.max()} from any example")
        check(numbers_of(f"frames/epoch-00{e}.gp", "FrameEpoch") == [e], f"frame {e}: its epoch in large type")
        check(report["maps"][e]["shown"] == 100 and report["maps"][e]["last_epoch"] == e, f"frame {e}: report")


def write_counts(name, report, counts, means=None):
    """A file of cells, as portolan.spark's map_counts() writes it."""
    shape = counts.shape
    edges = {a: report[a]["from"] + np.arange(n + 1) / n * (report[a]["to"] - report[a]["from"]) for a, n in zip("yx", shape)}
    with open(name, "w") as file:
        file.write("x_low,x_high,y_low,y_high,count" + (",colour\n" if means is not None else "\n"))
        for y in range(shape[0]):
            for x in range(shape[1]):
                mean = "" if means is None else "," if np.isnan(means[y, x]) else f",{means[y, x]}"
                file.write(f"{edges['x'][x]},{edges['x'][x + 1]},{edges['y'][y]},{edges['y'][y + 1]},{int(counts[y, x])}{mean}\n")


def check_counted(portolan):
    """Cells counted elsewhere are drawn as those counted here."""
    report = draw(portolan, "a", "--density", "-o", "here.svg")
    shape = cells_of("here.gp")
    counts = np.nan_to_num(read_cells("here.map-data", shape)).reshape(shape)
    write_counts("counts.csv", report, counts)
    there = draw(portolan, "--from", "counts.csv", "-o", "there.svg")
    check(cells_of("there.gp") == shape and there["x"] == report["x"] and there["y"] == report["y"], f"counted: {there['x']}")
    check(there["maps"][0]["examples"] == 20000 == counts.sum() and there["colour"] is None, "counted: examples")
    with open("here.map-data", "rb") as here, open("there.map-data", "rb") as other:
        check(here.read() == other.read(), "counted: other cells")
    with open("there.gp") as file:
        text = file.read()
    bars = [line.split() for line in text[text.index("$bars"):].splitlines()[1:] if line[:1].isdigit() or line[:1] == "-"]
    check(sum(float(bar[1]) for bar in bars) == 2 * 20000, "counted: histograms")
    check("x_name = 'variability'" in text and "examples" in text, "counted: names")

    draw(portolan, "a", "--density", "--colour", "correctness", "-o", "here.svg")
    means = read_cells("here.map-data", shape).reshape(shape)
    write_counts("means.csv", report, counts, means)
    there = draw(portolan, "--from", "means.csv", "--x", "spread", "--y", "belief", "--colour", "correctness", "-o", "there.svg")
    same_cells("counted means", read_cells("there.map-data", shape), means.ravel())
    check((there["x"]["measure"], there["y"]["measure"], there["colour"]["measure"]) == ("spread", "belief", "correctness"), "counted: names")
    with open("there.gp") as file:
        check("'mean of correctness'" in file.read(), "counted: note")

    with open("counts.csv") as file:
        head, *lines = file.read().splitlines()
    with open("thin.jsonl", "w") as file:
        for line in lines:
            if not line.endswith(",0"):
                file.write(json.dumps({k: float(v) for k, v in zip(head.split(","), line.split(","))}) + "\n")
    there = draw(portolan, "--from", "thin.jsonl", "-o", "there.svg")
    thin = np.nan_to_num(read_cells("there.map-data", cells_of("there.gp")))
    rows, columns = np.flatnonzero(counts.any(1)), np.flatnonzero(counts.any(0))
    check((thin == counts[rows[0]:rows[-1] + 1, columns[0]:columns[-1] + 1].ravel()).all(), "counted: thin")
    check_counted_errors(portolan, head)


def check_counted_errors(portolan, head):
    for lines, wanted in (
        (["0,1,0,1,5", "1,2,0,1,x"], "line 3: field count: 'x' is no number"),
        (["0,1,0,1,5", "1,2,0,1,"], "line 3: field count: it is empty"),
        (["0,1,0,1,5", "1,2,0,1,1.5"], "line 3: field count: 1.5 is no whole number of examples"),
        (["0,1,0,1,-5"], "line 2: field count: -5 is no whole number"),
        (["0,1,0,1,5", "2,1,0,1,1"], "line 3: field x_high: 1 is not above x_low, 2"),
        (["0,1,0,1,5", "0,1,1,1,1"], "line 3: field y_high: 1 is not above y_low, 1"),
        (["0,1,0,1,5", "1,3,0,1,1"], "line 3: field x_high: cells must be of one size"),
        (["0,1,0,1,5", "0,1,1.5,2.5,1", "0,1,3,4,1"], "line 3: field y_high: cells must be of one size"),
        (["0,1,0,1,5", "0,1,0,1,1"], "line 3: field x_low: this cell stands in line 2 already"),
        (["0,1,0,1,5", "0,1,1e6,1000001,1"], "line 2: field y_high: cells of this size are more than 1000"),
        (["0,1,0,1,0"], "every count is 0"),
        ([], "has no cells"),
    ):
        with open("wrong.csv", "w") as file:
            file.write("\n".join([head, *lines]) + "\n")
        done = subprocess.run([portolan, "map", "--from", "wrong.csv", "-o", "wrong.svg"], capture_output=True, text=True)
        check(done.returncode == 1 and "wrong.csv" in done.stderr and wanted in done.stderr and not os.path.exists("wrong.svg"), f"{lines}: {done}")
    for words, wanted in ((["--colour", "aum"], "--colour: counts.csv has cells without the column 'colour'"),
                          (["--beside", "a"], "a map of them has no run beside it"),
                          (["--colour", "v", "--colour-file", "values.csv"], "--colour")):
        done = subprocess.run([portolan, "map", "--from", "counts.csv", *words, "-o", "wrong.svg"], capture_output=True, text=True)
        check(done.returncode == 1 and wanted in done.stderr, f"{words}: {done}")


def check_published(portolan):
    if not os.path.exists(COORDINATES):
        print(f"not there, left out: {COORDINATES}")
        return
    with open(COORDINATES) as file:
        rows = [json.loads(line) for line in file]
    confidence, variability = (np.array([row[k] for row in rows]) for k in ("confidence", "variability"))
    report = draw(portolan, "--from", COORDINATES, "-o", "published.png")["maps"][0]
    ambiguous = variability >= np.sort(variability)[::-1][len(rows) // 3 - 1]
    check(report["examples"] == len(rows) == 40398, "published: examples")
    check(report["regions"]["ambiguous"] == ambiguous.sum(), "published: ambiguous")
    check(report["regions"]["easy-to-learn"] == (~ambiguous & (confidence >= 0.5)).sum(), "published: easy-to-learn")
    with open("published.gp") as file:
        check("Level[2] = '1 of 6'" in file.read(), "published: six epochs")


def main():
    portolan, maker = (os.path.abspath(path) for path in sys.argv[1:3])
    a, b = make_run("a", 20000, 1), make_run("b", 900, 2)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["PORTOLAN_STORE"] = os.path.join(folder, "store")
        stores.make_store(maker, "store", [a[0], b[0], make_run(LONG, 900, 2)[0]])
        check_points(portolan, a[1], a[2])
        check_cells(portolan, a[1], a[2])
        check_counts(portolan, a[1], a[2])
        check_compact(portolan)
        check_captions(portolan)
        check_regions(portolan, a[1])
        check_on_paper(portolan)
        check_counted(portolan)
        check_shift(portolan, a[1], b[1])
        check_path(portolan, a[1])
        check_frames(portolan, b[1])
        check_published(portolan)
        os.chdir("/")
    print("\n".join(problems) if problems else "maps: as calculated")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
