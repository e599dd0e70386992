"""The n-th write, sync, truncation, mapping or request for memory fails: the collector must neither crash nor lose anything.

While a client records, one fault after another is let in through fault_shim.c; after each the client's rows must be acknowledged
again without anybody's help. Then the same at the start: the collector serves, or leaves with one line that says why. Then each
request for memory of a session of a few frames, of which no later one shows that one was lost.
"""

import concurrent.futures
import errno
import os
import random
import time

import crash_support as support

SHIM = os.environ["CRASH_FAULT_SHIM"]
PWRITE, WRITE, SYNC, TRUNCATE, MMAP, MEMORY = 1, 2, 4, 8, 16, 32
FAIL, HALF, LIE = 0, 1, 2
CALLS, SKIP, FAILS, ERROR, HOW, MET, FAILED = range(7)

# name: calls, error, how, faults one after another
KINDS = {
    "pwrite ENOSPC": (PWRITE, errno.ENOSPC, FAIL, 1),
    "pwrite EIO": (PWRITE, errno.EIO, FAIL, 2),
    "pwrite cut short": (PWRITE, errno.EIO, HALF, 1),
    "pwrite done, called failed": (PWRITE, errno.EIO, LIE, 2),
    "sync EIO": (SYNC, errno.EIO, FAIL, 1),
    "sync ENOSPC": (SYNC, errno.ENOSPC, FAIL, 3),
    "any file call EIO": (PWRITE | SYNC | TRUNCATE | MMAP, errno.EIO, FAIL, 4),
    "sync and log EIO": (SYNC | WRITE, errno.EIO, FAIL, 2),
    "no memory": (MEMORY, errno.ENOMEM, FAIL, 1),
    "no memory for long": (MEMORY, errno.ENOMEM, FAIL, 50),
    "no mapping": (MMAP | MEMORY, errno.ENOMEM, FAIL, 3),
}
IN_A_ROW = (1, 2, 3)  # requests for memory that fail one after another, of sessions of few frames


class Faults(support.SharedWords):
    def __init__(self, path):
        super().__init__(path, 7)
        self.environment = {"LD_PRELOAD": SHIM, "CRASH_FAULTS": path}

    def arm(self, calls, skip, fails, error, how):
        self[CALLS] = 0
        for word, value in ((SKIP, skip), (FAILS, fails), (ERROR, error), (HOW, how), (MET, 0), (FAILED, 0)):
            self[word] = value
        self[CALLS] = calls

    def disarm(self):
        self[CALLS] = 0
        return self[FAILED]


def under_load(folder, name, count, id_kind, seed):
    """Lets `count` faults of one kind in; returns how many calls failed."""
    calls, error, how, fails = KINDS[name]
    dice = random.Random(seed)
    faults = Faults(os.path.join(folder, "faults"))
    store, port = os.path.join(folder, "store"), support.free_port()
    collector = support.Collector(store, port, os.path.join(folder, "collector.log"), faults.environment)
    run = support.Run("faulty", id_kind, 1 << 12, folder)
    session = run.record(("endpoint", f"tcp://127.0.0.1:{port}"), rows_per_second=40_000)
    failed = 0
    try:
        for n in range(count):
            collected(session, collector, run, 1)
            faults.arm(calls, n if n < count // 2 else dice.randrange(400), fails, error, how)
            end = time.monotonic() + 3
            while faults[FAILS] and time.monotonic() < end and collector.process.poll() is None:
                time.sleep(0.005)
            failed += faults.disarm()
            collected(session, collector, run, 2)
        said = collector.said()
        troubles, ends = said.count("clients keep what they have"), said.count("collection goes on")
        if not 0 <= troubles - ends <= 1 and not calls & WRITE:  # the end of the last one may not have been told yet
            raise support.Wrong(f"{troubles} troubles and {ends} ends of them were told:\n{said}")
        session.process.terminate()
        code = support.finish(session.process, "the client")
        if code:
            raise support.Wrong(f"the client gave up (exit {code}): {run.said()}\n{said}")
        collector.stop()
        run.verify(store)
    finally:
        support.kill(session.process)
        support.kill(collector.process)
    return failed


def collected(session, collector, run, times):
    """Waits until rows logged from now on are acknowledged."""
    for _ in range(times):
        logged = session.figures()[0]
        end = time.monotonic() + support.DEADLINE / 2
        while session.figures()[1] <= logged:
            if collector.process.poll() is not None:
                raise support.Wrong(f"the collector ended (exit {collector.process.returncode}): {collector.said()}")
            if session.process.poll() is not None:
                raise support.Wrong(f"the client gave up: {run.said()}\n{collector.said()}")
            if time.monotonic() > end:
                raise support.Wrong(f"nothing is collected any more: {collector.said()}")
            time.sleep(0.005)


def at_start(folder, name, most):
    """The first, second, … call of the kind fails while the collector starts: on no store, and on one with a run in it."""
    calls, error, how, fails = KINDS[name]
    faults = Faults(os.path.join(folder, "faults"))
    log = os.path.join(folder, "collector.log")
    failed = 0
    run = support.Run("before", "str", 1 << 10, folder)
    for n in range(most):
        fresh = n % 2 == 0
        store = os.path.join(folder, f"fresh{n}" if fresh else "store")
        port = support.free_port()
        faults.arm(calls, n // 2, fails, error, how)
        collector = support.Collector(store, port, log, faults.environment, wait=False)
        try:
            support.wait_until(lambda: support.accepts(port) or collector.process.poll() is not None, "it serves or leaves")
            hit = faults.disarm()
            code, said = collector.process.poll(), collector.said()
            if code is not None and (code < 0 or (len(said.strip().splitlines()) != 1 and not calls & WRITE)):
                raise support.Wrong(f"call {n // 2 + 1} of '{name}' failed at the start, and the collector ended so "
                                    f"(exit {code}): {said}")
            if code is None:
                collector.stop()
        finally:
            support.kill(collector.process)
        failed += hit
        collector = support.Collector(store, port, log)
        session = run.record(("endpoint", f"tcp://127.0.0.1:{port}"), rows=500) if not fresh else None
        try:
            if session and support.finish(session.process, "the client"):
                raise support.Wrong(run.said())
        finally:
            if session:
                support.kill(session.process)
            collector.stop()
        if n > 20 and not hit:
            break
    run.verify(store if not fresh else os.path.join(folder, "store"))
    return failed


def of_few_frames(folder, fails):
    """The first, second, … request for memory of a session fails, and so do the `fails` - 1 after it."""
    faults = Faults(os.path.join(folder, "faults"))
    store, port = os.path.join(folder, "store"), support.free_port()
    collector = support.Collector(store, port, os.path.join(folder, "collector.log"), faults.environment)
    run = support.Run("short", "str", 1 << 10, folder)
    failed = n = 0
    try:
        while True:
            faults.arm(MEMORY, n, fails, errno.ENOMEM, FAIL)
            session = run.record(("endpoint", f"tcp://127.0.0.1:{port}"), rows=10, first_epoch=n)
            try:
                code = support.finish(session.process, f"the session whose request {n + 1} for memory failed")
            finally:
                support.kill(session.process)
            hit = faults.disarm()
            if code:
                raise support.Wrong(f"the client gave up (exit {code}) after request {n + 1} for memory: {run.said()}")
            if hit < fails:
                break
            failed, n = failed + hit, n + 1
        collector.stop()
        run.verify(store)
    finally:
        support.kill(collector.process)
    return failed


def inject(count, at_most, say=lambda line: None, seed=0):
    """Returns {kind: calls failed}; raises support.Wrong. seed None: another one each time."""
    seed = int.from_bytes(os.urandom(4), "little") if seed is None else seed
    figures = {}
    with support.Folder() as folder:
        def load(item):
            number, name = item
            path = os.path.join(folder, f"load{number}")
            os.mkdir(path)
            try:
                return name, under_load(path, name, count, ("declared", "str", "int")[number % 3], seed + number)
            except support.Wrong as error:
                raise support.Wrong(f"'{name}' under load, seed {seed}: {error}") from error

        def few(fails):
            path = os.path.join(folder, f"few{fails}")
            os.mkdir(path)
            return f"no memory, {fails} in a row", of_few_frames(path, fails)

        with concurrent.futures.ThreadPoolExecutor(len(KINDS) + len(IN_A_ROW)) as pool:
            short = pool.map(few, IN_A_ROW)
            for name, failed in pool.map(load, enumerate(KINDS)):
                figures[name] = failed
                say(f"{name}: {failed} calls failed under load; crashes 0, acknowledged lost 0, resumed by itself")
            for name, failed in short:
                figures[name] = failed
                say(f"{name}: {failed} calls failed, each in a session of few frames; crashes 0, acknowledged lost 0")
        for number, name in enumerate(KINDS):
            path = os.path.join(folder, f"start{number}")
            os.mkdir(path)
            failed = at_start(path, name, at_most)
            figures[name] += failed
            say(f"{name}: {failed} calls failed at the start; crashes 0")
    return figures


def test_faults():
    figures = inject(int(os.environ.get("CRASH_FAULTS_COUNT", "7")), 8)
    print(figures)
    assert all(figures.values()), f"a kind of fault was never met: {figures}"
