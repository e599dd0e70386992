"""Pruning scores and rules beside the code that their authors published, and beside formulas of our own in NumPy.

    run_pruning.py PORTOLAN MAKE_STORE

published_pruning.json holds what the authors' code said, once, of trajectories that made() makes again; with the commits.
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np
from sklearn.datasets import load_digits

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import stores  # noqa: E402
from run_select import Random, rounded  # noqa: E402

with open(os.path.join(HERE, "published_pruning.json"), encoding="utf-8") as numbers:
    PUBLISHED = json.load(numbers)
PORTOLAN = ""


def call(*words):
    return subprocess.run([PORTOLAN, *map(str, words)], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()


def refused(*words, status=None):
    done = subprocess.run([PORTOLAN, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode in ((1, 2) if status is None else (status,)), done
    return done.stderr.strip()


def chosen(*words):
    return [int(line) for line in call("select", *words).split()]


def table(*words):
    call("metrics", *words, "-o", "t.npy")
    return np.load("t.npy")


def made(seed=PUBLISHED["seed"]):
    """Distributions over three classes, of which 0 is gold: logits that walk, and drift to it; epochs × examples × classes."""
    random = np.random.default_rng(seed)
    epochs, examples, classes = (PUBLISHED[name] for name in ("epochs", "examples", "classes"))
    logits = np.cumsum(random.normal(0, 0.6, (epochs, examples, classes)), 0)
    logits[:, :, 0] += np.linspace(0, 3, epochs)[:, None] * random.normal(0.7, 0.6, examples)
    probs = np.exp(logits - logits.max(2, keepdims=True))
    return (probs / probs.sum(2, keepdims=True)).astype("f4")


def made_run(probs, name="made", first=0):
    ids = first + np.arange(probs.shape[1])
    return stores.run(name, [stores.batch(e, ids, p[:, 0], p.argmax(1) == 0, 0 * ids, **{f"prob_{k}": p[:, k] for k in range(3)}) for e, p in enumerate(probs)], declared=first + len(ids))


def check_windows(probs):
    """The published scores are ten times ours; the code of Dyn-Unc leaves the last epoch out."""
    last = len(probs) - 1
    for window in (10, 4):
        t = table("made", "--window", window)
        np.testing.assert_allclose(10 * t["dual"], PUBLISHED["dual"][str(window)], rtol=0, atol=1e-12)
        np.testing.assert_allclose(10 * t["dyn_unc"], PUBLISHED["dyn_unc_by_dual"][str(window)], rtol=0, atol=1e-12)
    np.testing.assert_allclose(10 * table("made", "--epochs", f":{last}")["dyn_unc"], PUBLISHED["dyn_unc"], rtol=0, atol=1e-12)
    assert sorted(chosen("made", "--by", "dyn_unc:desc", "--fraction", "0.25", "--epochs", f":{last}")) == PUBLISHED["dyn_unc_kept"]
    return 6


def tdds(probs, window):
    """By the paper's equations: classes last."""
    q, p = np.log(probs[1:].astype("f8") + 1e-8), np.log(probs[:-1].astype("f8") + 1e-8)
    moves = np.abs(probs[1:] * (q - p)).sum(2)
    each = np.lib.stride_tricks.sliding_window_view(moves, window - 1, axis=0)
    varied = np.sqrt(((each - each.mean(2, keepdims=True)) ** 2).sum(2))
    return (varied * 0.9 * 0.1 ** np.arange(len(varied))[::-1, None]).sum(0)


def check_tdds(probs):
    """Their own code's softmax of what it was given is within 1e-7 of the distributions."""
    for length, window in ((24, 10), (12, 4)):
        ours = table("made", "--epochs", f":{length}", "--window", window)["tdds"]
        np.testing.assert_allclose(ours, tdds(probs[:length], window), rtol=1e-12)
        np.testing.assert_allclose(ours, PUBLISHED["tdds"][f"{length}/{window}"], rtol=1e-5, atol=1e-7)
    assert "tdds" not in call("metrics", "curves", "--window", 3)
    return 5


def many_classes():
    """Distributions over 100 classes, and how they move: 0 at first."""
    numbers = PUBLISHED["tdds_100"]
    logits = np.cumsum(np.random.default_rng(numbers["seed"]).normal(0, 1, [numbers[name] for name in ("epochs", "examples", "classes")]), 0)
    probs = np.exp(logits - logits.max(2, keepdims=True))
    probs = (probs / probs.sum(2, keepdims=True)).astype("f4")
    logs = np.log(probs.astype("f8") + 1e-8)
    moves = np.concatenate([np.zeros((1, len(logs[0]))), np.abs(probs[1:] * (logs[1:] - logs[:-1])).sum(2)])
    ids = np.arange(probs.shape[1])
    return probs, stores.run("hundred", [stores.batch(e, ids, p[:, 0], p.argmax(1) == 0, 0 * ids, tdds_move=moves[e].astype("f4")) for e, p in enumerate(probs)])


def check_many_classes(probs):
    numbers = PUBLISHED["tdds_100"]
    window = numbers["window"]
    ours = table("hundred", "--window", window)["tdds"]
    np.testing.assert_allclose(ours, tdds(probs, window), rtol=1e-5)
    np.testing.assert_allclose(ours, numbers["scores"], rtol=1e-5, atol=1e-7)
    later = table("hundred", "--window", window, "--epochs", "3:11")["tdds"]
    np.testing.assert_allclose(later, tdds(probs[3:11], window), rtol=1e-5, err_msg="the move to the first epoch of the range does not count")
    assert chosen("hundred", "--by", "tdds:desc", "--window", window) == np.argsort(-ours, kind="stable").tolist()
    return 4


def check_second_split():
    """Epochs count from 1 there, and what never comes is one more than there are."""
    t = table("made")
    for measure, name in (("always_wrong_after", "second_split_forgetting"), ("always_right_after", "learning")):
        epoch = np.where(t[measure] < 0, PUBLISHED["epochs"] + 1, t[measure] + 1)
        assert epoch.tolist() == PUBLISHED[name], measure
    order = np.argsort(PUBLISHED["second_split_forgetting"], kind="stable")
    assert chosen("made", "--by", "always_wrong_after:asc") == order.tolist()
    return 3


def check_halves():
    """Two seeds of each half: the authors average their epochs with what never comes as one more than there are, and put both halves in one table."""
    published = np.array(PUBLISHED["ssft_of_halves"])
    call("compare", "made", "made-2", "half", "half-2", "--average", "--union", "--never", "next", "-o", "t.npy")
    t = np.load("t.npy")
    assert t["id"].tolist() == list(range(120)) and (t["always_wrong_after"] + 1).tolist() == published.tolist()
    got = chosen("made", "--with", "made-2", "--by", "always_wrong_after:asc", "--never", "next")
    assert got == np.argsort(published[:60], kind="stable").tolist()
    ours, never = table("made"), table("made", "--never", "next")
    for name in never.dtype.names:
        late = ours[name] < 0 if name in ("first_learned", "always_right_after", "always_wrong_after") else np.zeros(60, bool)
        assert (never[name][late] == PUBLISHED["epochs"]).all(), name
        np.testing.assert_array_equal(never[name][~late], ours[name][~late])
    assert set(table("made", "--never", "next", "--epochs", ":5")["first_learned"]) <= set(range(6))
    return 6


def check_union(runs):
    """Examples that any of three runs has, each mean over the runs that have it."""
    p = {}
    for run in runs:
        for i, column in zip(run[1].astype(int), run[2].T):
            p.setdefault(i, []).append(column[~np.isnan(column)].astype("f8"))
    call("compare", *(run[0]["name"] for run in runs), "--average", "--union", "-o", "t.npy")
    t = np.load("t.npy")
    assert t["id"].tolist() == sorted(p) and {len(each) for each in p.values()} == {1, 2, 3}
    np.testing.assert_allclose(t["confidence"], [np.mean([each.mean() for each in p[i]]) for i in t["id"]], rtol=1e-12)
    np.testing.assert_allclose(t["variability"], [np.mean([each.std() for each in p[i]]) for i in t["id"]], rtol=1e-10, atol=1e-12)
    assert t["epochs"].tolist() == [sum(map(len, p[i])) for i in t["id"]]
    assert t["never_learned"].tolist() == [int(all((each <= 0.5).all() for each in p[i])) for i in t["id"]]
    lines = call("compare", "strings", "more-strings", "--average", "--union").splitlines()[1:]
    assert [line.split(",")[0] for line in lines] == sorted(line.split(",")[0] for line in lines) and len(lines) > 300
    return 6


def check_minus(runs):
    """Each measure less that of another run, of the examples that both have."""
    (one, ids, p), (other, more, q) = runs
    shared = np.intersect1d(ids.astype(int), more.astype(int))
    assert 10 < len(shared) < min(len(ids), len(more))
    mine, theirs = (t[np.isin(t["id"], shared)] for t in (table(one["name"]), table(other["name"], "--epochs", "2:4")))
    both = np.intersect1d(shared, theirs["id"])
    mine, theirs = mine[np.isin(mine["id"], both)], theirs[np.isin(theirs["id"], both)]
    words = [one["name"], "--minus", other["name"], "--minus-epochs", "2:4"]
    t = table(*words)
    assert t["id"].tolist() == both.tolist() and (t["epochs"] == mine["epochs"]).all()
    for name in set(t.dtype.names) - {"id", "gold", "epochs"}:
        expected = [np.where(values[name] < 0, np.nan, values[name]) if values[name].dtype.kind in "iu" else values[name].astype("f8") for values in (mine, theirs)]
        np.testing.assert_allclose(t[name], expected[0] - expected[1], rtol=0, atol=1e-15, err_msg=name)
        assert t[name].dtype == "f8", name
    loss = {int(i): np.nanmean(-np.log(column.astype("f8"))) for i, column in zip(ids, p.T)}
    seen = ~np.isnan(q[2:4]).all(0)
    held_out = {int(i): np.nanmean(-np.log(column[2:4].astype("f8"))) for i, column in zip(more[seen], q.T[seen])}
    rho = np.array([loss[i] - held_out[i] for i in both])
    np.testing.assert_allclose(t["loss"], rho, rtol=1e-6, atol=1e-9)
    assert chosen(*words, "--by", "loss:desc", "--count", 7) == both[np.argsort(-t["loss"], kind="stable")[:7]].tolist()
    assert "are not in every run, and left out" in refused("metrics", *words, "--strict", status=3)
    own = "is about one run's own measures"
    for wrong, says in (
        (["select", *words, "--by", "forgettable"], own),
        (["select", *words, "--by", "loss:desc", "--why", "-o", "x.txt"], own),
        (["select", *words, "--by", "loss:desc", "--with", "made"], "--with"),
        (["metrics", *words, "--format", "cartography"], "--minus does not go with --format cartography"),
        (["metrics", one["name"], "--minus", one["name"]], "is named twice"),
        (["metrics", *words[:-1], "4:2"], "--minus-epochs 4:2: say A:B"),
        (["metrics", one["name"], "--minus", "strings"], "nothing to match them by"),
    ):
        assert says in refused(*wrong), wrong
    return 12


def strata_scores():
    """Scores in 50 strata, away from their borders: theirs are 1.0001 times as wide as the range."""
    random = np.random.default_rng(PUBLISHED["ccs"]["seed"])
    n = PUBLISHED["ccs"]["examples"]
    place = np.minimum(random.geometric(0.09, n) - 1, 49)
    score = (place + random.uniform(0.1, 0.9, n)) / 50
    score[:2] = 0, 1
    return score.astype("f4")


def strata_of(score, n=50):
    return np.minimum((n * ((score - score.min()) / (score.max() - score.min()))).astype(int), n - 1)


def digits_run(epochs=30, step=1.0):
    """Multinomial regression while it learns scikit-learn's digits, recorded as logits would be: the run, and the score that the published CCS
    sums (core/data's td logs, generate_importance_score.py's "accumulated_margin"): p of the label less the largest other one."""
    x, gold = load_digits(return_X_y=True)
    x, n = x / 16, np.arange(len(gold))
    weights, score, batches = np.zeros((x.shape[1], 10)), np.zeros(len(gold)), []
    for epoch in range(epochs):
        z = x @ weights
        p = np.exp(z - z.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        others_z, others_p = z.copy(), p.copy()
        others_z[n, gold] = others_p[n, gold] = -np.inf
        score += p[n, gold] - others_p.max(1)
        batches.append(stores.batch(epoch, n, p[n, gold].astype("f4"), p.argmax(1) == gold, gold, margin=(z[n, gold] - others_z.max(1)).astype("f4"), max_prob=p.max(1).astype("f4")))
        for part in np.array_split(np.random.default_rng(epoch).permutation(n), 20):
            error = p[part] - np.eye(10)[gold[part]]
            weights -= step * x[part].T @ error / len(part)
            zs = x @ weights
            p = np.exp(zs - zs.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
    return stores.run("digits", batches, declared=len(n)), score


def check_probability_margins(score):
    """prob_margin is the authors' score, and CCS draws by it what their score gives: two draws of 10% share as much as two of theirs."""
    epochs, size, cut = 30, len(score) // 10, 0.3
    np.testing.assert_allclose(epochs * table("digits")["prob_margin"], score, rtol=0, atol=1e-5)

    def theirs(seed):
        left = np.argsort(score, kind="stable")[rounded(cut * len(score)):]
        return set(left[balanced(strata_of(score[left]), 50, size, 1, Random(seed))])

    def ours(seed, measure="prob_margin"):
        return set(chosen("digits", "--by", f"{measure}:asc", "--strata", 50, "--cut", cut, "--count", size, "--seed", seed))

    draws = range(0, 40, 2)
    assert np.mean([len(ours(seed) & theirs(seed)) / size for seed in draws]) > 0.99, "the same draw from the same random numbers"
    others = {seed: theirs(seed + 1) for seed in draws}
    shared = {name: np.mean([len(draw(seed) & others[seed]) / size for seed in draws]) for name, draw in (("theirs", theirs), ("ours", ours), ("aum", lambda seed: ours(seed, "aum")))}
    assert abs(shared["ours"] - shared["theirs"]) < 0.01 and 0.13 < shared["aum"] < 0.15 and 0.17 < shared["theirs"] < 0.19, f"PRUNING.md says 0.18 and 0.14: {shared}"
    return 4


def balanced(groups, count, size, least, random):
    """The members of the groups that a subset of this size has, as the authors' loops share it out: the smallest group first."""
    members = [np.flatnonzero(groups == g) for g in range(count)]
    small = np.flatnonzero(np.isin(groups, [g for g in range(count) if len(members[g]) < least]))
    members = [m if len(m) >= least else m[:0] for m in members]
    members = [random.sample(m.tolist(), len(m)) for m in members]
    small = random.sample(small.tolist(), len(small))
    taken = []
    order = np.argsort([len(m) for m in members], kind="stable")
    for i, g in enumerate(order):
        taken += members[g][: size // (count - i)]
        size -= min(len(members[g]), size // (count - i))
    return taken + small[:size]


def check_strata(score):
    n = len(score)
    for at, budgets in PUBLISHED["ccs"]["budgets"].items():
        cut, size = at.split("/")
        words = ["scores", "--by", "score:asc", "--strata", 50, "--count", size, "--seed", 3] + (["--cut", cut] if float(cut) else [])
        got = chosen(*words)
        assert len(set(got)) == len(got) == int(size), at
        left = np.argsort(score, kind="stable")[rounded(float(cut) * n):]
        stratum = np.zeros(n, int)
        stratum[left] = strata_of(score[left])
        assert np.isin(got, left).all(), at
        sizes = np.bincount(stratum[left], minlength=50)  # which of two equal strata gives one more is chance there
        assert sorted(zip(sizes, np.bincount(stratum[got], minlength=50))) == sorted(zip(sizes, budgets)), at
        ours = balanced(stratum[left], 50, int(size), 1, Random(3))
        assert set(got) == set(left[ours]), at
    whole = chosen("scores", "--by", "score:desc", "--strata", 50, "--fraction", 1)
    for size in (1, 49, 500):
        assert chosen("scores", "--by", "score:desc", "--strata", 50, "--count", size) == whole[:size]
    assert set(chosen("scores", "--by", "score:desc", "--strata", 50, "--cut", 0.2, "--count", 800)) == set(np.argsort(-score, kind="stable")[200:])
    return 2 * len(PUBLISHED["ccs"]["budgets"]) + 4


def check_beta():
    """The weights are the published ones; the draw is that of the largest keys, from our generator."""
    n = PUBLISHED["examples"]
    for at, weights in PUBLISHED["beta"].items():
        rate, c = map(float, at.split("/"))
        size = rounded((1 - rate) * n)
        for seed in (0, 5):
            random = Random(seed)
            uniform = np.array([((random.next() >> 11) + 0.5) * 2.0**-53 for _ in range(n)])
            with np.errstate(divide="ignore"):
                keys = np.log(weights) - np.log(-np.log(uniform))
            got = chosen("made", "--by", "dual-beta", "--c-d", c, "--count", size, "--seed", seed)
            assert got == np.argsort(-keys, kind="stable")[:size].tolist(), at
    assert chosen("made", "--by", "dual-beta", "--fraction", 0.3) == chosen("made", "--by", "dual-beta", "--c-d", 4, "--count", 18)
    return 2 * len(PUBLISHED["beta"]) + 1


def losses_of(p):
    """Examples × epochs; what is missing is the loss before, or else after."""
    losses = -np.log(np.maximum(p, np.finfo("f4").tiny).astype("f4")).T.copy()
    for row in losses:
        seen = np.flatnonzero(~np.isnan(row))
        row[:] = row[seen[np.maximum(np.searchsorted(seen, np.arange(len(row)), "right") - 1, 0)]]
    return losses.astype("f8")


def lloyd(losses, clusters, random, starts=1):
    drawn = random.sample(range(len(losses)), min(len(losses), 256 * clusters))
    least = np.inf
    for start in range(starts):
        if start > 0:
            drawn = random.sample_of_all(drawn, clusters)
        centres, sample, labels = losses[drawn[:clusters]].copy(), losses[drawn], None
        for _ in range(20):
            nearest = ((sample[:, None] - centres) ** 2).sum(2).argmin(1)
            if labels is not None and (nearest == labels).all():
                break
            labels = nearest
            for k in np.unique(labels):
                centres[k] = sample[labels == k].mean(0)
        squares = ((sample[:, None] - centres) ** 2).sum(2).min(1).sum()
        if squares < least * (1 - 1e-9):
            least, best = squares, centres
    return ((losses[:, None] - best) ** 2).sum(2).argmin(1)


def wandering(name, n, epochs, seed, missing, prefix=""):
    """A run, its ids by ascending id, and p by epoch: NaN where nothing was observed."""
    random = np.random.default_rng(seed)
    ids = sorted((f"{prefix}{i}" if prefix else int(i)) for i in random.permutation(9 * n)[:n])
    p = random.uniform(0.05, 1, (epochs, n)).astype("f4")
    p[random.random(p.shape) < missing] = np.nan
    p[0, np.isnan(p).all(0)] = 0.5
    batches = []
    for epoch, row in enumerate(p):
        order = random.permutation(np.flatnonzero(~np.isnan(row)))
        batches.append(stores.batch(epoch, [ids[i] for i in order], row[order], row[order] > 0.5))
    return stores.run(name, batches), np.array(ids).astype("U"), p


def check_trajectories(runs):
    checks = 0
    for run, ids, p in runs:
        losses = losses_of(p)
        for clusters, seed in ((1, 0), (7, 1), (40, 2)):
            for size in (3, len(ids) // 2, len(ids)):
                random = Random(seed)
                labels = lloyd(losses, min(clusters, len(ids)), random)
                ours = ids[balanced(labels, min(clusters, len(ids)), size, 3, random)]
                got = call("select", run["name"], "--by", "s2l", "--clusters", clusters, "--seed", seed, "--count", size).split()
                assert len(got) == size and set(got) == set(ours), f"{run['name']}: {clusters} clusters, {size}"
                checks += 1
    some = ids[: len(ids) // 2]
    with open("some.txt", "w", encoding="utf-8") as file:
        file.write("\n".join(some))
    random = Random(5)
    ours = some[balanced(lloyd(losses[: len(some)], 4, random), 4, 6, 3, random)]
    assert set(call("select", run["name"], "--by", "s2l", "--clusters", 4, "--seed", 5, "--count", 6, "--only", "some.txt").split()) == set(ours)
    return checks + 1


def check_starts(runs):
    """Of several starts the best; with sources, each for itself, and of each as many as the authors' loop shares out."""
    run, ids, p = runs[0]
    losses, few = losses_of(p), [["b", "c", "a"][min(i % 7, 2)] for i in range(len(ids))]
    by_starts = {}
    for starts in (1, 2, 30):
        random = Random(4)
        by_starts[starts] = lloyd(losses, 9, random, starts)
        ours = ids[balanced(by_starts[starts], 9, 120, 3, random)]
        assert set(call("select", run["name"], "--by", "s2l", "--clusters", 9, "--seed", 4, "--count", 120, "--starts", starts).split()) == set(ours), starts
    assert not (by_starts[1] == by_starts[30]).all(), "the first start is the best one: this shows nothing"
    for names in (few, [str({"a": 10, "b": 9, "c": 9.5}[name]) for name in few]):
        with open("sources.tsv", "w", encoding="utf-8") as file:
            file.writelines(f"{i}\t{name}\n" for i, name in [("id", "source"), *zip(ids, names)])
        random, order, taken = Random(6), sorted(set(names), key=str if names is few else float), {}
        for name in order:
            rows = np.flatnonzero(np.array(names) == name)
            labels = lloyd(losses[rows], 5, random, 3)
            taken[name] = (rows, labels, random.s[:])
            balanced(labels, 5, len(rows), 3, random)
        for size in (10, 300, 650):
            left, expected = size, set()
            for i, name in enumerate(sorted(order, key=lambda name: len(taken[name][0]))):
                rows, labels, state = taken[name]
                share = min(left // (len(order) - i), len(rows))
                again = Random(0)
                again.s = state[:]
                expected |= set(ids[rows[balanced(labels, 5, share, 3, again)]])
                left -= share
            lines = call("select", run["name"], "--by", "s2l", "--clusters", 5, "--seed", 6, "--count", size, "--starts", 3, "--data", "sources.tsv", "--id-field", "id", "--sources", "source")
            assert {line.split("\t")[0] for line in lines.splitlines()[1:]} == expected and len(expected) == size
    return 9


def check_published_sources(group):
    names = np.array(["web", "books", "code", "math"])[np.random.default_rng(PUBLISHED["s2l"]["seed"] + 1).choice(4, len(group), p=[0.55, 0.3, 0.1, 0.05])]
    with open("curves.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": i, "from": name}) + "\n" for i, name in enumerate(names))
    for size, counts in PUBLISHED["s2l"]["of_sources"].items():
        lines = call("select", "curves", "--by", "s2l", "--clusters", 3, "--starts", 20, "--count", size, "--data", "curves.jsonl", "--id-field", "id", "--sources", "from").splitlines()
        got = [json.loads(line) for line in lines]
        assert [[sum(one["from"] == name and group[one["id"]] == g for one in got) for g in range(3)] for name in sorted(set(names))] == counts, size
    with open("part.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": i} | ({"from": "web"} if i % 2 else {})) + "\n" for i in range(len(group)))
    words = ["select", "curves", "--by", "s2l", "--count", 9, "--id-field", "id", "--sources", "from", "--data"]
    assert refused(*words, "part.jsonl") == "portolan: part.jsonl: 600 of the 1,200 examples to choose from have no from there, so no source: leave them out with --exclude"
    assert "--sources reads --data twice" in refused(*words, "-")
    assert "--sources is for --by s2l" in refused(*["random" if word == "s2l" else word for word in words], "part.jsonl")
    assert "--starts is for --by s2l" in refused("select", "curves", "--by", "random", "--starts", 3)
    assert "--sources needs --data FILE or --sources-data FILE" in refused("select", "curves", "--by", "s2l", "--sources", "from")
    return 8


def faiss_losses():
    """Three ways in which losses go, far apart: faiss's k-means finds them, and gives the three as S2L's code draws them."""
    random = np.random.default_rng(PUBLISHED["s2l"]["seed"])
    group = np.repeat(np.arange(3), [640, 350, 210])
    curves = np.array([[2, 1.2, .8, .5, .3, .2, .1, .1], [2, 2, 2.1, 2, 1.8, 1, .5, .2], [2.5, 3, 3.2, 3.4, 3.6, 3.8, 4, 4]])
    return group, (curves[group] + random.normal(0, 0.15, (len(group), 8))).clip(0.01)


def check_against_faiss(group):
    """Each of faiss's clusters is one of the groups: so many of each are drawn, whatever the numbers of the clusters."""
    assert sorted(PUBLISHED["s2l"]["faiss_clusters_of_groups"]) == [[0], [1], [2]]
    for size, counts in ((90, [30, 30, 30]), (900, [345, 345, 210]), (1000, [440, 350, 210])):
        got = chosen("curves", "--by", "s2l", "--clusters", 3, "--count", size)
        assert np.bincount(group[got]).tolist() == counts, size
    return 3


def main():
    global PORTOLAN
    PORTOLAN, maker = (os.path.abspath(path) for path in sys.argv[1:3])
    probs, score = made(), strata_scores()
    group, losses = faiss_losses()
    numbers = np.arange(len(score))
    digits, margins = digits_run()
    runs = [wandering("missing", 700, 7, 2, 0.4), wandering("large", 17000, 4, 3, 0), wandering("strings", 300, 12, 4, 0.1, "id-")]
    some = [wandering("more", 900, 5, 5, 0.2), wandering("others", 400, 6, 6, 0.2), wandering("more-strings", 300, 4, 7, 0.1, "id-")]
    hundred, of_hundred = many_classes()
    kept = [
        made_run(probs),
        of_hundred,
        *(made_run(made(seed), name, first) for seed, name, first in ((18, "made-2", 0), (19, "half", 60), (20, "half-2", 60))),
        digits,
        stores.run("scores", [stores.batch(0, numbers, 0 * score, 0 * numbers, score=score)], declared=len(score)),
        stores.run("curves", [stores.batch(e, np.arange(len(group)), np.exp(-losses[:, e]), group < 2) for e in range(8)], declared=len(group)),
    ]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["PORTOLAN_STORE"] = os.path.join(folder, "store")
        stores.make_store(maker, "store", kept + [run[0] for run in runs + some])
        checks = check_windows(probs) + check_tdds(probs) + check_many_classes(hundred) + check_second_split() + check_halves() + check_union([runs[0], *some[:2]]) + check_minus(some[:2]) + check_strata(score) + check_beta() + check_probability_margins(margins)
        checks += check_trajectories(runs) + check_starts(runs) + check_published_sources(group) + check_against_faiss(group)
        os.chdir("/")
    print(f"{checks} comparisons with published code, and with NumPy")
    return 0


if __name__ == "__main__":
    sys.exit(main())
