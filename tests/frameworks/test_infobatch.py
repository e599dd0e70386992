"""portolan.torch.InfoBatchSampler: what it leaves out and how it weighs, beside the code published with InfoBatch; the record; resuming."""

import json

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

import portolan
import portolan.torch
from portolan.torch import InfoBatchSampler
from support import ROOT

PUBLISHED = json.loads((ROOT / "tests" / "cli" / "published_pruning.json").read_text(encoding="utf-8"))["infobatch"]
N = PUBLISHED["examples"]
LOSSES = torch.from_numpy(np.random.default_rng(PUBLISHED["seed"]).gamma(2, 1, N).astype("f4"))


def informed(epochs=1000, **options):
    """A sampler that knows all losses."""
    sampler = InfoBatchSampler(N, epochs, **options)
    sampler.loss(range(N), LOSSES)
    return sampler


@pytest.mark.parametrize("ratio", ["0.5", "0.3"])
def test_as_many_are_kept_as_published_and_their_weights_make_up_for_the_others(ratio):
    numbers = PUBLISHED[ratio]
    sampler = informed(ratio=float(ratio))
    taken = list(sampler)
    weights = sampler.weights.numpy()
    well = (LOSSES < LOSSES.mean()).numpy()
    assert well.sum() == numbers["well_learned"] and len(set(taken)) == len(taken) == len(sampler) == numbers["kept"]
    assert sorted(taken) == np.flatnonzero(weights).tolist() and (weights[~well] == 1).all()
    assert (weights[well] > 0).sum() == numbers["kept_of_them"]
    np.testing.assert_allclose(weights[well][weights[well] > 0], numbers["well_learned"] / numbers["kept_of_them"], rtol=1e-6)
    assert abs(weights.max() - numbers["weight"]) < numbers["weight"] / numbers["kept_of_them"]  # theirs is 1 / (1 - ratio), which is not exact
    assert weights.sum() == pytest.approx(N)


@pytest.mark.parametrize("epochs", [3, 8, 10])
def test_the_last_epochs_are_whole(epochs):
    sampler = informed(epochs)
    pruned = [len(list(sampler)) < N for _ in range(epochs)]
    assert pruned == [epoch < PUBLISHED["epochs_pruned"][str(epochs)] for epoch in range(epochs)]
    assert (sampler.weights == 1).all()


def test_the_weighted_sum_is_without_bias():
    sampler = informed(ratio=0.7)
    values = LOSSES.double() ** 2  # any function of the example, as a gradient is
    sums = []
    for _ in range(800):
        iter(sampler)
        sums.append(float((sampler.weights.double() * values).sum()))
    assert abs(np.mean(sums) - float(values.sum())) < 4 * np.std(sums, ddof=1) / np.sqrt(len(sums)) and np.std(sums) > 0


def test_the_loss_is_the_weighted_mean_and_carries_gradients():
    sampler = informed()
    taken = list(sampler)[:20]
    losses = torch.linspace(0.1, 3, 20, requires_grad=True)
    loss = sampler.loss(torch.tensor(taken), losses)
    loss.backward()
    weights = sampler.weights[taken]
    assert loss.item() == pytest.approx(float((weights * losses.detach()).mean())) and torch.allclose(losses.grad, weights / 20)
    assert torch.equal(sampler.losses[taken], losses.detach().double()), "kept as they were, not weighted"


def test_unknown_losses_are_never_left_out():
    sampler = InfoBatchSampler(N, 10)
    assert sorted(sampler) == list(range(N))
    sampler.loss([0, 1, 2, 3], torch.tensor([1.0, 2.0, 3.0, torch.nan]))
    assert sorted(sampler) == list(range(N)), "of one example below the mean one stays"
    sampler.loss(range(50), torch.arange(50.0))
    left = set(range(N)) - set(sampler)
    assert len(left) == 13 and left < set(range(25))


def training(sampler, dataset, epochs, workers=0):
    """What the loader brings, epoch by epoch; the losses are made up."""
    loader = DataLoader(portolan.torch.WithIds(dataset), batch_size=8, sampler=sampler, num_workers=workers)
    seen = []
    for _ in range(epochs):
        seen.append([])
        for ids, x in loader:
            seen[-1] += ids.tolist()
            sampler.loss(ids, (x - 0.01 * len(seen)).abs())
    return seen


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_and_a_state_go_on_with_the_same_draws(workers):
    dataset = TensorDataset(LOSSES)
    whole = training(InfoBatchSampler(dataset, 8, seed=3), dataset, 8, workers)
    first = InfoBatchSampler(dataset, 8, seed=3)
    begun = training(first, dataset, 4, workers)
    second = InfoBatchSampler(dataset, 8, seed=3)
    second.load_state_dict(first.state_dict())
    assert len(second) == len(begun[-1]) < N and begun + [len(whole)] == whole[:4] + [8]
    rest = InfoBatchSampler(dataset, 8, seed=3)
    rest.load_state_dict(first.state_dict())
    loader = DataLoader(portolan.torch.WithIds(dataset), batch_size=8, sampler=rest)
    assert [i for ids, _ in loader for i in ids.tolist()] == whole[4]
    assert whole[1] != training(InfoBatchSampler(dataset, 8, seed=4), dataset, 2)[1]
    with pytest.raises(ValueError, match="the state is that of 101 examples"):
        InfoBatchSampler(5, 8).load_state_dict(first.state_dict())


def test_the_record_shows_what_was_left_out(store):
    sampler = informed()
    probs = np.full((N, 2), 0.5)
    with portolan.Run("run", store=store) as run:
        for epoch in range(2):
            taken = set(sampler)
            run.log_probs(epoch, np.arange(N), probs, np.zeros(N, int), columns=sampler.columns(np.arange(N)))
            run.end_epoch(epoch)
    m = portolan.measures("run", store=store, epochs=(1, 2))
    assert set(m["id"][m["infobatch_weight"] > 0].tolist()) == taken and len(taken) < N


def test_what_is_refused():
    for wrong in ({"dataset": 0}, {"epochs": 0}, {"ratio": 1}, {"ratio": -0.1}, {"until": 1.1}):
        with pytest.raises(ValueError, match=f"InfoBatchSampler: {next(iter(wrong))}: "):
            InfoBatchSampler(**{"dataset": N, "epochs": 3, **wrong})
    with pytest.raises(ValueError, match="reduction='none'"):
        informed().loss([1, 2], torch.tensor(0.5))
