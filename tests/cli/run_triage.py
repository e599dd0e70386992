"""portolan triage beside NumPy: scores, groups, epochs and examples that one of the two runs lacks, difficulties; and what it refuses.

    run_triage.py PORTOLAN MAKE_STORE
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stores

PORTOLAN = ""


def say(*words, status=0):
    done = subprocess.run([PORTOLAN, "triage", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == status, (words, done)
    return done


def made(name, n, epochs, seed, missing=0.0, strings=False):
    """A regression whose predictions come near their targets, some never: the run, and (epochs × n) predictions, targets, difficulties."""
    random = np.random.default_rng(seed)
    target = np.broadcast_to(random.normal(0, 2, n), (epochs, n)).astype("f4")
    bias = np.where(random.random(n) < 0.2, random.normal(0, 3, n), 0)
    prediction = (target + bias + random.normal(0, 1, (epochs, n)) * np.linspace(2, 0.5, epochs)[:, None]).round(1).astype("f4")
    sigma = random.uniform(0.5, 2, (epochs, n)).astype("f4")
    prediction[random.random((epochs, n)) < missing] = np.nan
    ids = np.array(sorted((f"id-{i}" for i in range(n)), key=str.encode)) if strings else np.arange(n)
    batches = []
    for e in range(epochs):
        seen = random.permutation(np.flatnonzero(~np.isnan(prediction[e])))
        batches.append(stores.batch(2 * e, ids[seen], 0 * prediction[e][seen], np.zeros(len(seen), bool), task_loss=(prediction[e][seen] - target[e][seen]) ** 2,
                                    prediction=prediction[e][seen], target=target[e][seen], difficulty=sigma[e][seen]))
    return stores.run(name, batches, declared=0 if strings or missing else n), ids, prediction.astype("f8"), target.astype("f8"), sigma.astype("f8")


def expected(run, calibration, has_sigma):
    """(n,) scores, variabilities, epochs and mean residuals."""
    ids, prediction, target, sigma = run[1:]
    residuals = (target - prediction) / (sigma if has_sigma else 1)
    of_calibration = (calibration[3] - calibration[2]) / (calibration[4] if has_sigma else 1)
    t = np.full(residuals.shape, np.nan)
    for e in range(min(len(residuals), len(of_calibration))):
        known = of_calibration[e][~np.isnan(of_calibration[e])]
        below = (known[None, :] < residuals[e][:, None]).sum(1)
        equal = (known[None, :] == residuals[e][:, None]).sum(1)
        t[e] = np.where(np.isnan(residuals[e]), np.nan, (below + (equal + 1) / 2) / (len(known) + 1))
    used = ~np.isnan(t)
    with np.errstate(invalid="ignore"):
        mean = np.where(used, t, 0).sum(0) / used.sum(0)
        deviation = np.sqrt(np.where(used, (t - mean) ** 2, 0).sum(0) / used.sum(0))
        residual = np.where(used, target - prediction, 0).sum(0) / used.sum(0)
    return mean, deviation, used.sum(0), residual


def groups(score, variability, low=0.33, share=0.75):
    """As the published code puts them (triage.py): np.percentile of the variabilities."""
    steady = variability <= np.percentile(variability, 100 * share)
    return np.where(steady & (score <= low), "over-estimated", np.where(steady & (score >= 1 - low), "under-estimated", "well-estimated"))


def check_scores(run, calibration):
    checks = 0
    for words, has_sigma, share, low in (((), False, 0.75, 0.33), (("--sigma", "difficulty"), True, 0.75, 0.33), (("--low", "0.4", "--steady", "0.5"), False, 0.5, 0.4)):
        score, variability, epochs, residual = expected(run, calibration, has_sigma)
        say(run[0]["name"], "--calibration", calibration[0]["name"], "-o", "t.npy", *words)
        table = np.load("t.npy")
        known = epochs > 0
        assert (table["id"] == run[1][known]).all() and (table["epochs"] == epochs[known]).all()
        for name, wanted in (("score", score), ("variability", variability), ("residual", residual)):
            np.testing.assert_allclose(table[name], wanted[known], rtol=1e-9, atol=1e-9, err_msg=name)
        # a variability at the very border may fall to either side, by its last digit
        border = np.abs(variability[known] - np.percentile(variability[known], 100 * share)) < 1e-12
        assert (table["group"] == groups(score[known], variability[known], low, share))[~border].all() and len(set(table["group"])) == 3
        checks += 5
    report = json.loads(say(run[0]["name"], "--calibration", calibration[0]["name"], "--json").stdout)
    assert report["calibration_examples"] == calibration[2].shape[1] and sum(report["groups"].values()) == len(report["examples"]) == known.sum()
    return checks + 1


def check_refusals():
    for words, status, wanted in ((("a",), 2, "--calibration RUN"), (("a", "--calibration", "nobody"), 1, "nobody"), (("labels", "--calibration", "a"), 1, "has no column 'prediction'"),
                                  (("a", "--calibration", "labels"), 1, "has no column 'prediction'"), (("a", "--calibration", "b", "--sigma", "none"), 1, "has no column 'none'"),
                                  (("zero", "--calibration", "zero", "--sigma", "difficulty"), 1, "must be above 0"), (("a", "--calibration", "b", "--low", "0.6"), 2, "--low"),
                                  (("a", "--calibration", "late"), 1, "has no epoch at which"), (("a", "--calibration", "b", "-o", "t.xyz"), 2, "xyz")):
        done = say(*words, status=status)
        assert wanted in done.stderr and done.stdout == "", (words, done)
    return 9


def main():
    global PORTOLAN
    PORTOLAN, maker = (os.path.abspath(path) for path in sys.argv[1:3])
    a, b = made("a", 800, 6, 1), made("b", 150, 6, 2)
    gaps, few = made("gaps", 300, 5, 3, missing=0.4, strings=True), made("few", 40, 3, 4, missing=0.2)
    numbers = np.arange(3)
    losses = dict(task_loss=np.ones(3, "f4"), prediction=np.ones(3, "f4"), target=np.ones(3, "f4"))
    others = [stores.run("labels", [stores.batch(0, numbers, np.ones(3, "f4"), np.ones(3, bool))], declared=3),
              stores.run("zero", [stores.batch(0, numbers, np.zeros(3, "f4"), np.zeros(3, bool), difficulty=np.zeros(3, "f4"), **losses)], declared=3),
              stores.run("late", [stores.batch(99, numbers, np.zeros(3, "f4"), np.zeros(3, bool), **losses)], declared=3)]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["PORTOLAN_STORE"] = os.path.join(folder, "store")
        stores.make_store(maker, "store", [run[0] for run in (a, b, gaps, few)] + others)
        checks = check_scores(a, b) + check_scores(gaps, b) + check_scores(gaps, few) + check_scores(b, b) + check_refusals()
        os.chdir("/")
    print(f"{checks} comparisons with NumPy")
    return 0


if __name__ == "__main__":
    sys.exit(main())
