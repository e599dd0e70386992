"""Ours against the published scripts of Dataset Cartography: 550,000 examples × 6 epochs × 3 classes. Long.

    tools/bench published --published DIR [--published-python PYTHON]

DIR is a checkout of the code published with the paper (github.com/allenai/cartography), PYTHON an interpreter that has what
it imports: NumPy, pandas, torch and tqdm (not what it draws with). Without them the peer is ours (published_peer.py): the same
steps, record by record, in NumPy. A NumPy expert is beside both: what the numbers cost when nothing has to be kept but arrays.
Each turn is a process of its own (published_turn.py), in which the scripts go once, and ours and the expert's five times by turns;
results are compared before anything is reported.
"""

import json
import os
import shutil
import subprocess
import sys

import harness
import ingest

EXAMPLES, EPOCHS = 550_000, 6
FIGURES = (
    ("reading + computing / import + metrics", ("import", "metrics"), ("read", "compute", "write")),
    ("logging + reading + computing / log + flush + metrics", ("start", "log", "flush", "close", "metrics_of_logged"),
     ("log", "read", "compute", "write")),
    ("logging function alone / log_logits alone", ("log",), ("log",)),
    ("logging function alone / log_logits until on disk", ("log", "flush"), ("log",)),
)
EXPERT = (
    ("log_logits until on disk / NumPy expert, a file an epoch", "ours", ("log", "flush"), ("log",)),
    ("log + flush + metrics / NumPy expert, arrays in memory", "ours", ("start", "log", "flush", "close", "metrics_of_logged"),
     ("log", "compute")),
    ("log + flush + metrics to .npy / NumPy expert, arrays in memory", "arrays", ("start", "log", "flush", "close", "arrays_of_logged"),
     ("log", "compute")),
    ("log + flush + metrics to .npy / NumPy expert, and as many bytes to the disk", "arrays", ("start", "log", "flush", "close", "arrays_of_logged"),
     ("log", "compute", "bytes")),
)


def turn(programs, folder):
    child = os.path.join(os.path.dirname(os.path.abspath(__file__)), "published_turn.py")
    words = [programs.get("published_python", sys.executable), child, "--examples", str(EXAMPLES), "--epochs", str(EPOCHS),
             "--portolan", programs["portolan"], "--folder", folder]
    if "published" in programs:
        words += ["--published", programs["published"]]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip()[-2000:])
    return json.loads(done.stdout)


def seconds(turns, side, steps):
    """Of each turn of ours; theirs stand as often as there are turns of ours beside them."""
    sides = [one for t in turns for one in (t[side] if side != "theirs" else [t[side]] * len(t["ours"]))]
    return [sum(one[step] for step in steps) for one in sides]


def run(report, programs, repeats):
    peer = "the published scripts" if "published" in programs else "our own peer"
    if "published" not in programs:
        report.remarks("not against the published scripts, whose checkout --published names: against a peer of our own that takes the same steps in NumPy")
    turns = []
    for _ in range(repeats):
        folder = ingest.folder_on_disk(programs)
        try:
            turns.append(turn(programs, folder))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    for name, ours, theirs in FIGURES:
        ours, theirs = seconds(turns, "ours", ours), seconds(turns, "theirs", theirs)
        report.ratio(f"{peer}: {name}", [a / b for a, b in zip(theirs, ours)], better="more",
                     note=f"ours {harness.spread(ours)[0]:.3f} s against {harness.spread(theirs)[0]:.2f} s")
    for name, side, ours, experts in EXPERT:
        ours, experts = seconds(turns, side, ours), seconds(turns, "expert", experts)
        report.ratio(name, [a / b for a, b in zip(ours, experts)],
                     note=f"times as long as the expert: {harness.spread(ours)[0]:.3f} s against {harness.spread(experts)[0]:.3f} s")
    ours, theirs = seconds(turns, "ours", ("peak_mb",)), seconds(turns, "theirs", ("peak_mb",))
    report.ratio(f"{peer}: peak memory / metrics", [a / b for a, b in zip(theirs, ours)], better="more",
                 note=f"{harness.spread(theirs)[0]:.0f} MB against {harness.spread(ours)[0]:.0f} MB; "
                 f"largest difference of a measure {max(t['difference'] for t in turns):.1e}, counts equal")
