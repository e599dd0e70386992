"""What all hooks share, without any framework: shapes of tasks, the run's record, errors, the closing line."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import portolan
from portolan._recording import _closing, _hooks, _shapes

LOGITS = np.array([[2.0, -1.0, 0.5], [0.5, 1.5, -0.5]], dtype="f4")


def epochs_of(store, name="run"):
    m = portolan.measures(name, store=store)
    return dict(zip(m["id"].tolist(), m["epochs"].tolist()))


def recorder(store, run="run", mode="epoch-end", **options):
    one = _hooks.Recorder("portolan.test", run, mode, {"store": store, **options})
    one.open("default", _hooks.record("Model", {}))
    return one


def test_no_framework_is_imported():
    code = "import sys, portolan; print(sorted({'torch', 'numpy', 'keras', 'sklearn', 'transformers'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
    code = "import inspect, sys, portolan; inspect.getmembers(portolan); sys.exit('portolan.torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0, "help() and the like import none either"
    with pytest.raises(AttributeError, match="nothing_such"):
        _ = portolan.nothing_such


def test_a_recorder_logs_and_says_what_there_is(store, capfd):
    one = recorder(store)
    for epoch in range(3):
        one.log_logits(epoch, [4, 7], LOGITS, [0, 1])
        one.end_epoch(epoch)
    one.close()
    assert epochs_of(store) == {4: 3, 7: 3}
    line = capfd.readouterr().err
    assert line.startswith("portolan: run run: 6 observations on disk (")
    assert line.endswith(f"its report: portolan report run --store {store} -o report.html; its map: portolan map run --store {store} --epochs auto -o map.png\n")
    assert line.count("\n") == 1
    one.close()
    assert capfd.readouterr().err == "", "closed once"


def test_the_map_command_can_be_pasted(store):
    with portolan.Run("it's a run", store=store) as run:
        run.log_logits(0, [0, 1], LOGITS, [0, 1])
        command = _closing.command(run, "map", "--epochs", "auto", "-o", "map.png")
    done = subprocess.run(["sh", "-c", f'{command.replace("portolan", "$PORTOLAN", 1)} --compact'], cwd=store.parent, check=True)
    assert done.returncode == 0
    assert (store.parent / "map.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_of_the_caller_stays_open(store, capfd):
    with portolan.Run("run", store=store) as run:
        one = _hooks.Recorder("portolan.test", run, "epoch-end")
        one.open("default", {})
        one.log_logits(0, [1, 2], LOGITS, [0, 1])
        one.close()
        assert run.is_open
        assert "2 observations on disk" in capfd.readouterr().err
        run.log_logits(1, [1, 2], LOGITS, [0, 1])
    assert epochs_of(store) == {1: 2, 2: 2}
    with pytest.raises(portolan.Closed, match="portolan.test: run run is closed"):
        one.open("default", {})


def test_the_mode_of_an_open_run_must_be_right(store):
    with portolan.Run("run", store=store) as run:
        with pytest.raises(ValueError, match="mode='epoch-end', but this is 'train-forward'"):
            _hooks.Recorder("portolan.test", run, "train-forward")
        with pytest.raises(TypeError, match="labels cannot be given with an open run"):
            _hooks.Recorder("portolan.test", run, "epoch-end", {"labels": ["a"]})


def test_a_run_that_exists_is_refused_and_a_resumed_one_goes_on(store):
    recorder(store).close()
    with pytest.raises(portolan.Refused, match="exists"):
        recorder(store)
    again = _hooks.Recorder("portolan.test", "run", "epoch-end", {"store": store})
    again.open("default", {}, resumed=True)
    again.log_logits(5, [4, 7], LOGITS, [0, 1])
    again.close()
    assert epochs_of(store) == {4: 1, 7: 1}


def test_fits_that_are_not_told_apart_are_runs_of_their_own(store):
    """Also at the same time; one that goes on does so with its run."""
    fits = [_hooks.Recorder("portolan.test", "run", "epoch-end", {"store": store}) for _ in range(3)]
    for number, one in enumerate(fits):
        one.open("default", {}, fold=True)
        one.log_logits(0, [number, 7], LOGITS, [0, 1])
    assert [one.run.name for one in fits] == ["run/fold0", "run/fold1", "run/fold2"]
    for one in fits:
        one.close()
    fits[1].open("default", {}, resumed=True, fold=True)
    fits[1].log_logits(1, [1, 7], LOGITS, [0, 1])
    fits[1].close()
    assert [epochs_of(store, f"run/fold{k}") for k in range(3)] == [{0: 1, 7: 1}, {1: 2, 7: 2}, {2: 1, 7: 1}]
    with pytest.raises(ValueError, match='folds=True does not say with which run: give the name that it has, such as run/fold0, and if_exists="resume"'):
        _hooks.Recorder("portolan.test", "run", "epoch-end", {"store": store}).open("default", {}, resumed=True, fold=True)


def test_a_loop_that_fails_at_once_has_no_map(store, capfd):
    recorder(store).close()
    assert capfd.readouterr().err == "portolan: run run: nothing was recorded\n"
    one = recorder(store, "refused")
    one.log_logits(0, [1, 2], LOGITS * np.nan, [0, 1])
    one.close()
    assert capfd.readouterr().err.splitlines()[-1] == "portolan: run refused: nothing was recorded: 2 rows could not be used"


def test_without_a_name_the_frameworks_is_taken(store):
    recorder(store, None).close()
    assert "default" in subprocess.run([os.environ["PORTOLAN"], "runs", "--store", store], capture_output=True, text=True).stdout


def test_an_operational_error_does_not_end_the_training(store, capfd):
    one = recorder(store)
    one.run.close()
    capfd.readouterr()
    for _ in range(2):
        one.log_logits(0, [0, 1], LOGITS, [0, 1])
    one.flush()
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 1 and "training goes on" in lines[0]


def remove(store):
    subprocess.run([os.environ["PORTOLAN"], "rm", "run", "--store", store], check=True)


def test_a_run_that_is_removed_does_not_end_the_training(store, capfd):
    one = recorder(store)
    remove(store)
    for epoch in range(3):
        one.log_logits(epoch, [0, 1], LOGITS, [0, 1])
        one.end_epoch(epoch)
        one.flush()
    one.close()
    said = capfd.readouterr().err
    assert said.count("is no longer recorded") == 1 and said.count("observations are lost") == 1, said


def test_a_strict_run_that_is_removed_ends_it(store):
    one = recorder(store, strict=True)
    remove(store)
    with pytest.raises(portolan.Closed, match="removed"):
        for epoch in range(1000):
            one.log_logits(epoch, [0, 1], LOGITS, [0, 1])
            one.flush()
    with pytest.raises(portolan.Closed, match="removed"):
        one.close()


def test_wrong_arguments_raise_and_leave_the_run_usable(store):
    one = recorder(store)
    with pytest.raises(ValueError):
        one.log_logits(0, [0, 1, 2], LOGITS, [0, 1])
    with pytest.raises(ValueError, match="gold"):
        one.log_logits(0, [0, 1], LOGITS, [0, 3])
    one.log_logits(0, [0, 1], LOGITS, [0, 1])
    one.close()
    assert epochs_of(store) == {0: 1, 1: 1}


def test_strict_is_asked_for(store):
    one = recorder(store, strict=True)
    with pytest.raises(portolan.RowsRefused):
        one.log_logits(0, [0, 1], LOGITS * np.nan, [0, 1])
    one.close()


def test_the_record():
    record = _hooks.record(np.random.default_rng(0), _hooks.versions_of("numpy", "no_such"), 7, {
        "lr": np.float64(0.1), "nan": math.nan, "path": Path("some/path"), "nested": {"a": (1, {2})}, "f": len, "cls": dict, "o": object()})
    assert record["model"] == "Generator" and record["seed"] == 7
    assert record["versions"]["numpy"] == np.__version__ and "no_such" not in record["versions"]
    assert json.loads(json.dumps(record, allow_nan=False))["parameters"] == {
        "lr": 0.1, "nan": "nan", "path": "some/path", "nested": {"a": [1, [2]]}, "f": "len", "cls": "dict", "o": "object"}


def test_what_the_caller_gives_wins(store):
    given = {}

    def open_run(name, **options):
        given.update(options, name=name)
        return portolan.Run(name, **options)

    one = _hooks.Recorder("portolan.test", "run", "train-forward", {"store": store, "config": {"seed": 3, "note": "x"}, "labels": ["a", "b"]})
    one.open("default", {"seed": 1, "model": "M"}, open_run=open_run, labels=["c"], examples=10)
    one.close()
    assert given["config"] == {"hook": "portolan.test", "model": "M", "seed": 3, "note": "x"}
    assert given["labels"] == ["a", "b"] and given["examples"] == 10 and given["mode"] == "train-forward"


def test_a_changed_gold_label_is_said_once(store, capfd):
    with portolan.Run("ints", store=store) as run, portolan.Run("strings", store=store) as other:
        for epoch in range(3):
            labels = np.array([0, 1, 2, epoch == 1], dtype=np.uint8)
            run.log_logits(epoch, np.array([5, 2**63, 7, 8], dtype=np.uint64), np.zeros((4, 3)), labels)
            other.log_gold(epoch, ["a", "ä" * 100, "c", "\u00e4" * 99 + "ab"], np.ones(4), np.ones(4, dtype=bool), labels)
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("portolan: run ints: epoch 1: id 8 has the gold label 1, and had 0 before. ")
    assert lines[1].startswith(f"portolan: run strings: epoch 1: id '{'ä' * 99}ab' has the gold label 1, and had 0 before. ")


def test_an_id_that_returns_within_an_epoch_is_said_once(store, capfd):
    """With gold labels that agree, and without any; of integers and strings; check has a verdict of its own."""
    ids = np.arange(1000) % 600
    with portolan.Run("ints", store=store) as run, portolan.Run("strings", store=store) as other:
        for epoch in range(2):
            for part in np.array_split(ids, 10):
                run.log_logits(epoch, part, np.zeros((len(part), 3)), part % 3)
                other.log_gold(epoch, [f"id{i}" for i in part.tolist()], np.ones(len(part)), np.ones(len(part), dtype=bool))
            run.end_epoch(epoch)
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 2, lines
    said = "was logged in this epoch before, and only its latest observation is kept. Do several examples share an id, or does a batch begin"
    assert lines[0].startswith(f"portolan: run ints: epoch 0: id 0 {said}")
    assert lines[1].startswith(f"portolan: run strings: epoch 0: id 'id0' {said}")
    for name in ("ints", "strings"):
        check = subprocess.run([os.environ["PORTOLAN"], "check", name, "--store", store, "--json"], capture_output=True, text=True)
        assert check.returncode == 3
        findings = json.loads(check.stdout)["findings"]
        assert [(one["kind"], one["problem"].rpartition(": ")[2]) for one in findings] == [("replaced-within-epoch", "800 of 2,000")]


def test_ids_that_differ_in_few_letters_are_told_apart(store, capfd):
    """The letters are the last of a word of eight, and those of the next word that could undo what it changes in a product."""
    letters = "0123456789abcdefghijklmnopqrstuvwxyz"
    with portolan.Run("run", store=store) as run:
        for label, series in enumerate(letters):
            ids = [f"series-{series}-no{number}-at{place}" for number in letters for place in letters]
            run.log_gold(0, ids, np.ones(len(ids)), np.ones(len(ids), dtype=bool), np.full(len(ids), label))
    assert capfd.readouterr().err == ""


def ids_of_hash(hashes):
    """The integers that the mixing of labels.c, turned back, leads to."""
    x = hashes ^ hashes >> np.uint64(31) ^ hashes >> np.uint64(62)
    x *= np.uint64(pow(0x94D049BB133111EB, -1, 2**64))
    x ^= x >> np.uint64(27) ^ x >> np.uint64(54)
    x *= np.uint64(pow(0xBF58476D1CE4E5B9, -1, 2**64))
    return x ^ x >> np.uint64(30) ^ x >> np.uint64(60)


def test_an_id_whose_row_was_refused_does_not_return(store, capfd):
    """Logits given to log_probs() by mistake, and then to log_logits(): these are the first of their ids."""
    with portolan.Run("run", store=store) as run:
        run.log_probs(0, [3, 4], LOGITS, [0, 1])
        run.log_logits(0, [3, 4], LOGITS, [0, 1])
    (line,) = capfd.readouterr().err.splitlines()
    assert "2 of 2 rows refused" in line


def test_a_refused_row_does_not_hide_an_id_that_returns(store, capfd):
    with portolan.Run("run", store=store) as run:
        run.log_gold(0, [3, 4], [0.5, 0.5], [True, True])
        run.log_gold(0, [5, 4], [float("nan"), 0.5], [True, True])
    said = capfd.readouterr().err
    assert "1 of 2 rows refused" in said and "id 4 was logged in this epoch before" in said, said


def test_ids_chosen_to_meet_are_not_looked_for_without_end(store, capfd):
    """Beyond 256 of them in one place, an id is not remembered: it would cost more with each of them."""
    ids = ids_of_hash(np.arange(1, 1001, dtype=np.uint64) << np.uint64(33) | np.uint64(5))

    def log(run, some):
        run.log_gold(0, some, np.ones(len(some)), np.ones(len(some), dtype=bool))

    with portolan.Run("run", store=store) as run:
        log(run, ids)
        log(run, ids[256:])
        assert capfd.readouterr().err == ""
        log(run, ids[255:256])
    assert f"id {ids[255]} was logged in this epoch before" in capfd.readouterr().err


def test_a_label_that_changes_and_an_id_that_returns_are_both_said(store, capfd):
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, [3, 4], LOGITS, [0, 1])
        run.log_logits(0, [5, 4], LOGITS, [0, 2])
        run.log_logits(0, [4, 3], LOGITS, [0, 2])
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("portolan: run run: epoch 0: id 4 has the gold label 2, and had 1 before. ")
    assert lines[1].startswith("portolan: run run: epoch 0: id 4 was logged in this epoch before")


@pytest.mark.parametrize("texts", (False, True))
def test_more_ids_than_are_remembered(store, capfd, texts):
    """The first 65,536 are: one of them is noticed among many that are not."""
    ids = np.arange(70_000) * 7919
    ids = [f"id{i}" for i in ids] if texts else ids
    gold = np.arange(len(ids)) % 3
    with portolan.Run("run", store=store) as run:
        for epoch in range(2):
            labels = np.where(np.arange(len(ids)) == 65_535, epoch, gold)
            run.log_gold(epoch, ids, np.ones(len(ids)), np.ones(len(ids), dtype=bool), labels)
            run.end_epoch(epoch)
        run.log_gold(1, ids[65_536:], np.ones(4464), np.ones(4464, dtype=bool), (gold[65_536:] + 1) % 3)  # nobody knows these
        assert len(lines := capfd.readouterr().err.splitlines()) == 1, lines
        assert lines[0].startswith(f"portolan: run run: epoch 1: id {repr(ids[65_535]) if texts else ids[65_535]} has the gold label 1, and had 0 before. ")
        run.log_gold(1, ids[-5000:], np.ones(5000), np.ones(5000, dtype=bool), gold[-5000:])
        assert f"id {repr(ids[65_000]) if texts else ids[65_000]} was logged in this epoch before" in capfd.readouterr().err


def test_an_epoch_that_a_resumed_run_logs_again_is_not_remarked_on(store, capfd):
    """Replaced as well, but by another session."""
    for resume in (False, True):
        with portolan.Run("run", store=store, resume=resume) as run:
            run.log_logits(0, [3, 4], LOGITS, [0, 1])
            run.end_epoch(0)
    assert capfd.readouterr().err == ""
    check = subprocess.run([os.environ["PORTOLAN"], "check", "run", "--store", store, "--json"], capture_output=True, text=True)
    assert check.returncode == 0 and json.loads(check.stdout)["replaced"] == 2


def test_gold_labels_that_stay_are_not_remarked_on(store, capfd):
    """More ids than are remembered, of all lengths, and in another order each time."""
    generator = np.random.default_rng(0)
    with portolan.Run("ints", store=store) as run, portolan.Run("strings", store=store) as other:
        for epoch in range(2):
            for ids in np.array_split(generator.permutation(100_000), 50):
                run.log_gold(epoch, ids * 2**40, np.ones(len(ids)), np.ones(len(ids), dtype=bool), ids % 7)
            for ids in np.array_split(generator.permutation(20_000), 20):
                other.log_gold(epoch, [str(i) * (1 + i % 50) for i in ids.tolist()], np.ones(len(ids)), np.ones(len(ids), dtype=bool), ids % 7)
    assert capfd.readouterr().err == ""


def test_without_gold_labels_there_is_nothing_to_compare(store, capfd):
    with portolan.Run("run", store=store) as run:
        for epoch in range(2):
            run.log_gold(epoch, [1], [0.5], [True])
    assert capfd.readouterr().err == ""


def rows(*arguments):
    return _shapes.without_ignored(*_shapes.as_rows(*arguments))


def test_shapes_pass_through():
    ids, scores, gold = rows([1, 2], LOGITS, np.array([[0], [1]]))
    assert ids == [1, 2] and scores is LOGITS and gold.tolist() == [0, 1]
    assert rows([1, 2], LOGITS.tolist(), [0, 1]) == ([1, 2], LOGITS.tolist(), [0, 1])


def test_binary_with_one_logit_and_float_targets(store):
    one = recorder(store)
    one.log_logits(0, [0, 1], np.array([[0.0], [math.log(3)]]), np.array([[1.0], [1.0]], dtype="f4"))
    one.close()
    np.testing.assert_allclose(portolan.measures("run", store=store)["confidence"], [0.5, 0.75], rtol=1e-6)
    with pytest.raises(ValueError, match="soft labels"):
        rows([0], np.zeros((1, 1)), np.array([0.9]))


@pytest.mark.parametrize("logits, gold, p", [(np.float64(0), 1, 0.5), (np.log([1.0, 3.0, 4.0]), 2, 0.5)])
def test_one_example_whose_row_was_squeezed(store, logits, gold, p):
    one = recorder(store)
    one.log_logits(0, ["a"], logits, np.array([gold]))
    one.close()
    np.testing.assert_allclose(portolan.measures("run", store=store)["confidence"], [p], rtol=1e-6)


def test_an_epoch_without_observations_is_said_once(store, capfd):
    one = recorder(store)
    one.log_logits(0, [1, 2], LOGITS, [0, 1])
    for epoch in range(3):
        one.end_epoch(epoch)
    one.close()
    assert capfd.readouterr().err.count("nothing was recorded in epoch 1") == 1


def test_multiple_choice_with_ragged_options(store):
    one = recorder(store)
    one.log_logits(0, ["a", "b"], [np.zeros(2), [0.0, 0.0, math.log(2)]], [1, 2])
    one.close()
    np.testing.assert_allclose(portolan.measures("run", store=store)["confidence"], [0.5, 0.5], rtol=1e-6)


def test_what_has_no_label_is_left_out(store):
    one = recorder(store)
    one.log_logits(0, np.array([3, 4]), LOGITS, np.array([-100, 1]))
    one.log_logits(0, ["5", "6"][:0], LOGITS[:0], np.array([], dtype=int))
    one.log_logits(0, [8, 9], LOGITS.tolist(), [2, -100])
    one.close()
    assert epochs_of(store) == {4: 1, 8: 1}


def test_tokens_get_ids_that_padding_does_not_change():
    gold = np.array([[-100, 1, 0, -100], [2, -100, -100, -100]])
    right = rows([10, 11], np.arange(24.0).reshape(2, 4, 3), gold)
    assert right[0] == ["10/0", "10/1", "11/0"]
    assert right[2].tolist() == [1, 0, 2]
    assert right[1].tolist() == [[3, 4, 5], [6, 7, 8], [12, 13, 14]]
    left = rows(["10"], np.zeros((1, 6, 3)), np.array([[-100, -100, -100, -100, 1, 0]]))
    assert left[0] == ["10/0", "10/1"]


@pytest.mark.parametrize("gold", [np.eye(2, 3), np.ones((2, 3), dtype=int)])
def test_multi_label_is_refused_with_what_to_do(gold):
    with pytest.raises(ValueError, match=r"several labels per example.*argmax.*binary example of its own"):
        rows([0, 1], LOGITS, gold)


def test_a_shape_that_is_no_table_is_refused():
    with pytest.raises(ValueError, match="a row of scores per example"):
        rows([0, 1], np.zeros((2, 3, 4)), np.array([0, 1]))
