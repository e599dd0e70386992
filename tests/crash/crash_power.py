"""Power failures: at every moment, what was acknowledged must be in whatever of the written pages has reached the disk.

trace_shim.c writes down each write to data.mdb, each sync, and what the clients know to be acknowledged at that moment. From that
the file is made again as it could have been found after losing power between two events: everything synced, and of the
writes since then none, all, the first few, or any sectors, in any mixture. Each such file must open and hold what was acknowledged.
"""

import os
import random
import struct

import crash_support as support

SHIM = os.environ["CRASH_TRACE_SHIM"]
WRITTEN, SYNCED, TRUNCATED, RENAMED = 1, 2, 3, 4
SECTOR = 512
SIDES = 8


def record(folder, rows):
    """A collector under the shim, with clients one after another and side by side; returns (runs, trace)."""
    store, port = os.path.join(folder, "store"), support.free_port()
    runs = [support.Run("declared", "declared", 1 << 11, folder), support.Run("strings", "str", 1 << 11, folder)]
    sides = [os.path.join(folder, f"{run.name}.{n}.side") for run in runs for n in range(SIDES // 2)]
    for side in sides:
        with open(side, "wb") as file:
            file.write(bytes(32))
    trace = os.path.join(folder, "trace")
    collector = support.Collector(store, port, os.path.join(folder, "collector.log"),
                                  {"LD_PRELOAD": SHIM, "CRASH_TRACE": trace, "CRASH_SIDES": ":".join(sides)})
    where = ("endpoint", f"tcp://127.0.0.1:{port}")
    try:
        for _ in range(SIDES // 2):
            sessions = [run.record(where, rows=rows, rows_per_second=20_000) for run in runs]
            for session in sessions:
                if support.finish(session.process, "a client"):
                    raise support.Wrong("".join(run.said() for run in runs) + collector.said())
    finally:
        collector.stop()
    for run in runs:
        run.verify(store)
    return runs, trace


def events(trace):
    """Yields (kind, lasting, offset, data, acknowledged by side)."""
    with open(trace, "rb") as file:
        while head := file.read(24):
            kind, lasting, offset, length = struct.unpack("<IIQQ", head)
            acked = struct.unpack(f"<{SIDES}Q", file.read(8 * SIDES))
            yield kind, lasting, offset, file.read(length), acked


class Disk:
    """A file, of which `lasting` is certain and `waiting` has been written since the last sync."""

    def __init__(self):
        self.lasting, self.waiting, self.named = bytearray(), [], False

    @staticmethod
    def put(image, offset, data):
        if len(image) < offset + len(data):
            image.extend(bytes(offset + len(data) - len(image)))
        image[offset:offset + len(data)] = data

    def take(self, kind, lasting, offset, data):
        if kind == WRITTEN and not lasting:
            self.waiting.append((offset, data))
        elif kind == WRITTEN:
            self.put(self.lasting, offset, data)
        elif kind == SYNCED:
            for write in self.waiting:
                self.put(self.lasting, *write)
            self.waiting = []
        elif kind == TRUNCATED:
            raise support.Wrong("data.mdb was truncated, which this test does not know")
        elif kind == RENAMED:
            if self.waiting:
                raise support.Wrong("data.mdb got its name before its content was synced")
            self.named = True

    def states(self, dice, mixtures):
        """What could be found: (description, image)."""
        yield "nothing since the last sync", bytes(self.lasting)
        if not self.waiting:
            return
        whole = bytearray(self.lasting)
        for write in self.waiting:
            self.put(whole, *write)
        yield "everything", bytes(whole)
        for _ in range(mixtures):
            image = bytearray(self.lasting)
            share = dice.choice((0.1, 0.5, 0.9))
            for offset, data in self.waiting:
                for at in range(0, len(data), SECTOR):
                    if dice.random() < share:
                        self.put(image, offset + at, data[at:at + SECTOR])
            yield f"{share:.0%} of the sectors", bytes(image)


def check(folder, runs, image, named, acked, what):
    """Opens the file as it was found; all of what was acknowledged must be there."""
    store = os.path.join(folder, "found")
    os.mkdir(store)
    with open(os.path.join(store, "data.mdb" if named else "data.mdb.new"), "wb") as file:
        file.write(image)
    half = SIDES // 2
    for number, run in enumerate(runs):
        figures = {s.number: (s.figures()[0], acked[number * half + s.number]) for s in run.sessions}
        try:
            run.verify(store, figures)
        except support.Wrong as error:
            raise support.Wrong(f"{what}: {error}") from error
    support.shutil.rmtree(store)


def power(states, rows=6000, seed=None, say=lambda line: None):
    """Checks about `states` states, spread over the whole trace; {figure: number}."""
    seed = seed if seed is not None else int.from_bytes(os.urandom(4), "little")
    dice = random.Random(seed)
    figures = {"seed": seed, "events": 0, "syncs": 0, "states": 0}
    with support.Folder() as folder:
        runs, trace = record(folder, rows)
        total = sum(1 for _ in events(trace))
        disk = Disk()
        for number, (kind, lasting, offset, data, acked) in enumerate(events(trace)):
            # Just before this event: what was acknowledged by now must be there without it.
            if number < 16 or dice.random() < states / 3 / total:
                for description, image in disk.states(dice, 2):
                    check(folder, runs, image, disk.named, acked, f"seed {seed}, event {number}, {description}")
                    figures["states"] += 1
            disk.take(kind, lasting, offset, data)
            figures["events"] += 1
            figures["syncs"] += kind == SYNCED or bool(lasting)
            if figures["events"] % 1000 == 0:
                say(f"{figures}")
        if disk.waiting or not disk.named:
            raise support.Wrong("the collector ended without a sync")
    return figures


def test_power():
    figures = power(int(os.environ.get("CRASH_STATES", "150")))
    print(figures)
    assert figures["syncs"] > 20 and figures["states"] > 60
