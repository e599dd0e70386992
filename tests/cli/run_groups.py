"""portolan groups beside NumPy and SciPy: means, shares, differences and intervals of a selection, the counts of
forgetting, and accuracy by class and attribute.

    run_groups.py PORTOLAN MAKE_STORE
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
from scipy import stats

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stores

N, EPOCHS, REPLICATES = 6000, 5, 1500


def record(rng):
    """Examples of three classes; hard ones are longer and mostly from the web, so that there is a difference to find."""
    gold = rng.integers(0, 3, N).astype("i4")
    hard = rng.random(N)
    correct = rng.random((EPOCHS, N)) > hard * 0.6
    batches = [stores.batch(e, np.arange(N), (1 - hard).astype("f4"), correct[e], gold) for e in range(EPOCHS)]
    length = 10 + 5 * hard + rng.normal(size=N)
    source = np.where(rng.random(N) < 0.3 + 0.4 * hard, "web", np.where(rng.random(N) < 0.5, "book", "news"))
    return batches, gold, correct, length, source


def texts(rng):
    words = np.array("a the no dog cat runs never sleeps Not it IS here".split())
    return [" ".join(rng.choice(words, rng.integers(1, 8))) for _ in range(N)]


def take_words(text):
    return set(re.findall(r"[a-z0-9']+", text.lower()))


def run(portolan, *words):
    done = subprocess.run([portolan, "groups", "run", "--store", "store", *words], capture_output=True, text=True)
    assert done.returncode == 0 and "warning" not in done.stderr, done
    return done.stdout


def rows_of(text):
    return {(r["attribute"], r["value"], r["gold"]): r for r in csv.DictReader(io.StringIO(text))}


def number(text):
    return float(text) if text else np.nan


class Check:
    def __init__(self):
        self.problems, self.compared = [], 0

    def close(self, what, got, expected, tolerance=1e-12):
        if np.ndim(expected):
            for pair in zip(got, expected, strict=True):
                self.close(what, *pair, tolerance)
            return
        self.compared += 1
        if not np.isclose(got, expected, rtol=0, atol=tolerance, equal_nan=True):
            self.problems.append(f"{what}: {got}, expected {expected}")


def check_row(check, rng, what, row, values, selected):
    """values: of the group, NaN missing; a category's is an indicator."""
    there = ~np.isnan(values)
    inside, outside = values[there & selected], values[there & ~selected]
    check.close(what + " examples", int(row["examples"]), there.sum())
    check.close(what + " selected examples", int(row["selected_examples"]), len(inside))
    check.close(what + " all", number(row["all"]), values[there].mean())
    check.close(what + " selected", number(row["selected"]), inside.mean())
    check.close(what + " difference", number(row["difference"]), inside.mean() - values[there].mean())
    # The same intervals drawn by NumPy's generator: alike within four times what chance makes of so many replicates.
    share = len(outside) / there.sum()
    means = [[rng.choice(part, len(part)).mean() for _ in range(REPLICATES)] for part in (inside, outside)]
    low, high = np.quantile(share * np.subtract(*means), [0.05, 0.95])
    check.close(what + " low", number(row["low"]), low, 0.1 * (high - low))
    check.close(what + " high", number(row["high"]), high, 0.1 * (high - low))


def check_attributes(check, portolan, rng, gold, selected, length, source, words):
    out = rows_of(run(portolan, "--attributes", "attributes.csv", "--id-field", "id", "--level", "0.9",
                      "--replicates", str(REPLICATES), *words))
    groups = [("all", np.ones(N, bool))] + [(str(g), gold == g) for g in range(3)]
    for name, group in groups:
        check_row(check, rng, f"{words} length {name}", out["length", "", name], length[group], selected[group])
        for kind in ("web", "book", "news"):
            check_row(check, rng, f"{words} {kind} {name}", out["source", kind, name], (source == kind)[group] * 1.0, selected[group])
    check.close(f"{words} rows", len(out), 16)


def check_texts(check, portolan, rng, right):
    premises, hypotheses = texts(rng), texts(rng)
    with open("pairs.jsonl", "w") as file:
        for i in rng.permutation(N):
            file.write(json.dumps({"id": int(i), "p": premises[i], "h": hypotheses[i]}) + "\n")
    report = json.loads(run(portolan, "--attributes", "pairs.jsonl", "--id-field", "id", "--text-pair", "p,h", "--words",
                            "no,not,never", "--replicates", "0", "--json"))
    sets = [(take_words(p), take_words(h)) for p, h in zip(premises, hypotheses)]
    expected = {"word_overlap": np.mean([len(p & h) / len(p | h) for p, h in sets])}
    for which, name in enumerate("ph"):
        expected["words_in_" + name] = np.mean([bool(pair[which] & {"no", "not", "never"}) for pair in sets])
    got = {row["attribute"]: row["all"] for row in report["rows"] if row["gold"] == "all"}
    for name, value in expected.items():
        check.close(name, got[name], value)
    check.close("attributes", len(got), 3)
    rows = rows_of(run(portolan, "--accuracy", "--data", "pairs.jsonl", "--id-field", "id", "--text-pair", "p,h", "--words", "no,not,never"))
    derived = {"word_overlap": np.array([len(p & h) / len(p | h) for p, h in sets])}
    derived |= {f"words_in_{name}": np.array([bool(pair[i] & {"no", "not", "never"}) for pair in sets]) * 1.0 for i, name in enumerate("ph")}
    for name, values in derived.items():
        for half, chosen in (("low", values < even_cut(values)), ("high", values >= even_cut(values))):
            row = rows[name, half, "all"]
            check.close(f"{name} {half}", [number(row[c]) for c in ("examples", "accuracy", "cut")], [chosen.sum(), right[chosen].mean(), even_cut(values)])


def check_forgetting(check, portolan, correct):
    events = (correct[:-1] & ~correct[1:]).sum(axis=0)
    report = json.loads(run(portolan, "--forgetting", "--json"))
    check.close("histogram", report["histogram"], np.bincount(events))
    check.close("forgettable", report["forgettable"], ((events > 0) | ~correct.any(axis=0)).sum())
    check.close("never learned", report["never_learned"], (~correct.any(axis=0)).sum())
    table = list(csv.DictReader(io.StringIO(run(portolan, "--forgetting"))))
    check.close("table", [int(row["examples"]) for row in table], np.bincount(events))
    return (events > 0) | ~correct.any(axis=0)


def check_classes(check, portolan, batches, gold, correct, forgettable):
    """The rows of --classes, and the whole run above them in JSON."""
    gold_prob = np.array([one["gold_prob"] for one in batches], "f8")
    report = json.loads(run(portolan, "--classes", "--json"))
    rows = list(csv.DictReader(io.StringIO(run(portolan, "--classes"))))
    check.close("classes", [row["gold"] for row in report["classes"]], [0, 1, 2])
    check.close("epochs", [report["first_epoch"], report["last_epoch"], report["epochs"]], [0, EPOCHS - 1, EPOCHS])
    for name, got, group in [("whole", report, np.ones(N, bool)), *((f"class {g}", report["classes"][g], gold == g) for g in range(3))]:
        check.close(name + " examples", got["examples"], group.sum())
        check.close(name + " correctness", got["correctness"], correct[:, group].mean())
        check.close(name + " confidence", got["confidence"], gold_prob[:, group].mean())
        check.close(name + " variability", got["variability"], gold_prob[:, group].std(axis=0).mean())
        check.close(name + " forgettable", got["forgettable"], forgettable[group].sum())
        check.close(name + " share forgettable", got["share_forgettable"], forgettable[group].mean())
        check.close(name + " never learned", got["never_learned"], (~correct[:, group].any(axis=0)).sum())
    check.close("shares", [row["share"] for row in report["classes"]], np.bincount(gold) / N)
    for row, member in zip(rows, report["classes"], strict=True):
        check.close("as a table", [number(row[name]) for name in row if name != "label"], [member[name] for name in row if name != "label"])


def wilson(hits, n, level):
    if n == 0:
        return [np.nan] * 3
    interval = stats.binomtest(int(hits), int(n)).proportion_ci(level, method="wilson")
    return [hits / n, interval.low, interval.high]


def newcombe(before, after, level):
    """The difference of paired shares and its interval, by formula (10) of Newcombe 1998 and the examples' answers."""
    n = len(before)
    if n == 0:
        return [np.nan] * 3
    (p1, l1, u1), (p2, l2, u2) = (wilson(x.sum(), n, level) for x in (after, before))
    phi = 0
    if 0 < before.mean() < 1 and 0 < after.mean() < 1:
        covariance = (before & after).mean() - before.mean() * after.mean()
        phi = max(covariance - 1 / (2 * n), 0) if covariance > 0 else covariance
        phi /= before.std() * after.std()
    delta = np.sqrt((p1 - l1) ** 2 - 2 * phi * (p1 - l1) * (u2 - p2) + (u2 - p2) ** 2)
    epsilon = np.sqrt((u1 - p1) ** 2 - 2 * phi * (u1 - p1) * (p2 - l2) + (p2 - l2) ** 2)
    return [p1 - p2, p1 - p2 - delta, p1 - p2 + epsilon]


def even_cut(values):
    """Of all values from which numbers could be high, the one with the most even halves; the median, if there are two."""
    uneven = [(abs((values < cut).sum() - (values >= cut).sum()), cut != np.quantile(values, 0.5, method="higher"), cut) for cut in np.unique(values)]
    return min(uneven)[2]


def check_accuracy(check, portolan, gold, correct, later, attributes):
    """Each row of --accuracy, of one run and of two. `later`: the answers of the second run; −1: it lacks the example."""
    paired = later >= 0
    for words, counted, level in ((["--level", "0.8"], np.ones(N, bool), 0.8), (["after"], paired, 0.95), (["after", "--json", "--cut", "length=12.5,flag=0.5"], paired, 0.95)):
        done = subprocess.run([portolan, "groups", "run", "--store", "store", "--accuracy", "--data", "kinds.csv", "--id-field", "id", *words], capture_output=True, text=True, check=True)
        warned = re.findall(r"only run '(run|after)' has them: ([\d,]+) examples", done.stderr)
        assert warned == ([("run", f"{(~paired).sum():,}"), ("after", "7")] if "after" in words else []), done.stderr
        rows = json.loads(done.stdout)["rows"] if "--json" in words else list(csv.DictReader(io.StringIO(done.stdout)))
        expected = 0
        for name, values in {"": np.zeros(N), **attributes}.items():
            known = counted & (values == values)
            options, cut = {v: values == v for v in np.unique(values[known])}, None
            if values.dtype.kind == "f" and name:
                cut = 12.5 if name == "length" and "--json" in words else 0.5 if name == "flag" and "--json" in words else even_cut(values[known])
                options = {"low": values < cut, "high": values >= cut}
            for label in ("all", 0, 1, 2):
                for value, chosen in options.items():
                    these = known & chosen & (True if label == "all" else gold == label)
                    row = [r for r in rows if (r["attribute"] or "") == name and str(r["gold"]) == str(label) and (not name or r["value"] == value)]
                    assert len(row) == 1, (name, label, value, row)
                    before, after = correct[-1][these], later[these] == 1
                    what = f"{words} {name} {value} {label}"
                    check.close(what + " examples", int(row[0]["examples"]), these.sum())
                    check.close(what, [number(str(row[0][c] if row[0][c] is not None else "")) for c in ("accuracy", "low", "high")], wilson(before.sum(), these.sum(), level))
                    check.close(what + " cut", number(str(row[0]["cut"] if row[0]["cut"] is not None else "")), np.nan if cut is None else cut)
                    if "after" in words:
                        check.close(what, [number(str(row[0]["after_" + c])) for c in ("accuracy", "low", "high")], wilson(after.sum(), these.sum(), level))
                        check.close(what, [number(str(row[0]["difference" + c])) for c in ("", "_low", "_high")], newcombe(before, after, level))
                    expected += 1
        check.close(f"{words} rows", len(rows), expected)


def drawn_panels(script):
    """Of each panel its title, its names from above, and its series: (style, [(x, y), …])."""
    with open(script, encoding="utf-8") as file:
        text = file.read()
    blocks = re.search(r"\$data << EOD\n(.*?)EOD\n", text, re.S)[1].split("\n\n\n")
    series = [(style, [tuple(map(float, line.split())) for line in block.splitlines() if line]) for style, block in zip(re.findall(r"Style\[\d+\] = '([a-z ]+)'", text), blocks)]
    panels = []
    for number, (title, count) in enumerate(zip(re.findall(r"Title\[\d+\] = '(.*?)';", text), re.findall(r" Series\[\d+\] = (\d+)", text)), 1):
        panels.append((title, re.findall(rf"YName\[\d+\] = '(.*)'; YNamePanel\[\d+\] = {number};", text), series[:int(count)]))
        series = series[int(count):]
    return panels


def check_accuracy_plot(portolan):
    """A bar for each row of the table and run, its interval over it, and the rest is said to be left out."""
    for words, panels, left in (([], 1, 0), (["after"], 1, 0), (["--data", "kinds.csv", "--id-field", "id", "--columns", "flag"], 2, 0),
                                (["after", "--data", "kinds.csv", "--id-field", "id", "--columns", "flag,source"], 3, None), (["after", "--data", "kinds.csv", "--id-field", "id"], 3, None),
                                (["--data", "one.csv", "--id-field", "id"], 3, 0)):
        done = subprocess.run([portolan, "groups", "run", "--store", "store", "--accuracy", *words, "--plot", "bars.svg", "--script", "-o", "bars.csv"], capture_output=True, text=True, check=True)
        with open("bars.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        drawn, attributes = drawn_panels("bars.gp"), list(dict.fromkeys(row["attribute"] for row in rows))
        assert len(drawn) == panels, (words, drawn)
        attributes = attributes[-panels:]
        total = 0
        for attribute, (title, names, series) in zip(attributes, drawn):
            these = [row for row in rows if row["attribute"] == attribute][:len(names)]
            total += len(names)
            assert title.startswith(f"by {attribute or 'class'}"), title
            for name, row in zip(names, these):
                label, value = row["label"] or row["gold"], row["value"]
                assert name == (f"{label}, {value}" if value else label), (name, row)
            *bars, intervals = series
            assert [style for style, _ in series] == ["across"] * (2 if "after" in words else 1) + ["pairs"]
            wanted = []
            for run, points in zip(("", "after_"), bars):
                place = {"": 0.2, "after_": -0.2}[run] if "after" in words else 0
                seen = [(float(row[run + "accuracy"]), place - i) for i, row in enumerate(these) if row[run + "accuracy"]]
                np.testing.assert_allclose(points[1], seen, atol=1e-12)
                wanted += [(float(row[f"{run}{end}"]), place - i) for i, row in enumerate(these) if row[f"{run}low"] for end in ("low", "high")]
            np.testing.assert_allclose(sorted(intervals[1]), sorted(wanted), atol=1e-12)
        absent = sum(row["attribute"] in attributes for row in rows) - total
        assert absent == left if left is not None else absent >= 0
        assert ("has no room for" in done.stderr) == (absent > 0) and (not absent or f"no room for {absent} of the rows" in done.stderr), (words, absent, done.stderr)
        with open("bars.svg", encoding="utf-8") as file:
            assert "accuracy" in file.read()
    done = subprocess.run([portolan, "groups", "run", "--store", "store", "--classes", "--plot", "no.svg"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "--plot needs --forgetting or --accuracy" in done.stderr and not os.path.exists("no.svg"), done.stderr


def check_accuracy_errors(portolan):
    """A wrong field, a run that is not there, a class without examples, options that do not go together."""
    for words, status, said in ((["--data", "kinds.csv", "--id-field", "id", "--columns", "lenght"], 1, "lenght"), (["nobody"], 1, "nobody"), (["--epochs", "90:"], 1, "epochs 0 to 4"),
                                (["other"], 1, "no example in common"), (["run"], 2, "named twice"), (["--by", "random"], 2, "--by"), (["--cut", "length=x"], 2, "NAME=VALUE"),
                                (["--cut", "length"], 2, "NAME=VALUE"), (["--cut", "length=3"], 1, "no attribute of numbers"), (["--columns", "length"], 2, "--data"),
                                (["--data", "kinds.csv", "--id-field", "id", "--cut", "source=3"], 1, "source"), (["--data", "kinds.csv", "--id-field", "source"], 1, "'source'")):
        done = subprocess.run([portolan, "groups", "run", "--store", "store", "--accuracy", *words], capture_output=True, text=True, check=False)
        assert done.returncode == status and said in done.stderr and not done.stdout, (words, done)
    done = subprocess.run([portolan, "groups", "run", "after", "--store", "store", "--classes"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "goes with --accuracy" in done.stderr, done
    done = subprocess.run([portolan, "groups", "run", "after", "--store", "store", "--accuracy", "--strict"], capture_output=True, text=True, check=False)
    assert done.returncode == 3 and len(done.stdout.splitlines()) == 5, done
    for first, second, said in (("even", "thin", ["run 'thin': not observed at epoch 1: 1 of 2 examples", "left out, as only run 'even' has them: 1 examples"]),
                                ("thin", "even", ["run 'thin': not observed at epoch 1", "only run 'even' has them"]),
                                ("labelled", "again", ["run 'again' has another gold label for 1 examples"]), ("even", "labelled", []), ("labelled", "even", [])):
        done = subprocess.run([portolan, "groups", first, second, "--store", "store", "--accuracy"], capture_output=True, text=True, check=True)
        assert all(one in done.stderr for one in said) and (said or not done.stderr), done
    with open("one.csv", "w", encoding="utf-8") as file:
        file.write("id,kind,x\n0,a,1\n1,b,1\n")
    done = subprocess.run([portolan, "groups", "run", "--store", "store", "--accuracy", "--data", "one.csv", "--id-field", "id"], capture_output=True, text=True, check=True)
    empty = [row for row in csv.DictReader(io.StringIO(done.stdout)) if row["examples"] == "0"]
    assert len(empty) > 4 and all(row["accuracy"] == row["low"] == row["high"] == "" for row in empty) and "5,998 of the run's 6,000" in done.stderr, done


def check_long_names(portolan, maker):
    """Classes can be told apart beside values that leave no room for both; no character is cut in two."""
    labels = ["negative", "neutral", "éèêëéèêëéèêëéèêë"]
    ids = np.arange(60)
    stores.make_store(maker, "long", [stores.run("run", [stores.batch(0, ids, np.full(60, 0.5), ids % 2 == 0, ids % 3)], labels=labels)])
    with open("long.csv", "w", encoding="utf-8") as file:
        file.write("id,source\n" + "".join(f"{i},{('a web page of the Common Crawl 2019', 'a book of Project Gutenberg')[i % 2]}\n" for i in ids))
    subprocess.run([portolan, "groups", "run", "--store", "long", "--accuracy", "--data", "long.csv", "--id-field", "id", "--plot", "long.svg", "--script", "-o", "long.out.csv"], check=True)
    names = drawn_panels("long.gp")[-1][1]
    classes = {name.partition(", ")[0] for name in names}
    assert len(names) == 8 and len(classes) == 4 and "all" in classes and "negative" in classes, names
    assert any(name.startswith("éèêë") for name in classes) and "\ufffd" not in "".join(classes), names


def check_one_epoch(portolan):
    """In one epoch nothing is forgotten: the axes of the chart have whole numbers alone, and the epoch's axis that epoch."""
    run(portolan, "--forgetting", "--epochs", ":1", "--plot", "none.svg")
    compare = [portolan, "compare", "run", "--store", "store", "--early-stopping", "--epochs", ":1", "--plot", "early.svg"]
    subprocess.run(compare, check=True, capture_output=True)
    for picture, wanted in (("none.svg", ["0", "1", "1"]), ("early.svg", ["0", "0"])):
        with open(picture, encoding="utf-8") as file:
            numbers = re.findall(r"<text>\s*(-?[\d.]+)</text>", file.read())
        assert sorted(n for n in numbers if picture == "none.svg" or "." not in n and n != "1") == wanted, (picture, numbers)


def check_without_values(portolan):
    """A curve without a value leaves its chart as it is: the key names the one that stays, and the epochs are those of the run."""
    for run_name, epochs, wanted in (("run", ":1", "confidence"), ("even", ":", "2")):
        subprocess.run([portolan, "compare", run_name, "--store", "store", "--early-stopping", "--epochs", epochs, "--plot", "e.svg"],
                       check=True, capture_output=True)
        with open("e.svg", encoding="utf-8") as file:
            texts = [text.strip() for text in re.findall(r"<text>([^<]*)</text>", file.read())]
        assert wanted in texts and "-10" not in texts and "−10" not in texts, (run_name, texts)


def main():
    portolan, maker = (os.path.abspath(path) for path in sys.argv[1:3])
    rng, check = np.random.default_rng(3), Check()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        batches, gold, correct, length, source = record(rng)
        even = [stores.batch(e, [0, 1], [0.5, 0.5], [1, 0]) for e in range(3)]
        there = np.sort(rng.permutation(N + 7)[:N - 800])  # of the second run, whose last epoch is 1
        there = np.union1d(there, np.arange(N, N + 7))
        later = np.full(N + 7, -1)
        later[there] = rng.random(len(there)) < 0.8
        labels = np.concatenate([gold, np.zeros(7, "i4")])[there]
        after = [stores.batch(e, there, np.full(len(there), 0.5), later[there] if e else np.zeros(len(there)), labels) for e in range(2)]
        stores.make_store(maker, "store", [stores.run("run", batches, declared=N), stores.run("even", even), stores.run("after", after),
                                           stores.run("thin", [even[0], stores.batch(1, [1], [0.5], [0])]), stores.run("labelled", [stores.batch(0, [0, 1], [0.5, 0.5], [1, 1], [3, 4])]),
                                           stores.run("again", [stores.batch(0, [0, 1], [0.5, 0.5], [1, 1], [3, 5])]), stores.run("other", [stores.batch(0, [N + 100], [0.5], [1])])])
        length[rng.random(N) < 0.1] = np.nan
        with open("attributes.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["length", "id", "source"])
            writer.writerows(["" if np.isnan(length[i]) else repr(float(length[i])), i, source[i]] for i in rng.permutation(N))
        forgettable = check_forgetting(check, portolan, correct)
        check_classes(check, portolan, batches, gold, correct, forgettable)
        kinds = {"length": np.round(length, 1), "flag": (rng.random(N) < 0.3) * 1.0, "source": source}
        with open("kinds.csv", "w", newline="") as file:
            csv.writer(file).writerows([["id", *kinds], *([i, "" if np.isnan(length[i]) else repr(float(kinds["length"][i])), int(kinds["flag"][i]), source[i]] for i in range(N))])
        check_accuracy(check, portolan, gold, correct, later[:N], kinds)
        check_accuracy_errors(portolan)
        check_accuracy_plot(portolan)
        check_long_names(portolan, maker)
        check_one_epoch(portolan)
        check_without_values(portolan)
        check_attributes(check, portolan, rng, gold, forgettable, length, source, [])
        confidence = batches[0]["gold_prob"].astype("f8")
        hardest = np.zeros(N, bool)
        hardest[np.argsort(confidence, kind="stable")[:500]] = True
        check_attributes(check, portolan, rng, gold, hardest, length, source, ["--by", "hard-to-learn", "--count", "500"])
        check_texts(check, portolan, rng, correct[-1])
        os.chdir("/")
    print("\n".join(check.problems) if check.problems else f"{check.compared} numbers: all as NumPy has them")
    return 1 if check.problems else 0


if __name__ == "__main__":
    sys.exit(main())
