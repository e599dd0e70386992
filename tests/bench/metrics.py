"""`portolan metrics --format npy`, the whole process, against NumPy on the same arrays already in memory.

550,000 examples × 6 epochs (the size of SNLI). NumPy computes in float64 and writes the same structured array to a file.
Both are compared by processor time, since that is what they cost whoever waits for them on a shared machine.
"""

import os
import shutil
import tempfile
import time

import numpy as np

import harness

EXAMPLES, EPOCHS = 550_000, 6


def synthetic(seed=0):
    """Trajectories that look like training: an ability that grows, an example's own difficulty, noise."""
    rng = np.random.default_rng(seed)
    difficulty = rng.normal(0, 1.6, EXAMPLES)
    z = 0.7 * np.arange(1, EPOCHS + 1)[:, None] - difficulty + rng.normal(0, 0.8, (EPOCHS, EXAMPLES))
    gold_prob = (1 / (1 + np.exp(-z))).astype(np.float32)
    return gold_prob, gold_prob > 0.5


def record(store, gold_prob, correct):
    import portolan

    epochs, examples = gold_prob.shape
    ids = np.arange(examples)
    gold = np.zeros(examples, dtype=np.int32)
    with portolan.Run("bench", store=store, mode="epoch-end", examples=examples) as run:
        for epoch in range(epochs):
            for start in range(0, examples, 65536):
                rows = slice(start, start + 65536)
                run.log_gold(epoch, ids[rows], gold_prob[epoch, rows], correct[epoch, rows], gold=gold[rows])
            run.end_epoch(epoch)
        if not run.flush(timeout=600):
            raise RuntimeError("the collector did not take the recording within ten minutes")


def numpy_measures(gold_prob, correct, dtype, path):
    """What a NumPy user would write, kept fast: every column of the file, float64."""
    epochs = gold_prob.shape[0]
    p = gold_prob.astype(np.float64)
    out = np.empty(p.shape[1], dtype=dtype)
    hits = correct.sum(axis=0)
    variance = p.var(axis=0)
    confidence = p.mean(axis=0)
    columns = {
        "id": np.arange(p.shape[1]),
        "gold": 0,
        "epochs": epochs,
        "confidence": confidence,
        "variability": np.sqrt(variance),
        "correctness": hits / epochs,
        "forgetting_events": (correct[:-1] & ~correct[1:]).sum(axis=0),
        "never_learned": hits == 0,
        "first_learned": np.where(hits > 0, correct.argmax(axis=0), -1),
        "threshold_closeness": confidence * (1 - confidence),
        "variability_ci": np.sqrt(variance + variance * variance / (epochs - 1)),
        "aleatoric": (p * (1 - p)).mean(axis=0),
        "loss": -np.log(np.maximum(p, 2.0**-150)).mean(axis=0),
    }
    wrong_from_end = (~correct)[::-1].argmax(axis=0)
    right_from_end = correct[::-1].argmax(axis=0)
    columns["always_right_after"] = np.where(hits == epochs, 0, np.where(correct[-1], epochs - wrong_from_end, -1))
    columns["always_wrong_after"] = np.where(hits == 0, 0, np.where(~correct[-1], epochs - right_from_end, -1))
    for name in dtype.names:
        out[name] = columns[name]
    np.save(path, out)
    return out


def run(report, programs, repeats):
    folder = tempfile.mkdtemp(prefix="portolan-bench-")
    try:
        store = os.path.join(folder, "store")
        gold_prob, correct = synthetic()
        record(store, gold_prob, correct)
        ours, theirs = os.path.join(folder, "ours.npy"), os.path.join(folder, "theirs.npy")
        command = [programs["portolan"], "metrics", "bench", "--store", store, "--format", "npy", "-o", ours]
        ratios, walls = [], []
        for turn in range(repeats + 1):
            cpu, wall = harness.child_seconds(command)
            if turn == 0:
                dtype = np.load(ours).dtype
            start_cpu, start = time.process_time(), time.perf_counter()
            peer = numpy_measures(gold_prob, correct, dtype, theirs)
            peer_cpu, peer_wall = time.process_time() - start_cpu, time.perf_counter() - start
            if turn == 0:
                check_same(np.load(ours), peer)
                continue  # the warm-up
            ratios.append(cpu / peer_cpu)
            walls.append(wall / peer_wall)
        report.ratio("metrics --format npy, 550,000 × 6: processor time / NumPy", ratios, aim="≤ 3",
                     note=f"columns: {', '.join(dtype.names)}")
        report.ratio("metrics --format npy, 550,000 × 6: wall time / NumPy", walls)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_same(ours, theirs):
    """A benchmark of two different results would be worthless."""
    for name in ours.dtype.names:
        if not np.allclose(ours[name], theirs[name], rtol=0, atol=1e-12, equal_nan=True):
            worst = int(np.argmax(np.abs(ours[name].astype(float) - theirs[name].astype(float))))
            raise AssertionError(f"{name} differs from NumPy at row {worst}: {ours[name][worst]} and {theirs[name][worst]}")
