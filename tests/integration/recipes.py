"""The blocks of analyzer/RECIPES.md, run as they stand, in one folder; what imports a package that is not there is skipped."""

import csv
import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import portolan

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "analyzer" / "RECIPES.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(python|sh)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
OPTIONAL = ("datasets", "torch", "pandas", "polars")


# Where transformers is not installed: a tokenizer of five word pieces. tests/frameworks runs the block with the real one.
TRANSFORMERS = '''
import re


class AutoTokenizer:
    @classmethod
    def from_pretrained(cls, name):
        assert name == "bert-base-uncased"
        return cls()

    def tokenize(self, text):
        return re.findall(r"no|some|##body|sleep|##s", re.sub(r"body|s\\b", r"##\\g<0>", text))
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("recipes")


def test_there_are_blocks():
    assert len(BLOCKS) == TEXT.count("```") // 2 >= 12


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_block(folder, number):
    language, block = BLOCKS[number]
    missing = [name for name in OPTIONAL if re.search(rf"^import {name}\b", block, re.MULTILINE) and not find_spec(name)]
    if missing:
        pytest.skip(f"no package {missing[0]}")
    programs = {Path(os.environ[name]).parent for name in ("PORTOLAN", "PORTOLAND")}
    environment = dict(os.environ, PATH=":".join(map(str, programs)) + ":" + os.environ["PATH"])
    if "from transformers" in block:
        (folder / "stand-in").mkdir()
        (folder / "stand-in" / "transformers.py").write_text(TRANSFORMERS, encoding="ascii")
        environment["PYTHONPATH"] = f"{folder / 'stand-in'}:{environment['PYTHONPATH']}"
    command = [sys.executable, "-c", block] if language == "python" else ["bash", "-euc", block]
    subprocess.run(command, check=True, cwd=folder, env=environment)


def test_what_they_leave(folder):
    assert np.load(folder / "rows.npy").shape == (99,)
    assert np.load(folder / "measures.npy").shape == (300,)
    scores = [float(line.split(",")[1]) for line in (folder / "sorted.csv").read_text(encoding="ascii").splitlines()[1:]]
    assert len(scores) == 300 and scores == sorted(scores, reverse=True)
    forgetting = (folder / "forgetting.csv").read_text(encoding="ascii").splitlines()
    names = forgetting[0].split(",")
    events = [int(line.split(",")[names.index("forgetting_events")]) for line in forgetting[1:]]
    assert events == [1 - i % 2 for i in range(100)]


def test_word_pieces(folder):
    """z* of each piece, from the lists in the file; and upsample leaves the two that it was given without any hint."""
    def rows_of(name):
        with open(folder / name, encoding="utf-8", newline="") as file:
            return [json.loads(line) for line in file] if name.endswith("jsonl") else list(csv.DictReader(file, delimiter="\t"))

    records, rows = rows_of("pieces.jsonl"), {row["token"]: row for row in rows_of("pieces.tsv")}
    assert records[1]["pieces"] == ["no", "##body", "sleep", "##s"] and set(rows) == {"no", "some", "##body", "sleep", "##s"}
    for piece, row in rows.items():
        n = np.array([sum(piece in record["pieces"] for record in records if record["label"] == label) for label in "012"])
        share = np.array([sum(record["label"] == label for record in records) for label in "012"]) / len(records)
        z = (n / n.sum() - share) / np.sqrt(share * (1 - share) / n.sum())
        assert int(row["n"]) == n.sum() and [int(row[label]) for label in "012"] == n.tolist()
        assert abs(float(row["z_star"]) - z.max()) < 1e-9 and abs(float(row["p_star"]) - (n / n.sum())[z.argmax()]) < 1e-12
    repeated = rows_of("balanced-pieces.jsonl")
    assert repeated[:len(records)] == records and len(repeated) > len(records)
    no = [sum("no" in record["pieces"] for record in repeated if record["label"] == label) for label in "012"]
    assert max(no) - min(no) <= 3, no
    assert b"##body" in (folder / "pieces.svg").read_bytes() or b"no (" in (folder / "pieces.svg").read_bytes()


def count_agreement(labels):
    """The definition, by counting: each annotator's label among the others', where the largest count may be that of several."""
    names = sorted(set(labels))
    counts = np.array([labels.count(name) for name in names])
    shares = []
    for label in labels:
        others = counts - (np.array(names) == label)
        shares.append((others[names.index(label)] == others.max()) / (others == others.max()).sum())
    return np.mean(shares)


def test_agreement(folder):
    records = [json.loads(line) for line in (folder / "annotated.jsonl").read_text(encoding="ascii").splitlines()]
    with open(folder / "agreement.csv", encoding="ascii", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(records) == 300
    for row, record in zip(rows, records):
        labels = record["annotator_labels"]
        counts = [labels.count(name) for name in "enc"]
        majority = "enc"[int(np.argmax(counts))] if counts.count(max(counts)) == 1 else ""
        assert (row["id"], row["majority"], row["annotators"]) == (str(record["pairID"]), majority, str(len(labels))), (row, labels)
        assert row["agreement"] == "" if len(labels) < 2 else abs(float(row["agreement"]) - count_agreement(labels)) < 1e-12, (row, labels)
    assert {len(record["annotator_labels"]) for record in records} == {1, 3, 5} and any(row["majority"] == "" for row in rows)
    assert abs(count_agreement(list("aaabc")) - 3 / 5) < 1e-12 and abs(count_agreement(list("aab")) - 1 / 3) < 1e-12 and count_agreement(list("ab")) == 0
    assert b"agreement" in (folder / "agreement.svg").read_bytes()


def test_dropout_beside_training(folder):
    training, dropout = (portolan.measures(name, store=folder / "portolan-store") for name in ("training", "dropout"))
    assert (training["epochs"] == 15).all() and (dropout["epochs"] == 50).all() and (dropout["variability"] > 0).all()
    with open(folder / "dropout.csv", encoding="ascii", newline="") as file:
        rows = {row["measure"]: row for row in csv.DictReader(file)}
    for measure in ("confidence", "variability"):
        r = np.corrcoef(training[measure], dropout[measure])[0, 1]
        low, high = np.tanh(np.arctanh(r) + np.array([-1, 1]) * 1.959963984540054 / np.sqrt(600 - 3))
        np.testing.assert_allclose([float(rows[measure][name]) for name in ("pearson", "pearson_low", "pearson_high")], [r, low, high], rtol=0, atol=1e-9)
        assert f"{measure}: r = {r:.3f}, 95% interval {low:.3f} to {high:.3f}" in (folder / "dropout.svg").read_text(encoding="utf-8")
    assert float(rows["confidence"]["pearson_low"]) > 0.8  # both ask the same of the model: which examples it has right for sure
    assert (folder / "dropout-map.svg").stat().st_size > 10000


def test_wrong_prices_are_the_hardest(folder):
    code = next(block for _, block in BLOCKS if 'Run("prices"' in block).partition("weights =")[0]
    space = {}
    exec(code, space)
    said = subprocess.run([os.environ["PORTOLAN"], "select", "prices", "--by", "hard-to-learn", "--count", "30"], cwd=folder, capture_output=True, text=True, check=True)
    hardest = {int(line) for line in said.stdout.split()}
    assert len(hardest & set(space["wrong"].tolist())) >= 28
    assert (folder / "prices.html").read_text(encoding="utf-8").count("wrong targets") == 1
