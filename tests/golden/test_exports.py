"""The golden exports: today's portolan writes the same, and reads back what 1.0 wrote: lists of ids, selections, corrections, flips, a model of noise, tags,
states of `metrics --state`. tests/spark/test_golden.py reads the Parquet files."""

import csv
import ctypes
import json
import os
import shutil
import struct
import subprocess
import sys

import numpy as np
import packed
import pytest
from test_stores import assert_same

sys.path.insert(0, str(packed.HERE.parent / "cli"))
import serving

PORTOLAN = os.environ["PORTOLAN"]
RUN = "words/declared"
TO = packed.EXPORTS


@pytest.fixture
def store(tmp_path):
    return packed.unpack("recorded", tmp_path / "store")


def said(store, *words):
    return packed.said(PORTOLAN, store, *map(str, words))


@pytest.mark.parametrize("command", ["metrics", "dynamics"])
def test_tables(command, store, tmp_path):
    """The fields of each format are those of 1.0, with equal values; a new one may have come."""
    exact = command == "dynamics"
    assert_same(said(store, command, RUN), (TO / f"{command}.csv").read_text(), exact)
    ours = [json.loads(line) for line in said(store, command, RUN, "--format", "jsonl").splitlines()]
    wanted = [json.loads(line) for line in (TO / f"{command}.jsonl").read_text().splitlines()]
    assert len(ours) == len(wanted)
    for one, other in zip(ours, wanted):
        assert {name: one[name] if exact or isinstance(value, (str, int, type(None))) else pytest.approx(one[name], rel=1e-12, abs=1e-12) for name, value in other.items()} == other
    said(store, command, RUN, "-o", tmp_path / "now.npy")
    now, then = np.load(tmp_path / "now.npy"), np.load(TO / f"{command}.npy")
    assert len(now) == len(then)
    for name in then.dtype.names:
        assert now.dtype[name] == then.dtype[name], name
        np.testing.assert_allclose(now[name], then[name], rtol=0 if exact else 1e-12, atol=0 if exact else 1e-12, equal_nan=True) if then.dtype[name].kind == "f" \
            else np.testing.assert_array_equal(now[name], then[name])


def test_cartography(store):
    ours = [json.loads(line) for line in said(store, "metrics", RUN, "--format", "cartography").splitlines()]
    wanted = [json.loads(line) for line in (TO / "td_metrics.jsonl").read_text().splitlines()]
    assert [list(one) for one in ours] == [list(one) for one in wanted]
    for one, other in zip(ours, wanted):
        assert {name: pytest.approx(value, rel=1e-12) for name, value in one.items() if isinstance(value, float)} | \
            {name: value for name, value in one.items() if not isinstance(value, float)} == other


def with_one_more_epoch(state):
    """A state of one block (analyzer/metrics/README.md) whose first example was seen in one epoch more, which no store says; with a checksum that fits."""
    state = bytearray(state)
    epochs, blocks, rows = struct.unpack_from("<QII", state, 376)
    at = 392 + 16 * epochs + 8  # the block: chunk, rows, checksum of these, checksum of all; then how many epochs each example was seen in, and the other sums
    assert blocks == 1 and struct.unpack_from("<I", state, at + 4) == (rows,)
    place, check = struct.unpack_from("<QQ", state, at + 8)
    library = ctypes.CDLL("libxxhash.so.0")
    library.XXH3_64bits_withSeed.restype = ctypes.c_uint64

    def checksum():
        sums = bytes(state[at + 24:])
        return library.XXH3_64bits_withSeed(sums, ctypes.c_size_t(len(sums)), ctypes.c_uint64(place))

    assert checksum() == check
    struct.pack_into("<I", state, at + 24, struct.unpack_from("<I", state, at + 24)[0] + 1)
    struct.pack_into("<Q", state, at + 16, checksum())
    return state


@pytest.mark.parametrize("run, state", [(RUN, "metrics.state"), ("losses", "losses.state")])
def test_a_state_is_used(run, state, store, tmp_path):
    """It holds sums of 1.0: taken as they are (else stderr says that it is made anew), with the numbers of the whole computation. A sum that is changed in it
    comes out, too: the epochs that it holds are not read again."""
    def with_state(content):
        (tmp_path / "state").write_bytes(content)
        done = subprocess.run([PORTOLAN, "metrics", run, "--store", store, "--state", tmp_path / "state"], capture_output=True, text=True, timeout=packed.PATIENCE)
        assert done.returncode == 0 and "anew" not in done.stderr, done.stderr
        return done.stdout

    wanted = said(store, "metrics", run)
    assert_same(with_state((TO / state).read_bytes()), wanted, exact=False)
    changed = list(csv.DictReader(with_state(with_one_more_epoch((TO / state).read_bytes())).splitlines()))
    whole = list(csv.DictReader(wanted.splitlines()))
    assert [int(one["epochs"]) for one in changed] == [int(whole[0]["epochs"]) + 1, *(int(one["epochs"]) for one in whole[1:])]


def test_a_newer_state_is_refused(store, tmp_path):
    content = bytearray((TO / "metrics.state").read_bytes())
    content[28:32] = (99).to_bytes(4, "little")
    (tmp_path / "state").write_bytes(content)
    done = subprocess.run([PORTOLAN, "metrics", RUN, "--store", store, "--state", tmp_path / "state"], capture_output=True, text=True, timeout=packed.PATIENCE)
    assert done.returncode == 1 and "another version of portolan made it" in done.stderr, done.stderr
    assert (tmp_path / "state").read_bytes() == content


def test_ids(store):
    """A list of ids is what `--only` and `--exclude` read; the file is what `select` still writes."""
    assert said(store, "select", RUN, "--by", "ambiguous", "--count", "7") == (TO / "ids.txt").read_text()
    ids = (TO / "ids.txt").read_text().split()
    assert sorted(said(store, "select", RUN, "--by", "all", "--only", TO / "ids.txt").split()) == sorted(ids)
    rest = said(store, "select", RUN, "--by", "all", "--exclude", TO / "ids.txt").split()
    assert not set(rest) & set(ids) and len(rest) + len(ids) == 24
    assert [line.split(",")[0] for line in said(store, "dynamics", RUN, "--ids", TO / "ids.txt", "--epochs", "0:1").splitlines()[1:]] == sorted(ids, key=int)


def test_a_selection_of_the_page(store):
    chosen = said(store, "select", RUN, "--by", "all", "--within", TO / "selection.json").split()
    wanted = (TO / "selection.ids.txt").read_text().split()
    assert sorted(chosen) == sorted(wanted) and 0 < len(wanted) < 24


def test_corrections(store, tmp_path):
    data = tmp_path / "data.csv"
    with open(packed.FILES / "expected" / "recorded" / "words-declared.metrics.csv") as file:
        labels = {row["id"]: row["label"] for row in csv.DictReader(file)}
    with open(data, "w", newline="") as file:
        csv.writer(file).writerows([["id", "label"], *labels.items()])
    corrected = said(store, "select", RUN, "--corrections", TO / "corrections.tsv", "--data", data, "--id-field", "id", "--label-field", "label")
    with open(TO / "corrections.tsv") as file:
        changes = {row["id"]: (row["old"], row["new"]) for row in csv.DictReader(file, delimiter="\t")}
    assert changes and all(labels[i] == old for i, (old, _) in changes.items())
    assert {row["id"]: row["label"] for row in csv.DictReader(corrected.splitlines())} == {**labels, **{i: new for i, (_, new) in changes.items()}}


def test_flips_and_model(store, tmp_path):
    assert said(store, "noise", "plan", RUN, "--fraction", "0.2", "--regions", "1,0", "-o", "-") == (TO / "flips.tsv").read_text()
    said(store, "noise", "fit", "words/flipped", "--flips", TO / "flips.tsv", "-o", tmp_path / "model.json")
    then, now = json.loads((TO / "model.json").read_text()), json.loads((tmp_path / "model.json").read_text())
    assert set(then) <= set(now) and (then["kind"], then["version"]) == (now["kind"], now["version"])
    ours = said(store, "noise", "apply", RUN, "--model", tmp_path / "model.json").splitlines()
    assert len(ours) == 25
    theirs = said(store, "noise", "apply", RUN, "--model", TO / "model.json").splitlines()
    assert [line.split(",")[0] for line in theirs] == [line.split(",")[0] for line in ours]
    for one, other in zip(theirs[1:], ours[1:]):
        assert float(one.split(",")[1]) == pytest.approx(float(other.split(",")[1]), rel=1e-9)


def test_a_newer_model_is_refused(store, tmp_path):
    (tmp_path / "model.json").write_text(json.dumps({**json.loads((TO / "model.json").read_text()), "version": 99}))
    done = subprocess.run([PORTOLAN, "noise", "apply", RUN, "--model", tmp_path / "model.json", "--store", store], capture_output=True, text=True, timeout=packed.PATIENCE)
    assert done.returncode == 1 and "version" in done.stderr, done.stderr


def test_tags(store, tmp_path):
    """The server reads them, and appends to them."""
    shutil.copy(TO / "tags.jsonl", tmp_path / "tags.jsonl")
    with serving.serving(PORTOLAN, "--store", store, "--tags", tmp_path / "tags.jsonl") as server:
        told = server.json(f"/api/tags?run={RUN}")
        assert told["names"] == ["wrong label", "keep", "unsure"]
        assert {one["id"]: (one["tag"], one["label"]) for one in told["tags"]} == {3: ("unsure", None), 7: ("keep", None)}
        server.json(f"/api/runs/{RUN}/tags", json.dumps({"id": 8, "tag": "keep", "label": None}))
    content = (tmp_path / "tags.jsonl").read_bytes()
    assert content.startswith((TO / "tags.jsonl").read_bytes()) and content.count(b'"id":8') == 1


KINDS = {bool: "truth value", int: "number", float: "number", str: "text"}


def members(value, path=""):
    """The paths of all members of a JSON value, each with the kind of its value; null may be of any kind."""
    if isinstance(value, dict):
        return {(path, "object")}.union(*(members(one, f"{path}.{name}") for name, one in value.items()))
    if isinstance(value, list):
        return {(path, "list")}.union(*(members(one, f"{path}[]") for one in value))
    return {(path, "null" if value is None else KINDS[type(value)])}


def missing(then, now):
    """Which members of `then` are not in `now`, or of another kind there."""
    of_any_kind = {path for path, kind in members(now) if kind == "null"}
    paths = {path for path, _ in members(now)}
    return {(path, kind) for path, kind in members(then) - members(now) if path not in (paths if kind == "null" else of_any_kind)}


def test_what_is_missing():
    then = {"a": 1, "b": [{"c": "x"}, {"c": None}], "d": None, "e": True}
    assert missing(then, {"a": 2.5, "b": [{"c": "y"}], "d": [], "e": False, "new": 1}) == set()
    assert missing(then, {"a": "1", "b": [{"c": "y"}], "d": {}, "e": 1}) == {(".a", "number"), (".e", "truth value")}
    assert missing(then, {"a": None, "b": {}, "e": True}) == {(".b", "list"), (".b[]", "object"), (".b[].c", "text"), (".b[].c", "null"), (".d", "null")}


@pytest.mark.parametrize("name, words", [
    ("report.json", ["report", RUN, "--json"]),
    ("ids.txt.manifest.json", ["select", RUN, "--by", "ambiguous", "--count", "7", "-o", "ids.txt"]),
    ("flips.tsv.manifest.json", ["noise", "plan", RUN, "--fraction", "0.2", "--regions", "1,0", "-o", "flips.tsv"]),
])
def test_members_of_json(name, words, store, tmp_path, monkeypatch):
    """Each member that 1.0 wrote is there, with a value of the same kind."""
    monkeypatch.chdir(tmp_path)
    text = said(store, *words)
    now = json.loads(text or (tmp_path / name).read_text())
    assert missing(json.loads((TO / name).read_text()), now) == set()
