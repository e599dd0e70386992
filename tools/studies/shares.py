"""Which examples to keep, and how many: by portolan's own rules and by the pruning rules that were published, from one recorded run each.

A network of one hidden layer is recorded while it learns a data set, from the labels as they are or with 5% of them changed. Each rule
then chooses 10, 20, 30, 50 and 70% of the examples; a new network is trained on these alone, for as many steps, and predicts a quarter
of the data that was held out. Each seed has its own split, changed labels, run, draws and networks.
"""

import json
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import charts
import small_data
import epochs
import portolan
from forgettable import BATCH, Network

NAMES = ("digits", "words", "satellite", "spam")
SEEDS = (1, 2, 3, 4, 5)
SHARES = (0.1, 0.2, 0.3, 0.5, 0.7)
CUTS = {0.1: 0.3, 0.2: 0.3, 0.3: 0.2, 0.5: 0.1, 0.7: 0.0}  # of CCS, the harder the pruning the larger, as its authors set it
WRONG = (0.0, 0.05)
EPOCHS, STEP = 30, 0.05
# The chart's lines by kind: easy; by mistakes; by what the model wavers on; over the whole range.
KINDS = (("easy-to-learn",), ("hard-to-learn", "forgetting", "EL2N, ten epochs", "AUM, lowest"),
         ("ambiguous", "ambiguous, no suspects", "Dyn-Unc", "DUAL", "TDDS"), ("DUAL, Beta sampling", "CCS", "S2L"))
HUES, DASHES, MARKS = (4, 2, 3, 1), (1, 2, 4, 3, 5), (7, 5, 9, 11, 13)  # of a kind; and within it


def rules(share):
    """{title: arguments of portolan select}"""
    return {
        "random": ["--by", "random"],
        "ambiguous": ["--by", "ambiguous", "--epochs", "auto"],
        "ambiguous, no suspects": ["--by", "ambiguous", "--epochs", "auto", "--without-suspects"],
        "hard-to-learn": ["--by", "hard-to-learn"],
        "easy-to-learn": ["--by", "easy-to-learn"],
        "forgetting": ["--by", "forgetting"],
        "EL2N, ten epochs": ["--by", "el2n:desc", "--epochs", ":10"],
        "AUM, lowest": ["--by", "aum:asc"],
        "Dyn-Unc": ["--by", "dyn_unc:desc"],
        "DUAL": ["--by", "dual:desc"],
        "DUAL, Beta sampling": ["--by", "dual-beta"],
        "TDDS": ["--by", "tdds:desc"],
        "CCS": ["--by", "prob_margin:asc", "--strata", "50", "--cut", CUTS[share]],
        "S2L": ["--by", "s2l"],
    }


def record(store, x, given, network):
    """Records a run named run."""
    rows = np.arange(len(given))
    with portolan.Run("run", store=store, mode="epoch-end", examples=len(given)) as run:
        def log(epoch, logits, probs):
            run.log_logits(epoch, rows, logits, given, columns={f"prob_{k}": p for k, p in enumerate(probs.T)})  # for TDDS
            run.end_epoch(epoch)

        epochs.record(network, x, given, EPOCHS, STEP, log)


def cell(program, name, wrong, seed):
    """{rule: [accuracy for each share]}"""
    x, gold, *held_out = small_data.load(name, seed)
    given = epochs.change_labels(gold, wrong, np.random.default_rng(seed))
    classes, batches, found = gold.max() + 1, EPOCHS * -(-len(given) // BATCH), {}
    network = Network(x.shape[1], classes, seed, small_data.active(x))
    with tempfile.TemporaryDirectory() as folder:
        record(Path(folder) / "store", x, given, network)
        for share in SHARES:
            for rule, words in rules(share).items():
                command = [program, "select", "run", "--store", f"{folder}/store", "--count", round(share * len(given)), *words, "--seed", seed, "-q"]
                done = subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True)
                chosen = np.array(done.stdout.split(), int)
                new = Network(x.shape[1], classes, seed + 100, small_data.active(x))
                for _ in range(-(-batches // -(-len(chosen) // BATCH))):
                    new.train_epoch(x[chosen], given[chosen], STEP)
                found.setdefault(rule, []).append(new.accuracy(*held_out))
    return found | {"everything": [network.accuracy(*held_out)] * len(SHARES)}


def stored_cell(program, folder, name, wrong, seed):
    path = folder / f"{name}-changed{wrong}-seed{seed}.json"
    if not path.exists():
        found = cell(program, name, wrong, seed)
        path.with_suffix(".part").write_text(json.dumps(found))
        path.with_suffix(".part").rename(path)
        print(path.stem, file=sys.stderr)
    return json.loads(path.read_text())


# The tables and the chart

def summary(cells):
    """{rule: (means, standard deviations)}, each of a number for every share."""
    return {rule: (values.mean(0), values.std(0, ddof=1)) for rule in (*rules(SHARES[0]), "everything") for values in [np.array([one[rule] for one in cells])]}


def beside_random(found):
    """Each rule's mean difference from random over the data sets, and in how many of them it is below random less its spread, or above with it."""
    differences, counts = {}, {}
    for rule in (rule for rule in rules(SHARES[0]) if rule != "random"):
        each = np.array([one[rule][0] - one["random"][0] for one in found.values()])
        spread = np.array([one["random"][1] for one in found.values()])
        differences[rule], counts[rule] = each.mean(0), [(sign * each > spread).sum(0) for sign in (-1, 1)]
    return differences, counts


def heading(first):
    return [first, *(f"{share:.0%}" for share in SHARES)]


def tables_of(found):
    """(title, table) of all data sets together, and of each."""
    differences, counts = beside_random(found)
    rows = [[rule, *(f"{100 * difference:+.1f} ({below}–, {above}+)" for difference, below, above in zip(differences[rule], *counts[rule]))]
            for rule in differences]
    tables = [(f"accuracy less that of random, points, mean of {len(found)} data sets; in how many below (–) or above (+) random and its spread",
               [heading("kept"), *rows])]
    for name, one in found.items():
        rows = [[rule, *(f"{100 * mean:.1f} ± {100 * spread:.1f}" for mean, spread in zip(*one[rule]))] for rule in one if rule != "everything"]
        mean, spread = (100 * values[0] for values in one["everything"])
        tables.append((name, [heading(f"{name}, kept"), *rows, [f"everything: {mean:.1f} ± {spread:.1f}", *("" for _ in SHARES)]]))
    return tables


def draw(picture, panels):
    """A panel for each kind of labels, a line for each rule; a colour for each kind of rule."""
    drawn = []
    for title, differences in panels.items():
        lines = [charts.Series("random", [(5, 0), (75, 0)], 5, style="lines")]
        for kind, titles in enumerate(KINDS):
            lines += [charts.Series(rule, [(100 * share, 100 * value) for share, value in zip(SHARES, differences[rule])], HUES[kind], DASHES[i], MARKS[i])
                      for i, rule in enumerate(titles)]
        drawn.append(charts.Panel(title, "kept, %", "" if drawn else "accuracy less that of random, points", lines, (5, 75)))
    charts.draw(picture, drawn)


def study_shares(program, out, short):
    """(title, table) for each kind of labels and data set; leaves shares.png and shares.tsv in `out`/study."""
    folder, seeds = out / "study/shares", SEEDS[:3] if short else SEEDS
    folder.mkdir(parents=True, exist_ok=True)
    kinds = [(name, wrong) for name in NAMES for wrong in WRONG]
    with ProcessPoolExecutor() as pool:
        cells = {(*kind, seed): pool.submit(stored_cell, program, folder, *kind, seed) for kind in kinds for seed in seeds}
        cells = {kind: summary([cells[(*kind, seed)].result() for seed in seeds]) for kind in kinds}
    tables, panels = [], {}
    for wrong in WRONG:
        labels = f"{wrong:.0%} of the labels changed" if wrong else "labels as they are"
        found = {name: cells[name, wrong] for name in NAMES}
        panels[labels] = beside_random(found)[0]
        tables += [(f"{labels}, {len(seeds)} seeds: {title}", table) for title, table in tables_of(found)]
    with open(out / "study/shares.tsv", "w", encoding="utf-8") as file:
        file.writelines("\t".join([title, *row]) + "\n" for title, table in tables for row in table)
    draw(out / "study/shares.png", panels)
    return tables
