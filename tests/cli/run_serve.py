"""portolan serve as a program asks it: who may ask, what is answered, and what it survives; and select --within, which must give the same ids.

    run_serve.py PORTOLAN MAKE_STORE
"""

import contextlib
import csv
import fractions
import http.client
import io
import json
import os
import shutil
import signal
import socket
import ssl
import stat
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse

import numpy as np
from prometheus_client.parser import text_string_to_metric_families

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stores  # noqa: E402

N = 3000
random = np.random.default_rng(11)
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what)


def batches(n, epochs, name=int):
    ids = np.arange(n)
    gold = random.integers(0, 3, n)
    level = random.random(n)
    made = []
    for e in range(epochs):
        order = random.permutation(n)
        p = np.clip(level * (e + 1) / epochs + random.normal(0, 0.1, n), 0, 1).astype("f4")
        these = ids[order] if name is int else [name(i) for i in order]
        made.append(stores.batch(e, these, p[order], p[order] > 0.5, gold[order]))
    return made


class Server:
    """A running `portolan serve`; ask() sends a request."""

    def __init__(self, portolan, *arguments, host="127.0.0.1", stdin=None):
        self.process = subprocess.Popen([portolan, "serve", "--no-open", *arguments], stdin=stdin, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            raise SystemExit("serve did not start: " + self.process.stderr.read())
        self.url = urllib.parse.urlsplit(self.address)
        self.token = urllib.parse.parse_qs(self.url.query)["token"][0]
        self.host = host

    def connection(self):
        return http.client.HTTPConnection(self.host, self.url.port, timeout=30)

    def ask(self, path, body=None, method=None, token=True, **headers):
        connection = self.connection()
        if token:
            headers["Authorization"] = "Bearer " + (token if isinstance(token, str) else self.token)
        connection.request(method or ("POST" if body is not None else "GET"), path, body,
                           {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer, content

    def json(self, path, body=None, status=200):
        answer, content = self.ask(path, body)
        check(answer.status == status, f"{path}: status {answer.status} {content[:200]}")
        return json.loads(content)

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.process.wait(20)


@contextlib.contextmanager
def serving(portolan, *arguments, **options):
    server = Server(portolan, *arguments, **options)
    try:
        yield server
    finally:
        check(server.end() == 0, "Ctrl-C ends it with status 0")


def metrics(portolan, store, run, *arguments):
    text = subprocess.run([portolan, "metrics", run, "--store", store, "--format", "jsonl", *arguments], capture_output=True, text=True,
                          check=True).stdout
    return [json.loads(line) for line in text.splitlines()]


def inside(polygon, x, y):
    """Even-odd in exact arithmetic; edges are inside."""
    x, y = fractions.Fraction(x), fractions.Fraction(y)
    points = [(fractions.Fraction(a), fractions.Fraction(b)) for a, b in polygon]
    crossings = 0
    for (ax, ay), (bx, by) in zip(points, points[1:] + points[:1]):
        side = (bx - ax) * (y - ay) - (x - ax) * (by - ay)
        if side == 0 and min(ax, bx) <= x <= max(ax, bx) and min(ay, by) <= y <= max(ay, by):
            return True
        if (ay > y) != (by > y) and (side > 0) == (by > ay):
            crossings += 1
    return crossings % 2 == 1


def test_who_may_ask(server):
    for path in ("/", "/api/runs", "/page/main.js", "/metrics", "/nothing"):
        for token in (None, "0" * 64, server.token[:-1], server.token + "0", ""):
            answer, content = server.ask(path, token=token)
            check(answer.status == 401 and server.token.encode() not in content, f"{path} with token {token}: {answer.status}")
    for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.1@evil", "[::1", ""):
        check(server.ask("/api/runs", Host=host)[0].status == 403, f"Host {host}")
        check(server.ask("/?token=" + server.token, token=None, Host=host)[0].status == 403, f"Host {host}, with the token in the address")
    for host in ("localhost", "LOCALHOST:99", "127.0.0.1:1234", "[::1]:5780"):
        check(server.ask("/api/runs", Host=host)[0].status == 200, f"Host {host}")
    for origin in ("http://evil.example", "null", "http://localhost:1", f"https://127.0.0.1:{server.url.port}"):
        check(server.ask("/api/runs", Origin=origin)[0].status == 403, f"Origin {origin}")
    check(server.ask("/api/runs", Origin=f"http://127.0.0.1:{server.url.port}")[0].status == 200, "its own Origin")
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH"):
        check(server.ask("/api/runs", method=method)[0].status == 405, method)
    check(server.ask("/api/runs", body="{}")[0].status == 405, "POST elsewhere")


def test_cookie(server):
    check(server.url.fragment == "run=a/b", "the address names the run")
    answer, content = server.ask("/?token=" + server.token, token=None)
    cookie = answer.getheader("Set-Cookie")
    check(answer.status == 303 and answer.getheader("Location") == "/", "the address that was printed leads to the page")
    check("HttpOnly" in cookie and "SameSite=Strict" in cookie, "the cookie is HttpOnly, SameSite=Strict")
    answer, content = server.ask("/", token=None, Cookie=cookie.split(";")[0])
    check(answer.status == 200 and b"<html lang=" in content, "the cookie opens the page")
    policy = answer.getheader("Content-Security-Policy")
    check("default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy, "a strict policy")


def test_runs(server, portolan, store):
    told = json.loads(subprocess.run([portolan, "runs", "--store", store, "--json"], capture_output=True, check=True).stdout)
    check(server.json("/api/runs") == told, "api/runs is as runs --json")
    for run in told:
        for path in {run["name"], urllib.parse.quote(run["name"], safe=""), urllib.parse.quote(run["name"])}:
            check(server.json("/api/runs/" + path) == run, "api/runs/" + path)
    server.json("/api/runs/nobody", status=404)
    for path in ("/api/view?run=nobody", "/api/runs/%00", "/api/runs/%zz", "/api/runs/a%ff", "/api/example?run=a/b&id=99999999"):
        check(server.ask(path)[0].status in (400, 404), path)
    for path in ("/api/view?run=a/b&epochs=5", "/api/view?run=a/b&epochs=3:2", "/api/points?run=a/b&x=nothing&y=confidence", "/api/view",
                 "/api/bins?run=a/b&x=confidence&y=confidence&box=1,0,0,1", "/api/search?run=a/b&q=1&most=0",
                 "/api/view?run=a/b&epochs=%ff", "/api/view?run=a/b&epochs=1:3%00"):
        check(server.ask(path)[0].status == 400, path)


def test_points(server, portolan, store):
    for epochs in (":", "1:3"):
        rows = metrics(portolan, store, "a/b", "--epochs", epochs)
        view = server.json(f"/api/view?run=a/b&epochs={epochs}")
        check(view["points"] == len(rows) and view["range"] == epochs, "as many points as metrics has rows")
        answer, content = server.ask(f"/api/points?run=a/b&epochs={epochs}&version={view['version']}&x=variability&y=first_learned&colour=gold")
        n = len(rows)
        check(len(content) == 5 * n, "5 bytes a point")
        columns = {column["name"]: column for column in view["columns"]}
        for name, part in (("variability", content[:2 * n]), ("first_learned", content[2 * n:4 * n])):
            values = np.array([np.nan if row[name] is None else row[name] for row in rows])
            low, high = columns[name]["low"], columns[name]["high"]
            check(low == np.nanmin(values) and high == np.nanmax(values), f"{name}: {low} to {high}")
            sent = np.frombuffer(part, "<u2").astype("f8")
            check(np.array_equal(sent == 65535, np.isnan(values)), f"{name}: 65535 where there is no value")
            shown = low + sent / 65534 * (high - low)
            check(np.nanmax(np.abs(shown - values)[sent < 65535]) <= 0.51 / 65534 * (high - low), f"{name}: as near as two bytes tell")
        gold = np.array([row["gold"] for row in rows])
        ranks = {value["value"]: rank for rank, value in enumerate(view["gold"]["values"])}
        check([value["count"] for value in view["gold"]["values"]] == sorted(np.bincount(gold), reverse=True), "labels, the largest first")
        check(np.array_equal(np.frombuffer(content[4 * n:], "u1"), [ranks[label] for label in gold]), "colours of labels")
    answer, content = server.ask(f"/api/view?run=a/b&known={server.json('/api/view?run=a/b')['version']}")
    check(answer.status == 304 and not content, "nothing new")
    check(server.ask("/api/points?run=a/b&version=0123456789abcdef&x=confidence&y=confidence")[0].status == 409, "a version that is gone")


def test_boxes(server, portolan, store):
    rows = metrics(portolan, store, "a/b")
    x, y = (np.array([row[name] for row in rows]) for name in ("variability", "confidence"))
    box = (0.05, 0.2, 0.25, 0.75)
    held = (x >= box[0]) & (x <= box[1]) & (y >= box[2]) & (y <= box[3])
    query = "run=a/b&x=variability&y=confidence&box=" + ",".join(map(str, box))
    bins = np.frombuffer(server.ask(f"/api/bins?{query}&columns=7&rows=5")[1], "<u4").reshape(5, 7)
    expected = np.histogram2d(y[held], x[held], (np.linspace(box[2], box[3], 6), np.linspace(box[0], box[1], 8)))[0]
    check(np.array_equal(bins, expected), "bins as NumPy counts them")
    for most in (10000, 100):
        content = server.ask(f"/api/inside?{query}&most={most}&colour=none")[1]
        count, sent = struct.unpack("<II", content[:8])
        places = np.frombuffer(content[8:8 + 4 * sent], "<u4")
        check(count == held.sum() and sent <= most and held[places].all() and len(set(places)) == sent, f"inside: {count}, {sent}")
        check(sent == count if most == 10000 else 50 < sent <= 100, f"inside: {sent} of at most {most}")
        check(len(content) == 8 + 9 * sent, "9 bytes a point")


def match(server, query):
    answer, content = server.ask("/api/match?" + query)
    check(answer.status == 200, f"{query}: {answer.status} {content[:200]}")
    return np.frombuffer(content, "<u4")


def test_match(server, portolan, store):
    """Runs with other sets of ids, and one run with other epochs."""
    ids = {run: [row["id"] for row in metrics(portolan, store, run)] for run in ("a/b", "odd", "names", "others")}
    for run, other in (("a/b", "odd"), ("odd", "a/b"), ("a/b", "a/b"), ("names", "others"), ("others", "names")):
        places = {name: place for place, name in enumerate(ids[other])}
        expected = [places.get(name, 0xffffffff) for name in ids[run]]
        check(0 < np.count_nonzero(np.array(expected) != 0xffffffff), f"{run} and {other} share ids")
        check(np.array_equal(match(server, f"run={run}&other={other}"), expected), f"match of {run} in {other}")
    late = [row["id"] for row in metrics(portolan, store, "odd", "--epochs", "1:2")]
    check(0 < len(late) < len(ids["odd"]), "not all of them are observed in the second epoch")
    expected = [late.index(name) if name in late else 0xffffffff for name in ids["odd"]]
    check(np.array_equal(match(server, "run=odd&other=odd&other_epochs=1:2"), expected), "match with other epochs")
    for query, status in (("run=a/b&other=names", 400), ("run=a/b", 400), ("run=a/b&other=nobody", 404), ("run=a/b&other=odd&other_epochs=2:1", 400),
                          ("run=a/b&other=odd&other_version=0123456789abcdef", 409)):
        check(server.ask("/api/match?" + query)[0].status == status, f"match with {query} is refused with {status}")


def test_examples(server, portolan, store, data):
    rows = metrics(portolan, store, "a/b")
    example = server.json("/api/example?run=a/b&place=17")
    check(example["id"] == 17 == rows[17]["id"] and example["gold"] == rows[17]["gold"], "an example by its place")
    check(all(example["measures"][name] == rows[17][name] for name in ("confidence", "variability", "first_learned")), "its measures")
    check(abs(np.mean(example["gold_prob"]) - rows[17]["confidence"]) < 1e-6, "its story")
    check(np.mean(example["correct"]) == rows[17]["correctness"], "and whether it was correct")
    check(example["text"] == {"text": data[17]["text"]}, f"its text as it is: {example['text']}")
    check(server.json("/api/example?run=a/b&epochs=1:3&id=17")["gold_prob"] == example["gold_prob"][1:3], "an example by its id, two epochs")
    found = server.json("/api/search?run=a/b&q=" + urllib.parse.quote("<script>alert(23)"))
    check(found == {"places": [23], "searched": N, "complete": True}, f"search in texts: {found}")
    check(server.json("/api/example?run=names&id=n-0042")["id"] == "n-0042", "an example of string ids")
    legend = server.json("/api/legend?run=a/b&colour=data:kind")
    check([(v["label"], v["count"]) for v in legend["values"]] == [("k0", 1500), ("k1", 1500)], f"a column's legend: {legend}")
    check(server.json("/api/legend?run=a/b&colour=data:size")["high"] == 6, "a column of numbers")


def selections():
    star = [[0.12 + 0.1 * np.cos(t * 4 * np.pi / 5), 0.5 + 0.3 * np.sin(t * 4 * np.pi / 5)] for t in range(5)]
    yield dict(x="variability", y="confidence", polygon=star), lambda r: inside(star, r["variability"], r["confidence"])
    square = [[0.05, 0.2], [0.2, 0.2], [0.2, 0.8], [0.05, 0.8]]
    hole = [[0.1, 0.4], [0.15, 0.4], [0.15, 0.6], [0.1, 0.6]]
    yield (dict(run="a/b", x="variability", y="confidence", epochs="0:4",
                parts=[dict(op="add", polygon=square), dict(op="remove", polygon=hole), dict(op="add", polygon=[[0.12, 0.5], [0.13, 0.5], [0.12, 0.55]])],
                filters={"gold": {"in": [0, 2]}, "correctness": {"min": 0.25, "max": 0.75}}),
           lambda r: ((inside(square, r["variability"], r["confidence"]) and not inside(hole, r["variability"], r["confidence"])
                       or inside([[0.12, 0.5], [0.13, 0.5], [0.12, 0.55]], r["variability"], r["confidence"]))
                      and r["gold"] in (0, 2) and 0.25 <= r["correctness"] <= 0.75))
    ragged = [[0.12 + (0.02 + 0.1 * (i * 7 % 5) / 5) * np.cos(i * 22 * np.pi / 41), 0.5 + 0.3 * np.sin(i * 22 * np.pi / 41)] for i in range(41)]
    yield dict(x="variability", y="confidence", polygon=ragged), lambda r: inside(ragged, r["variability"], r["confidence"])
    flat = [[0, 0.5], [1, 0.5], [2, 0.5], [3, 0.5]]
    yield dict(x="forgetting_events", y="correctness", polygon=flat), lambda r: r["correctness"] == 0.5 and 0 <= r["forgetting_events"] <= 3
    # whole numbers: many examples lie on edges and vertices
    grid = [[0, 0.25], [1, 0.25], [2, 0.75], [0, 0.75]]
    yield (dict(x="forgetting_events", y="correctness", polygon=grid),
           lambda r: inside(grid, r["forgetting_events"], r["correctness"]))
    yield (dict(x="first_learned", y="confidence", polygon=[[-1, -1], [9, -1], [9, 2], [-1, 2]]), lambda r: r["first_learned"] is not None)
    yield dict(filters={"id": {"in": [5, "7", 99999999, 3]}, "never_learned": {"in": [0, 1]}}), lambda r: r["id"] in (3, 5, 7)
    yield dict(x="variability", y="confidence", parts=[], filters={}), lambda r: False


def without_column(text, name):
    rows = list(csv.reader(io.StringIO(text)))
    at = rows[0].index(name)
    made = io.StringIO()
    csv.writer(made, lineterminator="\n").writerows(row[:at] + row[at + 1:] for row in rows)
    return made.getvalue()


def run_select(portolan, store, folder, selection, *arguments):
    path = os.path.join(folder, "selection.json")
    with open(path, "w") as file:
        json.dump(selection, file)
    return subprocess.run([portolan, "select", "a/b", "--store", store, "--within", path, *arguments], capture_output=True, text=True)


def test_selections(server, portolan, store, folder, data):
    rows = metrics(portolan, store, "a/b")
    some = 0
    for selection, is_in in selections():
        expected = [row["id"] for row in rows if is_in(row)]
        some += len(expected)
        told = server.json("/api/runs/a/b/select", json.dumps(selection))
        check(told == {"count": len(expected), "ids": expected}, f"{selection}: {told['count']}, not {len(expected)}")
        check(server.json("/api/runs/a%2Fb/select", json.dumps(selection)) == told, "with the slash encoded")
        made = run_select(portolan, store, folder, selection)
        check(made.stdout == "".join(f"{i}\n" for i in expected) and not made.stderr, f"select --within: {made.stderr}")
        body = json.dumps(selection)
        check(server.ask("/api/runs/a/b/select?as=list", body)[1] == made.stdout.encode(), "the list is what select prints")
        mask = np.unpackbits(np.frombuffer(server.ask("/api/runs/a/b/select?as=mask", body)[1], "u1"), bitorder="little")[:N]
        check(np.flatnonzero(mask).tolist() == expected, "the mask")
        lines = server.ask("/api/runs/a/b/select?as=lines", body)[1].decode()
        check(lines == "".join(json.dumps(data[i]) + "\n" for i in expected), "the user's own lines")
        made = run_select(portolan, store, folder, selection, "--with-measures", "--format", "csv")
        answer, table = server.ask("/api/runs/a/b/select?as=csv", body)
        check(answer.status == 200 and table.decode() == without_column(made.stdout, "variability_ci"), "the csv is what select --with-measures prints")
        table = server.json("/api/runs/a/b/select?as=rows&sort=confidence&descending=1&from=2&most=5", body)
        ranked = sorted((row for row in rows if is_in(row)), key=lambda row: (-row["confidence"], row["id"]))
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
    answer, content = server.ask("/api/selection?run=a/b&known=1")
    check(answer.status == 304 and not content, "nothing new is kept")
    check(server.json("/api/selection?run=a/b&known=0")["serial"] == 1, "a newer one than the one known")
    check(server.ask("/api/selection?run=a/b&known=x")[0].status == 400, "known is a number")


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
    with serving(portolan, "--store", store, "f") as server:
        body = json.dumps({"filters": {"confidence": {"min": 0}}})
        rows = list(csv.DictReader(io.StringIO(server.ask("/api/runs/f/select?as=csv", body)[1].decode())))
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
                       ({"filters": {"id": {"in": [1]}}, "digests": {"confidence": [[[]]]}}, "digest of 'confidence'")):
        told = server.json("/api/runs/a/b/select", json.dumps(wrong), status=400)["error"]
        check(why in told, f"{wrong}: {told}")
        made = run_select(portolan, store, folder, wrong)
        check(made.returncode == 1 and why in made.stderr and not made.stdout, f"select {wrong}: {made.returncode} {made.stderr}")
    long = "x" + "€" * 60  # of which a message quotes 100 bytes
    check("what is 'x€€" in server.json("/api/runs/a/b/select", json.dumps({long: 1}, ensure_ascii=False).encode(), status=400)["error"], "a long name")
    for body in ("", "{", "[1}}", '{"x": 1, "x": 2}', '{"x": "\ud800"}'.encode("utf-8", "surrogatepass"), "[" * 100000, "NaN"):
        check(server.ask("/api/runs/a/b/select", body)[0].status == 400, f"{body[:40]!r}")
    made = run_select(portolan, store, folder, next(selections())[0], "--count", "3")
    check(made.returncode == 2 and "--by" in made.stderr, "a size without a rule")
    other = run_select(portolan, store, folder, dict(next(selections())[0], run="c"))
    check(other.returncode == 0 and "was made on run 'c'" in other.stderr, "another run's selection")
    server.json("/api/runs/a/b/select", json.dumps(dict(next(selections())[0], run="c")), status=400)


def test_long_lists(server, portolan, store):
    """Millions of values are looked up, not gone through for each example."""
    rows = metrics(portolan, store, "a/b")
    values = [row["confidence"] for row in rows[::3]] + list(range(2, 3000000))
    for filters, expected in (({"confidence": {"in": values}}, {row["confidence"] for row in rows[::3]}),
                              ({"gold": {"in": list(range(3000000, 2, -1)) + [1]}}, None)):
        told = server.json("/api/runs/a/b/select", json.dumps({"filters": filters}, separators=(",", ":")))
        check(told["ids"] == [row["id"] for row in rows if (row["confidence"] in expected if expected else row["gold"] == 1)], f"in: {told['count']}")


def test_digests(server, portolan, make_store, store, folder):
    """A selection says what it was made on; that something was replaced since is said."""
    view = server.json("/api/view?run=a/b")
    digests = {column["name"]: column["digest"] for column in view["columns"] if column["name"] in ("variability", "confidence")}
    selection = dict(next(selections())[0], digests=digests)
    check(not run_select(portolan, store, folder, selection).stderr, "nothing has changed")
    selection["digests"] = dict(digests, confidence="0" * 16)
    check("replaced or added" in run_select(portolan, store, folder, selection).stderr, "a change is said")


def test_metrics(server, told):
    text = server.ask("/metrics")[1].decode()
    families = {family.name: family for family in text_string_to_metric_families(text)}
    check(text.count("# HELP") == text.count("# TYPE") == len(families), "each family once, with HELP and TYPE")
    samples = {}
    for family in families.values():
        check(family.documentation.endswith(".") and len(family.documentation) > 10, f"{family.name}: {family.documentation}")
        check(family.type in ("counter", "gauge", "histogram"), f"{family.name} is a {family.type}")
        for sample in family.samples:
            key = (sample.name, *sorted(sample.labels.items()))
            check(key not in samples, f"twice: {key}")
            check((family.type == "counter") == sample.name.endswith("_total"), f"{sample.name} is a {family.type}")
            samples[key] = sample.value
    for run in told:
        def of(name, **labels):
            return samples.get(("portolan_run_" + name, *sorted({"run": run["name"], **labels}.items())))
        check(of("examples") == run["examples"] and of("epochs") == run["epochs"] and of("observations") == run["observations"], "what runs says")
        check(of("received_observations_total") == run["counters"]["received"], "observations received")
        check(sum(of("refused_observations_total", reason=reason) for reason in ("id", "gold_prob", "class", "nan", "batch")) == run["refused"],
              "refused, by reason")
        check(sum(of("sessions", state=state) for state in ("live", "closed", "lost")) == sum(run["sessions"].values()), "sessions")
    latency = [(float(dict(key[1:])["le"]), value) for key, value in samples.items() if key[0] == "portolan_commit_latency_seconds_bucket"]
    check(latency == sorted(latency) and [v for _, v in latency] == sorted(v for _, v in latency), "a histogram grows")
    check(samples[("portolan_store_size_bytes",)] > 0, "the store's size")


def test_survival(server):
    silent = [socket.create_connection(("127.0.0.1", server.url.port)) for _ in range(200)]
    check(server.ask("/api/runs")[0].status == 200, "answers beside 200 connections that never speak")
    for body in (b"x" * (10 << 20), b"[" * (10 << 20)):
        check(server.ask("/api/runs/a/b/select", body)[0].status == 400, "a body of 10 MB")
    with contextlib.suppress(OSError):
        answer = server.ask("/api/runs/a/b/select", b"x" * (33 << 20))[0]
        check(answer.status == 413, "a body of 33 MB")
    for head in (b"GET / HTTP/1.1\r\n" + b"a: " + b"b" * (10 << 20), b"GET /" + b"a" * (10 << 20), b"\0" * 100000, b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                 b"GET / HTTP/9.9\r\n\r\n", b"\r\n" * 1000):
        one = socket.create_connection(("127.0.0.1", server.url.port))
        with contextlib.suppress(OSError):
            one.sendall(head)
        one.close()
    for target in (b"runs", b"*", b"http://localhost/", b"?token=" + server.token.encode()):  # none begins with a slash
        with socket.create_connection(("127.0.0.1", server.url.port)) as one:
            one.sendall(b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
            check(one.recv(100).split(b" ")[1:2] == [b"401"], f"GET {target.decode()}")
    for one in silent:
        one.close()
    check(server.ask("/api/runs")[0].status == 200, "answers after all that")


def test_live(portolan, make_store, folder):
    """A run that grows gets another version; places of the old one are refused."""
    store = os.path.join(folder, "growing")
    runs = [stores.run("live", batches(500, 2), declared=500, ended=False)]
    stores.make_store(make_store, store, runs)
    with serving(portolan, "--store", store, "live") as server:
        before = server.json("/api/view?run=live")
        shutil.rmtree(store)
        check(server.json("/api/view?run=live")["version"] == before["version"], "a store that is removed: what is there is shown on")
        check(server.ask("/api/runs")[0].status == 503, "but its runs cannot be listed")
        stores.make_store(make_store, store, [stores.run("live", batches(500, 3), declared=500)])
        for _ in range(100):
            after = server.json("/api/view?run=live")
            if after["version"] != before["version"]:
                break
            time.sleep(0.1)
        check(after["epochs"] == [0, 1, 2] and after["state"] == "closed", "the new store is seen")
        server.json(f"/api/example?run=live&version={before['version']}&place=3", status=409)


def test_unix(portolan, store, folder):
    path = os.path.join(folder, "page.socket")
    with serving(portolan, "--store", store, "--listen", "unix:" + path) as server:
        check(stat.S_IMODE(os.stat(path).st_mode) == 0o600, "the socket is its owner's alone")
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(path)
        connection.request("GET", "/api/runs", headers={"Authorization": "Bearer " + server.token})
        check(connection.getresponse().status == 200, "answers on a Unix socket")
    check(not os.path.exists(path), "the socket is gone afterwards")


def test_tokens(portolan, store, folder):
    path = os.path.join(folder, "token")
    tokens = []
    for _ in range(2):
        with serving(portolan, "--store", store, "--token-file", path) as server:
            tokens.append(server.token)
    check(tokens[0] == tokens[1] and stat.S_IMODE(os.stat(path).st_mode) == 0o600, "the token is kept")
    with open(path, "w") as file:
        file.write("a" * 200 + "\n")
    refused = subprocess.run([portolan, "serve", "--store", store, "--token-file", path], capture_output=True, text=True, timeout=20)
    check(refused.returncode == 1 and "holds no token" in refused.stderr, f"a token that is too long: {refused.stderr}")
    os.chmod(path, 0o640)
    refused = subprocess.run([portolan, "serve", "--store", store, "--token-file", path], capture_output=True, text=True)
    check(refused.returncode == 1 and "chmod 600" in refused.stderr, f"a token that others can read: {refused.stderr}")


def test_second_signal(portolan, store):
    """Ctrl-C waits for answers under way; pressed again, it does not."""
    server = Server(portolan, "--store", store)
    body = json.dumps({"filters": {"confidence": {"in": list(range(3000000))}}}, separators=(",", ":"))
    asked = []
    for _ in range(4):
        connection = server.connection()
        connection.request("POST", "/api/runs/a/b/select", body, {"Authorization": "Bearer " + server.token})
        asked.append(connection)
    server.process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    check(server.end() == -signal.SIGINT, "a second Ctrl-C ends it at once")
    for connection in asked:
        connection.close()


def test_browser(portolan, store, folder):
    """The browser that is opened can be ended by signals."""
    opener, told = os.path.join(folder, "xdg-open"), os.path.join(folder, "opened")
    with open(opener, "w") as file:
        file.write(f"""#!/bin/sh
echo "$1" >{told}.new
while read -r name value; do # by the shell itself, which blocks signals while it starts another program
	[ "$name" = SigBlk: ] && echo "$name $value" >>{told}.new
done </proc/$$/status
mv {told}.new {told}
""")
    os.chmod(opener, 0o700)
    terminal, stdout = os.openpty()
    process = subprocess.Popen([portolan, "serve", "--store", store], stdout=stdout, stderr=subprocess.DEVNULL,
                               env=dict(os.environ, DISPLAY=":99", PATH=folder + ":" + os.environ["PATH"]))
    deadline = time.monotonic() + 20
    while not os.path.exists(told) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    check(process.wait(20) == 0, "Ctrl-C ends it")
    os.close(terminal)
    os.close(stdout)
    with open(told) as file:
        address, blocked = file.read().splitlines()
    check(address.startswith("http://127.0.0.1:"), f"the browser gets the address: {address}")
    check(int(blocked.split()[1], 16) & (1 << signal.SIGINT - 1 | 1 << signal.SIGTERM - 1) == 0, f"the browser's signals: {blocked}")


def test_usage(portolan, store):
    for arguments, why in ((["--listen", "0.0.0.0:9999"], "--tls-cert"), (["--listen", "nonsense"], "unix:PATH"),
                           (["--port", "0"], "--port"), (["--tls-cert", "/dev/null"], "tls-key"), (["--data", "/dev/null"], "id-field"),
                           (["--text", "a"], "data")):
        made = subprocess.run([portolan, "serve", "--store", store, *arguments], capture_output=True, text=True, timeout=20)
        check(made.returncode == 2 and why in made.stderr, f"{arguments}: {made.returncode} {made.stderr}")
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    made = subprocess.run([portolan, "serve", "--store", store, "--port", str(taken.getsockname()[1])], capture_output=True, text=True, timeout=20)
    check(made.returncode == 1 and "another" in made.stderr, f"a port that is taken: {made.stderr}")


def test_tls(portolan, store, folder):
    key, certificate = os.path.join(folder, "key.pem"), os.path.join(folder, "certificate.pem")
    if not shutil.which("openssl"):
        print("openssl is not installed: HTTPS is not tried")
        return
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    with serving(portolan, "--store", store, "--tls-cert", certificate, "--tls-key", key) as server:
        check(server.url.scheme == "https", "the address is https")
        context = ssl.create_default_context(cafile=certificate)
        connection = http.client.HTTPSConnection("127.0.0.1", server.url.port, context=context)
        connection.request("GET", "/api/runs", headers={"Authorization": "Bearer " + server.token})
        check(connection.getresponse().status == 200, "answers by HTTPS")
    made = subprocess.run([portolan, "serve", "--store", store, "--tls-cert", key, "--tls-key", certificate], capture_output=True, text=True, timeout=20)
    check(made.returncode == 1 and "PEM" in made.stderr, f"a certificate that is none: {made.stderr}")


def test_end_with_stdin(portolan, store):
    server = Server(portolan, "--store", store, "--end-with-stdin", stdin=subprocess.PIPE)
    server.process.stdin.write("what is written there is read and forgotten\n" * 1000)
    server.process.stdin.flush()
    check(server.ask("/api/runs")[0].status == 200, "it serves while standard input is open")
    server.process.stdin.close()
    check(server.process.wait(20) == 0, "it ends with standard input")
    server = Server(portolan, "--store", store, "--end-with-stdin", stdin=subprocess.PIPE)
    check(server.end() == 0, "or by Ctrl-C")
    with serving(portolan, "--store", store, stdin=subprocess.DEVNULL) as server:
        check(server.ask("/api/runs")[0].status == 200, "an empty standard input is none that ends it, unless it was asked for")


def main():
    portolan, make_store = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "store")
        stores.make_store(make_store, store, [stores.run("a/b", batches(N, 4), declared=N, labels=["yes", "no", "maybe"]), stores.run("c", batches(40, 1)),
                                        stores.run("names", batches(400, 3, lambda i: f"n-{i:04d}")),
                                        stores.run("others", batches(50, 2, lambda i: f"n-{7 * i:04d}")),
                                        stores.run("odd", batches(200, 1, lambda i: 2 * i + 2701) + batches(90, 2, lambda i: 4 * i + 2701)[1:])])
        data = [{"id": i, "text": f"text {i} <script>alert({i})</script> \u202e \U0001f600", "kind": f"k{i % 2}", "size": i % 7} for i in range(N)]
        path = os.path.join(folder, "data.jsonl")
        with open(path, "w") as file:
            file.writelines(json.dumps(one) + "\n" for one in data)
        with serving(portolan, "--store", store, "--data", path, "--id-field", "id", "--text", "text", "a/b") as server:
            test_who_may_ask(server)
            test_cookie(server)
            test_runs(server, portolan, store)
            test_points(server, portolan, store)
            test_boxes(server, portolan, store)
            test_match(server, portolan, store)
            test_examples(server, portolan, store, data)
            test_selections(server, portolan, store, folder, data)
            test_wrong_selections(server, portolan, store, folder)
            test_long_lists(server, portolan, store)
            test_digests(server, portolan, make_store, store, folder)
            test_metrics(server, json.loads(subprocess.run([portolan, "runs", "--store", store, "--json"], capture_output=True, check=True).stdout))
            test_survival(server)
        test_formulas(portolan, make_store, folder)
        test_live(portolan, make_store, folder)
        test_unix(portolan, store, folder)
        test_tokens(portolan, store, folder)
        test_end_with_stdin(portolan, store)
        test_second_signal(portolan, store)
        test_browser(portolan, store, folder)
        test_usage(portolan, store)
        test_tls(portolan, store, folder)
    sys.exit(f"{len(failures)} checks failed" if failures else 0)


main()
