"""--max-memory is a cap: peak RssAnon is no more than that and 32 MB, whatever connects and whatever it sends.

The short form is a test; the long form is tools/soak cap.
"""

import collections
import contextlib
import os
import re
import select
import shutil
import socket
import struct
import tempfile
import time

import collector_harness
import msgpack
import pytest
import zmq
from collector_harness import Client, Collector
from hostile import SANITIZED, Memory, page_client
from hostile_peers import FRAME_MOST, PATIENCE, Peer, Target, batch_fields, long_frame

SLACK_MB = 32
ROWS_MOST = 20_000  # of a frame that is nearly as large as may be


class Besieged:
    """A collector whose memory is watched, and two clients of its own: one was there before, one comes afterwards."""

    def __init__(self, cap):
        self.directory, self.cap = tempfile.mkdtemp(prefix="portolan-cap-"), cap
        self.collector = Collector(os.path.join(self.directory, "store"), "--max-memory", f"{cap}M")
        self.target = Target(self.collector, 0)
        self.memory = Memory(self.collector.process.pid)
        self.good, self.sequence = Client(self.collector.local), 0
        self.good.open("good")

    def __enter__(self):
        return self

    def record(self):
        self.sequence += 1
        self.good.batch(self.sequence, 0, [self.sequence], [0.5], [True])
        self.good.wait_for(self.sequence)

    def __exit__(self, kind, value, trace):
        try:
            if kind is None:
                self.record()
                assert self.collector.process.poll() is None, "the collector is dead"
                self.memory.over.set()
                self.memory.join()
                assert SANITIZED or self.memory.peak <= self.cap + SLACK_MB, f"{self.memory.peak:.0f} MB of {self.cap}"
                print(f"cap {self.cap} MB, peak {self.memory.peak:.0f} MB")
        finally:
            self.good.leave()
            self.collector.process.kill()
            self.collector.process.wait()
            shutil.rmtree(self.directory, ignore_errors=True)


def shake_hands(peer):
    """Until the collector has let it in (True), or refused it (False)."""
    data = b""
    peer.settimeout(PATIENCE)
    while b"READY" not in data and b"ERROR" not in data:
        part = peer.recv(4096)
        if not part:
            return False
        data += part
    return b"READY" in data


def sessions(target, count):
    """Raw connections that are let in and have a session each: (socket, session id)."""
    opened = []
    for _ in range(count):
        peer, session = target.speak(), os.urandom(16)
        assert shake_hands(peer), f"{len(opened)} connections, and the next one was refused"
        peer.sendall(long_frame(msgpack.packb({"v": 2, "t": "open", "s": session, "run": "flood", "started": 1, "mode": "epoch-end",
                                               "resume": True, "group": "flood", "rank": len(opened)})))
        assert b"opened" in peer.recv(4096)
        opened.append((peer, session))
    return opened


def pour(streams, seconds):
    """Sends what each stream holds, over and over, as fast as it is taken; reads and forgets the answers."""
    left, end = {peer: memoryview(data) for peer, data in streams.items()}, time.monotonic() + seconds
    for peer in streams:
        peer.setblocking(False)
    while left and time.monotonic() < end:
        for peer in select.select([], list(left), [], 0.1)[1]:
            try:
                left[peer] = left[peer][peer.send(left[peer][: 1 << 20]) :] or memoryview(streams[peer])
                peer.recv(1 << 16)
            except BlockingIOError:
                pass
            except OSError:
                del left[peer]


def poll(readers, writers):
    """Those that can be read, and those that can be written, within a second; more than select() can watch."""
    poller, peers = select.poll(), {peer.fileno(): peer for peer in {*readers, *writers}}
    for number, peer in peers.items():
        poller.register(number, (select.POLLIN if peer in readers else 0) | (select.POLLOUT if peer in writers else 0))
    events = poller.poll(1000)
    return ([peers[number] for number, event in events if event & ~select.POLLOUT and peers[number] in readers],
            [peers[number] for number, event in events if event & select.POLLOUT])


@pytest.mark.parametrize("cap,connections", [(64, 20), (256, 60)])
def test_connections_beyond_their_credit(cap, connections, seconds=4):
    with Besieged(cap) as besieged:
        streams = {}
        for peer, session in sessions(besieged.target, connections):
            streams[peer] = b"".join(long_frame(msgpack.packb({"v": 2, "t": "batch", "s": session, **batch_fields(ROWS_MOST, q=q)}))
                                     for q in range(1, 31))
        pour(streams, seconds)
        besieged.record()
        for peer in streams:
            peer.close()


def test_compliant_clients_with_the_largest_frames(clients=30, frames=20):
    """Through the client that WIRE.md prints, which keeps to its credit: none of its frames is dropped."""
    with Besieged(256) as besieged:
        run = page_client()
        all_of_them = [run(f"large/{number}", endpoint=besieged.target.endpoint, examples=ROWS_MOST) for number in range(clients)]
        fields = batch_fields(ROWS_MOST)
        for epoch in range(frames):
            for client in all_of_them:
                client.keep("batch", e=epoch, n=ROWS_MOST, ids=fields["ids"], columns=fields["columns"])
        for client in all_of_them:
            client.close()
        besieged.record()
        besieged.collector.process.terminate()
        said = besieged.collector.process.stderr.read()
        assert "beyond the credit" not in said, said
        besieged.collector = Collector(besieged.collector.store, "--max-memory", "256M")
        besieged.good.connect(besieged.collector.local)
        besieged.good.open("good")


def test_half_sent_frames_on_every_connection(cap=64):
    """As many as are let in, a frame but for its last byte on each; the one beyond is refused by name."""
    with Besieged(cap) as besieged:
        body = b"\x02" + struct.pack(">Q", FRAME_MOST) + bytes(FRAME_MOST - 1)
        let_in, refused = [], 0
        while refused == 0 and len(let_in) < 1000:
            peer = besieged.target.speak()
            if shake_hands(peer):
                let_in.append(peer)
            else:
                refused += 1
        assert refused and len(let_in) >= 20, len(let_in)
        for peer in let_in:
            peer.sendall(body)
        with Peer(besieged.target) as late:
            assert late.refusal() == 500
        besieged.record()  # the owner's own clients have places of their own
        with open(f"/proc/{besieged.collector.process.pid}/limits", encoding="ascii") as limits:
            assert "Max open files" in limits.read()
        for peer in let_in:
            peer.close()


def test_a_message_that_never_ends(cap=64, connections=4, parts=1000):
    """libzmq keeps every part of a message until the last has come: who sends no last one is sent away."""
    with Besieged(cap) as besieged:
        part = b"\x03" + struct.pack(">Q", FRAME_MOST) + bytes(FRAME_MOST)
        for _ in range(connections):
            peer = besieged.target.speak()
            assert shake_hands(peer)
            with pytest.raises(OSError):
                for _ in range(parts):
                    peer.sendall(part)
            peer.close()
            besieged.record()


def test_a_thousand_connections(cap=64, count=1000):
    """Some are let in, the others are told why; nobody who is in is sent away for them."""
    with Besieged(cap) as besieged:
        peers, counts = [], collections.Counter()
        for _ in range(count):
            peer = socket.socket()
            peer.setblocking(False)
            peer.connect_ex(("127.0.0.1", besieged.target.port))
            peers.append(peer)
        end, silent, said = time.monotonic() + PATIENCE, set(peers), dict.fromkeys(peers, b"")
        while said and time.monotonic() < end:
            readable, writable = poll(said, silent)
            for peer in writable:
                with contextlib.suppress(OSError):
                    peer.send(besieged.target.hello)
                silent.discard(peer)
            for peer in readable:
                try:
                    part = peer.recv(4096)
                except OSError:
                    part = b""
                said[peer] += part
                if part and b"READY" not in said[peer] and b"ERROR" not in said[peer]:
                    continue
                let_in = b"READY" in said.pop(peer)
                counts[let_in] += 1
                if not let_in:
                    silent.discard(peer)
                    peer.close()
        besieged.record()
        for peer in peers:
            peer.close()
        assert counts[True] >= 20 and counts[False] > 0, counts


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def sockets_from(pid, first):
    """What the process has open as a socket under a descriptor of this number or a higher one."""
    found = set()
    for number in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):  # closed since
            name = os.readlink(f"/proc/{pid}/fd/{number}")
            if int(number) >= first and name.startswith("socket:"):
                found.add(name)
    return found


def test_connections_leave_descriptors_to_the_store(tmp_path, monkeypatch, limit=200, reserved=96):
    """More connections than there may be open files, to the tcp port and to the owner's socket, whose handshakes never
    come: the collector lives, does not spin, and has descriptors to spare; who is in gets on, and others do afterwards."""
    limited = tmp_path / "limited"
    limited.write_text(f'#!/bin/sh\nulimit -n {limit} && exec {collector_harness.PORTOLAND} "$@"\n', encoding="ascii")
    limited.chmod(0o755)
    monkeypatch.setattr(collector_harness, "PORTOLAND", str(limited))
    with Besieged(512) as besieged:
        pid, peers = besieged.collector.process.pid, []
        assert re.search(rf"at most \d+ connections, \d+ fewer .* of {limit} .* {reserved} ", besieged.collector.said)
        for number in range(2 * limit):
            peer = socket.socket(socket.AF_UNIX if number % 4 == 0 else socket.AF_INET)
            peer.setblocking(False)
            with contextlib.suppress(OSError):
                peer.connect(besieged.collector.local.removeprefix("ipc://") if number % 4 == 0
                             else ("127.0.0.1", besieged.target.port))
            peers.append(peer)
        time.sleep(0.5)
        began, used, seen = time.monotonic(), processor_seconds(pid), collections.Counter()
        while time.monotonic() < began + 2:
            besieged.record()
            beyond = sockets_from(pid, limit - reserved // 2)
            assert len(beyond) <= 2, "more than the one that each listener is about to close"
            seen.update(beyond)
            time.sleep(0.1)
        assert processor_seconds(pid) - used < 1, "it spins"
        assert all(samples < 5 for samples in seen.values()), "a connection beyond the limit was kept"
        for peer in peers:
            peer.close()
        with Peer(besieged.target) as late:
            assert late.open("late") == "opened"


def test_a_thousand_open_at_once(cap=512, clients=1000, connections=10):
    """Every session gets in at once, and none is sent away for another."""
    with Besieged(cap) as besieged:
        context = zmq.Context()
        sockets = [context.socket(zmq.DEALER) for _ in range(connections)]
        for peer in sockets:
            peer.linger, peer.sndtimeo = 0, PATIENCE * 1000
            peer.connect(besieged.target.endpoint)
        opened, began = set(), time.monotonic()
        waiting = {os.urandom(16): number for number in range(clients)}
        asked, asked_of = dict.fromkeys(waiting, 0.0), {session: number % connections for session, number in waiting.items()}
        while waiting and time.monotonic() < began + PATIENCE:
            now = time.monotonic()
            besieged.record()  # the client that was there before is served meanwhile
            for session, number in waiting.items():
                if now - asked[session] > 1:
                    asked[session] = now
                    sockets[asked_of[session]].send(msgpack.packb(
                        {"v": 2, "t": "open", "s": session, "run": f"many/{number}", "started": 1, "mode": "epoch-end"}))
            for peer in sockets:
                while peer.poll(1):
                    answer = msgpack.unpackb(peer.recv())
                    assert answer["t"] in ("opened", "ack") or answer["code"] == "unavailable", answer  # an ack: there is less credit
                    if answer["t"] == "opened":
                        opened.add(answer["s"])
                        waiting.pop(answer["s"], None)
        assert not waiting, f"{len(waiting)} of {clients} have not got in"
        for peer in sockets:
            while peer.poll(500):  # answers to those that asked twice, and what credit there is now
                peer.recv()
        answers = collections.Counter()
        for number, peer in enumerate(sockets):  # and all of them are still in
            pinged = [session for session in opened if asked_of[session] == number]
            for first in range(0, len(pinged), 40):  # answers are kept for 100, or for half as many while it is busy
                for session in pinged[first : first + 40]:
                    peer.send(msgpack.packb({"v": 2, "t": "ping", "s": session}))
                for _ in pinged[first : first + 40]:
                    assert peer.poll(PATIENCE * 1000), answers
                    answers[msgpack.unpackb(peer.recv())["t"]] += 1
        assert answers == {"ack": clients}, answers
        besieged.record()
        context.destroy(linger=0)


def soak(minutes, say=print):
    """Everything at full length, until the time is up."""
    end, rounds = time.monotonic() + 60 * minutes, 0
    while rounds == 0 or time.monotonic() < end:
        for cap, connections in ((64, 20), (256, 60)):
            test_connections_beyond_their_credit(cap, connections, seconds=30)
        test_compliant_clients_with_the_largest_frames(frames=100)
        for cap in (32, 64, 256, 512):
            test_half_sent_frames_on_every_connection(cap)
            test_a_message_that_never_ends(cap)
            test_a_thousand_connections(cap)
        test_a_thousand_open_at_once()
        rounds += 1
        say(f"round {rounds}")
    return {"rounds": rounds}


if __name__ == "__main__":
    soak(0)
