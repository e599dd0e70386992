"""A disk that stalls for seconds, while peers die in the middle of what they send, within their credit and beyond it.

The collector lives, and a good client beside them loses nothing. The short form is a test; the long form is tools/soak stalls.
"""

import contextlib
import os
import re
import shutil
import socket
import struct
import tempfile
import time

import msgpack
from collector_harness import Client, Collector
from hostile import Memory, SANITIZED, check_good_run, good_client
from hostile_peers import GREETING, PATIENCE, READY, batch_fields, long_frame

import multiprocessing
import mmap

SYNC, STALL = 4, 3  # of fault_shim.c
CAP_MB = 64
PING = b"\x04\x07\x04PING\x00\x00"  # ZMTP's own heartbeat, which a peer may send at any time


class Stalls:
    """The words that fault_shim.c reads."""

    def __init__(self, path):
        with open(path, "wb") as file:
            file.write(bytes(8 * 7))
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 8 * 7)
        self.environment = {"LD_PRELOAD": os.environ["CRASH_FAULT_SHIM"], "CRASH_FAULTS": path}

    def arm(self, seconds, times):
        struct.pack_into("<5Q", self.map, 8, 0, times, int(1000 * seconds), STALL, 0)
        struct.pack_into("<Q", self.map, 0, SYNC)

    def left(self):
        return struct.unpack_from("<Q", self.map, 16)[0]

    def disarm(self):
        struct.pack_into("<Q", self.map, 0, 0)


@contextlib.contextmanager
def environment(more):
    before = dict(os.environ)
    os.environ.update(more)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


class Dying:
    """A peer with a session, made of a raw socket, that will be gone in the middle of something."""

    def __init__(self, collector, transport, run):
        if transport == "ipc":
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(PATIENCE)
            self.socket.connect(collector.local[len("ipc://"):])
        else:
            self.socket = socket.create_connection(("127.0.0.1", int(collector.tcp.rsplit(":", 1)[1])), timeout=PATIENCE)
        self.session = os.urandom(16)
        self.socket.sendall(GREETING + READY)
        self.wait_for(b"READY")
        self.socket.sendall(long_frame(self.pack("open", run=run, started=1, mode="epoch-end", group="dying",
                                                 rank=int.from_bytes(self.session[:4], "big"))))
        self.wait_for(b"opened")

    def pack(self, kind, **fields):
        return msgpack.packb({"v": 2, "t": kind, "s": self.session, **fields})

    def wait_for(self, word):
        data = b""
        while word not in data:
            part = self.socket.recv(4096)
            assert part, f"hung up on before {word}"
            data += part

    def send_and_die(self, how):
        frames = {"within": lambda: [self.pack("batch", **batch_fields(8000, q=q)) for q in range(1, 5)],
                  "beyond": lambda: [self.pack("batch", **batch_fields(16_000, q=q)) for q in range(1, 31)],
                  "small": lambda: [self.pack("batch", **batch_fields(1, q=q)) for q in range(1, 101)]}
        data = b"".join(long_frame(frame) + (PING if how == "small" else b"") for frame in frames[how]())
        try:
            self.socket.settimeout(0.2)
            self.socket.sendall(data)
        except OSError:
            pass
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


def stall(rounds, seconds, say=print, transports=("ipc", "tcp"), hows=("within", "beyond", "small")):
    """So many rounds of each; returns what was recorded meanwhile."""
    directory = tempfile.mkdtemp(prefix="portolan-stalls-")
    store = os.path.join(directory, "store")
    stalls = Stalls(os.path.join(directory, "faults"))
    with environment(stalls.environment):
        collector = Collector(store, "--max-memory", f"{CAP_MB}M")
    context = multiprocessing.get_context("fork")
    stop, sent, acknowledged = context.Event(), context.Value("q", 0), context.Value("q", 0)
    client = context.Process(target=good_client, args=(collector.local, stop, sent, acknowledged), daemon=True)
    client.start()
    memory = Memory(collector.process.pid)
    count = 0
    try:
        for number in range(rounds):
            for transport in transports:
                for how in hows:
                    for length in seconds:
                        peers = [Dying(collector, transport, f"{how}-{transport}") for _ in range(8)]
                        stalls.arm(length, 1)
                        end = time.monotonic() + length
                        for peer in peers:
                            peer.send_and_die(how)
                        while time.monotonic() < end + 0.3:  # and then the storer goes on
                            assert collector.process.poll() is None, f"{how} over {transport}, {length} s: the collector is dead"
                            time.sleep(0.05)
                        count += 1 - stalls.left()
                        stalls.disarm()
                        before, patience = acknowledged.value, time.monotonic() + PATIENCE
                        while acknowledged.value <= before:
                            assert client.is_alive() and collector.process.poll() is None
                            assert time.monotonic() < patience, "the good client does not get on"
                            time.sleep(0.01)
            say(f"round {number + 1}: {count} stalls, {acknowledged.value} batches, {memory.peak:.0f} MB")
        stop.set()
        client.join(PATIENCE)
        assert client.exitcode == 0, "the good client did not come to its end"
        collector.process.terminate()
        assert collector.process.wait(PATIENCE) == 0
        assert count > 0, "nothing was stalled"
        memory.over.set()
        assert SANITIZED or memory.peak <= CAP_MB + 32, f"{memory.peak:.0f} MB"
        said = collector.process.stderr.read()
        assert not re.search("Assertion|abort", said), said
        return {"stalls": count, "observations": check_good_run(store, sent.value)}
    finally:
        client.kill()
        collector.process.kill()
        collector.process.wait()
        shutil.rmtree(directory, ignore_errors=True)


def test_a_disk_that_stalls_while_peers_die():
    figures = stall(1, (1, 2))
    assert figures["stalls"] > 0 and figures["observations"] > 0


def test_a_disk_that_stalls_longer_than_contact():
    figures = stall(1, (8,), transports=("tcp",), hows=("within",))
    assert figures["stalls"] == 1


def test_sessions_with_a_frame_each_leave_the_queue_to_others(tmp_path, sessions=40, rows=20_000):
    """Each may have one frame queued, however large: more than the queue holds. A client that keeps to its credit loses
    nothing by it, and they are told to send again."""
    stalls = Stalls(str(tmp_path / "faults"))
    with environment(stalls.environment):
        collector = Collector(str(tmp_path / "store"), "--max-memory", "32M")
    try:
        hoarder, good = Client(collector.tcp), Client(collector.tcp)
        several = [os.urandom(16) for _ in range(sessions)]
        for rank, hoarder.session in enumerate(several):
            assert hoarder.open("many", resume=True, group="many", rank=rank)["c"] > 0
        credit = good.open("good", examples=rows)["c"]
        for _ in several:
            assert hoarder.receive()["t"] == "ack"  # there is less credit, as another connection came
        hoarded = [msgpack.packb({"v": 2, "t": "batch", "s": session, **batch_fields(rows)}) for session in several]
        stalls.arm(3, 1)
        good.send("batch", **batch_fields(1))  # the commit that stalls
        time.sleep(0.3)
        for frame in hoarded:
            hoarder.send_raw(frame)
        time.sleep(1)
        sent = 0
        for number in range(2, 1000):
            frame = {"v": 2, "t": "batch", "s": good.session, **batch_fields(rows, q=number, e=number)}
            sent += len(msgpack.packb(frame)) + 100
            if sent > credit:
                break
            good.send_raw(msgpack.packb(frame))
        assert number > 5 and stalls.left() == 0, (number, stalls.left())
        good.wait_for(number - 1)  # and no error
        dropped = 0
        for _ in several:
            answer = hoarder.receive()
            dropped += answer.get("code") == "over-credit"
        assert 0 < dropped < sessions
        hoarder.leave()
        good.leave()
    finally:
        collector.process.kill()
        collector.process.communicate()


if __name__ == "__main__":
    print(stall(50, (1, 2, 8)))
