"""What the crash tests share: a collector that can be broken, clients that can be killed, and the final comparison."""

import dataclasses
import mmap
import os
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

PORTOLAND = os.environ["PORTOLAND"]
RECORDER = os.environ["CRASH_RECORDER"]
VERIFY = os.environ["CRASH_VERIFY"]
DEADLINE = 60.0


class Wrong(AssertionError):
    """A promise was broken."""


def wait_until(condition, what, deadline=DEADLINE):
    end = time.monotonic() + deadline
    while not condition():
        if time.monotonic() > end:
            raise Wrong(f"waited in vain until {what}")
        time.sleep(0.01)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def accepts(port):
    """Whether somebody listens there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def kill(process):
    if process.poll() is None:
        process.kill()
    process.wait()


class Folder:
    """A scratch directory; kept, and named, when something went wrong in it."""

    def __init__(self, parent=None):
        self.path = tempfile.mkdtemp(prefix="portolan-crash-", dir=parent)

    def __enter__(self):
        return self.path

    def __exit__(self, kind, value, trace):
        if kind is None or os.environ.get("CRASH_KEEP") is None:
            shutil.rmtree(self.path, ignore_errors=True)
        else:
            print(f"kept: {self.path}")


class Collector:
    """A portoland in the foreground, its stderr in a file."""

    def __init__(self, store, port, log, environment=None, wait=True, options=()):
        self.log = log
        self.said_before = os.path.getsize(log) if os.path.exists(log) else 0
        with open(log, "ab") as stderr:
            self.process = subprocess.Popen(
                [PORTOLAND, "--store", store, "--listen", f"tcp://127.0.0.1:{port}", *options],
                stderr=stderr, stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})})
        if wait:
            wait_until(lambda: "serving" in self.said() or self.process.poll() is not None, "the collector serves")
            if self.process.poll() is not None:
                raise Wrong(f"the collector did not start: {self.said()}")

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as text:
            text.seek(self.said_before)
            return text.read()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=DEADLINE)
        except subprocess.TimeoutExpired:
            kill(self.process)
            raise Wrong(f"the collector did not end: {self.said()}") from None


@dataclasses.dataclass
class Session:
    """One client process, or what is left of it."""
    number: int
    first_epoch: int
    side: str
    process: subprocess.Popen = None

    def figures(self):
        """(logged, acknowledged, opened, done)"""
        try:
            with open(self.side, "rb") as side:
                return struct.unpack("<4Q", side.read(32).ljust(32, b"\0"))
        except FileNotFoundError:
            return 0, 0, 0, 0


class Run:
    """A run that is recorded by one session after another, or by several at once."""

    def __init__(self, name, kind, examples, folder):
        self.name, self.kind, self.examples, self.folder = name, kind, examples, folder
        self.sessions = []

    def record(self, where, rows=0, rows_per_second=200_000, first_epoch=None, environment=None):
        """Starts a client: where = ("store", DIR) or ("endpoint", ENDPOINT)."""
        number = len(self.sessions)
        if first_epoch is None:
            first_epoch = self.next_epoch()
        side = os.path.join(self.folder, f"{self.name}.{number}.side")
        session = Session(number, first_epoch, side)
        with open(os.path.join(self.folder, f"{self.name}.clients"), "ab") as stderr:
            session.process = subprocess.Popen(
                [RECORDER, side, *where, self.name, self.kind, str(self.examples), str(number), str(first_epoch),
                 str(rows), str(rows_per_second)],
                stderr=stderr, stdin=subprocess.DEVNULL, env={**os.environ, "PORTOLAND": PORTOLAND, **(environment or {})})
        self.sessions.append(session)
        return session

    def next_epoch(self):
        """A resumed training run begins the interrupted epoch again."""
        if not self.sessions:
            return 0
        last = self.sessions[-1]
        return last.first_epoch + last.figures()[0] // self.examples

    def said(self):
        with open(os.path.join(self.folder, f"{self.name}.clients"), encoding="utf-8") as text:
            return text.read()

    def plan(self, figures=None):
        """The lines verify reads; figures: {session number: (logged, acknowledged)} instead of those of the side files."""
        lines = []
        for session in self.sessions:
            logged, acked = (figures or {}).get(session.number, session.figures()[:2])
            lines.append(f"{session.number} {session.first_epoch} {logged} {acked}\n")
        return "".join(lines)

    def verify(self, store, figures=None):
        """Compares the set acknowledged with the set stored; {figure: number}. Nobody may be serving the store."""
        done = subprocess.run([VERIFY, store, self.name, self.kind, str(self.examples)], input=self.plan(figures),
                              capture_output=True, text=True, timeout=10 * DEADLINE)
        if done.returncode or not done.stdout.startswith("ok"):
            raise Wrong(f"run {self.name}: {done.stdout}{done.stderr}exit {done.returncode}")
        return {name: int(number) for name, number in re.findall(r"(\w+)=(\d+)(?=\s)", done.stdout)}


def finish(process, what):
    """Waits for a client's regular end."""
    try:
        code = process.wait(timeout=DEADLINE)
    except subprocess.TimeoutExpired:
        kill(process)
        raise Wrong(f"{what} did not end") from None
    return code


def embedded_collectors(store):
    """Process numbers of the collectors that were started for a store; its path is theirs alone."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/cmdline", "rb") as line:
                    words = line.read().split(b"\0")
            except OSError:
                continue
            if os.path.basename(words[0]) == b"portoland" and store.encode() in words:
                found.append(int(name))
    return found


def kill_embedded(store):
    """SIGKILL to the store's detached collectors, also one that is just starting; how many there were."""
    killed = 0
    for pid in embedded_collectors(store):
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            if pid in embedded_collectors(store):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
                select.select([handle], [], [], DEADLINE)
                killed += 1
        except ProcessLookupError:
            pass
        finally:
            os.close(handle)
    return killed


class SharedWords:
    """A small file mapped by this process and by a shim in another; 64-bit words."""

    def __init__(self, path, words):
        with open(path, "wb") as file:
            file.write(bytes(8 * words))
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 8 * words)
        self.path = path

    def __getitem__(self, at):
        return struct.unpack_from("<Q", self.map, 8 * at)[0]

    def __setitem__(self, at, value):
        struct.pack_into("<Q", self.map, 8 * at, value)
