"""portolan's numbers beside an independent calculation in NumPy, on random data.

    run_numpy.py PORTOLAN MAKE_STORE

Covers: complete runs over several chunks of the store, missing epochs, string ids, one epoch, examples never learned,
signals present in some epochs only, ranges of epochs; every format of metrics, and selections; ids sorted in little memory.
"""

import csv
import io
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stores


def random_run(name, n, epochs, seed, missing=0.0, strings=False, signals_from=0, skip=()):
    """A run and what it holds: epochs × n arrays, NaN where nothing was observed."""
    random = np.random.default_rng(seed)
    ids = random.permutation(10 * n)[:n] if missing or strings else np.arange(n)
    p = random.random((epochs, n), dtype="f4")
    p[:, : n // 10] = np.float32(0.7) + random.random((epochs, n // 10), dtype="f4") * np.float32(1e-6)
    correct = random.random((epochs, n)) < random.random(n)
    correct[:, n // 2: n // 2 + n // 8] = False
    signals = {k: random.standard_normal((epochs, n)).astype("f4") for k in ("margin", "entropy", "max_prob", "custom")}
    signals["other_sq"] = ((1 - p) * random.random((epochs, n), dtype="f4")).astype("f4")
    seen = random.random((epochs, n)) >= missing
    gold = random.integers(0, 5, n)
    batches = []
    for e in range(epochs):
        if e in skip:
            seen[e] = False
            continue
        order = random.permutation(np.flatnonzero(seen[e]))
        for part in np.array_split(order, 3):
            if len(part):
                columns = {k: v[e][part] for k, v in signals.items()} if e >= signals_from else {}
                these = [f"id{ids[i]}" for i in part] if strings else ids[part]
                batches.append(stores.batch(e, these, p[e][part], correct[e][part], gold[part], **columns))
    holds = {"p": np.where(seen, p.astype("f8"), np.nan), "correct": np.where(seen, correct, np.nan)}
    for k, v in signals.items():
        holds[k] = np.where(seen & (np.arange(epochs) >= signals_from)[:, None], v.astype("f8"), np.nan)
    names = np.array([f"id{i}" for i in ids]).astype("U") if strings else ids.astype("u8")
    return stores.run(name, batches, declared=0 if missing or strings else n), names, gold, holds


def mean(values):
    with np.errstate(invalid="ignore"):
        return np.nansum(values, 0) / (~np.isnan(values)).sum(0)


def trajectory(correct, epochs):
    """Of one example, by the definitions, step by step: forgetting events, first learned, right after, wrong after."""
    seen = [(e, bool(c)) for e, c in zip(epochs, correct) if not np.isnan(c)]
    events = sum(1 for (_, a), (_, b) in zip(seen, seen[1:]) if a and not b)
    first = next((e for e, c in seen if c), -1)
    start = seen[-1][0]
    for e, c in reversed(seen):
        if c != seen[-1][1]:
            break
        start = e
    return events, first, start if seen[-1][1] else -1, -1 if seen[-1][1] else start


def windows(p, window):
    """dyn_unc and dual: over windows of the epochs that an example was observed at. Examples of the same epochs go together."""
    result = np.full((p.shape[1], 2), np.nan)
    seen, group = np.unique(~np.isnan(p), axis=1, return_inverse=True)
    by_group = np.split(np.argsort(group, kind="stable"), np.bincount(group).cumsum()[:-1])
    for epochs, examples in zip(seen.T, by_group):
        if epochs.sum() >= window:
            each = np.lib.stride_tricks.sliding_window_view(p[epochs][:, examples], window, axis=0)
            deviations = each.std(2, ddof=1)
            result[examples] = np.stack([deviations.mean(0), ((1 - each.mean(2)) * deviations).mean(0)], axis=1)
    return result


def expected(holds, epochs, window):
    """By field name, for every example (those never seen included)."""
    p = holds["p"]
    n = (~np.isnan(p)).sum(0)
    c = mean(p)
    v = mean((p - c) ** 2)
    seen = n > 0
    steps = np.array([trajectory(holds["correct"][:, i], epochs) if seen[i] else (0, 0, 0, 0) for i in range(p.shape[1])])
    pruning = windows(p, window)
    margin = holds["margin"]
    with np.errstate(invalid="ignore", divide="ignore"):
        ci = np.where(n > 1, np.sqrt(v + v * v / (n - 1)), np.nan)
    return {
        "epochs": n, "confidence": c, "variability": np.sqrt(v), "correctness": mean(holds["correct"]),
        "forgetting_events": steps[:, 0], "never_learned": (steps[:, 1] < 0).astype(int), "first_learned": steps[:, 1],
        "threshold_closeness": c * (1 - c), "variability_ci": ci, "always_right_after": steps[:, 2],
        "always_wrong_after": steps[:, 3], "aum": mean(holds["margin"]),
        "el2n": mean(np.sqrt((1 - p) ** 2 + holds["other_sq"])), "aleatoric": mean(p * (1 - p)),
        "entropy": mean(holds["entropy"]), "max_prob": mean(holds["max_prob"]), "prob_margin": mean(np.where(margin > 0, -p * np.expm1(-margin), p - holds["max_prob"])), "loss": mean(-np.log(np.maximum(p, 2.0 ** -150))),
        "dyn_unc": pruning[:, 0], "dual": pruning[:, 1], "custom": mean(holds["custom"]),
    }


EXACT = ("epochs", "correctness", "forgetting_events", "never_learned", "first_learned", "always_right_after",
         "always_wrong_after")


class Checker:
    def __init__(self, portolan):
        self.portolan, self.worst, self.checks = portolan, 0.0, 0

    def call(self, *words):
        return subprocess.run([self.portolan, *words], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

    def same(self, name, got, want, what):
        self.checks += 1
        assert got.shape == want.shape, f"{what}: {name}: {got.shape} instead of {want.shape}"
        if name in EXACT:
            assert (got == want).all(), f"{what}: {name} differs"
            return
        assert (np.isnan(got) == np.isnan(want)).all(), f"{what}: {name} is empty elsewhere"
        difference = float(np.nanmax(np.abs(got - want), initial=0))
        self.worst = max(self.worst, difference)
        assert difference <= 1e-12, f"{what}: {name} differs by {difference}"

    def metrics(self, run, ids, gold, holds, epochs=None, window=None):
        first, last = epochs or (0, len(holds["p"]))
        part = {k: v[first:last] for k, v in holds.items()}
        want = expected(part, range(first, last), window or 10)
        order = np.argsort(ids, kind="stable")
        order = order[want["epochs"][order] > 0]
        words = [run] + (["--epochs", f"{first}:{last}"] if epochs else []) + (["--window", str(window)] if window else [])
        self.call("metrics", *words, "-o", "m.npy")
        table = np.load("m.npy")
        what = " ".join(words)
        assert (table["id"] == ids[order]).all() and (table["gold"] == gold[order]).all(), f"{what}: ids or labels"
        held = [name for name in want if name in table.dtype.names]
        signals = [k for k in ("margin", "other_sq", "entropy", "max_prob", "custom") if not np.isnan(part[k]).all()]
        has_windows = sum(~np.isnan(part["p"]).all(1)) >= (window or 10)  # epochs that anything was observed at
        has_prob_margin = {"margin", "max_prob"} <= set(signals)
        assert len(held) == 13 + 2 * has_windows + has_prob_margin + len(signals), f"{what}: columns {table.dtype.names}"
        for name in held:
            self.same(name, table[name], want[name][order], what)
        self.texts(words, table, held, what)
        self.selections(words, table, what)

    def epochs(self, run, holds):
        """Each epoch: examples, accuracy, mean loss, forgotten since they were last seen, correct for the first time."""
        self.call("epochs", run, "-o", "e.npy")
        table = np.load("e.npy")
        assert table.dtype.names == ("epoch", "examples", "accuracy", "mean_loss", "forgotten", "learned"), table.dtype
        n = holds["p"].shape[1]
        was_right, ever_right, want = np.zeros(n, bool), np.zeros(n, bool), []
        for e, (p, correct) in enumerate(zip(holds["p"], holds["correct"])):
            seen, right = ~np.isnan(p), correct == 1
            if seen.any():
                loss = -np.log(np.maximum(p[seen], 2.0 ** -150)).mean()
                want.append((e, seen.sum(), right[seen].mean(), loss, (was_right & seen & ~right).sum(), (right & ~ever_right).sum()))
            was_right = np.where(seen, right, was_right)
            ever_right |= right
        want = np.array(want, table.dtype)
        for name in table.dtype.names:
            if name == "mean_loss":
                assert np.abs(table[name] - want[name]).max() < 1e-12, f"{run}: epochs: mean_loss"
            else:
                assert (table[name] == want[name]).all(), f"{run}: epochs: {name}"
        report = json.loads(self.call("epochs", run, "--json"))
        rows = [tuple(row[name] for name in table.dtype.names) for row in report["epochs"]]
        assert report["run"] == run and report["examples"] == (~np.isnan(holds["p"])).any(0).sum() and rows == table.tolist(), run
        assert json.loads(self.call("watch", run, "--once", "--json"))["epochs"][-1]["mean_loss"] == rows[-1][3], f"{run}: watch"
        self.checks += len(rows)

    def texts(self, words, table, held, what):
        """CSV and JSON lines hold exactly the numbers of the npy file."""
        rows = list(csv.DictReader(self.call("metrics", *words).decode().splitlines()))
        lines = [json.loads(line) for line in self.call("metrics", *words, "-f", "jsonl").decode().splitlines()]
        assert len(rows) == len(lines) == len(table)
        for name in held:
            integer = table.dtype[name].kind in "iu"
            empty = -1 if integer else np.nan
            from_csv = np.array([float(row[name]) if row[name] else empty for row in rows])
            from_json = np.array([empty if line[name] is None else line[name] for line in lines], dtype="f8")
            assert np.array_equal(from_csv, table[name], equal_nan=True), f"{what}: csv {name}"
            assert np.array_equal(from_json, table[name], equal_nan=True), f"{what}: jsonl {name}"
        text = table["id"].astype("U") if table["id"].dtype.kind == "S" else table["id"].astype(str)
        assert [row["id"] for row in rows] == list(text), f"{what}: csv ids"
        self.checks += 1

    def selections(self, words, table, what):
        for rule, name, sign in (("ambiguous", "variability", -1), ("hard-to-learn", "confidence", 1),
                                 ("easy-to-learn", "confidence", -1), ("forgetting_events:desc", "forgetting_events", -1),
                                 ("dual:desc", "dual", -1)):
            if name not in table.dtype.names:
                continue
            got = self.call("select", *words, "--by", rule, "--fraction", "0.33").decode().split()
            size = int(np.floor(0.33 * len(table) + 0.5))
            order = np.argsort(sign * table[name].astype("f8"), kind="stable")[:size]
            assert got == list(table["id"][order].astype("U")), f"{what}: select {rule}"
        got = self.call("select", *words, "--by", "forgettable").decode().split()
        key = np.where(table["never_learned"] == 1, np.inf, table["forgetting_events"])
        order = np.argsort(-key, kind="stable")[: (key > 0).sum()]
        assert got == list(table["id"][order].astype("U")), f"{what}: select forgettable"
        self.checks += 5


def check_renamed(portolan):
    """A column of the user's that is called as a measure gets mean_ before its name, which is said wherever the one or the other is read."""
    note = "portolan: warning: run 'renamed' has a column 'loss' of its own, which is called mean_loss here: loss is portolan's\n"
    for words, is_said in ((["metrics"], True), (["select", "--by", "loss:desc"], True), (["select", "--by", "mean_loss:desc"], True),
                           (["select", "--by", "confidence:asc"], False), (["metrics", "--quiet"], False)):
        done = subprocess.run([portolan, *words, "renamed"], check=True, capture_output=True, text=True)
        assert done.stderr == (note if is_said else ""), done
        if words == ["metrics"]:
            rows = list(csv.DictReader(done.stdout.splitlines()))
            assert [float(row["mean_loss"]) for row in rows] == [2, 7, 5], rows
            assert np.allclose([float(row["loss"]) for row in rows], -np.log([0.25, 0.5, 0.125]), atol=1e-12), rows
        if "mean_loss:desc" in words:
            assert done.stdout.split() == ["1", "2", "0"], done


def check_large(portolan):
    """Neither memory, nor the number of threads, nor where it goes changes a byte; ids are in order across slices."""
    for run in ("large", "large-strings", "large-gaps", "large-half --epochs 1:"):
        for file_format in ("npy", "csv", "cartography"):
            words = [portolan, "metrics", *run.split(), "--format", file_format]
            subprocess.run([*words, "-o", "whole"], check=True)
            with open("whole", "rb") as file:
                whole = file.read()
            for memory, threads in (("1G", 1), ("1G", 5), ("16M", 3), ("50M", 3)):
                more = ["--max-memory", memory, "--threads", str(threads)]
                subprocess.run([*words, *more, "-o", "part"], check=True)
                with open("part", "rb") as file:
                    assert file.read() == whole, f"{run}: {file_format} differs with {more}"
                piped = subprocess.run([*words, *more], check=True, stdout=subprocess.PIPE).stdout
                assert piped == whole, f"{run}: {file_format} on a pipe differs with {more}"
            if file_format == "npy":
                ids = np.load("whole")["id"]
                assert len(ids) > 100000 and (ids[1:] > ids[:-1]).all(), f"{run}: ids are not in order"


def check_text(portolan):
    """Ids and labels are text, as wide as the longest in characters; where that is much, csv is named."""
    for run, ids in (("texts", [*TEXTS, "long" * 50]), ("texts-alike", [f"{i:03}ä" for i in range(5)])):
        done = subprocess.run([portolan, "metrics", run, "-o", "t.npy"], check=True, capture_output=True, text=True)
        table = np.load("t.npy")
        assert table.dtype["id"] == np.dtype(f"<U{max(map(len, ids))}") and table.dtype["label"] == np.dtype("<U4"), table.dtype
        assert list(table["id"]) == sorted(ids, key=lambda i: i.encode()), table["id"]
        assert set(table["label"]) == {"grün", "rot"}, table["label"]
        assert ("200 characters" in done.stderr and "csv" in done.stderr) == (run == "texts"), done.stderr
        assert done.stderr == "" or run == "texts", done.stderr
        lines = subprocess.run([portolan, "metrics", run], check=True, capture_output=True, text=True).stdout.splitlines()
        assert [row["id"] for row in csv.DictReader(lines)] == list(table["id"])
        done = subprocess.run([portolan, "dynamics", run, "-o", "d.npy"], check=True, capture_output=True, text=True)
        assert ("200 characters" in done.stderr) == (run == "texts") and set(np.load("d.npy")["id"]) == set(ids), done.stderr
        assert subprocess.run([portolan, "dynamics", run, "--format", "npy"], check=True, capture_output=True).stderr == b""
        piped = subprocess.run([portolan, "metrics", run, "--format", "npy"], check=True, capture_output=True)
        assert piped.stderr == b"" and (np.load(io.BytesIO(piped.stdout))["id"] == table["id"]).all()


TEXTS = ["007", "NA", "null", "b", "ä", "日本語", "\U0001f5fa map"]


def limit_memory(limit):
    if "UNDER_QEMU" not in os.environ:  # whose own memory would count, too
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def check_passes(portolan):
    """Selections from a run that there is no memory for to hold it: the same bytes, and the system agrees on the memory.

    What was too much comes from temporary files, so nothing is refused.
    """
    limit = 64 << 20  # of all that is private; the program's own, two threads' stacks and the allocator's included

    def select(words, **more):
        return subprocess.run([portolan, "select", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **more)

    for run in ("large", "large-strings"):
        some = select([run, "--by", "random", "--count", "1000"]).stdout
        with open("some.txt", "wb") as file:
            file.write(some)
        with open("some.csv", "wb") as file:
            file.write(b"id,number\n" + b"".join(b"%s,%d\n" % (word, i) for i, word in enumerate(some.split())))
        for words in (["ambiguous", "--fraction", "1"], ["forgettable"], ["region:easy-to-learn", "--count", "9"],
                      ["forgetting", "--fraction", "0.4"], ["confidence:asc", "--threshold", "0.3"],
                      ["hard-to-learn", "--fraction", "0.3", "--both-ends", "0.6", "--stratified"],
                      ["easy-to-learn", "--fraction", "0.9", "--mix", "forgetting=0.5", "--per-class", "--with-measures"],
                      ["random", "--fraction", "0.5"], ["hard-to-learn", "--count", "500", "--only", "some.txt"],
                      ["ambiguous", "--count", "500", "--with", run + "-again"], ["random", "--count", "999", "--join", "some.csv", "--id-field", "id"]):
            words = [run, "--by", *words]
            whole = select(words)
            assert whole.returncode in (0, 3) and whole.stdout, f"{words}: {whole.stderr}"
            part = select([*words, "--max-memory", "17M", "--threads", "1"],
                          preexec_fn=lambda: limit_memory(limit))
            assert (part.returncode, part.stdout) == (whole.returncode, whole.stdout), f"{words} in little memory: {part.stderr}"

    def fill_up():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))

    full = select(["large", "--by", "random", "--fraction", "1", "--max-memory", "16M"], env={**os.environ, "TMPDIR": os.getcwd()},
                  preexec_fn=fill_up)
    assert (full.returncode, full.stdout) == (1, b""), full.returncode
    assert all(word in full.stderr.decode() for word in (os.getcwd(), "MiB", "--max-memory", "TMPDIR")), full.stderr


def check_maps(portolan):
    """Maps of runs that there is no memory to hold: the same points, cells and regions, in as little memory."""
    limit = 80 << 20  # gnuplot's, which inherits it, included

    def draw(words, name, **more):
        return subprocess.run([portolan, "map", *words, "--json", "--script", "-o", name], capture_output=True, check=False, **more)

    for run in ("large", "large-strings", "large-gaps"):
        for words, ending in ((["--sample", "5000"], "svg"), (["--density", "--colour", "confidence"], "svg"),
                              (["--sample", "3000", "--seed", "4", "--x", "confidence", "--y", "first_learned"], "svg"),
                              (["--shift", "large-gaps" if run == "large" else "large"], "svg"), (["--sample", "200"], "gif"),
                              (["--sample", "100", "--regions", "0.1,0.7"], "svg")):
            done = [draw([run, *words], f"whole-{ending}.{ending}"),
                    draw([run, *words, "--max-memory", "20M", "--threads", "1"], f"part-{ending}.{ending}",
                         preexec_fn=lambda: limit_memory(limit))]
            assert [d.returncode for d in done] == [0, 0], f"{run} {words}: {[d.stderr for d in done]}"
            reports = [json.loads(d.stdout) for d in done]
            files = []
            for report in reports:
                with open(report.pop("files")[2], "rb") as file:
                    files.append(file.read())
            assert reports[0] == reports[1], f"map of {run} {words}: {reports}"
            assert files[0] and files[0] == files[1], f"map of {run} {words}: other points in little memory"


def large_run(name, n, seed, strings=False, half=False):
    """Shuffled ids, one epoch: more than fits into little memory. `half`: a second, of half of them."""
    random = np.random.default_rng(seed)
    ids = random.permutation(3 * n)[:n]
    p = random.random(n, dtype="f4")
    these = [f"id{i}" for i in ids] if strings else ids
    batches = [stores.batch(0, these, p, p > 0.5, ids % 3)]
    if half:
        batches.append(stores.batch(1, these[::2], p[::2], p[::2] > 0.4, ids[::2] % 3))
    return stores.run(name, batches)


def text_run(name, ids):
    return stores.run(name, [stores.batch(0, ids, [0.5] * len(ids), [1] * len(ids), [i % 2 for i in range(len(ids))])],
                      labels=("grün", "rot"))


def gappy_run(name, n, seed):
    """Declared ids of which many were never seen, some blocks and pieces of blocks wholly: places in the file move up."""
    random = np.random.default_rng(seed)
    seen = random.random((3, n)) < 0.4
    seen[:, 20000:60000] = False
    seen[:, :2000] = False
    seen[:, 100000:140000] = True
    batches = []
    for epoch in range(3):
        rows = np.flatnonzero(seen[epoch])
        p = random.random(len(rows), dtype="f4")
        batches.append(stores.batch(epoch, rows, p, p > 0.5, rows % 3))
    return stores.run(name, batches, declared=n)


def main():
    portolan, maker = (os.path.abspath(path) for path in sys.argv[1:3])
    cases = [
        random_run("complete", 40000, 6, 1),
        random_run("missing", 20000, 7, 2, missing=0.4),
        random_run("strings", 3000, 5, 3, missing=0.2, strings=True),
        random_run("one-epoch", 500, 1, 4),
        random_run("one-example", 1, 4, 5),
        random_run("signals-later", 2000, 5, 6, missing=0.1, signals_from=2),
        random_run("gap", 1000, 9, 7, missing=0.3, skip=(0, 4)),
        random_run("long", 300, 70, 8, missing=0.05),
    ]
    large = [large_run("large", 300000, 9), large_run("large-strings", 200000, 10, strings=True),
             large_run("large-again", 250000, 12), large_run("large-strings-again", 100000, 13, strings=True),
             large_run("large-half", 240000, 14, half=True), gappy_run("large-gaps", 200000, 11)]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["PORTOLAN_STORE"] = os.path.join(folder, "store")
        texts = [text_run("texts", [*TEXTS, "long" * 50]), text_run("texts-alike", [f"{i:03}ä" for i in range(5)])]
        renamed = stores.run("renamed", [stores.batch(0, [0, 1, 2], [0.25, 0.5, 0.125], [0, 1, 0], loss=[2, 7, 5])])
        stores.make_store(maker, "store", [case[0] for case in cases] + large + texts + [renamed])
        checker = Checker(portolan)
        for run, ids, gold, holds in cases:
            checker.metrics(run["name"], ids, gold, holds)
            checker.epochs(run["name"], holds)
            if len(holds["p"]) > 3:
                checker.metrics(run["name"], ids, gold, holds, window=3)
                checker.metrics(run["name"], ids, gold, holds, epochs=(1, 3))
        check_text(portolan)
        check_renamed(portolan)
        check_large(portolan)
        check_passes(portolan)
        check_maps(portolan)
        os.chdir("/")
    print(f"{checker.checks} comparisons; largest difference {checker.worst:.2g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
