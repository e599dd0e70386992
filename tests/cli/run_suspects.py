"""portolan suspects beside NumPy: ranking, cut, suggestions and calibration, on digits with planted wrong labels and on random runs.

    run_suspects.py PORTOLAN MAKE_STORE

Without scikit-learn the test says so and is skipped (status 77).
"""

import csv
import io
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

try:
    from sklearn.datasets import load_digits
    from sklearn.neural_network import MLPClassifier
except ImportError as missing:
    print(f"SKIPPED, as python3-sklearn is not installed: {missing}", file=sys.stderr)
    sys.exit(77)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stores

EPOCHS, CLASSES = 12, 10
NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


class Portolan:
    def __init__(self, program):
        self.program = program

    def __call__(self, *words, status=0):
        """What it prints, and what it says."""
        done = subprocess.run([self.program, "suspects", *map(str, words)], capture_output=True, text=True)
        assert done.returncode == status, (words, done.returncode, done.stderr)
        return done.stdout, done.stderr

    def rows(self, *words):
        return list(csv.DictReader(io.StringIO(self(*words)[0])))

    def wrong(self, *words, status=2):
        return self(*words, status=status)[1]


# What is recorded

def train(x, gold, seed):
    """Logits (epochs, n, classes)."""
    model, logits = MLPClassifier((64,), random_state=seed, batch_size=64), []
    for _ in range(EPOCHS):
        model.partial_fit(x, gold, classes=np.arange(CLASSES))
        hidden = np.maximum(x @ model.coefs_[0] + model.intercepts_[0], 0)
        logits.append(hidden @ model.coefs_[1] + model.intercepts_[1])
    return np.array(logits, "f4")


def columns(logits, gold):
    """What a run holds of logits, by name; (epochs, n) each, as it is stored."""
    z = logits.astype("f8")
    p = np.exp(z - z.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    rows = np.arange(len(gold))
    own, others = p[:, rows, gold], z.copy()
    others[:, rows, gold] = -np.inf
    return {"gold_prob": own.astype("f4"), "margin": (z[:, rows, gold] - others.max(-1)).astype("f4"), "max_prob": p.max(-1).astype("f4"),
            "other_sq": ((p**2).sum(-1) - own**2).astype("f4"), "predicted": z.argmax(-1).astype("i4")}


def batches(record, gold, leave_out=(), seen=None):
    """The batches of a run; `seen` (epochs, n): which were observed."""
    out = []
    for e in range(len(record["gold_prob"])):
        rows = np.arange(len(gold)) if seen is None else np.flatnonzero(seen[e])
        more = {name: record[name][e, rows] for name in ("margin", "max_prob", "other_sq", "predicted") if name not in leave_out}
        p, correct = record["gold_prob"][e, rows], record["predicted"][e, rows] == gold[rows]
        labelled = gold[rows] >= 0
        for part in (labelled, ~labelled):
            if part.any():
                out.append(stores.batch(e, rows[part], p[part], correct[part], gold[rows[part]] if part is labelled else None,
                                        **{name: values[part] for name, values in more.items()}))
    return out


# The rule, in NumPy

def margins(record, with_logits):
    if with_logits:
        return record["margin"].astype("f8")
    p, most, wrong = (record[name].astype("f8") for name in ("gold_prob", "max_prob", "wrong"))
    others = np.minimum(np.sqrt(np.maximum(record["other_sq"].astype("f8"), 0)), np.minimum(most, 1 - p))
    runner = np.where(wrong > 0, most, others)
    return np.log(np.maximum(p, 1e-6)) - np.log(np.maximum(runner, 1e-6))


def judge(record, gold, with_logits=True, seen=None):
    """The ids in order, how many of them are called, the scores, the suggested classes, and the threshold of deep scores."""
    seen = np.ones(record["gold_prob"].shape, bool) if seen is None else seen
    record["wrong"] = record["predicted"] != gold
    every = margins(record, with_logits)
    with np.errstate(invalid="ignore"):
        a = np.where(seen, every, 0).sum(0) / seen.sum(0)
        confidence = np.where(seen, record["gold_prob"].astype("f8"), 0).sum(0) / seen.sum(0)
    votes = np.zeros((len(gold), record["predicted"].max() + 1))
    for e in range(len(every)):
        there = seen[e] & record["wrong"][e]
        np.add.at(votes, (np.flatnonzero(there), record["predicted"][e, there]), record["max_prob"][e, there].astype("f8"))
    judged = np.flatnonzero(seen.any(0) & (gold >= 0))
    order = judged[np.lexsort((judged, confidence[judged], a[judged]))]
    b = a[judged][a[judged] < 1e30]
    against, agree = b[b < 0], b[b > 0]
    n, deep, threshold = len(against) / len(judged), np.inf, np.inf
    if len(against) and len(agree):
        stands_out = np.quantile(-against, 0.9) >= 0.65 * np.quantile(agree, 0.9)
        deep = min(1, 4 * n) * agree.mean()
        threshold = deep if stands_out or n >= 0.3 else 0
    return order, int((-a[judged] > threshold).sum()), -a, np.where(votes.any(1), votes.argmax(1), -1), deep


def check_run(portolan, name, record, gold, with_logits=True, seen=None, names=None):
    order, called, scores, suggested, _ = judge(record, gold, with_logits, seen)
    rows = portolan.rows(name, "--all")
    assert [int(row["id"]) for row in rows] == order.tolist() and [int(row["rank"]) for row in rows] == list(range(1, len(rows) + 1)), name
    assert np.allclose([float(row["score"]) for row in rows], scores[order], rtol=1e-9, atol=1e-12), name
    text = [names[c] if names else str(c) for c in range(CLASSES)] + [""]
    assert [row["suggested"] for row in rows] == [text[c] for c in suggested[order]], name
    assert [row["label"] for row in rows] == [text[c] for c in gold[order]], name
    report = json.loads(portolan(name, "--json")[0])
    assert report["called"] == called == len(report["suspects"]) and report["ranked"] == len(order), (name, report["called"], called)
    assert report["by"] == ("aum" if with_logits else "log-odds") and report["expected"] is None and not report["out_of_fold"]
    assert [one["id"] for one in report["suspects"]] == order[:called].tolist()
    return report


def planted():
    """Digits with planted wrong labels: name, truth, gold, record."""
    x, truth = load_digits(return_X_y=True)
    x, rng = x / 16, np.random.default_rng(5)
    for name, share, shift in (("any", 0.05, 9), ("next", 0.1, 1), ("right", 0, 1)):
        gold = truth.copy()
        rows = rng.choice(len(gold), int(share * len(gold)), replace=False)
        gold[rows] = (gold[rows] + rng.integers(1, shift + 1, len(rows))) % CLASSES
        yield name, x, truth, gold, columns(train(x, gold, 1), gold)


def check_planted(portolan, kept):
    """It finds planted wrong labels without calling many right ones; where all are right, it says that the list is weak."""
    for name, truth, gold, record in kept:
        report = check_run(portolan, name, record, gold, names=NAMES)
        check_run(portolan, f"{name}-probs", record, gold, with_logits=False)
        wrong, ids = gold != truth, [one["id"] for one in report["suspects"]]
        weak = {doubt["kind"] for doubt in report["weak"]}
        if name == "right":
            assert weak, report
            continue
        print(f"{name}: {wrong[ids].sum()} of {wrong.sum()} wrong labels among {len(ids)} called")
        assert wrong[ids].sum() >= 0.8 * wrong.sum() and len(ids) <= 1.5 * wrong.sum() and weak <= {"memorised"}, (name, weak)
        suggested = np.mean([NAMES.index(one["suggested"]) == truth[one["id"]] for one in report["suspects"] if wrong[one["id"]]])
        assert suggested > 0.8, suggested
        said = portolan(name)[1]
        assert f"portolan: {len(ids)} of {len(gold):,} labels are called wrong; {report['how']}" in said.splitlines()[0], said


# Random runs

def random_runs(rng):
    """Runs with ties, gaps, masks and examples without label: name, record, gold, seen."""
    for name, n, epochs, shift, spread in (("crowd", 500, 6, 2.2, 1.0), ("hard", 400, 8, 0.2, 2.0), ("sure", 300, 5, 30.0, 1.0), ("lost", 200, 6, -30.0, 1.0),
                                           ("many", 2000, 6, np.linspace(0.8, 3.4, 2000), 1.0)):
        gold = rng.integers(0, CLASSES, n)
        logits = rng.normal(size=(epochs, n, CLASSES)).astype("f4").round(1) * spread
        logits[:, np.arange(n), gold] += shift
        record = columns(logits, gold)
        seen = rng.random((epochs, n)) < 0.9
        seen[:, :3] = False
        gold[3:6] = -1
        record["margin"][:, 10:12] = np.finfo("f4").max
        record["gold_prob"][:, 20:30] = record["gold_prob"][:, 20:21]
        record["margin"][:, 20:30] = record["margin"][:, 20:21]
        yield name, record, gold, seen


def check_random(portolan, runs):
    kinds = {}
    for name, record, gold, seen in runs:
        report = check_run(portolan, name, record, gold, seen=seen)
        kinds[name] = {doubt["kind"] for doubt in report["weak"]}
        assert report["left_out"] == 3, report
    assert "crowd" in kinds["crowd"] and "hard" in kinds["hard"] and kinds["sure"] == {"memorised"}, kinds
    assert "crowd" in kinds["many"] and "hard" not in kinds["many"], kinds  # 27% are contradicted
    assert "hard" in kinds["lost"] and json.loads(portolan("lost", "--json")[0])["called"] == 0, kinds
    assert {doubt["kind"] for doubt in json.loads(portolan("crowd", "--epochs", "1:3", "--json")[0])["weak"]} >= {"few-epochs"}


def check_agreeing(portolan):
    """Where the model always predicts the label, no other class is ahead, however much the others have together."""
    report = json.loads(portolan("agreeing", "--all", "--json")[0])
    assert report["called"] == 0 and max(row["score"] for row in report["suspects"]) <= 0, report
    assert [doubt["kind"] for doubt in report["weak"]] == ["memorised"], report


def check_elsewhere(portolan):
    """Margins of examples without a label do not keep those with one from being ranked."""
    report = json.loads(portolan("elsewhere", "--json")[0])
    assert report["by"] == "confidence" and report["ranked"] == 30 and report["left_out"] == 10, report


def elsewhere(rng):
    p = rng.random(30)
    return stores.run("elsewhere", [stores.batch(0, np.arange(30), p, p > 0.5, np.arange(30) % 3), stores.batch(0, np.arange(30, 40), p[:10], p[:10] > 0.5, margin=p[:10])])


def agreeing(name="agreeing", labels=()):
    n = 60
    gold, p = np.arange(n) % 3, np.linspace(0.34, 0.9, n)
    record = columns(np.log(np.stack([np.where(gold == c, p, (1 - p) / 2) for c in range(3)], -1))[None].repeat(6, 0), gold)
    return stores.run(name, batches(record, gold, ["margin"]), labels=labels)


# Calibration

def bound(flips, weights, others, least):
    """The least share of others above a flip's score, by the weight of the flips above it, which is `least` or more."""
    order = np.argsort(-flips)
    recalls = np.cumsum(weights[order])[np.searchsorted(-flips[order], -flips[order], "right") - 1] / weights.sum()
    parts = 1 - np.searchsorted(np.sort(others), flips[order]) / len(others)
    return min(1, (parts[recalls >= least] / recalls[recalls >= least]).min())


def expect(record, gold, old):
    """The share of wrong labels, its interval, and the probability of each example, from the flips: gold is not old."""
    _, _, scores, suggested, deep = judge(record, gold)
    flips, others = np.flatnonzero(gold != old), np.flatnonzero(gold == old)
    pairs = np.zeros((CLASSES, CLASSES))
    for i in others[(scores[others] > deep) & (suggested[others] >= 0)]:
        pairs[gold[i], suggested[i]] += 1
    made = np.zeros((CLASSES, CLASSES))
    np.add.at(made, (gold[flips], old[flips]), 1)
    weights = np.array([(pairs[gold[i], old[i]] + 0.1 * pairs.sum() / (CLASSES * (CLASSES - 1))) / made[gold[i], old[i]] for i in flips])
    weights = weights * len(flips) / weights.sum() if pairs.sum() else np.ones(len(flips))
    share = bound(scores[flips], weights, scores[others], 0.2)
    rng, drawn = np.random.default_rng(1), []
    for _ in range(400):
        rows, other = rng.integers(0, len(flips), len(flips)), rng.choice(scores[others], len(others))
        drawn.append([bound(scores[flips][rows], weights[rows], other, least) for least in (0.05, 0.6)])
    interval = np.percentile(drawn, 5, axis=0)[0], np.percentile(drawn, 95, axis=0)[1]
    blocks = []
    for t in np.unique(scores[np.r_[flips, others]]):
        f, s, edge = weights[scores[flips] == t].sum(), (scores[others] == t).sum(), t
        while blocks and blocks[-1][0] * s >= f * blocks[-1][1]:
            last = blocks.pop()
            f, s, edge = f + last[0], s + last[1], last[2]
        blocks.append((f, s, edge))
    edges = [edge for _, _, edge in blocks]
    at = np.searchsorted(edges, scores, "right") - 1
    with np.errstate(divide="ignore"):
        ratios = np.array([f for f, _, _ in blocks]) / np.array([s for _, s, _ in blocks])
    return share, interval, np.minimum(1, share * len(others) / len(flips) * ratios[np.maximum(at, 0)])


def flip(rng, truth, gold):
    """Gold labels with a twentieth flipped, and the file of flips."""
    new, rows = gold.copy(), np.sort(rng.choice(len(gold), len(gold) // 20, replace=False))
    new[rows] = (gold[rows] + rng.integers(1, CLASSES, len(rows))) % CLASSES
    with open("flips.tsv", "w", encoding="utf-8") as file:
        file.write("id\told\tnew\n" + "".join(f"{i}\t{gold[i]}\t{new[i]}\n" for i in rows))
    return new, rows


def check_calibrated(portolan, truth, old, gold, record):
    share, interval, probabilities = expect(record, gold, old)
    report = json.loads(portolan("flipped", "--flips", "flips.tsv", "--all", "--json")[0])
    rows, expected, others = report["suspects"], report["expected"], gold == old
    assert {row["id"] for row in rows} == set(np.flatnonzero(others)) and report["ranked"] == others.sum()
    assert expected["flips"] == (~others).sum() and expected["examples"] == others.sum()
    assert abs(expected["wrong"] - share * others.sum()) < 1e-9 * others.sum(), (expected, share)
    assert np.allclose([row["probability"] for row in rows], probabilities[[row["id"] for row in rows]], rtol=1e-9, atol=1e-12)
    assert all(a["probability"] >= b["probability"] for a, b in zip(rows, rows[1:]))
    wrong = (truth != old)[others].sum()
    print(f"expected {expected['wrong']:.0f} ({expected['low']:.0f} to {expected['high']:.0f}); {wrong} are wrong")
    assert expected["low"] <= expected["wrong"] <= expected["high"] and expected["low"] <= wrong <= expected["high"], (expected, wrong)
    assert np.allclose([expected["low"], expected["high"]], np.array(interval) * others.sum(), rtol=0.15), (expected, interval)
    called = portolan.rows("flipped", "--flips", "flips.tsv")
    assert list(called[0]) == ["rank", "id", "label", "suggested", "score", "probability"] and len(called) == report["called"]
    said = portolan("flipped", "--flips", "flips.tsv")[1]
    assert f"expected: {expected['wrong']:,.0f} wrong labels among {others.sum():,}" in said and "This holds for labels that are wrong like the flips" in said, said
    with open("flips.tsv", encoding="utf-8") as file:
        lines = file.readlines()
    with open("few.tsv", "w", encoding="utf-8") as file:
        file.writelines(lines[:30])
    assert "has 29 of the flips, and the calibration takes at least 50" in portolan.wrong("flipped", "--flips", "few.tsv", status=1)
    assert "was it trained with the flipped labels?" in portolan.wrong("any", "--flips", "flips.tsv", status=1)


def check_named_flips(portolan):
    """Flips as names and as numbers say the same, also where names are other classes' numbers."""
    def write(name, text, more=""):
        with open("flips.tsv", encoding="utf-8") as file, open(name, "w", encoding="utf-8") as out:
            head, *lines = [line.split() for line in file]
            out.write("\t".join(head) + "\n" + "".join(f"{i}\t{text[int(a)]}\t{text[int(b)]}\n" for i, a, b in lines) + more)

    shifted = [str(c + 1) for c in range(CLASSES)]
    wanted = json.loads(portolan("flipped", "--flips", "flips.tsv", "--json")[0])["expected"]
    write("names.tsv", NAMES)
    write("shifted.tsv", shifted)
    for run, files in (("flipped-named", ("flips.tsv", "names.tsv")), ("flipped-shifted", ("flips.tsv", "shifted.tsv"))):
        for name in files:
            assert json.loads(portolan(run, "--flips", name, "--json")[0])["expected"] == wanted, (run, name)
    write("typo.tsv", NAMES, "5\tzero\tseven-ish\n")
    assert "field new: 'seven-ish' is no class of run 'flipped-named'" in portolan.wrong("flipped-named", "--flips", "typo.tsv", status=1)
    assert "is no class of run 'flipped'" in portolan.wrong("flipped", "--flips", "names.tsv", status=1)
    assert "was it trained with the flipped labels?" in portolan.wrong("any", "--flips", "names.tsv", status=1)
    assert "was it trained with the flipped labels?" in portolan.wrong("any", "--flips", "flips.tsv", status=1)


def check_one_class(portolan):
    """Flips and wrong labels of a run in which all examples have one label now."""
    with open("to-zero.tsv", "w", encoding="utf-8") as file:
        file.write("id\told\tnew\n" + "".join(f"{i}\t1\t0\n" for i in range(60)))
    expected = json.loads(portolan("one-class", "--flips", "to-zero.tsv", "--json")[0])["expected"]
    assert expected["low"] <= 40 <= expected["high"] < 80, expected


def check_hidden(portolan):
    """Flips that the model has learned as well as the other labels tell nothing about these, and the program says so."""
    with open("hidden.tsv", "w", encoding="utf-8") as file:
        file.write("id\told\tnew\n" + "".join(f"{i}\t{(i + 1) % 3}\t{i % 3}\n" for i in range(60)))
    report = json.loads(portolan("hidden", "--flips", "hidden.tsv", "--json")[0])
    assert report["expected"]["wrong"] > 300 and "hidden" in {doubt["kind"] for doubt in report["weak"]}, report
    assert "the flips hardly stand out" in portolan("hidden", "--flips", "hidden.tsv")[1]
    assert "hidden" not in {doubt["kind"] for doubt in json.loads(portolan("flipped", "--flips", "flips.tsv", "--json")[0])["weak"]}


def hidden(rng):
    gold, z = np.arange(600) % 3, rng.normal(size=(EPOCHS, 600, 3))
    z[:, np.arange(600), gold] += 8
    return stores.run("hidden", batches(columns(z, gold), gold))


def one_class(rng):
    """60 flips, 40 other wrong labels, and 500 right ones; all have the label 0."""
    z = rng.normal(size=(EPOCHS, 600)) + np.where(np.arange(600) < 100, -2, 3)
    record, gold = columns(np.stack([z, np.zeros(z.shape)], -1), np.zeros(600, int)), np.zeros(600, int)
    return stores.run("one-class", batches(record, gold))


# The command

def check_sizes_and_formats(portolan):
    every = portolan.rows("any", "--all")
    assert portolan.rows("any", "--count", 5) == every[:5] and portolan.rows("any", "--count", 10**9) == every
    assert len(portolan.rows("any", "--fraction", 0.1)) == 180 and list(every[0]) == ["rank", "id", "label", "suggested", "score"]
    for ending, read in (("tsv", lambda file: list(csv.DictReader(file, delimiter="\t"))), ("jsonl", lambda file: [json.loads(line) for line in file])):
        portolan("any", "--count", 7, "-o", f"list.{ending}")
        with open(f"list.{ending}", encoding="utf-8") as file:
            assert [str(row["id"]) for row in read(file)] == [row["id"] for row in every[:7]]
    portolan("any", "--count", 7, "-o", "list.npy")
    array = np.load("list.npy")
    assert array["rank"].tolist() == list(range(1, 8)) and array["label"].tolist() == [row["label"] for row in every[:7]]
    portolan("any-probs", "--count", 7, "-o", "numbers.npy")
    assert np.load("numbers.npy")["suggested"].dtype == np.dtype("i8")
    portolan("any", "--count", 7, "-o", "list.json")
    with open("list.json", encoding="utf-8") as file:
        assert len(json.load(file)["suspects"]) == 7
    out, said = portolan("p")
    assert len(out.splitlines()) == 1 and "0 of 1,797 labels are called wrong; ranked by confidence" in said and "the list is weak: the run holds p of the label and no margins" in said, said
    first = portolan.rows("p", "--count", 3)
    assert [row["suggested"] for row in first] == ["", "", ""] and float(first[0]["score"]) >= float(first[2]["score"])
    for words, message in ((("any", "--count", 3, "--all"), "--count"), (("any", "--text", "x"), "--data"), (("any", "--json", "--format", "csv"), "--json"),
                           (("any", "--count", 0), "--count"), (("any", "--overwrite"), "--corrections"), (("any", "-o", "x.csv", "--corrections", "-"), "name a file"),
                           (("any", "--corrections", "c.csv"), "tsv"), (("any", "--data", "-", "--id-field", "id"), "--text"), ((), "run")):
        assert message in portolan.wrong(*words), words
    assert "has no gold labels" in portolan.wrong("unlabelled", status=1) and "no run" in portolan.wrong("any-prob", status=1)


def check_texts_and_corrections(portolan, old):
    """The file of corrections, which is not replaced unasked; what it says is what the list says."""
    with open("data.jsonl", "w", encoding="utf-8") as file:
        for i in range(1, len(old)):  # example 0 has no record
            file.write(json.dumps({"id": i, "text": f"a\tdigit\n{i}", "rank": None, "more": {"x": 1}}) + "\n")
    words = ("any", "--data", "data.jsonl", "--id-field", "id")
    rows = portolan.rows(*words, "--all")
    assert list(rows[0]) == ["rank", "id", "label", "suggested", "score", "text", "data_rank"], rows[0]
    assert all(row["text"] == (f"a\tdigit\n{row['id']}" if row["id"] != "0" else "") for row in rows)
    assert "not in data.jsonl: 1 of the 1,797 listed ids" in portolan(*words, "--all", "--strict", status=3)[1]
    said = portolan(*words, "--text", "text", "--corrections", "c.tsv")[1]
    called = portolan.rows("any")
    with open("c.tsv", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    assert lines[0] == ["id", "old", "new", "text"] and f"c.tsv: {len(called)} labels to look at" in said, said
    assert lines[1:] == [[row["id"], row["label"], row["suggested"], f"a digit {row['id']}"] for row in called]
    with open("c.tsv", "a", encoding="utf-8") as file:
        file.write("edited\n")
    assert "c.tsv exists, and may have been edited" in portolan.wrong(*words, "--corrections", "c.tsv")
    with open("c.tsv", encoding="utf-8") as file:
        assert file.read().endswith("edited\n")
    portolan("any", "--corrections", "c.tsv", "--overwrite", "--count", 2)
    with open("c.tsv", encoding="utf-8") as file:
        assert len(file.readlines()) == 3
    said = portolan("agreeing", "--count", 1, "--corrections", "one.tsv")[1]
    assert "one.tsv: 1 label to look at" in said and 'or write "drop" there to leave an example out' in said, said
    said = portolan("dropping", "--count", 1, "--corrections", "drop.tsv")[1]
    assert '"drop" is a class of this run, and leaves no example out' in said and 'or write "drop"' not in said, said
    os.symlink("nowhere", "link.tsv")
    portolan.wrong("any", "--corrections", "link.tsv")
    assert "has no column" in portolan.wrong("any", "--data", "flips.tsv", "--id-field", "guid", status=1)
    assert "--text" in portolan.wrong(*words, "--text", "nothing", status=1)
    assert "--text names 'text' twice" in portolan.wrong(*words, "--text", "text,rank,text")
    with open("wide.csv", "w", encoding="utf-8") as file:
        file.write("id," + ",".join(f"f{i}" for i in range(17)) + "\n")
    assert "which are to be shown? --text" in portolan.wrong("any", "--data", "wide.csv", "--id-field", "id", status=1)


def main():
    program, make_store = map(os.path.abspath, sys.argv[1:3])
    portolan, rng = Portolan(program), np.random.default_rng(9)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["PORTOLAN_STORE"] = "store"
        runs, kept = [], []
        for name, digits, truth, gold, record in planted():
            x = digits
            runs += [stores.run(name, batches(record, gold), labels=NAMES), stores.run(f"{name}-probs", batches(record, gold, ["margin"]))]
            kept.append((name, truth, gold, record))
        _, truth, old, _ = kept[1]
        flipped, _ = flip(rng, truth, old)
        record = columns(train(x, flipped, 2), flipped)
        runs += [stores.run(f"flipped{end}", batches(record, flipped), labels=labels)
                 for end, labels in (("", ()), ("-named", NAMES), ("-shifted", [str(c + 1) for c in range(CLASSES)]))]
        some = list(random_runs(rng))
        runs += [stores.run(name, batches(one, gold, seen=seen), declared=len(gold)) for name, one, gold, seen in some]
        everything = ["margin", "max_prob", "other_sq", "predicted"]
        runs += [stores.run("p", batches(kept[0][3], kept[0][2], everything)), stores.run("unlabelled", batches(kept[0][3], np.full(len(x), -1), everything)), agreeing(), agreeing("dropping", ["keep", "drop", "ask"]), one_class(rng), hidden(rng), elsewhere(rng)]
        stores.make_store(make_store, "store", runs)
        check_planted(portolan, kept)
        check_random(portolan, some)
        check_agreeing(portolan)
        check_elsewhere(portolan)
        check_calibrated(portolan, truth, old, flipped, record)
        check_named_flips(portolan)
        check_one_class(portolan)
        check_hidden(portolan)
        check_sizes_and_formats(portolan)
        check_texts_and_corrections(portolan, old)
    print("suspects: as NumPy has them")


if __name__ == "__main__":
    main()
