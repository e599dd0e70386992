#!/usr/bin/python3
"""The golden frames of the wire, made with python3-msgpack: independent of the codec they test.

generate.py --write   writes tests/wire/*.bin, and the annotated dumps into client/WIRE.md
generate.py --check   exits 1 if a file or a dump is not what this script makes
"""
import argparse
import pathlib
import re
import struct
import sys

import msgpack

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "client" / "WIRE.md"
SESSION = bytes(range(0x10, 0x20))
STORE = bytes(range(0xa0, 0xb0))


def f4(*values):
    return ["f4", struct.pack(f"<{len(values)}f", *values)]


def i4(*values):
    return ["i4", struct.pack(f"<{len(values)}i", *values)]


def bit(*values):
    data = bytearray((len(values) + 7) // 8)
    for row, value in enumerate(values):
        data[row // 8] |= value << row % 8
    return ["bit", bytes(data)]


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
    "batch": frame("batch", q=1, e=0, n=3, ids=["u4", struct.pack("<3I", 7, 8, 4294967295)], columns={
        "gold_prob": f4(0.5, 0.75, 0.125), "correct": bit(1, 1, 0), "margin": f4(0.5, 1.0, -2.0),
        "other_sq": f4(0.125, 0.0625, 0.25), "entropy": f4(1.0, 0.5, 0.75), "max_prob": f4(0.5, 0.75, 0.5),
        "predicted": i4(0, 2, 1), "gold": i4(0, 2, 0)}),
    "batch-str": frame("batch", q=2, e=1, n=2, ids=["str", bytes([3, 2]) + "a-1".encode() + "é".encode()], columns={
        "gold_prob": f4(0.25, 1.0), "correct": bit(0, 1)}),
    "batch-u8": frame("batch", q=4294967296, e=4294967293, n=1, ids=["u8", struct.pack("<Q", 2**64 - 1)], columns={
        "gold_prob": f4(0.0), "correct": bit(0), "my_loss": f4(2.5)}),
    "end": frame("end", q=3, e=1),
    "close": frame("close", q=4),
    "close-counts": frame("close", q=4, counts=COUNTS),
    "ping": frame("ping"),
    "ping-counts": frame("ping", counts=COUNTS),
    "remove": frame("remove", run="snli/seed1"),
    "opened": frame("opened", a=0, c=8388608, ids="none", store=STORE),
    "ack": frame("ack", a=3, c=8388608, replaced=2, refused=0),
    "error": frame("error", code="refused", message="batch 2: ids are strings, and the run has integers", q=2),
    "error-version": {"v": 2, "t": "error", "s": bytes(16), "code": "version",
                      "message": "frame is of wire version 1; this side speaks version 2: use the same release on both"},
}


def tokens(data):
    """(bytes, meaning) of each element; keys are joined with the values they announce."""
    unpacked_at = 0

    def take(count):
        nonlocal unpacked_at
        piece = data[unpacked_at:unpacked_at + count]
        unpacked_at += count
        return piece

    def element(depth):
        start = unpacked_at
        first = take(1)[0]
        pad = "  " * depth
        if 0x80 <= first <= 0x8f or first in (0xde, 0xdf):
            count = first & 15 if first < 0x90 else int.from_bytes(take(2 if first == 0xde else 4), "big")
            yield data[start:unpacked_at], f"{pad}map of {count}"
            for _ in range(count):
                key = list(element(depth + 1))
                value = list(element(depth + 1))
                yield key[0][0] + value[0][0], f"{key[0][1]}: {value[0][1].strip()}"
                yield from value[1:]
        elif 0x90 <= first <= 0x9f or first == 0xdc:
            count = first & 15 if first < 0xa0 else int.from_bytes(take(2), "big")
            yield data[start:unpacked_at], f"{pad}array of {count}"
            for _ in range(count):
                yield from element(depth + 1)
        elif 0xa0 <= first <= 0xbf or first == 0xd9:
            text = take(first & 31 if first < 0xc0 else take(1)[0])
            yield data[start:unpacked_at], f'{pad}"{text.decode()}"'
        elif first == 0xc4:
            size = take(1)[0]
            take(size)
            yield data[start:unpacked_at], f"{pad}bin of {size}"
        else:
            value = msgpack.unpackb(data[start:start + {0xcc: 2, 0xcd: 3, 0xce: 5, 0xcf: 9}.get(first, 1)])
            take({0xcc: 1, 0xcd: 2, 0xce: 4, 0xcf: 8}.get(first, 0))
            yield data[start:unpacked_at], f"{pad}{str(value).lower() if isinstance(value, bool) else value}"

    yield from element(0)


def values(kind, data):
    """What a column's bytes say, for the reader."""
    if kind == "str":
        return "two lengths, then the strings"
    if kind == "bit":
        return f"rows 0 … from the lowest bit of {data[0]:#010b}"
    code = {"f4": "f", "i4": "i", "u4": "I", "u8": "Q"}[kind]
    return " ".join(f"{value:g}" if code == "f" else str(value)
                    for value in struct.unpack(f"<{len(data) // struct.calcsize('<' + code)}{code}", data))


def dump(data):
    lines, kind = [], ""
    for piece, meaning in tokens(data):
        word = meaning.strip().strip('"')
        if word.startswith("bin of") and kind in ("f4", "i4", "u4", "u8", "bit", "str"):
            meaning += ": " + values(kind, piece[2:])
        kind = word
        for at in range(0, len(piece), 16):
            hexes = piece[at:at + 16].hex(" ")
            lines.append(f"{hexes:<48}; {meaning}" if at == 0 else hexes)
    return "\n".join(line.rstrip() for line in lines)


def page_with_dumps(text, files):
    """The page, with every block ```hex NAME … ``` filled with the dump of NAME.bin."""
    def fill(match):
        return f"```hex {match[1]}\n{dump(files[match[1]])}\n```"

    return re.sub(r"```hex ([a-z0-9-]+)\n.*?```", fill, text, flags=re.S)


def dumps_in(text):
    """Name → bytes, read back from the page as a reader would: what stands before the semicolons."""
    return {name: bytes.fromhex("".join(line.split(";")[0] for line in body.splitlines()))
            for name, body in re.findall(r"```hex ([a-z0-9-]+)\n(.*?)```", text, flags=re.S)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    files = {name: msgpack.packb(fields) for name, fields in FRAMES.items()}
    if arguments.write:
        for name, data in files.items():
            (HERE / f"{name}.bin").write_bytes(data)
        PAGE.write_text(page_with_dumps(PAGE.read_text(), files))
    wrong = [f"{name}.bin" for name, data in files.items() if (HERE / f"{name}.bin").read_bytes() != data]
    shown = dumps_in(PAGE.read_text())
    wrong += [f"WIRE.md: {name}" for name, data in shown.items() if data != files.get(name)]
    kinds = {FRAMES[name]["t"] for name in shown if name in FRAMES}
    wrong += [f"WIRE.md: no dump of {kind}" for kind in {fields["t"] for fields in FRAMES.values()} - kinds]
    for what in wrong:
        print(f"not as generated: {what}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
