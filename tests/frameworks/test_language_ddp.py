"""Language models in two processes of torchrun (gloo): every example once in every epoch, by value against the checkpoints, or against what
each process has made of its scores itself."""

import json
from pathlib import Path

import pytest
from transformers import GPT2LMHeadModel

from language_data import assert_recorded, of_model, texts
from language_train import EPOCHS, EXAMPLES
from support import counts, run_script
from test_sft import assert_epochs, checkpoints, completion_of, expected

RANK = Path(__file__).with_name("language_train.py")


def test_each_rank_observes_its_share(store, tmp_path):
    run_script(RANK, store, "observe", tmp_path, ranks=2)
    assert len(checkpoints(tmp_path)) == EPOCHS
    for epoch, path in enumerate(checkpoints(tmp_path)):
        model = GPT2LMHeadModel.from_pretrained(path).eval()
        want = {e["id"]: of_model(model, e["input_ids"], range(1, len(e["input_ids"]))) for e in texts(EXAMPLES)}
        assert_recorded(store, want, epochs=(epoch, epoch + 1))


@pytest.mark.parametrize("mode", ["log", "packed"])
def test_each_rank_logs_its_training_pass(store, tmp_path, mode):
    """21 examples in two processes: the sampler repeats one, and what the rank that came later has seen of it stays."""
    run_script(RANK, store, mode, tmp_path, ranks=2)
    first, second = (json.loads((tmp_path / f"{rank}.json").read_text()) for rank in (0, 1))
    for epoch in range(EPOCHS):
        assert len(first[epoch]) == len(second[epoch]) == 11 and len(first[epoch].keys() & second[epoch]) == 1
        want = first[epoch] | second[epoch]
        assert want.keys() == {e["id"] for e in texts(EXAMPLES)}
        assert_recorded(store, want, tolerance=2e-6, epochs=(epoch, epoch + 1))


def test_the_trainers_processes(store, tmp_path):
    run_script(RANK, store, "sft", tmp_path, ranks=2)
    assert_epochs(store, expected(tmp_path, completion_of))
    assert set(counts(store).values()) == {2}
