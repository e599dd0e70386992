"""Run.log_examples(): texts kept in the store, for the commands that show examples; bounded, private, and removed with the run."""

import json
import os
import re
import signal
import stat
import subprocess
import threading
import time
import urllib.parse
import urllib.request

import numpy as np
import pytest

import portolan
from python_support import PATIENCE, collector_has_left, collectors

PORTOLAN, PORTOLAND = os.environ["PORTOLAN"], os.environ["PORTOLAND"]
N = 300
TEXTS = [f'example {i}, "é" \\ {"entails" if i % 2 else "denies"}\nand on' for i in range(N)]
HYPOTHESES = [f"hypothesis {i % 9}" for i in range(N)]
LABELS = ["entails" if i % 2 else "denies" for i in range(N)]


def portolan_says(*words, status=0):
    done = subprocess.run([PORTOLAN, *map(str, words)], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == status, done.stderr
    return done.stdout


def train(run, ids=range(N), epochs=4):
    rng = np.random.default_rng(3)
    for epoch in range(epochs):
        p = rng.random((N, 1))
        run.log_probs(epoch, list(ids), np.hstack([p, 1 - p]), np.arange(N) % 2)
        run.end_epoch(epoch)


@pytest.fixture
def recorded(store):
    with portolan.Run("nli", store=store, labels=["denies", "entails"]) as run:
        run.log_examples(range(N), text=TEXTS, hypothesis=HYPOTHESES, label=LABELS)
        train(run)
    return store


@pytest.fixture
def data(tmp_path):
    """The same texts in a file, as they are without log_examples."""
    path = tmp_path / "data.jsonl"
    with open(path, "w", encoding="utf-8") as file:
        for i in range(N):
            file.write(json.dumps({"id": i, "text": TEXTS[i], "hypothesis": HYPOTHESES[i], "label": LABELS[i]}, ensure_ascii=False) + "\n")
    return path


def test_show_and_select_say_what_they_say_of_the_file(recorded, data):
    of_store = ("--store", recorded)
    of_file = ("--data", data, "--id-field", "id", "--text", "text,hypothesis,label")
    for more in ((), ("--json",)):
        assert portolan_says("show", "nli", 5, 17, 299, *of_store, *more) == portolan_says("show", "nli", 5, 17, 299, *of_store, *of_file, *more)
    by = ("select", "nli", *of_store, "--by", "ambiguous", "--count", 20, "--no-manifest")
    kept = portolan_says(*by, "--data", "@texts")
    assert [json.loads(line) for line in kept.splitlines()] == [
        json.loads(line) for line in portolan_says(*by, "--data", data, "--id-field", "id").splitlines()]
    assert kept.count("\n") == 20
    assert portolan_says(*by).count("\n") == 20  # without --data: ids, as ever
    assert json.loads(kept.splitlines()[0]).keys() == {"id", "text", "hypothesis", "label"}


def test_data_that_are_given_win(recorded, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("key,words\n5,of the file\n")
    shown = json.loads(portolan_says("show", "nli", 5, "--store", recorded, "--json", "--data", other, "--id-field", "key", "--text", "words"))
    assert shown["examples"][0]["text"] == {"words": "of the file"}


def test_report_says_what_it_says_of_the_file(recorded, data):
    def report(*more):
        text = portolan_says("report", "nli", "--store", recorded, "--json", *more)
        assert "hypothesis" in text and "example " in text
        text = text.replace(str(data), "@texts").replace(f"artifacts --store {recorded} ", "artifacts ").replace("@texts:nli", "@texts")
        page = json.loads(re.sub("xxh128 [0-9a-f]{32}|(?<=\"xxh128\": \")[0-9a-f]{32}", "", text))
        return page["next"], page["sections"], page["commands"]

    kept = report()
    assert "artifacts" in json.dumps(kept[2])  # the words, too, by the field of the label
    assert kept == report("--data", data, "--id-field", "id", "--text", "text,hypothesis,label")


def test_words_are_counted_in_them(recorded, data, tmp_path):
    of = ("--store", recorded, "--text", "text,hypothesis", "--label-field", "label", "--min-count", 5)
    kept = portolan_says("artifacts", "@texts:nli", *of)
    assert kept.count("\n") > 5 and kept == portolan_says("artifacts", data, *of)
    with_run = portolan_says("artifacts", "@texts:nli", *of, "--run", "nli")
    assert with_run == portolan_says("artifacts", data, *of, "--run", "nli", "--id-field", "id")
    portolan_says("upsample", "@texts:nli", *of, "-o", tmp_path / "up.jsonl")
    portolan_says("upsample", data, *of[2:], "-o", tmp_path / "of-file.jsonl")
    ups = [[json.loads(line) for line in (tmp_path / name).read_text().splitlines()] for name in ("up.jsonl", "of-file.jsonl")]
    assert len(ups[0]) >= N and ups[0] == ups[1]
    assert json.loads((tmp_path / "up.jsonl.manifest.json").read_text())["request"]["data"] == "@texts:nli"
    with portolan.Run("plain", store=recorded) as run:
        train(run)
    for word, says in (("@texts", "which run's? @texts:RUN"), ("@texts:", "which run's? @texts:RUN"), ("@texts:nil", "no run 'nil' in store"), ("@texts:plain", "the run keeps no texts")):
        done = subprocess.run([PORTOLAN, "artifacts", word, *map(str, of)], capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1, done


def test_the_commands_of_a_report_can_be_run(recorded, tmp_path):
    page = json.loads(portolan_says("report", "nli", "--store", recorded, "--json"))
    assert any("artifacts" in command["command"] for command in page["commands"])
    environment = {**os.environ, "PATH": f"{os.path.dirname(PORTOLAN)}:{os.environ['PATH']}"}
    for command in page["commands"]:
        done = subprocess.run(command["command"], shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == command["status"], (command, done.stderr)
    words = [json.loads(line)["token"] for line in (tmp_path / "words.jsonl").read_text().splitlines()]
    assert words and all(json.dumps(word) in json.dumps(page["sections"]) for word in words)


def test_a_report_names_no_path_of_the_process_that_made_it(store, tmp_path):
    with portolan.Run("one", store=store) as run:
        run.log_examples(range(N), text=TEXTS, label=["the same"] * N)
        train(run)
    done = subprocess.run([PORTOLAN, "report", "one", "--store", store, "--label-field", "label", "-o", tmp_path / "r.html"],
                          capture_output=True, text=True, timeout=PATIENCE, check=True)
    page = (tmp_path / "r.html").read_text()
    for said in (done.stderr, page):
        assert "every record has the label" in said and "@texts:one" in said and "/proc/" not in said, said


def asker(page):
    """Asks the page for JSON, or None where the answer is still being made."""
    address = urllib.parse.urlsplit(page.url)
    token = urllib.parse.parse_qs(address.query)["token"][0]
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def ask(path):
        request = urllib.request.Request(f"http://{address.netloc}/api/{path}", None, {"Authorization": f"Bearer {token}"})
        with opener.open(request, timeout=PATIENCE) as answer:
            return json.load(answer) if answer.status == 200 else None
    return ask


def test_serve_shows_the_texts(recorded):
    with portolan.serve("nli", store=recorded) as page:
        assert asker(page)("example?run=nli&id=5")["text"] == {"text": TEXTS[5], "hypothesis": HYPOTHESES[5], "label": LABELS[5]}
    with portolan.serve("nli", store=recorded, text="hypothesis") as page:
        assert asker(page)("example?run=nli&id=5")["text"] == {"hypothesis": HYPOTHESES[5]}
    with portolan.serve("nli", store=recorded, text="") as page:  # all of them
        assert len(asker(page)("example?run=nli&id=5")["text"]) == 3
    for options in ({"id_field": "id"}, {"glue": True}, {"data": "a-file.jsonl"}):
        with pytest.raises(ValueError, match="data and id_field go together"):
            portolan.serve("nli", store=recorded, text="hypothesis", **options)


def test_serve_says_which_text_is_not_kept(recorded):
    with portolan.Run("plain", store=recorded) as run:
        train(run)
    for name, text, says in (("nli", "hypothesis", ""), ("nli", "words,hypothesis", "run 'nli' keeps no text 'words' yet (see --text); it keeps: text, hypothesis, label"),
                             ("plain", "hypothesis", "run 'plain' keeps no texts yet, so none are shown: run.log_examples logs them")):
        done = subprocess.run([PORTOLAN, "serve", name, "--store", recorded, "--text", text, "--no-open", "--end-with-stdin"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE, check=True)
        assert done.stderr == (f"portolan: warning: {says}\n" if says else ""), done


def test_serve_shows_a_text_that_comes_later(store):
    with portolan.Run("nli", store=store) as run:
        train(run)
        with portolan.serve(run, text="hypothesis") as page:
            run.log_examples(range(N), text=TEXTS, hypothesis=HYPOTHESES)
            assert run.flush()
            assert asker(page)("example?run=nli&id=5")["text"] == {"hypothesis": HYPOTHESES[5]}


def test_serve_shows_each_run_its_own_texts(recorded):
    with portolan.Run("shuffled", store=recorded) as run:
        train(run)
    with portolan.Run("other", store=recorded) as run:
        run.log_examples(range(N), words=[f"other {i}" for i in range(N)])
        train(run)
    with portolan.serve("nli", store=recorded) as page:
        ask = asker(page)
        assert ask("example?run=shuffled&id=5")["text"] is None
        assert ask("view?run=shuffled")["fields"] == []
        assert ask("example?run=other&id=5")["text"] == {"words": "other 5"}
        assert ask("example?run=nli&id=5")["text"]["text"] == TEXTS[5]
        assert ask("view?run=nli")["fields"] == ["text", "hypothesis", "label"]
        with portolan.Run("late", store=recorded) as run:
            run.log_examples(range(N), text=["late"] * N)
            train(run)
        assert ask("example?run=late&id=5")["text"] == {"text": "late"}
        for run, has_texts in ("shuffled", False), ("nli", True):
            until = time.monotonic() + PATIENCE
            while (made := ask(f"report?run={run}")) is None or "sections" not in json.dumps(made):
                assert time.monotonic() < until, made
                time.sleep(0.1)
            assert ("@texts" in json.dumps(made)) == has_texts, made


def copies_of(page):
    """The nameless files from which the server reads texts."""
    with open(f"/proc/{page._process.pid}/maps", encoding="ascii") as file:
        return {line.split(maxsplit=5)[4] for line in file if re.search(r"/#\d+ \(deleted\)$", line)}


def ask_until(ask, path, expected):
    """Asks as the page does, again and again, until the answer is as expected."""
    until = time.monotonic() + PATIENCE
    while not expected(answer := ask(path)):
        assert time.monotonic() < until, answer
        time.sleep(0.1)
    return answer


def test_serve_sees_texts_as_they_come(store):
    """The page has looked before there are texts, and before these are replaced, by others of the same length too."""
    with portolan.Run("nli", store=store) as run:
        train(run)
        assert run.flush()
        with portolan.serve(run) as page:
            ask = asker(page)
            view = ask("view?run=nli")
            assert view["fields"] == [] and ask("example?run=nli&id=5")["text"] is None
            for text in ("first", "the second", "the other!"):
                run.log_examples(range(N), text=[f"{text} {i}" for i in range(N)])
                assert run.flush()
                ask_until(ask, "example?run=nli&id=5", lambda example, text=text: example["text"] == {"text": f"{text} 5"})
                old, view = view, ask("view?run=nli")
                assert view["version"] != old["version"] and view["fields"] == ["text"]
                assert (view["epochs"], view["points"], view["columns"]) == (old["epochs"], old["points"], old["columns"])
                found = page._ask("api/runs/nli/select", json.dumps({"filters": {"text": {"contains": [f"{text} 29"]}}}))
                assert found["ids"] == [29, *range(290, N)]
            run.log_examples([5], hint=["another field"])
            assert run.flush()
            ask_until(ask, "view?run=nli", lambda view: view["fields"] == ["text", "hint"])
            assert ask("example?run=nli&id=5")["text"] == {"text": None, "hint": "another field"}


def test_serve_copies_texts_once_and_drops_what_nobody_reads(store):
    """Epochs bring no copy. New texts do, and of the old ones no more stay than there are views that show them. A request that reads texts
    meanwhile is answered with one copy's."""
    with portolan.Run("nli", store=store) as run:
        run.log_examples(range(N), text=TEXTS)
        train(run)
        assert run.flush()
        with portolan.serve(run) as page:
            ask = asker(page)
            assert ask("example?run=nli&id=5")["text"] == {"text": TEXTS[5]}
            copies = copies_of(page)
            assert len(copies) == 1
            for epoch in range(4, 8):
                run.log_gold(epoch, range(N), [0.5] * N, [True] * N)
                run.end_epoch(epoch)
                assert run.flush()
                ask_until(ask, "view?run=nli", lambda view, epoch=epoch: epoch in view["epochs"])
                assert ask(f"example?run=nli&id=5&epochs=0:{epoch}")["text"] == {"text": TEXTS[5]}
            assert copies_of(page) == copies
            answers, ended = [], threading.Event()

            def read():
                while not ended.is_set():
                    rows = page._ask(f"api/runs/nli/select?as=rows&most=100&epochs=0:{2 + len(answers) % 5}", '{"filters": {"epochs": {"min": 1}}}')["rows"]
                    answers.append({row["text"]["text"] for row in rows if row["text"]["text"] not in TEXTS})

            readers = [threading.Thread(target=read) for _ in range(3)]
            for reader in readers:
                reader.start()
            for n in range(12):
                run.log_examples(range(N), text=[f"again {n}"] * N)
                assert run.flush()
                ask_until(ask, "example?run=nli&id=5", lambda example, n=n: example["text"] == {"text": f"again {n}"})
            ended.set()
            for reader in readers:
                reader.join()
            assert len(answers) > 20 and all(len(texts) <= 1 for texts in answers) and len(set().union(*answers)) > 3
            assert len(copies_of(page)) <= 7


def test_show_copies_only_what_it_shows(recorded):
    """All texts have 30,000 bytes, and a longer file ends the command."""
    limit = ["prlimit", "--fsize=4096", PORTOLAN, "show", "nli", "5", "--store", recorded]
    done = subprocess.run(limit, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0 and "example 5," in done.stdout, done.stderr


def test_a_report_can_leave_them_out(recorded, tmp_path):
    def report(name, *more):
        done = subprocess.run([PORTOLAN, "report", "nli", "--store", recorded, "-o", tmp_path / name, *more],
                              capture_output=True, text=True, timeout=PATIENCE, check=True)
        return (tmp_path / name).read_text(), done.stderr

    with_texts, says = report("with.html")
    assert "hypothesis 3" in with_texts and "has texts of examples that run 'nli' keeps; --data @none leaves them out" in says
    without, says = report("without.html", "--data", "@none")
    assert "hypothesis" not in without and "entails" in without and "texts of examples" not in says
    assert json.loads(portolan_says("show", "nli", 5, "--store", recorded, "--json", "--data", "@none"))["examples"][0]["text"] is None


def test_suspects_and_groups_take_them_when_asked(recorded):
    listed = portolan_says("suspects", "nli", "--store", recorded, "--data", "@texts", "--text", "text", "--count", 5)
    assert listed.splitlines()[0].split(",")[-1] == "text"
    assert "example " in listed


@pytest.mark.filterwarnings("ignore:the list is weak")
def test_python_names_them(recorded, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    listed = portolan.suspects("nli", data="@texts", text="text", count=5, store=recorded)
    assert listed["text"].tolist() == [TEXTS[i] for i in listed.ids()]
    assert len({"hypothesis", "text"} & set(portolan.suspects("nli", data="@texts", id_field="id", count=5, store=recorded).columns)) == 2
    chosen = portolan.select("nli", by="s2l", count=18, clusters=2, sources="hypothesis", data="@texts", store=recorded)
    assert len({HYPOTHESES[i] for i in chosen.ids()}) == 9, "two of each source"
    portolan.map("nli", data="@texts", text=["hypothesis"], store=recorded).save("map.html")
    assert "hypothesis 3" in (tmp_path / "map.html").read_text()
    assert "map" in portolan.map("nli", data="@texts", colour="hypothesis", store=recorded).save("map.svg")
    portolan.report("nli", data="@none", map=False, store=recorded).save("report.html")
    assert "hypothesis" not in (tmp_path / "report.html").read_text()
    (tmp_path / "@texts").write_text("id,text\n" + "".join(f"{i},of a file\n" for i in range(N)))
    assert set(portolan.suspects("nli", data="./@texts", id_field="id", count=5, store=recorded)["text"]) == {"of a file"}
    with portolan.Run("plain", store=recorded) as run:
        train(run)
    for call in (portolan.suspects, lambda *run, **more: portolan.select(*run, by="s2l", count=9, clusters=2, sources="label", **more)):
        with pytest.raises(portolan.Error, match="data @texts: run 'plain' keeps no texts: run.log_examples logs them"):
            call("plain", data="@texts", store=recorded)
        with pytest.raises(ValueError, match="data is '@none', which is for portolan.serve"):
            call("plain", data="@none", store=recorded)


def test_a_page_in_python_leaves_them_out_when_asked(recorded):
    for data, shown in ((None, "hypothesis 3"), ("@texts", "hypothesis 3"), ("@none", None)):
        with portolan.serve("nli", data=data, store=recorded) as page:
            text = asker(page)("example?run=nli&id=3")["text"]
            assert (text and text["hypothesis"]) == shown, data


def test_runs_and_check_say_so(recorded):
    header, line = portolan_says("runs", "--store", recorded).splitlines()
    assert header.endswith(",kind,texts") and line.endswith(f",{N}")
    assert json.loads(portolan_says("runs", "--store", recorded, "--json"))[0]["texts"]["fields"] == ["text", "hypothesis", "label"]
    assert f"texts: {N} examples" in portolan_says("check", "nli", "--store", recorded)
    assert json.loads(portolan_says("check", "nli", "--store", recorded, "--json"))["texts"]["examples"] == N


def test_a_run_without_texts_is_as_ever(store):
    with portolan.Run("plain", store=store) as run:
        train(run)
    assert portolan_says("runs", "--store", store).splitlines()[0].endswith(",kind")
    assert "texts" not in portolan_says("runs", "--store", store, "--json")
    assert json.loads(portolan_says("show", "plain", 5, "--store", store, "--json"))["examples"][0]["text"] is None
    done = subprocess.run([PORTOLAN, "select", "plain", "--store", store, "--by", "random", "--count", "3", "--data", "@texts"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "run 'plain' keeps no texts" in done.stderr


def test_string_ids(store):
    ids = [f"näme {i}" for i in range(N)]
    with portolan.Run("words", store=store) as run:
        run.log_examples(np.array(ids), text=np.array(TEXTS))
        train(run, ids)
    shown = json.loads(portolan_says("show", "words", "näme 7", "--store", store, "--json"))
    assert shown["examples"][0]["text"] == {"text": TEXTS[7]}


def test_arguments(store):
    with portolan.Run("run", store=store) as run:
        for error, says, ids, fields in (
                (ValueError, "text has 2 texts, ids 3 entries", range(3), {"text": ["a", "b"]}),
                (ValueError, "row 1, id 1: it is not UTF-8, or has a null character", range(2), {"text": ["a", "\0"]}),
                (ValueError, "not valid Unicode", range(1), {"text": ["\ud800"]}),
                (ValueError, "field 'id'", range(1), {"id": ["a"]}),
                (ValueError, "id 0: the example's texts have more than 61440 bytes", range(1), {"text": ["é" * 30000], "more": ["é" * 3000]}),
                (ValueError, "1 to 8 fields", range(1), {f"f{i}": ["a"] for i in range(9)}),
                (ValueError, "1 to 8 fields", range(1), {}),
                (ValueError, "'te.+xt' cannot be a field's name: it has a null character", range(1), {"te\0xt": ["a"]}),
                (TypeError, "text must be a list of strings, one for each id, not str", range(1), {"text": "a"}),
                (TypeError, "text must be a list of strings, one for each id, not dict", range(1), {"text": {"a": "b"}}),
                (TypeError, r"text\[0\] must be a string", range(1), {"text": [None]})):
            with pytest.raises(error, match=says):
                run.log_examples(ids, **fields)
        run.log_examples([], text=[])
        run.log_examples(range(N), ids=TEXTS, self=TEXTS)  # names like any other
        train(run)
    shown = json.loads(portolan_says("show", "run", "7", "--store", store, "--json"))
    assert shown["examples"][0]["text"] == {"ids": TEXTS[7], "self": TEXTS[7]}


def test_the_limit_is_said_and_the_run_goes_on(store, tmp_path, capfd):
    with subprocess.Popen([PORTOLAND, "--store", store, "--listen", f"ipc://{tmp_path}/socket", "--max-texts", "20K"], stderr=subprocess.PIPE) as collector:
        try:
            with portolan.Run("run", endpoint=f"ipc://{tmp_path}/socket") as run:
                run.log_examples(range(N), text=["x" * 10] * N)
                run.log_examples(range(N), more=["x" * 1000] * N)
                train(run)
                assert run.flush()
        finally:
            collector.terminate()
    assert "texts of" in (said := capfd.readouterr().err) and "(portoland --max-texts)" in said
    kept = portolan_says("select", "run", "--store", store, "--by", "random", "--count", N, "--data", "@texts").splitlines()
    refused = sum(json.loads(line)["more"] is None for line in kept)
    assert len(kept) == N and refused > 0
    assert "run: complete" in (said := portolan_says("check", "run", "--store", store)) and f"texts refused: of {refused} examples, which" in said
    for texts in (json.loads(portolan_says("runs", "--store", store, "--json"))[0]["texts"],
                  json.loads(portolan_says("check", "run", "--store", store, "--json"))["texts"]):
        assert texts["examples"] == N and texts["bytes"] <= 20 << 10 and texts["refused"] == refused


def private(path):
    return not stat.S_IMODE(os.stat(path).st_mode) & 0o077


def test_removing_takes_them_away(store):
    secret = "A-TEXT-THAT-NOBODY-MAY-FIND"
    with portolan.Run("run", store=store) as run:
        run.log_examples(range(N), text=[secret] * N)
        train(run)
    assert private(store) and private(store / "data.mdb")
    portolan_says("rm", "run", "--store", store)
    assert portolan_says("runs", "--store", store).count("\n") == 1
    assert collector_has_left(store)
    portolan_says("backup", store.parent / "copy", "--store", store)
    assert secret.encode() not in (store.parent / "copy" / "data.mdb").read_bytes()
    with portolan.Run("run", store=store) as run:
        train(run)
    assert "texts" not in portolan_says("runs", "--store", store, "--json")
    with portolan.Run("run", store=store, overwrite=True) as run:
        run.log_examples(range(N), text=["another"] * N)
        train(run)
    with portolan.Run("run", store=store, if_exists="overwrite") as run:
        train(run)
    assert "texts" not in portolan_says("runs", "--store", store, "--json")


def test_a_backup_has_them(recorded, tmp_path):
    portolan_says("backup", tmp_path / "copy", "--store", recorded)
    assert portolan_says("show", "nli", 5, "--store", tmp_path / "copy") == portolan_says("show", "nli", 5, "--store", recorded)


def test_a_salvage_has_them(recorded, tmp_path):
    assert collector_has_left(recorded)
    portolan_says("salvage", recorded, "-o", tmp_path / "new")
    assert portolan_says("show", "nli", 5, "--store", tmp_path / "new") == portolan_says("show", "nli", 5, "--store", recorded)


def test_a_damaged_text_costs_no_other(recorded, tmp_path):
    whole = [portolan_says("show", "nli", i, "--store", recorded, "--json") for i in (5, 299)]
    assert collector_has_left(recorded)
    file = recorded / "data.mdb"
    file.write_bytes(file.read_bytes().replace(b"example 17, ", b"exbmple 17, "))
    assert "texts of an example: damaged" in portolan_says("check", "nli", "--store", recorded, status=1)
    assert "the texts of the run are not shown" in subprocess.run(
        [PORTOLAN, "show", "nli", "17", "--store", recorded], capture_output=True, text=True, check=True).stderr
    assert portolan_says("show", "nli", 5, "--store", recorded, "--json") == whole[0]
    portolan_says("salvage", recorded, "-o", tmp_path / "new", status=3)
    assert [portolan_says("show", "nli", i, "--store", tmp_path / "new", "--json") for i in (5, 299)] == whole
    assert json.loads(portolan_says("show", "nli", 17, "--store", tmp_path / "new", "--json"))["examples"][0]["text"] is None
    assert json.loads(portolan_says("runs", "--store", tmp_path / "new", "--json"))[0]["texts"]["examples"] == N - 1


def test_what_was_flushed_survives_a_kill(store):
    run = portolan.Run("run", store=store)
    run.log_examples(range(N), text=TEXTS)
    assert run.flush()
    (collector,) = collectors(store)
    os.kill(collector, signal.SIGKILL)
    run.log_examples(range(N), text=[text + " again" for text in TEXTS])
    train(run)
    run.close()
    shown = json.loads(portolan_says("show", "run", 7, "--store", store, "--json"))
    assert shown["examples"][0]["text"] == {"text": TEXTS[7] + " again"}
    assert json.loads(portolan_says("runs", "--store", store, "--json"))[0]["texts"]["examples"] == N


def test_a_kill_right_after_the_flush(store, script):
    program = script("""
        import sys, portolan
        run = portolan.Run("run", store=sys.argv[1])
        run.log_examples(range(300), text=["kept"] * 300)
        run.log_gold(0, range(300), [0.5] * 300, [True] * 300)
        assert run.flush()
        print("flushed", flush=True)
        sys.stdin.read()
        """, store)
    program.wait_for("flushed")
    (collector,) = collectors(store)
    os.kill(collector, signal.SIGKILL)
    program.process.kill()
    program.process.wait()
    shown = json.loads(portolan_says("show", "run", 7, "--store", store, "--json"))
    assert shown["examples"][0]["text"] == {"text": "kept"}


def test_a_spool_brings_them(store, tmp_path):
    with portolan.Run("run", endpoint=f"ipc://{tmp_path}/nobody", spool=tmp_path / "spool", open_timeout=0.05) as run:
        run.log_examples(range(N), text=TEXTS)
        train(run)
    (file,) = (tmp_path / "spool").iterdir()
    for _ in range(2):
        portolan_says("import", file, "--store", store)
    shown = json.loads(portolan_says("show", "run", 7, "--store", store, "--json"))
    assert shown["examples"][0]["text"] == {"text": TEXTS[7]}
    assert json.loads(portolan_says("runs", "--store", store, "--json"))[0]["texts"]["examples"] == N


@pytest.mark.parametrize("observed", [True, False])
def test_an_import_goes_on_without_the_texts_that_are_refused(store, tmp_path, observed):
    with portolan.Run("run", endpoint=f"ipc://{tmp_path}/nobody", spool=tmp_path / "spool", open_timeout=0.05) as run:
        run.log_examples(range(5), text=["kept"] * 5)
        run.end_epoch(0)
        run.log_examples(range(N), text=["x" * 1000] * N)
        if observed:
            train(run)
    (file,) = (tmp_path / "spool").iterdir()
    with subprocess.Popen([PORTOLAND, "--store", store, "--listen", f"ipc://{tmp_path}/socket", "--max-texts", "20K"], stderr=subprocess.PIPE,
                          text=True) as collector:
        try:
            until = time.monotonic() + PATIENCE
            while not (store / "collector.sock").exists():
                assert time.monotonic() < until
                time.sleep(0.01)
            done = [subprocess.run([PORTOLAND, "import", file, "--store", store], capture_output=True, text=True, timeout=PATIENCE)
                    for _ in range(2)]
        finally:
            collector.terminate()
        said = collector.stderr.read()
    refused = int(re.search(r"the texts of (\d+) examples were refused", done[0].stderr).group(1))
    assert 0 < refused <= N and f"kept the texts of {5 + N - refused} examples\n" in done[0].stdout and done[0].returncode == 3
    assert "run 'run': texts of " in said and "(portoland --max-texts)" in said
    assert "texts" not in done[1].stdout + done[1].stderr and done[1].returncode == 0  # all of it has been brought
    assert (f"imported {4 * N} observations" if observed else "imported 0 observations") in done[0].stdout
    texts = json.loads(portolan_says("runs", "--store", store, "--json"))[0]["texts"]
    assert texts["examples"] >= 5 and texts["refused"] == refused  # the second import repeats none


def test_nothing_is_logged_where_recording_is_off(store, monkeypatch):
    monkeypatch.setenv("PORTOLAN_DISABLED", "1")
    with portolan.Run("run", store=store) as run:
        run.log_examples(range(3), text=["a", "b", "c"])
    assert not store.exists()
