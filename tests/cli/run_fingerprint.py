"""The fingerprint of the data, beside one computed here from analyzer/fingerprint/README.md; and the warning of runs whose ids
mean other examples.

    run_fingerprint.py PORTOLAN MAKE_STORE
"""

import csv
import ctypes
import io
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stores
from checks import check, finish

PORTOLAN, MAKE_STORE = (os.path.abspath(path) for path in sys.argv[1:3])
N, CLASSES = 600, 3
NAMES = ("néutral", "entailment", "contradiction")

XXH3 = ctypes.CDLL("libxxhash.so.0").XXH3_64bits_withSeed
XXH3.restype, XXH3.argtypes = ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]


def xxh3(data, seed):
    return XXH3(data, len(data), seed)


def number(value):
    return int(value).to_bytes(8, "little")


def fingerprint(ids, gold=None, names=()):
    """As the README says: a function of which examples there are, in whichever order."""
    first = second = labelled = 0
    for i, one in enumerate(ids):
        of_id = xxh3(one.encode(), 2) if isinstance(one, str) else xxh3(number(one), 1)
        first += of_id
        if gold is not None and gold[i] >= 0:
            of_label = xxh3(names[gold[i]].encode(), 4) if gold[i] < len(names) else xxh3(number(gold[i]), 3)
            second += xxh3(number(of_id) + number(of_label), 0)
            labelled += 1
    return f"{first % 2**64:016x}" + (f"-{second % 2**64:016x}" if labelled else "")


def batches(ids, gold, epochs=(0, 1), order=None, size=N, **columns):
    """Batches of these sizes, in this order, of each epoch."""
    order = np.arange(len(ids)) if order is None else order
    for epoch in epochs:
        for rows in np.split(order, range(size, len(order), size)):
            part = [ids[i] for i in rows]
            level = np.array([(hash(str(one)) % 97 + 1) / 100 for one in part], "f4")
            yield stores.batch(epoch, part, level, level > 0.5, None if gold is None else gold[rows], **{name: values[rows] for name, values in columns.items()})


def portolan(*words):
    done = subprocess.run([PORTOLAN, *words], capture_output=True, text=True)
    check(done.returncode == 0, f"{words}: {done}")
    return done


def listed():
    """The fingerprints that `portolan runs --json` prints; `check` must agree."""
    report = {one["name"]: one["fingerprint"] or "" for one in json.loads(portolan("runs", "--json", "--store", "store").stdout)}
    checked = json.loads(subprocess.run([PORTOLAN, "check", "--json", "--store", "store"], capture_output=True, check=False).stdout)["runs"]
    check(report == {one["run"]: one["fingerprint"] or "" for one in checked}, f"{report} {checked}")
    return report


def test_values(rng):
    """Each run beside what is computed here; runs of the same data among themselves."""
    gold = rng.integers(0, CLASSES, N).astype("i4")
    gold[0], changed = 0, gold.copy()
    changed[7] = (changed[7] + 1) % CLASSES
    ids, order = np.arange(N) * 3, rng.permutation(N)
    texts = ["ä" * 127, "x" * 255, "3"] + [f"snli/{i}" for i in range(N - 3)]
    other_order = [NAMES[k] for k in (2, 0, 1)]
    position = np.array([other_order.index(name) for name in NAMES], "i4")
    losses = {"task_loss": rng.random(N).astype("f4")}
    zero = [stores.batch(e, ids, np.zeros(N, "f4"), np.zeros(N, bool), task_loss=losses["task_loss"]) for e in (0, 1)]
    partly = [stores.batch(0, np.arange(1, N, 2), np.zeros(N // 2, "f4"), np.zeros(N // 2, bool), gold[1::2])]
    runs = [
        stores.run("plain", batches(ids, gold)),
        stores.run("order", batches(ids, gold, order=order, size=17)),
        stores.run("epochs", batches(ids, gold, epochs=range(7))),
        stores.run("patched", [*batches(ids, gold), stores.session(9), *batches(ids, gold, epochs=(0,), order=order[:50])]),
        stores.run("in-log", batches(ids, gold, order=order, size=100), ended=False),
        stores.run("declared", batches(ids, gold, order=order, size=64), declared=3 * N),
        stores.run("declared-in-log", batches(ids, gold, order=order, size=64), declared=3 * N, ended=False),
        stores.run("declared-no-labels", [dict(one, gold=None) for one in partly], declared=100_000),
        stores.run("many-declared", partly, declared=100_000),
        stores.run("changed", batches(ids, changed)),
        stores.run("corrected-later", [*batches(ids, gold), *batches(ids, changed, epochs=(2,))]),
        stores.run("texts", batches(texts, gold)),
        stores.run("texts-order", batches(texts, gold, order=order, size=5)),
        stores.run("digits", batches([str(i) for i in ids], gold)),
        stores.run("named", batches(ids, gold), labels=NAMES),
        stores.run("named-otherwise", batches(ids, position[gold]), labels=other_order),
        stores.run("two-names", batches(ids, gold), labels=NAMES[:2]),
        stores.run("no-labels", batches(ids, None)),
        stores.run("losses", zero),
        stores.run("nothing", []),
    ]
    stores.make_store(MAKE_STORE, "store", runs)
    plain = fingerprint([int(i) for i in ids], gold)
    expected = dict.fromkeys(["plain", "order", "epochs", "patched", "in-log", "declared", "declared-in-log"], plain)
    expected |= {"changed": fingerprint([int(i) for i in ids], changed), "digits": fingerprint([str(i) for i in ids], gold)}
    expected |= {"corrected-later": expected["changed"], "nothing": ""}
    expected |= {name: fingerprint(texts, gold) for name in ("texts", "texts-order")}
    expected |= {name: fingerprint([int(i) for i in ids], gold, NAMES) for name in ("named", "named-otherwise")}
    expected |= {"two-names": fingerprint([int(i) for i in ids], gold, NAMES[:2])}
    expected |= {name: fingerprint([int(i) for i in ids]) for name in ("no-labels", "losses")}
    expected |= {"many-declared": fingerprint(range(1, N, 2), gold[1::2]), "declared-no-labels": fingerprint(range(1, N, 2))}
    got = listed()
    for name, value in expected.items():
        check(got[name] == value, f"{name}: {got[name]}, expected {value}")
    check(set(got) == set(expected), set(got) ^ set(expected))
    check(plain[:16] == got["changed"][:16] == got["losses"] and plain[16:] != got["changed"][16:], "one label that changed changes the second half alone")
    check(len({got[name] for name in ("plain", "texts", "digits", "named", "two-names", "changed", "no-labels", "many-declared")}) == 8, "other data, other fingerprints")


def record_pairs(rng):
    """`first`, and runs of which some have the same ids for other examples."""
    n = 1200
    gold, ids = rng.integers(0, CLASSES, n).astype("i4"), np.arange(n)
    level = rng.random(n)
    corrected, noisy = gold.copy(), gold.copy()
    corrected[:60] = (corrected[:60] + 1) % CLASSES
    noisy[:360] = (noisy[:360] + rng.integers(1, CLASSES, 360)) % CLASSES
    third = np.flatnonzero(level < 1 / 3)
    moved = (np.arange(n) + 17) % n
    one_class = np.zeros(n, "i4")

    def logged(name, ids, gold, **more):
        scores = rng.random((3, len(ids))).astype("f4")
        return stores.run(name, [stores.batch(e, ids, scores[e], scores[e] > 0.5, gold) for e in range(3)], **more)

    large, many = np.arange(400_000), rng.integers(0, 10, 400_000).astype("i4")
    return [
        logged("first", ids, gold), logged("same", ids, gold), logged("shuffled", ids, gold[rng.permutation(n)]),
        logged("moved", ids, gold[moved], declared=n), logged("corrected", ids, corrected), logged("noisy", ids, noisy),
        logged("subset", third, gold[third]), logged("subset-anew", np.arange(len(third)), gold[third]), logged("few", ids[:12], gold[1:13]),
        logged("more", np.arange(2 * n), np.concatenate([gold, gold])), logged("apart", ids + 10 * n, gold), logged("no-labels", ids, None),
        logged("names", ids, gold, labels=NAMES), logged("renamed", ids, gold, labels=("n", "e", "c")), logged("turned", ids, (gold + 1) % CLASSES, labels=(NAMES[2], *NAMES[:2])),
        logged("named-shuffled", ids, gold[rng.permutation(n)], labels=NAMES), logged("in-log", ids, gold[moved], ended=False),
        logged("one-class", ids, one_class), logged("texts", [f"t{i}" for i in ids], gold), logged("texts-shuffled", [f"t{i}" for i in ids], gold[moved]),
        logged("large", large, many), logged("large-shuffled", large, rng.permutation(many)), logged("large-corrected", large, np.where(large % 20 == 0, (many + 1) % 10, many)),
    ]


def record_rule(rng):
    """Of each case, two runs with the same ids: FIRST and FIRST-OTHERWISE. Returns the names of those that must warn, and of those that must not."""
    def logged(name, gold, labels):
        n = len(gold)
        return stores.run(name, [stores.batch(0, np.arange(n), np.zeros(n, "f4"), np.zeros(n, bool), gold.astype("i4"))], labels=labels)

    def few(n):
        return (rng.permutation(n) < n // 100).astype("i4")

    runs, loud, quiet = [], [], []

    def add(name, warns, gold, other, labels=(), other_labels=()):
        (loud if warns else quiet).append(name)
        runs.extend([logged(name, gold, labels), logged(f"{name}-otherwise", other, other_labels)])

    rare = few(2000)
    corrected = rare.copy()
    corrected[np.flatnonzero(rare)[:15]] = 0
    two, three, ten, many = (rng.integers(0, classes, 2000) for classes in (2, 3, 10, 1000))
    order = rng.permutation(10)
    words, others = [f"old-{k}" for k in range(10)], [f"new-{k}" for k in range(10)]
    add("rare-corrected", False, rare, corrected)
    add("inverted", False, two, 1 - two)
    add("merged", False, ten, ten // 5)
    add("split", False, ten // 5, ten)
    add("renamed-reordered", False, ten, order[ten], words, others)
    add("renamed-shuffled", True, ten, rng.permutation(ten), words, others)
    add("reordered-numbers", False, many, rng.permutation(1000)[many])
    add("zeros", False, three, np.zeros(2000))
    add("half-redrawn", False, three, np.where(np.arange(2000) % 2 == 0, rng.permutation(three), three))
    add("many-half-redrawn", False, many, np.where(np.arange(2000) % 2 == 0, rng.permutation(many), many))
    add("few-labels", False, np.arange(20) % 2, np.arange(20) // 10)
    add("hardly-kept", True, two, np.where(np.arange(2000) % 50 > 0, rng.permutation(two), two))
    for n in (150, 20_000):
        for classes in (2, 10, 1000):
            gold = rng.integers(0, classes, n)
            add(f"shuffled-{classes}-of-{n}", True, gold, rng.permutation(gold))
    for n in (2000, 20_000):
        gold = few(n)
        add(f"shuffled-rare-of-{n}", True, gold, rng.permutation(gold))
    all_of = rng.integers(0, 10, 600_000)
    add("all", True, all_of, rng.permutation(all_of[:150]))
    stores.make_store(MAKE_STORE, "rule", runs)
    return loud, quiet


SIGN = "other gold labels"


def warned(*words, store="pairs"):
    return [line for line in portolan(*words, "--store", store).stderr.splitlines() if SIGN in line]


def test_rule():
    """Which pairs are warned of, and with which numbers."""
    quiet = {"first": ["same", "corrected", "noisy", "subset", "few", "more", "no-labels", "names"], "names": ["renamed", "turned"], "one-class": [], "large": ["large-corrected"]}
    loud = {"first": ["shuffled", "moved", "subset-anew", "in-log", "named-shuffled"], "names": ["named-shuffled"], "texts": ["texts-shuffled"], "large": ["large-shuffled"]}
    for expected, pairs in ((0, quiet), (1, loud)):
        for a, others in pairs.items():
            for b in others:
                check(len(warned("compare", a, b)) == expected, f"{a} {b}: {warned('compare', a, b)}")
    line, = warned("compare", "first", "moved")
    gold = {run: np.array([int(row["gold"]) for row in csv.DictReader(io.StringIO(portolan("metrics", run, "--store", "pairs", "--format", "csv").stdout))]) for run in ("first", "moved")}
    differ = (gold["first"] != gold["moved"]).sum()
    shares = [np.bincount(gold[run], minlength=CLASSES) / 1200 for run in gold]
    check(f"for {differ} of the 1,200 ids that both have (chance alone: {1200 * (1 - shares[0] @ shares[1]):.0f})" in line, line)
    check("looked at" in warned("compare", "large", "large-shuffled")[0], "a sample is called one")


def test_independence(rng):
    """Labels that go together in whichever way are no shuffle; labels that do not are one, whatever the balance of the classes and the sizes of the runs."""
    loud, quiet = record_rule(rng)
    for name in [*loud, *quiet]:
        for pair in ((name, f"{name}-otherwise"), (f"{name}-otherwise", name)):
            got = warned("compare", *pair, store="rule")
            check(len(got) == (name in loud), f"{pair}: {got}")
    line, = warned("compare", "all", "all-otherwise", store="rule")
    check("of the 150 ids that both have" in line, f"the small run is looked at wholly: {line}")


def test_commands():
    """Every command that matches runs by id warns, once for each run, and ends as it did."""
    with open("data.jsonl", "w", encoding="utf-8") as file:
        for i in range(1200):
            file.write(json.dumps({"id": i, "text": f"word{i % 7} a", "label": i % 3}) + "\n")
    portolan("noise", "plan", "first", "--store", "pairs", "--fraction", "0.1", "-o", "flips.tsv")
    lines = [
        "compare first {}", "compare first {} --average", "compare first {} --average --union", "metrics first --minus {}", "select first --by ambiguous --fraction 0.1 --with {}",
        "select first --by ambiguous --fraction 0.1 --minus {}", "map first --minus {} --script -o difference.svg", "map first --beside {} -o beside.svg",
        "map first --shift {} -o shift.svg", "groups first {} --accuracy",
        "artifacts data.jsonl --text text --label-field label --min-count 1 --id-field id --run first --after {} -o stats.tsv",
    ]
    for line in lines:
        for other, expected in (("shuffled", 1), ("same", 0)):
            got = warned(*line.format(other).split())
            check(len(got) == expected, f"{line.format(other)}: {got}")
    check(len(warned("compare", "first", "shuffled", "same", "moved")) == 2, "each further run is compared with the first")
    report = json.loads(portolan("report", "first", "shuffled", "--store", "pairs", "--json").stdout)
    check(SIGN in json.dumps(report["sections"]), "the report has the warning of `compare`")


def runs_of(store, *words):
    return subprocess.run([PORTOLAN, "runs", *words, "--store", store], capture_output=True, text=True)


def test_damage():
    """A run whose ids cannot be read has no fingerprint, and is listed, beside another."""
    gold = np.array([0, 1, 2] * 4, "i4")
    stores.make_store(MAKE_STORE, "torn", [stores.run(name, batches(np.arange(12), gold)) for name in ("torn", "whole")])
    with open("torn/data.mdb", "r+b") as file:
        data = file.read()
        for match in re.finditer(re.escape(struct.pack(">II", 1, 0) + b"D"), data):  # the ids of the first run (STORE.md)
            file.seek(match.end() + 24)
            file.write(bytes([data[match.end() + 24] ^ 4]))
    listed = runs_of("torn", "--json")
    got = {one["name"]: one["fingerprint"] for one in json.loads(listed.stdout)}
    check(listed.returncode == 0 and got == {"torn": None, "whole": fingerprint(range(12), gold)}, got)
    checked = subprocess.run([PORTOLAN, "check", "torn", "--json", "--store", "torn"], capture_output=True)
    check(checked.returncode == 1 and json.loads(checked.stdout)["fingerprint"] is None, checked)


def test_cut_off(rng):
    """Of a file that was cut off, `runs --json` lists what `runs` lists, which reads no ids; and it says that it could not read them."""
    n, said = 40_000, 0
    stores.make_store(MAKE_STORE, "cut", [stores.run("run", batches(np.arange(n), rng.integers(0, CLASSES, n).astype("i4"), size=n))])
    with open("cut/data.mdb", "rb") as file:
        data = file.read()
    for size in range(len(data), len(data) // 2, -len(data) // 8):
        os.truncate("cut/data.mdb", size)
        plain, listed = runs_of("cut"), runs_of("cut", "--json")
        check(plain.returncode == listed.returncode, f"{size}: {plain} {listed}")
        said += "fingerprints are missing" in listed.stderr
    check(said > 0, "no such file was met")


def main():
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        test_values(rng)
        stores.make_store(MAKE_STORE, "pairs", record_pairs(rng))
        test_rule()
        test_independence(rng)
        test_commands()
        test_damage()
        test_cut_off(rng)
    finish()


main()
