"""Training is killed with SIGKILL in the middle of an epoch, and goes on from its checkpoint: the record is that of a training that
nobody interrupted."""

from pathlib import Path

import numpy as np
import pytest

from resumable import EPOCHS, EXAMPLES
from support import counts, kill_at, run_script, trajectories

TRAINING = Path(__file__).with_name("resumable.py")


@pytest.mark.parametrize("mode", ["train-forward", "epoch-end"])
def test_killed_and_resumed(store, stores, tmp_path, mode):
    whole = tmp_path / "whole"
    stores.append(whole / "store")
    whole.mkdir()
    run_script(TRAINING, whole / "store", mode, whole)
    kill_at(TRAINING, "step 2 4", store, mode, tmp_path)
    assert (tmp_path / "last.pt").exists()
    run_script(TRAINING, store, mode, tmp_path)
    ids, expected = trajectories(whole / "store", EPOCHS)
    again, got = trajectories(store, EPOCHS)
    assert ids == again == list(range(EXAMPLES)) and set(counts(store).values()) == {EPOCHS}
    np.testing.assert_array_equal(got, expected)
