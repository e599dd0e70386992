"""portolan serve as the page asks it: runs, views, points, boxes, examples and metrics, beside what the commands print.

    run_serve_views.py PORTOLAN MAKE_STORE
"""

import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse

import numpy as np
from prometheus_client.parser import text_string_to_metric_families

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import served_runs
import serving
import stores
from checks import check, finish


def test_runs(server, portolan, store):
    told = json.loads(subprocess.run([portolan, "runs", "--store", store, "--json"], capture_output=True, check=True).stdout)
    check(all("fingerprint" in run for run in told if run["state"] != "damaged"), "runs --json has fingerprints")
    for run in told:
        run.pop("fingerprint", None)  # it takes a pass over the run, which is not made for the page
    check(server.json("/api/runs") == told, "api/runs is as runs --json, but for the fingerprints")
    for run in told:
        for path in {run["name"], urllib.parse.quote(run["name"], safe=""), urllib.parse.quote(run["name"])}:
            check(server.json("/api/runs/" + path) == run, "api/runs/" + path)
    server.json("/api/runs/nobody", status=404)
    for path in ("/api/view?run=nobody", "/api/runs/%00", "/api/runs/%zz", "/api/runs/a%ff", "/api/example?run=a/b&place=99999999"):
        check(server.request(path)[0].status in (400, 404), path)
    for path in ("/api/view?run=a/b&epochs=5", "/api/view?run=a/b&epochs=3:2", "/api/points?run=a/b&x=nothing&y=confidence", "/api/view",
                 "/api/bins?run=a/b&x=confidence&y=confidence&box=1,0,0,1",
                 "/api/view?run=a/b&epochs=%ff", "/api/view?run=a/b&epochs=1:3%00"):
        check(server.request(path)[0].status == 400, path)


def test_fingerprints(server, portolan, store):
    """Those of `runs --json`, and of two runs the sentence of `portolan compare`."""
    told = {run["name"]: run["fingerprint"] for run in json.loads(subprocess.run([portolan, "runs", "--store", store, "--json"], capture_output=True, check=True).stdout)}
    warned = {}
    for name, fingerprint in told.items():
        check(server.json(f"/api/fingerprint?run={name}") == {"fingerprint": fingerprint} and fingerprint, f"{name}: {fingerprint}")
        for other in told:
            compared = subprocess.run([portolan, "compare", name, other, "--store", store], capture_output=True, text=True)
            sentences = [line.split("warning: ", 1)[1] for line in compared.stderr.splitlines() if "other gold labels" in line]
            answer = server.json(f"/api/fingerprint?run={name}&other={other}")
            check(answer == {"fingerprint": fingerprint, "other_fingerprint": told[other], "warning": sentences[0] if sentences else None}, f"{name} {other}: {answer}, not {sentences}")
            warned[name, other] = bool(sentences)
    check(warned["a/b", "odd"] and warned["odd", "a/b"] and not warned["a/b", "a/b"] and not warned["a/b", "names"], f"which pairs are warned of: {warned}")
    for path in ("run=nobody", "run=a/b&other=nobody"):
        server.json(f"/api/fingerprint?{path}", status=404)
    server.json("/api/fingerprint", status=400)


def test_points(server, portolan, store):
    for epochs in (":", "1:3"):
        rows = serving.metrics(portolan, store, "a/b", "--epochs", epochs)
        view = server.json(f"/api/view?run=a/b&epochs={epochs}")
        check(view["points"] == len(rows) and view["range"] == epochs, "as many points as metrics has rows")
        answer, content = server.request(f"/api/points?run=a/b&epochs={epochs}&version={view['version']}&x=variability&y=first_learned&colour=gold")
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
    answer, content = server.request(f"/api/view?run=a/b&known={server.json('/api/view?run=a/b')['version']}")
    check(answer.status == 304 and not content, "nothing new")
    check(server.request("/api/points?run=a/b&version=0123456789abcdef&x=confidence&y=confidence")[0].status == 409, "a version that is gone")


def test_boxes(server, portolan, store):
    rows = serving.metrics(portolan, store, "a/b")
    x, y = (np.array([row[name] for row in rows]) for name in ("variability", "confidence"))
    box = (0.05, 0.2, 0.25, 0.75)
    held = (x >= box[0]) & (x <= box[1]) & (y >= box[2]) & (y <= box[3])
    query = "run=a/b&x=variability&y=confidence&box=" + ",".join(map(str, box))
    bins = np.frombuffer(server.request(f"/api/bins?{query}&columns=7&rows=5")[1], "<u4").reshape(5, 7)
    expected = np.histogram2d(y[held], x[held], (np.linspace(box[2], box[3], 6), np.linspace(box[0], box[1], 8)))[0]
    check(np.array_equal(bins, expected), "bins as NumPy counts them")
    samples = []
    for most in (10000, 100, 9, 8, 1):
        content = server.request(f"/api/inside?{query}&most={most}&colour=none")[1]
        count, sent = struct.unpack("<II", content[:8])
        places = np.frombuffer(content[8:8 + 4 * sent], "<u4")
        check(count == held.sum() and sent == min(most, count) and held[places].all() and len(set(places)) == sent, f"inside: {count}, {sent}")
        samples.append(set(places))
        check(len(content) == 8 + 9 * sent, "9 bytes a point")
    check(all(few < many for many, few in zip(samples, samples[1:])), "a sample of fewer has the same places")


def match(server, query):
    answer, content = server.request("/api/match?" + query)
    check(answer.status == 200, f"{query}: {answer.status} {content[:200]}")
    return np.frombuffer(content, "<u4")


def test_match(server, portolan, store):
    """Runs with other sets of ids, and one run with other epochs."""
    ids = {run: [row["id"] for row in serving.metrics(portolan, store, run)] for run in ("a/b", "odd", "names", "others")}
    for run, other in (("a/b", "odd"), ("odd", "a/b"), ("a/b", "a/b"), ("names", "others"), ("others", "names")):
        places = {name: place for place, name in enumerate(ids[other])}
        expected = [places.get(name, 0xffffffff) for name in ids[run]]
        check(0 < np.count_nonzero(np.array(expected) != 0xffffffff), f"{run} and {other} share ids")
        check(np.array_equal(match(server, f"run={run}&other={other}"), expected), f"match of {run} in {other}")
    late = [row["id"] for row in serving.metrics(portolan, store, "odd", "--epochs", "1:2")]
    check(0 < len(late) < len(ids["odd"]), "not all of them are observed in the second epoch")
    expected = [late.index(name) if name in late else 0xffffffff for name in ids["odd"]]
    check(np.array_equal(match(server, "run=odd&other=odd&other_epochs=1:2"), expected), "match with other epochs")
    for query, status in (("run=a/b&other=names", 400), ("run=a/b", 400), ("run=a/b&other=nobody", 404), ("run=a/b&other=odd&other_epochs=2:1", 400),
                          ("run=a/b&other=odd&other_version=0123456789abcdef", 409)):
        check(server.request("/api/match?" + query)[0].status == status, f"match with {query} is refused with {status}")


def test_examples(server, portolan, store, data):
    rows = serving.metrics(portolan, store, "a/b")
    example = server.json("/api/example?run=a/b&place=17")
    check(example["id"] == 17 == rows[17]["id"] and example["gold"] == rows[17]["gold"], "an example by its place")
    check(all(example["measures"][name] == rows[17][name] for name in ("confidence", "variability", "first_learned")), "its measures")
    check(abs(np.mean(example["gold_prob"]) - rows[17]["confidence"]) < 1e-6, "its story")
    check(np.mean(example["correct"]) == rows[17]["correctness"], "and whether it was correct")
    check(example["text"] == {"text": data[17]["text"]}, f"its text as it is: {example['text']}")
    check(server.json("/api/example?run=a/b&epochs=1:3&id=17")["gold_prob"] == example["gold_prob"][1:3], "an example by its id, two epochs")
    check(server.json("/api/example?run=names&id=n-0042")["id"] == "n-0042", "an example of string ids")
    check(server.json("/api/example?run=a/b&id=99999999") is None and server.json("/api/example?run=names&id=17") is None, "an id that the run does not have")
    legend = server.json("/api/legend?run=a/b&colour=data:maybe")
    check(legend["none"] == 1000 and sum(v["count"] for v in legend["values"]) == 2000, f"those without a value: {legend}")
    legend = server.json("/api/legend?run=a/b&colour=first_learned")
    check(legend["none"] == sum(row["first_learned"] is None for row in rows), f"those without a number: {legend}")
    legend = server.json("/api/legend?run=a/b&colour=data:kind")
    check([(v["label"], v["count"]) for v in legend["values"]] == [("k0", 1500), ("k1", 1500)], f"a column's legend: {legend}")
    check(server.json("/api/legend?run=a/b&colour=data:size")["high"] == 6, "a column of numbers")


def test_metrics(server, told):
    text = server.request("/metrics")[1].decode()
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


def test_counters_grow(portolan, make_store, folder):
    """A log grows too large for a list of runs to count it; what was counted stays counted."""
    twice = stores.batch(0, [*range(100), *range(100)], [0.5] * 200, [True] * 200)
    rows = 100_000
    more = [stores.batch(1, range(begin, begin + rows), np.full(rows, 0.5), np.ones(rows), margin=np.ones(rows), entropy=np.ones(rows), max_prob=np.ones(rows))
            for begin in range(0, 40 * rows, rows)]
    seen = []
    for batches in ([twice], [twice, *more]):
        store = os.path.join(folder, f"log{len(seen)}")
        stores.make_store(make_store, store, [stores.run("r", batches, declared=40 * rows, ended=False)])
        with serving.serving(portolan, "--store", store) as server:
            text = server.request("/metrics")[1].decode()
            seen.append([sample.value for family in text_string_to_metric_families(text) if family.type == "counter"
                         for sample in family.samples if "replaced" in sample.name])
        shutil.rmtree(store)
    check(len(seen[0]) == 1 and seen[0] <= seen[1], f"a counter falls: {seen}")


def test_live(portolan, make_store, folder):
    """A run that grows gets another version; places of the old one are refused."""
    store = os.path.join(folder, "growing")
    runs = [stores.run("live", served_runs.batches(500, 2), declared=500, ended=False)]
    stores.make_store(make_store, store, runs)
    with serving.serving(portolan, "--store", store, "live") as server:
        before = server.json("/api/view?run=live")
        fingerprint = server.json("/api/fingerprint?run=live")["fingerprint"]
        shutil.rmtree(store)
        check(server.json("/api/view?run=live")["version"] == before["version"], "a store that is removed: what is there is shown on")
        check(server.request("/api/runs")[0].status == 503, "but its runs cannot be listed")
        stores.make_store(make_store, store, [stores.run("live", served_runs.batches(500, 3), declared=500)])
        for _ in range(100):
            after = server.json("/api/view?run=live")
            if after["version"] != before["version"]:
                break
            time.sleep(0.1)
        check(after["epochs"] == [0, 1, 2] and after["state"] == "closed", "the new store is seen")
        told, = json.loads(subprocess.run([portolan, "runs", "--store", store, "--json"], capture_output=True, check=True).stdout)
        check(server.json("/api/fingerprint?run=live")["fingerprint"] == told["fingerprint"] != fingerprint, "and its fingerprint")
        server.json(f"/api/example?run=live&version={before['version']}&place=3", status=409)


def main():
    portolan, make_store = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        store = served_runs.make_store(make_store, folder)
        data, options = served_runs.write_data(folder)
        with serving.serving(portolan, "--store", store, *options, "a/b") as server:
            test_runs(server, portolan, store)
            test_fingerprints(server, portolan, store)
            test_points(server, portolan, store)
            test_boxes(server, portolan, store)
            test_match(server, portolan, store)
            test_examples(server, portolan, store, data)
            test_metrics(server, json.loads(subprocess.run([portolan, "runs", "--store", store, "--json"], capture_output=True, check=True).stdout))
        test_counters_grow(portolan, make_store, folder)
        test_live(portolan, make_store, folder)
    finish()


main()
