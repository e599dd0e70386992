"""How many clients one collector lets in, and what they take: the table of collector/SIZES.md. Long.

    tools/bench clients

Each client is a TCP connection with a session of its own run, which records a frame of 1,000 observations each turn; all of them are there at once.
The collector has the --max-memory of the table, and 16,384 open files: fewer than the service has.
"""

import collections
import contextlib
import os
import re
import resource
import shutil
import struct
import subprocess
import tempfile
import time

import harness
import msgpack
import zmq

TABLE = ((200, "512M"), (200, "640M"), (1000, "3G"), (5000, "14G"))  # clients that ask, --max-memory; the first is the default
ENOUGH = {"640M", "3G", "14G"}  # those that the page gives
OPEN_FILES = 16384  # for the collector, and for the clients, which take two each
ROWS, FRAMES = 1000, 5  # observations of a frame, frames of a client
BUNCH, REPEAT, SILENCE = 200, 2, 10  # clients that come at once; seconds until one asks again; until nothing more is waited for
IDS = ["u4", struct.pack(f"<{ROWS}I", *range(ROWS))]
COLUMNS = {"gold_prob": ["f4", struct.pack(f"<{ROWS}f", *[0.5] * ROWS)], "correct": ["bit", bytes((ROWS + 7) // 8)]}

Got = collections.namedtuple("Got", "clients idle peak files seconds")  # let in; MB with sessions open, MB at most; descriptors; s of recording


def collector(programs, store, memory):
    """(process, endpoint)"""
    process = subprocess.Popen([programs["portoland"], "--store", store, "--listen", "tcp://127.0.0.1:*", "--max-memory", memory], stderr=subprocess.PIPE,
                               text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES)))
    for line in process.stderr:
        match = re.search(r"(tcp://\S+)$", line.rstrip())
        if match:
            return process, match.group(1)
    raise RuntimeError("no collector")


def anonymous(process):
    """MB of the process's memory that no file stands behind."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        return int(re.search(r"RssAnon:\s+(\d+)", status.read())[1]) / 1024


class Crowd:
    """Clients that are there at once. They keep to the protocol: they open again when they are told to, and repeat what was not acknowledged."""

    def __init__(self, endpoint, count):
        self.endpoint, self.context, self.poller = endpoint, zmq.Context(), zmq.Poller()
        self.context.set(zmq.MAX_SOCKETS, 2 * count + 16)
        self.clients = {}  # socket: (session, number)
        self.frame = 0  # the frame that all of them are to send; 0: none yet
        self.missing = {}  # the sockets of those that wait for an answer to it, or to their first `open`: when they asked last
        self.refused = []
        for first in range(0, count, BUNCH):  # a cluster's jobs start within minutes, not within a moment
            for number in range(first, min(first + BUNCH, count)):
                self.begin(number)
            self.refused += [self.leave(socket) for socket in self.wait()]

    def begin(self, number):
        socket = self.context.socket(zmq.DEALER)
        socket.linger = 0
        socket.connect(self.endpoint)
        self.clients[socket] = (os.urandom(16), number)
        self.poller.register(socket, zmq.POLLIN)
        self.open(socket)

    def send(self, socket, kind, **fields):
        with contextlib.suppress(zmq.Again):  # a connection that was refused takes nothing more
            socket.send(msgpack.packb({"v": 2, "t": kind, "s": self.clients[socket][0], **fields}), zmq.NOBLOCK)

    def open(self, socket):
        self.missing[socket] = time.monotonic()
        number = self.clients[socket][1]
        self.send(socket, "open", run=f"crowd/{number}", started=1 + number, mode="epoch-end", examples=ROWS)

    def record_all(self, frame):
        self.frame, self.missing = frame, dict.fromkeys(self.clients, time.monotonic())
        for socket in self.clients:
            self.record(socket)

    def record(self, socket):
        self.send(socket, "batch", q=self.frame, e=self.frame - 1, n=ROWS, ids=IDS, columns=COLUMNS)

    def take(self, socket, answer):
        """Is it what this client waits for?"""
        if answer["t"] == "error":
            assert answer["code"] in ("no-session", "over-credit", "sequence", "unavailable"), answer
            self.open(socket)
        elif answer["t"] == "opened" and self.frame:
            self.record(socket)
        return answer["t"] == "opened" if self.frame == 0 else answer["t"] == "ack" and answer["a"] >= self.frame

    def wait(self):
        """Until all have their answer, or nothing comes any more: those that have none."""
        heard = time.monotonic()
        while self.missing and time.monotonic() < heard + SILENCE:
            time.sleep(0.05)  # so that a poll of thousands finds many at once
            for socket, _ in self.poller.poll(200):
                if self.take(socket, msgpack.unpackb(socket.recv())):
                    self.missing.pop(socket, None)
                    heard = time.monotonic()
            for socket in [socket for socket, asked in self.missing.items() if time.monotonic() > asked + REPEAT]:
                self.open(socket)
        return list(self.missing)

    def let_in(self):
        """How many are let in; those that are not try once more, with a new connection, and are then gone."""
        for number in self.refused:
            self.begin(number)
        for socket in self.wait():
            self.leave(socket)
        return len(self.clients)

    def leave(self, socket):
        self.poller.unregister(socket)
        self.missing.pop(socket, None)
        socket.close()
        return self.clients.pop(socket)[1]

    def end(self):
        self.context.destroy(linger=0)


def turn(programs, folder, asked, memory):
    store = os.path.join(folder, "store")
    process, endpoint = collector(programs, store, memory)
    crowd, peak = Crowd(endpoint, asked), 0
    try:
        count = crowd.let_in()
        idle, files, start = anonymous(process), len(os.listdir(f"/proc/{process.pid}/fd")), time.perf_counter()
        for frame in range(1, FRAMES + 1):
            crowd.record_all(frame)
            without = len(crowd.wait())
            if without:
                raise RuntimeError(f"{without} of {count} clients had no acknowledgement")
            peak = max(peak, anonymous(process))
        return Got(count, idle, peak, files, time.perf_counter() - start)
    finally:
        crowd.end()
        process.terminate()
        process.communicate()
        shutil.rmtree(store, ignore_errors=True)


def raise_open_files(needed):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise harness.Absent(f"it needs {needed:,} open files (ulimit -Hn is {hard:,})")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))


def run(report, programs, repeats):
    raise_open_files(OPEN_FILES)
    folder = tempfile.mkdtemp(prefix="bench-", dir=programs["build"])
    try:
        for asked, memory in TABLE:
            turns = [turn(programs, folder, asked, memory) for _ in range(min(repeats, 3))]
            most = max(turns, key=lambda got: got.peak)
            report.ratio(f"{asked:,} clients over TCP, --max-memory {memory}: let in / asked", [got.clients / asked for got in turns],
                         aim="≥ 1" if memory in ENOUGH else None, better="more",
                         note=f"{min(got.clients for got in turns):,} let in; anonymous memory {most.idle:.0f} MB with their sessions open, {most.peak:.0f} MB at most while all send; "
                              f"{most.files:,} open files")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
