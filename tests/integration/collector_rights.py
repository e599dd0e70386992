"""Keys with limits, and clients that try more: other runs, other sessions, another key's name, the limits changed meanwhile."""

import os
import re
import shutil
import subprocess
import time

import zmq
from collector_harness import DEADLINE, Client, CollectorTest, portoland, wait_until

PORTOLAN = os.environ["PORTOLAN"]
METADATA = 95  # ZMQ_METADATA: properties that a peer says of itself
STRANGE_NAMES = ["bob/secret", "bob/none", "alice", "alic", "", "alice/\0", "\0alice/1", "../alice/1", "./alice/1", "/alice/1", " alice/1",
                 "Alice/1", "аlice/1", "alice∕1", "alice\u2215/1", "ａlice/1", "a\u200blice/1", "*", "alice%2f1"]


def secrets(folder):
    """The public and the secret half of a client's key, and the collector's public key."""
    keys = {}
    for name in ("client.key", "server.pub"):
        with open(os.path.join(folder, name), encoding="ascii") as file:
            keys[name] = next(line for line in file if not line.startswith("#")).split()[1].encode()
    return zmq.curve_public(keys["client.key"]), keys["client.key"], keys["server.pub"]


class KeyedClient(Client):
    """A client with a key, which may say properties of itself."""

    def __init__(self, endpoint, folder, session=None, says=None, routing=None):
        self.keys, self.says, self.routing = secrets(folder), says, routing
        super().__init__(endpoint, session)

    def connect(self, endpoint):
        if self.socket:
            self.socket.close()
        self.socket = self.context.socket(zmq.DEALER)
        self.socket.linger, self.socket.sndtimeo = 0, int(DEADLINE * 1000)
        self.socket.curve_publickey, self.socket.curve_secretkey, self.socket.curve_serverkey = self.keys
        if self.routing:
            self.socket.setsockopt(zmq.ROUTING_ID, self.routing)
        if self.says:
            self.socket.setsockopt(METADATA, self.says)
        self.socket.connect(endpoint)


class RightsTest(CollectorTest):
    def setUp(self):
        super().setUp()
        self.keys = os.path.join(self.directory, "keys")
        self.assertEqual(portoland("keygen", self.keys).returncode, 0)

    def key(self, name, limits=""):
        """Makes a key; the lines that limit it come before the key's own."""
        self.assertEqual(portoland("keygen", self.keys, "--client", name).returncode, 0)
        self.limit(name, limits)
        return os.path.join(self.keys, name)

    def file(self, name):
        return os.path.join(self.keys, "clients", name + ".pub")

    def limit(self, name, limits):
        with open(self.file(name), encoding="ascii") as file:
            key = [line for line in file if line.startswith("public ")]
        with open(self.file(name) + ".new", "w", encoding="utf-8") as file:
            file.writelines([limits, *key])
        os.rename(self.file(name) + ".new", self.file(name))

    def serve(self, *options):
        return self.collect("--keys", self.keys, *options)

    def keyed(self, collector, name, session=None, says=None, routing=None):
        self.clients.append(KeyedClient(collector.tcp, os.path.join(self.keys, name), session, says, routing))
        return self.clients[-1]

    def record(self, client, run, **fields):
        client.open(run, **fields)
        client.batch(1, 0, [1, 2], [0.5, 0.25], [True, False])
        client.wait_for(1)

    def error(self, client, run, **fields):
        client.send("open", run=run, started=client.started, mode="epoch-end", **fields)
        return client.expect("error")

    def runs(self):
        done = subprocess.run([PORTOLAN, "runs", "--store", self.store], capture_output=True, text=True, timeout=DEADLINE, check=True)
        return {line.split(",")[0]: line.split(",")[3] for line in done.stdout.splitlines()[1:]}


class MoreThanThePrefix(RightsTest):
    def test_other_names_are_refused_and_nothing_is_told(self):
        self.key("alice", 'prefix = "alice/"\n')
        self.key("admin")
        collector = self.serve()
        self.record(self.keyed(collector, "admin"), "bob/secret")
        client, said = self.keyed(collector, "alice"), set()
        for name in STRANGE_NAMES:
            for fields in ({}, {"resume": True}, {"overwrite": True}, {"overwrite": True, "whole": True},
                           {"late": True, "resume": True}, {"group": "job", "rank": 3}):
                error = self.error(client, name, **fields)
                # a name that is none is malformed, for every client
                self.assertEqual(error["code"], "malformed" if not name or "\0" in name else "rights", name)
                said |= {error["message"]} if error["code"] == "rights" else set()
            client.send("remove", run=name)
            said |= {error["message"] for error in [client.expect("error")] if error["code"] == "rights"}
        self.assertEqual(len(said), 1, said)  # whether the run exists or not
        for words in ("'alice/'", "clients/alice.pub"):
            self.assertIn(words, *said)
        # Names are no paths: this one is within the prefix, and is a run of its own.
        client.open("alice/../bob/secret")
        self.assertEqual(self.runs(), {"bob/secret": "2", "alice/../bob/secret": "0"})
        said = collector.end()[1]
        self.assertIn("refused, for the limits of its key in clients/alice.pub: to record or remove run", said)

    def test_answers_take_as_long_whether_the_run_exists_or_not(self):
        """What an answer takes tells nothing: medians of 200 of each, in turns. Other work on the machine may spoil two of three comparisons; what tells would
        do so in each."""
        self.key("alice", 'prefix = "alice/"\n')
        self.key("admin")
        collector = self.serve()
        self.record(self.keyed(collector, "admin"), "bob/1")
        client, ratios = self.keyed(collector, "alice"), []
        self.error(client, "bob/1")
        while len(ratios) < 3 and min(ratios, default=2) >= 1.5:
            seconds = {}
            for name in ("bob/1", "bob/2") * 200:
                began = time.perf_counter()
                self.error(client, name)
                seconds.setdefault(name, []).append(time.perf_counter() - began)
            medians = [sorted(all_of_them)[100] for all_of_them in seconds.values()]
            ratios.append(max(medians) / min(medians))
        self.assertLess(min(ratios), 1.5, ratios)

    def test_the_end_of_a_prefix_is_literal_and_prefixes_overlap(self):
        self.key("all", 'prefix = "alice"\n')
        self.key("mine", 'prefix = "alice/x"\n')
        collector = self.serve()
        wide, narrow = self.keyed(collector, "all"), self.keyed(collector, "mine")
        self.record(wide, "alice2/1")
        self.assertEqual(self.error(narrow, "alice2/1", resume=True)["code"], "rights")
        self.assertEqual(self.error(narrow, "alice/1")["code"], "rights")
        self.record(narrow, "alice/x1")
        # Both may have this run: the one that resumes waits for the other, as without limits.
        again = self.keyed(collector, "all")
        self.assertEqual(self.error(again, "alice/x1", resume=True)["code"], "unavailable")
        narrow.close(2)
        narrow.wait_for(2)
        again.open("alice/x1", resume=True)

    def test_a_session_of_another_key(self):
        """Its 16 bytes are known: what a sniffer of plain TCP, or a log, might have given away."""
        self.key("alice", 'prefix = "alice/"\n')
        self.key("bob", 'prefix = "bob/"\n')
        collector = self.serve()
        bob = self.keyed(collector, "bob")
        self.record(bob, "bob/1")
        thief = self.keyed(collector, "alice", bob.session)
        for kind, fields in (("batch", None), ("end", {"q": 2, "e": 0}), ("close", {"q": 2}), ("ping", {})):
            thief.batch(2, 1, [9], [0.0], [False]) if kind == "batch" else thief.send(kind, **fields)
            thief.expect_error("no-session")
        thief.started = bob.started
        self.assertEqual(self.error(thief, "bob/1")["code"], "rights")
        for fields in ({}, {"resume": True}, {"overwrite": True}, {"overwrite": True, "whole": True}):
            error = self.error(thief, "alice/1", **fields)
            self.assertEqual(error["code"], "rights")
            self.assertNotIn("bob", error["message"])
        thief.batch(2, 1, [9], [0.0], [False])
        thief.expect_error("no-session")
        bob.batch(2, 1, [1], [0.5], [True])  # who notices nothing of all this
        bob.wait_for(2)
        self.assertEqual(self.runs(), {"bob/1": "3"})
        # Nor is a session taken that only the store knows.
        collector.end()
        again = self.serve()
        self.assertEqual(self.error(self.keyed(again, "alice", bob.session), "alice/1")["code"], "rights")
        bob.connect(again.tcp)
        self.assertEqual(bob.open("bob/1")["a"], 2)

    def test_a_session_of_another_key_by_the_routing_id_of_a_connection_that_has_gone(self):
        """A client may choose its routing id."""
        self.key("alice", 'prefix = "alice/"\n')
        self.key("bob", 'prefix = "bob/"\n')
        collector = self.serve()
        for kind in ("batch", "examples", "end", "close", "ping"):
            routing = kind.encode()
            bob = self.keyed(collector, "bob", routing=routing)
            self.record(bob, f"bob/{kind}")
            bob.socket.close()
            thief = self.keyed(collector, "alice", bob.session, routing=routing)

            def arrives(thief=thief):  # the router gives the id to nobody before it has seen that the other connection has gone
                thief.send("ping", s=os.urandom(16))
                frame = thief.receive(0.2)
                if frame is None:
                    thief.connect(collector.tcp)
                return frame is not None
            wait_until(arrives, "the routing id is free")
            if kind == "batch":
                thief.batch(2, 1, [9], [0.0], [False])
            else:
                thief.send(kind, **{"examples": {"q": 2, "n": 1, "ids": ["u4", bytes(4)], "fields": ["text"], "texts": b"\1\0\0\0a"},
                                    "end": {"q": 2, "e": 0}, "close": {"q": 2}, "ping": {}}[kind])
            thief.expect_error("no-session")
            again = self.keyed(collector, "bob", bob.session)
            again.started = bob.started
            self.assertEqual(again.open(f"bob/{kind}")["a"], 1)  # nothing was taken, and his session goes on
            again.batch(2, 1, [1], [0.5], [True])
            again.wait_for(2)

    def test_a_frame_that_names_a_session_it_has_no_right_to_begin(self):
        self.key("alice", 'prefix = "alice/"\n')
        collector = self.serve()
        client = self.keyed(collector, "alice")
        self.error(client, "bob/1")
        client.batch(1, 0, [1], [0.5], [True])  # as if it had been opened
        client.expect_error("no-session")
        self.assertEqual(self.runs(), {})

    def test_a_peer_cannot_say_that_it_has_another_key(self):
        self.key("alice", 'prefix = "alice/"\n')
        admin = secrets(self.key("admin"))[0]
        collector = self.serve()
        liar = self.keyed(collector, "alice", says=b"X-Portolan-Key:" + admin)
        self.assertEqual(self.error(liar, "bob/1")["code"], "rights")
        liar.open("alice/1")


class NoOverwrite(RightsTest):
    def test_runs_stay_whatever_is_asked(self):
        self.key("keeps", "overwrite = no\n")
        self.key("admin")
        collector = self.serve()
        self.record(self.keyed(collector, "admin"), "run")
        client = self.keyed(collector, "keeps")
        for fields in ({}, {"whole": True}, {"late": True}, {"group": "job"}, {"owner": bytes(16)}):
            error = self.error(client, "run", overwrite=True, **fields)
            self.assertEqual(error["code"], "rights")
            self.assertIn("clients/keeps.pub", error["message"])
        client.send("remove", run="run")
        self.assertIn("overwrite = no", client.expect_error("rights")["message"])
        client.send("remove", run="run", owner=bytes(16))
        client.expect_error("rights")
        self.assertEqual(self.runs(), {"run": "2"})
        self.record(client, "free", overwrite=True)  # a name that is free needs no such right
        self.record(self.keyed(collector, "admin"), "run", overwrite=True)
        self.assertEqual(self.runs(), {"run": "2", "free": "2"})

    def test_another_session_s_id_does_not_help(self):
        self.key("keeps", "overwrite = no\n")
        self.key("admin")
        collector = self.serve()
        admin = self.keyed(collector, "admin")
        admin.open("run", overwrite=True)
        admin.batch(1, 0, [1, 2], [0.5, 0.25], [True, False])
        admin.wait_for(1)
        thief = self.keyed(collector, "keeps", admin.session)
        self.assertEqual(self.error(thief, "run", overwrite=True)["code"], "session-differs")  # it began at another time
        self.assertEqual(self.runs(), {"run": "2"})

    def test_clients_without_a_key_keep_what_they_may(self):
        self.key("keeps", "overwrite = no\n")
        collector = self.serve()
        self.record(self.client(collector.local), "bob/1")
        self.record(self.client(collector.local), "bob/1", overwrite=True)
        remover = self.client(collector.local)
        remover.send("remove", run="bob/1")
        remover.expect("ack")


class Changes(RightsTest):
    def soon(self, client, code, run="alice/2"):
        """Opens new sessions until the answer is this: a change counts a second later at most."""
        def answer():
            client.session = os.urandom(16)
            client.send("open", run=run, started=client.started, mode="epoch-end", resume=True, group="any", rank=int.from_bytes(client.session[:3], "big"))
            frame = client.receive()
            time.sleep(0.05)
            return frame.get("code", frame["t"]) == code
        wait_until(answer, code)

    def test_a_change_counts_at_the_next_open_and_open_sessions_go_on(self):
        self.key("alice")
        collector = self.serve()
        client, session = self.keyed(collector, "alice"), os.urandom(16)
        client.session = session
        self.record(client, "bob/1")
        self.limit("alice", 'prefix = "alice/"\n')
        self.soon(client, "rights", "bob/2")
        client.session = session  # on the same connection
        client.batch(2, 1, [1], [0.5], [True])
        client.wait_for(2)
        self.assertEqual(self.error(client, "bob/1")["code"], "rights")  # opened again, it is not taken
        self.soon(client, "opened")
        self.limit("alice", "")
        self.soon(client, "opened", "bob/2")

    def test_a_key_that_is_removed_opens_nothing_more(self):
        self.key("alice")
        collector = self.serve()
        client, session = self.keyed(collector, "alice"), os.urandom(16)
        client.session = session
        self.record(client, "alice/1")
        os.rename(self.file("alice"), self.file("alice") + ".away")
        self.soon(client, "rights")
        self.assertIn("no longer let in", self.error(client, "alice/3")["message"])
        client.send("remove", run="alice/1")
        client.expect_error("rights")
        client.session = session
        client.batch(2, 1, [1], [0.5], [True])
        client.wait_for(2)
        os.rename(self.file("alice") + ".away", self.file("alice"))
        self.soon(client, "opened")
        # A list that cannot be read says nothing about this key: the client tries again.
        os.chmod(os.path.join(self.keys, "clients"), 0o777)
        self.soon(client, "unavailable")
        os.chmod(os.path.join(self.keys, "clients"), 0o700)
        self.soon(client, "opened")
        self.assertRegex(collector.end()[1], "until the list of keys can be read: .*clients")

    def test_a_file_that_cannot_be_read_takes_no_key_off_the_list(self):
        self.key("alice")
        collector = self.serve()
        client = self.keyed(collector, "alice")
        client.open("alice/1")
        with open(self.file("alice"), encoding="ascii") as file:
            whole = file.read()
        for spoil, mend in ((lambda: os.chmod(self.file("alice"), 0o666), lambda: os.chmod(self.file("alice"), 0o600)),
                            (lambda: self.write("alice", whole[:20]), lambda: self.write("alice", whole))):
            spoil()
            self.soon(client, "unavailable")
            mend()
            self.soon(client, "opened")
        # Another key, which is gone, may be in such a file too; one that is barred is known to be.
        self.limit("alice", "overwrite = never\n")
        self.key("other")
        os.chmod(self.file("other"), 0o666)
        self.soon(client, "rights")
        said = collector.end()[1]
        self.assertIn("until the list of keys can be read: keys: ", said)
        self.assertIn("clients/alice.pub", said)

    def write(self, name, text):
        with open(self.file(name), "w", encoding="ascii") as file:
            file.write(text)

    def test_limits_that_are_not_understood_keep_the_key_out(self):
        self.key("alice", 'prefix = "alice/"\n')
        self.key("other")
        collector = self.serve()
        client = self.keyed(collector, "alice")
        client.open("alice/1")
        self.limit("alice", '# only hers\nprefix = "alice/"\noverwrite = never\n')
        self.soon(client, "rights")
        self.record(self.keyed(collector, "other"), "other")
        self.limit("alice", 'prefix = "alice/"\noverwrite = no\n')
        self.soon(client, "opened")
        said = collector.end()[1]
        self.assertEqual(len(re.findall(r"clients/alice\.pub: line 3: overwrite: write yes or no", said)), 1, said)

    def test_another_file_with_the_key_that_is_not_understood_keeps_it_out(self):
        """Whichever is read first: the order of a directory is nobody's."""
        self.key("alice")
        for copy in ("a", "z"):
            shutil.copy(self.file("alice"), self.file(copy))
        collector = self.serve()
        client = self.keyed(collector, "alice")
        for name in ("a", "alice", "z"):
            self.soon(client, "opened")
            self.limit(name, "overwrite = never\n")
            self.soon(client, "rights")
            self.limit(name, "")

    def test_a_collector_does_not_start_with_limits_that_are_not_understood(self):
        self.key("alice")
        self.key("again")
        shutil.copy(self.file("alice"), self.file("again"))
        cases = [("prefix = alice/\n", "line 1: prefix: write it in quotation marks"), ("\nowner = alice\n", "line 2: 'owner' is no option"),
                 ("overwrite = no\n", "alice.pub and"), ("prefix = \"\"\n", "line 1: prefix: it must have 1 to 255 bytes")]
        for limits, words in cases:
            self.limit("alice", limits)
            done = portoland("--store", self.store, "--keys", self.keys, "--listen", "tcp://127.0.0.1:*")
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
            self.assertIn(words if "and" not in words else "hold the same key", done.stderr)
            self.assertIn("alice.pub", done.stderr)
            self.assertFalse(os.path.exists(self.store))


class Spools(RightsTest):
    def test_what_was_recorded_before_is_held_to_the_same_limits(self):
        self.key("alice", 'prefix = "alice/"\n')
        collector = self.serve()
        late = self.keyed(collector, "alice")
        self.assertEqual(self.error(late, "bob/1", late=True, resume=True)["code"], "rights")
        late.open("alice/1", late=True)


if __name__ == "__main__":
    import unittest

    unittest.main()
