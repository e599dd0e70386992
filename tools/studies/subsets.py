"""Training on part of the data (Swayamdipta et al. 2020, section 4, Table 2 and Figure 3): how much, of which examples, and how the model does
where the data are as in training (in distribution), and where a cue that was right in training breaks (out of distribution).

Each of the demo's words comes with a cue, a feature that names a language: for nine of ten words the right one. A linear model on groups
of up to four letters and the cue is recorded; each rule chooses from that run; a new model is trained on the chosen words alone, for as
many steps as the recorded one. Each seed has its own words, cues, run, draws and models.
"""

import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from sklearn.linear_model import SGDClassifier

import charts
import demo_train
import portolan
from forgettable import CUE_IS_RIGHT, PER_LANGUAGE, TESTS, Cued, choose
from stored import stored

SEEDS = (1, 2, 3, 4, 5)
SHARES = (0.5, 0.33, 0.25, 0.17, 0.1, 0.05, 0.01)  # the paper's
RULES = ("random", "ambiguous", "hard-to-learn", "easy-to-learn")
REPLACED_AT = 0.17
REPLACED = (0.1, 0.2, 0.3, 0.4, 0.5)  # of the ambiguous, by easy-to-learn
EPOCHS, STEP, BATCH = 8, 1.0, 4000
COLUMNS = 2**16
HUES = {"random": 4, "ambiguous": 1, "hard-to-learn": 2, "easy-to-learn": 3}


class Model:
    """One logistic regression for each language, by stochastic gradient descent with a constant step."""

    def __init__(self, seed, classes):
        self.classifier = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=STEP, alpha=1e-7, random_state=seed)
        self.generator, self.classes = np.random.default_rng(seed), np.arange(classes)

    def train(self, x, gold, steps):
        """So many examples, one a step: rounds over the given ones, each in an order of its own."""
        rounds = -(-steps // len(gold))
        order = np.concatenate([self.generator.permutation(len(gold)) for _ in range(rounds)])[:steps]
        for rows in np.array_split(order, -(-steps // BATCH)):
            self.classifier.partial_fit(x[rows], gold[rows], classes=self.classes)


def select(program, store, *words):
    done = subprocess.run([str(word) for word in (program, "select", "run", "--store", store, "-q", *words)], check=True, stdout=subprocess.PIPE, text=True)
    return np.array(done.stdout.split(), int)


def choices(program, store, seed):
    """Yields (what, share or replaced part, rows)."""
    for rule in RULES:
        for share in SHARES:
            yield rule, share, select(program, store, "--by", rule, "--fraction", share, "--seed", seed)
    for part in REPLACED:
        yield "replaced", part, select(program, store, "--by", "ambiguous", "--fraction", REPLACED_AT, "--mix", f"easy-to-learn={part}")


def cell(program, words, held_out, classes, seed):
    """{"RULE SHARE": [accuracy on each test], the share of wrong cues among the chosen]}"""
    rng, found = np.random.default_rng(seed), {}
    train = Cued(*choose(words, PER_LANGUAGE, classes, rng), classes, CUE_IS_RIGHT, rng)
    tests = [Cued(held_out.words, held_out.gold, classes, right, rng) for right in (CUE_IS_RIGHT, None, 0.0)]
    x, gold, tests = train.features(4, COLUMNS), train.gold, [(test.features(4, COLUMNS), test.gold) for test in tests]
    ids, model = np.arange(len(gold)), Model(seed, classes)

    def note(what, model, rows):
        found[what] = [model.classifier.score(*test) for test in tests] + [float((train.cue[rows] != gold[rows]).mean())]

    with tempfile.TemporaryDirectory() as folder:
        with portolan.Run("run", store=f"{folder}/store", mode="epoch-end", examples=len(gold)) as run:
            for epoch in range(EPOCHS):
                model.train(x, gold, len(gold))
                run.log_probs(epoch, ids, model.classifier.predict_proba(x), gold)
                run.end_epoch(epoch)
        note("everything", model, ids)
        for rule, share, rows in choices(program, f"{folder}/store", seed):
            model = Model(seed + 100, classes)
            model.train(x[rows], gold[rows], EPOCHS * len(gold))
            note(f"{rule} {share}", model, rows)
    return found


def stored_cell(program, folder, words, held_out, classes, seed):
    """cell(), or what it found before."""

    def find():
        found = cell(program, words, held_out, classes, seed)
        print(f"subsets, seed {seed} done", file=sys.stderr)
        return found

    made_with = {"words": [len(words.words), len(held_out.words)], "per_language": PER_LANGUAGE, "cue_is_right": CUE_IS_RIGHT, "columns": COLUMNS,
                 "model": [EPOCHS, STEP, BATCH], "rules": RULES, "shares": SHARES, "replaced": [REPLACED_AT, *REPLACED]}
    return stored(folder / f"seed{seed}.json", made_with, find)


# The tables and the charts

def numbers(found, key, test):
    return f"{100 * found[key][:, test].mean():.1f} ± {100 * found[key][:, test].std(ddof=1):.1f}"


def tables_of(found):
    """One for each test, with a row for each rule; what the choices hold; and what replacing does."""
    heading = [f"{share:.0%}" for share in SHARES]
    tables = []
    for test, title in enumerate(TESTS):
        rows = [[rule, *(numbers(found, f"{rule} {share}", test) for share in SHARES)] for rule in RULES]
        tables.append([[f"{title}, trained on", *heading], *rows, [f"everything: {numbers(found, 'everything', test)}", *("" for _ in SHARES)]])
    tables.append([["wrong cues among them", *heading], *([rule, *(f"{found[f'{rule} {share}'][:, -1].mean():.0%}" for share in SHARES)] for rule in RULES)])
    keys = [f"ambiguous {REPLACED_AT}", *(f"replaced {part}" for part in REPLACED)]
    replaced = [[f"{REPLACED_AT:.0%} ambiguous, replaced by easy-to-learn", "none", *(f"{part:.0%}" for part in REPLACED)]]
    replaced += [[title, *(numbers(found, key, test) for key in keys)] for test, title in enumerate(TESTS)]
    return [*tables, replaced]


def points(found, test, places):
    """(x, mean, standard deviation), in %, of (x, key)."""
    return [(x, 100 * found[key][:, test].mean(), 100 * found[key][:, test].std(ddof=1)) for x, key in places]


def draw(folder, found):
    sweep, replaced = [], []
    for test, title in enumerate(TESTS):
        level = 100 * found["everything"][:, test].mean()
        lines = [charts.Series("everything", [(0.8, level), (60, level)], 5, 2, style="lines")]
        lines += [charts.Series(rule, points(found, test, [(100 * share, f"{rule} {share}") for share in SHARES]), HUES[rule], 1, mark)
                  for rule, mark in zip(RULES, (5, 7, 9, 11))]
        sweep.append(charts.Panel(title, "trained on, % of the words", "held-out accuracy, %" if test == 0 else "", lines, (0.8, 60), (0, 100),
                                  tuple(100 * share for share in SHARES)))
        places = [(0, f"ambiguous {REPLACED_AT}"), *((100 * part, f"replaced {part}") for part in REPLACED)]
        random = 100 * found[f"random {REPLACED_AT}"][:, test].mean()
        lines = [charts.Series(name, [(-3, at), (53, at)], hue, 2, style="lines") for name, at, hue in (("everything", level, 5), ("random 17%", random, 4))]
        lines.append(charts.Series("ambiguous 17%", points(found, test, places), 1))
        replaced.append(charts.Panel(title, "of these replaced by easy-to-learn, %", "held-out accuracy, %" if test == 0 else "", lines, (-3, 53), (0, 100)))
    charts.draw(folder / "subsets.png", sweep)
    charts.draw(folder / "subsets-replaced.png", replaced)


def study_subsets(program, out, short):
    """Tables; leaves subsets.png, subsets-replaced.png and subsets.tsv in `out`/study."""
    seeds, folder = SEEDS[:3] if short else SEEDS, out / "study/subsets"
    folder.mkdir(parents=True, exist_ok=True)
    labels, words, held_out = demo_train.load_plain(out)
    with ProcessPoolExecutor(2) as pool:
        cells = [pool.submit(stored_cell, program, folder, words, held_out, len(labels), seed) for seed in seeds]
        cells = [one.result() for one in cells]
    found = {key: np.array([one[key] for one in cells]) for key in cells[0]}
    tables = tables_of(found)
    with open(out / "study/subsets.tsv", "w", encoding="utf-8") as file:
        file.writelines("\t".join(row) + "\n" for table in tables for row in table)
    draw(out / "study", found)
    return tables
