"""What portolan writes is never what it reads, nor what it writes elsewhere; the ending of a name decides the format.

    run_outputs.py PORTOLAN MAKE_STORE PORTOLAND

Every output option of every command is given each input of the command, by its own path, a hard link and a symbolic
link. The rows below are compared with the options that `portolan COMMAND --help` shows: a new one without a row fails.
"""

import csv
import fcntl
import json
import os
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stores

PORTOLAN = os.path.abspath(sys.argv[1])

# A command line; its inputs, each with what it needs beside it; its outputs, each with the ending it must have.
STORE = ["store/data.mdb", "store/lock.mdb", "store/portoland.lock"]
CORPUS = "--text t --label-field l"
ROWS = [
    ("report r", ["--data --id-field id", "--flips"], ["-o"]),
    ("runs", [], ["-o"]),
    ("check", [], ["-o"]),
    ("metrics r", [], ["-o", "--state"]),
    ("dynamics r", ["--ids"], ["-o", "--sessions .csv"]),
    ("epochs r", [], ["-o"]),
    ("show r 1", ["--ids", "--data --id-field id"], ["-o"]),
    ("map r", ["--data --colour c", "--colour-file --colour c"], ["-o .png"]),
    ("map", ["--from"], ["-o .png"]),
    ("map r", ["--data --id-field id"], ["-o .html"]),
    ("map r", ["--data --id-field id --colour c", "--highlight"], ["-o .png"]),
    ("map r", ["--corrections"], ["-o .png"]),
    ("map r --frames frames", ["--data --colour c"], ["-o .gif"]),
    ("select r --by ambiguous", ["--only", "--exclude", "--data --id-field id", "--within", "--corrections"], ["-o"]),
    ("select r --by ambiguous --fractions 0.1,0.2", ["--only", "--exclude", "--data --id-field id", "--within", "--corrections"], ["-o"]),
    ("select r --by k-center --count 1", ["--features"], ["-o"]),
    ("select r --by k-center --count 1 --features X.npy", ["--feature-ids"], ["-o"]),
    ("select r --by s2l --sources from --id-field id", ["--sources-data"], ["-o"]),
    ("noise plan r --fraction 0.1", [], ["-o"]),
    ("suspects r", ["--flips", "--data --id-field id"], ["-o", "--corrections .tsv"]),
    ("noise fit r -o model", ["--flips"], ["--plot .svg"]),
    ("noise fit r", ["--flips"], ["-o"]),
    ("noise apply r", ["--model"], ["-o"]),
    ("noise mixture r", [], ["-o", "--plot .svg"]),
    ("noise plan r --method aum", [], ["-o"]),
    ("noise aum r", ["--threshold-samples"], ["-o"]),
    ("noise confident r", [], ["-o"]),
    ("compare r s --early-stopping", [], ["-o", "--plot .svg"]),
    ("compare r s", [], ["-o", "--scatter .svg"]),
    ("triage r --calibration s", [], ["-o"]),
    ("groups r --id-field id", ["--data", "--attributes"], ["-o"]),
    ("groups r s --accuracy --id-field id", ["--data"], ["-o", "--plot .svg"]),
    ("groups r --forgetting", [], ["-o", "--plot .svg"]),
    ("aflite --labels y", ["--features", "--groups --features X", "--exclude --features X", "--data --id-field i --features X"], ["-o", "--log", "--scores", "--removed", "--baseline", "--plot .svg"]),
    ("aflite", ["--scores-of-models"], ["-o", "--log", "--scores", "--removed", "--baseline", "--plot .svg"]),
    ("aflite --features X", ["--labels", "--run r --feature-ids"], ["-o", "--log", "--scores", "--removed", "--baseline", "--plot .svg"]),
    (f"artifacts {CORPUS} --run r --id-field i", ["DATA", "D --stop-words", "D --tokens", "D --statistics"],
     ["-o", "--plot .svg", "--by-epoch", "--plot-epochs .svg", "--summary", "--errors"]),
    (f"artifacts {CORPUS}", ["DATA", "D --tokens"], ["-o", "--max-ppmi"]),
    (f"upsample {CORPUS}", ["DATA"], ["-o"]),
    (f"upsample {CORPUS} -o out", ["DATA", "D --stop-words", "D --tokens"], ["--plot .svg"]),
    ("serve", ["--data --id-field id", "--token-file"], ["--tags"]),
    ("watch r", [], []),
    ("completion bash", [], []),
]

# Options with an argument that is no file, or a folder that is only read: of any command.
NO_FILES = set("""
    port listen epochs threads max-memory store format never never-learned x y colour id-field beside shift path sample seed title by
    fraction count threshold sizes offset both-ends mix with regions before show columns text-pair words replicates level label-field run
    public-url media media-root loss-threshold calibration sigma low steady target-size partitions train-size slice heuristic ties model ridge group-field text min-count max-count prior min-length
    ngrams method set ignore-label after step iterations patience pick max-multiplicity weights interval client styled width font window strata cut c-d clusters starts sources minus minus-epochs tokenized
""".split())
# Directories, and files named after -o: what is written there is looked at by check_derived().
FOLDERS = {"frames", "checkpoint", "fractions"}


def run(*words, status=None, **options):
    done = subprocess.run([PORTOLAN, *map(str, words)], capture_output=True, text=True, **options)
    assert status is None or done.returncode == status, (words, done)
    return done


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def options_of(command):
    """The names of the options in the help, with their arguments."""
    text = run("help", command, status=0).stdout
    return dict(re.findall(r"^  (?:-\w, |    )--([a-z-]+)(?: (\S+))?(?: {2,}\S.*)?$", text, re.M))


def check_rows():
    listed = re.findall(r"^  ([a-z]+)  ", run("help", status=0).stdout, re.M)
    handed_over = {"import", "backup", "salvage", "keygen", "rm"}
    assert {row[0].split()[0] for row in ROWS} == set(listed) - handed_over, listed
    seen = 0
    for command in set(listed) - handed_over:
        named = {"output"} if any("-o" in row[2] or "-o .png" in row[2] for row in ROWS if row[0].split()[0] == command) else set()
        for line, inputs, outputs in ROWS:
            if line.split()[0] == command:
                named |= set(re.findall(r"--([a-z-]+)", " ".join(inputs + outputs)))
        for option, argument in options_of(command).items():
            assert not argument or option in named | NO_FILES | FOLDERS, f"{command} --{option}: no row for it in {__file__}"
            seen += bool(argument)
    assert seen > 100, seen


def refused(words, what, files):
    """Nothing is written; the message names both."""
    before = {name: read(name) for name in files}, sorted(os.listdir("."))
    done = run(*words)
    assert done.returncode == 2 and what in done.stderr and "are the same file" in done.stderr, (words, done)
    assert ({name: read(name) for name in files}, sorted(os.listdir("."))) == before, words


def make_link(source, target, manner):
    if os.path.lexists(target):
        os.unlink(target)
    (os.link if manner == "hard" else os.symlink)(source, target)


def given(text, path):
    """The words of an option in a row: where it names no place for the path, it comes after the option, which is the last."""
    if text == "DATA":
        return [path]
    words = text.split()
    at = max(i for i, word in enumerate(words) if word.startswith("--")) if len(words) < 3 or words[-1].startswith("--") else 0
    return words[:at + 1] + [path] + words[at + 1:]


def check_outputs():
    cases = 0
    for line, inputs, outputs in ROWS:
        for output in outputs:
            option, ending = (output.split() + [""])[:2]
            for manner in ("same", "spelled", "hard", "symbolic"):
                for one in inputs:
                    source, target = "input" + ending, "target" + ending
                    write(source, "what is read\n")
                    if manner == "same" or manner == "spelled":
                        target = source if manner == "same" else os.path.abspath(source)
                    else:
                        make_link(source, target, manner)
                    refused([*line.split(), *given(one, source), option, target], f"{source} and {option} {target}", [source])
                    cases += 1
                if manner in ("hard", "symbolic"):
                    for file in STORE:
                        make_link(file, "stored" + ending, manner)
                        more = given(inputs[0], "other") if inputs else []
                        refused([*line.split(), *more, option, "stored" + ending], f"the store's {file}", [file])
                        cases += 1
            for other in outputs:
                name, its = (other.split() + [""])[:2]
                if other == output or (ending and its and ending != its):
                    continue
                path, more = "twice" + (ending or its), given(inputs[0], "other") if inputs else []
                for spelled in (path, "./" + path):
                    refused([*line.split(), *more, option, path, name, spelled], "give each a name of its own", [])
                    cases += 1
    assert cases > 250, cases
    print(cases, "outputs that are inputs or other outputs: all refused")


def check_derived():
    """Files that no option names: manifests, scripts, the files of --fractions, frames, checkpoints."""
    for name in ("picked.manifest.json", "picked-0.1", "picked-0.1.manifest.json", "shown.gp", "shown.map-data", "drawn.gp",
                 "balanced.manifest.json", "kept.manifest.json", "flips.manifest.json"):
        write(name, "0\n1\n")
    os.makedirs("frames", exist_ok=True)
    write("frames/epoch-000.png", "id,a\n1,1\n")
    os.makedirs("state", exist_ok=True)
    ids = ["select", "r", "--by", "ambiguous", "--only"]
    refused([*ids, "picked.manifest.json", "-o", "picked"], "--only picked.manifest.json and the manifest", ["picked.manifest.json"])
    refused([*ids, "picked-0.1", "--fractions", "0.1,0.2", "-o", "picked"], "--only picked-0.1 and the file", ["picked-0.1"])
    refused([*ids, "picked-0.1.manifest.json", "--fractions", "0.1", "-o", "picked"], "the manifest", ["picked-0.1.manifest.json"])
    refused(["map", "--from", "shown.map-data", "--script", "-o", "shown.png"], "--from shown.map-data", ["shown.map-data"])
    refused(["map", "r", "--data", "shown.gp", "--colour", "c", "--script", "-o", "shown.png"], "--data shown.gp", ["shown.gp"])
    refused(["noise", "fit", "r", "--flips", "drawn.gp", "-o", "model", "--plot", "drawn.svg", "--script"], "--flips drawn.gp",
            ["drawn.gp"])
    refused([*"noise mixture two --format csv --script -o drawn.gp --plot drawn.svg".split()], "-o drawn.gp and the script", ["drawn.gp"])
    refused(["upsample", "balanced.manifest.json", *CORPUS.split(), "-o", "balanced"], "the manifest", ["balanced.manifest.json"])
    refused(["aflite", "--features", "X.npy", "--labels", "kept.manifest.json", "-o", "kept"], "the manifest", ["kept.manifest.json"])
    refused(["aflite", "--features", "X.npy", "--labels", "y", "-o", "kept", "--baseline", "kept.manifest.json"], "the manifest", [])
    refused(["map", "r", "--colour-file", "frames/epoch-000.png", "--colour", "a", "--frames", "frames"], "--data frames/epoch-000.png and", ["frames/epoch-000.png"])
    write("words.txt", "x\n")
    with open("words.txt", encoding="utf-8") as standard_input:  # what is read from standard input is known, too
        done = run("select", "r", "--by", "ambiguous", "--exclude", "-", "-o", "words.txt", stdin=standard_input, status=2)
    assert "--exclude - and -o words.txt are the same file" in done.stderr and read("words.txt") == b"x\n", done
    with open("words.txt", "a", encoding="utf-8") as standard_output:
        done = subprocess.run([PORTOLAN, *"select r --by ambiguous --exclude words.txt".split()], stdout=standard_output,
                              stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2 and read("words.txt") == b"x\n", done
    done = run("aflite", "--features", "X.npy", "--labels", "y", "--log", "-", status=2)
    assert "the result - are the same file" in done.stderr, done
    for words in (["metrics", "r", "-o", "/dev/null"], ["noise", "mixture", "r", "-o", "/dev/null", "--format", "jsonl"]):
        assert "same file" not in run(*words).stderr, words


TABLE = "csv tsv jsonl npy json"


def cells_of(path, ending):
    """The rows of a table, each cell as CSV has it."""
    if ending == "npy":
        table = np.load(path)
        lists = [list(table.dtype.names)] + [list(row) for row in table.tolist()]
        empty = {-1}
    else:
        objects = [json.loads(line) for line in read(path).splitlines()]
        lists = [list(objects[0])] + [list(one.values()) for one in objects]
        empty = {None}
    return [["" if cell in empty or cell != cell else cell if isinstance(cell, str) else float(cell) for cell in row] for row in lists]


def check_same_table(plain, path, ending):
    """Whatever the format, the names and the values are those of the CSV."""
    def number(text):
        try:
            return float(text)
        except ValueError:
            return text
    wanted = [[number(cell) for cell in row] for row in csv.reader(plain.splitlines())]
    got = [[number(cell) if isinstance(cell, str) else cell for cell in row] for row in cells_of(path, ending)]
    assert got == wanted, (path, got[:3], wanted[:3])


def check_formats():
    """The ending decides; what cannot be written, or is not known, is refused, with the list; without an ending the default is taken."""
    commands = {
        "metrics r": ("csv", "csv tsv jsonl npy"), "select r --by ambiguous": ("ids", "csv tsv jsonl npy"),
        "select r --by ambiguous --with-measures": ("csv", "csv tsv jsonl npy"), "compare r s --average": ("csv", "csv tsv jsonl npy"),
        "runs": ("csv", TABLE), "compare r s": ("csv", TABLE), "groups r --forgetting": ("csv", TABLE),
        "check r": ("text", "json"), "suspects r --all": ("csv", TABLE), "noise mixture two": ("csv", "csv tsv jsonl npy"),
    }
    for line, (default, endings) in commands.items():
        words = line.split()
        plain = run(*words).stdout
        assert plain, line
        for ending in ("", ".txt", ".2026", "-0.1", ".of-2026"):
            run(*words, "-o", "formatted" + ending)
            assert read("formatted" + ending).decode() == plain, (line, ending)
            os.unlink("formatted" + ending)
        for ending in ("csv", "jsonl", "json", "npy", "tsv", "parquet", "arrow", "npz", "xlsx", "gz", "xyz", "CSVX", "7z"):
            path = "formatted." + ending
            done = run(*words, "-o", path)
            if ending not in endings.split():
                assert done.returncode == 2 and "cannot write" in done.stderr and endings.split()[0] in done.stderr, (line, path, done)
                assert not os.path.exists(path), path
                continue
            assert done.returncode in (0, 3), (line, path, done)
            if default == "csv" and ending in ("npy", "jsonl"):
                check_same_table(plain, path, ending)
            elif ending == "npy":
                assert len(np.load(path)) > 0, path
            elif ending == "tsv":
                assert read(path).decode() == ("id\n" if default == "ids" else "") + plain.replace(",", "\t"), path
            elif ending == "csv":
                assert read(path).decode() == plain or default == "ids" and read(path).startswith(b"id\n"), path
            else:
                assert all(json.loads(part) for part in (read(path).splitlines() if ending == "jsonl" else [read(path)])), path
            if ending == "json":
                assert read(path).decode() == run(*words, "--json").stdout, (line, "JSON is the report, whoever asks for it")
            os.unlink(path)
        if "csv" in endings.split() and line not in ("runs", "compare r s", "groups r --forgetting"):
            run(*words, "--format", "csv", "-o", "formatted.xyz")  # whoever says which format gives it the name he likes
            assert read("formatted.xyz").decode() == plain or default == "ids", line
            os.unlink("formatted.xyz")
        if "json" not in endings.split():
            assert run(*words, "--json", status=2).stdout == "", line
    for words in ("metrics r --format csv -o x.npy", "select r --by ambiguous --format ids -o x.csv", "runs --json -o x.csv",
                  "compare r s --average --format npy -o x.csv", "metrics r --format aum -o x.jsonl", "check r --json -o x.csv",
                  "noise mixture two --format csv -o x.jsonl", "select r --by ambiguous --join t.tsv --id-field id --format npy -o x.tsv"):
        done = run(*words.split(), status=2)
        assert "by its name" in done.stderr and not os.path.exists(words.split()[-1]), (words, done)
    run(*"metrics r --format cartography -o td_metrics.jsonl".split())
    assert b"guid" in read("td_metrics.jsonl")
    write("t.tsv", "id\ttext\n0\ta\n1\tb\n")
    run(*"select r --by ambiguous --count 1 --join t.tsv --id-field id -o joined.tsv".split())
    assert read("joined.tsv").startswith(b"id\ttext\n")
    run(*"select r --by ambiguous --count 1 --join t.tsv --id-field id -o joined.npy".split())
    assert np.load("joined.npy").dtype == np.dtype("<i8")
    for size in ("", " --fractions 0.1,0.2"):
        done = run(*f"select r --by ambiguous{size} --join t.tsv --id-field id -o joined.csv".split(), status=2)
        assert "by its name, and the lines of t.tsv are tsv" in done.stderr and "portolan help select" in done.stderr, done
    run(*"select r --by ambiguous --join t.tsv --id-field id -o joined.parquet".split(), status=2)
    assert not [name for name in os.listdir(".") if name.startswith("joined") and (".csv" in name or ".parquet" in name)]
    os.rename("t.tsv", "t.data")
    run(*"select r --by ambiguous --count 1 --join t.data --id-field id -o joined.data".split(), status=3)


def check_unknown_endings():
    """Every option of every command that names a file which is written refuses an ending that it does not know, and says which it
    knows; nothing is written."""
    write("own.tsv", "id\tt\tl\n0\ta b\tx\n1\tb\ty\n2\ta\tx\n3\tc a\ty\n")
    np.save("f.npy", np.arange(120.0).reshape(60, 2) % 7)
    write("f.txt", "0\n1\n" * 30)
    own = "own.tsv --text t --label-field l --min-count 1"
    model = "--features f.npy --labels f.txt --partitions 2 --train-size 20"
    pictures, table, report = "png svg pdf", "csv tsv jsonl npy", "csv tsv jsonl npy json"
    cases = [("report r -o", "txt html md json"), ("runs -o", report), ("check -o", "txt json"), ("metrics r -o", table), ("metrics r --include-ci -o", table), ("dynamics r -o", table), ("dynamics r -o d.csv --sessions", table), ("epochs r -o", report),
             ("show r 1 -o", "txt json"), ("map r -o", "png svg pdf gif html"), ("select r --by ambiguous -o", "txt csv tsv jsonl npy"),
             ("select r --by ambiguous --with-measures -o", table), ("select r --by ambiguous --data own.tsv --id-field id -o", "tsv"), ("noise plan r --fraction 0.1 -o", "tsv"), ("suspects r -o", report), ("suspects r --corrections", "tsv"),
             ("noise plan r --method aum -o", "tsv"), ("noise fit r --flips flips.tsv -o", "json"), ("noise fit r --flips flips.tsv -o model --plot", pictures), ("noise mixture r -o", table), ("noise mixture r --plot", pictures),
             ("noise confident r -o", table), ("compare r s -o", report), ("triage r --calibration s -o", report), ("compare r s --average -o", table), ("compare r --early-stopping --plot", pictures), ("compare r s --scatter", pictures),
             ("groups r --forgetting -o", report), ("groups r --forgetting --plot", pictures), ("groups r --accuracy --plot", pictures), (f"aflite {model} -o", "txt"), (f"aflite {model} -o kept --removed", "txt"),
             (f"aflite {model} -o kept --baseline", "txt"), (f"aflite {model} -o kept --log", table), (f"aflite {model} -o kept --scores", table), (f"aflite {model} -o kept --plot", pictures),
             (f"artifacts {own} -o", table), (f"artifacts {own} --plot", pictures), (f"artifacts {own} --max-ppmi", table), (f"artifacts {own} --run r --id-field id --by-epoch", table), (f"artifacts {own} --run r --id-field id --summary", table),
             (f"artifacts {own} --run r --id-field id --errors", table), ("groups r s --accuracy -o", report),
             (f"artifacts {own} --run r --id-field id --plot-epochs", pictures), (f"upsample {own} -o", "tsv"), (f"upsample {own} --weights count -o", "txt"), (f"upsample {own} -o up --plot", pictures), ("serve --tags", "jsonl")]
    tried = {(line.split()[0], line.split()[-1]) for line, _ in cases}
    tried.add(("metrics", "--state"))  # a file for portolan alone, whose name ends as its user likes
    for line, _, outputs in ROWS:
        assert {(line.split()[0], output.split()[0]) for output in outputs} <= tried, line
    before = sorted(os.listdir("."))
    for line, endings in cases:
        done = run(*line.split(), "m.xyz", status=2)
        assert "xyz" in done.stderr and not [e for e in endings.split() if e not in done.stderr.partition("xyz")[2]], (line, done)
        assert sorted(os.listdir(".")) == before, line
    temporary = subprocess.run(["mktemp", "-p", "."], capture_output=True, text=True, check=True).stdout.strip()
    run("metrics", "r", "-o", temporary, status=0)
    assert read(temporary) == run("metrics", "r").stdout.encode()
    os.unlink(temporary)
    for name in ("tmp.xyz", "tmp.abcde.json"):
        assert "cannot write" in run("metrics", "r", "-o", name, status=2).stderr


def check_small():
    for words in ("select r --by ambiguous --count 0", "select r --by ambiguous --fraction 0", "select r --by ambiguous --fractions 0,0.1 -o x",
                  "noise plan r --fraction 0 -o -", "noise mixture r --count 0", "noise mixture r --fraction 0"):
        assert "number" in run(*words.split(), status=2).stderr, words
    assert "warning" in run("metrics", "r").stderr
    for quiet in ("-q", "--quiet"):
        done = run("metrics", "r", quiet, status=0)
        assert done.stderr == "" and done.stdout == run("metrics", "r").stdout, done
    assert run("metrics", "nobody", "-q", status=1).stderr
    assert "--max-memory 10K: say a size of at least 16M" in run("metrics", "r", "--max-memory", "10K", status=2).stderr


def said_on_terminal(*words, directory="."):
    """Its status, and what it says on a terminal that is its standard error alone."""
    terminal, end = os.openpty()
    with subprocess.Popen([PORTOLAN, *words], stdout=subprocess.PIPE, stderr=end, stdin=subprocess.DEVNULL, cwd=directory) as child:
        os.close(end)
        said = b""
        while True:
            try:
                said += os.read(terminal, 4096)
            except OSError:  # the program has closed its end
                break
        child.stdout.read()
    os.close(terminal)
    return child.returncode, said.decode()


def check_quiet(collector, maker):
    """With -q no command says anything but its errors, on a terminal neither: no warning, no count, no bar of progress."""
    ids = list(range(60))
    runs = [stores.run(name, [stores.batch(e, ids, [((i * 7 + e * e) % 10) / 10 for i in ids], [(i * 7 + e * e) % 10 > 4 for i in ids], [i % 2 for i in ids],
                                           margin=[(i * 7 + e * e) % 10 - 5 for i in ids], max_prob=[0.9] * 60, predicted=[(i * 3 + e) % 2 for i in ids]) for e in range(4)], declared=70, labels=("a", "b"))
            for name in ("one", "two", "gone")]
    houses = {"task_loss": [1.0] * 60, "prediction": [i % 7 for i in ids], "target": [i % 5 for i in ids]}
    runs.append(stores.run("houses", [stores.batch(e, ids, [0.0] * 60, [False] * 60, **houses) for e in range(4)], declared=70))
    os.mkdir("quiet")
    stores.make_store(maker, "quiet/store", runs)
    write("quiet/own.tsv", "id\tt\tl\tg\n" + "".join(f"{i}\tw{i % 3} v{i % 2}\t{'ab'[i % 2]}\t{i % 5}\n" for i in ids[:-1]))
    write("quiet/flips.tsv", "id\told\tnew\n" + "".join(f"{i}\t{1 - i % 2}\t{i % 2}\n" for i in ids[:20]))
    write("quiet/f.txt", "0\n1\n" * 30)
    np.save("quiet/f.npy", np.arange(120.0).reshape(60, 2) % 7)
    os.mkdir("quiet/td")
    for epoch in range(2):
        write(f"quiet/td/dynamics_epoch_{epoch}.jsonl", "".join(json.dumps({"guid": i, f"logits_epoch_{epoch}": [0, i], "gold": (i + epoch) % 2}) + "\n" for i in range(9)))
    corpus = "own.tsv --text t --label-field l --min-count 1"
    lines = ["report one two -o r.html", "report one --data own.tsv --id-field id --text t -o r.md", "runs", "check one", "check", "metrics one -o m.csv", "metrics one --epochs auto", "metrics one --format aum", "dynamics one -o d.npy", "show one 1 2 99", "epochs one",
             "map one -o m.png --script", "map one -o m.html --sample 20", "map one --frames frames", "map one -o g.gif", "select one --by ambiguous -o ids.txt", "select one --by random --count 3 --data own.tsv --id-field id",
             "suspects one --data own.tsv --id-field id --corrections c.tsv", "noise plan one --fraction 0.1 -o plan.tsv", "noise fit two --flips flips.tsv -o model --plot fit.svg", "noise apply one --model model", "noise mixture one", "noise plan one --method aum -o samples.tsv",
             "noise confident one --suspects", "triage houses --calibration houses", "compare one two", "compare one two --average", "compare one --early-stopping --plot early.svg", "groups one --data own.tsv --id-field id", "groups one --forgetting",
             "aflite --features f.npy --labels f.txt --partitions 2 --train-size 20 --plot phases.svg -o kept", f"artifacts {corpus} -o stats.tsv", f"artifacts {corpus} --run one --id-field id --by-epoch e.csv",
             f"upsample {corpus} -o up.tsv", "watch one --once", "completion bash", "import td --run td", "backup copy", "salvage copy -o salvaged", "keygen keys", "rm gone -y"]
    listed = set(re.findall(r"^  ([a-z]+)  ", run("help", status=0).stdout, re.M))
    assert {line.split()[0] for line in lines} == listed - {"serve"}, listed
    os.environ.update(PORTOLAND=collector)
    talkative = set()
    shutil.copytree("quiet", "talkative")
    for line in lines:
        status, said = said_on_terminal(*line.split(), directory="talkative")
        assert status in (0, 3), (line, status, said)
        talkative |= {line.split()[0]} if said else set()
    for line in lines:
        status, said = said_on_terminal(*line.split(), "-q", directory="quiet")
        assert status in (0, 3) and said == "", (line, status, said)
    assert talkative >= {"metrics", "map", "select", "noise", "groups", "aflite", "upsample", "compare"}, talkative
    with subprocess.Popen([PORTOLAN, "serve", "-q", "--no-open", "--store", "quiet/store"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as page:
        assert page.stdout.readline().startswith("http://")
        page.terminate()
        assert page.communicate() == ("", "") and page.returncode == 0


END = b"\0"


def on_terminal(answer, *words, size=None):
    """Its status and what it said, with a terminal as its standard streams, of a size in lines and columns."""
    terminal, its_end = os.openpty()
    if size:
        fcntl.ioctl(its_end, termios.TIOCSWINSZ, struct.pack("4H", *size, 0, 0))
    child = os.fork()
    if child == 0:
        os.close(terminal)
        os.login_tty(its_end)
        os.execv(PORTOLAN, [PORTOLAN, *words])
    os.write(terminal, answer)
    text, ended = b"", None
    # Held open here, the terminal loses nothing when the program ends; what is written here then comes after all it wrote.
    while not text.endswith(END):
        if select.select([terminal], [], [], 0.05)[0]:
            text += os.read(terminal, 4096)
        elif ended is None and (done := os.waitpid(child, os.WNOHANG))[0]:
            ended = os.waitstatus_to_exitcode(done[1])
            os.write(its_end, END)
    os.close(its_end)
    os.close(terminal)
    return ended, text.removesuffix(END).decode()


def check_removal():
    """On a terminal it asks; the word that hands over is a stand-in for portoland."""
    write("portoland", '#!/bin/sh\nfor word in "$@"; do echo "got: $word"; done\nexit 3\n')
    os.chmod("portoland", 0o755)
    os.environ["PORTOLAND"] = os.path.abspath("portoland")
    for answer, words, status, got in ((b"n\n", ["r"], 1, False), (b"\n", ["r"], 1, False), (b"y\n", ["r"], 3, True), (b"", ["r", "--yes"], 3, True)):
        done, text = on_terminal(answer, "rm", *words)
        assert done == status and ("got: r" in text) == got and ("[y/N]" in text) == ("--yes" not in words), (words, answer, done, text)
    assert run("rm", "r", "--store", "there", "-y", stdin=subprocess.DEVNULL, status=3).stdout == "got: rm\ngot: --store\ngot: there\ngot: r\n"
    assert run("rm", "--", "-r", stdin=subprocess.DEVNULL, status=3).stdout == "got: rm\ngot: --\ngot: -r\n"
    run("rm", stdin=subprocess.DEVNULL, status=2)


def check_terminal():
    """A table for people has aligned columns, with short numbers; where it goes elsewhere, and with -o -, it is CSV."""
    done, text = on_terminal(b"", "runs")
    lines = text.splitlines()
    assert done == 0 and lines[0].split() == "name examples epochs observations state mode created kind".split(), text
    assert [line.split()[:5] for line in lines[1:]] == [["many", "3,000", "2", "6,000", "closed"], ["r", "4", "3", "12", "closed"], ["s", "4", "3", "12", "closed"], ["two", "20", "2", "40", "closed"]], text
    assert len({line.index("closed") for line in lines[1:]}) == 1 and lines[0].index("examples") + 8 == lines[2].index("4") + 1, text
    done, text = on_terminal(b"", "groups", "r", "--forgetting")
    assert done == 0 and "," not in text.splitlines()[0] and "1.000" in text, text
    done, text = on_terminal(b"", "metrics", "two")
    lines = text.splitlines()
    assert done == 0 and lines[0].split()[:4] == ["id", "gold", "epochs", "confidence"] and len(lines) >= 21, text  # 20 rows, and warnings
    assert lines[1].split()[:5] == ["0", "-", "2", "0.110", "0.010"], text
    done, text = on_terminal(b"", "metrics", "many")
    lines = text.splitlines()
    assert [line.split()[0] for line in lines[1:22]] == [*map(str, range(10)), "…", *map(str, range(2990, 3000))], text
    assert "the first and the last 10 of 3,000 examples" in text, text
    done, text = on_terminal(b"", "select", "two", "--by", "ambiguous", "--count", "3", "--with-measures")
    assert done == 0 and len(text.splitlines()) == 4 and "," not in text.splitlines()[0], text
    for words in (["metrics", "two", "--format", "csv"], ["select", "two", "--by", "ambiguous", "--with-measures", "-o", "-"]):
        assert on_terminal(b"", *words)[1].splitlines()[0].startswith("id,gold,epochs"), words
    done, text = on_terminal(b"", "metrics", "many", size=(24, 40))  # where rows are left out, columns that do not fit are counted
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("  0 "))
    shown, left_out = len(lines[first].split()), int(lines[first + 21].split()[0])
    assert max(map(len, lines[:first + 21])) <= 40 and "more columns" in lines[first + 21], text
    assert shown + left_out == len(run("metrics", "many").stdout.splitlines()[0].split(",")), text
    for action in (["mixture", "two"], ["apply", "two", "--model", "model.json"]):
        write("model.json", json.dumps({"kind": "portolan noise model", "version": 1, "feature": "confidence", "weight": -9.5, "intercept": 4.25}))
        done, text = on_terminal(b"", "noise", *action, "--count", "3")
        rows = [line.split() for line in text.splitlines() if line.startswith("  ")]
        assert done in (0, 3) and len(rows) == 4 and rows[0] == ["id", "score"] and all(re.fullmatch(r"\d\.\d{3}", row[1]) for row in rows[1:]), text
        assert "id,score\r\n" in on_terminal(b"", "noise", *action, "--count", "3", "--format", "csv")[1]
    check_excerpts()
    write("own.tsv", "id\tt\tl\n0\ta b\tx\n1\tb\ty\n2\ta\tx\n3\tc a\ty\n")
    words = ["artifacts", "own.tsv", "--text", "t", "--label-field", "l", "--min-count", "1", "--stop-words", "none"]
    done, text = on_terminal(b"", *words)
    assert done == 0 and "\t" not in text and text.splitlines()[0].split()[:5] == ["token", "n", "label", "p_star", "z_star"] and "0.667" in text, text
    assert on_terminal(b"", *words, "-o", "-")[1].startswith("token\tn\tlabel\t") and run(*words).stdout.startswith("token\tn\t")
    done, text = on_terminal(b"", "check", "r")  # its lines fit
    assert done == 3 and "changed labels" in text and max(map(len, text.splitlines())) <= 80, text
    done, text = on_terminal(b"", "runs", "-o", "-")
    assert done == 0 and text.splitlines()[0] == "name,examples,epochs,observations,state,mode,created,kind", text


def check_excerpts():
    """On a terminal long lists show their ends and a count; a number that was asked for, and a pipe, get every row."""
    write("tokens.tsv", "t\tl\n" + "".join(f"word{chr(97 + i // 26)}{chr(97 + i % 26)}\t{'xy'[i % 2]}\n" for i in range(60)))
    write("lines.csv", "id,t\n" + "".join(f"{i},x\n" for i in range(3000)))
    for words in (["select", "many", "--by", "ambiguous"], ["select", "many", "--by", "ambiguous", "--data", "lines.csv", "--id-field", "id"]):
        done, text = on_terminal(b"", *words)  # what is no table is for other programs, which a terminal may stand between
        assert done == 0 and text.replace("\r", "") == run(*words).stdout.replace("\r", ""), (words, text)
    for words, count, what in ((["select", "many", "--by", "ambiguous", "--with-measures"], 3000, "examples"),
                               (["noise", "apply", "many", "--model", "model.json"], 3000, "examples"),
                               (["artifacts", "tokens.tsv", "--text", "t", "--label-field", "l", "--min-count", "1", "--stop-words", "none"], 60, "tokens")):
        ids = [re.split("[,\t]", line)[0] for line in run(*words).stdout.splitlines()][-count:]
        done, text = on_terminal(b"", *words)
        first = [re.split("[,\\s]", line.strip())[0] for line in text.splitlines() if not line.startswith("portolan: ")]
        assert done in (0, 3) and first[-21:] == [*ids[:10], "…", *ids[-10:]] and len(first) <= 22, (words, text)
        assert f"the first and the last 10 of {count:,} {what}; -o FILE has all" in text, (words, text)
        assert all(len(line) <= 80 for line in text.splitlines() if line.startswith("portolan: ")), (words, text)
        done, text = on_terminal(b"", *words, "--count", "30")
        first = [re.split("[,\\s]", line.strip())[0] for line in text.splitlines() if not line.startswith("portolan: ")]
        assert first[-30:] == ids[:30] and "…" not in first and "the last 10" not in text, (words, text)
    done, text = on_terminal(b"", "compare", "r", "s", "--average")
    assert done in (0, 3) and text.splitlines()[0].split()[:3] == ["id", "gold", "epochs"], text
    assert "id,gold,epochs" in on_terminal(b"", "compare", "r", "s", "--average", "--format", "csv")[1]
    write("wanted.txt", "2999\n7\n")  # these two come out of their order, and are gathered
    for words, count in ((["dynamics", "many"], 6000), (["dynamics", "two", "--columns", "correct"], 40), (["dynamics", "many", "--ids", "wanted.txt"], 4)):
        rows = [line.split(",")[:2] for line in run(*words).stdout.splitlines()]
        done, text = on_terminal(b"", *words)
        lines = text.splitlines()
        first = next(i for i, line in enumerate(lines) if line.split()[:1] == rows[1][:1])
        shown = rows[1:] if count <= 21 else [*rows[1:11], ["…"], *rows[-10:]]
        assert done == 0 and len(rows) == count + 1 and [line.split()[:2] for line in lines[first:first + len(shown)]] == shown, (words, text)
        assert (f"the first and the last 10 of {count:,} observations; -o FILE has all" in text) == (count > 21), (words, text)
        assert on_terminal(b"", *words, "-o", "-")[1].startswith("id,epoch,"), words


def check_narrow_terminal(maker):
    """At 80 columns every column is seen: long headings in several lines, columns without room in a block below, which begins with what
    a row is about; a text that is the same in all rows stands above."""
    numbers = [stores.batch(e, range(8), [0.1 * i + e / 20 for i in range(8)], [0, 1] * 4, [0, 1, 2, 0] * 2, margin=[0.5 - e] * 8) for e in range(3)]
    runs = [f"a/run/of/some/length/{i}" for i in range(3)]
    stores.make_store(maker, "wide", [stores.run(name, numbers, labels=["one", "another", "the third"]) for name in runs])
    write("wide.tsv", "id\tplace\tsort\tt\tl\n" + "".join(f"{i}\there {i % 2}\tcommon\ta {'b' * (i % 2)}\t{'xy'[i % 2]}\n" for i in range(8)))
    own = ["--data", "wide.tsv", "--id-field", "id", "--store", "wide", "--replicates", "20"]
    tokens = ["wide.tsv", "--text", "t", "--label-field", "l", "--min-count", "1", "--stop-words", "none", "--run", runs[0], "--id-field", "id", "--store", "wide"]
    for words, above, keys in ((["groups", runs[0], *own, "--columns", "place"], {"attribute": "place"}, {"value", "gold"}),
                               (["groups", runs[0], *own, "--columns", "place,sort"], {}, {"attribute", "value", "gold"}),
                               (["compare", *runs, "--show", "selection", "--store", "wide"], {"rule": "ambiguous"}, {"run_a", "run_b"}),
                               (["compare", *runs[:2], "--show", "selection", "--store", "wide"], {"run_a": runs[0], "run_b": runs[1], "rule": "ambiguous"}, set()),
                               (["compare", *runs[:2], "--store", "wide"], {"run_a": runs[0], "run_b": runs[1]}, {"measure"}),
                               (["artifacts", *tokens], {}, {"token"}), (["select", runs[0], "--by", "ambiguous", "--count", "4", "--with-measures", "--store", "wide"], {}, {"id"})):
        whole = run(*words).stdout.splitlines()
        columns = re.split("[,\t]", whole[0])
        if words[0] == "groups":
            columns.remove("label")  # for people it takes the place of the number
        done, text = on_terminal(b"", *words, size=(24, 80))
        table, said = text.replace("\r", "").partition("portolan: ")[0], {}
        for line in table.splitlines():
            assert len(line) <= 80 and line == line.rstrip() and "more column" not in line, (words, line)
            if match := re.match(r"  (\w+): (.*)", line):
                said[match[1]] = match[2]
        assert done in (0, 3) and said == above, (words, said, text)
        blocks = re.sub(r"^  \w+: .*\n", "", table, flags=re.M).rstrip("\n").split("\n\n")
        heads, shown = [], 0
        for block in blocks:
            lines = block.split("\n")
            head, body = lines[:1 - len(whole)], lines[1 - len(whole):]
            assert len(head) <= 3 and len(body) == len(whole) - 1, (words, block)
            heads += re.findall(r"\w+", " ".join(head))
            shown += len(re.findall(r"\S+(?: \S+)*", body[0]))
        assert shown == len(columns) - len(above) + (len(blocks) - 1) * len(keys), (words, shown, text)
        wanted = [name for name in columns if name not in above] + [*keys] * (len(blocks) - 1)
        assert sorted("_".join(heads).split("_")) == sorted("_".join(wanted).split("_")), (words, heads, text)
        wide = on_terminal(b"", *words, size=(24, 500))[1].splitlines()
        assert wide[0].split() == columns, (words, wide)


def check_cut_texts(maker):
    """A text that has no room loses its middle and says so; a wider terminal, and a pipe, have all of it."""
    ids = [f"train-{i}-" + "of-a-file-" * 10 for i in range(30)]
    batches = [stores.batch(e, ids, [0.5] * 30, [e % 2] * 30) for e in range(130)]
    stores.make_store(maker, "cut", [stores.run("cut", batches)])
    for words, cut in ((["metrics", "cut"], ["train-0-of-"]), (["dynamics", "cut"], ["train-0-of-"]),
                       (["show", "cut", ids[0]], ["id: train-0-of-", "p(gold): ", "✗✓✗✓"]), (["show", "cut", *ids[:2]], ["train-0-of-", "train-1-of-"])):
        text = on_terminal(b"", *words, "--store", "cut", size=(24, 80))[1].replace("\r", "")
        lines = [line for line in text.splitlines() if not line.startswith("portolan: ")]
        assert max(map(len, lines)) <= 80, (words, text)
        for begin in cut:
            assert any(begin in line and "…" in line for line in lines), (words, begin, text)
        whole = on_terminal(b"", *words, "--store", "cut", size=(24, 900))[1]
        assert ids[0] in whole and not re.search(r"\w…", whole), (words, whole)
        assert ids[0] in run(*words, "--store", "cut").stdout, words
    assert "▅" * 130 in run("show", "cut", ids[0], "--store", "cut").stdout
    wide = [f"{i:02}-" + "例文" * 20 + f"é-{i:02}" for i in range(12)]  # two columns a character
    stores.make_store(maker, "characters", [stores.run("wide", [stores.batch(0, wide, [0.5] * 12, [1] * 12)])])
    rows = [line for line in on_terminal(b"", "metrics", "wide", "--store", "characters", size=(24, 80))[1].splitlines() if re.match(r"  \d\d-.*…", line)][:12]  # of the first block
    assert [(row.split()[0][:2], row.split()[0][-4:]) for row in rows] == [(f"{i:02}", f"é-{i:02}") for i in range(12)], rows
    columns = [sum(2 if character in "例文" else 1 for character in row.rstrip()) for row in rows]
    assert 60 <= min(columns) == max(columns) <= 80, columns


def check_styles():
    """Colour on a terminal alone, unless $NO_COLOR, --styled or the terminal's kind say otherwise; never in a file."""
    os.environ["TERM"] = "xterm"
    del os.environ["NO_COLOR"]
    escape = "\x1b["
    for words, variables, is_styled in ((["runs"], {}, True), (["runs"], {"NO_COLOR": "1"}, False), (["runs"], {"NO_COLOR": ""}, True),
                                        (["runs"], {"TERM": "dumb"}, False), (["runs", "--styled", "never"], {}, False),
                                        (["runs", "--styled=always"], {"NO_COLOR": "1"}, True), (["--styled", "never", "metrics", "nobody"], {}, False),
                                        (["metrics", "nobody"], {}, True), (["metrics", "r", "-o", "written.csv"], {}, True)):
        before = dict(os.environ)
        os.environ.update(variables)
        text = on_terminal(b"", *words)[1]
        os.environ.clear()
        os.environ.update(before)
        assert (escape in text) == is_styled, (words, variables, text)
    assert escape not in read("written.csv").decode() and escape not in run("runs").stdout
    done = run("--styled", "always", "metrics", "nobody", status=1)
    assert done.stderr.startswith(escape), done
    assert escape not in run("runs", "--styled", "always", "-o", "written.csv", status=0).stdout + read("written.csv").decode()
    make_hostile = on_terminal(b"", "runs", "--store", "a" + chr(27) + "[31mb")[1]
    assert escape + "31mb" not in make_hostile, make_hostile
    os.environ["NO_COLOR"] = "1"


def check_last_screen():
    """watch leaves lines free below its last screen, so that its head stays above the prompt; and fills the rest."""
    for lines, columns in ((24, 80), (60, 200)):
        status, text = on_terminal(b"", "watch", "many", "--once", size=(lines, columns))
        shown = re.sub(r"\x1b\[[?0-9]*[a-zA-Z]", "", text).replace("\r", "").split("\n")
        assert status == 0 and len(shown) == lines - 3 and "closed  many" in shown[0] and "0  variability" in shown[-2], text
        assert max(map(len, shown)) <= columns and len(shown[-2]) > columns - 5 and not any("…" in line for line in shown), text


def check_closing_line():
    """What was written, where: to people, once, and not if they asked for quiet."""
    for words, line in ((["metrics", "r", "-o", "one.csv"], "wrote one.csv ("), (["metrics", "r", "-o", "one.csv", "-q"], ""),
                        (["select", "r", "--by", "ambiguous", "-o", "ids"], "wrote ids (8 bytes) and ids.manifest.json ("),
                        (["select", "r", "--by", "ambiguous", "--fractions", "0.3,0.5,1", "-o", "some"], " and 2 more"), (["runs"], "")):
        text = on_terminal(b"", *words)[1]
        assert line in text and text.count("wrote") == bool(line), (words, text)
    assert "wrote" not in run("metrics", "r", "-o", "one.csv").stderr
    shutil.copytree("store", "short-lived")
    for words, line in ((["rm", "r", "-y"], "removed run 'r' from the store short-lived\r\n"), (["rm", "s", "-y", "-q"], "")):
        assert on_terminal(b"", "--store", "short-lived", *words) == (0, line), words
    assert run("rm", "two", "--store", "short-lived", stdin=subprocess.DEVNULL, status=0).stdout == ""
    assert "MB of memory" in run("metrics", "r", "-v", "-o", "one.csv").stderr


def check_progress():
    """What takes long says for how long it has been at it, on a terminal alone, and how far it is, where that is known; then it is wiped."""
    os.makedirs("slow")
    write("slow/gnuplot", f"#!/bin/sh\nsleep 1.3\nexec {shutil.which('gnuplot')} \"$@\"\n")
    os.chmod("slow/gnuplot", 0o755)
    path = os.environ["PATH"]
    os.environ["PATH"] = f"{os.path.abspath('slow')}:{path}"
    for words, line in ((["map", "r", "-o", "slow.svg"], r"drawing: [1-9]\d* s"),
                        (["map", "r", "--epochs", "1:", "--frames", "frames"], r"drawing \[#{20} {20}\]  50%, [1-9]\d* s")):
        status, text = on_terminal(b"", *words)
        assert status == 0 and text.startswith("\rdrawing") and re.search(rf"\r{line}\x1b\[K", text), (words, text)
        assert ("drawing:" in text) == ("--frames" not in words), (words, text)
        assert text.rpartition("drawing")[2].partition("\x1b[K")[2].startswith("\r\x1b[K"), (words, text)
        assert "drawing" not in run(*words, status=0).stderr, words
    os.environ["PATH"] = path


def drawn(terminal):
    """What has been drawn on a terminal since it was last read."""
    text = b""
    while select.select([terminal], [], [], 0)[0]:
        text += os.read(terminal, 65536)
    return text


def check_progress_beside_a_pager(maker):
    """While the reader of a pipe waits, as a pager does, no progress is drawn over its page."""
    stores.make_store(maker, "large", [stores.run("large", [stores.batch(0, range(100_000), [0.5] * 100_000, [0] * 100_000)])])
    terminal, end = os.openpty()
    with subprocess.Popen([PORTOLAN, "metrics", "large", "--store", "large"], stdout=subprocess.PIPE, stderr=end) as done:
        held, before = 0, -1
        while held == 0 or held != before:  # the pipe is full
            time.sleep(1)
            before, held = held, struct.unpack("i", fcntl.ioctl(done.stdout, termios.FIONREAD, bytes(4)))[0]
        assert done.poll() is None
        drawn(terminal)
        time.sleep(1.6)
        text = drawn(terminal)
        done.stdout.read()
    os.close(end)
    os.close(terminal)
    assert text == b"" and done.returncode == 0, (text, done.returncode)


def check_leading_options():
    """Options that every command has may stand before it."""
    plain = run("metrics", "r", "-q").stdout
    del os.environ["PORTOLAN_STORE"]
    for words in ("--store store -q metrics r", "--store=store metrics r", "-q metrics --store store r", "--store nowhere metrics r --store store"):
        assert run(*words.split()).stdout == plain, words
    assert run("-q", "--store", "store", "metrics", "r").stderr == ""
    assert run("--store", "store", "rm", "r", "--yes", stdin=subprocess.DEVNULL, env={**os.environ, "PORTOLAND": "/bin/echo"}).stdout.startswith("rm ")
    write("stand-in", '#!/bin/sh\necho "$@"\n')
    os.chmod("stand-in", 0o755)
    for words, got in (("-q import td --run new", "import --run new --quiet td"), ("--styled never -v import td --run=new --store x", "import --run new --store x --verbose td"),
                       ("--store x --quiet backup copy", "backup --store x --quiet copy"), ("-v keygen keys --client one", "keygen --client one --verbose keys"), ("--store x keygen keys", "keygen --store x keys"),
                       ("import --overwrite -- -td", "import --overwrite -- -td"), ("-q rm r -y", "rm --quiet r")):
        done = run(*words.split(), stdin=subprocess.DEVNULL, env={**os.environ, "PORTOLAND": os.path.abspath("stand-in")}, status=0)
        assert done.stdout == got + "\n" and done.stderr == "", (words, done)
    for words in ("import", "import a b", "backup", "keygen a b", "import a --nonsense"):
        assert "see: portolan help " in run(*words.split(), status=2, env={**os.environ, "PORTOLAND": "/bin/echo"}).stderr, words
    os.environ["PORTOLAN_STORE"] = "store"
    assert run("-V", status=0).stdout == run("--version", status=0).stdout == run("version", status=0).stdout
    assert run("help", "help", status=0).stdout == run("help", "version", status=0).stdout == run("help", status=0).stdout
    for words, said in (("--store", "no command is given"), ("--store store", "no command is given"), ("-q", "no command is given"),
                        ("--nonsense runs", "'--nonsense' is no option that may stand before a command"), ("-q --epochs 1: runs", "'--epochs' is no option")):
        assert said in run(*words.split(), status=2).stderr, words
    for words, same in (("--store store help runs", "help runs"), ("-q help noise fit", "help noise fit"), ("--styled never help", "help"), ("-v --help", "help"), ("-q version", "-V"),
                        ("--store=x -V", "-V"), ("-q --version", "-V")):
        assert run(*words.split(), status=0).stdout == run(*same.split(), status=0).stdout, words


def check_help():
    """The short help fits a screen and names every option. On a terminal a help of more lines than that goes through $PAGER; without
    one it comes as it is."""
    write("pager", "#!/bin/sh\ncat > paged\necho a page of it\n")
    os.chmod("pager", 0o755)
    os.environ.update(TERM="xterm", PAGER="./pager")
    short, paged, broken = 0, 0, 0
    listed = re.findall(r"^  ([a-z]+)  ", run("help", status=0).stdout, re.M)
    lines = [["help"], ["--help"]] + [[name, "--help"] for name in listed] + [["help", name] for name in listed]
    for words in lines + [["noise", action, "-h"] for action in ("plan", "fit", "apply", "mixture", "aum", "confident")] + [["help", "noise", "fit"]]:
        plain = run(*words, status=0).stdout
        rows = sum(max(1, -(-len(line) // 80)) for line in plain.splitlines())
        if words[-1] in ("--help", "-h") and len(words) > 1:
            long = run("help", *words[:-1], status=0).stdout
            named = set(re.findall(r"(?<![\w-])-[a-z]\b|--[a-z][a-z-]*", plain[plain.index("Usage:"):]))
            for letter, name in re.findall(r"^  (?:   |(-[a-z]),) (--[a-z-]+)", long, re.M):
                assert {letter, name} & named, (words, name)
            assert rows < 24 and len(re.findall(r"^  (?:   |-[a-z],) --", plain, re.M)) >= (words[0] != "completion"), (words, rows, plain)
        assert all(len(line) <= 80 or " " not in line for line in plain.splitlines()), words
        if long_line := re.search(r"^  portolan .*\\\n.*", plain, re.M):  # as the shell reads it, it is the line that the manual has
            broken += 1
            assert re.search(r" \\\n {4}[-|]", long_line[0]) and all(line.startswith("  ") for line in long_line[0].splitlines()), long_line
        status, text = on_terminal(b"", *words, size=(24, 80))
        if rows < 24:
            assert status == 0 and text.replace("\r\n", "\n") == plain and not os.path.exists("paged"), (words, text)
            short += 1
            continue
        assert status == 0 and text == "a page of it\r\n" and read("paged").decode() == plain, (words, text)
        os.unlink("paged")
        paged += 1
    assert short >= len(listed) + 4 and paged >= 12 and broken >= 4, (short, paged, broken)
    plain = run("help", "select").stdout
    assert on_terminal(b"", "help", "select", size=(500, 80))[1].replace("\r\n", "\n") == plain and not os.path.exists("paged")
    write("no-program", "")
    for pager in ("./nowhere", "./no-program", "true"):
        os.environ["PAGER"] = pager
        status, text = on_terminal(b"", "help", "select", size=(24, 80))
        assert status == 0 and text.endswith(plain.replace("\n", "\r\n") if pager != "true" else ""), (pager, text)
    del os.environ["PAGER"]
    paragraphs = run("help", "metrics").stdout.split("\n\n")
    names = re.findall(r"[a-z_0-9]+", run("metrics", "r", "--format", "csv").stdout.splitlines()[0])
    explained = " ".join(" ".join(paragraphs[3:]).split())
    for name in [*(set(names) - {"id", "gold", "epochs", "label"}), "aum", "el2n", "aleatoric", "entropy", "max_prob", "loss", "dyn_unc", "dual", "tdds"]:
        assert re.search(rf"\b{name}\b", explained), name
    assert "portolan help metrics" in run("help").stdout and "portolan help metrics" in run("help", "select").stdout
    for name in listed:  # one name for each kind of argument, whatever the command
        for option, argument in re.findall(r"^ {6}--(id-field|label-field|group-field|text) (\S+)", run("help", name).stdout, re.M):
            assert argument == ("FIELD[,FIELD]" if option == "text" else "FIELD"), (name, option, argument)
    assert "--ids FILE" in run("show", "--help").stdout and "--text FIELD[,FIELD]" in run("show", "--help").stdout
    fit, whole = run("help", "noise", "fit").stdout, run("help", "noise").stdout
    assert "--flips" in fit and "--model" not in fit and "beta distributions" not in fit and "noise mixture" not in fit, fit
    assert "--model" in whole and "beta distributions" in whole and "--flips FLIPS" not in whole, whole


def check_old_names():
    """What was called otherwise once is still read, and does the same."""
    write("own.tsv", "id\tt\tl\n0\ta b\tx\n1\tb\ty\n2\ta\tx\n3\tc a\ty\n")
    for new, old, command in (("--data", "--join", "select r --by ambiguous --count 2 {} own.tsv --id-field id"),
                              ("--data", "--attributes", "groups r {} own.tsv --id-field id --replicates 0"),
                              ("--label-field", "--label", "artifacts own.tsv --text t {} l --min-count 1"),
                              ("--count", "--top", "artifacts own.tsv --text t --label-field l --min-count 1 {} 1"),
                              ("--count", "--top", "upsample own.tsv --text t --label-field l --min-count 1 {} 1 -o -")):
        done = [run(*command.format(name).split()) for name in (new, old)]
        assert done[0].returncode in (0, 3) and done[0].stdout and (done[0].returncode, done[0].stdout) == (done[1].returncode, done[1].stdout), (command, done)
        name = command.split()[0]
        assert f"(Also {old}.)" in " ".join(run("help", name).stdout.split()) and f" {old} " not in run(name, "--help").stdout, name
        assert f"{old}\n" not in run("completion", "candidates", "--", name, old).stdout
    wanted = None
    write("colours.csv", "id,c\n0,0.5\n1,1\n2,0\n3,1\n")
    for name in ("--data", "--colour-file"):
        for colour in ("--colour", "--color"):
            run("map", "r", name, "colours.csv", colour, "c", "-o", "coloured.svg", "--script", status=0)
            wanted = read("coloured.gp") if wanted is None else wanted
            assert read("coloured.gp") == wanted, (name, colour)
    for words, what in (("map r --data colours.csv -o x.png", "--colour COLUMN"), ("map r --data colours.csv -o x.html", "--id-field FIELD"),
                        ("map r --data colours.csv --colour c --text c -o x.png", "--text is of a page")):
        assert what in run(*words.split(), status=2).stderr, words


def main():
    maker, collector = map(os.path.abspath, sys.argv[2:4])
    r = [stores.batch(e, [0, 1, 2, 3], [0.25, 0.5, 0.75 - e / 4, 1], [0, 1, 1, 1], [0, 1, 0, 1]) for e in range(3)]
    two = [stores.batch(e, range(20), [0.1 + 0.01 * i + e / 50 for i in range(10)] + [0.8 + 0.01 * i for i in range(10)], [0, 1] * 10) for e in range(2)]
    many = [stores.batch(e, range(3000), [0.5] * 3000, [0] * 3000) for e in range(2)]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ.update(PORTOLAN_STORE="store", LC_ALL="C.UTF-8", NO_COLOR="1")
        stores.make_store(maker, "store", [stores.run("r", r, declared=9), stores.run("s", r), stores.run("two", two), stores.run("many", many)])
        np.save("X.npy", np.eye(4, dtype="f4"))
        write("y", "0\n1\n0\n1\n")
        run("runs", status=0)  # which makes one lock file; a collector makes the other
        write("store/portoland.lock", "")
        check_rows()
        check_outputs()
        check_derived()
        check_formats()
        check_unknown_endings()
        check_small()
        check_quiet(collector, maker)
        check_terminal()
        check_narrow_terminal(maker)
        check_cut_texts(maker)
        check_styles()
        check_last_screen()
        check_closing_line()
        check_progress()
        check_progress_beside_a_pager(maker)
        check_leading_options()
        check_help()
        check_old_names()
        check_removal()
        os.chdir("/")
    print("endings, --quiet, help and rm on a terminal, old names: as they should be")


if __name__ == "__main__":
    main()
