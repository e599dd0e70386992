"""The Python client printed in WIRE.md really works: run as it stands there, against a collector that misbehaves."""
import os
import pathlib
import re
import struct
import sys
import tempfile
import threading
import unittest

import msgpack
import zmq

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "client" / "WIRE.md"
CODE, EXAMPLE = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.S)


class Collector(threading.Thread):
    """Stores in memory; forgets the session in front of frame `forget_at`, once; gives little credit."""

    def __init__(self, endpoint, forget_at):
        super().__init__(daemon=True)
        self.socket = zmq.Context.instance().socket(zmq.ROUTER)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.bind(endpoint)
        self.forget_at, self.known, self.stored, self.frames, self.opens = forget_at, False, 0, [], []

    def answer(self, peer, frame, kind, **fields):
        self.socket.send_multipart([peer, msgpack.packb({"v": 2, "t": kind, "s": frame["s"], **fields})])

    def run(self):
        while True:
            peer, data = self.socket.recv_multipart()
            frame = msgpack.unpackb(data)
            if frame["t"] == "open":
                self.known = True
                self.opens.append(frame)
                self.answer(peer, frame, "opened", a=self.stored, c=1, ids="none")
                continue
            if frame.get("q") == self.forget_at:
                self.known, self.forget_at = False, 0
            if not self.known:
                self.answer(peer, frame, "error", code="no-session", message="who?", q=frame.get("q", 0))
                continue
            if frame.get("q") == self.stored + 1:
                self.stored += 1
                self.frames.append(frame)
            self.answer(peer, frame, "ack", a=self.stored, c=1)
            if frame["t"] == "close":
                return


class Page(unittest.TestCase):
    def test_example(self):
        with tempfile.TemporaryDirectory() as directory:
            endpoint = f"ipc://{directory}/sock"
            collector = Collector(endpoint, forget_at=4)
            collector.start()
            names = {}
            exec(compile(CODE, "WIRE.md", "exec"), names)
            run = names["Run"]
            names["Run"] = lambda name, **options: run(name, endpoint, **options)
            exec(compile(EXAMPLE, "WIRE.md", "exec"), names)
            collector.join(10)
            self.assertFalse(collector.is_alive())
        self.assertEqual([frame["q"] for frame in collector.frames], [1, 2, 3, 4, 5, 6, 7])
        self.assertEqual([frame["t"] for frame in collector.frames], ["batch", "end"] * 3 + ["close"])
        self.assertEqual(len(collector.opens), 2)
        self.assertEqual(collector.opens[0], collector.opens[1])
        self.assertEqual(collector.opens[0]["run"], "words/seed1")
        batch = collector.frames[0]
        self.assertEqual(struct.unpack("<3Q", batch["ids"][1]), (0, 1, 2))
        self.assertEqual(batch["columns"]["correct"], ["bit", b"\x03"])
        self.assertEqual(struct.unpack("<3f", batch["columns"]["gold_prob"][1])[0], 0.5)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
