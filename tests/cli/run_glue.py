"""--glue: files of SNLI, MNLI and QNLI beside runs whose ids are the numbers that the code published with Swayamdipta et al. 2020 logs.

    run_glue.py PORTOLAN MAKE_STORE [LINES]

published_glue.json holds the numbers that that code makes of some ids (its commit stands there too). The files have its quirks: lines
without a label, with more labels than the header has columns, with an id that another line has. LINES: how many; default 3,000.
"""

import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import stores  # noqa: E402
from checks import check, finish  # noqa: E402

PORTOLAN, MAKE_STORE = (os.path.abspath(path) for path in sys.argv[1:3])
LINES = int(sys.argv[3]) if len(sys.argv) > 3 else 3000
with open(os.path.join(HERE, "published_glue.json")) as file:
    PUBLISHED = json.load(file)["numbers"]
LABELS = ("entailment", "neutral", "contradiction")
HEADERS = {"snli": "index captionID pairID sentence1_binary_parse sentence2_binary_parse sentence1_parse sentence2_parse sentence1 sentence2 label1 gold_label",
           "mnli": "index promptID pairID genre sentence1 sentence2 label1 gold_label", "qnli": "index question sentence label"}
ID_FIELDS = {"snli": "pairID", "mnli": "index", "qnli": "index"}


def number_of(text):
    code = "555" if text.startswith("vg_len") else "444" if text.startswith("vg_verb") else "000"
    return int(code + "".join(re.findall("[0-9]", text)) + {"e": "0", "c": "1", "n": "2"}.get(text[-1], "3"))


def snli_id(i, label):
    if i % 97 == 0:
        return f"vg_{'verb' if i % 2 else 'len'}{i}r{i % 3 + 1}{label[0]}"
    return f"{1000000000 + i // 15}.jpg#{i // 3 % 5}r{i % 3 + 1}{label[0]}"


def make_lines(task):
    """The lines of a file, without header."""
    random = np.random.default_rng(5)
    lines = []
    for i in range(LINES):
        label = LABELS[int(random.integers(3))]
        text = f"A person number {i} \"walks\" home."
        gold = "-" if i % 700 == 3 else "" if i % 1100 == 5 else label
        if task == "snli":
            given = [label] * (5 if i % 4 == 1 else 1)
            fields = [str(i), "caption", snli_id(i, label), "( )", "( )", "(ROOT )", "(ROOT )", text, "Somebody walks.", *given, gold]
        elif task == "mnli":
            fields = [str(i), f"{i}p", f"{i}{label[0]}", "fiction", text, "Somebody walks.", *[label] * (5 if i % 4 == 1 else 1), gold]
        else:
            fields = [str(i), "Who walks?", text, gold]
        lines.append("\t".join(fields))
        if i % 501 == 7:
            lines.append(lines[-1].replace("walks", "runs"))
    return lines


def as_published(task, lines):
    """By number: the line as it is to be printed. Of an id the first line with a label counts."""
    header = HEADERS[task].split()
    read = {}
    for line in lines:
        fields = line.split("\t")
        if fields[-1] in ("-", ""):
            continue
        if len(fields) > len(header):
            fields = fields[: len(header) - 1] + fields[-1:]
        read.setdefault(number_of(fields[header.index(ID_FIELDS[task])]), "\t".join(fields))
    return read


def portolan(*words, status=0):
    done = subprocess.run([PORTOLAN, *words], capture_output=True, text=True)
    check(done.returncode == status, f"{words}: status {done.returncode}: {done.stderr}")
    return done


def observed(ids, seed):
    random = np.random.default_rng(seed)
    p = random.random((3, len(ids)), dtype="f4")
    return [stores.batch(e, ids, p[e], p[e] > 0.5) for e in range(3)]


def check_numbers():
    for text, number in PUBLISHED.items():
        check(number_of(text) == number, f"{text}: the formula has {number_of(text)}")
    with open("ids.jsonl", "w") as file:
        for text in PUBLISHED:
            print(json.dumps({"pairID": text}), file=file)
    got = portolan("select", "numbers", "--by", "ambiguous", "--data", "ids.jsonl", "--id-field", "pairID", "--glue", "--with-measures",
                   status=0).stdout.splitlines()
    rows = [json.loads(line) for line in got]
    wanted = portolan("select", "numbers", "--by", "ambiguous").stdout.split()
    check([PUBLISHED[row["pairID"]] for row in rows] == [int(one) for one in wanted], "ids.jsonl: other numbers")
    without = portolan("select", "numbers", "--by", "ambiguous", "--data", "ids.jsonl", "--id-field", "pairID", status=3).stdout
    check("jpg" not in without, "without --glue an id is joined that is no number")


def check_lines(task, lines, read):
    """Every line that the published code reads, unless it asks for fewer, in rank order."""
    began = time.monotonic()
    words = ["select", task, "--by", "ambiguous", "--data", f"{task}.tsv", "--id-field", ID_FIELDS[task], "--glue"]
    done = portolan(*words)
    took = time.monotonic() - began
    order = [int(one) for one in portolan("select", task, "--by", "ambiguous").stdout.split()]
    got = done.stdout.splitlines()
    check(got[0].split("\t") == HEADERS[task].split(), f"{task}: header")
    check(got[1:] == [read[one] for one in order], f"{task}: other lines")
    check(len(got) - 1 == len(read), f"{task}: {len(got) - 1} lines of {len(read)}")
    unlabelled = sum(line.endswith(("\t-", "\t")) for line in lines)
    check(f"{unlabelled:,} records without a label are passed over" in done.stderr, f"{task}: {done.stderr}")
    check("the id of one before" in done.stderr and "more or fewer fields" not in done.stderr, f"{task}: {done.stderr}")
    third = portolan(*words, "--fraction", "0.3319", "--sizes", "published").stdout.splitlines()[1:]
    check(third == [read[one] for one in order[: int(0.3319 * len(read)) + 1]], f"{task}: the published third")
    rows = list(csv.DictReader(portolan(*words, "--with-measures", "--count", "50").stdout.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    check([read[one].split("\t")[-1] for one in order[:50]] == [row[HEADERS[task].split()[-1]] for row in rows], f"{task}: labels beside measures")
    check(all(None not in row and row["confidence"] for row in rows), f"{task}: columns beside measures")
    print(f"{task}: {len(lines):,} lines, {len(read):,} joined in {took:.1f} s")


def check_others(lines, read):
    """groups, map, show and the page's file read it the same way."""
    rows = list(csv.DictReader(portolan("groups", "snli", "--data", "snli.tsv", "--id-field", "pairID", "--glue", "--columns", "gold_label",
                                        "--replicates", "0").stdout.splitlines()))
    shares = {row["value"]: float(row["all"]) for row in rows}
    labels = [line.split("\t")[-1] for line in read.values()]
    check(shares.keys() == set(labels) and all(abs(share - labels.count(label) / len(labels)) < 1e-12 for label, share in shares.items()),
          f"groups: {shares}")
    one, line = next((number, line) for number, line in read.items() if "vg_" not in line)
    shown = portolan("show", "snli", str(one), "--data", "snli.tsv", "--id-field", "pairID", "--glue", "--text", "sentence1").stdout
    check(line.split("\t")[7] in shown, f"show: {shown}")
    done = portolan("map", "snli", "--data", "snli.tsv", "--id-field", "pairID", "--glue", "--colour", "gold_label", "--script", "-o", "m.svg")
    with open("m.gp") as file:
        script = file.read()
    check(all(label in script for label in LABELS) and "not in snli.tsv" not in done.stderr, f"map: {done.stderr}")
    portolan("map", "snli", "--data", "snli.tsv", "--id-field", "pairID", "--glue", "--text", "sentence1", "-o", "m.html")


def check_artifacts(lines, read):
    """artifacts --run: each example once, with the first line of its id; tokens of all lines that have a label."""
    with open("tokens.txt", "w") as file:
        file.write("walks\nruns\n")
    done = portolan("artifacts", "snli.tsv", "--text", "sentence1", "--label-field", "gold_label", "--tokens", "tokens.txt", "--run", "snli", "--id-field",
                    "pairID", "--glue", "--summary", "parts.tsv")
    rows = {row["token"]: row for row in csv.DictReader(done.stdout.splitlines(), delimiter="\t")}
    labels = [line.split("\t")[-1] for line in read.values()]
    labelled = [line for line in lines if not line.endswith(("\t-", "\t"))]
    for token, counted in (("walks", labels), ("runs", [])):
        row = rows[token]
        check(int(row["n"]) == sum(f'"{token}"' in line for line in labelled), f"artifacts: {row}")
        leads = counted.count(row["label"])
        check((int(row["majority_n"]), int(row["minority_n"])) == (leads, len(counted) - leads), f"artifacts: {row}, and not {leads} of {len(counted)}")
    with open("parts.tsv") as file:
        parts = {row["part"]: int(row["n"]) for row in csv.DictReader(file, delimiter="\t")}
    check((parts["overall"], parts["touched"]) == (len(read), len(read)), f"artifacts: {parts}")
    check("records without a label are passed over" in done.stderr and "the id of one before" in done.stderr, f"artifacts: {done.stderr}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["PORTOLAN_STORE"] = os.path.join(folder, "store")
        files, runs = {}, [stores.run("numbers", observed(sorted(set(PUBLISHED.values())), 1))]
        for task, header in HEADERS.items():
            lines = make_lines(task)
            with open(f"{task}.tsv", "w") as file:
                file.write("\n".join(["\t".join(header.split()), *lines]) + "\n")
            files[task] = (lines, as_published(task, lines))
            runs.append(stores.run(task, observed(list(files[task][1]), 2)))
        stores.make_store(MAKE_STORE, "store", runs)
        check_numbers()
        for task, (lines, read) in files.items():
            check_lines(task, lines, read)
        check_others(*files["snli"])
        check_artifacts(*files["snli"])
        os.chdir("/")
    finish()


if __name__ == "__main__":
    main()
