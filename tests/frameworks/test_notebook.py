"""client/python/docs/data-map.ipynb, executed as Jupyter does: what each cell shows."""

import base64
import re

import nbformat
import pytest
from nbconvert.preprocessors import ExecutePreprocessor
from support import ROOT

PATH = ROOT / "client/python/docs/data-map.ipynb"


@pytest.fixture
def outputs(tmp_path, stores):
    """Of each cell with code."""
    stores.append(tmp_path / "portolan-store")
    notebook = nbformat.read(PATH, as_version=4)
    nbformat.validate(notebook)
    ExecutePreprocessor(timeout=300, kernel_name="python3").preprocess(notebook, {"metadata": {"path": str(tmp_path)}})
    return [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]


def text_of(outputs):
    return "".join(output.text for output in outputs if output.output_type == "stream")


def test_the_notebook_runs_and_shows_its_map(outputs):
    recording, data_map, runs, measures, suspects, story = outputs
    (line,) = text_of(recording).splitlines()
    assert line.startswith("portolan: run toy/notebook: 24,000 observations on disk (")
    assert line.endswith("its map: portolan.map('toy/notebook', store='portolan-store', epochs='auto')")
    (shown,) = data_map
    assert set(shown.data) == {"image/png", "text/plain"}
    picture = base64.b64decode(shown.data["image/png"])
    assert picture.startswith(b"\x89PNG") and len(picture) > 20000
    assert "toy/notebook" in runs[0].data["text/html"] and "24000" in runs[0].data["text/html"]
    assert re.search(r"measures of toy/notebook: \d+ example", measures[0].data["text/html"])
    found = int(re.match(r"(\d+) of the 60", text_of(suspects))[1])
    assert found >= 45, "most of the mislabelled are among the least believed"
    assert "<td>" in suspects[-1].data["text/html"] and "90 more rows" in suspects[-1].data["text/html"]
    assert len(re.findall(r"0\.\d+|[\d.]+e-\d+", text_of(story))) == 8 and story[-1].data["text/plain"] == "(2900, 10)"


def test_it_is_kept_without_outputs():
    notebook = nbformat.read(PATH, as_version=4)
    assert all(cell.outputs == [] and cell.execution_count is None for cell in notebook.cells if cell.cell_type == "code")
