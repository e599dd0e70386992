"""What is wrong with a run is found by check, and said by every command that uses its measures; and what a command could not do.

    run_verdict.py PORTOLAN MAKE_STORE
"""

import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stores

N = 300
random = np.random.default_rng(5)


def observed(epoch, ids, gold=None, **columns):
    n = len(ids)
    return stores.batch(epoch, ids, random.random(n, dtype="f4"), random.random(n) < 0.5, gold, **columns)


def predictions(epoch, classes, ids):
    """Of nearly level logits, so that some row is nearly undecided."""
    logits = random.normal(0, 1, (len(ids), classes))
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    return observed(epoch, ids, entropy=-(p * np.log(p)).sum(1), predicted=p.argmax(1))


def late_learner(epochs, jumps):
    """A run whose confidence jumps after its first epochs, and then moves little."""
    level = np.minimum(np.arange(epochs), jumps) / (jumps + 1)
    return [stores.batch(e, np.arange(N), level[e] + 0.02 * random.random(N), np.ones(N), np.arange(N) % 3) for e in range(epochs)]


def learner(epochs, time, level, own):
    """p(gold) of a run whose examples learn together, in about `time` epochs, from `level` below; each has its own ease, and moves on its own."""
    curve = -level * np.exp(-np.arange(epochs) / time)
    return np.clip(0.7 + curve + 0.1 * random.normal(size=(N, 1)) + own * random.normal(size=(N, epochs)), 0, 1).astype("f4")


def batches_of(p):
    return [stores.batch(e, np.arange(N), p[:, e], p[:, e] > 0.5) for e in range(p.shape[1])]


def trend_share(p):
    return p.mean(0).var() / p.var(1).mean()


def burn_in(p):
    """The rule of --epochs auto, in other words."""
    p, epochs = p.astype("f8"), p.shape[1]
    changes = np.diff(p, axis=1)
    common = changes.mean(0) ** 2 / (changes**2).mean(0)
    first = int(np.argmax(np.append(0, np.cumsum(common - 0.5))[: epochs - 2]))
    while 0 < first < epochs - 4 and trend_share(p[:, first:]) > 0.25:
        first += 1
    return first


LEARNERS = {"digits": learner(30, 4, 0.6, 0.05), "tuned": learner(12, 3, 0.04, 0.08), "short": learner(6, 3, 0.6, 0.03),
            "drift": learner(20, 30, 0.6, 0.06)}


def runs():
    labels = random.integers(0, 3, 10 * N)
    whole = np.arange(N)
    at = [slice(first, first + 32) for first in range(0, 10 * N, 32)]
    clean = [observed(e, whole, labels[:N]) for e in range(3)]
    corrected = np.append((labels[0] + 1) % 3, labels[1:N])
    return [
        stores.run("clean", clean),
        stores.run("one", clean[:1]),
        # 3,000 observations in batches of 32, with their places in the batch for ids
        stores.run("places", [observed(e, np.arange(len(labels[part])), labels[part]) for e in range(2) for part in at]),
        stores.run("zeros", [observed(0, whole, labels[:N]) for _ in range(10)]),
        stores.run("twice", [observed(0, whole) for _ in range(2)]),
        stores.run("resampled", [observed(e, random.integers(0, N, N)) for e in range(3)]),
        # 400 of 1,000 rows have the id of another
        stores.run("repeated", [observed(e, np.arange(1000) % 600, np.arange(1000) % 600 % 3) for e in range(2)]),
        stores.run("resumed", clean + [stores.session(2000)] + clean + [stores.session(3000)] + clean),
        stores.run("ranks", [batch for rank in range(3) for batch in [stores.session(1000 + rank, rank)] * (rank > 0) + clean]),
        stores.run("shuffled", [observed(e, whole, random.permutation(labels[:N])) for e in range(3)]),
        stores.run("corrected", clean + [stores.session(2000)] + [observed(e, whole, corrected) for e in range(3, 5)]),
        stores.run("classes", [predictions(0, 3, whole), stores.session(2000), predictions(1, 5, whole)]),
        stores.run("same-classes", [predictions(0, 4, whole), stores.session(2000), predictions(1, 4, whole)]),
        stores.run("collapsed", [observed(0, whole, entropy=np.full(N, 1.3), predicted=np.zeros(N)), stores.session(2000),
                                 predictions(1, 5, whole)]),
        stores.run("named", [predictions(0, 5, whole)], labels=["yes", "maybe", "no"]),
        stores.run("late", late_learner(8, 2)),
        stores.run("late-once", late_learner(8, 1)),
        *(stores.run(name, batches_of(p)) for name, p in LEARNERS.items()),
    ]


class Tests:
    def __init__(self, portolan):
        self.portolan = portolan
        self.problems = []

    def call(self, *words, status=0):
        done = subprocess.run([self.portolan, *words], capture_output=True, text=True)
        if done.returncode != status:
            self.problems.append(f"{words}: status {done.returncode}, not {status}: {done.stderr}{done.stdout}")
        return done

    def expect(self, what, got, want):
        if got != want:
            self.problems.append(f"{what}: {got!r} instead of {want!r}")

    def checks(self):
        """What check finds, by the names of its findings, and the status it ends with."""
        kinds = {"clean": [], "one": [], "resampled": ["missing", "replaced-within-epoch"], "repeated": ["replaced-within-epoch"], "resumed": [], "ranks": [], "same-classes": [], "collapsed": [], "late": [],
                 "places": ["shared-ids", "changed-labels"], "zeros": ["one-epoch-number"], "twice": ["one-epoch-number"],
                 "shuffled": ["changed-labels"], "corrected": ["changed-labels"], "classes": ["classes"], "named": ["classes"]}
        for run, want in kinds.items():
            report = json.loads(self.call("check", run, "--json", status=3 if want else 0).stdout)
            self.expect(f"check {run}", [finding["kind"] for finding in report["findings"]], want)
            self.expect(f"check {run}", report["verdict"], "incomplete" if want else "complete")
            lines = ["; ".join(filter(None, (finding["problem"], finding["remedy"]))) for finding in report["findings"]]
            self.expect(f"check {run}", report["problems"], lines)
        text = self.call("check", "places", status=3).stdout
        kept = 2 * 32
        for line in (f"incomplete: observations replaced by later ones of the same id and epoch: {6000 - kept:,} of 6,000; log each",
                     "incomplete: gold labels that changed: "):
            self.expect(line, line in text, True)
        text = self.call("check", "repeated", status=3).stdout
        line = ("incomplete: observations replaced within an epoch, as the same session logged their ids again: 800 of 2,000; give each "
                "example an id of its own")
        self.expect("repeated", line in text, True)
        text = self.call("check", "corrected", status=3).stdout
        line = ("gold labels that changed: 1, the latest are kept; log an id that stays with its example, or, where labels were "
                "corrected, measure the epochs since then (--epochs)")
        self.expect("corrected", line in text, True)
        self.call("metrics", "corrected", "--strict", status=3)
        text = self.call("check", "zeros", status=3).stdout
        self.expect("zeros", "all logged for one epoch: 2,700 of 3,000; log each epoch under a number of its own" in text, True)
        text = self.call("check", "classes", status=3).stdout
        self.expect("classes", "number of classes: 3 in one session, at least 5 in another; record each model" in text, True)
        text = self.call("check", "named", status=3).stdout
        self.expect("named", "number of classes: the run names 3, and at least 5 were logged" in text, True)

    def commands(self):
        """The other commands warn of the same, in the same words; --strict makes it their status."""
        lists = {}
        for run in ("places", "zeros", "repeated", "shuffled"):
            lists[run] = json.loads(self.call("check", run, "--json", status=3).stdout)["problems"]
        with open("attributes.csv", "w") as file:
            file.write("id,length\n" + "".join(f"{i},{i % 7}\n" for i in range(N)))
        for words in (["metrics"], ["select", "--by", "confidence:asc"], ["map", "-o", "map.svg"], ["noise", "mixture"],
                      ["noise", "plan", "--fraction", "0.1", "-o", "-"], ["compare", "--early-stopping"],
                      ["groups", "--attributes", "attributes.csv", "--id-field", "id", "--by", "confidence:asc", "--replicates", "0"]):
            command, rest = (words[:2], words[2:]) if words[0] == "noise" else (words[:1], words[1:])
            for run, problems in lists.items():
                if words[:2] == ["noise", "mixture"] and run == "places":
                    continue  # too few examples are left for a mixture
                strict = self.call(*command, run, *rest, "--strict", status=3)
                for problem in problems:
                    self.expect(f"{words} {run}", f"warning: run '{run}': {problem}\n" in strict.stderr, True)
        said = self.call("select", "clean", "--with", "zeros", "--by", "confidence:asc").stderr
        self.expect("select --with", f"run 'zeros': {lists['zeros'][0]}" in said, True)
        said = json.loads(self.call("watch", "zeros", "--once", "--json").stdout)["warnings"]
        self.expect("watch", lists["zeros"][0] in said, True)
        self.expect("clean", self.call("metrics", "clean", "--strict").stderr, "")

    def variability(self):
        """Of one epoch it is 0, and what is ranked or drawn by it says so; what goes by something else says nothing."""
        said = "with one epoch, 0, every variability is 0: take more epochs, or go by confidence (select --by confidence:asc)"
        for words in (["select", "one", "--by", "ambiguous"], ["map", "one", "-o", "map.svg"],
                      ["select", "clean", "--by", "region:ambiguous", "--epochs", "0:1"],
                      ["noise", "plan", "one", "--fraction", "0.01", "-o", "-"],
                      ["compare", "one", "clean", "--show", "selection", "--epochs", ":1"]):
            self.expect(str(words), said in self.call(*words).stderr, True)
        for words in (["select", "one", "--by", "confidence:asc"], ["metrics", "one"],
                      ["select", "one", "--by", "hard-to-learn", "--with-measures", "--format", "csv"],
                      ["map", "one", "-o", "map.svg", "--x", "confidence", "--y", "correctness"],
                      ["compare", "one", "clean", "--average"]):
            self.expect(str(words), self.call(*words).stderr, "")

    def trend(self):
        """Said by what is ranked or drawn by variability, and by nothing else; with the epochs that mend it."""
        for words in (["select", "late", "--by", "ambiguous"], ["select", "late", "--by", "region:ambiguous"], ["map", "late", "-o", "map.svg"],
                      ["map", "late", "-o", "map.html"], ["noise", "plan", "late", "--fraction", "0.1", "-o", "-"],
                      ["select", "late", "--with", "late-once", "--by", "ambiguous"],
                      ["groups", "late", "--attributes", "attributes.csv", "--id-field", "id", "--by", "ambiguous", "--replicates", "0"]):
            said = self.call(*words).stderr
            self.expect(str(words), re.findall(r"run 'late': \d+% of the variance within examples is the common trend.* try --epochs (\d):,", said), ["2"])
        said = self.call("compare", "late", "clean", "--show", "regions").stderr
        self.expect("compare of two runs", re.findall(r"run '(\w+)': \d+% of the variance", said), ["late"])
        for words in (["metrics", "late"], ["select", "late", "--by", "hard-to-learn", "--with-measures", "--format", "csv"],
                      ["compare", "late", "clean", "--average"], ["select", "late", "--by", "ambiguous", "--epochs", "2:"],
                      ["select", "late", "--by", "ambiguous", "--epochs", "1:"], ["select", "tuned", "--by", "ambiguous"],
                      ["noise", "plan", "late", "--fraction", "0.1", "--regions", "1,0", "-o", "-"]):
            self.expect(str(words), "of the variance" in self.call(*words).stderr, False)
        share = trend_share(LEARNERS["digits"])
        first = burn_in(LEARNERS["digits"])
        self.expect("digits", self.call("select", "digits", "--by", "ambiguous").stderr,
                    f"portolan: warning: run 'digits': {100 * share:.0f}% of the variance within examples is the common trend, the learning that "
                    f"all share: variability then shows late learning, not ambiguity; try --epochs {first}:, over which it is "
                    f"{100 * trend_share(LEARNERS['digits'][:, first:]):.0f}%\n")
        # nothing in common at any step, and much over all of them: the run is whole, and a choice of later epochs is named
        said = self.call("select", "drift", "--by", "ambiguous").stderr
        first = int(re.search("try --epochs (\\d+):", said)[1])
        self.expect("drift", (burn_in(LEARNERS["drift"]), trend_share(LEARNERS["drift"][:, first:]) <= 0.25, 0 < first <= 16), (0, True, True))
        said = self.call("select", "short", "--by", "ambiguous", "--epochs", "auto").stderr
        self.expect("short", "; the later epochs are no better: choose by something else\n" in said, True)

    def automatic(self):
        """--epochs auto leaves out what the warning is about, says so, and the manifest keeps it."""
        for run, first in (("late", 2), ("late-once", 1), ("clean", 0)):
            last = 2 if run == "clean" else 7
            taken = "all epochs, 0 to 2: too few to leave any out; " if run == "clean" else f"epochs {first} to 7 of 0 to 7: over all epochs "
            for words in (["metrics", run], ["select", run, "--by", "ambiguous", "--fraction", "0.5", "-o", f"{run}.txt"],
                          ["map", run, "-o", "map.svg"]):
                auto = self.call(*words, "--epochs", "auto")
                self.expect(f"{words}", auto.stderr.startswith(f"portolan: run '{run}': --epochs auto takes {taken}the common trend is "), True)
                self.expect(f"{words}", auto.stderr.count("\n"), 1)
                if words[0] == "metrics":
                    self.expect(f"{words}", auto.stdout, self.call(*words, "--epochs", f"{first}:").stdout)
            manifest = json.load(open(f"{run}.txt.manifest.json"))
            self.expect(f"manifest of {run}", manifest["epochs"], list(range(first, last + 1)))
            self.expect(f"manifest of {run}", [manifest["parameters"].get(key) for key in ("epochs_from", "epochs_to", "epochs_auto")],
                        [first, None, True])
        for run, p in LEARNERS.items():
            first, last = burn_in(p), p.shape[1] - 1
            taken = f"epochs {first} to {last} of 0 to {last}: over all epochs" if first else f"all epochs, 0 to {last}: there is no burn-in;"
            self.expect(run, self.call("metrics", run, "--epochs", "auto").stderr,
                        f"portolan: run '{run}': --epochs auto takes {taken} the common trend is {100 * trend_share(p):.0f}% of the variance "
                        f"within examples{f', over these {100 * trend_share(p[:, first:]):.0f}%' if first else ''}\n")
        self.expect("burn-ins", [burn_in(LEARNERS[run]) > 0 for run in ("digits", "tuned", "short")], [True, False, True])
        self.call("select", "clean", "--by", "ambiguous", "--epochs", "1:", "-o", "given.txt")
        self.expect("given", "epochs_auto" in json.load(open("given.txt.manifest.json"))["parameters"], False)
        self.call("metrics", "clean", "--epochs", "automatic", status=2)
        self.expect("later option", self.call("metrics", "late", "--epochs", "auto", "--epochs", "1:").stderr, "")
        said = self.call("select", "late", "--with", "late-once", "--by", "ambiguous", "--epochs", "auto").stderr
        self.expect("two runs", said.count("--epochs auto takes"), 2)

    def counts(self):
        """--count beyond what there is."""
        said = f"{N} selected instead of 301: there are no more"
        for words in (["select", "clean", "--by", "ambiguous", "--count", "301"],
                      ["select", "clean", "--by", "hard-to-learn", "--count", "301", "--stratified"],
                      ["groups", "clean", "--attributes", "attributes.csv", "--id-field", "id", "--by", "confidence:asc", "--count", "301",
                       "--replicates", "0"]):
            self.expect(str(words), said in self.call(*words).stderr, True)
        self.expect("all", self.call("select", "clean", "--by", "ambiguous", "--count", "300").stderr, "")


def main():
    portolan, maker = (os.path.abspath(path) for path in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["PORTOLAN_STORE"] = os.path.join(folder, "store")
        stores.make_store(maker, "store", runs())
        tests = Tests(portolan)
        tests.checks()
        tests.commands()
        tests.variability()
        tests.trend()
        tests.automatic()
        tests.counts()
        os.chdir("/")
    print("\n".join(tests.problems) or "all as it should be")
    return 1 if tests.problems else 0


if __name__ == "__main__":
    sys.exit(main())
