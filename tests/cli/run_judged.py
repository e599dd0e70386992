"""portolan compare and portolan noise beside SciPy and scikit-learn, on random runs.

    run_judged.py PORTOLAN MAKE_STORE

Without SciPy and scikit-learn the test says so and is skipped (status 77).
"""

import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

try:
    from scipy import special, stats
    from sklearn.linear_model import LogisticRegression
    from sklearn.mixture import GaussianMixture
except ImportError as missing:
    print(f"SKIPPED, as python3-sklearn is not installed: {missing}", file=sys.stderr)
    sys.exit(77)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stores

MASK = 2**64 - 1


class Random:
    """xoshiro256** seeded by splitmix64, as statistics/random.h says."""

    def __init__(self, seed):
        self.state = []
        for _ in range(4):
            seed = (seed + 0x9E3779B97F4A7C15) & MASK
            z = ((seed ^ seed >> 30) * 0xBF58476D1CE4E5B9) & MASK
            z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
            self.state.append(z ^ z >> 31)

    @staticmethod
    def rotate(x, by):
        return (x << by | x >> (64 - by)) & MASK

    def next(self):
        s = self.state
        result, shifted = (self.rotate(s[1] * 5 & MASK, 7) * 9) & MASK, s[1] << 17 & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = self.rotate(s[3], 45)
        return result

    def sample(self, items, count):
        items = list(items)
        for i in range(count):
            bound = len(items) - i
            value = self.next()
            while value < 2**64 % bound:
                value = self.next()
            j = i + value % bound
            items[i], items[j] = items[j], items[i]
        return items[:count]


class Portolan:
    def __init__(self, program):
        self.program = program

    def __call__(self, *words):
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    def table(self, *words):
        return list(csv.DictReader(io.StringIO(self(*words))))

    def metrics(self, run, *words):
        self("metrics", run, *words, "-o", "m.npy")
        return np.load("m.npy")


def random_runs():
    """Three runs of one data set, in different orders, each without some of the examples; and one of strings."""
    random = np.random.default_rng(3)
    n, epochs = 18000, 5
    base = random.random(n)
    gold = random.integers(0, 3, n)
    runs = []
    for r in range(3):
        ids = random.permutation(np.flatnonzero(random.random(n) > 0.1 * r))
        batches = []
        for e in range(epochs):
            p = np.clip(base[ids] + random.normal(0, 0.2, len(ids)), 0, 1).astype("f4")
            p = np.round(p * 64) / 64 if r == 1 else p  # many ties
            seen = random.random(len(ids)) > 0.05 * r
            batches.append(stores.batch(e, ids[seen], p[seen], p[seen] > 0.5, gold[ids[seen]],
                                        margin=random.normal(p[seen] * 8 - 4, 1), my_loss=random.random(seen.sum())))
        runs.append(stores.run(f"run{r}", batches))
    return runs


def same(got, want, what, tolerance=1e-12):
    """A field of a table, empty where not defined."""
    got = np.nan if got == "" else float(got)
    assert np.isnan(got) == np.isnan(want) and (np.isnan(want) or abs(got - want) <= tolerance), (what, got, want)


def matched(a, b):
    _, in_a, in_b = np.intersect1d(a["id"], b["id"], return_indices=True)
    return a[in_a], b[in_b]


def values_of(table, name):
    values = table[name].astype("f8")
    return np.where(values < 0, np.nan, values) if table.dtype[name].kind == "i" and name != "gold" else values


def check_correlations(portolan):
    names = ["run0", "run1", "run2"]
    metrics = {name: portolan.metrics(name) for name in names}
    rows = portolan.table("compare", *names)
    checks = 0
    sums = {}
    for row in rows:
        if not row["run_a"]:
            continue
        a, b = matched(metrics[row["run_a"]], metrics[row["run_b"]])
        x, y = values_of(a, row["measure"]), values_of(b, row["measure"])
        both = ~np.isnan(x) & ~np.isnan(y)
        x, y = x[both], y[both]
        assert int(row["examples"]) == len(x), row
        pearson, spearman = stats.pearsonr(x, y)[0], stats.spearmanr(x, y)[0]
        same(row["pearson"], pearson, row)
        same(row["spearman"], spearman, row)
        sums.setdefault(row["measure"], []).append((pearson, spearman))
        checks += 2
    averages = {row["measure"]: row for row in rows if not row["run_a"]}
    assert set(averages) == set(sums) and "my_loss" in sums and "epochs" not in sums
    for measure, pairs in sums.items():
        assert len(pairs) == 3
        for i, kind in enumerate(("pearson", "spearman")):
            same(averages[measure][kind], np.mean([pair[i] for pair in pairs]), measure)
    return checks


def check_early(portolan):
    full = portolan.metrics("run2")
    for row in portolan.table("compare", "run2", "--early-stopping"):
        part = portolan.metrics("run2", "--epochs", f":{int(row['epoch']) + 1}")
        a, b = matched(full, part)
        assert int(row["examples"]) == len(b), row
        for name in ("confidence", "variability"):
            constant = (b[name] == b[name][0]).all()
            same(row[f"{name}_pearson"], np.nan if constant else stats.pearsonr(a[name], b[name])[0], row)
            same(row[f"{name}_spearman"], np.nan if constant else stats.spearmanr(a[name], b[name])[0], row)


def regions(table, cuts=None):
    descending = np.sort(table["variability"])[::-1]
    v, c = cuts or (descending[len(descending) // 3 - 1], 0.5)
    ambiguous = (table["variability"] >= v) & (table["variability"] > 0)
    return np.where(ambiguous, "ambiguous", np.where(table["confidence"] >= c, "easy-to-learn", "hard-to-learn"))


def check_moves(portolan):
    a, b = portolan.metrics("run0"), portolan.metrics("run1")
    shared = np.intersect1d(a["id"], b["id"])
    for words, cuts in (((), None), (("--regions", "0.15,0.6"), (0.15, 0.6))):
        of_a, of_b = dict(zip(a["id"], regions(a, cuts))), dict(zip(b["id"], regions(b, cuts)))
        for row in portolan.table("compare", "run0", "run1", "--show", "regions", *words):
            want = sum(of_a[i] == row["from"] and of_b[i] == row["to"] for i in shared)
            assert int(row["examples"]) == want, row
    a, b = matched(a, b)
    for rule, name, sign, fraction in (("ambiguous", "variability", -1, None), ("hard-to-learn", "confidence", 1, 0.1)):
        size = int(np.floor((fraction or 1 / 3) * len(a) + 0.5))
        chosen = [set(t["id"][np.argsort(sign * t[name], kind="stable")[:size]]) for t in (a, b)]
        words = ("--fraction", fraction) if fraction else ()
        row, = portolan.table("compare", "run0", "run1", "--show", "selection", "--by", rule, *words)
        both = len(chosen[0] & chosen[1])
        assert [int(row[k]) for k in ("examples", "selected_a", "selected_b", "both")] == [len(a), size, size, both], row
        same(row["overlap"], both / size, row)
        same(row["jaccard"], both / (2 * size - both), row)


def check_average(portolan):
    tables = [portolan.metrics(f"run{r}") for r in range(3)]
    shared = np.intersect1d(np.intersect1d(tables[0]["id"], tables[1]["id"]), tables[2]["id"])
    epochs = [t["epochs"].max() for t in tables]
    tables = [t[np.isin(t["id"], shared)] for t in tables]
    portolan("compare", "run0", "run1", "run2", "--average", "--format", "npy", "-o", "average.npy")
    got = np.load("average.npy")
    assert (got["id"] == shared).all() and (got["gold"] == tables[0]["gold"]).all()
    for name in got.dtype.names[2:]:
        values = np.array([values_of(t, name) for t in tables])
        if name == "epochs":
            want = values.sum(0)
        elif name == "forgetting_events":  # a run that never learned an example adds its epochs (Toneva et al. 2019)
            want = np.sum([np.where(t["never_learned"] == 1, n, v) for t, n, v in zip(tables, epochs, values)], axis=0)
        elif name == "never_learned":
            want = values.min(0)
        else:
            want = values.mean(0)
        assert np.allclose(values_of(got, name), want, rtol=0, atol=1e-12, equal_nan=True), name


def flip_runs(random):
    n, epochs = 4000, 4
    gold = random.integers(0, 4, n)
    flipped = np.sort(random.choice(n, 60, replace=False))
    labels = gold.copy()
    labels[flipped] = (gold[flipped] + 1 + random.integers(0, 3, 60)) % 4
    level = random.beta(5, 2, n)
    level[flipped] = random.beta(2, 3, 60)
    ids = [f"x{i:04}" for i in range(n)]
    batches = []
    for e in range(epochs):
        p = np.clip(level + random.normal(0, 0.1, n) * np.where(np.isin(np.arange(n), flipped), 1.8, 1), 0, 1).astype("f4")
        batches.append(stores.batch(e, ids, p, p > 0.5, labels, margin=random.normal(level * 6 - 2, 1)))
    with open("flips.tsv", "w") as file:
        file.write("id\told\tnew\n" + "".join(f"{ids[i]}\t{gold[i]}\t{labels[i]}\n" for i in random.permutation(flipped)))
    before = [dict(one, gold=gold, gold_prob=np.sqrt(one["gold_prob"])) for one in batches[:3]]
    return [stores.run("retrained", batches), stores.run("original", before)], {ids[i] for i in flipped}


def check_plan(portolan):
    """Easy-to-learn ones only; every other class, none left out; the same seed the same flips."""
    table = portolan.metrics("run0")
    gold, region = dict(zip(table["id"], table["gold"])), dict(zip(table["id"], regions(table)))
    texts = [portolan("noise", "plan", "run0", "--fraction", 0.05, "--seed", seed, "-o", "-") for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]
    rows = list(csv.DictReader(io.StringIO(texts[0]), delimiter="\t"))
    assert len(rows) == int(np.floor(0.05 * len(table) + 0.5)) == len({row["id"] for row in rows})
    counts = np.zeros((3, 3), int)
    for row in rows:
        assert region[int(row["id"])] == "easy-to-learn" and gold[int(row["id"])] == int(row["old"]), row
        counts[int(row["old"]), int(row["new"])] += 1
    assert (counts.diagonal() == 0).all()
    off = counts[~np.eye(3, dtype=bool)]
    assert off.sum() == len(rows) and off.min() > 0.7 * off.mean(), counts


def check_fit(portolan, flipped, by, seeds):
    table = portolan.metrics("retrained")
    ids = list(table["id"])
    confidence = dict(zip(ids, table[by]))  # or what takes its place
    for seed in seeds:
        report = json.loads(portolan("noise", "fit", "retrained", "--flips", "flips.tsv", "--seed", seed, "-o", "model",
                                     "--json", *(["--by", by] if by != "confidence" else [])))
        random, half = Random(seed), (len(flipped) + 1) // 2
        positive = random.sample([i for i in ids if i in flipped], len(flipped))
        negative = random.sample([i for i in ids if i not in flipped], len(flipped))
        x = np.array([confidence[i] for i in positive[:half] + negative[:half]])[:, None]
        y = np.repeat([1, 0], half)
        model = LogisticRegression(tol=1e-12, solver="newton-cholesky").fit(x, y)
        assert abs(model.coef_[0, 0] - report["weight"]) < 1e-6, (model.coef_, report)
        assert abs(model.intercept_[0] - report["intercept"]) < 1e-6, (model.intercept_, report)
        rest = np.array([confidence[i] for i in positive[half:] + negative[half:]])[:, None]
        truth, called = np.repeat([1, 0], len(flipped) - half), model.predict(rest)
        right = (truth & called).sum()
        held_out = report["held_out"]
        assert (held_out["examples"], held_out["called"], held_out["right"]) == (len(truth), called.sum(), right)
        assert abs(held_out["f1"] - 2 * right / (called.sum() + truth.sum())) < 1e-12
        for top in report["top"]:
            size = int(np.floor(top["fraction"] * len(ids) + 0.5))
            first = sorted(ids, key=lambda i: (-confidence[i] if by == "variability" else confidence[i], i))[:size]
            assert top["flipped_by_" + by] == len(flipped & set(first)) and (report["weight"] > 0) == (by == "variability"), (report, first)
            assert (top["examples"], top["flipped"]) == (size, len(flipped & set(first))) and 0 < top["flipped"], top
    rows = portolan.table("noise", "apply", "retrained", "--model", "model")
    scores = {row["id"]: float(row["score"]) for row in rows}
    want = 1 / (1 + np.exp(-(report["weight"] * table[by] + report["intercept"])))
    assert np.allclose([scores[i] for i in ids], want, rtol=0, atol=1e-12)
    assert [row["id"] for row in rows] == sorted(ids, key=lambda i: (-scores[i], confidence[i], i))
    assert len(portolan.table("noise", "apply", "retrained", "--model", "model", "--threshold", 0.5)) == (want >= 0.5).sum()
    assert len(portolan.table("noise", "apply", "retrained", "--model", "model", "--fraction", 0.01)) == 40
    with open("model", encoding="utf-8") as file:
        text = file.read()
    assert json.loads(text)["feature"] == report["by"] == by
    with open("of-aum", "w", encoding="utf-8") as file:
        file.write(text.replace(f'"{by}"', '"aum"'))
    done = subprocess.run([portolan.program, "noise", "apply", "retrained", "--model", "of-aum"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "field feature is neither confidence nor variability" in done.stderr, done


def check_densities(portolan, flipped):
    """The curves of --plot are NumPy's histograms, in both runs, of both measures; what is 0 stands on the lower edge."""
    portolan("noise", "fit", "retrained", "--flips", "flips.tsv", "-o", "model", "--before", "original", "--plot", "fit.svg", "--script")
    with open("fit.gp", encoding="utf-8") as file:
        script = file.read()
    names = re.findall(r"Name\[\d+\] = '(.*?)'", script)
    assert names == 2 * ["clean, before", "to be flipped", "clean, after", "flipped"], names
    assert re.findall(r"YLog\[\d+\] = (\d)", script) == ["1", "1"]
    edges = [float(edge) for edge in re.findall(r"YFrom\[\d+\] = (\S+);", script)]
    blocks = [np.array([line.split() for line in block.splitlines() if line], float) for block in re.search(r"\$data << EOD\n(.*?)EOD\n", script, re.S)[1].split("\n\n\n") if block]
    assert len(blocks) == 8
    tables = [portolan.metrics(run) for run in ("original", "retrained")]
    for at, (measure, to) in enumerate((("confidence", 1), ("variability", 0.5))):
        for which, block in enumerate(blocks[4 * at:4 * at + 4]):
            table = tables[which // 2]
            chosen = np.isin(table["id"], list(flipped)) == (which % 2 == 1)
            want = np.histogram(table[measure][chosen], 50, (0, to), density=True)[0]
            assert np.allclose(block[:, 0], to * (np.arange(50) + 0.5) / 50) and np.allclose(block[:, 1], np.maximum(want, edges[at]), rtol=1e-6), (measure, which, block)
            assert 0 < edges[at] < want[want > 0].min(), edges


def beta_mixture(x):
    """The mixture as mixture.h describes it, value by value."""
    x = np.clip(x, 1e-6, 1 - 1e-6)
    log_x, log_rest = np.log(x), np.log1p(-x)
    low = (x < 0.5).astype("f8")
    for _ in range(20000):
        parameters = []
        for w in (low, 1 - low):
            m = w @ x / w.sum()
            s = m * (1 - m) / (w @ (x - m) ** 2 / w.sum()) - 1
            parameters.append((w.mean(), m * s, (1 - m) * s))
        odds = [np.log(share) + (a - 1) * log_x + (b - 1) * log_rest - special.betaln(a, b)
                for share, a, b in parameters]
        before, low = low, 1 / (1 + np.exp(odds[1] - odds[0]))
        if np.abs(low - before).max() < 1e-10:
            break
    means = [a / (a + b) for _, a, b in parameters]
    return low, means


def check_mixture(portolan):
    for run, tolerance in (("retrained", 1e-5), ("run0", 1e-3)):  # the larger one is fitted by cells
        table = portolan.metrics(run)
        rows = portolan.table("noise", "mixture", run)
        scores = np.array([float(row["score"]) for row in sorted(rows, key=lambda row: row["id"] if run == "retrained"
                                                                 else int(row["id"]))])
        want, means = beta_mixture(table["confidence"])
        between = (table["confidence"] >= means[0]) & (table["confidence"] <= means[1])
        assert np.abs(scores - want)[between].max() < tolerance, (run, np.abs(scores - want)[between].max())
        order = np.argsort(table["confidence"], kind="stable")
        assert (np.diff(scores[order]) <= 1e-9).all(), f"{run}: more suspect with more confidence"
        assert [float(row["score"]) for row in rows] == sorted(scores, reverse=True)
    table = portolan.metrics("retrained")
    aum = table["aum"].reshape(-1, 1)
    low = aum[:, 0] < 0
    model = GaussianMixture(2, tol=1e-12, max_iter=20000, reg_covar=0, weights_init=[low.mean(), 1 - low.mean()],
                            means_init=[[aum[low].mean()], [aum[~low].mean()]],
                            precisions_init=[[[1 / aum[low].var()]], [[1 / aum[~low].var()]]]).fit(aum)
    rows = portolan.table("noise", "mixture", "retrained", "--by", "aum")
    scores = np.array([float(row["score"]) for row in sorted(rows, key=lambda row: row["id"])])
    between = (aum[:, 0] >= model.means_.min()) & (aum[:, 0] <= model.means_.max())
    want = model.predict_proba(aum)[:, model.means_[:, 0].argmin()]
    assert np.abs(scores - want)[between].max() < 1e-3, np.abs(scores - want)[between].max()


def apart_run(random):
    """Two groups so far apart that a hundred scores are 1 to the last digit; some margins are infinite."""
    n, epochs = 3000, 4
    level = np.where(random.random(n) < 0.1, random.beta(2, 30, n), random.beta(30, 2, n))
    ids = random.permutation(n)
    batches = []
    for e in range(epochs):
        p = np.clip(level + random.normal(0, 0.01, n), 0, 1).astype("f4")
        margin = random.normal(level * 20 - 10, 0.5)
        margin[:5] = np.inf
        margin[5:7] = -np.inf
        batches.append(stores.batch(e, ids, p, p > 0.5, margin=margin))
    return stores.run("apart", batches)


def check_ties(portolan):
    """Of equal scores the less confident come first; who is masked is as sure as the surest of the others."""
    table = portolan.metrics("apart")
    for measure in ("confidence", "aum"):
        values = dict(zip(table["id"], table[measure]))
        rows = portolan.table("noise", "mixture", "apart", "--by", measure)
        scores = {int(row["id"]): float(row["score"]) for row in rows}
        assert len(scores) == len(table) and sum(score == 1 for score in scores.values()) > 100
        assert [int(row["id"]) for row in rows] == sorted(scores, key=lambda i: (-scores[i], values[i], i)), measure
        first = portolan.table("noise", "mixture", "apart", "--by", measure, "--count", 20)
        assert [values[int(row["id"])] for row in first] == sorted(values.values())[:20], measure
    finite = [i for i in values if np.isfinite(values[i])]
    assert len(table) - len(finite) == 7
    for i in set(values) - set(finite):
        assert scores[i] == (min if values[i] > 0 else max)(scores[j] for j in finite), (i, scores[i])


def check_region_overlap(portolan):
    """A region is a set: all of it, with the cuts asked for."""
    a, b = matched(portolan.metrics("run0"), portolan.metrics("run1"))
    for cuts in (None, (0.15, 0.6)):
        for region in ("ambiguous", "hard-to-learn", "easy-to-learn"):
            chosen = [regions(t, cuts) == region for t in (a, b)]
            words = ("--regions", f"{cuts[0]},{cuts[1]}") if cuts else ()
            row, = portolan.table("compare", "run0", "run1", "--show", "selection", "--by", f"region:{region}", *words)
            want = [chosen[0].sum(), chosen[1].sum(), (chosen[0] & chosen[1]).sum()]
            assert [int(row[k]) for k in ("selected_a", "selected_b", "both")] == want, (row, want)


def main():
    program, maker = (os.path.abspath(path) for path in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["PORTOLAN_STORE"] = os.path.join(folder, "store")
        retrained, flipped = flip_runs(np.random.default_rng(8))
        stores.make_store(maker, "store", random_runs() + [*retrained, apart_run(np.random.default_rng(4))])
        portolan = Portolan(program)
        checks = check_correlations(portolan)
        check_early(portolan)
        check_moves(portolan)
        check_average(portolan)
        check_plan(portolan)
        check_fit(portolan, flipped, "variability", (0, 5))
        check_fit(portolan, flipped, "confidence", (0, 11))
        check_densities(portolan, flipped)
        check_mixture(portolan)
        check_ties(portolan)
        check_region_overlap(portolan)
        os.chdir("/")
    print(f"{checks} correlations as SciPy has them; classifier and mixtures as scikit-learn has them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
