"""A collector in a directory of its own, and a client of the wire made of pyzmq and msgpack alone (client/WIRE.md)."""

import fcntl
import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest

import msgpack
import zmq

PORTOLAND = os.environ["PORTOLAND"]
DUMP_STORE = os.environ["DUMP_STORE"]
DEADLINE = 30.0  # seconds a test waits for anything before it fails


class Collector:
    """A portoland in the foreground; ready when it says where it serves."""

    def __init__(self, store, *options):
        self.store = store
        self.process = subprocess.Popen(
            [PORTOLAND, "--store", store, "--listen", "tcp://127.0.0.1:*", *options],
            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        self.said, match = "", None
        while not match:
            line = self.process.stderr.readline()
            self.said += line
            if not line:
                self.process.kill()
                self.process.communicate()
                raise AssertionError("no collector: " + self.said)
            match = re.search(r" portoland: serving (.*) at (ipc://[^,]*), (tcp://[^\s,]*)", line.rstrip())
        self.local, self.tcp = match.group(2), match.group(3)

    def end(self, signal_number=signal.SIGTERM):
        """Stops it and returns (exit code, what it said since it was ready)."""
        if self.process.poll() is None:
            self.process.send_signal(signal_number)
        said = self.process.communicate(timeout=DEADLINE)[1]
        return self.process.returncode, said


def floats(values):
    return struct.pack("<%df" % len(values), *values)


def bits(values):
    packed = bytearray((len(values) + 7) // 8)
    for row, value in enumerate(values):
        packed[row // 8] |= bool(value) << (row % 8)
    return bytes(packed)


class Client:
    """One session. Every call has a deadline."""

    def __init__(self, endpoint, session=None):
        self.context = zmq.Context()
        self.session = session or os.urandom(16)
        self.started = time.time_ns()
        self.socket = None
        self.connect(endpoint)

    def connect(self, endpoint):
        if self.socket:
            self.socket.close()
        self.socket = self.context.socket(zmq.DEALER)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.SNDTIMEO, int(DEADLINE * 1000))
        self.socket.connect(endpoint)

    def leave(self):
        """Goes away without a word."""
        self.socket.close()
        self.context.term()

    def send(self, kind, **fields):
        self.send_raw(msgpack.packb({"v": 2, "t": kind, "s": self.session, **fields}))

    def send_raw(self, *parts):
        self.socket.send_multipart(parts)

    def receive(self, timeout=DEADLINE):
        """The next frame, or None."""
        if not self.socket.poll(timeout * 1000):
            return None
        return msgpack.unpackb(self.socket.recv())

    def expect(self, kind):
        """The next frame of this kind; an error where none is expected fails."""
        while True:
            frame = self.receive()
            if frame is None:
                raise AssertionError("no %r came" % kind)
            if frame["t"] == kind:
                return frame
            if frame["t"] == "error":
                raise AssertionError("error instead of %r: %r" % (kind, frame))

    def expect_error(self, code):
        frame = self.expect("error")
        if frame["code"] != code:
            raise AssertionError("expected error %r, got %r" % (code, frame))
        return frame

    def open(self, run, **fields):
        self.send("open", run=run, started=self.started, mode="epoch-end", **fields)
        return self.expect("opened")

    def batch(self, sequence, epoch, ids, gold_prob, correct, **columns):
        if isinstance(ids[0], str):
            encoded = [value.encode() for value in ids]
            id_column = ["str", bytes(map(len, encoded)) + b"".join(encoded)]
        else:
            id_column = ["u8", struct.pack("<%dQ" % len(ids), *ids)]
        self.send("batch", q=sequence, e=epoch, n=len(ids), ids=id_column,
                  columns={"gold_prob": ["f4", floats(gold_prob)], "correct": ["bit", bits(correct)], **columns})

    def end_epoch(self, sequence, epoch):
        self.send("end", q=sequence, e=epoch)

    def close(self, sequence):
        self.send("close", q=sequence)

    def wait_for(self, acknowledged):
        while True:
            frame = self.expect("ack")
            if frame["a"] >= acknowledged:
                return frame


def dump(store, run):
    """The observations {(id, epoch): (gold_prob, correct)} and the summary line."""
    done = subprocess.run([DUMP_STORE, store, run], capture_output=True, text=True, timeout=DEADLINE)
    if done.returncode:
        raise AssertionError(done.stderr)
    rows = {}
    for line in done.stdout.splitlines():
        name, epoch, gold_prob, correct = line.rsplit(",", 3)
        rows[name, int(epoch)] = float(gold_prob), int(correct)
    return rows, done.stderr.strip()


def portoland(*arguments, **options):
    return subprocess.run([PORTOLAND, *arguments], capture_output=True, text=True, timeout=DEADLINE, **options)


def is_served(store):
    """Whether some process holds the store's lock."""
    try:
        with open(os.path.join(store, "portoland.lock"), "rb+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def wait_until(condition, what):
    end = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("waited in vain until " + what)
        time.sleep(0.01)


class CollectorTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="portolan-test-")
        self.store = os.path.join(self.directory, "store")
        self.collectors, self.clients = [], []

    def tearDown(self):
        for client in self.clients:
            client.leave()
        for collector in self.collectors:
            collector.end(signal.SIGKILL)
        shutil.rmtree(self.directory, ignore_errors=True)

    def collect(self, *options):
        self.collectors.append(Collector(self.store, *options))
        return self.collectors[-1]

    def client(self, endpoint, session=None):
        self.clients.append(Client(endpoint, session))
        return self.clients[-1]
