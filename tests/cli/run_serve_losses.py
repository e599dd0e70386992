"""portolan serve, and the page as one file, of a run of losses: what the page is told, beside NumPy.

    run_serve_losses.py PORTOLAN MAKE_STORE
"""

import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import serving
import stores
from checks import check, finish

N, EPOCHS = 500, 6


def losses():
    """Of each epoch and example; one may be missing, and some are below 0."""
    random = np.random.default_rng(17)
    made = (random.gamma(2, 1, N) * np.exp(-np.arange(EPOCHS)[:, None] * random.uniform(0, 0.5, N)) + random.normal(0, 0.2, (EPOCHS, N))).astype("f4")
    made[3, 7] = np.nan
    return made


def batches(made):
    for epoch, row in enumerate(made):
        ids = np.flatnonzero(~np.isnan(row))
        yield stores.batch(epoch, ids, np.zeros(len(ids)), np.zeros(len(ids), bool), task_loss=row[ids])


def test_view(server, made):
    view = server.json("/api/view?run=losses")
    names = [column["name"] for column in view["columns"]]
    check(set(names) == {"epochs", "task_loss", "variability", "loss_ema", "learning_speed", "detrended_variability"}, names)
    check(view["kind"] == "loss" and "cuts" not in view and "regions" not in view, "no regions")
    check(not any("p(gold)" in column["about"] for column in view["columns"]), "no word about labels")
    check(not view["gold"] or not view["gold"]["values"], view["gold"])
    of = {column["name"]: column for column in view["columns"]}
    mean = np.nanmean(made.astype("f8"), axis=0)
    check(np.allclose([of["task_loss"]["low"], of["task_loss"]["high"]], [mean.min(), mean.max()], rtol=1e-12), "the extent of task_loss")
    labels = server.json("/api/view?run=labels")
    check(labels["kind"] == "labels" and "cuts" in labels and "regions" in labels, "a run of labels has them")
    content = server.ask("/api/points?run=losses&x=variability&y=task_loss&colour=learning_speed")
    sent = np.frombuffer(content[2 * N:4 * N], "<u2")
    check(np.abs(of["task_loss"]["low"] + sent / 65534 * (mean.max() - mean.min()) - mean).max() <= 0.51 / 65534 * (mean.max() - mean.min()), "points")
    told = json.loads(server.request("/api/points?run=losses&x=variability&y=confidence&colour=none")[1])
    check("confidence" in told["error"], told)


def test_example(server, made):
    example = server.json("/api/example?run=losses&place=7")
    check(example["gold"] is None and "gold_prob" not in example and "correct" not in example, example)
    check([None if np.isnan(loss) else float(loss) for loss in made[:, 7]] == [None if loss is None else float(np.float32(loss)) for loss in example["task_loss"]], example)
    check(np.isclose(example["measures"]["task_loss"], np.nanmean(made[:, 7].astype("f8")), rtol=1e-12), "its mean")


def test_selection(server, portolan, store, made):
    mean = np.nanmean(made.astype("f8"), axis=0)
    limit = float(np.sort(mean)[-50])
    selection = {"run": "losses", "filters": {"task_loss": {"min": limit}}}
    ids = server.ids("losses", selection)
    check(ids == np.flatnonzero(mean >= limit).tolist(), "a filter by task_loss")
    path = os.path.join(os.path.dirname(store), "selection.json")
    with open(path, "wb") as file:
        file.write(server.ask("/api/runs/losses/select?as=selection", json.dumps(selection)))
    said = subprocess.run([portolan, "select", "losses", "--store", store, "--within", path], capture_output=True, text=True, check=True)
    check([int(line) for line in said.stdout.split()] == ids, "select --within takes it")
    head = server.ask("/api/runs/losses/select?as=csv", json.dumps(selection)).decode().splitlines()[0]
    check(head.startswith("id,gold,epochs") and "confidence" not in head, head)


def test_others(server, portolan, store, made):
    progress = server.json("/api/progress?run=losses")
    check("forgetting" not in progress and list(progress["epochs"][0]) == ["epoch", "observed", "mean_loss"], progress["epochs"][0])
    check(np.allclose([epoch["mean_loss"] for epoch in progress["epochs"]], np.nanmean(made.astype("f8"), axis=1), rtol=1e-12), "mean losses")
    check(server.json("/api/classes?run=losses") == {"classes": []}, "no classes")
    answer, content = server.request("/api/match?run=losses&other=labels")
    check(answer.status == 400 and b"records losses (log_loss), run 'labels' probabilities of labels" in content, content)
    for run in ("losses", "labels"):
        check(("portolan_run" in server.ask("/metrics").decode()) and f'"{run}"' in server.ask("/metrics").decode(), run)


def blocks_of(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return {name: json.loads(content) for name, content in re.findall(r'<script[^>]*id="file-(view|about|left-out)"[^>]*>(.*?)</script>', text, re.S)}


def test_file(portolan, store, folder):
    path = os.path.join(folder, "losses.html")

    def write(*options):
        return subprocess.run([portolan, "map", "losses", "--store", store, "-o", path, *options], capture_output=True, text=True)

    check(write().returncode == 0, "a page as one file")
    blocks = blocks_of(path)
    check(blocks["about"]["shown"] == {"x": "variability", "y": "task_loss", "colour": "learning_speed"}, blocks["about"]["shown"])
    check(blocks["view"]["kind"] == "loss" and "cuts" not in blocks["view"] and blocks["left-out"] is None, "its view")
    check(write("--loss-threshold", "0.5").returncode == 0 and blocks_of(path)["about"]["shown"]["colour"] == "correctness", "with a threshold")
    check(blocks_of(path)["view"]["loss_threshold"] == 0.5 and "loss_threshold" not in blocks["view"], "the threshold")
    check("at most --loss-threshold" in json.dumps(blocks_of(path)["view"]["columns"]), "what correctness is then")
    done = write("--y", "aum")
    check(done.returncode == 1 and "aum needs a label" in done.stderr, done.stderr)
    done = write("--regions", "0.1,0.5")
    check(done.returncode == 1 and "have no labels" in done.stderr, done.stderr)


def main():
    portolan, make_store = sys.argv[1:3]
    made = losses()
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "store")
        p = np.random.default_rng(1).random(40).astype("f4")
        stores.make_store(make_store, store, [stores.run("losses", list(batches(made))), stores.run("labels", [stores.batch(0, np.arange(40), p, p > 0.5, np.arange(40) % 2)])])
        with serving.serving(portolan, "--store", store) as server:
            test_view(server, made)
            test_example(server, made)
            test_selection(server, portolan, store, made)
            test_others(server, portolan, store, made)
        test_file(portolan, store, folder)
    finish()


main()
