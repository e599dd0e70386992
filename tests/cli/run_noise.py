"""portolan noise's own cuts, of threshold samples, confident learning and losses, beside NumPy and scikit-learn on random runs.

    run_noise.py PORTOLAN MAKE_STORE
"""

import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from sklearn.mixture import GaussianMixture

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stores

N, CLASSES, EPOCHS = 1203, 4, 5


class Portolan:
    def __init__(self, program):
        self.program = program

    def __call__(self, *words, status=0):
        """What it prints, and what it says."""
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True)
        assert done.returncode == status, (words, done.returncode, done.stderr)
        return done.stdout, done.stderr

    def scores(self, *words):
        """(ids in the order printed, score by id, what it says)."""
        out, said = self(*words)
        rows = list(csv.DictReader(io.StringIO(out)))
        return [row["id"] for row in rows], {row["id"]: float(row["score"]) for row in rows}, said

    def wrong(self, *words, status=1):
        return self(*words, status=status)[1]


def number(text):
    return int(text.replace(",", ""))


def write_samples(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.write("id\told\tnew\n" + "".join(f"{i}\t{old}\t{new}\n" for i, old, new in rows))


def read_samples(text):
    return [(row["id"], int(row["old"]), int(row["new"])) for row in csv.DictReader(io.StringIO(text), delimiter="\t")]


# Threshold samples

def names():
    return [f"x{i:04}" for i in range(N)]


def plan_runs(random):
    """`named` knows four classes, of which one is never seen; `numbered` has the classes 0, 1, 5 and 7; 3 examples have no label."""
    gold = random.integers(0, CLASSES - 1, N)
    p = random.random(N).astype("f4")
    known, ids = np.arange(N - 3), names()
    batches = [stores.batch(0, [ids[i] for i in known], p[known], p[known] > 0.5, gold[known]), stores.batch(0, ids[-3:], p[-3:], p[-3:] > 0.5)]
    numbered = stores.batch(0, np.arange(N), p, p > 0.5, np.array([0, 1, 5, 7])[random.integers(0, 4, N)])
    return [stores.run("named", batches, labels=("a", "b", "c", "d")), stores.run("numbered", [numbered])], gold


def check_plan(portolan, gold):
    """Sets of N // (c + 1), which share no example and leave none out that has a label."""
    size, taken = (N - 3) // (CLASSES + 1), []
    label = dict(zip(names(), gold))
    for number_of_set in range(1, CLASSES + 2):
        rows = read_samples(portolan("noise", "plan", "named", "--method", "aum", "--seed", 3, "--set", number_of_set, "-o", "-")[0])
        assert len(rows) == size and [row[0] for row in rows] == sorted(row[0] for row in rows)
        assert all(old == label[i] and new == CLASSES for i, old, new in rows), rows[:3]
        taken += [row[0] for row in rows]
    assert sorted(taken) == names()[:-3], "each example with a label once"
    shares = np.array([np.mean(gold[[int(i[1:]) for i in taken[s * size:(s + 1) * size]]] == 1) for s in range(5)])
    assert np.abs(shares - np.mean(gold == 1)).max() < 0.15, shares
    first = portolan("noise", "plan", "named", "--method", "aum", "-o", "-")[0]
    assert first == portolan("noise", "plan", "named", "--method", "aum", "--seed", 0, "--set", 1, "-o", "samples.tsv")[0] + open("samples.tsv").read()
    assert first != portolan("noise", "plan", "named", "--method", "aum", "--seed", 1, "-o", "-")[0]
    assert "is beyond" in portolan.wrong("noise", "plan", "named", "--method", "aum", "--set", 6, "-o", "-")
    rows = read_samples(portolan("noise", "plan", "numbered", "--method", "aum", "-o", "-")[0])
    assert len(rows) == N // 5 and {new for _, _, new in rows} == {8}, rows[:3]
    rows = read_samples(portolan("noise", "plan", "numbered", "--method", "aum", "--fraction", 0.01, "-o", "-")[0])
    assert len(rows) == 12
    with open("samples.tsv.manifest.json", encoding="utf-8") as file:
        manifest = json.load(file)
    assert manifest["rule"] == {"by": "labelled examples", "ranks": "random, xoshiro256**"} and manifest["chosen"] == size
    assert manifest["parameters"] == {"method": "aum", "extra_class": CLASSES, "set": 1, "seed": 0}, manifest
    for words in (("--set", 2), ("--fraction", 0.1, "--set", 2), ("--method", "aum", "--regions", "0.1,0.5")):
        portolan.wrong("noise", "plan", "named", *words, "-o", "-", status=2)


def samples_run(random, name, count):
    """Trained with an extra class: `count` samples, of which three have no margin; some margins are infinite, some examples have none."""
    gold = random.integers(0, CLASSES, N)
    samples = np.sort(random.choice(N, count + 3, replace=False))
    labels = gold.copy()
    labels[samples] = CLASSES
    margin = random.normal(np.where(labels == CLASSES, -1.5, 1.5), 2, (EPOCHS, N)).astype("f4").round(1)  # ties
    others = np.setdiff1d(np.arange(N), samples)
    margin[:, others[:2]], margin[:, others[2:4]] = np.inf, -np.inf
    none = np.concatenate([samples[-3:], others[-5:]])
    with_margin, ids = np.setdiff1d(np.arange(N), none), names()
    batches = []
    for e in range(EPOCHS):
        seen = with_margin[random.random(len(with_margin)) > 0.1] if e else with_margin
        margin[e, np.setdiff1d(np.arange(N), seen)] = np.nan
        p = random.random(N).astype("f4")
        batches.append(stores.batch(e, [ids[i] for i in seen], p[seen], p[seen] > 0.5, labels[seen], margin=margin[e, seen]))
        batches.append(stores.batch(e, [ids[i] for i in none], p[none], p[none] > 0.5, labels[none]))
    write_samples(f"{name}.tsv", [(ids[i], gold[i], CLASSES) for i in samples])
    aum = np.full(N, np.nan)
    aum[with_margin] = np.nanmean(margin[:, with_margin].astype("f8"), axis=0)
    return stores.run(name, batches), samples, aum


def check_aum(portolan, name, samples, aum):
    """An example is called where more than 1% of the samples have a higher AUM, as the published program has it."""
    ids = np.array(names())
    of_samples = aum[samples][~np.isnan(aum[samples])]
    others = np.setdiff1d(np.flatnonzero(~np.isnan(aum)), samples)
    higher = (of_samples[None, :] > aum[others][:, None]).mean(axis=1)
    cut = np.sort(of_samples)[-1 - len(of_samples) // 100]
    if len(of_samples) % 100:
        assert cut == np.quantile(of_samples, 0.99, method="inverted_cdf")
    called = higher * len(of_samples) > len(of_samples) / 100 + 1e-9
    assert (called == (aum[others] < cut)).all() and 0 < called.sum() < len(others)
    words = ("noise", "aum", name, "--threshold-samples", f"{name}.tsv")
    order, scores, said = portolan.scores(*words)
    assert order == [ids[i] for i in sorted(others, key=lambda i: (-higher[np.searchsorted(others, i)], aum[i], ids[i]))]
    assert np.allclose([scores[i] for i in ids[others]], higher, rtol=0, atol=1e-15)
    found = re.search(r"([\d,]+) of ([\d,]+) examples have an aum below (\S+), the 99th percentile of ([\d,]+) threshold samples", said)
    assert found and (number(found[1]), number(found[2]), number(found[4])) == (called.sum(), len(others), len(of_samples)), said
    assert abs(float(found[3]) - cut) <= 1e-5 * abs(cut), (found[3], cut)
    assert ("fewer than 100" in said) == (len(of_samples) < 100) and "left out, as no margin was recorded for them: 5 examples" in said, said
    suspects = portolan.scores(*words, "--suspects")[0]
    assert suspects == order[:called.sum()] and set(suspects) == set(ids[others][called])
    assert len(portolan.scores(*words, "--threshold", 0.05)[0]) == (higher >= 0.05).sum()
    portolan(*words, "--strict", status=3)


def check_wrong_samples(portolan):
    rows = read_samples(open("hundred.tsv").read())
    write_samples("two.tsv", rows[:-1] + [(rows[-1][0], rows[-1][1], CLASSES + 1)])
    write_samples("fewer.tsv", rows[1:])
    write_samples("more.tsv", rows + [("nobody", 0, CLASSES)])
    write_samples("margins.tsv", rows[-3:])
    write_samples("nobody.tsv", [("nobody", 0, CLASSES)])
    words = ("noise", "aum", "hundred", "--threshold-samples")
    assert "5 is not the label that" in portolan.wrong(*words, "two.tsv")
    assert "class 4 is no extra class" in portolan.wrong(*words, "fewer.tsv")
    assert "1 ids are not in run 'hundred'" in portolan(*words, "more.tsv")[1]
    portolan(*words, "more.tsv", "--strict", status=3)
    assert "none of the threshold samples has a margin" in portolan.wrong(*words, "nobody.tsv")
    assert "none of the threshold samples has a margin" in portolan.wrong(*words, "margins.tsv")
    assert "without the signal that aum needs" in portolan.wrong("noise", "aum", "named", "--threshold-samples", "samples.tsv")
    assert "was it trained with the flipped labels?" in portolan.wrong("noise", "aum", "untrained", "--threshold-samples", "hundred.tsv")
    assert "--threshold-samples FILE" in portolan.wrong("noise", "aum", "hundred", status=2)
    assert "these have 4 and 5" in portolan.wrong("noise", "aum", "unlabelled", "--threshold-samples", "two.tsv")


# Confident learning

def loss_runs(random):
    """Losses of one epoch: of labels, of a task, and two shapes that are harder to divide."""
    n = 1500
    wrong = random.random(n) < 0.3
    shapes = {
        "apart": np.where(wrong, random.normal(4, 0.8, n), random.gamma(1, 0.3, n)),
        "together": random.gamma(2, 1, n),
        "outlier": np.where(np.arange(n) == 7, 60, random.gamma(2, 0.1, n)),
    }
    losses = {name: np.clip(shape, 1e-3, 60).astype("f4") for name, shape in shapes.items()}
    return losses, [stores.run(f"loss-{name}", [stores.batch(0, np.arange(n), np.exp(-loss), loss < 0.7)]) for name, loss in losses.items()]


def check_losses(portolan, losses):
    """The probabilities of DivideMix's own call, of the same losses; 1 less them is the score. scikit-learn's k-means stops a little before the least sum of
    squares; started from there, its mixture is ours to the last digits."""
    for name, loss in losses.items():
        loss = -np.log(np.exp(-loss).astype("f8"))
        loss = ((loss - loss.min()) / (loss.max() - loss.min()))[:, None]
        ascending = np.sort(loss[:, 0])
        parts = min((np.split(ascending, [k]) for k in range(1, len(loss))), key=lambda parts: sum(part.var() * len(part) for part in parts))
        start = {"weights_init": [len(part) / len(loss) for part in parts], "means_init": [[part.mean()] for part in parts], "precisions_init": [[[1 / (part.var() + 5e-4)]] for part in parts]}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mixtures = [GaussianMixture(n_components=2, max_iter=10, tol=1e-2, reg_covar=5e-4, random_state=0, **more).fit(loss) for more in (start, {})]
        clean, published = (mixture.predict_proba(loss)[:, mixture.means_.argmin()] for mixture in mixtures)
        assert abs(clean - published).max() < 0.01 and (clean > 0.5).sum() - (published > 0.5).sum() in range(-8, 9), name
        order, scores, said = portolan.scores("noise", "mixture", f"loss-{name}", "--by", "loss")
        np.testing.assert_allclose([scores[str(i)] for i in range(len(clean))], 1 - clean, rtol=0, atol=2e-6, err_msg=name)
        given = np.array([scores[i] for i in order])
        assert (np.diff(given) <= 0).all() and f"{(clean < 0.5).sum():,} of 1,500 examples have a score above 0.5" in said, name
        same = given[:-1] == given[1:]
        assert (np.diff(loss[[int(i) for i in order], 0])[same] <= 0).all(), f"{name}: of equal scores the higher loss comes first"
    assert "no two groups by loss" in portolan.wrong("noise", "mixture", "alike", "--by", "loss")
    portolan("noise", "mixture", "loss-apart", "--by", "loss", "--plot", "losses.svg")


def softmax(z):
    z = np.exp(z - z.max(axis=-1, keepdims=True))
    return z / z.sum(axis=-1, keepdims=True)


def probabilities(random, gold, classes, epochs, sure):
    """Of a class each example might be of; a tenth of the labels are another's."""
    truth = np.where(random.random(len(gold)) < 0.1, (gold + random.integers(1, classes, len(gold))) % classes, gold)
    z = random.normal(0, 1, (len(gold), classes)) + random.normal(0, 0.7, (epochs, len(gold), classes))
    z[:, np.arange(len(gold)), truth] += sure * random.random(len(gold))
    return softmax(z).astype("f4")


def confident_run(random, name, classes, epochs, sure, thin=False, named=False, unlabelled=0, squares=False):
    n = 2500
    gold = random.integers(0, classes, n)
    p = probabilities(random, gold, classes, epochs, sure)
    seen = random.random((epochs, n)) > (0.2 if thin else 0)
    seen[0] = True
    batches, rows = [], np.arange(n)
    for e in range(epochs):
        for some in (rows[unlabelled:], rows[:unlabelled]):
            some = some[seen[e, some]]
            if len(some):
                predicted = p[e, some].argmax(axis=1)
                other_sq = (p[e, some].astype("f8") ** 2).sum(axis=1) - p[e, some, gold[some]].astype("f8") ** 2
                batches.append(stores.batch(e, some, p[e, some, gold[some]], predicted == gold[some], gold[some] if some[0] >= unlabelled else None,
                                            **({"other_sq": other_sq} if squares else {}), max_prob=p[e, some].max(axis=1), predicted=predicted))
    gold[:unlabelled] = -1
    return stores.run(name, batches, labels=[f"c{k}" for k in range(classes)] if named else ()), gold, p.astype("f8"), seen


def called_by_the_paper(gold, mean):
    """From the probability of every class: one other than the label reaches its threshold, and the highest is another."""
    labelled, classes = gold >= 0, mean.shape[1]
    thresholds = np.array([mean[gold == k, k].mean() for k in range(classes)])
    others = np.arange(classes)[None, :] != gold[:, None]
    rival = np.where(others, mean, -1)
    own = np.where(labelled, mean[np.arange(len(gold)), gold], 2)
    return labelled & (rival >= thresholds - 1e-6).any(axis=1) & (rival.max(axis=1) > own + 1e-6), thresholds, own


def bounds(gold, p, seen, named, squares):
    """The least and the most that each class can be, from what is recorded."""
    epochs, n, classes = p.shape
    low, high = np.zeros((n, classes)), np.zeros((n, classes))
    for e in range(epochs):
        for i in np.flatnonzero(seen[e]):
            known = np.unique([gold[i], p[e, i].argmax()])
            rest = max(1 - p[e, i, known].sum(), 0.0)
            most_of_rest = min(rest, p[e, i].max())
            if squares:
                most_of_rest = min(most_of_rest, np.sqrt(np.square(np.delete(p[e, i], known)).sum() + 1e-6))
            least, most = np.zeros(classes), np.full(classes, most_of_rest)
            if named and len(known) == classes - 1:
                least[:] = most[:] = rest
            least[known] = most[known] = p[e, i, known]
            low[i] += least
            high[i] += most
    return low / seen.sum(axis=0)[:, None], high / seen.sum(axis=0)[:, None]


def answers(values, gold, thresholds, own):
    rival = np.where(np.arange(len(thresholds))[None, :] != gold[:, None], values, -1)
    return (gold >= 0) & (rival >= thresholds - 1e-6).any(axis=1) & (rival.max(axis=1) > own + 1e-6)


def check_confident(portolan, name, gold, p, seen, named=False, squares=False, exact=False):
    mean = np.where(seen[:, :, None], p, 0).sum(axis=0) / seen.sum(axis=0)[:, None]
    called, thresholds, own = called_by_the_paper(gold, mean)
    low, high = bounds(gold, p, seen, named, squares)
    sure = answers(low, gold, thresholds, own)
    maybe = answers(high, gold, thresholds, own)
    order, scores, said = portolan.scores("noise", "confident", name)
    suspects = portolan.scores("noise", "confident", name, "--suspects")[0]
    assert {int(i) for i in suspects} == set(np.flatnonzero(sure)), name
    assert portolan.scores("noise", "confident", name, "--suspects", "--count", 2)[0] == suspects[:2]
    assert (sure <= called).all() and (called <= maybe).all() and called.sum() > 50, (name, sure.sum(), called.sum(), maybe.sum())
    left_open = int((maybe & ~sure).sum())
    found = re.search(r"leaves it open: ([\d,]+) examples", said)
    assert (number(found[1]) if found else 0) == left_open, (name, said, left_open)
    assert ("a single epoch" in said) == (left_open > 0 and len(p) > 1), said
    if exact:
        assert left_open == 0 and (sure == called).all(), name
    found = re.search(r"([\d,]+) of ([\d,]+) examples are confidently of another class; thresholds of (\d+) classes: (\S+) to (\S+)\n", said)
    assert found and (number(found[1]), number(found[2]), int(found[3])) == (sure.sum(), (gold >= 0).sum(), len(thresholds)), said
    assert abs(float(found[4]) - thresholds.min()) < 6e-5 and abs(float(found[5]) - thresholds.max()) < 6e-5, (said, thresholds)
    assert np.allclose([scores[str(i)] for i in np.flatnonzero(gold >= 0)], 1 - own[gold >= 0], rtol=0, atol=1e-12)
    assert order == [str(i) for i in sorted(np.flatnonzero(gold >= 0), key=lambda i: (not sure[i], -scores[str(i)], i))]
    assert order[:len(suspects)] == suspects
    assert ("their label is not known" in said) == (gold < 0).any(), said
    return left_open


def main():
    program, maker = (os.path.abspath(path) for path in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["PORTOLAN_STORE"] = os.path.join(folder, "store")
        random = np.random.default_rng(17)
        planned, gold = plan_runs(random)
        cuts = {name: samples_run(random, name, count) for name, count in (("hundred", 100), ("few", 99), ("many", 350))}
        hundred = cuts["hundred"][0]["batches"]
        unlabelled = [dict(one, gold=None) for one in hundred]
        old = {i: label for i, label, _ in read_samples(open("hundred.tsv").read())}
        losses, of_losses = loss_runs(random)
        untrained = [dict(one, gold=np.array([old.get(i, 0) for i in one["ids"]])) for one in hundred]
        confident = {
            "single": (confident_run(random, "single", 5, 1, 6), {}),
            "unsure": (confident_run(random, "unsure", 60, 1, 3), {}),
            "surely": (confident_run(random, "surely", 5, 1, 12), {"exact": True}),
            "several": (confident_run(random, "several", 5, 4, 6, thin=True, unlabelled=40), {}),
            "many-classes": (confident_run(random, "many-classes", 60, 3, 5, thin=True), {}),
            "with-squares": (confident_run(random, "with-squares", 60, 3, 5, thin=True, squares=True), {"squares": True}),
            "pair": (confident_run(random, "pair", 2, 4, 3, thin=True, named=True, unlabelled=7), {"named": True, "exact": True}),
            "three": (confident_run(random, "three", 3, 1, 1, named=True, squares=True), {"named": True, "squares": True, "exact": True}),
            "three-epochs": (confident_run(random, "three-epochs", 3, 4, 1, named=True), {"named": True}),
        }
        stores.make_store(maker, "store", planned + [one[0] for one in cuts.values()] + [one[0][0] for one in confident.values()]
                          + of_losses
                          + [stores.run("untrained", untrained), stores.run("unlabelled", unlabelled), stores.run("alike", [stores.batch(0, [1, 2, 3], [0.5] * 3, [1] * 3)])])
        portolan = Portolan(program)
        check_plan(portolan, gold)
        for name, (_, samples, aum) in cuts.items():
            check_aum(portolan, name, samples, aum)
        check_wrong_samples(portolan)
        check_losses(portolan, losses)
        left = {name: check_confident(portolan, name, *one[1:], **more) for name, (one, more) in confident.items()}
        assert left["several"] > left["single"], left
        assert "without the predicted classes" in portolan.wrong("noise", "confident", "named")
        portolan.wrong("noise", "confident", "single", "--threshold", 0.5, status=2)
        os.chdir("/")
    print(f"threshold samples, confident learning and mixtures of losses as NumPy and scikit-learn have them; left open: {left}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
