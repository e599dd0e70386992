"""AFLite on synthetic data (Le Bras et al. 2020, section 4.1): two circles, and columns that give most labels away.

The paper's generator is not published; ours is in tests/cli/aflite_reference.py, and the bounds were measured with scikit-learn on it.
"""

import subprocess
import sys

import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

import aflite_reference

SEEDS = range(10)
LINE = (46, 56)  # percent, of logistic regression afterwards
BOUNDS = {0.8: (83, 0.36, 0.46), 0.7: (83, 0.57, 0.65), 0.6: (80, 0.57, 0.65), 0.4: (68, 0.57, 0.65)}  # SVM, share kept
SETTINGS = {"as above: C = 1, all six columns": (SVC(), 6), "C = 10": (SVC(C=10), 6), "C = 10, gamma = 0.05": (SVC(C=10, gamma=0.05), 6),
            "gamma = 0.5": (SVC(gamma=0.5), 6), "a linear kernel": (SVC(kernel="linear"), 6), "the two columns of the circles alone": (SVC(), 2)}
PAPER_BEFORE = 97.0  # the paper's SVM at separation 0.8 (Table 7)


def keep(portolan, folder, X, y, seed):
    """The rows that aflite keeps."""
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    subprocess.run([portolan, "aflite", "--features", folder / "X.npy", "--labels", folder / "y.npy", *aflite_reference.CIRCLES,
                    "--seed", str(seed), "--no-manifest", "-o", folder / "kept.txt"], check=True, stderr=subprocess.DEVNULL)
    return np.loadtxt(folder / "kept.txt", dtype=int)


def filter_circles(portolan, folder, separation, seed):
    """Accuracies of logistic regression and SVM, each before and after, and the share that is kept."""
    X, y = aflite_reference.circles(separation, seed)
    kept = keep(portolan, folder, X, y, seed)
    before, after = aflite_reference.accuracies(X, y), aflite_reference.accuracies(X[kept], y[kept])
    return before[0], after[0], before[1], after[1], len(kept) / len(y)


def draw(portolan, folder, picture):
    """Figure 2: the circles of each separation, coloured by label, all examples above, and those that are kept below."""
    panels = []
    for separation in BOUNDS:
        X, y = aflite_reference.circles(separation, 0)
        kept = keep(portolan, folder, X, y, 0)
        panels.append((f"separation {separation}", X, y, f"{len(kept)} of {len(y)} are kept", X[kept], y[kept]))
    script = [f"set terminal pngcairo size {340 * len(panels)},720 font ',10'", f"set output '{picture}'", f"set multiplot layout 2,{len(panels)}",
              "unset key", "set xrange [-1.8:1.8]", "set yrange [-1.8:1.8]", "set size ratio 1"]
    for row in (0, 3):
        for panel in panels:
            title, X, y = panel[row:row + 3]
            script += [f"set title '{title}'", "$points << end", *(f"{a} {b} {label}" for (a, b), label in zip(X[:, :2], y)), "end",
                       "plot $points using 1:($3 == 0 ? $2 : 1/0) with points pt 7 ps 0.4 lc rgb '#0072b2', "
                       "$points using 1:($3 == 1 ? $2 : 1/0) with points pt 7 ps 0.4 lc rgb '#d55e00'"]
    subprocess.run(["gnuplot", "-d"], input="\n".join([*script, "unset multiplot"]) + "\n", check=True, text=True)


def settings_rows(portolan, folder):
    """Rows of a table: at separation 0.8, what an SVM gets right before and after with other settings, with our wrong labels and without."""
    rows = [["SVM at separation 0.8", "3% wrong labels: before", "after", "no wrong labels: before", "after"]]
    data = {}
    for wrong in (0.03, 0.0):
        sets = [aflite_reference.circles(0.8, seed, wrong) for seed in SEEDS]
        data[wrong] = [(X, y, keep(portolan, folder, X, y, seed)) for seed, (X, y) in enumerate(sets)]
    for name, (model, columns) in SETTINGS.items():
        row = [name]
        for sets in data.values():
            for rows_of in (lambda y, kept: np.arange(len(y)), lambda y, kept: kept):
                scores = [cross_val_score(model, X[rows_of(y, kept), :columns], y[rows_of(y, kept)], cv=5).mean() for X, y, kept in sets]
                row.append(f"{100 * np.mean(scores):.1f}%")
        rows.append(row)
    return rows


def study_circles(portolan, out):
    """Two tables of rows, and a line that says where the picture is; each seed's accuracies go to stderr."""
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
    picture = folder / "circles.png"
    draw(portolan, folder, picture)
    return [rows, settings_rows(portolan, folder)], f"The paper's SVM starts at {PAPER_BEFORE}%. The circles before and after (its Figure 2): {picture}"
