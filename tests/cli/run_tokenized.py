"""portolan artifacts and upsample on tokens that the user's own tokenizer made, beside NumPy and collections; and lists that are none.

    run_tokenized.py PORTOLAN MAKE_STORE
"""

import csv
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter

import numpy as np

import stores

PORTOLAN = ""
PIECES = ["Play", "play", "##ing", "Ġthe", ".", "the", "a b", 'quo"te', "back\\slash", "中", "é", "no", "</w>", "x" * 256]
NEVER = ["", "y" * 257]  # empty, and too long for a token


def portolan(*words, status=0):
    done = subprocess.run([PORTOLAN, *map(str, words)], capture_output=True)
    assert done.returncode == status, done
    return done


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [json.loads(line) for line in file]


def made(path, records, ascii=True):
    with open(path, "w", encoding="utf-8", newline="") as file:
        if path.endswith("jsonl"):
            file.writelines(json.dumps({"id": i, "pieces": one, "more": two, "label": label}, ensure_ascii=ascii) + "\n" for i, (one, two, label) in enumerate(records))
        else:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(["id", "pieces", "more", "label"])
            rows.writerows([i, json.dumps(one, ensure_ascii=ascii), json.dumps(two), label] for i, (one, two, label) in enumerate(records))


def grams(tokens, most, stop=(), least=1):
    """What up to `most` neighbours make, of the tokens that stay."""
    kept = [token for token in tokens if token and len(token.encode()) <= 256 and token not in stop and len(token) >= least]
    return [" ".join(kept[at:at + n]) for n in range(1, most + 1) for at in range(len(kept) - n + 1)]


def expected(records, most=1, stop=(), least=1, prefixes=("", "")):
    """{token: (n, label, p*, z*, counts)} by the papers' formulas, with the labels' shares as the prior."""
    labels = sorted({label for *_, label in records})
    share = np.array([sum(one == label for *_, one in records) for label in labels]) / len(records)
    counts = {}
    for one, two, label in records:
        for token in {prefix + gram for prefix, tokens in zip(prefixes, (one, two)) for gram in grams(tokens, most, stop, least)}:
            counts.setdefault(token, Counter())[label] += 1
    found = {}
    for token, by in counts.items():
        n = np.array([by[label] for label in labels])
        z = (n / n.sum() - share) / np.sqrt(share * (1 - share) / n.sum())
        found[token] = (int(n.sum()), labels[int(z.argmax())], n[z.argmax()] / n.sum(), z.max(), n.tolist())
    return labels, found


def check(path, records, options, **how):
    labels, wanted = expected(records, **how)
    outputs = []
    for threads in (1, 3):
        portolan("artifacts", path, "--tokenized", "pieces,more", "--label-field", "label", "--min-count", 1, *options, "--threads", threads, "-o", "got.jsonl")
        outputs.append(rows_of("got.jsonl"))
    assert outputs[0] == outputs[1]
    got = {row["token"]: row for row in outputs[0]}
    assert set(got) == set(wanted), set(got) ^ set(wanted)
    for token, (n, label, p, z, counts) in wanted.items():
        row = got[token]
        assert (row["n"], [row[name] for name in labels]) == (n, counts), (token, row, counts)
        assert abs(row["p_star"] - p) < 1e-12 and abs(row["z_star"] - z) < 1e-9 and (row["label"] == label or abs(z) < 1e-9), (token, row, z)
    return len(wanted)


def check_random():
    rng = random.Random(7)
    records = []
    for i in range(900):
        label = "abc"[i % 3]
        words = PIECES + NEVER + (["no", "no", "##ing"] if label == "a" else [])
        records.append(([rng.choice(words) for _ in range(rng.randrange(9))], [rng.choice(words) for _ in range(rng.randrange(3))], label))
    count = 0
    for path in ("pieces.jsonl", "pieces.csv"):
        for ascii in (True, False):
            made(path, records, ascii)
            count += check(path, records, [])
        with open("stop.txt", "w", encoding="utf-8") as file:
            file.write("the\nĠthe\na b\n##ing\n")
        count += check(path, records, ["--stop-words", "stop.txt"], stop={"the", "Ġthe", "a b", "##ing"})
        count += check(path, records, ["--stop-words", "none", "--min-length", 3], least=3)
        count += check(path, records, ["--ngrams", 2], most=2)
        count += check(path, records, ["--per-field"], prefixes=("pieces:", "more:"))
    with open("some.txt", "w", encoding="utf-8") as file:
        file.write("Play\na b\n.\nPLAY\nno\n")
    portolan("artifacts", "pieces.jsonl", "--tokenized", "pieces", "--label-field", "label", "--tokens", "some.txt", "-o", "some.jsonl")
    assert {row["token"] for row in rows_of("some.jsonl")} == {"Play", "a b", ".", "no"}, "a line is a token, as it is"
    return count, records


def check_upsample(records):
    """The two tokens that lean most are balanced; the added lines are the file's own, byte for byte."""
    words = ["pieces.jsonl", "--tokenized", "pieces,more", "--label-field", "label", "--min-count", 50]
    portolan("artifacts", *words, "--count", 2, "--plot", "drawn.svg", "-o", "first.jsonl")
    leading = [row["token"] for row in rows_of("first.jsonl")]
    assert "no" in leading and "no (" in open("drawn.svg", encoding="utf-8").read()
    report = json.loads(portolan("upsample", *words, "--count", 2, "--iterations", 200, "--json", "-o", "balanced.jsonl").stdout)
    assert [row["token"] for row in report["tokens"]] == leading, report
    with open("balanced.jsonl.manifest.json", encoding="utf-8") as file:
        assert json.load(file)["request"]["tokenized"] == ["pieces", "more"]
    before, after = (open(name, "rb").read() for name in ("pieces.jsonl", "balanced.jsonl"))
    lines = before.splitlines(keepends=True)
    assert after.startswith(before) and set(after[len(before):].splitlines(keepends=True)) <= set(lines) and len(after) > len(before)
    now = [(row["pieces"], row["more"], row["label"]) for row in rows_of("balanced.jsonl")]
    sizes = Counter(label for *_, label in records)
    for token in leading:
        by = Counter(label for one, two, label in now if token in one + two)
        assert max(by.values()) - min(by.values()) <= 3 and len(set(sizes.values())) == 1, (token, by)


def check_run(maker):
    """Accuracy on the records that hold a piece, of a run whose answers depend on it."""
    records = [(["no" if i % 4 == 0 else "yes", "##s"], [], "ab"[i % 2 if i % 8 else 1]) for i in range(400)]
    made("run.jsonl", records)
    right = np.array([(one[0] == "no") == (label == "a") for one, _, label in records])
    stores.make_store(maker, "store", [stores.run("run", [stores.batch(0, np.arange(400), right * 0.8 + 0.1, right)], declared=400)])
    portolan("artifacts", "run.jsonl", "--tokenized", "pieces", "--label-field", "label", "--min-count", 1, "--run", "run", "--store", "store", "--id-field", "id", "-o", "sides.jsonl")
    for row in rows_of("sides.jsonl"):
        holding = np.array([row["token"] in one for one, *_ in records])
        assert row["overall_n"] == holding.sum() and abs(row["overall_accuracy"] - right[holding].mean()) < 1e-12, row


def check_wrong():
    """Each error names file, line and field, and what was written before stays."""
    good = '{"pieces":["a"],"label":"x"}\n'
    wrong = ['"a b"', '["a",1]', '["a",["b"]]', '["a",null]', '{"a":"b"}', "3", "true"]
    no_text = ['["a","\\u0000"]', '["a","\\ud800"]', '["a","b\tc"]', b'["a","\xff"]']
    for text in wrong + no_text:
        raw = text if isinstance(text, bytes) else text.encode()
        with open("wrong.jsonl", "wb") as file:
            file.write(good.encode() + b'{"pieces":' + raw + b',"label":"x"}\n')
        why = "is no list of strings" if text in wrong else "has a string that is no text"
        for command in (["artifacts"], ["upsample", "-o", "never.jsonl"]):
            done = portolan(*command, "wrong.jsonl", "--tokenized", "pieces", "--label-field", "label", "--min-count", 1, status=1)
            assert f"wrong.jsonl: line 2: the field 'pieces' {why}".encode() in done.stderr, (text, done.stderr)
    for text, status in (('[""a""]', 0), ('[""a"" ""b""]', 1), ('[""a""', 1), ('[""a""] more', 1), ("a b", 1), ('[""a"",]', 1), ('[""a""[""b""]', 1), ("[ ]", 0), (' [ ""a"" , ""b"" ] ', 0)):
        with open("wrong.csv", "w", encoding="utf-8") as file:
            file.write(f'pieces,label\n"[""a""]",x\n"{text}",y\n')
        done = portolan("artifacts", "wrong.csv", "--tokenized", "pieces", "--label-field", "label", "--min-count", 1, status=status)
        assert (b"wrong.csv: line 3: the field 'pieces' is no list of strings" in done.stderr) == (status == 1), (text, done.stderr)
    with open("wrong.jsonl", "w", encoding="utf-8") as file:
        file.write(good)
    for words, status, says in ((["--text", "pieces"], 1, b"line 1: the field 'pieces' is no text: --tokenized takes lists"), (["--tokenized", "no"], 1, b"line 1 has no field 'no'"),
                                (["--tokenized", "pieces", "--text", "pieces"], 2, b"do not go together"), (["--tokenized", "pieces,pieces"], 2, b"--tokenized: pieces stands there twice"), ([], 2, b"--tokenized FIELD")):
        done = portolan("artifacts", "wrong.jsonl", *words, "--label-field", "label", "--min-count", 1, status=status)
        assert says in done.stderr, (words, done.stderr)
    assert not os.path.exists("never.jsonl")


def main():
    global PORTOLAN
    PORTOLAN, maker = (os.path.abspath(path) for path in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        count, records = check_random()
        check_upsample(records)
        check_run(maker)
        check_wrong()
        os.chdir("/")
    print(f"{count} rows as counted by hand")
    return 0


if __name__ == "__main__":
    sys.exit(main())
