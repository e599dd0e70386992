"""Measuring with ratios: a figure is always 'ours divided by a limit or a peer', both taken in turns in one run.

Absolute times differ from machine to machine and from hour to hour; a ratio of two things measured a moment apart travels.
So each benchmark gives pairs (ours, peer), after a warm-up, and the report is the median of the ratios with their spread.
"""

import resource
import statistics
import subprocess
import sys
import time


BUSY = 0.15  # the share of all processor time that other work takes, above which figures are those of a busy machine


class Busy(Exception):
    """The machine is busy: nothing was measured."""


class Absent(Exception):
    """A benchmark needs something that is not here; the message says what, and how to bring it."""


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


def require_idle(limit=BUSY, tries=6):
    """Waits a little for quiet; the share of processor time that is taken then. A figure from a busy machine is worth nothing, so then there is none."""
    for _ in range(tries):
        share = busy_share()
        if share <= limit:
            return share
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


AIMS = {"≤": "less", "≥": "more"}


def aim_of(text):
    """An aim, as benchmarks write it ('≤ 1.3'), in parts: {"direction": "≤", "bound": 1.3}."""
    direction, bound = text.split()
    if direction not in AIMS:
        raise ValueError(f"an aim begins with one of {', '.join(AIMS)}, not with {direction!r}")
    return {"direction": direction, "bound": float(bound)}


def meets(figure):
    """Whether the figure's median is within its aim; None: it has none."""
    aim = figure["aim"]
    if aim is None:
        return None
    return figure["ratio"] <= aim["bound"] if aim["direction"] == "≤" else figure["ratio"] >= aim["bound"]


class Report:
    """Collects figures, and prints each as it comes, if there is a stream. `benchmark` is the one that runs."""

    def __init__(self, stream=sys.stdout):
        self.stream, self.figures, self.benchmark, self.remark = stream, [], "", ""

    def ratio(self, name, ratios, aim=None, note="", better=None):
        """`better`: 'less' or 'more'; left out, what the aim says, or 'less'. A benchmark has one figure of a name."""
        if any((figure["benchmark"], figure["name"]) == (self.benchmark, name) for figure in self.figures):
            raise ValueError(f"{self.benchmark} has two figures called {name!r}")
        median, low, high = (float(f"{value:.6g}") for value in spread(ratios))
        parts = aim_of(aim) if aim else None
        figure = {"benchmark": self.benchmark, "name": name, "ratio": median, "quartiles": [low, high], "repeats": len(ratios),
                  "better": better or (AIMS[parts["direction"]] if parts else "less"), "aim": parts, "note": note}
        self.figures.append(figure)
        if not self.stream:
            return
        aim_text = f"  (aim {aim}{'' if meets(figure) else ': missed'})" if aim else ""
        print(f"{name:<58} {median:>8.3g} ×  [{low:.3g} … {high:.3g}] n={len(ratios)}{aim_text}", file=self.stream)
        if note:
            print(f"    {note}", file=self.stream)
        self.stream.flush()

    def remarks(self, text):
        """What a reader of this benchmark's figures must know; it goes into the file, too."""
        self.remark = text
        print(f"{self.benchmark}: {text}", file=sys.stderr)
