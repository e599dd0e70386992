"""Peers that do not keep to the rules, made of raw sockets, raw ZeroMQ and client/WIRE.md.

Each attack is a function of a Target and of how hard to try (1: the short form); it returns what it got, in words, and
raises AssertionError when it got what it should not.
"""

import collections
import contextlib
import os
import random
import select
import socket
import struct
import time
from pathlib import Path

import msgpack
import zmq
import zmq.utils.monitor

GOLDEN = Path(__file__).resolve().parents[1] / "wire"
FRAME_MOST = 256 << 10  # bytes, of WIRE.md
PATIENCE = 30  # seconds

# ZMTP 3.0 (ZeroMQ RFC 23): the greeting of a client without security, and its READY command.
GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00NULL" + bytes(16) + b"\x00" + bytes(31)
READY = b"\x04\x29\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER\x08Identity\x00\x00\x00\x00"


class Target:
    """The collector under attack: its port, and whatever an attack wants to know of it."""

    def __init__(self, collector, seed):
        self.port = int(collector.tcp.rsplit(":", 1)[1])
        self.endpoint = collector.tcp
        self.store = collector.store
        self.pid = collector.process.pid
        self.random = random.Random(seed)
        self.hello = GREETING + READY
        self.long = b"\x02"  # how a long message begins

    def connect(self):
        """A raw connection; None: refused or reset."""
        try:
            return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        except socket.timeout as late:
            raise AssertionError("the collector does not accept connections") from late
        except OSError:
            return None

    def speak(self):
        """A raw connection that has shaken hands."""
        peer = self.connect()
        if peer:
            try:
                peer.sendall(self.hello)
            except OSError:
                peer.close()
                return None
        return peer


def key_of(path):
    """The key in a key file, as WIRE.md describes it."""
    (line,) = [line for line in path.read_text(encoding="ascii").splitlines() if line and not line.startswith("# ")]
    return line.split(" ")[1].encode()


class Peer:
    """A ZeroMQ client that reads its answers. Sending raises zmq.Again after PATIENCE: libzmq gives a connection that was
    refused up for good, and a message for it would wait for ever."""

    def __init__(self, target, keys=None):
        self.context = zmq.Context()
        self.context.linger = 0
        self.socket = self.context.socket(zmq.DEALER)
        self.socket.sndtimeo = PATIENCE * 1000
        if keys:
            self.socket.curve_serverkey = key_of(keys / "server.pub")
            secret = key_of(keys / "client.key")
            self.socket.curve_publickey, self.socket.curve_secretkey = zmq.curve_public(secret), secret
        self.endpoint = target.endpoint
        self.socket.connect(target.endpoint)
        self.session = os.urandom(16)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.destroy(linger=0)

    def refusal(self, wait=PATIENCE):
        """The status with which the collector refused the connection; 0: it did not; None: no word within `wait` seconds."""
        monitor = self.socket.get_monitor_socket(zmq.EVENT_HANDSHAKE_FAILED_AUTH | zmq.EVENT_HANDSHAKE_SUCCEEDED)
        self.socket.connect(self.endpoint)
        end = time.monotonic() + wait
        while monitor.poll(max(0, end - time.monotonic()) * 1000):
            event = zmq.utils.monitor.recv_monitor_message(monitor)
            if event["event"] == zmq.EVENT_HANDSHAKE_FAILED_AUTH:
                return event["value"]
            if event["event"] == zmq.EVENT_HANDSHAKE_SUCCEEDED:
                return 0
        return None

    def frame(self, kind, **fields):
        return msgpack.packb({"v": 2, "t": kind, "s": self.session, **fields})

    def send(self, *parts):
        self.socket.send_multipart(parts)

    def answers(self, most, wait=PATIENCE):
        """Counts answers by code (or kind) until `most` have come or none does for `wait` seconds."""
        counts = collections.Counter()
        while sum(counts.values()) < most and self.socket.poll(wait * 1000):
            answer = msgpack.unpackb(self.socket.recv())
            counts[answer.get("code", answer["t"])] += 1
        return counts

    def ask(self, *parts):
        """The one answer to one message."""
        self.send(*parts)
        (answer,) = self.answers(1)
        return answer

    def open(self, run, **fields):
        return self.ask(self.frame("open", run=run, started=1, mode="epoch-end", **fields))


def batch_fields(rows, **changed):
    return {"q": 1, "e": 0, "n": rows, "ids": ["u8", bytes(8 * rows)],
            "columns": {"gold_prob": ["f4", bytes(4 * rows)], "correct": ["bit", bytes((rows + 7) // 8)]}, **changed}


def is_closed(peer, wait):
    """Whether the collector hangs up within `wait` seconds."""
    end = time.monotonic() + wait
    peer.settimeout(wait)
    try:
        while time.monotonic() < end:
            if not peer.recv(4096):
                return True
    except socket.timeout:
        return False
    except OSError:
        return True
    return False


def told(counts):
    return ", ".join(f"{number} × {name}" for name, number in counts.most_common()) or "nothing"


def over_the_limit(target, force):
    """Frames of more bytes than allowed, announced and sent."""
    for size in (FRAME_MOST + 1, 1 << 31, 1 << 40, (1 << 63) - 1, (1 << 64) - 1):
        peer = target.speak()
        try:
            peer.sendall(b"\x02" + struct.pack(">Q", size) + bytes(1 << 16))
        except OSError:
            pass
        assert is_closed(peer, PATIENCE), f"a frame of {size} bytes was listened to"
        peer.close()
    return "hung up on before a byte of it is kept"


def deep_and_lying(target, force):
    """MessagePack that nests without end, or announces more than there is."""
    lies = [b"\x91" * 100_000, b"\x81\xa1x" * 50_000, b"\xdf\xff\xff\xff\xff", b"\xdd\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff",
            b"\xdb\xff\xff\xff\xff", b"\xdf\x00\x01\x00\x00" + b"\xa1x\xc0" * 1000, b"\xc1", b"\xc9\xff\xff\xff\xff\x01", b"",
            b"\x84\xa1v\x02\xa1t\xa5batch\xa1s\xc4\x10" + bytes(16) + b"\xa7columns\xdf\x7f\xff\xff\xff",
            b"\xdc\xff\xff" + b"\xc0" * 65535, b"\xdd\x00\x40\x00\x00" + b"\xc0" * (FRAME_MOST - 5)]
    counts = collections.Counter()
    for lie in lies:
        with Peer(target) as peer:
            counts[peer.ask(lie)] += 1
    assert set(counts) == {"malformed"}, told(counts)
    return told(counts)


def cut_and_flipped(target, force):
    """Every golden frame cut short at every length, and with bits flipped."""
    counts = collections.Counter()
    for path in sorted(GOLDEN.glob("*.bin")):
        frame = path.read_bytes()
        mangled = [frame[:length] for length in range(len(frame))]
        for _ in range(100 * force):
            flipped = bytearray(frame)
            for _ in range(target.random.randint(1, 3)):
                flipped[target.random.randrange(len(flipped))] ^= 1 << target.random.randrange(8)
            # Some still are frames: those of a session are answered, an `open` may begin one.
            mangled.append(bytes(flipped).replace(b"snli/seed1", b"hostile/11"))
        target.random.shuffle(mangled)
        for start in range(0, len(mangled), 8):  # who sends 16 such frames is hung up on
            with Peer(target) as peer:
                part = mangled[start : start + 8]
                for frame_of_part in part:
                    peer.send(frame_of_part)
                counts += peer.answers(len(part), wait=0.02)
    assert counts["malformed"] > 100, told(counts)
    return told(counts)


def other_versions(target, force):
    counts = collections.Counter()
    for version in (0, 1, 255, 1 << 40, -1, "1", None, 1.0):
        with Peer(target) as peer:
            counts[peer.ask(msgpack.packb({"v": version, "t": "open", "s": bytes(16), "future": [1]}))] += 1
    assert set(counts) <= {"version", "malformed"} and counts["version"] >= 4, told(counts)
    return told(counts)


def half_handshakes(target, force):
    """Connections that say nothing, half of it, or something else."""
    beginnings = [b"", b"\xff", GREETING[:11], GREETING[:40], GREETING, GREETING + READY[:5], b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
                  b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", bytes(64), os.urandom(64),
                  GREETING.replace(b"NULL", b"EVIL"), GREETING.replace(b"NULL", b"PLAIN"[:4]),
                  GREETING + b"\x06" + struct.pack(">Q", FRAME_MOST) + b"\x05READY",
                  GREETING + b"\x04\x0f\x05READY\x01x\xff\xff\xff\xffabc", b"\x01\x00", b"\xff" + bytes(8) + b"\x7f\x09"]
    peers = []
    for beginning in beginnings * (4 * force):
        peer = target.connect()
        if not peer:
            continue
        try:
            peer.sendall(beginning)
        except OSError:
            pass
        peers.append(peer)
    closed, end = 0, time.monotonic() + 12
    waiting = dict.fromkeys(peers)
    while waiting and time.monotonic() < end:
        for peer in select.select(list(waiting), [], [], 1)[0]:
            try:
                if peer.recv(4096):
                    continue
            except OSError:
                pass
            closed += 1
            del waiting[peer]
    for peer in peers:
        peer.close()
    assert not waiting, f"{len(waiting)} of {len(peers)} half handshakes are still connected"
    return f"{closed} of {len(peers)} hung up on, by the time-out of 5 s at the latest"


def crowd(target, force):
    """Connections by the hundreds that shake hands and stay: those beyond the cap are refused by name, until some leave."""
    peers = []
    for _ in range(1000 * force):
        peer = target.speak()
        if peer:
            peers.append(peer)
    connected = len(os.listdir(f"/proc/{target.pid}/fd"))
    with contextlib.ExitStack() as others:  # most of the crowd was closed at once, so some places may be left
        for _ in range(100):
            refused = others.enter_context(Peer(target)).refusal() == 500
            if refused:
                break
        assert refused, "the one beyond the cap was not refused by name"
    for peer in peers:
        peer.close()
    end = time.monotonic() + PATIENCE
    while True:  # who was refused tries again later
        with Peer(target) as late:
            if late.refusal(1) == 0:
                assert late.open("hostile/late-comer") == "opened", "a newcomer did not get in when there was room"
                break
        assert time.monotonic() < end, "a newcomer is still refused"
    return f"{len(peers)} came, {connected} descriptors open; the one beyond was refused by name"


def never_reading(target, force):
    """Sessions that send and never read an answer."""
    peers = []
    for _ in range(20 * force):
        peer = target.speak()
        if not peer:
            continue
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        session = os.urandom(16)
        frames = [msgpack.packb({"v": 2, "t": "open", "s": session, "run": "hostile/deaf", "started": 1, "mode": "epoch-end",
                                 "resume": True, "group": "deaf", "rank": int.from_bytes(session[:4], "big")})]
        frames += [msgpack.packb({"v": 2, "t": "ping", "s": session})] * 2000
        data = b"".join((b"\x00" + bytes([len(f)]) if len(f) < 256 else b"\x02" + struct.pack(">Q", len(f))) + f for f in frames)
        peer.settimeout(2)
        try:
            peer.sendall(data)
        except OSError:
            pass
        peers.append(peer)
    with Peer(target) as other:
        assert other.open("hostile/hears") == "opened"
    for peer in peers:
        peer.close()
    return f"{len(peers)} sessions, 2,000 pings each: answers kept for 100, the rest dropped; others are served"


def sessions_by_the_thousands(target, force):
    """One peer that opens session after session, each for a run of its own."""
    counts, together = collections.Counter(), 50  # answers are kept for 100
    with Peer(target) as peer:
        for first in range(0, 2000 * force, together):
            for number in range(first, first + together):
                peer.session = os.urandom(16)
                peer.send(peer.frame("open", run=f"hostile/many/{number}", started=1, mode="epoch-end"))
            counts += peer.answers(together, wait=20)
    assert counts["opened"] > 0 and set(counts) <= {"opened", "unavailable"}, told(counts)
    return told(counts)


def wrong_sequences(target, force):
    counts = collections.Counter()
    with Peer(target) as peer:
        assert peer.open("hostile/sequence", resume=True) == "opened"
        for sequence in (2, 3, 1 << 40, (1 << 64) - 1, 0, -1, "1"):
            peer.send(peer.frame("batch", **batch_fields(1, q=sequence)))
        peer.send(peer.frame("batch", **batch_fields(1)))
        for _ in range(200 * force):  # the same again
            peer.send(peer.frame("batch", **batch_fields(1)))
        peer.send(peer.frame("close", q=2))
        peer.send(peer.frame("batch", **batch_fields(1, q=3)))
        counts += peer.answers(1 << 30, wait=0.5)
    assert counts["sequence"] >= 1 and counts["malformed"] >= 4 and counts["ack"] >= 1, told(counts)
    return told(counts)


def absurd_counts(target, force):
    absurd = [batch_fields(1, n=0xFFFFFFFF), batch_fields(1, n=262_145), batch_fields(1, n=0), batch_fields(1, e=0xFFFFFFFF),
              batch_fields(8, n=9), batch_fields(1, ids=["str", b"\xff"]), batch_fields(1, ids=["str", b"\x00"]),
              batch_fields(1, ids=["f4", bytes(4)]), batch_fields(1, columns={}), batch_fields(1, columns={"x" * 40: ["f4", bytes(4)]}),
              batch_fields(1, columns={f"c{i}": ["f4", bytes(4)] for i in range(40)}), batch_fields(1, q=1 << 64 - 1, e=-1)]
    opens = [{"started": 0}, {"examples": -1}, {"rank": 1 << 32}, {"mode": "never"}, {"labels": [["x"]]},
             {"labels": [""] * 65_537}, {"config": "x" * 65_537}, {"resume": 1}]
    counts = collections.Counter()
    for rank, fields in enumerate(absurd):
        with Peer(target) as peer:
            assert peer.open("hostile/absurd", group="absurd", rank=rank) == "opened"
            counts[peer.ask(peer.frame("batch", **fields))] += 1
    for fields in opens:
        with Peer(target) as peer:
            request = {"run": "hostile/absurd", "started": 1, "mode": "epoch-end", "resume": True, **fields}
            counts[peer.ask(peer.frame("open", **request))] += 1
    with Peer(target) as peer:  # more examples than a store can number
        counts[peer.open("hostile/endless", examples=(1 << 64) - 1)] += 1
    assert set(counts) <= {"malformed", "refused", "run-differs"}, told(counts)
    return told(counts)


def names_as_paths(target, force):
    """Names are data: what looks like a path is a name like any other, what would confuse a terminal is none."""
    before = sorted(str(path) for path in Path(target.store).rglob("*"))
    counts = collections.Counter()
    for name in ("../../../../tmp/portolan-hostile", "/etc/passwd", "..", ".", "data.mdb", "a/../b", "~", "$(reboot)", "%s%n", "-rf"):
        with Peer(target) as peer:
            counts["path: " + peer.open(name)] += 1
    for name in ("", "a\nb", "\x1b[31mred", "nul\0", "\x7f", "\x85", "x" * 256):
        with Peer(target) as peer:
            counts["control: " + peer.open(name)] += 1
    for raw in (b"\xff\xfe", b"\xc0\xaf", b"\xed\xa0\x80"):  # not UTF-8
        with Peer(target) as peer:
            frame = peer.frame("open", run="R" * len(raw), started=1, mode="epoch-end")
            counts["control: " + peer.ask(frame.replace(b"R" * len(raw), raw))] += 1
    assert set(counts) == {"path: opened", "control: malformed"}, told(counts)
    assert sorted(str(path) for path in Path(target.store).rglob("*")) == before
    assert not os.path.exists("/tmp/portolan-hostile")
    return told(counts)


def other_peoples_sessions(target, force):
    """A session is known by 16 random bytes that nobody is told: guessing gets nothing. Nor does playing the collector."""
    counts = collections.Counter()
    with Peer(target) as peer:
        for _ in range(1000 * force):
            peer.session = os.urandom(16)
            peer.send(peer.frame("ping"))
            peer.send(peer.frame("close", q=1))
        counts += peer.answers(2000 * force, wait=1)
        assert set(counts) == {"no-session"}, told(counts)
    for kind, fields in (("ack", {"a": 1, "c": 1}), ("opened", {"a": 0, "c": 1, "ids": "int"}),
                         ("error", {"code": "run-removed", "message": "x"}), ("remove", {"run": "good"}), ("reboot", {})):
        with Peer(target) as peer:
            counts[peer.ask(peer.frame(kind, **fields))] += 1
    assert set(counts) == {"no-session", "malformed", "owner"}, told(counts)
    return told(counts)


def several_parts(target, force):
    with Peer(target) as peer:
        for parts in ((b"", peer.frame("ping")), (peer.frame("ping"), b""), (b"",) * 1000, (bytes(1 << 17),) * 8):
            peer.send(*parts)
        counts = peer.answers(4)
    assert set(counts) == {"malformed"}, told(counts)
    return told(counts)


def flood(target, seconds, connections, message):
    """Sends `message` over and over from many connections, whatever comes back; connects again when hung up on."""
    peers, sent, hung_up, end = {}, 0, 0, time.monotonic() + seconds
    while time.monotonic() < end:
        while len(peers) < connections:
            peer = target.speak()
            if not peer:
                break
            peer.setblocking(False)
            peers[peer] = memoryview(message)
        for peer in select.select([], list(peers), [], 0.1)[1]:
            try:
                done = peer.send(peers[peer][: 1 << 20])
                sent += done
                peers[peer] = peers[peer][done:] or memoryview(message)
            except BlockingIOError:
                pass
            except OSError:
                peer.close()
                del peers[peer]
                hung_up += 1
    for peer in peers:
        peer.close()
    return f"{connections} connections, {sent >> 20} MB sent, {hung_up} times hung up on"


def long_frame(body):
    return b"\x02" + struct.pack(">Q", len(body)) + body


def flood_of_rubbish(target, force):
    return flood(target, 2 * force, 50, long_frame(b"\xc0" * FRAME_MOST))


def flood_of_no_session(target, force):
    """Well-formed batches as large as may be, of no session, without credit."""
    body = msgpack.packb({"v": 2, "t": "batch", "s": os.urandom(16), **batch_fields(16_384)})
    assert len(body) <= FRAME_MOST
    return flood(target, 2 * force, 50, long_frame(body))


def hoarding(target, force):
    """Frames as large as may be, of which the last byte never comes."""
    peers, hung_up, end = {}, 0, time.monotonic() + 2 * force
    body = target.long + struct.pack(">Q", FRAME_MOST) + bytes(FRAME_MOST - 1)
    while time.monotonic() < end:
        while len(peers) < 200:
            peer = target.speak()
            if not peer:
                break
            peer.setblocking(False)
            peers[peer] = memoryview(body)
        readable, writable, _ = select.select(list(peers), [p for p in peers if peers[p]], [], 0.05)
        for peer in {*readable, *writable}:
            try:
                if peer in writable:
                    peers[peer] = peers[peer][peer.send(peers[peer][: 1 << 20]) :]
                elif not peer.recv(4096):
                    raise ConnectionResetError
            except BlockingIOError:
                pass
            except OSError:
                peer.close()
                del peers[peer]
                hung_up += 1
    for peer in peers:
        peer.close()
    return f"200 connections with a largest frame each in part, {hung_up} times hung up on"


def flood_within_sessions(target, force):
    """Sessions that repeat their first batch without waiting for credit: what anybody who may record can do."""
    session = os.urandom(16)
    request = {"run": "hostile/flood", "started": 1, "mode": "epoch-end", "resume": True}
    opening = msgpack.packb({"v": 2, "t": "open", "s": session, **request})
    body = msgpack.packb({"v": 2, "t": "batch", "s": session, **batch_fields(16_384)})
    return flood(target, 2 * force, 20, long_frame(opening) + long_frame(body) * 20)


ATTACKS = (over_the_limit, deep_and_lying, cut_and_flipped, other_versions, half_handshakes, crowd, never_reading, sessions_by_the_thousands,
           wrong_sequences,
           absurd_counts, names_as_paths, other_peoples_sessions, several_parts, flood_of_rubbish, flood_of_no_session, hoarding,
           flood_within_sessions)
