"""The golden stores: today's commands read each, and say the numbers of 1.0; today's collector goes on with it. Observations are the same to the last bit,
measures to 1e-12 of their size. A later version may have more columns, and none less."""

import csv
import hashlib
import io
import json
import math
import os
import pathlib
import subprocess

import packed
import pytest

PORTOLAN, PORTOLAND = os.environ["PORTOLAN"], os.environ["PORTOLAND"]
RUNS = [(store, run) for store, runs in packed.STORES.items() for run in runs]
STATES = {"half": "recording", "interrupted": "recording"}  # of the others: closed


def columns_of(text):
    """{column: values}, in the file's order."""
    rows = list(csv.reader(io.StringIO(text)))
    return {name: [row[c] for row in rows[1:]] for c, name in enumerate(rows[0])}


def assert_same(text, golden, exact):
    ours, wanted = columns_of(text), columns_of(golden)
    assert [name for name in ours if name in wanted] == list(wanted), "columns are gone, or in another order"
    for name, values in wanted.items():
        if exact:
            assert ours[name] == values, name
            continue
        assert len(ours[name]) == len(values), name
        for row, (value, other) in enumerate(zip(ours[name], values)):
            assert value == other or math.isclose(float(value), float(other), rel_tol=1e-12, abs_tol=1e-12), f"{name}, row {row}: {value}, and was {other}"


def assert_tables(store, run, folder):
    for command in ("dynamics", "metrics"):
        path = packed.FILES / "expected" / folder / f"{packed.file_name(run)}.{command}.csv"
        if path.exists():
            assert_same(packed.said(PORTOLAN, store, command, run), path.read_text(), exact=command == "dynamics")


@pytest.mark.parametrize("name, run", RUNS)
def test_numbers(name, run, tmp_path):
    assert_tables(packed.unpack(name, tmp_path / "store"), run, name)


def test_texts(tmp_path):
    store, (run, ids) = packed.unpack("recorded", tmp_path / "store"), packed.EXPLAINED
    assert packed.texts(PORTOLAN, store, run, ids) == (packed.FILES / "expected" / "recorded" / f"{run}.texts.json").read_text()


def test_a_run_of_more_than_one_chunk(tmp_path):
    store = packed.unpack("recorded", tmp_path / "store")
    text = packed.said(PORTOLAN, store, "dynamics", "given")
    wanted = (packed.FILES / "expected" / "recorded" / "given.dynamics.sha256").read_text().strip()
    assert hashlib.sha256(text.encode()).hexdigest() == wanted
    assert text.count("\n") == 1 + 2 * 16_400


@pytest.mark.parametrize("name", packed.STORES)
def test_list_and_check(name, tmp_path):
    store = packed.unpack(name, tmp_path / "store")
    listed = json.loads(packed.said(PORTOLAN, store, "runs", "--json"))
    assert {one["name"]: one["state"] for one in listed} == {run: STATES.get(run, "closed") for run in packed.STORES[name]}
    for run in packed.STORES[name]:
        done = subprocess.run([PORTOLAN, "check", run, "--store", store], capture_output=True, text=True, timeout=packed.PATIENCE)
        assert done.returncode in (0, 3) and "damaged 0\n" in done.stdout, done.stdout + done.stderr


def test_names_of_classes_and_counts(tmp_path):
    store = packed.unpack("recorded", tmp_path / "store")
    assert set(columns_of(packed.said(PORTOLAN, store, "metrics", "words/declared"))["label"]) == {"Katze", "dog", "bird, small"}
    checked = json.loads(packed.said(PORTOLAN, store, "check", "words/declared", "--json", status=3))
    assert (checked["declared"], checked["observations"], checked["replaced"], checked["clients"]["refused"]) == (24, 107, 2, 1)
    checked = json.loads(packed.said(PORTOLAN, store, "check", "resumed", "--json", status=3))
    assert (checked["observations"], checked["replaced"], checked["changed_labels"], checked["sessions"]["closed"]) == (36, 9, 1, 2)


@pytest.mark.parametrize("name", packed.STORES)
def test_a_collector_goes_on_with_it(name, tmp_path):
    """Today's collector opens the store, folds what is in the log, and takes a spool file of 1.0 into it. The runs that were there stay as they were."""
    store = packed.unpack(name, tmp_path / "store")
    done = subprocess.run([PORTOLAN, "import", packed.FILES / "spools" / "texts.spool", "--store", store], capture_output=True, text=True, timeout=packed.PATIENCE)
    assert done.returncode == 0, done.stderr
    for run in packed.STORES[name]:
        assert_tables(store, run, name)
    assert_tables(store, "spooled/texts", "spools")


@pytest.mark.parametrize("name", packed.STORES)
def test_backup_and_salvage(name, tmp_path):
    """A copy says the same, and so does what salvage reads without trusting the store."""
    store = packed.unpack(name, tmp_path / "store")
    packed.said(PORTOLAN, store, "backup", str(tmp_path / "copy"))
    done = subprocess.run([PORTOLAN, "salvage", store, "-o", tmp_path / "salvaged"], capture_output=True, text=True, timeout=packed.PATIENCE)
    assert done.returncode == 0, done.stderr
    for copy in ("copy", "salvaged"):
        for run in packed.STORES[name]:
            assert_tables(tmp_path / copy, run, name)


def test_a_newer_store_is_refused(tmp_path):
    """A store of a later schema version, by the commands that read and by the collector, in a sentence that says what to do."""
    store = pathlib.Path(packed.unpack("killed", tmp_path / "store"))
    subprocess.run([os.environ["MAKE_NEWER"], store], check=True)
    for command in ([PORTOLAN, "runs", "--store", store], [PORTOLAND, "--store", store, "--exit-when-idle", "1"]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=packed.PATIENCE)
        assert done.returncode == 1 and "has schema version 3, this program knows up to 2: use a newer portolan" in done.stderr, done.stderr
