"""How the cost grows: 10^5 to 10^9 observations, 1 to 1,000 clients of one collector, 1 to 1,000 runs in a store. Long.

    tools/bench scale [--most 1e9] [--picture FILE.svg]

Observations (declared ids, 10 epochs, gold_prob and correct) are recorded, become columns, and are read by metrics (to .npy), map (of a sample)
and select. What one observation costs is divided by what it costs of 10^7, both measured in the same turn: 1 for a cost that grows in a straight
line, some tenths more where something is sorted. Sizes above 10^8 are left out unless
--most asks for them: 10^9 observations need 37 GB of free disk and some minutes.
"""

import collections
import mmap
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import harness
import ingest
import measures

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "studies"))
import charts

SIZES, REFERENCE, EPOCHS = (10**5, 10**6, 10**7, 10**8, 10**9), 10**7, 10
STEPS = {"ingest": "ingest until columns", "metrics": "metrics to .npy", "map": "map of a sample", "select": "select"}
BYTES, BYTES_OF_EXAMPLE = 14, 150  # of disk, at most: an observation in the store, an example in what metrics writes
CLIENTS, CLIENT_EXAMPLES, CLIENT_EPOCHS, FRAME = (1, 10, 100, 1000), 1_000_000, 20, 2000
RUNS, RUN_EXAMPLES, RUN_EPOCHS = 1000, 2000, 3
AIM, AIM_OF_RUNS = "≤ 1.3", "≤ 1.2"  # of processor time: beyond the reference; of one run among many

Cost = collections.namedtuple("Cost", "processor wall memory")  # seconds, seconds, MB of anonymous memory at most


def cost_of(command):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    memory = measures.peak_memory(command)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall, memory)


def warm(size):
    """Touches this much memory. A virtual machine gets its pages from its host at their first use, and a large output takes many for the
    first time: that cost more than writing them."""
    part = bytes(1 << 26)
    with mmap.mmap(-1, size) as memory:
        for at in range(0, size - len(part) + 1, len(part)):
            memory[at:at + len(part)] = part


def turn(programs, folder, observations):
    """({step: Cost}, seconds until the last acknowledgement) of one store, which is removed."""
    store, examples = os.path.join(folder, "store"), observations // EPOCHS
    try:
        recorded = ingest.turn(programs, folder, ["--examples", str(examples), "--epochs", str(EPOCHS), "--no-raw", "--keep", "store"])
        warm(examples * BYTES_OF_EXAMPLE)
        costs = {"ingest": Cost(recorded["processor"], recorded["columns"], max(recorded["memory"]) / 1024)}
        for name, words in (("metrics", ["-o", "measures.npy"]), ("map", ["-o", "map.png"]),
                            ("select", ["--by", "ambiguous", "--fraction", "0.33", "--no-manifest", "-o", "ids"])):
            output = os.path.join(folder, words[-1])
            costs[name] = cost_of([programs["portolan"], name, "bench", "--store", store, "-q", *words[:-1], output])
            os.unlink(output)
        return costs, recorded["acknowledged"]
    finally:
        shutil.rmtree(store, ignore_errors=True)


def sizes_for(report, programs, folder):
    """Those that --most asks for, and the disk has room for."""
    sizes, free = [size for size in SIZES if size <= max(programs["most"], REFERENCE)], shutil.disk_usage(folder).free
    fitting = [size for size in sizes if size * BYTES + size // EPOCHS * BYTES_OF_EXAMPLE < 0.8 * free]
    if fitting != sizes:
        report.remarks(f"{free / 1e9:.0f} GB of free disk are too few for {', '.join(charts.power(size) for size in sizes if size not in fitting)} observations")
    return fitting


def measure_sizes(report, programs, repeats, folder):
    """{size: [{step: Cost}]}; each turn of a size is followed by one of the reference."""
    found = collections.defaultdict(list)
    for size in sizes_for(report, programs, folder):
        if size == REFERENCE:
            continue
        turns = []
        for number in range(min(repeats, 5 if size < REFERENCE else 3 if size <= 10**8 else 1) + 1):
            if number == 0 and size > REFERENCE:
                continue  # the large ones need no warm-up
            pair = turn(programs, folder, size), turn(programs, folder, REFERENCE)
            turns += [pair] if number or size > REFERENCE else []
            print(f"scale: {charts.power(size)} observations, turn {number}", file=sys.stderr)
        found[size] += [costs for (costs, _), _ in turns]
        found[REFERENCE] += [costs for _, (costs, _) in turns]
        report_size(report, size, turns)
    return found


def report_size(report, size, turns):
    def each(value, by=1):
        return [value(ours) / value(other) / by for ours, other in turns]

    def median(value):
        return harness.spread([value(ours) for ours, _ in turns])[0]

    where = f"one of {charts.power(size)} observations / of {charts.power(REFERENCE)}"
    acknowledged = lambda one: one[1]
    report.ratio(f"{where}: ingest to the last acknowledgement, wall time", each(acknowledged, size / REFERENCE), note=f"{median(acknowledged) / size * 1e9:.1f} ns, {median(acknowledged):.2f} s")
    for step, words in STEPS.items():
        for kind in ("processor", "wall"):
            value = lambda one, step=step, kind=kind: getattr(one[0][step], kind)
            report.ratio(f"{where}: {words}, {kind} time", each(value, size / REFERENCE), aim=AIM if size > REFERENCE and kind == "processor" else None,
                         note=f"{median(value) / size * 1e9:.1f} ns, {median(value):.2f} s")
        value = lambda one, step=step: one[0][step].memory
        report.ratio(f"{charts.power(size)} observations / {charts.power(REFERENCE)}: {words}, memory", each(value), note=f"{median(value):.0f} MB of anonymous memory at most")


def measure_clients(report, programs, repeats, folder):
    """Many clients of one run, which send the same frames between them."""
    options = ["--examples", str(CLIENT_EXAMPLES), "--epochs", str(CLIENT_EPOCHS), "--rows", str(FRAME), "--max-memory", "4G", "--no-raw", "--clients"]
    turns = [{clients: ingest.turn(programs, folder, [*options, str(clients)]) for clients in CLIENTS} for _ in range(min(repeats, 5) + 1)][1:]
    observations = CLIENT_EXAMPLES * CLIENT_EPOCHS
    for clients in CLIENTS[1:]:
        for what, words in (("acknowledged", "to the last acknowledgement"), ("columns", "until columns")):
            report.ratio(f"{clients:,} clients: observations per second {words} / one client", [turn[1][what] / turn[clients][what] for turn in turns], better="more",
                         note=f"{observations / harness.spread([turn[clients][what] for turn in turns])[0] / 1e6:.1f} M observations per second")
        memory = [{count: max(turn[count]["memory"]) / 1024 for count in (1, clients)} for turn in turns]
        report.ratio(f"{clients:,} clients: the collector's memory / one client's", [one[clients] / one[1] for one in memory],
                     note=f"{max(one[clients] for one in memory):.0f} MB of anonymous memory at most, {max(one[1] for one in memory):.0f} MB with one client")


def record_runs(store, count):
    """So many equal runs, one after the other."""
    import numpy as np
    import portolan

    rng = np.random.default_rng(0)
    ids, gold = np.arange(RUN_EXAMPLES), rng.integers(0, 3, RUN_EXAMPLES)
    for number in range(count):
        with portolan.Run(f"runs/seed{number}", store=store, mode="epoch-end", examples=RUN_EXAMPLES) as run:
            for epoch in range(RUN_EPOCHS):
                p = rng.random(RUN_EXAMPLES, dtype=np.float32)
                run.log_gold(epoch, ids, p, p > 0.5, gold=gold)
                run.end_epoch(epoch)
    subprocess.run(["flock", os.path.join(store, "portoland.lock"), "true"], check=True)  # the collector has left: all is in columns


def measure_runs(report, programs, repeats, folder):
    """A store of many runs beside one that holds a single run."""
    stores = {count: os.path.join(folder, f"runs-{count}") for count in (1, RUNS)}
    recorded = {}
    for count, store in stores.items():
        start = time.perf_counter()
        record_runs(store, count)
        recorded[count] = time.perf_counter() - start
    commands = {"metrics of one run": ["metrics", "runs/seed0", "-q", "--format", "npy", "-o", os.path.join(folder, "one.npy")],
                "portolan runs": ["runs", "-o", os.path.join(folder, "runs.csv")]}
    for words, command in commands.items():
        turns = []
        for _ in range(repeats + 1):
            turns.append({count: [harness.child_seconds([programs["portolan"], *command, "--store", store]) for _ in range(5)] for count, store in stores.items()})
        sums = [{count: [sum(one) for one in zip(*some)] for count, some in turn.items()} for turn in turns[1:]]
        for at, kind in ((0, "processor"), (1, "wall")):
            seconds = {count: harness.spread([turn[count][at] / 5 for turn in sums])[0] for count in stores}
            report.ratio(f"{words}, in a store of {RUNS:,} runs / of 1: {kind} time", [turn[RUNS][at] / turn[1][at] for turn in sums],
                         aim=AIM_OF_RUNS if at == 0 and "metrics" in words else None,
                         note=f"{seconds[RUNS] * 1000:.1f} ms and {seconds[1] * 1000:.1f} ms; the {RUNS:,} runs took {recorded[RUNS]:.0f} s to record")


def draw(picture, found):
    """What an observation costs, and how much memory it takes, by how many there are."""
    def lines(value):
        return [charts.Series(words, [(size, harness.spread([value(costs[step], size) for costs in found[size]])[0]) for size in sorted(found)], hue, dash, mark)
                for (step, words), hue, dash, mark in zip(STEPS.items(), (1, 2, 3, 4), (1, 2, 4, 1), (7, 5, 9, 11))]

    sizes = tuple(sorted(found))
    panels = [charts.Panel(title, "observations", label, lines(value), (sizes[0] / 1.5, sizes[-1] * 1.5), (0.7, 5000), sizes, (1, 10, 100, 1000))
              for title, label, value in (
                  ("processor time", "ns of one observation", lambda cost, size: cost.processor / size * 1e9),
                  ("wall time", "", lambda cost, size: cost.wall / size * 1e9),
                  ("memory", "MB", lambda cost, size: cost.memory))]
    charts.draw(picture, panels)


def run(report, programs, repeats):
    if not shutil.which("gnuplot"):
        raise harness.Absent("it needs gnuplot: apt-get install gnuplot-nox")
    for part in (measure_runs, measure_clients, measure_sizes):
        folder = tempfile.mkdtemp(prefix="bench-", dir=programs["build"])
        try:
            found = part(report, programs, repeats, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    if programs["picture"]:
        draw(programs["picture"], found)
