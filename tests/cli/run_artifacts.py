"""portolan artifacts and portolan upsample beside NumPy and collections: a corpus counted by hand, random ones, a planted one; and bad input.

    run_artifacts.py PORTOLAN MAKE_STORE
"""

import csv
import io
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter

import numpy as np
from scipy.special import betainc

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), *path) for path in ((), ("..", "bench"))]
import stores  # noqa: E402
from planted import write_planted  # noqa: E402

PORTOLAN = ""
STOP = {"the", "a", "of"}


def portolan(*words, status=0, input=None):
    done = subprocess.run([PORTOLAN, *map(str, words)], capture_output=True, input=input)
    assert done.returncode == status, done
    return done


def table(text):
    return list(csv.DictReader(io.StringIO(text.decode()), delimiter="\t", quoting=csv.QUOTE_NONE))


def write(path, content):
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def check_by_hand():
    """The word no: 3 of 4 records are of con, 1 of pro: p* = 3/4, z* = (3/4 − 1/2) / √(1/4 / 4) = 1. cat: 1 of 2, z* = 0.
    By the labels' shares, 3/4 and 1/4, no says nothing, and cat points to pro: z* = (1/2 − 1/4) / √(3/16 / 2) = 0.816."""
    write("hand.csv", 'id,text,more,label\n1,No! The cat,,con\n2,"no, no, ""NO""",dog,con\n3,"say\nno",,con\n4,Cat?,no,pro\n')
    words = ["artifacts", "hand.csv", "--text", "text,more", "--label", "label", "--min-count", 1]
    got = {row["token"]: row for row in table(portolan(*words).stdout)}
    assert got["no"] == {"token": "no", "n": "4", "label": "con", "p_star": "0.75", "z_star": "0", "con": "3", "pro": "1", "prior_share": "0.75",
                         "p_bonferroni": "1"} and (got["cat"]["label"], got["cat"]["z_star"][:6], got["cat"]["prior_share"]) == ("pro", "0.8164", "0.25"), got
    rows = table(portolan(*words, "--prior", "uniform").stdout)
    got = {row["token"]: row for row in rows}
    assert [row["token"] for row in rows] == ["no", "dog", "say", "cat"], rows
    assert got["no"] == {"token": "no", "n": "4", "label": "con", "p_star": "0.75", "z_star": "1", "con": "3", "pro": "1", "prior_uniform": "0.5",
                         "p_bonferroni": "1"}, got
    assert got["dog"] == {"token": "dog", "n": "1", "label": "con", "p_star": "1", "z_star": "1", "con": "1", "pro": "0", "prior_uniform": "0.5",
                          "p_bonferroni": "1"}, got
    assert (got["cat"]["p_star"], got["cat"]["z_star"]) == ("0.5", "0"), got
    rows = table(portolan("artifacts", "hand.csv", "--text", "text", "--label", "label", "--min-count", 1, "--per-field", "--ngrams", 2,
                          "--stop-words", "none", "--min-length", 3).stdout)
    assert {row["token"] for row in rows} == {"text:the", "text:cat", "text:the cat", "text:say"}, rows
    write("some.txt", "Cat\nthe\n\nnot there\n")
    rows = table(portolan("artifacts", "hand.csv", "--text", "text", "--label", "label", "--min-count", 1, "--tokens", "some.txt").stdout)
    assert [(row["token"], row["n"]) for row in rows] == [("cat", "2"), ("the", "1")], rows
    words = ["artifacts", "hand.csv", "--text", "text", "--label", "label", "--tokens", "some.txt"]
    assert table(portolan(*words).stdout) == rows, "tokens that are asked for need not be frequent"
    assert [row["token"] for row in table(portolan(*words, "--min-count", 2).stdout)] == ["cat"], "unless that is asked for as well"
    assert b"--max-count 1 is below --min-count 2" in portolan(*words, "--min-count", 2, "--max-count", 1, status=2).stderr
    assert [row["token"] for row in table(portolan(*words, "--max-count", 1).stdout)] == ["the"]


def random_corpus(rng, form):
    """Texts with punctuation, case, other scripts and escapes; labels that are numbers, so that 10 comes after 2."""
    words = ["cat", "Dog", "the", "naïve", "Über", "don't", "3.5", "x", "中文", "say \"so\"", "of", "tab\\slash", "snow_man", "ДОМ", "a"]
    records = [(" ".join(rng.choice(words, rng.integers(0, 12))) + rng.choice([".", "", " !", ", ok"]), rng.choice(["", "Cat dog", "x—y"]),
                str(rng.choice([1, 2, 10], p=[0.5, 0.3, 0.2]))) for _ in range(700)]
    path = f"random.{form}"
    with open(path, "w", encoding="utf-8", newline="") as file:
        if form == "jsonl":
            for one, two, label in records:
                row = {"other": [{"one": 1}], "one": one, "label": int(label), "two": two}
                file.write(json.dumps(row, ensure_ascii=bool(rng.integers(2))) + rng.choice(["\n", "\r\n", "\n\n"]))
        else:
            writer = csv.writer(file, delimiter="," if form == "csv" else "\t", quoting=csv.QUOTE_MINIMAL if form == "csv" else csv.QUOTE_NONE,
                                quotechar='"' if form == "csv" else None, lineterminator="\r\n")
            writer.writerow(["label", "one", "two"])
            writer.writerows((label, one, two) for one, two, label in records)
    return path, records


def plain_tokens(*texts):
    """The same words, for these texts: numbers and apostrophes within words stay, characters of Chinese stand alone."""
    words = (word for text in texts for word in re.findall(r"3\.5|don't|[中文]|\w+", text.lower()))
    return {word for word in words if word not in STOP}


def reference(records, prior):
    labels = sorted({label for _, _, label in records}, key=int)
    sizes = Counter(label for _, _, label in records)
    counts = {}
    for one, two, label in records:
        for word in plain_tokens(one, two):
            counts.setdefault(word, Counter())[label] += 1
    rows = []
    for word, by in counts.items():
        n = np.array([by[label] for label in labels], float)
        p0 = n * 0 + 1 / len(labels) if prior == "uniform" else np.array([sizes[label] for label in labels]) / len(records)
        z = (n / n.sum() - p0) / np.sqrt(p0 * (1 - p0) / n.sum())
        lead = int(z.argmax())
        rows.append((-z.max(), -n.sum(), word.encode(), int(n.sum()), labels[lead], n[lead] / n.sum(), z.max(), n.astype(int)))
    return labels, sorted(rows, key=lambda row: row[:3])


def check_random(seed):
    rng = np.random.default_rng(seed)
    for form in ("jsonl", "csv", "tsv"):
        path, records = random_corpus(rng, form)
        write("stop.txt", "\n".join(STOP))
        for prior in ("uniform", "share"):
            labels, want = reference(records, prior)
            texts = [portolan("artifacts", path, "--text", "one,two", "--label", "label", "--min-count", 2, "--stop-words", "stop.txt", "--prior",
                              prior, "--threads", threads).stdout for threads in (1, 3)]
            assert texts[0] == texts[1]
            got = table(texts[0])
            want = [row for row in want if row[3] >= 2]
            assert list(got[0])[5:8] == labels == ["1", "2", "10"]
            assert len(got) == len(want), (len(got), len(want), {r["token"] for r in got} ^ {r[2].decode() for r in want})
            assert {row["token"] for row in got} == {row[2].decode() for row in want}
            by_token = {row["token"]: row for row in got}
            for _, _, word, n, label, p, z, counts in want:
                row = by_token[word.decode()]
                assert (int(row["n"]), row["label"]) == (n, label), (row, n, label)
                assert abs(float(row["p_star"]) - p) < 1e-9 and abs(float(row["z_star"]) - z) < 1e-9, (row, p, z)
                assert [int(row[name]) for name in labels] == list(counts), row
            ranks = [float(row["z_star"]) for row in got]
            assert ranks == sorted(ranks, reverse=True)


def guess(labels, label, held, chosen):
    """The label with the largest PPMI of any token in `chosen`, by the records' labels and tokens (truth values, records × tokens)."""
    of_label = np.array([(label == name).sum() for name in labels], "f8")
    both = np.array([held[label == name].sum(axis=0) for name in labels], "f8")
    with np.errstate(divide="ignore", invalid="ignore"):
        ppmi = np.log(both * len(label) / (both.sum(axis=0) * of_label[:, None]))
    largest = np.maximum(np.where(both > 0, ppmi, 0)[:, chosen].max(axis=1, initial=0), 0)
    return labels[np.lexsort((np.arange(len(labels)), -of_label, -largest.round(12)))[0]]


def check_max_ppmi():
    """Max-PPMI and majority beside NumPy, by all records and without the record whose label is guessed."""
    rng = np.random.default_rng(11)
    write("stop.txt", "\n".join(STOP))
    for form, least in (("jsonl", 2), ("csv", 30), ("tsv", 650)):
        path, records = random_corpus(rng, form)
        tokens = [plain_tokens(one, two) for one, two, _ in records]
        label, names = np.array([row[2] for row in records]), sorted(set().union(*tokens))
        held = np.array([[name in of for name in names] for of in tokens])
        frequent = held.sum(axis=0) >= least
        assert frequent.any() == (least < 650)
        labels = sorted(set(label), key=int)
        inside = [guess(labels, label, held, held[i] & frequent) for i in range(len(label))]
        out = [guess(labels, np.delete(label, i), np.delete(held, i, axis=0), held[i] & frequent) for i in range(len(label))]
        words = ("artifacts", path, "--text", "one,two", "--label", "label", "--min-count", least, "--stop-words", "stop.txt")
        for threads in (1, 3):
            done = portolan(*words, "--threads", threads, "--max-ppmi", "ppmi.tsv", "-o", "stats.tsv")
            with open("ppmi.tsv", "rb") as file:
                majority, ppmi = table(file.read())
            assert (majority["predictor"], ppmi["predictor"], majority["records"], ppmi["records"]) == ("majority", "max_ppmi", "700", "700")
            assert int(ppmi["right"]) == (inside == label).sum() and int(ppmi["held_out_right"]) == (out == label).sum(), (form, ppmi, (inside == label).sum(), (out == label).sum())
            assert int(majority["right"]) == int(majority["held_out_right"]) == max(Counter(label).values()), majority
            assert float(ppmi["accuracy"]) == int(ppmi["right"]) / 700 and float(ppmi["held_out_accuracy"]) == int(ppmi["held_out_right"]) / 700
            assert f"{float(ppmi['accuracy']):.3f} are right, held out {float(ppmi['held_out_accuracy']):.3f}; by majority {float(majority['accuracy']):.3f}" in done.stderr.decode()
        assert (inside != out) == (least == 2) or least == 30
        assert int(ppmi["right"]) == int(majority["right"]) or least < 650, "without tokens the majority is guessed"
    write("hand.jsonl", "".join(json.dumps({"t": text, "l": name}) + "\n" for text, name in (("cat dog", "a"), ("cat", "a"), ("dog", "b"), ("", "b"), ("cat bird", "b"), ("x", "-"))))
    done = portolan("artifacts", "hand.jsonl", "--text", "t", "--label", "l", "--min-count", 1, "--ignore-label", "-", "--max-ppmi", "ppmi.jsonl", "-o", "stats.tsv")
    with open("ppmi.jsonl", encoding="utf-8") as file:
        # of 5 records, 2 are of a: cat and dog say a (5/3 and 5/4 times as often as chance), bird says b (5/3); "cat bird" is a tie, and b is more frequent
        assert [(row["right"], row["held_out_right"], row["records"]) for row in map(json.loads, file)] == [(3, 0, 5), (4, 2, 5)], done


def repeats_of(path, out):
    """The lines that upsample added, after the originals, byte for byte."""
    with open(path, "rb") as file:
        before = file.read()
    with open(out, "rb") as file:
        after = file.read()
    assert after.startswith(before)
    return after[len(before):]


def check_planted():
    write_planted("planted.jsonl", 20_000, seed=3, words=500, rate=0.1)
    words = ["planted.jsonl", "--text", "premise,hypothesis", "--label", "label", "--min-count", 400, "--prior", "uniform"]
    rows = table(portolan("artifacts", *words, "--top", 10).stdout)
    assert {row["token"] for row in rows} == {f"plant{i}" for i in range(10)}, rows
    reports = {}
    for pick in ("conflict-free", "uniform"):
        for seed in (0, 1):
            done = portolan("upsample", *words, "-o", "out.jsonl", "--seed", seed, "--pick", pick, "--json", "--threads", 1 + seed)
            reports[pick, seed] = json.loads(done.stdout)
            if seed == 0 and pick == "conflict-free":
                check_result(words, reports[pick, seed], done)
    assert reports["conflict-free", 0]["multiplicities"] != reports["conflict-free", 1]["multiplicities"]
    assert all(reports["conflict-free", seed]["growth"] < reports["uniform", seed]["growth"] for seed in (0, 1))
    again = portolan("upsample", *words, "-o", "again.jsonl", "--threads", 2).stdout
    assert again == portolan("upsample", *words, "-o", "again2.jsonl", "--threads", 1).stdout
    with open("again.jsonl", "rb") as one, open("again2.jsonl", "rb") as two, open("first.jsonl", "rb") as three:
        assert one.read() == two.read() == three.read(), "the same seed, the same records"
    check_weights(words)
    check_capped(words)
    check_reading_twice()


def check_result(words, report, done):
    assert report["imbalance"][-1] == 0 and report["iterations"] <= 40 and not done.stderr, (report, done.stderr)
    assert len(report["imbalance"]) == report["iterations"] + 1
    assert report["growth"] == report["repeats"] / report["records"] and 0 < report["growth"] < 1
    assert sum(report["multiplicities"]) == report["records"]
    assert sum(i * many for i, many in enumerate(report["multiplicities"])) == report["repeats"]
    os.replace("out.jsonl", "first.jsonl")
    lines = repeats_of("planted.jsonl", "first.jsonl").splitlines()
    with open("planted.jsonl", "rb") as file:
        places = {line.rstrip(b"\n"): i for i, line in enumerate(file)}
    assert len(lines) == report["repeats"] and [places[line] for line in lines] == sorted(places[line] for line in lines)
    after = {row["token"]: row for row in table(portolan("artifacts", "first.jsonl", *words[1:]).stdout)}
    for token in report["tokens"]:
        row = after[token["token"]]
        assert token["not_balanced"] == [] and token["after"]["n"] == int(row["n"]), (token, row)
        assert abs(float(row["p_star"]) - 1 / 3) < 1e-12 and abs(float(row["z_star"])) < 1e-9, row
    with open("out.jsonl.manifest.json", encoding="utf-8") as file:
        manifest = json.load(file)
    assert manifest["report"]["repeats"] == report["repeats"] and manifest["request"]["seed"] == 0
    assert manifest["output"]["bytes"] == os.path.getsize("first.jsonl")


def check_reading_twice():
    """More than may be kept of the first pass: the second reads the file again, and finds the same."""
    write_planted("many.jsonl", 60_000, seed=4, words=300)
    words = ["many.jsonl", "--text", "premise,hypothesis", "--label", "label", "--ngrams", 2, "--min-length", 2, "--json"]
    reports = [portolan("upsample", *words, "-o", f"many{memory}.jsonl", "--max-memory", memory, "--threads", threads).stdout
               for memory, threads in (("1G", 1), ("16M", 1), ("16M", 3))]
    assert reports[0] == reports[1] == reports[2]
    with open("many1G.jsonl", "rb") as one, open("many16M.jsonl", "rb") as two:
        assert one.read() == two.read()


def check_weights(words):
    portolan("upsample", *words, "-o", "counts.txt", "--weights", "count")
    portolan("upsample", *words, "-o", "shares.txt", "--weights", "share")
    counts, shares = np.loadtxt("counts.txt", int), np.loadtxt("shares.txt")
    lines = Counter(repeats_of("planted.jsonl", "first.jsonl").splitlines())
    with open("planted.jsonl", "rb") as file:
        assert [1 + lines[line.rstrip(b"\n")] for line in file] == list(counts)
    assert np.allclose(shares, counts / counts.sum(), rtol=1e-12, atol=0)


def check_capped(words):
    done = portolan("upsample", *words, "-o", "capped.jsonl", "--max-multiplicity", 3, "--json", "--strict", status=3)
    report = json.loads(done.stdout)
    assert len(report["multiplicities"]) == 3 and report["imbalance"][-1] > 0
    open_ones = [entry for token in report["tokens"] for entry in token["not_balanced"]]
    assert sum(entry["lacks"] for entry in open_ones) == report["imbalance"][-1]
    assert any("--max-multiplicity" in entry["why"] for entry in open_ones), open_ones
    assert b"not balanced" in done.stderr


def lacks_of(lines, tokens, labels):
    """The sum of D, from the lines themselves."""
    counts = {token: [0] * labels for token in tokens}
    for line in lines:
        record = json.loads(line)
        for word in set(record["t"].split()) & counts.keys():
            counts[word][record["l"]] += 1
    return sum(max(row) - n for row in counts.values() for n in row)


def check_figure(words, report):
    """--plot has z* of the balanced tokens before and after, in a panel of its own, as the report has them."""
    portolan(*words, "--plot", "figure.svg", "--script")
    with open("figure.gp", encoding="utf-8") as file:
        text = file.read()
    labels = re.findall(r"YLabel\[\d+\] = '(.*)'", text)
    assert labels == ["records lacking", "p*", "z* (standard deviations)"], labels
    blocks = re.search(r"\$data << EOD\n(.*?)EOD\n", text, re.S)[1].split("\n\n\n")
    points = [{tuple(map(float, line.split()[:2])) for line in block.splitlines() if line} for block in blocks]
    for state in ("before", "after"):
        for value in ("p_star", "z_star"):
            want = {(token[state]["n"], token[state][value]) for token in report["tokens"]}
            assert any(len(block) == len(want) and np.allclose(sorted(block), sorted(want), rtol=1e-6) for block in points), (state, value, want)


def check_patience():
    """Words that occur together, five labels: any draws do more harm than good sooner or later, and that is taken back."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 5, 400)
    with open("pull.jsonl", "w", encoding="utf-8") as file:
        for i, label in enumerate(labels):
            text = " ".join(f"w{j}" for j in range(12) if rng.random() < (0.4 if j % 5 == label else 0.1))
            file.write(json.dumps({"i": i, "t": text, "l": int(label)}) + "\n")
    words = ["pull.jsonl", "--text", "t", "--label", "l", "--min-count", 5, "--top", 4, "-o", "pulled.jsonl", "--prior", "uniform", "--pick", "uniform",
             "--patience"]
    reports = [json.loads(portolan("upsample", *words, patience, "--json", "--step", step).stdout)
               for patience, step in ((0, 0.2), (10, 0.2), (10, 1))]
    assert reports[0]["tried"] == reports[0]["iterations"] == 50 and reports[0]["imbalance"][-1] > 10 * reports[0]["imbalance"][0]
    for report, step in zip(reports[1:], (0.2, 1)):
        done = portolan("upsample", *words, 10, "--json", "--step", step)
        assert json.loads(done.stdout) == report
        assert report["tried"] > report["iterations"] == len(report["imbalance"]) - 1 and min(report["imbalance"]) == report["imbalance"][-1]
        with open("pulled.jsonl", "rb") as file:
            lines = file.readlines()
        assert len(lines) == 400 + report["repeats"]
        assert lacks_of(lines, [token["token"] for token in report["tokens"]], 5) == report["imbalance"][-1]
        assert b"taken back" in done.stderr
        assert any("set back other tokens" in entry["why"] for token in report["tokens"] for entry in token["not_balanced"]), report
    assert b"taken back, as the sum rose: " in portolan("upsample", *words, 10, "--plot", "pulled.svg").stdout
    with open("pulled.svg", encoding="utf-8") as file:
        assert ">taken back<" in file.read()
    assert json.loads(portolan("upsample", *words[:-1], "--json").stdout) == reports[0], "the paper's draws end as in the paper"
    published = ["upsample", *words[:-5], "--as-published"]
    plain = portolan("upsample", *words, 0, "--iterations", 10, "--json").stdout
    assert portolan(*published, "--json").stdout == plain and json.loads(plain)["tried"] == 10, plain
    for option in (["--pick", "uniform"], ["--iterations", 9], ["--patience", 1], ["--max-multiplicity", 2]):
        assert b"--as-published and " in portolan(*published, *option, status=2).stderr, option
    check_figure(published, json.loads(plain))
    for more, patience in (([], 10), (["--pick", "uniform"], 0)):
        portolan("upsample", *words[:-3], *more)
        with open("pulled.jsonl.manifest.json", encoding="utf-8") as file:
            assert json.load(file)["request"]["patience"] == patience
    write("rare.csv", "t,l\n" + 30 * "x,1\n" + "x,2\ny,2\n")
    done = portolan("upsample", "rare.csv", "--text", "t", "--label", "l", "--min-count", 30, "--prior", "uniform", "-o", "much.csv")
    assert not done.stderr, done
    write("rare.csv", "t,l\n" + 30 * "x,1\n" + "x,2\nx,3\n")
    done = portolan("upsample", "rare.csv", "--text", "t", "--label", "l", "--min-count", 30, "--prior", "uniform", "-o", "much.csv")
    assert b"rare.csv more than doubled, by 58 repeats; a record stands up to 30 times" in done.stderr, done


def check_outputs():
    """What names DATA as the output, by whatever name, leaves it alone."""
    write("data.jsonl", 2 * '{"t": "x", "l": 1}\n' + '{"t": "x", "l": 2}\n')
    os.link("data.jsonl", "linked.svg")
    os.symlink("data.jsonl", "symbolic")
    words = ["data.jsonl", "--text", "t", "--label", "l", "--min-count", 1]
    for command, more in (("upsample", ["-o", "data.jsonl"]), ("upsample", ["-o", "./symbolic"]), ("upsample", ["-o", "x", "--plot", "linked.svg"]),
                          ("artifacts", ["-o", "linked.svg"]), ("artifacts", ["--plot", "linked.svg"])):
        done = portolan(command, *words, *more, status=2)
        assert b"DATA data.jsonl and " in done.stderr and b"the same file, which would be lost" in done.stderr, done
        assert os.path.getsize("data.jsonl") == 57, done
    assert b"-o x.svg are the same file" in portolan("upsample", *words, "-o", "x.svg", "--plot", "x.svg", status=2).stderr


def check_formats():
    """Repeats of records with line ends in quotes, of a last line without an end, of lines that end with \\r\\n."""
    options = ["--text", "t", "--label", "l", "--min-count", 1, "--top", 1, "--stop-words", "none", "--prior", "uniform"]
    write("a.csv", b'\xef\xbb\xbft,l\r\n"x\r\ny",1\r\nx,1\r\nx z,1\r\n"x, ""q""\r\nw",2')
    portolan("upsample", "a.csv", *options, "-o", "b.csv")
    added = repeats_of("a.csv", "b.csv")
    assert added == b"\r\n" + 2 * b'"x, ""q""\r\nw",2\r\n', added
    write("a.tsv", b"l\tt\n1\tx\n1\tx\n2\tx\n2\t!\n")
    portolan("upsample", "a.tsv", *options, "-o", "b.tsv")
    assert repeats_of("a.tsv", "b.tsv") == b"2\tx\n"
    write("a.jsonl", b'{"t": "x", "l": true}\n\n{"t": "x", "l": true}\n{"l": false, "t": "X"}')
    portolan("upsample", "a.jsonl", *options, "-o", "b.jsonl")
    assert repeats_of("a.jsonl", "b.jsonl") == b'\n{"l": false, "t": "X"}\n'
    statistics = portolan("artifacts", "a.jsonl", *options[:6], "--stop-words", "none", "-o", "-").stdout.decode().split("\n")
    assert statistics[0].split("\t")[5:7] == ["0", "1"], statistics  # true is 1 for every command
    done = portolan("upsample", "-", *options, "-o", "-", input=b't,l\nx,1\nx,1\nx,2\n')
    assert done.stdout == b't,l\nx,1\nx,1\nx,2\nx,2\n' and not os.path.exists("-"), done
    write("a.tsv", b"l\tt\n1\tx\n2\tx\n2\ty\n")
    report = portolan("upsample", "a.tsv", "--text", "t", "--label", "l", "--min-count", 1, "--prior", "uniform", "-o", "c.tsv").stdout.decode()
    lines = [line.split(None, 3) for line in report.splitlines()]
    assert ["not", "balanced", "lacks", "of             why"] in lines or ["not", "balanced", "lacks", "of  why"] in lines, report
    assert ["y", "1", "1", "no record has both"] in lines, report
    with open("wide.csv", "w", encoding="utf-8") as file:  # people's lines are of 80 columns at most
        file.write("t,l\n" + "".join(f"{'guitar piano internationalisation'.split()[i % 3]} {'never always often'.split()[i % 7 % 3]},"
                                     f"{'entailment neutral contradiction'.split()[i * i % 11 % 3]}\n" for i in range(23)))
    words = ["--text", "t", "--label", "l", "--min-count", 1, "--stop-words", "none", "-o", "c.csv"]
    lines = portolan("upsample", "wide.csv", *words).stdout.decode().splitlines()
    assert any(line.split()[0] == "internationalisation" and line.endswith("no record has both") for line in lines if line) and max(map(len, lines)) <= 80, lines


BAD = {  # content, what is said; the rest of the line is ours
    "not-utf8.jsonl": (b'{"t": "a", "l": 1}\n{"t": "caf\xe9", "l": 2}\n', "not-utf8.jsonl: line 2: the field 't' is not UTF-8"),
    "label-not-utf8.tsv": (b"t\tl\na\t\xff\n", "line 2: the field 'l' is not UTF-8"),
    "missing.jsonl": (b'{"t": "a", "l": 1}\n\n{"l": 2}\n', "missing.jsonl: line 3 has no field 't'"),
    "null.jsonl": (b'{"t": "a", "l": 1}\n{"t": "b", "l": null}\n', "line 2 has no field 'l'"),
    "short.csv": (b't,x,l\n"a\nb",1,2\na,1\n', "short.csv: line 4 has no field 'l'"),
    "object.jsonl": (b'{"t": {"a": 1}, "l": 1}\n', "line 1: the field 't' is no text"),
    "list.jsonl": (b'{"t": "a", "l": [1]}\n', "line 1: the field 'l' is neither text nor number"),
    "empty-label.csv": (b"t,l\na,\n", "line 2: the field 'l' is empty"),
    "tab.jsonl": (b'{"t": "a", "l": "x\\ty"}\n', "line 1: the field 'l' holds a tab"),
    "one-label.csv": (b"t,l\na,yes\nb,yes\n", "every record has the label 'yes' in 'l'"),
    "empty.csv": (b"", "empty.csv holds no records"),
    "header.csv": (b"t,l\n", "header.csv holds no records"),
    "two-columns.csv": (b"t,l,t\na,1,b\n", "two-columns.csv has several columns 't': which one is meant?"),
    "no-column.csv": (b"text,l\na,1\n", "no-column.csv has no column 't'"),
    "cut.jsonl": (b'{"t": "a", "l": 1}\n{"t": "b", "l"', "cut.jsonl: line 2 is not well-formed"),
    "array.jsonl": (b'[{"t": "a", "l": 1}]\n', "is a JSON array"),
    "unclosed.csv": (b't,l\na,1\n"b,2\n', "unclosed.csv: line 3 has a quote that is never closed"),
    "many.tsv": (b"t\tl\n" + b"".join(b"a\t%d\n" % i for i in range(1001)), "more than 1000 values"),
}


def write_noise(path, seed, records, words, shares, rate):
    """Words that say nothing of labels, which have these shares."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(len(shares), records, p=shares)
    held = rng.random((records, words)) < rate
    write(path, "t\tl\n" + "".join(" ".join(f"w{word}" for word in np.flatnonzero(row)) + f"\tl{label:02}\n" for row, label in zip(held, labels)))
    return labels


def exact_tail(k, n, part, whole):
    """P(X ≥ k) of a binomial X of n draws with probability part / whole, in whole numbers to the last division."""
    return sum(math.comb(n, j) * part**j * (whole - part) ** (n - j) for j in range(k, n + 1)) / whole**n


def check_line():
    """The picture's finds are those of the table, and its lines of significance are where the exact probability is 0.01."""
    write_planted("planted.jsonl", 6_000, seed=3, words=300, rate=0.1)
    with open("planted.jsonl", "rb") as file:
        write("fewer.jsonl", b"".join(line for i, line in enumerate(file) if b'"neutral"' not in line or i % 5 == 0))
    words = ["fewer.jsonl", "--text", "premise,hypothesis", "--label-field", "label", "--min-count", 20]
    rows = table(portolan("artifacts", *words, "--plot", "line.svg", "--script").stdout)
    finds = {(float(row["n"]), float(row["p_star"])) for row in rows if float(row["p_bonferroni"]) <= 0.01}
    with open("line.gp", encoding="utf-8") as file:
        script = file.read()
    names = re.findall(r"Name\[\d+\] = '(.*?)'", script)
    series = [[tuple(map(float, line.split())) for line in block.splitlines() if line]
              for block in re.search(r"\$data << EOD\n(.*?)EOD\n", script, re.S)[1].split("\n\n\n")]
    assert names[:5] == ["a token", "more than chance", "no hint: shares", "0.01 after Bonferroni: rarest label",
                         "0.01 after Bonferroni: commonest label"] and "prior: each" in script, names
    assert len(finds) == len(series[1]) > 5 and np.allclose(sorted(finds), sorted(series[1]), rtol=1e-6) and len(series[0]) + len(finds) == len(rows)
    shares = sorted({float(row["prior_share"]) for row in rows})
    for prior, line, z_line in ((shares[0], series[3], series[7]), (shares[-1], series[4], series[8])):
        n, p = np.array(line).T
        assert len(n) > 50 and np.allclose(betainc(p * n, n - p * n + 1, prior) * 3 * len(rows), 0.01, rtol=1e-3), prior
        assert np.allclose(np.array(z_line)[:, 1], (p - prior) / np.sqrt(prior * (1 - prior) / n), rtol=1e-5), prior


def check_significance():
    """Uneven labels, and many: noise stays below the line, whose probabilities are exact; --significant repeats nothing for it."""
    for seed in range(5):
        labels = write_noise("uneven.tsv", seed, 4_000, 200, (0.9, 0.1), 0.1)
        words = ["uneven.tsv", "--text", "t", "--label-field", "l", "--min-count", 100]
        rows, sizes = table(portolan("artifacts", *words).stdout), np.bincount(labels)
        assert len(rows) == 200 and list(rows[0]) == ["token", "n", "label", "p_star", "z_star", "l00", "l01", "prior_share", "p_bonferroni"]
        assert min(float(row["p_bonferroni"]) for row in rows) > 0.01, "noise is no artifact"
        for row in rows:
            label = int(row["label"][1:])
            assert float(row["prior_share"]) == sizes[label] / 4_000, row
            want = min(1, 400 * exact_tail(int(row[row["label"]]), int(row["n"]), int(sizes[label]), 4_000))
            assert abs(float(row["p_bonferroni"]) - want) <= 1e-9 * want, (row, want)
        done = portolan("upsample", *words, "--significant", "--json", "-o", "out.tsv")
        assert repeats_of("uneven.tsv", "out.tsv") == b"" and json.loads(done.stdout)["tokens"] == [] and not done.stderr, done
    assert b"no token stands with a label more often than chance explains" in portolan("upsample", *words, "--significant", "-o", "out.tsv").stdout
    done = portolan("upsample", *words, "--significant", "-o", "out.tsv", "--plot", "out.svg", status=1)
    assert b"uneven.tsv: no token stands with a label more often than chance explains: there is nothing to draw" in done.stderr, done
    check_line()
    for seed in range(100, 104):  # the normal line, 5.2, is crossed in three of these
        write_noise("many.tsv", seed, 12_000, 4_000, [1 / 22] * 22, 0.01)
        rows = table(portolan("artifacts", "many.tsv", "--text", "t", "--label-field", "l", "--min-count", 1, "--prior", "uniform").stdout)
        assert len(rows) == 4_000 and min(float(row["p_bonferroni"]) for row in rows) > 0.01 and float(rows[0]["prior_uniform"]) == 1 / 22


def check_targets():
    """What upsample makes of a token is what its prior expects of it: the labels' shares of DATA, within a record, or as many of each."""
    write_planted("uneven.jsonl", 12_000, seed=9, words=300, rate=0.05)
    with open("uneven.jsonl", "rb") as file:
        lines = [line for i, line in enumerate(file) if b'"neutral"' not in line or i % 4 == 0]
    write("uneven.jsonl", b"".join(lines))
    write("some.txt", "".join(f"plant{i}\n" for i in range(6)))
    words = ["uneven.jsonl", "--text", "premise,hypothesis", "--label-field", "label"]
    sizes = Counter(json.loads(line)["label"] for line in lines)
    labels = sorted(sizes)
    reports = {}
    for prior in ("share", "uniform"):
        done = portolan("upsample", *words, "--tokens", "some.txt", "--prior", prior, "--json", "-o", "out.jsonl")
        reports[prior] = report = json.loads(done.stdout)
        rows = {row["token"]: row for row in table(portolan("artifacts", "out.jsonl", *words[1:], "--tokens", "some.txt").stdout)}
        share = np.array([sizes[label] / len(lines) if prior == "share" else 1 / 3 for label in labels])
        assert report["prior"] == prior and report["imbalance"][-1] == 0 and [row["target"] for row in report["shares"]] == share.tolist(), report
        for token in report["tokens"]:
            counts = np.array([int(rows[token["token"]][label]) for label in labels])
            assert counts.tolist() == token["after"]["counts"] and abs(token["after"]["z_star"]) < 0.2 < token["before"]["z_star"], token
            full = (counts / share).max()  # of the label that has most of what it is to have
            assert (np.abs(counts - full * share) < 1).all(), (token, full * share)
        after = Counter(json.loads(line)["label"] for line in [*lines, *repeats_of("uneven.jsonl", "out.jsonl").splitlines()])
        assert report["shares"] == [{"label": label, "target": share[i], "share": sizes[label] / len(lines), "after": after[label] / after.total()}
                                    for i, label in enumerate(labels)], (report["shares"], after)
    words += ["--min-count", 200]
    plain = portolan("upsample", *words, "--pick", "uniform", "--iterations", 10, "--patience", 0, "--prior", "uniform", "--json", "-o", "out.jsonl").stdout
    assert portolan("upsample", *words, "--as-published", "--json", "-o", "out.jsonl").stdout == plain
    assert b"--as-published and --prior" in portolan("upsample", *words, "--as-published", "--prior", "share", "-o", "out.jsonl", status=2).stderr
    chosen = json.loads(portolan("upsample", *words, "--count", 100, "--significant", "--json", "-o", "out.jsonl").stdout)
    want = [row["token"] for row in table(portolan("artifacts", *words).stdout) if float(row["p_bonferroni"]) <= 0.01]
    assert [token["token"] for token in chosen["tokens"]] == want and set(want) <= {f"plant{i}" for i in range(10)} and len(want) >= 6, want
    even = [line for label in labels for line in [line for line in lines if json.loads(line)["label"] == label][:900]]
    write("even.jsonl", b"".join(even))
    for command in (["artifacts"], ["upsample", "--json", "-o", "out.jsonl"]):  # with even labels the two agree
        one, other = (portolan(*command, "even.jsonl", *words[1:], "--prior", prior).stdout for prior in ("share", "uniform"))
        assert one.replace(b"prior_share", b"prior_uniform").replace(b'"prior": "share"', b'"prior": "uniform"') == other, command


def check_bad_input():
    for name, (content, message) in BAD.items():
        write(name, content)
        for command in (["artifacts"], ["upsample", "-o", "never"]):
            done = portolan(*command, name, "--text", "t", "--label", "l", status=1)
            said = done.stderr.decode().splitlines()
            assert len(said) == 1 and message in said[0] and said[0].startswith("portolan: "), (name, said)
            assert not done.stdout and not os.path.exists("never"), name
    write("nothing.csv", b't,l\na,1\n"",2\n?!,1\n')
    done = portolan("artifacts", "nothing.csv", "--text", "t", "--label", "l", "--min-count", 1, "--stop-words", "none", "--strict", status=3)
    assert b"records without any token: 2, the first on line 3" in done.stderr, done
    write("named.csv", b"t,l\na,n\nb,1\n")
    words = ["named.csv", "--text", "t", "--label", "l", "--min-count", 1, "--stop-words", "none", "-o"]
    assert b"two columns are named 'n', which npy cannot tell apart" in portolan("artifacts", *words, "named.npy", status=1).stderr
    assert b"cannot write parquet; there are: csv, tsv" in portolan("artifacts", *words, "named.parquet", status=2).stderr
    portolan("artifacts", *words, "named-2.csv")
    done = portolan("artifacts", "nothing.csv", "--text", "t", "--label", "l", "--stop-words", "none")
    assert b"no token stands in 1,000 records, the most frequent in 1: see --min-count" in done.stderr, done


def drawn_bars(script):
    """The names of a chart's bars, from above, and what the script has of each series of them: name → length."""
    with open(script, encoding="utf-8") as file:
        text = file.read()
    names = {int(at): name for name, at in re.findall(r"YName\[\d+\] = '(.*)'; YNamePanel\[\d+\] = 3; YNameAt\[\d+\] = (-?\d+)", text)}
    series = re.findall(r"Style\[\d+\] = '([a-z ]+)'", text)
    blocks = re.search(r"\$data << EOD\n(.*?)EOD\n", text, re.S)[1].split("\n\n\n")
    bars = [[tuple(map(float, line.split())) for line in block.splitlines() if line] for style, block in zip(series, blocks) if style == "across"]
    return [names[-i] for i in range(len(names))], [{names[round(y)]: (x, y - round(y)) for x, y in one} for one in bars]


def check_bars(words, rows):
    """--plot with --run has a bar for the accuracy on either side of each token; of a side without records there is none."""
    portolan("artifacts", *words, "--plot", "bars.svg", "--script")
    names, bars = drawn_bars("bars.gp")
    assert names == [row["token"] for row in rows] and len(bars) == 2, (names, bars)
    for one, side, sign in zip(bars, ("majority", "minority"), (1, -1)):
        assert {name: x for name, (x, _) in one.items()} == {row["token"]: float(row[f"{side}_accuracy"]) for row in rows}, (one, rows)
        assert all(y * sign > 0 for _, y in one.values()), one
    portolan("artifacts", *words[:words.index("--run")], "--plot", "bars.svg", "--script")
    assert drawn_bars("bars.gp") == ([], [])
    write("tied.tsv", "t\tid\tl\n" + "".join(f"{'u' if i % 2 else 'w' if i % 4 else 'x'}\t{3 * i}\t{'ab'[i % 2]}\n" for i in range(100)))
    portolan("artifacts", "tied.tsv", *words[1:], "--plot", "bars.svg", "--script")
    names, bars = drawn_bars("bars.gp")
    assert sorted(names) == ["u", "w", "x"] and len(bars) == 1 and len(bars[0]) == 3, (names, bars)
    wide = "コンピューターゲーム"
    write("wide.tsv", "t\tid\tl\n" + "".join(f"{wide if i % 2 else 'w' if i % 4 else 'x'}\t{3 * i}\t{'ab'[i % 2]}\n" for i in range(100)))
    portolan("artifacts", "wide.tsv", *words[1:], "--plot", "bars.svg", "--script")
    with open("bars.gp", encoding="utf-8") as file:
        left = float(re.search(r"\bLeft\[3\] = ([\d.]+)", file.read())[1])
    assert left > 14.7 * len(wide), left # square characters in 11 points


def check_axis():
    """Tokens that stand in nearly as many records: the logarithmic axis has numbers all the same."""
    write("near.tsv", "t\tl\n" + "".join(f"{'v' if i < 130 else ''} {'u' if i % 3 and i < 180 else ''} z\t{'ab'[i % 2]}\n" for i in range(180)))
    portolan("artifacts", "near.tsv", "--text", "t", "--label", "l", "--min-count", 100, "--max-count", 150, "--stop-words", "none", "--plot", "near.svg")
    with open("near.svg", encoding="utf-8") as file:
        numbers = re.findall(r"<text>\s*(\d+)</text>", file.read())
    assert {"120", "140", "160"} <= set(numbers), numbers


def check_sides(maker):
    """Accuracy and means of both sides, at the last epoch and over epochs, of a run that did not see everything."""
    rng = np.random.default_rng(5)
    n, epochs = 900, 4
    labels = rng.integers(0, 2, n)
    texts = [[word for word in "uvwxyz" if rng.random() < (0.3 if (word in "uvw") == bool(label) else 0.1)] for label in labels]
    probability = rng.random((epochs, n)).astype("f4")
    correct = probability > 0.4
    seen = rng.random((epochs, n)) < 0.9
    seen[:, rng.random(n) < 0.05] = False
    ids = np.arange(n) * 3
    stores.make_store(maker, "store", [stores.run("r", [
        stores.batch(e, ids[seen[e]], probability[e, seen[e]], correct[e, seen[e]], labels[seen[e]]) for e in range(epochs)])])
    write("sides.tsv", "t\tid\tl\n" + "".join(f"{' '.join(texts[i])}\t{ids[i]}\t{'ab'[labels[i]]}\n" for i in rng.permutation(n)))
    words = ["sides.tsv", "--text", "t", "--label", "l", "--min-count", 1, "--run", "r", "--id-field", "id", "--store", "store"]
    rows = table(portolan("artifacts", *words, "--by-epoch", "epochs.tsv", "--plot-epochs", "sides.svg").stdout)
    with open("epochs.tsv", "rb") as file:
        by_epoch = table(file.read())
    assert len(rows) == 6 and len(by_epoch) == 24 and os.path.exists("sides.svg")
    hold = {word: np.array([word in text for text in texts]) for word in "uvwxyz"}
    for row in rows:
        for side, leads in (("majority", True), ("minority", False)):
            part = hold[row["token"]] & (("ab".index(row["label"]) == labels) == leads) & seen.any(0)
            last = part & seen[-1]
            p = np.where(seen, probability.astype("f8"), np.nan)[:, part]
            assert int(row[f"{side}_n"]) == part.sum(), row
            assert abs(float(row[f"{side}_accuracy"]) - correct[-1, last].mean()) < 1e-12, row
            assert abs(float(row[f"{side}_confidence"]) - np.nanmean(p, 0).mean()) < 1e-9, row
            assert abs(float(row[f"{side}_variability"]) - np.nanstd(p, 0).mean()) < 1e-9, row
            for e, other in enumerate(r for r in by_epoch if r["token"] == row["token"]):
                now = part & seen[e]
                assert int(other["epoch"]) == e and int(other[f"{side}_n"]) == now.sum(), other
                assert abs(float(other[f"{side}_accuracy"]) - correct[e, now].mean()) < 1e-12, other
    for ending, read in (("csv", lambda path: list(csv.DictReader(open(path, newline="")))),
                         ("jsonl", lambda path: [json.loads(line) for line in open(path)]),
                         ("npy", lambda path: [dict(zip(row.dtype.names, row.tolist())) for row in np.load(path)])):
        portolan("artifacts", *words, "-o", f"sides.{ending}", "--by-epoch", f"epochs.{ending}")
        for path, wanted in ((f"sides.{ending}", rows), (f"epochs.{ending}", by_epoch)):
            got = [{name: cell.decode() if isinstance(cell, bytes) else str(cell) for name, cell in row.items()} for row in read(path)]
            assert [list(row) for row in got] == [list(row) for row in wanted], path
            for one, other in zip(got, wanted):
                assert all(one[name] == other[name] or float(one[name]) == float(other[name]) for name in one), (path, one, other)
    check_bars(words, rows)
    early, = table(portolan("artifacts", *words, "--epochs", ":2", "--top", 1).stdout)
    assert early["majority_accuracy"] == [r for r in by_epoch if r["token"] == early["token"]][1]["majority_accuracy"]
    done = portolan("artifacts", *words, "--strict", status=3)
    assert b"are no examples of run 'r': " in done.stderr, done
    words[words.index("id")] = "l"
    assert b"has the id of an example of run 'r' in its field 'l'" in portolan("artifacts", *words, status=1).stderr


def check_statistics(maker):
    """Words, labels and order from training data, accuracies from test data in which the same words point elsewhere; Table 1 of two runs."""
    rng = np.random.default_rng(8)

    def write_texts(path, many, shares):
        labels = rng.integers(0, 2, many)
        texts = [{word for word, share in shares.items() if rng.random() < (share if label else 0.4 - share)} for label in labels]
        write(path, "id\tt\tl\n" + "".join(f"{i}\t{' '.join(sorted(text))}\t{'ab'[label]}\n" for i, (text, label) in enumerate(zip(texts, labels))))
        return labels, texts

    write_texts("train.tsv", 2000, {"u": 0.35, "v": 0.3, "w": 0.15, "x": 0.05, "y": 0.25, "z": 0.21, "gone": 0.4})
    labels, texts = write_texts("test.tsv", 400, {"u": 0.1, "v": 0.3, "w": 0.3, "x": 0.1, "y": 0.02, "z": 0.2})
    correct = {name: rng.random((2, 400)) < share for name, share in (("before", 0.6), ("after", 0.8))}
    seen = rng.random(400) < 0.9  # the others are not there in the last epoch
    predicted = np.where(correct["before"][1], labels, 1 - labels)
    runs = {**correct, "unpredicted": correct["before"], "right": np.ones((2, 400), bool)}
    stores.make_store(maker, "tests", [stores.run(name, [
        stores.batch(e, np.arange(400)[part], np.full(part.sum(), 0.5, "f4"), right[e, part], labels[part], **({"predicted": predicted[part]} if name == "before" else {}))
        for e, part in enumerate((np.ones(400, bool), seen))], labels=("a", "B")) for name, right in runs.items()])
    options = ["--text", "t", "--label-field", "l"]
    portolan("artifacts", "train.tsv", *options, "--min-count", 1, "-o", "train-words.tsv")
    with open("train-words.tsv", "rb") as file:
        trained = table(file.read())
    words = ["artifacts", "test.tsv", *options, "--run", "before", "--id-field", "id", "--store", "tests", "--statistics", "train-words.tsv"]
    done = portolan(*words, "--summary", "table1.tsv", "--after", "after", "--plot", "words.svg", "--errors", "errors.tsv")
    assert b"train-words.tsv: tokens that stand in no record of test.tsv, and are left out: 1" in done.stderr, done
    rows = table(done.stdout)
    assert [row["token"] for row in rows] == [row["token"] for row in trained if row["token"] != "gone"] and len(rows) == 6
    own = {row["token"]: row["label"] for row in table(portolan("artifacts", "test.tsv", *options, "--min-count", 1).stdout)}
    assert sum(row["label"] != own[row["token"]] for row in rows) >= 2, "the test data lead elsewhere"
    sums = {name: {side: [0, 0] for side in ("majority", "minority")} for name in correct}
    touched = np.array([bool(text) for text in texts])
    for row in rows:
        source = next(one for one in trained if one["token"] == row["token"])
        assert all(row[name] == source[name] for name in ("n", "label", "p_star", "z_star")), (row, source)
        hold = np.array([row["token"] in text for text in texts])
        assert [int(row[label]) for label in "ab"] == [(hold & (labels == i)).sum() for i in (0, 1)], row
        for side, leads in (("majority", True), ("minority", False)):
            part = hold & ((np.array(list("ab"))[labels] == row["label"]) == leads)
            assert int(row[f"{side}_n"]) == part.sum() and abs(float(row[f"{side}_accuracy"]) - correct["before"][1, part & seen].mean()) < 1e-12, row
            assert int(row[f"after_{side}_n"]) == part.sum() and abs(float(row[f"after_{side}_accuracy"]) - correct["after"][1, part & seen].mean()) < 1e-12, row
            for name in correct:
                sums[name][side][0] += (part & seen).sum()
                sums[name][side][1] += correct[name][1, part & seen].sum()
        for name, ahead in (("before", "overall"), ("after", "after_overall")):
            assert int(row[ahead + "_n"]) == hold.sum() and abs(float(row[ahead + "_accuracy"]) - correct[name][1, hold & seen].mean()) < 1e-12, row
    with open("errors.tsv", "rb") as file:
        errors = table(file.read())
    wanted = [[str(i), row["token"], row["label"], row["z_star"], "ab"[labels[i]], str(predicted[i]), "aB"[predicted[i]]]
              for row in rows for i in range(400) if seen[i] and not correct["before"][1, i] and row["token"] in texts[i]]
    assert len(wanted) > 50 and [list(row.values()) for row in errors] == wanted and list(errors[0]) == [
        "id", "token", "token_label", "z_star", "label", "predicted", "predicted_label"], (errors[:3], wanted[:3])
    lone = table(portolan(*words[:-2], "--min-count", 1, "--errors", "-", "-o", "rows.csv", "--run", "unpredicted").stdout)
    assert lone and all(row["predicted"] == row["predicted_label"] == "" for row in lone), lone[:3]
    assert table(portolan(*words, "--epochs", ":1", "--run", "right", "--errors", "-", "-o", "rows.csv").stdout) == []
    assert b"nobody" in portolan(*words, "--after", "nobody", status=1).stderr
    with open("table1.tsv", "rb") as file:
        parts = table(file.read())
    assert [row["part"] for row in parts] == ["overall", "touched", "rest", "majority", "minority"], parts
    for name, ahead in (("before", ""), ("after", "after_")):
        whole = {part: (chosen.sum(), correct[name][1, chosen].sum()) for part, chosen in (("overall", seen), ("touched", seen & touched), ("rest", seen & ~touched))}
        for row in parts:
            n, hits = {**whole, **sums[name]}[row["part"]]
            assert int(row[ahead + "n"]) == n and abs(float(row[ahead + "accuracy"]) - hits / n) < 1e-12, (row, n, hits)
    assert int(parts[2]["n"]) > 0 and int(parts[3]["n"]) + int(parts[4]["n"]) > int(parts[1]["n"]), parts
    alone = portolan(*words, "--summary", "-", "-o", "rows.csv").stdout
    assert [list(row.items()) for row in table(alone)] == [list(row.items())[:3] for row in parts]
    first = [row["token"] for row in trained[:3] if row["token"] != "gone"]
    assert table(portolan(*words, "--count", 3, "--after", "after").stdout) == rows[:len(first)] and len(first) < 3, first
    assert [list(row) for row in table(portolan(*words, "--count", 3).stdout)] == [[name for name in rows[0] if "after_" not in name]] * len(first)
    refuse_statistics(words)


def refuse_statistics(words):
    heading = "token\tn\tlabel\tp_star\tz_star\n"
    for text, message in ((heading + "u\t1\tc\t1\t1\n", "bad.tsv: line 2: no record of DATA has the label 'c': is the table of the same task?"),
                          (heading + "u\t1\ta\tmuch\t1\n", "bad.tsv: line 2: the field 'p_star' is not a number"),
                          (heading + "u\t-1\ta\t1\t1\n", "bad.tsv: line 2: the field 'n' is no number of records"),
                          (heading + 2 * "u\t1\ta\t1\t1\n", "bad.tsv: line 3: the token 'u' stands there twice"),
                          (heading + "gone\t1\ta\t1\t1\n", "bad.tsv: DATA holds none of its tokens"),
                          ("token\tn\n", "bad.tsv has no column 'label'")):
        write("bad.tsv", text)
        done = portolan(*words[:-1], "bad.tsv", status=1)
        assert message in done.stderr.decode(), (message, done)
    for more, message in ((["--min-count", 1], b"--statistics and --min-count do not go together"), (["--errors", "e.xyz"], b"--errors e.xyz")):
        assert message in portolan(*words, *more, status=2).stderr
    assert b"--statistics needs --run RUN" in portolan(*words[:6], "--statistics", "bad.tsv", status=2).stderr


def check_ignored():
    """Records whose label says that they have none: tables and repeats are those of the file without them, whose lines stay where they are."""
    rng = np.random.default_rng(6)
    write_planted("clean.jsonl", 9_000, seed=6, words=60)
    with open("clean.jsonl", "rb") as file:
        clean = file.readlines()
    marks = (b'"-"', b"-1", b'""')
    marked = {int(at): marks[i % 3] for i, at in enumerate(rng.choice(9_000, 60, replace=False))}
    lines = [re.sub(rb'("label": )[^,}]+', rb"\1" + marked[i], line) if i in marked else line for i, line in enumerate(clean)]
    clean = [line for i, line in enumerate(clean) if i not in marked]
    write("marked.jsonl", b"".join(lines))
    write("clean.jsonl", b"".join(clean))
    options = ["--text", "premise,hypothesis", "--label-field", "label", "--min-count", 200, "--ngrams", 4]
    ignore = ["--ignore-label", "-", "--ignore-label", "-1", "--ignore-label="]
    for more in ((), ("--prior", "uniform", "--threads", 3)):
        done = portolan("artifacts", "marked.jsonl", *options, *ignore, *more)
        assert done.stdout == portolan("artifacts", "clean.jsonl", *options, *more).stdout and not done.stderr, done
        report = json.loads(portolan("upsample", "marked.jsonl", *options, *ignore, *more, "-o", "up.jsonl", "--json").stdout)
        other = json.loads(portolan("upsample", "clean.jsonl", *options, *more, "-o", "up-clean.jsonl", "--json").stdout)
        assert (report["ignored"], report["records"], other["ignored"]) == (60, 9_000, 0) and report["repeats"] > 0, report
        assert repeats_of("marked.jsonl", "up.jsonl") == repeats_of("clean.jsonl", "up-clean.jsonl") and report["tokens"] == other["tokens"], report
        again = portolan("upsample", "marked.jsonl", *options, *ignore, *more, "-o", "up2.jsonl", "--json", "--max-memory", "16M").stdout
        assert json.loads(again) == report and repeats_of("marked.jsonl", "up2.jsonl") == repeats_of("marked.jsonl", "up.jsonl")
    with open("up.jsonl.manifest.json", encoding="utf-8") as file:
        assert json.load(file)["request"]["ignored_labels"] == ["-", "-1", ""]
    for weights in ("count", "share"):
        portolan("upsample", "marked.jsonl", *options, *ignore, *more, "-o", f"{weights}.txt", "--weights", weights)
    counts, shares = np.loadtxt("count.txt", int), np.loadtxt("share.txt")
    assert len(counts) == 9_000 and {i for i, count in enumerate(counts) if count == 0} == marked.keys() and counts.sum() == 8_940 + report["repeats"]
    assert np.allclose(shares, counts / counts.sum(), rtol=1e-12, atol=0)
    said = portolan("artifacts", "marked.jsonl", *options, *ignore[2:]).stderr
    assert b"marked.jsonl: the label '-' counts as a class, with 20 of 8,960 records: if it means that they have none, say --ignore-label -\n" in said, said
    said = portolan("artifacts", "marked.jsonl", *options, "--ignore-label", "-", "--ignore-label=").stderr
    assert b"the label '-1' counts as a class, with 20 of 8,960 records" in said, said
    assert b"no record has a label that --ignore-label names" in portolan("artifacts", "clean.jsonl", *options, "--ignore-label", 7).stderr
    for labels, quiet in (((0, 1) * 50 + (2,), False), ((0, 1) * 9 + (2,), True), ((0,) * 99 + (1,), True), (("-", "x") * 4, False)):
        write("few.csv", "t,l\n" + "".join(f"a b,{label}\n" for label in labels))
        done = portolan("artifacts", "few.csv", "--text", "t", "--label-field", "l", "--min-count", 1, "--stop-words", "none")
        assert (b"counts as a class" not in done.stderr) == quiet, (labels, done)
    words = ["artifacts", "few.csv", "--text", "t", "--label-field", "l", "--ignore-label", "-"]
    assert b"every record has the label 'x' in 'l'" in portolan(*words, status=1).stderr
    assert b"every record has a label in 'l' that is ignored: see --ignore-label" in portolan(*words, "--ignore-label", "x", status=1).stderr
    assert b"--ignore-label: at most 16 labels" in portolan(*words, *16 * ["--ignore-label", "y"], status=2).stderr


def check_notes():
    """The name of a token stands within the frame, on either side of its point; where neither side has room, it is left out."""
    tokens = {"few": 40, "m" * 60: 80, "w" * 60: 100, "x" * 60: 140, "many": 200}
    with open("notes.jsonl", "w") as file:
        for i in range(200):
            print(json.dumps({"t": " ".join(token for token, most in tokens.items() if i < most), "l": "a"}), file=file)
            print(json.dumps({"t": "other", "l": "b"}), file=file)
    portolan("artifacts", "notes.jsonl", "--text", "t", "--label", "l", "--min-count", 1, "--stop-words", "none", "--plot", "notes.svg", "--script")
    with open("notes.gp", encoding="utf-8") as file:
        script = file.read()
    left, right = (float(re.search(rf"\b{side}\[1\] = ([0-9.]+)", script)[1]) for side in ("Left", "Right"))
    notes = re.findall(r"Note\[\d+\] = '(.*?)'; NoteX\[\d+\] = (\S+); .*?NoteToLeft\[\d+\] = (\d)", script)
    assert {"few", "many"} <= {text.split(" ")[0] for text, _, _ in notes}, notes
    rows = {row["token"]: row for row in table(portolan("artifacts", "notes.jsonl", "--text", "t", "--label", "l", "--min-count", 1, "--stop-words", "none").stdout)}
    values = {(float(row["p_star"]), f"{name} ({float(row['p_star']):.2f}, {row['label']})") for name, row in rows.items()}
    values |= {(float(row["z_star"]), f"{name} ({float(row['z_star']):.1f}, {row['label']})") for name, row in rows.items()}
    named = [text for text, _, _ in notes if not text.endswith("…")]
    assert len(named) > 3 and set(named) <= {text for _, text in values}, (named, values)
    for text, x, to_left in notes:
        at, width = float(x) * (right - left), 24 * 12 if text.endswith("…") else 6.2 * len(text)
        begin = at - width if to_left == "1" else at
        assert begin >= 0 and begin + width <= right - left, (text, x, to_left)


def check_apart():
    """Of tokens in 900 to 1,850 records, no number along the axis runs into the next; before and after differ by mark."""
    rows = (f"{'u' if i < 900 else ''} {'v' if i < 1500 else ''} w\t{'ab'[i % 3 == 0]}" for i in range(1850))
    write("apart.tsv", "t\tl\n" + "\n".join(rows) + "\n")
    words = ["apart.tsv", "--text", "t", "--label", "l", "--min-count", 1, "--stop-words", "none"]
    portolan("artifacts", *words, "--plot", "apart.svg")
    with open("apart.svg", encoding="utf-8") as file:
        places = re.findall(r'translate\(([\d.]+),([\d.]+)\)[^>]*text-anchor="middle">\s*<text>\s*([\d,]+)</text>', file.read())
    rows = {y: sorted((float(x), text) for x, at, text in places if at == y) for _, y, text in places}
    assert len(rows) == 2, places
    for row in rows.values():
        spans = [(x - 4.7 * len(text), x + 4.7 * len(text)) for x, text in row]
        assert len(row) > 2 and all(left[1] < right[0] for left, right in zip(spans, spans[1:])) and spans[-1][1] < 560, row
    portolan("upsample", *words, "--count", 1, "-o", "apart-2.tsv", "--plot", "apart.svg")
    with open("apart.svg", encoding="utf-8") as file:
        marks = set(re.findall(r"use xlink:href='(#gpPt\d+)' transform='translate\([^']*' color='([^']*)'", file.read()))
    assert len(marks) >= 4 and len({mark for mark, _ in marks}) == len({colour for _, colour in marks}) == len(marks), marks


def check_few():
    """Of three records no share is beyond chance: that line is left out of both panels, with its name; the others are drawn."""
    write("few.tsv", "t\tl\nu v\ta\nu w\tb\nv w\ta\n")
    portolan("artifacts", "few.tsv", "--text", "t", "--label", "l", "--min-count", 1, "--stop-words", "none", "--plot", "few.svg", "--script")
    with open("few.gp", encoding="utf-8") as file:
        script = file.read()
    panels = [int(n) for n in re.findall(r"\bSeries\[\d+\] = (\d+)", script)]
    styles = re.findall(r"Style\[\d+\] = '([a-z ]+)'", script)
    blocks = re.search(r"\$data << EOD\n(.*?)EOD\n", script, re.S)[1].split("\n\n\n")[:-1]
    assert panels == [2, 1] and styles == ["few dots", "pairs", "few dots"], (panels, styles)
    assert len(blocks) == 3 and [len(block.split()) // 2 for block in blocks] == [3, 4, 3], blocks


def check_long_line():
    """100 MB in one line: of words, then of one word."""
    for text in ("some words " * (100_000_000 // 11), "x" * 100_000_000, "ж" * 10_000_000):
        write("long.jsonl", '{"t": "short words", "l": 1}\n{"l": 2, "t": "' + text + '"}\n')
        rows = table(portolan("artifacts", "long.jsonl", "--text", "t", "--label", "l", "--min-count", 1, "--stop-words", "none").stdout)
        assert {row["token"]: int(row["n"]) for row in rows}["short"] == 1 and len(rows) <= 3, rows
    os.remove("long.jsonl")


def main():
    global PORTOLAN
    PORTOLAN, maker = (os.path.abspath(path) for path in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_by_hand()
        for seed in range(3):
            check_random(seed)
        check_max_ppmi()
        check_planted()
        check_patience()
        check_outputs()
        check_formats()
        check_significance()
        check_targets()
        check_bad_input()
        check_axis()
        check_sides(maker)
        check_statistics(maker)
        check_ignored()
        check_notes()
        check_few()
        check_apart()
        check_long_line()
        os.chdir("/")
    print("counts and statistics as NumPy and collections have them; planted tokens found and balanced; bad input refused")
    return 0


if __name__ == "__main__":
    sys.exit(main())
