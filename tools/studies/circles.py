"""AFLite on synthetic data (Le Bras et al. 2020, section 4.1): two circles, and columns that give most labels away.

The paper's generator is not published; ours is in tests/cli/aflite_reference.py, and the bounds were measured with scikit-learn on it.
"""

import subprocess
import sys

import numpy as np

import aflite_reference

SEEDS = range(10)
LINE = (46, 56)  # percent, of logistic regression afterwards
BOUNDS = {0.8: (83, 0.36, 0.46), 0.7: (83, 0.57, 0.65), 0.6: (80, 0.57, 0.65), 0.4: (68, 0.57, 0.65)}  # SVM, share kept


def filter_circles(portolan, folder, separation, seed):
    """Accuracies of logistic regression and SVM, each before and after, and the share that is kept."""
    X, y = aflite_reference.circles(separation, seed)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    subprocess.run([portolan, "aflite", "--features", folder / "X.npy", "--labels", folder / "y.npy", *aflite_reference.CIRCLES,
                    "--seed", str(seed), "--no-manifest", "-o", folder / "kept.txt"], check=True, stderr=subprocess.DEVNULL)
    kept = np.loadtxt(folder / "kept.txt", dtype=int)
    before, after = aflite_reference.accuracies(X, y), aflite_reference.accuracies(X[kept], y[kept])
    return before[0], after[0], before[1], after[1], len(kept) / len(y)


def study_circles(portolan, out):
    """Rows of a table; each seed's accuracies go to stderr."""
    folder = out / "study"
    folder.mkdir(parents=True, exist_ok=True)
    rows = [["separation", "logistic regression: before", "after", "SVM: before", "after", "kept", "within bounds"]]
    for separation, (least, *share) in BOUNDS.items():
        seeds = np.array([filter_circles(portolan, folder, separation, seed) for seed in SEEDS])
        mean = seeds.mean(axis=0)
        good = LINE[0] <= mean[1] <= LINE[1] and mean[3] >= least and share[0] <= mean[4] <= share[1]
        rows.append([f"{separation}", *(f"{value:.1f}%" for value in mean[:4]), f"{mean[4]:.2f}", "yes" if good else "no"])
        print(f"separation {separation}, logistic regression / SVM afterwards, by seed: " +
              ", ".join(f"{line:.0f}/{svm:.0f}" for line, svm in seeds[:, [1, 3]]), file=sys.stderr)
    return rows
