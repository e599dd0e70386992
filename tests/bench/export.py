"""portolan.export() against `portolan dynamics --format npy -o FILE`, which writes the same observations: time, memory, bytes. Long: some
minutes and 15 GB, and it needs pyarrow in the Python that runs it.

10,000,000 examples × 10 epochs with declared ids, and 2,000,000 × 3 with ids that are text and come in shuffled order. Memory is anonymous
memory: the store's pages that a process has mapped are the system's cache.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import threading
import time

import harness
import ingest

SIZES = {"integers": (10_000_000, 10), "texts, shuffled": (2_000_000, 3)}
BATCH = 1 << 17


def record(store, examples, epochs, texts):
    import numpy as np

    import portolan

    rng = np.random.default_rng(0)
    logits, gold = (rng.normal(size=(2 * BATCH, 3)) * 2).astype("f4"), rng.integers(0, 3, BATCH)
    order = rng.permutation(examples) if texts else np.arange(examples)
    with portolan.Run("bench", store=store, examples=None if texts else examples) as run:
        for epoch in range(epochs):
            for start in range(0, examples, BATCH):
                ids = order[start : start + BATCH]
                at = int(rng.integers(0, BATCH))
                names = [f"train/shard-{i % 100:03d}/example-{i:09d}" for i in ids.tolist()] if texts else ids
                run.log_logits(epoch, names, logits[at : at + len(ids)], gold[: len(ids)])
            run.end_epoch(epoch)


def anonymous_memory(process):
    """In kB, of each process below this one and it; by the first word of its name."""
    found = {}
    for pid in [process, *children(process)]:
        try:
            with open(f"/proc/{pid}/status", encoding="utf-8") as status:
                fields = dict(line.split(":", 1) for line in status)
        except OSError:
            continue
        name = "portolan" if fields["Name"].strip() == "portolan" else "python"
        found[name] = max(found.get(name, 0), int(fields.get("RssAnon", "0").split()[0]))
    return found


def children(process):
    try:
        with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def timed(command, peaks=None):
    """Seconds; the most memory of each process goes to `peaks`."""
    begun = time.perf_counter()
    process = subprocess.Popen(command)
    ended = threading.Event()

    def watch():
        while not ended.wait(0.02):
            for name, size in anonymous_memory(process.pid).items():
                peaks[name] = max(peaks.get(name, 0), size)

    watcher = threading.Thread(target=watch) if peaks is not None else None
    if watcher:
        watcher.start()
    status = process.wait()
    ended.set()
    if watcher:
        watcher.join()
    assert status == 0, command
    return time.perf_counter() - begun


def size_of(path):
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(path) for name in names)


def run(report, programs, repeats):
    if importlib.util.find_spec("pyarrow") is None:
        raise harness.Absent("this Python has no pyarrow: pip install pyarrow, and run tools/bench by that Python")
    os.environ["PORTOLAN"] = programs["portolan"]
    os.environ["PYTHONPATH"] = sys.path[0] + os.pathsep + os.environ.get("PYTHONPATH", "")
    for what, (examples, epochs) in SIZES.items():
        folder = ingest.folder_on_disk(programs)
        try:
            measure(report, programs, folder, what, (examples, epochs), min(repeats, 3))
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def measure(report, programs, folder, what, size, repeats):
    store, out, npy = (os.path.join(folder, name) for name in ("store", "out", "dynamics.npy"))
    record(store, *size, texts=what != "integers")
    subprocess.run(["flock", os.path.join(store, "portoland.lock"), "true"], check=True)  # the collector has left: all is in columns
    plain = [programs["portolan"], "dynamics", "bench", "--store", store, "-q", "--format", "npy", "--id-bytes", "-o", npy]
    plain += ["--columns", "gold_prob,correct,margin,other_sq,entropy,max_prob,predicted,gold,session_number"]
    ours = [sys.executable, "-m", "portolan", "export", "bench", "--store", store, "-o", out, "-q"]
    peaks, pairs = {}, []
    for turn in range(repeats + 1):
        shutil.rmtree(out, ignore_errors=True)
        pair = timed(ours, peaks), timed(plain)
        pairs += [pair] if turn else []
    observations = size[0] * size[1]
    name = f"{observations // 1_000_000} M observations, {what}"
    rate = observations / sorted(pair[0] for pair in pairs)[len(pairs) // 2] / 1e6
    report.ratio(f"export, {name}: seconds / those of dynamics -o FILE.npy", [a / b for a, b in pairs], note=f"{rate:.1f} M observations a second")
    report.ratio(f"export, {name}: bytes of Parquet / of the store", [size_of(out) / size_of(store)],
                 note=f"{size_of(out) / observations:.1f} and {size_of(store) / observations:.1f} bytes an observation")
    report.ratio(f"export, {name}: both processes' most memory / 500 MB", [sum(peaks.values()) * 1024 / 500e6], aim="≤ 1",
                 note=", ".join(f"{name} {size * 1024 / 1e6:.0f} MB" for name, size in sorted(peaks.items())))
