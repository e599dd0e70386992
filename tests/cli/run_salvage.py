"""portolan salvage, after 200 random damages of a store's pages.

    run_salvage.py PORTOLAN PORTOLAND MAKE_STORE [CASE]

A reader of LMDB's format that is written here, apart from the program's own, says which pages belong to which run. A run
none of whose pages was touched must come back exactly; whatever comes back of another run must equal what was recorded.
"""

import contextlib
import csv
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

import stores

PORTOLAN, PORTOLAND, MAKE_STORE = sys.argv[1:4]
CASES, CASES_OF_LOSSES = 200, 60
PAGE = 4096
IMPLIED = ("gold_prob", "correct", "task_loss")  # every observation has them, of its kind


def portolan(*words, ok=(0,)):
    done = subprocess.run([PORTOLAN, *words], capture_output=True, text=True, timeout=120, env={**os.environ, "PORTOLAND": PORTOLAND})
    assert done.returncode in ok, (words, done.returncode, done.stdout[-500:], done.stderr[-1000:])
    return done


def u(data, at, size):
    return int.from_bytes(data[at:at + size], "little")


class Pages:
    """Which pages hold records of which run; `paths`: the branches that lead to them."""

    def __init__(self, data):
        self.data, self.own, self.paths, self.names, self.of = data, {}, {}, {}, {}
        metas = [n for n in (0, 1) if u(data, n * PAGE + 16, 4) == 0xBEEFC0DE]
        self.meta = max(metas, key=lambda n: u(data, n * PAGE + 144, 8))
        at = self.meta * PAGE
        self.roots = {self.meta}
        for page, nodes in self.leaves(u(data, at + 88 + 40, 8)):
            self.roots.add(page[-1])
            databases = {key: u(data, value + 40, 8) for key, value, _ in nodes}
        self.free = {p for path, nodes in self.leaves(u(data, at + 40 + 40, 8)) for p in [*path, *(q for _, _, o in nodes for q in o)]}
        for name, root in databases.items():
            for path, nodes in self.leaves(root):
                self.of.setdefault(name, set()).add(path[-1])
                for key, value, overflow in nodes:
                    if name in (b"meta", b"removals"):
                        continue
                    run = u(data, value + 16, 4) if name == b"runs" else int.from_bytes(key[16:20] if name == b"session-ids" else key[:4], "big")
                    if name == b"runs":
                        self.names[key.decode()] = run
                    self.own.setdefault(run, set()).update([path[-1], *overflow])
                    self.paths.setdefault(run, set()).update(path[:-1])

    def leaves(self, root, path=()):
        if root == 2**64 - 1:
            return
        at, nodes = root * PAGE, []
        for i in range((u(self.data, at + 12, 2) - 16) // 2):
            node = at + u(self.data, at + 16 + 2 * i, 2)
            size, flags, key_size = u(self.data, node, 4), u(self.data, node + 4, 2), u(self.data, node + 6, 2)
            key, value, overflow = self.data[node + 8:node + 8 + key_size], node + 8 + key_size, []
            if u(self.data, at + 10, 2) == 1:
                yield from self.leaves(size | flags << 32, (*path, root))
            elif flags & 1:
                first = u(self.data, value, 8)
                overflow = list(range(first, first + (15 + size) // PAGE + 1))
                value = first * PAGE + 16
            nodes.append((key, value, overflow))
        if u(self.data, at + 10, 2) == 2:
            yield (*path, root), nodes


def make(folder):
    """Runs with declared, integer and string ids; in columns, in the log, and in both; more than a chunk; one removed."""
    draw = np.random.RandomState(5)

    def log(ids, epochs, columns=(), gold=True, rows=512):
        batches = []
        for epoch in epochs:
            for at in range(0, len(ids), rows):
                part = ids[at:at + rows]
                p = draw.rand(len(part)).astype("f4")
                classes = np.arange(at, at + len(part)) % 3 if gold else None
                batches.append(stores.batch(epoch, part, p, p > 0.5, classes, **{c: draw.rand(len(part)).astype("f4") for c in columns}))
        return batches

    shuffled = list(draw.permutation(1500) * 3)
    runs = [stores.run("declared", log(range(17000), range(2), ["margin", "mine"]), declared=17000, labels=["a", "b", "c"]),
            stores.run("strings", log([f"id-{i}" for i in range(900)], range(4), ["margin"], rows=30)),
            stores.run("gone", log(range(3000), range(3), ["entropy"]), declared=3000),
            stores.run("ints", log(shuffled, range(5), gold=False)),
            stores.run("open", log(np.arange(1200) * 3, range(3), ["margin", "entropy"], rows=16), ended=False),
            stores.run("patched", [*log(range(2000), range(2)), stores.session(10**18), *log(range(500), range(2), gold=False, rows=64)]),
            stores.run("sparse", log(range(5, 90000, 90), range(6), ["margin"], rows=100), declared=90000)]
    runs += [stores.run(f"small{i}", log([f"{i}:{j}" for j in range(60)], range(3))) for i in range(3)]
    stores.make_store(MAKE_STORE, folder, runs)
    subprocess.run([PORTOLAND, "rm", "gone", "--store", folder], check=True, capture_output=True)


def make_losses(folder):
    """Runs of losses beside one of labels: declared ones in columns, some with text ids in the log."""
    draw = np.random.RandomState(6)

    def log(ids, epochs, rows):
        for epoch in epochs:
            for at in range(0, len(ids), rows):
                part = ids[at:at + rows]
                losses, mine = draw.normal(0.5, 1, len(part)).astype("f4"), draw.rand(len(part)).astype("f4")
                yield stores.batch(epoch, part, np.zeros(len(part)), np.zeros(len(part), bool), task_loss=losses, mine=mine)

    p = draw.rand(900).astype("f4")
    stores.make_store(MAKE_STORE, folder, [
        stores.run("losses", list(log(range(17000), range(2), 512)), declared=17000),
        stores.run("losses-open", list(log([f"loss-{i}" for i in range(700)], range(4), 30)), ended=False),
        stores.run("labels", [stores.batch(epoch, range(900), p, p > 0.5) for epoch in range(3)])])


def damage(data, case):
    """Returns the damaged file, and which of its pages were touched."""
    draw = random.Random(case)
    pages, manner = len(data) // PAGE, ("zeros", "random", "swap", "bytes", "cut")[case % 5 if case % 25 != 4 else 4]
    chosen = draw.sample(range(pages), draw.choice((1, 3, 3, 6)))
    data = bytearray(data)
    if manner == "cut" and case % 25 == 4:
        at = draw.randrange(PAGE * 2, len(data))
        return bytes(data[:at]), set(range(at // PAGE, pages)), manner
    if manner == "swap" and len(chosen) > 1:
        contents = [bytes(data[p * PAGE:(p + 1) * PAGE]) for p in chosen]
        for p, content in zip(chosen, contents[1:] + contents[:1]):
            data[p * PAGE:(p + 1) * PAGE] = content
        return bytes(data), set(chosen), manner
    for p in chosen:
        if manner in ("random", "swap"):
            data[p * PAGE:(p + 1) * PAGE] = draw.randbytes(PAGE)
        elif manner in ("zeros", "cut"):
            data[p * PAGE:(p + 1) * PAGE] = bytes(PAGE)
        else:
            for _ in range(draw.choice((1, 3, 20))):
                data[p * PAGE + draw.randrange(PAGE)] = draw.randrange(256)
    return bytes(data), set(chosen), manner


def rows_of(text):
    return {(row["id"], row.get("epoch")): row for row in csv.DictReader(io.StringIO(text))}


def compare(name, original, salvaged):
    """Every row that came back is one that was recorded; a column beyond those that each has may be empty."""
    before, after = rows_of(original), rows_of(salvaged)
    for key, row in after.items():
        assert key in before, (name, key)
        for column, value in row.items():
            assert value == before[key][column] or (value == "" and column not in IMPLIED), (name, key, column, value, before[key])
    return len(before) - len(after)


def find(name, pages):
    """A run whose name is lost is called by its number."""
    return next((known for known, run in pages.names.items() if name in (known, f"run-{run}")), None)


def read(store, run, command="dynamics"):
    done = portolan("-q", command, run, "--store", store, ok=(0, 1))
    assert done.returncode == 0 or "no observations" in done.stderr, done
    return done.stdout


def check_case(case, pages, data, originals, folder, counts):
    store, new = os.path.join(folder, "damaged"), os.path.join(folder, "new")
    for path in (store, new):
        shutil.rmtree(path, ignore_errors=True)
    os.mkdir(store)
    damaged, touched, manner = damage(data, case)
    with open(os.path.join(store, "data.mdb"), "wb") as file:
        file.write(damaged)
    done = portolan("salvage", store, "-o", new, "--json", ok=(0, 1, 3))
    with open(os.path.join(store, "data.mdb"), "rb") as file:
        assert file.read() == damaged and os.listdir(store) == ["data.mdb"], "the damaged store was written to"
    if done.returncode == 1:
        assert touched & (pages.roots | {0, 1}) and not os.path.exists(new), (case, manner, done.stderr)
        counts["nothing"] += 1
        return
    report, older = {run["run"]: run for run in json.loads(done.stdout)["runs"]}, json.loads(done.stdout)["older"]
    assert all((run["salvaged"] == "part") == any(run["left"].values()) for run in report.values() if run["salvaged"] != "nothing"), report
    assert done.returncode == (0 if all(run["salvaged"] == "whole" for run in report.values()) and not older else 3), done
    assert older <= bool(touched & (pages.roots | {0, 1})) and (older or manner == "bytes" or not touched & {0, 1}), (case, manner, older)
    there = names_in(new)
    assert {find(name, pages) for name in there} <= set(originals), (case, manner, there)  # nothing that was removed
    assert there == {name for name, run in report.items() if run["salvaged"] != "nothing"}, (case, manner, there, report)
    portolan("check", "--store", new, ok=(0, 3))
    for name, run in pages.names.items():
        if name not in originals:
            continue
        lost = touched & (pages.own[run] | pages.roots) or (touched & pages.paths[run] and touched & pages.free)
        name_there = name if name in there else f"run-{run}"
        if name_there not in there:
            assert lost, (case, manner, name, report.get(name))
            counts["lost"] += 1
            continue
        salvaged = read(new, name_there)
        if salvaged == originals[name][0] and (not lost or read(new, name_there, "metrics") == originals[name][1]):
            counts["exact"] += 1
            counts["touched"] += bool(lost)
            counts["beyond"] += report[name_there]["salvaged"] != "whole"
            continue
        assert lost, (case, manner, name, report[name_there])
        assert report[name_there]["salvaged"] == "part", (case, manner, name, report[name_there])
        missing = compare(name, originals[name][0], salvaged)
        before, after = rows_of(originals[name][1]), rows_of(read(new, name_there, "metrics"))
        for key, row in after.items():
            assert row["gold"] in ("", before[key]["gold"]), (case, manner, name, row)
        left = report[name_there]["left"]
        findings = [one["kind"] for one in json.loads(portolan("check", name_there, "--store", new, "--json", ok=(0, 3)).stdout)["findings"]]
        assert ("salvaged" in findings) == any(left.values()), (findings, left)
        assert not missing or left["observations"] or left["epochs"] or left["examples"], (case, manner, name, missing, left)
        counts["part"] += 1


def names_in(store):
    return {row["name"] for row in csv.DictReader(io.StringIO(portolan("-q", "runs", "--store", store).stdout))}


def start_salvage(store, new):
    return subprocess.Popen([PORTOLAND, "salvage", store, "-o", new, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def check_ids(pages, data, originals, folder):
    """Where the state of runs and their ids are lost, no ids are made up."""
    store, new, torn = os.path.join(folder, "idless"), os.path.join(folder, "idless-new"), bytearray(data)
    for path in (store, new):
        shutil.rmtree(path, ignore_errors=True)
    os.mkdir(store)
    for page in pages.of[b"run"] | pages.of[b"ids"]:
        torn[page * PAGE:(page + 1) * PAGE] = bytes(PAGE)
    with open(os.path.join(store, "data.mdb"), "wb") as file:
        file.write(torn)
    portolan("salvage", store, "-o", new, ok=(3,))
    for name in names_in(new):
        compare(name, originals[name][0], read(new, name))


def children_of(process):
    try:
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
            return [int(child) for child in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):  # it has ended
        return []


def check_killed(folder):
    """A run whose process is killed, whenever that is, is in the new store if the report says so, and only then."""
    store, new, outcomes = os.path.join(folder, "killed"), os.path.join(folder, "killed-new"), []
    draw = np.random.RandomState(3)
    p = draw.rand(60000).astype("f4")
    batches = [stores.batch(epoch, range(at, at + 10000), p[:10000], p[:10000] > 0.5) for epoch in range(12) for at in range(0, 60000, 10000)]
    stores.make_store(MAKE_STORE, store, [stores.run("large", batches), stores.run("small", [stores.batch(0, range(9), p[:9], p[:9] > 0.5)])])
    path = os.path.join(store, "data.mdb")
    with open(path, "rb") as file:
        data = file.read()
    pages = Pages(data)
    large = [p for p in pages.own[pages.names["large"]] - pages.own[pages.names["small"]] - pages.roots if u(data, p * PAGE + 10, 2) == 4]
    with open(path, "r+b") as file:
        file.seek(large[0] * PAGE)
        file.write(bytes(PAGE))
    took = 0.0
    for attempt in range(16):
        shutil.rmtree(new, ignore_errors=True)
        began, salvage = time.monotonic(), start_salvage(store, new)
        if attempt == 1:  # as soon as there is one, however busy the machine is
            while not children_of(salvage) and salvage.poll() is None:
                time.sleep(0.001)
        elif attempt:
            time.sleep(took * attempt / 16)
        for child in children_of(salvage) if attempt else []:
            with contextlib.suppress(ProcessLookupError):  # it has just ended by itself
                os.kill(child, signal.SIGKILL)
        report = {run["run"]: run["salvaged"] for run in json.loads(salvage.communicate(timeout=120)[0])["runs"]}
        took = took if attempt else time.monotonic() - began
        assert names_in(new) == {name for name, salvaged in report.items() if salvaged != "nothing"}, (attempt, report, names_in(new))
        outcomes.append(report["large"])
    for number, (signum, share) in enumerate((s, n / 4) for s in (signal.SIGHUP, signal.SIGTERM) for n in range(1, 4)):
        shutil.rmtree(new, ignore_errors=True)
        salvage = start_salvage(store, new)
        time.sleep(took * share)
        salvage.send_signal(signum)
        salvage.communicate(timeout=120)
        assert salvage.returncode in (-signum, 3) and os.path.exists(new) == (salvage.returncode == 3), (number, salvage.returncode)
        assert not os.path.exists(new + ".portolan-salvage"), "a salvage that a signal ended left its directory"
    assert outcomes[0] == "part" and "nothing" in outcomes, outcomes


def check_messages(pages, data, folder):
    """A page that LMDB itself finds damaged: commands and the collector end with a message, not with a core."""
    store, said = os.path.join(folder, "torn"), 0
    for name in ("strings", "open"):
        leaves = sorted(p for p in pages.own[pages.names[name]] - pages.roots if u(data, p * PAGE + 10, 2) == 2)
        for page in leaves[::max(1, len(leaves) // 8)]:
            shutil.rmtree(store, ignore_errors=True)
            os.mkdir(store)
            with open(os.path.join(store, "data.mdb"), "wb") as file:
                file.write(data[:page * PAGE] + bytes(PAGE) + data[(page + 1) * PAGE:])
            serving = [PORTOLAND, "--store", store, "--listen", f"ipc://{store}/socket", "--exit-when-idle", "0"]
            for words in ([PORTOLAN, "dynamics", name, "--store", store], serving):
                done = subprocess.run(words, capture_output=True, text=True, timeout=120)
                assert done.returncode in (0, 1), (name, page, words, done.returncode, done.stderr)
                if "LMDB cannot read on" in done.stderr:
                    assert done.returncode == 1 and f"portolan salvage {store} -o NEW" in done.stderr, done.stderr
                    said += 1
    assert said, "no page was found that LMDB asserts"


def random_cases(folder, made, cases):
    """Damages the store that made() makes in so many ways; answers what came of the runs: {outcome: how often}."""
    counts = dict.fromkeys(("exact", "touched", "beyond", "part", "lost", "nothing"), 0)
    store = os.path.join(folder, made.__name__)
    made(store)
    with open(os.path.join(store, "data.mdb"), "rb") as file:
        data = file.read()
    pages = Pages(data)
    assert any(pages.paths.values()), "no tree has a branch"
    originals = {name: (read(store, name), read(store, name, "metrics")) for name in pages.names}
    if made is make:
        check_messages(pages, data, folder)
        check_killed(folder)
    check_ids(pages, data, originals, folder)
    for case in cases:
        check_case(case, pages, data, originals, folder, counts)
    print(counts)
    return counts, len(originals)


def main():
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # syncs take no time there
    with tempfile.TemporaryDirectory(prefix="portolan-salvage-", dir=memory) as folder:
        os.environ["TMPDIR"] = folder
        chosen = [int(sys.argv[4])] if len(sys.argv) > 4 else None
        counts, runs = random_cases(folder, make, chosen or range(CASES))
        of_losses, loss_runs = random_cases(folder, make_losses, chosen or range(CASES_OF_LOSSES))
    if not chosen:
        assert counts["exact"] > 100 * runs and counts["part"] > 100, counts
        assert of_losses["exact"] > CASES_OF_LOSSES / 2 * loss_runs and of_losses["part"] > 10, of_losses


main()
