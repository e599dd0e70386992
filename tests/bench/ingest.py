"""Observations (gold_prob, correct; epochs of a million examples) to disk over tcp loopback, against LMDB alone.

The limit, measured in turn: the same number of bytes appended to an LMDB in synced commits of 64 KB, 256 KB or 1 MB,
whichever is fastest. Two figures: until the
last acknowledgement, and until all of it is readable as columns. A third has another limit for the second: all bytes that the storer writes, as the rows are written
twice, to the log and as columns; and, where they come shuffled, bringing them to their places in memory. A fourth is of the transport alone: libzmq
sends as many messages from one thread to another.
"""

import os
import shutil
import statistics
import subprocess
import tempfile

OBSERVATIONS = 33 * 30_000 * 32  # of one turn of ingest.c
VARIANTS = (
    ("one client", [], "≥ 0.8", "≥ 0.6"),
    ("8 clients of one run", ["--clients", "8"], "≥ 0.8", "≥ 0.6"),
    ("one client, CURVE", ["--keys"], "≥ 0.6", "≥ 0.5"),
    ("one client, ids in shuffled order", ["--shuffled"], "≥ 0.7", "≥ 0.5"),
)


def turn(programs, folder, options):
    """Runs one turn; {word: number}, `memory` a list of KiB by epoch."""
    command = [programs["ingest"], programs["portoland"], folder, *options]
    words = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    figures = dict(zip(words[::2], words[1::2]))
    memory = [int(kib) for kib in figures.pop("memory").split(",")]
    return {**{name: float(number) for name, number in figures.items()}, "memory": memory}


def processor_of(turns):
    """Where the processor's time goes, and how much of it is there: what stops us where that is all of it."""
    def of(name):
        return statistics.median(t[name] for t in turns)

    busy = statistics.median((t["clients"] + t["first"]) / t["acknowledged"] for t in turns)
    return (f"{busy:.2f} of {os.cpu_count()} processors busy; of an observation's time clients take {of('clients') / OBSERVATIONS * 1e9:.1f} ns, "
            f"the collector {of('first') / OBSERVATIONS * 1e9:.1f} ns, until columns {of('processor') / OBSERVATIONS * 1e9:.1f} ns")


def storer_of(turns, when, whole):
    """What the thread that writes the store does in that time: its share for the disk is what no code of ours shortens."""
    def share(name):
        return f"{100 * statistics.median(t[f'{when}-{name}'] / t[whole] for t in turns):.0f}%"

    return (f"the storer: {share('disk')} of the time for the disk ({statistics.median(t[f'{when}-syncs'] for t in turns):.0f} syncs, "
            f"{statistics.median(t[f'{when}-written'] / t['bytes'] for t in turns):.2f} bytes for one of frames), "
            f"{share('copying')} copying to the page cache, {share('idle')} without work")


def folder_on_disk(programs):
    """A folder beside the build: what is under /tmp may be no disk at all."""
    return tempfile.mkdtemp(prefix="bench-", dir=os.path.abspath(os.path.dirname(os.path.dirname(programs["portoland"]))))


def run(report, programs, repeats):
    folder = folder_on_disk(programs)
    try:
        keys = os.path.join(folder, "keys")
        subprocess.run([programs["portoland"], "keygen", keys], check=True, capture_output=True)
        for name, options, aim, aim_columns in VARIANTS:
            options = [*options, keys] if options == ["--keys"] else options
            turns = [turn(programs, folder, options) for _ in range(repeats + 1)][1:]
            report.ratio(f"ingest, {name}: limit / to the last acknowledgement", [t["raw"] / t["acknowledged"] for t in turns],
                         aim=aim, note=f"{processor_of(turns)}; {storer_of(turns, 'first', 'acknowledged')}")
            report.ratio(f"ingest, {name}: as many messages by libzmq alone / to the last acknowledgement", [t["transport"] / t["acknowledged"] for t in turns],
                         better="more", note="from one thread to another, which drops them, over one connection")
            scattering = ", and scattering the rows" if "--shuffled" in options else ""
            whole = [t["raw"] * t["all-written"] / t["bytes"] + t["scatter"] for t in turns]
            report.ratio(f"ingest, {name}: limit with all bytes that the storer writes{scattering} / until columns",
                         [limit / t["columns"] for limit, t in zip(whole, turns)], better="more",
                         note=f"{statistics.median(t['all-written'] / t['bytes'] for t in turns):.2f} bytes for one of frames"
                              + (f"; scattering: {statistics.median(t['scatter'] for t in turns) / OBSERVATIONS * 1e9:.1f} ns an observation" if scattering else "")
                              + f"; one thread that does nothing else has {statistics.median(t['raw'] / limit for limit, t in zip(whole, turns)):.2f} as limit / until columns")
            report.ratio(f"ingest, {name}: limit / until columns", [t["raw"] / t["columns"] for t in turns],
                         aim=aim_columns, better="more",
                         note=f"limit {sum(t['bytes'] for t in turns) / sum(t['raw'] for t in turns) / 1e6:.0f} MB/s; "
                              f"collector's memory at most {max(max(t['memory']) for t in turns) / 1024:.0f} MB; {storer_of(turns, 'all', 'columns')}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
