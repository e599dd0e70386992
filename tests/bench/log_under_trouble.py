"""The log call while the collector is stopped, goes on, is killed and comes back, against the same calls while it is well.

The measuring is done in C (log_under_trouble.c). Calls are 50 µs apart, so most of what is logged meanwhile goes through the spool.
"""

import json
import os
import shutil
import subprocess

import ingest

TROUBLES = {
    "stopped": "the collector is stopped",
    "continued": "it goes on, and takes what was kept",
    "killed": "it is killed",
    "back": "it is started again, and takes what was kept",
    "well_again": "all that was kept is acknowledged",
}


def run(report, programs, repeats):
    program = os.path.join(os.path.dirname(programs["log_call"]), "log_under_trouble")
    turns = []
    for number in range(min(repeats, 5) + 1):
        folder = ingest.folder_on_disk(programs)
        try:
            out = subprocess.run([program, programs["portoland"], folder], check=True, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True).stdout
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if number:  # the first is the warm-up
            turns.append(json.loads(out))
    for state, words in TROUBLES.items():
        for figure in ("p50", "p99", "max"):
            report.ratio(f"log call, {words}: {figure} / while all is well", [t[state][f"{figure}_ratio"] for t in turns])
    waits, dropped = sum(t["waits"] for t in turns), sum(t["dropped"] for t in turns)
    well = sorted(t["well"]["max_ns"] / t["well"]["p50_ns"] for t in turns)
    report.ratio("log call, all is well: max / p50", well, note=f"calls that waited: {waits}, rows dropped: {dropped}")
