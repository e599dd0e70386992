"""portolan map -o FILE.html: one file that holds what `portolan metrics` prints, bit for bit, and says what it does not hold.

    run_page_file.py PORTOLAN MAKE_STORE
"""

import base64
import html.parser
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

N, EPOCHS = 2000, 4
MOST = 100_000_000  # bytes
LABELS = ["yes", "no </script><!--", "maybe"]
TEXTS = ["</script><script>window.attacked = 1</script>", "<!-- <script>", "left \u202e right", "\U0001f600 \u2028 \\u003c <", "", "a\nb\t\"c\""]
KINDS = ["\U0001f600", "\ufb01", "b", "B"]  # in bytewise order the last is the first; UTF-16 has the first two the other way round
random = np.random.default_rng(7)


def batches(n, epochs, name=int):
    """Not every example is observed at every epoch."""
    gold, level, made = random.integers(0, 3, n), random.random(n), []
    for e in range(epochs):
        seen = np.flatnonzero(random.random(n) < 0.9) if e else np.arange(n)
        p = np.clip(level * (e + 1) / epochs + random.normal(0, 0.1, n), 0, 1).astype("f4")[seen]
        made.append(stores.batch(e, seen if name is int else [name(i) for i in seen], p, p > 0.5, gold[seen], weight=random.random(len(seen)).astype("f4")))
    return made


class Document(html.parser.HTMLParser):
    """The file as a browser reads it: its blocks by name, and what it refers to."""

    def __init__(self, path):
        super().__init__()
        self.blocks, self.references, self.meta, self.tags, self.current = {}, [], {}, [], None
        with open(path, encoding="utf-8", newline="") as file:
            self.feed(file.read())
        self.close()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append(tag)
        self.references += [attributes[name] for name in ("src", "href", "action", "data") if name in attributes]
        if "http-equiv" in attributes:
            self.meta[attributes["http-equiv"]] = attributes["content"]
        identifier = attributes.get("id") or ""
        self.current = None
        if tag == "script" and identifier.startswith("file-"):
            self.current = identifier.removeprefix("file-")
            self.blocks[self.current] = ""

    def handle_data(self, data):
        if self.current:
            self.blocks[self.current] += data

    def handle_endtag(self, tag):
        self.current = None

    def json(self, name):
        return json.loads(self.blocks[name])

    def numbers(self, name, kind):
        return np.frombuffer(base64.b64decode(self.blocks[name], validate=True), kind)


class Cli:
    def __init__(self, portolan, store, folder):
        self.portolan, self.store, self.folder = portolan, store, folder

    def run(self, *arguments):
        return subprocess.run([self.portolan, *arguments, "--store", self.store], capture_output=True, text=True,
                              env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})

    def metrics(self, run, *arguments):
        return serving.metrics(self.portolan, self.store, run, *arguments)

    def path(self, name):
        return os.path.join(self.folder, name)

    def draw(self, run, *arguments, name="map.html"):
        """(the file read, what was said on stderr)."""
        made = self.run("map", run, "-o", self.path(name), *arguments)
        check(made.returncode == 0, f"map {arguments}: {made.stderr}")
        return Document(self.path(name)), made.stderr


def same_float(value, told):
    """null is told where there is no value."""
    return np.isnan(value) if told is None else value == told


def check_examples(document, rows, what):
    """Ids, labels and every measure, as `portolan metrics` prints them."""
    view, n = document.json("view"), len(rows)
    check(document.json("about")["examples"] == n, f"{what}: how many examples there are")
    ids = document.json("ids") if view["ids"] == "text" else document.numbers("ids", "<u8").tolist()
    check(ids == [row["id"] for row in rows], f"{what}: ids")
    gold = document.numbers("gold", "<i4").tolist()
    check(gold == [-1 if row["gold"] is None else row["gold"] for row in rows], f"{what}: gold labels")
    names = [column["name"] for column in view["columns"]]
    check(set(names) == set(rows[0]) - {"id", "gold", "label"}, f"{what}: measures {names}")
    for number, name in enumerate(names):
        values = document.numbers(f"measure-{number}", "<f8")
        check(len(values) == n and all(same_float(value, row[name]) for value, row in zip(values, rows)), f"{what}: {name}")


def test_whole(cli, observed):
    document, said = cli.draw("a/b")
    check_examples(document, cli.metrics("a/b"), "whole")
    check("sample" not in said and "without" not in said, f"whole: {said}")
    check(document.json("left-out") is None, "nothing is left out")
    check(document.json("about")["labels"] == LABELS, "labels")
    check(document.json("about")["shown"] == {"x": "variability", "y": "confidence", "colour": "correctness"}, "what is shown at first")
    probabilities = document.numbers("gold-prob", "<f4").reshape(N, EPOCHS)
    correct = np.unpackbits(document.numbers("correct", "u1"), bitorder="little")[: N * EPOCHS].reshape(N, EPOCHS)
    expected, right = np.full((N, EPOCHS), np.nan, "f4"), np.zeros((N, EPOCHS), "u1")
    for one in observed:
        expected[one["ids"], one["epoch"]] = one["gold_prob"]
        right[one["ids"], one["epoch"]] = one["correct"]
    check(np.array_equal(probabilities, expected, equal_nan=True), "p(gold) by epoch")
    check(np.array_equal(correct, right), "correct by epoch")
    view = document.json("view")
    check([view["run"], view["epochs"], view["points"], view["examples"]] == ["a/b", list(range(EPOCHS)), N, N], "the view")
    check(all(len(column["digest"]) == 16 for column in view["columns"]), "digests of the measures")


def test_one_file(cli):
    """It refers to nothing outside, which its policy forbids too."""
    document, _ = cli.draw("a/b")
    check(all(reference.startswith(("data:", "#")) for reference in document.references), f"references {[r[:60] for r in document.references]}")
    policy = document.meta.get("Content-Security-Policy", "")
    check("default-src 'none'" in policy and "http" not in policy, f"policy {policy}")
    check(not {"iframe", "object", "embed", "base", "form"} & set(document.tags), "elements that could load something")
    with open(cli.path("map.html"), encoding="utf-8") as file:
        text = file.read()
    style = re.search(r"<style>(.*?)</style>", text, re.S).group(1)
    check("@import" not in style and "//" not in re.sub(r"/\*.*?\*/", "", style, flags=re.S), "the style refers to nothing")
    check(text.startswith("<!DOCTYPE html>") and text.rstrip().endswith("</html>"), "a whole document")
    first = text
    cli.draw("a/b")
    with open(cli.path("map.html"), encoding="utf-8") as file:
        check(file.read() == first, "the same run gives the same file")


def test_epochs(cli):
    document, _ = cli.draw("a/b", "--epochs", "1:3")
    check_examples(document, cli.metrics("a/b", "--epochs", "1:3"), "epochs 1:3")
    check(document.json("view")["range"] == "1:3" and document.json("view")["epochs"] == [1, 2], "the range of epochs")
    check(len(document.numbers("gold-prob", "<f4")) == 2 * document.json("about")["examples"], "p(gold) of two epochs")


def test_sample(cli):
    document, said = cli.draw("a/b", "--sample", "300", "--seed", "5")
    ids = document.numbers("ids", "<u8").tolist()
    rows = {row["id"]: row for row in cli.metrics("a/b")}
    check(len(ids) == 300 and ids == sorted(set(ids)), "a sample of 300, by ascending id")
    check_examples(document, [rows[i] for i in ids], "sample")
    check("300 of 2,000 examples" in said, f"sample: {said}")
    check(max(ids) - min(ids) > N / 2, "not the first ones")
    check(document.json("view")["points"] == N and document.json("about")["seed"] == 5, "what it is a sample of")
    other, _ = cli.draw("a/b", "--sample", "300", "--seed", "6")
    check(other.numbers("ids", "<u8").tolist() != ids, "another seed, another sample")
    told = json.loads(cli.run("map", "a/b", "-o", cli.path("map.html"), "--sample", "300", "--json").stdout)
    check([told["observed"], told["in_file"], told["left_out"], told["bytes"]] == [N, 300, None, os.path.getsize(cli.path("map.html"))], f"--json {told}")


def test_text_ids(cli):
    document, _ = cli.draw("names")
    check_examples(document, cli.metrics("names"), "text ids")
    check(document.json("view")["ids"] == "text", "ids are texts")


def write_data(cli, texts, name="data.jsonl"):
    path = cli.path(name)
    with open(path, "w", encoding="utf-8") as file:
        for i, text in enumerate(texts):
            file.write(json.dumps({"id": i, "text": text, "kind": KINDS[i % 4], "size": i % 7, "secret": "not asked for"}) + "\n")
    return ["--data", path, "--id-field", "id", "--text", "text"]


def test_texts(cli):
    texts = (TEXTS * N)[: N - 10]
    data = write_data(cli, texts)
    document, _ = cli.draw("a/b", *data)
    check(document.json("texts") == [[text] for text in texts] + [None] * 10, f"texts {document.json('texts')[:6]}")
    check_examples(document, cli.metrics("a/b"), "with texts")
    with open(cli.path("map.html"), encoding="utf-8") as file:
        check("not asked for" not in file.read(), "fields that were not asked for are not in the file")
    check("texts" not in cli.draw("a/b")[0].blocks, "without --data there are no texts")
    document, _ = cli.draw("a/b", *data, "--colour", "kind")
    about = document.json("about")
    check(about["shown"]["colour"] == "data:kind" and about["data_columns"] == [{"name": "kind", "kind": "category", "labels": KINDS, "ranks": [3, 2, 1, 0]}], "a column of categories")
    check(document.numbers("data-0", "<i4").tolist() == [i % 4 for i in range(N - 10)] + [-1] * 10, "its categories")
    document, _ = cli.draw("a/b", *data, "--colour", "size")
    check(np.array_equal(document.numbers("data-0", "<f8"), [i % 7 for i in range(N - 10)] + [np.nan] * 10, equal_nan=True), "a column of numbers")


def test_limit(cli):
    """With p(gold) by epoch, the file has at most 100 MB: one byte more, and it is left out, which is said."""
    texts = ["x" * 985_000] * 100
    document, _ = cli.draw("a/b", *write_data(cli, ["x"] * 100), name="small.html")
    room = MOST - os.path.getsize(cli.path("small.html")) - 100 * (985_000 - 1)
    check(0 < room < 985_000 and "gold-prob" in document.blocks, f"there is room for {room} bytes")
    for more, fits in ((-5000, True), (1, False)):
        document, said = cli.draw("a/b", *write_data(cli, [texts[0] + "x" * (room + more)] + texts[1:]), name="large.html")
        size = os.path.getsize(cli.path("large.html"))
        check(size <= MOST and size > MOST - 100_000, f"the file has {size} bytes")
        check(("gold-prob" in document.blocks) == fits and ("correct" in document.blocks) == fits, f"by epoch, with {more} bytes more")
        left_out = document.json("left-out")
        check(left_out is None if fits else "p(gold) and correctness by epoch" in left_out and left_out in said, f"left out: {left_out}; {said}")
        os.remove(cli.path("large.html"))


def test_usage(cli):
    data = write_data(cli, TEXTS)
    page, picture = ["-o", cli.path("map.html")], ["-o", cli.path("map.png")]
    for arguments in ([*page, "--density"], [*page, "--compact"], [*page, "--script"], [*page, "--beside", "names"], [*page, "--path", "1"],
                      [*page, "--data", data[1]], [*page, "--text", "text"], [*picture, *data]):
        made = cli.run("map", "a/b", *arguments)
        check(made.returncode == 2 and not os.path.exists(cli.path("map.png")), f"{arguments}: {made.returncode} {made.stderr}")
    cli.draw("a/b")
    before = open(cli.path("map.html"), "rb").read()
    for arguments, said in ((["--x", "variabilty"], "did you mean 'variability'"), (["--colour", "nothing"], "nothing"),
                            ([*data[:4], "--text", "txt"], "txt"), (["--y", "aum"], "aum")):
        made = cli.run("map", "a/b", *page, *arguments)
        check(made.returncode == 1 and said in made.stderr, f"{arguments}: {made.returncode} {made.stderr}")
    check(open(cli.path("map.html"), "rb").read() == before, "a failure leaves the file that was there")
    os.rename(data[1], cli.path("data.html"))
    made = cli.run("map", "a/b", "-o", cli.path("data.html"), "--data", cli.path("data.html"), *data[2:])
    check(made.returncode == 2 and os.path.getsize(cli.path("data.html")) < 2000, f"an output that is an input: {made.returncode} {made.stderr}")
    check([name for name in os.listdir(cli.folder) if name.startswith(".")] == [], "no temporary file is left")
    if os.path.exists("/dev/full"):
        os.symlink("/dev/full", cli.path("full.html"))
        made = cli.run("map", "a/b", "-o", cli.path("full.html"))
        check(made.returncode == 1 and "No space left" in made.stderr, f"a full disk: {made.stderr}")


def main():
    portolan, make_store = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        observed = batches(N, EPOCHS)
        store = os.path.join(folder, "store")
        stores.make_store(make_store, store, [stores.run("a/b", observed, declared=N, labels=LABELS),
                                              stores.run("names", batches(300, 3, lambda i: f"n-{i:04d}</script>"))])
        cli = Cli(portolan, store, folder)
        test_whole(cli, observed)
        test_one_file(cli)
        test_epochs(cli)
        test_sample(cli)
        test_text_ids(cli)
        test_texts(cli)
        test_limit(cli)
        test_usage(cli)
    finish()


main()
