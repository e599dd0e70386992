"""Keys: who is let in, who is not, and in which words. One collector with keys, one without."""

import os
import re
import shlex
import shutil
import socket
import stat
import subprocess
import threading
import time
from pathlib import Path

import pytest
import zmq
from collector_harness import DEADLINE, PORTOLAND, Collector, dump, portoland

import portolan

PORTOLAN = os.environ["PORTOLAN"]


def keygen(*arguments):
    done = portoland("keygen", *map(str, arguments))
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def keys(tmp_path):
    keygen(tmp_path / "keys")
    return tmp_path / "keys"


@pytest.fixture
def collect(tmp_path):
    started = []

    def start(*options):
        started.append(Collector(str(tmp_path / "store"), *map(str, options)))
        return started[-1]

    yield start
    for collector in started:
        collector.end()


def record(name, endpoint, keys=None, **options):
    with portolan.Run(name, endpoint=endpoint, keys=keys, **options) as run:
        run.log_gold(0, [1, 2, 3], [0.5, 0.25, 1.0], [True, False, True])
    return run.stats()["acknowledged"]


def refusal(endpoint, keys=None):
    """What a client is told that is not let in: a list that was changed may count a second later."""
    for attempt in range(5):
        started = time.monotonic()
        try:
            portolan.Run(f"stranger/{attempt}", endpoint=endpoint, keys=keys, open_timeout=DEADLINE).close()
            time.sleep(1)
        except portolan.Refused as error:
            assert time.monotonic() - started < DEADLINE / 2, "it waited for the time-out"
            return str(error)
    raise AssertionError("it is still let in")


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_keygen_makes_files_for_the_right_eyes(tmp_path):
    directory = tmp_path / "keys"
    assert str(directory) in keygen(directory)
    assert mode(directory) == mode(directory / "clients") == 0o700
    assert mode(directory / "server.key") == mode(directory / "client.key") == 0o600
    assert sorted(os.listdir(directory)) == ["client.key", "clients", "server.key", "server.pub"]
    assert os.listdir(directory / "clients") == ["client.pub"]
    assert re.search(r"^public \S{40}$", (directory / "server.pub").read_text(), re.M)
    keygen(directory, "--client", "gpu7")
    assert sorted(os.listdir(directory / "gpu7")) == ["client.key", "server.pub"]
    assert mode(directory / "gpu7" / "client.key") == 0o600
    before = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    for again in ([str(directory)], [str(directory), "--client", "gpu7"]):
        done = portoland("keygen", *again)
        assert done.returncode == 1 and "not overwritten" in done.stderr and done.stderr.count("\n") == 1
    assert before == {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_keygen_through_portolan(tmp_path):
    done = subprocess.run([PORTOLAN, "keygen", tmp_path / "keys"], env={**os.environ, "PORTOLAND": PORTOLAND},
                          capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "keys" / "server.key").exists()


def test_the_commands_of_the_page(tmp_path):
    """Those of collector/README.md, with a port of loopback in place of the one that is open to other machines."""
    page = (Path(__file__).resolve().parents[2] / "collector/README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        endpoint = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    make, serve, add, remove = (shlex.split(line, comments=True) for line in block.replace("tcp://0.0.0.0:5757", endpoint).splitlines())
    assert endpoint in serve
    programs = f"{Path(PORTOLAN).parent}:{Path(PORTOLAND).parent}"
    options = {"cwd": tmp_path, "env": {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}}
    subprocess.run(make, check=True, **options)
    collector = subprocess.Popen(serve, **options)
    try:
        subprocess.run(add, check=True, **options)
        (tmp_path / "keys/gpu7").rename(tmp_path / "gpu7")
        assert record("words/seed1", endpoint, tmp_path / "gpu7") == 3
        subprocess.run(remove, check=True, **options)
        assert "does not know this client's key" in refusal(endpoint, tmp_path / "gpu7")
    finally:
        collector.terminate()
        assert collector.wait(DEADLINE) == 0


def test_keygen_writes_only_where_its_owner_alone_does(tmp_path):
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys").chmod(0o777)
    done = portoland("keygen", str(tmp_path / "keys"))
    assert done.returncode == 1 and "chmod go-w" in done.stderr
    assert not os.listdir(tmp_path / "keys")


def test_a_listed_client_is_let_in(collect, keys):
    keygen(keys, "--client", "gpu7")
    collector = collect("--keys", keys)
    assert record("first", collector.tcp, keys) == 3
    assert record("second", collector.tcp, keys / "gpu7") == 3
    assert dump(collector.store, "second")[0] == {("1", 0): (0.5, 1), ("2", 0): (0.25, 0), ("3", 0): (1.0, 1)}


def test_what_is_sent_is_encrypted(collect, keys):
    """What a listener in between would see of one connection."""
    collector = collect("--keys", keys)
    context = zmq.Context()
    context.linger = 0
    front, back = context.socket(zmq.STREAM), context.socket(zmq.STREAM)
    port = front.bind_to_random_port("tcp://127.0.0.1")
    back.connect(collector.tcp)
    client_id, collector_id, seen, early = None, back.recv(), b"", []
    back.recv()
    try:
        results = []
        name = "a-name-that-nobody-else-shall-read"
        thread = threading.Thread(target=lambda: results.append(record(name, "tcp://127.0.0.1:%d" % port, keys)))
        thread.start()
        end = time.monotonic() + DEADLINE
        while thread.is_alive() and time.monotonic() < end:
            for source, target in ((front, back), (back, front)):
                while source.poll(5):
                    identity, data = source.recv_multipart()
                    if source is front:
                        client_id = identity
                    seen += data
                    if data and target is back:
                        back.send_multipart([collector_id, data])
                    elif data:
                        early.append(data)  # the collector speaks first, perhaps before the client is there
                    while early and client_id:
                        front.send_multipart([client_id, early.pop(0)])
        thread.join(DEADLINE)
    finally:
        context.destroy(linger=0)
    assert results == [3]
    assert len(seen) > 500 and name.encode() not in seen and b"gold_prob" not in seen


def test_an_unknown_key_is_refused_and_named(collect, keys, tmp_path):
    keygen(tmp_path / "other")
    shutil.copy(keys / "server.pub", tmp_path / "other" / "server.pub")
    collector = collect("--keys", keys)
    assert "does not know this client's key" in refusal(collector.tcp, tmp_path / "other")
    public = (tmp_path / "other" / "clients" / "client.pub").read_text().split("\n")[1]
    code, said = collector.end()
    assert code == 0 and public in said and "127.0.0.1" in said


def test_keys_are_added_and_removed_while_it_runs(collect, keys, tmp_path):
    listed = keys / "clients" / "client.pub"
    collector = collect("--keys", keys)

    def expect_answer(name):
        time.sleep(1.1)  # a list that was changed may count a second later
        if name:
            assert record(name, collector.tcp, keys) == 3
        else:
            assert "does not know this client's key" in refusal(collector.tcp, keys)

    expect_answer("before")
    listed.rename(tmp_path / "client.pub")
    expect_answer(None)  # an empty list: nobody
    (tmp_path / "client.pub").rename(listed)
    expect_answer("after")
    # Whatever is wrong with the list, the answer is no.
    listed.chmod(0o666)
    expect_answer(None)
    listed.chmod(0o644)
    listed.parent.chmod(0o777)
    expect_answer(None)
    listed.parent.chmod(0o700)
    listed.parent.rename(tmp_path / "clients")
    expect_answer(None)
    (tmp_path / "clients").rename(listed.parent)
    expect_answer("again")


def test_malformed_files_in_the_list_admit_nobody_and_harm_nobody(collect, keys):
    (keys / "clients" / "a.pub").write_text("secret 0000000000000000000000000000000000000000\n")
    (keys / "clients" / "b.pub").write_bytes(os.urandom(3000))
    (keys / "clients" / "c.pub").write_text("")
    (keys / "clients" / "d.pub").mkdir()
    os.mkfifo(keys / "clients" / "e.pub")
    (keys / "clients" / "f.pub").symlink_to("/nowhere")
    collector = collect("--keys", keys)
    assert record("run", collector.tcp, keys) == 3


def test_one_side_without_keys(collect, keys):
    collector = collect("--keys", keys)
    message = refusal(collector.tcp)
    assert "wants keys" in message and collector.tcp in message
    assert collector.end()[0] == 0
    message = refusal(collect().tcp, keys)
    assert "uses no keys" in message


def test_the_wrong_collector_is_not_talked_to(collect, keys, tmp_path):
    keygen(tmp_path / "other")
    shutil.copy(keys / "client.key", tmp_path / "other" / "client.key")
    assert "server.pub is not its public key" in refusal(collect("--keys", keys).tcp, tmp_path / "other")


def test_the_stores_own_socket_needs_no_keys(collect, keys, tmp_path):
    extra = "ipc://" + str(tmp_path / "extra.sock")
    collector = collect("--keys", keys, "--listen", extra)
    assert record("own", collector.local) == 3
    assert record("extra", extra) == 3
    with portolan.Run("embedded", store=collector.store) as run:
        run.log_gold(0, [1], [0.5], [True])


def test_a_collector_that_comes_back_with_the_key_is_found_again(collect, keys, tmp_path):
    collector = collect("--keys", keys)
    with portolan.Run("run", endpoint=collector.tcp, keys=keys) as run:
        run.log_gold(0, [1], [0.5], [True])
        assert run.flush(timeout=DEADLINE)
        (keys / "clients" / "client.pub").rename(tmp_path / "client.pub")
        collector.end()
        again = collect("--keys", keys, "--listen", collector.tcp)
        run.log_gold(1, [1], [0.5], [True])
        line = again.process.stderr.readline()
        assert "refused a connection" in line
        assert not run.flush(timeout=0)
        (tmp_path / "client.pub").rename(keys / "clients" / "client.pub")
        assert run.flush(timeout=DEADLINE)
    assert len(dump(again.store, "run")[0]) == 2


def limit(keys, lines):
    """Puts lines before the key of the first client, in one step."""
    listed = keys / "clients" / "client.pub"
    key = [line for line in listed.read_text().splitlines() if line.startswith("public ")]
    (keys / "new").write_text("\n".join([*lines, *key, ""]))
    (keys / "new").rename(listed)


def test_a_limited_key_is_told_what_it_lacks(collect, keys):
    limit(keys, ['prefix = "alice/"', "overwrite = no"])
    collector = collect("--keys", keys)
    began = time.monotonic()
    with pytest.raises(portolan.Refused, match=r"begin with 'alice/'.*clients/client\.pub"):
        record("bob/1", collector.tcp, keys)
    assert record("alice/1", collector.tcp, keys) == 3
    with pytest.raises(portolan.Refused, match=r"overwrites no runs.*overwrite = no"):
        record("alice/1", collector.tcp, keys, if_exists="overwrite")
    with pytest.raises(portolan.Refused, match="begin with 'alice/'"):
        record("bob/1", collector.tcp, keys, if_exists="number")
    assert time.monotonic() - began < DEADLINE / 2, "it tried again and again"
    assert record("alice/1", collector.tcp, keys, if_exists="number") == 3
    assert len(dump(collector.store, "alice/1")[0]) == 3


def test_what_a_limited_key_may_not_send_stays_in_its_spool(collect, keys, tmp_path, capfd):
    """Recorded while no collector answers, then refused: the spool keeps it, and it is sent when the limits are gone."""
    spool, nobody = tmp_path / "spool", collect("--keys", keys)
    nobody.end()
    with portolan.Run("bob/1", endpoint=nobody.tcp, keys=keys, spool=spool, open_timeout=0.1) as run:
        run.log_gold(0, [1, 2], [0.5, 0.25], [True, False])
    (left,) = spool.glob("*.spool")
    limit(keys, ['prefix = "alice/"'])
    collector = collect("--keys", keys, "--listen", nobody.tcp)
    with portolan.Run("alice/1", endpoint=nobody.tcp, keys=keys, spool=spool) as run:  # which sends what is left over
        run.log_gold(0, [1], [0.5], [True])
    assert "begin with 'alice/'" in capfd.readouterr().err
    assert left.exists()
    limit(keys, [])
    time.sleep(1.1)  # a list that was changed may count a second later
    with portolan.Run("alice/2", endpoint=nobody.tcp, keys=keys, spool=spool) as run:
        run.log_gold(0, [1], [0.5], [True])
    assert not left.exists()
    assert len(dump(collector.store, "bob/1")[0]) == 2


def test_a_key_that_is_limited_while_it_records(collect, keys, tmp_path, capfd):
    """The session that is open goes on; after a loss of contact it is refused, and what was not acknowledged is kept."""
    collector = collect("--keys", keys)
    with portolan.Run("bob/1", endpoint=collector.tcp, keys=keys, spool=tmp_path / "spool") as run:
        run.log_gold(0, [1], [0.5], [True])
        assert run.flush(timeout=DEADLINE)
        limit(keys, ['prefix = "alice/"'])
        time.sleep(1.1)
        run.log_gold(1, [1], [0.5], [True])
        assert run.flush(timeout=DEADLINE)
        collector.end()
        again = collect("--keys", keys, "--listen", collector.tcp)
        run.log_gold(2, [1], [0.5], [True])
        end = time.monotonic() + DEADLINE
        while "no longer recorded" not in (said := capfd.readouterr().err):
            assert time.monotonic() < end, said
            time.sleep(0.1)
        assert "begin with 'alice/'" in said and ".spool" in said
    (left,) = (tmp_path / "spool").glob("*.spool")
    again.end()
    done = portoland("import", str(left), "--store", again.store)
    assert done.returncode == 0, done.stderr
    assert len(dump(again.store, "bob/1")[0]) == 3


def test_a_secret_key_that_others_may_read_is_warned_about(collect, keys, capfd):
    (keys / "server.key").chmod(0o644)
    done = subprocess.Popen([PORTOLAND, "--store", keys.parent / "store", "--keys", keys, "--listen", "tcp://127.0.0.1:*"],
                            stderr=subprocess.PIPE, text=True)
    try:
        line = done.stderr.readline()
        assert "server.key" in line and "chmod 600" in line
    finally:
        done.terminate()
        done.communicate(timeout=DEADLINE)
    (keys / "server.key").chmod(0o600)
    (keys / "client.key").chmod(0o644)
    assert record("run", collect("--keys", keys).tcp, keys) == 3
    assert "client.key; chmod 600" in capfd.readouterr().err


def test_files_that_admit_nobody_are_named_at_start(keys):
    clients = keys / "clients"
    shutil.copy(keys / "server.key", clients / "secret.pub")
    shutil.copy(keys / "server.pub", clients / "open.pub")
    (clients / "open.pub").chmod(0o666)
    shutil.copy(keys / "server.pub", clients / "unnamed.key")
    (clients / ".hidden").write_text("")
    process = subprocess.Popen([PORTOLAND, "--store", keys.parent / "store", "--keys", keys, "--listen", "tcp://127.0.0.1:*"],
                               stderr=subprocess.PIPE, text=True)
    try:
        lines = {re.search(r"/clients/([a-z.]+)", line)[1]: line
                 for line in (process.stderr.readline() for _ in range(3))}
        assert "chmod go-w" in lines["open.pub"]
        assert "a public one belongs here" in lines["secret.pub"]
        assert "NAME.pub" in lines["unnamed.key"]
        assert " serving " in process.stderr.readline()
    finally:
        process.terminate()
        process.communicate(timeout=DEADLINE)


@pytest.mark.parametrize("spoil, words", [
    (lambda keys: (keys / "server.key").unlink(), "portolan keygen"),
    (lambda keys: (keys / "server.key").write_text("secret no\n"), "server.key"),
    (lambda keys: shutil.copy(keys / "server.pub", keys / "server.key"), "public key, and a secret one"),
    (lambda keys: keys.chmod(0o770), "chmod go-w"),
    (lambda keys: (keys / "clients").chmod(0o702), "chmod go-w"),
    (lambda keys: shutil.rmtree(keys / "clients"), "clients"),
    (shutil.rmtree, "keygen"),
])
def test_a_collector_does_not_start_with_wrong_keys(keys, tmp_path, spoil, words):
    spoil(keys)
    done = portoland("--store", str(tmp_path / "new"), "--keys", str(keys), "--listen", "tcp://127.0.0.1:*")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert words in done.stderr
    assert not (tmp_path / "new").exists()


def test_a_public_address_without_keys_is_refused(tmp_path):
    done = portoland("--store", str(tmp_path / "store"), "--listen", "tcp://0.0.0.0:*")
    assert done.returncode == 2 and "--keys" in done.stderr and "keygen" in done.stderr


@pytest.mark.parametrize("spoil, words", [
    (lambda keys: (keys / "client.key").unlink(), "client.key"),
    (lambda keys: (keys / "server.pub").unlink(), "server.pub"),
    (lambda keys: (keys / "server.pub").chmod(0o666), "chmod go-w"),
    (lambda keys: (keys / "client.key").write_text("hello\n"), "40 characters"),
])
def test_a_client_does_not_start_with_wrong_keys(keys, spoil, words):
    spoil(keys)
    with pytest.raises((portolan.Error, ValueError), match=words):
        portolan.Run("run", endpoint="tcp://127.0.0.1:1", keys=keys)
