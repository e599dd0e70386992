"""Peers that keep to the protocol, and want more than their share: of memory for ids, of sessions, of the disk."""

import collections
import os
import re
import struct
import subprocess
import threading
import time

import msgpack
import numpy as np
import pytest
import zmq
from collector_harness import DEADLINE, Client, Collector, portoland
from hostile import SANITIZED, Memory

MB = 1 << 20


class Talkative(Collector):
    """A collector whose log is read all along."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.lines = []
        threading.Thread(target=lambda: self.lines.extend(self.process.stderr), daemon=True).start()

    def finish(self):
        self.process.terminate()
        assert self.process.wait(DEADLINE) == 0

    def said_lines(self, words):
        return [line for line in self.lines if words in line]


@pytest.fixture
def collect(tmp_path):
    started = []

    def start(*options):
        started.append(Talkative(str(tmp_path / "store"), *options))
        return started[-1]

    yield start
    for collector in started:
        collector.process.kill()
        collector.process.wait()


def rows(count):
    return {"n": count, "columns": {"gold_prob": ["f4", bytes(4 * count)], "correct": ["bit", bytes((count + 7) // 8)]}}


def test_ids_without_end(collect):
    """Random ids, as many as credit allows: the session ends with an error that names the way out, its records stay, and
    another client records as if nothing were."""
    collector = collect("--max-memory", "32M")
    memory = Memory(collector.process.pid)
    flood, good = Client(collector.tcp), Client(collector.tcp)
    good.open("good")
    flood.open("ids")
    random, count, acknowledged, error = np.random.default_rng(1), 16384, 0, None
    for number in range(1, 200):  # 3 million: far more than there is room for
        flood.send("batch", q=number, e=0, ids=["u8", random.integers(0, 1 << 63, count, dtype=np.uint64).tobytes()], **rows(count))
        frame = flood.receive()
        if frame["t"] == "error":
            error = frame
            break
        acknowledged = frame["a"]
    assert error and error["code"] == "too-many-ids" and error["q"] == acknowledged + 1, error
    assert "examples=N" in error["message"] and "--max-memory" in error["message"], error
    assert acknowledged * count > 150_000, "the limit is far below a quarter of --max-memory"
    assert flood.open("ids", resume=True)["a"] == acknowledged
    flood.send("batch", q=acknowledged + 1, e=0, ids=["u8", random.integers(0, 1 << 63, count, dtype=np.uint64).tobytes()], **rows(count))
    flood.expect_error("too-many-ids")  # waiting does not help
    for sequence in range(1, 20):
        good.batch(sequence, 0, [sequence], [0.5], [True])
        good.wait_for(sequence)
    good.close(20)
    good.wait_for(20)
    memory.over.set()
    memory.join()
    assert SANITIZED or memory.peak <= 32 + 32, f"{memory.peak:.0f} MB"
    collector.finish()
    assert len(collector.said_lines("memory for ids is used up")) == 1
    assert f"ids,{acknowledged * count}," in portolan_runs(collector.store)
    flood.leave()
    good.leave()


def test_one_connection_does_not_lock_newcomers_out(collect):
    collector = collect("--max-memory", "32M")
    context = zmq.Context()
    hoarder = context.socket(zmq.DEALER)
    hoarder.linger, hoarder.sndtimeo = 0, int(DEADLINE * 1000)
    hoarder.sndhwm = hoarder.rcvhwm = 0
    hoarder.connect(collector.tcp)
    opens, answers = 3000, collections.Counter()
    for number in range(opens):
        hoarder.send(msgpack.packb({"v": 2, "t": "open", "s": struct.pack("<2Q", number, 1), "run": "junk", "started": 1 + number,
                                    "mode": "epoch-end", "resume": True, "group": "junk", "rank": number}))
        if number % 20 == 19:  # more answers than that at once may be dropped
            for _ in range(20):
                assert hoarder.poll(DEADLINE * 1000)
                answer = msgpack.unpackb(hoarder.recv())
                answers[answer.get("code", answer["t"])] += 1
    assert answers["unavailable"] > answers["opened"] > 0, answers
    newcomer = Client(collector.tcp)
    credit = newcomer.open("good")["c"]
    assert credit >= 32 * MB // 8 // 2, "its sessions take the credit of others"
    newcomer.batch(1, 0, [1], [0.5], [True])
    newcomer.wait_for(1)
    newcomer.leave()
    context.destroy(linger=0)
    collector.finish()
    assert len(collector.said_lines("too many sessions")) == 1


def test_runs_by_the_thousand_are_told_of(collect):
    """What an `open` costs on disk is seen: in the log, which they do not fill, and in the store's counters."""
    collector = collect()
    labels = [f"label {number} " + "x" * 50 for number in range(2000)]
    client, frames, sent = Client(collector.tcp), 100, 0
    for number in range(frames):
        client.session = os.urandom(16)
        frame = msgpack.packb({"v": 2, "t": "open", "s": client.session, "run": f"run {number}", "started": 1, "mode": "epoch-end",
                               "labels": labels})
        sent += len(frame)
        client.send_raw(frame)
        assert client.receive()["t"] == "opened"
    client.leave()
    collector.finish()
    assert 10 <= len(collector.said_lines(" begun")) <= 15
    assert re.search(r"run 'run 0' begun \(\d{6} bytes\)", collector.lines[0])
    done = subprocess.run([os.environ["PORTOLAN"], "check", "--store", collector.store], capture_output=True, text=True,
                          timeout=DEADLINE, check=False)
    assert done.returncode in (0, 3), done.stderr
    counted = [int(number.replace(",", "")) for number in re.findall(r"bytes ([\d,]+)", done.stdout)]
    assert max(counted) >= sent, done.stdout


def test_a_thin_epoch_of_a_run_that_declares_billions(collect):
    """One row an epoch: the store grows by what the epochs hold, not by what was declared."""
    collector, declared, epochs = collect(), (1 << 32) - 100_000, 30
    client = Client(collector.local)
    client.open("thin", examples=declared)
    for epoch in range(epochs):
        client.batch(epoch + 1, epoch, [declared - 1], [0.5], [True], gold=["i4", struct.pack("<i", epoch)])
    client.close(epochs + 1)
    client.wait_for(epochs + 1)
    end = time.monotonic() + DEADLINE
    while True:
        state = portolan_runs(collector.store)
        if "closed" in state and is_folded(collector.store):
            break
        assert time.monotonic() < end, state
        time.sleep(0.05)
    client.leave()
    collector.finish()
    size = os.stat(os.path.join(collector.store, "data.mdb")).st_blocks * 512
    assert size < 10 * MB, f"{size / MB:.0f} MB for {epochs} observations"
    assert f"thin,1,{epochs},{epochs},closed" in portolan_runs(collector.store)


def portolan_runs(store):
    return subprocess.run([os.environ["PORTOLAN"], "runs", "--store", store], capture_output=True, text=True, timeout=DEADLINE,
                          check=True).stdout


def is_folded(store):
    """The file has stopped changing, and is not empty: nothing is written but by folds when nobody records."""
    path = os.path.join(store, "data.mdb")
    before = os.stat(path).st_mtime_ns
    time.sleep(0.5)
    return os.stat(path).st_mtime_ns == before


@pytest.mark.parametrize("endpoint", ["ipc://@portolan", "ipc://@"])
def test_abstract_sockets_are_refused(tmp_path, endpoint):
    """Nothing bounds who may connect to one: neither a file's mode nor a key."""
    done = portoland("--store", str(tmp_path / "store"), "--listen", endpoint)
    assert done.returncode == 2 and "every user" in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "store").exists()
