"""What the studies compute by themselves (tools/studies/calibration.py), beside the definitions, counted out; and what they keep (stored.py).

    run_studies.py TOOLS
"""

import os
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, os.path.join(sys.argv[1], "studies"))
import calibration
import charts
from stored import stored


def check_error():
    """Guo et al. 2017, equation 5, example by example; a model that is as sure as it is right has almost none."""
    rng = np.random.default_rng(1)
    probs = rng.dirichlet(np.full(4, 0.4), 5000)
    gold = np.array([rng.choice(4, p=p) for p in probs])
    for sharpen in (1, 3):
        sharp = probs ** sharpen / (probs ** sharpen).sum(1, keepdims=True)
        bins = [[] for _ in range(calibration.BINS)]
        for p, k in zip(sharp, gold):
            bins[min(int(max(p) * calibration.BINS), calibration.BINS - 1)].append((max(p), float(np.argmax(p) == k)))
        want = sum(abs(sum(right for _, right in one) / len(one) - sum(sure for sure, _ in one) / len(one)) * len(one) for one in bins if one) / len(gold)
        error = calibration.expected_error(*calibration.bins_of(sharp, gold))
        assert abs(error - want) < 1e-12 and (error < 0.02 if sharpen == 1 else error > 0.1), (sharpen, error, want)


def check_threshold():
    """No threshold does better, with ties and without; of equally good ones it is the nearest to a half."""
    rng = np.random.default_rng(2)
    for trial in range(200):
        p = rng.random(30) if trial % 2 else rng.integers(0, 6, 30) / 5
        is_right = rng.random(30) < p ** 2
        threshold, accuracy = calibration.best_threshold(p, is_right)
        assert calibration.accuracy_at(threshold, p, is_right) == accuracy, (p, is_right, threshold)
        steps = np.concatenate([[-1], p, (np.sort(p)[1:] + np.sort(p)[:-1]) / 2, [1]])
        assert max(calibration.accuracy_at(step, p, is_right) for step in steps) <= accuracy
    assert calibration.best_threshold(np.array([0.1, 0.2, 0.6, 0.9]), np.array([False, False, True, True])) == (0.4, 1.0)
    assert calibration.best_threshold(np.array([0.9, 0.95]), np.array([True, True]))[0] == 0.5
    assert calibration.best_threshold(np.array([0.9, 0.95]), np.array([False, False]))[0] == 0.95


def check_densities():
    probs = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    one = calibration.calibrate(probs, np.array([0, 1, 1]), np.array([0, 0, 0]))  # the cue is right for the first alone
    assert one.densities[True].argmax() == int(0.9 * calibration.DENSITY) and abs(one.densities[True].sum() - calibration.DENSITY) < 1e-9
    assert (one.at_half, one.at_threshold) == (2 / 3, 1) and abs(one.threshold - 0.75) < 1e-12


def check_stored(folder):
    """What was found is found once, and anew where something that it depends on has changed, or is not known."""
    path, found = folder / "study/seed1.json", []

    def find():
        found.append(len(found))
        return {"accuracy": [float(len(found))]}

    for made_with, want in (({"step": 0.1, "shares": (1, 2)}, 1), ({"step": 0.1, "shares": (1, 2)}, 1), ({"step": 0.2, "shares": (1, 2)}, 2), ({"step": 0.2}, 3)):
        assert stored(path, made_with, find) == {"accuracy": [float(want)]}, made_with
    for old in ('{"accuracy": [9]}', "[[1], {}]"):
        path.write_text(old)
        assert stored(path, {"step": 0.2}, find) == {"accuracy": [float(len(found))]}
    assert len(found) == 5


def check_chart(folder):
    """Any text in a picture is a text."""
    panel = charts.Panel("it's `date`", "x", "y", [charts.Series("'a", [(1, 2, 0.5), (10, 3, 0.1)]), charts.Series("b", [(1, 1), (10, 1)], 2, style="lines")], tics=(1, 10))
    charts.draw(folder / "picture.png", [panel, panel])
    assert (folder / "picture.png").read_bytes().startswith(b"\x89PNG")
    panel = charts.Panel("both", "x", "y", [charts.Series("a", [(1e5, 2), (1e6, 30)])], x_range=(5e4, 2e6), tics=(1e5, 1e6), y_tics=(1, 10, 100))
    charts.draw(folder / "picture.svg", [panel])
    assert ">10⁵</" in (folder / "picture.svg").read_text(encoding="utf-8")
    assert [charts.power(number) for number in (1, 10_000, 100_000, 250_000, 1e9)] == ["1", "10000", "10⁵", "250000", "10⁹"]


def main():
    check_error()
    check_threshold()
    check_densities()
    with tempfile.TemporaryDirectory() as folder:
        check_chart(Path(folder))
        check_stored(Path(folder))
    print("calibration as by its definitions; what was found is kept")


if __name__ == "__main__":
    main()
