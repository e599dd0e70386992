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
import stores  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ.get("PORTOLAN_SHARED_DATA", os.path.join(HERE, "..", "..", "..", "shared", "data"))
COORDINATES = os.path.abspath(os.path.join(DATA, "winogrande_roberta_0_6_data_map_coordinates.jsonl"))
EPOCHS = 5
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
    with np.errstate(invalid="ignore"):
        return np.bincount(at[there], values[there], shape[0] * shape[1]) / np.bincount(at[there], minlength=shape[0] * shape[1])


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
    same_cells("means", read_cells("means.map-data", shape), cell_means(spread, mean, values, report, shape))
    check(report["colour"]["examples_without"] == np.isnan(values).sum(), "means: examples without")
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


def check_path(portolan, p):
    report = draw(portolan, "a", "--path", "5,17001", "-o", "path.png")
    for path in report["paths"]:
        own = p[:, int(path["id"])]
        wanted = [[own[: e + 1].std(), own[: e + 1].mean()] for e in range(EPOCHS)]
        check(np.allclose(path["places"], wanted, atol=1e-9), f"path of {path['id']}")


def check_frames(portolan, p):
    report = draw(portolan, "b", "--frames", "frames", "--sample", "100", "-o", "moving.gif")
    for e in range(EPOCHS):
        points = np.fromfile(f"frames/epoch-00{e}.map-data", "<f4").reshape(-1, 4)[1::2].astype("f8")
        places = np.stack([p[: e + 1].std(0), p[: e + 1].mean(0)], 1)
        nearest = np.abs(points[:, None, :2] - places[None]).max(2).min(1)
        check(nearest.max() < 1e-6, f"frame {e}: {nearest.max()} from any example")
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
        check("Level[2] = '0.17'" in file.read(), "published: six epochs")


def main():
    portolan, maker = (os.path.abspath(path) for path in sys.argv[1:3])
    a, b = make_run("a", 20000, 1), make_run("b", 900, 2)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["PORTOLAN_STORE"] = os.path.join(folder, "store")
        stores.make_store(maker, "store", [a[0], b[0]])
        check_points(portolan, a[1], a[2])
        check_cells(portolan, a[1], a[2])
        check_compact(portolan)
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
