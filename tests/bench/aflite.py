"""One phase of portolan aflite against scikit-learn's classifiers on the same training sets, one core each.

100,000 × 256 features in single precision, 3 classes, 64 classifiers of 10,000 examples. scikit-learn fits and predicts a few of the
64 in each turn, and its time is scaled to all of them; ours is the whole command, with reading the file and writing the result.
Then 1,000 classes: there scikit-learn makes a few iterations, and its time is scaled to as many as ours took; beside that, the arithmetic
of ours (as its log has it) is compared with NumPy's products of the same shapes.
OPENBLAS_CORETYPE is unset for both; where OpenBLAS then does not know the processor, scikit-learn gets a second chance with it set, and
with 1,000 classes that one alone.
"""

import csv
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import harness

ROWS, FEATURES, CLASSES, PARTITIONS, TRAIN, SLICE = 100_000, 256, 3, 64, 10_000, 2_000
TURNS = 5  # at most: scikit-learn takes its time
SAMPLE = 1  # classifiers of scikit-learn in a turn
MANY_ROWS, MANY_FEATURES, MANY_CLASSES, MANY_PARTITIONS, MANY_TRAIN = 10_000, 128, 1_000, 4, 8_000
MANY_TURNS, MANY_ITERATIONS = 2, 20  # iterations of scikit-learn

PEER = """
import sys, time, warnings
import numpy as np
from sklearn.linear_model import LogisticRegression
warnings.simplefilter("ignore")
folder, iterations, first, count, train = sys.argv[1], *map(int, sys.argv[2:])
X, y = np.load(folder + "/X.npy"), np.load(folder + "/y.npy")
steps, began = 0, time.process_time()
for number in range(first, first + count):
    rows = np.random.default_rng(number).permutation(len(X))
    model = LogisticRegression(max_iter=iterations).fit(X[rows[:train]], y[rows[:train]])
    z = model.decision_function(X[rows[train:]])
    z.argmax(axis=1)
    steps += int(model.n_iter_.max())
print(time.process_time() - began, steps / count)
"""

PRODUCTS = """
import sys, time
import numpy as np
columns, order, rows = map(int, sys.argv[1:])
v, x, r = (np.random.default_rng(i).random(shape, dtype="f4") for i, shape in enumerate(((columns, order), (rows, order), (columns, rows))))
best = 1e9
for _ in range(4):
    began = time.process_time(); v @ x.T; r @ x; best = min(best, time.process_time() - began)
print(4 * columns * order * rows / best)
"""


def arithmetic(log, features, classes, partitions):
    """(Phases, times that a classifier was tried, operations of all that: 2 for each multiplication and addition)."""
    with open(log, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    width = (classes - 1) * (features + 1)
    return len(rows), sum(int(row["evaluations"]) for row in rows), sum(
        4 * int(row["evaluations"]) * int(row["train_size"]) * width + 2 * int(row["examples"]) * partitions * width for row in rows)


def hidden_layer(rows, features, classes, seed, dtype="f4"):
    """Features as networks make them: correlated, of a spectrum that falls off, columns of different size and mean, a few of them
    larger than the rest (as the outlier dimensions of BERT-like models); most examples easy, some in between, some hopeless, some
    mislabelled."""
    rng = np.random.default_rng(seed)
    inner = 64
    y = rng.integers(0, classes, rows)
    centres = (0.7 * rng.normal(size=(classes, inner))).astype("f4")
    scale = (1 / np.sqrt(np.arange(1, inner + 1))).astype("f4")
    mixing = (rng.normal(size=(inner, features)) / np.sqrt(inner)).astype("f4")
    size = np.exp(0.3 * rng.normal(size=features)).astype("f4")
    size[rng.choice(features, max(1, features // 100), replace=False)] *= 3
    offset = size * rng.normal(size=features).astype("f4")
    strength = np.choose(rng.choice(3, rows, p=(0.6, 0.25, 0.15)), (1.6, 0.7, 0.0)).astype("f4")
    X = np.empty((rows, features), dtype)
    for at in range(0, rows, 50_000):
        part = slice(at, min(at + 50_000, rows))
        n = part.stop - at
        Z = (2 * rng.standard_normal((n, inner), dtype="f4") + centres[y[part]] * strength[part, None]) * scale
        noise = rng.standard_normal((n, features), dtype="f4")
        hidden = np.tanh(Z @ mixing + 0.1 * noise) + 0.3 * rng.standard_normal((n, features), dtype="f4")
        X[part] = hidden * size + offset
    wrong = rng.random(rows) < 0.05
    y[wrong] = rng.integers(0, classes, wrong.sum())
    return X, y


def environment(**more):
    kept = {name: value for name, value in os.environ.items() if name not in ("OPENBLAS_CORETYPE", "OPENBLAS_VERBOSE")}
    return {**kept, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", **more}


def core_type():
    """What to set OPENBLAS_CORETYPE to where OpenBLAS by itself takes an older processor's kernels; else None."""
    with open("/proc/cpuinfo", encoding="ascii") as info:
        flags = next((line for line in info if line.startswith("flags")), "").split()
    code = "import ctypes, ctypes.util as u; f = ctypes.CDLL(u.find_library('openblas')).openblas_get_corename; " \
           "f.restype = ctypes.c_char_p; print(f().decode())"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True)
    best = "SkylakeX" if {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= set(flags) else "Haswell" if "avx2" in flags else None
    old = done.stdout.strip() in ("Prescott", "Core2", "Nehalem", "Sandybridge", "generic", "Generic") or \
        (best == "SkylakeX" and done.stdout.strip() in ("Haswell", "Zen"))
    return best if best and old else None


def peer_seconds(folder, iterations, first, train, env):
    """Of one classifier: (processor seconds, iterations)."""
    command = [sys.executable, "-c", PEER, folder, str(iterations), str(first), str(SAMPLE), str(train)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    seconds, steps = map(float, done.stdout.split())
    return seconds / SAMPLE, steps


def our_command(programs, folder, rows, partitions, train, slice_size, *words):
    return [programs["portolan"], "aflite", "--features", f"{folder}/X.npy", "--labels", f"{folder}/y.npy", "--partitions", str(partitions),
            "--train-size", str(train), "--slice", str(slice_size), "--target-size", str(rows - slice_size), "--threads", "1", *words,
            "-o", f"{folder}/kept.txt"]


def few_classes(report, programs, repeats, folder):
    X, y = hidden_layer(ROWS, FEATURES, CLASSES, 1)
    np.save(os.path.join(folder, "X.npy"), X)
    np.save(os.path.join(folder, "y.npy"), y)
    command = our_command(programs, folder, ROWS, PARTITIONS, TRAIN, SLICE)
    peers = {"default (100 iterations)": (100, {}, "≥ 150"), "converged": (5000, {}, "≥ 300")}
    core = core_type()
    if core:
        peers.update({f"{name}, OPENBLAS_CORETYPE={core}": (iterations, {"OPENBLAS_CORETYPE": core}, None)
                      for name, (iterations, _, _) in list(peers.items())})
    ratios, steps, ours_all = {name: [] for name in peers}, {name: [] for name in peers}, []
    for turn in range(min(repeats, TURNS) + 1):
        ours, _ = harness.child_seconds(command, stderr=subprocess.DEVNULL, env=environment())
        theirs = {name: peer_seconds(folder, iterations, turn * SAMPLE, TRAIN, environment(**more))
                  for name, (iterations, more, _) in peers.items()}
        if turn == 0:
            continue  # the warm-up
        ours_all.append(ours)
        for name, (seconds, taken) in theirs.items():
            ratios[name].append(seconds * PARTITIONS / ours)
            steps[name].append(taken)
    for name, (_, _, aim) in peers.items():
        report.ratio(f"aflite, 100,000 × 256, one phase: scikit-learn {name} / ours", ratios[name], aim=aim, better="more",
                     note=f"processor time; ours {harness.spread(ours_all)[0]:.2f} s; scikit-learn {harness.spread(steps[name])[0]:.0f} "
                          f"iterations for a classifier, {SAMPLE} of {PARTITIONS} timed in a turn and scaled")


def many_classes(report, programs, repeats, folder):
    X, y = hidden_layer(MANY_ROWS, MANY_FEATURES, MANY_CLASSES, 1)
    np.save(os.path.join(folder, "X.npy"), X)
    np.save(os.path.join(folder, "y.npy"), y)
    command = our_command(programs, folder, MANY_ROWS, MANY_PARTITIONS, MANY_TRAIN, MANY_ROWS // 50, "--log", f"{folder}/log.csv")
    core = core_type()
    best = environment(**({"OPENBLAS_CORETYPE": core} if core else {}))
    shapes = [str(size) for size in (MANY_CLASSES - 1, MANY_FEATURES + 1, MANY_TRAIN)]
    ratios, shares = [], []
    for turn in range(min(repeats, MANY_TURNS)):
        ours, _ = harness.child_seconds(command, stderr=subprocess.DEVNULL, env=environment())
        seconds, taken = peer_seconds(folder, MANY_ITERATIONS, turn, MANY_TRAIN, best)
        product = float(subprocess.run([sys.executable, "-c", PRODUCTS, *shapes], check=True, capture_output=True, text=True, env=best).stdout)
        _, tries, operations = arithmetic(f"{folder}/log.csv", MANY_FEATURES, MANY_CLASSES, MANY_PARTITIONS)
        ratios.append(seconds / taken * tries / ours)
        shares.append(operations / ours / product)
    size = f"aflite, {MANY_ROWS:,} × {MANY_FEATURES}, {MANY_CLASSES:,} classes"
    report.ratio(f"{size}: scikit-learn, as many iterations / ours", ratios, better="more",
                 note=f"processor time; ours {ours:.1f} s for {MANY_PARTITIONS} classifiers of {MANY_TRAIN:,}, tried {tries / MANY_PARTITIONS:.0f} times each; "
                      f"scikit-learn {seconds / taken:.2f} s an iteration of one, {taken:.0f} of them timed")
    report.ratio(f"{size}: its arithmetic / NumPy's products", shares, better="more",
                 note=f"{operations / 1e12:.2f} TFLOP at {operations / ours / 1e9:.0f} GFLOP/s; NumPy's: {product / 1e9:.0f}, one thread each")


def run(report, programs, repeats):
    if importlib.util.find_spec("sklearn") is None:
        raise harness.Absent("it needs scikit-learn: apt-get install python3-sklearn")
    for part in (few_classes, many_classes):
        folder = tempfile.mkdtemp(prefix="portolan-bench-")
        try:
            part(report, programs, repeats, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
