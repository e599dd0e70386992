"""Maps coloured by category and with highlighted examples: their data, scripts and reports beside what NumPy says.

    run_map_categories.py PORTOLAN MAKE_STORE
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

EPOCHS = 3
N = 4000
NAMES = ["it's `touch evil` $(touch evil)", "x" * 60 + "\\", "naïve", *(f"class {k}" for k in range(3, 15))]
problems = []


def check(condition, what):
    if not condition:
        problems.append(what)


def make_examples():
    random = np.random.default_rng(5)
    p = random.random((EPOCHS, N)).astype("f4")
    gold = np.minimum(random.geometric(0.25, N) - 1, len(NAMES) - 1)
    gold[random.random(N) < 0.05] = -1
    return p, gold


def run_of(name, p, gold, labels):
    batches = []
    for e in range(EPOCHS):
        for ids in (np.flatnonzero(gold >= 0), np.flatnonzero(gold < 0)): # who has no label is logged without
            if len(ids):
                batches.append(stores.batch(e, ids, p[e][ids], p[e][ids] > 0.5, gold[ids] if gold[ids[0]] >= 0 else None))
    return stores.run(name, batches, declared=N, labels=labels)


def call(portolan, *words, status=0, said=""):
    done = subprocess.run([portolan, "map", *words], capture_output=True, text=True)
    check(done.returncode == status and said in done.stderr, f"{' '.join(words)}: {done.returncode}, {done.stderr}")
    return done


def draw(portolan, *words, **expected):
    done = call(portolan, *words, "--json", "--script", **expected)
    return json.loads(done.stdout) if done.stdout else None


def read_points(path):
    points = np.fromfile(path, "<f4").reshape(-1, 4)
    check((points[::2, 3] == 1).all() and (points[1::2, 3] == 0).all(), f"{path}: each after its edge")
    return points[1::2].astype("f8")


def nearest(points, p):
    places = np.stack([p.std(0), p.mean(0)], 1)
    distance = np.abs(points[:, None, :2] - places[None]).max(2)
    check(distance.min(1).max() < 1e-6, "points: none from any example")
    return distance.argmin(1)


def levels_of(names):
    """The level of each example, and the key: at most twelve by number of examples, then by name; others; none."""
    known, counts = np.unique([name for name in names if name is not None], return_counts=True)
    order = sorted(range(len(known)), key=lambda k: (-counts[k], known[k]))
    level = {known[k]: min(place, 12) for place, k in enumerate(order)}
    key = [(str(known[k]), int(counts[k])) for k in order[:12]]
    if len(order) > 12:
        key.append((f"{len(order) - 12} others", int(sum(counts[k] for k in order[12:]))))
    without = sum(name is None for name in names)
    return np.array([len(key) if name is None else level[name] for name in names]), key, without


def check_labels(portolan, p, gold):
    names = [None if g < 0 else NAMES[g] for g in gold]
    levels, key, without = levels_of(names)
    report = draw(portolan, "a", "--colour", "gold", "-o", "gold.svg")
    wanted = [{"name": name, "examples": count} for name, count in [*key, ("no gold", without)]]
    check(report["colour"]["categories"] == wanted, f"gold: {report['colour']}")
    check(report["colour"]["categories_in_others"] == 3, "gold: three others")
    points = read_points("gold.map-data")
    check((points[:, 2] == levels[nearest(points, p)]).all(), "gold: a point has another category")
    with open("gold.gp", encoding="utf-8") as file:
        script = file.read()
    check(re.search(r"^Level\[1\] = 'it’s `[^']*…[^']*evil\)'; ", script, re.M), "gold: the name is quoted, and its middle cut")
    check(f"LevelCount[1] = '{key[0][1]:,}'" in script, "gold: the key has counts")
    check(len(re.findall(r"^Level\[", script, re.M)) == 14 and "key_title = 'gold label'" in script, "gold: the key")
    bars = script[script.index("$bars"):].split("\n\n\n")[2].split("\n")[:14]
    means = [p.mean(0)[levels == k].mean() for k in range(14)]
    got = [float(bar.split()[1]) for bar in bars]
    check(len(got) == 14 and np.allclose(got, means, rtol=1e-6), f"gold: means of confidence: {got}")
    check(not os.path.exists("evil"), "gold: a name was run")
    return names


def check_columns(portolan, p, names):
    """The same from a column of text, of a file beside the run or of the coordinates themselves."""
    with open("own.jsonl", "w", encoding="utf-8") as file:
        for i in np.random.default_rng(1).permutation(N):
            row = {"id": int(i), "lang": names[i], "variability": p.std(0)[i], "confidence": p.mean(0)[i], "size": len(names[i] or ""), "aum": 1000 + int(i)}
            file.write(json.dumps(row, default=float) + "\n")
    for words in (["a", "--data", "own.jsonl"], ["a", "--colour-file", "own.jsonl"], ["--from", "own.jsonl"]):
        report = draw(portolan, *words, "--id-field", "id", "--colour", "lang", "-o", "lang.svg")
        with open("gold.map-data", "rb") as gold, open("lang.map-data", "rb") as lang:
            check(words[0] == "--from" or gold.read() == lang.read(), f"{words}: other points than by label")
        check(report["colour"]["categories"][-1] == {"name": "no lang", "examples": names.count(None)}, f"{words}: {report['colour']}")
    report = draw(portolan, "a", "--data", "own.jsonl", "--id-field", "id", "--colour", "size", "-o", "size.svg")
    check("categories" not in report["colour"] and report["colour"]["to"] >= 60, "numbers are a scale")
    report = draw(portolan, "a", "--colour-file", "own.jsonl", "--id-field", "id", "--colour", "aum", "-o", "size.svg")
    check(report["colour"]["to"] >= 1000, "a column that is called as a measure is the file's")
    draw(portolan, "a", "--data", "own.jsonl", "--id-field", "id", "--colour", "gold", "-o", "lang.svg")
    with open("gold.map-data", "rb") as gold, open("lang.map-data", "rb") as lang:
        check(gold.read() == lang.read(), "--data: the run's own labels and measures come before the file's columns")
    call(portolan, "a", "--data", "own.jsonl", "--id-field", "id", "--colour", "lang", "--density", "-o", "x.svg", status=1,
         said="--density: a cell's colour is a mean, and lang is text")


def check_facets(portolan, p, gold):
    levels, key, _ = levels_of([None if g < 0 else NAMES[g] for g in gold])
    report = draw(portolan, "a", "--colour", "gold", "--facet", "-o", "facets.svg")
    check(report["maps"][0]["shown"] == N and report["colour"]["categories"][0]["name"] == key[0][0], f"facets: {report}")
    with open("facets.gp", encoding="utf-8") as file:
        script = file.read()
    places = re.findall(r"^Skip\[(\d+)\] = (\d+); Points\[\d+\] = (\d+)", script, re.M)
    check(len(places) == 14 and "frames = 14" in script, "facets: one for each level")
    whole = read_points("facets.map-data")
    for facet, skip, count in ((int(x) for x in place) for place in places):
        points = whole[skip // 32:(skip // 16 + count) // 2]
        own = points[:, 2] == facet - 1
        check((points[~own, 2] == 14).all(), f"facet {facet}: others that are not grey")
        check(own[-own.sum():].all(), f"facet {facet}: over all others")
        found = nearest(points, p)
        check((levels[found[own]] == facet - 1).all() and (levels[found[~own]] != facet - 1).all(), f"facet {facet}: examples")
    corners = [[float(x) for x in place] for place in re.findall(r"^FacetLeft\[\d+\] = ([\d.]+); FacetBottom\[\d+\] = ([\d.]+)", script, re.M)]
    for size in ((), ("--width", "3.3in")):
        draw(portolan, "a", "--colour", "gold", "--facet", *size, "-o", "facets.svg")
        with open("facets.gp", encoding="utf-8") as file:
            names = re.findall(r"Level\[\d+\] = '(.*?)';", file.read())[:14]
        check(len(set(names)) == 14 and "…" not in names, f"facets {size}: names that cannot be told apart: {names}")
    width, height, above = (float(re.search(rf"^{name} = ([\d.]+)", script, re.M).group(1)) for name in ("facet_width", "facet_height", "height"))
    for i, (left, bottom) in enumerate(corners):
        check(left >= 0 and bottom >= 0 and left + width <= 1000 and bottom + height <= above, f"facet {i}: within the picture")
        for x, y in corners[:i]:
            check(abs(left - x) >= width or abs(bottom - y) >= height, f"facet {i}: apart from others")


def check_ties(portolan):
    with open("ties.csv", "w") as file:
        file.write("id,k,variability,confidence\n" + "".join(f"{i},{'ba'[i % 2]}{i % 4 + 8},0.1,0.{i}\n" for i in range(8)))
    report = draw(portolan, "--from", "ties.csv", "--colour", "k", "-o", "ties.svg")
    check([c["name"] for c in report["colour"]["categories"]] == ["a9", "a11", "b8", "b10"], f"ties: {report['colour']}")


def check_beside(portolan):
    """One key for both: names that one of them lacks are in it too."""
    report = draw(portolan, "a", "--beside", "b", "--colour", "gold", "-o", "beside.svg")
    names = [c["name"] for c in report["colour"]["categories"]]
    check(names[0] == "0" and names[1] == NAMES[0], f"beside: {names}")
    with open("beside.gp") as file:
        check("LevelCount[1] = ''" in file.read(), "beside: no counts, which would be of one of them")


def check_frames(portolan, p, gold):
    levels = levels_of([None if g < 0 else NAMES[g] for g in gold])[0]
    draw(portolan, "a", "--colour", "gold", "--frames", "frames", "--sample", "200", "-o", "moving.gif")
    for e in range(1, EPOCHS):
        points = read_points(f"frames/epoch-00{e}.map-data")
        check((points[:, 2] == levels[nearest(points, p[: e + 1])]).all(), f"frame {e}: a point has another category")


def check_highlight(portolan, p):
    chosen = np.random.default_rng(3).choice(N, 30, replace=False)
    np.savetxt("ids.txt", chosen, "%d")
    np.save("ids.npy", chosen)
    with open("flips.TSV", "w") as file:
        file.write("id\told\tnew\n" + "".join(f"{i}\t0\t1\n" for i in chosen))
    first = None
    for path in ("ids.txt", "ids.npy", "flips.TSV"):
        report = draw(portolan, "a", "--highlight", path, "--sample", "500", "-o", "marked.svg")
        check(report["colour"]["categories"] == [{"name": path, "examples": 30}, {"name": "all others", "examples": N - 30}], f"{path}: {report}")
        check(report["colour"]["unknown_ids"] == 0 and report["maps"][0]["shown"] == 530, f"{path}: {report}")
        points = read_points("marked.map-data")
        first = points if first is None else first
        check(np.array_equal(points, first), f"{path}: other points than of ids.txt")
    marked = first[:, 2] == 0
    check(set(nearest(first[marked], p)) == set(chosen), "highlight: all of them are drawn")
    check(marked[-marked.sum():].all(), "highlight: over all others")
    check(not set(nearest(first[~marked], p)) & set(chosen), "highlight: others")
    draw(portolan, "a", "--highlight", "ids.txt", "--sample", "10", "-o", "few.svg")
    check((read_points("few.map-data")[:, 2] == 0).sum() <= 10, "highlight: --sample holds for them too")
    draw(portolan, "a", "--beside", "b", "--highlight", "ids.txt", "-o", "beside.svg")
    draw(portolan, "a", "--frames", "frames", "--highlight", "ids.txt", "-o", "moving.gif")
    check(set(nearest(read_points("frames/epoch-002.map-data")[-30:], p)) == set(chosen), "highlight: last frame")
    with open("some.txt", "w") as file:
        file.write(f"{N + 7}\n5\n{N + 9}\n")
    said = f"some.txt: 2 ids of no example of a; the first is '{N + 7}'"
    report = draw(portolan, "a", "--highlight", "some.txt", "-o", "some.svg", said=said)
    check(report["colour"]["unknown_ids"] == 2, f"unknown: {report['colour']}")
    call(portolan, "a", "--highlight", "some.txt", "--strict", "-o", "some.svg", status=3, said=said)


def check_corrections(portolan, p, gold):
    """What a file of corrections changes and drops is marked; or gold is the corrected label."""
    chosen = np.random.default_rng(4).permutation(np.flatnonzero(gold >= 0))[:40]
    changed, dropped = chosen[:25], chosen[25:32]  # the others stay as they are
    now = gold.copy()
    now[changed] = (gold[changed] + 1) % len(NAMES)
    now[dropped] = -1
    with open("fixed.tsv", "w") as file:
        file.write("id\told\tnew\n" + "".join(f"{i}\t{NAMES[gold[i]]}\t{NAMES[now[i]] if now[i] >= 0 else 'drop'}\n" for i in chosen))
    report = draw(portolan, "a", "--corrections", "fixed.tsv", "--sample", "500", "-o", "corrected.svg")["colour"]
    check(report["categories"] == [{"name": "corrected", "examples": 25}, {"name": "dropped", "examples": 7},
                                   {"name": "all others", "examples": N - 32}], f"corrections: {report}")
    check((report["corrections"], report["changed"], report["dropped"], report["unknown_ids"]) == ("fixed.tsv", 25, 7, 0), f"corrections: {report}")
    points = read_points("corrected.map-data")
    for level, wanted in ((0, changed), (1, dropped)):
        check(set(nearest(points[points[:, 2] == level], p)) == set(wanted), f"corrections: level {level}")
    marked = points[:, 2] < 2
    check(marked[-marked.sum():].all(), "corrections: over all others")
    check(not set(nearest(points[~marked], p)) & set(chosen[:32]), "corrections: others")
    report = draw(portolan, "a", "--corrections", "fixed.tsv", "--colour", "gold", "--sample", str(N), "-o", "labels.svg")["colour"]
    counts = {c["name"]: c["examples"] for c in report["categories"]}
    check(all(counts.get(NAMES[g], n) == n for g, n in zip(*np.unique(now[now >= 0], return_counts=True))), f"corrected labels: {counts}")
    without = "no gold" if (gold < 0).any() else "dropped"
    check(counts[without] == (now < 0).sum(), f"corrected labels: {counts}")
    levels = levels_of([None if g < 0 else NAMES[g] for g in now])[0]
    points = read_points("labels.map-data")
    check((points[:, 2] == levels[nearest(points, p)]).all(), "corrected labels: a point has another category")
    with open("more.tsv", "w") as file:
        file.write(f"id\told\tnew\n{N}\t{NAMES[0]}\tdrop\n{dropped[0]}\t{NAMES[gold[dropped[0]]]}\tdrop\n")
    call(portolan, "a", "--corrections", "more.tsv", "--strict", "-o", "x2.svg", status=3, said=f"more.tsv: 1 id belongs to no example of run 'a'; the first is '{N}'")
    for words, status, said in (
        ("a --corrections fixed.tsv --colour aum", 2, "only --colour gold"), ("a --corrections fixed.tsv --highlight ids.txt", 2, "--highlight"),
        ("a --corrections fixed.tsv --density", 2, "--density"), ("a --corrections - --beside b", 2, "read only once"),
        ("b --corrections fixed.tsv", 1, "fixed.tsv: line 2: field old"), ("a --corrections nowhere.tsv", 1, "nowhere.tsv"),
    ):
        call(portolan, *words.split(), "-o", "x.svg", status=status, said=said)
        check(not os.path.exists("x.svg"), f"{words}: drawn")
    call(portolan, "a", "--corrections", "fixed.tsv", "-o", "x.html", status=2, said="--corrections is of pictures")


def check_refusals(portolan):
    for name, text in (("words.txt", "5\nfive\n"), ("words.csv", "id,x\n5,1\nfive,2\n"), ("far.txt", f"{N}\n"), ("empty.txt", "\n")):
        with open(name, "w") as file:
            file.write(text)
    for words, status, said in (
        ("a --highlight words.txt", 1, "words.txt: line 2: 'five' is no whole number"),
        ("a --highlight words.csv", 1, "words.csv: line 3: field id: 'five' is no whole number"),
        ("a --highlight words.csv --id-field y", 1, "no column 'y'"),
        ("a --highlight far.txt", 1, f"none of the 1 ids of far.txt is of an example of a: the first is '{N}'"),
        ("a --highlight empty.txt", 1, "empty.txt has no ids"),
        ("a --highlight nowhere.txt", 1, "nowhere.txt"),
        ("a --highlight ids.txt --colour gold", 2, "--highlight"),
        ("a --highlight ids.txt --density", 2, "--highlight"),
        ("a --highlight - --beside b", 2, "read only once"),
        ("a --colour gold --density", 1, "gold is text"),
        ("a --data own.jsonl --id-field id", 2, "--data of a picture gives its colour: --colour COLUMN"),
        ("a --data own.jsonl --id-field id --colour lang --text lang", 2, "--text is of a page"),
        ("a --facet", 2, "--facet needs --colour"),
        ("a --colour gold --facet --beside b", 2, "--facet"),
        ("a --colour aum --facet", 1, ""),
        ("a --colour confidence --facet", 1, "--facet: a map for each category, and confidence has numbers"),
        ("bare --colour gold", 1, "run 'bare' was recorded without gold labels"),
    ):
        call(portolan, *words.split(), "-o", "x.svg", status=status, said=said)
        check(not os.path.exists("x.svg"), f"{words}: drawn")
    call(portolan, "a", "--highlight", "ids.txt", "-o", "x.html", status=2, said="--highlight is of pictures")
    call(portolan, "a", "--colour", "gold", "--facet", "-o", "x.html", status=2, said="--facet is of pictures")
    call(portolan, "a", "--colour", "gold", "--facet", "-o", "x.gif", status=2, said="--facet and an animation are two pictures")


def main():
    portolan, maker = (os.path.abspath(path) for path in sys.argv[1:3])
    p, gold = make_examples()
    bare = stores.run("bare", [stores.batch(0, np.arange(9), np.full(9, 0.5), np.ones(9))])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["PORTOLAN_STORE"] = os.path.join(folder, "store")
        stores.make_store(maker, "store", [run_of("a", p, gold, NAMES), run_of("b", p[::-1], np.zeros(N, int), []), bare])
        names = check_labels(portolan, p, gold)
        check_columns(portolan, p, names)
        check_facets(portolan, p, gold)
        check_ties(portolan)
        check_beside(portolan)
        check_frames(portolan, p, gold)
        check_highlight(portolan, p)
        check_corrections(portolan, p, gold)
        check_refusals(portolan)
        os.chdir("/")
    print("\n".join(problems) if problems else "map categories: as calculated")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
