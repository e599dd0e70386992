"""A run's life: collectors that come and go by themselves, interrupts, forks, forgotten runs, names that exist."""

import copy
import os
import pickle
import shutil
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import portolan
from python_support import collector_has_left, collectors

LOGITS = [[2.0, -1.0], [0.5, 1.5]]

RECORD = """
    import sys, portolan
    run = portolan.Run(sys.argv[2], store=sys.argv[1])
    for epoch in range(3):
        run.log_logits(epoch, [0, 1], [[2.0, -1.0], [0.5, 1.5]], [0, 0])
        run.end_epoch(epoch)
"""


def observations(store, name="run"):
    return int(portolan.measures(name, store=store)["epochs"].sum())


def test_a_collector_comes_and_goes(store):
    with portolan.Run("run", store=store) as run:
        assert len(collectors(store)) == 1
        run.log_logits(0, [0, 1], LOGITS, [0, 0])
        assert run.flush()
        assert run.stats()["acknowledged"] == 2
        assert observations(store) == 2, "a run in progress can be read"
    assert collector_has_left(store)
    assert collectors(store) == []
    assert observations(store) == 2


def test_the_collector_is_of_its_own_session(store):
    with portolan.Run("run", store=store):
        (pid,) = collectors(store)
        assert os.getsid(pid) != os.getsid(0)
        assert os.getpgid(pid) != os.getpgid(0)


def test_a_second_process_joins(store, script):
    with portolan.Run("run", store=store) as run:
        (pid,) = collectors(store)
        other = script(RECORD + """
    run.close()
    print("closed", flush=True)
        """, store, "other")
        other.wait_for("closed")
        assert collectors(store) == [pid]
        run.log_logits(0, [0], LOGITS[:1], [0])
        assert other.end() == (0, "")
    assert observations(store) == 1
    assert observations(store, "other") == 6


def test_the_first_may_leave_before_the_second(store, script):
    first = portolan.Run("first", store=store)
    second = script(RECORD + """
    print("open", flush=True)
    sys.stdin.readline()
    run.log_logits(3, [7], [[1.0, 2.0]], [1])
    run.close()
    """, store, "second")
    second.wait_for("open")
    first.close()
    second.process.stdin.write("\n")
    second.process.stdin.flush()
    assert second.end() == (0, "")
    assert observations(store, "second") == 7


def test_many_processes_at_once_share_one_collector(store, script):
    scripts = [script(RECORD + "    run.close()", store, f"run{i}") for i in range(4)]
    assert [one.end() for one in scripts] == [(0, "")] * 4
    assert [observations(store, f"run{i}") for i in range(4)] == [6] * 4


def test_two_runs_of_one_process(store):
    with portolan.Run("a", store=store) as a, portolan.Run("b", store=store) as b:
        assert len(collectors(store)) == 1
        for epoch in range(2):
            a.log_logits(epoch, [0, 1], LOGITS, [0, 0])
            b.log_logits(epoch, ["x"], LOGITS[:1], [1])
    assert observations(store, "a") == 4
    assert observations(store, "b") == 2


def test_threads_log_at_the_same_time(store):
    def log(first):
        for start in range(first, first + 100, 10):
            run.log_logits(0, range(start, start + 10), np.zeros((10, 3)), [0] * 10)

    with portolan.Run("run", store=store) as run:
        threads = [threading.Thread(target=log, args=(1000 * i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert observations(store) == 400


def test_close_while_another_thread_logs(store):
    run = portolan.Run("run", store=store)
    logged = []
    begun = threading.Event()

    def log():
        try:
            while True:
                run.log_logits(0, range(1000), np.zeros((1000, 3)), [0] * 1000)
                logged.append(1000)
                begun.set()
        except portolan.Closed:
            pass

    thread = threading.Thread(target=log)
    thread.start()
    assert begun.wait(60)
    run.close()
    thread.join(60)
    assert not thread.is_alive()
    assert observations(store) == 1000


def test_exit_without_close_loses_nothing(store, script):
    assert script(RECORD, store, "run").end() == (0, "")
    assert observations(store) == 6


def test_a_run_that_is_dropped_is_closed(store):
    run = portolan.Run("run", store=store)
    run.log_logits(0, [0, 1], LOGITS, [0, 0])
    del run
    assert collector_has_left(store)
    assert observations(store) == 2


def test_an_exception_in_the_loop(store):
    with pytest.raises(KeyError, match="mine"):
        with portolan.Run("run", store=store) as run:
            run.log_logits(0, [0, 1], LOGITS, [0, 0])
            raise KeyError("mine")
    assert collector_has_left(store)
    assert observations(store) == 2


def test_an_uncaught_exception(store, script):
    status, errors = script(RECORD + "    raise KeyError('mine')", store, "run").end()
    assert status == 1
    assert errors.count("Traceback") == 1
    assert observations(store) == 6


@pytest.mark.parametrize("how", ["with", "plain"])
def test_ctrl_c_in_the_loop(store, script, how):
    """As a terminal does it: SIGINT to the whole foreground group. The collector lives on until the data is out."""
    code = """
    import os, sys, portolan
    os.setpgid(0, 0)
    def loop(run):
        epoch = 0
        while True:
            run.log_logits(epoch, [0, 1], [[2.0, -1.0], [0.5, 1.5]], [0, 0])
            if epoch == 5:
                print("running", flush=True)
            epoch = epoch + 1 if epoch < 100 else 6
    """ + ("""
    with portolan.Run("run", store=sys.argv[1]) as run:
        loop(run)
    """ if how == "with" else """
    loop(portolan.Run("run", store=sys.argv[1]))
    """)
    loop = script(code, store)
    loop.wait_for("running")
    (pid,) = collectors(store)
    os.killpg(loop.process.pid, signal.SIGINT)
    status, errors = loop.end()
    assert status != 0
    assert "KeyboardInterrupt" in errors
    assert "portolan:" not in errors
    assert observations(store) >= 12
    assert collector_has_left(store)
    assert pid not in collectors(store)


def test_a_forked_child_is_inert(store):
    run = portolan.Run("run", store=store)
    run.log_logits(0, [0], LOGITS[:1], [0])
    child = os.fork()
    if child == 0:
        status = 1
        try:
            run.log_logits(0, [1], LOGITS[:1], [0])
        except portolan.Forked as error:
            status = 0 if "parent" in str(error) else 2
        try:
            run.close()
        except BaseException:
            status = 3
        os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    run.log_logits(0, [1], LOGITS[:1], [0])
    run.close()
    assert observations(store) == 2


def test_a_forked_child_that_exits_by_itself(store, script):
    status, errors = script(RECORD + """
    import os
    child = os.fork()
    if child == 0:
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
    run.log_logits(3, [5], [[0.0, 1.0]], [1])
    """, store, "run").end()
    assert (status, errors) == (0, "")
    assert observations(store) == 7


def test_a_forked_child_may_record_a_run_of_its_own(store, script):
    status, errors = script(RECORD + """
    import os
    child = os.fork()
    if child == 0:
        with portolan.Run("child", store=sys.argv[1]) as own:
            own.log_logits(0, [0], [[0.0, 1.0]], [1])
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
    """, store, "run").end()
    assert (status, errors) == (0, "")
    assert observations(store) == 6
    assert observations(store, "child") == 1


@pytest.mark.parametrize("how", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("ending", ["pass", "sys.exit(1)", "raise KeyError('mine')"])
def test_a_process_of_multiprocessing_that_forgets_to_close(store, script, tmp_path, how, ending):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(f"""
        import multiprocessing, sys, portolan

        def work(rank):
            global run  # alive to the end, as in a loop that is a module
            run = portolan.Run("job", store=sys.argv[1], group="job", rank=rank)
            run.log_logits(0, [2 * rank, 2 * rank + 1], [[2.0, -1.0], [0.5, 1.5]], [0, 0])
            {ending}

        if __name__ == "__main__":
            run = portolan.Run("run", store=sys.argv[1])
            context = multiprocessing.get_context("{how}")
            workers = [context.Process(target=work, args=(rank,)) for rank in range(2)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            run.log_logits(0, [0, 1], [[2.0, -1.0], [0.5, 1.5]], [0, 0])
    """))
    status, errors = run_program(program, store)
    assert status == 0, errors
    assert errors.count("Traceback") == (2 if "raise" in ending else 0)
    assert observations(store) == 2
    assert observations(store, "job") == 4


def run_program(*arguments):
    done = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


@pytest.mark.parametrize("send", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_run_is_not_sent_to_another_process(store, send):
    with portolan.Run("run", store=store) as run:
        with pytest.raises(TypeError, match="open one there"):
            send(run)


def test_what_becomes_of_a_run_that_exists(store, capfd):
    def record(epoch=0, **options):
        with portolan.Run("a/b", store=store, **options) as run:
            run.log_logits(epoch, [0, 1], LOGITS, [0, 0])
        return run.name

    assert record(if_exists="number") == "a/b"
    for options in ({}, {"if_exists": "error"}, {"resume": False}):
        with pytest.raises(portolan.Refused, match='^run \'a/b\' exists: .* if_exists="number" records this one as a/b/2, "overwrite" .* "resume"'):
            record(**options)
    assert capfd.readouterr().err == ""
    assert record(if_exists="number") == "a/b/2"
    assert capfd.readouterr().err == "portolan: run a/b/2: run 'a/b' exists: this one is recorded as 'a/b/2'\n"
    assert record(if_exists="number") == "a/b/3"
    assert record(1, if_exists="resume") == record(1, if_exists="resume", resume=True) == "a/b" and observations(store, "a/b") == 4
    assert record(if_exists="overwrite") == record(if_exists="overwrite", overwrite=True) == "a/b" and observations(store, "a/b") == 2
    assert [observations(store, name) for name in ("a/b/2", "a/b/3")] == [2, 2]
    for options, says in (({"if_exists": "count"}, "must be 'error' or 'overwrite' or 'resume' or 'number', not 'count'"),
                          ({"if_exists": True}, "not True"), ({"if_exists": "number", "resume": True}, "if_exists='number' and resume=True"),
                          ({"if_exists": "error", "overwrite": True}, "if_exists='error' and overwrite=True")):
        with pytest.raises(ValueError, match=says):
            record(**options)


def test_scripts_that_start_together_get_a_number_each(store, script):
    code = """
        import sys, portolan
        print("ready", flush=True)
        sys.stdin.readline()
        run = portolan.Run("run", store=sys.argv[1], if_exists="number")
        run.log_gold(0, [int(sys.argv[2])], [0.5], [True])
        run.close()
        print(run.name, flush=True)
    """
    scripts = [script(code, store, i) for i in range(4)]
    for one in scripts:
        one.wait_for("ready")
    for one in scripts:
        one.process.stdin.write("go\n")
        one.process.stdin.flush()
    names = [one.process.communicate(timeout=60)[0].strip() for one in scripts]
    assert sorted(names) == ["run", "run/2", "run/3", "run/4"]
    for i, name in enumerate(names):
        assert portolan.measures(name, store=store)["id"].tolist() == [i]


def test_ranks_of_a_group_get_the_same_number(store):
    for number in ("run", "run/2"):
        ranks = [portolan.Run("run", store=store, group=number, rank=rank, if_exists="number") for rank in range(2)]
        assert [run.name for run in ranks] == [number, number]
        for rank, run in enumerate(ranks):
            run.log_logits(0, [2 * rank, 2 * rank + 1], LOGITS, [0, 0])
            run.close()
        assert observations(store, number) == 4


def test_a_name_that_exists(store):
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, [0, 1], LOGITS, [0, 0])
    with pytest.raises(portolan.Refused, match="run"):
        portolan.Run("run", store=store)
    assert observations(store) == 2
    with portolan.Run("run", store=store, resume=True) as run:
        run.log_logits(1, [0, 1], LOGITS, [0, 0])
        run.log_logits(0, [1], LOGITS[:1], [0])
    assert observations(store) == 4
    with portolan.Run("run", store=store, overwrite=True) as run:
        run.log_logits(0, ["now", "strings", "three"], [*LOGITS, [1, 1]], [0, 0, 1])
    assert portolan.measures("run", store=store)["id"].tolist() == ["now", "strings", "three"]


def test_the_kind_of_id_is_the_runs(store):
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, [0, 1], LOGITS, [0, 0])
    run = portolan.Run("run", store=store, resume=True)
    with pytest.raises((portolan.Error, TypeError, ValueError)):
        run.log_logits(1, ["a", "b"], LOGITS, [0, 0])
        run.close()
    assert observations(store) == 2


def test_one_kind_of_id_within_a_run(store):
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, [0, 1], LOGITS, [0, 0])
        with pytest.raises((TypeError, ValueError), match="id"):
            run.log_logits(0, ["a", "b"], LOGITS, [0, 0])
    assert observations(store) == 2


def test_declared_examples(store):
    with portolan.Run("run", store=store, examples=3) as run:
        run.log_logits(0, [2, 0], LOGITS, [0, 0])
        with pytest.raises(ValueError, match="3"):
            run.log_logits(0, [3, 0], LOGITS, [0, 0])
    assert portolan.measures("run", store=store)["id"].tolist() == [0, 2]


def test_the_ranks_of_a_group_share_a_run(store):
    with portolan.Run("run", store=store, group="job", rank=0) as zero:
        with portolan.Run("run", store=store, group="job", rank=1) as one:
            zero.log_logits(0, [0], LOGITS[:1], [0])
            one.log_logits(0, [1], LOGITS[:1], [0])
    assert portolan.measures("run", store=store)["id"].tolist() == [0, 1]


def test_calls_after_close(store):
    run = portolan.Run("run", store=store)
    run.log_logits(0, [0], LOGITS[:1], [0])
    run.close()
    run.close()
    assert run.stats()["acknowledged"] == 1
    assert "closed" in repr(run)
    with pytest.raises(portolan.Closed):
        run.log_logits(0, [0], LOGITS[:1], [0])
    with pytest.raises(portolan.Closed):
        run.end_epoch(0)
    with pytest.raises(portolan.Closed):
        run.flush()


def test_a_long_path(tmp_path):
    deep = tmp_path
    while len(str(deep)) < 150:
        deep = deep / "a-folder-with-a-long-name"
    store = deep / "store"
    deep.mkdir(parents=True)
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, [0, 1], LOGITS, [0, 0])
        with portolan.Run("other", store=store) as other:
            other.log_logits(0, [0, 1], LOGITS, [0, 0])
            assert len(collectors(store)) == 1
    assert collector_has_left(store)
    assert observations(store) == 2


def test_a_long_path_in_another_environment(tmp_path, script, monkeypatch):
    store = tmp_path / ("d" * 120)
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, [0, 1], LOGITS, [0, 0])
        for number, place in enumerate([str(tmp_path), "/does/not/exist"]):
            monkeypatch.setenv("XDG_RUNTIME_DIR", place)
            other = script(f"import portolan, sys; portolan.Run('other{number}', store=sys.argv[1], open_timeout=20).close()", store)
            assert other.end() == (0, "")
        assert len(collectors(store)) == 1
    assert collector_has_left(store)


def test_a_store_that_is_removed_takes_no_acknowledgement_along(store, capfd):
    run = portolan.Run("run", store=store)
    run.log_logits(0, [0, 1], LOGITS, [0, 0])
    assert run.flush()
    shutil.rmtree(store)
    run.log_logits(1, [0, 1], LOGITS, [0, 0])
    assert not run.flush()
    assert run.stats()["acknowledged"] == 2
    assert not run.close()
    said = capfd.readouterr().err
    assert said.count("run run is no longer recorded") == 1 and said.count("run run has ended") == 1, said
    assert "2 of 4 observations are" in said, said


def test_a_relative_path_and_the_default_store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PORTOLAN_STORE", raising=False)
    with portolan.Run("run") as run:
        run.log_logits(0, [0, 1], LOGITS, [0, 0])
    assert observations("portolan-store") == 2
    monkeypatch.setenv("PORTOLAN_STORE", str(tmp_path / "elsewhere"))
    with portolan.Run("run") as run:
        run.log_logits(0, [0], LOGITS[:1], [0])
    assert observations(None) == 1
    assert collector_has_left(tmp_path / "portolan-store")
    assert collector_has_left(tmp_path / "elsewhere")


def test_a_store_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(portolan.Error, match="file"):
        portolan.Run("run", store=tmp_path / "file")


def test_a_program_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("PORTOLAND", str(tmp_path / "nothing-here"))
    with pytest.raises(portolan.NoCollector, match="nothing-here"):
        portolan.Run("run", store=tmp_path / "store")
    monkeypatch.setenv("PORTOLAN", sys.executable + "-is-not-here")
    with pytest.raises(portolan.Error, match="is-not-here"):
        portolan.measures("run", store=tmp_path / "store")


def test_measures_of_nothing(store, tmp_path):
    with portolan.Run("snli", store=store) as run:
        run.log_logits(0, [0, 1], LOGITS, [0, 0])
    with pytest.raises(portolan.Error, match="snl1"):
        portolan.measures("snl1", store=store)
    with pytest.raises(portolan.Error, match="no-store"):
        portolan.measures("run", store=tmp_path / "no-store")


def test_a_full_ring_waits_and_loses_nothing(store):
    """More than the ring holds, as fast as it goes; other threads of the interpreter go on meanwhile."""
    rows = 1 << 15
    with portolan.Run("run", store=store, ring_bytes=1 << 20, examples=rows) as run:
        for epoch in range(8):
            run.log_logits(epoch, np.arange(rows), np.zeros((rows, 3), dtype="f4"), np.zeros(rows, dtype=int))
    stats = run.stats()
    assert stats["logged"] == stats["acknowledged"] == 8 * rows
    assert stats["dropped"] == 0
    assert observations(store) == 8 * rows
