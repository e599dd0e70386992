"""A whole run of portolan aflite as large as the paper's on SNLI: 550,000 × 1,024 features, 64 classifiers of 50,000. Long; 4 GB.

Its arithmetic (counted from the log: both products of every classifier's every sweep, and the predictions) over its whole time is
compared with NumPy's product of two large matrices in the same minute, on all cores.
"""

import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import harness
from aflite import arithmetic, core_type, environment, hidden_layer

ROWS, FEATURES, CLASSES, PARTITIONS, TRAIN, SLICE, TARGET = 550_000, 1_024, 3, 64, 50_000, 10_000, 182_000

PRODUCT = """
import time
import numpy as np
a, b = (np.random.default_rng(i).random((4096, 4096), dtype="f4") for i in range(2))
best = 1e9
for _ in range(6):
    began = time.perf_counter(); a @ b; best = min(best, time.perf_counter() - began)
print(2 * 4096 ** 3 / best)
"""


def run(report, programs, repeats):
    del repeats  # once: it is a minute
    folder = tempfile.mkdtemp(prefix="portolan-bench-")
    try:
        X, y = hidden_layer(ROWS, FEATURES, CLASSES, 1, "f2")
        np.save(os.path.join(folder, "X.npy"), X)
        np.save(os.path.join(folder, "y.npy"), y)
        del X
        core = core_type()
        env = environment(**({"OPENBLAS_CORETYPE": core} if core else {}))
        env.pop("OPENBLAS_NUM_THREADS")
        env.pop("OMP_NUM_THREADS")
        product = float(subprocess.run([sys.executable, "-c", PRODUCT], check=True, capture_output=True, text=True, env=env).stdout)
        cpu, wall = harness.child_seconds(
            [programs["portolan"], "aflite", "--features", f"{folder}/X.npy", "--labels", f"{folder}/y.npy", "--partitions",
             str(PARTITIONS), "--train-size", str(TRAIN), "--slice", str(SLICE), "--target-size", str(TARGET), "--threshold", "0",
             "--log", f"{folder}/log.csv", "-o", f"{folder}/kept.txt"], stderr=subprocess.DEVNULL)
        phases, _, operations = arithmetic(f"{folder}/log.csv", FEATURES, CLASSES, PARTITIONS)
        report.ratio("aflite, 550,000 × 1,024: its arithmetic / matrix products", [operations / wall / product], better="more",
                     note=f"{phases} phases in {wall:.1f} s (aim < 60 on 2 cores), {cpu:.1f} s of processors; {operations / 1e12:.1f} "
                          f"TFLOP at {operations / wall / 1e9:.0f} GFLOP/s; matrix products: {product / 1e9:.0f} GFLOP/s")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
