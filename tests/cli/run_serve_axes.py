"""portolan serve: gold labels and columns of the user's file as axes, logarithmic scales, picked categories, filters for "no value"; all recomputed in NumPy.

    run_serve_axes.py PORTOLAN MAKE_STORE
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import urllib.parse

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import serving
import stores
from checks import check, finish
from serving import is_inside

N = 3000
BEYOND = 400  # from this id on, examples have no gold label
LABELS = ["yes", "no", "maybe"]
# In bytewise order the emoji is the last; by UTF-16, as JavaScript compares, it comes before the ligature. All others begin with a digit, or are Latin.
NAMES = ["\U0001f600", "\ufb01", "\u00e4", "z", "Z", "a\u0301", "\u4e2d\u6587", "0", "10", "9", "aa", "A", "\u00df", "b", "c", "d", "e"]
random = np.random.default_rng(23)


def make_runs():
    """Examples of which some have no label, a loss above 0, and a column of both signs, with zeros."""
    ids, gold = np.arange(N), random.integers(0, 3, N)
    tilt = (random.normal(0, 1, N) * 10.0 ** random.integers(-6, 7, N)).astype("f4")
    tilt[::11] = 0
    batches = []
    for e in range(3):
        p = np.clip(random.beta(0.7, 0.7, N), 1e-6, 1 - 1e-6).astype("f4")
        for part, labels in ((ids[BEYOND:], gold[BEYOND:]), (ids[:BEYOND], None)):
            batches.append(stores.batch(e, part, p[part], p[part] > 0.5, labels, tilt=tilt[part], flat=np.zeros(len(part), "f4")))
    # Classes without names; one of them is observed in the second epoch alone.
    few = [stores.batch(0, np.arange(40), np.linspace(0, 1, 40), np.ones(40, bool), np.arange(40) % 2 * 5),
           stores.batch(1, np.arange(40, 50), np.full(10, 0.5), np.ones(10, bool), np.full(10, 7))]
    return [stores.run("r", batches, labels=LABELS), stores.run("few", few)]


def write_data(folder):
    """The records by id; some examples have none, and one record is of no example."""
    data = {}
    for i in range(0, N, 2):
        data[i] = {"id": i, "kind": NAMES[int(random.integers(0, 17) * random.random())], "many": f"m{random.integers(0, 2300)}",
                   "size": None if i % 14 == 0 else round(float(random.normal(0, 100)), 3), "whole": i % 5 - 1, "rest": None if i % 4 else "only"}
    data[N + 7] = {"id": N + 7, "kind": "Aa", "many": "", "size": 1e9, "whole": -900, "rest": "nobody"}
    path = os.path.join(folder, "data.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in data.values())
    return data, ["--data", path, "--id-field", "id"]


def column(data, name):
    """(the values on the axis by id, the labels by value): a category's value is its rank among all distinct names, bytewise."""
    values = {i: one[name] for i, one in data.items() if one[name] not in (None, "")}
    if all(isinstance(value, (int, float)) for value in values.values()):
        return np.array([values.get(i, np.nan) for i in range(N)]), None
    names = sorted(set(values.values()), key=lambda name: name.encode())
    return np.array([names.index(values[i]) if i in values else np.nan for i in range(N)]), names


def known_axes(rows, data):
    """name: (values by id, labels by value or None)."""
    axes = {name: (np.array([np.nan if row[name] is None else row[name] for row in rows]), None)
            for name in ("confidence", "loss", "first_learned", "tilt", "flat", "forgetting_events")}
    axes["gold"] = np.array([np.nan if row["gold"] is None else row["gold"] for row in rows]), LABELS
    for name in ("kind", "many", "size", "whole", "rest"):
        axes["data:" + name] = column(data, name)
    return axes


def extent(values):
    return float(np.nanmin(values)), float(np.nanmax(values))


def least_of(values):
    magnitudes = np.abs(values[~np.isnan(values) & (values != 0)])
    return float(magnitudes.min()) if len(magnitudes) else None


def on_scale(values, low, least):
    """Where they lie on a logarithmic scale."""
    if low > 0:
        return np.log(values)
    return np.sign(values) * np.log(1 + np.abs(values) / least)


def is_log(scale, labels, values):
    return scale == "log" and labels is None and least_of(values) is not None


def steps(values, labels, scale, most):
    """0 … most; NaN where there is no value."""
    low, high = extent(values)
    at = values
    if is_log(scale, labels, values):
        least = least_of(values)
        at = on_scale(values, low, least)
        low, high = on_scale(np.array([low, high]), low, least)
    share = (at - low) / (high - low) if high > low else at * 0
    return np.floor(share * most + 0.5)


def same_steps(sent, expected, none):
    """A logarithm may differ in its last digit, and a value between two steps then go to the other."""
    missing = np.isnan(expected)
    aside = np.abs(sent.astype("f8") - expected)[~missing]
    return np.array_equal(sent == none, missing) and np.all(aside <= 1) and np.count_nonzero(aside) <= 2 + len(aside) / 100


def query(**arguments):
    return urllib.parse.urlencode({"run": "r", **{name: value for name, value in arguments.items() if value is not None}})


def test_axis(server, axes):
    for name, (values, labels) in axes.items():
        told = server.json("/api/axis?" + query(name=name))
        low, high = extent(values)
        expected = {"name": name, "kind": "number" if labels is None else "category", "integer": bool(np.all(np.floor(values) == values, where=~np.isnan(values))),
                    "none": int(np.isnan(values).sum()), "low": low, "high": high, "least": least_of(values) if labels is None else None}
        listed, more = told.pop("values", None), told.pop("more", None)
        if name in ("first_learned", "forgetting_events", "confidence", "loss", "tilt", "flat"):
            expected["integer"] = name in ("first_learned", "forgetting_events")
        check(told == expected, f"{name}: {told}, not {expected}")
        if labels is None:
            check(listed is None and more is None, f"{name}: numbers are not listed")
            continue
        found, counts = np.unique(values[~np.isnan(values)].astype(int), return_counts=True)
        all_of = [{"label": labels[value], "value": int(value), "count": int(count)} for value, count in zip(found, counts, strict=True)]
        largest = sorted(all_of, key=lambda one: (-one["count"], one["value"]))[:2000]
        check(listed == sorted(largest, key=lambda one: one["value"]) and more == len(all_of) - len(largest), f"{name}: {len(listed)} values, {more} more")
    told = server.json("/api/axis?run=few&name=gold&epochs=0:1")
    check(told["values"] == [{"label": "0", "value": 0, "count": 20}, {"label": "5", "value": 5, "count": 20}] and told["high"] == 5, f"labels without names: {told}")


def test_many(portolan, make_store, folder):
    """More categories than are listed."""
    store, path, n = os.path.join(folder, "many"), os.path.join(folder, "many.csv"), 5000
    stores.make_store(make_store, store, [stores.run("m", [stores.batch(0, np.arange(n), np.full(n, 0.5), np.ones(n, bool))], declared=n)])
    of = np.minimum(np.arange(n) // 2, 2450)  # the last one has 100 examples
    with open(path, "w") as file:
        file.write("id,c\n" + "".join(f"{i},c{2500 - of[i]:04d}\n" for i in range(n)))
    with serving.serving(portolan, "--store", store, "--data", path, "--id-field", "id", "m") as server:
        told = server.json("/api/axis?run=m&name=data:c")
    labels = [value["label"] for value in told["values"]]
    check(told["more"] == 451 and len(labels) == 2000 and labels == sorted(labels), f"{told['more']} more than {len(labels)}")
    check(labels == [f"c{i:04d}" for i in range(50, 2050)] and [value["value"] for value in told["values"]] == list(range(2000)), "the largest, and of equal ones the first")
    check(sum(value["count"] for value in told["values"]) == 100 + 1999 * 2 and (told["low"], told["high"]) == (0, 2450), "their counts")


AXES = [("gold", "linear", "data:kind", "linear"), ("data:size", "linear", "data:size", "log"), ("loss", "log", "tilt", "log"), ("tilt", "linear", "gold", "log"),
        ("data:kind", "log", "first_learned", "log"), ("flat", "log", "data:whole", "log"), ("data:many", "linear", "data:rest", "linear"), ("confidence", "log", "confidence", None)]


def test_extremes(portolan, make_store, folder):
    """Numbers so far apart that their difference is none."""
    far = 2.0**1023
    values = [-far, -far / 2, 0, 1, far / 2, far]
    store, path = os.path.join(folder, "extremes"), os.path.join(folder, "extremes.jsonl")
    p = np.linspace(0, 1, len(values)).astype("f4")
    stores.make_store(make_store, store, [stores.run("e", [stores.batch(0, np.arange(len(values)), p, p > 0.5)])])
    with open(path, "w") as file:
        file.writelines(json.dumps({"id": i, "far": value}) + "\n" for i, value in enumerate(values))
    with serving.serving(portolan, "--store", store, "--data", path, "--id-field", "id", "e") as server:
        sent = server.ask("/api/points?run=e&x=data:far&y=data:far&colour=data:far")
        found = np.frombuffer(sent, "<u2", len(values)).tolist()
        check(found == [0, 16384, 32767, 32767, 49151, 65534], f"even steps: {found}")
        check(np.frombuffer(sent, "u1", offset=4 * len(values)).tolist() == [0, 64, 127, 127, 191, 254], "even colours")
        bins = np.frombuffer(server.ask(f"/api/bins?run=e&x=data:far&y=data:far&columns=4&rows=1&box={-far},{far},{-far},{far}".replace("+", "%2B")), "<u4").tolist()
        check(bins == [1, 1, 2, 2], f"even cells: {bins}")


def test_points(server, axes):
    for x, x_scale, y, y_scale in AXES:
        content = server.ask("/api/points?" + query(x=x, y=y, x_scale=x_scale, y_scale=y_scale, colour=y, colour_scale=y_scale))
        parts = np.frombuffer(content[:2 * N], "<u2"), np.frombuffer(content[2 * N:4 * N], "<u2")
        for (name, scale), sent in zip(((x, x_scale), (y, y_scale)), parts, strict=True):
            check(same_steps(sent, steps(*axes[name], scale, 65534), 65535), f"{name}, {scale}: steps")
        legend = server.json("/api/legend?" + query(colour=y, colour_scale=y_scale))
        values, labels = axes[y]
        colours = np.frombuffer(content[4 * N:], "u1")
        check(legend["none"] == np.isnan(values).sum(), f"{y}: none")
        if labels is None:
            log = is_log(y_scale, labels, values)
            check(same_steps(colours, steps(values, labels, y_scale, 254), 255), f"{y}, {y_scale}: colours")
            check((legend["low"], legend["high"]) == extent(values), f"{y}: extent")
            check((legend.get("scale"), legend.get("least")) == (("log", least_of(values)) if log else (None, None)), f"{y}, {y_scale}: {legend}")


def test_boxes(server, axes):
    for x, x_scale, y, y_scale in AXES:
        (xs, _), (ys, _) = axes[x], axes[y]
        (left, right), (low, high) = extent(xs), extent(ys)
        for share in (0.1, 0.0, -0.1):  # a part, exactly all, and more than all
            box = [left + share * (right - left), right - share * (right - left) + (left == right), low + share * (high - low), high - share * (high - low)]
            if share < 0 and x_scale == "log":
                box[0] = left * 0.9 if left > 0 else left - 1
            if share < 0 and y_scale == "log":
                box[2] = low * 0.9 if low > 0 else low - 1
            held = (xs >= box[0]) & (xs <= box[1]) & (ys >= box[2]) & (ys <= box[3])
            if y == "data:rest":
                box[2:], held = [-0.5, 0.5], ~np.isnan(xs) & (ys == 0) & (xs >= box[0]) & (xs <= box[1])
            asked = query(x=x, y=y, x_scale=x_scale, y_scale=y_scale, box=",".join(map(repr, box)))
            bins = np.frombuffer(server.ask(f"/api/bins?{asked}&columns=40&rows=7"), "<u4").reshape(7, 40)
            check(bins.sum() == held.sum(), f"{asked}: {bins.sum()} in cells, {held.sum()} in the box")
            cells = [cells_of(values[held], labels, scale, ends, count, values)
                     for (values, labels), scale, ends, count in ((axes[x], x_scale, box[:2], 40), (axes[y], y_scale, box[2:], 7))]
            expected = np.zeros((7, 40), int)
            np.add.at(expected, (cells[1], cells[0]), 1)
            check(np.abs(bins.astype(int) - expected).sum() <= 2 + held.sum() / 100, f"{asked}: cells are even on the scale")
            content = server.ask(f"/api/inside?{asked}&most={N}&colour={x}")
            inside, sent = struct.unpack("<II", content[:8])
            places = np.frombuffer(content[8:8 + 4 * sent], "<u4")
            check(inside == sent == held.sum() and np.array_equal(places, np.flatnonzero(held)), f"{asked}: inside")
            part = np.frombuffer(content[8 + 4 * sent:8 + 6 * sent], "<u2")
            check(same_steps(part, steps(*axes[x], x_scale, 65534)[places], 65535), f"{asked}: steps inside")


def cells_of(values, labels, scale, ends, count, everything):
    ends = np.array(ends)
    if is_log(scale, labels, everything):
        low, least = extent(everything)[0], least_of(everything)
        values, ends = on_scale(values, low, least), on_scale(ends, low, least)
    return np.clip(np.floor((values - ends[0]) / (ends[1] - ends[0]) * count), 0, count - 1).astype(int)


def test_picks(server, axes):
    """Counts add up to all, whatever is picked; a colour is the place in the list."""
    values, names = axes["data:kind"]
    counts = {name: int((values == value).sum()) for value, name in enumerate(names)}
    check(len([count for count in counts.values() if count > 0]) > 12 and counts["Aa"] == 0, f"enough categories: {counts}")
    for picked in ([], ["z"], ["\ufb01", "\U0001f600", "Aa"], sorted(counts, key=counts.get)[:12], None):
        asked = query(x="confidence", y="confidence", colour="data:kind", pick=None if picked is None else json.dumps(picked))
        legend = server.json("/api/legend?" + asked)
        colours = np.frombuffer(server.ask("/api/points?" + asked)[4 * N:], "u1")
        first = picked if picked is not None else [one["label"] for one in legend["values"][:12]]
        others = N - legend["none"] - sum(counts[name] for name in first)
        expected = [{"label": name, "value": None, "count": counts[name]} for name in first] + [{"label": "other", "value": None, "count": others, "other": True}] * (others > 0)
        check(legend["values"] == expected, f"{picked}: {legend['values']}")
        check(sum(one["count"] for one in legend["values"]) + legend["none"] == N, f"{picked}: counts add up to all")
        rank = [255 if np.isnan(value) else first.index(names[int(value)]) if names[int(value)] in first else 12 for value in values]
        check(np.array_equal(colours, rank), f"{picked}: colours")
        content = server.ask(f"/api/inside?{asked}&box=0,1,0,1&most={N}")
        check(np.array_equal(np.frombuffer(content[8 + 8 * N:], "u1"), rank), f"{picked}: colours inside")
    largest = server.json("/api/legend?" + query(colour="data:kind"))["values"][:12]
    check([one["count"] for one in largest] == sorted(counts.values(), reverse=True)[:12], "without a choice, the largest")
    gold = axes["gold"][0]
    legend = server.json("/api/legend?" + query(colour="gold", pick='["maybe","yes"]'))
    check([(one["label"], one["value"], one["count"]) for one in legend["values"]] == [("maybe", 2, (gold == 2).sum()), ("yes", 0, (gold == 0).sum()), ("other", None, (gold == 1).sum())], f"gold labels: {legend}")
    legend = server.json("/api/legend?run=few&epochs=0:1&colour=gold&pick=" + urllib.parse.quote('["7","0"]'))
    check([(one["label"], one["value"], one["count"]) for one in legend["values"]] == [("7", 7, 0), ("0", 0, 20), ("other", None, 20)], f"a class that these epochs do not have: {legend}")


def test_rows(server, axes):
    """A table sorted by any axis; examples without a value come last."""
    everything = json.dumps({"filters": {"confidence": {"min": 0}}})
    for name in ("gold", "data:kind", "data:size"):
        values = axes[name][0]
        for descending in (0, 1):
            order = sorted(range(N), key=lambda i: (np.isnan(values[i]), 0 if np.isnan(values[i]) else -values[i] if descending else values[i], i))
            for begin in (0, int(np.isfinite(values).sum()) - 30):
                told = server.json(f"/api/runs/r/select?as=rows&sort={name}&descending={descending}&from={begin}&most=60", everything)
                check([row["id"] for row in told["rows"]] == order[begin:begin + 60], f"rows by {name}, {descending}, from {begin}")


def run_select(portolan, store, folder, selection):
    path = os.path.join(folder, "selection.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(selection, file)
    return subprocess.run([portolan, "select", selection.get("run", "r"), "--store", store, "--within", path], capture_output=True, text=True)


def ids_of(selection, axes):
    """As exact arithmetic has it."""
    xs, ys = axes[selection["x"]][0], axes[selection["y"]][0]
    chosen = []
    for i in range(N):
        inside = False
        if not np.isnan(xs[i]) and not np.isnan(ys[i]):
            for part in selection.get("parts", [{"op": "add", "polygon": selection.get("polygon")}]):
                if is_inside(part["polygon"], xs[i], ys[i]):
                    inside = part["op"] == "add"
        if inside:
            chosen.append(i)
    return chosen


def lassos():
    ring = [[1 + 1.2 * np.cos(t * 0.7), 0.5 + 0.45 * np.sin(t * 0.7)] for t in range(9)]
    slant = [[0, 0], [2, 0], [2, 1]]  # its side goes through values
    yield dict(x="gold", y="confidence", polygon=ring)
    yield dict(x="confidence", y="gold", polygon=[[y, x] for x, y in slant])
    yield dict(x="gold", y="gold", polygon=[[1, 1], [2, 1], [2, 2]])
    yield dict(x="gold", y="first_learned", parts=[dict(op="add", polygon=[[0, 0], [2, 0], [2, 2], [0, 2]]), dict(op="remove", polygon=[[0.5, -1], [1.5, -1], [1.5, 1], [0.5, 1]])])


def test_gold(server, portolan, store, folder, axes):
    """A lasso over gold labels: the server, the command on the page's selection and on what is exported, and exact arithmetic."""
    digest = server.json("/api/view?run=r")["gold_digest"]
    for selection in lassos():
        expected = ids_of(selection, axes)
        check(0 < len(expected) < N, f"{selection}: {len(expected)}")
        check(server.ids("r", selection) == expected, f"{selection}: on the page")
        made = server.json("/api/runs/r/select?as=selection", json.dumps(selection))
        check(made["x"] == selection["x"] and made["digests"]["gold"] == digest and "filters" not in made, f"exported: {made}")
        for one in (selection, made):
            selected = run_select(portolan, store, folder, one)
            check(selected.stdout == "".join(f"{i}\n" for i in expected) and not selected.stderr, f"{one}: {selected.stderr}")
    made["digests"]["gold"] = "0" * 16
    check("replaced or added" in run_select(portolan, store, folder, made).stderr, "labels that are others since")
    check(server.ids("few", dict(x="gold", y="confidence", polygon=[[4, 0], [7, 0], [7, 1], [4, 1]])) == list(range(1, 40, 2)) + list(range(40, 50)), "labels without names")
    check(server.ids("unlabelled", dict(x="gold", y="confidence", polygon=[[-2, 0], [9, 0], [9, 1], [-2, 1]])) == [], "a run without labels")


def test_file_axes(server, portolan, store, folder, axes):
    """A lasso over columns of the user's file leaves the page as ids."""
    triangle = [[-150, 0], [150, 0.2], [0, 1]]
    names = axes["data:kind"][1]
    some = [[-0.5, -2], [len(names) / 2, -2], [len(names) / 2, 60], [-0.5, 60]]
    for selection in (dict(x="data:size", y="confidence", polygon=triangle), dict(x="data:kind", y="data:size", polygon=some),
                      dict(x="data:kind", y="gold", parts=[dict(op="add", polygon=some), dict(op="remove", polygon=[[2, 1], [3, 1], [3, 1.5]])])):
        expected = ids_of(selection, axes)
        check(0 < len(expected) < N, f"{selection}: {len(expected)}")
        for filters in ({}, {"gold": {"in": [0, None]}}, {"id": {"in": list(range(900))}, "data:whole": {"in": [1, None]}, "confidence": {"min": 0.2}}):
            passing = [i for i in expected if ("gold" not in filters or axes["gold"][0][i] in (0,) or np.isnan(axes["gold"][0][i]))
                       and ("id" not in filters or (i < 900 and (axes["data:whole"][0][i] == 1 or np.isnan(axes["data:whole"][0][i])) and axes["confidence"][0][i] >= 0.2))]
            body = dict(selection, **({"filters": filters} if filters else {}))
            check(server.ids("r", body) == passing, f"{body}: on the page")
            made = server.json("/api/runs/r/select?as=selection", json.dumps(body))
            check(not {"x", "y", "parts", "polygon"} & set(made) and set(made["filters"]) == {"id"} | {"gold", "confidence"} & set(filters), f"exported: {set(made)} {set(made['filters'])}")
            check(set(made["digests"]) == {"gold", "confidence"} & set(filters), f"digests: {made['digests']}")
            check(server.json("/api/runs/r/select?as=manifest", json.dumps(body))["selection"] == made, "the manifest has it too")
            selected = run_select(portolan, store, folder, made)
            check(selected.stdout == "".join(f"{i}\n" for i in passing) and not selected.stderr, f"{body}: {selected.stderr}")
        refused = run_select(portolan, store, folder, selection)
        check(refused.returncode == 1 and not refused.stdout and f"the axis '{selection['x']}' is a column of your own file" in refused.stderr
              and "export the selection there" in refused.stderr, f"select: {refused.returncode} {refused.stderr}")
        check(server.json("/api/runs/r/select?as=keep", json.dumps(selection))["count"] == len(expected) and server.json("/api/selection?run=r")["selection"] == selection, "kept as it is")


def test_no_value(server, portolan, store, folder, axes):
    for name, wanted in (("first_learned", [None]), ("first_learned", [1, None]), ("first_learned", [None, None]), ("tilt", [None, 0]), ("data:size", [None]), ("data:whole", [None, -1.0])):
        values = axes[name][0]
        expected = [i for i in range(N) if (np.isnan(values[i]) and None in wanted) or values[i] in wanted]
        filters = {name: {"in": wanted}}
        check(server.ids("r", {"filters": filters}) == expected, f"{filters}: on the page")
        if not name.startswith("data:"):
            selected = run_select(portolan, store, folder, {"filters": filters})
            check(selected.stdout == "".join(f"{i}\n" for i in expected) and not selected.stderr, f"{filters}: {selected.stderr}")
    check(len(server.ids("r", {"filters": {"first_learned": {"in": [None]}}})) == np.isnan(axes["first_learned"][0]).sum() > 0, "some have none")
    check(server.ids("r", {"filters": {"first_learned": {"in": [None, 1], "min": 0}}}) == [i for i in range(N) if axes["first_learned"][0][i] == 1], "no value passes no bound")
    for filters in ({"id": {"in": [None]}}, {"first_learned": {"in": [True]}}, {"first_learned": {"min": None}}):
        check("filter of" in server.json("/api/runs/r/select", json.dumps({"filters": filters}), status=400)["error"], f"{filters} is refused")


def test_wrong(server):
    points = {"x": "confidence", "y": "confidence"}
    for path, arguments, why in (("axis", {}, "name is a measure"), ("axis", {"name": "nothing"}, "'nothing'"), ("axis", {"name": "data:nothing"}, "no column 'nothing'"),
                                 ("axis", {"name": "data:"}, "''"), ("points", {"x": "gold"}, "y is a measure"), ("points", {**points, "x": "kind"}, "x is a measure of the run, gold or data:COLUMN, not 'kind'"),
                                 ("points", {**points, "y_scale": "sqrt"}, "y_scale is linear or log, not 'sqrt'"), ("legend", {"colour": "loss", "colour_scale": ""}, "colour_scale"),
                                 ("legend", {"colour": "data:kind", "pick": "z"}, "pick is a JSON list"), ("legend", {"colour": "data:kind", "pick": '{"z":1}'}, "pick is a JSON list"),
                                 ("legend", {"colour": "data:kind", "pick": json.dumps(NAMES[:13])}, "up to 12"), ("legend", {"colour": "data:kind", "pick": "[1]"}, "label 0 of the list"),
                                 ("legend", {"colour": "data:kind", "pick": '["z","z"]'}, "'z' twice"), ("legend", {"colour": "data:kind", "pick": '["k9"]'}, "column 'kind' has no value 'k9'"),
                                 ("legend", {"colour": "gold", "pick": '["never"]'}, "run 'r' has no class 'never'"), ("points", {**points, "colour": "loss", "pick": '["a"]'}, "'loss' holds numbers"),
                                 ("legend", {"colour": "gold", "pick": '["0"]'}, "run 'r' has no class '0'"),
                                 ("bins", {**points, "x": "loss", "x_scale": "log", "box": "0,1,0,1"}, "x = 0"), ("bins", {**points, "y": "loss", "y_scale": "log", "box": "0,1,-2,1"}, "y = -2")):
        told = server.json(f"/api/{path}?{query(**arguments)}", status=400)["error"]
        check(why in told, f"{path} {arguments}: {told}")
    square = [[0, 0], [1, 0], [1, 1]]
    for selection, why in ((dict(x="data:nothing", y="gold", polygon=square), "no column 'nothing'"), (dict(x="gold", polygon=square), "'x' and 'y'"), (dict(x="golden", y="gold", polygon=square), "no measure 'golden'")):
        told = server.json("/api/runs/r/select?as=selection", json.dumps(selection), status=400)["error"]
        check(why in told, f"{selection}: {told}")
    server.json("/api/runs/r/select?as=rows&sort=kind", json.dumps({"filters": {"loss": {"min": 0}}}), status=400)


def test_without_data(portolan, store):
    with serving.serving(portolan, "--store", store, "r") as server:
        check("no --data" in server.json("/api/axis?run=r&name=data:kind", status=400)["error"], "an axis without --data")
        told = server.json("/api/runs/r/select", json.dumps(dict(x="data:kind", y="gold", polygon=[[0, 0], [1, 0], [1, 1]])), status=400)["error"]
        check("no --data" in told, f"a lasso without --data: {told}")
        check(server.json("/api/axis?run=unlabelled&name=gold")["none"] == 5, "a run without labels")


def main():
    portolan, make_store = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "store")
        unlabelled = stores.run("unlabelled", [stores.batch(0, np.arange(5), np.full(5, 0.5), np.ones(5, bool))])
        stores.make_store(make_store, store, [*make_runs(), unlabelled])
        data, options = write_data(folder)
        axes = known_axes(serving.metrics(portolan, store, "r"), data)
        with serving.serving(portolan, "--store", store, *options, "r") as server:
            test_axis(server, axes)
            test_points(server, axes)
            test_boxes(server, axes)
            test_picks(server, axes)
            test_rows(server, axes)
            test_gold(server, portolan, store, folder, axes)
            test_file_axes(server, portolan, store, folder, axes)
            test_no_value(server, portolan, store, folder, axes)
            test_wrong(server)
        test_many(portolan, make_store, folder)
        test_extremes(portolan, make_store, folder)
        test_without_data(portolan, store)
    finish()


main()
