"""While there is no collector: full disks, signals, exceptions, forks, workers, ends of every kind. Nothing hangs, nothing is
lost that could be kept, and what is lost is counted."""

import itertools
import json
import os
import signal
import subprocess
import threading
import time

import pytest

import portolan
from python_support import PATIENCE
from spool_support import (PORTOLAN, assert_holds, collect, content, import_all, log_epoch, nobody, spools, train)  # noqa: F401

ROWS = 1 << 14  # of 13 bytes each: five times these fill a ring of 1 MiB


@pytest.fixture
def spool(tmp_path):
    return tmp_path / "spool"


def open_then_kill(collect, store, **options):  # noqa: F811
    collector = collect(store)
    run = portolan.Run("run", endpoint=collector.endpoint, ring_bytes=1 << 20, **options)
    collector.kill()
    return run, collector


def test_full_and_drop(collect, store, spool, capfd):  # noqa: F811
    """What fits is kept, and imported; the rest is counted; logging never waits."""
    run, _ = open_then_kill(collect, store, spool=spool, spool_bytes=1 << 20, when_full="drop")
    epochs, said = 0, ""
    while epochs < 20 or "has reached its limit" not in said:  # dropping is quick: the file may still have room
        log_epoch(run, epochs, range(ROWS), batch=1000)
        epochs, said = epochs + 1, said + capfd.readouterr().err
    stats = run.stats()
    assert stats["waits"] == 0
    assert stats["dropped"] > 0
    assert stats["logged"] + stats["dropped"] == epochs * ROWS
    said += capfd.readouterr().err
    assert not run.close(timeout=0)
    assert "has reached its limit of 1048576 bytes" in capfd.readouterr().err
    assert said.count("observations are dropped, and counted") == 1
    assert said.count("has reached its limit") == 1
    import_all(spool, store)
    assert content(store)["epochs"].sum() == run.stats()["spooled"]
    # What is neither there nor in the file is counted as dropped at the end.
    stats = run.stats()
    assert stats["spooled"] + stats["dropped"] == epochs * ROWS


def test_full_and_wait(collect, store, spool, capfd):  # noqa: F811
    """The log call waits, with a warning, until the collector is back; and nothing is lost."""
    run, collector = open_then_kill(collect, store, spool=spool, spool_bytes=1 << 20)
    threading.Timer(1.5, lambda: collect.again(collector)).start()
    for epoch in range(20):
        log_epoch(run, epoch, range(ROWS), batch=1000)
    run.close()
    assert run.stats()["waits"] > 0
    assert run.stats()["acknowledged"] == 20 * ROWS
    assert capfd.readouterr().err.count("logging waits") == 1
    assert_holds(store, range(20), range(ROWS))


@pytest.fixture
def small_disk(tmp_path):
    """A tmpfs of 2 MiB."""
    path = tmp_path / "small"
    path.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(path)], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("cannot mount a tmpfs here")
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)


def test_a_full_disk_that_gets_room(collect, store, small_disk, capfd):  # noqa: F811
    """The spool's disk is full; it is tried again until there is room; then it is imported."""
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(1 << 20))
    run, _ = open_then_kill(collect, store, spool=small_disk / "spool", when_full="drop")
    # Full when nothing has gone into the file for longer than it takes to try again, though the ring is full.
    spooled, since = -1, time.monotonic()
    while time.monotonic() - since < 2 or not run.stats()["dropped"]:
        log_epoch(run, 8, range(1000), batch=1000)
        if run.stats()["spooled"] != spooled:
            spooled, since = run.stats()["spooled"], time.monotonic()
    said = capfd.readouterr().err
    while "No space left on device" not in said:
        log_epoch(run, 8, range(1000), batch=1000)
        said += capfd.readouterr().err
    full = run.stats()["spooled"]
    ballast.unlink()
    logged = run.stats()["logged"]
    while run.stats()["spooled"] <= full + 10000 or run.stats()["logged"] == logged:
        run.log_gold(9, [1], [0.5], [True])
    said += capfd.readouterr().err
    assert "the spool is written again" in said
    assert not run.close(timeout=0)
    assert "portolan import" in capfd.readouterr().err
    stats = run.stats()
    assert stats["spooled"] == stats["logged"] - stats["acknowledged"]
    import_all(small_disk / "spool", store)
    # Epoch 8 was logged again and again: what was seen twice is there once.
    assert {1: 0.5} == content(store, epoch=9)


LOOP = """
    import itertools, os, sys, portolan
    from spool_support import train
    run = portolan.Run("run", endpoint=sys.argv[1], spool=sys.argv[2], open_timeout=0.05)
    train(run, range(3))
"""


def test_exit_without_close(nobody, spool, store, script):  # noqa: F811
    status, errors = script(LOOP, nobody, spool).end()
    assert status == 0
    assert "portolan import" in errors
    import_all(spool, store)
    assert_holds(store, range(3))


def test_an_uncaught_exception(nobody, spool, store, script):  # noqa: F811
    status, errors = script(LOOP + "    raise KeyError('mine')", nobody, spool).end()
    assert status == 1
    assert errors.count("Traceback") == 1
    import_all(spool, store)
    assert_holds(store, range(3))


def test_an_exception_in_a_with_block(nobody, spool, store):  # noqa: F811
    with pytest.raises(KeyError, match="mine"):
        with portolan.Run("run", endpoint=nobody, spool=spool, open_timeout=0.05) as run:
            train(run, range(3))
            raise KeyError("mine")
    import_all(spool, store)
    assert_holds(store, range(3))


def test_ctrl_c_in_the_loop(nobody, spool, store, script):  # noqa: F811
    loop = script(LOOP + """
    print("running", flush=True)
    for epoch in itertools.count(3):
        train(run, [epoch])
    """, nobody, spool)
    loop.wait_for("running")
    loop.process.send_signal(signal.SIGINT)
    status, errors = loop.end()
    assert status != 0
    assert errors.count("KeyboardInterrupt") == 1
    import_all(spool, store)
    assert content(store)["epochs"].min() >= 3


def test_sigterm_loses_no_more_than_memory(nobody, spool, store, script):  # noqa: F811
    """No handler of ours, no exit code of Python's: what is in the file is there."""
    loop = script(LOOP + """
    while run.stats()["spooled"] < 3 * 2000:
        pass
    print("running", flush=True)
    sys.stdin.readline()
    """, nobody, spool)
    loop.wait_for("running")
    loop.process.terminate()
    loop.end()
    import_all(spool, store)
    assert_holds(store, range(3))


def test_fork_while_spooling(nobody, spool, store, script):  # noqa: F811
    status, errors = script(LOOP + """
    for how in range(3):
        child = os.fork()
        if child == 0:
            try:
                train(run, [99])
                os._exit(1)
            except portolan.Forked:
                pass
            if how == 0:
                os._exit(0)
            if how == 1:
                run.close()
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        train(run, [3 + how])
    """, nobody, spool).end()
    assert status == 0, errors
    import_all(spool, store)
    assert_holds(store, range(6))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_while_spooling(nobody, spool, store, tmp_path, method):  # noqa: F811
    """As data loaders do it: the parent logs, workers come and go; each worker that records opens a run of its own."""
    program = tmp_path / "program.py"
    program.write_text(f"""
import multiprocessing, sys
import portolan
from spool_support import train

def work(rank):
    with portolan.Run("shared", endpoint={nobody!r}, spool={str(spool)!r}, open_timeout=0.05, group="job", rank=rank) as own:
        train(own, range(2), range(100 * rank, 100 * rank + 100))
    return rank

if __name__ == "__main__":
    multiprocessing.set_start_method({method!r})
    with portolan.Run("run", endpoint={nobody!r}, spool={str(spool)!r}, open_timeout=0.05) as run:
        train(run, [0])
        with multiprocessing.Pool(2) as pool:
            for rank in pool.imap_unordered(work, range(4)):
                train(run, [1 + rank])
    print(run.stats()["spooled"])
""")
    done = subprocess.run(["/usr/bin/python3", str(program)], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "10000"
    import_all(spool, store)
    assert_holds(store, range(5))
    assert_holds(store, range(2), range(400), name="shared")


def test_ctrl_c_while_a_log_call_waits(collect, store, script):  # noqa: F811
    collector = collect(store)
    loop = script("""
    import sys, portolan
    from spool_support import train
    import itertools
    run = portolan.Run("run", endpoint=sys.argv[1], ring_bytes=1 << 20, spool_bytes=1, spool=sys.argv[2])
    print("open", flush=True)
    try:
        for epoch in itertools.count():
            train(run, [epoch])
    except KeyboardInterrupt:
        print("heard", flush=True)
        stats = run.stats()
        assert stats["waits"] > 0 and stats["dropped"] > 0, stats
        if not run.close(timeout=0.1):
            print("closed", flush=True)
    """, collector.endpoint, store / "spool")
    loop.wait_for("open")
    collector.signal(signal.SIGSTOP)
    for line in loop.process.stderr:
        if "logging waits" in line:
            break
    loop.process.send_signal(signal.SIGINT)
    loop.wait_for("heard")
    loop.wait_for("closed")
    assert loop.end()[0] == 0


def test_close_is_not_held_up_by_a_thread_that_waits(collect, store, capfd):  # noqa: F811
    collector = collect(store)
    run = portolan.Run("run", endpoint=collector.endpoint, ring_bytes=1 << 20, spool_bytes=1, spool=store / "spool")
    collector.signal(signal.SIGSTOP)
    ended = []

    def log():
        try:
            train(run, itertools.count())
        except portolan.Closed:
            ended.append(True)

    thread = threading.Thread(target=log)
    thread.start()
    while not run.stats()["waits"]:
        pass
    before = time.monotonic()
    capfd.readouterr()
    assert not run.close(timeout=0.5)
    assert "lost" in capfd.readouterr().err
    thread.join(PATIENCE)
    assert ended == [True]
    assert time.monotonic() - before < 5
    stats = run.stats()
    assert stats["logged"] + stats["dropped"] >= stats["logged"]


def test_a_child_that_outlives_its_parent_keeps_no_spool(collect, nobody, spool, store, script, capfd):  # noqa: F811
    """A data loader's worker, when the training process is killed: the next run sends what that one has left."""
    loop = script("""
    import os, sys, time, portolan
    from spool_support import train
    run = portolan.Run("run", endpoint=sys.argv[1], spool=sys.argv[2], open_timeout=0.05)
    train(run, [0])
    while run.stats()["spooled"] < 2000:
        pass
    worker = os.fork()
    if worker == 0:
        print(os.getpid(), flush=True)
        time.sleep(600)
    time.sleep(600)
    """, nobody, spool)
    worker = int(loop.process.stdout.readline())
    loop.process.kill()
    loop.process.wait()
    try:
        collector = collect(store, nobody.rpartition(":")[2])
        with portolan.Run("next", endpoint=collector.endpoint, spool=spool):
            pass
        assert "run: sent the observations that an earlier process had left in" in capfd.readouterr().err
    finally:
        os.kill(worker, signal.SIGKILL)
    assert spools(spool) == []
    assert_holds(store, [0])


def test_a_spool_that_another_process_holds(collect, nobody, spool, store, capfd):  # noqa: F811
    with portolan.Run("run", endpoint=nobody, spool=spool, open_timeout=0.05) as run:
        train(run, [0])
    (path,) = spools(spool)
    never_begun = spool / "0123456789abcdef.spool"
    never_begun.touch()
    collector = collect(store, nobody.rpartition(":")[2])
    capfd.readouterr()
    with subprocess.Popen(["flock", "--nonblock", path, "sh", "-c", "echo held; sleep 600"], stdout=subprocess.PIPE, process_group=0) as holder:
        assert holder.stdout.readline() == b"held\n"
        with portolan.Run("next", endpoint=collector.endpoint, spool=spool) as run:
            run.log_gold(0, [1], [0.5], [True])
        os.killpg(holder.pid, signal.SIGKILL)
    said = capfd.readouterr().err
    assert said.count("\n") == 1 and f"spool {path} belongs to a process that is running" in said, said
    assert spools(spool) == [path]
    assert not never_begun.exists(), "it is of no use"
    with portolan.Run("after", endpoint=collector.endpoint, spool=spool):
        pass
    assert_holds(store, [0])


def test_ctrl_c_while_opening(nobody, script):  # noqa: F811
    loop = script("""
    import sys, portolan
    print("opening", flush=True)
    try:
        portolan.Run("run", endpoint=sys.argv[1], open_timeout=3600)
    except KeyboardInterrupt:
        print("heard", flush=True)
    """, nobody)
    loop.wait_for("opening")
    threads = f"/proc/{loop.process.pid}/task"
    while not any(open(f"{threads}/{thread}/comm").read() == "portolan\n" for thread in os.listdir(threads)):
        pass  # the run's own thread is there: it waits
    loop.process.send_signal(signal.SIGINT)
    loop.wait_for("heard")
    assert loop.end() == (0, "")


def test_ctrl_c_at_the_end(collect, store, spool, script):  # noqa: F811
    """The collector is stopped, and the interpreter waits for it: the first Ctrl-C ends that; all is in the spool."""
    collector = collect(store)
    loop = script("""
    import sys, portolan
    from spool_support import train
    run = portolan.Run("run", endpoint=sys.argv[1], spool=sys.argv[2])
    print("open", flush=True)
    sys.stdin.readline()
    train(run, range(2))
    print("logged", flush=True)
    """, collector.endpoint, spool)
    loop.wait_for("open")
    collector.signal(signal.SIGSTOP)
    loop.process.stdin.write("\n")
    loop.process.stdin.flush()
    loop.wait_for("logged")
    time.sleep(0.3)  # into its exit handlers; too early would be another test, and pass as well
    loop.process.send_signal(signal.SIGINT)
    _, errors = loop.end()
    assert "portolan import" in errors
    collector.kill()
    import_all(spool, store)
    assert_holds(store, range(2))


def test_close_without_waiting_after_a_flush(store):
    """The collector learns that the run is over, though nobody waits for it."""
    run = portolan.Run("run", store=store)
    run.log_gold(0, [1], [0.5], [True])
    assert run.flush()
    run.close(timeout=0)
    shown = subprocess.run([PORTOLAN, "runs", "--json", "--store", str(store)], capture_output=True, text=True, check=True)
    assert json.loads(shown.stdout)[0]["state"] == "closed"


def open_and_remove(store, **options):
    run = portolan.Run("run", store=store, **options)
    run.log_gold(0, [1], [0.5], [True])
    assert run.flush()
    assert subprocess.run([PORTOLAN, "rm", "run", "--store", str(store)], check=False).returncode == 0
    return run


def test_training_goes_on_when_its_run_is_removed(store, capfd):
    run = open_and_remove(store)
    example = 0
    while not run.stats()["dropped"]:
        example += 1  # an id that comes again is warned of
        run.log_gold(1, [example], [0.5], [True])
        run.end_epoch(1)
    for epoch in range(2, 5):
        run.log_gold(epoch, [1], [0.5], [True])
        run.end_epoch(epoch)
        assert run.flush() is False, "what is dropped is not on disk"
    with pytest.raises(ValueError, match="gold_probs"):
        run.log_gold(5, [[1]], [[0.5], 1, 2], [True])
    with pytest.raises(ValueError, match="correct"):
        run.log_gold(5, [1], [0.5], [2])
    said = capfd.readouterr().err
    assert said.count("portolan: run run is no longer recorded") == 1 and said.count("\n") == 1, said
    assert run.close() is False
    stats = run.stats()
    assert stats["acknowledged"] == 1
    assert stats["dropped"] >= 4
    said = capfd.readouterr().err
    assert "removed" in said and "observations are lost" in said and said.count("\n") == 1, said
    assert run.close() is False
    assert spools(store / "spool") == [], "what was removed on purpose does not come back"


def test_a_with_block_outlives_the_removal_of_its_run(store, capfd):
    with open_and_remove(store) as run:
        while not run.stats()["dropped"]:
            run.log_gold(1, [1], [0.5], [True])
    assert "observations are lost" in capfd.readouterr().err


def test_a_strict_run_that_was_removed(store):
    run = open_and_remove(store, strict=True)
    with pytest.raises(portolan.Closed, match="run run has ended: .*removed"):
        while True:
            run.log_gold(1, [1], [0.5], [True])
    with pytest.raises(portolan.Closed, match="removed"):
        run.end_epoch(1)
    with pytest.raises(portolan.Closed, match="observations are lost"):
        run.flush()
    with pytest.raises(portolan.Closed, match="observations are lost"):
        run.close()
    assert run.stats()["acknowledged"] == 1
    assert run.stats()["dropped"] > 0


def test_close_of_a_strict_run_raises_what_is_missing(collect, spool, store):  # noqa: F811
    collector = collect(store)
    run = portolan.Run("run", endpoint=collector.endpoint, spool=spool, strict=True)
    collector.kill()
    train(run, [0])
    with pytest.raises(portolan.TimedOut, match="portolan import"):
        run.close(timeout=0)


def test_counters_of_a_run_that_was_removed(store):
    run = open_and_remove(store)
    while not run.stats()["dropped"]:
        run.log_gold(1, [1], [0.5], [True])
    assert not run.close()
    stats = run.stats()
    assert stats["acknowledged"] == 1
    assert stats["dropped"] > 0
    assert spools(store / "spool") == [], "what was removed on purpose does not come back"


def test_an_embedded_collector_that_is_killed_at_the_end(store, monkeypatch, tmp_path, capfd):
    """It is gone, none can be started, and the default spool lies in the store."""
    from python_support import kill_collectors
    run = portolan.Run("run", store=store)
    train(run, [0])
    assert run.flush()
    monkeypatch.setenv("PORTOLAND", str(tmp_path / "not-here"))
    kill_collectors(store)
    train(run, [1])
    capfd.readouterr()
    if not run.close(timeout=0.2):
        said = capfd.readouterr().err
        assert str(store / "spool") in said
        assert f"--store {store}" in said
    monkeypatch.undo()
    import_all(store / "spool", store)
    assert_holds(store, range(2))

