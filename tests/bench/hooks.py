"""What recording costs a training with torch: the demo's words, batches of 256, with and without; and a loop that does nothing else."""

import json
import os
import subprocess
import sys
import tempfile

import harness

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def run(report, programs, repeats):
    if not os.path.exists(programs["frameworks"]):
        raise harness.Absent("it needs torch, which tools/test frameworks installs: run that first")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, os.path.join(ROOT, "tools", "demo_words.py"), folder, "--per-language", "4000"],
                       check=True, stdout=subprocess.DEVNULL)
        package = os.path.join(os.path.dirname(os.path.dirname(programs["portolan"])), "python")
        environment = dict(os.environ, PYTHONPATH=package, PORTOLAND=programs["portoland"])
        out = subprocess.run([programs["frameworks"], os.path.join(HERE, "hooks_training.py"), folder, str(repeats)],
                             check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
    figures = json.loads(out)
    for model, name in (("Letters", "a convolution over letters"), ("Pieces", "an average of n-grams")):
        got = figures["training"][model]
        report.ratio(f"torch, {name}, batch 256: recorded / not", got["ratios"], aim="≤ 1.01",
                     note=f"the demo's words, train-forward; a step takes {got['step_us']:.0f} µs; {figures['versions']}")
        report.ratio(f"torch, {name}, batch 256: processor time of the training thread, recorded / not", got["processor"], aim="≤ 1.01")
        report.ratio(f"torch, {name}, batch 256: the log calls themselves / step", got["share"], aim="≤ 0.01")
    small = figures["small"]
    aims = {"integer ids": "≤ 1.03", "string ids": "≤ 1.05"}
    for name, ratios in small["wall"].items():
        report.ratio(f"torch, small steps, batch 256: {name} / nothing", ratios, aim=aims.get(name), note=f"a step takes {small['step_us']:.0f} µs")
        report.ratio(f"torch, small steps, batch 256: processor time of the training thread, {name} / nothing", small["processor"][name], aim=aims.get(name))
    for classes, us in figures["calls"].items():
        report.ratio(f"a loop of log calls, 256 × {classes}: µs per call", us)
    report.ratio("a loop that does nothing: µs per empty step", figures["empty"])
