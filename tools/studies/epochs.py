"""Which epochs should a third of the examples be chosen by? Judges the rule of --epochs auto, and variability about the common trend.

A network of one hidden layer learns a data set for 30 epochs, at a large or a small step, from the labels as they are or with 5% of them
changed. A third of its examples is chosen by variability over all epochs, over those that the rule takes, from each of eight epochs on,
by variability about the common trend, or at random; a new network learns them alone, for as many steps, and predicts a quarter of the
data that was held out. The rule was made on digits and words; the other data sets were first looked at when it was fixed.
"""

import json
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import small_data
from forgettable import BATCH, Network

EPOCHS, THIRD, CHANGED = 30, 1 / 3, 0.05
STEPS = (0.05, 0.01)
STARTS = (1, 2, 3, 5, 8, 12, 16, 22)
FINE_TUNED = 10  # epochs, at a fifth of the step
SEEDS = tuple(range(1, 11))
TITLES = {
    "everything": "everything", "random": "random", "whole": "variability, all epochs", "auto": "variability, epochs of the rule",
    "best": "variability, best start", "detrended": "detrended, all epochs", "detrended, step 1": "detrended, without burn-in",
    "auto, margin > 0": "epochs of the rule, mean margin above 0",
}

TRAINED = (*(f"from {start}" for start in (0, *STARTS)), *(title for title in TITLES if title not in ("whole", "best")))


# The rule, and the measures: portolan's own are in C

def burn_in(p):
    """The first steps as long as most of their mean squared change is the mean change, that all examples share."""
    change = np.diff(p, axis=1)
    shared = change.mean(0) ** 2 / ((change**2).mean(0) + 1e-30)
    return int(np.argmax(np.concatenate([[0], np.cumsum(shared - 0.5)])[:-2]))


def first_epoch(p):
    """Where there is a burn-in, further epochs are left out until the common trend is a quarter of variability at most."""
    start = burn_in(p)
    while 0 < start < p.shape[1] - 4 and p[:, start:].mean(0).var() > p[:, start:].var(1).mean() / 4:
        start += 1
    return start


def detrended(p):
    """How far each example's p(gold) is from what the run's mean predicts for it, with a gain of its own."""
    mean, own = p.mean(0), p - p.mean(1, keepdims=True)
    mean = mean - mean.mean()
    gain = own @ mean / (mean @ mean + 1e-12)
    return (own - np.outer(gain, mean)).std(1)


# One cell

def change_labels(gold, share, rng):
    rows, classes = rng.random(len(gold)) < share, gold.max() + 1
    given = gold.copy()
    given[rows] = (given[rows] + rng.integers(1, classes, rows.sum())) % classes
    return given


def record(network, x, given, epochs, step, log=None):
    """Probabilities of each class, [example, epoch, class], and margins, [example, epoch]; `log` gets each epoch's logits and probabilities."""
    probs, margins, rows = np.empty((len(given), epochs, given.max() + 1), "f4"), np.empty((len(given), epochs)), np.arange(len(given))
    for epoch in range(epochs):
        network.train_epoch(x, given, step)
        logits = network.forward(x)[1]
        probs[:, epoch] = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        others = logits.copy()
        others[rows, given] = -np.inf
        margins[:, epoch] = logits[rows, given] - others.max(1)
        if log:
            log(epoch, logits, probs[:, epoch])
    return probs, margins


def fine_tuned_start(x, gold, given, classes, seed, step):
    """The rule's first epoch in a run that begins from good weights: those of the same network, trained on half of the data."""
    first, second = np.array_split(np.random.default_rng(seed).permutation(len(gold)), 2)
    network = Network(x.shape[1], classes, seed, small_data.active(x))
    for _ in range(EPOCHS):
        network.train_epoch(x[first], gold[first], step)
    p = record(network, x[second], given[second], FINE_TUNED, step / 5)[0][np.arange(len(second)), :, given[second]]
    return first_epoch(p)


def values_of(p, margins):
    """{method: what the examples are chosen by}, and the first epochs of the rule."""
    first, auto = burn_in(p), first_epoch(p)
    values = {f"from {start}": p[:, start:].std(1) for start in (0, *STARTS)}
    values |= {"auto": p[:, auto:].std(1), "detrended": detrended(p), "detrended, step 1": detrended(p[:, first:])}
    values["auto, margin > 0"] = np.where(margins[:, auto:].mean(1) < 0, -1, values["auto"])
    return values, {"burn-in": first, "start": auto}


def cell(name, step, share, seed, known):
    """What is known of a cell, and what was not: the accuracy by each method, and the first epochs."""
    x, gold, *held_out = small_data.load(name, seed)
    rng, classes = np.random.default_rng(seed), gold.max() + 1
    given, rounds, third = change_labels(gold, share, rng), EPOCHS * -(-len(gold) // BATCH), round(THIRD * len(gold))

    def accuracy(chosen, draw=0):
        network = Network(x.shape[1], classes, seed + 100 + 1000 * draw, small_data.active(x))
        for _ in range(-(-rounds // -(-len(chosen) // BATCH))):
            network.train_epoch(x[chosen], given[chosen], step)
        return network.accuracy(*held_out)

    network = Network(x.shape[1], classes, seed, small_data.active(x))
    probs, margins = record(network, x, given, EPOCHS, step)
    values, starts = values_of(probs[np.arange(len(given)), :, given].astype(float), margins)
    accuracies, same = dict(known.get("accuracy", {})), {}  # rules often choose the same
    if "random" not in accuracies:
        accuracies["everything"] = network.accuracy(*held_out)
        accuracies["random"] = np.mean([accuracy(rng.permutation(len(gold))[:third], draw) for draw in (0, 1)])
    for title in (title for title in values if title not in accuracies):
        chosen = np.sort(np.argsort(-values[title], kind="stable")[:third])
        key = chosen.tobytes()
        same[key] = accuracies[title] = same[key] if key in same else accuracy(chosen)
    tuned = known["fine-tuned start"] if "fine-tuned start" in known else fine_tuned_start(x, gold, given, classes, seed, step)
    return {"accuracy": accuracies, **starts, "fine-tuned start": tuned}


def stored_cell(folder, name, step, share, seed):
    """From its file, if that has all methods of today."""
    path = folder / f"{name}-step{step}-changed{share}-seed{seed}.json"
    found = json.loads(path.read_text()) if path.exists() else {}
    if not {*TRAINED} <= {*found.get("accuracy", {})}:
        found = cell(name, step, share, seed, found)
        path.with_suffix(".part").write_text(json.dumps(found))
        path.with_suffix(".part").rename(path)
        print(path.stem, file=sys.stderr)
    return found


# The tables

METHODS = ("whole", "auto", "detrended", "detrended, step 1", "auto, margin > 0")


def summary(cells):
    """{method: (mean, standard deviation)}; best: of the starts, the one with the highest mean."""
    found = {title: (np.mean(values), np.std(values, ddof=1)) for title in TRAINED for values in [[one["accuracy"][title] for one in cells]]}
    best = max((title for title in found if title.startswith("from ")), key=lambda title: found[title][0])
    return found | {"whole": found["from 0"], "best": found[best]}, int(best[5:])


def table(kinds, cells):
    rows = [["data, step", "everything", "random", *(TITLES[title] for title in METHODS[:2]), "its start", TITLES["best"], "start", *(TITLES[title] for title in METHODS[2:])]]
    for (name, step, _), ones in zip(kinds, cells):
        found, start = summary(ones)
        text = {title: f"{100 * mean:.1f} ± {100 * spread:.1f}" for title, (mean, spread) in found.items()}
        starts = [one["start"] for one in ones]
        rows.append([f"{name}, {step}", text["everything"], text["random"], *(text[title] for title in METHODS[:2]),
                     f"{min(starts)}–{max(starts)}" if min(starts) < max(starts) else f"{starts[0]}", text["best"], f"{start}",
                     *(text[title] for title in METHODS[2:])])
    return rows


def beside_rule(title, cells):
    """The mean difference from the rule's epochs over all rows; in how many it is more than two standard errors up, or down, seed by seed."""
    differences = [100 * np.array([one["accuracy"][title] - one["accuracy"]["auto"] for one in ones]) for ones in cells]
    errors = [2 * values.std(ddof=1) / np.sqrt(len(values)) for values in differences]
    up, down = (sum(sign * values.mean() > error for values, error in zip(differences, errors)) for sign in (1, -1))
    return f"{np.mean([values.mean() for values in differences]):+.1f} ({up}+, {down}–)"


def verdicts(cells):
    """For each method: in how many rows it is no worse than random less its spread, and than the best start less its spread."""
    rows = [["a third by", "no worse than random, less its spread", "than the best start, less its spread", "mean accuracy", "less that of the rule's epochs"]]
    found = [summary(ones)[0] for ones in cells]
    for title in ("random", *METHODS, "best"):
        reached = [sum(one[title][0] >= one[other][0] - one[other][1] for one in found) for other in ("random", "best")]
        rows.append([TITLES[title], *(f"{count} of {len(found)}" for count in reached), f"{100 * np.mean([one[title][0] for one in found]):.1f}",
                     "" if title in ("auto", "best") else beside_rule({"whole": "from 0"}.get(title, title), cells)])
    return rows


def study_epochs(out, short):
    """(title, table) of each kind of labels; and a line about fine-tuned runs."""
    folder, seeds = out / "study/epochs", SEEDS[:3] if short else SEEDS
    folder.mkdir(parents=True, exist_ok=True)
    kinds = [(name, step, share) for share in (CHANGED, 0.0) for step in STEPS for name in small_data.NAMES]
    with ProcessPoolExecutor() as pool:
        cells = {(*kind, seed): pool.submit(stored_cell, folder, *kind, seed) for seed in seeds for kind in kinds}
        cells = {kind: [cells[(*kind, seed)].result() for seed in seeds] for kind in kinds}
    tables = []
    for share in (CHANGED, 0.0):
        chosen = sorted((kind for kind in kinds if kind[2] == share), key=lambda kind: small_data.NAMES.index(kind[0]))
        title = f"{f'{share:.0%} of the labels changed' if share else 'labels as they are'}, {len(seeds)} seeds"
        tables += [(title, table(chosen, [cells[kind] for kind in chosen])), (title, verdicts([cells[kind] for kind in chosen]))]
    every = [one for ones in cells.values() for one in ones]
    whole = sum(one["fine-tuned start"] == 0 for one in every)
    return tables, f"Of {len(every)} runs that began from good weights, the rule leaves {whole} whole."
