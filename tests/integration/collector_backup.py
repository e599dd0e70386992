"""portoland backup: of a store that is being written, to disks that are full, and over what must not be replaced."""

import fcntl
import os
import shutil
import signal
import subprocess
import threading
import unittest

from collector_harness import CollectorTest, dump, portoland

PORTOLAN = os.environ["PORTOLAN"]


def read(directory):
    with open(os.path.join(directory, "data.mdb"), "rb") as file:
        return file.read()


class Backup(CollectorTest):
    def setUp(self):
        super().setUp()
        self.copy = os.path.join(self.directory, "copy")

    def record(self, client, epochs, rows=2000, run="run"):
        sequence = 0
        for epoch in range(epochs):
            sequence += 1
            client.batch(sequence, epoch, list(range(rows)), [epoch / 16] * rows, [True] * rows)
        client.wait_for(sequence)
        return sequence

    def left_over(self):
        return sorted(set(os.listdir(self.directory)) - {"store", "copy"})

    def test_a_copy_is_a_store(self):
        collector = self.collect()
        client = self.client(collector.tcp)
        client.open("run")
        sequence = self.record(client, 4)
        done = portoland("backup", self.copy, "--store", self.store)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^copied the store .* to .*: \d+\.\d MB\n$")
        self.assertEqual(dump(self.copy, "run")[0], dump(self.store, "run")[0])
        self.assertEqual(len(dump(self.copy, "run")[0]), 8000)
        # Recording was not disturbed, and goes on.
        client.batch(sequence + 1, 4, [1], [0.5], [True])
        client.close(sequence + 2)
        client.wait_for(sequence + 2)
        collector.end()
        # A collector goes on with the copy, where the session was.
        self.store = self.copy
        again = self.collect()
        other = self.client(again.tcp, client.session)
        other.started = client.started
        self.assertEqual(other.open("run")["a"], sequence)
        other.batch(sequence + 1, 4, [2], [0.25], [True])
        other.close(sequence + 2)
        other.wait_for(sequence + 2)
        again.end()
        done = subprocess.run([PORTOLAN, "check", "--store", self.copy], capture_output=True, text=True)
        self.assertIn("damaged 0", done.stdout, done)
        self.assertEqual(dump(self.copy, "run")[0]["2", 4], (0.25, 1))
        self.assertEqual(self.left_over(), [])

    def test_while_it_is_written(self):
        """Every copy is as the store was at one moment: all of some first batches, in order."""
        collector = self.collect()
        client = self.client(collector.tcp)
        client.open("run")
        stop = threading.Event()

        def write():
            sequence = 0
            while not stop.is_set():
                sequence += 1
                client.batch(sequence, sequence % 50, list(range(500)), [0.5] * 500, [True] * 500)
                client.wait_for(sequence)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            before = 0
            for number in range(5):
                copy = self.copy + str(number)
                self.assertEqual(portoland("backup", copy, "--store", self.store).returncode, 0)
                rows = dump(copy, "run")[0] if number else {}
                self.assertEqual(len(rows) % 500, 0)
                self.assertGreaterEqual(len(rows), before)
                before = len(rows)
                done = subprocess.run([PORTOLAN, "check", "--store", copy], capture_output=True, text=True)
                self.assertEqual(done.returncode, 3, done)
                self.assertNotIn("damaged:", done.stdout)
        finally:
            stop.set()
            writer.join()
        self.assertGreater(before, 0)

    def test_without_a_collector_and_into_an_empty_directory(self):
        collector = self.collect()
        client = self.client(collector.tcp)
        client.open("run")
        self.record(client, 1, rows=10)
        collector.end()
        os.mkdir(self.copy)
        self.assertEqual(portoland("backup", self.copy + "/", "--store", self.store).returncode, 0)
        self.assertEqual(len(dump(self.copy, "run")[0]), 10)

    def test_what_is_there_is_not_replaced(self):
        collector = self.collect()
        os.mkdir(self.copy)
        with open(os.path.join(self.copy, "precious"), "w"):
            pass
        for target, part in [(self.copy, "not empty"), (self.store, "not empty"),
                             (os.path.join(self.copy, "precious"), "precious"),
                             (os.path.join(self.directory, "no", "such"), "No such file"), ("x" * 300, "too long")]:
            done = portoland("backup", target, "--store", self.store, cwd=self.directory)
            self.assertEqual((done.returncode, done.stdout), (1, ""), target)
            self.assertEqual(done.stderr.count("\n"), 1)
            self.assertIn(part, done.stderr)
        self.assertEqual(os.listdir(self.copy), ["precious"])
        self.assertEqual(self.left_over(), [])
        collector.end()

    def test_a_link_and_the_store_itself_are_no_target(self):
        """Said before anything is copied."""
        collector = self.collect()
        os.mkdir(os.path.join(self.directory, "elsewhere"))
        os.symlink("elsewhere", self.copy)
        os.symlink("nowhere", os.path.join(self.directory, "dangling"))
        os.symlink("store", os.path.join(self.directory, "alias"))
        for target, part in [(self.copy, "symbolic link"), (self.copy + "/", "symbolic link"),
                             (os.path.join(self.directory, "dangling"), "symbolic link"),
                             (os.path.join(self.store, "copy"), "inside the store"),
                             (os.path.join(self.store, "readers"), "inside the store"),
                             (os.path.join(self.directory, "alias", "copy"), "inside the store")]:
            done = portoland("backup", target, "--store", self.store)
            self.assertEqual((done.returncode, done.stdout), (1, ""), target)
            self.assertIn(part, done.stderr)
        self.assertEqual(self.left_over(), ["alias", "dangling", "elsewhere"])
        self.assertNotIn("copy", os.listdir(self.store))
        # What only begins with the store's name is elsewhere.
        self.assertEqual(portoland("backup", self.store + "-copy", "--store", self.store).returncode, 0)
        collector.end()

    def test_what_is_not_a_backups_is_left_alone(self):
        self.collect().end()
        temporary = self.copy + ".portolan-backup"
        os.mkdir(temporary)
        with open(os.path.join(temporary, "thesis.tex"), "w"):
            pass
        done = portoland("backup", self.copy, "--store", self.store)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("move it away", done.stderr)
        self.assertEqual(os.listdir(temporary), ["thesis.tex"])
        os.remove(os.path.join(temporary, "thesis.tex"))
        precious = os.path.join(self.directory, "precious")
        with open(precious, "w") as file:
            file.write("precious")
        os.symlink(precious, os.path.join(temporary, "data.mdb"))
        self.assertEqual(portoland("backup", self.copy, "--store", self.store).returncode, 1)
        with open(precious) as file:
            self.assertEqual(file.read(), "precious")
        self.assertFalse(os.path.exists(self.copy))

    def test_two_at_a_time(self):
        """The second one to the same place is refused, and does not disturb the first."""
        self.collect().end()
        temporary = self.copy + ".portolan-backup"
        os.mkdir(temporary)
        with open(os.path.join(temporary, "data.mdb"), "w") as at_work:
            fcntl.flock(at_work, fcntl.LOCK_EX)
            at_work.write("so far")
            at_work.flush()
            done = portoland("backup", self.copy, "--store", self.store)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("another backup", done.stderr)
            self.assertEqual(read(temporary), b"so far")
            self.assertFalse(os.path.exists(self.copy))

    def test_a_backup_that_is_killed(self):
        """Leaves a directory that the next one to the same place goes on with."""
        collector = self.collect()
        client = self.client(collector.tcp)
        client.open("run")
        self.record(client, 2)
        later = 0.0
        while self.left_over() != ["copy.portolan-backup"]:  # too early, or too late
            shutil.rmtree(self.copy, ignore_errors=True)
            later = (later + 0.0002) % 0.1
            subprocess.run([os.environ["PORTOLAND"], "backup", self.copy, "--store", self.store], capture_output=True,
                           preexec_fn=lambda: signal.setitimer(signal.ITIMER_REAL, later + 0.0002))
        self.assertEqual(portoland("backup", self.copy, "--store", self.store).returncode, 0)
        self.assertEqual(self.left_over(), [])
        self.assertEqual(len(dump(self.copy, "run")[0]), 4000)

    def test_no_store(self):
        done = portoland("backup", self.copy, "--store", self.store)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no store", done.stderr)
        self.assertFalse(os.path.exists(self.copy))
        self.assertEqual(self.left_over(), [])

    def test_a_full_disk(self):
        collector = self.collect()
        client = self.client(collector.tcp)
        client.open("run")
        self.record(client, 8)
        limited = "ulimit -f 64; exec \"$0\" \"$@\""  # blocks of 1 KB
        done = subprocess.run(["bash", "-c", limited, os.environ["PORTOLAND"], "backup", self.copy, "--store", self.store],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("make room", done.stderr)
        self.assertFalse(os.path.exists(self.copy))
        self.assertEqual(self.left_over(), [])
        self.assertEqual(len(dump(self.store, "run")[0]), 16000)


if __name__ == "__main__":
    unittest.main()
