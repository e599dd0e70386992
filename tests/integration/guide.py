"""The blocks of analyzer/GUIDE.md, run as they stand, in one folder; what they print is what the page shows, but for small differences between machines."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sklearn")

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "analyzer" / "GUIDE.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(python|sh|text)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d+(?:\.\d+)?")
ACCURACY = re.compile(r"(\S+): \d+ examples, accuracy ([\d.]+)")


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What each shell block of the page printed, with what the page says that it prints, or None."""
    folder = tmp_path_factory.mktemp("guide")
    (folder / "bin").mkdir()
    (folder / "bin/python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    (folder / "bin/python").chmod(0o755)
    programs = [folder / "bin", *(Path(os.environ[name]).parent for name in ("PORTOLAN", "PORTOLAND"))]
    environment = dict(os.environ, PATH=":".join([*map(str, programs), os.environ["PATH"]]), OMP_NUM_THREADS="1", PORTOLAN_STORE="my-store")  # as the page exports it
    found = []
    for number, (language, block) in enumerate(BLOCKS):
        if language == "python":
            (folder / re.match(r"# (\w+\.py)\n", block)[1]).write_text(block, encoding="utf-8")
        if language == "sh":
            done = subprocess.run(["bash", "-euc", block], cwd=folder, env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{block}\n{done.stderr}"
            shown = BLOCKS[number + 1] if number + 1 < len(BLOCKS) else ("", "")
            found.append((done.stdout, shown[1] if shown[0] == "text" else None))
    return found


def test_all_blocks_are_run():
    assert len(BLOCKS) == TEXT.count("```") // 2 >= 15


def test_the_page_shows_what_is_printed(printed):
    shown = [pair for pair in printed if pair[1] is not None]
    assert len(shown) == sum(language == "text" for language, _ in BLOCKS) >= 6
    for out, page in shown:
        assert NUMBER.sub("#", re.sub(r" ± [\d.]+", "", out)) == NUMBER.sub("#", re.sub(r" ± [\d.]+", "", page))
        for ours, theirs in zip(map(float, NUMBER.findall(out)), map(float, NUMBER.findall(page)), strict=True):
            assert abs(ours - theirs) <= (0.03 if theirs < 1 else max(5, 0.12 * theirs)), (out, page)


def test_what_the_page_concludes(printed):
    planted, corrected, thirds, thirds_corrected = (
        {name: float(accuracy) for name, accuracy in ACCURACY.findall(out)} for out, page in printed if page and ACCURACY.search(out))
    assert planted.keys() == {"train.csv"}
    assert corrected["train.csv"] < corrected["unread.csv"] < corrected["corrected.csv"] >= corrected["clean.csv"] - 0.01
    assert thirds["hardest.csv"] < thirds["random.csv"] - 0.03
    assert all(thirds_corrected[name] > thirds[name] + 0.01 for name in thirds)
    assert thirds_corrected["hardest.csv"] > thirds_corrected["random.csv"] < corrected["corrected.csv"]


def test_the_readme_repeats_the_guide():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines, found, planted = re.search(r"unread.tsv: (\d+) lines, (\d+) of the (\d+) planted", TEXT).groups()
    assert f"{found} of these {planted} are among the {lines} labels called wrong" in readme
    before, after = (re.search(rf"{name}.csv: \d+ examples, accuracy 0\.(\d\d)(\d)", TEXT).groups() for name in ("train", "corrected"))
    assert f"from\n{before[0]}.{before[1]}% to {after[0]}.{after[1]}%" in readme
