"""portoland as a process: starting, refusing to start, detaching, leaving."""

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import unittest

from collector_harness import PORTOLAND, Client, CollectorTest, dump, is_served, portoland, wait_until


def priorities(pid):
    """The nice values of its threads, and the line that says its session's, if the kernel has one ("" otherwise)."""
    values = set()
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/stat", encoding="ascii") as status:
            values.add(int(status.read().rsplit(")", 1)[1].split()[16]))
    try:
        with open(f"/proc/{pid}/autogroup", encoding="ascii") as session:
            return values, session.read()
    except FileNotFoundError:
        return values, ""


class Process(CollectorTest):
    def assert_refused(self, code, *parts, arguments):
        done = portoland(*arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_help_and_version(self):
        done = portoland("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith("Examples:"))
        self.assertEqual(portoland("-h").stdout, done.stdout)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80)
        done = portoland("--version")
        self.assertRegex(done.stdout, r"^portoland \d+\.\d+\.\d+\n$")
        self.assertEqual(portoland("-V").stdout, done.stdout)

    def test_what_was_done_is_said_unless_quiet(self):
        with tempfile.TemporaryDirectory() as folder:
            for client in ([], ["--client", "gpu7"]):
                said = portoland("keygen", os.path.join(folder, "said"), *client)
                self.assertTrue(said.stdout.startswith("made the keys of "), said)
                done = portoland("keygen", os.path.join(folder, "quiet"), *client, "-q")
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            done = portoland("keygen", os.path.join(folder, "quiet"), "--quiet")
            self.assertIn("is not overwritten", done.stderr)
            done = portoland("keygen", os.path.join(folder, "verbose"), "-v")
            self.assertRegex(done.stderr, r"^portoland: \d+\.\d\d s; \d+ MB of memory at most")
            for words in (["rm", "-q", "--help"], ["keygen", "--quiet", "-h"]):
                self.assertEqual(portoland(*words).stdout, portoland("--help").stdout)
        self.assert_refused(2, "'-q'", arguments=["-q"])
        self.assert_refused(2, "'-x'", arguments=["rm", "-xq", "run"])
        self.assert_refused(2, "'--quiet=1'", arguments=["rm", "--quiet=1", "run"])

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([PORTOLAND, "--help"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, "portoland: cannot write standard output: No space left on device\n"))

    def test_wrong_usage(self):
        for arguments, part in [
                (["--nonsense"], "--nonsense"), (["extra"], "extra"), (["--listen", "nowhere"], "nowhere"),
                (["--listen", "tcp://0.0.0.0:5757"], "--keys"), (["--listen", "tcp://*:5757"], "--keys"),
                (["--keys", ""], "--keys"), (["--exit-when-idle", "x"], "'x'"),
                (["--max-memory", "x"], "'x'")]:
            self.assert_refused(2, part, arguments=["--store", self.store, *arguments])
        self.assertFalse(os.path.exists(self.store))

    def test_a_signal_ends_it_cleanly(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            collector = self.collect()
            client = self.client(collector.tcp)
            client.open("run%d" % number)
            client.batch(1, 0, [1], [0.5], [True])
            client.wait_for(1)
            code, said = collector.end(number)
            self.assertEqual(code, 0)
            self.assertRegex(said, r"^[-0-9: ]+ portoland: run 'run\d+' begun \(\d+ bytes\)\n"
                                   r"[-0-9: ]+ portoland: stopped: 1 sessions, 1 observations, \d+ bytes of frames\n$")
            self.assertFalse(is_served(self.store))
            self.assertFalse(os.path.exists(collector.local[len("ipc://"):]))
            self.assertEqual(dump(self.store, "run%d" % number)[0], {("1", 0): (0.5, 1)})

    def test_a_collector_outlives_its_terminal_under_nohup(self):
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        self.addCleanup(signal.signal, signal.SIGHUP, before)
        collector = self.collect()
        collector.process.send_signal(signal.SIGHUP)
        self.client(collector.tcp).open("run")  # would find no collector
        self.assertEqual(collector.end()[0], 0)

    def test_a_collector_that_serves_many_is_not_held_back(self):
        """Only one that a run has started is: see test_detaching."""
        self.assertEqual(priorities(self.collect().process.pid), priorities("self"))

    def test_a_second_collector_on_the_store_is_refused(self):
        collector = self.collect()
        self.assert_refused(1, "already served", str(collector.process.pid),
                            arguments=["--store", self.store, "--listen", "tcp://127.0.0.1:*"])
        self.assert_refused(1, "already served", arguments=["--store", self.store, "--detach"])
        client = self.client(collector.local)  # and did not take the socket away
        client.open("run")

    def test_an_address_in_use_is_refused(self):
        collector = self.collect()
        other = os.path.join(self.directory, "other")
        self.assert_refused(1, "in use", arguments=["--store", other, "--listen", collector.tcp])
        self.assert_refused(1, "in use", arguments=["--store", other, "--listen", collector.local])
        self.assert_refused(1, "in use", arguments=["--store", other, "--listen", collector.tcp, "--detach"])
        self.client(collector.local).open("run")

    def test_what_is_no_socket_is_not_removed(self):
        path = os.path.join(self.directory, "thesis.tex")
        with open(path, "w") as file:
            file.write("years of work")
        self.assert_refused(1, path, arguments=["--store", self.store, "--listen", "ipc://" + path])
        with open(path) as file:
            self.assertEqual(file.read(), "years of work")

    def test_the_lock_is_its_owners(self):
        """Whoever may only read the store cannot keep the collector from starting, by a lock of their own."""
        self.collect().end()
        lock = os.path.join(self.store, "portoland.lock")
        os.chmod(lock, 0o644)  # as an earlier version made it
        self.collect()
        self.assertEqual(os.stat(lock).st_mode & 0o777, 0o600)

    def test_it_leaves_when_its_lock_is_removed(self):
        collector = self.collect()
        client = self.client(collector.tcp)
        client.open("run")
        client.batch(1, 0, [1], [0.5], [True])
        client.wait_for(1)
        os.unlink(os.path.join(self.store, "portoland.lock"))
        code, said = collector.process.wait(30), collector.process.stderr.read()
        self.assertEqual(code, 1)
        self.assertIn("portoland.lock was removed", said)
        self.assertIn("start portoland again", said)
        self.assertEqual(dump(self.store, "run")[0], {("1", 0): (0.5, 1)})
        again = self.collect()
        client.connect(again.tcp)
        self.assertEqual(client.open("run")["a"], 1)

    def test_a_reader_for_which_the_file_grows_is_named_once(self):
        collector = self.collect()
        for _ in range(2):
            with subprocess.Popen([os.environ["MAKE_STORE"], "hold", self.store], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE) as reader:
                self.assertEqual(reader.stdout.readline(), b"held back\n")
                line = collector.process.stderr.readline()
                self.assertRegex(line, rf"process {reader.pid} reads a state of the store that is \d+ transactions old")
                reader.stdin.close()
                self.assertEqual(reader.wait(30), 0)
        self.assertNotIn("transactions old", collector.end()[1])

    def start_with_umask(self, mask, *options):
        before = os.umask(mask)
        try:
            return self.collect(*options)
        finally:
            os.umask(before)

    def mode(self, name):
        return os.stat(os.path.join(self.store, name)).st_mode & 0o7777

    def test_a_group_may_read_whatever_the_umask(self):
        collector = self.start_with_umask(0o077, "--group-readable")
        self.assertEqual([self.mode(name) for name in ("data.mdb", "lock.mdb", "portoland.lock")],
                         [0o640, 0o660, 0o600])
        collector.end()
        os.chmod(os.path.join(self.store, "lock.mdb"), 0o600)
        self.start_with_umask(0o077)
        self.assertEqual(self.mode("lock.mdb"), 0o660)

    def test_a_store_that_nobody_else_may_read_stays_so(self):
        self.start_with_umask(0o022)
        self.assertEqual([self.mode(name) for name in ("data.mdb", "lock.mdb")], [0o600, 0o600])

    @unittest.skipUnless(os.geteuid() == 0, "takes another user")
    def test_a_member_of_the_group_reads(self):
        """Without being the collector's user: readers write into the table that LMDB keeps."""
        os.chmod(self.directory, 0o755)
        os.mkdir(self.store)
        os.chown(self.store, -1, 54321)
        os.chmod(self.store, 0o2750)  # what is made in it is of the group
        collector = self.start_with_umask(0o027, "--group-readable")
        client = self.client(collector.tcp)
        client.open("run")
        client.batch(1, 0, [1], [0.5], [True])
        client.wait_for(1)
        other = {"user": 65534, "group": 65534, "umask": 0o077, "capture_output": True, "text": True}
        program = shutil.copy(os.environ["PORTOLAN"], self.directory)  # where others may run it, wherever it was built
        runs = [program, "runs", "--store", self.store]
        self.assertNotEqual(subprocess.run(runs, extra_groups=[], **other).returncode, 0)
        done = subprocess.run(runs, extra_groups=[54321], **other)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("run,1,1,1,recording", done.stdout)

    def test_an_empty_file_is_no_new_store(self):
        self.collect().end()
        data = os.path.join(self.store, "data.mdb")
        os.truncate(data, 0)
        self.assert_refused(1, "data.mdb is empty", "backup",
                            arguments=["--store", self.store, "--listen", "tcp://127.0.0.1:*"])
        done = subprocess.run([os.environ["PORTOLAN"], "runs", "--store", self.store], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("data.mdb is empty", done.stderr)
        self.assertEqual(os.path.getsize(data), 0)
        os.unlink(data)
        self.assert_refused(1, "data.mdb is gone", "backup",
                            arguments=["--store", self.store, "--listen", "tcp://127.0.0.1:*"])
        os.unlink(os.path.join(self.store, "lock.mdb"))
        self.collect()

    def test_names_that_do_not_show_are_shown_on_a_terminal(self):
        """And only there: files and other programs get them as they are."""
        name = "run\u202egpj\u200b"
        shown = "run\\u202egpj\\u200b"
        collector = self.collect()
        self.client(collector.tcp).open(name)
        runs = [os.environ["PORTOLAN"], "runs", "--store", self.store]
        done = subprocess.run(runs, capture_output=True, text=True)
        self.assertIn(name, done.stdout)
        for arguments in ([], ["--json"]):
            ours, theirs = os.openpty()
            with open(ours, "rb", buffering=0) as terminal:
                subprocess.run(runs + arguments, stdout=theirs, check=True)
                os.close(theirs)
                said = b""
                try:
                    while part := terminal.read(4096):
                        said += part
                except OSError:  # the other side is closed
                    pass
            self.assertIn(shown, said.decode())
            self.assertNotIn("\u202e", said.decode())
            if arguments:
                self.assertEqual(json.loads(said)[0]["name"], name)
        done = subprocess.run([os.environ["PORTOLAN"], "metrics", "no\u202esuch", "--store", self.store], capture_output=True, text=True)
        self.assertIn("no\\u202esuch", done.stderr)
        done = portoland("rm", "no\u202esuch", "--store", self.store)
        self.assertIn("no\\u202esuch", done.stderr)
        self.assertNotIn("\u202e", done.stderr)

    def test_a_store_that_cannot_be(self):
        path = os.path.join(self.directory, "file")
        with open(path, "w"):
            pass
        self.assert_refused(1, path, arguments=["--store", path, "--listen", "tcp://127.0.0.1:*"])
        self.assert_refused(1, "no/where", arguments=["--store", "/no/where", "--listen", "tcp://127.0.0.1:*"])

    def test_sockets_are_their_owners_and_stale_ones_are_replaced(self):
        extra = os.path.join(self.directory, "extra.sock")
        collector = self.collect("--listen", "ipc://" + extra)
        for path in (extra, os.path.join(self.store, "collector.sock")):
            status = os.stat(path)
            self.assertTrue(stat.S_ISSOCK(status.st_mode))
            self.assertEqual(status.st_mode & 0o777, 0o600)
        self.client("ipc://" + extra).open("run")
        collector.end(signal.SIGKILL)
        self.assertTrue(os.path.exists(extra))
        self.collect("--listen", "ipc://" + extra)
        self.client("ipc://" + extra).open("other")

    def test_the_local_endpoint_may_be_named(self):
        os.mkdir(self.store)
        collector = self.collect("--listen", "ipc://" + os.path.join(self.store, "collector.sock"))
        self.client(collector.local).open("run")

    def test_a_long_store_path(self):
        self.store = os.path.join(self.directory, "d" * 120)
        collector = self.collect()
        self.assertEqual(collector.local, f"ipc://{self.store}/collector.sock")
        directory = os.open(self.store, os.O_PATH)  # a short name for it
        self.addCleanup(os.close, directory)
        self.client(f"ipc:///proc/self/fd/{directory}/collector.sock").open("run")
        self.assertEqual(collector.end()[0], 0)
        self.assertFalse(os.path.exists(os.path.join(self.store, "collector.sock")))

    def test_nothing_but_the_stores_own_socket(self):
        process = subprocess.Popen([os.environ["PORTOLAND"], "--store", self.store, "--listen", "local"], stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        line = process.stderr.readline().rstrip()
        self.assertTrue(line.endswith(f"serving {self.store} at ipc://{self.store}/collector.sock"), line)
        self.client(f"ipc://{self.store}/collector.sock").open("run")

    def test_detaching(self):
        done = portoland("--store", self.store, "--listen", "tcp://127.0.0.1:*", "--detach", "--exit-when-idle", "5",
                         cwd=self.directory)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        # The sockets are bound when the first process ends.
        path = os.path.join(self.store, "collector.sock")
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(path)
        with open(os.path.join(self.store, "portoland.lock")) as lock:
            pid = int(lock.read())
        self.assertEqual(os.getsid(pid), pid)
        values, session = priorities(pid)
        self.assertEqual(values, {max(10, *priorities("self")[0])})
        if session:
            self.assertRegex(session, r"nice 10\n$")
        client = Client("ipc://" + path)
        client.open("run")
        client.batch(1, 0, [1], [0.5], [True])
        client.wait_for(1)
        self.assertTrue(is_served(self.store))
        client.close(2)
        client.wait_for(2)
        client.leave()
        wait_until(lambda: not is_served(self.store), "the detached collector has left")
        self.assertFalse(os.path.exists(path))
        with open(os.path.join(self.store, "portoland.log")) as log:
            lines = log.read().splitlines()
        self.assertEqual(len(lines), 3)
        self.assertIn("serving", lines[0])
        self.assertIn("run 'run' begun", lines[1])
        self.assertIn("leaving: 1 sessions, 1 observations", lines[2])
        self.assertEqual(dump(self.store, "run")[0], {("1", 0): (0.5, 1)})

    def test_a_limit_of_file_size_is_an_error_of_the_write(self):
        """The signal that comes with it (SIGXFSZ) would end the collector, where its parent does not ignore it."""
        command = ["prlimit", "--fsize=%d" % (1 << 20), os.environ["PORTOLAND"], "--store", self.store, "--listen", "tcp://127.0.0.1:*"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, restore_signals=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stderr.close)
        self.assertIn("serving", process.stderr.readline())
        client = self.client("ipc://" + os.path.join(self.store, "collector.sock"))
        client.open("run")
        error = None
        for sequence in range(1, 200):
            client.batch(sequence, 0, range(sequence * 5000, sequence * 5000 + 5000), [0.5] * 5000, [True] * 5000)
            frame = client.receive()
            while frame["t"] == "ack" and frame["a"] < sequence and frame["c"] > 0:
                frame = client.receive()
            if frame["t"] == "error" or frame["c"] == 0:
                error = frame
                break
        self.assertIsNotNone(error)
        self.assertIsNone(process.poll())
        process.terminate()
        self.assertEqual(process.wait(30), 0)
        self.assertIn("clients keep what they have", process.stderr.read())

    def test_every_call_that_is_taken_over_is_proved(self):
        """Where libzmq does not come to one of them, only the socket in the store's directory is served, and this is said."""
        for calls in ("epoll_ctl", "epoll_wait", "accept4, recv", "recv"):
            with self.subTest(calls):
                store = os.path.join(self.directory, "without-" + calls[:7])
                program = os.environ["PORTOLAND_WITHOUT"] + calls.split(",")[0]
                with socket.socket() as free:
                    free.bind(("127.0.0.1", 0))
                    port = free.getsockname()[1]
                process = subprocess.Popen([program, "--store", store, "--listen", f"tcp://127.0.0.1:{port}", "--listen", "ipc://" + store + ".sock"],
                                           stderr=subprocess.PIPE, text=True)
                self.addCleanup(process.wait)
                self.addCleanup(process.kill)
                self.addCleanup(process.stderr.close)
                self.assertRegex(process.stderr.readline(), f"libzmq does not come to this program's {calls}, .*: serving only the socket in the store's directory")
                self.assertRegex(process.stderr.readline(), r"serving .* at ipc://[^ ,]*/collector\.sock$")
                self.assertFalse(os.path.exists(store + ".sock"))
                with socket.socket() as stranger:
                    self.assertNotEqual(stranger.connect_ex(("127.0.0.1", port)), 0)
                client = self.client("ipc://" + os.path.join(store, "collector.sock"))
                client.open("run")
                client.batch(1, 0, [1], [0.5], [True])
                client.wait_for(1)
                process.terminate()
                self.assertEqual(process.wait(30), 0)
                self.assertEqual(dump(store, "run")[0], {("1", 0): (0.5, 1)})

    def test_without_a_network(self):
        """Where loopback is down, what is taken over is proved all the same, and a socket file is served."""
        alone = ["unshare", "--net", "--map-root-user"]
        if subprocess.run([*alone, "true"], capture_output=True).returncode:
            self.skipTest("no network namespace can be made here")
        address = "ipc://" + os.path.join(self.directory, "own.sock")
        process = subprocess.Popen([*alone, os.environ["PORTOLAND"], "--store", self.store, "--listen", address], stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stderr.close)
        self.assertIn(address, process.stderr.readline())
        client = self.client(address)
        client.open("run")
        client.batch(1, 0, [1], [0.5], [True])
        client.wait_for(1)
        process.terminate()
        self.assertEqual(process.wait(30), 0)

    def test_closed_streams(self):
        """Its log does not go into the store, which would have got the number of a stream that its parent has closed."""
        closed = "exec \"$0\" --store \"$1\" --listen tcp://127.0.0.1:* <&- >&- 2>&-"
        with subprocess.Popen(["bash", "-c", closed, os.environ["PORTOLAND"], self.store]) as process:
            self.addCleanup(process.kill)
            wait_until(lambda: os.path.exists(os.path.join(self.store, "collector.sock")), "it listens")
            streams = [os.readlink(f"/proc/{process.pid}/fd/{number}") for number in range(3)]
            client = self.client("ipc://" + os.path.join(self.store, "collector.sock"))
            client.open("run")
            client.batch(1, 0, [1], [0.5], [True])
            client.wait_for(1)
            process.terminate()
            self.assertEqual(process.wait(30), 0)
        self.assertEqual(streams, ["/"] * 3)
        self.assertEqual(dump(self.store, "run")[0], {("1", 0): (0.5, 1)})

    def test_leaving_when_idle(self):
        collector = self.collect("--exit-when-idle", "0.2")
        code, said = collector.process.wait(30), collector.process.stderr.read()
        self.assertEqual(code, 0)
        self.assertIn("leaving: 0 sessions", said)

    def test_not_leaving_while_a_session_is_live(self):
        collector = self.collect("--exit-when-idle", "0")
        # Nobody came in the first instant: it has left, or it leaves now.
        self.assertEqual(collector.process.wait(30), 0)
        collector = self.collect("--exit-when-idle", "5")
        client = self.client(collector.tcp)
        client.open("run")
        for sequence in range(1, 4):
            client.batch(sequence, sequence, [1], [0.5], [True])
            client.wait_for(sequence)
        self.assertIsNone(collector.process.poll())
        client.close(4)
        client.wait_for(4)
        self.assertEqual(collector.process.wait(30), 0)
        self.assertTrue(dump(self.store, "run")[1].startswith("closed"))


if __name__ == "__main__":
    unittest.main()
