"""portolan watch beside a collector at work: lines, JSON and a screen in a pseudo-terminal; runs that come and go."""

import contextlib
import fcntl
import math
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time
import unittest

from collector_harness import DEADLINE, CollectorTest, portoland

PORTOLAN = os.environ["PORTOLAN"]
ROWS = 1000


def read_until(fd, condition, what):
    """What came until condition(all of it) holds; at the end of the stream None stands for the condition."""
    got, end = b"", time.monotonic() + DEADLINE
    while not condition(got):
        ready = select.select([fd], [], [], max(0, end - time.monotonic()))[0]
        if not ready:
            raise AssertionError("waited in vain for %s; got %r" % (what, got[-2000:]))
        try:
            part = os.read(fd, 65536)
        except OSError:  # a pseudo-terminal that was closed
            part = b""
        if not part:
            raise AssertionError("ended before %s came; got %r" % (what, got[-2000:]))
        got += part
    return got


class Watcher:
    """A portolan watch; in a pseudo-terminal if `size` says how large."""

    def __init__(self, store, run, *options, size=None, locale="C.UTF-8"):
        self.fd, theirs = os.pipe() if size is None else pty.openpty()
        self.pipe = size is None
        if size:
            self.resize(*size)
        self.process = subprocess.Popen(
            [PORTOLAN, "watch", run, "--store", store, "--interval", "0.05", *options], stdout=theirs,
            stderr=subprocess.PIPE, text=True, env=dict(os.environ, TERM="xterm", LC_ALL=locale), start_new_session=True)
        os.close(theirs)

    def resize(self, lines, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read_until(self, pattern):
        return read_until(self.fd, lambda got: re.search(pattern.encode(), got), pattern).decode()

    def end(self):
        """Its exit status and messages; it must end by itself."""
        said = self.process.communicate(timeout=DEADLINE)[1]
        rest = b""
        while True:
            try:
                part = os.read(self.fd, 65536)
            except OSError:
                part = b""
            if not part:
                break
            rest += part
        os.close(self.fd)
        return self.process.returncode, said, rest.decode()


def screen_of(text):
    """The last screen that was drawn, its lines, without what moves the cursor."""
    last = text.rsplit("\033[?7l\r", 1)[1].split("\033[J", 1)[0]
    return [line for line in re.sub(r"\033\[[0-9?]*[A-Za-z]", "", last).replace("\r", "").split("\n") if line]


class Watch(CollectorTest):
    def setUp(self):
        super().setUp()
        self.watchers = []
        self.sequence = 0

    def tearDown(self):
        for watcher in self.watchers:
            if watcher.process.poll() is None:
                watcher.process.kill()
                watcher.process.communicate()
        super().tearDown()

    def watch(self, run="run", *options, **more):
        self.watchers.append(Watcher(self.store, run, *options, **more))
        return self.watchers[-1]

    def log(self, client, epoch, rows, correct=True, end=False):
        """rows: a range of ids."""
        self.sequence += 1
        client.batch(self.sequence, epoch, list(rows), [0.75 if correct else 0.25] * len(rows), [correct] * len(rows))
        if end:
            self.sequence += 1
            client.end_epoch(self.sequence, epoch)
        client.wait_for(self.sequence)

    @contextlib.contextmanager
    def pinging(self, client):
        """Another thread uses the client meanwhile."""
        done = threading.Event()

        def ping():
            while not done.wait(1):
                client.send("ping")

        thread = threading.Thread(target=ping)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def close(self, client):
        self.sequence += 1
        client.close(self.sequence)
        client.wait_for(self.sequence)

    def test_lines(self):
        """From before there is a store until the run is closed, one line for each piece of news."""
        watcher = self.watch()
        watcher.read_until(r"run: waiting: no store at .*: record a run there first")
        client = self.client(self.collect().tcp)
        watcher.read_until(r"run: waiting: no run 'run' in store")
        client.open("run", examples=ROWS)
        watcher.read_until(r"run: recording, nothing stored yet")
        self.log(client, 0, range(500))
        watcher.read_until(r"epoch 0, 500 of 1,000 \(50%\), accuracy 1.0000, confidence 0.7500, \d")
        self.log(client, 0, range(500, ROWS), end=True)
        watcher.read_until(r"epoch 0, 1,000 of 1,000 \(100%\)")
        self.log(client, 1, range(250), correct=False)
        line = watcher.read_until(r"epoch 1, 250 of 1,000 \(25%\)[^\n]*\n")
        self.assertIn("accuracy 0.0000, confidence 0.2500", line)
        self.assertIn("; forgetting events 250, not learned yet 0", line)
        self.assertNotIn("warning", line)
        self.log(client, 1, range(10))
        self.close(client)
        watcher.read_until(r"closed[^\n]*warning: 10 observations replaced[^\n]*\n")
        self.assertEqual(watcher.end(), (0, "", ""))

    def test_lines_only_for_news(self):
        client = self.client(self.collect().tcp)
        client.open("run")
        self.log(client, 0, range(10))
        lines, looks = self.watch(), self.watch("run", "--json")
        with self.pinging(client):  # a slow machine takes longer for ten looks than a session may be silent
            read_until(looks.fd, lambda got: got.count(b"\n") >= 10, "ten looks")
        self.close(client)
        code, said, text = lines.end()
        self.assertEqual((code, said), (0, ""))
        self.assertLessEqual(len(text.splitlines()), 3, text)
        self.assertEqual(looks.end()[0], 0)

    def test_json(self):
        client = self.client(self.collect().tcp)
        client.open("run", examples=ROWS)
        self.log(client, 0, range(ROWS), end=True)
        self.log(client, 1, range(100), correct=False)
        done = subprocess.run([PORTOLAN, "watch", "run", "--store", self.store, "--json", "--once"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        look = json.loads(done.stdout)
        self.assertEqual(done.stdout.count("\n"), 1)
        losses = [epoch.pop("mean_loss") for epoch in look["epochs"]]
        self.assertAlmostEqual(losses[0], -math.log(0.75), 12)
        self.assertAlmostEqual(losses[1], -math.log(0.25), 12)
        self.assertEqual(look["epochs"], [
            {"epoch": 0, "observed": ROWS, "accuracy": 1, "confidence": 0.75, "forgotten": 0, "learned": ROWS},
            {"epoch": 1, "observed": 100, "accuracy": 0, "confidence": 0.25, "forgotten": 100, "learned": 0}])
        self.assertEqual(look["forgetting"], {"events": 100, "examples": 100, "not_learned": 0})
        self.assertEqual((look["state"], look["expected"], look["collector"], look["rate"]), ("recording", ROWS, True, None))
        self.assertEqual(look["sessions"], {"total": 1, "live": 1, "never_closed": 0})
        self.assertEqual(look["warnings"], [])

    def test_once_needs_a_run(self):
        self.collect()
        done = subprocess.run([PORTOLAN, "watch", "run", "--store", self.store, "--once"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("no run 'run' in store", done.stderr)

    def test_json_of_what_is_not_utf8(self):
        watcher = self.watch(os.fsdecode(b"r\xff"), "--json")
        look = json.loads(watcher.read_until("\n").splitlines()[0])
        self.assertEqual((look["run"], look["state"]), ("r\u00ff", "waiting"))
        self.assertIn("no store at", look["why"])

    def test_a_store_that_cannot_be_read(self):
        """It might have been a moment's trouble, so it looks again before it gives up."""
        os.mkdir(self.store)
        with open(os.path.join(self.store, "data.mdb"), "wb") as file:
            file.write(b"nonsense" * 1024)
        code, said, text = self.watch().end()
        self.assertEqual(code, 1)
        self.assertEqual(len(said.splitlines()), 1, said)
        self.assertIn("run: waiting: store", text)
        self.assertEqual(len(text.splitlines()), 1, text)

    def test_screen(self):
        client = self.client(self.collect().tcp)
        client.open("run", examples=ROWS)
        self.log(client, 0, range(ROWS), end=True)
        self.log(client, 1, range(600), end=True)
        watcher = self.watch(size=(30, 80))
        got = watcher.read_until(r"\033\[J\033\[\?7h")
        screen = screen_of(got)
        self.assertRegex(screen[0], r"^\d\d:\d\d:\d\d  recording  run$")
        self.assertRegex(screen[1], r"^epoch 1  █+░+  60%  600 of 1,000")
        self.assertIn("     0         1,000    1.0000      0.7500             0         1,000", screen)
        self.assertIn("0.25", screen[-1])
        # Another size: an empty screen, and what fits into it.
        watcher.resize(12, 40)
        os.kill(watcher.process.pid, signal.SIGWINCH)
        got = watcher.read_until(r"\033\[H\033\[2J.*\033\[J\033\[\?7h.*\033\[J\033\[\?7h".replace(".*", r"[\s\S]*"))
        screen = screen_of(got)
        self.assertLess(len(screen), 12)
        self.assertLessEqual(max(map(len, screen)), 40)
        # Ctrl-C is a way to end it; what was drawn stays, and lines wrap again.
        os.kill(watcher.process.pid, signal.SIGINT)
        code, said, rest = watcher.end()
        self.assertEqual((code, said), (0, ""))
        self.assertTrue((got + rest).endswith("\033[?7h"))

    def test_screen_without_unicode(self):
        client = self.client(self.collect().tcp)
        client.open("run", examples=ROWS)
        self.log(client, 0, range(ROWS), end=True)
        self.log(client, 1, range(500), end=True)
        watcher = self.watch(size=(40, 100), locale="C")
        got = watcher.read_until(r"\033\[J\033\[\?7h")
        self.assertRegex(screen_of(got)[1], r"^epoch 1  #+-+  50%  500 of 1,000")
        self.assertTrue(got.isascii())
        self.close(client)
        code, said, rest = watcher.end()
        self.assertEqual((code, said), (0, ""))
        self.assertRegex(screen_of(rest)[0], "  closed  run$")

    def test_other_signals_end_it_as_any_program(self):
        self.collect()
        watcher = self.watch()
        watcher.read_until("waiting")
        watcher.process.terminate()
        self.assertEqual(watcher.end()[0], -signal.SIGTERM)

    def test_overwritten(self):
        """The new run of that name is shown, from its beginning."""
        collector = self.collect()
        client = self.client(collector.tcp)
        client.open("run", examples=ROWS)
        self.log(client, 0, range(ROWS), end=True)
        self.log(client, 1, range(ROWS), correct=False, end=True)
        watcher = self.watch()
        watcher.read_until("epoch 1, 1,000 of 1,000 .*forgetting events 1,000")
        self.sequence = 0
        other = self.client(collector.local)
        other.open("run", examples=ROWS, overwrite=True)
        self.log(other, 0, range(100), correct=False)
        watcher.read_until(r"epoch 0, 100 of 1,000 \(10%\), accuracy 0.0000[^\n]*forgetting events 0")
        self.close(other)
        self.assertEqual(watcher.end()[0], 0)

    def test_removed_and_recorded_again(self):
        collector = self.collect()
        client = self.client(collector.tcp)
        client.open("run", examples=ROWS)
        self.log(client, 0, range(ROWS))
        watcher = self.watch()
        watcher.read_until("epoch 0, 1,000 of 1,000")
        client.leave()
        self.clients.remove(client)
        collector.end()
        watcher.read_until("warning: no collector serves the store")
        self.assertEqual(portoland("rm", "run", "--store", self.store).returncode, 0)
        watcher.read_until("waiting: no run 'run'")
        self.sequence = 0
        other = self.client(self.collect().tcp)
        other.open("run", examples=ROWS)
        self.log(other, 0, range(300))
        watcher.read_until("epoch 0, 300 of 1,000")
        self.close(other)
        self.assertEqual(watcher.end()[0], 0)

    def test_a_closed_run_has_its_counts_at_once(self):
        """Ten rows came twice; the collector has the store, and has not folded them yet."""
        batch = b"log 0 10 int 0\n" + struct.pack("<10Q", *range(10)) + struct.pack("<10f", *[0.5] * 10) + bytes(10)
        subprocess.run([os.environ["MAKE_STORE"], self.store], input=b"run run 0 0\n" + 2 * batch + b"close\n", check=True)
        for words, counted in (((), "closed[^\n]*warning: 10 observations replaced[^\n]*\n"), (("--json",), '"replaced": *10')):
            with open(os.path.join(self.store, "portoland.lock"), "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                watcher = self.watch("run", "--interval", "60", *words)
                watcher.read_until(counted)
                self.assertEqual(watcher.end()[::2], (0, ""))

    def test_the_collector_goes_and_comes(self):
        collector = self.collect()
        client = self.client(collector.tcp)
        client.open("run", examples=ROWS)
        self.log(client, 0, range(500))
        watcher = self.watch()
        watcher.read_until("epoch 0, 500 of 1,000")
        collector.end(signal.SIGKILL)
        watcher.read_until(r"epoch 0, 500 of 1,000[^\n]*warning: no collector serves the store")
        client.connect(self.collect().tcp)
        client.open("run", examples=ROWS)
        self.log(client, 0, range(500, 700))
        watcher.read_until(r"epoch 0, 700 of 1,000 \(70%\)[^\n]*not learned yet 0\n")
        self.close(client)
        self.assertEqual(watcher.end()[0], 0)


if __name__ == "__main__":
    unittest.main()
