"""Selections: portolan serve, and select --within, which must give the same ids; exact arithmetic beside both.

    run_serve_selections.py PORTOLAN MAKE_STORE
"""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import served_runs
import serving
import stores
from checks import check, finish
from served_runs import N
from serving import is_inside


def selections():
    star = [[0.12 + 0.1 * np.cos(t * 4 * np.pi / 5), 0.5 + 0.3 * np.sin(t * 4 * np.pi / 5)] for t in range(5)]
    yield dict(x="variability", y="confidence", polygon=star), lambda r: is_inside(star, r["variability"], r["confidence"])
    square = [[0.05, 0.2], [0.2, 0.2], [0.2, 0.8], [0.05, 0.8]]
    hole = [[0.1, 0.4], [0.15, 0.4], [0.15, 0.6], [0.1, 0.6]]
    yield (dict(run="a/b", x="variability", y="confidence", epochs="0:4",
                parts=[dict(op="add", polygon=square), dict(op="remove", polygon=hole), dict(op="add", polygon=[[0.12, 0.5], [0.13, 0.5], [0.12, 0.55]])],
                filters={"gold": {"in": [0, 2]}, "correctness": {"min": 0.25, "max": 0.75}}),
           lambda r: ((is_inside(square, r["variability"], r["confidence"]) and not is_inside(hole, r["variability"], r["confidence"])
                       or is_inside([[0.12, 0.5], [0.13, 0.5], [0.12, 0.55]], r["variability"], r["confidence"]))
                      and r["gold"] in (0, 2) and 0.25 <= r["correctness"] <= 0.75))
    ragged = [[0.12 + (0.02 + 0.1 * (i * 7 % 5) / 5) * np.cos(i * 22 * np.pi / 41), 0.5 + 0.3 * np.sin(i * 22 * np.pi / 41)] for i in range(41)]
    yield dict(x="variability", y="confidence", polygon=ragged), lambda r: is_inside(ragged, r["variability"], r["confidence"])
    flat = [[0, 0.5], [1, 0.5], [2, 0.5], [3, 0.5]]
    yield dict(x="forgetting_events", y="correctness", polygon=flat), lambda r: r["correctness"] == 0.5 and 0 <= r["forgetting_events"] <= 3
    # whole numbers: many examples lie on edges and vertices
    grid = [[0, 0.25], [1, 0.25], [2, 0.75], [0, 0.75]]
    yield (dict(x="forgetting_events", y="correctness", polygon=grid),
           lambda r: is_inside(grid, r["forgetting_events"], r["correctness"]))
    yield (dict(x="first_learned", y="confidence", polygon=[[-1, -1], [9, -1], [9, 2], [-1, 2]]), lambda r: r["first_learned"] is not None)
    yield dict(filters={"id": {"in": [5, "7", 99999999, 3]}, "never_learned": {"in": [0, 1]}}), lambda r: r["id"] in (3, 5, 7)
    yield dict(x="variability", y="confidence", parts=[], filters={}), lambda r: False


def run_select(portolan, store, folder, selection, *arguments):
    path = os.path.join(folder, "selection.json")
    with open(path, "w") as file:
        json.dump(selection, file)
    return subprocess.run([portolan, "select", "a/b", "--store", store, "--within", path, *arguments], capture_output=True, text=True)


def test_selections(server, portolan, store, folder, data):
    rows = serving.metrics(portolan, store, "a/b")
    server.json("/api/runs/a/b/select?as=mask", json.dumps(next(selections())[0]), status=400)
    server.json("/api/runs/a/b/select?as=mask&version=0123456789abcdef", json.dumps(next(selections())[0]), status=409)
    some = 0
    for selection, is_in in selections():
        chosen = [row for row in rows if is_in(row)]
        expected = [row["id"] for row in chosen]
        some += len(expected)
        told = server.json("/api/runs/a/b/select", json.dumps(selection))
        check(told == {"count": len(expected), "ids": expected}, f"{selection}: {told['count']}, not {len(expected)}")
        check(server.json("/api/runs/a%2Fb/select", json.dumps(selection)) == told, "with the slash encoded")
        made = run_select(portolan, store, folder, selection)
        check(made.stdout == "".join(f"{i}\n" for i in expected) and not made.stderr, f"select --within: {made.stderr}")
        body = json.dumps(selection)
        check(server.request("/api/runs/a/b/select?as=list", body)[1] == made.stdout.encode(), "the list is what select prints")
        version = server.json(f"/api/view?run=a/b&epochs={selection.get('epochs', '')}")["version"]
        mask = np.unpackbits(np.frombuffer(server.request("/api/runs/a/b/select?as=mask&version=" + version, body)[1], "u1"), bitorder="little")[:N]
        check(np.flatnonzero(mask).tolist() == expected, "the mask")
        lines = server.request("/api/runs/a/b/select?as=lines", body)[1].decode()
        check(lines == "".join(json.dumps(data[i]) + "\n" for i in expected), "the user's own lines")
        made = run_select(portolan, store, folder, selection, "--with-measures", "--format", "csv")
        answer, table = server.request("/api/runs/a/b/select?as=csv", body)
        check(answer.status == 200 and table.decode() == made.stdout, "the csv is what select --with-measures prints")
        table = server.json("/api/runs/a/b/select?as=rows&sort=confidence&descending=1&from=2&most=5", body)
        ranked = sorted(chosen, key=lambda row: (-row["confidence"], row["id"]))
        check(table["count"] == len(expected) and [row["id"] for row in table["rows"]] == [row["id"] for row in ranked[2:7]], "rows in order")
        table = server.json("/api/runs/a/b/select?as=rows&descending=1&most=3", body)
        check([row["id"] for row in table["rows"]] == expected[::-1][:3], "rows by id, the last first")
    check(some > 500, f"selections hold {some} examples: enough to tell")
    ranked = run_select(portolan, store, folder, next(selections())[0], "--by", "ambiguous", "--count", "4").stdout.split()
    expected = sorted((row for row in rows if next(selections())[1](row)), key=lambda row: (-row["variability"], row["id"]))[:4]
    check(ranked == [str(row["id"]) for row in expected], "--by ranks what is inside")
    test_forms(server, rows, *next(selections()))
    test_table_search(server, rows)
    check(server.json("/api/selection?run=a/b") == {"serial": 0, "selection": None}, "none is kept at first")
    kept = next(selections())[0]
    check(server.json("/api/runs/a/b/select?as=keep", json.dumps(kept))["serial"] == 1, "one is kept")
    check(server.json("/api/selection?run=a/b") == {"serial": 1, "selection": kept}, "and read again")
    answer, content = server.request("/api/selection?run=a/b&known=1")
    check(answer.status == 304 and not content, "nothing new is kept")
    check(server.json("/api/selection?run=a/b&known=0")["serial"] == 1, "a newer one than the one known")
    check(server.request("/api/selection?run=a/b&known=x")[0].status == 400, "known is a number")


def file_filters(data):
    """Filters that need the user's file, and what they let through."""
    def kind(i):
        return data[i]["kind"]

    def holds(i, part):
        return part in str(i) or part.lower() in data[i]["text"].lower()

    yield {"data:kind": {"in": ["k1"]}}, lambda r: kind(r["id"]) == "k1"
    yield {"data:kind": {"in": ["k0", "k1"]}}, lambda r: True
    yield {"data:kind": {"in": []}}, lambda r: False
    yield {"data:maybe": {"in": [None]}}, lambda r: data[r["id"]]["maybe"] is None
    yield {"data:maybe": {"in": ["odd \u202e one", None]}}, lambda r: data[r["id"]]["maybe"] in ("odd \u202e one", None)
    yield {"data:size": {"min": 2, "max": 4.5}}, lambda r: 2 <= data[r["id"]]["size"] <= 4.5
    yield {"data:size": {"in": [0, 6]}}, lambda r: data[r["id"]]["size"] in (0, 6)
    yield {"data:size": {"in": [None, 6]}}, lambda r: data[r["id"]]["size"] == 6
    yield {"text": {"contains": ["<SCRIPT>Alert(12"]}}, lambda r: str(r["id"]).startswith("12")
    yield {"text": {"contains": ["99"]}}, lambda r: "99" in str(r["id"])
    yield {"text": {"contains": ["1", "TEXT 2"]}}, lambda r: holds(r["id"], "1") and holds(r["id"], "text 2")
    yield {"text": {"contains": ["nowhere"]}}, lambda r: False
    yield ({"data:size": {"min": 3}, "text": {"contains": ["7"]}, "id": {"in": [*range(500, 2000), "27", 99999999]}, "gold": {"in": ["no"]}},
           lambda r: data[r["id"]]["size"] >= 3 and "7" in str(r["id"]) and (500 <= r["id"] < 2000 or r["id"] == 27) and r["gold"] == 1)


def test_file_filters(server, portolan, store, folder, data):
    """Filters on columns of --data, and on text; and the ids that they are exported as, which the command takes."""
    rows = serving.metrics(portolan, store, "a/b")
    lasso, is_in_lasso = next(selections())
    version = server.json("/api/view?run=a/b")["version"]
    for filters, passes in file_filters(data):
        for polygon, is_in in (({}, lambda r: True), (lasso, is_in_lasso)):
            body = json.dumps({**polygon, "filters": filters})
            expected = [row["id"] for row in rows if passes(row) and is_in(row)]
            told = server.json("/api/runs/a/b/select", body)
            check(told == {"count": len(expected), "ids": expected}, f"{filters}: {told['count']}, not {len(expected)}")
            mask = np.unpackbits(np.frombuffer(server.request("/api/runs/a/b/select?as=mask&version=" + version, body)[1], "u1"), bitorder="little")[:N]
            check(np.flatnonzero(mask).tolist() == expected, f"{filters}: the mask")
            made = server.json("/api/runs/a/b/select?as=selection", body)
            check(set(made["filters"]) == {"id"} | ({"gold"} & set(filters)), f"{filters}: exported as {list(made['filters'])}")
            check(server.json("/api/runs/a/b/select?as=manifest", body)["selection"] == made, f"{filters}: the manifest")
            for exported in (made, {name: value for name, value in made.items() if name != "digests"}):
                selected = run_select(portolan, store, folder, exported)
                check(selected.stdout == "".join(f"{i}\n" for i in expected) and not selected.stderr, f"{filters}: select --within {selected.stderr}")
            check(set(made["digests"]) == {"gold"} & set(filters) | ({"variability", "confidence"} if polygon else set()), f"{filters}: digests {made['digests']}")
    kept = {"filters": {"data:kind": {"in": ["k1"]}}}
    server.json("/api/runs/c/select?as=keep", json.dumps(kept))
    check(server.json("/api/selection?run=c")["selection"] == kept, "a selection that is kept stays as the page has it")


def test_wrong_file_filters(server, portolan, store, folder):
    for filters, why in (({"data:nothing": {"in": ["a"]}}, "no column 'nothing'"), ({"data:kind": {"in": ["k9"]}}, "no value 'k9'"),
                         ({"data:kind": {"min": 1}}, "holds texts"), ({"data:kind": {"in": ["k1"], "max": 2}}, "holds texts"),
                         ({"data:kind": {"in": [1]}}, "holds texts"), ({"data:size": {"in": ["1"]}}, "holds numbers")):
        told = server.json("/api/runs/a/b/select", json.dumps({"filters": filters}), status=400)["error"]
        check(why in told, f"{filters}: {told}")
    for filters in ({"data:kind": {}}, {"data:kind": {"in": "k1"}}, {"data:kind": {"in": [["k1"]]}}, {"data:kind": {"contains": ["k1"]}}, {"text": {"contains": []}},
                    {"text": {"contains": [""]}}, {"text": {"contains": "a"}}, {"text": {"contains": [1]}}, {"text": {"contains": ["a"] * 17}},
                    {"text": {"contains": ["a"], "min": 1}}, {"text": {"min": 1}}, {"id": {"contains": ["a"]}}):
        told = server.json("/api/runs/a/b/select", json.dumps({"filters": filters}), status=400)["error"]
        check("selection" in told and next(iter(filters)) in told, f"{filters}: {told}")
        made = run_select(portolan, store, folder, {"filters": filters})
        check(made.returncode == 1 and not made.stdout, f"select {filters}: {made.returncode}")
    for filters in ({"data:kind": {"in": ["k1"]}}, {"text": {"contains": ["a"]}}):
        made = run_select(portolan, store, folder, {"filters": filters})
        check(made.returncode == 1 and not made.stdout and f"'{next(iter(filters))}' needs your own file" in made.stderr
              and "export the selection there" in made.stderr, f"select {filters}: {made.returncode} {made.stderr}")


def test_filters_without_data(portolan, store):
    """Without --data, only ids are searched, and there are no columns."""
    with serving.serving(portolan, "--store", store, "names") as server:
        found = server.json("/api/runs/names/select", json.dumps({"filters": {"text": {"contains": ["N-01", "9"]}}}))["ids"]
        check(found == [f"n-{i:04d}" for i in range(100, 200) if "9" in str(i)], f"text ids that hold a text: {found}")
        check(server.json("/api/runs/a%2Fb/select", json.dumps({"filters": {"text": {"contains": ["299"]}}}))["ids"] == [i for i in range(N) if "299" in str(i)], "integers")
        told = server.json("/api/runs/names/select", json.dumps({"filters": {"data:kind": {"in": ["k1"]}}}), status=400)["error"]
        check("no --data" in told, f"a column without --data: {told}")


def test_large_numbers(portolan, make_store, folder):
    """Ids beyond 63 bits are exported as the command reads them; labels as large as they can be take no more memory than others."""
    store, data = os.path.join(folder, "large"), os.path.join(folder, "large.csv")
    ids, largest = [1, 2**63 - 1, 2**63, 2**64 - 2], 2147483646
    one = stores.batch(0, np.array(ids, "u8"), np.full(4, 0.5, "f4"), np.ones(4, bool), np.array([largest, 5, largest, 0]))
    stores.make_store(make_store, store, [stores.run("large", [one])])
    names = [f"c{i}" for i in range(100)]
    with open(data, "w") as file:
        file.write("id," + ",".join(names) + "\n" + "".join(f"{i}," + ",".join(f"v{i % 7}" for _ in names) + "\n" for i in ids))
    with serving.serving(portolan, "--store", store, "--data", data, "--id-field", "id", "large") as server:
        view = server.json("/api/view?run=large")
        check([(v["label"], v["value"], v["count"]) for v in view["gold"]["values"]] == [(str(largest), largest, 2), ("0", 0, 1), ("5", 5, 1)],
              f"labels: {view['gold']}")
        points = server.request("/api/points?run=large&x=confidence&y=confidence&colour=gold")[1]
        check(points[-4:] == bytes([0, 2, 0, 1]), f"colours of labels: {points[-4:]}")
        groups = server.json("/api/runs/large/select?as=groups", json.dumps({"filters": {"gold": {"in": [largest]}}}))["groups"]
        check([(g["value"], g["inside"], g["all"]) for g in groups] == [(0, 0, 1), (5, 0, 1), (largest, 2, 2)], f"groups: {groups}")
        for name in names:  # all of them, however many
            check(len(server.json(f"/api/legend?run=large&colour=data:{name}")["values"]) == len({i % 7 for i in ids}), f"column {name}")
        filters = {"data:c77": {"in": [f"v{i % 7}" for i in ids]}}
        made = server.json("/api/runs/large/select?as=selection", json.dumps({"filters": filters}))
        path = os.path.join(folder, "selection.json")
        with open(path, "w") as file:
            json.dump(made, file)
        selected = subprocess.run([portolan, "select", "large", "--store", store, "--within", path], capture_output=True, text=True)
        check(selected.stdout.split() == [str(i) for i in ids], f"large ids: {selected.stdout} {selected.stderr}")


def vertices_on_values(random, points):
    """Of polygons: some examples' own values, and a line through two of them, which others are near."""
    chosen = [points[i] for i in random.integers(0, len(points), random.integers(3, 7))]
    if random.random() < 0.5:
        (ax, ay), (bx, by) = chosen[:2]
        share = random.choice([-1.0, 1 / 3, 0.5, 2.0, 3.0])
        chosen[2] = (ax + share * (bx - ax), ay + share * (by - ay))
    return [list(map(float, one)) for one in chosen]


def test_vertices_on_values(portolan, make_store, folder):
    """Examples on edges, and one rounding beside them: as exact arithmetic has it. Sevenths are not exact, so rows of them are not straight."""
    random = np.random.default_rng(7)
    n, store = 60, os.path.join(folder, "sevenths")
    p = random.random((7, n)).astype("f4")
    stores.make_store(make_store, store, [stores.run("s", [stores.batch(e, np.arange(n), p[e], p[e] > 0.5, tiny=p[e] * np.float32(1e-37)) for e in range(7)])])
    rows = serving.metrics(portolan, store, "s")
    with serving.serving(portolan, "--store", store, "s") as server:
        view = {row["id"]: row["measures"] for row in metrics_of(server, "s", "0:7")}
        wrong = some = 0
        for x, y, count in (("forgetting_events", "correctness", 1500), ("variability", "confidence", 300), ("tiny", "confidence", 300)):
            points = [(view[row["id"]][x], view[row["id"]][y]) for row in rows]
            distinct = sorted(set(points))
            for _ in range(count):
                polygon = vertices_on_values(random, distinct)
                inside = {point for point in distinct if is_inside(polygon, *point)}
                told = server.json("/api/runs/s/select", json.dumps({"x": x, "y": y, "polygon": polygon}))["ids"]
                wrong += told != [row["id"] for row, point in zip(rows, points, strict=True) if point in inside]
                some += len(told)
        check(not wrong and some > 10000, f"{wrong} polygons differ from exact arithmetic; they hold {some} examples")


def test_table_search(server, rows):
    """A table that is searched, and the page of it that has an example."""
    body = json.dumps({"filters": {"gold": {"in": [0, 2]}}})
    chosen = [row for row in rows if row["gold"] in (0, 2)]
    ranked = sorted(chosen, key=lambda row: (row["variability"], row["id"]))
    table = server.json("/api/runs/a/b/select?as=rows&sort=variability&q=TEXT%2012&from=3&most=20", body)
    expected = [row["id"] for row in ranked if "12" in str(row["id"]) and f"text {row['id']}".startswith("text 12")]
    check(table["count"] == len(expected) > 23 and [row["id"] for row in table["rows"]] == expected[3:23], f"rows with a text: {table['count']}")
    check(table["searched"] == len(chosen) and table["complete"] and table["from"] == 3, "all were searched")
    table = server.json("/api/runs/a/b/select?as=rows&q=" + str(chosen[-1]["id"]), body)
    check(chosen[-1]["id"] in [row["id"] for row in table["rows"]], "ids are searched too")
    check(server.json("/api/runs/a/b/select?as=rows&q=nowhere", body)["rows"] == [], "a text that is not there")
    for sort, order in (("id", chosen), ("variability", ranked)):
        for wanted in (0, 777, len(order) - 1):
            place = order[wanted]["id"]  # ids are 0 … N − 1: places
            table = server.json(f"/api/runs/a/b/select?as=rows&sort={sort}&most=50&around={place}", body)
            begin = wanted - wanted % 50
            check(table["from"] == begin and [row["place"] for row in table["rows"]] == [row["id"] for row in order[begin:begin + 50]],
                  f"the page with the {wanted}-th by {sort}: from {table['from']}")
    listed = [2500, "17", 4000000, 17, 3, 901]
    filtered = json.dumps({"filters": {"id": {"in": listed}}})
    for query, expected in (("", [2500, 17, 3, 901]), ("&descending=1", [901, 3, 17, 2500]), ("&from=1&most=2", [17, 3]), ("&q=1", [17, 901])):
        table = server.json(f"/api/runs/a/b/select?as=rows&sort=listed{query}", filtered)
        check([row["id"] for row in table["rows"]] == expected, f"sort=listed{query}: as the list has them: {[row['id'] for row in table['rows']]}")
    check("no filter" in server.json("/api/runs/a/b/select?as=rows&sort=listed", body, status=400)["error"], "sort=listed without a list")
    table = server.json("/api/runs/a/b/select?as=rows&sort=gold&descending=1&most=1000", body)
    expected = [row["id"] for row in sorted(chosen, key=lambda row: (-row["gold"], row["id"]))][:1000]
    check([row["id"] for row in table["rows"]] == expected, "rows by label")
    outside = next(row["id"] for row in rows if row["gold"] == 1)
    table = server.json(f"/api/runs/a/b/select?as=rows&most=50&from=100&around={outside}", body)
    check(table["from"] == 100 and len(table["rows"]) == 50, "an example that is not selected leaves the page as it was")
    check(server.json("/api/runs/a/b/select?as=rows&from=4000000000&most=50", body)["rows"] == [], "a page beyond the end")


def test_formulas(portolan, make_store, folder):
    """What a spreadsheet would take for a formula has a ' before it; numbers have none."""
    store = os.path.join(folder, "formulas")
    ids = ["=1+1", "+1", "-1", "@a", "plain", "=cmd|' /C calc'!\"A0\""]
    one = stores.batch(0, ids, np.full(6, 0.5, "f4"), np.ones(6, bool), np.arange(6) % 2, tilt=np.full(6, -2.0, "f4"))
    stores.make_store(make_store, store, [stores.run("f", [one], labels=["=no", "yes"])])
    with serving.serving(portolan, "--store", store, "f") as server:
        body = json.dumps({"filters": {"confidence": {"min": 0}}})
        rows = list(csv.DictReader(io.StringIO(server.request("/api/runs/f/select?as=csv", body)[1].decode())))
        check({row["id"] for row in rows} == {i if i == "plain" else "'" + i for i in ids}, f"ids: {[row['id'] for row in rows]}")
        check({row["label"] for row in rows} == {"'=no", "yes"} and {row["tilt"] for row in rows} == {"-2"}, "labels and numbers")


def test_forms(server, rows, selection, is_in):
    body = json.dumps(selection)
    chosen = np.array([is_in(row) for row in rows])
    gold = np.array([row["gold"] for row in rows])
    groups = server.json("/api/runs/a/b/select?as=groups", body)
    check([(g["label"], g["value"], g["inside"], g["all"]) for g in groups["groups"]]
          == [(name, i, int((chosen & (gold == i)).sum()), int((gold == i).sum())) for i, name in enumerate(["yes", "no", "maybe"])],
          f"groups by label: {groups}")
    kinds = server.json("/api/runs/a/b/select?as=groups&column=data:kind", body)["groups"]
    check([(g["label"], g["inside"]) for g in kinds] == [("k0", chosen[::2].sum()), ("k1", chosen[1::2].sum())], f"groups by column: {kinds}")
    made = server.json("/api/runs/a/b/select?as=selection", body)
    view = server.json("/api/view?run=a/b")
    check(made["polygon"] == selection["polygon"] and made["run"] == "a/b" and made["epochs"] == "0:4", "a selection that can be repeated")
    check(made["digests"] == {c["name"]: c["digest"] for c in view["columns"] if c["name"] in made["digests"]}
          and {"variability", "confidence"} <= set(made["digests"]), "and says of what")
    manifest = server.json("/api/runs/a/b/select?as=manifest", body)
    check(manifest["selection"] == made and manifest["chosen"] == chosen.sum() and manifest["observed"] == N, "a manifest")
    words = server.json("/api/runs/a/b/select?as=words", json.dumps({"filters": {"id": {"in": list(range(100, 200))}}}))
    check(words["texts"] == N and words["inside"] == 100, f"words: {words}")


def test_other_epochs(server):
    """A selection keeps its own epochs: asked for by a view of others, it is the same examples, as far as that view has them."""
    rows = {epochs: metrics_of(server, "odd", epochs) for epochs in ("0:1", "1:2")}
    middle = sorted(row["measures"]["confidence"] for row in rows["0:1"])[100]
    body = json.dumps({"x": "epochs", "y": "confidence", "polygon": [[0, 0], [2, 0], [2, middle], [0, middle]], "epochs": "0:1"})
    chosen = {row["id"] for row in rows["0:1"] if row["measures"]["confidence"] <= middle}
    there = [row for row in rows["1:2"] if row["id"] in chosen]
    check(0 < len(there) < len(chosen) < 200 and any(row["measures"]["confidence"] > middle for row in there), "enough to tell")
    version = server.json("/api/view?run=odd&epochs=1:2")["version"]
    query = f"epochs=1:2&version={version}"
    check(set(server.json("/api/runs/odd/select?as=ids", body)["ids"]) == chosen, "the selection's own epochs")
    check(server.json(f"/api/runs/odd/select?as=ids&{query}", body)["ids"] == [row["id"] for row in there], "ids of other epochs")
    mask = np.unpackbits(np.frombuffer(server.ask(f"/api/runs/odd/select?as=mask&{query}", body), "u1"), bitorder="little")
    check(np.flatnonzero(mask).tolist() == [row["place"] for row in there] and len(mask) == 96, "a mask by the places of other epochs")
    check(server.json(f"/api/runs/odd/select?as=rows&{query}&most=1000", body)["rows"] == there, "rows with the measures of other epochs")
    server.ask("/api/runs/odd/select?as=mask&epochs=1:2&version=0123456789abcdef", body, status=409)
    server.ask("/api/runs/odd/select?as=ids&epochs=2:1", body, status=400)


def metrics_of(server, run, epochs):
    everything = json.dumps({"filters": {"confidence": {"min": 0}}, "epochs": epochs})
    return server.json(f"/api/runs/{run}/select?as=rows&most=1000", everything)["rows"]


def test_wrong_selections(server, portolan, store, folder):
    triangle = [[0, 0], [1, 0], [1, 1]]
    for wrong, why in (({}, "polygon"), ({"x": "confidence", "polygon": triangle}, "'x' and 'y'"), ([], "object"),
                       ({"x": "confidence", "y": "variability", "polygon": triangle[:2]}, "3 to"),
                       ({"x": "confidence", "y": "variability", "polygon": [[0, 0], [1], [1, 1]]}, "vertex 1"),
                       ({"x": "confidence", "y": "variability", "polygon": [[-1e308, -1e308], [1e308, -1e308], [0, 1e308]]}, "up to 1e+150"),
                       ({"x": "confidence", "y": "variability", "polygon": triangle, "parts": []}, "one of them"),
                       ({"x": "confidence", "y": "variability", "parts": [{"op": "xor", "polygon": triangle}]}, "\"add\" or \"remove\""),
                       ({"x": "nothing", "y": "variability", "polygon": triangle}, "no measure 'nothing'"),
                       ({"filters": {"gold": {"min": 1}}}, "gold"), ({"filters": {"confidence": {"below": 1}}}, "confidence"),
                       ({"filters": {"gold": {"in": ["unknown"]}}}, "no class 'unknown'"), ({"filters": {"colour": {"min": 1}}}, "colour"),
                       ({"x": "confidence", "y": "variability", "polygon": triangle, "polygons": []}, "polygons"),
                       ({"x": "confidence", "y": "variability", "polygon": triangle, "epochs": "4:2"}, "A below B"),
                       ({"x": "confidence", "y": "variability", "parts": [{"op": "add", "polygon": triangle}] * 1001}, "1000 parts at most"),
                       ({"filters": {"id": {"in": [1]}}, "digests": {"confidence": [[[]]]}}, "digest of 'confidence'"),
                       ({"filters": {"id": {"in": [1]}}, "name": 7}, "'name' is a text"), ({"filters": {"id": {"in": [1]}}, "run": 7}, "'run' is a text")):
        told = server.json("/api/runs/a/b/select", json.dumps(wrong), status=400)["error"]
        check(why in told, f"{wrong}: {told}")
        made = run_select(portolan, store, folder, wrong)
        check(made.returncode == 1 and why in made.stderr and not made.stdout, f"select {wrong}: {made.returncode} {made.stderr}")
    long = "x" + "€" * 60  # of which a message quotes 100 bytes
    check("'x€€" in server.json("/api/runs/a/b/select", json.dumps({long: 1}, ensure_ascii=False).encode(), status=400)["error"], "a long name")
    for body in ("", "{", "[1}}", '{"x": 1, "x": 2}', '{"x": "\ud800"}'.encode("utf-8", "surrogatepass"), "[" * 100000, "NaN"):
        check(server.request("/api/runs/a/b/select", body)[0].status == 400, f"{body[:40]!r}")
    named = run_select(portolan, store, folder, {"name": "\u202e<b>", "filters": {"id": {"in": [1]}}})
    check(named.stdout == "1\n" and not named.stderr, f"a name decides nothing: {named.stderr}")
    made = run_select(portolan, store, folder, next(selections())[0], "--count", "3")
    check(made.returncode == 2 and "--by" in made.stderr, "a size without a rule")
    other = run_select(portolan, store, folder, dict(next(selections())[0], run="c"))
    check(other.returncode == 0 and "was made on run 'c'" in other.stderr, "another run's selection")
    server.json("/api/runs/a/b/select", json.dumps(dict(next(selections())[0], run="c")), status=400)


def test_long_lists(server, portolan, store):
    """Millions of values are looked up, not gone through for each example."""
    rows = serving.metrics(portolan, store, "a/b")
    values = [row["confidence"] for row in rows[::3]] + list(range(2, 3000000))
    for filters, expected in (({"confidence": {"in": values}}, {row["confidence"] for row in rows[::3]}),
                              ({"gold": {"in": list(range(3000000, 2, -1)) + [1]}}, None)):
        told = server.json("/api/runs/a/b/select", json.dumps({"filters": filters}, separators=(",", ":")))
        check(told["ids"] == [row["id"] for row in rows if (row["confidence"] in expected if expected else row["gold"] == 1)], f"in: {told['count']}")


def test_digests(server, portolan, store, folder):
    """A selection says what it was made on; that something was replaced since is said."""
    view = server.json("/api/view?run=a/b")
    digests = {column["name"]: column["digest"] for column in view["columns"] if column["name"] in ("variability", "confidence")}
    selection = dict(next(selections())[0], digests=digests)
    check(not run_select(portolan, store, folder, selection).stderr, "nothing has changed")
    selection["digests"] = dict(digests, confidence="0" * 16)
    check("replaced or added" in run_select(portolan, store, folder, selection).stderr, "a change is said")
    made = server.json("/api/runs/a/b/select?as=selection", json.dumps({"filters": {"gold": {"in": ["yes"]}}}))
    check(made["digests"] == {"gold": view["gold_digest"]} and not run_select(portolan, store, folder, made).stderr, f"labels are as they were: {made['digests']}")


def test_relabelled(portolan, make_store, folder):
    """A gold label that is another one since: said where the selection looks at labels, and there alone."""
    store, path, p = os.path.join(folder, "relabelled"), os.path.join(folder, "labels.json"), served_runs.random.random(40).astype("f4")
    kept = {}

    def make(gold):
        stores.make_store(make_store, store, [stores.run("r", [stores.batch(e, np.arange(40), p, p > 0.5, gold) for e in range(2)], labels=["no", "yes"])])

    gold = np.arange(40) % 2
    make(gold)
    with serving.serving(portolan, "--store", store) as server:
        for filters in ({"gold": {"in": ["yes"]}}, {"confidence": {"min": 0.5}}):
            for form in ("selection", "manifest"):
                made = server.json("/api/runs/r/select?as=" + form, json.dumps({"filters": filters}))
                kept[(form, *filters)] = made if form == "selection" else made["selection"]
    shutil.rmtree(store)
    gold[7] = 0
    make(gold)
    for (form, name), selection in kept.items():
        with open(path, "w") as file:
            json.dump(selection, file)
        made = subprocess.run([portolan, "select", "r", "--store", store, "--within", path], capture_output=True, text=True)
        check(made.returncode == 0 and ("replaced or added" in made.stderr) == (name == "gold"), f"{form} by {name}: {made.stderr}")


def main():
    portolan, make_store = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        store = served_runs.make_store(make_store, folder)
        data, options = served_runs.write_data(folder)
        with serving.serving(portolan, "--store", store, *options, "a/b") as server:
            test_selections(server, portolan, store, folder, data)
            test_other_epochs(server)
            test_wrong_selections(server, portolan, store, folder)
            test_file_filters(server, portolan, store, folder, data)
            test_wrong_file_filters(server, portolan, store, folder)
            test_long_lists(server, portolan, store)
            test_digests(server, portolan, store, folder)
        test_relabelled(portolan, make_store, folder)
        test_filters_without_data(portolan, store)
        test_large_numbers(portolan, make_store, folder)
        test_formulas(portolan, make_store, folder)
        test_vertices_on_values(portolan, make_store, folder)
    finish()


main()
