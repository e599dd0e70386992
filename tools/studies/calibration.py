"""How far a model's probabilities can be believed (Yaghoobzadeh et al. 2021, Fig. 6): where it is sure of a share p, is it right in a
share p? And, where half of the cues mislead: from which probability of the cue's class on is the cue best believed?

The expected calibration error is that of Guo et al. 2017, equation 5: over bins of the largest probability, the mean distance between
the share that is right and the mean probability, weighted by how many examples a bin has.
"""

from dataclasses import dataclass

import numpy as np

import charts

BINS = 15       # of the largest probability
DENSITY = 25    # of the probability of the cue's class
HALF = 0.5      # the share of cues that are right where calibration is looked at


@dataclass
class Calibration:
    """Of one model with one seed. The counts and sums are by bin; the densities by whether the cue is right."""
    counts: np.ndarray
    probability: np.ndarray
    right: np.ndarray
    densities: dict  # of True and False
    error: float
    at_half: float
    threshold: float
    at_threshold: float


def bins_of(probs, gold):
    """By bin of the largest probability: how many examples, the sum of these probabilities, how many are right."""
    largest, right = probs.max(axis=1), probs.argmax(axis=1) == gold
    place = np.minimum((largest * BINS).astype(int), BINS - 1)
    return [np.bincount(place, weights, BINS) for weights in (None, largest, right)]


def expected_error(counts, probability, right):
    return float(np.abs(right - probability).sum() / counts.sum())


def accuracy_at(threshold, p, is_right):
    """How often "the cue is right where p is above the threshold" is true."""
    return float(((p > threshold) == is_right).mean())


def best_threshold(p, is_right):
    """The threshold with the highest accuracy, and this; midway between two neighbouring values of p, or beyond all. Of equal ones the nearest to 0.5."""
    order = np.argsort(p)
    values = p[order]
    hits = np.concatenate([[0], np.cumsum(~is_right[order])]) + np.concatenate([np.cumsum(is_right[order][::-1])[::-1], [0]])
    cuts = np.concatenate([[min(0.5, np.nextafter(values[0], -1))], (values[1:] + values[:-1]) / 2, [max(0.5, values[-1])]])
    hits[1:-1][values[1:] == values[:-1]] = -1  # no threshold parts equal values
    best = np.flatnonzero(hits == hits.max())
    at = best[np.argmin(np.abs(cuts[best] - 0.5))]
    return float(cuts[at]), float(hits[at] / len(p))


def calibrate(probs, gold, cue):
    """probs: examples × classes; gold and cue: a class each."""
    counts, probability, right = bins_of(probs, gold)
    p, is_right = probs[np.arange(len(cue)), cue], cue == gold
    densities = {is_so: np.histogram(p[is_right == is_so], DENSITY, (0, 1), density=True)[0] for is_so in (True, False)}
    return Calibration(counts, probability, right, densities, expected_error(counts, probability, right), accuracy_at(0.5, p, is_right),
                       *best_threshold(p, is_right))


def as_json(one):
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(one).items()} | {
        "densities": [one.densities[is_so].tolist() for is_so in (False, True)]}


def from_json(of):
    arrays = {name: np.array(of[name]) for name in ("counts", "probability", "right")}
    return Calibration(**of | arrays | {"densities": dict(zip((False, True), map(np.array, of["densities"])))})


# Of several seeds: {model: [Calibration]}

def table_of(found):
    def cell(values, form):
        return f"{np.mean(values):{form}} ± {np.std(values, ddof=1):{form}}"

    rows = [["half of the cues mislead", "ECE", "cue believed above 0.5: right", "best threshold", "right with it"]]
    for name, some in found.items():
        rows.append([name, *(cell([getattr(one, what) for one in some], ".3f") for what in ("error", "at_half", "threshold", "at_threshold"))])
    return rows


def draw(picture, found):
    """The reliability diagram of all models; and for the first two the densities of p(the cue's class)."""
    lines = [charts.Series("as sure as right", [(0, 0), (1, 1)], 5, 2, style="lines")]
    for (name, some), hue, dash, mark in zip(found.items(), (1, 2, 3), (1, 1, 2), (7, 5, 9)):
        counts, probability, right = (sum(getattr(one, what) for one in some) for what in ("counts", "probability", "right"))
        filled = counts >= 0.001 * counts.sum()  # a bin with fewer is chance
        spread = np.array([np.divide(one.right, one.counts, out=np.full(BINS, np.nan), where=one.counts > 0) for one in some]).std(axis=0, ddof=1)
        lines.append(charts.Series(name, list(zip(probability[filled] / counts[filled], right[filled] / counts[filled], np.nan_to_num(spread[filled]))), hue, dash, mark))
    panels = [charts.Panel("reliability", "largest probability", "share that is right", lines, (0, 1), (0, 1))]
    middles = (np.arange(DENSITY) + 0.5) / DENSITY
    for name, some in list(found.items())[:2]:
        threshold = np.mean([one.threshold for one in some])
        parts = [charts.Series(title, list(zip(middles, np.mean([one.densities[is_so] for one in some], axis=0))), hue, style="boxes")
                 for title, is_so, hue in (("cue right", True, 1), ("cue misleads", False, 2))]
        parts.append(charts.Series(f"best threshold {threshold:.2f}", [(threshold, 0), (threshold, 25)], 4, 2, style="lines"))
        panels.append(charts.Panel(name, "probability of the class that the cue names", "density", parts, (0, 1), (0, 25)))
    charts.draw(picture, panels, "top left")
