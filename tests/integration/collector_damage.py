"""Damage on disk in one run: the others are served, and the damaged one is named wherever somebody meets it."""

import os
import re
import struct
import subprocess
import unittest

from collector_harness import DEADLINE, CollectorTest, dump, portoland

PORTOLAN = os.environ["PORTOLAN"]

# The run called "bad" is the first, so its number is 1. Of each kind of record: the key, and the kind (STORE.md).
STATE = (struct.pack(">IB", 1, 0), b"R")
IDENTITY = (struct.pack(">IB", 1, 1), b"I")
SESSION = (struct.pack(">II", 1, 0), b"s")
EPOCH = (struct.pack(">II", 1, 0), b"E")
IDS = (struct.pack(">II", 1, 0), b"D")
NUMBER = (b"bad", b"N")


def portolan(store, *arguments):
    return subprocess.run([PORTOLAN, *arguments, "--store", store], capture_output=True, text=True, timeout=DEADLINE)


class Damage(CollectorTest):
    def damage(self, record):
        """Flips a bit in the body of every copy of the record that lies in the file."""
        key, kind = record
        path = os.path.join(self.store, "data.mdb")
        with open(path, "rb") as file:
            data = bytearray(file.read())
        begin, found = re.escape(key + kind) + b"\\x01..", 0  # version 1, and a hash of the key (STORE.md)
        for match in re.finditer(begin, bytes(data), flags=re.DOTALL):
            data[match.start() + len(key) + 16] ^= 4
            found += 1
        self.assertGreater(found, 0)
        with open(path, "wb") as file:
            file.write(data)

    def make(self, record, live=False):
        """A store with two runs, one of them damaged afterwards."""
        collector = self.collect()
        for run in ("bad", "good"):
            client = self.client(collector.local)
            client.open(run)
            client.batch(1, 0, [1, 2], [0.5, 0.25], [1, 0])
            client.end_epoch(2, 0)
            if not live:
                client.close(3)
            client.wait_for(2 if live else 3)
        collector.end()
        self.damage(record)

    def log(self, client, sequence):
        """`expect` fails at any error: nothing of it is this client's concern."""
        client.batch(sequence, sequence, [1, 2], [0.5, 0.25], [1, 0])
        client.wait_for(sequence)

    def serves_the_others(self, record):
        self.make(record)
        collector = self.collect()
        good, bad = self.client(collector.local), self.client(collector.local)
        good.open("good", resume=True)
        self.log(good, 1)
        for sequence in range(2, 5):
            bad.send("open", run="bad", started=bad.started, mode="epoch-end", resume=True)
            self.assertIn("damaged", bad.expect_error("run-damaged")["message"])
            self.log(good, sequence)
        return collector

    def test_state(self):
        collector = self.serves_the_others(STATE)
        listed = portolan(self.store, "runs")
        self.assertEqual(listed.returncode, 1)
        self.assertIn("bad,,,,damaged,,,\n", listed.stdout)
        self.assertIn("\ngood,2,5,10,recording,", listed.stdout)
        self.assertIn("run 'bad' is damaged", listed.stderr)
        listed = portolan(self.store, "runs", "--json")
        self.assertEqual(listed.returncode, 1)
        self.assertIn('"name": "good"', listed.stdout)
        self.assertIn('"state": "damaged"', listed.stdout)
        checked = portolan(self.store, "check")
        self.assertEqual(checked.returncode, 1)
        self.assertIn("damaged: run 'bad': ", checked.stdout)
        self.assertIn("run 'bad' is damaged", collector.said)

    def test_a_damaged_run_can_be_removed(self):
        collector = self.serves_the_others(STATE)
        self.assertEqual(portolan(self.store, "rm", "bad").returncode, 0)
        self.assertEqual(portolan(self.store, "runs").returncode, 0)
        fresh = self.client(collector.local)
        fresh.open("bad")
        self.log(fresh, 1)
        self.assertEqual(dump(self.store, "bad")[0], {("1", 1): (0.5, 1), ("2", 1): (0.25, 0)})

    def test_a_damaged_run_can_be_overwritten(self):
        self.make(IDENTITY)
        fresh = self.client(self.collect().local)
        fresh.open("bad", overwrite=True)
        self.log(fresh, 1)
        self.assertEqual(portolan(self.store, "runs").returncode, 0)

    def test_session(self):
        self.serves_the_others(SESSION)

    def test_identity(self):
        self.serves_the_others(IDENTITY)

    def test_number(self):
        self.serves_the_others(NUMBER)
        listed = portolan(self.store, "runs")
        self.assertEqual(listed.returncode, 1)
        self.assertIn("bad,,,,damaged,,,\n", listed.stdout)

    def found_while_recording(self, record):
        self.make(record)
        collector = self.collect()
        good, bad = self.client(collector.local), self.client(collector.local)
        good.open("good", resume=True)
        bad.open("bad", resume=True)
        bad.batch(1, 0, [1, 3], [0.5, 0.5], [1, 1])
        self.assertIn("damaged", bad.expect_error("run-damaged")["message"])
        bad.send("ping")
        bad.expect_error("run-damaged")
        return good, bad

    def test_ids(self):
        """Found before anything is written: nobody else has to repeat anything."""
        good, _ = self.found_while_recording(IDS)
        self.log(good, 1)
        again = self.client(self.collectors[-1].local)
        again.send("open", run="bad", started=again.started, mode="epoch-end", resume=True)
        again.expect_error("run-damaged")
        self.log(good, 2)

    def test_epoch(self):
        """Found after something was written (the id 3): what others had under way goes with it, and is asked for again."""
        good, _ = self.found_while_recording(EPOCH)
        self.log(good, 1)

    def test_a_file_cut_short(self):
        """A message, not a signal; of LMDB's own making where it is that short. Half of the file may hold everything."""
        self.make(STATE)
        path = os.path.join(self.store, "data.mdb")
        size = os.path.getsize(path)
        whole = portolan(self.store, "check")
        for rest in (size // 4096 // 2 * 4096, 3 * 4096, 100):
            os.truncate(path, rest)
            same = portolan(self.store, "check")
            done = portoland("--store", self.store, "--listen", "tcp://127.0.0.1:*", "--exit-when-idle", "0")
            if rest > 3 * 4096 and (same.returncode, same.stdout) == (whole.returncode, whole.stdout):
                self.assertEqual(done.returncode, 0, done)
                continue
            self.assertEqual(done.returncode, 1, done)
            self.assertIn("backup", done.stderr.splitlines()[-1])

    def test_sessions_that_were_live(self):
        self.make(SESSION, live=True)
        collector = self.collect()
        good = self.client(collector.local, self.clients[1].session)
        good.started = self.clients[1].started
        self.assertEqual(good.open("good")["a"], 2)
        bad = self.client(collector.local, self.clients[0].session)
        bad.send("open", run="bad", started=self.clients[0].started, mode="epoch-end")
        bad.expect_error("run-damaged")
        self.log(good, 3)

    def test_pages_of_one_run_while_it_records(self):
        """LMDB finds them damaged itself, and reads nothing more in that transaction: the other run notices nothing."""
        collector = self.collect()
        ranks, good = [self.client(collector.local) for _ in range(80)], self.client(collector.local)
        for rank, client in enumerate(ranks):
            client.open("bad", group="launch", rank=rank)
        good.open("good")
        self.log(good, 1)
        self.zero_sessions()
        ranks[0].batch(1, 0, [1, 2], [0.5, 0.25], [1, 0])
        ranks[0].expect_error("run-damaged")
        for sequence in range(2, 9):
            self.log(good, sequence)

    def zero_sessions(self):
        """The pages that hold sessions of run 1, and nothing else."""
        with open(os.path.join(self.store, "data.mdb"), "r+b") as file:
            data, zeroed = file.read(), 0
            for at in range(2 * 4096, len(data), 4096):
                kind, lower = struct.unpack("<HH", data[at + 10:at + 14])
                nodes = [at + node for node in struct.unpack(f"<{(lower - 16) // 2}H", data[at + 16:at + lower])] if kind == 2 else []
                if nodes and all(data[node + 8:node + 17] == struct.pack(">I", 1) + data[node + 12:node + 16] + b"s" for node in nodes):
                    file.seek(at)
                    file.write(bytes(4096))
                    zeroed += 1
        self.assertGreater(zeroed, 0)

    def test_a_run_with_lost_pages_can_be_removed(self):
        """What lies on them stays in the file: LMDB would join their neighbours with them."""
        collector = self.collect()
        ranks, good = [self.client(collector.local) for _ in range(200)], self.client(collector.local)
        for rank, client in enumerate(ranks):
            client.open("bad", group="launch", rank=rank)
        good.open("good")
        self.log(good, 1)
        self.zero_sessions()
        removed = portolan(self.store, "rm", "bad")
        self.assertEqual(removed.returncode, 0, removed.stderr)
        while (line := collector.process.stderr.readline()) and " stay " not in line:
            pass
        self.assertIn("stay in the file", line)
        self.log(good, 2)
        self.assertEqual(portolan(self.store, "runs").returncode, 0)
        self.assertEqual(collector.end()[0], 0)

    def test_a_page_that_lmdb_asserts_while_it_records(self):
        """The collector ends by itself, with a message and no core; nothing that it acknowledged goes with it."""
        collector = self.collect()
        clients = {run: self.client(collector.local) for run in ("one", "two")}
        for run, client in clients.items():
            client.open(run)
            for sequence in range(1, 50):
                client.batch(sequence, 0, range(sequence * 100, sequence * 100 + 100), [0.5] * 100, [1] * 100)
        for client in clients.values():
            client.wait_for(49)
        with open(os.path.join(self.store, "data.mdb"), "r+b") as file:
            sound = file.read()
            for at in range(2 * 4096, len(sound), 4096):
                if sound[at + 10:at + 12] == b"\2\0":  # a leaf becomes a branch without a key
                    file.seek(at + 10)
                    file.write(struct.pack("<HHH", 1, 16, 4096))
        for client in clients.values():
            client.batch(50, 1, [1], [0.25], [0])
        self.assertEqual(collector.process.wait(DEADLINE), 1)
        self.assertRegex(collector.process.stderr.read().splitlines()[-1],
                         f"LMDB cannot read on .*; restore it from a backup, or copy what can be read: portolan salvage {self.store} -o NEW")
        for client in clients.values():
            while (frame := client.receive(0.2)) is not None:
                self.assertNotEqual((frame["t"], frame.get("a")), ("ack", 50))
        with open(os.path.join(self.store, "data.mdb"), "wb") as file:
            file.write(sound)
        again = self.collect()
        for run, client in clients.items():
            client.connect(again.local)
            self.assertEqual(client.open(run)["a"], 49)
            self.log(client, 50)
            self.assertEqual(len(dump(self.store, run)[0]), 4902)


if __name__ == "__main__":
    unittest.main()
