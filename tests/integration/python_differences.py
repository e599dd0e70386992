"""What takes two runs together: measures less those of another run, as numbers and as a map, and selections from the examples that any run
has. And what commands that show examples say of losses with a threshold. Against NumPy."""

import json
import re

import numpy as np
import pytest

import portolan
from python_losses import expected, portolan_says, random_losses, record
from python_losses_shown import says, table


def record_labels(store, name, p, ids, labels=None):
    with portolan.Run(name, store=store, labels=labels) as run:
        for epoch, row in enumerate(p):
            run.log_gold(epoch, ids, row, row > 0.5, gold=[0] * len(ids))
            run.end_epoch(epoch)


@pytest.fixture
def pair(store):
    """Two runs of 60 examples, 50 of which they share. Some are never right in the one, in the other, or in both."""
    rng = np.random.default_rng(3)
    p, q = rng.uniform(0, 1, (5, 60)), rng.uniform(0, 1, (5, 60))
    p[:, 10:25] *= 0.5
    q[:, 10:20] *= 0.5  # of the second run's rows, which begin at id 10: ids 20 to 29
    record_labels(store, "one", p, list(range(60)))
    record_labels(store, "other", q, list(range(10, 70)))
    return store


def test_equal_infinities_differ_by_nothing(pair):
    """With --never-learned infinity an example that neither run learned counts alike in both."""
    one, other = (portolan.measures(name, store=pair) for name in ("one", "other"))
    mine, theirs = (np.where(m["never_learned"] == 1, np.inf, m["forgetting_events"].astype(float)) for m in (one[10:], other[:50]))
    same = np.isinf(mine) & np.isinf(theirs)
    assert 0 < same.sum() < np.isinf(mine).sum() and (np.isinf(theirs) & ~np.isinf(mine)).any()
    with np.errstate(invalid="ignore"):
        difference = np.where(same, 0, mine - theirs)
    rows = table(portolan_says("metrics", "one", "--minus", "other", "--never-learned", "infinity", store=pair)[1])
    assert [float(row["forgetting_events"]) for row in rows] == difference.tolist()
    chosen = portolan_says("select", "one", "--minus", "other", "--never-learned", "infinity", "--by", "forgetting_events:desc", store=pair)[1]
    assert [int(line) for line in chosen.split()] == (10 + np.argsort(-difference, kind="stable")).tolist()


def test_a_map_of_differences(pair, tmp_path):
    """The points are where NumPy has the differences, and all that says what is drawn says of which runs."""
    one, other = (portolan.measures(name, store=pair) for name in ("one", "other"))
    code, out, said = portolan_says("map", "one", "--minus", "other", "-o", tmp_path / "m.svg", "--json", "--script", store=pair)
    assert code == 0 and "10 of 60 examples are not in every run, and left out" in said, said
    report = json.loads(out)
    assert report["x"]["measure"] == "Δ variability" and report["y"]["measure"] == "Δ confidence"
    assert report["colour"]["measure"] == "Δ correctness"
    assert [(m["run"], m["minus"], m["examples"], m["regions"]) for m in report["maps"]] == [("one", "other", 50, None)]
    for axis, name in (("x", "variability"), ("y", "confidence")):
        difference = one[name][10:] - other[name][:50]
        assert report[axis]["from"] <= difference.min() < 0 < difference.max() <= report[axis]["to"]
    difference = one["correctness"][10:] - other["correctness"][:50]
    assert report["colour"]["from"] <= difference.min() < 0 < difference.max() <= report["colour"]["to"]
    drawn = (tmp_path / "m.svg").read_text(encoding="utf-8")
    assert "one less other" in drawn and "Δ confidence" in drawn and "easy" not in drawn and "ambiguous" not in drawn
    assert portolan_says("map", "one", "--minus", "other", "-o", tmp_path / "n.svg", "--strict", store=pair)[0] == 3
    for words in (("--x", "loss"), ("--density",), ("--density", "--colour", "variability"), ("--colour", "gold"), ("--minus-epochs", "1:3"), ("--compact",)):
        code, _, said = portolan_says("map", "one", "--minus", "other", "-o", tmp_path / "n.svg", *words, store=pair)
        assert code == 0, (words, said)
    portolan.map("one", store=pair, minus="other", minus_epochs=(1, 3), never="next", x="first_learned").save(tmp_path / "p.svg")
    assert "Δ first learned" in (tmp_path / "p.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("words", [("--beside", "other"), ("--shift", "other"), ("--path", "12"), ("--regions", "auto"), ("--regions", "0.1,0.5"), ("--frames", "frames"), ("--corrections", "c.tsv")])
def test_what_is_no_map_of_differences(pair, tmp_path, words):
    code, _, said = portolan_says("map", "one", "--minus", "other", "-o", tmp_path / "m.svg", *words, store=pair)
    assert code == 2 and f"{words[0]} does not go with --minus: it is about one run's own measures" in said and not (tmp_path / "m.svg").exists(), said
    for file, why in (("m.html", "--minus is of pictures"), ("m.gif", "--minus and an animation are two pictures")):
        code, _, said = portolan_says("map", "one", "--minus", "other", "-o", tmp_path / file, store=pair)
        assert code == 2 and why in said, said


def test_a_map_with_epochs(pair, tmp_path):
    """Of epochs there is no difference, so they are not called one."""
    report = json.loads(portolan_says("map", "one", "--minus", "other", "--x", "epochs", "-o", tmp_path / "m.svg", "--json", store=pair)[1])
    assert report["x"]["measure"] == "epochs" and report["y"]["measure"] == "Δ confidence"


def test_examples_of_any_run_with_other_classes(store):
    """The number of a class means nothing in a run that gives it another name."""
    p = np.full((2, 6), 0.75)
    for name, ids, labels in (("abc", range(6), ["a", "b"]), ("xyz", range(3, 9), ["x", "y"]), ("abcd", range(3, 9), ["a", "b", "c"])):
        record_labels(store, name, p, list(ids), labels)
    for words in (("select", "abc", "--with", "xyz", "--union", "--by", "confidence:desc", "--with-measures", "--format", "csv"), ("compare", "abc", "xyz", "--average", "--union")):
        code, out, said = portolan_says(*words, store=store)
        assert code == 1 and not out and "run 'abc' calls class 0 'a', and run 'xyz' calls it 'x'" in said, (words, out, said)
    assert len(says("select", "abc", "--with", "abcd", "--union", "--by", "confidence:desc", "--with-measures", "--format", "csv", store=store).split()) == 10


def test_examples_of_any_run(pair):
    """The mean over the runs that have an example, as compare --average --union prints it."""
    average = table(portolan_says("compare", "one", "other", "--average", "--union", store=pair)[1])
    assert len(average) == 70
    values = np.array([float(row["confidence"]) for row in average])
    chosen = [int(line) for line in says("select", "one", "--with", "other", "--union", "--by", "confidence:desc", "--count", 65, store=pair).split()]
    assert chosen == np.argsort(-values, kind="stable")[:65].tolist() and set(chosen) - set(range(60))
    with pytest.warns(UserWarning, match="not in every run"):
        shared = portolan.select("one", by="confidence:desc", with_="other", store=pair)
    s = portolan.select("one", by="confidence:desc", with_="other", union=True, store=pair)
    assert len(shared) == 50 and s.ids()[:65] == chosen and len(s) == 70
    np.testing.assert_allclose(s["confidence"], -np.sort(-values), rtol=1e-12)
    assert len(portolan.select("one", by="random", count=12, only=[5, 65], with_="other", union=True, store=pair)) == 2
    for words, why in ((("--union",), "--union needs --with"), (("--with", "other", "--union", "--why", "-o", "x.txt"), "--union"), (("--with", "other", "--union", "--without-suspects"), "--union")):
        code, out, said = portolan_says("select", "one", "--by", "ambiguous", *words, store=pair)
        assert code == 2 and out == "" and why in said, said


def test_sources_of_a_file_of_their_own(pair, tmp_path):
    """Of as many sources as there are examples each gives one; the file is not printed, and its faults are named."""
    data = tmp_path / "sources.csv"
    data.write_text("key,from\n" + "".join(f"{i},{'rare' if i == 7 else 'web'}\n" for i in range(60)))
    s = portolan.select("one", by="s2l", count=2, clusters=2, sources="from", data=data, id_field="key", store=pair)
    assert 7 in s.ids() and len(s) == 2 and "confidence" in s.dtype.names
    words = ("select", "one", "--by", "s2l", "--count", 2, "--clusters", 2, "--sources", "from", "--id-field", "key")
    ids = says(*words, "--sources-data", data, store=pair).split()
    assert [str(i) for i in s.ids()] == ids
    joined = says(*words, "--data", data, store=pair).splitlines()
    assert [line.split(",")[0] for line in joined[1:]] == ids, "the same choice, whichever option names the file"
    says(*words, "--sources-data", data, "-o", tmp_path / "two.txt", store=pair)
    parameters = json.loads((tmp_path / "two.txt.manifest.json").read_text())["parameters"]
    assert (parameters["sources"], parameters["sources_data"], parameters["id_field"]) == ("from", str(data), "key")
    broken = tmp_path / "broken.csv"
    broken.write_text("key,from\n" + "".join(f"{i},web\n" for i in range(50)))
    with pytest.raises(portolan.Error, match="broken.csv: 10 of the 60 examples to choose from have no from there"):
        portolan.select("one", by="s2l", count=2, sources="from", data=broken, id_field="key", store=pair)
    code, _, said = portolan_says("select", "one", "--by", "s2l", "--sources", "from", "--sources-data", data, store=pair)
    assert code == 2 and "--sources-data needs --id-field" in said
    code, _, said = portolan_says("select", "one", "--by", "ambiguous", "--sources-data", data, "--id-field", "key", store=pair)
    assert code == 2 and "--sources-data needs --sources" in said


def test_a_map_of_losses_has_what_was_asked_for(store, tmp_path):
    """What a run of losses lacks is refused by the option's name, where it was asked for; the defaults are its own."""
    record(store, random_losses(5, 90, 6, 0.0), list(range(90)))
    for ending in ("svg", "html"):
        path = tmp_path / f"m.{ending}"
        for words, why in ((("--y", "confidence"), "--y: run 'run' records losses (log_loss), and confidence needs a label"),
                           (("--regions", "0.2,0.5"), "--regions: run 'run' records losses (log_loss)"), (("--regions", "auto"), "--regions: run 'run' records losses"),
                           (("--colour", "correctness"), "--colour: run 'run' records losses (log_loss), and correctness asks when an example is right: --loss-threshold T")):
            code, out, said = portolan_says("map", "run", "-o", path, *words, store=store)
            assert code == 1 and out == "" and why in said and not path.exists(), (words, said)
        for words in ((), ("--y", "task_loss"), ("--loss-threshold", 0.5), ("--loss-threshold", 0.5, "--colour", "correctness")):
            says("map", "run", "-o", path, *words, store=store)
    says("map", "run", "-o", tmp_path / "n.svg", "--regions", "none", store=store)
    record(store, random_losses(6, 90, 6, 0.0), list(range(90)), name="held-out")
    report = json.loads(says("map", "run", "--minus", "held-out", "-o", tmp_path / "d.svg", "--json", store=store))
    assert (report["y"]["measure"], report["colour"]["measure"]) == ("Δ task loss", "Δ learning speed")


def test_a_selection_by_what_needs_a_threshold(store, tmp_path):
    """The selection that the live page of `serve --loss-threshold` exports needs the option, and its error says so."""
    losses = random_losses(4, 60, 6, 0.0)
    record(store, losses, list(range(60)))
    path = tmp_path / "selection.json"
    path.write_text(json.dumps({"run": "run", "filters": {"correctness": {"min": 0.75}}}))
    code, out, said = portolan_says("select", "run", "--within", path, store=store)
    assert code == 1 and not out and f"{path}: run 'run' records losses (log_loss), and correctness asks when an example is right: --loss-threshold T" in said, said
    chosen = [int(line) for line in says("select", "run", "--within", path, "--loss-threshold", 1, store=store).split()]
    assert chosen == np.flatnonzero((losses <= 1).mean(0) >= 0.75).tolist() and 0 < len(chosen) < 60


def test_a_threshold_where_examples_are_shown(store, tmp_path):
    """show, report and the live page's view know when an example was right, as the definitions say."""
    losses = random_losses(9, 40, 8, 0.2)
    record(store, losses, list(range(40)))
    rows, at = list(expected(losses, 1, 0.5)), [3, 17, 31]
    report = json.loads(says("show", "run", *at, "--loss-threshold", 0.5, "--json", store=store))
    for i, example in zip(at, report["examples"]):
        right = [None if np.isnan(loss) else bool(loss <= 0.5) for loss in losses[:, i]]
        seen = [(epoch, one) for epoch, one in enumerate(right) if one is not None]
        assert example["correct"] == right
        assert example["forgotten"] == [epoch for (_, before), (epoch, now) in zip(seen, seen[1:]) if before and not now]
        assert len(example["forgotten"]) == rows[i]["forgetting_events"] == example["measures"]["forgetting_events"]
        assert example["measures"]["correctness"] == pytest.approx(rows[i]["correctness"])
    plain = json.loads(says("show", "run", *at, "--json", store=store))["examples"]
    assert "correct" not in plain[0] and "forgotten" not in plain[0] and "correctness" not in plain[0]["measures"]
    text = says("show", "run", *at, "--loss-threshold", 0.5, store=store)
    assert "right (at most 0.5)" in text and re.search(r"^ *id +task_loss +variability +learning_speed +loss +correctness +forgotten +right *$", text, re.MULTILINE), text
    assert text.count("forgotten") == 1 + sum(rows[i]["forgetting_events"] for i in at) and text.count("learned") == sum(not rows[i]["never_learned"] for i in at)
    report = json.loads(says("report", "run", "--epochs", "0:", "--loss-threshold", 0.5, "--json", store=store))
    tables = [block for section in report["sections"] for block in section["blocks"] if block["kind"] == "table" and section["id"] == "examples"]
    assert len(tables) == 2
    for block in tables:
        for row in block["rows"]:
            assert row["forgetting_events"] == rows[int(row["id"])]["forgetting_events"]
    assert all("--loss-threshold 0.5" in command["command"] for command in report["commands"] if command["command"].split()[1] in ("map", "select"))
    r = portolan.report("run", store=store, map=False, loss_threshold=0.5)
    r.save(tmp_path / "r.html")
    assert "forgetting" in (tmp_path / "r.html").read_text(encoding="utf-8")
    with portolan.serve("run", store=store, loss_threshold=0.5) as page:
        columns = {column["name"]: column for column in page._ask("api/view?run=run")["columns"]}
        assert columns["forgetting_events"]["high"] == max(row["forgetting_events"] for row in rows) > 0
