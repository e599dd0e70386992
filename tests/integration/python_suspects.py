"""portolan.suspects(): what portolan suspects prints, with its method and doubts; and runs that were recorded out of fold."""

import csv
import io
import os
import subprocess
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import portolan
import portolan.sklearn

N, CLASSES, EPOCHS = 300, 3, 6


def record(store, name="run", ids=range(N), labels=None, wrong=20, config=None):
    """A run whose first examples have wrong labels, of which the model is sure."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, CLASSES, N)
    gold = np.where(np.arange(N) < wrong, (truth + 1) % CLASSES, truth)
    with portolan.Run(name, store=store, labels=labels, config=config or {}) as run:
        for epoch in range(EPOCHS):
            logits = rng.normal(size=(N, CLASSES)).astype("f4")
            logits[np.arange(N), truth] += 5
            run.log_logits(epoch, list(ids), logits, gold)
            run.end_epoch(epoch)
    return truth, gold


def printed(store, *words):
    done = subprocess.run([os.environ["PORTOLAN"], "suspects", "--store", store, *map(str, words)], check=True, capture_output=True, text=True)
    return list(csv.DictReader(io.StringIO(done.stdout)))


@pytest.mark.parametrize("ids, labels", [(range(N), None), ([f"wört, {i}" for i in range(N)], ["a", "b", "c"])], ids=["numbers", "texts"])
@pytest.mark.parametrize("given, words", [
    ({}, []),
    ({"count": 30}, ["--count", 30]),
    ({"fraction": 0.2, "epochs": "1:"}, ["--fraction", 0.2, "--epochs", "1:"]),
    ({"all": True}, ["--all"]),
])
def test_it_is_what_the_command_prints(store, ids, labels, given, words):
    truth, _ = record(store, ids=ids, labels=labels)
    s = portolan.suspects("run", store=store, **given)
    rows = printed(store, *words, "run")
    assert [str(one) for one in s.ids()] == [row["id"] for row in rows] and len(s) > 0
    assert [str(one) for one in s["suggested"]] == [row["suggested"] or ("" if labels else "-1") for row in rows]
    assert s["rank"].tolist() == list(range(1, len(s) + 1)) and s["score"].tolist() == [float(row["score"]) for row in rows]
    if not given:
        assert {list(ids).index(one) for one in s.ids()} == set(range(20)) and s.method["called"] == 20
        names = truth[[list(ids).index(one) for one in s.ids()]]
        assert s["suggested"].tolist() == [labels[c] if labels else c for c in names]
    assert s.method["by"] == "aum" and s.method["ranked"] == N and not s.method["out_of_fold"]


def test_texts_corrections_and_an_open_run(store, tmp_path):
    data, file = tmp_path / "data.csv", tmp_path / "corrections.tsv"
    data.write_text("id,label,text\n" + "".join(f'{i},x,"words, of {i}"\n' for i in range(N)))
    record(store, labels=["a", "b", "c"])
    s = portolan.suspects("run", data, id_field="id", corrections=file, store=store)
    assert s.dtype.names == ("rank", "id", "label", "suggested", "score", "data_label", "text") and s["text"][0] == f"words, of {s['id'][0]}"
    assert s[:3].method == s.method
    lines = file.read_text().splitlines()
    assert lines[0] == "id\told\tnew\tdata_label\ttext" and len(lines) == 21
    assert lines[1] == f"{s['id'][0]}\t{s['label'][0]}\t{s['suggested'][0]}\tx\twords, of {s['id'][0]}"
    with pytest.raises(portolan.Error, match="exists, and may have been edited"):
        portolan.suspects("run", corrections=file, store=store)
    assert len(portolan.suspects("run", text="text", data=data, id_field="id", corrections=file, overwrite=True, count=2, store=store)) == 2
    assert len(file.read_text().splitlines()) == 3
    with portolan.Run("open", store=store) as run:
        run.log_probs(0, [1, 2, 3], [[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]], [0, 0, 0])
        run.end_epoch(0)
        with pytest.warns(UserWarning, match="the list is weak: 1 epoch: rankings settle after about 5"):
            assert portolan.suspects(run)["id"].tolist() == [3]


def test_flips(store, tmp_path):
    """With flips there are probabilities, and a number to expect."""
    rng, file = np.random.default_rng(2), tmp_path / "flips.tsv"
    truth = rng.integers(0, CLASSES, 2000)
    gold = np.where(np.arange(2000) < 100, (truth + 1) % CLASSES, truth)
    flipped = np.where(np.arange(2000) >= 1900, (gold + 1) % CLASSES, gold)
    file.write_text("id\told\tnew\n" + "".join(f"{i}\t{gold[i]}\t{flipped[i]}\n" for i in range(1900, 2000)))
    with portolan.Run("run", store=store) as run:
        for epoch in range(EPOCHS):
            logits = rng.normal(size=(2000, CLASSES)).astype("f4")
            logits[np.arange(2000), truth] += 4
            run.log_logits(epoch, np.arange(2000), logits, flipped)
    s = portolan.suspects("run", flips=file, store=store)
    assert s.dtype.names == ("rank", "id", "label", "suggested", "score", "probability") and (s["id"] < 100).all() and len(s) > 80
    assert s["probability"].max() > 0.9 and s.expected["low"] <= 100 <= s.expected["high"] and s.expected["examples"] == 1900
    assert portolan.suspects("run", store=store).expected is None


def test_out_of_fold(store):
    """cross_val_track's runs say that they were recorded out of fold, and so may a config; the runs of its folds do not."""
    X, truth = load_digits(return_X_y=True)
    X, truth = X[:600] / 16, truth[:600]
    gold = truth.copy()
    gold[:30] = (gold[:30] + 1) % 10
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        portolan.sklearn.cross_val_track(LogisticRegression(max_iter=200), X, gold, "run", in_fold=True, store=store)
        s = portolan.suspects("run", store=store)
    assert s.method["out_of_fold"] and s.method["by"] == "log-odds" and s.weak == []
    assert (s["id"] < 30).sum() >= 25 and len(s) < 50, s
    with pytest.warns(UserWarning, match="the list is weak: 1 epoch: rankings settle after about 5"):
        s = portolan.suspects("run/fold0", store=store)
    assert not s.method["out_of_fold"] and any("1 epoch" in sentence for sentence in s.weak)
    record(store, "said", config={"out_of_fold": True})
    assert portolan.suspects("said", store=store).method["out_of_fold"]


def test_nothing_to_say(store):
    record(store, "right", wrong=0)
    with pytest.warns(UserWarning, match="the model contradicts no label"):
        s = portolan.suspects("right", store=store)
    assert len(s) == 0 and s.dtype.names == ("rank", "id", "label", "suggested", "score") and len(s.weak) == 1
    with portolan.Run("p", store=store) as run:
        run.log_gold(0, [1, 2, 3], [0.9, 0.1, 0.8], [True, False, True], [0, 1, 0])
    with pytest.warns(UserWarning, match="the run holds p of the label and no margins"):
        s = portolan.suspects("p", count=1, store=store)
    assert s["id"].tolist() == [2] and s["suggested"].tolist() == [-1] and s.method["called"] == 0
    with portolan.Run("unlabelled", store=store) as run:
        run.log_gold(0, [1, 2, 3], [0.9, 0.1, 0.8], [True, False, True])
    with pytest.raises(portolan.Error, match="has no gold labels"):
        portolan.suspects("unlabelled", store=store)
