"""`portolan report`, the whole page as HTML, against `portolan map` and `portolan metrics`, one after the other: what a user would run
to have the picture and the numbers.

1,000,000 examples × 10 epochs, three classes, with margins and predicted classes, as log_logits() records them. Wall time, in turns.
"""

import os
import shutil
import subprocess
import tempfile

import numpy as np

import harness

EXAMPLES, EPOCHS, CLASSES, BATCH = 1_000_000, 10, 3, 65536


def record(store):
    """Logits that grow with the model's ability, less for harder examples; two in a hundred labels are wrong."""
    import portolan

    rng = np.random.default_rng(0)
    truth = rng.integers(0, CLASSES, EXAMPLES, dtype=np.int32)
    gold = np.where(rng.random(EXAMPLES) < 0.02, (truth + 1) % CLASSES, truth).astype(np.int32)
    ease = rng.normal(1.5, 1.2, EXAMPLES).astype(np.float32)
    with portolan.Run("bench", store=store, mode="epoch-end", examples=EXAMPLES) as run:
        for epoch in range(EPOCHS):
            for start in range(0, EXAMPLES, BATCH):
                ids = np.arange(start, min(start + BATCH, EXAMPLES))
                logits = rng.normal(0, 0.7, (len(ids), CLASSES)).astype(np.float32)
                logits[np.arange(len(ids)), truth[ids]] += ease[ids] * (1 - 0.8 / (epoch + 1))
                run.log_logits(epoch, ids, logits, gold[ids])
            run.end_epoch(epoch)


def run(report, programs, repeats):
    if not shutil.which("gnuplot"):
        raise harness.Absent("it needs gnuplot: apt-get install gnuplot-nox")
    folder = tempfile.mkdtemp(prefix="portolan-bench-")
    try:
        store = os.path.join(folder, "store")
        record(store)
        commands = {name: [programs["portolan"], name, "bench", "--store", store, "-o", os.path.join(folder, output)]
                    for name, output in (("report", "report.html"), ("map", "map.png"), ("metrics", "measures.csv"))}
        turns = [{name: harness.child_seconds(command, stderr=subprocess.DEVNULL) for name, command in commands.items()} for _ in range(repeats + 1)][1:]
        seconds, low, high = harness.spread([turn["report"][1] for turn in turns])
        parts = ", ".join(f"{name} {harness.spread([turn[name][1] for turn in turns])[0]:.2f} s" for name in ("map", "metrics"))
        for what, at in (("wall", 1), ("processor", 0)):
            report.ratio(f"report of 1,000,000 × 10 / map + metrics: {what} time", [turn["report"][at] / (turn["map"][at] + turn["metrics"][at]) for turn in turns],
                         aim="≤ 2" if at else None, note=f"{seconds:.2f} s [{low:.2f} … {high:.2f}]; {parts}" if at else "")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
