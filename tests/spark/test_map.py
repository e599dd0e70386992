"""portolan.spark.map_counts against the cells that portolan map --density draws."""

import os
import re
import subprocess

import numpy as np
import pytest

import portolan.spark


def drawn_cells(data, folder, run, *options):
    """(cells across, cells up, counts or means, (from, to) of x and of y) of the map's own script and data."""
    words = [os.environ["PORTOLAN"], "map", run, "--store", str(data.store), "--density", "-q", "--script", "-o", folder / "map.png", *options]
    subprocess.run(words, check=True)
    script = (folder / "map.gp").read_text(encoding="utf-8")

    def number(name):
        return float(re.search(rf"^{name} = (\S+)", script, re.MULTILINE)[1])

    across, up = int(number("cells_x")), int(number("cells_y"))
    cells = np.fromfile(folder / "map.map-data", dtype="<f4")
    assert len(cells) == across * up
    return across, up, cells, [(number(f"{axis}_from"), number(f"{axis}_to")) for axis in "xy"]


def there(data, options):
    """How many examples have both measures."""
    both = np.ones(len(data.expected), dtype=bool)
    for axis, name in {"x": "variability", "y": "confidence", **options}.items():
        values = data.expected[name]
        both &= (values >= 0 if values.dtype.kind == "i" else ~np.isnan(values)) | (axis == "colour")
    return both.sum()


@pytest.mark.parametrize("options", [{}, {"colour": "correctness"}, {"x": "forgetting_events", "y": "confidence"}, {"x": "correctness", "y": "grad"},
                                     {"x": "aum", "y": "first_learned"}])
@pytest.mark.parametrize("which", ["texts", "small"])
def test_the_cells_of_the_density_map(spark, request, tmp_path, which, options):
    if which == "small" and {"grad", "aum"} & set(options.values()):
        options = {"x": "correctness", "y": "aleatoric"} if "y" in options else options
    data, run = request.getfixturevalue(which), "run" if which == "small" else "snli/größe+1%2"
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    across, up, cells, ends = drawn_cells(data, tmp_path, run, *words)
    frame = portolan.spark.map_counts(portolan.spark.read(spark, run, *data.folders), **options)
    rows = frame.collect()
    assert frame.columns == ["x_low", "x_high", "y_low", "y_high", "count", *(["colour"] if "colour" in options else [])]
    assert len(rows) == across * up
    counts = np.array([row["count"] for row in rows])
    if "colour" in options:
        means = np.array([np.nan if row["colour"] is None else row["colour"] for row in rows])
        assert (np.isnan(means) == (counts == 0)).all()
        assert np.allclose(means, cells, rtol=1e-6, atol=0, equal_nan=True)
    else:
        assert (counts == np.nan_to_num(cells)).all()
    assert counts.sum() == there(data, options)
    for axis, (low, high) in zip("xy", ends, strict=True):
        assert rows[0][f"{axis}_low"] == pytest.approx(low, rel=1e-9, abs=1e-9)
        assert rows[-1][f"{axis}_high"] == pytest.approx(high, rel=1e-9, abs=1e-9)
    assert [rows[1]["x_low"], rows[across]["y_low"]] == pytest.approx([rows[0]["x_high"], rows[0]["y_high"]])


def test_what_is_wrong_is_said(spark, small):
    seen = portolan.spark.read(spark, "run", *small.folders)
    with pytest.raises(ValueError, match="colour='aum': there is no such measure"):
        portolan.spark.map_counts(seen, colour="aum")
    with pytest.raises(ValueError, match="no example has both gold and confidence"):
        portolan.spark.map_counts(seen, x="gold")
