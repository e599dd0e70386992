"""A map of 500,000 examples × 6 epochs as PNG: `portolan map`, the whole process, against gnuplot alone drawing the same
picture from the script and the data that were left beside it.
"""

import os
import shutil
import subprocess
import tempfile

import harness
import measures
import metrics

EXAMPLES = 500_000
VARIANTS = (
    ("scatter, a sample of 25,000", []),
    ("density", ["--density"]),
    ("every point", ["--sample", str(EXAMPLES)]),
)


def run(report, programs, repeats):
    if not shutil.which("gnuplot"):
        raise harness.Absent("it needs gnuplot: apt-get install gnuplot-nox")
    folder = tempfile.mkdtemp(prefix="portolan-bench-")
    try:
        store = os.path.join(folder, "store")
        gold_prob, correct = (columns[:, :EXAMPLES] for columns in metrics.synthetic())
        metrics.record(store, gold_prob, correct)
        for name, options in VARIANTS:
            command = [programs["portolan"], "map", "bench", "--store", store, "-o", os.path.join(folder, "map.png"),
                       "--script", *options]
            turns = []
            for _ in range(repeats + 1):
                _, ours = harness.child_seconds(command, stderr=subprocess.DEVNULL)
                _, alone = harness.child_seconds(["gnuplot", "map.gp"], cwd=folder)
                turns.append((ours, alone))
            turns = turns[1:]
            seconds, low, high = harness.spread([ours for ours, _ in turns])
            report.ratio(f"map of 500,000, {name} / gnuplot alone", [ours / alone for ours, alone in turns], aim="≤ 1.15",
                         note=f"{seconds:.2f} s [{low:.2f} … {high:.2f}], gnuplot alone "
                         f"{harness.spread([alone for _, alone in turns])[0]:.2f} s; "
                         f"portolan's memory at most {measures.peak_memory(command):.0f} MB")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
