"""The measures of 10,000,000 examples × 10 epochs: over columns in memory, and from the store to a NumPy file.

The limits: one read (a sum) of the same columns; one read of the same bytes of the store's file and one write of the output's,
which is synced as ours is.

And what the rules of portolan select take that rank 1,000,000 examples × 30 epochs, beside a choice at random: the table of analyzer/selection/PRUNING.md.
"""

import os
import shutil
import statistics
import subprocess
import threading
import time

import harness
import ingest

EXAMPLES, EPOCHS = 10_000_000, 10
BYTES_IN = EXAMPLES * (EPOCHS * 4 + EPOCHS // 8 + 4)  # gold_prob, correct, gold
MAX_MEMORY = "256M"
RANKED, RANKED_EPOCHS, CLASSES, BATCH = 1_000_000, 30, 3, 65536
RULES = ("ambiguous", "dyn_unc:desc", "dual:desc", "dual-beta", "aum:asc --strata 50 --cut 0.3", "s2l", "always_wrong_after:asc", "tdds:desc")
# Of s2l: each example, and 20 times each of 256 examples per cluster, with each of 100 clusters at each epoch.
S2L_PRODUCTS = (RANKED + 20 * 256 * 100) * 100 * RANKED_EPOCHS


def record(portoland, store, shuffled):
    import numpy as np
    import portolan

    rng = np.random.default_rng(0)
    ids = rng.permutation(EXAMPLES) if shuffled else np.arange(EXAMPLES)
    declared = {} if shuffled else {"examples": EXAMPLES}
    gold = np.zeros(65536, dtype=np.int32)
    # Ids that are not declared are held by the collector: they need more than it takes by default.
    collector = subprocess.Popen([portoland, "--store", store, "--max-memory", "4G", "--exit-when-idle", "5"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while collector.poll() is None and not os.path.exists(os.path.join(store, "collector.sock")):
        time.sleep(0.01)
    with portolan.Run("bench", store=store, mode="epoch-end", **declared) as run:
        for epoch in range(EPOCHS):
            gold_prob = rng.random(EXAMPLES, dtype=np.float32)
            for start in range(0, EXAMPLES, len(gold)):
                rows = slice(start, min(start + len(gold), EXAMPLES))
                p = gold_prob[rows]
                run.log_gold(epoch, ids[rows], p, p > 0.5, gold=gold[: len(p)])
            run.end_epoch(epoch)
    collector.wait()  # all of it is columns


class Memory(threading.Thread):
    """The most anonymous memory of a process while it runs, in MB."""

    def __init__(self, process):
        super().__init__(daemon=True)
        self.process, self.most = process, 0.0

    def run(self):
        while self.process.poll() is None:
            try:
                with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
                    for line in status:
                        if line.startswith("RssAnon:"):
                            self.most = max(self.most, int(line.split()[1]) / 1024)
            except (OSError, ValueError):
                pass
            try:
                self.process.wait(0.002)
            except subprocess.TimeoutExpired:
                pass


def peak_memory(command):
    process = subprocess.Popen(command)
    watcher = Memory(process)
    watcher.start()
    watcher.join()
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return watcher.most


def over_columns(report, programs, repeats):
    words = [programs["measures"], "columns", str(EXAMPLES), str(EPOCHS), str(repeats + 1)]
    lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()
    turns = [[float(word) for word in line.split()] for line in lines[1:]]
    for column, threads in ((0, "one thread"), (2, "two threads")):
        report.ratio(f"measures over columns, 10 M × 10, {threads} / one read", [t[column + 1] / t[column] for t in turns],
                     aim="≤ 2", note="confidence, variability, correctness, forgetting_events, never_learned; "
                     f"the read: {1000 * harness.spread([t[column] for t in turns])[0]:.1f} ms")


def to_memory(report, programs, repeats, store):
    """What every command that ranks does first: the measures of all examples from the store to arrays."""
    for threads in ("1", "2"):
        lines = subprocess.run([programs["measures"], "store", store, "bench", threads, str(repeats + 1)], check=True,
                               capture_output=True, text=True).stdout.splitlines()
        turns = [[float(word) for word in line.split()] for line in lines[1:]]
        report.ratio(f"measures from the store to memory, 10 M × 10, {threads} thread(s) / one read", [t[1] / t[0] for t in turns],
                     aim="≤ 2", note="the read: a sum of the same columns, from the store as well. The aim was 1.3, which is less than one read and writing the results into fresh memory")
        report.ratio(f"measures from the store to memory, 10 M × 10, {threads} thread(s) / one read, and writing as much fresh memory",
                     [t[1] / (t[0] + t[4]) for t in turns],
                     note=f"the arrays that are asked for; writing them takes {statistics.median(t[4] / t[0] for t in turns):.1f} reads by itself")
        report.ratio(f"measures from the store to memory, {threads} thread(s): processor time", [t[3] / t[2] for t in turns])


def to_file(report, programs, repeats, folder, shuffled):
    store, ours, theirs = (os.path.join(folder, name) for name in ("store", "ours.npy", "theirs"))
    record(programs["portoland"], store, shuffled)
    if not shuffled:
        to_memory(report, programs, repeats, store)
    command = [programs["portolan"], "metrics", "bench", "--store", store, "--format", "npy", "--max-memory", MAX_MEMORY]
    ratios, cpu_ratios = [], []
    for turn in range(repeats + 1):
        cpu, wall = harness.child_seconds([*command, "-o", ours])
        size = os.path.getsize(ours)
        os.unlink(ours)
        peer_cpu, peer = harness.child_seconds([programs["measures"], "files", os.path.join(store, "data.mdb"), str(BYTES_IN),
                                                theirs, str(size)], stdout=subprocess.DEVNULL)
        os.unlink(theirs)
        if turn > 0:
            ratios.append(wall / peer)
            cpu_ratios.append(cpu / peer_cpu)
    memory = peak_memory([*command, "-o", ours])
    what = "shuffled ids" if shuffled else "declared ids"
    report.ratio(f"metrics --format npy, 10 M × 10, {what} / read and write", ratios, aim="≤ 4" if shuffled else "≤ 1.3",
                 note=f"--max-memory {MAX_MEMORY}: {memory:.0f} MB of anonymous memory at most; {size / 1e6:.0f} MB written")
    report.ratio(f"metrics --format npy, 10 M × 10, {what}: processor time", cpu_ratios)
    shutil.rmtree(store)


def record_logits(store):
    """Margins, and whole distributions as columns of their own."""
    import numpy as np
    import portolan

    rng = np.random.default_rng(0)
    gold = rng.integers(0, CLASSES, RANKED)
    ease = rng.normal(1, 1.5, RANKED).astype("f4")
    with portolan.Run("rules", store=store, mode="epoch-end", examples=RANKED) as run:
        for epoch in range(RANKED_EPOCHS):
            for start in range(0, RANKED, BATCH):
                ids = np.arange(start, min(start + BATCH, RANKED))
                logits = rng.normal(size=(len(ids), CLASSES)).astype("f4")
                logits[np.arange(len(ids)), gold[ids]] += ease[ids]
                probs = np.exp(logits)
                probs /= probs.sum(axis=1, keepdims=True)
                run.log_logits(epoch, ids, logits, gold[ids], columns={f"prob_{k}": p for k, p in enumerate(probs.T)})
            run.end_epoch(epoch)


def measured(programs, *words):
    """What the helper program prints first: processor seconds."""
    return float(subprocess.run([programs["measures"], *words], check=True, capture_output=True, text=True).stdout.split()[0])


def rules(report, programs, repeats, folder):
    store = os.path.join(folder, "store")
    record_logits(store)
    subprocess.run(["flock", os.path.join(store, "portoland.lock"), "true"], check=True)  # the collector has left: all is in columns
    command = [programs["portolan"], "select", "rules", "--store", store, "--fraction", "0.3", "--no-manifest", "-o", os.path.join(folder, "ids"), "--by"]
    commands = {rule: [*command, *rule.split()] for rule in ("random", *RULES)}
    turns = []
    for _ in range(min(repeats, 3) + 1):
        turns.append({rule: harness.child_seconds(words)[0] for rule, words in commands.items()})
        turns[-1]["logarithms"] = measured(programs, "logarithms", store, "rules")
        turns[-1]["losses"] = measured(programs, "losses", store, "rules")
        turns[-1]["read"] = measured(programs, "read", store, "rules")
        turns[-1]["products"] = measured(programs, "products", str(S2L_PRODUCTS))
    turns = turns[1:]
    for rule in RULES:
        report.ratio(f"select --by {rule}, 1 M × 30 / random: processor time", [turn[rule] / turn["random"] for turn in turns],
                     note=f"{harness.spread([turn[rule] for turn in turns])[0]:.2f} s; {peak_memory(commands[rule]):.0f} MB of anonymous memory at most")
    report.ratio("select --by tdds:desc, 1 M × 30: reading the distributions, their logarithms, and random / ours: processor time",
                 [(turn["logarithms"] + turn["random"]) / turn["tdds:desc"] for turn in turns], better="more",
                 note=f"{RANKED * RANKED_EPOCHS * CLASSES:,} logarithms of the C library, and one read: {harness.spread([turn['logarithms'] for turn in turns])[0]:.2f} s; "
                      "with other logarithms, the measures would be rounded otherwise")
    report.ratio("select --by s2l, 1 M × 30: reading p(gold) twice, its logarithms, the products of k-means, and random / ours: processor time",
                 [sum(turn[part] for part in ("read", "losses", "products", "random")) / turn["s2l"] for turn in turns], better="more",
                 note=f"{S2L_PRODUCTS / 1e9:.2f} billion products, as fast as this processor multiplies: {harness.spread([turn['products'] for turn in turns])[0]:.2f} s; "
                      f"these parts alone are {harness.spread([sum(turn[part] for part in ('read', 'losses', 'products', 'random')) / turn['random'] for turn in turns])[0]:.2f} times random")
    shutil.rmtree(store)


def run(report, programs, repeats):
    over_columns(report, programs, repeats)
    folder = ingest.folder_on_disk(programs)
    try:
        rules(report, programs, repeats, folder)
        to_file(report, programs, repeats, folder, shuffled=False)
        to_file(report, programs, min(repeats, 3), folder, shuffled=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
