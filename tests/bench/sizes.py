"""How many bytes of disk an observation takes in a store, by what is recorded: the figures of collector/SIZES.md.

200,000 examples in shuffled batches of 512, 5 epochs and 25; the file is looked at when the run is closed and its collector has left. What one more
observation takes is the difference; what is left of the first epochs is their log, whose pages later epochs use again. An epoch begins when the one
before has become columns, as it has in a training: logged without a pause, the logs of several epochs lie side by side, and the file keeps their pages.
The ratio is to the recorded values as arrays: 4 bytes a signal, a bit for correct.
"""

import json
import os
import shutil
import subprocess
import tempfile
import time

import numpy as np

EXAMPLES, EPOCHS, BATCH = 200_000, (5, 25), 512
VARIANTS = (("declared", "gold", 4.125), ("declared", "logits", 24.125), ("integers", "gold", 4.125), ("text", "gold", 4.125))


def record(portolan_program, store, kind, signals, epochs):
    """`signals`: gold probabilities alone, or the six that come of logits."""
    import portolan

    rng = np.random.default_rng(1)
    gold = rng.integers(0, 3, EXAMPLES)
    names = [f"premise-{n:07d}-a" for n in range(EXAMPLES)] if kind == "text" else None
    declared = {"examples": EXAMPLES} if kind == "declared" else {}
    with portolan.Run("sizes", store=store, **declared) as run:
        for epoch in range(epochs):
            order = rng.permutation(EXAMPLES)
            for start in range(0, EXAMPLES, BATCH):
                rows = order[start : start + BATCH]
                ids = [names[row] for row in rows] if names else rows
                if signals == "logits":
                    run.log_logits(epoch, ids, rng.normal(0, 2, (len(rows), 3)).astype(np.float32), gold[rows])
                else:
                    run.log_gold(epoch, ids, rng.random(len(rows), dtype=np.float32), rng.random(len(rows)) < 0.5, gold=gold[rows])
            run.end_epoch(epoch)
            run.flush()
            while in_log(portolan_program, store, epoch) > 0:
                time.sleep(0.02)


def in_log(program, store, epoch):
    """How many observations of the epoch are not in columns yet."""
    done = subprocess.run([program, "check", "sizes", "--store", store, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return json.loads(done.stdout)["epochs"][epoch]["in_log"]


def size_of(program, kind, signals, epochs):
    folder = tempfile.mkdtemp(prefix="portolan-bench-")
    try:
        store = os.path.join(folder, "store")
        record(program, store, kind, signals, epochs)
        subprocess.run(["flock", os.path.join(store, "portoland.lock"), "true"], check=True)
        return os.stat(os.path.join(store, "data.mdb")).st_blocks * 512
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(report, programs, repeats):
    for kind, signals, array in VARIANTS:
        few, many = (size_of(programs["portolan"], kind, signals, epochs) for epochs in EPOCHS)
        each = (many - few) / (EXAMPLES * (EPOCHS[1] - EPOCHS[0]))
        once = (few - each * EXAMPLES * EPOCHS[0]) / EXAMPLES
        report.ratio(f"store, {kind} ids, {signals}: bytes of one more observation / array", [each / array],
                     note=f"{each:.2f} bytes; and once per example {once:.0f}")
