"""portolan dynamics: every observation, beside an independent record of what was logged; portolan show: the same of a few.

    run_dynamics.py PORTOLAN MAKE_STORE

Covers: ids declared, in order, shuffled and as text; gaps, whole blocks never seen; observations logged twice, by one session and by
several, the earlier one last; a run in progress; signals in some epochs only; every format, to files and pipes; columns;
lists of ids; ranges of epochs; what there is, and whether it changed; little memory, which makes several passes over an epoch.
"""

import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stores

PORTOLAN = os.path.abspath(sys.argv[1])
MAKER = os.path.abspath(sys.argv[2])
SIGNALS = ["gold_prob", "correct", "margin", "other_sq", "entropy", "max_prob", "predicted"]
SOURCES = ["gold", "session_number", "session_started", "rank", "session"]
WHOLE = {"epoch", "correct", "predicted", "gold", "session_number", "session_started", "rank"}
TYPES = {"epoch": "<u4", "correct": "?", "predicted": "<i4", "gold": "<i4", "session_number": "<u4", "rank": "<u4", "session_started": "<u8",
         "session": "S32"}


class Log:
    """Batches for make_store, and what they leave: the observation of the latest session, of one session the last."""

    sessions = 0  # of all runs of the store, in the order of their descriptions

    def __init__(self, name, seed, **options):
        self.name, self.random, self.options = name, np.random.default_rng(seed), options
        self.batches, self.kept, self.gold = [], {}, {}
        Log.sessions += 1
        self.table = [(1000, 0, Log.sessions)]  # as make_store begins

    def session(self, started, rank):
        Log.sessions += 1
        self.table.append((started, rank, Log.sessions))
        self.batches.append(stores.session(started, rank))

    def log(self, epoch, ids, *signals, gold=True):
        n, number = len(ids), len(self.table) - 1
        values = {s: self.random.standard_normal(n).astype("f4") for s in signals if s != "predicted"}
        if "predicted" in signals:
            values["predicted"] = self.random.integers(0, 5, n)
        p, correct = self.random.random(n, dtype="f4"), self.random.random(n) < 0.5
        self.batches.append(stores.batch(epoch, ids, p, correct, [len(str(i)) % 3 for i in ids] if gold else None, **values))
        lists = {name: v.tolist() for name, v in {"gold_prob": p, "correct": correct.astype(int), **values}.items()}
        for r, i in enumerate(ids):
            key = (epoch, i if isinstance(i, str) else int(i))
            if gold:
                self.gold[key[1]] = len(str(i)) % 3
            if key not in self.kept or self.table[number] >= self.table[self.kept[key]["session_number"]]:
                self.kept[key] = {"session_number": number, **{name: v[r] for name, v in lists.items()}}
        return self

    def described(self):
        return stores.run(self.name, self.batches, **self.options)

    def rows(self, columns, epochs=(0, 1 << 32), only=None):
        """Tuples: id, epoch, then the columns; None: absent."""
        rows = []
        for (epoch, i), values in sorted(self.kept.items(), key=lambda item: (item[0][0], item[0][1] if isinstance(item[0][1], int) else item[0][1].encode())):
            if not epochs[0] <= epoch < epochs[1] or (only is not None and i not in only):
                continue
            started, rank, count = self.table[values["session_number"]]
            all_values = {"session_started": started, "rank": rank, "session": count.to_bytes(16, "little").hex(), "gold": self.gold.get(i), **values}
            rows.append((i, epoch, *(all_values.get(c) for c in columns)))
        return rows


def run(*words, status=0, binary=False):
    done = subprocess.run([PORTOLAN, "dynamics", *map(str, words)], capture_output=True)
    assert done.returncode == status, (words, done.returncode, done.stderr.decode())
    return done.stdout if binary else done.stdout.decode(), done.stderr.decode()


def same(got, want, what):
    assert len(got) == len(want), (what, len(got), len(want))
    for g, w in zip(got, want):
        assert g == w, (what, g, w)


def text_value(text, name, is_text):
    if name == "id":
        return text if is_text else int(text)
    if text == "":
        return None
    return text if name == "session" else int(text) if name in WHOLE else float(text)


def read_separated(text, delimiter, is_text):
    lines = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    return lines[0], [tuple(text_value(v, name, is_text) for name, v in zip(lines[0], line)) for line in lines[1:]]


def read_npy(data, is_text, as_bytes=False):
    array = np.load(io.BytesIO(data))
    for name in array.dtype.names:
        if name == "id":
            assert array.dtype[name].kind == ("S" if as_bytes else "U") if is_text else array.dtype[name] == "<u8", array.dtype
        else:
            assert array.dtype[name] == TYPES.get(name, "<f4"), array.dtype
    columns = []
    for name in array.dtype.names:
        values = array[name].tolist()
        if name == "id" and as_bytes or name == "session":
            values = [v.decode() for v in values]
        elif name in ("predicted", "gold"):
            values = [None if v < 0 else v for v in values]
        elif array.dtype[name] == "<f4":
            values = [None if v != v else v for v in values]
        columns.append(values)
    return list(array.dtype.names), list(zip(*columns))


def read_lines(text):
    rows = [json.loads(line) for line in text.splitlines()]
    return list(rows[0]), [tuple(row.values()) for row in rows]


def check_formats(log, names, is_text):
    """All formats, to standard output and to files."""
    want = log.rows(names)
    texts = {}
    for form, read in (("csv", lambda d: read_separated(d.decode(), ",", is_text)), ("tsv", lambda d: read_separated(d.decode(), "\t", is_text)),
                       ("jsonl", lambda d: read_lines(d.decode())), ("npy", lambda d: read_npy(d, is_text))):
        texts[form], _ = run(log.name, "--format", form, binary=True)
        head, rows = read(texts[form])
        assert head == ["id", "epoch", *names], (log.name, form, head, names)
        same(rows, want, (log.name, form))
        path = f"out.{form}"
        for threads in (1, 3):
            run(log.name, "-o", path, "--threads", threads)
            with open(path, "rb") as file:
                assert file.read() == texts[form], (log.name, form, threads)
        assert run(log.name, "--format", form, "--max-memory", "16M", binary=True)[0] == texts[form], (log.name, form, "little memory")
    if is_text:
        head, rows = read_npy(run(log.name, "--format", "npy", "--id-bytes", binary=True)[0], True, as_bytes=True)
        same(rows, want, (log.name, "bytes"))


def check_columns(log, is_text):
    names = ["session", "gold", "margin", "rank", "session_started", "session_number"]
    want = log.rows(names)
    for form, read in (("csv", lambda d: read_separated(d.decode(), ",", is_text)), ("npy", lambda d: read_npy(d, is_text)),
                       ("jsonl", lambda d: read_lines(d.decode()))):
        head, rows = read(run(log.name, "--columns", ",".join(names), "--format", form, "--sessions", "sessions.csv", binary=True)[0])
        assert head == ["id", "epoch", *names]
        same(rows, want, (log.name, form, names))
    with open("sessions.csv", encoding="utf-8") as file:
        table = [(int(n), s, int(t), int(r)) for n, s, t, r in list(csv.reader(file))[1:]]
    assert table == [(k, c.to_bytes(16, "little").hex(), t, r) for k, (t, r, c) in enumerate(log.table)], table


def check_lists(log, is_text, threads):
    known = sorted({i for _, i in log.kept})
    some = [known[k] for k in (len(known) - 1, 0, len(known) // 2, 0, 5)]
    with open("ids.txt", "w", encoding="utf-8") as file:
        file.write("".join(f"{i}\n" for i in some))
    text, _ = run(log.name, "--ids", "ids.txt", "--columns", "gold_prob", "--threads", threads)
    same(read_separated(text, ",", is_text)[1], log.rows(["gold_prob"], only=set(some)), (log.name, "ids"))
    data, _ = run(log.name, "--ids", "ids.txt", "--format", "npy", "--columns", "correct", binary=True)
    same(read_npy(data, is_text)[1], log.rows(["correct"], only=set(some)), (log.name, "ids, npy"))
    with open("ids.txt", "a", encoding="utf-8") as file:
        file.write("\n99999999\n88888888\n")
    text, messages = run(log.name, "--ids", "ids.txt", "--columns", "gold_prob", status=3)
    same(read_separated(text, ",", is_text)[1], log.rows(["gold_prob"], only=set(some)), (log.name, "ids"))
    assert f"not observed in run '{log.name}': 2 of the 7 ids in ids.txt, '99999999' in line 7 the first" in messages, messages


def check_errors(log):
    def fails(words, *wanted, status=1):
        text, messages = run(*words, status=status)
        assert text == "" and messages.count("portolan: ") == 1 and all(w in messages for w in wanted), (words, messages)

    with open("ids.txt", "w", encoding="utf-8") as file:
        file.write("1\nx1\n")
    fails([log.name, "--ids", "ids.txt"], "ids.txt: line 2: 'x1' is no whole number")
    open("empty.txt", "w", encoding="utf-8").close()
    fails([log.name, "--ids", "empty.txt"], "empty.txt: no ids in it")
    fails([log.name, "--ids", "nowhere.txt"], "nowhere.txt")
    fails([log.name, "--columns", "mrgin"], "no column 'mrgin' (did you mean 'margin'?)")
    fails([log.name, "--columns", "qqqqqqqq"], "no column 'qqqqqqqq' in these epochs; it has gold_prob, correct,")
    fails([log.name, "--columns", "margin,margin"], "two columns are named 'margin'")
    fails([log.name, "--columns", "margin,"], "--columns", status=2)
    fails([log.name, "--id-bytes"], "--id-bytes", status=2)
    fails([log.name, "--contents", "--format", "npy"], "--contents", status=2)
    fails([log.name, "--epochs", "50:"], "has no observations from epoch 50 on")
    fails([log.name, "-o", "x.parquet"], "x.parquet", status=2)


def story(log, i, epochs):
    """gold_prob and correct, by epoch, and the epochs at which it was forgotten; None: not observed."""
    seen = [log.kept.get((e, i)) for e in epochs]
    gold_prob, correct = ([v and v[name] for v in seen] for name in ("gold_prob", "correct"))
    known = [(e, c) for e, c in zip(epochs, correct) if c is not None]
    return gold_prob, [c if c is None else bool(c) for c in correct], [e for (_, a), (e, b) in zip(known, known[1:]) if a and not b]


def show(*words, status=0, locale="C.UTF-8"):
    done = subprocess.run([PORTOLAN, "show", *map(str, words)], capture_output=True, env={**os.environ, "LC_ALL": locale})
    assert done.returncode == status, (words, done.returncode, done.stderr.decode())
    return done.stdout.decode(), done.stderr.decode()


def check_show(log, chosen):
    """As JSON, and as text in two locales; the order asked for, each once."""
    epochs = sorted({e for e, _ in log.kept})
    report = json.loads(show(log.name, *chosen, chosen[0], "--json")[0])
    assert report["run"] == log.name and report["epochs"] == epochs and report["unknown"] == []
    assert [one["id"] for one in report["examples"]] == chosen, report
    text, _ = show(log.name, *chosen)
    plain, _ = show(log.name, *chosen, locale="C")
    rows, plain_rows = ([line.split() for line in t.splitlines()[3:3 + len(chosen)]] for t in (text, plain))
    assert log.name != "declared" or max(map(len, text.splitlines())) <= 80, "a terminal has room for it"
    observations = [line.split() for line in text.splitlines()[5 + len(chosen):]]
    want = []
    for one, row, plain_row in zip(report["examples"], rows, plain_rows):
        gold_prob, correct, forgotten = story(log, one["id"], epochs)
        known = [p for p in gold_prob if p is not None]
        assert (one["gold_prob"], one["correct"], one["forgotten"]) == (gold_prob, correct, forgotten), (one, gold_prob, correct, forgotten)
        assert one["gold"] == log.gold.get(one["id"]) and one["measures"]["epochs"] == len(known)
        assert abs(one["measures"]["confidence"] - sum(known) / len(known)) < 1e-12
        assert one["measures"]["forgetting_events"] == len(forgotten)
        assert row[0] == str(one["id"]) and row[-3] == str(len(forgotten)), row
        assert row[-2] == "".join("·" if p is None else "▁▂▃▄▅▆▇█"[min(int(p * 8), 7)] for p in gold_prob), (row, gold_prob)
        assert row[-1] == "".join("·" if c is None else "✓" if c else "✗" for c in correct), (row, correct)
        assert plain_row[-2] == "".join("." if p is None else str(min(int(p * 10), 9)) for p in gold_prob), (plain_row, gold_prob)
        assert plain_row[-1] == "".join("." if c is None else "+" if c else "x" for c in correct), (plain_row, correct)
        first = next((e for e, c in zip(epochs, correct) if c), None)
        for e, p, c in zip(epochs, gold_prob, correct):
            if p is not None:
                event = "forgotten" if e in forgotten else "learned" if e == first else ""
                want.append([str(one["id"]), str(e), f"{p:.3f}", "yes" if c else "no", *([event] if event else [])])
    assert observations == want, (observations, want)


def check_shows(logs):
    for name in ("declared", "gaps", "shuffled", "text", "resumed"):
        known = sorted({i for _, i in logs[name].kept})
        check_show(logs[name], [known[k] for k in (len(known) // 2, 3, len(known) - 1, 0)])
    with open("ids.txt", "w", encoding="utf-8") as file:
        file.write("7\n123456789\n3\n")
    out, messages = show("declared", 5, 987654321, "--ids", "ids.txt", "--epochs", "1:", "--json", status=3)
    report = json.loads(out)
    assert [one["id"] for one in report["examples"]] == [5, 7, 3] and report["unknown"] == [123456789, 987654321] and report["epochs"] == [1, 2]
    assert "not observed in run 'declared': '987654321'" in messages and "1 of the 3 ids in ids.txt, '123456789' in line 2" in messages, messages
    out, messages = show("declared", 987654321, status=1)
    assert out == "" and "none of these examples was observed" in messages, messages
    assert "'x' is no whole number" in show("declared", "x", status=1)[1]
    assert "which examples?" in show("declared", status=2)[1]
    with open("data.jsonl", "w", encoding="utf-8") as file:
        file.write('{"key": 5, "text": "five"}\n{"key": 6, "text": "six"}\n')
    words = ["declared", 5, 7, "--data", "data.jsonl", "--id-field", "key", "--text", "text"]
    assert [one["text"] for one in json.loads(show(*words, "--json")[0])["examples"]] == [{"text": "five"}, None]
    assert show(*words)[0].splitlines()[-1].split() == ["5", "text", "five"], show(*words)[0]


def contents(name, *words):
    return json.loads(run(name, "--contents", *words)[0])


def check_contents(log, columns, is_text):
    found = contents(log.name)
    assert found["run"] == log.name and found["columns"] == columns and len(bytes.fromhex(found["store"])) == 16, found
    assert found["ids"] == ("texts" if is_text else "integers") and found["labels"] == list(log.options.get("labels", ()))
    epochs = sorted({epoch for epoch, _ in log.kept})
    assert [(e["epoch"], e["observations"]) for e in found["epochs"]] == [(e, sum(epoch == e for epoch, _ in log.kept)) for e in epochs]
    last = max(i for _, i in log.kept)
    assert is_text or last <= found["largest_id"] < (log.options.get("declared") or last + 1)
    assert contents(log.name, "--threads", 3) == contents(log.name, "--threads", 1) == found
    part = contents(log.name, "--epochs", f"{epochs[-1]}:")
    assert part["epochs"] == found["epochs"][-1:]


def check_states():
    """An epoch's state hangs on its batches and its examples' labels, as they were known last."""
    def states(name):
        found = contents(name)
        assert all(e["state"].startswith(f"{found['number']}-") for e in found["epochs"])
        return [e["state"].partition("-")[2] for e in found["epochs"]]

    first, second, late, other, again = map(states, ("state", "state2", "state-late", "state-other", "state-again"))
    assert first == second and len(first) == 3
    assert late == first, "labels that are known later are those of the epochs before"
    assert other[0] != first[0] and other[1] != first[1] and other[2] == first[2], "example 2 has another label, and is not in epoch 2"
    assert again[0] != first[0] and again[1:] == first[1:], "one more batch, with the same labels"


def state_runs():
    def log(epoch, ids, gold):
        return stores.batch(epoch, ids, np.full(len(ids), 0.5), np.ones(len(ids)), gold)

    same = [log(0, [1, 2, 3], [0, 1, 2]), log(1, [1, 2], [0, 1]), log(2, [1, 3], [0, 2])]
    late = [log(0, [1, 2, 3], None), log(1, [1, 2], [0, 1]), log(2, [1, 3], [0, 2])]
    other = [same[0], log(1, [1, 2], [0, 4]), same[2]]
    return [stores.run(name, batches) for name, batches in
            (("state", same), ("state2", same), ("state-late", late), ("state-other", other), ("state-again", [*same, same[0]]))]


def make_logs():
    random = np.random.default_rng(0)
    everything = ["margin", "other_sq", "entropy", "max_prob", "custom", "predicted"]
    logs = {}

    def new(name, **options):
        logs[name] = Log(name, len(logs), **options)
        return logs[name]

    declared = new("declared", declared=18000, labels=("a", "b", "c"))
    for epoch in range(3):
        declared.log(epoch, np.arange(18000), *everything)
    gaps = new("gaps", declared=60000)
    for epoch in (0, 3, 4):
        seen = np.flatnonzero((random.random(60000) < 0.2) & (np.arange(60000) // 20000 != 1))
        gaps.log(epoch, random.permutation(seen), *everything[: 2 * epoch // 3], gold=epoch > 0)
    shuffled, ids = new("shuffled"), random.permutation(10 * 34000)[:34000]
    for epoch in range(2):
        shuffled.log(epoch, random.permutation(ids), "margin", "predicted")
        shuffled.log(epoch, ids[::7], "margin")
    text = new("text")
    names = [f"{'é' * (i % 5)}id{i}" for i in random.permutation(17000)]
    for epoch in range(2):
        text.log(epoch, names[epoch * 100:], "margin", gold=False)
    resumed = new("resumed", ended=False)
    resumed.log(0, range(500), "margin").log(1, range(500), "margin")
    resumed.session(5000, 1)
    resumed.log(1, range(100, 300), "margin").log(2, range(500), "margin")
    resumed.session(5000, 0)
    resumed.log(1, range(200, 400), "margin").log(2, range(50), "margin", "entropy")
    resumed.session(500, 7)
    resumed.log(1, range(600), "margin").log(3, range(10), "margin")
    one = new("one")
    one.log(7, [18446744073709551615], "margin")
    return logs


def check_taken_names():
    """A user's column that is named as one of ours."""
    for form, read in (("csv", lambda d: read_separated(d.decode(), ",", False)), ("npy", lambda d: read_npy(d, False))):
        head, rows = read(run("taken", "--format", form, binary=True)[0])
        assert head == ["id", "epoch", "gold_prob", "correct", "user_rank", "user_id"] and rows == [(3, 0, 0.5, 1, 0.25, float("inf"))], (head, rows)
        head, rows = read(run("taken", "--format", form, "--columns", "rank,user_rank", binary=True)[0])
        assert rows[0][2:] == (0, 0.25), rows
    assert json.loads(run("taken", "--format", "jsonl")[0])["user_id"] == float("inf")


def check_damage(folder):
    """What stands before the first damaged block is printed, and that block is named, whatever the number of threads."""
    random, n = np.random.default_rng(11), 400_000
    p = random.random(n, dtype="f4")
    stores.make_store(MAKER, os.path.join(folder, "damaged"), [stores.run("large", [stores.batch(0, np.arange(n), p, random.random(n) < 0.5)])])
    with open(os.path.join(folder, "damaged", "data.mdb"), "r+b") as file:
        content = file.read()
        for row in (150_000, 250_000, 350_000):
            for found in re.finditer(re.escape(p[row : row + 4].tobytes()), content):  # also in pages that nothing uses any more
                file.seek(found.start())
                file.write(bytes([content[found.start()] ^ 1]))
    results = set()
    for threads in ("1", "8", "8", "8", "8"):
        done = subprocess.run([PORTOLAN, "dynamics", "large", "--columns", "gold_prob", "--store", os.path.join(folder, "damaged"), "--threads", threads],
                              capture_output=True, text=True, timeout=60)
        results.add((done.returncode, done.stdout, done.stderr))
        done = subprocess.run([PORTOLAN, "dynamics", "large", "--store", os.path.join(folder, "damaged"), "--columns", "gold_prob", "--threads", threads, "-o",
                               os.path.join(folder, "damaged.csv")], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and not os.path.exists(os.path.join(folder, "damaged.csv")), done
    assert len(results) == 1, [(status, len(out), said) for status, out, said in results]
    status, out, said = results.pop()
    assert status == 1 and out.count("\n") > 100_000 and "damaged" in said, (status, out.count("\n"), said)


def main():
    logs = make_logs()
    columns = {"declared": [*SIGNALS, "custom"], "gaps": SIGNALS[:4], "shuffled": ["gold_prob", "correct", "margin", "predicted"],
               "text": SIGNALS[:3], "resumed": [*SIGNALS[:3], "entropy"], "one": SIGNALS[:3]}
    taken = stores.run("taken", [stores.batch(0, [3], [0.5], [1], None, rank=[0.25], id=[np.inf])])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["PORTOLAN_STORE"] = os.path.join(folder, "store")
        stores.make_store(MAKER, "store", [log.described() for log in logs.values()] + [taken, *state_runs()])
        for name, log in logs.items():
            is_text = name == "text"
            check_formats(log, columns[name], is_text)
            check_columns(log, is_text)
            check_contents(log, columns[name], is_text)
            if name != "one":
                check_lists(log, is_text, 1 if name == "text" else 3)
        for name in ("declared", "resumed", "shuffled"):
            text, _ = run(name, "--epochs", "1:2")
            head, rows = read_separated(text, ",", False)
            assert head[2:] == [c for c in columns[name] if c != "entropy" or name == "declared"], head
            same(rows, logs[name].rows(head[2:], (1, 2)), (name, "epochs"))
        check_errors(logs["declared"])
        check_taken_names()
        check_shows(logs)
        check_states()
        check_damage(folder)
        messages = run("gaps")[1]
        assert "they have no row where they were not" in messages and "declared examples" in messages, messages
        run("gaps", "--strict", status=3)
        assert "still being recorded" in run("resumed")[1]
        os.chdir("/")
    print(f"{len(logs) + 1} runs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
