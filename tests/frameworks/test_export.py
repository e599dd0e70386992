"""portolan.export(): what others read of it, value by value; what is written again; and what an end in the middle leaves."""

import fcntl
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import portolan
from portolan._exporting import _parquet
from python_support import PATIENCE

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
import stores

MAKE_STORE = str(Path(os.environ["PORTOLAND"]).parents[1] / "tests" / "cli" / "make_store")
PORTOLAN = os.environ["PORTOLAN"]
NAME = "snli/seed=1+50%é"
FOLDER = "run=snli%2Fseed%3D1%2B50%25%C3%A9"


class Log:
    """Batches for make_store, and what they leave: (epoch, id) → the values of the observation that is the latest."""

    def __init__(self, seed=0):
        self.random = np.random.default_rng(seed)
        self.batches, self.kept, self.gold = [], {}, {}
        self.session = (1000, 0)  # as make_store begins
        self.sessions = [self.session]

    def next_session(self, started, rank):
        self.session = (started, rank)
        self.sessions.append(self.session)
        self.batches.append(stores.session(started, rank))

    def log(self, epoch, ids, gold=None, **columns):
        p, correct = self.random.random(len(ids), dtype="f4"), self.random.random(len(ids)) < 0.5
        self.batches.append(stores.batch(epoch, list(ids), p, correct, gold, **columns))
        for r, i in enumerate(ids):
            values = {name: v[r].item() for name, v in {"gold_prob": p, "correct": correct, **columns}.items()}
            before = self.kept.get((epoch, i))
            if before is None or self.session >= (before["session_started"], before["rank"]):
                self.kept[epoch, i] = {**values, "session_started": self.session[0], "rank": self.session[1]}
            if gold is not None:
                self.gold[i] = int(gold[r])
        return self

    def rows(self, signals):
        order = sorted(self.kept, key=lambda key: (key[0], key[1].encode() if isinstance(key[1], str) else key[1]))
        names = [*signals, "session_started", "rank"]
        return [{"id": i, "epoch": e, **{n: self.kept[e, i].get(n) for n in names}, "gold": self.gold.get(i)} for e, i in order]


def make(path, **runs):
    stores.make_store(MAKE_STORE, str(path), [stores.run(name, log.batches) for name, log in runs.items()])
    return path


def ids_of(kind, n=300):
    random = np.random.default_rng(5)
    numbers = random.permutation(n)
    if kind == "texts":
        return [f"{'é日' * (i % 4)}:{i}" for i in numbers.tolist()]
    return (3 * numbers.astype("u8") + (2**63 - 100 if kind == "large" else 0)).tolist()


@pytest.fixture(params=["integers", "large", "texts"])
def log(request):
    """Gaps; observations replaced by a later session, and one that came last and is earlier; labels, signals, and a column of the
    user's in some epochs and examples only."""
    log, ids = Log(), ids_of(request.param)
    n = len(ids)
    margin, own = log.random.normal(size=n).astype("f4"), log.random.normal(size=n).astype("f4")
    predicted = log.random.integers(0, 5, n).astype("i4")
    log.log(0, ids[20:], gold=np.arange(n - 20) % 3, margin=margin[20:], predicted=predicted[20:])
    log.log(2, ids[:-30], margin=margin[:-30])
    log.next_session(5000, 1)
    log.log(2, ids[50:90], margin=margin[:40]).log(7, ids, **{"a.b": own})
    log.next_session(900, 3)
    log.log(2, ids[:100], margin=margin[:100]).log(7, ids[:10], **{"a.b": own[:10]}).log(2, ids[-10:])
    return log


SIGNALS = ["gold_prob", "correct", "margin", "predicted", "a.b"]


@pytest.fixture
def made(tmp_path, log):
    return make(tmp_path / "store", **{NAME: log})


one_kind = pytest.mark.parametrize("log", ["integers"], indirect=True)


def rows_of(table, drop=("run", "session")):
    """A pyarrow.Table's rows, by epoch and id, as Log has them."""
    table = table.drop_columns([name for name in drop if name in table.column_names])
    columns = {name: table[name].to_pylist() for name in table.column_names}
    rows = [dict(zip(columns, values)) for values in zip(*columns.values())]
    return sorted(rows, key=lambda r: (r["epoch"], r["id"].encode() if isinstance(r["id"], str) else r["id"]))


def read(folder):
    return pyarrow.dataset.dataset(folder, partitioning="hive").to_table()


def test_values_types_and_layout(made, log, tmp_path):
    done = portolan.export(NAME, tmp_path / "out", store=made)
    rows = log.rows(SIGNALS)
    assert done.epochs == (0, 2, 7) and done.kept == 0 and done.rows == len(rows) and not done.in_progress
    files = sorted(path.relative_to(tmp_path / "out") for path in (tmp_path / "out").rglob("*.parquet"))
    assert [str(f.parent) for f in files] == [f"{FOLDER}/epoch={e}" for e in (0, 2, 7)]
    assert done.bytes == sum((tmp_path / "out" / f).stat().st_size for f in files) and done.path == str(tmp_path / "out" / FOLDER)
    about = json.loads(next((tmp_path / "out" / FOLDER).glob("_portolan-*.json")).read_text())
    assert about["run"] == NAME and about["epochs"] == [0, 2, 7] and files[0].name == f"part-{about['store']}.parquet"
    table = read(tmp_path / "out")
    assert rows_of(table) == rows and set(table["run"].to_pylist()) == {NAME}
    ids = pa.string() if isinstance(rows[0]["id"], str) else pa.uint64() if rows[-1]["id"] >= 2**63 else pa.int64()
    types = dict(id=ids, gold_prob=pa.float32(), correct=pa.bool_(), margin=pa.float32(), predicted=pa.int32(), gold=pa.int32(),
                 session_started=pa.int64(), rank=pa.int64(), session=pa.string())  # fmt: skip
    types["a.b"] = pa.float32()
    schema = pq.read_schema(tmp_path / "out" / files[0])
    assert {field.name: field.type for field in schema} == types and about["columns"].keys() == types.keys()
    for file in files:
        part = pq.read_table(tmp_path / "out" / file, partitioning=None)
        assert part.schema == schema and "epoch" not in part.column_names
        assert part["id"].to_pylist() == [r["id"] for r in rows if f"epoch={r['epoch']}" in str(file)], "rows ascend"
    names = {started: table.filter(pa.compute.field("session_started") == started)["session"].unique().to_pylist() for started in (1000, 5000, 900)}
    assert all(len(n) == 1 and len(bytes.fromhex(n[0])) == 16 for n in names.values())


def test_it_is_what_dynamics_and_measures_say(made, tmp_path):
    portolan.export(NAME, tmp_path / "out", store=made)
    table = read(tmp_path / "out").sort_by([("epoch", "ascending"), ("id", "ascending")])
    dynamics = portolan.dynamics(NAME, store=made, columns=["gold_prob", "correct", "gold", "session", "rank"]).to_arrow()
    for name in dynamics.column_names:
        assert table[name].to_pylist() == dynamics[name].to_pylist(), name
    done = portolan.export(NAME, tmp_path / "m.parquet", store=made, what="measures")
    measures, want = pq.read_table(tmp_path / "m.parquet"), portolan.measures(NAME, store=made).to_arrow()
    assert measures.column_names == want.column_names and measures.to_pylist() == want.to_pylist()
    assert done.rows == want.num_rows and done.bytes == (tmp_path / "m.parquet").stat().st_size and done.epochs == ()
    assert measures.schema.field("id").type == table.schema.field("id").type
    portolan.export(NAME, tmp_path / "m.parquet", store=made, what="measures", epochs="2:3")
    assert set(pq.read_table(tmp_path / "m.parquet")["epochs"].to_pylist()) == {1}


def test_polars_and_duckdb(made, log, tmp_path):
    portolan.export(NAME, tmp_path / "out", store=made)
    rows = log.rows(SIGNALS)
    frame = pl.scan_parquet(tmp_path / "out" / "**/*.parquet", hive_partitioning=True).collect()
    assert rows_of(frame.to_arrow()) == rows and frame["run"].unique().to_list() == [NAME]
    found = duckdb.sql(f"SELECT * FROM read_parquet('{tmp_path}/out/**/*.parquet', hive_partitioning=true)").to_arrow_table()
    assert rows_of(found) == rows and set(found["run"].to_pylist()) == {NAME}


def unchanged(before, folder):
    """Names of the epochs' folders that have the same files as before, not written again."""
    return {name for name, state in states(folder).items() if before.get(name) == state}


def states(folder):
    return {path.parent.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in Path(folder).rglob("*.parquet")}


def test_a_second_time_only_what_changed_is_written(store, tmp_path):
    out = tmp_path / "out"
    with portolan.Run("r", store=store, examples=100) as run:
        run.log_gold(0, range(50), np.full(50, 0.5), np.ones(50, bool), gold=np.zeros(50, int))
        run.log_gold(1, range(25), np.full(25, 0.5), np.ones(25, bool))
        first = portolan.export(run, out)
        assert first.epochs == (0, 1) and first.in_progress and "still being recorded: export it again" in str(first)
        before = states(out)
        again = portolan.export(run, out)
        assert again.epochs == () and again.kept == 2 and again.bytes == 0 and unchanged(before, out) == {"epoch=0", "epoch=1"}
        run.log_gold(1, [60], [0.25], [0])
        run.log_gold(2, [2], [0.75], [1])
        assert portolan.export(run, out).epochs == (1, 2) and unchanged(before, out) == {"epoch=0"}
        before = states(out)
        run.log_gold(2, [40], [0.75], [1], gold=[1])  # example 40 is in epoch 0 too, and not in 1
        assert portolan.export(run, out).epochs == (0, 2) and unchanged(before, out) == {"epoch=1"}
        assert {r["gold"] for r in rows_of(read(out)) if r["id"] == 40} == {1}
        before = states(out)
        run.log_logits(3, [2, 3], [[1.0, 2.0], [2.0, 1.0]], [0, 0])
        assert portolan.export(run, out).epochs == (0, 1, 2, 3), "there is a column more"
        schemas = {str(pq.read_schema(path)) for path in out.rglob("*.parquet")}
        assert len(schemas) == 1 and "margin" in schemas.pop()
    fresh = portolan.export("r", tmp_path / "fresh", store=store)
    assert portolan.export("r", out, store=store).kept == 4 and not fresh.in_progress
    assert rows_of(read(out)) == rows_of(read(tmp_path / "fresh"))
    files = [{path.relative_to(top): path.read_bytes() for path in top.rglob("*.parquet")} for top in (out, tmp_path / "fresh")]
    assert files[0] == files[1] and len(files[0]) == 4


@one_kind
def test_only_some_epochs(made, tmp_path):
    assert portolan.export(NAME, tmp_path / "out", store=made, epochs="2:3").epochs == (2,)
    schema = pq.read_schema(next((tmp_path / "out").rglob("*.parquet")))
    assert "predicted" in schema.names and "a.b" in schema.names, "the columns are the run's, not the epoch's"
    done = portolan.export(NAME, tmp_path / "out", store=made)
    assert done.epochs == (0, 7) and done.kept == 1 and len({str(pq.read_schema(p)) for p in (tmp_path / "out").rglob("*.parquet")}) == 1
    with pytest.raises(portolan.Error, match="no observations from epoch 8 on"):
        portolan.export(NAME, tmp_path / "out", store=made, epochs="8:")


def test_an_overwritten_run(store, tmp_path):
    for epochs, options in ((3, {}), (2, {"overwrite": True})):
        with portolan.Run("r", store=store, **options) as run:
            for epoch in range(epochs):
                run.log_gold(epoch, range(10), np.full(10, epochs / 10), np.ones(10, bool))
        done = portolan.export("r", tmp_path / "out", store=store)
    assert done.epochs == (0, 1) and done.removed == 1 and "1 epoch of an earlier run of that name removed" in str(done)
    table = read(tmp_path / "out")
    assert set(table["gold_prob"].to_pylist()) == {np.float32(0.2)} and table.num_rows == 20
    assert not (tmp_path / "out" / "run=r" / "epoch=2").exists()


def test_two_stores_and_two_runs_in_one_folder(tmp_path):
    logs = [Log(seed).log(0, range(30)).log(1, range(10)) for seed in range(2)]
    places = [make(tmp_path / f"store{k}", r=log, other=log) for k, log in enumerate(logs)]
    for place in places:
        portolan.export("r", tmp_path / "out", store=place)
    portolan.export("other", tmp_path / "out", store=places[0])
    assert len(list((tmp_path / "out").rglob("*.parquet"))) == 6
    table = read(tmp_path / "out")
    values = sorted(table.filter(pa.compute.field("run") == "r")["gold_prob"].to_pylist())
    assert values == sorted(row["gold_prob"] for log in logs for row in log.rows(["gold_prob"]))
    assert [portolan.export(name, tmp_path / "out", store=places[0]).kept for name in ("r", "other")] == [2, 2]
    assert len(list((tmp_path / "out" / "run=r").glob("_portolan-*.json"))) == 2


@one_kind
def test_a_folder_that_holds_something_else(made, tmp_path):
    portolan.runs(store=made)  # which makes lock.mdb

    def refused(path, match):
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(portolan.Error, match=match):
            portolan.export(NAME, path, store=made)
        assert sorted(tmp_path.rglob("*")) == before

    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    refused(tmp_path / "other", r"other holds something else \('notes.txt'")
    refused(made, "holds something else")
    refused(tmp_path / "other" / "notes.txt", "Not a directory")
    (tmp_path / "odd").mkdir()
    for text, message in (("{}", "is no file of portolan.export"), ("[", "is no file of portolan.export"),
                          ('{"what": "observations, as portolan.export() writes them", "version": 9}', r"another version of portolan.export\(\) \(9\)")):
        (tmp_path / "odd" / "_portolan.json").write_text(text)
        refused(tmp_path / "odd", message)
    (tmp_path / "empty").mkdir()
    assert portolan.export(NAME, tmp_path / "empty", store=made).epochs
    with pytest.raises(ValueError, match="must be a file for measures"):
        portolan.export(NAME, tmp_path / "empty", store=made, what="measures")


@one_kind
def test_measures_replace_no_part_of_a_store_and_no_device(made, tmp_path):
    for path in (made / "data.mdb", tmp_path / "store" / ".." / "store" / "data.mdb"):
        before = path.read_bytes()
        with pytest.raises(ValueError, match="data.mdb are the same file, which would be lost"):
            portolan.export(NAME, path, store=made, what="measures")
        assert path.read_bytes() == before
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="pipe is a device or a pipe"):
        portolan.export(NAME, tmp_path / "pipe", store=made, what="measures")
    assert (tmp_path / "pipe").is_fifo()


@one_kind
def test_wrong_arguments(made, tmp_path):
    for error, options, match in ((ValueError, {"what": "dynamics"}, "what must be"), (ValueError, {"format": "csv"}, "format must be 'parquet'"),
                                  (TypeError, {"epochs": 3}, "epochs must be")):
        with pytest.raises(error, match=match):
            portolan.export(NAME, tmp_path / "out", store=made, **options)
    with pytest.raises(portolan.Error, match="no run"):
        portolan.export("nobody", tmp_path / "out", store=made)
    with pytest.raises(portolan.Error, match="store"):
        portolan.export(NAME, tmp_path / "out", store=tmp_path / "nowhere")
    assert not (tmp_path / "out").exists()


@one_kind
def test_one_that_is_being_written_by_another(made, tmp_path):
    portolan.export(NAME, tmp_path / "out", store=made, epochs="0:1")
    file = next((tmp_path / "out").rglob("*.parquet"))
    theirs = file.parents[1] / "epoch=2" / f".{file.name}.partial"
    theirs.parent.mkdir()
    theirs.write_text("theirs")
    with open(theirs) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(portolan.Error, match="epoch=2/part-.* is being written by another export"):
            portolan.export(NAME, tmp_path / "out", store=made)
        assert theirs.read_text() == "theirs"
    assert portolan.export(NAME, tmp_path / "out", store=made).epochs == (2, 7), "what is left of one that has ended is in nobody's way"


@one_kind
def test_a_damaged_file_is_written_again(made, tmp_path):
    portolan.export(NAME, tmp_path / "out", store=made)
    whole = read(tmp_path / "out")
    file = next((tmp_path / "out" / FOLDER / "epoch=2").glob("*.parquet"))
    file.write_bytes(file.read_bytes()[:100])
    assert portolan.export(NAME, tmp_path / "out", store=made).epochs == (2,) and read(tmp_path / "out").equals(whole)


# Exports that are ended in the middle. Something happens when the third of ten epochs is being written.

EPOCHS = 10


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    log = Log(7)
    for epoch in range(EPOCHS):
        log.log(epoch, range(2000), gold=np.zeros(2000, int))
    return make(tmp_path_factory.mktemp("many") / "store", r=log), log


def command(*words, before="pass", at_third="pass", **options):
    """``python -m portolan export``; `at_third` is done when something of the third epoch is written and no more."""
    code = f"""
import os, signal, subprocess, sys
from portolan._exporting import _command, _parquet
{before}
write, count = _parquet.Part.write, 0
def written(part, batch):
    global count
    write(part, batch)
    count += 1
    if count == 3:
        part._file.flush()
        {at_third}
_parquet.Part.write = written
sys.exit(_command.main(sys.argv[1:]))
"""
    return subprocess.run([sys.executable, "-c", code, "export", *map(str, words)], capture_output=True, text=True, timeout=PATIENCE, **options)


def check_begun(out, names_allowed=()):
    """Two epochs are whole, and of a third nothing has its name."""
    assert sorted(path.parent.name for path in out.rglob("*.parquet")) == ["epoch=0", "epoch=1"]
    others = [path.name for path in out.rglob("epoch=*/*") if path.suffix != ".parquet"]
    assert all(name.startswith(".part-") and name.endswith(".partial") for name in others) and len(others) <= len(names_allowed)
    assert read(out).num_rows == 2 * 2000


def check_goes_on(out, many, kept=2):
    store, log = many
    done = portolan.export("r", out, store=store)
    assert done.kept == kept and done.epochs == tuple(range(kept, EPOCHS))
    assert rows_of(read(out)) == log.rows(["gold_prob", "correct"])
    assert not list(out.rglob("epoch=*/.*"))


def test_killed(many, tmp_path):
    done = command("r", "--store", many[0], "-o", tmp_path / "out", at_third="os.kill(os.getpid(), signal.SIGKILL)")
    assert done.returncode == -signal.SIGKILL
    check_begun(tmp_path / "out", names_allowed=["one"])
    check_goes_on(tmp_path / "out", many)


def test_killed_before_the_description(store, tmp_path):
    """All epochs are whole, and the next export writes none of them: it still says the names of the classes."""
    with portolan.Run("r", store=store, labels=["cat", "dog"]) as run:
        run.log_gold(0, range(10), np.full(10, 0.5), np.ones(10, bool), gold=np.zeros(10, int))
    kill = "lambda *_: os.kill(os.getpid(), signal.SIGKILL)"
    done = command("r", "--store", store, "-o", tmp_path / "out", before=f"from portolan._exporting import _folder; _folder.Folder.describe = {kill}")
    assert done.returncode == -signal.SIGKILL and len(list((tmp_path / "out").rglob("*.parquet"))) == 1
    assert portolan.export("r", tmp_path / "out", store=store).kept == 1
    (described,) = (tmp_path / "out" / "run=r").glob("_portolan-*.json")
    about, before = json.loads(described.read_text()), described.stat()
    assert (about["labels"], about["epochs"], about["state"]) == (["cat", "dog"], [0], "closed")
    portolan.export("r", tmp_path / "out", store=store)
    assert described.stat() == before, "it says so already"
    done = command("r", "--store", store, "-o", tmp_path / "new", before=f"from portolan._exporting import _folder; _folder._write = {kill}")
    assert done.returncode == -signal.SIGKILL and (tmp_path / "new").exists()
    assert portolan.export("r", tmp_path / "new", store=store).epochs == (0,), "killed before the folder was marked"


@pytest.mark.parametrize("place", ["mine.parquet", "run=r/mine.parquet", "run=r/epoch=1/mine.parquet", "run=r/epoch=99/part-{}.parquet"])
def test_parquet_files_of_others_are_refused(many, tmp_path, place):
    out = tmp_path / "out"
    portolan.export("r", out, store=many[0])
    (about,) = (out / "run=r").glob("_portolan-*.json")
    before = about.read_bytes()
    mine = out / place.format(json.loads(before)["store"])
    mine.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table({"id": [1], "gold_prob": [0.5]}), mine)
    with pytest.raises(portolan.Error) as said:
        portolan.export("r", out, store=many[0])
    assert str(said.value) == f"{mine} is no file of portolan.export(), and readers of {out} would take it for the run's: move it away"
    assert about.read_bytes() == before and mine.exists()
    mine.rename(mine.with_name("_mine.parquet"))  # readers skip such a name
    assert portolan.export("r", out, store=many[0]).kept == EPOCHS


def test_interrupted(many, tmp_path):
    done = command("r", "--store", many[0], "-o", tmp_path / "out", at_third="os.kill(os.getpid(), signal.SIGINT)")
    assert done.returncode == 130 and done.stderr == (
        "portolan: interrupted; the epochs that are complete stay, and the same command goes on from there\n")  # fmt: skip
    check_begun(tmp_path / "out")
    assert not (tmp_path / "out" / "run=r" / "epoch=2").exists()
    check_goes_on(tmp_path / "out", many)


def test_a_disk_that_is_full(many, tmp_path):
    """As a limit on the size of files says it; SIGXFSZ is ignored in Python."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))"
    done = command("r", "--store", many[0], "-o", tmp_path / "out", at_third=limit)
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith(f"portolan: cannot write {tmp_path}/out/run=r/epoch=2/part-") and "File too large" in done.stderr
    check_begun(tmp_path / "out")
    check_goes_on(tmp_path / "out", many)


@pytest.mark.skipif(os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"]).returncode != 0, reason="takes a file system of its own: root")
def test_a_disk_of_its_own_that_is_full(tmp_path):
    log = Log().log(0, range(20)).log(1, range(400_000))
    make(tmp_path / "store", r=log)
    (tmp_path / "disk").mkdir()
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=1m none "$1/disk" && { "$2" -m portolan export r --store "$1/store" -o "$1/disk/out"; '
         'echo $?; find "$1/disk/out" -type f; }', "sh", str(tmp_path), sys.executable], capture_output=True, text=True, timeout=PATIENCE)  # fmt: skip
    status, *files = done.stdout.split()
    files.sort()
    assert status == "1" and "epoch=1/part-" in done.stderr and "No space left on device" in done.stderr, done
    assert len(files) == 2 and files[0].endswith("_portolan.json") and "epoch=0/part-" in files[1], files


def test_the_run_is_removed_meanwhile(many, tmp_path):
    store = tmp_path / "store"
    make(store, r=many[1])
    out = tmp_path / "out"
    portolan.export("r", out, store=store, epochs="4:5")  # so that there are two stretches to read
    removal = f"subprocess.run([{PORTOLAN!r}, 'rm', 'r', '--yes', '--store', {str(store)!r}], check=True, stdout=subprocess.DEVNULL)"
    done = command("r", "--store", store, "-o", out, at_third=removal)
    assert done.returncode == 1 and "no run" in done.stderr and "'r'" in done.stderr, done.stderr
    assert sorted(path.parent.name for path in out.rglob("*.parquet")) == [f"epoch={e}" for e in range(5)], "what was begun was read to its end"
    assert not list(out.rglob("epoch=*/.*"))


def test_an_error_of_the_program_that_reads(many, tmp_path, monkeypatch):
    """It ends in the middle of its table."""
    fake = tmp_path / "portolan"
    fake.write_text(f'#!/bin/sh\ncase " $* " in *" --contents "*) exec {PORTOLAN} "$@";; esac\n'
                    f'{PORTOLAN} "$@" | head -c 150000\necho "portolan: the disk is broken" >&2\nexit 1\n')  # fmt: skip
    fake.chmod(0o755)
    monkeypatch.setenv("PORTOLAN", str(fake))
    with pytest.raises(portolan.Error, match="^the disk is broken$"):
        portolan.export("r", tmp_path / "out", store=many[0])
    monkeypatch.setenv("PORTOLAN", PORTOLAN)
    kept = len(list((tmp_path / "out").rglob("*.parquet")))
    assert kept < EPOCHS and read(tmp_path / "out").num_rows == kept * 2000 if kept else True
    check_goes_on(tmp_path / "out", many, kept)


def test_many_blocks_an_epoch_and_many_epochs_a_block(many, tmp_path, monkeypatch):
    from portolan._exporting import _export

    for rows in (1, 7, 1999, 2001, 5000):
        monkeypatch.setattr(_export, "_MOST", rows)
        if rows > 1:
            portolan.export("r", tmp_path / str(rows), store=many[0])
            assert rows_of(read(tmp_path / str(rows))) == many[1].rows(["gold_prob", "correct"])
        else:
            portolan.export("r", tmp_path / "1", store=many[0], epochs="3:4")
            assert pq.read_metadata(next((tmp_path / "1").rglob("*.parquet"))).num_row_groups == 2000


def test_the_command(many, tmp_path):
    def run(*words):
        return subprocess.run([sys.executable, "-m", "portolan", *words], capture_output=True, text=True, cwd=tmp_path, check=False,
                              env={**os.environ, "PORTOLAN_STORE": str(many[0])})  # fmt: skip

    done = run("export", "r", "-o", "out/", "--epochs", "8:")
    assert done.returncode == 0 and done.stdout == ""
    assert done.stderr.startswith("portolan: run r: 2 epochs with 4,000 observations written, ") and done.stderr.endswith("kB in out/run=r\n")
    done = run("export", "r", "-o", "out")
    assert "8 epochs with 16,000 observations written" in done.stderr and done.stderr.endswith("; 2 epochs there already\n")
    assert run("export", "r", "-o", "out").stderr == "portolan: run r: nothing to write to out/run=r; 10 epochs there already\n"
    done = run("export", "r", "-o", "m.parquet", "--what", "measures", "-q")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "") and pq.read_table(tmp_path / "m.parquet").num_rows == 2000
    done = run("export", "s", "-o", "out")
    assert done.returncode == 1 and done.stderr.startswith("portolan: ") and "no run" in done.stderr and done.stderr.count("\n") == 1
    for what in ("observations", "measures"):
        done = run("export", "r", "-o", "-", "--what", what)
        assert done.returncode == 2 and "not to standard output" in done.stderr and not (tmp_path / "-").exists()
    done = run("export", "r", "-o", "/proc/nowhere")
    assert done.returncode == 1 and "cannot write /proc/nowhere" in done.stderr, done.stderr


def test_a_number_that_int64_lacks():
    ids = np.zeros(2, [("id", "u8")])
    ids["id"] = [5, 2**63]
    with pytest.raises(portolan.Error, match="export it again"):
        _parquet._ids(ids["id"], "int64")
    table = np.array([("ab", 2**64 - 1, 2**32 - 1)], [("session", "U2"), ("session_started", "u8"), ("rank", "u8")])
    started, rank, name = _parquet.Sessions(table).columns(np.zeros(3, "u4"))
    assert started.to_pylist() == [2**63 - 1] * 3 and rank.to_pylist() == [2**32 - 1] * 3 and name.to_pylist() == ["ab"] * 3


def test_it_leaves_no_process(many, tmp_path):
    """The limit on file sizes makes it fail here, in this process, whose children are then looked at."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, before[1]))
    try:
        with pytest.raises(portolan.Error, match="File too large"):
            portolan.export("r", tmp_path / "out", store=many[0])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
