"""The README's blocks, and those of the pages that it leads to, run as they stand, in one folder that the README's loop has recorded in."""

import os
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
WORDS = ROOT / "analyzer/WORDS.md"
PAGES = ("analyzer/map", "analyzer/selection", "analyzer/suspects", "analyzer/analyses/noise", "analyzer/analyses/compare", "analyzer/analyses/groups", "analyzer/analyses/artifacts", "analyzer/analyses/aflite", "collector/imports", "collector")


def blocks(text):
    """(language, code), in order; those without a language are commands for other machines."""
    return re.findall(r"^```(python|sh)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def run_block(language, code, folder):
    programs = {Path(os.environ[name]).parent for name in ("PORTOLAN", "PORTOLAND")}
    environment = dict(os.environ, PATH=":".join(map(str, programs)) + ":" + os.environ["PATH"], PORTOLAN_STORE="my-store")
    command = [sys.executable, "-c", code] if language == "python" else ["bash", "-euc", code]
    subprocess.run(command, check=True, cwd=folder, env=environment)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What the README's blocks leave."""
    folder = tmp_path_factory.mktemp("readme")
    for language, code in blocks(README):
        if "tools/" not in code:
            run_block(language, code, folder)
    return folder


def test_the_readme_runs(folder):
    assert (folder / "map.png").read_bytes().startswith(b"\x89PNG")
    suspects = [int(line.split(",")[0]) for line in (folder / "suspects.csv").read_text(encoding="ascii").splitlines()[1:]]
    called, planted = map(int, re.search(r"plants 60 wrong labels. These (\d+) suspects hold (\d+) of them", README).groups())
    assert (len(suspects), sum(example < 60 for example in suspects)) == (called, planted)
    assert f"{planted} are among the {called} of the first list" in (ROOT / "analyzer/suspects/README.md").read_text(encoding="utf-8")


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 100


@pytest.mark.parametrize("page", PAGES)
def test_a_page_runs(folder, page):
    found = blocks((ROOT / page / "README.md").read_text(encoding="utf-8"))
    assert found
    for language, code in found:
        run_block(language, code, folder)


def test_the_python_page_runs(folder):
    """Its loop is the reader's: here a model that knows nothing, of three classes."""
    ((language, code),) = blocks((ROOT / "client/python/README.md").read_text(encoding="utf-8"))
    if not find_spec("pandas"):
        code = code.replace("m.to_pandas()", "m.to_numpy()")
    loop = """
import numpy as np
train_one_epoch = lambda model: None
model = lambda x: x
loader = [{"id": np.arange(200) + first, "x": np.random.default_rng(first).normal(size=(200, 3)), "y": np.zeros(200, int)} for first in (0, 200)]
"""
    check = 'assert len(m) == 400 and set(m["epochs"]) == {6} and set(m["label"]) == {"entailment"}'
    run_block(language, loop + code + check, folder)


def test_what_the_pages_leave(folder):
    assert (folder / "late.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert (folder / "subset.jsonl").read_text(encoding="ascii").startswith('{"id": ')
    assert len((folder / "ids.txt").read_text(encoding="ascii").splitlines()) == 990
    assert len((folder / "kept.txt").read_text(encoding="ascii").splitlines()) > 100


def test_four_lines_record():
    lines = [line for language, code in blocks(README) if language == "python" for line in code.splitlines() if re.search(r"\bportolan\b|\brun\.", line)]
    assert "Four lines go into the loop" in README and len(lines) == 4


def test_what_the_readme_installs_is_what_its_toy_imports():
    (extra,) = re.findall(r"pip install '\.\[(\w+)\]'", README)
    installed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"][extra]
    imported = set(re.findall(r"^import (\w+)", "".join(code for language, code in blocks(README) if language == "python"), re.MULTILINE))
    assert imported == {"portolan", *installed}


def test_every_measure_is_explained(folder):
    run_block("sh", "portolan metrics toy/seed1 --window 4 -o measures.csv", folder)
    names = set((folder / "measures.csv").read_text(encoding="ascii").splitlines()[0].split(",")) - {"id", "gold", "label"}
    assert "dual" in names
    assert names - set(re.findall(r"`(\w+)`", WORDS.read_text(encoding="utf-8").partition("## Measures")[2])) == set()


def prose(page):
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page):
    """The headings of a page, as links name them: without marks, spaces as hyphens."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_reached_from_the_readme_and_every_link_leads_somewhere():
    reached, broken = [ROOT / "README.md"], []
    for page in reached:
        for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
            if link.startswith("https://"):
                continue
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if not target.exists() or (anchor and anchor not in anchors(target)):
                broken.append((page, link))
            elif target.suffix == ".md" and target not in reached:
                reached.append(target)
    assert broken == []
    pages = {*ROOT.glob("*.md"), *(page for part in ("analyzer", "client", "collector", "tools") for page in (ROOT / part).rglob("*.md"))}
    assert pages - set(reached) == set()
