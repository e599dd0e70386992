"""portolan compare --scatter beside SciPy: the intervals it prints, and the dots, line and band that it draws.

    run_scatter.py PORTOLAN MAKE_STORE

Without SciPy the test says so and is skipped (status 77).
"""

import json
import os
import re
import sys
import tempfile

import numpy as np

try:
    from scipy import stats
except ImportError as missing:
    print(f"SKIPPED, as python3-scipy is not installed: {missing}", file=sys.stderr)
    sys.exit(77)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stores
from run_judged import Portolan, matched

N = 300


def runs():
    """Two runs of classes and two of losses, which share all but 40 examples; one of a few examples; one that says the same of each."""
    random = np.random.default_rng(5)
    base = random.normal(0, 2, N)
    for name, ids in (("a", np.arange(N - 20)), ("b", random.permutation(np.arange(20, N))), ("few", np.arange(20, 24))):
        levels = [1 / (1 + np.exp(-(base[ids] + random.normal(0, 1, len(ids))))) for _ in range(5)]
        yield stores.run(name, [stores.batch(e, ids, p, p > 0.5) for e, p in enumerate(levels)])
        if name == "few":
            yield stores.run("single", [stores.batch(0, ids[:1], levels[0][:1], levels[0][:1] > 0.5)])
        else:
            zeros = np.zeros(len(ids))
            yield stores.run("losses-" + name, [stores.batch(e, ids, zeros, zeros > 0, task_loss=-np.log(p)) for e, p in enumerate(levels)])
    flat = np.full(N, 0.5)
    yield stores.run("flat", [stores.batch(e, np.arange(N), flat, flat > 0) for e in range(3)])


def blocks_of(path):
    """What the script says of each panel and series."""
    with open(path, encoding="utf-8") as file:
        script = file.read()
    names = re.findall(r"\bName\[\d+\] = '(.*?)'", script)
    data = re.search(r"\$data << EOD\n(.*?)EOD\n", script, re.S)[1].split("\n\n\n")
    blocks = [np.array([line.split() for line in block.splitlines() if line], float) for block in data if block]
    assert len(names) == len(blocks), (names, len(blocks))
    return script, list(zip(names, blocks))


def check_table(portolan):
    report = json.loads(portolan("compare", "a", "b", "--json"))["correlations"]
    for row, reported in zip(portolan.table("compare", "a", "b"), report, strict=True):
        a, b = matched(portolan.metrics("a"), portolan.metrics("b"))
        x, y = (t[row["measure"]].astype("f8") for t in (a, b))
        both = (x >= 0) & (y >= 0) if a.dtype[row["measure"]].kind == "i" else np.isfinite(x) & np.isfinite(y)
        want = stats.pearsonr(x[both], y[both])
        interval = want.confidence_interval()
        got = [float(row[name]) for name in ("pearson", "pearson_low", "pearson_high")]
        assert np.abs(np.subtract(got, [want[0], interval.low, interval.high])).max() < 1e-9, (row, want, interval)
        assert got == [reported[name] for name in ("pearson", "pearson_low", "pearson_high")], reported
    three = portolan.table("compare", "a", "b", "few")
    means = [row for row in three if not row["run_a"]]
    assert means and all(row["pearson_low"] == row["pearson_high"] == "" for row in means)
    few = next(row for row in three if row["run_b"] == "few" and row["measure"] == "confidence")
    x, y = (t["confidence"] for t in matched(portolan.metrics(few["run_a"]), portolan.metrics("few")))
    interval = stats.pearsonr(x, y).confidence_interval()
    assert len(x) == 4 and np.allclose([float(few["pearson_low"]), float(few["pearson_high"])], [interval.low, interval.high], rtol=0, atol=1e-9)
    assert all(row["pearson"] == row["pearson_low"] == "" for row in portolan.table("compare", "a", "flat") if row["measure"] == "confidence")


def check_panel(title, series, x, y):
    """The dots are the pairs; the line and its band those of statsmodels and textbooks, made from SciPy's fit."""
    (dots_name, dots), (band_name, band), (line_name, line) = series
    assert [dots_name, band_name, line_name] == ["examples", "95% band", "regression line"]
    assert np.allclose(dots, np.column_stack([x, y]), rtol=1e-12)
    fit = stats.linregress(x, y)
    assert np.allclose(line, [[at, fit.intercept + fit.slope * at] for at in (x.min(), x.max())], rtol=1e-9)
    lower, upper = band[:len(band) // 2], band[len(band) // 2:][::-1]
    assert np.array_equal(lower[:, 0], upper[:, 0]) and np.allclose([lower[0, 0], lower[-1, 0]], [x.min(), x.max()])
    off, n = lower[:, 0] - x.mean(), len(x)
    # Var of the height = Var(ȳ) + off² Var(slope), with Var(slope) as SciPy has it
    squares = ((x - x.mean()) ** 2).sum()
    half = stats.t.ppf(0.975, n - 2) * fit.stderr * np.sqrt(squares / n + off ** 2)
    middle = fit.intercept + fit.slope * lower[:, 0]
    assert np.allclose(lower[:, 1], middle - half, atol=1e-9) and np.allclose(upper[:, 1], middle + half, atol=1e-9), (lower, half)
    r = stats.pearsonr(x, y)
    interval = r.confidence_interval()
    assert title.endswith(f": r = {r[0]:.3f}, 95% interval {interval.low:.3f} to {interval.high:.3f}"), title


def check_pictures(portolan):
    for a, b, measures in (("a", "b", ("confidence", "variability")), ("losses-a", "losses-b", ("task_loss", "variability")), ("few", "b", ("confidence", "variability"))):
        portolan("compare", a, b, "--scatter", "s.svg", "--script", "-o", "s.csv")
        assert os.path.getsize("s.csv") > 100 and b"</svg>" in open("s.svg", "rb").read()[-20:]
        script, series = blocks_of("s.gp")
        titles = re.findall(r"\bTitle\[\d+\] = '(.*?)'", script)
        tables = matched(portolan.metrics(a), portolan.metrics(b))
        for at, measure in enumerate(measures):
            assert titles[at].startswith(measure + ":"), titles
            check_panel(titles[at], series[3 * at:3 * at + 3], *(table[measure].astype("f8") for table in tables))
        assert f"{len(tables[0])} examples that both runs have" in script


def check_sample(portolan):
    """The dots are some of the pairs, each once; the line, and what is printed, are of all."""
    portolan("compare", "a", "b", "--scatter", "whole.svg", "--script", "-o", "s.csv")
    _, whole = blocks_of("whole.gp")
    drawn = []
    for seed in (0, 0, 1):
        portolan("compare", "a", "b", "--scatter", "part.svg", "--script", "--sample", 50, "--seed", seed, "-o", "s.csv")
        script, part = blocks_of("part.gp")
        assert "50 of 260 examples shown, sampled" in script, script[:3000]
        for (_, some), (_, rest) in zip(part[::3], whole[::3], strict=True):
            assert len({tuple(dot) for dot in some}) == 50 and {tuple(dot) for dot in some} <= {tuple(dot) for dot in rest}
        assert all(np.array_equal(part[i][1], whole[i][1]) for i in (1, 2, 4, 5))
        drawn.append(part[0][1].tolist())
    assert drawn[0] == drawn[1] != drawn[2]


def check_flat(portolan):
    """Where a run says the same of all there is no line, and the picture says why."""
    portolan("compare", "a", "flat", "--scatter", "s.svg", "--script", "-o", "s.csv")
    script, series = blocks_of("s.gp")
    assert script.count("no correlation, as it is constant in a run") == 2
    # a is constant in neither; a line over its values is there, and flat's values lie on it
    assert all(np.allclose(block[:, 1], value) for at, value in ((0, 0.5), (3, 0)) for _, block in series[at:at + 3])
    portolan("compare", "flat", "a", "--scatter", "s.svg", "--script", "-o", "s.csv")
    assert [name for name, _ in blocks_of("s.gp")[1]] == ["examples", "examples"]
    portolan("compare", "b", "single", "--scatter", "s.svg", "--script", "-o", "s.csv")
    assert blocks_of("s.gp")[0].count("fewer than two examples") == 2


def main():
    program, maker = (os.path.abspath(path) for path in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["PORTOLAN_STORE"] = os.path.join(folder, "store")
        stores.make_store(maker, "store", list(runs()))
        portolan = Portolan(program)
        check_table(portolan)
        check_pictures(portolan)
        check_sample(portolan)
        check_flat(portolan)
        os.chdir("/")
    print("intervals, lines and bands as SciPy has them")


if __name__ == "__main__":
    main()
