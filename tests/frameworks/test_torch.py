"""portolan.torch against the real torch: what is recorded, and that training does not notice."""

import contextlib
import copy
import random

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, Subset, TensorDataset, random_split

import portolan
import portolan.torch
from support import assert_trajectories, counts, gold_probs, run_page, trajectories
from torch_model import Model, data

EPOCHS = 3


def train(epochs, loader, observe=lambda model, epoch: None, seed=1):
    """A loop as people have it, over (ids, x, y)."""
    torch.manual_seed(seed)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(epochs):
        model.train()
        for _, x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        observe(model, epoch)
    return model


def by_hand(states, dataset):
    """{id: [p(gold)]} from checkpoints."""
    x, y = dataset.tensors
    columns = []
    for state in states:
        model = Model()
        model.load_state_dict(state)
        model.eval()
        with torch.no_grad():
            columns.append(gold_probs(model(x).numpy(), y.numpy()))
    return dict(enumerate(np.stack(columns, 1).tolist()))


def same(a, b):
    return all(torch.equal(p, q) for p, q in zip(a.state_dict().values(), b.state_dict().values()))


@pytest.mark.parametrize("workers", [0, 2])
def test_observed_trajectories_are_those_of_the_checkpoints_and_training_goes_the_same_way(store, workers, capfd):
    dataset, states = data(), []
    loader = DataLoader(portolan.torch.WithIds(dataset), batch_size=32, shuffle=True, num_workers=workers)
    alone = train(EPOCHS, loader)
    with portolan.torch.open_run("run", Model(), store=store) as run:
        def observe(model, epoch):
            states.append(copy.deepcopy(model.state_dict()))
            assert portolan.torch.observe(run, model, loader, epoch) == len(dataset)
        observed = train(EPOCHS, loader, observe)
    assert same(alone, observed), "observing changed the training"
    assert_trajectories(store, EPOCHS, by_hand(states, dataset))
    assert "360 observations on disk" in capfd.readouterr().err


def test_train_forward_records_what_the_step_computed(store):
    dataset, expected = data(), {}
    loader = DataLoader(portolan.torch.WithIds(dataset, ids=[f"e{i}" for i in range(120)]), batch_size=32, shuffle=True)
    torch.manual_seed(0)
    model = Model()
    with portolan.Run("run", store=store, mode="train-forward") as run:
        for epoch in range(EPOCHS):
            for ids, x, y in loader:
                logits = model(x)
                run.log_logits(epoch, ids, logits, y)
                nn.functional.cross_entropy(logits, y).backward()
                for one, p in zip(ids, gold_probs(logits.detach().numpy(), y.numpy())):
                    expected.setdefault(one, []).append(p)
    assert_trajectories(store, EPOCHS, expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_every_type_of_float(store, dtype):
    logits, gold = torch.randn(50, 4).to(dtype).requires_grad_(), torch.randint(0, 4, (50,))
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, torch.arange(50), logits * 1, gold)
    assert_trajectories(store, 1, dict(enumerate(gold_probs(logits.detach().double().numpy(), gold)[:, None].tolist())))


def log_three_ways(run, epoch, ids, logits, gold):
    """Logits, their softmax, and p(gold) with whether it is right."""
    probs, here = logits.detach().double().softmax(1), gold.long().reshape(-1)
    run.log_logits(epoch, ids, logits, gold)
    run.log_probs(epoch + 1, ids, probs.to(logits.dtype), gold)
    run.log_gold(epoch + 2, ids, probs[torch.arange(len(probs)), here].to(logits.dtype), logits.detach().argmax(1) == here, gold)


LAYOUTS = {
    "contiguous": lambda x: x.contiguous(),
    "columns of a wider one": lambda x: torch.cat((x, x), 1)[:, : x.shape[1]],
    "every second row and column": lambda x: x.repeat_interleave(2, 0).repeat_interleave(2, 1)[::2, ::2],
    "transposed": lambda x: x.t().contiguous().t(),
    "from within": lambda x: torch.cat((x[:3], x))[3:],
    "in a graph": lambda x: x.clone().requires_grad_() * 1,
    "a parameter": lambda x: nn.Parameter(x.clone()),
}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout(store, layout, dtype):
    torch.manual_seed(1)
    logits, gold = LAYOUTS[layout](torch.randn(50, 4).to(dtype)), torch.randint(0, 4, (50,))
    with portolan.Run("run", store=store) as run:
        log_three_ways(run, 0, torch.arange(50), logits, gold)
    expected = gold_probs(logits.detach().double().numpy(), gold.numpy())
    ids, found = trajectories(store, 3)
    rounded = {torch.float16: 1e-3, torch.bfloat16: 1e-2}.get(dtype, 1e-6)  # probabilities; the logits are compared as they are
    assert ids == list(range(50))
    np.testing.assert_allclose(found[:, 0], expected, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found[:, 1:], np.stack((expected, expected), 1), rtol=0, atol=rounded)


@pytest.mark.parametrize("view", [lambda x: x, lambda x: x[:, :1], lambda x: x[7, 2].reshape(1), lambda x: x[7, 2].reshape(1, 1),
                                  lambda x: x.as_strided((50, 4), (4, 1), x.storage_offset())])
def test_a_view_of_negated_memory(store, view):
    """The memory holds the negatives of its numbers; also where as_strided() has made them row-major."""
    logits = view(torch.complex(torch.zeros(50, 4), torch.randn(50, 4)).conj().imag)
    assert logits.is_neg()
    gold = np.ones(len(logits), int)
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, torch.arange(len(logits)), logits, torch.from_numpy(gold))
    numbers = logits.resolve_neg().numpy().reshape(len(logits), -1)
    expected = gold_probs(numbers if numbers.shape[1] > 1 else np.hstack((0 * numbers, numbers)), gold)
    assert_trajectories(store, 1, dict(enumerate(expected[:, None].tolist())))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool])
def test_every_type_of_integer(store, dtype):
    logits, gold = torch.randn(50, 2), torch.randint(0, 2, (50,)).to(dtype)
    ids = torch.arange(100).to(torch.int64 if dtype == torch.bool else dtype).reshape(50, 2)[:, 1:]
    with portolan.Run("run", store=store) as run:
        log_three_ways(run, 0, ids, logits, gold)
        log_three_ways(run, 3, ids.contiguous(), logits, gold.reshape(50, 1))
    expected = gold_probs(logits.numpy(), gold.long().numpy())
    assert_trajectories(store, 6, {2 * i + 1: [p] * 6 for i, p in enumerate(expected)})


def test_tensors_are_read_where_they_lie(store, monkeypatch):
    """Not one Python method of them is called."""
    if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        pytest.skip("this torch has no table of DLPack functions")
    logits, gold = torch.randn(50, 4, requires_grad=True) * 1, torch.randint(0, 4, (50,))
    ids, texts = torch.arange(50), [f"{i:02d}" for i in range(50)]
    with portolan.Run("first", store=store) as run:  # what tensors are is found out once
        run.log_logits(0, ids, logits, gold)
    for name in ("detach", "cpu", "numpy", "tolist", "float", "is_neg", "__array__", "__dlpack__"):
        monkeypatch.setattr(torch.Tensor, name, lambda *_, **__: pytest.fail("a tensor was converted"))
    with portolan.Run("run", store=store) as run, portolan.Run("texts", store=store) as other:
        run.log_logits(0, ids, logits, gold)
        other.log_logits(0, texts, logits, gold)
    monkeypatch.undo()
    expected = gold_probs(logits.detach().numpy(), gold.numpy())[:, None].tolist()
    assert_trajectories(store, 1, dict(enumerate(expected)))
    assert portolan.measures("texts", store=store)["confidence"] == pytest.approx(np.ravel(expected), abs=1e-6)


class Doubled(torch.Tensor):
    """Means twice what its memory holds."""

    def detach(self):
        return 2 * self.as_subclass(torch.Tensor).detach()


def test_a_subclass_says_itself_what_it_holds(store):
    logits, gold = torch.randn(50, 4), torch.randint(0, 4, (50,))
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, torch.arange(50), logits.as_subclass(Doubled), gold)
    assert_trajectories(store, 1, dict(enumerate(gold_probs(2 * logits.numpy(), gold.numpy())[:, None].tolist())))


@pytest.mark.parametrize("error, words, change", [
    (ValueError, "gold has 3 entries, logits 4 rows", {"gold": torch.zeros(3, dtype=torch.int64)}),
    (ValueError, "ids has 5 entries, logits 4 rows", {"ids": torch.arange(5)}),
    (ValueError, "logits must have the shape", {"logits": torch.randn(4, 3, 2)}),
    (ValueError, "logits must have the shape", {"logits": torch.tensor(1.0)}),
    (ValueError, "logits has no columns", {"logits": torch.randn(4, 0)}),
    (ValueError, "gold must have the shape", {"gold": torch.zeros(4, 2, dtype=torch.int64)}),
    (ValueError, "gold: row 1 has 3", {"gold": torch.tensor([0, 3, 0, 0])}),
    (ValueError, "ids: row 2 has -1", {"ids": torch.tensor([0, 1, -1, 2])}),
    (TypeError, "logits must be float", {"logits": torch.ones(4, 3, dtype=torch.int32)}),
    (TypeError, "logits must be float", {"logits": torch.ones(4, 3, dtype=torch.complex64)}),
    (TypeError, "gold must be integers", {"gold": torch.zeros(4)}),
    (TypeError, "gold must be integers", {"gold": torch.zeros(4, dtype=torch.bfloat16)}),
    (TypeError, "ids must be integers", {"ids": torch.zeros(4, dtype=torch.float64)}),
    (TypeError, "gold", {"gold": None}),
])
def test_wrong_tensors_are_named(store, error, words, change):
    given = {"ids": torch.arange(4), "logits": torch.randn(4, 3), "gold": torch.zeros(4, dtype=torch.int64), **change}
    with portolan.Run("run", store=store) as run:
        with pytest.raises(error, match=words):
            run.log_logits(0, **given)
        assert run.stats()["logged"] == 0


def test_no_rows(store):
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, torch.zeros(0, dtype=torch.int64), torch.zeros(0, 3), torch.zeros(0, dtype=torch.int64))
        run.log_logits(0, [], torch.zeros(0, 3), [])
        assert run.stats()["logged"] == 0


class Frozen(nn.Module):
    """A part that stays in eval mode, a part without gradients, and one that does more than set a flag."""

    def __init__(self):
        super().__init__()
        self.frozen, self.fixed, self.merging = nn.BatchNorm1d(8), nn.Linear(8, 8), Merging()
        self.fixed.requires_grad_(False)
        self.frozen.eval()

    def forward(self, x):
        return self.merging(self.fixed(self.frozen(x)))


class Merging(nn.Linear):
    def __init__(self):
        super().__init__(8, 3)
        self.merged = False

    def train(self, mode=True):
        self.merged = not mode
        return super().train(mode)


@pytest.mark.parametrize("fails", [False, True])
def test_everything_is_as_it_was_afterwards(store, fails):
    model, dataset = Frozen(), data()
    model.train()
    model.frozen.eval()
    model.merging.weight.grad = torch.ones(3, 8)
    loader = DataLoader(portolan.torch.WithIds(dataset), batch_size=50, shuffle=True, generator=torch.Generator().manual_seed(3))
    modes = [module.training for module in model.modules()]
    before = (torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist(), loader.generator.get_state())

    def forward(model, batch):
        random.random(), np.random.rand(), torch.rand(1)
        assert not model.training and not torch.is_grad_enabled() and model.merging.merged
        if fails and batch[0][0] >= 0:
            raise ArithmeticError("the model's own")
        return batch[0], model(batch[1]), batch[2]

    with portolan.Run("run", store=store) as run:
        with pytest.raises(ArithmeticError) if fails else contextlib.nullcontext():
            portolan.torch.observe(run, model, loader, 0, forward=forward)
        assert [module.training for module in model.modules()] == modes and not model.merging.merged
        assert torch.is_grad_enabled() and torch.equal(model.merging.weight.grad, torch.ones(3, 8))
        assert [p.requires_grad for p in model.fixed.parameters()] == [False, False]
        after = (torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist(), loader.generator.get_state())
        for a, b in zip(before, after):
            assert torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b
        assert portolan.torch.observe(run, model, loader, 1) == 120, "the run is usable"
    assert set(counts(store).values()) == {1 if fails else 2}


class Output:
    def __init__(self, logits):
        self.loss, self.logits = None, logits


@pytest.mark.parametrize("wrap", [lambda z: z, Output, lambda z: {"loss": 0, "logits": z}, lambda z: (z, "more")])
@pytest.mark.parametrize("form", ["tuple", "dict"])
def test_forms_of_batches_and_outputs(store, form, wrap):
    class Named(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Model()

        def forward(self, x):
            return wrap(self.inner(x))

    model, dataset = Named(), data()
    examples = dataset if form == "tuple" else [{"x": x, "label": int(y)} for x, y in dataset]
    with portolan.Run("run", store=store) as run:
        portolan.torch.observe(run, model, DataLoader(portolan.torch.WithIds(examples), batch_size=50), 0)
    assert_trajectories(store, 1, by_hand([model.inner.state_dict()], dataset))


def test_batches_that_cannot_be_right_are_refused_with_what_to_do(store):
    model, dataset = Model(), data()
    with portolan.Run("run", store=store) as run:
        def observe(examples, **options):
            portolan.torch.observe(run, model, DataLoader(examples, batch_size=8), 0, **options)
        with pytest.raises(ValueError, match="2 entries.*WithIds"):
            observe(dataset)
        with pytest.raises(ValueError, match="begins with a tensor of shape .*WithIds"):
            observe([(x, x, y) for x, y in dataset])
        with pytest.raises(KeyError, match="no ids as 'id'"):
            observe([{"x": x, "label": y} for x, y in dataset])
        with pytest.raises(KeyError, match="no gold labels as 'truth'"):
            observe([{"id": 1, "x": x, "label": y} for x, y in dataset], gold="truth")
        with pytest.raises(ValueError, match="several labels per example"):
            observe([(i, x, torch.eye(3)[y]) for i, (x, y) in enumerate(dataset)])
        assert model.training and run.stats()["logged"] == 0
    with portolan.Run("forward", store=store, mode="train-forward") as run:
        with pytest.raises(ValueError, match="mode='train-forward', but this is 'epoch-end'"):
            observe(portolan.torch.WithIds(dataset))


def test_examples_that_a_loader_drops_are_observed(store, capfd):
    """They are others in each epoch, when it shuffles; the loader goes on as it was."""
    dataset, model = portolan.torch.WithIds(data()), Model()
    loader = DataLoader(dataset, batch_size=50, shuffle=True, drop_last=True)
    with portolan.Run("run", store=store) as run:
        for epoch in range(2):
            assert portolan.torch.observe(run, model, loader, epoch) == 120
    assert_trajectories(store, 2, {one: p * 2 for one, p in by_hand([model.state_dict()], data()).items()})
    assert loader.drop_last and sum(len(batch[0]) for batch in loader) == 100
    assert capfd.readouterr().err == ""


def test_batches_of_ones_own_that_are_dropped_are_warned_about(store, capfd):
    class Batches(BatchSampler):
        """What it does besides is not known."""

    with portolan.Run("run", store=store) as run:
        loader = DataLoader(portolan.torch.WithIds(data()), batch_sampler=Batches(range(120), 50, drop_last=True))
        for epoch in range(2):
            assert portolan.torch.observe(run, Model(), loader, epoch) == 100
    assert capfd.readouterr().err.count("drop_last=True") == 1


class Augmented(TensorDataset):
    """Another example each time, drawn in the worker."""

    def __getitem__(self, index):
        x, y = super().__getitem__(index)
        return x + torch.randn(8) + random.random() + np.random.rand(), y


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("drop_last", [False, True])
def test_augmentation_in_workers_goes_the_same_way(store, persistent, drop_last):
    """Also in workers that go on from epoch to epoch, as do their random numbers."""
    dataset = portolan.torch.WithIds(Augmented(*data().tensors))

    def loader():
        return DataLoader(dataset, batch_size=32, shuffle=True, num_workers=2, persistent_workers=persistent, drop_last=drop_last)

    alone, training = train(EPOCHS, loader()), loader()
    with portolan.Run("run", store=store) as run:
        observed = train(EPOCHS, training, lambda model, epoch: portolan.torch.observe(run, model, training, epoch))
        assert training.persistent_workers == persistent
    assert same(alone, observed), "observing changed the training"
    assert set(counts(store).values()) == {EPOCHS} and len(counts(store)) == 120


def test_binary_with_one_logit(store):
    dataset = data(classes=2)
    model = nn.Linear(8, 1)
    x, y = dataset.tensors
    examples = TensorDataset(x, y.float()[:, None])  # as BCEWithLogitsLoss wants them
    with portolan.Run("run", store=store) as run:
        portolan.torch.observe(run, model, DataLoader(portolan.torch.WithIds(examples), batch_size=50), 0)
    z = model(x).detach().double().numpy()[:, 0]
    p = 1 / (1 + np.exp(-z))
    assert_trajectories(store, 1, {i: [p[i] if y[i] else 1 - p[i]] for i in range(120)})


def test_multiple_choice_with_options_missing(store):
    scores = [torch.randn(k) for k in (2, 4, 3)]
    gold = torch.tensor([1, 3, 0])
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, ["a", "b", "c"], portolan.torch.pad_choices(scores), gold)
        masked = torch.full((3, 4), -torch.inf)
        for row, score in enumerate(scores):
            masked[row, : len(score)] = score
        run.log_logits(1, ["a", "b", "c"], masked, gold)
    expected = [float(score.double().softmax(0)[g]) for score, g in zip(scores, gold)]
    assert_trajectories(store, 2, {one: [p, p] for one, p in zip("abc", expected)})


def test_ids_among_the_inputs_do_not_reach_the_model(store):
    x, y = data().tensors
    rows = [{"x": x[i], "labels": y[i], "guid": f"g{i}"} for i in range(len(x))]
    model = Model()
    with portolan.Run("run", store=store) as run:
        assert portolan.torch.observe(run, model, DataLoader(portolan.torch.WithIds(rows, ids="guid"), batch_size=50), 0) == len(x)
    by_number = by_hand([model.state_dict()], data())
    assert_trajectories(store, 1, {f"g{i}": p for i, p in by_number.items()})


@pytest.mark.parametrize("classes", [1, 3])
def test_a_model_that_squeezes_a_last_batch_of_one(store, classes):
    torch.manual_seed(0)
    linear = nn.Linear(8, classes)
    x, y = torch.randn(7, 8), torch.arange(7) % 2
    model = nn.Sequential(linear, Squeeze())
    with portolan.Run("run", store=store) as run:
        assert portolan.torch.observe(run, model, DataLoader(portolan.torch.WithIds(TensorDataset(x, y)), batch_size=3), 0) == 7
    logits = linear(x).detach().numpy()
    if classes == 1:
        logits = np.concatenate([np.zeros_like(logits), logits], 1)
    assert_trajectories(store, 1, dict(enumerate(gold_probs(logits, y)[:, None].tolist())))


class Squeeze(nn.Module):
    def forward(self, x):
        return x.squeeze()


def test_a_loader_that_is_used_up_is_said_once(store, capfd):
    batches = iter(DataLoader(portolan.torch.WithIds(data()), batch_size=50))
    with portolan.Run("run", store=store) as run:
        assert [portolan.torch.observe(run, Model(), batches, epoch) for epoch in range(3)] == [120, 0, 0]
    assert capfd.readouterr().err.count("epoch 1: the loader had no examples; is it an iterator, and used up?") == 1


def test_what_compiled_and_parallel_models_have_inside():
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    try:
        model = Model()
        compiled = torch.compile(nn.parallel.DistributedDataParallel(model), backend="eager")
        assert portolan.torch._unwrapped(compiled) is model, "its forward pass may wait for ranks with fewer batches"
        for one in (model, compiled, torch.compile(model, backend="eager")):
            assert portolan.torch.describe(one)["model"] == "Model"
    finally:
        torch.distributed.destroy_process_group()


def test_a_function_is_no_model(store):
    with portolan.Run("run", store=store) as run, pytest.raises(TypeError, match="must be a torch.nn.Module, not a function.*forward="):
        portolan.torch.observe(run, lambda x: x, [], 0)


def test_tokens(store):
    logits, gold = torch.randn(2, 5, 3), torch.tensor([[-100, 0, 1, 2, -100], [-100, 2, -100, -100, -100]])

    def forward(model, batch):
        return ["s0", "s1"], logits, gold

    with portolan.Run("run", store=store) as run:
        assert portolan.torch.observe(run, nn.Identity(), [None], 0, forward=forward) == 2
    p = logits.double().softmax(2)
    expected = {"s0/0": p[0, 1, 0], "s0/1": p[0, 2, 1], "s0/2": p[0, 3, 2], "s1/0": p[1, 1, 2]}
    assert_trajectories(store, 1, {one: [float(value)] for one, value in expected.items()})


def test_with_ids():
    dataset = data(10)
    one = portolan.torch.WithIds(dataset, ids=np.arange(100, 110))
    assert one[3][0] == 103 and torch.equal(one[3][1], dataset[3][0]) and len(one) == 10
    assert [example[0] for example in one.__getitems__([2, 5])] == [102, 105]
    first, second = random_split(dataset, [6, 4], generator=torch.Generator().manual_seed(0))
    both = [example[0] for part in (first, Subset(second, [3, 1, 2, 0])) for example in map(portolan.torch.WithIds(part).__getitem__, range(len(part)))]
    assert sorted(both) == list(range(10)), "positions in the whole, not in the part"
    assert portolan.torch.WithIds(dataset)[-1][0] == 9
    named = portolan.torch.WithIds([{"guid": "a", "x": 1}, {"guid": "b", "x": 2}], ids="guid")
    assert named[1] == {"x": 2, "id": "b"} and named.id_of(1) == "b"
    assert portolan.torch.WithIds(["only"])[0] == (0, "only")


def test_ids_twice_are_refused():
    """Else each example would be (id, id, x, y), and the model would get the second as a feature."""
    once = portolan.torch.WithIds(data(10))
    for dataset in (once, Subset(Subset(once, range(9)), [4, 1])):
        for ids in (None, [f"x{i}" for i in range(len(dataset))]):
            with pytest.raises(TypeError, match="WithIds: the dataset has a WithIds inside, which gives the ids already: wrap once"):
                portolan.torch.WithIds(dataset, ids)
    dicts = portolan.torch.WithIds([{"x": 1}, {"x": 2}])
    assert portolan.torch.WithIds(dicts, ids="id")[1] == {"x": 2, "id": 1}, "an entry is an entry"


def test_a_subset_that_has_an_example_twice_is_refused():
    """Before training, whatever says that it does: a list, an array, a tensor, a subset of a subset."""
    dataset, indices = data(10), [4, 1, 7, 1, 4]
    for subset in (Subset(dataset, indices), Subset(dataset, np.array(indices)), Subset(dataset, torch.tensor(indices)),
                   Subset(Subset(dataset, [7, 4, 1, 0]), [1, 2, 0, 2, 1])):
        with pytest.raises(ValueError, match="rows 1 and 3 of the Subset are the same example, 1 of its dataset; of 5 rows 3 differ.*WeightedRandomSampler"):
            portolan.torch.WithIds(subset)
        assert len(portolan.torch.WithIds(subset, ids=[f"row{i}" for i in range(5)])) == 5
    assert portolan.torch.WithIds(Subset(Subset(dataset, [4, 4, 1]), [0, 2]))[1][0] == 1, "what is left out is nowhere twice"


def test_with_ids_refuses_what_has_no_stable_positions():
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            yield 1

    with pytest.raises(TypeError, match="stream"):
        portolan.torch.WithIds(Stream())
    with pytest.raises(ValueError, match="3 ids for 10 examples"):
        portolan.torch.WithIds(data(10), ids=[1, 2, 3])
    with pytest.raises(ValueError, match='entry "id" already'):
        portolan.torch.WithIds([{"id": 4}])[0]
    with pytest.raises(KeyError, match="no entry 'guid'"):
        portolan.torch.WithIds([{"x": 4}], ids="guid")[0]


def test_positions_in_a_shuffled_order_are_noticed(store, capfd):
    """The classic silent error: enumerate() over a loader that shuffles."""
    loader = DataLoader(data(), batch_size=40, shuffle=True)
    with portolan.Run("run", store=store) as run:
        for epoch in range(3):
            for batch, (_, y) in enumerate(loader):
                run.log_logits(epoch, range(40 * batch, 40 * batch + 40), torch.randn(40, 3), y)
    lines = [line for line in capfd.readouterr().err.splitlines() if "shuffled order" in line]
    assert len(lines) == 1 and lines[0].startswith("portolan: run run: epoch 1: id ")


def test_the_runs_record():
    record = portolan.torch.describe(nn.parallel.DataParallel(Model()).module, lr=0.1, sizes=torch.Size([1, 2]))
    assert record["model"] == "Model" and record["versions"]["torch"] == torch.__version__
    assert record["seed"] == torch.initial_seed() and record["parameters"] == {"lr": 0.1, "sizes": [1, 2]}


def test_autocast(store):
    """bf16 logits of an autocast model; casts made without gradients do not serve the training after it."""
    model, dataset = Model(), data()
    with portolan.Run("run", store=store) as run, torch.autocast("cpu", dtype=torch.bfloat16):
        portolan.torch.observe(run, model, DataLoader(portolan.torch.WithIds(dataset), batch_size=60), 0)
        nn.functional.cross_entropy(model(dataset.tensors[0]), dataset.tensors[1]).backward()
    assert model.head.weight.grad is not None
    _, values = trajectories(store, 1)
    assert np.isfinite(values).all()


def test_the_page(tmp_path, stores):
    stores.append(tmp_path / "portolan-store")
    run_page("torch.md", tmp_path)
    for run, epochs in {"toy/seed0": 6, "toy/clean": 6, "toy/forward": 6, "pairs": 1, "tokens": 1}.items():
        assert set(counts(stores[-1], run).values()) == {epochs}, run
