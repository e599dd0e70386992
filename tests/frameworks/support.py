"""What the tests of the hooks share, besides python_support.py: reading trajectories back, and probabilities by hand."""

import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np

import portolan

ROOT = Path(__file__).resolve().parents[2]


def trajectories(store, epochs, name="run", measure="confidence"):
    """(ids, values): one row per example, one column per epoch; NaN where there is no observation."""
    ids = portolan.measures(name, store=store)["id"].tolist()
    values = np.full((len(ids), epochs), np.nan)
    for epoch in range(epochs):
        m = portolan.measures(name, store=store, epochs=(epoch, epoch + 1))
        at = {one: row for row, one in enumerate(m["id"].tolist())}
        for row, one in enumerate(ids):
            if one in at and m["epochs"][at[one]]:
                values[row, epoch] = m[measure][at[one]]
    return ids, values


def softmax(logits):
    logits = np.asarray(logits, dtype=np.float64)
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def gold_probs(logits, gold):
    return softmax(logits)[np.arange(len(gold)), np.asarray(gold)]


def assert_trajectories(store, epochs, expected, name="run", tolerance=1e-6):
    """`expected`: {id: [p(gold) of each epoch]}."""
    ids, values = trajectories(store, epochs, name)
    assert set(ids) == set(expected)
    np.testing.assert_allclose(values, [expected[one] for one in ids], rtol=0, atol=tolerance)


def counts(store, name="run"):
    """{id: number of epochs seen}"""
    m = portolan.measures(name, store=store)
    return dict(zip(m["id"].tolist(), m["epochs"].tolist()))


def run_script(path, *arguments, ranks=None, timeout=300, check=True, **environment):
    """A program of its own; with `ranks`, that many processes of torchrun."""
    command = [sys.executable]
    if ranks:
        command += ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
    done = subprocess.run(
        [*command, str(path), *map(str, arguments)], capture_output=True, text=True, timeout=timeout, check=False,
        env=dict(os.environ, OMP_NUM_THREADS="1", **environment))
    assert not check or done.returncode == 0, done.stderr
    return done


def kill_at(path, line, *arguments, **environment):
    """Starts a program, and kills it with SIGKILL when it has printed `line`."""
    process = subprocess.Popen([sys.executable, str(path), *map(str, arguments)], stdout=subprocess.PIPE, text=True,
                               env=dict(os.environ, OMP_NUM_THREADS="1", PYTHONUNBUFFERED="1", **environment))
    with process:
        for got in process.stdout:
            if got.strip() == line:
                process.send_signal(signal.SIGKILL)
                break
        process.stdout.read()
    assert process.returncode == -signal.SIGKILL, f"it ended before it said {line!r}"


def write_script(folder, name, code):
    path = folder / name
    path.write_text(textwrap.dedent(code), encoding="utf-8")
    return path


def blocks(page):
    """[(language, code)] of a page of client/python/docs."""
    text = (ROOT / "client/python/docs" / page).read_text(encoding="utf-8")
    return re.findall(r"^```(python|sh)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def run_page(page, folder):
    """Runs the page's blocks as they stand, one after the other, in `folder`. A Python block that begins with the comment `# NAME.py` is
    saved under that name, for the others."""
    for language, block in blocks(page):
        named = re.match(r"# (\w+\.py)\n", block)
        if named:
            (folder / named[1]).write_text(block, encoding="utf-8")
        else:
            run_page_block(language, block, folder)


def run_page_block(language, block, folder):
    """Runs a block of a page as it stands, in `folder`; commands find the programs and this interpreter's own."""
    programs = [str(Path(os.environ[name]).parent) for name in ("PORTOLAN", "PORTOLAND")] + [str(Path(sys.executable).parent)]
    environment = dict(os.environ, PATH=":".join([*programs, os.environ["PATH"]]), OMP_NUM_THREADS="1")
    if language == "python":
        (folder / "block.py").write_text(block, encoding="utf-8")
    command = [sys.executable, "block.py"] if language == "python" else ["bash", "-euc", block]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{block}\n{done.stderr}"
