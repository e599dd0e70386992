"""portolan check on files that were damaged from outside, byte by byte.

    run_check.py PORTOLAN MAKE_STORE

Whatever was changed, check ends with a status and a message, never by a signal; and whenever another command would print
something else than before, check says that the store is damaged.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stores

FLIPS = 150
PAGE = 4096


def call(portolan, *words):
    return subprocess.run([portolan, *words], capture_output=True, timeout=60)


def flip(path, at, mask=0x20):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ mask]))


def restore(original, path):
    shutil.copyfile(original, path)


def main():
    portolan, maker = (os.path.abspath(path) for path in sys.argv[1:3])
    random = np.random.default_rng(7)
    marked = random.random(20000, dtype="f4")
    ids = np.arange(20000)
    runs = [stores.run("run", [stores.batch(e, ids, marked if e == 1 else random.random(20000, dtype="f4"),
                                            random.random(20000) < 0.5, ids % 3) for e in range(3)]),
            stores.run("other", [stores.batch(0, ["a", "b"], [0.5, 0.25], [1, 0])]),
            stores.run("live", [stores.batch(1, ids, marked, random.random(20000) < 0.5)], ended=False)]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["PORTOLAN_STORE"] = os.path.join(folder, "store")
        stores.make_store(maker, "store", runs)
        data = "store/data.mdb"
        shutil.copyfile(data, "original")
        size = os.path.getsize(data)
        good = call(portolan, "metrics", "run").stdout
        live = call(portolan, "metrics", "live").stdout
        assert call(portolan, "check").returncode == 3  # one is being recorded

        # A value of one column at one epoch, and the same in the log of another run: the record is named. What a fold
        # has left behind in pages that nothing uses any more is nobody's.
        content = open("original", "rb").read()
        value = re.escape(marked[5000:5010].tobytes())
        named = set()
        for found in re.finditer(value, content):
            flip(data, found.start())
            got = {run: call(portolan, "check", run) for run in ("run", "live")}
            damaged = [run for run in got if got[run].returncode == 1]
            if damaged:
                named.add(re.search(rb"damaged: run '(run': column of gold_prob, epoch 1, chunk 0|"
                                    rb"live': log of epoch 1, entry 0): damaged", got[damaged[0]].stdout)[1][:12])
            else:
                assert call(portolan, "metrics", "run").stdout == good
                assert call(portolan, "metrics", "live").stdout == live
            assert len(damaged) <= 1, got
            assert call(portolan, "check", "other").returncode == 0
            assert call(portolan, "check").returncode == (1 if damaged else 3)
            restore("original", data)
        assert named == {b"run': column", b"live': log o"}, named

        # Anywhere.
        noticed = crashed = 0
        for at in random.integers(2 * PAGE, size, FLIPS):
            flip(data, int(at), 1 << int(at) % 8)
            got = call(portolan, "check", "--json")
            assert got.returncode in (1, 3), (at, got)
            noticed += got.returncode == 1
            crashed += b"cannot be read to its end" in got.stderr
            if got.returncode != 1:
                assert call(portolan, "metrics", "run").stdout == good, f"byte {at}: not noticed"
                assert call(portolan, "metrics", "live").stdout == live, f"byte {at}: not noticed"
            restore("original", data)
        assert noticed > FLIPS // 4, noticed

        # Cut short.
        for rest in (size // 2, 3 * PAGE, 100):
            os.truncate(data, rest)
            got = call(portolan, "check", "run")
            assert got.returncode == 1 and got.stderr + got.stdout, (rest, got)
            for words in (["runs"], ["metrics", "run"], ["select", "run", "--by", "confidence:asc", "--count", "5"]):
                got = call(portolan, *words)
                assert got.returncode == 1 and got.stderr.count(b"\n") == 1, (rest, got)
            restore("original", data)
        assert call(portolan, "check").returncode == 3

        # A process for which the file grows is named, while it does.
        assert json.loads(call(portolan, "check", "run", "--json").stdout)["long_reader"] is None
        with subprocess.Popen([maker, "hold", "store"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
            assert reader.stdout.readline() == b"held back\n"
            for words in (["run"], []):
                text = call(portolan, "check", *words).stdout.decode()
                named = re.search(r"\nthe file grows: process (\d+) reads .* that is (\d+) transactions old", text)
                assert named and int(named[1]) == reader.pid and 32 < int(named[2]) < 40, text
                got = call(portolan, "check", "--json", *words)
                report = json.loads(got.stdout)["long_reader"]
                assert got.returncode == (0 if words else 3) and report["process"] == reader.pid, report
                assert report["transactions_behind"] == int(named[2]) and report["held_bytes"] > 256 << 20, report
            reader.stdin.close()
            assert reader.wait(30) == 0
        assert json.loads(call(portolan, "check", "--json").stdout)["long_reader"] is None
        os.chdir("/")
    print(f"{FLIPS} flips: {noticed} noticed, {crashed} of them as damage to LMDB's own pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
