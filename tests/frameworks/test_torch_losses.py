"""portolan.torch with regressions and any other loss, against the real torch: what is recorded is what the model says after each epoch."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import portolan
import portolan.torch
from python_regressors import check_numbers

EPOCHS, N, FEATURES = 3, 120, 5


def data(outputs=None):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(N, FEATURES, generator=generator)
    y = 3 * x @ torch.randn(FEATURES, outputs or 1, generator=generator) + 1
    return x, y if outputs else y[:, 0]


class Squeezed(nn.Sequential):
    def forward(self, x):
        return super().forward(x).squeeze(-1)


def make_model(kind, outputs=1):
    torch.manual_seed(1)
    return kind(nn.Linear(FEATURES, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, outputs))


def train(model, loader, epochs, observe, each=nn.functional.mse_loss):
    """A loop as people have it; after each epoch the model's outputs, in eval mode, on all examples."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    x, seen = loader.dataset.dataset.tensors[0], []
    for epoch in range(epochs):
        model.train()
        for _, xb, yb in loader:
            optimizer.zero_grad()
            each(model(xb).reshape(yb.shape), yb).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            seen.append(model(x).double().numpy())
        model.train()
        observe(epoch)
    return np.stack(seen)


@pytest.mark.parametrize("kind", [nn.Sequential, Squeezed])
@pytest.mark.parametrize("task", [None, "regression"])
def test_a_regression(store, kind, task):
    """Of outputs (n, 1) beside targets (n,), too, whose difference would be a table of all pairs."""
    x, y = data()
    loader = DataLoader(portolan.torch.WithIds(TensorDataset(x, y)), batch_size=32, shuffle=True)
    model = make_model(kind)
    with portolan.torch.open_run("run", model, store=store) as run:
        seen = train(model, loader, EPOCHS, lambda epoch: portolan.torch.observe(run, model, loader, epoch, task=task))
    check_numbers(store, "run", seen.reshape(EPOCHS, N), y.numpy())
    assert portolan.runs(store=store)["kind"].tolist() == ["loss"]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.int64])
def test_types_of_targets(store, dtype):
    x, y = data()
    y = y.to(dtype)
    loader = [([f"e{i}" for i in range(N)], x, y[:, None])]
    model = make_model(nn.Sequential)
    with portolan.Run("run", store=store) as run:
        for epoch in range(2):
            portolan.torch.observe(run, model, loader, epoch, task="regression")
    with portolan.torch.evaluating(model):
        predicted = model(x)[:, 0].double().numpy()
    check_numbers(store, "run", [predicted, predicted], y.double().numpy(), [f"e{i}" for i in range(N)])


@pytest.mark.parametrize("loss", [nn.MSELoss(reduction="none"), lambda output, target: nn.functional.smooth_l1_loss(output, target, reduction="none").mean(1)])
def test_any_other_loss(store, loss):
    """Of several numbers for each example: the mean of theirs, by the loss itself or by a function."""
    x, y = data(3)
    loader = DataLoader(portolan.torch.WithIds(TensorDataset(x, y)), batch_size=32, shuffle=True)
    model = make_model(nn.Sequential, 3)
    with portolan.torch.open_run("run", model, store=store) as run:
        seen = train(model, loader, EPOCHS, lambda epoch: portolan.torch.observe(run, model, loader, epoch, loss=loss))
    errors = np.abs(seen - y.double().numpy())
    each = errors**2 if isinstance(loss, nn.MSELoss) else np.where(errors < 1, errors**2 / 2, errors - 0.5)
    d = portolan.dynamics("run", store=store)
    assert d.dtype.names == ("id", "epoch", "task_loss") and len(d) == EPOCHS * N
    np.testing.assert_allclose(d["task_loss"], each.mean(2)[d["epoch"].astype(int), d["id"].astype(int)], rtol=1e-4, atol=1e-5)


def test_segmentation(store):
    """A class for each pixel; an example's loss is the mean over its pixels."""
    torch.manual_seed(2)
    x, y = torch.randn(10, 3, 6, 5), torch.randint(0, 4, (10, 6, 5))
    model = nn.Conv2d(3, 4, 1)
    with portolan.Run("run", store=store) as run:
        portolan.torch.observe(run, model, [(range(10), x, y)], 0, loss=nn.CrossEntropyLoss(reduction="none"))
    scores = np.einsum("kc,nchw->nkhw", model.weight.detach().double().numpy()[:, :, 0, 0], x.double().numpy()) + model.bias.detach().double().numpy()[:, None, None]
    log_probs = scores - np.log(np.exp(scores).sum(1, keepdims=True))
    wanted = -np.take_along_axis(log_probs, y.numpy()[:, None], 1).mean((1, 2, 3))
    np.testing.assert_allclose(portolan.measures("run", store=store)["task_loss"], wanted, rtol=1e-5)


def test_a_loss_of_what_only_the_caller_knows(store):
    """forward() gives the outputs, of any kind, and the targets; loss() the losses."""
    x, _ = data()
    model = nn.Linear(FEATURES, 2)
    batches = [{"rows": x[start : start + 50], "names": list(range(start, min(start + 50, N)))} for start in (0, 50, 100)]
    with portolan.Run("run", store=store) as run:
        portolan.torch.observe(run, model, batches, 0, forward=lambda model, batch: (batch["names"], {"code": model(batch["rows"])}, batch["rows"]),
                               loss=lambda output, rows: (output["code"] @ model.weight - rows).square().sum(1))
    weight, bias = (one.detach().double().numpy() for one in (model.weight, model.bias))
    wanted = (((x.double().numpy() @ weight.T + bias) @ weight - x.double().numpy()) ** 2).sum(1)
    np.testing.assert_allclose(portolan.measures("run", store=store)["task_loss"], wanted, rtol=1e-5)


def test_what_may_be_either_is_asked(store):
    """Targets that all lie within -1 and 1 may be soft labels; those of one logit that are 0 and 1 are labels."""
    x, y = data()
    model = make_model(nn.Sequential)
    observe = portolan.torch.observe
    for number, targets in enumerate((y.sigmoid(), y.sign(), y / (2 * y.abs().max()))):
        with portolan.Run(f"run{number}", store=store) as run:
            with pytest.raises(ValueError, match='may hold the targets of a regression, or soft labels. Say task="regression"'):
                observe(run, model, [(range(N), x, targets)], 0)
            observe(run, model, [(range(N), x, targets)], 0, task="regression")
        np.testing.assert_allclose(np.sort(portolan.dynamics(f"run{number}", store=store)["target"]), np.sort(targets.numpy()), rtol=1e-6)
    labels = (y > 0).float()
    labels[:3] = -100  # without a label
    with portolan.Run("labels", store=store) as run:
        observe(run, model, [(range(N), x, labels)], 0)
        with pytest.raises(ValueError, match="soft labels have no gold probability"):
            observe(run, model, [(range(N), x, y)], 1)  # the first batch has decided
        with pytest.raises(ValueError, match="records probabilities of labels"):
            observe(run, model, [(range(N), x, y)], 1, task="regression")
    assert len(portolan.measures("labels", store=store)["confidence"]) == N - 3
    with portolan.Run("numbers", store=store) as run:
        observe(run, model, [(range(60), x[:60], y[:60]), (range(60, N), x[60:], y[60:].clamp(0, 1))], 0)
    assert len(portolan.dynamics("numbers", store=store)["target"]) == N


def test_what_is_refused(store):
    x, y = data()
    observe, model = portolan.torch.observe, make_model(nn.Sequential, 2)
    loader = [(range(N), x, y)]
    with portolan.Run("run", store=store) as run:
        for more, says in (({"task": "regress"}, "task must be 'classification' or 'regression', not 'regress'"),
                           ({"task": "regression"}, r"predicted has the shape \(120, 2\), and there are 120 ids: of a regression one number"),
                           ({"task": "regression", "loss": nn.MSELoss()}, "loss= is for any other task than regression"),
                           ({"loss": lambda output, y: (output[:, 0] - y).square().mean()}, "the loss is one number, and there are 120 ids.*reduction='none'"),
                           ({"loss": lambda output, y: (output[:, :1] - y).square()}, r"the loss has the shape \(120, 120\), a number for each pair of examples"),
                           ({"loss": lambda output, y: output[:7, 0]}, r"the loss has the shape \(7,\), and there are 120 ids")):
            with pytest.raises(ValueError, match=says):
                observe(run, model, loader, 0, **more)
        with pytest.raises(ValueError, match="a number for each pair of examples"):  # the targets are a table, the outputs a row
            observe(run, model, [(range(N), x, y[:, None])], 0, loss=lambda output, y: (output[:, 0] - y).square())
        run.log_loss(0, [1], [0.5])
        with pytest.raises(ValueError, match="records losses"):
            observe(run, model, [(range(N), x, y > 0)], 0)


def test_a_table_of_losses_that_is_none_of_pairs(store):
    """As many numbers for an example as there are examples; and a batch of one."""
    x = torch.randn(FEATURES, FEATURES)
    with portolan.Run("run", store=store) as run:
        portolan.torch.observe(run, nn.Identity(), [(range(FEATURES), x, torch.zeros(FEATURES, FEATURES))], 0, loss=nn.MSELoss(reduction="none"))
        portolan.torch.observe(run, nn.Identity(), [([9], x[:1, :1], torch.zeros(1))], 0, loss=nn.MSELoss(reduction="none"))
    wanted = [*x.double().square().mean(1).tolist(), float(x[0, 0]) ** 2]
    np.testing.assert_allclose(portolan.measures("run", store=store)["task_loss"], wanted, rtol=1e-6)


def test_numbers_taken_for_labels(store):
    """What is no label of one output is said to be perhaps a target; also where the first batch has only 0 and 1, or a resumed run holds losses."""
    x, _ = data()
    model, observe = make_model(nn.Sequential), portolan.torch.observe
    says = r'gold: row 2 has 2(\.0)?, and of one output the classes are 0 and 1. .*Say task="regression"'
    counts = torch.arange(N) % 2
    counts[52] = 2
    batches = lambda y: [(range(50), x[:50], y[:50]), (range(50, N), x[50:], y[50:])]
    with portolan.Run("run", store=store) as run:
        for y in (torch.arange(N), counts, counts.float()):
            with pytest.raises(ValueError, match=says):
                observe(run, model, batches(y), 0)
        with pytest.raises(ValueError, match=says):
            observe(run, model, [(range(4), x[:4], [0, 1, 2, 1])], 0)
    with portolan.Run("losses", store=store) as run:
        observe(run, model, batches(counts.flip(0).float()), 0, task="regression")
    with portolan.Run("losses", store=store, resume=True) as run:
        with pytest.raises(ValueError, match=says):
            observe(run, model, batches(counts.float()), 1)
    with portolan.Run("losses", store=store, resume=True) as run:
        observe(run, model, batches(counts.float()), 2, task="regression")
    assert set(portolan.dynamics("losses", store=store)["epoch"]) == {0, 2}


def test_the_training_pass(store):
    x, y = data()
    loader = DataLoader(portolan.torch.WithIds(TensorDataset(x, y)), batch_size=32, shuffle=True)
    model, expected = make_model(nn.Sequential), np.zeros((2, N))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with portolan.Run("run", store=store, mode="train-forward") as run:
        for epoch in range(2):
            for ids, xb, yb in loader:
                predicted = model(xb)
                run.log_regression(epoch, ids, predicted, yb)
                expected[epoch, ids] = predicted.detach().double().numpy()[:, 0]
                optimizer.zero_grad()
                nn.functional.mse_loss(predicted[:, 0], yb).backward()
                optimizer.step()
            run.end_epoch(epoch)
    check_numbers(store, "run", expected, y.numpy())


def test_infobatch_of_a_regression(store):
    """The sampler leaves out by the squared errors, whose record has its weights."""
    x, y = data()
    dataset = portolan.torch.WithIds(TensorDataset(x, y))
    sampler = portolan.torch.InfoBatchSampler(dataset, epochs=4, until=1, seed=1)
    loader, model = DataLoader(dataset, batch_size=16, sampler=sampler), nn.Linear(FEATURES, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    left, last = [], torch.full((N,), torch.nan, dtype=torch.float64)
    with portolan.Run("run", store=store) as run:
        for epoch in range(4):
            below, taken = torch.nonzero(last < last[last.isfinite()].mean()).flatten().tolist() if epoch else [], []
            for ids, xb, yb in loader:
                losses = nn.functional.mse_loss(model(xb)[:, 0], yb, reduction="none")
                optimizer.zero_grad()
                sampler.loss(ids, losses).backward()
                optimizer.step()
                last[ids] = losses.detach().double()
                taken += ids.tolist()
            left.append(sorted(set(range(N)) - set(taken)))
            assert set(left[-1]) <= set(below) and len(left[-1]) == len(below) - len(below) // 2
            run.log_loss(epoch, range(N), last, columns=sampler.columns(range(N)))
            run.end_epoch(epoch)
    assert torch.equal(sampler.losses, last) and left[0] == [] and len(left[1]) > 20
    d = portolan.dynamics("run", store=store)
    for epoch in range(4):
        assert sorted(d["id"][(d["epoch"] == epoch) & (d["infobatch_weight"] == 0)].tolist()) == left[epoch]
    assert portolan.runs(store=store)["kind"].tolist() == ["loss"]
