"""Stores the programs must keep their hands off: those of a later version, and those on a network file system."""

import os
import subprocess

import crash_support as support

PORTOLAN, MAKE_NEWER, SHIM = os.environ["PORTOLAN"], os.environ["CRASH_MAKE_NEWER"], os.environ["CRASH_FAULT_SHIM"]


def run(*command, environment=None):
    return subprocess.run(command, capture_output=True, text=True, timeout=support.DEADLINE,
                          env={**os.environ, **(environment or {})})


def test_newer_store_is_refused_by_name():
    with support.Folder() as folder:
        store = os.path.join(folder, "store")
        support.Collector(store, support.free_port(), os.path.join(folder, "log")).stop()
        assert run(MAKE_NEWER, store).returncode == 0
        with open(os.path.join(store, "data.mdb"), "rb") as data:
            before = data.read()
        for command in ([support.PORTOLAND, "--store", store, "--listen", f"tcp://127.0.0.1:{support.free_port()}"],
                        [support.PORTOLAND, "rm", "a", "--store", store],
                        [PORTOLAN, "runs", "--store", store], [PORTOLAN, "metrics", "a", "--store", store]):
            done = run(*command)
            assert done.returncode == 1 and done.stdout == "", command
            assert len(done.stderr.splitlines()) == 1 and "schema version 3" in done.stderr \
                and "use a newer portolan" in done.stderr, done.stderr
        with open(os.path.join(store, "data.mdb"), "rb") as data:
            assert data.read() == before


def test_network_file_systems_are_refused():
    with support.Folder() as folder:
        for magic, name in ((0x6969, "NFS"), (0xff534d42, "CIFS"), (0x00c36400, "Ceph"), (0x47504653, "GPFS"),
                            (0x19830326, "BeeGFS"), (0x786f4256, "vboxsf")):
            store = os.path.join(folder, name)
            done = run(support.PORTOLAND, "--store", store, "--listen", f"tcp://127.0.0.1:{support.free_port()}",
                       environment={"LD_PRELOAD": SHIM, "CRASH_FILE_SYSTEM": str(magic)})
            assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done.stderr
            assert "network file system" in done.stderr and name in done.stderr and "tcp://" in done.stderr, done.stderr
            assert not os.path.exists(store)


def test_other_file_systems_are_not_refused():
    """One that nobody knows, and FUSE that is not of a network: the type in mountinfo is that of the disk it really is."""
    with support.Folder() as folder:
        for magic in (0x12345678, 0x65735546):
            store = os.path.join(folder, str(magic))
            os.mkdir(store)
            done = run(support.PORTOLAND, "--store", store, "--listen", f"tcp://127.0.0.1:{support.free_port()}",
                       "--exit-when-idle", "0", environment={"LD_PRELOAD": SHIM, "CRASH_FILE_SYSTEM": str(magic)})
            assert done.returncode == 0, done.stderr
            assert os.path.exists(os.path.join(store, "data.mdb"))
