"""What recording adds to each step of a training, in time, in noise and in processor time. Long: ten minutes.

    tools/bench overhead

Steps of about 0.3, 1, 10 and 100 ms (a torch step and matrix products, one thread, always the same work) go with each recorder in turns:
none; Portolan with integer and with text ids; a list in memory, of copies of the logits or of probabilities that torch computes, which
is the least that a recorder can do; JSON lines of every example; loss and accuracy to TensorBoard, to W&B offline, to MLflow's files.
First on a machine without, then with a process on every other processor that does nothing but compute.

Each line is a recorder's median step, as a ratio to the median step without recording. Its note has the 99th and the 99.9th percentile as
such ratios, the recording call's own percentiles, and the processor time of all processes that take part: the training, the
collector, the trackers' own. A percentile is not given where fewer than five steps are beyond it: the long steps are too few for some.

It runs in build-frameworks/, which `tools/test frameworks` makes; or make that folder a virtual environment with

    pip install torch==2.13.0 numpy==2.4.6; pip install tensorboard==2.21.0 wandb==0.31.0 mlflow-skinny==3.17.2

Recorders that are not installed are named, and not measured.
"""

import json
import os
import shutil
import subprocess

import harness
import ingest

HERE = os.path.dirname(os.path.abspath(__file__))
PERCENTILES = ((0.99, "99%"), (0.999, "99.9%"))
FEWEST_BEYOND = 5
AIMS = {("quiet", 0.001, "Portolan, integer ids"): "≤ 1.02", ("quiet", 0.001, "Portolan, text ids"): "≤ 1.03"}


def percentile(values, share):
    """The value that this share of the sorted values does not exceed; None: too few are beyond it."""
    beyond = round(len(values) * (1 - share))
    return values[len(values) - beyond - 1] if beyond >= FEWEST_BEYOND else None


def note_of(turns, peers):
    """A recorder's turns beside those without recording, of the same rounds."""
    steps, calls, plain = (sorted(second for turn in some for second in turn[what])
                           for some, what in ((turns, "steps"), (turns, "calls"), (peers, "steps")))
    more = []
    for share, name in PERCENTILES:
        ours, theirs = percentile(steps, share), percentile(plain, share)
        more.append(f"{name}: too few steps" if ours is None or theirs is None else f"{name} {ours / theirs:.3g} ×")
    tails = [percentile(calls, share) for share, _ in PERCENTILES]
    tails = "".join(f", {name} {one * 1e6:.0f}" for one, (_, name) in zip(tails, PERCENTILES) if one is not None)
    used, unused = (sum(turn["processor"] for turn in some) / sum(len(turn["steps"]) for turn in some) for some in (turns, peers))
    return (f"step: {', '.join(more)}; a step without: {harness.spread(plain)[0] * 1e3:.3g} ms; call in µs: median {harness.spread(calls)[0] * 1e6:.0f}{tails}; "
            f"processor time of a step {used / unused:.3g} × ({(used - unused) * 1e6:+.0f} µs); n={len(steps)}")


def run(report, programs, repeats):
    if not os.path.exists(programs["frameworks"]):
        raise harness.Absent("it needs torch in build-frameworks/, which tools/test frameworks makes")
    folder = ingest.folder_on_disk(programs)
    environment = dict(os.environ, PYTHONPATH=os.path.join(programs["build"], "python"), PORTOLAND=programs["portoland"], TMPDIR=folder)
    try:
        done = subprocess.run([programs["frameworks"], os.path.join(HERE, "overhead_steps.py"), folder], check=True, env=environment,
                              stdout=subprocess.PIPE, text=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    missing = next(line["missing"] for line in lines if "missing" in line)
    if missing:
        report.remarks(f"not installed, and not measured: {', '.join(missing)}")
    turns = [line for line in lines if "recorder" in line]
    for around, length in dict.fromkeys((turn["around"], turn["length"]) for turn in turns):
        here = [turn for turn in turns if (turn["around"], turn["length"]) == (around, length)]
        peers = {turn["round"]: turn for turn in here if turn["recorder"] == "none"}
        for name in dict.fromkeys(turn["recorder"] for turn in here if turn["recorder"] != "none"):
            ours = [turn for turn in here if turn["recorder"] == name]
            ratios = [harness.spread(turn["steps"])[0] / harness.spread(peers[turn["round"]]["steps"])[0] for turn in ours]
            report.ratio(f"{around}, steps of {length * 1e3:g} ms: {name}", ratios, aim=AIMS.get((around, length, name)), note=note_of(ours, list(peers.values())))
