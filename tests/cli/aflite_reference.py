"""AFLite as its paper has it, with scikit-learn's classifiers, on the training sets that portolan aflite draws; and data to filter.

The generator of the training sets is written down in analyzer/analyses/aflite/training.h; this is it once more.
"""

import os
import sys
import warnings

import numpy as np
from sklearn.datasets import make_circles
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC, LinearSVC

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from run_select import MASK, Random


def training_set(seed, phase, number, left, size):
    """Which of the examples that are left (ascending) are in the set: truth values."""
    random = Random((seed + ((phase << 20) + number + 1) * 0xD1342543DE82EF95) & MASK)
    inverse = size > left // 2
    drawn = np.zeros(left, bool)
    count = 0
    while count < (left - size if inverse else size):
        place = random.below(left)
        count += not drawn[place]
        drawn[place] = True
    return ~drawn if inverse else drawn


def distances(X, y, train, classes, **options):
    """What a classifier says of the rows it was not trained on: examples × classes; −inf for a class it does not know.

    With its default tolerance, scikit-learn from 1.4 on stops a search earlier than 1.2 does. Here both go on to the same minimum.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LogisticRegression(**{"max_iter": 5000, "tol": 1e-8, **options}).fit(X[train], y[train])
    z = model.decision_function(X[~train])
    if z.ndim == 1:
        z = np.stack([np.zeros(len(z)), z], axis=1)
    out = np.full((len(z), classes), -np.inf)
    out[:, model.classes_] = z
    return out


def hinge_distances(X, y, train, classes, C=1.0):
    """As distances(), of linear support vector machines, one against the rest; with two classes one, of the second.

    scikit-learn penalises the intercept as a further weight. At this scaling that penalty is 1e-6 of a weight's.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LinearSVC(C=C, dual=False, tol=1e-12, max_iter=100000, intercept_scaling=1e3).fit(X[train] - X.mean(axis=0), y[train])
    z = model.decision_function(X[~train] - X.mean(axis=0))
    if z.ndim == 1:
        z = np.stack([np.zeros(len(z)), z], axis=1)
    out = np.full((len(z), classes), -np.inf)
    out[:, model.classes_] = z
    return out


def score(X, y, seed, phase, partitions, size, of=distances, **options):
    """Predictions made and correct, and the mean margin, of each row. Labels are 0 … classes − 1."""
    classes = int(y.max()) + 1
    made, correct, margin = np.zeros(len(X), int), np.zeros(len(X), int), np.zeros(len(X))
    for number in range(partitions):
        train = training_set(seed, phase, number, len(X), size)
        z = of(X, y, train, classes, **options)
        rows, gold = np.flatnonzero(~train), y[~train]
        known = np.where(np.isinf(z), np.inf, z).min(axis=1)
        of_gold = z[np.arange(len(z)), gold]
        other = z.copy()
        other[np.arange(len(z)), gold] = -np.inf
        made[rows] += 1
        correct[rows] += z.argmax(axis=1) == gold
        margin[rows] += np.where(np.isinf(of_gold), known, of_gold) - other.max(axis=1)
    return made, correct, margin / np.maximum(made, 1)


def filter_rows(X, y, target, partitions, size, slice_size, threshold=0.75, seed=0, **options):
    """The rows that are kept: heuristic slice, ties by margin, then by row."""
    left, phase = np.arange(len(X)), 0
    while len(left) > target:
        made, correct, margin = score(X[left], y[left], seed, phase, partitions, size, **options)
        p = np.where(made > 0, correct / np.maximum(made, 1), -1)
        ranked = np.lexsort((np.arange(len(p)), -margin, -p))
        qualified = int((p[ranked] >= threshold).sum())
        take = min(slice_size, len(left) - target, qualified)
        left = np.delete(left, ranked[:take])
        phase += 1
        if qualified < slice_size:
            break
    return left


def jaccard(a, b):
    a, b = set(a), set(b)
    return len(a & b) / max(1, len(a | b))


def clouds(rows, features, classes, apart, seed=0, hard=0.4):
    """Gaussian clouds, a share of them without any class; float32 and labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    centres = rng.normal(size=(classes, features)) * apart / np.sqrt(features)
    X = rng.normal(size=(rows, features)) + centres[y] * (rng.random(rows) > hard)[:, None]
    return X.astype("f4"), y


def circles(separation, seed, wrong=0.03):
    """Two circles that no line parts, and four columns that give most of the labels away; at separation 0.8 a share of labels is wrong."""
    rng = np.random.default_rng(seed)
    easy = separation == 0.8
    X, y = make_circles(n_samples=800, factor=1 - separation, noise=0.15 if easy else 0.2, random_state=seed)
    if easy:
        y = np.where(rng.random(800) < wrong, 1 - y, y)
    biased = rng.normal(size=(800, 4))
    for label in (0, 1):
        rows = rng.permutation(np.flatnonzero(y == label))
        biased[rows[:round(0.75 * len(rows))]] += (0.8 if easy else 0.5) * (1 if label else -1)
    return np.concatenate([X, biased], axis=1), y


CIRCLES = ("--partitions", "128", "--train-size", "100", "--heuristic", "greedy", "--threshold", "0.75")


def accuracies(X, y):
    """Of logistic regression and of an SVM with radial basis functions, by 5-fold cross-validation; in percent."""
    return tuple(100 * cross_val_score(model, X, y, cv=5).mean() for model in (LogisticRegression(), SVC()))
