"""Measuring with ratios: a figure is always 'ours divided by a limit or a peer', both taken in turns in one run.

Absolute times differ from machine to machine and from hour to hour; a ratio of two things measured a moment apart travels.
So each benchmark gives pairs (ours, peer), after a warm-up, and the report is the median of the ratios with their spread.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import time


class Busy(Exception):
    pass


def busy_share(seconds=0.5):
    """Share of all processor time that other work takes at this moment (0: idle)."""

    def read():
        with open("/proc/stat", encoding="ascii") as stat:
            fields = [int(x) for x in stat.readline().split()[1:9]]
        return sum(fields), fields[3] + fields[4]

    total0, idle0 = read()
    time.sleep(seconds)
    total1, idle1 = read()
    return 1.0 - (idle1 - idle0) / max(1, total1 - total0)


def require_idle(limit=0.15, tries=6):
    """Waits a little for quiet; a figure from a busy machine is worth nothing, so then there is none."""
    for _ in range(tries):
        share = busy_share()
        if share <= limit:
            return
        time.sleep(2)
    raise Busy(f"the machine is busy ({share:.0%} of its processor time is taken): nothing measured; "
               "stop other work, or use --even-if-busy")


def child_seconds(command, **kwargs):
    """Runs a command; (processor seconds, wall seconds) of it and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(command, check=True, **kwargs)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, wall


def spread(values):
    """(median, lower quartile, upper quartile)."""
    values = sorted(values)
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return statistics.median(values), low, high


class Report:
    """Collects figures; prints a table for people or one JSON object per line."""

    def __init__(self, as_json=False, stream=sys.stdout):
        self.as_json, self.stream, self.count = as_json, stream, 0

    def ratio(self, name, ratios, aim=None, note=""):
        median, low, high = spread(ratios)
        self.count += 1
        if self.as_json:
            row = {"name": name, "ratio": median, "quartiles": [low, high], "repeats": len(ratios), "aim": aim, "note": note}
            print(json.dumps(row), file=self.stream, flush=True)
            return
        aim_text = f"  (aim {aim})" if aim else ""
        print(f"{name:<58} {median:>8.3g} ×  [{low:.3g} … {high:.3g}] n={len(ratios)}{aim_text}", file=self.stream)
        if note:
            print(f"    {note}", file=self.stream)
        self.stream.flush()


def environment_line():
    with open("/proc/cpuinfo", encoding="ascii") as info:
        model = next((line.split(":", 1)[1].strip() for line in info if line.startswith("model name")), "processor unknown")
    return f"{os.cpu_count()} × {model}; Linux {os.uname().release}"
