"""portolan.map(): drawn, saved, shown in a notebook's cell; and what a run says of its map when it is closed."""

import os
import pty
import subprocess
import sys
import types

import numpy as np
import pytest

import portolan
from portolan._reading._sheet import Sheet
from python_support import FORKS

PNG, SVG = b"\x89PNG", b"<?xml"


def record(store, name="run", ids=range(60), seed=0):
    rng = np.random.default_rng(seed)
    with portolan.Run(name, store=store) as run:
        for epoch in range(3):
            p = rng.random(60)
            run.log_gold(epoch, list(ids), p, p > 0.5, gold=[0] * 60)
            run.end_epoch(epoch)


def test_it_is_saved_as_its_ending_says(store, tmp_path):
    record(store)
    drawn = portolan.map("run", store=store, epochs="1:", title="two of three")
    for ending, begin in (("png", PNG), ("svg", SVG), ("pdf", b"%PDF"), ("gif", b"GIF89a"), ("html", b"<!doctype html>")):
        path = tmp_path / f"map.{ending}"
        assert drawn.save(path) == str(path)
        content = path.read_bytes()
        assert content[: len(begin)].lower() == begin.lower() and len(content) > 2000, ending
    assert "two of three" in (tmp_path / "map.svg").read_text()
    assert sorted(os.listdir(tmp_path)) == sorted(["store", *(f"map.{ending}" for ending in ("png", "svg", "pdf", "gif", "html"))])
    with pytest.raises(portolan.Error, match="map.bmp"):
        drawn.save(tmp_path / "map.bmp")


def test_it_is_shown_in_one_format(store):
    record(store)
    drawn = portolan.map("run", store=store)
    assert drawn._repr_png_().startswith(PNG) and drawn._repr_svg_() is None
    assert drawn._repr_png_() is drawn._repr_png_(), "drawn once"
    drawn = portolan.map("run", store=store, format="svg")
    assert drawn._repr_png_() is None and drawn._repr_svg_().startswith(SVG.decode())
    assert repr(drawn).startswith("<portolan.Map of 'run'")
    with pytest.raises(ValueError, match="format must be 'png' or 'svg'"):
        portolan.map("run", store=store, format="jpeg")


def test_options_go_to_the_command(store, tmp_path):
    ids = [f"a,{i}\\" for i in range(60)]
    record(store, ids=ids)
    record(store, "other", ids=ids, seed=1)
    (tmp_path / "mine.csv").write_text("key,agreement\n" + "".join(f'"{one}",{i}\n' for i, one in enumerate(ids)))
    (tmp_path / "halves.csv").write_text("key,half\n" + "".join(f'"{one}",{"first" if i < 30 else "second"}\n' for i, one in enumerate(ids)))
    gold = portolan.measures("run", store=store)["gold"][ids.index(min(ids))]
    (tmp_path / "fixed.tsv").write_text(f"id\told\tnew\n{min(ids)}\t{gold}\tdrop\n")
    for given in ({"x": "correctness", "y": "confidence", "colour": "forgetting_events"}, {"density": True, "compact": True}, {"beside": "other"},
                  {"shift": "other"}, {"path": ids[:2]}, {"sample": 10, "seed": 3}, {"width": "3.3in", "font": "DejaVu Serif,9", "regions": "0.2,0.5"}, {"color": "confidence"},
                  {"colour": "agreement", "colour_file": tmp_path / "mine.csv", "id_field": "key"},
                  {"colour": "agreement", "data": tmp_path / "mine.csv", "id_field": "key"},
                  {"highlight": tmp_path / "mine.csv", "id_field": "key"},
                  {"corrections": tmp_path / "fixed.tsv"}, {"corrections": tmp_path / "fixed.tsv", "colour": "gold"},
                  {"colour": "half", "data": tmp_path / "halves.csv", "id_field": "key", "facet": True}):
        portolan.map("run", store=store, **given).save(tmp_path / "map.svg")
    with pytest.raises(portolan.Error, match="--beside"):
        portolan.map("run", store=store, beside="other", shift="other").save(tmp_path / "map.svg")


def test_measures_over_windows(store, tmp_path):
    record(store)
    with pytest.raises(portolan.Error, match="dyn_unc"):
        portolan.map("run", store=store, x="dyn_unc").save(tmp_path / "map.svg")
    drawn = set()
    for window in (2, 3):
        portolan.map("run", store=store, window=window, x="dyn_unc", y="dual").save(tmp_path / "map.svg")
        subprocess.run([os.environ["PORTOLAN"], "map", "run", "--store", store, "--window", str(window), "--x", "dyn_unc", "--y", "dual",
                        "-o", tmp_path / "its.svg"], check=True)
        assert (tmp_path / "map.svg").read_text() == (tmp_path / "its.svg").read_text()
        drawn.add((tmp_path / "map.svg").read_text())
    assert len(drawn) == 2
    with pytest.raises(portolan.Error, match="--window 1"):
        portolan.map("run", store=store, window=1).save(tmp_path / "map.svg")


def test_data_are_of_the_page_alone(store, tmp_path):
    record(store)
    (tmp_path / "data.jsonl").write_text("".join(f'{{"id": {i}, "caption": "picture {i} of sixty"}}\n' for i in range(60)))
    drawn = portolan.map("run", store=store, data=tmp_path / "data.jsonl", id_field="id", text="caption")
    drawn.save(tmp_path / "map.html")
    assert drawn._repr_png_().startswith(PNG)
    assert portolan.map("run", store=store).save(tmp_path / "plain.html")
    assert (tmp_path / "map.html").stat().st_size > (tmp_path / "plain.html").stat().st_size
    (tmp_path / "glue.jsonl").write_text("".join(f'{{"id": "{i}.jpg#c", "half": "{i % 2}"}}\n' for i in range(6)))  # 1, 11, … 51
    drawn = portolan.map("run", store=store, data=tmp_path / "glue.jsonl", id_field="id", colour="half", glue=True)
    drawn.save(tmp_path / "map.svg")
    with pytest.raises(portolan.Error):
        portolan.map("run", store=store, data=tmp_path / "glue.jsonl", id_field="id", colour="half").save(tmp_path / "map.svg")


def test_an_open_run(store):
    with portolan.Run("open", store=store) as run:
        run.log_gold(0, [0, 1], [0.2, 0.7], [False, True])
        run.end_epoch(0)
        run.log_gold(1, [0, 1], [0.3, 0.6], [False, True])
        assert portolan.map(run)._repr_png_().startswith(PNG)


def test_without_gnuplot_and_matplotlib_the_message_says_what_brings_them(store, tmp_path, monkeypatch):
    record(store)
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr("portolan._reading._picture.find_spec", lambda name: None)
    with pytest.raises(portolan.Error) as raised:
        portolan.map("run", store=store).save(tmp_path / "map.png")
    for words in ("apt-get install gnuplot-nox", "conda install -c conda-forge gnuplot", "pip install matplotlib", ".html needs neither"):
        assert words in str(raised.value)
    assert sorted(os.listdir(tmp_path)) == ["bin", "store"]
    portolan.map("run", store=store).save(tmp_path / "map.html")
    assert (tmp_path / "map.html").read_bytes().lower().startswith(b"<!doctype html>")


def test_what_a_script_says(store, tmp_path):
    """What matplotlib draws from, where there is no gnuplot."""
    record(store)
    title = "Level[1] = 9; x_name = 'no' << EOD"
    subprocess.run([os.environ["PORTOLAN"], "map", "run", "--store", store, "--title", title, "--script", "-o", tmp_path / "map.png"], check=True)
    sheet = Sheet((tmp_path / "map.gp").read_text(encoding="utf-8"))
    assert sheet["map_title"] == title.replace("'", "\u2019") and sheet["x_name"] == "variability" and sheet["format"] == "png"
    assert (sheet["width"], sheet["frames"], sheet["levels"], sheet["panels"]) == (1000, 1, 4, 3)
    assert sheet["Level"] == ["none", "1 of 3", "2 of 3", "all"] and len(sheet["Colour"]) == 4 and all(0 <= colour < 1 << 24 for colour in sheet["Colour"])
    assert (sheet["Skip"], len(sheet["Size"]), len(sheet["LabelX"])) == ([0], 4, 3)
    assert os.path.getsize(tmp_path / "map.map-data") >= 16 * sheet["Points"][0] > 0
    levels = [sum(row[1] for row in block) for block in sheet["$bars"] if block]
    assert levels == [60, 60, 60], "every histogram counts each example"


def test_no_such_run(store):
    record(store)
    with pytest.raises(portolan.Error, match="no run 'runn'"):
        portolan.map("runn", store=store)._repr_png_()


CLOSES = """
import os, sys, portolan
with portolan.Run("my run", store=sys.argv[1]) as run:
    run.log_gold(0, [0, 1, 2], [0.2, 0.7, 0.9], [False, True, True])
with portolan.Run("empty", store=sys.argv[1]):
    pass
run = portolan.Run("the parent's", store=sys.argv[1])
if os.fork() == 0:
    run.close()
    os._exit(0)
os.wait()
run.close()
"""


def said_on_a_terminal(store, *streams):
    """What the program said; stdout and stderr are a terminal, or what `streams` has of them."""
    outer, inner = pty.openpty()
    where = {"stdout": inner, "stderr": inner, **dict.fromkeys(streams, subprocess.DEVNULL)}
    done = subprocess.run([sys.executable, *FORKS, "-c", CLOSES, str(store)], check=True, **where)
    os.close(inner)
    said = b""
    try:
        while piece := os.read(outer, 4096):
            said += piece
    except OSError:  # nobody has the other end any more
        pass
    os.close(outer)
    assert done.returncode == 0
    return said.decode().splitlines()


def test_a_run_closed_on_a_terminal_says_one_line(store):
    (line,) = said_on_a_terminal(store)
    assert line.startswith("portolan: run my run: 3 observations on disk (")
    assert line.endswith(f"; its report: portolan report 'my run' --store {store} -o report.html; its map: portolan map 'my run' --store {store} --epochs auto -o map.png")


def test_a_run_closed_elsewhere_says_nothing(store):
    assert said_on_a_terminal(store, "stderr") == []


def test_in_a_notebook_the_line_says_it_in_python(store, monkeypatch, capfd):
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace(kernel=object())))
    record(store)
    out, err = capfd.readouterr()
    assert err == "" and out.count("\n") == 1 and out.startswith("portolan: run run: 180 observations on disk")
    call = out.rpartition("its map: ")[2]
    assert eval(call)._repr_png_().startswith(PNG)
