"""Who may do what: over plain TCP only the store's own user takes runs away, by a secret in the store; a new store is for its owner
alone; of two processes that continue one run the second waits, and if both go on, `check` names them."""

import json
import os
import shutil
import signal
import stat
import subprocess
import time
import unittest

from collector_harness import DEADLINE, CollectorTest, portoland, wait_until

PORTOLAN = os.environ["PORTOLAN"]
NOBODY = 65534


def mode(*path):
    return stat.S_IMODE(os.stat(os.path.join(*path)).st_mode)


def portolan(*arguments):
    return subprocess.run([PORTOLAN, *arguments], capture_output=True, text=True, timeout=DEADLINE)


class Owner(CollectorTest):
    def record(self, endpoint):
        client = self.client(endpoint)
        client.open("run")
        client.batch(1, 0, [1, 2], [0.5, 0.25], [True, False])
        client.close(2)
        client.wait_for(2)

    def is_there(self):
        return "run,2,1,2," in portolan("runs", "--store", self.store).stdout

    def refused(self, client, kind, **fields):
        """The error to such a request, which must have left the run alone."""
        client.send(kind, run="run", **fields)
        error = client.expect_error("owner")
        self.assertTrue(self.is_there())
        for way in (" portolan rm run ", "--store " + self.store, "--keys"):
            self.assertIn(way, error["message"] + " ")
        return error

    def test_a_stranger_on_this_machine_takes_no_run_away(self):
        collector = self.collect()
        self.record(collector.tcp)
        stranger = self.client(collector.tcp)
        request = {"started": stranger.started, "mode": "epoch-end"}
        for fields in ({"overwrite": True}, {"overwrite": True, "whole": True}, {"overwrite": True, "late": True},
                       {"overwrite": True, "owner": bytes(16)}):
            self.refused(stranger, "open", **request, **fields)
        self.refused(stranger, "remove")
        error = self.refused(stranger, "remove", owner=bytes(range(16)))
        self.assertEqual(error["path"], os.path.join(os.path.realpath(self.store), "owner.secret"))
        # A name that is free needs no proof, nor does joining.
        stranger.open("another", overwrite=True)

    def test_a_store_whose_path_is_no_text_says_the_ways_all_the_same(self):
        self.store = os.path.join(self.directory, "red\x1b[31m")
        collector = self.collect()
        self.record(collector.tcp)
        stranger = self.client(collector.tcp)
        stranger.send("open", run="run", started=stranger.started, mode="epoch-end", overwrite=True)
        error = stranger.expect_error("owner")
        self.assertNotIn("path", error)
        self.assertTrue(error["message"].endswith("portolan rm run --store DIR"), error["message"])

    def test_a_message_that_is_cut_stays_text(self):
        self.store = os.path.join(self.directory, "é" * 100, "é" * 100)
        os.mkdir(os.path.dirname(self.store))
        collector = self.collect()
        self.record(collector.tcp)
        for run in ("run", "run1"):  # the end falls between two characters, or into one
            stranger = self.client(collector.tcp)
            stranger.open(run, resume=True)
            stranger.send("remove", run=run)
            self.assertIn("ééé", stranger.expect_error("owner")["message"])

    def secret(self, path):
        with open(path, encoding="utf-8") as file:
            lines = dict(line.split() for line in file if not line.startswith("#"))
        return lines["endpoint"], bytes.fromhex(lines["secret"])

    def test_the_store_s_user_proves_it_by_the_secret(self):
        collector = self.collect()
        self.record(collector.tcp)
        client = self.client(collector.tcp)
        request = {"started": client.started, "mode": "epoch-end", "overwrite": True}
        path = self.refused(client, "open", **request)["path"]
        self.assertEqual(mode(path), 0o600)
        endpoint, secret = self.secret(path)
        self.assertEqual(endpoint, collector.tcp)
        client.send("open", run="run", **request, owner=secret)
        client.expect("opened")
        remover = self.client(collector.tcp)
        remover.send("remove", run="run", owner=secret)
        remover.expect("ack")
        # What was read once is worth nothing after the collector's end: a process that listens in its place learns nothing.
        collector.end()
        self.assertFalse(os.path.exists(path))
        again = self.collect()
        self.assertNotEqual(self.secret(path)[1], secret)
        self.record(again.tcp)
        self.refused(self.client(again.tcp), "remove", owner=secret)

    def test_a_socket_file_that_its_owner_alone_can_open_is_proof(self):
        path = os.path.join(self.directory, "socket")
        collector = self.collect("--listen", "ipc://" + path)
        self.record(collector.tcp)
        for endpoint in (collector.local, "ipc://" + path):
            self.client(endpoint).open("run", overwrite=True)
            remover = self.client(endpoint)
            remover.send("remove", run="run")
            remover.expect("ack")
            self.record(endpoint)


class Modes(CollectorTest):
    def files(self):
        return {name: mode(self.store, name) for name in os.listdir(self.store) if not name.endswith(".secret")}

    def collected(self, *options):
        """What the collector says beside its usual lines, and the modes that its store has."""
        collector = self.collect(*options)
        modes = mode(self.store), self.files()
        said = collector.said + collector.end()[1]
        return [line for line in said.splitlines() if "can be read" in line], *modes

    def test_a_new_store_is_for_its_owner(self):
        for mask in (0, 0o077):
            before = os.umask(mask)
            try:
                self.store = os.path.join(self.directory, "store%o" % mask)
                said, directory, files = self.collected()
                backup = self.store + ".backup"
                self.assertEqual(portoland("backup", backup, "--store", self.store).returncode, 0)
                detached = portoland("--store", self.store, "--listen", "local", "--exit-when-idle", "0", "--detach")
            finally:
                os.umask(before)
            self.assertEqual(detached.returncode, 0, detached.stderr)
            self.assertEqual((said, directory), ([], 0o700))
            self.assertEqual(set(files.values()), {0o600}, files)
            self.assertEqual((mode(backup), mode(backup, "data.mdb")), (0o700, 0o600))
            wait_until(lambda: not os.path.exists(os.path.join(self.store, "collector.sock")), "the collector has left")
            self.assertEqual(mode(self.store, "portoland.log"), 0o600)

    def test_group_readable_opens_it_for_the_group(self):
        before = os.umask(0o077)
        try:
            said, directory, files = self.collected("--group-readable")
        finally:
            os.umask(before)
        self.assertEqual((said, directory & 0o777), ([], 0o750))
        self.assertEqual((files["data.mdb"], files["lock.mdb"]), (0o640, 0o660))
        self.assertEqual((files["portoland.lock"], files["collector.sock"]), (0o600, 0o600))
        # It stays so without the option, and an existing store is opened by it.
        self.assertEqual(self.collected()[1] & 0o777, 0o750)
        self.store += "2"
        self.collected()
        self.assertEqual(self.collected("--group-readable")[1] & 0o777, 0o750)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to read as another user")
    def test_another_user_of_the_group_reads_and_no_other(self):
        os.chmod(self.directory, 0o755)
        os.mkdir(self.store)
        os.chown(self.store, -1, 12345)  # not the group of the collector
        collector = self.collect("--group-readable")
        client = self.client(collector.tcp)
        client.open("run")
        client.batch(1, 0, [1, 2], [0.5, 0.25], [True, False])
        client.wait_for(1)
        program = shutil.copy(PORTOLAN, self.directory)  # which others can run, wherever the build is
        for group, status in ((12345, 0), (NOBODY, 1)):
            for command in (["runs"], ["metrics", "run"], ["check"]):
                done = subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={group}", "--clear-groups", program, *command,
                                       "--store", self.store], capture_output=True, text=True, timeout=DEADLINE)
                self.assertEqual(done.returncode, 3 if command == ["check"] and not status else status, done.stderr)

    def test_a_store_that_others_can_read_keeps_its_modes_and_is_warned_of_once(self):
        os.chmod(self.directory, 0o755)
        self.collected()
        os.chmod(self.store, 0o755)
        for name in ("data.mdb", "lock.mdb"):
            os.chmod(os.path.join(self.store, name), 0o644)
        said, directory, files = self.collected()
        self.assertEqual((directory, files["data.mdb"]), (0o755, 0o644))
        self.assertEqual(len(said), 1, said)
        self.assertIn("chmod -R o-rwx " + self.store, said[0])
        os.chmod(self.directory, 0o700)  # nobody gets there
        self.assertEqual(self.collected()[0], [])


class TwoProcesses(CollectorTest):
    def begin(self, collector, process, **fields):
        client = self.client(collector.tcp)
        client.send("open", run="run", started=client.started, mode="epoch-end", host="gpu7", process=process, **fields)
        return client

    def open_again(self, client, process, **fields):
        """Sends `open` until it is taken; the seconds that this took, and the messages meanwhile."""
        began, said = time.monotonic(), set()
        while time.monotonic() < began + DEADLINE:
            client.send("open", run="run", started=client.started, mode="epoch-end", host="gpu8", process=process, resume=True, **fields)
            frame = client.receive()
            if frame["t"] == "opened":
                return time.monotonic() - began, said
            self.assertEqual((frame["code"], frame["held"]), ("unavailable", True))
            said.add(frame["message"])
            time.sleep(0.1)
        raise AssertionError("never opened")

    def test_a_session_that_resumes_waits_for_silence(self):
        collector = self.collect()
        first = self.begin(collector, 11)
        first.expect("opened")
        first.batch(1, 0, [1], [0.5], [True])
        first.wait_for(1)
        second = self.client(collector.tcp)
        second.send("open", run="run", started=second.started, mode="epoch-end", host="gpu8", process=22, resume=True)
        error = second.expect_error("unavailable")
        self.assertIs(error["held"], True)
        for word in ("'run'", "process 11", "gpu7", "group"):
            self.assertIn(word, error["message"])
        seconds, said = self.open_again(second, 22)
        self.assertTrue(3 < seconds < 8, seconds)
        self.assertTrue(all("process 11" in line for line in said), said)

    def test_a_session_that_resumes_goes_on_at_once_when_the_other_has_closed(self):
        collector = self.collect()
        first = self.begin(collector, 11)
        first.expect("opened")
        first.close(1)
        first.wait_for(1)
        second = self.client(collector.tcp)
        second.open("run", resume=True)

    def test_ranks_of_one_launch_resume_side_by_side(self):
        collector = self.collect()
        for rank in range(3):
            self.client(collector.tcp).open("run", resume=True, group="launch", rank=rank)
        again = self.client(collector.tcp)  # this rank is there already
        again.send("open", run="run", started=again.started, mode="epoch-end", resume=True, group="launch", rank=2)
        self.assertIs(again.expect_error("unavailable")["held"], True)

    def check(self):
        done = portolan("check", "run", "--store", self.store, "--json")
        report = json.loads(done.stdout)
        return done.returncode, [finding["problem"] for finding in report["findings"] if finding["kind"] == "two-processes"]

    def test_two_that_both_go_on_are_named_by_the_check(self):
        collector = self.collect()
        first = self.begin(collector, 11)
        first.expect("opened")
        first.batch(1, 0, [1], [0.5], [True])
        first.wait_for(1)
        second = self.client(collector.tcp)
        self.open_again(second, 22)  # the first was silent: stopped, or cut off
        first.batch(2, 0, [2], [0.5], [True])
        first.wait_for(2)
        self.assertEqual(self.check()[1], [])  # its last words, before the second says anything
        second.batch(1, 0, [1], [0.5], [True])
        second.wait_for(1)
        self.assertEqual(self.check()[1], [])
        first.batch(3, 0, [3], [0.5], [True])
        first.wait_for(3)
        for client, sequence in ((first, 4), (second, 2)):
            client.close(sequence)
            client.wait_for(sequence)
        status, problems = self.check()
        self.assertEqual((status, len(problems)), (3, 1))
        for word in ("process 11 on gpu7", "process 22 on gpu8"):
            self.assertIn(word, problems[0])
        collector.end(signal.SIGKILL)
        self.collect()
        self.assertEqual(self.check(), (3, problems))
        self.assertIn("process 11 on gpu7", portolan("metrics", "run", "--store", self.store).stderr)

    def test_a_spool_that_is_sent_later_is_no_second_process(self):
        collector = self.collect()
        first = self.begin(collector, 11)
        first.expect("opened")
        first.batch(1, 0, [1], [0.5], [True])
        first.wait_for(1)
        second = self.client(collector.tcp)
        self.open_again(second, 22)
        second.batch(1, 1, [1], [0.5], [True])
        second.wait_for(1)
        spool = self.client(collector.tcp, first.session)
        spool.send("open", run="run", started=first.started, mode="epoch-end", late=True, after=1)
        spool.expect("opened")
        spool.batch(2, 0, [2], [0.5], [True])
        spool.wait_for(2)
        second.batch(2, 1, [2], [0.5], [True])
        second.wait_for(2)
        self.assertEqual(self.check()[1], [])


if __name__ == "__main__":
    unittest.main()
