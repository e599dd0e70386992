"""The golden frames of the wire's version 2 (tests/wire): today's collector takes each that a client sends, gives the answer that WIRE.md names, and stores the
rows. What the answers decode to, field by field, tests/unit/client/test_wire.c says, for the client's side."""

import json
import os
import pathlib
import struct
import sys

import msgpack
import packed
import pytest

sys.path.insert(0, str(packed.HERE.parent / "integration"))
from collector_harness import Client, Collector, dump

FRAMES = packed.HERE.parent / "wire"
SESSION = bytes(range(0x10, 0x20))  # of every golden frame


def golden(name):
    return (FRAMES / f"{name}.bin").read_bytes()


@pytest.fixture
def client(tmp_path):
    """A session of a collector that has its store in tmp_path/store, at the store's own socket."""
    collector = Collector(str(tmp_path / "store"))
    talking = Client(collector.local, SESSION)
    yield talking
    talking.leave()
    status, said = collector.end()
    assert status == 0, said


def send(client, *names):
    for name in names:
        client.send_raw(golden(name))


@pytest.mark.parametrize("close", ["close", "close-counts"])
def test_a_session(client, close, tmp_path):
    send(client, "open")
    opened = client.expect("opened")
    assert (opened["a"], opened["ids"]) == (0, "none") and opened["c"] > 0 and len(opened["store"]) == 16
    send(client, "batch")
    client.wait_for(1)
    send(client, "batch-str")  # texts as ids, in a run that has integers: its number is used up
    assert client.expect_error("refused")["q"] == 2
    send(client, "end")
    client.wait_for(3)
    send(client, "ping")
    assert client.expect("ack")["a"] == 3
    send(client, "ping-counts")
    assert client.expect("ack")["a"] == 3
    send(client, close)
    client.wait_for(4)
    observed, _ = dump(str(tmp_path / "store"), "snli/seed1")
    assert observed == {("7", 0): (0.5, True), ("8", 0): (0.75, True), ("4294967295", 0): (0.125, False)}


def test_ids_that_are_texts(client, tmp_path):
    send(client, "open")
    client.expect("opened")
    client.batch(1, 0, ["a-1"], [0.5], [True])
    send(client, "batch-str")
    client.wait_for(2)
    observed, _ = dump(str(tmp_path / "store"), "snli/seed1")
    assert observed == {("a-1", 0): (0.5, True), ("a-1", 1): (0.25, False), ("é", 1): (1.0, True)}


def test_texts(client, tmp_path):
    send(client, "open")
    assert client.expect("opened")["texts"] is True
    for sequence in range(1, 5):
        client.batch(sequence, 0, [7, 8], [0.5, 0.25], [True, False])
    send(client, "examples")
    assert client.wait_for(5).get("refused", 0) == 0
    shown = json.loads(packed.texts(os.environ["PORTOLAN"], tmp_path / "store", "snli/seed1", [7, 8]))
    wanted = msgpack.unpackb(golden("examples"))
    assert [list(one) for one in shown] == [wanted["fields"]] * 2 and [text.encode() for one in shown for text in one.values()] == split(wanted["texts"])


def test_texts_of_ids_that_are_texts(client):
    send(client, "open")
    client.expect("opened")
    for sequence in range(1, 6):
        client.batch(sequence, 0, ["a-1"], [0.5], [True])
    send(client, "examples-str")
    assert client.wait_for(6).get("refused", 0) == 0


def split(texts):
    """The texts of a frame: each a length in four bytes, and its bytes."""
    parts = []
    while texts:
        size = struct.unpack_from("<I", texts)[0]
        parts.append(texts[4:4 + size])
        texts = texts[4 + size:]
    return parts


def test_losses(client):
    send(client, "open")
    client.expect("opened")
    for sequence in (1, 2):
        client.send("batch", q=sequence, e=0, n=1, ids=["u4", struct.pack("<I", sequence)], columns={"task_loss": ["f4", struct.pack("<f", 1.5)]})
    send(client, "batch-losses")
    assert client.wait_for(3).get("refused", 0) == 0


def test_the_largest_numbers(client, tmp_path):
    """A frame numbered 2^32, of the last epoch and the largest id: what comes before it is left out by a late, partial session."""
    client.send("open", run="far", started=5, mode="epoch-end", late=True, partial=True, after=2**32 - 1)
    assert client.expect("opened")["a"] == 2**32 - 1
    send(client, "batch-u8")
    client.wait_for(2**32)
    observed, _ = dump(str(tmp_path / "store"), "far")
    assert observed == {(str(2**64 - 1), 4294967293): (0.0, False)}


@pytest.mark.parametrize("name, turn", [("open-full", None), ("open-overwrite", None), ("open-whole", None), ("open-owner", 2)])
def test_other_ways_to_open(name, turn, client):
    send(client, name)
    opened = client.expect("opened")
    assert opened["a"] == 0 and opened.get("turn") == turn


def test_a_late_session_of_another_store(client):
    send(client, "open-late")
    client.expect_error("other-store")


@pytest.mark.parametrize("name", ["remove", "remove-owner"])
def test_removing(name, client):
    send(client, name)
    client.expect_error("no-run")
    other = bytes(16)  # the session that records, which is told that its run is removed
    client.send_raw(msgpack.packb({**msgpack.unpackb(golden("open")), "s": other}))
    client.expect("opened")
    send(client, name)
    told = {}
    while len(told) < 2:
        frame = client.receive()
        told[frame["s"]] = frame.get("code", frame["t"])
    assert told == {SESSION: "ack", other: "run-removed"}


@pytest.mark.parametrize("name", sorted(path.stem for path in FRAMES.glob("*.bin")))
def test_every_frame_is_named_by_a_test(name):
    """A new golden frame of a client gets a case here."""
    kind = msgpack.unpackb(golden(name))["t"]
    assert kind in ("opened", "ack", "error") or f'"{name}"' in pathlib.Path(__file__).read_text()


def test_another_version_is_refused(client):
    frame = msgpack.unpackb(golden("open"))
    client.send_raw(msgpack.packb({**frame, "v": 3}))
    assert "use the same release on both" in client.expect_error("version")["message"]


assert os.environ.get("PORTOLAND"), "run by meson, which says where the programs are"
