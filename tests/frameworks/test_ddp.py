"""Four processes of torchrun (gloo), two data-loader workers each, an uneven dataset: every example exactly once in every epoch."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch

import portolan
from ddp_train import EPOCHS, EXAMPLES
from support import assert_trajectories, counts, gold_probs, run_script, trajectories
from torch_model import Model, data

RANK = Path(__file__).with_name("ddp_train.py")


def by_hand(folder):
    x, y = data(EXAMPLES).tensors
    columns = []
    for epoch in range(EPOCHS):
        model = Model()
        model.load_state_dict(torch.load(folder / f"{epoch}.pt"))
        model.eval()
        columns.append(gold_probs(model(x).detach().numpy(), y.numpy()))
    return dict(enumerate(np.stack(columns, 1).tolist()))


def check(store):
    out = subprocess.run([os.environ["PORTOLAN"], "check", "run", "--store", store, "--json"], capture_output=True, text=True, check=False)
    return json.loads(out.stdout)


def test_each_rank_observes_its_share(store, tmp_path):
    done = run_script(RANK, store, "epoch-end", tmp_path, ranks=4)
    assert_trajectories(store, EPOCHS, by_hand(tmp_path))
    assert set(counts(store)) == set(range(EXAMPLES)) and set(counts(store).values()) == {EPOCHS}
    assert done.stderr.count("observations on disk (by this process") == 4


def test_each_rank_logs_its_training_pass(store, tmp_path):
    run_script(RANK, store, "train-forward", tmp_path, ranks=4)
    ids, values = trajectories(store, EPOCHS)
    assert ids == list(range(EXAMPLES)) and np.isfinite(values).all()
    assert set(counts(store).values()) == {EPOCHS}


def test_a_job_that_died_is_resumed(store, tmp_path):
    assert run_script(RANK, store, "epoch-end", tmp_path, ranks=4, check=False, DIE_AFTER="1").returncode != 0
    refused = run_script(RANK, store, "epoch-end", tmp_path, ranks=4, check=False)
    assert "exists" in refused.stderr and refused.returncode != 0
    run_script(RANK, store, "epoch-end", tmp_path, 2, ranks=4)
    assert_trajectories(store, EPOCHS, by_hand(tmp_path))
    assert set(counts(store).values()) == {EPOCHS}


def test_all_ranks_of_a_second_start_record_under_its_number(store, tmp_path):
    for name in ("run", "run/2"):
        done = run_script(RANK, store, "epoch-end", tmp_path, ranks=4, IF_EXISTS="number")
        assert done.stderr.count(f"portolan: run {name}: ") >= 4 and done.stderr.count("this one is recorded as") == (name == "run/2")
        found = portolan.measures(name, store=store)
        assert found["id"].tolist() == list(range(EXAMPLES)) and set(found["epochs"]) == {EPOCHS}


def test_without_a_process_group_the_ranks_are_not_mixed(tmp_path):
    script = tmp_path / "no_group.py"
    script.write_text("import portolan.torch\nportolan.torch.open_run('run', store='store')\n", encoding="utf-8")
    done = run_script(script, check=False, WORLD_SIZE="4", RANK="0")
    assert done.returncode == 1 and "init_process_group" in done.stderr


@pytest.mark.parametrize("world", ["", "1"])
def test_one_process_is_no_job(tmp_path, store, world):
    script = tmp_path / "alone.py"
    script.write_text(f"import portolan.torch\nportolan.torch.open_run('run', store={str(store)!r}).close()\n", encoding="utf-8")
    run_script(script, **({"WORLD_SIZE": world} if world else {}))
