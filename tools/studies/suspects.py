"""Ways to find wrong labels, side by side, on data sets whose labels were changed at known places; and cleanlab's own.

A tenth of the labels is changed: to any other class; always to the next one; or, of a tenth drawn from the three tenths that lie nearest to the
boundary between two classes (for a model out of fold, trained on the right labels), to the class that this model takes for the next likely.
The model is a network with one hidden layer, trained for 20 epochs; recorded in training, and out of fold. For the number of wrong labels
a twentieth of the labels is changed once more, at random, and both are recorded again. The rule of portolan suspects was made on words and on
satellite, which is not here; digits, packages and letters were seen before its last constants were set; dna and spam were not.
"""

import csv
import io
import json
import random
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from scipy.stats import rankdata
from sklearn.datasets import load_digits
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

import artifacts
import small_data
import demo_words
import portolan
import portolan.sklearn

warnings.filterwarnings("ignore", category=ConvergenceWarning)  # 20 epochs are enough
SEEDS, SHORT = (1, 2, 3, 4, 5), (1,)
KINDS = ("any class", "next class", "near the boundary")
CHANGED, EPOCHS, FOLDS, FLIPPED = 0.1, 20, 5, 0.05
WORDS, PACKAGES, SECTION = 300, 120, 800  # words of a language; packages of a section, that has so many
MOST = 4000
ALL = ("--regions", "1,0")  # flips are drawn from all examples, not from the easy ones alone
CALIBRATED = ("portolan suspects", "portolan suspects, out of fold")
OWN, THEIRS = CALIBRATED[1], ("cleanlab, confident_learning", "cleanlab, prune_by_noise_rate")


# The data

def features_of_texts(texts, **options):
    found = TfidfVectorizer(sublinear_tf=True, min_df=2, **options).fit_transform(texts)
    return TruncatedSVD(64, random_state=0).fit_transform(found)


def words():
    rows = demo_words.sample(demo_words.read_languages(), WORDS, random.Random(1))
    X = features_of_texts([row[0] for row in rows], analyzer="char_wb", ngram_range=(1, 4))
    return X, np.unique([row[1] for row in rows], return_inverse=True)[1]


def packages():
    sections = {label: members for label, members in artifacts.packages().items() if len(members) >= SECTION}
    generator = random.Random(1)
    rows = [(text, label) for label in sorted(sections) for _, text in generator.sample(sections[label], PACKAGES)]
    return features_of_texts([row[0] for row in rows]), np.unique([row[1] for row in rows], return_inverse=True)[1]


def of_r(name):
    X, y = small_data.of_r(name)
    rows = np.random.default_rng(1).permutation(len(y))[:MOST]
    return X[rows], y[rows]


SETS = {
    "digits": lambda: load_digits(return_X_y=True),
    "words": words,
    "packages": packages,
    "letters": lambda: of_r("letters"),
    "dna": lambda: of_r("dna"),
    "spam": lambda: of_r("spam"),
}


def network(seed):
    return MLPClassifier((64,), batch_size=64, learning_rate_init=2e-3, random_state=seed)


def make(name, path):
    """The data of a name, and the probabilities of a model that has seen none of the examples it judges."""
    if not path.exists():
        X, y = SETS[name]()
        X = StandardScaler().fit_transform(X)
        model = network(0).set_params(max_iter=EPOCHS)
        part = path.with_name(f"{name}.part.npz")
        np.savez(part, X=X, y=y, probs=cross_val_predict(model, X, y, cv=FOLDS, method="predict_proba"))
        part.rename(path)
    return path


def change_labels(truth, probs, kind, seed):
    generator, classes, count = np.random.default_rng(seed), truth.max() + 1, round(CHANGED * len(truth))
    given = truth.copy()
    if kind == "near the boundary":
        first = np.sort(probs, axis=1)[:, -2:]
        rows = generator.choice(np.argsort(first[:, 1] - first[:, 0])[:3 * count], count, replace=False)
        others = probs[rows].copy()
        others[np.arange(count), truth[rows]] = -1
        given[rows] = others.argmax(1)
    else:
        rows = generator.choice(len(truth), count, replace=False)
        given[rows] = (truth[rows] + (generator.integers(1, classes, count) if kind == "any class" else 1)) % classes
    return given


# One case

class Case:
    """Changed labels, and the store of their runs."""

    def __init__(self, program, X, given, seed, store):
        self.program, self.X, self.given, self.seed, self.store = program, X, given, seed, store

    def train(self, name, labels):
        """Records logits, up to a constant of each example: margins want their differences."""
        model, rows = network(self.seed), np.arange(len(labels))
        with portolan.Run(name, store=self.store, mode="epoch-end", labels=[str(label) for label in range(labels.max() + 1)]) as run:
            for epoch in range(EPOCHS):
                model.partial_fit(self.X, labels, classes=np.unique(labels))
                run.log_logits(epoch, rows, np.log(np.maximum(model.predict_proba(self.X), 1e-30)), labels)
                run.end_epoch(epoch)

    def train_folds(self, name, labels):
        return portolan.sklearn.cross_val_track(network(self.seed), self.X, labels, name, EPOCHS, cv=FOLDS, store=self.store)

    def portolan(self, *words):
        """What is printed; nothing where noise mixture finds no two groups."""
        done = subprocess.run([self.program, *map(str, words), "--store", self.store], capture_output=True, text=True)
        assert done.returncode == 0 or "shows no two groups" in done.stderr, done
        return done.stdout

    def rows(self, *words):
        return list(csv.DictReader(io.StringIO(self.portolan(*words))))

    def with_labels_of(self, path):
        labels = self.given.copy()
        with open(path, encoding="utf-8") as lines:
            for row in csv.DictReader(lines, delimiter="\t"):
                assert labels[int(row["id"])] == int(row["old"]), row
                labels[int(row["id"])] = int(row["new"])
        return labels

    def judged(self, ranked, called):
        """(suspicion by place in the ranking, from 0 to 1; what is called), NaN where an example is not judged; all alike where nothing is ranked."""
        ranked, called = ([int(row["id"]) for row in rows] for rows in (ranked, called))
        nothing = np.nan if ranked else 0
        suspicion, calls = np.full(len(self.given), nothing, float), np.full(len(self.given), nothing, float)
        suspicion[ranked], calls[ranked] = np.linspace(1, 0, len(ranked)), 0
        calls[called] = 1
        return suspicion, calls

    def noise(self, *words):
        return self.judged(self.rows("noise", *words), self.rows("noise", *words, "--suspects"))

    def suspects(self, run):
        return self.judged(self.rows("suspects", run, "--all"), self.rows("suspects", run))

    def by_flips(self):
        """As the paper has it, flips are drawn among the easy ones."""
        flips, model = self.store / "easy.tsv", self.store / "model.json"
        self.portolan("noise", "plan", "plain", "--fraction", FLIPPED, "-o", flips)
        self.train("easy flipped", self.with_labels_of(flips))
        self.portolan("noise", "fit", "easy flipped", "--flips", flips, "--json", "-o", model)
        return self.noise("apply", "plain", "--model", model)

    def by_threshold_samples(self):
        """Two sets, so that each example is judged; called is who is in every run that judges it, as the published program has it."""
        both = []
        for number in (1, 2):
            samples = self.store / f"samples{number}.tsv"
            self.portolan("noise", "plan", "plain", "--method", "aum", "--set", number, "-o", samples)
            self.train(f"samples{number}", self.with_labels_of(samples))
            both.append(self.noise("aum", f"samples{number}", "--threshold-samples", samples))
        return np.nanmean([one[0] for one in both], axis=0), np.nanmin([one[1] for one in both], axis=0)

    def by_cleanlab(self, probs, how):
        """As in our rankings, those called come first."""
        import cleanlab.filter

        issues = cleanlab.filter.find_label_issues(self.given, probs, filter_by=how, n_jobs=1)
        own = probs[np.arange(len(probs)), self.given]
        return rankdata(issues * 2.0 - own), issues

    def methods(self):
        """{method: (suspicion, called or None)}"""
        self.train("plain", self.given)
        probs = self.train_folds("folds", self.given)
        measures = portolan.measures("plain", store=self.store)
        order = np.argsort(np.asarray(measures["id"]).astype(int))
        theirs, last = self.by_cleanlab(probs, "confident_learning"), ("--epochs", f"{EPOCHS - 1}:")
        assert not (self.noise("confident", "folds", *last)[1] > theirs[1]).any(), "noise confident calls what cleanlab does not call"
        return {
            "confidence, lowest first": (-np.asarray(measures["confidence"])[order], None),
            "aum, lowest first": (-np.asarray(measures["aum"])[order], None),
            "noise mixture --by aum": self.noise("mixture", "plain", "--by", "aum"),
            "noise fit, apply: one training more": self.by_flips(),
            "noise aum: two trainings more": self.by_threshold_samples(),
            "noise confident": self.noise("confident", "plain"),
            "noise confident, out of fold": self.noise("confident", "folds"),
            CALIBRATED[0]: self.suspects("plain"),
            CALIBRATED[1]: self.suspects("folds"),
            THEIRS[0]: theirs,
            THEIRS[1]: self.by_cleanlab(probs, "prune_by_noise_rate"),
        }

    def calibration(self, wrong):
        """{method: how many are wrong, were expected, and within which interval; and the calibration error} of the runs trained with flips."""
        flips, found = self.store / "flips.tsv", {}
        self.portolan("noise", "plan", "plain", "--fraction", FLIPPED, *ALL, "--seed", self.seed, "-o", flips)
        labels = self.with_labels_of(flips)
        self.train("flipped", labels)
        self.train_folds("flipped folds", labels)
        for method, run in zip(CALIBRATED, ("flipped", "flipped folds")):
            rows = self.rows("suspects", run, "--flips", flips, "--all")
            expected = json.loads(self.portolan("suspects", run, "--flips", flips, "--json"))["expected"]
            ids, probabilities = np.array([int(row["id"]) for row in rows]), np.array([float(row["probability"]) for row in rows])
            found[method] = {"wrong": int(wrong[ids].sum()), "error": calibration_error(probabilities, wrong[ids]),
                             "expected": expected["wrong"], "low": expected["low"], "high": expected["high"]}
        return found


def calibration_error(probabilities, wrong):
    """Over ten bins of as many examples: how far the mean probability is from the share of wrong labels."""
    bins = np.array_split(np.argsort(probabilities, kind="stable"), 10)
    return float(sum(len(rows) * abs(probabilities[rows].mean() - wrong[rows].mean()) for rows in bins) / len(wrong))


def run_case(program, folder, name, kind, seed):
    """For each method AUROC, how many it calls, how many of these are wrong, and F1; and the calibration."""
    path = folder / f"{name}-{kind.replace(' ', '-')}-seed{seed}.json"
    if path.exists():
        return json.loads(path.read_text())
    with np.load(folder / f"{name}.npz") as data:
        X, truth, probs = data["X"], data["y"], data["probs"]
    given = change_labels(truth, probs, kind, seed)
    wrong, results = given != truth, {}
    with tempfile.TemporaryDirectory(dir=folder) as store:
        case = Case(program, X, given, seed, Path(store))
        for method, (suspicion, called) in case.methods().items():
            results[method] = {"auroc": roc_auc_score(wrong, suspicion)}
            if called is not None:
                called = np.asarray(called) == 1
                results[method] |= {"f1": f1_score(wrong, called), "called": int(called.sum()), "right": int((called & wrong).sum())}
        results = {"wrong": int(wrong.sum()), "methods": results, "calibration": case.calibration(wrong)}
    path.with_suffix(".part").write_text(json.dumps(results))
    path.with_suffix(".part").rename(path)
    print(path.stem, file=sys.stderr)
    return results


# The tables

def cell(results, method):
    """AUROC and F1, means over the seeds, and how many times the number of wrong labels is called."""
    found = [one["methods"][method] for one in results]
    text = f"{np.mean([one['auroc'] for one in found]):.3f}"
    if "f1" not in found[0]:
        return text
    f1 = [one["f1"] for one in found]
    spread = f" ± {np.std(f1, ddof=1):.2f}" if len(f1) > 1 else ""
    return f"{text}, {np.mean(f1):.2f}{spread} ({np.mean([one['called'] / every['wrong'] for one, every in zip(found, results)]):.1f})"


def calibration_cells(results, method):
    """Means over the seeds, but for how often the interval holds the true number."""
    found = [one["calibration"][method] for one in results]
    means = {name: np.mean([one[name] for one in found]) for name in found[0]}
    within = sum(round(one["low"]) <= one["wrong"] <= round(one["high"]) for one in found)
    return [f"{means['expected']:.0f} ({means['low']:.0f} to {means['high']:.0f})", f"{within} of {len(found)}", f"{means['error']:.3f}"]


def calibration_table(found):
    rows = [["changed", "wrong", *(f"{what}{where}" for where in ("", ", out of fold") for what in ("expected (90%)", "holds", "error"))]]
    for (name, kind), results in found.items():
        wrong = np.mean([one["calibration"][CALIBRATED[0]]["wrong"] for one in results])
        rows.append([f"{name}, {kind}", f"{wrong:.0f}", *(cell for method in CALIBRATED for cell in calibration_cells(results, method))])
    return rows


def beside_cleanlab(found):
    """For each kind: where our cut, out of fold, has a lower F1 than the better of cleanlab's."""
    for kind in KINDS:
        below = []
        for name in SETS:
            own, *theirs = (np.mean([one["methods"][method]["f1"] for one in found[name, kind]]) for method in (OWN, *THEIRS))
            if own < max(theirs):
                below.append(f"{name} {own:.2f} and {max(theirs):.2f}")
        yield (f"{kind}: {OWN}, has an F1 at or above both of cleanlab's on {len(SETS) - len(below)} of {len(SETS)} data sets"
               + (f"; below: {', '.join(below)}" if below else ""))


def study_suspects(program, out, short):
    """(titles with tables; lines)"""
    folder, seeds = out / "study/suspects", SHORT if short else SEEDS
    folder.mkdir(parents=True, exist_ok=True)
    sizes = []
    for name in SETS:
        with np.load(make(name, folder / f"{name}.npz")) as data:
            sizes.append(f"{name}: {len(data['y']):,} examples, {data['y'].max() + 1} classes")
    with ProcessPoolExecutor() as pool:
        cases = {(name, kind, seed): pool.submit(run_case, program, folder, name, kind, seed) for seed in seeds for name in SETS for kind in KINDS}
        found = {(name, kind): [cases[name, kind, seed].result() for seed in seeds] for kind in KINDS for name in SETS}
    methods = found["digits", KINDS[0]][0]["methods"]
    tables = [(f"changed, {kind}: AUROC, F1 (called / wrong)",
               [["", *SETS], *([method, *(cell(found[name, kind], method) for name in SETS)] for method in methods)]) for kind in KINDS]
    tables.append(("portolan suspects --flips: how many labels are wrong, how often the interval holds it, and the calibration error", calibration_table(found)))
    return tables, ["; ".join(sizes), *beside_cleanlab(found)]
