"""portolan aflite with other models than its own: predictions of the user's own, and how alike kept and removed examples are.

    run_aflite_models.py PORTOLAN MAKE_STORE
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import aflite_reference as reference
import stores

PORTOLAN, MAKER = (os.path.abspath(path) for path in sys.argv[1:3])


def aflite(*words, status=0):
    done = subprocess.run([PORTOLAN, "aflite", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done


def kept_rows(*words, **options):
    aflite(*words, "-o", "kept.txt", **options)
    return np.loadtxt("kept.txt", dtype=int, ndmin=1)


def table_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def manifest_of(path):
    with open(f"{path}.manifest.json", encoding="utf-8") as file:
        return json.load(file)


def predictions(models, examples, seed, trained=0.3):
    """1, 0 and NaN: how hard an example is, is its own."""
    rng = np.random.default_rng(seed)
    right = (rng.random((models, examples)) < rng.random(examples)).astype("f4")
    right[rng.random(right.shape) < trained] = np.nan
    return right


def ranked(right):
    """Eq. 4, and the examples by it: the most predictable first, then the first."""
    p = np.nanmean(right.astype("f8"), axis=0)
    return p, np.lexsort((np.arange(len(p)), -p))


def own_predictions():
    """p is the share of an example's predictions that is right; one phase removes those that reach the threshold."""
    right = predictions(37, 400, 1)
    p, order = ranked(right)
    by_index = ("--scores-of-models", "right.npy", "--ties", "index")
    np.save("right.npy", right)
    for words, removed in (((), (p >= 0.75).sum()), (("--threshold", 0.5), (p >= 0.5).sum()), (("--slice", 30), 30), (("--target-size", 390), 10),
                           (("--slice", 30, "--target-size", 390), 10), (("--heuristic", "greedy"), 1), (("--threshold", 1.01), 0)):
        kept = kept_rows(*by_index, *words, "--scores", "scores.csv", "--log", "log.csv")
        assert kept.tolist() == np.setdiff1d(np.arange(400), order[:removed]).tolist(), (words, removed, len(kept))
        scores, log = table_of("scores.csv"), table_of("log.csv")
        assert np.allclose([float(row["p"]) for row in scores], p, atol=1e-12) and {row["margin"] for row in scores} == {""}
        assert [int(row["predictions"]) for row in scores] == (~np.isnan(right)).sum(axis=0).tolist() and list(scores[0])[:2] == ["row", "phase_removed"]
        assert [row["phase_removed"] == "1" for row in scores] == np.isin(np.arange(400), order[:removed]).tolist()
        assert abs(float(log[0]["accuracy"]) - np.nanmean(right.astype("f8"))) < 1e-12 and abs(float(log[0]["mean_p"]) - p.mean()) < 1e-12, log
        assert len(log) == 1 + (removed > 0) and int(log[0]["removed"]) == removed and int(log[0]["qualified"]) >= removed
        assert abs(float(log[-1]["accuracy"]) - np.nanmean(right[:, kept].astype("f8"))) < 1e-12 and int(log[-1]["examples"]) == len(kept)
    assert "the slice is full, and predictions of one's own serve one phase" in aflite(*by_index, "--slice", 30, "-o", "kept.txt").stderr
    told = aflite(*by_index, "--plot", "phases.svg", "-o", "kept.txt").stderr
    assert f"held-out accuracy {np.nanmean(right):.3f} of all examples; the same predictions of the kept" in told, told
    parameters = manifest_of("kept.txt")["parameters"]
    assert (parameters["scores_of_models"], parameters["features"], parameters["partitions"]) == ("right.npy", None, 37), parameters
    chosen = {ties: set(kept_rows("--scores-of-models", "right.npy", "--slice", 20, "--ties", ties).tolist()) for ties in ("hash", "index")}
    assert chosen["hash"] == set(kept_rows("--scores-of-models", "right.npy", "--slice", 20).tolist())
    sure = np.where(np.isnan(right), np.nan, 1).astype("f4")  # all are tied
    np.save("sure.npy", sure)
    seeds = [kept_rows("--scores-of-models", "sure.npy", "--slice", 200, "--seed", seed) for seed in (0, 0, 1)]
    assert (seeds[0] == seeds[1]).all() and 50 < np.isin(seeds[0], seeds[2]).sum() < 150
    drawn = kept_rows("--scores-of-models", "right.npy", "--heuristic", "sample", "--slice", 30, "--threshold", 0.2)
    assert len(drawn) == 370 and p[np.setdiff1d(np.arange(400), drawn)].min() >= 0.2 and set(drawn) != chosen["index"]


def forms():
    """Any type of number, rows or columns first; labels, ids, lines and a run as with features."""
    right = predictions(9, 120, 2)
    by_index = ("--ties", "index", "--threshold", 0.6)
    np.save("right.npy", right)
    plain = kept_rows("--scores-of-models", "right.npy", *by_index)
    assert 20 < len(plain) < 110
    for array in (right.astype("f2"), right.astype("f8"), np.asfortranarray(right), np.asfortranarray(right.astype("f2"))):
        np.save("form.npy", array)
        assert (kept_rows("--scores-of-models", "form.npy", *by_index) == plain).all(), array.dtype
    whole = (np.nan_to_num(right) == 1)
    _, order = ranked(whole.astype("f8"))
    inside = np.setdiff1d(np.arange(120), order[:(whole.mean(axis=0) >= 0.6).sum()])
    for kind in ("?", "i1", "u1", "i8", "u4", "f2", "f8"):
        np.save("form.npy", whole.astype(kind))
        done = aflite("--scores-of-models", "form.npy", *by_index, "-o", "kept.txt")
        assert np.loadtxt("kept.txt", dtype=int).tolist() == inside.tolist(), kind
        assert "form.npy has no NaN" in done.stderr, done.stderr
    y = np.arange(120) % 3
    np.save("y.npy", y)
    labelled = kept_rows("--scores-of-models", "right.npy", *by_index, "--labels", "y.npy", "--scores", "scores.csv")
    assert (labelled == plain).all() and [row["label"] for row in table_of("scores.csv")] == y.astype(str).tolist()
    assert [c["kept"] for c in manifest_of("kept.txt")["classes"]] == np.bincount(y[plain]).tolist()
    out = np.array([3, 50, 51, 119])
    np.save("out.npy", out)
    np.save("form.npy", np.delete(right, out, axis=1))
    rest = kept_rows("--scores-of-models", "right.npy", *by_index, "--exclude", "out.npy")
    assert rest.tolist() == np.delete(np.arange(120), out)[kept_rows("--scores-of-models", "form.npy", *by_index)].tolist()
    names = [f"id {i * 7 % 120:03}" for i in range(120)]
    lines = [json.dumps({"id": name}) + "\n" for name in names]
    with open("own.jsonl", "w", encoding="utf-8") as file:
        file.writelines(lines)
    aflite("--scores-of-models", "right.npy", *by_index, "--data", "own.jsonl", "--id-field", "id", "--removed", "gone.jsonl", "-o", "kept.jsonl")
    with open("kept.jsonl", encoding="utf-8") as kept, open("gone.jsonl", encoding="utf-8") as gone:
        assert kept.read() == "".join(lines[i] for i in plain) and len(gone.readlines()) == 120 - len(plain)
    with open("names.txt", "w", encoding="utf-8") as file:
        file.writelines(name + "\n" for name in names)
    order = np.argsort(names)[:100]
    stores.make_store(MAKER, "store", [stores.run("r", [stores.batch(0, [names[i] for i in order], np.full(100, 0.5), np.ones(100), gold=y[order])])])
    aflite("--scores-of-models", "right.npy", "--threshold", 0.6, "--run", "r", "--store", "store", "--feature-ids", "names.txt", "-o", "kept.txt")
    with open("kept.txt", encoding="utf-8") as file:
        assert file.read().splitlines() == sorted(names[i] for i in plain if i in order)


def own_loop():
    """Phase after phase with nearest neighbours, whose predictions the command is given: the kept set is that of the paper's algorithm."""
    X, y = reference.clouds(500, 5, 2, 4, seed=3, hard=0.3)

    def held_out(rows, phase):
        right = np.full((12, len(rows)), np.nan)
        for model in range(12):
            train = reference.training_set(7, phase, model, len(rows), 60)
            classifier = KNeighborsClassifier(5).fit(X[rows[train]], y[rows[train]])
            right[model, ~train] = classifier.predict(X[rows[~train]]) == y[rows[~train]]
        return right

    ours, theirs = np.arange(500), np.arange(500)
    for phase in range(4):
        np.save("right.npy", held_out(ours, phase))
        np.save("ids.npy", ours)
        aflite("--scores-of-models", "right.npy", "--feature-ids", "ids.npy", "--slice", 60, "--ties", "index", "-o", "kept.txt")
        ours = np.loadtxt("kept.txt", dtype=int)
        p, order = ranked(held_out(theirs, phase))
        theirs = np.delete(theirs, order[:60][p[order[:60]] >= 0.75])
        assert ours.tolist() == theirs.tolist(), phase
    assert 260 <= len(ours) < 400, len(ours)


def support_vectors():
    """--model svm beside scikit-learn's LinearSVC: predictions, margins and what is removed; few classes, many, and missing ones."""
    for rows, features, classes, apart, size, C in ((3000, 6, 2, 3, 150, 1), (2000, 40, 3, 3, 400, 1), (2000, 30, 6, 5, 400, 0.1), (1500, 200, 3, 6, 100, 1),
                                                    (2000, 20, 3, 3, 300, 0.01), (900, 12, 66, 6, 700, 1)):
        X, y = reference.clouds(rows, features, classes, apart, seed=rows + features)
        if classes == 6:
            y[(y == 0) & (np.arange(rows) > 60)] = 1  # some training sets have none of class 0
        np.save("X.npy", X)
        np.save("y.npy", y)
        words = ("--features", "X.npy", "--labels", "y.npy", "--model", "svm", "--ridge", 1 / C, "--partitions", 10, "--train-size", size, "--slice", 150,
                 "--target-size", rows - 150, "--threshold", 0, "--scores", "scores.csv", "--log", "log.csv", "-o", "kept.txt")
        aflite(*words)
        made, correct, margin = reference.score(X.astype("f8"), y, 0, 0, 10, size, of=reference.hinge_distances, C=C)
        scores, log = table_of("scores.csv"), table_of("log.csv")
        p, found = correct / np.maximum(made, 1), np.array([float(row["p"] or 0) for row in scores])
        found_margin = np.array([float(row["margin"] or 0) for row in scores])
        case = (rows, features, classes, C, np.abs(p - found).mean(), np.abs(margin - found_margin).max() / np.abs(margin).max(), log[0])
        assert made.tolist() == [int(row["predictions"]) for row in scores] and log[0]["not_converged"] == "0", case
        assert np.abs(p - found).mean() <= 0.001 and np.abs(margin - found_margin).max() <= (0.03 if classes > 60 else 0.01) * np.abs(margin).max(), case
        assert np.abs(margin - found_margin).mean() <= 0.001 * np.abs(margin).max(), case
        ranked_rows = np.lexsort((np.arange(rows), -margin, np.where(made > 0, -p, 1)))[:150]
        removed = [i for i, row in enumerate(scores) if row["phase_removed"]]
        assert reference.jaccard(ranked_rows, removed) >= 0.97, case
        kept = open("kept.txt", "rb").read()
        for threads in (1, 3):
            aflite(*words, "--threads", threads)
            assert open("kept.txt", "rb").read() == kept, case
    assert manifest_of("kept.txt")["parameters"]["model"] == "svm"
    aflite(*(word for word in words if word not in ("--model", "svm")))
    assert open("kept.txt", "rb").read() != kept


def cosines(X, sides, labels):
    """Mean and standard deviation over pairs, by NumPy: of all pairs of each side, and of those of one label."""
    U = X.astype("f8")[np.abs(X).sum(axis=1) > 0]
    sides, labels = sides[np.abs(X).sum(axis=1) > 0], labels[np.abs(X).sum(axis=1) > 0]
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    products, i, j = U @ U.T, *np.triu_indices(len(U), 1)
    found = {}
    for name, of in (("kept", False), ("removed", True)):
        pairs = (sides[i] == of) & (sides[j] == of)
        same = pairs & (labels[i] == labels[j])
        found[name], found[name + "_within_labels"] = products[i[pairs], j[pairs]], products[i[same], j[same]]
        for label in np.unique(labels):
            found[name, label] = products[i[same], j[same]][labels[i[same]] == label]
    return found


def similarities():
    """Cosines of kept and of removed examples: means of all pairs, deviations of all pairs or of a sample."""
    for rows, kind, order in ((900, "f4", "C"), (700, "f2", "F"), (2600, "f8", "C")):
        X, y = reference.clouds(rows, 17, 3, 4, seed=rows)
        X = np.asarray(X + 0.7, kind, order=order)
        X[5] = 0
        np.save("X.npy", X)
        np.save("y.npy", y)
        done = aflite("--features", "X.npy", "--labels", "y.npy", "--partitions", 8, "--train-size", 90, "--target-size", rows // 3, "--slice", 100, "-o", "kept.txt")
        told, kept = manifest_of("kept.txt"), np.loadtxt("kept.txt", dtype=int)
        removed = ~np.isin(np.arange(rows), kept)
        expected = cosines(X, removed, y)
        for name, values in told["cosine_similarity"].items():
            of = expected[name]
            assert values["pairs"] == len(of) and abs(values["mean"] - of.mean()) < 1e-6, (rows, name, values, len(of), of.mean())
            exact = min(removed.sum(), (~removed).sum()) and (removed if "removed" in name else ~removed).sum() <= 1000
            assert abs(values["deviation"] - of.std()) < (1e-5 if exact else 0.05 * of.std()), (rows, name, values, of.std())
        for label in told["classes"]:
            for side in ("kept", "removed"):
                assert abs(label["cosine_" + side] - expected[side, int(label["label"])].mean()) < 1e-6, label
        within = [expected[name + "_within_labels"] for name in ("kept", "removed")]
        assert abs(within[1].mean() - within[0].mean()) > 0.01  # or it would not show which is which
        assert f"two examples of a label: mean {within[0].mean():.3f}, deviation " in done.stderr and f"; {within[1].mean():.3f}, " in done.stderr, done.stderr
        assert "1 examples have no feature but 0" in done.stderr, done.stderr
    np.save("right.npy", np.where(removed, 1, np.nan_to_num(predictions(3, rows, 3, 0)) * 0).astype("f4"))
    done = aflite("--features", "X.npy", "--scores-of-models", "right.npy", "-o", "again.txt")
    assert np.loadtxt("again.txt", dtype=int).tolist() == kept.tolist() and "cosine similarity of two examples: mean" in done.stderr, done.stderr
    again = manifest_of("again.txt")["cosine_similarity"]
    assert all(abs(again["kept"][name] - value) < 1e-9 for name, value in told["cosine_similarity"]["kept"].items()) and again["kept_within_labels"] == {"pairs": 0, "mean": None, "deviation": None}
    done = aflite("--features", "X.npy", "--labels", "y.npy", "--partitions", 8, "--threshold", 1.01, "-o", "kept.txt")
    whole = cosines(X, np.zeros(rows, bool), y)["kept_within_labels"]
    assert f"two examples of a label: mean {whole.mean():.3f}, deviation " in done.stderr and "removed;" not in done.stderr, done.stderr
    assert manifest_of("kept.txt")["cosine_similarity"]["removed"] == {"pairs": 0, "mean": None, "deviation": None}


def refused():
    """What is wrong is said, with its place, and nothing is written."""
    right = predictions(4, 50, 5)
    arrays = {"right": right, "across": right.T, "half": np.where(np.isnan(right), 0.5, right), "whole": np.full((4, 50), 2), "below": np.full((4, 50), -1, "i8"),
              "far": np.where(np.isnan(right), 256, right).astype("i4"), "halves": np.where(np.isnan(right), 0.5, right).astype("f2"), "endless": np.where(np.isnan(right), np.inf, right),
              "flat": right[0], "empty": right[:0], "narrow": right[:, :0], "texts": np.array([["right"] * 50] * 4), "idle": np.concatenate([right, np.full((1, 50), np.nan)]),
              "long": right.astype(np.longdouble), "X": np.zeros((50, 3), "f4"), "y": np.arange(50) % 2, "short": np.arange(49) % 2, "few": np.arange(49)}
    for name, array in arrays.items():
        np.save(f"{name}.npy", array)
    first = np.argwhere(np.isnan(right))[0]
    place = f"row {first[0]}, column {first[1]} (from 0) is not 1 (the model is right about the example), 0 (it is wrong) or NaN"
    of = ("--scores-of-models", "right.npy")
    for words, status, expected in (
            (("--scores-of-models", "half.npy"), 1, "half.npy: " + place), (("--scores-of-models", "halves.npy"), 1, "halves.npy: " + place),
            (("--scores-of-models", "far.npy"), 1, "far.npy: " + place), (("--scores-of-models", "endless.npy"), 1, "endless.npy: " + place),
            (("--scores-of-models", "whole.npy"), 1, "whole.npy: row 0, column 0 (from 0) is not 1"), (("--scores-of-models", "below.npy"), 1, "below.npy: row 0, column 0"),
            (("--scores-of-models", "flat.npy"), 1, "flat.npy has 1 dimensions: it needs two, a row for each model and a column for each example"),
            (("--scores-of-models", "empty.npy"), 1, "empty.npy is empty"), (("--scores-of-models", "narrow.npy"), 1, "narrow.npy is empty"),
            (("--scores-of-models", "texts.npy"), 1, "texts.npy holds texts"), (("--scores-of-models", "long.npy"), 1, "long.npy holds numbers of 16 bytes each: 8 at most are read"), (("--scores-of-models", "idle.npy"), 1, "idle.npy: row 4 (from 0) is NaN throughout"),
            (("--scores-of-models", "nothing.npy"), 1, "cannot read nothing.npy"),
            ((*of, "--labels", "short.npy"), 1, "short.npy has 49 labels, and right.npy has 50 columns"),
            (("--scores-of-models", "across.npy", "--labels", "y.npy"), 1, "y.npy has 50 labels, and across.npy has 4 columns"),
            (("--scores-of-models", "across.npy", "--features", "X.npy"), 1, "across.npy has 4 columns, and X.npy has 50 rows: it needs a row for each model"),
            ((*of, "--feature-ids", "few.npy"), 1, "few.npy has 49 ids, and right.npy has 50 columns"),
            ((*of, "--target-size", 51), 1, "--target-size 51: there are 50 examples"),
            ((*of, "--ties", "margin"), 2, "--ties margin needs margins, and --scores-of-models has none: say hash or index"),
            ((*of, "--partitions", 3), 2, "--scores-of-models and --partitions do not go together"), ((*of, "--train-size", 3), 2, "--train-size"),
            ((*of, "--ridge", 3), 2, "--ridge"), ((*of, "--model", "svm"), 2, "--model"), (("--features", "X.npy", "--labels", "y.npy", "--model", "sbm"), 2, "did you mean svm?"), ((*of, "--standardise"), 2, "--standardise"), ((*of, "--groups", "y.npy"), 2, "--groups"),
            ((*of, "--checkpoint", "state"), 2, "--checkpoint"), ((*of, "-o", "right.npy"), 2, "are the same file"), ((), 2, "which features? --features X.npy")):
        done = aflite(*words, status=status)
        lines = [line for line in done.stderr.splitlines() if "predicted by" not in line]
        assert len(lines) == 1 and expected in lines[0] and done.stdout == "", (words, done.stderr)
    some = right.copy()
    some[:, 7] = np.nan
    np.save("some.npy", some)
    done = aflite("--scores-of-models", "some.npy", "--threshold", 0, "-o", "kept.txt")
    assert "1 examples were never predicted in the last phase and are kept: say more models" in done.stderr and np.loadtxt("kept.txt", dtype=int).tolist() == 7, done.stderr
    np.save("sure.npy", np.where(np.arange(50) < 40, 1.0, np.nan)[None])  # of what is kept there is no prediction
    done = aflite("--scores-of-models", "sure.npy")
    assert "held-out accuracy 1.000 of all examples; of the kept there are no predictions" in done.stderr and "nan" not in done.stderr, done.stderr
    np.save("distinct.npy", np.arange(70000))
    np.save("wide.npy", np.tile([[1.0, 0.0]], (3, 35000)))
    done = aflite("--scores-of-models", "wide.npy", "--labels", "distinct.npy", "-o", "kept.txt")
    assert len(np.loadtxt("kept.txt")) == 35000, done.stderr


def main():
    for part in (own_predictions, forms, own_loop, support_vectors, similarities, refused):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            began = time.monotonic()
            part()
            print(f"{part.__name__}: {time.monotonic() - began:.1f} s", flush=True)
            os.chdir("/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
