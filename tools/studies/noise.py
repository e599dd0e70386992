"""Ways to find wrong labels, side by side, on three tasks whose labels were changed at known places; and cleanlab's own.

noise.py PORTOLAN FOLDER, run by a Python that has scikit-learn and cleanlab: tools/study noise does. The tasks:

    digits      scikit-learn's 1,797 pictures of handwritten digits
    words       the language of a word, from Debian's word lists: 8 languages, 300 words of each
    packages    the section of a Debian package, from its one-line description: 120 of each section that has 800

Of the labels a tenth is changed: "any class" to any other one, "next class" always to the next one. The model is a network with one hidden layer, trained
for 20 epochs; of texts it sees the first 64 singular vectors of their pieces.
"""

import csv
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the cases go side by side

import cleanlab.filter
import numpy as np
from scipy.stats import rankdata
from sklearn.datasets import load_digits
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

import artifacts
import demo_words
import portolan
import portolan.sklearn

PORTOLAN, FOLDER = (Path(word) for word in sys.argv[1:3])
SEEDS = (1, 2, 3, 4, 5)
KINDS = ("any class", "next class")
CHANGED, EPOCHS, FOLDS, FLIPPED = 0.1, 20, 5, 0.05
WORDS, PACKAGES, SECTION = 300, 120, 800  # words of a language; packages of a section, that has so many
# The same method, by us and by cleanlab.
SAME = ("noise confident, out of fold, last epoch", "cleanlab, confident_learning, out of fold")


# The tasks

def features_of_texts(texts, **options):
    found = TfidfVectorizer(sublinear_tf=True, min_df=2, **options).fit_transform(texts)
    return TruncatedSVD(64, random_state=0).fit_transform(found)


def digits():
    return load_digits(return_X_y=True)


def words():
    rows = demo_words.sample(demo_words.read_languages(), WORDS, random.Random(1))
    X = features_of_texts([row[0] for row in rows], analyzer="char_wb", ngram_range=(1, 4))
    return X, np.unique([row[1] for row in rows], return_inverse=True)[1]


def packages():
    sections = {label: members for label, members in artifacts.packages().items() if len(members) >= SECTION}
    generator = random.Random(1)
    rows = [(text, label) for label in sorted(sections) for _, text in generator.sample(sections[label], PACKAGES)]
    return features_of_texts([row[0] for row in rows]), np.unique([row[1] for row in rows], return_inverse=True)[1]


TASKS = {"digits": digits, "words": words, "packages": packages}


def change_labels(truth, kind, seed):
    generator, classes = np.random.default_rng(seed), truth.max() + 1
    rows = generator.choice(len(truth), round(CHANGED * len(truth)), replace=False)
    given = truth.copy()
    given[rows] = (truth[rows] + (generator.integers(1, classes, len(rows)) if kind == "any class" else 1)) % classes
    return given


# One case

class Case:
    """A task with changed labels, and the store of its runs."""

    def __init__(self, X, given, seed, store):
        self.X, self.given, self.seed, self.store = X, given, seed, store

    def model(self):
        return MLPClassifier((64,), batch_size=64, learning_rate_init=2e-3, random_state=self.seed)

    def train(self, name, labels):
        """Records logits, up to a constant of each example: aum wants their differences."""
        model, rows = self.model(), np.arange(len(labels))
        with portolan.Run(name, store=self.store, mode="epoch-end", labels=[str(label) for label in range(labels.max() + 1)]) as run:
            for epoch in range(EPOCHS):
                model.partial_fit(self.X, labels, classes=np.unique(labels))
                run.log_logits(epoch, rows, np.log(np.maximum(model.predict_proba(self.X), 1e-30)), labels)
                run.end_epoch(epoch)

    def portolan(self, *words):
        """The ids in the order printed; none where noise mixture finds no two groups."""
        done = subprocess.run([PORTOLAN, "noise", *map(str, words), "--store", self.store], capture_output=True, text=True)
        assert done.returncode == 0 or "shows no two groups" in done.stderr, done
        return [int(row["id"]) for row in csv.DictReader(io.StringIO(done.stdout))] if done.stdout.startswith("id,") else []

    def with_labels_of(self, path):
        labels = self.given.copy()
        with open(path, encoding="utf-8") as lines:
            for row in csv.DictReader(lines, delimiter="\t"):
                assert labels[int(row["id"])] == int(row["old"]), row
                labels[int(row["id"])] = int(row["new"])
        return labels

    def judged(self, *words):
        """(suspicion by place in the ranking, from 0 to 1; what is called), NaN where an example is not judged; all alike where nothing is ranked."""
        ranked, called = self.portolan(*words), self.portolan(*words, "--suspects")
        nothing = np.nan if ranked else 0
        suspicion, calls = np.full(len(self.given), nothing, float), np.full(len(self.given), nothing, float)
        suspicion[ranked], calls[ranked] = np.linspace(1, 0, len(ranked)), 0
        calls[called] = 1
        return suspicion, calls

    def by_flips(self):
        flips, model = self.store / "flips.tsv", self.store / "model.json"
        self.portolan("plan", "plain", "--fraction", FLIPPED, "-o", flips)
        self.train("flipped", self.with_labels_of(flips))
        self.portolan("fit", "flipped", "--flips", flips, "--json", "-o", model)
        return self.judged("apply", "plain", "--model", model)

    def by_threshold_samples(self):
        """Two sets, so that each example is judged; called is who is in every run that judges it, as the published program has it."""
        both = []
        for number in (1, 2):
            samples = self.store / f"samples{number}.tsv"
            self.portolan("plan", "plain", "--method", "aum", "--set", number, "-o", samples)
            self.train(f"samples{number}", self.with_labels_of(samples))
            both.append(self.judged("aum", f"samples{number}", "--threshold-samples", samples))
        return np.nanmean([one[0] for one in both], axis=0), np.nanmin([one[1] for one in both], axis=0)

    def by_cleanlab(self, probs, how):
        """As with any --suspects, those called come first."""
        issues = cleanlab.filter.find_label_issues(self.given, probs, filter_by=how, n_jobs=1)
        own = probs[np.arange(len(probs)), self.given]
        return rankdata(issues * 2.0 - own), issues

    def methods(self):
        self.train("plain", self.given)
        probs = portolan.sklearn.cross_val_track(self.model(), self.X, self.given, "folds", EPOCHS, cv=FOLDS, store=self.store)
        measures = portolan.measures("plain", store=self.store)
        rows, last = np.asarray(measures["id"]).astype(int), ("--epochs", f"{EPOCHS - 1}:")
        plain = {name: -np.asarray(measures[name])[np.argsort(rows)] for name in ("confidence", "aum")}
        found = {
            "confidence, lowest first": (plain["confidence"], None),
            "aum, lowest first": (plain["aum"], None),
            "noise mixture": self.judged("mixture", "plain"),
            "noise mixture --by aum": self.judged("mixture", "plain", "--by", "aum"),
            "noise fit, noise apply: one training more": self.by_flips(),
            "noise aum: two trainings more": self.by_threshold_samples(),
            "noise confident": self.judged("confident", "plain"),
            "noise confident, out of fold": self.judged("confident", "folds"),
            "noise confident, out of fold, last epoch": self.judged("confident", "folds", *last),
            "cleanlab, confident_learning, out of fold": self.by_cleanlab(probs, "confident_learning"),
            "cleanlab, prune_by_noise_rate, out of fold": self.by_cleanlab(probs, "prune_by_noise_rate"),
        }
        own, theirs = (np.asarray(found[name][1]) == 1 for name in SAME)
        assert not (own & ~theirs).any(), "noise confident calls what cleanlab does not call"
        return found


def run_case(task, kind, seed):
    """For each method: AUROC, precision of the first 1%, and precision, recall and F1 of its own cut."""
    path = FOLDER / f"noise-{task}-{kind.replace(' ', '-')}-{seed}.json"
    if path.exists():
        return json.loads(path.read_text())
    warnings.filterwarnings("ignore")
    with np.load(FOLDER / f"noise-{task}.npz") as data:
        X, truth = StandardScaler().fit_transform(data["X"]), data["y"]
    given = change_labels(truth, kind, seed)
    wrong, results = given != truth, {}
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        for method, (suspicion, called) in Case(X, given, seed, Path(folder)).methods().items():
            first = np.argsort(-suspicion, kind="stable")[:round(len(given) / 100)]
            results[method] = {"auroc": roc_auc_score(wrong, suspicion), "first": wrong[first].mean()}
            if called is not None:
                called = np.asarray(called) == 1
                results[method] |= {"f1": f1_score(wrong, called), "called": int(called.sum()), "right": int((called & wrong).sum())}
    path.write_text(json.dumps(results))
    print(f"{task}, {kind}, seed {seed}", file=sys.stderr)
    return results


# The tables

def cells(results, method):
    """Means over the seeds; of F1 the standard deviation too."""
    values = {name: [one[method].get(name) for one in results] for name in ("auroc", "first", "f1")}
    f1 = "–" if values["f1"][0] is None else f"{np.mean(values['f1']):.2f} ± {np.std(values['f1'], ddof=1):.2f}"
    return [f"{np.mean(values['auroc']):.3f}", f"{np.mean(values['first']):.2f}", f1]


def main():
    sizes = {}
    for task, make in TASKS.items():
        path = FOLDER / f"noise-{task}.npz"
        if not path.exists():
            X, y = make()
            np.savez(path, X=X, y=y)
        with np.load(path) as data:
            sizes[task] = f"{len(data['y']):,} examples, {data['y'].max() + 1} classes"
    with ProcessPoolExecutor() as pool:
        cases = {(task, kind, seed): pool.submit(run_case, task, kind, seed) for seed in SEEDS for task in TASKS for kind in KINDS}
        results = {case: future.result() for case, future in cases.items()}
    tables = {}
    for kind in KINDS:
        methods = results["digits", kind, 1]
        tables[kind] = [["", *(f"{task}: {what}" for task in TASKS for what in ("AUROC", "first 1%", "F1"))]]
        tables[kind] += [[method, *(cell for task in TASKS for cell in cells([results[task, kind, seed] for seed in SEEDS], method))] for method in methods]
    called = {task: [sum(results[task, kind, seed][name]["called"] for kind in KINDS for seed in SEEDS) for name in SAME] for task in TASKS}
    print(json.dumps({"sizes": sizes, "tables": tables, "called": called}))


if __name__ == "__main__":
    main()
