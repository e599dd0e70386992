"""The collector as seen from the wire: acknowledgement, replay, errors, and what a raw client gets wrong."""

import os
import signal
import subprocess
import unittest

import msgpack

from collector_harness import CollectorTest, dump, floats


class Wire(CollectorTest):
    def test_what_is_acknowledged_can_be_read(self):
        collector = self.collect()
        client = self.client(collector.tcp)
        opened = client.open("snli/a", client="test", labels=["no", "yes"], config='{"seed":1}')
        self.assertEqual((opened["a"], opened["ids"]), (0, "none"))
        self.assertGreater(opened["c"], 1 << 20)
        client.batch(1, 0, [7, 3, 9], [0.25, 0.5, 1.0], [False, True, True])
        client.wait_for(1)
        rows, summary = dump(self.store, "snli/a")
        self.assertEqual(rows, {("7", 0): (0.25, 0), ("3", 0): (0.5, 1), ("9", 0): (1.0, 1)})
        self.assertTrue(summary.startswith("recording"))
        client.end_epoch(2, 0)
        client.batch(3, 1, [7], [0.75], [True])
        client.close(4)
        client.wait_for(4)
        rows, summary = dump(self.store, "snli/a")
        self.assertEqual(rows["7", 1], (0.75, 1))
        self.assertEqual(len(rows), 4)
        self.assertTrue(summary.startswith("closed"), summary)

    def test_string_ids_over_the_local_socket(self):
        collector = self.collect()
        client = self.client(collector.local)
        client.open("words")
        client.batch(1, 0, ["mañana", "a,b"], [0.5, 0.125], [True, False])
        client.wait_for(1)
        self.assertEqual(dump(self.store, "words")[0], {("mañana", 0): (0.5, 1), ("a,b", 0): (0.125, 0)})

    def test_acknowledged_data_survives_a_kill(self):
        collector = self.collect()
        client = self.client(collector.tcp)
        client.open("run")
        for sequence in range(1, 51):
            client.batch(sequence, 0, list(range(sequence * 100, sequence * 100 + 100)), [0.5] * 100, [True] * 100)
        acknowledged = client.wait_for(20)["a"]
        collector.end(signal.SIGKILL)
        rows, _ = dump(self.store, "run")
        for sequence in range(1, acknowledged + 1):
            for example in range(sequence * 100, sequence * 100 + 100):
                self.assertIn((str(example), 0), rows)
        # The session goes on with a new collector, from what is on disk.
        collector = self.collect()
        client.connect(collector.tcp)
        opened = client.open("run")
        self.assertGreaterEqual(opened["a"], acknowledged)
        for sequence in range(1, 51):
            client.batch(sequence, 0, list(range(sequence * 100, sequence * 100 + 100)), [0.5] * 100, [True] * 100)
        client.close(51)
        self.assertEqual(client.wait_for(51)["replaced"], 0)
        rows, summary = dump(self.store, "run")
        self.assertEqual(len(rows), 5000)
        self.assertIn("replaced=0", summary)

    def test_a_new_connection_must_open(self):
        """What was under way on the old one is lost, and the client knows nothing of it: a ping tells."""
        collector = self.collect()
        client = self.client(collector.tcp)
        client.open("run")
        client.batch(1, 0, [1], [0.5], [True])
        client.wait_for(1)
        client.connect(collector.tcp)  # 2 was sent, and is lost
        client.send("ping")
        client.expect_error("no-session")
        client.batch(3, 0, [3], [0.5], [True])
        self.assertEqual(client.expect_error("no-session")["q"], 3)
        self.assertEqual(client.open("run")["a"], 1)
        client.batch(2, 0, [2], [0.5], [True])
        client.wait_for(2)

    def test_opening_again_after_a_restart(self):
        collector = self.collect()
        client = self.client(collector.tcp)
        client.open("run")
        client.batch(1, 0, [1], [0.5], [True])
        client.wait_for(1)
        collector.end(signal.SIGKILL)
        client.connect(self.collect().tcp)
        client.send("ping")
        client.expect_error("no-session")
        self.assertEqual(client.open("run")["a"], 1)
        client.batch(2, 0, [2], [0.5], [True])
        self.assertEqual(client.wait_for(2)["a"], 2)

    def test_gaps_and_repeats(self):
        client = self.client(self.collect().tcp)
        client.open("run")
        client.batch(2, 0, [1], [0.5], [True])
        self.assertEqual(client.expect_error("sequence")["q"], 2)
        client.batch(1, 0, [1], [0.5], [True])
        client.wait_for(1)
        client.batch(1, 0, [1], [0.25], [True])
        self.assertEqual(client.wait_for(1)["a"], 1)
        self.assertEqual(dump(self.store, "run")[0], {("1", 0): (0.5, 1)})

    def test_errors_that_name_their_reason(self):
        collector = self.collect()
        client = self.client(collector.tcp)
        client.open("run")
        other = self.client(collector.tcp)
        other.send("open", run="run", started=1, mode="epoch-end")
        self.assertIn("'run'", other.expect_error("run-exists")["message"])
        other.send("open", run="run", started=1, mode="train-forward", resume=True)
        other.expect_error("run-differs")
        other.send("ping")
        other.expect_error("no-session")
        other.send("open", run="a\nb", started=1, mode="epoch-end")
        other.expect_error("malformed")
        other.send("dance")
        other.expect_error("malformed")
        other.send("ack", a=0, c=0, replaced=0, refused=0)
        other.expect_error("malformed")
        other.send("remove", run="run")  # not at this endpoint
        other.expect_error("owner")
        other.send_raw(msgpack.packb({"v": 99, "t": "open"}))
        self.assertIn("99", other.expect_error("version")["message"])
        other.send_raw(b"\x93garbage")
        other.expect_error("malformed")
        other.send_raw(b"")
        other.expect_error("malformed")
        other.send_raw(b"two", b"parts")
        other.expect_error("malformed")
        # None of that touched the good client.
        client.batch(1, 0, [1], [0.5], [True])
        client.wait_for(1)

    def test_a_collector_that_keeps_no_texts_does_not_offer_to(self):
        collector = self.collect("--max-texts", "0")
        self.assertNotIn("texts", {key for key, value in self.client(collector.tcp).open("run").items() if value})

    def test_unknown_keys_and_own_columns(self):
        client = self.client(self.collect().tcp)
        client.open("run", colour="blue")
        client.batch(1, 0, [1, 2], [0.5, 0.5], [True, False], temperature=["f4", floats([20, 30])],
                     margin=["f4", floats([1, 2])])
        self.assertEqual(client.wait_for(1)["refused"], 0)

    def test_refused_rows_are_counted(self):
        client = self.client(self.collect().tcp)
        client.open("run", examples=10)
        client.batch(1, 0, [0, 1, 10], [0.5, 2.0, 0.5], [True, True, True])
        self.assertEqual(client.wait_for(1)["refused"], 2)
        self.assertEqual(dump(self.store, "run")[0], {("0", 0): (0.5, 1)})

    def test_ranks_of_one_group_close_an_epoch_together(self):
        collector = self.collect()
        ranks = [self.client(collector.tcp) for _ in range(3)]
        for rank, client in enumerate(ranks):
            client.open("run", group="job", rank=rank)
        for rank, client in enumerate(ranks):
            client.batch(1, 0, [rank, 100], [0.5, rank / 4], [True, True])
            client.end_epoch(2, 0)
            client.wait_for(2)
        for client in ranks:
            client.close(3)
            client.wait_for(3)
        rows, _ = dump(self.store, "run")
        self.assertEqual(len(rows), 4)
        self.assertEqual(rows["100", 0], (0.5, 1))  # the session that began last

    def test_a_client_that_never_reads_harms_nobody(self):
        collector = self.collect()
        deaf = self.client(collector.tcp)
        deaf.open("deaf")
        for _ in range(20000):
            deaf.send("ping")
        client = self.client(collector.tcp)
        client.open("run")
        client.batch(1, 0, [1], [0.5], [True])
        client.wait_for(1)
        code, said = collector.end()
        self.assertEqual((code, said.count("\n")), (0, 3))  # two runs begun, and the end

    def test_an_oversize_message_costs_the_connection_only(self):
        collector = self.collect()
        rude = self.client(collector.tcp)
        rude.send_raw(bytes((4 << 20) + 1))
        client = self.client(collector.tcp)
        client.open("run")
        client.batch(1, 0, [1], [0.5], [True])
        client.wait_for(1)
        self.assertIsNone(rude.receive(0))

    def test_a_large_epoch_becomes_columns_while_recording_goes_on(self):
        collector = self.collect("--max-memory", "32M")
        client = self.client(collector.tcp)
        client.open("run", examples=200000)
        sequence = 0
        for epoch in range(3):
            for first in range(0, 200000, 20000):
                sequence += 1
                client.batch(sequence, epoch, range(first, first + 20000), [(epoch + 1) / 4] * 20000, [epoch > 0] * 20000)
            sequence += 1
            client.end_epoch(sequence, epoch)
            client.wait_for(sequence)  # all three together are more than the session's credit
        client.close(sequence + 1)
        client.wait_for(sequence + 1)
        code, _ = collector.end()
        self.assertEqual(code, 0)
        rows, summary = dump(self.store, "run")
        self.assertIn("examples=200000 epochs=3 observations=600000 replaced=0", summary)
        self.assertEqual(rows["199999", 2], (0.75, 1))
        self.assertEqual(rows["0", 0], (0.25, 0))
        # Whatever was not folded is folded by the next collector before it leaves.
        subprocess.run([os.environ["PORTOLAND"], "--store", self.store, "--listen", "tcp://127.0.0.1:*",
                        "--exit-when-idle", "0"], check=True, capture_output=True, timeout=60)
        self.assertEqual(dump(self.store, "run")[0], rows)


if __name__ == "__main__":
    unittest.main()
