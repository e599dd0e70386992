"""The Python client printed in WIRE.md really works: run as it stands there, against a collector that misbehaves."""
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
    """Stores in memory; gives little credit; does without frame `forget_at` once, with the error `code`."""

    def __init__(self, endpoint, forget_at, code="no-session"):
        super().__init__(daemon=True)
        self.pings = 0
        self.socket = zmq.Context.instance().socket(zmq.ROUTER)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.bind(endpoint)
        self.code, self.forget_at, self.known, self.stored, self.frames, self.opens = code, forget_at, False, 0, [], []

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
                self.answer(peer, frame, "error", code=self.code, message="who?", q=frame.get("q", 0))
                continue
            self.pings += frame["t"] == "ping"
            if frame.get("q") == self.stored + 1:
                self.stored += 1
                self.frames.append(frame)
            self.answer(peer, frame, "ack", a=self.stored, c=1)
            if frame["t"] == "close":
                return


class Page(unittest.TestCase):
    def test_example(self):
        for code in ("no-session", "sequence", "over-credit"):
            with self.subTest(code):
                self.run_example(code)

    def test_a_permanent_error_ends_it(self):
        for code in ("too-many-ids", "session-differs", "run-removed", "a-code-of-tomorrow"):
            with self.subTest(code), self.assertRaisesRegex(RuntimeError, "who?"):
                self.run_example(code)

    def test_silence_is_no_option(self):
        """A client that has nothing to say says that it is there."""
        with tempfile.TemporaryDirectory() as directory:
            collector = Collector(f"ipc://{directory}/sock", forget_at=0)
            collector.start()
            names = {}
            exec(compile(CODE, "WIRE.md", "exec"), names)
            run = names["Run"]("quiet", f"ipc://{directory}/sock")
            for _ in range(25):
                run.pump(100)
            self.assertGreaterEqual(collector.pings, 1)
            run.close()
            collector.join(10)

    def test_all_replies_are_taken_before_a_frame_is_sent(self):
        """What was allowed long ago is not any more: the last reply says so."""
        with zmq.Context.instance().socket(zmq.ROUTER) as collector:
            collector.bind("inproc://less-and-less")
            names = {}
            exec(compile(CODE, "WIRE.md", "exec"), names)
            opening = threading.Thread(target=lambda: names.update(run=names["Run"]("narrow", "inproc://less-and-less")))
            opening.start()
            peer, data = collector.recv_multipart()
            session = msgpack.unpackb(data)["s"]
            collector.send_multipart([peer, msgpack.packb({"v": 2, "t": "opened", "s": session, "a": 0, "c": 1000, "ids": "none"})])
            opening.join(10)
            for credit in range(30, -1, -1):
                collector.send_multipart([peer, msgpack.packb({"v": 2, "t": "ack", "s": session, "a": 0, "c": credit})])
            names["run"].keep("end", e=0)
            self.assertEqual((names["run"].credit, names["run"].sent), (0, 0))
            names["run"].socket.close(0)

    def run_example(self, code):
        with tempfile.TemporaryDirectory() as directory:
            endpoint = f"ipc://{directory}/sock"
            collector = Collector(endpoint, forget_at=4, code=code)
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
        self.assertEqual([(opened.pop("after"), opened.pop("turn")) for opened in collector.opens], [(0, 1), (3, 2)])
        self.assertEqual(collector.opens[0], collector.opens[1])
        self.assertEqual(collector.opens[0]["run"], "words/seed1")
        batch = collector.frames[0]
        self.assertEqual(struct.unpack("<3Q", batch["ids"][1]), (0, 1, 2))
        self.assertEqual(batch["columns"]["correct"], ["bit", b"\x03"])
        self.assertEqual(struct.unpack("<3f", batch["columns"]["gold_prob"][1])[0], 0.5)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
