"""What was counted on the way, as `portolan check` and `portolan runs --json` show it afterwards."""

import json
import os
import subprocess

import numpy as np

import portolan
from python_support import Script, collector_has_left, kill_collectors


def ask(*words):
    done = subprocess.run([os.environ["PORTOLAN"], *words], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def check(store, run):
    return ask("check", "--store", str(store), "--json", "--", run)


def test_a_complete_run(store):
    random = np.random.default_rng(1)
    with portolan.Run("run", store=store, examples=5000) as run:
        for epoch in range(4):
            for part in np.array_split(random.permutation(5000), 7):
                run.log_gold(epoch, part, random.random(len(part)), np.ones(len(part), bool))
            run.end_epoch(epoch)
        assert run.flush()
        code, report = check(store, "run")
        assert code == 3 and report["problems"] == ["still being recorded: sessions live: 1"]
        assert all(epoch["missing"] == 0 for epoch in report["epochs"])
    stats = run.stats()
    assert collector_has_left(store)
    code, report = check(store, "run")
    assert (code, report["verdict"], report["problems"]) == (0, "complete", [])
    assert report["sessions"] == {"live": 0, "closed": 1, "never_closed": 0}
    assert report["observations"] == stats["logged"] == report["clients"]["logged"] == 20000
    assert report["counters"]["received"] == 20000 and report["counters"]["repeated"] == 0
    assert 0 < report["counters"]["bytes"] <= stats["bytes_sent"]
    commits = report["counters"]["commits"]
    assert sum(commits["by_log2_us"]) == commits["count"] > 0
    assert 0 < commits["longest_us"] <= commits["total_us"]
    listed = ask("runs", "--store", str(store), "--json")[1][0]
    assert listed["counters"] == report["counters"] and listed["clients"] == report["clients"]


def test_what_was_left_out_and_replaced(store):
    with portolan.Run("run", store=store, examples=10) as run:
        run.log_gold(0, range(10), [0.5] * 9 + [float("nan")], [True] * 10)
        run.log_gold(0, range(3), [0.25] * 3, [False] * 3)
        run.log_gold(2, range(9), [0.5] * 9, [True] * 9, gold=[1] * 9)
        run.log_gold(2, range(9), [0.5] * 9, [True] * 9, gold=[2] * 9)
    assert collector_has_left(store)
    code, report = check(store, "run")
    assert (code, report["verdict"]) == (3, "incomplete")
    assert report["clients"]["refused"] == 1
    assert report["replaced"] == 12 and report["changed_labels"] == 9
    assert report["skipped_epochs"] == 1 and report["missing"] == 2 and report["examples"] == 9
    assert [epoch["state"] for epoch in report["epochs"]] == ["ended", "ended"]
    assert [finding["kind"] for finding in report["findings"]] == ["never-observed", "missing", "skipped-epochs", "left-out",
                                                                         "replaced-within-epoch", "changed-labels"]


TRAINING = """
    import sys, numpy, portolan
    run = portolan.Run(sys.argv[2], store=sys.argv[1])
    for epoch in range(3):
        gold = (numpy.arange(1000) < 200 * epoch).astype(int)  # 200 labels change from epoch to epoch
        run.log_gold(epoch, range(1000), numpy.full(1000, 0.5), gold == 1, gold=gold)
    run.log_gold(3, [*range(1000), *range(50)], [0.5] * 1050, [True] * 1050)
    run.close()
    print("closed", flush=True)
    if "wait" in sys.argv:
        sys.stdin.readline()
"""


def check_training(store, name):
    code, report = check(store, name)
    counted = {what: report[what] for what in ("changed_labels", "replaced", "observations")}
    assert (code, counted) == (3, {"changed_labels": 400, "replaced": 50, "observations": 4000})
    assert [finding["kind"] for finding in report["findings"]] == ["replaced-within-epoch", "changed-labels"]
    listed, = (run for run in ask("runs", "--store", str(store), "--json")[1] if run["name"] == name)
    assert {what: listed[what] for what in counted} == counted


def test_a_check_at_once(store, script):
    """train.py && portolan check: what was acknowledged counts, whether it is folded or not."""
    for number in range(8):
        assert script(TRAINING, store, f"run{number}").end()[0] == 0
        check_training(store, f"run{number}")
    assert collector_has_left(store)
    for number in range(8):
        check_training(store, f"run{number}")


def test_a_collector_killed_after_the_close(store, script):
    """Nobody is left to fold."""
    training = script(TRAINING, store, "run", "wait")
    training.wait_for("closed")
    kill_collectors(store)
    training.end()
    assert collector_has_left(store)
    check_training(store, "run")


def test_a_killed_client(store):
    script = Script("""
        import os, sys, portolan
        run = portolan.Run("run", store=sys.argv[1])
        run.log_gold(0, [0, 1], [0.5, 0.5], [True, True])
        run.end_epoch(0)
        run.log_gold(1, [0], [0.5], [True])
        run.flush()
        print("stored", flush=True)
        sys.stdin.readline()
    """, store)
    script.wait_for("stored")
    script.process.kill()
    script.process.communicate()
    assert collector_has_left(store)
    code, report = check(store, "run")
    assert code == 3
    assert report["sessions"] == {"live": 0, "closed": 0, "never_closed": 1}
    assert [epoch["state"] for epoch in report["epochs"]] == ["ended", "interrupted"]
    # Whoever goes on with it, and logs the epoch again, makes it whole.
    with portolan.Run("run", store=store, resume=True) as run:
        run.log_gold(1, [0, 1], [0.5, 0.75], [True, True])
    assert collector_has_left(store)
    code, report = check(store, "run")
    assert (code, report["problems"]) == (0, [])
    assert report["sessions"]["never_closed"] == 1 and report["replaced"] == 1


def test_what_was_recorded_wrongly(store, capfd):
    """Ids that were places in the batch; an epoch's number that stayed 0; and a model with other classes after a resumption."""
    random = np.random.default_rng(1)
    labels = random.integers(0, 3, 3000)
    with portolan.Run("places", store=store) as run:
        for part in np.split(labels, 10):
            run.log_logits(0, range(300), random.normal(size=(300, 3)), part)
    with portolan.Run("zeros", store=store) as run:
        for _ in range(10):
            run.log_logits(0, range(300), random.normal(size=(300, 3)), labels[:300])
    for epoch, classes in ((0, 3), (1, 5)):
        with portolan.Run("classes", store=store, resume=True) as run:
            run.log_logits(epoch, range(300), random.normal(size=(300, classes)), labels[:300])
    assert collector_has_left(store)
    capfd.readouterr()
    for name, kinds in (("places", ["shared-ids", "changed-labels"]), ("zeros", ["one-epoch-number"]), ("classes", ["classes"])):
        code, report = check(store, name)
        assert (code, report["verdict"], [finding["kind"] for finding in report["findings"]]) == (3, "incomplete", kinds)
        assert "2,700 of 3,000" in report["problems"][0] or name == "classes"
