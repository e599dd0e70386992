"""Overwriting over TCP, and resuming a run that another process records: what a training loop sees."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import pytest
from collector_harness import DEADLINE, Collector

import portolan

PORTOLAN = os.environ["PORTOLAN"]
HELD = """
    import sys, portolan
    run = portolan.Run("run", store=sys.argv[1], resume=True)
    run.log_gold(0, [1], [0.5], [True])
    print("ready", flush=True)
    sys.stdin.readline()
    """


@pytest.fixture
def collector(tmp_path):
    started = Collector(str(tmp_path / "store"))
    yield started
    started.end()


def record(endpoint, **options):
    with portolan.Run("run", endpoint=endpoint, **options) as run:
        run.log_gold(0, [1, 2, 3], [0.5, 0.25, 1.0], [True, False, True])


def test_the_same_user_overwrites_over_tcp(collector):
    for endpoint in (collector.tcp, collector.tcp.replace("127.0.0.1", "localhost")):
        record(endpoint)
        record(endpoint, overwrite=True)
        with portolan.Run("run", endpoint=endpoint, overwrite=True) as run:
            run.log_gold(0, [1], [0.5], [True])
        assert {run["name"]: run["observations"] for run in portolan.runs(store=collector.store)}["run"] == 1
        record(endpoint, overwrite=True)
        portolan.Run("other", endpoint=endpoint, overwrite=True).close()
        subprocess.run([PORTOLAN, "rm", "run", "--yes", "--store", collector.store], check=True, timeout=DEADLINE)


@pytest.fixture
def open_folder():
    """A folder that every user can read. Above pytest's own there is one that each pytest closes to others when it starts."""
    with tempfile.TemporaryDirectory(prefix="portolan-access-") as folder:
        os.chmod(folder, 0o755)
        yield pathlib.Path(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be another user")
def test_another_user_does_not_overwrite(open_folder):
    collector = Collector(str(open_folder / "store"))  # others can reach its directory, as in many a home
    record(collector.tcp)
    code = f"import portolan\nportolan.Run('run', endpoint={collector.tcp!r}, overwrite=True, spool='/tmp/none')"
    package = shutil.copytree(pathlib.Path(portolan.__file__).parent, open_folder / "package" / "portolan")  # theirs, wherever this one is
    done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c", code],
                          capture_output=True, text=True, timeout=DEADLINE, env={**os.environ, "PYTHONPATH": str(package.parent)}, cwd="/")
    assert "Refused" in done.stderr and "portolan rm run" in done.stderr and "--keys" in done.stderr, done.stderr
    assert portolan.runs(store=collector.store)[0]["observations"] == 3
    collector.end()


def test_an_impostor_learns_no_secret(collector, tmp_path):
    """A process that listens elsewhere, and names the secret of a store, is not told it."""
    import msgpack
    import zmq

    router = zmq.Context.instance().socket(zmq.ROUTER)
    port = router.bind_to_random_port("tcp://127.0.0.1")
    path = os.path.join(collector.store, "owner.secret")
    opener = subprocess.Popen([sys.executable, "-c", f"import portolan; portolan.Run('run', endpoint='tcp://127.0.0.1:{port}', overwrite=True)"],
                              stderr=subprocess.PIPE, text=True)
    try:
        opens = []
        while opener.poll() is None:
            if not router.poll(100):
                continue
            peer, data = router.recv_multipart()
            opens.append(msgpack.unpackb(data))
            router.send_multipart([peer, msgpack.packb({"v": 2, "t": "error", "s": opens[-1]["s"], "code": "owner", "message": "prove it",
                                                       "path": path})])
        assert opens and not any("owner" in frame for frame in opens)
        assert "prove it" in opener.stderr.read()
    finally:
        opener.kill()
        router.close(0)


def test_resuming_a_run_that_is_alive_says_who_holds_it(script, store):
    holder = script(HELD, store)
    holder.wait_for("ready")
    began = time.monotonic()
    with pytest.raises(portolan.Refused, match=rf"run 'run' .* process {holder.process.pid} on .*group"):
        portolan.Run("run", store=store, resume=True, open_timeout=7)
    assert 6.5 < time.monotonic() - began < 15
    with pytest.raises(portolan.Refused, match="process"):  # a spool is for a run that no collector takes
        portolan.Run("run", store=store, resume=True, open_timeout=1, spool=store.parent / "spool")
    assert not (store.parent / "spool").exists()
    holder.process.communicate("\n")
    portolan.Run("run", store=store, resume=True).close()


def test_a_killed_job_is_resumed_within_the_usual_time(script, store):
    holder = script(HELD, store)
    holder.wait_for("ready")
    holder.process.kill()
    with portolan.Run("run", store=store, resume=True) as run:
        run.log_gold(0, [2], [0.5], [True])
    assert portolan.runs(store=store)[0]["observations"] >= 1


def test_a_cell_that_runs_again_resumes_at_once(store, capfd):
    for again in range(3):
        run = portolan.Run("run", store=store, if_exists="resume", open_timeout=2)  # before the name lets go of the former one
        assert "still open in this process" in capfd.readouterr().err or not again
        run.log_gold(again, [1], [0.5], [True])
    others = [portolan.Run("run", store=store, if_exists="resume", group="job", rank=rank) for rank in range(2)]
    assert not run.is_open and all(other.is_open for other in others)
    for other in others:
        other.close()
    check = subprocess.run([PORTOLAN, "check", "run", "--store", store, "--json"], capture_output=True, text=True, timeout=DEADLINE)
    assert "two-processes" not in check.stdout
    assert portolan.runs(store=store)[0]["observations"] == 3


def test_a_forked_child_does_not_close_the_run_that_it_resumes(script, store):
    child = script("""
        import os, sys, portolan
        run = portolan.Run("run", store=sys.argv[1])
        pid = os.fork()
        if pid == 0:
            try:
                portolan.Run("run", store=sys.argv[1], resume=True, open_timeout=1)
            except portolan.Refused as error:
                os._exit(0 if f"process {os.getppid()} " in str(error) else 1)
            os._exit(2)
        assert os.waitpid(pid, 0)[1] == 0
        run.log_gold(0, [1], [0.5], [True])
        assert run.close()
        """, store)
    assert child.end()[0] == 0


def test_an_embedded_store_is_for_its_owner(store):
    before = os.umask(0)
    try:
        portolan.Run("run", store=store).close()
    finally:
        os.umask(before)
    assert os.stat(store).st_mode & 0o777 == 0o700
    assert os.stat(store / "data.mdb").st_mode & 0o777 == 0o600
