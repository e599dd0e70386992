"""The log call (256 × 3 logits) against a memcpy of the same bytes; the measuring is done in C (log_call.c)."""

import json
import subprocess


def run(report, programs, repeats):
    rows = []
    for turn in range(repeats + 1):
        out = subprocess.run([programs["log_call"]], check=True, capture_output=True, text=True).stdout
        if turn:  # the first is the warm-up
            rows.append(json.loads(out))
    for key in ("median", "p99"):
        report.ratio(f"log call, 256 × 3 logits: {key} / memcpy of the same bytes", [row[key + "_ratio"] for row in rows])
    report.ratio("log call, 256 × 3 logits: median / deriving the signals alone", [row["derive_ratio"] for row in rows],
                 note="what remains is validation and the copy into the ring")
