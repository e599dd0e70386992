"""What the tests of spool files share: a training loop with known numbers, collectors that can be killed, imports."""

import os
import re
import signal
import subprocess

import numpy as np
import pytest

import portolan
from python_support import PATIENCE

PORTOLAND, PORTOLAN = os.environ["PORTOLAND"], os.environ["PORTOLAN"]
EXAMPLES, BATCH = 2000, 100


def p_gold(epoch, ids, seed=0):
    """Every observation has a probability of its own, so that none can stand for another."""
    return ((np.asarray(ids) * 7919 + epoch * 104729 + seed * 1299709) % 100003 / 100003).astype("f4")


def log_epoch(run, epoch, ids=range(EXAMPLES), seed=0, batch=BATCH):
    ids = np.asarray(ids)
    for start in range(0, len(ids), batch):
        part = ids[start:start + batch]
        p = p_gold(epoch, part, seed)
        run.log_gold(epoch, part, p, p > 0.5)
    run.end_epoch(epoch)


def train(run, epochs, ids=range(EXAMPLES), seed=0):
    for epoch in epochs:
        log_epoch(run, epoch, ids, seed)


def content(store, name="run", epoch=None):
    """Every observation, as {id: p(gold)} of one epoch, or as all measures."""
    if epoch is None:
        return portolan.measures(name, store=store)
    seen = portolan.measures(name, store=store, epochs=(epoch, epoch + 1))
    return dict(zip(seen["id"].tolist(), seen["confidence"].tolist()))


def assert_holds(store, epochs, ids=range(EXAMPLES), seed=0, name="run"):
    """Exactly these epochs of these examples, each observation once and with its own value."""
    measures = content(store, name)
    assert measures["id"].tolist() == sorted(ids)
    assert measures["epochs"].tolist() == [len(epochs)] * len(ids)
    for epoch in epochs:
        assert content(store, name, epoch) == dict(zip(ids, p_gold(epoch, ids, seed).tolist())), f"epoch {epoch}"


def spools(directory):
    return sorted(str(path) for path in directory.glob("*.spool")) if directory.is_dir() else []


def import_spool(path, store, *arguments):
    return subprocess.run([PORTOLAN, "import", str(path), "--store", str(store), *arguments], capture_output=True, text=True,
                          timeout=PATIENCE)


def import_all(directory, store):
    for path in spools(directory):
        done = import_spool(path, store)
        assert done.returncode == 0, done.stderr


class Collector:
    """portoland at a fixed port of loopback, to be killed, stopped, and started again."""

    def __init__(self, store, port="*"):
        self.store = store
        self.process = subprocess.Popen([PORTOLAND, "--store", str(store), "--listen", f"tcp://127.0.0.1:{port}"],
                                        stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        line = self.process.stderr.readline()
        found = re.search(r"(tcp://127.0.0.1:(\d+))", line)
        assert found, line + self.process.communicate()[0] if not found else ""
        self.endpoint, self.port = found[1], found[2]

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def again(self):
        return Collector(self.store, self.port)

    def signal(self, number):
        self.process.send_signal(number)

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
        self.process.communicate(timeout=PATIENCE)


@pytest.fixture
def collect():
    started = []

    def start(store, port="*"):
        started.append(Collector(store, port))
        return started[-1]

    def again(collector):
        started.append(collector.again())
        return started[-1]

    start.again = again
    yield start
    for one in started:
        one.end()


@pytest.fixture
def nobody():
    """An endpoint where nobody listens, and nobody will but who is told to: its socket is bound, and not listened on."""
    import socket

    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        yield f"tcp://127.0.0.1:{held.getsockname()[1]}"
