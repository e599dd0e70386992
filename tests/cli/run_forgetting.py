"""The order of examples by forgetting over several runs, beside the code published with Toneva et al. 2019, and the other numbers that
may stand for "never learned".

    run_forgetting.py PORTOLAN MAKE_STORE

published_forgetting.json holds what that code counts for the logs made here (its commit stands there too); it orders by these counts.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import stores  # noqa: E402
from checks import check, finish  # noqa: E402

PORTOLAN, MAKE_STORE = (os.path.abspath(path) for path in sys.argv[1:3])
with open(os.path.join(HERE, "published_forgetting.json")) as file:
    PUBLISHED = json.load(file)
EXAMPLES, EPOCHS = PUBLISHED["examples"], PUBLISHED["epochs"]


def logs(runs):
    """Of each run, epochs × examples: was it right? A third of the examples is hard, so that some runs never learn them."""
    random = np.random.default_rng([PUBLISHED["seed"], runs])
    easy = random.random(EXAMPLES)
    return [random.random((EPOCHS, EXAMPLES)) < np.where(easy < 1 / 3, 0.15, easy) for _ in range(runs)]


def counts(right, never):
    """The forgetting events of one run; `never` where the example was right at no epoch."""
    return np.where(right.any(0), (right[:-1] & ~right[1:]).sum(0), never)


def portolan(*words):
    done = subprocess.run([PORTOLAN, *words], capture_output=True, text=True)
    check(done.returncode == 0, f"{words}: {done.stderr}")
    return done.stdout


def table(*words):
    return list(csv.DictReader(portolan(*words).splitlines()))


def others(names):
    return [word for name in names[1:] for word in ("--with", name)]


def check_order(names, words, wanted, what):
    """All examples in the order of the counts, ties by ascending id; and the counts themselves."""
    rows = table("select", names[0], *others(names), "--by", "forgetting", *words, "--with-measures", "--format", "csv")
    order = np.argsort(-wanted, kind="stable")
    check([int(row["id"]) for row in rows] == order.tolist(), f"{what}: another order")
    check([float(row["forgetting_events"]) for row in rows] == wanted[order].tolist(), f"{what}: other counts")


def check_published(names, right):
    published = np.array(PUBLISHED["counts by number of runs, then by example"][str(len(names))], float)
    wanted = sum(counts(one, EPOCHS) for one in right).astype(float)
    check((wanted == published).all(), f"{len(names)} runs: the formula is not the published one")
    check_order(names, [], published, f"{len(names)} runs")
    check_order(names, ["--never-learned", "epochs"], published, f"{len(names)} runs, said")
    forgettable = portolan("select", names[0], *others(names), "--by", "forgettable").split()
    order = np.argsort(-published, kind="stable")
    check([int(id) for id in forgettable] == [int(i) for i in order if published[i] > 0], f"{len(names)} runs: forgettable")
    hundred = portolan("select", names[0], *others(names), "--by", "forgetting", "--count", "100").split()
    check([int(id) for id in hundred] == order[:100].tolist(), f"{len(names)} runs: the first hundred")
    if len(names) > 1:
        rows = table("compare", *names, "--average", "--format", "csv")
        check([float(row["forgetting_events"]) for row in rows] == published.tolist(), f"{len(names)} runs: compare --average")


def check_conventions(names, right):
    """The other numbers, by an option. With flag the events alone are added, and who was never learned by any comes first."""
    for word, never in (("1000", 1000), ("infinity", np.inf), ("0", 0), ("flag", 0)):
        wanted = sum(counts(one, never) for one in right).astype(float)
        rows = table("compare", *names, "--average", "--never-learned", word, "--format", "csv")
        check([float(row["forgetting_events"]) for row in rows] == wanted.tolist(), f"compare --never-learned {word}")
        if word != "flag":
            check_order(names, ["--never-learned", word], wanted, f"--never-learned {word}")
            continue
        none = ~np.any([one.any(0) for one in right], axis=0)
        key = np.where(none, np.inf, wanted)
        got = portolan("select", names[0], *others(names), "--by", "forgetting", "--never-learned", "flag").split()
        check([int(id) for id in got] == np.argsort(-key, kind="stable").tolist(), "--never-learned flag")
        got = portolan("select", names[0], *others(names), "--by", "forgettable", "--never-learned", "0").split()
        check(sorted(int(id) for id in got) == np.flatnonzero(key > 0).tolist(), "forgettable --never-learned 0: the never learned are in the set")


def check_one_run(name, right):
    """One run: metrics keeps its flag, and so does a selection by something else; polygons are over events alone."""
    plain, published = counts(right, 0), counts(right, EPOCHS)
    check([int(row["forgetting_events"]) for row in table("metrics", name)] == plain.tolist(), "metrics")
    rows = table("select", name, "--by", "variability:desc", "--with-measures", "--format", "csv")
    check([int(row["forgetting_events"]) for row in rows] == plain[[int(row["id"]) for row in rows]].tolist(), "by variability")
    got = portolan("select", name, "--by", "forgetting", "--threshold", "3").split()
    order = np.argsort(-published, kind="stable")
    check([int(id) for id in got] == [int(i) for i in order if published[i] >= 3], "--threshold")
    with open("within.json", "w") as file:
        json.dump({"run": name, "x": "confidence", "y": "forgetting_events",
                   "parts": [{"op": "add", "polygon": [[-1, -0.5], [2, -0.5], [2, 0.5], [-1, 0.5]]}]}, file)
    got = portolan("select", name, "--by", "forgetting", "--within", "within.json").split()
    check([int(id) for id in got] == [int(i) for i in order if plain[i] == 0], "--within")


def check_groups(name, right):
    """The histogram has the never learned where they are counted."""
    plain, never = counts(right, 0), ~right.any(0)
    for words, place in ((["--never-learned", "epochs"], EPOCHS), (["--never-learned", "1000"], 1000), (["--never-learned", "infinity"], np.inf),
                         (["--never-learned", "0"], 0), ([], 0)):
        rows = table("groups", name, "--forgetting", *words)
        wanted = {float(k): int((plain[~never] == k).sum()) for k in range(plain.max() + 1)}
        wanted[place] = wanted.get(place, 0) + int(never.sum())
        check({float(row["forgetting_events"]): int(row["examples"]) for row in rows} == wanted, f"groups --forgetting {words}")
        check({float(row["forgetting_events"]) for row in rows if row["never_learned"] != "0"} == {place}, f"groups --forgetting {words}: never learned")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["PORTOLAN_STORE"] = os.path.join(folder, "store")
        recorded = {runs: logs(runs) for runs in range(1, 6)}
        gold_prob = np.random.default_rng(1).random((EPOCHS, EXAMPLES), dtype="f4")
        stores.make_store(MAKE_STORE, "store", [
            stores.run(f"{runs}/{r}", [stores.batch(e, np.arange(EXAMPLES), gold_prob[e], one[e], np.arange(EXAMPLES) % 3) for e in range(EPOCHS)])
            for runs, all_of_them in recorded.items() for r, one in enumerate(all_of_them)])
        for runs, right in recorded.items():
            check_published([f"{runs}/{r}" for r in range(runs)], right)
        check_conventions([f"3/{r}" for r in range(3)], recorded[3])
        check_one_run("1/0", recorded[1][0])
        check_groups("1/0", recorded[1][0])
        os.chdir("/")
    finish()


if __name__ == "__main__":
    main()
