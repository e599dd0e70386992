"""portolan.map() by matplotlib, where there is no gnuplot: beside the picture that gnuplot draws."""

import os
import re
import shutil
from html import unescape

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from matplotlib.image import imread

import portolan

TITLE = "$x^2$ \\alpha <b> Level[1] = 9; Level[1] = 'no'"
CASES = [{}, {"title": TITLE, "compact": True}, {"colour": "forgetting_events"}, {"density": True}, {"density": True, "colour": "correctness"}, {"beside": "other"},
         {"shift": "other"}, {"path": ["a,1", "b 2"]}, {"x": "correctness", "y": "forgetting_events"}, {"sample": 100, "seed": 3, "epochs": "1:"}]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, stores):
    store = tmp_path_factory.mktemp("map") / "store"
    stores.append(store)
    for seed, name in enumerate(("run", "other")):
        rng = np.random.default_rng(seed)
        ease = rng.beta(2, 1, 400)
        with portolan.Run(name, store=store) as run:
            for epoch in range(4):
                p = np.clip(ease + rng.normal(0, 0.25, 400), 0.001, 0.999)
                run.log_gold(epoch, ["a,1", "b 2", *map(str, range(398))], p, p > 0.5, gold=[0] * 400)
                run.end_epoch(epoch)
    return store


@pytest.fixture
def without_gnuplot(tmp_path, monkeypatch):
    """$PATH has everything but gnuplot, and what finds fonts for it."""
    (tmp_path / "bin").mkdir()
    os.symlink(shutil.which("sh"), tmp_path / "bin/sh")

    def leave():
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    assert shutil.which("gnuplot"), "these tests compare with gnuplot"
    return leave


def texts(path):
    """What an SVG says in words: without numbers, of which each axis has its own."""
    found = re.findall(r"<text[^>]*>(.*?)</text>", path.read_text(encoding="utf-8"), re.DOTALL)
    said = {" ".join(unescape(re.sub(r"<[^>]*>", "", text)).split()) for text in found}
    return {text for text in said if re.search(r"[^\W\d]{2}", text)}


@pytest.mark.parametrize("given", CASES, ids=lambda given: "-".join(given) or "plain")
def test_the_same_picture(recorded, without_gnuplot, tmp_path, given):
    drawn = portolan.map("run", store=recorded, **given)
    drawn.save(tmp_path / "gnuplot.svg")
    drawn.save(tmp_path / "gnuplot.png")
    without_gnuplot()
    drawn.save(tmp_path / "own.svg")
    drawn.save(tmp_path / "own.png")
    want = texts(tmp_path / "gnuplot.svg")
    assert len(want) >= 3 and texts(tmp_path / "own.svg") == want
    pictures = [imread(tmp_path / f"{name}.png")[:, :, :3] for name in ("gnuplot", "own")]
    assert pictures[0].shape == pictures[1].shape
    coarse = [picture[: picture.shape[0] // 20 * 20, : picture.shape[1] // 20 * 20] for picture in pictures]
    coarse = [picture.reshape(picture.shape[0] // 20, 20, picture.shape[1] // 20, 20, 3).mean(axis=(1, 3)) for picture in coarse]
    inside = [picture[10:62, 8:66] for picture in coarse]  # of the frame: points, or cells, where they belong and of their colours
    assert np.abs(inside[0] - inside[1]).mean() < 0.02
    assert np.corrcoef(inside[0].ravel(), inside[1].ravel())[0, 1] > 0.9


def test_it_is_shown_and_saved_as_pdf(recorded, without_gnuplot, tmp_path):
    without_gnuplot()
    assert portolan.map("run", store=recorded)._repr_png_().startswith(b"\x89PNG")
    assert portolan.map("run", store=recorded, format="svg")._repr_svg_().startswith("<?xml")
    portolan.map("run", store=recorded).save(tmp_path / "map.pdf")
    assert (tmp_path / "map.pdf").read_bytes().startswith(b"%PDF")
    report = portolan.report("run", store=recorded, map=tmp_path / "report.png")
    assert (tmp_path / "report.png").read_bytes().startswith(b"\x89PNG") and report["map"] == str(tmp_path / "report.png")


def test_an_animation_needs_gnuplot(recorded, without_gnuplot, tmp_path):
    without_gnuplot()
    with pytest.raises(portolan.Error, match="gnuplot not found: apt-get install gnuplot-nox, or conda install -c conda-forge gnuplot"):
        portolan.map("run", store=recorded).save(tmp_path / "map.gif")
    assert os.listdir(tmp_path) == ["bin"]


def test_what_the_command_refuses_is_refused(recorded, without_gnuplot, tmp_path):
    without_gnuplot()
    with pytest.raises(portolan.Error, match="no run 'runn'"):
        portolan.map("runn", store=recorded).save(tmp_path / "map.png")
