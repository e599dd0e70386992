"""portolan report: every number on its page is the one that the command prints which the page names; and what it does where a command cannot answer.

    run_report.py PORTOLAN MAKE_STORE
"""

import base64
import html.parser
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stores
from checks import check, finish
from run_select import xxh128

N, EPOCHS = 600, 6
LABELS = ["yes", "no </script><!--", "may|be`*_"]
TEXTS = ["</script><script>window.attacked = 1</script>", "<img src=x onerror=alert(1)> | `a` *b* [c](http://d)", "left \u202eright\u2066", "a\x07\x1b[31mb\nc\td", "x" * 2000]
random = np.random.default_rng(11)
PORTOLAN = os.path.abspath(sys.argv[1])


def learned(gold, ids, level, epochs=EPOCHS):
    """A run in which the examples of the last class, and those of the source `web`, are learned worse."""
    batches = []
    for e in range(epochs):
        p = np.clip(level * (0.6 + 0.1 * e) + random.normal(0, 0.12, len(ids)), 0, 1).astype("f4")
        margin = (8 * p - 4).astype("f4")
        known = {} if gold is None else {"predicted": np.where(p > 0.5, gold, (gold + 1) % 3)}
        batches.append(stores.batch(e, ids, p, p > 0.5, gold, margin=margin, **known))
    return batches


def mislearned(gold, ids, level):
    """A run in which the model contradicts the first labels, more of them in later epochs."""
    batches = learned(gold, ids, level)
    for e, one in enumerate(batches):
        wrong = np.arange(len(ids)) < 10 + 6 * e
        one["columns"]["margin"] = np.where(wrong, -9, 5).astype("f4")
        one["columns"]["predicted"] = np.where(wrong, (gold + 1) % 3, gold).astype("i4")
    return batches


def memorised(gold, ids, level):
    """A run in which the model contradicts thirty labels at first, and agrees with them at the end."""
    batches = learned(gold, ids, level)
    for e, one in enumerate(batches):
        one["columns"]["margin"] = np.where((np.arange(len(ids)) < 30) & (e < 4), -9, 5).astype("f4")
    return batches


def run(*words, status=0, **options):
    done = subprocess.run([PORTOLAN, *words], capture_output=True, text=True, **options)
    check(done.returncode == status, f"{words}: exit status {done.returncode}, not {status}: {done.stderr}")
    return done


def report(*words, status=0):
    return json.loads(run("report", "--json", *words, status=status).stdout)


def answer(command):
    """What the command line prints, run in a shell as it stands on the page: JSON, a list of JSON lines, or the bytes of its file."""
    line = re.sub(r"^portolan", lambda _: PORTOLAN, command)
    path = re.search(r" -o (\S+)", line)
    done = subprocess.run(["bash", "-c", line], capture_output=True)
    if path and path[1].endswith(".jsonl"):
        with open(path[1], "rb") as file:
            printed = file.read()
        return [json.loads(part) for part in printed.splitlines()], printed
    if "--format jsonl" in line:
        return [json.loads(part) for part in done.stdout.splitlines()], done.stdout
    return json.loads(done.stdout or "null"), done.stdout if not path else b""


def member(answered, path):
    for key in filter(None, path.split(".")):
        answered = answered[int(key)] if isinstance(answered, list) else answered[key]
    return answered


def same(shown, printed):
    """A text may have been cut, and be without characters that are not seen."""
    if isinstance(printed, str) and isinstance(shown, str):
        return shown == printed or "\\u" in shown or shown.endswith("…")
    return shown == printed or str(shown) == str(printed)


def blocks(page):
    yield from ({"kind": "next", **step} for step in page["next"])
    for section in page["sections"]:
        yield from section["blocks"]


def check_numbers(page):
    """Runs each command of the page, and compares. Returns how many numbers were compared."""
    answers = {one["number"]: answer(one["command"]) for one in page["commands"]}
    compared = 0
    for block in blocks(page):
        for path, value in block.get("numbers", {}).items():
            compared += 1
            check(same(value, member(answers[block["from"]][0], path)), f"{block['text'] if 'text' in block else block['alt']}: {path} is {value}")
        if block["kind"] != "table":
            continue
        printed = member(answers[block["from"]][0], block["rows_of"])
        check(block["rows"], f"{block['caption']}: no rows")
        for row in block["rows"]:
            there = {name: value for name, value in row.items() if name != "text"}
            compared += len(there)
            check(any(all(same(value, one.get(name)) for name, value in there.items()) for one in printed), f"{block['caption']}: no such row: {there}")
    for one in page["commands"]:
        printed = answers[one["number"]][1]
        check(not printed or xxh128(printed) == one["xxh128"], f"{one['command']}: its checksum")
    return compared


class Document(html.parser.HTMLParser):
    """A page as a browser reads it: its elements, what it refers to, and whether each element is closed where it is opened."""

    EMPTY = {"meta", "img", "br", "path"}

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.links, self.ids, self.text, self.images = [], [], [], [], "", []
        self.feed(text)
        self.close()
        check(not self.open, f"open at the end of the page: {self.open}")

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.elements.append(tag)
        self.links += [attributes[name] for name in ("href", "src", "data", "action", "poster", "srcset") if name in attributes]
        self.ids += [attributes["id"]] if "id" in attributes else []
        check(not any(name.startswith("on") for name in attributes), f"<{tag}> has a script: {attributes}")
        if tag == "img":
            check(attributes.get("alt"), "a picture without a text in its place")
            self.images.append(attributes["src"])
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.EMPTY:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        check(self.open and self.open[-1] == tag, f"</{tag}> within {self.open}")
        self.open.pop()

    def handle_data(self, data):
        self.text += data if not self.open or self.open[-1] != "style" else ""


def check_html(words, page):
    run("report", *words, "-o", "report.html")
    with open("report.html", encoding="utf-8") as file:
        text = file.read()
    document = Document(text)
    check("script" not in document.elements and "link" not in document.elements, "the page runs no script, and loads no style")
    check(all(link.startswith(("#", "data:image/png;base64,")) for link in document.links), f"the page loads {document.links}")
    check(all(link[1:] in document.ids for link in document.links if link[0] == "#"), "each link leads somewhere on the page")
    check("@import" not in text and "url(" not in text, "the style loads nothing")
    check(len(document.images) == 1 and base64.b64decode(document.images[0].split(",")[1]).startswith(b"\x89PNG"), "the map is in the page")
    check(all(one["command"] in document.text for one in page["commands"] + page["next"]), "the page has each command")
    check(not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f\x7f]", document.text), "no character of a text is invisible")
    check("</script><script>window.attacked" in document.text, "a hostile text is shown as it is")
    check(document.elements.count("h1") == 1 and document.elements.count("caption") == document.elements.count("table"), "headings, and a caption for each table")
    return document


def check_formats(words, page):
    document = check_html(words, page)
    run("report", *words, "-o", "report.json")
    with open("report.json", encoding="utf-8") as file:
        written = json.load(file)
    check({**written, "created": ""} == json.loads(json.dumps({**page, "created": "", "about": written["about"]})), "-o FILE.json is --json")
    run("report", *words, "-o", "report.md")
    with open("report.md", encoding="utf-8") as file:
        markdown = file.read()
    check("](<report.md.map.png>)" in markdown and os.path.getsize("report.md.map.png") > 1000, "Markdown has its map beside it")
    check("<script" not in markdown and "<img" not in markdown, "no text is HTML in Markdown")
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    counts = [len(re.findall(r"(?<!\\)\|", line)) for line in rows]
    check(all(line.endswith("|") for line in rows) and len(set(counts)) > 2, "each row of a table stands in one line")
    text = run("report", *words).stdout
    run("report", *words, "-o", "report.txt")
    with open("report.txt", encoding="utf-8") as file:
        check([line for line in file.read().splitlines() if "xxh128" not in line][2:] == [line for line in text.splitlines() if "xxh128" not in line][2:], "-o FILE.txt is what is printed")
    for section in ["What to do next", *(one["title"] for one in page["sections"])]:
        check(section in text and f"## {section}" in markdown and section in document.text, f"each format has the section '{section}'")
    for block in blocks(page):
        for shown in filter(None, (block.get("caption"), block.get("text"))):
            check(" ".join(shown.split()) in " ".join(text.split()) or "[" in shown, f"the text has: {shown}")


def check_order(page):
    titles = [section["id"] for section in page["sections"]]
    wanted = ["record", "map", "suspects", "hurts", "examples", "epochs", "runs", "words", "done"]
    check(titles == [one for one in wanted if one in titles] and len(page["next"]) == 3, f"the order of the page: {titles}")


def check_suspects(page):
    """Labels that are called wrong, with a command that writes a file of corrections; with flips, how many to expect."""
    section = next(section for section in page["sections"] if section["id"] == "suspects")
    check(section["blocks"][0]["numbers"]["called"] > 0 and section["blocks"][-1]["rows_of"] == "suspects", f"suspects: {section['blocks'][0]}")
    check("How many labels are wrong is not known" in json.dumps(section), "no count without flips")
    check(page["next"][1]["command"].startswith("portolan suspects one --data d.jsonl") and page["next"][1]["command"].endswith(" --corrections corrections.tsv"), f"{page['next'][1]}")
    page = report("one", "--flips", "flips.tsv")
    check_numbers(page)
    section = next(section for section in page["sections"] if section["id"] == "suspects")
    check("wrong labels are to be expected" in json.dumps(section) and "probability" in section["blocks"][-1]["rows"][0], f"with flips: {section['blocks'][:2]}")


def check_weak_suspects():
    """Where many labels may be wrong and none stands out, the step is to read the first, not all."""
    page = report("crowd", "--epochs", ":")
    section = next(section for section in page["sections"] if section["id"] == "suspects")
    check(section["blocks"][0]["numbers"]["called"] > 100, f"a crowd: {section['blocks'][0]}")
    check("may be wrong" in page["next"][1]["text"] and " --count 100 --corrections corrections.tsv" in page["next"][1]["command"], f"{page['next'][1]}")


def check_memorised():
    """Where wrong labels were learned by heart, what the model wavers on is not advised to train on."""
    page = report("memorised", "--data", "d.jsonl", "--id-field", "id")
    said, command = page["next"][1]["text"], page["next"][2]["command"]
    check("by heart" in said and "out of fold" in said and "by heart" in page["next"][2]["text"], f"{page['next']}")
    check(" --by random " in command and command.endswith("--data d.jsonl --id-field id -o subset.jsonl"), command)


def check_refused():
    """What is refused, and what is not written then."""
    before = sorted(os.listdir("."))
    for words, said in ((["one", "-o", "r.docx"], "txt, html, md, json"), (["one", "one"], "named twice"), (["nobody"], "no run 'nobody'"),
                        (["one", "--data", "-", "--id-field", "id"], "must be a file"), (["one", "--text", "t"], "--data"),
                        (["one", "--data", "d.jsonl", "--id-field", "id", "-o", "d.jsonl"], "d.jsonl"),
                        (["one", "--data", "r.md.map.png", "--id-field", "id", "-o", "r.md"], "r.md.map.png"), (["one", "nobody"], "no run 'nobody'"),
                        (["one", "--store", "nowhere"], "no store at 'nowhere'"), (["one", "-o", "no/folder/r.html"], "make it first")):
        if "r.md" in words:
            shutil.copy("d.jsonl", "r.md.map.png")
        done = run("report", *words, status=1 if said.startswith(("no run", "no store", "make it")) else 2)
        check(said in done.stderr and not done.stdout, f"{words}: {done.stderr}")
        if "r.md" in words:
            os.unlink("r.md.map.png")
    check(sorted(os.listdir(".")) == before, "what is refused leaves no file")


def check_wrong_files():
    """A file that no command can use: the report is there, and the commands' words are warnings."""
    done = run("report", "--json", "one", "--data", "d.jsonl", "--id-field", "ident", "--text", "text", "--flips", "d.jsonl")
    for name in ("groups", "show", "suspects"):
        check(f"portolan: warning: portolan {name}: " in done.stderr, f"{name}: {done.stderr}")
    check(len(json.loads(done.stdout)["sections"]) > 5, "the rest of the report")


def check_open_files():
    """A file that the caller has opened, and names by its number, as a shell's <(…) does."""
    with open("flips.tsv") as flips, open("d.jsonl") as data:
        words = ["--data", f"/dev/fd/{data.fileno()}", "--id-field", "id", "--text", "text"]
        done = run("report", "--json", "one", *words, "--flips", f"/dev/fd/{flips.fileno()}", pass_fds=(data.fileno(), flips.fileno()))
    check("warning" not in done.stderr and "wrong labels are to be expected" in done.stdout, f"open files reach the commands: {done.stderr}")


def check_incomplete():
    """Runs that lack something: the report says so, and has the rest."""
    page = report("open")
    check("still being recorded" in page["next"][0]["text"] and page["next"][0]["command"] == "portolan watch open", f"a run that is being recorded: {page['next'][0]}")
    run("report", "open", "--strict", "--json", status=3)
    page = report("unlabelled")
    check(any("no labels" in block.get("text", "") for block in blocks(page)), "a run without labels")
    check_numbers(page)
    page = report("empty")
    check(len(page["next"]) == 1 and [one["id"] for one in page["sections"]] == ["record", "done"], f"a run without observations: {page['next']}")
    page = report("single")
    check(any("every variability is 0" in block.get("text", "") for block in blocks(page)), "a run of one epoch")
    page = report("--", "-odd")
    check(all(one["command"].endswith(" -- -odd") for one in page["commands"]), "a run whose name looks like an option")
    check_numbers(page)
    page = report("gaps")
    check("not whole" in page["next"][0]["text"], f"a run with gaps: {page['next'][0]}")


def check_shown():
    """A run's name cannot change the order of what is shown, and a sentence is not cut as the texts of a table are."""
    texts = [block.get("text", "") + block.get("alt", "") for block in blocks(report("left\u202eright"))]
    check(any("left\\u202eright" in text for text in texts) and not any("\u202e" in text for text in texts), f"a name that turns the order around: {texts[:3]}")
    long = "x" * 230 + ".jsonl"
    shutil.copy("d.jsonl", long)
    page = report("one", "--data", long, "--id-field", "id")
    check(any(block.get("text", "").endswith(f"{page['data_xxh128']}.") for block in blocks(page)), "the checksum of a file with a long name")


def check_advice():
    """Each step's command does what the step says."""
    for words in (["one", "two"], ["one", "wide"], ["one", "--epochs", "1:4"], ["one", "--epochs", "auto"], ["one", "--epochs", "2:3"], ["unlabelled"], ["single"], ["wrong", "--epochs", "2:4"]):
        steps = report(*words)["next"]
        check("random" in steps[2]["command"] if words[1:] == ["--epochs", "2:3"] else True, f"{words}: one epoch ranks nothing by variability: {steps[2]}")
        for step in steps[1:]:
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run(["bash", "-c", re.sub(r"^portolan", lambda _: PORTOLAN, step["command"])], capture_output=True, text=True, cwd=folder,
                                      env=dict(os.environ, PORTOLAN_STORE=os.path.abspath("store")))
                check(done.returncode == 0, f"{step['command']}: {done.stderr}")
                if "corrections.tsv" in step["command"]:
                    with open(os.path.join(folder, "corrections.tsv")) as file:
                        check(len(file.readlines()) - 1 == (100 if "--count 100" in step["command"] else step["numbers"]["called"]) > 0, f"{step['command']} has the labels that are called: {step['text']}")


def check_ids():
    """Ids that no double and no signed number holds."""
    page = report("wide")
    check_numbers(page)
    ids = [int(row["id"]) for block in blocks(page) if block["kind"] == "table" for row in block["rows"] if "id" in row]
    check(ids and min(ids) >= 2**63, f"ids from 2^63 on: {ids[:3]}")


def check_without_gnuplot():
    """Without gnuplot there is no map, and the rest of the page is there."""
    os.mkdir("bin")
    path = dict(os.environ, PATH=os.path.abspath("bin"))
    page = json.loads(run("report", "--json", "one", env=path).stdout)
    section = next(section for section in page["sections"] if section["id"] == "map")
    check("gnuplot" in section["blocks"][0]["text"] and len(page["sections"]) > 5, f"without gnuplot: {section}")


def check_ended():
    """A signal to the report alone ends the commands that it asked, and theirs; no temporary file is left."""
    with open("bin/gnuplot", "w") as file:
        file.write("#!/bin/sh\necho $$ > gnuplot.pid.new && mv gnuplot.pid.new gnuplot.pid\nexec sleep 300\n")
    os.chmod("bin/gnuplot", 0o755)
    for number in (signal.SIGTERM, signal.SIGKILL):
        child = subprocess.Popen([PORTOLAN, "report", "one", "-o", "ended.html"], env=dict(os.environ, PATH=f"{os.path.abspath('bin')}:/usr/bin:/bin"), stderr=subprocess.DEVNULL)
        wait(lambda: os.path.exists("gnuplot.pid"), "a gnuplot that is running")
        with open("gnuplot.pid") as file:
            started = int(file.read())
        child.send_signal(number)
        child.wait()
        wait(lambda: not is_running(started), "the end of gnuplot")
        os.unlink("gnuplot.pid")
        check(not os.path.exists("ended.html"), "no report")
        if number == signal.SIGTERM:
            check(not os.listdir("tmp"), f"left: {os.listdir('tmp')}")
    shutil.rmtree("tmp")  # what SIGKILL leaves
    os.mkdir("tmp")


def is_running(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait(condition, what):
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"waited in vain for {what}")
        time.sleep(0.05)


def check_damage(first):
    """A damaged record is said, and the exit status is 3; a store that cannot be read at all has no report."""
    shutil.copytree("store", "damaged")
    with open("damaged/data.mdb", "r+b") as file:
        places = [found.start() for found in re.finditer(re.escape(first), file.read())]
        check(places, "the values of an epoch are found in the store")
        for place in places:
            file.seek(place)
            file.write(bytes(255 - byte for byte in first[:16]))
    done = run("report", "one", "--store", "damaged", "--json", status=3)
    check("the record of run 'one' is damaged; see the report" in done.stderr, done.stderr)
    page = json.loads(done.stdout)
    check("damaged" in page["next"][0]["text"] and page["next"][0]["command"] == "portolan salvage damaged -o salvaged-store", f"{page['next']}")
    check(any(block["kind"] == "warning" and "damaged" in block["text"] for block in blocks(page)), "damage is a warning")
    with open("damaged/data.mdb", "r+b") as file:
        file.write(b"\xff" * 8192)
    run("report", "one", "--store", "damaged", "-o", "none.html", status=1)
    check(not os.path.exists("none.html"), "no report of a store that cannot be read")


def record(maker):
    """The store and the data; returns bytes that are in a column of the run `one`."""
    gold = random.integers(0, 3, N).astype("i4")
    source = np.where(random.random(N) < 0.4, "web", "book")
    level = np.clip(1.1 - 0.25 * (gold == 2) - 0.35 * (source == "web") - 0.4 * random.random(N), 0, 1)
    ids = np.arange(N)
    one = learned(gold, ids, level)
    first = one[2]["gold_prob"].tobytes()[:64]
    few = slice(0, 60)
    stores.make_store(maker, "store", [
        stores.run("one", one, declared=N, labels=LABELS),
        stores.run("two", learned(gold, ids, level), declared=N, labels=LABELS),
        stores.run("three", learned(gold, ids, level), declared=N, labels=LABELS),
        stores.run("open", learned(gold, ids, level)[:4], ended=False),
        stores.run("unlabelled", learned(None, ids[few], level[few])),
        stores.run("single", learned(gold[few], ids[few], level[few], 1)),
        stores.run("gaps", [*learned(gold, ids, level)[:3], *learned(gold[few], ids[few], level[few])[3:]], declared=N),
        stores.run("-odd", learned(gold[few], ids[few], level[few])),
        stores.run("wide", learned(gold[few], ids[few].astype("u8") + np.uint64(2**63), level[few])),
        stores.run("empty", []),
        stores.run("memorised", memorised(gold, ids, level), declared=N),
        stores.run("crowd", learned(gold, ids, np.where(ids % 4 == 0, 0.5, 1.1)), declared=N),
        stores.run("left\u202eright", learned(gold[few], ids[few], level[few])),
        stores.run("wrong", mislearned(gold, ids, level), labels=LABELS),
    ])
    words = np.array("the a man woman dog park plays sleeps outside".split())
    hardest = np.argsort(level)[:100]
    with open("d.jsonl", "w") as file:
        for i in range(N):
            text = " ".join(random.choice(words, 6)) + (" nobody" if gold[i] == 2 else "")
            text = TEXTS[list(hardest).index(i) % len(TEXTS)] if i in hardest else text
            file.write(json.dumps({"id": i, "text": text, "target": LABELS[gold[i]], "source": str(source[i]), "length": int(10 + 20 * (1 - level[i]))}) + "\n")
    with open("flips.tsv", "w") as file:
        file.writelines(["id\told\tnew\n", *(f"{i}\t{(gold[i] + 1) % 3}\t{gold[i]}\n" for i in hardest[:60])])
    return first


def main():
    maker = os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["PORTOLAN_STORE"] = "store"
        os.environ["TMPDIR"] = os.path.join(folder, "tmp")
        os.mkdir("tmp")
        first = record(maker)
        words = ["one", "two", "three", "--data", "d.jsonl", "--id-field", "id", "--text", "text"]
        page = report(*words)
        check_order(page)
        compared = check_numbers(page)
        check(compared > 200, f"{compared} numbers compared")
        tables = [block["rows_of"] for block in blocks(page) if block["kind"] == "table"]
        check({"classes", "rows", "epochs", "selections", "averages", ""} <= set(tables), f"tables: {tables}")
        check("source" in json.dumps([block for block in blocks(page) if block.get("rows_of") == "rows"]), "the attribute that hurts")
        check("--label-field target" in " ".join(one["command"] for one in page["commands"]), "the field with the labels is found")
        check(any(row["token"] == "nobody" for block in blocks(page) if block["kind"] == "table" for row in block["rows"] if "token" in row), "the word that gives a label away")
        check_suspects(page)
        check_weak_suspects()
        check_memorised()
        check_formats(words, page)
        check_numbers(report("one", "two", "--store", "store", "--epochs", "1:"))
        check_refused()
        check_wrong_files()
        check_open_files()
        check_incomplete()
        check_ids()
        check_shown()
        check_advice()
        check_without_gnuplot()
        check_ended()
        check_damage(first)
        check(not os.listdir("tmp"), "no temporary file is left")
        os.chdir("/")
    finish()


if __name__ == "__main__":
    main()
