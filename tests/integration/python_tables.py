"""What measures(), runs() and dynamics() return, as NumPy and people see it; pandas, polars, DuckDB and Arrow are in
tests/frameworks/test_tables.py."""

import copy
import csv
import html
import io
import json
import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import portolan
from portolan import _files
from portolan._reading._table import Table


def record(store, name="words", ids=None, epochs=3, labels=None, **options):
    """Example 0 is never learned; the last one's gold label is not known."""
    ids = list(range(12)) if ids is None else ids
    n = len(ids)
    p = np.linspace(0.05, 0.95, n)
    with portolan.Run(name, store=store, labels=labels, **options) as run:
        for epoch in range(epochs):
            run.log_gold(epoch, ids[:-1], (p[:-1] + epoch / 100), p[:-1] > 0.3, gold=[0] * (n - 1))
            run.log_gold(epoch, ids[-1:], p[-1:], [True])
            run.end_epoch(epoch)
    return ids


@pytest.fixture
def words(store):
    record(store, labels=["cat", "dog"])
    return portolan.measures("words", store=store)


def test_what_a_record_array_can_do(words):
    m = words
    assert len(m) == 12 and m.shape == (12,) and m.dtype.names[:2] == ("id", "gold")
    assert isinstance(m["confidence"], np.ndarray) and m["confidence"].dtype == np.float64
    assert (m.confidence == m["confidence"]).all()
    assert m[3].id == m[3]["id"] == m[3][0] == 3 and m[-1].id == 11
    assert [row.id for row in m] == m["id"].tolist() == list(range(12))
    assert m["id"][m["variability"].argsort()[::-1][:2]].shape == (2,)
    assert np.sort(m, order="confidence")["id"].tolist() == m["id"][np.argsort(m["confidence"], kind="stable")].tolist()
    assert m.argsort(order="confidence").tolist() == np.argsort(np.asarray(m), order="confidence").tolist()
    assert np.concatenate([m, m]).shape == (24,) and np.asarray(m).dtype == m.to_numpy().dtype
    assert (m == m).all() and not (m != m).any() and (m == np.asarray(m)).all()
    assert m.tolist()[0][0] == 0 and m.nbytes == m.to_numpy().nbytes and m.copy()["id"].tolist() == list(range(12))
    m["confidence"][0] = 0.5
    m["variability"] = 0.25
    assert m.to_numpy()["confidence"][0] == 0.5 and set(m.variability) == {0.25}
    with pytest.raises(AttributeError, match="no column or attribute 'confidenc'"):
        m.confidenc  # noqa: B018
    with pytest.raises(ValueError, match="no column 'confidenc'; the columns: id, gold, epochs, confidence, "):
        m["confidenc"]


def test_an_array_saved_and_read(words, tmp_path):
    np.save(tmp_path / "m.npy", words)
    back = np.load(tmp_path / "m.npy")
    assert back.dtype == words.to_numpy().dtype and back.tolist() == words.to_numpy().tolist()


def test_some_rows_and_columns_are_a_table_too(words):
    for part, ids in ((words[words["never_learned"] == 0], words["id"][words["never_learned"] == 0].tolist()), (words[2:5], [2, 3, 4]),
                      (words[[7, 1]], [7, 1]), (words[:0], [])):
        assert type(part) is type(words) and part["id"].tolist() == ids and len(part) == len(ids)
    two = words[["id", "confidence"]]
    assert type(two) is type(words) and np.asarray(two).dtype == [("id", "<u8"), ("confidence", "<f8")]
    assert np.concatenate([two, two])["confidence"][:12].tolist() == words["confidence"].tolist() and two[1] == (1, words["confidence"][1])
    assert len(words) == 12


def plain(table, row):
    """The values of a row of the structured array, None where there is none."""
    return [None if value != value or value in (-1, "") else value for value in table.to_numpy()[row].item()]


def test_rows(words):
    row = words[0]
    assert type(row) is not type(words) and row == tuple(plain(words, 0)) and list(row) == list(row[:])
    assert row.first_learned is None and row.never_learned is True and words[-1].gold is None and words[11] == words[np.int64(-1)]
    assert row._fields == words.dtype.names and row.gold == 0 and isinstance(row.confidence, float)
    assert pickle.loads(pickle.dumps(row)) == row and pickle.loads(pickle.dumps(row)).id == 0
    with pytest.raises(KeyError, match="no column 'idd'; the columns: id, gold"):
        row["idd"]
    with pytest.raises(AttributeError, match="idd"):
        row.idd  # noqa: B018
    assert words[(0,)] == words[..., 0] == row and words[(0,)].id == 0 and words[(slice(2),)]["id"].tolist() == [0, 1]
    for which in (12, (12,), (0, 0)):
        with pytest.raises(IndexError):
            words[which]


def test_it_is_used_as_a_table(words, tmp_path):
    assert words.columns == list(words.dtype.names) and "aum" not in words and "gold" in words and words[3] in words
    assert words.head(3)["id"].tolist() == [0, 1, 2] and len(words.head()) == 5 and len(words.head(-2)) == 10 and type(words.head()) is type(words)
    down = words.sort_values("confidence", ascending=False)
    assert down["id"].tolist() == list(range(11, -1, -1)) and type(down) is type(words) and words["id"].tolist() == list(range(12))
    first = words["first_learned"].tolist()
    for rises in (True, False):
        there = sorted((i for i in range(12) if first[i] >= 0), key=lambda i: first[i] if rises else -first[i])
        assert words.sort_values("first_learned", ascending=rises)["id"].tolist() == there + [i for i in range(12) if first[i] < 0]
    two = words.sort_values(["never_learned", "confidence"], ascending=[False, True])
    assert two["never_learned"].tolist() == sorted(words["never_learned"].tolist(), reverse=True) and two["id"][0] == 0
    with pytest.raises(ValueError, match="no column 'idd'; the columns: id, gold"):
        words.sort_values("idd")
    with pytest.raises(ValueError, match="by names no column; the columns: id, gold"):
        words.sort_values([])
    for wrong in ("no", None, 2, [None]):
        with pytest.raises(TypeError, match="ascending must be True or False, not "):
            words.sort_values("confidence", ascending=wrong)
    with pytest.raises(ValueError, match="ascending has 2 entries for 1 columns"):
        words.sort_values("confidence", ascending=[True, False])
    assert words.sort_values("confidence", ascending=np.array([False]))["id"].tolist() == down["id"].tolist()
    for falls in (0, np.False_):
        assert words.sort_values("confidence", ascending=falls)["id"].tolist() == down["id"].tolist()
    assert words.sort_values("confidence", ascending=np.True_)["id"].tolist() == words.sort_values(["confidence"], [1])["id"].tolist() == list(range(12))
    assert len(words[~words["never_learned"]]) + len(words[words["never_learned"]]) == 12


def test_truths_are_booleans(store):
    record(store)
    for table in (portolan.measures("words", store=store), portolan.select("words", "confidence:asc", count=5, store=store)):
        assert table["never_learned"].dtype == bool and table["never_learned"][0]
    record(store, "others")
    less = portolan.measures("words", store=store, minus="others")
    assert less["never_learned"].dtype == np.float64, "a difference is a number"


def test_csv_is_the_programs(store, tmp_path):
    for ids, labels in ((None, None), ([f'wört, "{i}"' for i in range(12)], ["c,at", "dog"])):
        name = "a" if ids is None else "b"
        record(store, name, ids=ids, labels=labels)
        m = portolan.measures(name, store=store)
        assert m.to_csv(tmp_path / "m.csv") is None
        printed = portolan._programs.analyze("metrics", "--store", str(store), "--", name).decode()
        assert (tmp_path / "m.csv").read_text(encoding="utf-8") == m.to_csv()
        ours, theirs = (list(csv.reader(io.StringIO(text))) for text in (m.to_csv(), printed))
        assert ours[0] == theirs[0] and len(ours) == len(theirs) == 13
        for mine, other in zip(ours[1:], theirs[1:]):
            assert [one == two or float(one) == float(two) for one, two in zip(mine, other)] == [True] * len(mine)


def test_a_file_has_its_name_when_it_is_whole(words, tmp_path, monkeypatch):
    from portolan._reading import _columns

    path = tmp_path / "m.csv"
    (tmp_path / "link.csv").symlink_to(path)
    words.to_csv(path)
    path.chmod(0o640)
    words.head(2).to_csv(tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink() and path.read_text(encoding="utf-8") == words.head(2).to_csv() and path.stat().st_mode & 0o777 == 0o640
    before = path.read_bytes()

    def half(file, names, blocks):
        file.write("half")
        raise KeyboardInterrupt

    monkeypatch.setattr(_columns, "write_csv", half)
    with pytest.raises(KeyboardInterrupt):
        words.to_csv(path)
    assert path.read_bytes() == before and sorted(one.name for one in tmp_path.glob("*.*")) == ["link.csv", "m.csv"]
    assert not [one for one in tmp_path.iterdir() if one.name.startswith(".")]
    with pytest.raises(FileNotFoundError, match="none/m.csv'"):
        words.to_csv(tmp_path / "none" / "m.csv")
    with pytest.raises(OSError, match="File name too long: .*/nnn"):
        words.to_csv(tmp_path / f"{'n' * 252}.csv")


def test_a_file_may_have_the_longest_name(words, tmp_path):
    path = tmp_path / f"{'n' * 251}.csv"
    words.to_csv(path)
    assert path.read_text(encoding="utf-8") == words.to_csv() and list(tmp_path.glob("*.csv")) == [path]


def rights(path):
    return {oct(one.stat().st_mode & 0o777) for one in path.iterdir()}


def test_what_only_its_owner_may_read_nobody_else_reads_while_it_is_written(tmp_path):
    mask = os.umask(0o022)
    try:
        for name, before, meanwhile in (("private", 0o600, {"0o600"}), ("shared", 0o664, {"0o600", "0o664"}), ("new", None, {"0o644"})):
            folder = tmp_path / name
            folder.mkdir()
            if before:
                (folder / "m.csv").touch()
                (folder / "m.csv").chmod(before)
            with _files.whole(folder / "m.csv", "w") as file:
                file.write("of the owner")
                file.flush()
                assert rights(folder) == meanwhile
            assert rights(folder) == {oct(before or 0o644)}
    finally:
        os.umask(mask)


def test_two_write_the_same_file(tmp_path):
    with _files.whole(tmp_path / "m", "w") as first, _files.whole(tmp_path / "m", "w") as second:
        first.write("the first, which ends last")
        second.write("the second")
    assert (tmp_path / "m").read_text() == "the first, which ends last" and len(list(tmp_path.iterdir())) == 1


def test_texts_of_any_characters_are_read_back_from_csv():
    texts = ["a\rb", "c\nd", "\r\n", 'q"', "e,f", "\r", " g ", "plain"]
    table = Table("texts", np.array(list(enumerate(texts)), [("id", "u8"), ("text", "U8")]))
    assert list(csv.reader(io.StringIO(table.to_csv(), newline=""))) == [["id", "text"], *([str(i), text] for i, text in enumerate(texts))]
    assert table.to_csv().splitlines()[0] == "id,text" and table.to_csv().endswith('6, g \n7,plain\n')


def test_a_device_is_written_itself(words, capfd):
    words.to_csv("/dev/stdout")
    assert capfd.readouterr().out == words.to_csv() and os.path.exists("/dev/stdout")


def test_one_long_id_does_not_make_all_wide(store):
    ids = ["a" * 200, *(f"id {i}" for i in range(11))]
    record(store, ids=ids)
    m, d = portolan.measures("words", store=store), portolan.dynamics("words", store=store)
    assert m["id"].dtype == object and m["id"].tolist() == sorted(ids) and m.dtype.itemsize < 200
    assert (m["id"] == "id 3").sum() == 1 and np.isin(m["id"], ["id 3", "a" * 200]).sum() == 2
    assert m[m["id"] == "a" * 200][0].id == "a" * 200 and m.sort_values("id", ascending=False)["id"][0] == "id 9"
    assert d["id"].dtype == object and next(d.batches(5))["id"].tolist() == sorted(ids)[:5] and len(d.to_numpy()) == 36
    assert pickle.loads(pickle.dumps(m))["id"].tolist() == sorted(ids) and repr(m).startswith("measures of words: 12 examples")
    assert portolan.select("words", "confidence:asc", count=3, store=store).mask(ids).sum() == 3
    assert sorted(portolan.select("words", "confidence:asc", count=12, store=store, why=True).ids()) == sorted(ids)
    assert m.to_csv().splitlines()[1].startswith("a" * 200 + ",0,3,")


def test_pickled(words):
    back = pickle.loads(pickle.dumps(words))
    assert type(back) is type(words) and (back == words).all() and repr(back) == repr(words)


def test_absent_is_minus_one_or_nan_in_numpy(words):
    assert words["gold"].tolist() == [0] * 11 + [-1] and words["label"].tolist() == ["cat"] * 11 + [""]
    assert words["first_learned"][0] == -1 and words["first_learned"][-1] == 0


def test_it_is_shown_as_a_small_table(words, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    lines = repr(words).splitlines()
    assert lines[0] == "measures of words: 12 examples"
    assert lines[1].split()[:5] == ["id", "gold", "epochs", "confidence", "variability"]
    assert lines[2].split()[:3] == ["0", "0", "3"] and "True" in lines[2], "never_learned is a truth"
    assert len(lines) == 14 and lines[12] == "... 2 more rows" and "label" in lines[13]
    assert all(len(line) <= 100 for line in lines[:13]) and str(words) == repr(words)
    assert repr(words[:1]).splitlines()[0] == "measures of words: 1 example"
    assert "more rows" not in repr(words[:10])
    last = repr(words[11:]).splitlines()[2].split()
    assert last[:2] == ["11", "-"], "absent"


def test_it_is_shown_in_a_notebook(store):
    name = "<script>alert('&')</script>"
    record(store, name, ids=[f"<b>{i}</b>" for i in range(12)])
    for table in (portolan.measures(name, store=store), portolan.runs(store)):
        page = table._repr_html_()
        assert f"<caption>{html.escape(table._heading())}</caption>" in page, "what a screen reader says of the table"
        assert "<script>" not in page and "<b>" not in page and html.escape(name) in page
        assert page.count("<tr>") == 1 + min(10, len(table)) and page.count('<th scope="col">') == len(table.dtype.names)
    assert "2 more rows" in portolan.measures(name, store=store)._repr_html_()


def checked_fingerprint(store, name):
    """What `portolan check` says of a run; tests/cli/run_fingerprint.py computes it."""
    done = subprocess.run([os.environ["PORTOLAN"], "check", name, "--json", "--store", store], stdout=subprocess.PIPE, check=False)
    return json.loads(done.stdout)["fingerprint"]


def test_runs(store):
    record(store, "b/two", epochs=2)
    record(store, "a", ids=["x", "y"], mode="train-forward")
    runs = portolan.runs(store)
    assert runs.dtype.names == ("name", "examples", "epochs", "observations", "state", "mode", "created", "kind", "fingerprint", "texts")
    assert runs["name"].tolist() == ["a", "b/two"] and runs.examples.tolist() == [2, 12] and runs["epochs"].tolist() == [3, 2]
    assert runs["observations"].tolist() == [6, 24] and set(runs["state"]) == {"closed"}
    assert [run.mode for run in runs] == ["train-forward", "epoch-end"] and all(run.created.endswith("Z") for run in runs)
    assert runs["fingerprint"].tolist() == [checked_fingerprint(store, name) for name in ("a", "b/two")] and len(set(runs.fingerprint)) == 2
    assert repr(runs).splitlines()[0] == f"{store}: 2 runs"
    with portolan.Run("c", store=store) as run:
        run.log_gold(0, [0], [0.5], [True])
        run.log_examples([0, 1], text=["zero", "one"])
        run.flush()
        assert portolan.runs(store)["state"].tolist() == ["closed", "closed", "recording"] and portolan.runs(store).texts.tolist() == [0, 0, 2]
    with pytest.raises(portolan.Error, match="no store at"):
        portolan.runs(store / "other")


def test_epochs(store):
    """Of two epochs: 3 examples are learned, 1 of them is forgotten."""
    with portolan.Run("run", store=store) as run:
        run.log_gold(0, [1, 2, 3, 4], [0.9, 0.6, 0.5, 0.25], [True, True, True, False])
        run.end_epoch(0)
        assert portolan.epochs(run)["epoch"].tolist() == [0]
        run.log_gold(1, [1, 2, 3], [0.9, 0.5, 0.4], [True, True, False])
        run.end_epoch(1)
    table = portolan.epochs("run", store)
    assert table.dtype.names == ("epoch", "examples", "accuracy", "mean_loss", "forgotten", "learned")
    assert table.examples.tolist() == [4, 3] and table.accuracy.tolist() == [0.75, 2 / 3]
    assert table.forgotten.tolist() == [0, 1] and table.learned.tolist() == [3, 0]
    p = [np.array([0.9, 0.6, 0.5, 0.25], "f4"), np.array([0.9, 0.5, 0.4], "f4")]
    assert np.allclose(table.mean_loss, [-np.log(one.astype("f8")).mean() for one in p], rtol=1e-14, atol=0)
    assert repr(table).startswith("epochs of run: 2 epochs")
    with pytest.raises(portolan.Error, match="no run 'nowhere'"):
        portolan.epochs("nowhere", store)


def test_runs_of_the_store_of_the_environment(store, monkeypatch):
    record(store)
    monkeypatch.setenv("PORTOLAN_STORE", str(store))
    assert portolan.runs()["name"].tolist() == ["words"] and len(portolan.measures("words")) == 12


def test_errors_are_the_programs(store):
    record(store)
    with pytest.raises(portolan.Error, match="no run 'wrods'"):
        portolan.measures("wrods", store=store)
    with pytest.raises(portolan.Error, match="--epochs"):
        portolan.measures("words", store=store, epochs="3:1")


def test_a_program_that_ends_in_the_middle(store, tmp_path, monkeypatch):
    record(store)
    program = tmp_path / "portolan"
    program.write_text(f"#!/bin/sh\n{portolan._programs.path_of('portolan')} \"$@\" | head -c 700\n")
    program.chmod(0o755)
    monkeypatch.setenv("PORTOLAN", str(program))
    with pytest.raises(portolan.Error, match="portolan metrics printed no whole table"):
        portolan.measures("words", store=store)


def test_warnings_are_of_the_line_that_called(store):
    with portolan.Run("gaps", store=store) as run:
        run.log_gold(0, [0, 1], [0.5, 0.6], [True, True])
        run.end_epoch(0)
        run.log_gold(1, [0], [0.5], [True])
        run.end_epoch(1)
    with pytest.warns(UserWarning, match="not observed in all") as seen:
        portolan.measures("gaps", store=store)
    assert {warning.filename for warning in seen} == {__file__}


def test_columns_with_names_that_are_not_ascii(store):
    record(store, labels=["grün", "日本"])
    m = portolan.measures("words", store=store)
    assert m["label"].tolist()[0] == "grün"


@pytest.mark.parametrize("package, call", [
    ("numpy", lambda store: portolan.measures("words", store=store)),
    ("numpy", portolan.runs),
    ("numpy", lambda store: portolan.epochs("words", store)),
    ("pandas", lambda store: portolan.measures("words", store=store).to_pandas()),
    ("polars", lambda store: portolan.measures("words", store=store).to_polars()),
    ("pyarrow", lambda store: portolan.measures("words", store=store).to_arrow()),
    ("pyarrow", lambda store: portolan.measures("words", store=store).__arrow_c_stream__()),
])
def test_a_missing_package_is_named_with_what_brings_it(store, package, call, monkeypatch):
    record(store)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModuleNotFoundError, match=f"needs the package {package}: pip install {package}$"):
        call(store)


def record_logits(store, name="words", n=50, epochs=4, ids=None):
    """An example in four is not observed in epoch 1; (ids, p(gold) by epoch and example, correct)."""
    rng = np.random.default_rng(4)
    ids = list(range(n)) if ids is None else ids
    logits, gold = rng.normal(size=(epochs, n, 3)).astype("f4"), rng.integers(0, 3, n)
    with portolan.Run(name, store=store) as run:
        for epoch in range(epochs):
            here = rng.permutation(np.arange(n) if epoch != 1 else np.flatnonzero(np.arange(n) % 4))
            run.log_logits(epoch, [ids[i] for i in here], logits[epoch, here], gold[here])
            run.end_epoch(epoch)
    e = np.exp(logits.astype("f8"))
    p = (e / e.sum(2, keepdims=True))[:, np.arange(n), gold]
    return ids, p, logits.argmax(2) == gold


@pytest.mark.filterwarnings("ignore:.*not observed in all")
@pytest.mark.parametrize("kind", ["integers", "texts"])
def test_dynamics(store, kind):
    ids, p, correct = record_logits(store, ids=None if kind == "integers" else [f"wört {i:02}" for i in range(50)])
    d = portolan.dynamics("words", store=store)
    assert d.dtype.names == ("id", "epoch", "gold_prob", "correct", "margin", "other_sq", "entropy", "max_prob", "predicted")
    wanted = [(epoch, i) for epoch in range(4) for i in range(50) if epoch != 1 or i % 4]
    assert len(d) == len(wanted) == 187
    assert d["epoch"].tolist() == [epoch for epoch, _ in wanted] and d["id"].tolist() == [ids[i] for _, i in wanted]
    np.testing.assert_allclose(d["gold_prob"], [p[epoch, i] for epoch, i in wanted], rtol=1e-5)
    assert d["correct"].tolist() == [correct[epoch, i] for epoch, i in wanted] and d["correct"].dtype == bool
    assert repr(d).splitlines()[0] == "dynamics of words: 187 observations" and "177 more rows" in d._repr_html_()
    some = portolan.dynamics("words", store=store, epochs="2:", ids=[ids[7], ids[3]], columns=["entropy", "gold"])
    assert some.dtype.names == ("id", "epoch", "entropy", "gold") and some["id"].tolist() == [ids[3], ids[7]] * 2
    assert some["epoch"].tolist() == [2, 2, 3, 3] and type(some[some["epoch"] == 2]) is type(some) and len(some[some["epoch"] == 2]) == 2


@pytest.mark.filterwarnings("ignore:.*not observed in all")
def test_dynamics_block_by_block(store):
    record_logits(store)
    d = portolan.dynamics("words", store=store)
    assert repr(d).startswith("dynamics of words: 187 observations\n"), "also before it is read"
    blocks = list(d.batches(40))
    assert [len(block) for block in blocks] == [40, 40, 40, 40, 27]
    whole = d.to_numpy()
    assert np.concatenate(blocks).tolist() == whole.tolist() and next(d.batches(5)).tolist() == whole[:5].tolist()
    assert [row.epoch for row in d] == whole["epoch"].tolist()
    with pytest.raises(ValueError, match="rows must be above 0"):
        next(d.batches(0))


@pytest.mark.filterwarnings("ignore:.*not observed in all")
def test_the_batches_of_a_part_are_of_that_part(store):
    record_logits(store)
    for part in (lambda d: d[d["id"] == 3], lambda d: d.head(2), lambda d: d[["id", "entropy"]], lambda d: d[5:9], lambda d: d[:0],
                 lambda d: d.sort_values("gold_prob", ascending=False), lambda d: d.sort_values("id").head(60)[["epoch"]]):
        some = part(portolan.dynamics("words", store=store))
        blocks = list(some.batches(25))
        assert [len(block) for block in blocks] == [min(25, len(some) - begin) for begin in range(0, len(some), 25)]
        assert [row for block in blocks for row in block.tolist()] == some.to_numpy().tolist()
        assert {block.dtype.names for block in blocks} <= {some.dtype.names}
        with pytest.raises(ValueError, match="rows must be above 0"):
            next(some.batches(0))
    d = portolan.dynamics("words", store=store)
    d["gold_prob"] = 0.25
    assert {p for block in d.batches(25) for p in block["gold_prob"].tolist()} == {0.25}


@pytest.mark.filterwarnings("ignore:.*not observed in all")
def test_the_head_of_dynamics(store):
    record_logits(store)
    for rows in (0, 1, 7, 187, 1000, -180):
        d = portolan.dynamics("words", store=store)
        head = d.head(rows)
        assert type(head) is type(d) and head.to_numpy().tolist() == d.to_numpy()[:rows].tolist() and head.columns == d.columns


@pytest.mark.filterwarnings("ignore:.*not observed in all")
def test_dynamics_pickled(store):
    record_logits(store)
    for d in (portolan.dynamics("words", store=store), portolan.dynamics("words", store=store, ids=[3, 7, 20])):
        part = d.head(2)
        for one in (d, part):
            back = pickle.loads(pickle.dumps(one))
            assert type(back) is type(d) and back.to_numpy().tolist() == one.to_numpy().tolist() and repr(back) == repr(one)
            assert back.head(1)["id"].tolist() == [3 if len(d) < 100 else 0] and sum(map(len, back.batches(2))) == len(one)
    assert copy.deepcopy(d)["id"].tolist() == d["id"].tolist()


def test_dynamics_of_ids_that_the_run_does_not_have(store):
    record(store)
    d = portolan.dynamics("words", store=store, ids=[3, 99])
    with pytest.warns(UserWarning, match="'?99'?") as seen:
        assert d["id"].tolist() == [3, 3, 3]
    assert {warning.filename for warning in seen} == {__file__}
    with pytest.raises(portolan.Error, match="no run"):
        portolan.dynamics("other", store=store)
    with pytest.raises(portolan.Error, match="entropi"):
        portolan.dynamics("words", store=store, columns="entropi")


def test_what_is_said_of_observations_is_said_once_they_are_read(store, tmp_path, monkeypatch):
    record(store)
    program = tmp_path / "portolan"
    program.write_text(f"#!/bin/sh\necho 'portolan: warning: mind this' >&2\nexec {portolan._programs.path_of('portolan')} \"$@\"\n")
    program.chmod(0o755)
    monkeypatch.setenv("PORTOLAN", str(program))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        d = portolan.dynamics("words", store=store)
        assert repr(d) == repr(d)
    with pytest.warns(UserWarning, match="^mind this$") as seen:
        d.to_numpy()
    assert len(seen) == 1


def test_nothing_is_said_of_how_wide_texts_are(store):
    record(store, ids=["a", *(f"long-{i}" for i in range(10)), "very " * 20])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(portolan.dynamics("words", store=store).to_numpy()) == 36


def test_dynamics_of_a_selection_and_of_an_open_run(store):
    with portolan.Run("open", store=store) as run:
        run.log_gold(0, ["a", "b", "c"], [0.1, 0.5, 0.9], [False, True, True])
        assert portolan.dynamics(run)["id"].tolist() == ["a", "b", "c"]
        run.log_gold(1, ["a", "b", "c"], [0.2, 0.6, 0.8], [False, True, True])
        chosen = portolan.select(run, "confidence:asc", count=1)
        assert portolan.dynamics(run, ids=chosen)["gold_prob"].round(2).tolist() == [np.float32(0.1), np.float32(0.2)]


def test_reading_leaves_no_process_and_no_file(store, tmp_path, monkeypatch):
    """Nor does what is read in part."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    record_logits(store, n=2000)
    d = portolan.dynamics("words", store=store, ids=list(range(0, 2000, 2)))
    blocks = d.batches(10)
    next(blocks)
    blocks.close()
    repr(d)
    del d, blocks
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    assert [name for name in tmp_path.iterdir() if name.name != "store"] == []
