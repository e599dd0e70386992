"""Runs without a collector, for a while or for good: what was logged arrives, once, in order, by whatever way."""

import itertools
import json
import os
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

import portolan
from python_support import PATIENCE
from spool_support import (EXAMPLES, PORTOLAN, PORTOLAND, assert_holds, collect, content, import_all, import_spool, log_epoch,  # noqa: F401
                           nobody, p_gold, spools, train)


@pytest.fixture
def spool(tmp_path):
    return tmp_path / "spool"


@pytest.fixture
def undisturbed(tmp_path):
    """A store with the run as it is without trouble."""
    store = tmp_path / "undisturbed"
    with portolan.Run("run", store=store) as run:
        train(run, range(4))
    return store


def offline(nobody, spool, name="run", **options):  # noqa: F811
    return portolan.Run(name, endpoint=nobody, spool=spool, open_timeout=0.05, **options)


def same(a, b):
    assert a.dtype == b.dtype
    for key in a.dtype.names:
        np.testing.assert_array_equal(a[key], b[key], err_msg=key)


def test_without_a_spool_there_must_be_a_collector(nobody, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    with pytest.raises(portolan.NoCollector, match="portoland --store DIR --listen " + nobody):
        portolan.Run("run", endpoint=nobody, open_timeout=0.05)
    assert os.listdir(tmp_path) == []


def test_offline_from_the_start(nobody, spool, store, undisturbed, capfd):  # noqa: F811
    with offline(nobody, spool) as run:
        assert capfd.readouterr().err.count("\n") == 1
        train(run, range(4))
        assert not run.flush()
    said = capfd.readouterr().err
    (path,) = spools(spool)
    assert f"portolan import {path} --store" in said
    assert f"{4 * EXAMPLES} observations" in said
    assert run.stats()["spooled"] == run.stats()["logged"] == 4 * EXAMPLES
    assert os.stat(path).st_mode & 0o777 == 0o600
    done = import_spool(path, store)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "imported 8000 observations into run 'run'; it now holds 8000 of 2000 examples in 4 epochs\n"
    same(content(store), content(undisturbed))
    again = import_spool(path, store)
    assert "imported 0 observations into run 'run' (8000 were there already)" in again.stdout
    same(content(store), content(undisturbed))


def test_string_ids_and_logits(nobody, spool, store):  # noqa: F811
    names = [f"example-{i}" for i in range(50)]
    with offline(nobody, spool, labels=["a", "b"], config={"lr": 0.1}, mode="train-forward") as run:
        run.log_logits(0, names, np.tile([2.0, -1.0], (50, 1)), [0] * 50)
    import_all(spool, store)
    assert content(store)["id"].tolist() == sorted(names)


def test_a_run_without_observations_is_kept_too(nobody, spool, store, capfd):  # noqa: F811
    with offline(nobody, spool, labels=["a", "b"], config={"lr": 0.1}):
        pass
    (path,) = spools(spool)
    said = capfd.readouterr().err.splitlines()
    assert "no collector has taken it" in said[-1] and f"portolan import {path} --store" in said[-1], said
    import_all(spool, store)
    assert [(run["name"], run["observations"]) for run in portolan.runs(store=store)] == [("run", 0)]


def test_into_a_store_that_is_served(nobody, spool, store):  # noqa: F811
    with offline(nobody, spool) as run:
        train(run, range(3))
    with portolan.Run("another", store=store) as another:
        import_all(spool, store)
        another.log_gold(0, [1], [0.5], [True])
        assert_holds(store, range(3))
    assert_holds(store, range(3))


def test_the_next_run_sends_it(collect, nobody, spool, store, capfd):  # noqa: F811
    for name in ("one", "two"):
        with offline(nobody, spool, name) as run:
            train(run, range(2))
    collector = collect(store, nobody.rpartition(":")[2])
    with portolan.Run("next", endpoint=collector.endpoint, spool=spool) as run:
        run.log_gold(0, [1], [0.5], [True])
    assert spools(spool) == []
    assert "one: sent the observations that an earlier process had left in" in capfd.readouterr().err
    assert_holds(store, range(2), name="one")
    assert_holds(store, range(2), name="two")
    assert content(store, "next")["id"].tolist() == [1]


def test_the_collector_is_killed_and_never_comes_back(collect, tmp_path, spool, store, undisturbed, capfd):  # noqa: F811
    collector = collect(store)
    run = portolan.Run("run", endpoint=collector.endpoint, spool=spool)
    train(run, range(2))
    assert run.flush()
    log_epoch(run, 2)
    collector.kill()
    log_epoch(run, 3)
    capfd.readouterr()
    assert run.close(timeout=0.3) is False
    said = capfd.readouterr().err
    (path,) = spools(spool)
    stats = run.stats()
    assert f"{stats['logged'] - stats['acknowledged']} of 8000 observations" in said
    assert f"portolan import {path} --store DIR" in said
    assert stats["spooled"] >= stats["logged"] - stats["acknowledged"] > 0
    import_all(spool, store)
    same(content(store), content(undisturbed))


def test_the_collector_comes_back(collect, spool, store, undisturbed):  # noqa: F811
    """Everything that was spooled meanwhile arrives, in order, and the file goes."""
    collector = collect(store)
    rows = 1 << 15
    with portolan.Run("big", endpoint=collector.endpoint, spool=spool, ring_bytes=1 << 20) as run:
        log_epoch(run, 0, range(rows), batch=1000)
        collector.kill()
        for epoch in range(1, 6):
            log_epoch(run, epoch, range(rows), batch=1000)
        assert len(spools(spool)) == 1
        deadline = time.monotonic() + PATIENCE
        while run.stats()["spooled"] <= rows and time.monotonic() < deadline:
            pass  # the file has begun; what was under way goes into it first
        assert run.stats()["spooled"] > rows
        assert run.stats()["dropped"] == 0
        collect.again(collector)
        assert run.flush()
        assert spools(spool) == []
        assert not spool.exists(), "made for the file, and gone with it"
        log_epoch(run, 6, range(rows), batch=1000)
    assert run.stats()["acknowledged"] == 7 * rows
    assert_holds(store, range(7), range(rows), name="big")


def test_frames_that_are_lost_on_the_way(collect, spool, store):  # noqa: F811
    """They are in the socket of a collector that is killed before it reads them, and nothing is logged after them."""
    collector = collect(store)
    run = portolan.Run("run", endpoint=collector.endpoint, spool=spool)
    log_epoch(run, 0)
    assert run.flush()
    collector.signal(signal.SIGSTOP)
    sent = run.stats()["bytes_sent"]
    log_epoch(run, 1)
    while run.stats()["bytes_sent"] < sent + 8 * EXAMPLES:
        pass
    collector.kill()
    collect.again(collector)
    assert run.flush(timeout=20)
    run.close()
    assert_holds(store, range(2))


def test_a_collector_comes_to_an_offline_run(collect, nobody, spool, store, tmp_path):  # noqa: F811
    endpoint = f"ipc://{tmp_path}/late.sock"
    run = portolan.Run("run", endpoint=endpoint, spool=spool, open_timeout=0.05)
    train(run, range(2))
    collector = subprocess.Popen([PORTOLAND, "--store", str(store), "--listen", endpoint], stderr=subprocess.PIPE, text=True)
    assert "serving" in collector.stderr.readline()
    train(run, range(2, 4))
    try:
        # Offline, flush() does not wait; so wait for the collector's first word.
        while not run.stats()["acknowledged"]:
            run.flush(0.05)
        run.close()
    finally:
        collector.terminate()
        collector.communicate(timeout=PATIENCE)
    assert spools(spool) == []
    assert_holds(store, range(4))


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_spools_of_one_run_in_any_order(nobody, tmp_path, store, order):  # noqa: F811
    """Three sessions, each resuming: later ones replace what they saw again, whatever comes first."""
    for session in range(3):
        with offline(nobody, tmp_path / str(session), resume=session > 0) as run:
            train(run, range(session, session + 2), range(100), seed=session)
    for session in order:
        import_all(tmp_path / str(session), store)
    for epoch, seed in ((0, 0), (1, 1), (2, 2), (3, 2)):
        assert content(store, epoch=epoch) == dict(enumerate(p_gold(epoch, range(100), seed).tolist())), epoch


def test_ranks_in_any_order(nobody, spool, store):  # noqa: F811
    for rank in (1, 0, 2):
        with offline(nobody, spool, group="job", rank=rank) as run:
            train(run, range(2), range(rank * 100, rank * 100 + 100))
    import_all(spool, store)
    assert_holds(store, range(2), range(300))


def test_a_late_spool_changes_nothing_newer(nobody, spool, store):  # noqa: F811
    with offline(nobody, spool) as run:
        train(run, range(3), range(100), seed=1)
    with portolan.Run("run", store=store, resume=True) as run:
        train(run, range(1, 3), range(50), seed=2)
    import_all(spool, store)
    assert content(store, epoch=0) == dict(enumerate(p_gold(0, range(100), 1).tolist()))
    for epoch in (1, 2):
        newer = p_gold(epoch, range(50), 2).tolist()
        older = p_gold(epoch, range(50, 100), 1).tolist()
        assert content(store, epoch=epoch) == dict(enumerate(newer + older))


def test_another_run_of_the_same_name_is_left_alone(collect, nobody, spool, store, capfd):  # noqa: F811
    with offline(nobody, spool) as run:
        train(run, range(2), range(10), seed=1)
    (path,) = spools(spool)
    collector = collect(store, nobody.rpartition(":")[2])
    with portolan.Run("run", endpoint=collector.endpoint) as run:
        train(run, range(1), range(10), seed=2)
    done = import_spool(path, store)
    assert done.returncode == 1
    assert "--run NAME" in done.stderr
    assert content(store)["epochs"].tolist() == [1] * 10
    # The next run does not send it either, says so, and puts it aside for good.
    with portolan.Run("third", endpoint=collector.endpoint, spool=spool) as run:
        run.log_gold(0, [1], [0.5], [True])
    assert "--run NAME" in capfd.readouterr().err
    assert os.listdir(spool) == [os.path.basename(path) + ".rejected"]
    for _ in range(2):
        done = import_spool(path + ".rejected", store, "--run", "other")
        assert done.returncode == 0, done.stderr
        assert_holds(store, range(2), range(10), seed=1, name="other")
    done = import_spool(path + ".rejected", store, "--run", "run", "--overwrite")
    assert done.returncode == 0, done.stderr
    assert_holds(store, range(2), range(10), seed=1)


def test_the_client_is_killed_while_spooling(nobody, spool, store, script):  # noqa: F811
    loop = script("""
    import sys, portolan
    from spool_support import train
    import itertools
    run = portolan.Run("run", endpoint=sys.argv[1], spool=sys.argv[2], open_timeout=0.05)
    for epoch in itertools.count():
        train(run, [epoch])
        if epoch > 2 and run.stats()["spooled"] > 4000:
            print("spooling", flush=True)
    """, nobody, spool)
    loop.wait_for("spooling")
    loop.process.kill()
    loop.end()
    (path,) = spools(spool)
    done = import_spool(path, store)
    assert done.returncode == 0, done.stderr
    measures = content(store)
    assert measures["epochs"].sum() >= 4000
    last = int(measures["epochs"].max()) - 1
    assert_holds_prefix(store, last)


def assert_holds_prefix(store, last):
    """Whole epochs, and of the last one the first examples."""
    for epoch in range(last):
        assert content(store, epoch=epoch) == dict(enumerate(p_gold(epoch, range(EXAMPLES)).tolist())), epoch
    count = len(content(store, epoch=last))
    assert content(store, epoch=last) == dict(enumerate(p_gold(last, range(count)).tolist()))


@pytest.mark.parametrize("cut", [1, 39, 40, 30000, -1, -41, -5000])
def test_a_file_that_is_cut_short(nobody, spool, store, cut):  # noqa: F811
    with offline(nobody, spool) as run:
        train(run, range(2))
    (path,) = spools(spool)
    os.truncate(path, cut if cut > 0 else os.path.getsize(path) + cut)
    done = import_spool(path, store)
    if cut in (1, 39, 40):
        assert done.returncode == (2 if cut == 1 else 1), done.stderr
    else:
        assert done.returncode == 0, done.stderr
        assert_holds_prefix(store, int(content(store)["epochs"].max()) - 1)


def test_a_file_that_is_damaged(collect, nobody, spool, store, capfd):  # noqa: F811
    with offline(nobody, spool) as run:
        train(run, range(4))
    (path,) = spools(spool)
    with open(path, "r+b") as file:
        file.seek(os.path.getsize(path) // 2)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 4]))
    done = import_spool(path, store)
    assert done.returncode == 3
    assert "is damaged at byte" in done.stderr
    assert_holds_prefix(store, int(content(store)["epochs"].max()) - 1)
    whole = content(store)["epochs"].sum()
    capfd.readouterr()
    collector = collect(store, nobody.rpartition(":")[2])
    with portolan.Run("next", endpoint=collector.endpoint, spool=spool):
        pass
    assert "is damaged at byte" in capfd.readouterr().err
    assert spools(spool) == []
    assert os.path.exists(path + ".rejected")
    done = import_spool(path + ".rejected", store, "--overwrite")
    assert done.returncode == 1
    assert "nothing was removed" in done.stderr
    assert content(store)["epochs"].sum() == whole


def test_what_the_client_left_out_is_known(nobody, spool, store):  # noqa: F811
    with offline(nobody, spool) as run:
        run.log_gold(0, [1, 2, 3], [0.5, float("nan"), 0.5], [True, True, True])
    import_all(spool, store)
    (told,) = json.loads(subprocess.run([PORTOLAN, "runs", "--store", store, "--json"], capture_output=True, check=True).stdout)
    assert (told["clients"]["logged"], told["clients"]["refused"]) == (2, 1)


def checksum(head, frame):
    """As client/spool/spool.c has it."""
    most = (1 << 64) - 1
    value = (0xCBF29CE484222325 ^ len(frame)) * 0x100000001B3 & most
    for part in (head, frame):
        for i in range(0, len(part), 8):
            value = (value ^ int.from_bytes(part[i:i + 8].ljust(8, b"\0"), "little")) * 0x100000001B3 & most
            value = (value << 29 | value >> 35) & most
    return value.to_bytes(8, "little")


def test_a_frame_that_makes_no_sense(collect, nobody, spool, store, capfd):  # noqa: F811
    """One of another version, rightly written: what it would be answered must not end the run that sends it."""
    with offline(nobody, spool) as run:
        train(run, range(2))
    (path,) = spools(spool)
    with open(path, "r+b") as file:
        content_before = file.read()
        frame = content_before.rindex(b"\xa1v\x02") - 1
        head, last = content_before[frame - 40:frame - 8], content_before[frame:]
        assert content_before[frame - 8:frame] == checksum(head, last)
        later = last.replace(b"\xa1v\x02", b"\xa1v\x03", 1)
        file.seek(frame - 8)
        file.write(checksum(head, later) + later)
    collector = collect(store, nobody.rpartition(":")[2])
    with portolan.Run("next", endpoint=collector.endpoint, spool=spool) as run:
        while not os.path.exists(path + ".rejected"):
            log_epoch(run, 0)
    assert "makes no sense" in capfd.readouterr().err
    assert run.stats()["acknowledged"] == run.stats()["logged"]


def test_a_run_that_is_alive_is_not_imported(nobody, spool, store):  # noqa: F811
    with offline(nobody, spool) as run:
        run.log_gold(0, [1], [0.5], [True])
        (path,) = spools(spool)
        done = import_spool(path, store)
        assert done.returncode == 1
        assert "belongs to a process that is running" in done.stderr
        with portolan.Run("other", store=store, spool=spool):
            pass
        assert spools(spool) == [path]
    import_all(spool, store)
    assert content(store)["id"].tolist() == [1]


def test_embedded_without_a_program(tmp_path, spool, store, monkeypatch, capfd):
    monkeypatch.setenv("PORTOLAND", str(tmp_path / "not-here"))
    with pytest.raises(portolan.NoCollector, match="not-here"):
        portolan.Run("run", store=store)
    with portolan.Run("run", store=store, spool=spool) as run:
        train(run, range(2))
    assert "not-here" in capfd.readouterr().err
    monkeypatch.undo()
    with portolan.Run("next", store=store, spool=spool):
        pass
    assert_holds(store, range(2))


def test_a_spool_that_cannot_be(nobody, tmp_path):  # noqa: F811
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(portolan.Error, match="file"):
        portolan.Run("run", endpoint=nobody, spool=tmp_path / "file", open_timeout=0.05)


def test_a_spool_never_goes_to_another_store(collect, tmp_path, spool, capfd):  # noqa: F811
    """Its run's tail, which overwrote in its own store, finds a run of that name in another one."""
    one, two = tmp_path / "one", tmp_path / "two"
    other, collector = collect(two), collect(one)
    with portolan.Run("run", endpoint=other.endpoint) as run:
        train(run, range(5), range(100), seed=1)
    run = portolan.Run("run", endpoint=collector.endpoint, spool=spool, overwrite=True)
    train(run, range(2), range(100))
    assert run.flush()
    collector.kill()
    train(run, range(2, 6), range(100))
    assert not run.close(timeout=0.1)
    (path,) = spools(spool)
    capfd.readouterr()
    # Of another name and place, and even at the same address.
    with portolan.Run("next", endpoint=other.endpoint, spool=spool):
        pass
    other.kill()
    assert f"portolan import {path}" in capfd.readouterr().err
    other = collect(two, collector.port)
    with portolan.Run("next 2", endpoint=other.endpoint, spool=spool):
        pass
    other.kill()
    assert spools(spool) == [path]
    assert_holds(two, range(5), range(100), seed=1)
    # By hand it is not put in the place of a whole run either: only beside it.
    for arguments in ((), ("--overwrite",)):
        done = import_spool(path, two, *arguments)
        assert done.returncode == 1
        assert "--run NAME" in done.stderr
    assert_holds(two, range(5), range(100), seed=1)
    for _ in range(2):
        done = import_spool(path, two, "--run", "tail")
        assert done.returncode == 0, done.stderr
        assert_holds(two, range(2, 6), range(100), name="tail")
    # Where it belongs it goes by itself.
    with portolan.Run("next", store=one, spool=spool):
        pass
    assert spools(spool) == []
    assert_holds(one, range(6), range(100))


def test_a_spool_without_a_store_goes_only_where_it_was_to_go(nobody, spool, store, capfd):  # noqa: F811
    with offline(nobody, spool) as run:
        train(run, range(1), range(10))
    (path,) = spools(spool)
    with portolan.Run("next", store=store, spool=spool):
        pass
    said = capfd.readouterr().err
    assert f"({nobody})" in said and f"portolan import {path} --store DIR" in said
    assert spools(spool) == [path]


def test_a_left_over_overwrites_nothing(collect, nobody, spool, store, capfd):  # noqa: F811
    collector = collect(store, nobody.rpartition(":")[2])
    with portolan.Run("run", endpoint=collector.endpoint) as run:
        train(run, range(3), range(10), seed=1)
    collector.kill()
    with offline(nobody, spool, overwrite=True) as run:
        train(run, range(1), range(10), seed=2)
    (path,) = spools(spool)
    collector = collect.again(collector)
    with portolan.Run("next", endpoint=collector.endpoint, spool=spool):
        pass
    assert "--overwrite" in capfd.readouterr().err
    assert_holds(store, range(3), range(10), seed=1)
    done = import_spool(path + ".rejected", store, "--overwrite")
    assert done.returncode == 0, done.stderr
    assert_holds(store, range(1), range(10), seed=2)


def test_a_store_from_a_backup_lacks_the_beginning(collect, spool, store, tmp_path, capfd):  # noqa: F811
    collector = collect(store)
    with portolan.Run("old", endpoint=collector.endpoint) as run:
        train(run, range(1), range(10))
    collector.kill()
    shutil.copytree(store, tmp_path / "copy", ignore=shutil.ignore_patterns("*.sock", "lock*"))
    collector = collect(store)
    run = portolan.Run("run", endpoint=collector.endpoint, spool=spool)
    train(run, range(2), range(10))
    assert run.flush()
    collector.kill()
    train(run, range(2, 3), range(10))
    assert not run.close(timeout=0.1)
    (path,) = spools(spool)
    shutil.rmtree(store)
    shutil.copytree(tmp_path / "copy", store)
    with portolan.Run("next", store=store, spool=spool):
        pass
    assert "the store does not have what was acknowledged" in capfd.readouterr().err
    assert spools(spool) == [path]
    with pytest.raises(portolan.Error):
        content(store)


def test_who_has_given_up_lets_others_have_the_spool(collect, spool, store, tmp_path, capfd):  # noqa: F811
    collector = collect(store)
    run = portolan.Run("run", endpoint=collector.endpoint, spool=spool)
    train(run, range(2), range(10))
    assert run.flush()
    collector.kill()
    train(run, range(2, 3), range(10))
    other = collect(tmp_path / "other", collector.port)
    assert not run.flush()
    (path,) = spools(spool)
    said = capfd.readouterr().err
    assert "no longer recorded" in said and "another store" in said and path in said
    done = import_spool(path, store)
    assert done.returncode == 0, done.stderr
    assert_holds(store, range(3), range(10))
    other.kill()
    assert not run.close()
    assert f"10 of 30 observations are in a file, and 0 are lost: portolan import {path}" in capfd.readouterr().err
