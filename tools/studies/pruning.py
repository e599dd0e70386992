"""Which examples to keep, by the pruning rules that were published, from one recorded run each: what is a subset worth to train on?

Two data sets that are there without a download: scikit-learn's digits, and the language of words from Debian's word lists. A network of
one hidden layer is recorded while it learns everything; each rule then chooses 10, 30, 50 and 70% of the examples, and a new network is
trained on these alone, for as many steps. Three seeds, each with its own split, run, draws and networks.
"""

import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import HashingVectorizer

import demo_words
import portolan
from forgettable import BATCH, Network

ROOT = Path(__file__).resolve().parents[2]
SEEDS = (1, 2, 3)
SHARES = (0.1, 0.3, 0.5, 0.7)
CUTS = {0.1: 0.3, 0.3: 0.2, 0.5: 0.1, 0.7: 0.0}  # of CCS, the harder the pruning the larger, as its authors set it
PER_LANGUAGE, HELD_OUT, FEATURES = 400, 0.25, 2**11
STEP = 0.05
EPOCHS = {"digits": 60, "words": 30}
# The chart's lines by kind: at random; by mistakes; by what the model wavers on; over the whole range.
KINDS = (("random",), ("forgetting", "EL2N, ten epochs", "AUM, lowest"),
         ("variability (ambiguous)", "Dyn-Unc", "DUAL, 30 epochs", "TDDS, 30 epochs"), ("DUAL, Beta sampling", "CCS by AUM", "S2L"))
HUES, DASHES, MARKS = (4, 2, 3, 1), (1, 2, 4, 3), (7, 5, 9, 11)  # of a kind; and within it


def rules(share):
    """{title: arguments of portolan select}"""
    return {
        "random": ["--by", "random"],
        "variability (ambiguous)": ["--by", "ambiguous"],
        "forgetting": ["--by", "forgetting"],
        "EL2N, ten epochs": ["--by", "el2n:desc", "--epochs", ":10"],
        "AUM, lowest": ["--by", "aum:asc"],
        "Dyn-Unc": ["--by", "dyn_unc:desc"],
        "DUAL, 30 epochs": ["--by", "dual:desc", "--epochs", ":30"],
        "DUAL, Beta sampling": ["--by", "dual-beta", "--epochs", ":30"],
        "TDDS, 30 epochs": ["--by", "tdds:desc", "--epochs", ":30"],
        "CCS by AUM": ["--by", "aum:asc", "--strata", "50", "--cut", str(CUTS[share])],
        "S2L": ["--by", "s2l"],
    }


def load(name, seed):
    """(x, gold) of the training examples, and of those held out."""
    rng = np.random.default_rng(seed)
    if name == "digits":
        x, gold = load_digits(return_X_y=True)
        x = (x / 16).astype("f4")
    else:
        rows = demo_words.sample(demo_words.read_languages(), PER_LANGUAGE, random.Random(seed))
        languages = sorted({language for _, language, _ in rows})
        vectorizer = HashingVectorizer(analyzer="char_wb", ngram_range=(1, 4), n_features=FEATURES, alternate_sign=False, dtype="f4")
        x, gold = vectorizer.transform([word for word, *_ in rows]), np.searchsorted(languages, [language for _, language, _ in rows])
    order = rng.permutation(len(gold))
    held_out, train = np.split(order, [round(HELD_OUT * len(gold))])
    return x[train], gold[train], x[held_out], gold[held_out]


def record(run_name, store, x, gold, seed, epochs):
    """Trains on everything, and records it; the network."""
    network = Network(x.shape[1], gold.max() + 1, seed)
    with portolan.Run(run_name, store=store, mode="epoch-end", examples=len(gold), config={"seed": seed}, overwrite=True) as run:
        for epoch in range(epochs):
            network.train_epoch(x, gold, STEP)
            logits = network.forward(x)[1]
            probs = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
            run.log_logits(epoch, np.arange(len(gold)), logits, gold, columns={f"prob_{k}": p for k, p in enumerate(probs.T)})
            run.end_epoch(epoch)
    return network


def train(x, gold, classes, seed, steps):
    """A new network, trained on these for so many steps at least."""
    network = Network(x.shape[1], classes, seed + 100)
    for _ in range(-(-steps // -(-len(gold) // BATCH))):
        network.train_epoch(x, gold, STEP)
    return network


def one_seed(program, store, name, seed):
    """{(rule, share): accuracy}, and of everything."""
    x, gold, *held_out = load(name, seed)
    run, epochs, classes = f"pruning/{name}/seed{seed}", EPOCHS[name], gold.max() + 1
    steps = epochs * -(-len(gold) // BATCH)
    accuracies = {("everything", 1): record(run, store, x, gold, seed, epochs).accuracy(*held_out)}
    for share in SHARES:
        for rule, words in rules(share).items():
            command = [program, "select", run, "--store", store, "--fraction", str(share), *words]
            command += ["--seed", str(seed)]
            done = subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True)
            chosen = np.array(done.stdout.split(), int)
            accuracies[rule, share] = train(x[chosen], gold[chosen], classes, seed, steps).accuracy(*held_out)
        print(f"{name}, seed {seed}: {share:.0%} done", file=sys.stderr)
    return accuracies


def draw(folder, means):
    """pruning.png: a panel for each data set, a line for each rule, in the look of the analyzer's charts; a colour for each kind of rule."""
    begin, chart = ((ROOT / "analyzer/plot" / name).read_text(encoding="utf-8") for name in ("begin.gp", "chart.gp"))
    width, height, panel, left, between = 1090, 440, 340, 78, 56
    script = [f"own_picture = '{folder / 'pruning.png'}'; own_data = ''; format = 'png'; width = {width}; height = {height}", begin,
              re.search("^array Hue.*", chart, re.MULTILINE)[0],
              "set multiplot\nset xlabel 'kept, %' textcolor rgb ink\nset xrange [5:75]\nset bmargin at screen Y(56)\nset tmargin at screen Y(height - 40)"]
    for place, (name, rows) in enumerate(means.items()):
        start, lines = left + place * (panel + between), []
        for kind, titles in enumerate(KINDS):
            for i, title in enumerate(titles):
                script.append(f"$set{place}_{kind}_{i} << EOD\n" + "".join(f"{100 * share} {100 * rows[title][share][0]}\n" for share in SHARES) + "EOD")
                lines.append(f"$set{place}_{kind}_{i} with linespoints linewidth 2 dashtype {DASHES[i]} pointtype {MARKS[i]} pointsize 0.8 "
                             f"linecolor rgb Hue[{HUES[kind]}] title '{title}'")
        lines.append(f"{100 * rows['everything'][1][0]} with lines linewidth 2 linecolor rgb Hue[5] title 'everything'")
        script.append(f"set lmargin at screen X({start})\nset rmargin at screen X({start + panel})\nset title '{name}' textcolor rgb ink\n"
                      + ("set ylabel 'accuracy on held-out examples, %' textcolor rgb ink\n" if place == 0 else "unset ylabel\n")
                      + (f"set key at screen X({start + panel + 16}),Y(height - 40) left top Left reverse noenhanced samplen 3 textcolor rgb ink\n"
                         if place == len(means) - 1 else "")
                      + "plot " + ", \\\n  ".join(lines))
    subprocess.run(["gnuplot", "-d"], input="\n".join(script) + "\n", check=True, text=True)


def study_pruning(program, out):
    """A table for each data set, by its name; leaves pruning.png and pruning.tsv in `out`/study."""
    folder = out / "study"
    folder.mkdir(parents=True, exist_ok=True)
    tables, means = {}, {}
    for name in EPOCHS:
        seeds = [one_seed(program, folder / "store", name, seed) for seed in SEEDS]
        rows = means[name] = {}
        for rule, share in seeds[0]:
            values = [accuracies[rule, share] for accuracies in seeds]
            rows.setdefault(rule, {})[share] = (np.mean(values), np.std(values, ddof=1))
        tables[name] = [["kept", *(f"{share:.0%}" for share in SHARES)]]
        tables[name] += [[rule, *(f"{100 * rows[rule][share][0]:.1f} ± {100 * rows[rule][share][1]:.1f}" for share in SHARES)]
                         for rule in rows if rule != "everything"]
        mean, deviation = rows["everything"][1]
        tables[name].append([f"everything: {100 * mean:.1f} ± {100 * deviation:.1f}", *("" for _ in SHARES)])
    with open(folder / "pruning.tsv", "w", encoding="utf-8") as file:
        file.writelines("\t".join([name, *row]) + "\n" for name, table in tables.items() for row in table)
    draw(folder, means)
    return tables
