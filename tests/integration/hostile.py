"""Hostile peers against one collector, while a good client records through it all.

After each attack: the collector lives, its memory stayed under --max-memory, and the good client got on; at the end
everything the good client logged is there. The good client is the one that client/WIRE.md prints. The long form is
tools/soak hostile, which also prints the table.
"""

import contextlib
import multiprocessing
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import hostile_peers
import zmq
from collector_harness import Collector, portoland
from hostile_peers import ATTACKS, Target

MEMORY_MB = 256  # the default
ROWS = 512
EXAMPLES = 128 * ROWS
QUIET_SECONDS = 0.5  # before each attack: the good client undisturbed
SANITIZED = bool(os.environ.get("PORTOLAN_SANITIZED"))  # memory and speed are not the collector's own then

WIRE = Path(__file__).resolve().parents[2] / "client" / "WIRE.md"


def page_client():
    """The class Run that WIRE.md prints."""
    text = WIRE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    space = {}
    exec(next(block for block in blocks if "class Run" in block), space)
    return space["Run"]


def good_client(endpoint, stop, sent, acknowledged):
    """Logs epoch after epoch of the same examples; probability of example i at epoch e: (i + e) mod 256 / 256."""
    import numpy as np

    ids = np.arange(EXAMPLES, dtype="<u8")
    run = page_client()("good", endpoint=endpoint, examples=EXAMPLES)
    batch = 0
    while not stop.is_set():
        epoch, start = divmod(batch * ROWS, EXAMPLES)
        rows = ids[start : start + ROWS]
        probabilities = ((rows + epoch) % 256 / 256).astype("<f4")
        run.keep("batch", e=epoch, n=ROWS, ids=["u8", rows.tobytes()], columns={
            "gold_prob": ["f4", probabilities.tobytes()],
            "correct": ["bit", np.packbits(probabilities > 0.5, bitorder="little").tobytes()]})
        batch += 1
        sent.value = batch
        while len(run.kept) > 16:
            run.pump(100)
        acknowledged.value = batch - len(run.kept)
    run.close()
    acknowledged.value = batch


def check_good_run(store, batches):
    """Every observation of so many batches is there once, with its value. Returns how many there are."""
    import numpy as np

    out = os.path.join(store, "good.npy")
    done = subprocess.run([os.environ["PORTOLAN"], "metrics", "good", "--store", store, "--format", "npy", "-o", out],
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    measures = np.load(out)
    epochs, rest = divmod(batches * ROWS, EXAMPLES)
    ids = np.arange(EXAMPLES)
    expected_epochs = epochs + (ids < rest)
    seen = expected_epochs > 0
    assert (measures["id"] == ids[seen]).all()
    assert (measures["epochs"] == expected_epochs[seen]).all(), "observations are missing, or doubled"
    values = (ids[seen, None] + np.arange(epochs + 1)[None, :]) % 256 / 256
    values[np.arange(epochs + 1)[None, :] >= expected_epochs[seen, None]] = np.nan
    assert np.allclose(measures["confidence"], np.nanmean(values, axis=1), rtol=0, atol=1e-9)
    assert np.allclose(measures["correctness"], np.nanmean(np.where(np.isnan(values), np.nan, values > 0.5), axis=1))
    return int(expected_epochs.sum())


class Memory(threading.Thread):
    """Watches what a process takes that is no file's page, in MB."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.path, self.peak, self.over = f"/proc/{pid}/status", 0.0, threading.Event()
        self.start()

    def run(self):
        while not self.over.wait(0.01):
            try:
                with open(self.path, encoding="ascii") as status:
                    kilobytes = re.search(r"RssAnon:\s+(\d+)", status.read())
            except OSError:
                return
            if kilobytes:
                self.peak = max(self.peak, int(kilobytes[1]) / 1024)


class Siege:
    def __init__(self, directory, seed, say):
        self.store = os.path.join(directory, "store")
        self.collector = Collector(self.store, "--max-memory", f"{MEMORY_MB}M")
        self.said = []
        threading.Thread(target=lambda: self.said.extend(self.collector.process.stderr), daemon=True).start()
        self.target = Target(self.collector, seed)
        context = multiprocessing.get_context("fork")
        self.stop, self.sent, self.acknowledged = context.Event(), context.Value("q", 0), context.Value("q", 0)
        self.client = context.Process(
            target=good_client, args=(self.collector.tcp, self.stop, self.sent, self.acknowledged), daemon=True)
        self.client.start()
        self.say = say

    def speed(self, work):
        """What `work` returned, and batches of the good client acknowledged per second meanwhile."""
        before, start = self.acknowledged.value, time.monotonic()
        result = work()
        return result, (self.acknowledged.value - before) / (time.monotonic() - start)

    def wait_for_progress(self, why):
        before, end = self.acknowledged.value, time.monotonic() + hostile_peers.PATIENCE
        while self.acknowledged.value <= before:
            assert self.client.is_alive(), f"{why}: the good client has given up"
            assert time.monotonic() < end, f"{why}: the good client does not get on"
            time.sleep(0.01)

    def attack(self, attack, force):
        """One line of the table: name, what it got, peak memory, the good client's speed as a ratio."""
        self.wait_for_progress("before " + attack.__name__)
        _, quiet = self.speed(lambda: time.sleep(QUIET_SECONDS * force))
        memory = Memory(self.target.pid)
        got, besieged = self.speed(lambda: attack(self.target, force))
        self.wait_for_progress("after " + attack.__name__)
        memory.over.set()
        memory.join()
        name = attack.__name__.replace("_", " ")
        assert self.collector.process.poll() is None, f"{name}: the collector is dead"
        assert SANITIZED or memory.peak <= MEMORY_MB, f"{name}: {memory.peak:.0f} MB"
        self.say(f"{name:<24} {memory.peak:4.0f} MB  {besieged / max(quiet, 1e-9):5.2f}  {got}")
        return {"name": name, "got": got, "peak": memory.peak, "ratio": besieged / max(quiet, 1e-9)}

    def finish(self):
        """Everything that the good client logged is there, and nothing was made of the attacks but log lines."""
        self.stop.set()
        self.client.join(hostile_peers.PATIENCE)
        assert self.client.exitcode == 0, "the good client did not come to its end"
        self.collector.process.terminate()
        assert self.collector.process.wait(hostile_peers.PATIENCE) == 0
        return check_good_run(self.store, self.sent.value)

    def end(self):
        self.client.kill()
        self.collector.process.kill()
        self.collector.process.wait()


def besiege(force=1, seed=None, say=print, attacks=ATTACKS):
    """All attacks, one after the other, on one collector. Returns the table, and the number of observations that were
    recorded meanwhile, all found."""
    seed = random.SystemRandom().randrange(1 << 32) if seed is None else seed
    directory = tempfile.mkdtemp(prefix="portolan-hostile-")
    siege, began = Siege(directory, seed, say), time.monotonic()
    try:
        say(f"seed {seed}; cap {MEMORY_MB} MB\n{'attack':<24} {'peak':>7}  {'speed':>5}  what it got")
        table = [siege.attack(attack, force) for attack in attacks]
        observations = siege.finish()
        longest = max(map(len, siege.said), default=0)
        # A kind of line comes at most every 10 s, so a busy machine, on which the attacks take longer, has more of them.
        most = 40 * max(1, force, (time.monotonic() - began) / 50)
        assert len(siege.said) < most and longest < 1100, "strangers filled the log"
        say(f"{observations:,} observations of the good client, all there; {len(siege.said)} lines in the log")
        return table, observations
    finally:
        siege.end()
        shutil.rmtree(directory, ignore_errors=True)


def test_hostile_peers():
    table, observations = besiege()
    assert len(table) == len(ATTACKS) and observations > 0


def test_strangers_without_a_key(tmp_path):
    """With keys nobody gets as far as a frame; what can be sent before that is bounded as well."""
    keys = tmp_path / "keys"
    assert portoland("keygen", str(keys)).returncode == 0
    collector = Collector(str(tmp_path / "store"), "--keys", str(keys), "--max-memory", f"{MEMORY_MB}M")
    try:
        target = Target(collector, 0)
        for pause in (0, 0.005, 0.1):  # seconds; the connection may be given up before the frame is sent
            with hostile_peers.Peer(target) as plain:
                plain.socket.sndtimeo = 500
                time.sleep(pause)
                with contextlib.suppress(zmq.Again):
                    plain.send(plain.frame("open", run="run", started=1, mode="epoch-end"))
                assert not plain.answers(1, wait=0.5)
        print(hostile_peers.half_handshakes(target, 1))
        # The handshake's commands are frames too: large ones, in part.
        target.hello, target.long = hostile_peers.GREETING.replace(b"NULL\0", b"CURVE"), b"\x06"
        memory = Memory(target.pid)
        print(hostile_peers.hoarding(target, 1))
        memory.over.set()
        memory.join()
        assert SANITIZED or memory.peak <= MEMORY_MB
        with hostile_peers.Peer(target, keys) as known:
            assert known.open("run") == "opened"
        assert collector.process.poll() is None
    finally:
        collector.end()


if __name__ == "__main__":
    besiege(force=int(sys.argv[1]) if len(sys.argv) > 1 else 1, seed=int(sys.argv[2]) if len(sys.argv) > 2 else None)
