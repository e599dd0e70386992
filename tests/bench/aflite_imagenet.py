"""One partition of portolan aflite with as many rows and classes as ImageNet: 1,281,167 × 256 features, 1,000 classes. Long; 3 GB.

One classifier of a tenth of the rows is fitted to its end, and predicts the rest: time, memory and tries. A phase has 64. What they share
(reading the file, where searches begin, the curvature) is told apart at a tenth of the rows, with one classifier and with three; by that
share the time of a whole phase follows. --threshold 1.01 removes nothing, so the command runs one phase and no more.
"""

import csv
import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

from aflite import arithmetic, environment, hidden_layer

ROWS, FEATURES, CLASSES, PARTITIONS = 1_281_167, 256, 1_000, 64


def measure(programs, folder, partitions):
    """One phase: (processor seconds, wall seconds, peak memory in GiB, the log's only line, its operations)."""
    rows = len(np.load(f"{folder}/y.npy", mmap_mode="r"))
    began = time.monotonic()
    child = subprocess.Popen(
        [programs["portolan"], "aflite", "--features", f"{folder}/X.npy", "--labels", f"{folder}/y.npy", "--partitions", str(partitions),
         "--train-size", str(rows // 10), "--threshold", "1.01", "--threads", "1", "--no-manifest", "--log", f"{folder}/log.csv",
         "-o", f"{folder}/kept.txt"], stderr=subprocess.DEVNULL, env=environment())
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0, status
    with open(f"{folder}/log.csv", encoding="utf-8", newline="") as file:
        line, = csv.DictReader(file)
    _, _, operations = arithmetic(f"{folder}/log.csv", FEATURES, CLASSES, partitions)
    return usage.ru_utime + usage.ru_stime, time.monotonic() - began, usage.ru_maxrss / 2**20, line, operations


def run(report, programs, repeats):
    del repeats  # once: it takes minutes
    folder = tempfile.mkdtemp(prefix="portolan-bench-")
    try:
        shared = 0
        for rows, partitions in ((ROWS // 10, 1), (ROWS // 10, 3), (ROWS, 1)):
            if not os.path.exists(f"{folder}/y.npy") or len(np.load(f"{folder}/y.npy")) != rows:
                X, y = hidden_layer(rows, FEATURES, CLASSES, 1, "f2")
                np.save(f"{folder}/X.npy", X)
                np.save(f"{folder}/y.npy", y)
                del X
            cpu, wall, memory, line, operations = measure(programs, folder, partitions)
            print(f"{rows:,} rows, {partitions}: {cpu:.0f} s", file=sys.stderr)
            if rows < ROWS and partitions == 1:
                alone = cpu
            elif rows < ROWS:
                shared = 1 - (cpu - alone) / (partitions - 1) / alone
                tenth = alone
        hours = cpu * (shared + PARTITIONS * (1 - shared)) / 3600
        report.ratio(f"aflite, {ROWS:,} × {FEATURES}, {CLASSES:,} classes: one partition / the same of a tenth of the rows", [cpu / tenth],
                     note=f"{cpu:.0f} s of one processor, {wall:.0f} s by the clock, {memory:.1f} GiB; the classifier was tried {line['evaluations']} times, "
                          f"{line['not_converged']} not converged; {operations / 1e12:.1f} TFLOP at {operations / cpu / 1e9:.0f} GFLOP/s; "
                          f"accuracy {float(line['accuracy']):.3f}. {100 * shared:.0f}% of it is shared by all of a phase: {PARTITIONS} partitions take {hours:.1f} hours of a processor")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
