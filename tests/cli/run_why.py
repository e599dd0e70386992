"""portolan select --why, --without-suspects and --corrections: shares recomputed from the ids, lines compared byte for byte, and files of
corrections that are wrong.

    run_why.py PORTOLAN MAKE_STORE
"""

import csv
import io
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stores
from run_select import xxh128

NAMES = ["cat", 'do"g, the', "emu"]
N, EPOCHS = 900, 12
DROPPED, LABELS = 7, {}  # LABELS: of the data files, by class


def learned(name, seed, names=(), strings=False, signals=True, labelled=True):
    """A run whose labels are wrong for the first 60 examples, and which learns what the labels should be."""
    random = np.random.default_rng(seed)
    true = np.random.default_rng(0).integers(0, 3, N)
    gold = np.where(np.arange(N) < 60, (true + 1) % 3, true)
    ids = [f"id{i:04d}" for i in range(N)] if strings else np.arange(N)
    batches = []
    for epoch in range(EPOCHS):
        logits = random.normal(size=(N, 3)) * 1.2
        logits[np.arange(N), true] += 0.5 * epoch * np.linspace(0.1, 1, N)[np.random.default_rng(1).permutation(N)]
        p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        own = p[np.arange(N), gold]
        other = np.where(np.arange(3) == gold[:, None], -np.inf, logits)
        columns = {"margin": logits[np.arange(N), gold] - other.max(1), "other_sq": (p**2).sum(1) - own**2,
                   "max_prob": p.max(1), "predicted": p.argmax(1)} if signals else {}
        batches.append(stores.batch(epoch, ids, own, p.argmax(1) == gold, gold if labelled else None, **columns))
    return stores.run(name, batches, labels=names), true, gold


class Checker:
    def __init__(self, portolan):
        self.portolan, self.checks = portolan, 0

    def run(self, *words, status=0):
        done = subprocess.run([self.portolan, *words], capture_output=True, text=True)
        assert done.returncode == status, (words, done.returncode, done.stderr)
        self.checks += 1
        return done

    def ids(self, *words):
        return self.run("select", *words).stdout.split()

    def refused(self, *words, saying, status=1):
        done = self.run("select", *words, status=status)
        assert saying in done.stderr and done.stdout == "", (words, done.stderr)
        assert len(done.stderr.splitlines()) == 1 or status == 1, done.stderr


def regions(table):
    v, c = table["variability"], table["confidence"]
    cut = np.sort(v)[::-1][len(v) // 3 - 1]
    return np.where(v >= cut, "ambiguous", np.where(c >= 0.5, "easy-to-learn", "hard-to-learn"))


def shares(checker, run, suspects, rows, words, content=None, labels=None):
    """The rows that --why must have for one selection of these ids."""
    checker.run("metrics", run, *words, "-o", "m.npy")
    table = np.load("m.npy")
    ids = [i.decode() if isinstance(i, bytes) else str(i) for i in table["id"].tolist()]
    place = {i: p for p, i in enumerate(ids)}
    chosen = [place[i] for i in rows]
    gold = table["gold"] if labels is None else labels
    marks = [("examples", None, np.ones(len(ids), bool))]
    if suspects is not None:
        marks.append(("suspects", None, np.isin(ids, list(suspects))))
    if content:
        marks.append(("duplicates", None, None))
    marks += [("region", name, regions(table) == name) for name in ("easy-to-learn", "ambiguous", "hard-to-learn")]
    marks += [("class", (LABELS.get(run) or [str(g) for g in range(3)])[g], gold == g) for g in np.unique(gold)]
    expected = []
    for of, name, mark in marks:
        if mark is None:
            texts = [content[i] for i in range(len(ids)) if content[i] is not None]
            own = [content[p] for p in chosen if content[p] is not None]
            counts = [len(texts) - len(set(texts)), len(texts), len(own) - len(set(own)), len(own)]
        else:
            counts = [int(mark.sum()), len(ids), int(mark[chosen].sum()), len(ids) if of == "examples" else len(chosen)]
        expected.append(dict(of=of, name=name, observed=counts[0], observed_of=counts[1], observed_share=counts[0] / counts[1],
                             chosen=counts[2], chosen_of=counts[3], chosen_share=counts[2] / counts[3] if counts[3] else None))
    return expected


def is_many(rows):
    suspects = next(r for r in rows if r["of"] == "suspects")
    expected = suspects["observed_share"] * suspects["chosen_of"]
    return suspects["chosen"] >= 0.01 * suspects["chosen_of"] > 0 and suspects["chosen"] >= 2 * expected and suspects["chosen"] >= expected + 5


def why(checker, run, suspects):
    """--why as JSON, as text and in manifests; for one size and several, for pools, and with the user's file."""
    content = [f"text {i % 850}" for i in range(N - 20)] + [None] * 20  # the last twenty have no line
    with open("d.jsonl", "w") as file:
        for i, text in enumerate(content):
            if text is not None:
                file.write(json.dumps({"text": text, "id": f"id{i:04d}" if run == "strings" else i, "more": i % 2}) + "\n")
    with open("most.txt", "w") as file:
        file.write("\n".join(f"id{i:04d}" if run == "strings" else str(i) for i in range(N - 20)))
    pairs = [None if t is None else (t, i % 2) for i, t in enumerate(content)]
    for words, file in ((["--by", "hard-to-learn", "--fraction", "0.2"], None), (["--by", "random", "--count", "300"], None),
                        (["--by", "easy-to-learn", "--fraction", "0.5", "--epochs", "3:"], None), (["--by", "ambiguous", "--threshold", "9"], None),
                        (["--by", "all", "--data", "d.jsonl", "--id-field", "id"], pairs),
                        (["--by", "easy-to-learn", "--count", "400", "--only", "most.txt", "--data", "d.jsonl", "--id-field", "id", "--text", "text"], content)):
        epochs = words[words.index("--epochs"):][:2] if "--epochs" in words else []
        plain = words[:words.index("--data")] if file else words
        rows = checker.ids(run, *plain)
        expected = shares(checker, run, suspects(*epochs), rows, epochs, file)
        missing = 3 if file and len(rows) > 880 else 0
        done = checker.run("select", run, *words, "--why", "--json", "-o", "out.jsonl" if file else "out.txt", status=missing)
        said = json.loads(done.stdout)
        assert said["run"] == run and [s["file"] for s in said["selections"]] == ["out.jsonl" if file else "out.txt"]
        assert said["selections"][0]["why"] == expected, (words, said["selections"][0]["why"], expected)
        with open("out.jsonl.manifest.json" if file else "out.txt.manifest.json") as manifest:
            assert json.load(manifest)["why"] == expected
        assert ("are suspected of a wrong label" in done.stderr) == is_many(expected), done.stderr
        text = checker.run("select", run, *words, "--why", "-o", "out.jsonl" if file else "out.txt", status=missing).stderr
        for row in expected:
            line = next(line for line in text.splitlines() if line.startswith(f"  {row['name'] if row['of'] == 'region' else row['of']}")
                        and (row["of"] != "class" or f"class {row['name']} " in line))
            assert [float(x) for x in line.split()[-2:] if x != "-"] == [round(row[k], 3) for k in ("observed_share", "chosen_share")
                                                                         if row[k] is not None], (line, row)
    done = checker.run("select", run, "--by", "hard-to-learn", "--fractions", "0.05,0.5", "--why", "--json", "-o", "f.txt")
    for size, said in zip(("0.05", "0.5"), json.loads(done.stdout)["selections"]):
        with open(f"f-{size}.txt") as ids, open(f"f-{size}.txt.manifest.json") as manifest:
            assert said["file"] == f"f-{size}.txt"
            assert said["why"] == json.load(manifest)["why"] == shares(checker, run, suspects(), ids.read().split(), [])
    heading = [line for line in checker.run("select", run, "--by", "hard-to-learn", "--fractions", "0.05,0.5", "--why", "-o",
                                            "f.txt").stderr.splitlines() if "share_of" in line]
    assert [line.split() for line in heading] == [["share_of", "run", "0.05", "0.5"]]


def pools(checker, suspects):
    """Beside a pool, with several runs, and without suspects, the shares are still of the whole run."""
    called = suspects()
    half = [str(i) for i in range(0, N, 2)]
    with open("half.txt", "w") as file:
        file.write("\n".join(half))
    with open("within.json", "w") as file:
        json.dump({"x": "variability", "y": "confidence", "polygon": [[0, 0], [1, 0], [1, 0.5], [0, 0.5]], "filters": {"gold": {"in": [1]}}}, file)
    for words in (["--by", "hard-to-learn", "--only", "half.txt", "--count", "50"], ["--within", "within.json"],
                  ["--by", "hard-to-learn", "--count", "60", "--without-suspects"], ["--without-suspects"]):
        rows = checker.ids("named", *words)
        assert "--without-suspects" not in words or not called & set(rows)
        done = checker.run("select", "named", *words, "--why", "--json", "-o", "p.txt")
        assert json.loads(done.stdout)["selections"][0]["why"] == shares(checker, "named", called, rows, [])
        if "--without-suspects" in words:
            assert f"{len(called)} of {N} examples left out as suspects" in done.stderr and done.stderr.count("ranked by") == 1, done.stderr
            with open("p.txt.manifest.json") as manifest:
                made = json.load(manifest)
            assert made["suspects"]["left_out"] == made["suspects"]["called"] == len(called) and made["parameters"]["without_suspects"] is True
            assert made["eligible"] == N - len(called)
    # what is left is ranked as before, and the size is a share of it
    everybody, left = checker.ids("named", "--by", "ambiguous"), checker.ids("named", "--by", "ambiguous", "--without-suspects")
    assert left == [i for i in everybody if i not in called]
    assert checker.ids("named", "--by", "ambiguous", "--fraction", "0.5", "--without-suspects") == left[: (len(left) + 1) // 2]
    # the manifest says what is weak about the list as suspects --json does
    checker.run("select", "named", "--without-suspects", "--epochs", ":3", "-o", "w.txt")
    with open("w.txt.manifest.json") as manifest:
        weak = json.load(manifest)["suspects"]["weak"]
    assert weak == json.loads(checker.run("suspects", "named", "--epochs", ":3", "--json").stdout)["weak"] != [], weak
    # of several runs the first is judged
    for runs in (["named", "--with", "numbers"], ["numbers", "--with", "named"]):
        left = checker.ids(*runs, "--without-suspects")
        assert set(left) == {str(i) for i in range(N)} - suspects(run=runs[0])


def unjudged(checker):
    """Runs that show no suspects: --why says why, --without-suspects leaves nobody out in silence."""
    for run, reason in (("bare", "no gold labels"), ("plain", "holds only p of the label")):
        done = checker.run("select", run, "--by", "random", "--count", "9", "--why", "--json", "-o", "b.txt")
        assert "suspects" not in {row["of"] for row in json.loads(done.stdout)["selections"][0]["why"]} and reason in done.stderr
        checker.refused(run, "--by", "random", "--without-suspects", saying=reason)
    with open("bare.tsv", "w") as file:
        file.write("id\told\tnew\n5\t\tdrop\n6\t\t\n")  # examples without a label can be dropped, or looked at
    done = checker.run("select", "bare", "--corrections", "bare.tsv")
    assert done.stdout.split() == [str(i) for i in range(N) if i != 5] and "0 labels changed, 1 example dropped" in done.stderr


def data_files(labels, strings=False):
    """The same records in three formats, with the texts of labels by class, shuffled; ends of lines and quotes as they come."""
    order = np.random.default_rng(5).permutation(N)
    csv_text, tsv, jsonl = ["\ufeffid,text,label,more"], ["text\tlabel\tid"], []
    for i in order:
        text, one = f"a, \"b\" {i}", labels(i)
        row = io.StringIO()
        csv.writer(row, lineterminator="").writerow([i, text, one, "x"])
        csv_text.append(row.getvalue())
        tsv.append(f"{text}\t{one}\t{i}")
        jsonl.append(json.dumps({"id": int(i), "deep": {"label": "no"}, "label": one, "text": text}) if i % 2 else
                     f'{{ "label" : {json.dumps(one)} ,"id":{i}, "text":"\\u00e4" }}')
    contents = {"d.csv": "\r\n".join(csv_text), "d.tsv": "\n".join(tsv) + "\n", "d.jsonl": "\n".join(jsonl) + "\n"}
    for name, content in contents.items():
        with open(name, "w", newline="", encoding="utf-8") as file:
            file.write(content)
    return order, contents


def write_fixes(name, run, gold, changes, more="", end="\n"):
    """A file of corrections: `changes` maps ids to a class, "drop", or "" (looked at, and right)."""
    text = LABELS.get(run) or [str(g) for g in range(3)]
    with open(name, "w", newline="") as file:
        file.write(f"id\told\tnew{more}{end}")
        for i, new in changes.items():
            file.write(f"{i}\t{text[gold[i]]}\t{text[new] if isinstance(new, (int, np.integer)) else new}{more and chr(9) + 'x'}{end}")


def lines_of(name, content):
    """The header, and the other lines with their ends; the last has one, too."""
    ends = "\r\n" if name == "d.csv" else "\n"
    lines = [line + ends for line in content.removesuffix(ends).split(ends)]
    if name == "d.csv":
        lines[-1] = lines[-1].removesuffix("\r\n") + "\n"  # the file's last line has no end
    return ([], lines) if name.endswith("jsonl") else (lines[:1], lines[1:])


def corrections(checker, run, true, gold, written):
    """From a file of corrections to the lines for the next training."""
    text = LABELS.get(run) or [str(g) for g in range(3)]
    changes = {i: "drop" if i % 9 == 0 else "" if i % 9 == 1 else text[gold[i]] if i % 9 == 2 else int(true[i]) for i in range(60)}
    changes = {i: int(gold[i]) if c == text[gold[i]] else c for i, c in changes.items()}
    dropped = {i for i, c in changes.items() if c == "drop"}
    now = {i: c for i, c in changes.items() if not isinstance(c, str) and c != gold[i]}
    write_fixes("fixed.tsv", run, gold, changes, more="\tscore", end="\r\n")
    order, contents = data_files(lambda i: written[gold[i]])
    _, corrected = data_files(lambda i: written[now.get(int(i), gold[i])])
    for name, content in contents.items():
        with open(name, "w", newline="", encoding="utf-8") as file:
            file.write(content)
    label = "label"
    for name in contents:
        out = f"o{name[1:]}"
        done = checker.run("select", run, "--corrections", "fixed.tsv", "--data", name, "--id-field", "id", "--label-field", label, "-o", out)
        head, lines = lines_of(name, corrected[name])
        wanted = "".join(head + [line for i, line in zip(order, lines) if i not in dropped])
        with open(out, newline="", encoding="utf-8") as file:
            got = file.read()
        assert got == wanted, (run, name, [(a, b) for a, b in zip(got.splitlines(), wanted.splitlines()) if a != b][:3])
        assert f"fixed.tsv: {len(now)} labels changed, {len(dropped)} examples dropped" in done.stderr, done.stderr
        with open(f"{out}.manifest.json") as manifest, open("fixed.tsv", "rb") as fixed:
            made, content = json.load(manifest), fixed.read()
        assert made["corrections"] == {"file": "fixed.tsv", "bytes": len(content), "xxh128": xxh128(content), "changed": len(now),
                                       "dropped": len(dropped), "right": 60 - len(now) - len(dropped), "unknown": 0}
        labels = np.array([now.get(i, gold[i]) for i in range(N)])
        kept = np.array([i not in dropped for i in range(N)])
        assert [(c["observed"], c["chosen"]) for c in made["classes"]] == [((labels == g).sum(), (labels[kept] == g).sum()) for g in range(3)]
        # the new file is right already: correcting it again changes nothing, and says so by its lines
        checker.run("select", run, "--corrections", "fixed.tsv", "--data", out, "--id-field", "id", "--label-field", label, "-o", f"again{name[1:]}")
        with open(f"again{name[1:]}", newline="", encoding="utf-8") as file:
            assert file.read() == wanted
        # some of the lines, in rank order, with measures
        some = checker.ids(run, "--by", "confidence:asc", "--count", "30", "--corrections", "fixed.tsv")
        assert some == [i for i in checker.ids(run, "--by", "confidence:asc") if int(i) not in dropped][:30]
        got = checker.run("select", run, "--by", "confidence:asc", "--count", "30", "--corrections", "fixed.tsv", "--data", name, "--id-field",
                          "id", "--label-field", label).stdout
        by_id = dict(zip(order.tolist(), (line.rstrip("\r\n") for line in lines)))
        assert [line.rstrip("\r") for line in got.splitlines()[len(head):]] == [by_id[int(i)] for i in some], name
        wide = checker.run("select", run, "--by", "confidence:asc", "--count", "30", "--corrections", "fixed.tsv", "--data", name, "--id-field",
                           "id", "--label-field", label, "--with-measures").stdout.splitlines()[len(head):]
        assert all(a.startswith(by_id[int(i)].rstrip(" }")) for a, i in zip(wide, some))
    numbers = checker.run("select", run, "--by", "all", "--corrections", "fixed.tsv", "--data", "d.csv", "--id-field", "id", "-o", "n.npy")
    assert numbers.returncode == 0 and np.load("n.npy").tolist() == [k for k, i in enumerate(order) if i not in dropped]
    # tables and classes have the corrected labels, measures those of the recorded one
    checker.run("select", run, "--by", "confidence:asc", "--corrections", "fixed.tsv", "--with-measures", "-o", "t.npy")
    checker.run("metrics", run, "-o", "m.npy")
    table, plain = np.load("t.npy"), np.load("m.npy")
    assert set(table["id"].tolist()) == set(np.flatnonzero(kept).tolist())
    assert (table["gold"] == labels[table["id"].astype(int)]).all() and (table["confidence"] == plain["confidence"][table["id"].astype(int)]).all()
    if LABELS.get(run):
        assert [LABELS[run][g] for g in table["gold"]] == [x.decode() if isinstance(x, bytes) else str(x) for x in table["label"].tolist()]
    one = checker.ids(run, "--by", "confidence:asc", "--per-class", "--count", "1", "--corrections", "fixed.tsv")
    assert sorted(labels[int(i)] for i in one) == [0, 1, 2]


def judged_once(checker, gold, true, suspects):
    """Who stands in the file of corrections is no suspect any more."""
    called = suspects()
    some = sorted(int(i) for i in called)[:10]
    write_fixes("looked.tsv", "named", gold, {i: "" if i % 2 else int(true[i]) if true[i] != gold[i] else "" for i in some})
    left = checker.ids("named", "--by", "all", "--without-suspects", "--corrections", "looked.tsv")
    assert set(left) == {str(i) for i in range(N)} - (called - {str(i) for i in some})


def round_trip(checker, gold, true):
    """From suspects over a person's edits to the lines for the next training."""
    data_files(lambda i: NAMES[gold[i]])
    checker.run("suspects", "named", "--data", "d.jsonl", "--id-field", "id", "--corrections", "round.tsv")
    with open("round.tsv", encoding="utf-8") as file:
        head, *lines = [line.rstrip("\n").split("\t") for line in file]
    assert head[:3] == ["id", "old", "new"] and len(lines) > 20
    edited = {int(line[0]): "drop" if k % 5 == 0 else NAMES[true[int(line[0])]] for k, line in enumerate(lines) if k % 7}
    with open("round.tsv", "w", encoding="utf-8") as file:
        file.writelines("\t".join(line) + "\n" for line in [head, *([*line[:2], edited[int(line[0])], *line[3:]] for line in lines if int(line[0]) in edited)])
    out = checker.run("select", "named", "--corrections", "round.tsv", "--data", "d.jsonl", "--id-field", "id", "--label-field", "label").stdout
    got = {row["id"]: row["label"] for row in map(json.loads, out.splitlines())}
    assert got == {i: edited.get(i, NAMES[gold[i]]) for i in range(N) if edited.get(i) != "drop"}
    assert sum(label == NAMES[true[i]] for i, label in got.items()) > N - 60 + 10


def numbers_for_names(checker, true, gold):
    """A file of class numbers, as noise plan writes it, of runs with names; no label is read as another one's."""
    def chosen(run, text):
        with open("form.tsv", "w") as file:
            file.write("id\told\tnew\n" + text)
        checker.run("select", run, "--corrections", "form.tsv", "--with-measures", "-o", "form.csv")
        with open("form.csv") as file:
            return {int(row["id"]): int(row["gold"]) for row in csv.DictReader(file)}

    wanted = {i: int(true[i] if i < 60 else gold[i]) for i in range(N)}
    for run, names in (("named", NAMES), ("shifted", ["1", "2", "3"]), ("turned", ["0", "2", "1"])):
        for text in (names, ["0", "1", "2"]):
            assert chosen(run, "".join(f"{i}\t{text[gold[i]]}\t{text[true[i]]}\n" for i in range(60))) == wanted, (run, text)
    zero, one = (next(i for i in range(N) if gold[i] == c) for c in (0, 1))
    assert chosen("named", f"{zero}\t0\temu\n")[zero] == 2
    words = ["turned", "--corrections", "form.tsv"]
    assert chosen("turned", f"{zero}\t0\t1\n{one}\t2\t\n")[zero] == 2 and chosen("turned", f"{zero}\t0\t1\n{one}\t1\t\n")[zero] == 1
    with open("form.tsv", "w") as file:
        file.write(f"id\told\tnew\n{zero}\t0\t1\n")
    checker.refused(*words, saying="form.tsv: line 2: field new: '1' is the name of one class of run 'turned' and the number of another")
    with open("form.tsv", "w") as file:
        file.write(f"id\told\tnew\n{zero}\t0\t1\n{one}\t1\t0\n{zero + 1000}\t0\t1\n{max(zero, one) + 1}\t7\t0\n")
    checker.refused(*words, saying="form.tsv: line 5: field old: '7' is not the label")


def alone(checker, true, gold):
    """Lines that no other line vouches for: rewritten only if they have the label as the run has it."""
    class_of = next(i for i in range(N) if gold[i] != gold[3])
    for run, names in (("named", NAMES), ("numbers", ["0", "1", "2"])):
        write_fixes("alone.tsv", run, gold, {3: int(gold[class_of])})
        for text in (names[gold[3]], str(gold[3]), "garbage!", names[3 - gold[3] - gold[class_of]]):
            with open("alone.jsonl", "w") as file:
                file.write(json.dumps({"id": 3, "label": text}) + "\n" + json.dumps({"id": int(class_of), "label": names[gold[class_of]]}) + "\n")
            with open("alone.csv", "w", newline="") as file:
                csv.writer(file).writerows([["id", "label"], [3, text], [class_of, names[gold[class_of]]]])
            for name in ("alone.jsonl", "alone.csv"):
                words = [run, "--corrections", "alone.tsv", "--data", name, "--id-field", "id", "--label-field", "label"]
                if text in (names[gold[3]], str(gold[3])):
                    out = checker.run("select", *words, status=3).stdout  # of the other examples there are no lines
                    rows = csv.DictReader(io.StringIO(out)) if name == "alone.csv" else map(json.loads, out.splitlines())
                    assert [row["label"] for row in rows] == [names[gold[class_of]]] * 2, (run, name, text)
                else:
                    checker.refused(*words, saying=f"{name}: line {1 + (name == 'alone.csv')}: field label is ")
                    checker.refused(*words, saying="correct the line by hand")


def hostile(checker, true, gold):
    """Wrong files, and wrong options: refused, with the file, the line and what to do."""
    def fixed(text):
        with open("bad.tsv", "w", newline="") as file:
            file.write(text)
        return ["named", "--corrections", "bad.tsv"]

    old, new = NAMES[gold[3]], NAMES[true[3]]
    checker.refused(*fixed(f"id\told\tnew\n3\t{old}\t{new}\n3\t{old}\tdrop\n"), saying="bad.tsv: line 3: field id: '3' stands in line 2 already")
    checker.refused(*fixed(f"id\told\tnew\n3\t{new}\t{old}\n"), saying=f"bad.tsv: line 2: field old: '{new}' is not the label that '3' has")
    checker.refused(*fixed(f"id\told\tnew\n3\t{old}\temmu\n"), saying="bad.tsv: line 2: field new: 'emmu' is no class of run 'named' (did you mean 'emu'?)")
    checker.refused(*fixed(f"id\told\n3\t{old}\n"), saying="'new'")
    checker.refused(*fixed(""), saying="bad.tsv")
    checker.refused(*fixed(f"id\told\tnew\n{10**9}\t{old}\t{new}\n"), saying="none of its 1 ids belongs to an example of run 'named'")
    checker.refused("named", "--corrections", "nowhere.tsv", saying="nowhere.tsv")
    done = checker.run("select", *fixed(f"id\told\tnew\n{10**9}\t{old}\t{new}\n3\t{old}\tdrop\n"))
    assert "bad.tsv: 1 id belongs to no example of run 'named'; the first is '1000000000'" in done.stderr and "3" not in done.stdout.split()
    write_fixes("fixed.tsv", "named", gold, {3: int(true[3])})
    data_files(lambda i: NAMES[gold[i]])
    line = ["named", "--corrections", "fixed.tsv"]
    with_data = [*line, "--data", "d.csv", "--id-field", "id"]
    for name in ("fixed.tsv", "./fixed.tsv"):
        checker.refused(*line, "-o", name, saying="are the same file", status=2)
    os.symlink("fixed.tsv", "link.tsv")
    checker.refused(*line, "-o", "link.tsv", saying="are the same file", status=2)
    checker.refused(*with_data, saying="--label-field FIELD", status=2)
    checker.refused(*line, "--label-field", "label", saying="--label-field is a field of --data FILE", status=2)
    checker.refused("named", "--by", "random", "--label-field", "label", saying="--corrections", status=2)
    checker.refused(*with_data, "--label-field", "text", saying="both examples were recorded with one label")
    checker.refused(*with_data, "--label-field", "lable", saying="did you mean --label-field label?")
    # a line whose label is neither the old nor the new one, and a class that no line shows
    third = next(n for n in NAMES if n not in (old, new))
    data_files(lambda i: third if i == 3 else NAMES[gold[i]])
    for name in ("d.csv", "d.tsv", "d.jsonl"):
        checker.refused(*line, "--data", name, "--id-field", "id", "--label-field", "label", saying="neither the old nor the new label")
    with open("few.tsv", "w") as file:
        file.write(f"id\tlabel\n3\t{old}\n" + "".join(f"{i}\t{old}\n" for i in range(60, N) if gold[i] == gold[3]))
    checker.refused(*line, "--data", "few.tsv", "--id-field", "id", "--label-field", "label", saying="correct the line by hand")
    with open("lacking.jsonl", "w") as file:
        file.writelines(json.dumps({"id": i, **({} if i == 70 else {"label": NAMES[gold[i]]})}) + "\n" for i in range(N))
    checker.refused(*line, "--data", "lacking.jsonl", "--id-field", "id", "--label-field", "label", saying="lacking.jsonl: line 71 has no field 'label'")
    # one label in two spellings is one label; a line with two labels is refused
    files = {"m.jsonl": "".join(f'{{"id":{i},"label":{json.dumps(NAMES[g]).replace("e", chr(92) + "u0065" if i % 2 else "e")}}}\n' for i, g in enumerate(gold)),
             "m.csv": "id,label\n" + "".join(f'{i},"{NAMES[g].replace(chr(34), 2 * chr(34))}"\n' if i % 2 or "," in NAMES[g] else f"{i},{NAMES[g]}\n" for i, g in enumerate(gold))}
    for name, content in files.items():
        with open(name, "w") as file:
            file.write(content)
        out = checker.run("select", *line, "--data", name, "--id-field", "id", "--label-field", "label").stdout
        rows = csv.DictReader(io.StringIO(out)) if name == "m.csv" else map(json.loads, out.splitlines())
        assert [row["label"] for row in rows] == [NAMES[true[i] if i == 3 else g] for i, g in enumerate(gold)], name
    with open("twice.jsonl", "w") as file:
        file.writelines(f'{{"id":{i},"label":{json.dumps(NAMES[g])},"label":{json.dumps(NAMES[g])}}}\n' for i, g in enumerate(gold))
    checker.refused(*line, "--data", "twice.jsonl", "--id-field", "id", "--label-field", "label", saying="twice.jsonl: line 1 has the field 'label' twice")
    # lines that the run does not know are left out, and counted
    with open("more.csv", "w") as file:
        file.write("id,label\n" + "".join(f"{i},{i % 7 if i >= N else json.dumps(NAMES[gold[i]]) if gold[i] != 1 else 'x'}\n" for i in range(N + 9)))
    done = checker.run("select", *line, "--data", "more.csv", "--id-field", "id", "--label-field", "label", "-o", "o.csv")
    assert "more.csv: 9 lines are of no example of run 'named', left out" in done.stderr
    for words, saying in ((["--json"], "--why"), (["--why", "--json"], "-o subset.txt"), (["--text", "text"], "--data"),
                          (["--data", "d.csv", "--id-field", "id", "--text", "text"], "--text is for --why"),
                          (["--why", "--data", "-", "--id-field", "id"], "standard input")):
        checker.refused("named", "--by", "random", *words, saying=saying, status=2)


def hints(checker):
    """The hint about small shares: where it helps, and nowhere else."""
    def has(*words):
        return "hint: " in checker.run("select", "named", *words, "--no-manifest", "-o", "h.txt").stderr

    with open("odd.txt", "w") as file:
        file.write("\n".join(map(str, range(N - 2))))  # three tenths of 898 are 269, which is a little less
    for rule in ("ambiguous", "hard-to-learn", "forgettable", "aum:asc", "el2n:desc", "region:ambiguous", "group:hard", "dual:desc", "easy-to-learn",
                 "aum:desc", "region:easy-to-learn"):
        assert has("--by", rule, "--fraction", "0.1"), rule
    assert has("--by", "ambiguous", "--count", "200") and has("--by", "ambiguous", "--fraction", "0.1", "--stratified")
    for words in (["--fraction", "0.3"], ["--fraction", "0.3", "--only", "odd.txt"], ["--count", "60"], ["--fraction", "0.1", "--mix", "easy-to-learn=0.1"], ["--fraction", "0.1", "-q"],
                  ["--fraction", "0.1", "--both-ends", "0.7"], ["--fraction", "0.1", "--offset", "0.1"], ["--threshold", "0.45"],
                  ["--fractions", "0.1,0.2"], ["--fractions", "paper"], []):
        assert not has("--by", "variability:desc", *words), words
    for rule in ("random", "dual-beta", "low-variability", "all"):
        assert not has("--by", rule, "--fraction", "0.1"), rule
    assert not has("--by", "aum:asc", "--strata", "20", "--cut", "0.1", "--fraction", "0.1")
    told = checker.run("select", "named", "--by", "ambiguous", "--fraction", "0.1").stderr
    assert "--by aum:asc --strata 50 --cut 0.3" in told and "--by random" in told


def main():
    portolan, maker = (os.path.abspath(path) for path in sys.argv[1:3])
    LABELS.update(named=NAMES)
    made = {"named": learned("named", 1, NAMES), "numbers": learned("numbers", 2), "strings": learned("strings", 3, strings=True),
            "plain": learned("plain", 4, signals=False), "bare": learned("bare", 5, labelled=False),
            "shifted": learned("shifted", 1, ["1", "2", "3"]), "turned": learned("turned", 1, ["0", "2", "1"])}
    checker = Checker(portolan)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["PORTOLAN_STORE"] = os.path.join(folder, "store")
        stores.make_store(maker, "store", [run for run, _, _ in made.values()])
        _, true, gold = made["named"]

        def suspects(*epochs, run="named"):
            called = {row["id"] for row in csv.DictReader(io.StringIO(checker.run("suspects", run, *epochs).stdout))}
            assert called == set(checker.ids(run, "--by", "all", *epochs)) - set(checker.ids(run, "--without-suspects", *epochs))
            return called

        planted = {str(i) for i in range(60)}
        for run in ("named", "numbers"):
            called = suspects(run=run)
            assert len(called & planted) > 25 and len(called - planted) < 60, (len(called & planted), len(called - planted))
        for run in ("named", "numbers", "strings"):
            why(checker, run, lambda *epochs, run=run: suspects(*epochs, run=run))
        pools(checker, suspects)
        unjudged(checker)
        corrections(checker, "named", true, gold, NAMES)
        corrections(checker, "numbers", true, gold, [0, 1, 2])
        corrections(checker, "numbers", true, gold, ["null", 'z "', "ä,"])  # the file knows names, and the run does not
        judged_once(checker, gold, true, suspects)
        round_trip(checker, gold, true)
        numbers_for_names(checker, true, gold)
        alone(checker, true, gold)
        hostile(checker, true, gold)
        hints(checker)
        os.chdir("/")
    print(f"{checker.checks} commands: shares, lines and refusals as expected")
    return 0


if __name__ == "__main__":
    sys.exit(main())
