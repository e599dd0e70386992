"""portoland as a service: telling its manager that it is ready, and the systemd unit."""

import os
import re
import shutil
import signal
import socket
import subprocess

import pytest
from collector_harness import DEADLINE, PORTOLAND, Client

UNIT = os.environ["PORTOLAN_UNIT"]


@pytest.fixture(params=["file", "abstract"])
def manager(request, tmp_path):
    """A socket as a service manager has it, and its address."""
    address = str(tmp_path / "notify") if request.param == "file" else f"@portolan-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(address.replace("@", "\0"))
        listener.settimeout(DEADLINE)
        yield listener, address


def start(tmp_path, **environment):
    return subprocess.Popen([PORTOLAND, "--store", tmp_path / "store", "--listen", "tcp://127.0.0.1:*"],
                            env={**os.environ, **environment}, stderr=subprocess.PIPE, text=True)


def test_it_tells_when_it_can_be_connected_to(manager, tmp_path):
    listener, address = manager
    process = start(tmp_path, NOTIFY_SOCKET=address)
    try:
        assert b"READY=1" in listener.recv(1000).split(b"\n")
        client = Client("ipc://" + str(tmp_path / "store" / "collector.sock"))
        client.open("run")
        client.leave()
        process.send_signal(signal.SIGTERM)
        assert b"STOPPING=1" in listener.recv(1000).split(b"\n")
    finally:
        process.terminate()
        process.communicate(timeout=DEADLINE)
    assert process.returncode == 0


def test_it_is_not_ready_when_it_cannot_start(manager, tmp_path):
    listener, address = manager
    (tmp_path / "store").write_text("a file")
    process = start(tmp_path, NOTIFY_SOCKET=address)
    process.communicate(timeout=DEADLINE)
    assert process.returncode == 1
    listener.setblocking(False)
    with pytest.raises(BlockingIOError):
        listener.recv(1000)


@pytest.mark.parametrize("address", ["", "@", "/nowhere/at/all", "relative", "/" + 200 * "x"])
def test_a_strange_address_does_no_harm(tmp_path, address):
    process = start(tmp_path, NOTIFY_SOCKET=address)
    try:
        assert " serving " in process.stderr.readline()
    finally:
        process.terminate()
        process.communicate(timeout=DEADLINE)
    assert process.returncode == 0


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not there")
def test_the_unit_is_one(tmp_path):
    with open(UNIT, encoding="utf-8") as file:
        text = file.read()
    assert "@" not in re.sub(r"@system-service|@privileged", "", text)
    assert re.search(r"^\[Unit\][^[]*^StartLimitIntervalSec=0$", text, flags=re.M)  # it is tried until it starts
    unit = tmp_path / "portolan.service"
    unit.write_text(re.sub(r"^ExecStart=\S+/portoland", "ExecStart=" + os.path.realpath(PORTOLAND), text, flags=re.M))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, timeout=DEADLINE,
                          check=False)
    assert done.returncode == 0 and "portolan.service" not in done.stderr, done.stderr
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=20", unit], capture_output=True,
                          text=True, timeout=DEADLINE, check=False)
    assert done.returncode == 0, done.stdout[-300:] + done.stderr
