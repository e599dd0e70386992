"""The golden spool files: delivered to today's collector, with one running and with none, and the rows are those of 1.0. A spool file of a later version is
refused."""

import os
import re
import shutil
import subprocess

import packed
import pytest
from test_stores import assert_tables

PORTOLAN, PORTOLAND = os.environ["PORTOLAN"], os.environ["PORTOLAND"]
NAMES = {"integers": "spooled/integers", "texts": "spooled/texts"}


def bring(path, store, status=0):
    done = subprocess.run([PORTOLAN, "import", path, "--store", store], capture_output=True, text=True, timeout=packed.PATIENCE)
    assert done.returncode == status, done.stderr
    return done.stderr


@pytest.fixture
def collector(tmp_path):
    """A collector that runs, of the store tmp_path/store."""
    process = subprocess.Popen([PORTOLAND, "--store", tmp_path / "store", "--listen", "tcp://127.0.0.1:*"], stderr=subprocess.PIPE, text=True)
    assert re.search("serving", process.stderr.readline())
    yield process
    process.terminate()
    process.communicate(timeout=packed.PATIENCE)


@pytest.mark.parametrize("name", NAMES)
def test_into_a_new_store(name, tmp_path):
    bring(packed.FILES / "spools" / f"{name}.spool", tmp_path / "store")
    assert_tables(tmp_path / "store", NAMES[name], "spools")


@pytest.mark.parametrize("name", NAMES)
def test_through_a_collector(name, tmp_path, collector):
    bring(packed.FILES / "spools" / f"{name}.spool", tmp_path / "store")
    bring(packed.FILES / "spools" / f"{name}.spool", tmp_path / "store")  # again is not twice
    assert_tables(tmp_path / "store", NAMES[name], "spools")


def test_the_rest_of_a_run_whose_collector_was_killed(tmp_path):
    """It belongs to that store, and to no other one."""
    store = packed.unpack("killed", tmp_path / "store")
    bring(packed.FILES / "spools" / "killed.spool", store)
    assert_tables(store, "interrupted", "spools")
    assert "does not have what was acknowledged" in bring(packed.FILES / "spools" / "killed.spool", tmp_path / "other", status=1)


def test_a_newer_spool_is_refused(tmp_path):
    path = tmp_path / "newer.spool"
    shutil.copy(packed.FILES / "spools" / "texts.spool", path)
    with open(path, "r+b") as file:
        file.seek(16)
        file.write((99).to_bytes(4, "little"))
    assert "is of version 99; this program knows versions 2 and 3: use a newer portolan" in bring(path, tmp_path / "store", status=1)
