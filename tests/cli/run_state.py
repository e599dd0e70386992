"""`portolan metrics --state` beside the whole computation: random runs that grow, are patched and continued by other sessions.

    run_state.py PORTOLAN MAKE_STORE

Every table with a state is compared with that of the same call without. Old epochs that are damaged show that they are not read. Every kind of
damage of a state is refused, and leaves it as it was.
"""

import csv
import io
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stores
from checks import check, finish

PORTOLAN, MAKE_STORE = (os.path.abspath(path) for path in sys.argv[1:3])
COUNTS = {"id", "gold", "label", "epochs", "correctness", "forgetting_events", "never_learned", "first_learned", "always_right_after", "always_wrong_after"}


class Recorded:
    """A store that is written while it is read."""

    def __init__(self):
        self.process = subprocess.Popen([MAKE_STORE, "record"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.path = self.process.stdout.readline().decode().strip()

    def tell(self, data, lines=1):
        self.process.stdin.write(data)
        self.process.stdin.flush()
        for _ in range(lines):
            assert self.process.stdout.readline() == b"on disk\n"

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def metrics(store, *words, run="r"):
    return subprocess.run([PORTOLAN, "metrics", run, "--store", store, *words], capture_output=True, text=True)


def rows_of(done):
    return list(csv.DictReader(io.StringIO(done.stdout)))


def is_same(name, ours, wanted):
    if ours == wanted:
        return True
    if name in COUNTS or not ours or not wanted:
        return False
    return math.isclose(float(ours), float(wanted), rel_tol=1e-12, abs_tol=1e-12)


def compare(store, state, *words, says=""):
    """The same table with the state as without it; stderr has `says`, or nothing of a state."""
    whole, ours = (metrics(store, "--format", "csv", *words, *more) for more in ((), ("--state", state)))
    check(whole.returncode == 0 and ours.returncode == 0, f"{words}: {whole.stderr}{ours.stderr}")
    check(says in ours.stderr if says else "--state" not in ours.stderr, f"{words}: {says!r}, not: {ours.stderr}")
    wanted, got = rows_of(whole), rows_of(ours)
    check([row["id"] for row in wanted] == [row["id"] for row in got] and len(got) > 0, f"{words}: other examples")
    different = {name for a, b in zip(got, wanted) for name in b if not is_same(name, a.get(name, "?"), b[name])}
    check(not different, f"{words}: {different} differ")
    check([line for line in ours.stderr.splitlines() if "--state" not in line] == whole.stderr.splitlines(), f"{words}: {ours.stderr}")


def random_batch(random, epoch, kind, losses):
    """Most of the examples that there are by then, of new ones too; nearly equal values among the probabilities."""
    known = 60 + 25 * epoch
    ids = random.permutation(known)[: int(known * random.uniform(0.5, 1))]
    if kind == "str":
        ids = [f"example {i * 7919 % 1000}" for i in ids]
    n = len(ids)
    if losses:
        return stores.batch(epoch, ids, np.zeros(n), np.zeros(n, bool), task_loss=random.lognormal(3 - epoch / 3, 1, n), mine=random.normal(size=n))
    p = np.where(random.random(n) < 0.2, np.float32(0.7) + np.float32(6e-8) * random.integers(0, 3, n), random.random(n)).astype("f4")
    p[random.random(n) < 0.05] = 0
    signals = dict(margin=random.normal(0, 5, n), other_sq=random.random(n), entropy=random.random(n), max_prob=np.maximum(p, random.random(n)))
    if epoch < 2:  # signals that come later
        signals = {}
    own = {"mine": random.normal(size=n)} if epoch != 3 else {"other": random.normal(size=n)}
    return stores.batch(epoch, ids, p, random.random(n) < 0.2 + 0.1 * epoch, gold=random.integers(0, 3, n), **signals, **own)


def check_growing(folder, seed, kind, losses, words):
    """A run that grows by some epochs at a time; each epoch is over when its session has ended."""
    random = np.random.default_rng(seed)
    store, state, epoch = Recorded(), os.path.join(folder, f"grown-{seed}"), 0
    declared = 1000 if kind == "declared" else 0
    store.tell(f"run r {declared} 0\n".encode())
    for step, count in enumerate((2, 1, 6, 1, 3)):
        for _ in range(count):
            store.tell(stores.describe_batch(random_batch(random, epoch, kind, losses)))
            epoch += 1
        compare(store.path, state, *words)  # the new epochs are under way
        store.tell(b"end\n")
        compare(store.path, state, *words)
        held = os.stat(state)
        compare(store.path, state, *words)
        check(os.stat(state).st_ino == held.st_ino, f"{seed}: a state was written, and nothing was new")
        store.tell(f"session {step + 2} 0\n".encode())
    size = os.path.getsize(state)
    store.tell(stores.describe_batch(random_batch(random, 2, kind, losses)))  # a patch, which waits in the log
    compare(store.path, state, *words, says="rows came for epoch 2")
    compare(store.path, state, *words)
    store.tell(b"end\n")
    compare(store.path, state, *words)
    store.tell(b"session 99 0\n" + stores.describe_batch(random_batch(random, epoch + 2, kind, losses)) + b"end\n", 3)
    compare(store.path, state, *words)
    store.tell(b"session 100 0\n" + stores.describe_batch(random_batch(random, epoch, kind, losses)) + b"end\n", 3)
    compare(store.path, state, *words, says=f"epoch {epoch} came")
    compare(store.path, state, *words, "--max-memory", "16M", "--threads", "1")
    compare(store.path, state, *words, "--never", "next")
    check(os.path.getsize(state) > size, f"{seed}: the state did not grow")
    if not losses:
        check_forms(store.path, state, words)
    store.close()


def check_forms(store, state, words):
    """Every format of the table is the same as without, but for the last digits."""
    for form in ("jsonl", "tsv", "npy", "cartography", "aum"):
        whole, ours = os.path.join(os.path.dirname(state), "whole"), os.path.join(os.path.dirname(state), "ours")
        a, b = metrics(store, *words, "--format", form, "-o", whole), metrics(store, *words, "--format", form, "-o", ours, "--state", state)
        check(a.returncode == b.returncode == 0, f"{form}: {a.stderr}{b.stderr}")
        if form == "npy":
            one, two = np.load(whole), np.load(ours)
            for name in one.dtype.names:
                same = np.array_equal(one[name], two[name]) if one[name].dtype.kind != "f" else np.allclose(one[name], two[name], 1e-12, 1e-12, equal_nan=True)
                check(same, f"npy: {name} differs")
        else:
            with open(whole) as first, open(ours) as second:
                check(len(first.readlines()) == len(second.readlines()), f"{form}: another number of lines")


def check_blocks(folder):
    """More examples than a chunk has; a declared run with chunks that are seen late; the rest is written by places."""
    random = np.random.default_rng(7)
    for declared in (0, 70_000):
        store, state = Recorded(), os.path.join(folder, f"blocks-{declared}")
        store.tell(f"run r {declared} 0\n".encode())
        for epoch, (begin, end) in enumerate(((40_000, 45_000), (30_000, 50_000), (0, 70_000), (10, 20))):
            ids = random.permutation(np.arange(begin, end))
            store.tell(stores.describe_batch(stores.batch(epoch, ids, random.random(len(ids)), random.random(len(ids)) < 0.5, gold=ids % 3)))
            store.tell(b"end\n")
            compare(store.path, state)
            store.tell(f"session {epoch + 2} 0\n".encode())
            whole, ours = (os.path.join(folder, name) for name in ("a.npy", "b.npy"))
            check(metrics(store.path, "-o", whole).returncode == 0, "npy")
            check(metrics(store.path, "-o", ours, "--state", state).returncode == 0, "npy with a state")
            one, two = np.load(whole), np.load(ours)
            check(all(np.allclose(one[name], two[name], 1e-12, 1e-12, equal_nan=True) for name in one.dtype.names), f"npy of {declared} declared, epoch {epoch}")
        store.close()


def check_unread(folder):
    """A damaged value of an old epoch ends the whole computation, and not that with a state."""
    random = np.random.default_rng(3)
    first, last = (stores.batch(e, np.arange(500), random.random(500).astype("f4"), random.random(500) < 0.5) for e in (0, 1))
    store, state, copy = Recorded(), os.path.join(folder, "unread"), os.path.join(folder, "copy")
    store.tell(b"run r 0 0\n" + stores.describe_batch(first) + b"end\n", 3)
    compare(store.path, state)
    store.tell(b"session 2 0\n" + stores.describe_batch(last) + b"end\n", 3)
    wanted = rows_of(metrics(store.path))
    shutil.copytree(store.path, copy)
    store.close()
    with open(os.path.join(copy, "data.mdb"), "r+b") as file:
        data = file.read()
        places = [i for i in range(len(data)) if data.startswith(np.asarray(first["gold_prob"], "<f4").tobytes()[:32], i)]
        check(len(places) > 0, "the values are not in the store")
        for at in places:
            file.seek(at)
            file.write(bytes([data[at] ^ 1]))
    check(metrics(copy).returncode == 1, "the damage of the old epoch was not noticed")
    ours = metrics(copy, "--state", state)
    check(ours.returncode == 0, ours.stderr)
    check(all(is_same(name, a[name], b[name]) for a, b in zip(rows_of(ours), wanted) for name in b), "other numbers")


def refused(store, state, says, *words, run="r", status=1):
    """The state, and the table that was there, are left as they were."""
    table = os.path.join(os.path.dirname(state), "table.csv")
    with open(table, "w") as file:
        file.write("kept")
    with open(state, "rb") as file:
        before = file.read()
    done = metrics(store, "--state", state, "-o", table, *words, run=run)
    check(done.returncode == status and says in done.stderr and (status == 2 or os.path.basename(state) in done.stderr), f"{says}: {done.returncode} {done.stderr}")
    with open(state, "rb") as file, open(table) as kept:
        check(file.read() == before and kept.read() == "kept", f"{says}: something was written")


def check_refusals(folder):
    random = np.random.default_rng(5)
    store, other = (os.path.join(folder, name) for name in ("one", "two"))
    batches = [stores.batch(e, np.arange(3), random.random(3), random.random(3) < 0.5) for e in range(3)]
    stores.make_store(MAKE_STORE, store, [stores.run("r", batches), stores.run("q", batches)])
    stores.make_store(MAKE_STORE, other, [stores.run("r", batches)])
    state = os.path.join(folder, "small.state")
    compare(store, state, "--epochs", "1:2")
    compare(store, state, "--epochs", "1:")
    refused(other, state, "of another store", "--epochs", "1:")
    refused(store, state, "of another run, 'r'", "--epochs", "1:", run="q")
    refused(store, state, "--epochs")
    refused(store, state, "holds epochs beyond --epochs 1:2", "--epochs", "1:2")
    refused(store, state, "--window", "--epochs", "1:", "--window", "3")
    refused(store, state, "--epochs auto", "--epochs", "auto", status=2)
    refused(store, state, "--minus", "--minus", "q", status=2)
    check(metrics(store, "--state", "-").returncode == 2, "--state - was taken")
    none = metrics(store, "--state", "")
    check(none.returncode == 2 and none.stdout == "", f"a state without a name: {none.returncode} {none.stderr}")
    device = metrics(store, "--state", "/dev/null")
    check(device.returncode == 1 and "name another file" in device.stderr and "remove" not in device.stderr, f"a device: {device.stderr}")
    fresh = os.path.join(folder, "fresh.state")
    full = subprocess.run(
        [PORTOLAN, "metrics", "r", "--store", store, "--state", fresh],
        capture_output=True,
        text=True,
        restore_signals=False,  # a write beyond the limit is an error, as one to a full disk is
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
    )
    check(full.returncode == 1 and "free space there, or leave --state out" in full.stderr and not os.path.exists(fresh), f"a full disk: {full.returncode} {full.stderr}")
    with open(state, "rb") as file:
        whole = file.read()
    broken = os.path.join(folder, "broken.state")
    for size in (*range(0, len(whole), 23), len(whole) - 1):
        with open(broken, "wb") as file:
            file.write(whole[:size])
        refused(store, broken, "nothing was changed", "--epochs", "1:")
    with open(broken, "wb") as file:
        file.write(whole + b"\0")
    refused(store, broken, "damaged", "--epochs", "1:")
    for at in range(0, len(whole), 5):
        with open(broken, "wb") as file:
            file.write(whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :])
        refused(store, broken, "nothing was changed", "--epochs", "1:")
    with open(broken, "w") as file:
        file.write("id,confidence\n" * 100)
    refused(store, broken, "no whole state of portolan metrics; nothing was changed: name another file", "--epochs", "1:")


def peak(*words):
    """Runs portolan; its status, its error output, and the most memory that it had, in MiB. A small process starts it, as the memory of the one that does counts."""
    code = "import resource, subprocess, sys; status = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL); print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    environment = {name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"}  # which fills memory that nobody uses
    done = subprocess.run([sys.executable, "-S", "-c", code, PORTOLAN, *words], capture_output=True, text=True, check=True, env=environment)
    status, most = map(int, done.stdout.split())
    return status, done.stderr, most / 1024


def check_memory(folder):
    """The sums of a long window count for --max-memory: fewer threads have them, and where not even one has room, nothing is written."""
    random = np.random.default_rng(8)
    store, state, ids = os.path.join(folder, "many"), os.path.join(folder, "many.state"), np.arange(80_000)
    stores.make_store(MAKE_STORE, store, [stores.run("r", [stores.batch(0, ids, random.random(len(ids)), random.random(len(ids)) < 0.5)])])
    words = ("metrics", "r", "--store", store, "--state", state, "--window", "256", "--threads", "4", "--max-memory")
    status, said, _ = peak(*words, "16M")
    check(status == 1 and "--state needs --max-memory 30M or more" in said and not os.path.exists(state), f"16M: {status} {said}")
    for memory in (30, 64):  # the state is made, and then read
        status, said, most = peak(*words, f"{memory}M")
        check(status == 0 and most < memory, f"{memory}M: {most} MiB {status} {said}")


def check_tdds(folder):
    random = np.random.default_rng(6)
    store, state = os.path.join(folder, "probabilities"), os.path.join(folder, "tdds")
    columns = [dict(prob_0=random.random(5), prob_1=random.random(5)) for _ in range(3)]
    stores.make_store(MAKE_STORE, store, [stores.run("r", [stores.batch(e, np.arange(5), random.random(5), np.ones(5, bool), **c) for e, c in enumerate(columns)])])
    whole, ours = metrics(store, "--window", "2"), metrics(store, "--window", "2", "--state", state)
    check(ours.returncode == 0 and "tdds is left out" in ours.stderr, ours.stderr)
    for a, b in zip(rows_of(ours), rows_of(whole)):
        b.pop("tdds")
        check(a.keys() == b.keys() and all(is_same(name, a[name], b[name]) for name in b), "another table")


def main():
    with tempfile.TemporaryDirectory(prefix="portolan-state-") as folder:
        check_growing(folder, 1, "int", False, [])
        check_growing(folder, 2, "str", False, ["--window", "2"])
        check_growing(folder, 3, "declared", False, ["--epochs", "1:"])
        check_growing(folder, 4, "int", True, ["--loss-threshold", "5"])
        check_growing(folder, 5, "declared", True, [])
        check_blocks(folder)
        check_unread(folder)
        check_refusals(folder)
        check_memory(folder)
        check_tdds(folder)
    finish()


main()
