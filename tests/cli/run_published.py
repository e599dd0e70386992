"""Published training dynamics and coordinates, through import, measures, selection and map; beside NumPy.

    run_published.py PORTOLAN PORTOLAND MAKE_STORE

The data stands beside the clone (shared/data, or $PORTOLAN_SHARED_DATA). Without it the test says so and is skipped (status 77).
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import stores  # noqa: E402

DATA = os.environ.get("PORTOLAN_SHARED_DATA", os.path.join(HERE, "..", "..", "..", "shared", "data"))
DYNAMICS = os.path.join(DATA, "cartography_sample", "training_dynamics")
COORDINATES = os.path.join(DATA, "winogrande_roberta_0_6_data_map_coordinates.jsonl")
SKIPPED = 77


def read_lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file if line.strip()]


def call(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def published_measures(folder):
    """What td_metrics.jsonl should hold, by guid, from the logits alone and in float64."""
    epochs = len(os.listdir(folder))
    probabilities, correct = {}, {}
    for epoch in range(epochs):
        for line in read_lines(os.path.join(folder, f"dynamics_epoch_{epoch}.jsonl")):
            logits, gold = np.array(line[f"logits_epoch_{epoch}"], "f8"), line["gold"]
            odds = np.exp(logits - logits.max())
            probabilities.setdefault(line["guid"], []).append(odds[gold] / odds.sum())
            correct.setdefault(line["guid"], []).append(bool(logits.argmax() == gold))
    measures = {}
    for guid, p in probabilities.items():
        right = correct[guid]
        events = sum(a and not b for a, b in zip(right, right[1:]))
        measures[guid] = {"confidence": np.mean(p), "variability": np.std(p), "correctness": sum(right),
                          "threshold_closeness": np.mean(p) * (1 - np.mean(p)),
                          "forgetfulness": events if any(right) else 1000}
    return measures, list(probabilities)


def check_import(portolan, portoland):
    want, order = published_measures(DYNAMICS)
    call(portoland, "import", DYNAMICS, "--run", "sample", "--store", "store")
    lines = [json.loads(line) for line in call(portolan, "metrics", "sample", "--format", "cartography").splitlines()]
    assert [line["guid"] for line in lines] == sorted(want, key=lambda guid: (isinstance(guid, str), guid)), "ids"
    worst = 0.0
    for line in lines:
        assert line["index"] == order.index(line["guid"]), line
        for name, value in want[line["guid"]].items():
            if isinstance(value, int):
                assert line[name] == value, (name, line, value)
            else:
                worst = max(worst, abs(line[name] - value))
    assert worst < 2e-7, worst
    # The sample has ten lines of each epoch, whose examples differ: the check says what is missing, and nothing else.
    got = subprocess.run([portolan, "check", "sample", "--json"], capture_output=True, text=True)
    report = json.loads(got.stdout)
    observed = sum(epoch["observed"] for epoch in report["epochs"])
    assert got.returncode == 3 and len(report["problems"]) == 1 and report["damaged"] == 0, report
    assert report["missing"] == len(want) * len(report["epochs"]) - observed, report
    return f"{len(lines)} examples imported, largest difference {worst:.2g}"


def trajectories(points):
    """Six probabilities with the published mean and deviation, where two values within 0 and 1 can have them."""
    c = np.array([point["confidence"] for point in points])
    v = np.array([point["variability"] for point in points])
    values, possible = np.zeros((6, len(points))), np.zeros(len(points), bool)
    for low in range(1, 6):  # so many epochs below the mean, the others above it
        below, above = c - v * np.sqrt((6 - low) / low), c + v * np.sqrt(low / (6 - low))
        fits = ~possible & (below >= 0) & (above <= 1)
        values[:low, fits], values[low:, fits] = below[fits], above[fits]
        possible |= fits
    return possible, values


def check_coordinates(portolan, maker):
    points = read_lines(COORDINATES)
    assert len(points) == 40398 and len({point["guid"] for point in points}) == len(points)
    for point in points:
        assert 0 <= point["confidence"] <= 1 and 0 <= point["correctness"] <= 6, point
        assert point["variability"] ** 2 <= point["confidence"] * (1 - point["confidence"]) + 1e-9, point
    possible, values = trajectories(points)
    assert possible.sum() > 30000, possible.sum()
    chosen = [point for point, is_possible in zip(points, possible) if is_possible]
    values = values[:, possible].astype("f4")
    guids = np.array([point["guid"] for point in chosen])
    right = np.array([point["correctness"] for point in chosen])
    batches = [stores.batch(e, guids, values[e], e < right) for e in range(6)]
    stores.make_store(maker, "published", [stores.run("winogrande", batches)])
    os.environ["PORTOLAN_STORE"] = "published"
    call(portolan, "metrics", "winogrande", "-o", "m.npy")
    table = np.load("m.npy")
    order = np.argsort(guids)
    assert (table["id"] == guids[order]).all()
    assert (np.rint(table["correctness"] * 6) == right[order]).all()
    worst = 0.0
    for name in ("confidence", "variability"):
        want = np.array([point[name] for point in chosen])[order]
        worst = max(worst, float(np.abs(table[name] - want).max()))
    assert worst < 1e-7, worst
    # The selection is the published ranking, up to what float32 makes of neighbours.
    third = call(portolan, "select", "winogrande", "--by", "ambiguous", "--fraction", "0.33").split()
    variability = {point["guid"]: point["variability"] for point in chosen}
    ranked = sorted(variability.values(), reverse=True)[:len(third)]
    assert len(third) == int(0.33 * len(chosen) + 0.5)
    assert max(abs(variability[int(guid)] - value) for guid, value in zip(third, ranked)) < 1e-7
    call(portolan, "map", "winogrande", "-o", "winogrande.png")
    assert os.path.getsize("winogrande.png") > 50000
    return f"{len(chosen):,} published points, largest difference {worst:.2g}"


def main():
    portolan, portoland, maker = (os.path.abspath(path) for path in sys.argv[1:4])
    missing = [path for path in (DYNAMICS, COORDINATES) if not os.path.exists(path)]
    if missing:
        print("SKIPPED, as these are not there: " + ", ".join(os.path.normpath(path) for path in missing), file=sys.stderr)
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["PORTOLAN_STORE"] = "store"
        print(check_import(portolan, portoland))
        print(check_coordinates(portolan, maker))
        os.chdir("/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
