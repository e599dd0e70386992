#!/usr/bin/python3
"""Makes the golden files of version 1.0, and SHA256SUMS over them and the frames of tests/wire: once, before the release. Afterwards they are never
changed, and the test `golden-sums` refuses it.

    make.py BUILD [--pyarrow PYTHON]

BUILD is a folder that meson has built with -Dtests=true. PYTHON has NumPy and pyarrow, for the Parquet files; without it, both are installed from PyPI into
a temporary environment.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import packed
import serving
import stores

SELECTION = {"x": "confidence", "y": "variability", "parts": [{"op": "add", "polygon": [[0, 0], [0.6, 0], [0.6, 0.5], [0, 0.5]]}],
             "filters": {"correctness": {"min": 0.2}}}
TAGS = [{"id": 3, "tag": "wrong label", "label": "dog"}, {"id": 7, "tag": "keep", "label": None}, {"id": 3, "tag": "unsure", "label": None}]


class Built:
    """The programs of a build."""

    def __init__(self, folder):
        self.portolan, self.portoland = str(folder / "analyzer" / "portolan"), str(folder / "collector" / "portoland")
        self.make_store = str(folder / "tests" / "cli" / "make_store")
        for program in (self.portolan, self.portoland, self.make_store):
            if not os.access(program, os.X_OK):
                sys.exit(f"{program} is not there: meson setup {folder} -Dtests=true, and ninja -C {folder}")


def make_stores(built, work):
    """The three golden stores, packed, and the spool file of the run whose collector was killed."""
    import runs
    import portolan

    for record in runs.RUNS.values():
        record(lambda name, **options: portolan.Run(name, store=work / "recorded", **options))
    subprocess.run(["flock", str(work / "recorded" / "portoland.lock"), "true"], check=True, timeout=packed.PATIENCE)  # its collector has left
    subprocess.run([built.make_store, work / "unfolded"], input=unfolded(), check=True)
    make_killed(built, work)
    for name in packed.STORES:
        packed.pack(work / name, packed.FILES / "stores" / f"{name}.tar.xz")


def unfolded():
    """A run that is closed, and one that is not, whose observations are still in the log."""
    import runs

    parts = []
    for name, ended in (("unfolded", True), ("half", False)):
        batches = [stores.batch(epoch, [f"{name}-{i}" for i in range(6)], runs.share(range(6), epoch), runs.share(range(6), epoch) > 0.4,
                                runs.gold(6), margin=runs.share(range(6), epoch, 1) - 0.5) for epoch in range(3)]
        parts.append(stores.describe([stores.run(name, batches, labels=runs.LABELS, ended=False)]) + (b"close\n" if ended else b""))
    return b"".join(parts)


def make_killed(built, work):
    import runs
    import portolan

    collector = subprocess.Popen([built.portoland, "--store", work / "killed", "--listen", "tcp://127.0.0.1:*"], stderr=subprocess.PIPE, text=True)
    endpoint = re.search(r"tcp://127.0.0.1:\d+", collector.stderr.readline())[0]
    run = portolan.Run("interrupted", endpoint=endpoint, spool=work / "spool", labels=runs.LABELS)
    runs.interrupted(run, range(2))
    assert run.flush()
    collector.send_signal(signal.SIGKILL)
    collector.communicate()
    runs.interrupted(run, range(2, 4))
    try:
        run.close(timeout=1)
    except portolan.TimedOut:
        pass  # it says that the rest is in the spool file
    take_spool(work / "spool", "killed")


def take_spool(folder, name):
    [path] = folder.glob("*.spool")
    shutil.move(path, packed.FILES / "spools" / f"{name}.spool")


def make_spools(work):
    import runs

    with socket.socket() as held:  # bound, and not listened on: nobody answers there
        held.bind(("127.0.0.1", 0))
        for name, ids in (("integers", [5, 6, 7, 2**40]), ("texts", runs.TEXTS)):
            runs.alone(f"spooled/{name}", ids, work / name, f"tcp://127.0.0.1:{held.getsockname()[1]}")
            take_spool(work / name, name)


def make_expected(built, work):
    """What portolan says of each run, and of each spool file that was imported: every observation, and every measure."""
    folder = packed.FILES / "expected"
    for store, names in packed.STORES.items():
        for name in names:
            write_tables(built, packed.unpack(store, work / f"{store}-{packed.file_name(name)}"), name, folder / store)
    store, (run, ids) = packed.unpack("recorded", work / "explained"), packed.EXPLAINED
    (folder / "recorded" / f"{run}.texts.json").write_text(packed.texts(built.portolan, store, run, ids))
    for path in sorted((packed.FILES / "spools").glob("*.spool")):
        store = packed.unpack("killed", work / "killed-again") if path.stem == "killed" else work / f"spooled-{path.stem}"
        subprocess.run([built.portolan, "import", path, "--store", store], check=True, capture_output=True)
        write_tables(built, store, "interrupted" if path.stem == "killed" else f"spooled/{path.stem}", folder / "spools")


def write_tables(built, store, run, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for command in ("dynamics", "metrics"):
        text = packed.said(built.portolan, store, command, run)
        path = folder / f"{packed.file_name(run)}.{command}.csv"
        if run in packed.LARGE and command == "metrics":
            continue
        path.write_text(text)
        if run in packed.LARGE:
            path.with_suffix(".sha256").write_text(packed.sum_of(path) + "\n")
            path.unlink()


def make_exports(built, work):
    """What portolan and its page write of the run words/declared, in each format that is read back."""
    import runs

    store, run, to = packed.unpack("recorded", work / "exporting"), "words/declared", packed.EXPORTS

    def write(*words):
        packed.said(built.portolan, store, *words)

    for command in ("metrics", "dynamics"):
        for ending in ("csv", "jsonl", "npy"):
            write(command, run, "-o", str(to / f"{command}.{ending}"))
    write("metrics", run, "--format", "cartography", "-o", str(to / "td_metrics.jsonl"))
    write("metrics", run, "--state", str(to / "metrics.state"), "-o", str(work / "unused.csv"))
    write("metrics", "losses", "--state", str(to / "losses.state"), "-o", str(work / "unused.csv"))
    write("select", run, "--by", "ambiguous", "--count", "7", "-o", str(to / "ids.txt"))
    write("suspects", run, "--count", "5", "--corrections", str(to / "corrections.tsv"), "-o", str(work / "unused-suspects.csv"))
    write("noise", "plan", run, "--fraction", "0.2", "--regions", "1,0", "-o", str(to / "flips.tsv"))
    drawn = {int(line.split("\t")[0]): int(line.split("\t")[2]) for line in (to / "flips.tsv").read_text().splitlines()[1:]}
    assert drawn == runs.FLIPS, f"runs.py must have these flips: {drawn}"
    write("noise", "fit", "words/flipped", "--flips", str(to / "flips.tsv"), "-o", str(to / "model.json"))
    write("report", run, "-o", str(to / "report.json"))
    with serving.serving(built.portolan, "--store", store, "--tags", to / "tags.jsonl") as server:
        server.json(f"/api/runs/{run}/tags", json.dumps(TAGS[0]))
        server.json(f"/api/runs/{run}/tags", json.dumps({"changes": TAGS[1:]}))
        server.json(f"/api/runs/{run}/tags", json.dumps({"names": ["wrong label", "keep", "unsure"]}))
        body = json.dumps({"run": run, **SELECTION})
        chosen = server.ask(f"/api/runs/{run}/select?as=selection", body)
        (to / "selection.json").write_bytes(chosen)
        (to / "selection.ids.txt").write_bytes(server.ask(f"/api/runs/{run}/select?as=list", body))
        one = chosen.decode().strip().replace("{", '{"name":"few and hard",', 1)  # as saved_files.js writes them
        (to / "selections.json").write_text('{"run":"%s","selections":[\n%s\n]}\n' % (run, one))
    for path in to.glob("*.json"):  # an absolute path of the store means nothing elsewhere
        path.write_text(path.read_text().replace(str(store), "portolan-store").replace(str(to) + "/", ""))
    for path in [*to.glob("*.manifest.json")]:
        assert str(work) not in path.read_text(), path


EXPORT = """import sys, portolan
for run in ("words/declared", "texts", "losses"):
    portolan.export(run, sys.argv[2], store=sys.argv[1])
portolan.export("words/declared", sys.argv[2] + "/../measures.parquet", store=sys.argv[1], what="measures")
"""


def make_parquet(work, python):
    if not python:
        subprocess.run([sys.executable, "-m", "venv", work / "venv"], check=True)
        python = work / "venv" / "bin" / "python3"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "numpy", "pyarrow"], check=True)
    store = packed.unpack("recorded", work / "parquet")
    subprocess.run([python, "-c", EXPORT, store, packed.EXPORTS / "parquet"], check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--pyarrow", metavar="PYTHON")
    arguments = parser.parse_args()
    built = Built(arguments.build.resolve())
    os.environ.update(PORTOLAND=built.portoland, PORTOLAN=built.portolan, PYTHONPATH=str(arguments.build.resolve() / "python"), PYTHONDONTWRITEBYTECODE="1")
    sys.path.insert(0, os.environ["PYTHONPATH"])
    shutil.rmtree(packed.FILES, ignore_errors=True)
    for folder in ("stores", "spools", "expected", "exports"):
        (packed.FILES / folder).mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="portolan-golden-") as name:
        work = pathlib.Path(name)
        os.chdir(work)
        make_stores(built, work)
        make_spools(work)
        make_expected(built, work)
        make_exports(built, work)
        make_parquet(work, arguments.pyarrow)
        os.chdir("/")
    packed.SUMS.write_text("".join(f"{packed.sum_of(packed.HERE / path)}  {path}\n" for path in packed.there()))
    print(f"{len(packed.named())} files, {sum(path.stat().st_size for path in packed.FILES.rglob('*') if path.is_file()):,} bytes")


if __name__ == "__main__":
    main()
