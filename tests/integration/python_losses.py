"""Runs that record losses of any task, against NumPy: measures, thresholds, what other commands say of them, and what they are not."""

import json
import os
import subprocess

import numpy as np
import pytest

import portolan

MEASURES = ("task_loss", "variability", "loss_ema", "learning_speed", "detrended_variability")


def portolan_says(*words, store):
    done = subprocess.run([os.environ["PORTOLAN"], *map(str, words), "--store", store], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def random_losses(seed, examples, epochs, missing):
    """Losses that fall, jump and may be below 0, NaN where nothing was seen; each example is seen at least once."""
    rng = np.random.default_rng(seed)
    losses = rng.normal(1, 0.4, (epochs, examples)) * np.exp(-np.arange(epochs)[:, None] * rng.uniform(0, 0.3, examples)) + rng.normal(0, 0.5, examples)
    losses[rng.random(losses.shape) < missing] = np.nan
    losses[rng.integers(0, epochs, examples), np.arange(examples)] = rng.normal(1, 1, examples)
    return losses.astype(np.float32)


def record(store, losses, ids, name="run", step=1):
    rng = np.random.default_rng(1)
    with portolan.Run(name, store=store) as run:
        for epoch, row in enumerate(losses):
            for rows in np.array_split(rng.permutation(np.flatnonzero(~np.isnan(row))), 3):
                run.log_loss(step * epoch, [ids[i] for i in rows], row[rows], size=rows.astype(np.float32))
            run.end_epoch(step * epoch)


def expected(losses, step=1, threshold=None):
    """Example by example, as the definitions read."""
    for column in losses.T.astype(np.float64):
        at = np.flatnonzero(~np.isnan(column))
        seen, epochs = column[at], step * at
        ema = 0.0
        for loss in seen:  # datumaro's LossDynamicsAnalyzer: a first value of 0, and pandas' ewm(alpha=0.001, adjust=False)
            ema = (1 - 0.001) * ema + 0.001 * loss
        slope, begin = np.polyfit(epochs, seen, 1) if len(at) > 1 else (np.nan, np.nan)
        row = {"epochs": len(at), "task_loss": seen.mean(), "variability": seen.std(), "loss_ema": ema, "learning_speed": -slope,
               "detrended_variability": (seen - begin - slope * epochs).std() if len(at) > 2 else np.nan}
        if threshold is not None:
            right = seen <= threshold
            row |= {"correctness": right.mean(), "forgetting_events": (right[:-1] & ~right[1:]).sum(), "never_learned": int(not right.any()),
                    "first_learned": epochs[right][0] if right.any() else -1,
                    "always_right_after": next((epochs[k] for k in range(len(at)) if right[k:].all()), -1),
                    "always_wrong_after": next((epochs[k] for k in range(len(at)) if not right[k:].any()), -1)}
        yield row


@pytest.mark.parametrize("kind", ["int", "str"])
@pytest.mark.parametrize("examples, epochs, missing, step", [(700, 9, 0.35, 1), (130, 12, 0.0, 3), (70, 1, 0.0, 1), (90, 2, 0.3, 1)])
def test_measures(store, kind, examples, epochs, missing, step):
    losses = random_losses(examples, examples, epochs, missing)
    ids = sorted((f"wört-{i}" for i in range(examples)), key=str.encode) if kind == "str" else list(range(examples))
    record(store, losses, ids, step=step)
    for threshold in (None, 0.5):
        m = portolan.measures("run", store=store, loss_threshold=threshold)
        rows = list(expected(losses, step, threshold))
        assert set(m.dtype.names) == {"id", "gold", "size", *rows[0]} and m["id"].tolist() == ids
        for name in rows[0]:
            wanted = np.array([row[name] for row in rows], dtype=np.float64)
            np.testing.assert_allclose(m[name].astype(np.float64), wanted, rtol=1e-9, atol=1e-9, err_msg=name)


def test_many_threads_say_the_same(store):
    losses = random_losses(5, 40_000, 4, 0.2)
    record(store, losses, list(range(40_000)))
    once = [portolan_says("metrics", "run", "--threads", n, "--loss-threshold", 0.3, store=store)[1] for n in (1, 2)]
    assert once[0] == once[1] and once[0].count("\n") == 40_001


def test_selections(store):
    losses = random_losses(7, 200, 6, 0.0)
    record(store, losses, list(range(200)))
    m = portolan.measures("run", store=store, loss_threshold=0.5)
    ids = lambda *words: [int(line) for line in portolan_says("select", "run", *words, store=store)[1].split()]
    hardest = np.argsort(-m["task_loss"], kind="stable")
    assert ids("--by", "hard-to-learn", "--count", 20) == ids("--by", "task_loss:desc", "--count", 20) == hardest[:20].tolist()
    assert ids("--by", "easy-to-learn", "--count", 20) == np.argsort(m["task_loss"], kind="stable")[:20].tolist()
    assert ids("--by", "ambiguous", "--count", 20) == np.argsort(-m["variability"], kind="stable")[:20].tolist()
    forgettable = set(m["id"][(m["forgetting_events"] > 0) | (m["never_learned"] == 1)].tolist())
    assert set(ids("--by", "forgettable", "--loss-threshold", 0.5)) == forgettable and 0 < len(forgettable) < 200
    assert portolan.select("run", by="learning_speed:asc", count=9, store=store)["id"].tolist() == np.argsort(m["learning_speed"], kind="stable")[:9].tolist()
    for words in (("forgettable",), ("region:ambiguous",), ("group:hard",), ("confidence:asc",), ("dual-beta", "--fraction", "0.1"), ("dyn_unc:desc", "--window", "2"), ("tdds:desc",), ("ambiguous", "--why"), ("ambiguous", "--without-suspects")):
        code, out, said = portolan_says("select", "run", "--by", *words, store=store)
        assert code == 1 and out == "" and "records losses" in said, (words, code, said)


def test_other_commands(store, tmp_path):
    losses = random_losses(3, 60, 5, 0.1)
    record(store, losses, list(range(60)))
    rows = [line.split(",") for line in portolan_says("epochs", "run", store=store)[1].split()]
    assert rows[0] == ["epoch", "examples", "mean_loss"]
    np.testing.assert_allclose([float(row[2]) for row in rows[1:]], np.nanmean(losses.astype(np.float64), axis=1), rtol=1e-12)
    d = portolan.dynamics("run", store=store)
    assert d.dtype.names == ("id", "epoch", "task_loss", "size")
    np.testing.assert_array_equal(np.sort(d["task_loss"][d["epoch"] == 2]), np.sort(losses[2][~np.isnan(losses[2])]))
    for words in (("-o", tmp_path / "m.svg"), ("-o", tmp_path / "n.svg", "--loss-threshold", "0.5"), ("-o", tmp_path / "d.svg", "--density")):
        code, _, said = portolan_says("map", "run", *words, store=store)
        assert code == 0, said
    drawn = (tmp_path / "m.svg").read_text(encoding="utf-8")
    assert "task loss" in drawn and "learning speed" in drawn and "confidence" not in drawn
    assert portolan_says("check", "run", store=store)[0] == 3  # observations are missing
    for words in (("suspects", "run"), ("noise", "mixture", "run"), ("groups", "run", "--classes"), ("metrics", "run", "--format", "cartography"), ("noise", "plan", "run", "--fraction", "0.1", "-o", "-")):
        code, out, said = portolan_says(*words, store=store)
        assert code == 1 and out == "" and "have no labels" in said, (words, code, said)


def test_two_groups_and_the_loss_less_that_of_another_model(store):
    """DivideMix's groups are those of what was logged, whatever the task; RHO-loss is the loss less the hold-out model's."""
    losses = random_losses(11, 80, 3, 0.0)
    losses[:, :20] += 9
    record(store, losses, list(range(80)))
    _, out, said = portolan_says("noise", "mixture", "run", "--by", "loss", "--epochs", "2:3", "--suspects", store=store)
    rows = [line.split(",") for line in out.split()[1:]]
    assert {int(row[0]) for row in rows} == set(range(20)) and "20 of 80 examples have a score above 0.5" in said
    held_out = random_losses(12, 90, 2, 0.0)
    record(store, held_out[:, :70], list(range(10, 80)), name="held-out")
    with pytest.warns(UserWarning, match="10 of 80 examples are not in every run"):
        m = portolan.measures("run", store=store, epochs="2:3", minus="held-out", minus_epochs="1:")
    rho = losses[2, 10:].astype("f8") - held_out[1, :70]
    np.testing.assert_allclose(m["task_loss"], rho, rtol=0, atol=1e-12)
    with pytest.warns(UserWarning, match="are not in every run"):
        best = portolan.select("run", by="task_loss:desc", count=5, store=store, epochs="2:3", minus="held-out", minus_epochs="1:")
    assert best["id"].tolist() == (10 + np.argsort(-rho, kind="stable")[:5]).tolist()


def test_losses_and_labels_do_not_mix(store):
    with portolan.Run("losses", store=store) as run:
        run.log_loss(0, [1, 2], [0.5, -0.5])
        with pytest.raises(ValueError, match="records losses"):
            run.log_gold(0, [3], [0.5], [True])
        with pytest.raises(ValueError, match="a signal has this name"):
            run.log_loss(0, [3], [0.5], task_loss=[1.0])
    with portolan.Run("labels", store=store) as run:
        run.log_gold(0, [1], [0.5], [True])
        with pytest.raises(ValueError, match="records probabilities of labels"):
            run.log_loss(0, [3], [0.5])
    with portolan.Run("labels", store=store, resume=True) as run:  # another process: the collector knows what the run is
        run.log_loss(1, [1, 2], [0.5, 0.5])
        run.flush()
        assert run.stats()["refused"] == 2
    assert portolan.measures("labels", store=store)["confidence"].tolist() == [0.5]
    with portolan.Run("losses", store=store, resume=True) as run:
        run.log_loss(1, [1], [0.25])
    assert portolan.measures("losses", store=store)["task_loss"].tolist() == [0.375, -0.5]


def test_rows_decide_what_a_run_records(store):
    """A call that logs nothing decides nothing; columns come as a dict as well."""
    with portolan.Run("run", store=store) as run:
        run.log_loss(0, [1], [float("nan")])
        run.log_gold(0, [1], [0.5], [True])
    assert portolan.measures("run", store=store)["confidence"].tolist() == [0.5]
    with portolan.Run("losses", store=store) as run:
        run.log_loss(0, [1], [0.5], columns={"size": [2.0]}, weight=[3.0])
    m = portolan.measures("losses", store=store)
    assert (m["size"].tolist(), m["weight"].tolist()) == ([2.0], [3.0])


def test_what_is_no_loss(store, capfd):
    with portolan.Run("run", store=store) as run:
        run.log_loss(0, [1, 2, 3, 4], np.array([0.5, np.nan, np.inf, 1e300]))
        for wrong in ([[0.5, 1.0]], [0.5, 0.5], "loss"):
            with pytest.raises((ValueError, TypeError)):
                run.log_loss(0, [1], wrong)
        run.flush()
        assert run.stats()["logged"] == 1 and run.stats()["refused"] == 3
    assert "a loss that is not finite" in capfd.readouterr().err
    with portolan.Run("strict", store=store, strict=True) as run, pytest.raises(portolan.RowsRefused, match="not finite"):
        run.log_loss(0, [1, 2], [np.nan, 1.0])


def test_all_kinds_of_arrays(store):
    torch = pytest.importorskip("torch")
    with portolan.Run("run", store=store) as run:
        run.log_loss(0, torch.tensor([1, 2]), torch.tensor([0.5, 1.5], requires_grad=True), length=torch.tensor([3, 4]))
        run.log_loss(1, [1, 2], torch.tensor([0.25, 0.5], dtype=torch.bfloat16))
    m = portolan.measures("run", store=store)
    assert m["task_loss"].tolist() == [0.375, 1.0] and m["length"].tolist() == [3.0, 4.0]


def test_json_names_the_kind(store):
    record(store, random_losses(1, 9, 3, 0.0), list(range(9)))
    with portolan.Run("labels", store=store) as run:
        run.log_gold(0, [1], [0.5], [True])
    runs = json.loads(portolan_says("runs", "--json", store=store)[1])
    assert {run["name"]: run["kind"] for run in runs} == {"run": "loss", "labels": "labels"}


def test_regression(store):
    """Squared errors, and what triage needs; of a calibration run that has the same residuals, each target stands in the middle of its own."""
    rng = np.random.default_rng(0)
    target = rng.normal(0, 1, 40)
    for name in ("train", "calibration"):
        with portolan.Run(name, store=store) as run:
            for epoch in range(3):
                predicted = target + rng.normal(0, 1, 40)
                run.log_regression(epoch, list(range(40)), predicted[:, None] if epoch else predicted.tolist(), target, weight=np.ones(40))
                run.end_epoch(epoch)
            for wrong in ((target[:3], target), (np.ones((40, 2)), target), (target, "target")):
                with pytest.raises((ValueError, TypeError)):
                    run.log_regression(3, list(range(40)), *wrong)
    d = portolan.dynamics("train", store=store)
    assert d.dtype.names == ("id", "epoch", "task_loss", "prediction", "target", "weight")
    np.testing.assert_allclose(d["task_loss"], (d["prediction"] - d["target"]) ** 2, rtol=1e-5, atol=1e-5)
    code, out, said = portolan_says("triage", "train", "--calibration", "train", "--format", "csv", store=store)
    scores = np.array([float(line.split(",")[2]) for line in out.split()[1:]])
    assert code == 0 and abs(scores.mean() - 0.5) < 1e-12, said
    code, out, said = portolan_says("triage", "train", "--calibration", "calibration", "--json", store=store)
    assert code == 0 and json.loads(out)["calibration_examples"] == 40, said
