"""Which examples to keep, by the pruning rules that were published, from one recorded run each: what is a subset worth to train on?

Two data sets that are there without a download: scikit-learn's digits, and the language of words from Debian's word lists. A network of
one hidden layer is recorded while it learns everything; each rule then chooses 10, 30, 50 and 70% of the examples, and a new network is
trained on these alone, for as many steps. Three seeds, each with its own split, run, draws and networks.
"""

import random
import subprocess
import sys

import numpy as np
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import HashingVectorizer

import demo_words
import portolan
from study_forgettable import BATCH, Network

SEEDS = (1, 2, 3)
SHARES = (0.1, 0.3, 0.5, 0.7)
CUTS = {0.1: 0.3, 0.3: 0.2, 0.5: 0.1, 0.7: 0.0}  # of CCS, the harder the pruning the larger, as its authors set it
PER_LANGUAGE, HELD_OUT, FEATURES = 400, 0.25, 2**11
STEP = 0.05
EPOCHS = {"digits": 60, "words": 30}


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
    """pruning.png: a panel for each data set, a line for each rule."""
    blocks, plots = [], []
    for name, rows in means.items():
        titles = [title for title in rows if title != "everything"]
        for title in titles:
            blocks.append(f"${name}{titles.index(title)} << EOD\n" + "".join(f"{100 * share} {100 * rows[title][share][0]}\n" for share in SHARES) + "EOD\n")
        lines = [f"${name}{i} with linespoints lw 2 pt {i + 4} lc {i + 1 if i else -1} title '{title}'" for i, title in enumerate(titles)]
        whole = 100 * rows["everything"][1][0]
        plots.append(f"set title '{name}'\nplot {whole} with lines dt 2 lc 'gray' title 'everything', \\\n  " + ", \\\n  ".join(lines) + "\n")
    script = "".join(blocks) + (
        f"set terminal pngcairo size 1300,560 font ',10'\nset output '{folder / 'pruning.png'}'\nset multiplot layout 1,2\n"
        "set xlabel 'kept, %'\nset ylabel 'accuracy on held-out examples, %'\nset xrange [5:75]\nset key bottom right\nset grid ytics lc 'gray'\n")
    subprocess.run(["gnuplot", "-d"], input=script + "".join(plots), check=True, text=True)


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
    draw(folder, means)
    with open(folder / "pruning.tsv", "w", encoding="utf-8") as file:
        file.writelines("\t".join([name, *row]) + "\n" for name, table in tables.items() for row in table)
    return tables
