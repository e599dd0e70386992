"""`portolan metrics --state` when one epoch came after E old ones, against `portolan metrics` of all E + 1: the processor time of both processes.

1,000,000 examples, 10, 30 and 100 old epochs, npy to a file. The state is read, continued and written anew each time, as in a training that asks
after each epoch.
"""

import os
import shutil
import tempfile

import numpy as np

import harness
import metrics

EXAMPLES, OLD = 1_000_000, (10, 30, 100)


def observations():
    rng = np.random.default_rng(0)
    gold_prob = rng.random((OLD[-1] + 1, EXAMPLES), dtype=np.float32)
    return gold_prob, gold_prob > 0.5


def check_same(ours, whole):
    for name in whole.dtype.names:
        if not np.allclose(ours[name], whole[name], rtol=1e-12, atol=1e-12, equal_nan=True):
            raise AssertionError(f"{name} differs from the whole computation")


def run(report, programs, repeats):
    folder = tempfile.mkdtemp(prefix="portolan-bench-", dir=os.environ.get("PORTOLAN_BENCH_TMPDIR"))
    try:
        store, ours, theirs, state, used = (os.path.join(folder, name) for name in ("store", "ours.npy", "whole.npy", "state", "used"))
        metrics.record(store, *observations())
        base = [programs["portolan"], "metrics", "bench", "--store", store, "-o"]
        for old in OLD:
            subset = ["--epochs", f":{old + 1}"]
            harness.child_seconds([*base, ours, "--epochs", f":{old}", "--state", state])
            ratios = []
            for turn in range(repeats + 1):
                shutil.copyfile(state, used)
                cpu, _ = harness.child_seconds([*base, ours, *subset, "--state", used])
                peer, _ = harness.child_seconds([*base, theirs, *subset])
                if turn == 0:
                    check_same(np.load(ours), np.load(theirs))
                    continue  # the warm-up
                ratios.append(cpu / peer)
            report.ratio(f"metrics --state, 1 epoch after {old}, 1,000,000 examples: processor time / whole", ratios,
                         note=f"the state has {os.path.getsize(state) / EXAMPLES:.0f} bytes an example")
            os.unlink(state)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
