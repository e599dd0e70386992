"""portoland import and rm, on a store at rest and on one that is served."""

import fcntl
import glob
import gzip
import json
import math
import os
import signal
import subprocess
import time
import unittest

import msgpack
import zmq

from collector_harness import DEADLINE, PORTOLAND, CollectorTest, dump, is_served, portoland, wait_until

SOURCE_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED_DATA = os.environ.get("PORTOLAN_SHARED_DATA", os.path.join(SOURCE_ROOT, "..", "shared", "data"))
SAMPLE = os.path.join(SHARED_DATA, "cartography_sample", "training_dynamics")


def softmax(logits):
    top = max(logits)
    powers = [math.exp(value - top) for value in logits]
    return [power / sum(powers) for power in powers]


class DynamicsTest(CollectorTest):
    def setUp(self):
        super().setUp()
        self.dynamics = os.path.join(self.directory, "training_dynamics")
        os.mkdir(self.dynamics)

    def write(self, epoch, lines):
        path = os.path.join(self.dynamics, "dynamics_epoch_%d.jsonl" % epoch)
        with open(path, "w") as file:
            for line in lines:
                file.write((line if isinstance(line, str) else json.dumps(line)) + "\n")
        return path

    def row(self, epoch, guid, logits, gold):
        return {"guid": guid, "logits_epoch_%d" % epoch: logits, "gold": gold}

    def run_import(self, *arguments):
        return portoland("import", self.dynamics, "--run", "a/b", "--store", self.store, *arguments)

    def assert_rows(self, expected):
        rows, _ = dump(self.store, "a/b")
        self.assertEqual(set(rows), set(expected))
        for key, (gold_prob, correct) in expected.items():
            self.assertAlmostEqual(rows[key][0], gold_prob, delta=1e-6)
            self.assertEqual(rows[key][1], correct)

    def write_two_epochs(self):
        self.write(0, [self.row(0, 5, [1.0, 0.0, -1.0], 0), self.row(0, 4, [0.0, 0.0, 0.0], 1)])
        self.write(1, [self.row(1, 4, [0, 3, 0], 1), self.row(1, 5, [0.5, 1.5, 0.0], 0)])
        return {("5", 0): (softmax([1, 0, -1])[0], 1), ("4", 0): (1 / 3, 0), ("4", 1): (softmax([0, 3, 0])[1], 1),
                ("5", 1): (softmax([0.5, 1.5, 0])[0], 0)}


class Import(DynamicsTest):
    def check_two_epochs(self, done, expected):
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "imported 2 examples × 2 epochs = 4 observations into run 'a/b'\n")
        self.assert_rows(expected)
        self.assertTrue(dump(self.store, "a/b")[1].startswith("closed"))

    def test_on_a_store_at_rest(self):
        expected = self.write_two_epochs()
        self.check_two_epochs(self.run_import(), expected)
        self.assertTrue(os.path.exists(os.path.join(self.store, "data.mdb")))
        self.assertFalse(is_served(self.store))  # the collector that the import started has left

    def test_what_keeps_a_collector_from_starting_is_said_once(self):
        self.write_two_epochs()
        with open(self.store, "w"):
            pass  # a file where the store should be
        for number in (signal.SIG_DFL, signal.SIG_IGN):  # who ignores SIGCHLD is not told the collector's exit code
            done = portoland("import", self.dynamics, "--run", "a/b", "--store", self.store,
                             preexec_fn=lambda action=number: signal.signal(signal.SIGCHLD, action))
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, r"^portoland: [^\n]*%s[^\n]*\n$" % self.store)
            self.assertEqual(done.stderr.count("portoland: "), 1)

    def test_through_a_running_collector(self):
        expected = self.write_two_epochs()
        self.collect()
        self.check_two_epochs(self.run_import(), expected)

    def test_one_file_is_one_epoch(self):
        path = self.write(12, [self.row(12, "x", [2.0], 1), self.row(12, "y", [2.0], 0)])
        done = portoland("import", path, "--run", "a/b", "--store", self.store)
        self.assertEqual(done.stdout, "imported 2 examples × 1 epochs = 2 observations into run 'a/b'\n")
        p = 1 / (1 + math.exp(-2))
        self.assert_rows({("x", 12): (p, 1), ("y", 12): (1 - p, 0)})

    def test_epochs_in_numeric_order(self):
        for epoch in (0, 2, 10):
            self.write(epoch, [self.row(epoch, 1, [epoch, 0], 0)])
        self.assertEqual(self.run_import().returncode, 0)
        self.assert_rows({("1", epoch): (softmax([epoch, 0])[0], 1) for epoch in (0, 2, 10)})

    def test_an_existing_run_is_kept_unless_overwritten(self):
        expected = self.write_two_epochs()
        self.assertEqual(self.run_import().returncode, 0)
        again = self.run_import()
        self.assertEqual((again.returncode, again.stdout), (1, ""))
        self.assertIn("'a/b' exists: portolan import under another name, with --run NAME, or in its place, with --overwrite", again.stderr)
        self.assert_rows(expected)
        self.write(1, [self.row(1, 9, [0, 3, 0], 1)])
        done = self.run_import("--overwrite")
        self.assertEqual(done.stdout, "imported 3 observations of 3 examples in 2 epochs into run 'a/b'\n")

    def test_a_guid_twice_in_an_epoch(self):
        self.write(0, [self.row(0, 1, [0, 1], 0), self.row(0, 2, [0, 1], 0), self.row(0, 1, [3, 1], 0)])
        for served in (False, True):
            if served:
                self.collect()
            done = self.run_import("--overwrite")
            self.assertEqual(done.returncode, 0)
            self.assertIn("= 2 observations", done.stdout)
            self.assertIn("replaced: 1 ", done.stdout)
            self.assert_rows({("1", 0): (softmax([3, 1])[0], 1), ("2", 0): (softmax([0, 1])[0], 0)})

    def test_a_label_that_changes_is_told(self):
        self.write(0, [self.row(0, 1, [0, 1], 0), self.row(0, 2, [0, 1], 0)])
        self.write(1, [self.row(1, 1, [0, 1], 1), self.row(1, 2, [0, 1], 0)])
        done = self.run_import()
        self.assertEqual(done.returncode, 0)
        self.assertIn("\"gold\" changed: 1 times", done.stderr)

    def test_a_byte_order_mark_costs_no_line(self):
        path = self.write(0, [self.row(0, 1, [0, 1], 0), self.row(0, 2, [0, 1], 1)])
        with open(path, "rb") as file:
            text = file.read()
        with open(path, "wb") as file:
            file.write(b"\xef\xbb\xbf" + text)
        done = self.run_import()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("= 2 observations", done.stdout)

    def test_a_compressed_file_is_named_as_such(self):
        path = self.write(0, [self.row(0, 1, [0, 1], 0)])
        with open(path, "rb") as file:
            text = gzip.compress(file.read())
        with open(path, "wb") as file:
            file.write(text)
        done = self.run_import()
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("%s is compressed: gunzip it first" % path, done.stderr)

    def test_bad_lines_are_left_out_and_counted(self):
        bad = ["nonsense", "{}", '{"guid":3,"logits_epoch_0":[0,NaN],"gold":0}',
               self.row(0, 4, [0, 1], 2), self.row(0, 5, [], 0), self.row(1, 6, [0, 1], 0), self.row(0, True, [0, 1], 0)]
        path = self.write(0, [self.row(0, 1, [0, 1], 1), *bad, "", self.row(0, 2, [0, 1], 1)])
        done = self.run_import()
        self.assertEqual(done.returncode, 3)
        self.assertIn("= 2 observations", done.stdout)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), len(bad) + 1)
        for number, line in enumerate(lines[:-1], start=2):
            self.assertTrue(line.startswith("%s:%d: " % (path, number)), line)
        self.assertIn("\"gold\" is 2", lines[3])
        self.assertIn("7 lines were left out", lines[-1])

    def test_ids_of_64_bits_and_masked_choices(self):
        rows = [self.row(0, 2**64 - 1, [1.0, -math.inf, 0.0], 0), self.row(0, 2**63, [0.0, 1.0, -math.inf], 1),
                self.row(0, 7, [-math.inf, 1.0, 0.0], 0)]  # the last one cannot be: its gold label is masked
        path = self.write(0, rows)
        done = self.run_import()
        self.assertEqual(done.returncode, 3)
        self.assertTrue(done.stderr.startswith(path + ":3: "), done.stderr)
        p = softmax([1, 0])[0]
        self.assert_rows({(str(2**64 - 1), 0): (p, 1), (str(2**63), 0): (p, 1)})

    def test_only_ten_bad_lines_are_listed(self):
        self.write(0, [self.row(0, 1, [0, 1], 1)] + ["x"] * 25)
        done = self.run_import()
        self.assertEqual(done.returncode, 3)
        self.assertEqual(len(done.stderr.splitlines()), 12)
        self.assertIn("25 lines were left out", done.stderr)
        quiet = self.run_import("--overwrite", "-q")  # what was refused explains the status
        self.assertEqual((quiet.returncode, quiet.stdout, quiet.stderr), (3, "", done.stderr))

    def test_kinds_of_guid_do_not_mix(self):
        self.write(0, [self.row(0, 1, [0, 1], 1)])
        path = self.write(1, [self.row(1, 1, [0, 1], 1), self.row(1, "1", [0, 1], 1)])
        for served in (False, True):
            if served:
                self.collect()
            done = self.run_import()
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("%s:2: " % path, done.stderr)
            with self.assertRaisesRegex(AssertionError, "a/b"):
                dump(self.store, "a/b")  # nothing is left of it

    def test_nothing_to_import(self):
        done = self.run_import()
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(self.dynamics, done.stderr)
        self.assertFalse(os.path.exists(self.store))
        self.write(0, ["x"])
        self.assertEqual(self.run_import().returncode, 1)
        done = portoland("import", "/no/where", "--run", "x", "--store", self.store)
        self.assertEqual(done.returncode, 1)
        done = portoland("import", os.path.join(SOURCE_ROOT, "LICENSE"), "--run", "x", "--store", self.store)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(portoland("import", self.dynamics).returncode, 2)

    def test_more_rows_than_a_batch_and_more_classes_than_usual(self):
        rows = [self.row(0, "id-%05d" % n, [n % 7, 1] if n % 5000 else [1, 2, 3], 0) for n in range(10001)]
        self.write(0, rows)
        done = self.run_import()
        self.assertEqual(done.stdout, "imported 10001 examples × 1 epochs = 10001 observations into run 'a/b'\n")
        stored, _ = dump(self.store, "a/b")
        for row in rows:
            self.assertAlmostEqual(stored[row["guid"], 0][0], softmax(row["logits_epoch_0"])[0], delta=1e-6)

    def test_the_published_sample(self):
        files = glob.glob(os.path.join(SAMPLE, "dynamics_epoch_*.jsonl"))
        if not files:
            self.skipTest("NOT TESTED: no sample at %s (set PORTOLAN_SHARED_DATA)" % SAMPLE)
        expected = {}
        for path in files:
            epoch = int(path.rsplit("_", 1)[1].split(".")[0])
            with open(path) as lines:
                for row in map(json.loads, lines):
                    logits = row["logits_epoch_%d" % epoch]
                    expected[str(row["guid"]), epoch] = (softmax(logits)[row["gold"]],
                                                         int(max(logits) == logits[row["gold"]]))
        done = portoland("import", SAMPLE, "--run", "a/b", "--store", self.store)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(expected), 50)
        self.assert_rows(expected)


class AllOrNothing(DynamicsTest):
    def write_long_epochs(self):
        """Ten more, which take a while to import."""
        logits = [[number / 7, 1.0] for number in range(7)]
        for epoch in range(2, 12):
            self.write(epoch, (self.row(epoch, number, logits[number % 7], 1) for number in range(20000)))

    def remove_long_epochs(self):
        for epoch in range(2, 12):
            os.remove(os.path.join(self.dynamics, "dynamics_epoch_%d.jsonl" % epoch))

    def begin_import(self, **options):
        """The process of an import that overwrites, and has begun."""
        log = os.path.join(self.store, "portoland.log")
        before = os.path.getsize(log)
        process = subprocess.Popen([PORTOLAND, "import", self.dynamics, "--run", "a/b", "--overwrite", "--store", self.store], **options)
        wait_until(lambda: b"begun" in open(log, "rb").read()[before:], "the import has begun")
        return process

    def interrupt_import(self, sent, status, **options):
        """Sends an import under way a signal, of which it ends; it is begun anew where it was done before the signal came."""
        for _ in range(5):
            self.write_long_epochs()
            process = self.begin_import(**options)
            process.send_signal(sent)
            process.wait(timeout=10)  # not when its session would end
            if process.returncode == status:
                return
            self.assertEqual(process.returncode, 0)
            self.remove_long_epochs()
            self.assertEqual(self.run_import("--overwrite").returncode, 0)
        self.fail("five imports were done before a signal came")

    def test_a_failure_leaves_what_was_to_be_overwritten(self):
        expected = self.write_two_epochs()
        self.assertEqual(self.run_import().returncode, 0)
        self.write(1, [self.row(1, 4, [0, 1], 1), self.row(1, "4", [0, 1], 1)])
        for served in (False, True):
            if served:
                self.collect()
            done = self.run_import("--overwrite")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("nothing was imported", done.stderr)
            self.assertEqual(is_served(self.store), served)
            self.assert_rows(expected)

    def test_sigkill_leaves_nothing_and_destroys_nothing(self):
        expected = self.write_two_epochs()
        self.assertEqual(self.run_import().returncode, 0)
        self.interrupt_import(signal.SIGKILL, -signal.SIGKILL)
        killed = time.monotonic()
        wait_until(lambda: not is_served(self.store), "the collector that it had started is gone")
        self.assertLess(time.monotonic() - killed, 5, "it waits for no session of its starter's")
        self.assert_rows(expected)
        self.write_two_epochs()
        self.remove_long_epochs()
        self.assertEqual(self.run_import("--overwrite").returncode, 0)
        self.assert_rows(expected)

    def test_a_collector_whose_starter_is_gone_serves_nothing(self):
        """As if it had been killed before the collector could ask to be told."""
        done = portoland("--store", self.store, "--listen", "local", "--starter", str(os.getppid()))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (1, "", ""))
        self.assertFalse(os.path.exists(self.store))

    def test_ctrl_c_leaves_nothing_and_destroys_nothing(self):
        def interrupted():  # the signal is there before the first line is read
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
            os.kill(os.getpid(), signal.SIGINT)

        expected = self.write_two_epochs()
        arguments = "import", self.dynamics, "--run", "a/b", "--store", self.store
        done = portoland(*arguments, preexec_fn=interrupted)
        self.assertEqual((done.returncode, done.stdout), (130, ""))
        self.assertEqual(done.stderr, "portoland: interrupted; nothing was imported\n")
        with self.assertRaisesRegex(AssertionError, "a/b"):
            dump(self.store, "a/b")
        self.assertEqual(self.run_import().returncode, 0)  # the name is free
        done = portoland(*arguments, "--overwrite", preexec_fn=interrupted)
        self.assertEqual(done.returncode, 130)
        self.assert_rows(expected)

    def test_ctrl_c_ends_an_import_that_was_started_to_ignore_sigterm(self):
        """As by trap '' TERM in a job's script: the collector that it starts ignores no signal."""
        expected = self.write_two_epochs()
        self.assertEqual(self.run_import().returncode, 0)
        self.interrupt_import(signal.SIGINT, 130, preexec_fn=lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN))
        self.assert_rows(expected)

    def test_a_run_under_way_is_overwritten_when_the_import_is_complete(self):
        expected = self.write_two_epochs()
        client = self.client(self.collect().local)
        client.open("a/b")
        client.batch(1, 0, [77], [0.5], [True])
        client.wait_for(1)
        self.assertEqual(self.run_import("--overwrite").returncode, 0)
        client.expect_error("run-removed")
        self.assert_rows(expected)


class LeavingCollector(DynamicsTest):
    """A collector that is about to leave holds the store's lock and its socket, and answers no `open`."""

    def setUp(self):
        super().setUp()
        self.expected = self.write_two_epochs()
        os.mkdir(self.store)
        self.lock = open(os.path.join(self.store, "portoland.lock"), "wb")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.ROUTER)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.endpoint = "ipc://" + os.path.join(self.store, "collector.sock")
        self.socket.bind(self.endpoint)

    def tearDown(self):
        self.context.destroy()
        self.lock.close()
        super().tearDown()

    def start(self):
        return subprocess.Popen([PORTOLAND, "import", self.dynamics, "--run", "a/b", "--store", self.store],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def receive(self):
        self.assertTrue(self.socket.poll(DEADLINE * 1000))
        peer, message = self.socket.recv_multipart()
        return peer, msgpack.unpackb(message)

    def test_its_store_is_taken_over(self):
        process = self.start()
        self.assertEqual(self.receive()[1]["t"], "open")
        self.socket.unbind(self.endpoint)  # as a collector does before it gives up the lock
        self.lock.close()
        said, trouble = process.communicate(timeout=DEADLINE)
        self.assertEqual((process.returncode, trouble), (0, ""))
        self.assertIn("4 observations", said)
        self.assert_rows(self.expected)

    def test_open_is_repeated_and_ctrl_c_is_heard_while_waiting(self):
        process = self.start()
        first, again = self.receive(), self.receive()
        self.assertEqual(first, again)
        self.assertTrue(first[1]["whole"])
        process.send_signal(signal.SIGINT)
        self.assertIn("interrupted", process.communicate(timeout=DEADLINE)[1])
        self.assertEqual(process.returncode, 130)

    def test_frames_have_at_most_256_kib(self):
        os.remove(self.write(1, []))
        self.write(0, [self.row(0, "%05d" % number + 250 * "x", [number % 7, 1], 0) for number in range(3000)])
        process = self.start()
        peer, first = self.receive()
        self.socket.send_multipart([peer, msgpack.packb({"v": first["v"], "t": "opened", "s": first["s"], "a": 0, "c": 1 << 30,
                                                         "ids": "none"})])
        rows, frame = 0, first
        while frame["t"] != "end":
            self.assertTrue(self.socket.poll(DEADLINE * 1000))
            message = self.socket.recv_multipart()[1]
            self.assertLessEqual(len(message), 256 << 10)
            frame = msgpack.unpackb(message)
            rows += frame.get("n", 0)
        self.assertEqual(rows, 3000)
        process.kill()
        process.communicate()

    def test_ctrl_c_is_heard_while_a_run_is_removed(self):
        with open(os.path.join(self.store, "data.mdb"), "wb"):
            pass
        process = subprocess.Popen([PORTOLAND, "rm", "a/b", "--store", self.store], stderr=subprocess.PIPE, text=True)
        self.assertEqual(self.receive()[1]["t"], "remove")
        process.send_signal(signal.SIGINT)
        self.assertIn("portolan runs", process.communicate(timeout=DEADLINE)[1])
        self.assertEqual(process.returncode, 130)


class Remove(DynamicsTest):
    def test_rm(self):
        self.write_two_epochs()
        for served in (False, True):
            self.assertEqual(self.run_import().returncode, 0)
            if served:
                self.collect()
            done = portoland("rm", "a/b", "--store", self.store)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            with self.assertRaisesRegex(AssertionError, "a/b"):
                dump(self.store, "a/b")
            done = portoland("rm", "a/b", "--store", self.store)
            self.assertEqual(done.returncode, 1)
            self.assertIn("a/b", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)

    def test_rm_makes_no_store(self):
        done = portoland("rm", "a/b", "--store", self.store)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no store", done.stderr)
        self.assertFalse(os.path.exists(self.store))

    def test_rm_ends_who_records(self):
        client = self.client(self.collect().tcp)
        client.open("a/b")
        client.batch(1, 0, [1], [0.5], [True])
        client.wait_for(1)
        self.assertEqual(portoland("rm", "a/b", "--store", self.store).returncode, 0)
        client.expect_error("run-removed")


if __name__ == "__main__":
    unittest.main()
