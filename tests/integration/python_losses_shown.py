"""What the commands that show, follow and compare runs say of runs of losses, against NumPy."""

import csv
import io
import json
import os
import re

import numpy as np
import pytest

import portolan
from python_losses import portolan_says, random_losses, record


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


def says(*words, store):
    code, out, said = portolan_says(*words, store=store)
    assert code == 0, (words, code, said)
    return out


def observed(losses):
    """By epoch, the mean loss, as a sum of doubles."""
    return [row[~np.isnan(row)].astype(np.float64).mean() for row in losses]


def test_watch(store):
    losses = random_losses(11, 300, 5, 0.2)
    record(store, losses, list(range(300)))
    line = says("watch", "run", "--once", store=store)
    assert f"mean loss {observed(losses)[-1]:.4g}" in line and "closed" in line
    look = json.loads(says("watch", "run", "--once", "--json", store=store))
    assert list(look["epochs"][0]) == ["epoch", "observed", "mean_loss"] and "forgetting" not in look
    np.testing.assert_allclose([epoch["mean_loss"] for epoch in look["epochs"]], observed(losses), rtol=1e-12)
    assert [epoch["observed"] for epoch in look["epochs"]] == (~np.isnan(losses)).sum(1).tolist()
    for text in (line, json.dumps({**look, "counters": {}})):
        assert not any(word in text.lower() for word in ("nan", "learned", "accuracy", "confidence", "forg")), text


def test_show(store):
    losses = random_losses(12, 40, 6, 0.3)
    record(store, losses, list(range(40)))
    m = portolan.measures("run", store=store)
    told = json.loads(says("show", "run", 7, 3, "--json", store=store))
    assert told["epochs"] == list(range(6)) and [example["id"] for example in told["examples"]] == [7, 3]
    for example in told["examples"]:
        wanted = [None if np.isnan(loss) else float(loss) for loss in losses[:, example["id"]]]
        np.testing.assert_array_equal(np.float32([np.nan if x is None else x for x in example["task_loss"]]), losses[:, example["id"]])
        assert [x is None for x in example["task_loss"]] == [x is None for x in wanted]
        assert not {"gold_prob", "correct", "forgotten"} & set(example) and example["gold"] is None
        for name in ("task_loss", "variability", "learning_speed", "loss_ema", "detrended_variability"):
            np.testing.assert_allclose(np.float64(example["measures"][name]), m[name][example["id"]], rtol=1e-12)
    os.environ["LC_ALL"] = "C"
    try:
        text = says("show", "run", 7, 3, store=store)
    finally:
        del os.environ["LC_ALL"]
    both = losses[:, [7, 3]].astype(np.float64)
    low, high = np.nanmin(both), np.nanmax(both)
    head, row = text.splitlines()[1], text.splitlines()[3].split()
    assert head == f"marks, one an epoch: loss 0 ({low:.4g}) to 9 ({high:.4g}); not observed ."
    marks = "".join("." if np.isnan(loss) else str(min(9, int((loss - low) / (high - low) * 10))) for loss in both[:, 0])
    assert row[0] == "7" and row[-1] == marks, (row, marks)
    assert text.splitlines()[2].split() == ["id", "task_loss", "variability", "learning_speed", "loss"]
    assert not any(word in text for word in ("gold", "correct", "nan", "forgotten"))


def spearman(x, y):
    ranks = [np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(np.float64) for values in (x, y)]
    return np.corrcoef(*ranks)[0, 1]


def test_compare(store, tmp_path):
    a = random_losses(21, 200, 6, 0.0)
    b = (a + np.random.default_rng(3).normal(0, 0.3, a.shape)).astype(np.float32)
    record(store, a, list(range(200)), "a")
    record(store, b[:, :150], list(range(150)), "b")
    with portolan.Run("labels", store=store) as run:
        run.log_gold(0, [1, 2], [0.5, 0.25], [True, False])
    code, out, said = portolan_says("compare", "a", "b", store=store)
    assert code == 0 and "50 examples that only run 'a' has" in said
    rows = {row["measure"]: row for row in table(out)}
    assert list(table(out)[0]) == ["measure", "run_a", "run_b", "examples", "pearson", "spearman", "pearson_low", "pearson_high"]
    assert {"task_loss", "variability", "learning_speed", "detrended_variability", "loss_ema"} <= set(rows) and "confidence" not in rows
    first, second = (portolan.measures(name, store=store) for name in "ab")
    for name in ("task_loss", "variability", "learning_speed"):
        x, y = first[name][:150], second[name][:150]
        np.testing.assert_allclose([float(rows[name]["pearson"]), float(rows[name]["spearman"])], [np.corrcoef(x, y)[0, 1], spearman(x, y)], rtol=1e-9)
    report = json.loads(portolan_says("compare", "a", "b", "--json", "--early-stopping", store=store)[1])
    assert "regions" not in report and report["selections"][0]["selected_a"] == 50
    epochs = report["early_stopping"]["epochs"]
    means = np.cumsum(a.astype(np.float64), axis=0) / np.arange(1, 7)[:, None]
    np.testing.assert_allclose([row["task_loss_pearson"] for row in epochs], [np.corrcoef(mean, means[-1])[0, 1] for mean in means], rtol=1e-9)
    np.testing.assert_allclose([row["task_loss_spearman"] for row in epochs], [spearman(mean, means[-1]) for mean in means], rtol=1e-9)
    assert epochs[0]["variability_pearson"] is None and epochs[-1]["variability_pearson"] == pytest.approx(1)
    assert list(table(says("compare", "a", "--early-stopping", store=store))[0])[2:4] == ["task_loss_pearson", "task_loss_spearman"]
    says("compare", "a", "--early-stopping", "--plot", tmp_path / "early.svg", store=store)
    assert "task loss" in (tmp_path / "early.svg").read_text(encoding="utf-8")
    hard = np.argsort(-first["task_loss"][:150], kind="stable")[:15], np.argsort(-second["task_loss"], kind="stable")[:15]
    row = table(portolan_says("compare", "a", "b", "--show", "selection", "--by", "hard-to-learn", "--fraction", 0.1, store=store)[1])[0]
    assert int(row["both"]) == len(set(hard[0]) & set(hard[1]))
    average = table(portolan_says("compare", "a", "b", "--average", store=store)[1])
    np.testing.assert_allclose([float(row["task_loss"]) for row in average], (first["task_loss"][:150] + second["task_loss"]) / 2, rtol=1e-12)
    for words in (("compare", "a", "labels"), ("compare", "labels", "a", "--average"), ("map", "a", "--beside", "labels", "-o", tmp_path / "m.svg"), ("select", "a", "--with", "labels", "--by", "ambiguous")):
        code, out, said = portolan_says(*words, store=store)
        assert code != 0 and out == "" and "run 'a' records losses (log_loss), run 'labels' probabilities of labels" in said, (words, said)
    for words in (("--show", "regions"), ("--regions", "0.1,0.5")):
        code, out, said = portolan_says("compare", "a", "b", *words, store=store)
        assert code == 1 and out == "" and "have no labels" in said, (words, said)


def test_groups(store, tmp_path):
    losses = random_losses(31, 300, 6, 0.0)
    record(store, losses, list(range(300)))
    rng = np.random.default_rng(2)
    length, kind = rng.integers(1, 100, 300), rng.choice(["web", "book"], 300)
    data = tmp_path / "data.csv"
    data.write_text("id,length,kind\n" + "".join(f"{i},{length[i]},{kind[i]}\n" for i in range(300)))
    m = portolan.measures("run", store=store, loss_threshold=0.5)
    file = ("--data", data, "--id-field", "id", "--replicates", 0)
    for rule, chosen in (("hard-to-learn", np.argsort(-m["task_loss"], kind="stable")[:30]), ("learning_speed:desc", np.argsort(-m["learning_speed"], kind="stable")[:30])):
        rows = table(says("groups", "run", *file, "--by", rule, "--count", 30, store=store))
        assert {row["gold"] for row in rows} == {"all"}
        np.testing.assert_allclose([float(rows[0]["all"]), float(rows[0]["selected"])], [length.mean(), length[chosen].mean()])
        web = next(row for row in rows if row["value"] == "web")
        np.testing.assert_allclose(float(web["selected"]), (kind[chosen] == "web").mean())
    forgettable = (m["forgetting_events"] > 0) | (m["never_learned"] == 1)
    rows = table(says("groups", "run", *file, "--loss-threshold", 0.5, store=store))
    assert int(rows[0]["selected_examples"]) == forgettable.sum()
    counts = {int(row["forgetting_events"]): int(row["examples"]) for row in table(says("groups", "run", "--forgetting", "--loss-threshold", 0.5, store=store)) if row["forgetting_events"]}
    assert counts[1] == (m["forgetting_events"] == 1).sum()
    for words in (("--forgetting",), file, (*file, "--by", "confidence:asc", "--count", 3), (*file, "--by", "region:ambiguous"), ("--classes",), ("--classes", "--loss-threshold", 0.5)):
        code, out, said = portolan_says("groups", "run", *words, store=store)
        assert code == 1 and out == "" and "records losses (log_loss)" in said, (words, code, said)


def test_report(store, tmp_path):
    losses = random_losses(41, 200, 8, 0.0)
    record(store, losses, list(range(200)))
    record(store, (losses + np.float32(0.1)).astype(np.float32), list(range(200)), "other")
    m = portolan.measures("run", store=store)
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps({"id": i, "text": f"house {i}", "rooms": int(i % 7)}) + "\n" for i in range(200)))
    code, out, said = portolan_says("report", "run", "other", "--epochs", "0:", "--data", data, "--id-field", "id", "--text", "text", "--json", store=store)
    assert code == 0 and said == "", said
    report = json.loads(out)
    sections = {section["id"]: section["blocks"] for section in report["sections"]}
    assert list(sections) == ["record", "map", "hurts", "examples", "epochs", "runs", "done"]
    assert any("records losses (log_loss), which have no labels" in block.get("text", "") for block in sections["record"])
    assert not any("Not known" in block.get("text", "") for blocks in sections.values() for block in blocks)
    ambiguous, hardest = (block for block in sections["examples"] if block["kind"] == "table")
    assert [row["id"] for row in hardest["rows"]] == np.argsort(-m["task_loss"], kind="stable")[:8].tolist()
    assert [row["id"] for row in ambiguous["rows"]] == np.argsort(-m["variability"], kind="stable")[:8].tolist()
    np.testing.assert_allclose([row["task_loss"] for row in hardest["rows"]], np.sort(m["task_loss"])[::-1][:8], rtol=1e-12)
    assert hardest["rows"][0]["text"] == f"house {hardest['rows'][0]['id']}" and "gold" not in hardest["rows"][0]
    table = next(block for block in sections["epochs"] if block["kind"] == "table")
    np.testing.assert_allclose([row["mean_loss"] for row in table["rows"]], observed(losses), rtol=1e-12)
    assert "accuracy" not in table["rows"][0] and table["curves"] == {"mean_loss": True}
    correlations = [block for block in sections["runs"] if block["kind"] == "table"][1]["rows"]
    assert {row["measure"] for row in correlations} == {"task_loss", "variability", "learning_speed"} and all(row["pearson"] > 0.999 for row in correlations)
    assert [step["command"].split()[1] for step in report["next"]] == ["serve", "select", "select"]
    for step in report["next"][1:]:
        done = os.system(f"cd {tmp_path} && PATH={os.path.dirname(os.environ['PORTOLAN'])}:$PATH {step['command']} -q 2>/dev/null")
        assert done == 0, step
    assert not any(word in out for word in ("p(gold)", "NaN", "confidence"))
    for name in ("r.html", "r.md", "r.txt"):
        says("report", "run", "-o", tmp_path / name, store=store)


def test_python_reads_them(store):
    losses = random_losses(42, 60, 4, 0.2)
    record(store, losses, list(range(60)))
    e = portolan.epochs("run", store=store)
    assert e.dtype.names == ("epoch", "examples", "mean_loss")
    np.testing.assert_allclose(e["mean_loss"], observed(losses), rtol=1e-12)
    r = portolan.report("run", store=store, map=False)
    assert "forgettable" not in r and [list(epoch) for epoch in r["epochs"]] == [["epoch", "observed", "mean_loss"]] * 4
    np.testing.assert_allclose([epoch["mean_loss"] for epoch in r["epochs"]], observed(losses), rtol=1e-12)


def test_export(store, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    losses = random_losses(43, 80, 3, 0.2)
    record(store, losses, list(range(80)))
    done = portolan.export("run", tmp_path / "out", store=store)
    assert done.rows == (~np.isnan(losses)).sum() and done.epochs == (0, 1, 2)
    for epoch in range(3):
        (path,) = (tmp_path / "out" / "run=run" / f"epoch={epoch}").glob("part-*.parquet")
        file = parquet.ParquetFile(path)
        assert file.schema_arrow.names == ["id", "task_loss", "size", "gold", "session_started", "rank", "session"]
        assert not file.schema_arrow.field("task_loss").nullable and str(file.schema_arrow.field("task_loss").type) == "float"
        rows = file.read()
        known = np.flatnonzero(~np.isnan(losses[epoch]))
        np.testing.assert_array_equal(rows["id"].to_numpy(), known)
        np.testing.assert_array_equal(rows["task_loss"].to_numpy(), losses[epoch][known])
        assert rows["gold"].null_count == len(known)
    assert portolan.export("run", tmp_path / "out", store=store).kept == 3
    portolan.export("run", tmp_path / "m.parquet", store=store, what="measures")
    m = portolan.measures("run", store=store)
    np.testing.assert_array_equal(parquet.read_table(tmp_path / "m.parquet")["learning_speed"].to_numpy(), m["learning_speed"])


def test_one_epoch_and_losses_that_stay(store, tmp_path):
    """Where nothing varies there is nothing of labels in what is said, and no minus before 0."""
    with portolan.Run("one", store=store) as run:
        run.log_loss(0, [1, 2], [0.5, 2.0])
    with portolan.Run("same", store=store) as run:
        for epoch in range(3):
            run.log_loss(epoch, [1, 2], [2.0, 2.0])
    code, out, said = portolan_says("select", "one", "--by", "ambiguous", store=store)
    assert code == 0 and "go by the mean loss (select --by task_loss:desc)" in said
    for run in ("one", "same"):
        for name in ("m.svg", "m.html"):
            portolan_says("map", run, "-o", tmp_path / name, store=store)
        for words in (("show", run, 1), ("watch", run, "--once"), ("compare", run, "--early-stopping"), ("metrics", run), ("report", run)):
            text = says(*words, store=store)
            assert not any(word in text.lower() for word in ("nan", "inf", "confidence")), (words, text)
            assert not re.search(r"-0(\.0+)?(?![\d.])", text), (words, text)


def test_runs_names_the_kind(store):
    record(store, random_losses(1, 9, 3, 0.0), list(range(9)))
    with portolan.Run("labels", store=store) as run:
        run.log_gold(0, [1], [0.5], [True])
    with portolan.Run("nothing", store=store):
        pass
    rows = table(says("runs", store=store))
    assert list(rows[0])[-1] == "kind" and {row["name"]: row["kind"] for row in rows} == {"run": "loss", "labels": "labels", "nothing": ""}
    assert {run.name: run.kind for run in portolan.runs(store)} == {"run": "loss", "labels": "labels", "nothing": None}
