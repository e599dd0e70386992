"""The pages of client/python/docs: their Python blocks, each a program, run as they stand, in order, in one folder; a block that
imports a package which is not there is skipped."""

import ast
import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import portolan

DOCS = Path(__file__).resolve().parents[2] / "client/python/docs"
PAGES = ("boosting", "bridges", "curriculum", "export", "forgettable", "jax", "keras", "multilabel", "notebook", "report", "skorch", "sklearn", "tables")
# What each page must leave in its store, and how often each example was seen.
RUNS = {
    "boosting": {"xgboost/seed0": 10, "xgboost/classifier": 5, "lightgbm/seed0": 10, "lightgbm/classifier": 5, "catboost/seed0": 10, "xgboost/numbers": 10},
    "bridges": {"toy": 8},
    "curriculum": {"curriculum": 10, "curriculum/torch": 8},
    "export": {"toy": 6},
    "forgettable": {"shallow": 10},
    "jax": {"jax/forward": 5, "jax/flax": 5},
    "keras": {"toy/seed0": 5},
    "multilabel": {"films": 6},
    "notebook": {"toy": 6},
    "report": {"toy": 4},
    "skorch": {"toy/seed0": 5, "forward/seed0": 5, "crossed/fold0": 5, "crossed/fold1": 5, "crossed/fold2": 5},
    "sklearn": {"animals/seed0": 10, "boosted": 10, "forest/out-of-fold": 1, "linear/out-of-fold": 1, "prices/boosted": 10, "prices/out-of-fold": 1},
    "tables": {"toy": 6},
}


def blocks(page):
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    found = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert found and len(found) == len(re.findall(r"^```\w", text, re.MULTILINE)) - text.count("```xml")
    return found


def missing(block):
    """The packages that a block imports and that are not there."""
    names = set()
    for node in ast.walk(ast.parse(block)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module)
    frameworks = {name.removeprefix("portolan.") for name in names} - {"bridges"}
    if "torch.utils.tensorboard" in names:
        frameworks.add("tensorboard")
    return sorted(name for name in {name.partition(".")[0] for name in frameworks} if not find_spec(name))


@pytest.mark.parametrize("page", PAGES)
def test_page(page, tmp_path, stores):
    stores.append(tmp_path / "portolan-store")
    environment = dict(os.environ, KERAS_BACKEND="torch" if find_spec("torch") else "jax", WANDB_SILENT="true",
                       MLFLOW_TRACKING_URI="file:mlruns", MLFLOW_ALLOW_FILE_STORE="true")  # its smaller package has nothing else
    skipped, said = [], ""
    for block in blocks(page):
        if missing(block):
            skipped += missing(block)
            continue
        done = subprocess.run([sys.executable, "-c", block], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{block}\n{done.stderr}"
        said += done.stdout
    if not skipped:
        for run, epochs in RUNS[page].items():
            assert set(portolan.measures(run, store=tmp_path / "portolan-store")["epochs"]) == {epochs}
    check_what_was_said(page, said, tmp_path)
    if skipped:
        pytest.skip(f"blocks that need {', '.join(sorted(set(skipped)))}")


def test_the_lines_for_a_run_that_may_be_off(tmp_path):
    environment = dict(os.environ, PORTOLAN_DISABLED="1")
    done = subprocess.run([sys.executable, "-c", blocks("bridges")[-1]], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr, list(tmp_path.iterdir())) == (0, "", "", [])


def numbers(pattern, said):
    found = re.search(pattern, said)
    return [float(number) for number in found.groups()] if found else None


def check_what_was_said(page, said, folder):
    """Where a page claims something, it is so."""
    if page == "sklearn":
        assert numbers(r"(\d+)% of the 40 least believed", said)[0] >= 60
        called, right = numbers(r"(\d+) labels are called wrong, (\d+)% of them are", said)
        assert 45 <= called <= 60 and right >= 85, said
        assert "the same order: True" in said or not find_spec("cleanlab")
        assert numbers(r"(\d+)% of the 40 largest losses are wrong targets", said)[0] >= 90
    if page == "boosting" and said:
        assert numbers(r"(\d+)% of the 60 least believed", said)[0] >= 60
        assert numbers(r"(\d+)% of the 60 largest losses are wrong targets", said)[0] >= 90
    if page == "bridges" and "rows are wrong to both" in said:
        assert numbers(r"(\d+) rows are wrong to both", said)[0] >= 25
        assert len(json.loads((folder / "tasks.json").read_text(encoding="utf-8"))) >= 25
        assert [path.name for path in folder.glob("tensorboard-logs/*/default/tensors.tsv")] == ["tensors.tsv"] or not find_spec("tensorboard")
    if page == "multilabel" and said:
        assert numbers(r"(\d+)% of the 100 zeros least believed", said)[0] >= 60
        assert len((folder / "labels.csv").read_text(encoding="utf-8").splitlines()) == 9001
    if page == "curriculum":
        often, seldom = numbers(r"drawn ([\d.]+) times per epoch, the others ([\d.]+) times", said)
        assert often > 1.3 * seldom
    if page == "tables":
        assert "measures of toy: 1,000 examples" in said and 0.5 < numbers(r"mean p\(gold\): ([\d.]+)", said)[0] < 1
    if page == "export" and "written" in said:
        assert "run toy: 6 epochs with 6,000 observations written, " in said and " in exported/run=toy" in said
    if page == "notebook":
        assert said.splitlines()[0].startswith("http://127.0.0.1:") and numbers(r"(\d+) are selected: \[\d+, ", said)[0] > 50
    if page == "forgettable" and said:
        before, after, random = (numbers(pattern + r": ([\d.]+)", said)[0] for pattern in ("misleads", "training, forgettable", "random"))
        assert after > before + 0.05 and after > random + 0.05


def test_every_page_is_in_the_readme():
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in sorted(DOCS.glob("*.md")) if f"docs/{page.name}" not in text] == []
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if not link.startswith("http")]
    assert [link for link in links if not (DOCS.parent / link).exists()] == []


