"""What the tests of the Python package share; loaded as a pytest plugin."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import textwrap

import pytest

# Long enough for a slow machine: nothing waits for as long as this unless something is wrong.
PATIENCE = 60


@pytest.fixture(scope="session")
def stores():
    """Every store used; at the end no collector may be left for any. They leave together, so the wait is short."""
    used = []
    yield used
    left_behind = [str(path) for path in used if not collector_has_left(path)]
    assert not left_behind, "collectors were left behind"


@pytest.fixture
def store(tmp_path, stores):
    """A store's directory."""
    stores.append(tmp_path / "store")
    return stores[-1]


def collector_has_left(path):
    """Waits on the lock that a collector holds until its end, and then on the last of its processes to be gone."""
    lock = path / "portoland.lock"
    if not lock.exists():
        return True
    waiting = subprocess.run(["flock", "--timeout", str(PATIENCE), str(lock), "true"], check=False)
    for pid in collectors(path):
        try:
            select.select([os.pidfd_open(pid)], [], [], PATIENCE)
        except ProcessLookupError:
            pass
    return waiting.returncode == 0


def collectors(path):
    """Process ids of the collectors that serve this store."""
    found = []
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as cmdline:
                words = cmdline.read().split(b"\0")
        except OSError:
            continue
        if words and words[0].endswith(b"portoland") and os.fsencode(os.path.realpath(path)) in map(os.path.realpath, words):
            found.append(int(pid))
    return found


def kill_collectors(path):
    for pid in collectors(path):
        with contextlib.suppress(ProcessLookupError):  # it has just left
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def opened_with(monkeypatch):
    """What a hook has opened its run with: the name, the entries of the record, and the options that the hook has added."""
    from portolan._recording._hooks import Recorder

    seen, opens = {}, Recorder.open

    def spy(self, name, record, **more):
        seen.update(record, name=name, **more)
        return opens(self, name, record, **more)

    monkeypatch.setattr(Recorder, "open", spy)
    return seen


# Python 3.12 and later warn of any fork beside threads. These forks are what a test is about.
FORKS = ("-W", "ignore:This process (pid=:DeprecationWarning")


class Script:
    """A Python program in a process of its own, whose lines on stdout are its signs of life."""

    def __init__(self, code, *arguments, folder=None):
        self.process = subprocess.Popen(
            [sys.executable, *FORKS, "-c", textwrap.dedent(code), *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.PIPE, text=True, cwd=folder)

    def wait_for(self, line):
        for got in self.process.stdout:
            if got.strip() == line:
                return
        raise AssertionError(f"it ended before it said {line!r}: {self.process.stderr.read()}")

    def end(self):
        """(status, what it said on stderr)."""
        _, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, errors


@pytest.fixture
def script(tmp_path):
    """Programs run in a folder of the test's own: what another test leaves in ./portolan-spool is no concern of theirs."""
    started = []

    def start(code, *arguments):
        started.append(Script(code, *arguments, folder=tmp_path))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
        one.process.communicate()
