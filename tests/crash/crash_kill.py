"""SIGKILL to clients, collectors or both, at random moments under load: what was acknowledged is stored, once.

Two set-ups at the same time: a collector with clients that connect to it (declared ids, strings; now and then two clients of
one run), and a run in embedded mode, whose client starts the collector. After some kills everything is killed, the store is
read as it lies, and compared.
"""

import os
import random
import time

import crash_support as support

KILLS_BETWEEN_CHECKS = 12


class Served:
    """A collector and its clients, in a store of its own."""

    def __init__(self, folder, seed):
        self.random = random.Random(seed)
        self.folder = os.path.join(folder, "served")
        os.mkdir(self.folder)
        self.store = os.path.join(self.folder, "store")
        self.port = support.free_port()
        self.runs = [support.Run("declared", "declared", 1 << 15, self.folder),
                     support.Run("strings/a", "str", 1 << 12, self.folder),
                     support.Run("integers", "int", 1 << 14, self.folder)]
        for run in self.runs:
            os.makedirs(os.path.dirname(os.path.join(self.folder, run.name)), exist_ok=True)
        self.collector = None

    def revive(self):
        if self.collector is None or self.collector.process.poll() is not None:
            if self.collector is not None and self.collector.process.returncode != -9:
                raise support.Wrong(f"the collector ended by itself: {self.collector.said()}")
            self.collector = support.Collector(self.store, self.port, os.path.join(self.folder, "collector.log"))
        for run in self.runs:
            live = [s for s in run.sessions if s.process.poll() is None]
            check_ended(run)
            if not live or (len(live) < 2 and self.random.random() < 0.1):
                rows = self.random.choice((0, 0, self.random.randrange(1, 3 * run.examples)))
                run.record(("endpoint", f"tcp://127.0.0.1:{self.port}"), rows=rows)

    def strike(self):
        live = [s.process for run in self.runs for s in run.sessions if s.process.poll() is None]
        victims = self.random.choice(("collector", "client", "both"))
        if victims != "client":
            self.collector.process.kill()
        if victims != "collector" and live:
            self.random.choice(live).kill()
        if victims != "client":
            self.collector.process.wait()
        return victims

    def kill_all(self):
        support.kill(self.collector.process)
        for run in self.runs:
            for session in run.sessions:
                support.kill(session.process)

    def settle(self):
        """A regular end: everything logged is stored, and folded."""
        self.revive()
        for run in self.runs:
            for session in run.sessions:
                if session.process.poll() is None:
                    session.process.terminate()
        for run in self.runs:
            for session in run.sessions:
                support.finish(session.process, f"a client of run {run.name}")
            check_ended(run)
        self.collector.stop()


class Embedded:
    """A run whose clients start the collector themselves."""

    def __init__(self, folder, seed):
        self.random = random.Random(seed)
        self.folder = os.path.join(folder, "embedded")
        os.mkdir(self.folder)
        self.store = os.path.join(self.folder, "store")
        self.runs = [support.Run("embedded", "int", 1 << 13, self.folder)]

    def revive(self):
        run = self.runs[0]
        check_ended(run)
        if not run.sessions or run.sessions[-1].process.poll() is not None:
            run.record(("store", self.store), rows=self.random.choice((0, self.random.randrange(1, 4 * run.examples))))

    def strike(self):
        process = self.runs[0].sessions[-1].process
        victims = self.random.choice(("collector", "client", "both"))
        if victims != "collector":
            process.kill()
        if victims != "client":
            support.kill_embedded(self.store)
        return victims

    def kill_all(self):
        for session in self.runs[0].sessions:
            support.kill(session.process)
        while support.kill_embedded(self.store):
            pass

    def settle(self):
        self.revive()
        session = self.runs[0].sessions[-1]
        session.process.terminate()
        support.finish(session.process, "the embedded run's client")
        check_ended(self.runs[0])
        self.kill_all()


def check_ended(run):
    """A client ends because it was killed, because it was done, or because nobody answered while it was opening."""
    for session in run.sessions:
        code = session.process.poll()
        if code not in (None, 0, -9, -15, 3):
            raise support.Wrong(f"a client of run {run.name} gave up: {run.said()[-2000:]}")
        if code == 0 and session.figures()[3] != 1:
            raise support.Wrong(f"a client of run {run.name} ended without an end")


def kill_loop(kills, seed=None, folder=None, say=lambda line: None):
    """Returns {figure: number}; raises support.Wrong."""
    seed = seed if seed is not None else int.from_bytes(os.urandom(4), "little")
    totals = {"seed": seed, "kills": 0, "checks": 0, "sessions": 0, "acknowledged": 0, "stored": 0, "kept": 0, "replaced": 0}
    with support.Folder(folder) as path:
        setups = [Served(path, seed), Embedded(path, seed + 1)]
        dice = random.Random(seed + 2)
        try:
            while totals["kills"] < kills:
                for setup in setups:
                    setup.revive()
                time.sleep(dice.random() * dice.choice((0.02, 0.2, 0.6)))
                for setup in setups:
                    setup.strike()
                totals["kills"] += len(setups)
                if totals["kills"] % KILLS_BETWEEN_CHECKS < len(setups):
                    for setup in setups:
                        setup.kill_all()
                    check(setups, totals, say)
            for setup in setups:
                setup.settle()
            check(setups, totals, say)
        except support.Wrong as error:
            raise support.Wrong(f"seed {seed}, after {totals['kills']} kills: {error}") from error
        finally:
            for setup in setups:
                setup.kill_all()
    return totals


def check(setups, totals, say):
    figures = [run.verify(setup.store) for setup in setups for run in setup.runs]
    for name in ("sessions", "acknowledged", "stored", "kept", "replaced"):
        totals[name] = sum(f[name] for f in figures)
    totals["checks"] += 1
    say(f"{totals['kills']} kills, {totals['acknowledged']:,} acknowledged, {totals['stored']:,} stored; lost 0, doubled 0")


def test_kills():
    print(kill_loop(int(os.environ.get("CRASH_KILLS", "36"))))
