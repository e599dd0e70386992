"""portolan select beside an independent calculation in NumPy: every rule, alone and with everything that changes a selection.

    run_select.py PORTOLAN MAKE_STORE
"""

import ctypes
import ctypes.util
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stores
from run_numpy import random_run

RULES = {  # the measure and its direction
    "ambiguous": ("variability", -1), "hard-to-learn": ("confidence", 1), "easy-to-learn": ("confidence", -1),
    "high-confidence": ("confidence", -1), "low-variability": ("variability", 1), "high-correctness": ("correctness", -1),
    "low-correctness": ("correctness", 1), "uncertainty": ("entropy", -1), "least-confidence": ("max_prob", 1), "aum:asc": ("aum", 1),
    "first_learned:desc": ("first_learned", -1), "el2n:desc": ("el2n", -1),
}
PAPER = {"0.01": .01, "0.05": .05, "0.1": .1, "0.17": .1667, "0.25": .25, "0.33": .3319, "0.5": .5, "0.75": .75}
MASK = (1 << 64) - 1


def rotate(x, by):
    return (x << by | x >> (64 - by)) & MASK


class Random:
    """xoshiro256**, seeded by splitmix64; Fisher and Yates from the front."""

    def __init__(self, seed):
        self.s = []
        for _ in range(4):
            seed = (seed + 0x9E3779B97F4A7C15) & MASK
            z = ((seed ^ seed >> 30) * 0xBF58476D1CE4E5B9) & MASK
            z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
            self.s.append(z ^ z >> 31)

    def next(self):
        s = self.s
        result = (rotate((s[1] * 5) & MASK, 7) * 9) & MASK
        shifted = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = rotate(s[3], 45)
        return result

    def below(self, bound):
        value = self.next()
        while value < (1 << 64) % bound:
            value = self.next()
        return value % bound

    def sample(self, items, count):
        return self.sample_of_all(items, count)[:count]

    def sample_of_all(self, items, count):
        """The sample, and after it all that is left."""
        items = list(items)
        for i in range(count):
            j = i + self.below(len(items) - i)
            items[i], items[j] = items[j], items[i]
        return items


def rounded(x):
    """Half up, of decimals that doubles do not hold exactly."""
    return int(np.floor(x + 0.5 + 1e-9))


class Reference:
    """What portolan metrics says of a run, by ascending id, and selections from it: positions in that table."""

    def __init__(self, table):
        self.table, self.n = table, len(table)
        self.pool = np.arange(self.n)

    def values(self, name):
        values = self.table[name].astype("f8")
        return np.where(values < 0, np.nan, values) if name in ("first_learned",) else values

    def ranked(self, rule, seed=0, cuts=None, reverse=False):
        pool, t = self.pool, self.table
        if rule == "random":
            return np.array(Random(seed).sample(pool, len(pool)))
        if rule in ("forgetting", "forgettable"):
            key = -np.where(t["never_learned"] == 1, np.inf, t["forgetting_events"])[pool]
            if rule == "forgettable":
                pool, key = pool[key < 0], key[key < 0]
        elif rule.startswith("region:"):
            v, c = t["variability"], t["confidence"]
            v_cut, c_cut = cuts or (np.sort(v)[::-1][self.n // 3 - 1], 0.5)
            ambiguous = (v >= v_cut) & (v > 0)
            member = {"ambiguous": ambiguous, "easy-to-learn": ~ambiguous & (c >= c_cut),
                      "hard-to-learn": ~ambiguous & (c < c_cut)}[rule[7:]]
            pool = pool[member[pool]]
            name, sign = RULES[rule[7:]]
            key = sign * t[name][pool]
        elif rule.startswith("group:"):
            a, c = t["aleatoric"], t["confidence"]
            certain = a <= np.percentile(a, 50)
            easy, hard = certain & (c >= 0.75), certain & (c <= 0.25)
            member, key = {"easy": (easy, -c), "hard": (hard, c), "ambiguous": (~easy & ~hard, -a)}[rule[6:]]
            pool = pool[member[pool]]
            key = key[pool]
        else:
            name, sign = RULES[rule]
            key = sign * self.values(name)[pool]
        key = -key if reverse else key
        return pool[np.argsort(key, kind="stable")]  # NaN sorts last

    def shared(self, size, groups, classes):
        """The size of each group."""
        if classes != "stratified":
            return [size(len(group)) for group in groups]
        exact = [size(len(self.pool)) * len(group) / len(self.pool) for group in groups]
        sizes = [int(np.floor(x + 1e-9)) for x in exact]
        rest = np.argsort([-round(x - s, 9) for x, s in zip(exact, sizes)], kind="stable")
        for g in rest[: size(len(self.pool)) - sum(sizes)]:
            sizes[g] += 1
        return sizes

    def take(self, rule, size, ends=None, mixes=(), classes=None, offset=lambda n: 0, **options):
        """`size` gives the size for a number of examples, `offset` how many are passed over; classes: None, "each", "stratified"."""
        groups = [self.pool]
        gold = self.table["gold"][self.pool]
        labels = np.unique(gold)
        if classes:
            groups = [self.pool[gold == label] for label in labels]
        sizes, passed = self.shared(size, groups, classes), self.shared(offset, groups, classes)
        parts = [(self.ranked(rule, **options), []), (self.ranked(rule, reverse=True, **options) if ends else [], [])]
        for other, fraction in mixes:
            parts.append((self.ranked(other, **options), [min(rounded(fraction * s), s) for s in sizes]))
        own = [s - sum(part[1][g] for part in parts[2:]) for g, s in enumerate(sizes)]
        parts[0][1].extend(rounded((ends or 1) * s) for s in own)
        parts[1][1].extend(s - q for s, q in zip(own, parts[0][1]))
        chosen, taken = [], set()
        for part, (ranked, quotas) in enumerate(parts):
            quotas = list(quotas)
            for i in ranked:
                g = int(np.searchsorted(labels, self.table["gold"][i])) if classes else 0
                if part == 0 and passed[g] > 0:
                    passed[g] -= 1
                    continue
                if quotas[g] > 0 and i not in taken:
                    quotas[g] -= 1
                    taken.add(i)
                    chosen.append(i)
        return np.array(chosen, dtype=int)


def k_center(X, k):
    chosen, nearest = [0], ((X - X[0]) ** 2).sum(1)
    while len(chosen) < k:
        nearest[chosen] = -1
        chosen.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, ((X - X[chosen[-1]]) ** 2).sum(1))
    return chosen


class Checker:
    def __init__(self, portolan, run):
        self.portolan, self.run, self.checks = portolan, run, 0
        self.call("metrics", run, "-o", "table.npy")
        table = np.load("table.npy")
        self.reference = Reference(table)
        self.ids = np.array([i.decode() if isinstance(i, bytes) else str(i) for i in table["id"].tolist()])

    def call(self, *words):
        return subprocess.run([self.portolan, *words], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

    def same(self, words, chosen):
        got = self.call("select", self.run, *words.split()).decode().split()
        assert got == list(self.ids[chosen]), f"{self.run}: {words}: {len(got)} ids, {len(chosen)} expected"
        assert len(set(got)) == len(got), f"{self.run}: {words}: an id twice"
        self.checks += 1

    def rules(self):
        r = self.reference
        sets = ["forgettable", "region:ambiguous", "region:easy-to-learn", "region:hard-to-learn", "group:easy", "group:ambiguous", "group:hard"]
        for rule in list(RULES) + ["forgetting", "random"] + sets:
            self.same(f"--by {rule}", r.ranked(rule))
            for fraction in (0.01, 0.33, 0.5):
                self.same(f"--by {rule} --fraction {fraction}", r.take(rule, lambda n: rounded(fraction * n)))
            self.same(f"--by {rule} --count 17 --mix low-variability=0.3 --mix random=.25 --seed 4",
                      r.take(rule, lambda n: min(17, n), mixes=(("low-variability", 0.3), ("random", 0.25)), seed=4))
            for classes, option in (("each", "--per-class"), ("stratified", "--stratified")):
                self.same(f"--by {rule} --fraction 0.15 {option}", r.take(rule, lambda n: rounded(0.15 * n), classes=classes))
                self.same(f"--by {rule} --count 7 {option} --mix easy-to-learn=0.5",
                          r.take(rule, lambda n: min(7, n), classes=classes, mixes=(("easy-to-learn", 0.5),)))
            if rule in ("random", *sets):
                continue
            for share in (0, 0.3, 0.7):
                self.same(f"--by {rule} --fraction 0.33 --both-ends {share}",
                          r.take(rule, lambda n: rounded(0.33 * n), ends=share or 1e-12))
            self.same(f"--by {rule} --fraction 0.9 --both-ends 0.7 --stratified --mix random=0.2",
                      r.take(rule, lambda n: rounded(0.9 * n), ends=0.7, classes="stratified", mixes=(("random", 0.2),)))
        for rule in sets[1:4]:
            self.same(f"--by {rule} --regions 0.28,0.45", r.ranked(rule, cuts=(0.28, 0.45)))

    def windows(self):
        """What the rule ranks first is passed over, of everybody, of each class, or of the classes as they are."""
        r = self.reference
        for rule in ("el2n:desc", "ambiguous", "forgetting", "random", "region:easy-to-learn", "group:ambiguous"):
            self.same(f"--by {rule} --offset 0", r.ranked(rule))
            for text, offset in (("0.1", lambda n: rounded(0.1 * n)), ("0.98", lambda n: rounded(0.98 * n)), ("33", lambda n: min(33, n))):
                self.same(f"--by {rule} --offset {text}", r.ranked(rule)[offset(r.n):])
                for classes, option in ((None, ""), ("each", "--per-class"), ("stratified", "--stratified")):
                    self.same(f"--by {rule} --fraction 0.3 --offset {text} {option} --mix low-variability=0.2",
                              r.take(rule, lambda n: rounded(0.3 * n), classes=classes, offset=offset, mixes=(("low-variability", 0.2),)))

    def smallest(self):
        """As many of each class as the smallest class has, of those to choose from."""
        r, everybody, random = self.reference, self.reference.pool, np.random.default_rng(3)
        gold = r.table["gold"]
        with open("unequal.txt", "w") as file:
            r.pool = np.flatnonzero(random.random(r.n) < (1 + gold) / 6)
            file.write("\n".join(self.ids[r.pool]))
        counts = np.bincount(gold[r.pool])
        assert len(set(counts)) > 1
        for rule in ("ambiguous", "random", "group:ambiguous"):
            self.same(f"--by {rule} --only unequal.txt --per-class --count smallest", r.take(rule, lambda n: counts.min(), classes="each"))
        r.pool = everybody

    def published_sizes(self):
        """As allenai/cartography cuts a ranking, two ends of one, and a random sample: products of doubles, cut to integers."""
        r = self.reference
        for f in (0.01, 0.05, 0.1, 0.1667, 0.25, 0.29, 0.3319, 0.5, 0.57, 0.75, 1.0):
            number = int(f * r.n)
            for rule in ("ambiguous", "hard-to-learn", "forgetting", "forgettable"):
                self.same(f"--by {rule} --fraction {f} --sizes published", r.ranked(rule)[:number + 1])
            self.same(f"--by random --fraction {f} --sizes published", r.ranked("random")[:number])
            top = int(number * 0.7)
            self.same(f"--by hard-to-learn --fraction {f} --both-ends 0.7 --sizes published",
                      np.concatenate([r.ranked("hard-to-learn")[:top], r.ranked("hard-to-learn", reverse=True)[:number - top]]))
        self.call("select", self.run, "--by", "ambiguous", "--fractions", "paper", "--sizes", "published", "-o", "p.txt")
        for name, fraction in PAPER.items():
            with open(f"p-{name}.txt") as ids, open(f"p-{name}.txt.manifest.json") as manifest:
                assert ids.read().split() == list(self.ids[r.ranked("ambiguous")[:int(fraction * r.n) + 1]]), name
                assert json.load(manifest)["parameters"]["sizes"] == "published"

    def thresholds(self):
        r = self.reference
        for rule, (name, sign) in RULES.items():
            ranked, values = r.ranked(rule), r.values(name)
            for x in (float(np.nanmedian(values)), float(values[ranked[0]]), 0.1, -1.5):
                with np.errstate(invalid="ignore"):
                    inside = values[ranked] >= x if sign < 0 else values[ranked] <= x
                self.same(f"--by {rule} --threshold {x!r}", ranked[inside])

    def lists(self):
        r, everybody = self.reference, self.reference.pool
        random = np.random.default_rng(1)
        some, others = np.sort(random.permutation(r.n)[: r.n // 2]), random.permutation(r.n)[: r.n // 3]
        with open("only.txt", "w") as file:
            file.write("\n".join(self.ids[some]))
        np.save("exclude.npy", self.ids[others] if self.ids[0].startswith("id") else self.ids[others].astype("i8"))
        np.save("bytes.npy", self.ids[others].astype("S"))
        r.pool = some[~np.isin(some, others)]
        for exclude in ("exclude.npy", "bytes.npy"):
            for rule in ("ambiguous", "random", "forgettable", "region:easy-to-learn", "region:ambiguous"):
                self.same(f"--by {rule} --only only.txt --exclude {exclude}", r.ranked(rule))
                self.same(f"--by {rule} --only only.txt --exclude {exclude} --fraction 0.25 --stratified",
                          r.take(rule, lambda n: rounded(0.25 * n), classes="stratified"))
        r.pool = everybody

    def cover(self):
        r, ids = self.reference, self.ids
        random = np.random.default_rng(2)
        for dtype, width in (("f4", 1), ("f8", 3), ("f4", 37)):
            X = random.standard_normal((r.n, width)).astype(dtype)
            X[r.n // 2:] = X[: r.n - r.n // 2]  # duplicates come last, by ascending id
            order = random.permutation(r.n)
            np.save("X.npy", X[order])
            np.save("ids.npy", ids[order])
            for k in (1, 9, min(r.n, 120)):
                chosen = k_center(X.astype("f8"), k)
                for threads in (1, 3):
                    self.same(f"--by k-center --features X.npy --feature-ids ids.npy --count {k} --threads {threads}", chosen)
        if r.n < 1000:
            self.same("--by k-center --features X.npy --feature-ids ids.npy --fraction 1", k_center(X.astype("f8"), r.n))

    def arrays(self):
        """With --with-measures an array has the rows of portolan metrics in rank order, also where ids are text."""
        r = self.reference
        for words, chosen in (("--by ambiguous", r.ranked("ambiguous")), ("--by forgettable --count 9", r.ranked("forgettable")[:9]),
                              ("--by first_learned:desc --fraction 1", r.ranked("first_learned:desc")),
                              ("--by confidence:desc --threshold 2", [])):
            self.call("select", self.run, *words.split(), "--with-measures", "-o", "s.npy")
            got, wanted = np.load("s.npy"), r.table[chosen]
            with open("s.npy", "rb") as file:
                assert file.read() == self.call("select", self.run, *words.split(), "--with-measures", "--format", "npy"), words
            assert got.dtype.names == wanted.dtype.names and got.shape == wanted.shape, words
            for name in got.dtype.names:
                assert name == "id" or got.dtype[name] == wanted.dtype[name], name
                np.testing.assert_array_equal(got[name], wanted[name], err_msg=f"{words}: {name}")
            self.checks += 1

    def files(self):
        """One file for each fraction, what stands beside it, and that none of it changes the selection."""
        r = self.reference
        words = ["select", self.run, "--by", "ambiguous", "--mix", "easy-to-learn=0.1", "--fractions", "paper", "-o", "s.txt"]
        subprocess.run([self.portolan, *words], check=True, stderr=subprocess.DEVNULL,
                       env=dict(os.environ, SOURCE_DATE_EPOCH="86399"))
        for name, fraction in PAPER.items():
            chosen = r.take("ambiguous", lambda n: rounded(fraction * n), mixes=(("easy-to-learn", 0.1),))
            with open(f"s-{name}.txt", "rb") as file:
                content = file.read()
            assert content.decode().split() == list(self.ids[chosen]), name
            with open(f"s-{name}.txt.manifest.json") as file:
                manifest = json.load(file)
            assert manifest["created"] == "1970-01-01T23:59:59Z" and manifest["run"] == self.run
            assert manifest["parameters"]["fraction"] == fraction
            assert manifest["parameters"]["mix"] == [{"by": "easy-to-learn", "ranks": "confidence:desc", "fraction": 0.1}]
            assert manifest["chosen"] == len(chosen) and manifest["eligible"] == manifest["observed"] == r.n
            assert manifest["output"]["bytes"] == len(content) and manifest["output"]["file"] == f"s-{name}.txt"
            assert manifest["output"]["xxh128"] == xxh128(content)
            labels, counts = np.unique(r.table["gold"], return_counts=True)
            assert [c["gold"] for c in manifest["classes"]] == list(labels)
            assert [c["observed"] for c in manifest["classes"]] == list(counts)
            assert [c["chosen"] for c in manifest["classes"]] == [(r.table["gold"][chosen] == g).sum() for g in labels]
            self.checks += 1
        threshold = 0.1 + 0.2  # needs 17 digits
        self.call("select", self.run, "--by", "variability:desc", "--threshold", repr(threshold), "-o", "t.txt")
        with open("t.txt.manifest.json") as file:
            assert json.load(file)["parameters"]["threshold"] == threshold


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def together(portolan, runs):
    """Several runs as one: means over the examples that all have; forgetting events summed, and a run's epochs where it never learned one."""
    tables = []
    for run in runs:
        subprocess.run([portolan, "metrics", run, "-o", "table.npy"], check=True, stderr=subprocess.DEVNULL)
        tables.append(np.load("table.npy"))
    ids = sorted(set.intersection(*(set(t["id"].tolist()) for t in tables)))
    rows = [t[np.isin(t["id"], ids)] for t in tables]
    mean = {name: sum(t[name].astype("f8") for t in rows) / len(rows) for name in ("confidence", "variability", "aum")}
    events = sum(np.where(t["never_learned"] == 1, t["epochs"].max(), t["forgetting_events"]).astype("f8") for t in rows)
    keys = {"ambiguous": -mean["variability"], "hard-to-learn": mean["confidence"], "aum:desc": -mean["aum"], "forgetting": -events}
    for rule, key in keys.items():
        words = [portolan, "select", runs[0], "--by", rule, "--fraction", "0.33"]
        got = subprocess.run(words + [w for run in runs[1:] for w in ("--with", run)], check=True, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL).stdout.decode().split()
        order = np.argsort(key, kind="stable")[: rounded(0.33 * len(ids))]
        assert got == [str(ids[i]) for i in order], (rule, runs)
    return len(keys)


def xxh128(content):
    library = ctypes.CDLL(ctypes.util.find_library("xxhash"))
    library.XXH3_128bits.restype = Hash128
    library.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    got = library.XXH3_128bits(content, len(content))
    return f"{got.high:016x}{got.low:016x}"


def main():
    portolan, maker = (os.path.abspath(path) for path in sys.argv[1:3])
    runs = [random_run("complete", 9000, 4, 1), random_run("missing", 700, 7, 2, missing=0.4),
            random_run("strings", 300, 5, 3, missing=0.2, strings=True)]
    more = [random_run("again", 9000, 3, 4), random_run("few", 900, 5, 5)]
    checks = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["PORTOLAN_STORE"] = os.path.join(folder, "store")
        stores.make_store(maker, "store", [run[0] for run in runs + more])
        for run in runs:
            checker = Checker(portolan, run[0]["name"])
            for part in (checker.rules, checker.windows, checker.smallest, checker.published_sizes, checker.thresholds, checker.lists, checker.cover, checker.arrays, checker.files):
                part()
            checks += checker.checks
        checks += together(portolan, ["complete", "again"]) + together(portolan, ["again", "few", "complete"])
        os.chdir("/")
    print(f"{checks} selections: all as NumPy has them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
