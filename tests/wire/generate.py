#!/usr/bin/python3
"""The golden frames of the wire, made with python3-msgpack: independent of the codec they test.

generate.py --write   writes tests/wire/*.bin
generate.py --check   exits 1 if a file is not what this script makes, or a frame has a key that client/WIRE.md does not name
"""
import argparse
import pathlib
import struct
import sys

import msgpack

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "client" / "WIRE.md"
SESSION = bytes(range(0x10, 0x20))
STORE = bytes(range(0xa0, 0xb0))
OWNER = bytes(range(0xc0, 0xd0))


def f4(*values):
    return ["f4", struct.pack(f"<{len(values)}f", *values)]


def i4(*values):
    return ["i4", struct.pack(f"<{len(values)}i", *values)]


def bit(*values):
    data = bytearray((len(values) + 7) // 8)
    for row, value in enumerate(values):
        data[row // 8] |= value << row % 8
    return ["bit", bytes(data)]


def texts(*values):
    return b"".join(struct.pack("<I", len(value.encode())) + value.encode() for value in values)


def frame(kind, **fields):
    return {"v": 2, "t": kind, "s": SESSION, **fields}


COUNTS = {"logged": 3072, "refused": 2, "dropped": 1024, "spooled": 0, "waits": 0}

FRAMES = {
    "open": frame("open", run="snli/seed1", started=1700000000000000000, mode="epoch-end"),
    "open-full": frame("open", run="snli/seed1", started=1700000000000000000, mode="train-forward",
                       client="example/1.0", group="job 7", rank=3, examples=550152, resume=True,
                       config='{"lr": 0.1}', labels=["entailment", "neutral", "contradiction"]),
    "open-overwrite": frame("open", run="Übung", started=1, mode="epoch-end", overwrite=True),
    "open-whole": frame("open", run="snli/seed1", started=1700000000000000000, mode="epoch-end", overwrite=True,
                        whole=True),
    "open-late": frame("open", run="snli/seed1", started=1700000000000000000, mode="epoch-end", late=True, after=12,
                      store=STORE),
    "open-owner": frame("open", run="snli/seed1", started=1700000000000000000, mode="epoch-end", overwrite=True, owner=OWNER,
                       turn=2, host="gpu7", process=4711),
    "batch": frame("batch", q=1, e=0, n=3, ids=["u4", struct.pack("<3I", 7, 8, 4294967295)], columns={
        "gold_prob": f4(0.5, 0.75, 0.125), "correct": bit(1, 1, 0), "margin": f4(0.5, 1.0, -2.0),
        "other_sq": f4(0.125, 0.0625, 0.25), "entropy": f4(1.0, 0.5, 0.75), "max_prob": f4(0.5, 0.75, 0.5),
        "predicted": i4(0, 2, 1), "gold": i4(0, 2, 0)}),
    "batch-str": frame("batch", q=2, e=1, n=2, ids=["str", bytes([3, 2]) + "a-1".encode() + "é".encode()], columns={
        "gold_prob": f4(0.25, 1.0), "correct": bit(0, 1)}),
    "batch-u8": frame("batch", q=4294967296, e=4294967293, n=1, ids=["u8", struct.pack("<Q", 2**64 - 1)], columns={
        "gold_prob": f4(0.0), "correct": bit(0), "my_loss": f4(2.5)}),
    "batch-losses": frame("batch", q=3, e=1, n=2, ids=["u4", struct.pack("<2I", 7, 8)], columns={"task_loss": f4(2.5, -0.5)}),
    "examples": frame("examples", q=5, n=2, ids=["u4", struct.pack("<2I", 7, 8)], fields=["text", "hypothesis"],
                      texts=texts("Some", "", "two\nlines", "é")),
    "examples-str": frame("examples", q=6, n=1, ids=["str", bytes([3]) + "a-1".encode()], fields=["text"], texts=texts("")),
    "end": frame("end", q=3, e=1),
    "close": frame("close", q=4),
    "close-counts": frame("close", q=4, counts=COUNTS),
    "ping": frame("ping"),
    "ping-counts": frame("ping", counts=COUNTS),
    "remove": frame("remove", run="snli/seed1"),
    "remove-owner": frame("remove", run="snli/seed1", owner=OWNER),
    "opened": frame("opened", a=0, c=8388608, ids="none", store=STORE),
    "opened-turn": frame("opened", a=3, c=8388608, ids="int", store=STORE, turn=2),
    "opened-texts": frame("opened", a=3, c=8388608, ids="int", store=STORE, turn=2, texts=True),
    "ack": frame("ack", a=3, c=8388608, replaced=2, refused=0),
    "error": frame("error", code="refused", message="batch 2: ids are strings, and the run has integers", q=2),
    "error-owner": frame("error", code="owner", message="prove it", path="/home/a/store/owner.secret"),
    "error-rights": frame("error", code="rights", message="the key of this client is for runs whose names begin with 'alice/'"),
    "error-held": frame("error", code="unavailable", message="run 'a' is being recorded", held=True),
    "error-version": {"v": 2, "t": "error", "s": bytes(16), "code": "version",
                      "message": "frame is of wire version 1; this side speaks version 2: use the same release on both"},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    files = {name: msgpack.packb(fields) for name, fields in FRAMES.items()}
    if arguments.write:
        for name, data in files.items():
            (HERE / f"{name}.bin").write_bytes(data)
    wrong = [f"{name}.bin" for name, data in files.items() if (HERE / f"{name}.bin").read_bytes() != data]
    page = PAGE.read_text()
    named = {word for fields in FRAMES.values() for word in [*fields, fields["t"], *fields.get("columns", {}), fields.get("code", "v")]}
    wrong += [f"WIRE.md does not name {word}" for word in named - {"my_loss"} if f"`{word}`" not in page]
    for what in wrong:
        print(f"not as generated: {what}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
