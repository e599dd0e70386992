"""The README's examples, run as they stand: its first Python block, then its shell blocks, then the other Python blocks, in an empty folder
(those on keys are tested with the keys)."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def blocks(language):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_readme_runs(tmp_path):
    programs = {Path(os.environ[name]).parent for name in ("PORTOLAN", "PORTOLAND")}
    environment = dict(os.environ, PATH=":".join(map(str, programs)) + ":" + os.environ["PATH"])
    recording, *reading = blocks("python")
    subprocess.run([sys.executable, "-c", recording], check=True, cwd=tmp_path, env=environment)
    shell = [block for block in blocks("sh") if "tools/" not in block and "export PATH" not in block]
    assert len(shell) >= 5
    subprocess.run(["bash", "-euc", "".join(shell)], check=True, cwd=tmp_path, env=environment)
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    assert len(reading) == 1
    (tmp_path / "map.png").unlink()
    subprocess.run([sys.executable, "-c", reading[0]], check=True, cwd=tmp_path, env=environment)
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "subset.jsonl").read_text(encoding="ascii").startswith('{"id": ')
    assert len((tmp_path / "ids.txt").read_text(encoding="ascii").splitlines()) == 990
    suspects = [int(line.split(",")[0]) for line in (tmp_path / "suspects.csv").read_text(encoding="ascii").splitlines()[1:]]
    assert sum(example < 60 for example in suspects) >= 45, "most of the mislabelled are among the least believed"


def test_the_links_lead_somewhere():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith("http")]
    assert links and [link for link in links if not (ROOT / link.partition("#")[0]).exists()] == []
