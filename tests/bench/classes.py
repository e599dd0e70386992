"""A log call of 256 rows of logits against what torch needs for as much: log_softmax, gather, argmax; one thread, in turns."""

import json
import os
import subprocess
import tempfile

import harness

HERE = os.path.dirname(os.path.abspath(__file__))


def run(report, programs, repeats):
    if not os.path.exists(programs["frameworks"]):
        raise harness.Absent("it needs torch, which tools/test frameworks installs: run that first")
    package = os.path.join(os.path.dirname(os.path.dirname(programs["portolan"])), "python")
    environment = dict(os.environ, PYTHONPATH=package, PORTOLAND=programs["portoland"])
    with tempfile.TemporaryDirectory() as folder:
        out = subprocess.run([programs["frameworks"], os.path.join(HERE, "classes_torch.py"), folder, str(repeats)],
                             check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
    for line in out.splitlines():
        got = json.loads(line)
        report.ratio(f"log call, 256 × {got['what']} / torch's log_softmax, gather, argmax", got["ratios"], aim="≤ 0.5",
                     note=f"processor time of one thread; the call takes {got['us']:.1f} µs: {got['gbytes']:.2f} GB/s; {got['version']}")
        report.ratio(f"log call, 256 × {got['what']} / torch's sum of the same memory", got["reads"])
