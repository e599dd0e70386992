"""The way of logits that lie on an accelerator, forced on tensors in this machine's memory: the same numbers as the library's own,
and a host that never waits before it has to."""

import gc
import os

import numpy as np
import pytest
import torch

import portolan
import portolan.torch
from portolan._portolan import Handle
from portolan._recording import _device, _hooks, _run
from support import counts, trajectories

SIGNALS = ("confidence", "aum", "el2n", "entropy", "max_prob", "correctness")


class Far:
    """A handle that cannot read tensors where they lie, as it cannot those on an accelerator."""

    def __init__(self):
        self._handle = Handle()

    def __getattr__(self, name):
        return getattr(self._handle, name)

    def log(self, *arguments):
        is_converted = arguments[7]
        return self._handle.log(*arguments) if is_converted else NotImplemented


@pytest.fixture
def device(monkeypatch):
    """Every tensor counts as remote; copying is what it is in this machine's memory."""
    monkeypatch.setattr(_run, "Handle", Far)
    monkeypatch.setattr(_device, "is_remote", lambda values: isinstance(values, torch.Tensor))
    monkeypatch.setattr(_device, "start_copy", lambda block: (block.clone(), None))


class Event:
    """Of a copy that has not arrived until the test says so."""

    arrived, waited = False, 0

    def query(self):
        return Event.arrived

    def synchronize(self):
        Event.waited += 0 if Event.arrived else 1


@pytest.fixture
def slow(device, monkeypatch):
    Event.arrived, Event.waited = False, 0
    monkeypatch.setattr(_device, "start_copy", lambda block: (block.clone(), Event()))


def batches(classes, dtype=torch.float32, n=300):
    """Logits of all sizes, with masked choices and ties."""
    generator = torch.Generator().manual_seed(classes)
    logits = torch.randn(n, classes, generator=generator) * torch.logspace(-3, 2.5, n)[:, None]
    gold = torch.randint(0, max(classes, 2), (n,), generator=generator)
    if classes > 2:
        logits[::5, classes - 1] = -torch.inf
        gold[gold == classes - 1] = 0
        logits[::11] = 1.0
    return torch.arange(n), logits.to(dtype), gold


def log(store, name, *rows):
    with portolan.Run(name, store=store) as run:
        run.log_logits(0, *rows)
    return portolan.measures(name, store=store)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("classes", [1, 2, 3, 6, 7, 20, 1000])
def test_the_numbers_are_the_librarys(store, classes, dtype, monkeypatch, request):
    rows = batches(classes, dtype)
    here = log(store, "here", *rows)
    request.getfixturevalue("device")
    there = log(store, "there", *rows)
    assert (here["id"] == there["id"]).all() and (here["gold"] == there["gold"]).all()
    for signal in SIGNALS:
        np.testing.assert_allclose(there[signal], here[signal], rtol=1e-6, atol=1e-6, err_msg=signal)


@pytest.mark.parametrize("classes", [3, 20])
def test_probabilities_and_other_classes_are_said(store, device, classes, capfd):
    """Of narrow rows by the library, of wide ones by the package; in the same words."""
    ids, logits, gold = batches(classes)
    probs = torch.softmax(logits, 1)
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, ids, probs, gold)
        run.log_logits(1, ids, probs, gold)
        run.log_logits(2, ids, torch.cat((logits, logits), 1), gold)
        run.log_logits(3, ids, logits, gold)
    lines = capfd.readouterr().err.splitlines()
    assert sum("epoch 0: the logits are probabilities, within 0 and 1" in line and "log_probs" in line for line in lines) == 1, lines
    assert sum(f"epoch 2: the scores have {2 * classes} classes, and had {classes} before. " in line for line in lines) == 1, lines
    assert len(lines) == 2
    with portolan.Run("other", store=store) as run:
        run.log_logits(0, ids, logits, gold)
        run.log_logits(0, ids + 300, probs, gold)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("classes", [3, 20])
def test_columns_of_ones_own(store, device, classes):
    """On the device, beside the scores, or in this machine's memory; also of the names that the block has for its own parts."""
    ids, logits, gold = batches(classes)
    columns = {"ids": torch.rand(300, dtype=torch.float64), "scores": torch.rand(300, 1), "list": torch.rand(300).tolist(), "array": np.arange(300.0),
               "length": torch.arange(300), "half": torch.rand(300).half(), "is_long": torch.arange(300) > 150, "lengths_here": np.arange(300)}
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, ids, logits, gold, columns=columns)
        with pytest.raises(ValueError, match="short has 2 entries, logits 300 rows"):
            run.log_logits(0, ids, logits, gold, columns={"short": torch.rand(2)})
    m = portolan.measures("run", store=store)
    assert m["id"].tolist() == ids.tolist() and m["gold"].tolist() == gold.tolist()
    np.testing.assert_allclose(m["confidence"], torch.softmax(logits, 1)[ids, gold], atol=1e-6)
    for name, values in columns.items():
        np.testing.assert_allclose(m[name], np.asarray(values).reshape(-1), rtol=1e-6, err_msg=name)


@pytest.mark.parametrize("classes", [3, 20])
def test_a_view_of_negated_memory(store, device, classes):
    logits = torch.complex(torch.zeros(50, classes), torch.randn(50, classes)).conj().imag.as_strided((50, classes), (classes, 1), 1)
    assert logits.is_neg()
    found = log(store, "run", torch.arange(50), logits, torch.ones(50, dtype=torch.int64))
    np.testing.assert_allclose(found["confidence"], torch.softmax(logits.resolve_neg(), 1)[:, 1], atol=1e-6)


def test_they_are_computed_without_asking_the_device(monkeypatch):
    """A tensor on `meta` has no values: what would wait for one fails."""
    monkeypatch.setattr(_device, "_CHUNK", 4096)
    monkeypatch.setattr(_device, "is_remote", lambda values: getattr(values, "is_meta", False))
    logits, gold = torch.empty(100, 500, device="meta", dtype=torch.bfloat16), torch.empty(100, device="meta", dtype=torch.int64)
    assert _device.signals(logits.float(), gold).shape == (100, 6)
    block = []
    monkeypatch.setattr(_device, "start_copy", lambda one: (block.append(one), None))
    _device.Block(0, torch.empty(100, device="meta", dtype=torch.int64), logits, gold, None)
    assert block[0].shape == (100, 6 + 2 + 2) and block[0].dtype == torch.int32, "one block: signals, gold labels, ids"
    _device.Block(0, range(100), logits[:, :3], gold, None)
    assert block[1].shape == (100, 3 + 2), "rows as narrow as that come as they are"


def test_which_tensors_are_remote():
    class Tensor:
        def __init__(self, kind):
            self.device = torch.device(kind)

    assert [_device.is_remote(Tensor(kind)) for kind in ("cuda:1", "xpu", "cpu", "mps", "meta")] == [True, True, False, False, False]
    assert not any(map(_device.is_remote, ([1.0], np.zeros(3), None, "cuda")))


def test_the_copy_is_to_pinned_memory_behind_the_current_stream(monkeypatch):
    """The calls of torch.cuda, without one."""
    calls, empty = [], torch.empty

    class Fake:
        def __init__(self):
            self.record = lambda stream: calls.append(("record", stream))

    monkeypatch.setattr(torch, "empty", lambda *shape, pin_memory=False, **options: calls.append(("pinned", pin_memory)) or empty(*shape, **options))
    monkeypatch.setattr(torch.cuda, "Event", Fake)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: f"stream of {device}")
    block = torch.arange(6, dtype=torch.int32).reshape(3, 2)

    class Remote:
        device, shape, dtype = torch.device("cuda", 1), block.shape, block.dtype

    monkeypatch.setattr(torch.Tensor, "copy_", lambda self, source, non_blocking=False: calls.append(("copy", source, non_blocking)))
    remote = Remote()
    host, event = _device.start_copy(remote)
    assert calls == [("pinned", True), ("copy", remote, True), ("record", "stream of cuda:1")]
    assert host.shape == block.shape and isinstance(event, Fake)


def test_large_blocks_are_derived_in_pieces(store, device, monkeypatch):
    rows = batches(50)
    whole = log(store, "whole", *rows)
    monkeypatch.setattr(_device, "_CHUNK", 50 * 7)
    pieces = log(store, "pieces", *rows)
    for signal in SIGNALS:
        assert (whole[signal] == pieces[signal]).all()


def test_rows_that_cannot_be_used_are_refused(store, device, capfd):
    ids, logits, gold = batches(9, n=8)
    logits[1, 3], logits[2, 4], logits[5, gold[5]] = torch.nan, torch.inf, -torch.inf
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, ids, logits, gold)
        assert run.stats()["refused"] == 3
    assert list(counts(store)) == [0, 3, 4, 6, 7]
    assert "NaN or +inf in its logits" in capfd.readouterr().err


@pytest.mark.parametrize("classes", [3, 9])
def test_wrong_labels_raise_when_they_arrive(store, slow, classes):
    ids, logits, gold = batches(classes, n=8)
    gold[6] = classes
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, ids, logits, gold)
        with pytest.raises(ValueError, match=rf"gold: row 6 has {classes}"):
            run.end_epoch(0)
        run.log_logits(0, ids[:6], logits[:6], gold[:6])
    assert set(counts(store).values()) == {1} and len(counts(store)) == 6


def test_wrong_shapes_raise_at_once(store, slow):
    ids, logits, gold = batches(9, n=8)
    with portolan.Run("run", store=store) as run:
        for rows, message in (((ids[:7], logits, gold), "ids has 7 entries, logits 8 rows"), ((ids, logits, gold[:1]), "gold has 1 entry"),
                              ((ids, logits[None], gold), r"logits must have the shape .* not \(1, 8, 9\)")):
            with pytest.raises(ValueError, match=message):
                run.log_logits(0, *rows)
        assert not run._copies.waiting
    with pytest.raises(portolan.Closed):
        run.log_logits(0, ids, logits, gold)


def test_nothing_waits_for_a_copy_before_it_must(store, slow):
    ids, logits, gold = batches(9, n=8)
    with portolan.Run("run", store=store) as run:
        for epoch in range(4):
            run.log_logits(epoch, ids, logits, gold)
        assert run._handle.stats()["logged"] == 0 and Event.waited == 0
        run.log_logits(4, ids, logits, gold)
        assert run._handle.stats()["logged"] == 8 and Event.waited == 1, "no more than four are under way"
        Event.arrived = True
        run.log_logits(5, ids, logits, gold)
        assert run._handle.stats()["logged"] == 48 and Event.waited == 1
        Event.arrived = False
        run.log_logits(6, ids, logits, gold)
        run.end_epoch(6)
        assert run._handle.stats()["logged"] == 56 and Event.waited == 2
        run.log_logits(7, ids, logits, gold)
        assert run.flush() and run.stats()["acknowledged"] == 64
        run.log_logits(8, ids, logits, gold)
    assert set(counts(store).values()) == {9}


@pytest.mark.parametrize("classes", [3, 9])
def test_a_batch_of_one(store, device, classes):
    """Its columns lie one behind the other, a label perhaps at an odd word."""
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, torch.tensor([5]), torch.arange(classes)[None].float(), torch.tensor([1]))
    wanted = torch.arange(classes).float().softmax(0)[1].item()
    assert portolan.measures("run", store=store)["confidence"].tolist() == pytest.approx([wanted], rel=1e-6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_losses(store, dtype, monkeypatch, request):
    """The same numbers as of tensors in this machine's memory, with columns of one's own on either side."""
    losses, ids = (3 * torch.randn(300)).to(dtype).requires_grad_() * 1, torch.arange(300)
    columns = {"far": torch.rand(300), "ids": torch.arange(300), "near": np.arange(300.0)}

    def log(name):
        with portolan.Run(name, store=store) as run:
            run.log_loss(0, ids, losses, columns=columns)
            run.log_loss(1, ids[:0], losses[:0])
        return portolan.dynamics(name, store=store)

    here = log("here")
    request.getfixturevalue("device")
    there = log("there")
    assert len(there) == 300 and there.tolist() == here.tolist()
    np.testing.assert_allclose(there["task_loss"], losses.detach().float()[there["id"].astype(int)], rtol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64])
@pytest.mark.parametrize("far", ["both", "predicted", "target"])
def test_regressions(store, dtype, far, monkeypatch, request):
    """Targets far from 0: in float32 their squared errors would be off. Predictions and targets may lie apart."""
    predicted, target = 3e4 + torch.randn(300, 1, dtype=torch.float64), (3e4 + 20 * torch.randn(300, dtype=torch.float64)).to(dtype)
    names = [f"x{i}" for i in range(300)]

    def log(name):
        with portolan.Run(name, store=store) as run:
            run.log_regression(0, names, predicted, target if far == "both" else target.double().tolist(), weight=torch.ones(300))
        return portolan.dynamics(name, store=store)

    here = log("here")
    monkeypatch.setattr(_run, "Handle", Far)
    monkeypatch.setattr(_device, "is_remote", lambda values: isinstance(values, torch.Tensor) and (far == "both" or values is (predicted if far == "predicted" else target)))
    monkeypatch.setattr(_device, "start_copy", lambda block: (block.clone(), None))
    there = log("there")
    assert there.tolist() == here.tolist() and there.dtype.names == ("id", "epoch", "task_loss", "prediction", "target", "weight")
    order = [int(one[1:]) for one in there["id"].tolist()]
    wanted = (predicted[:, 0] - target.double()).square()[order]
    np.testing.assert_allclose(there["task_loss"], wanted, rtol=1e-6)


def test_losses_wait_no_more_than_logits_do(store, slow):
    ids = torch.arange(8)
    with portolan.Run("run", store=store) as run:
        for epoch in range(3):
            run.log_loss(epoch, ids, torch.full((8,), float(epoch)))
        run.log_regression(3, ids, torch.full((8,), 5.0), torch.full((8, 1), 3.0))
        assert run._handle.stats()["logged"] == 0 and Event.waited == 0
        run.log_loss(4, ids, torch.full((8,), 7.0))
        assert run._handle.stats()["logged"] == 8 and Event.waited == 1, "no more than four are under way"
        run.end_epoch(4)
        assert run._handle.stats()["logged"] == 40 and Event.waited == 5
    d = portolan.dynamics("run", store=store)
    assert {epoch: set(d["task_loss"][d["epoch"] == epoch]) for epoch in range(5)} == {0: {0.0}, 1: {1.0}, 2: {2.0}, 3: {4.0}, 4: {7.0}}


@pytest.mark.parametrize("here", ["log_logits", "log_probs", "log_gold"])
def test_what_is_logged_from_this_machines_memory_is_the_later_observation(store, slow, here):
    ids, gold = np.arange(8), np.zeros(8, int)
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, torch.arange(8), torch.tensor([[2.0, 0.0, 0.0]]).expand(8, 3), torch.zeros(8).long())
        assert run._handle.stats()["logged"] == 0
        rows = {"log_logits": (np.zeros((8, 2)), gold), "log_probs": (np.full((8, 2), 0.5), gold), "log_gold": (np.full(8, 0.5), gold == 0)}[here]
        getattr(run, here)(0, ids, *rows)
        assert run._handle.stats()["logged"] == 16
    np.testing.assert_allclose(portolan.measures("run", store=store)["confidence"], 0.5)


@pytest.mark.parametrize("here", ["log_loss", "log_regression"])
def test_losses_from_this_machines_memory_are_the_later_observations(store, slow, here):
    ids = np.arange(8)
    with portolan.Run("run", store=store) as run:
        run.log_loss(0, torch.arange(8), torch.full((8,), 1.0))
        rows = {"log_loss": (np.full(8, 4.0),), "log_regression": (np.full(8, 3.0), np.full(8, 5.0))}[here]
        getattr(run, here)(0, ids, *rows)
        assert run._handle.stats()["logged"] == 16
        run.log_loss(1, torch.arange(8), torch.full((8,), 1.0))
        assert run._handle.stats()["logged"] == 16 and Event.waited == 1, "others still wait for nothing"
    d = portolan.dynamics("run", store=store)
    assert set(d["task_loss"][d["epoch"] == 0]) == {4.0} and set(d["task_loss"][d["epoch"] == 1]) == {1.0}


def test_losses_that_cannot_be_logged(store, slow, capfd):
    ids, loss = torch.arange(8), torch.rand(8)
    with portolan.Run("run", store=store) as run:
        for call, says in ((lambda: run.log_loss(0, ids[:7], loss), "ids has 7 entries, loss 8 rows"),
                           (lambda: run.log_loss(0, ids, loss[:, None]), r"loss must have the shape \(n,\), not \(8, 1\)"),
                           (lambda: run.log_loss(0, ids, loss.mean()), r"loss must have the shape \(n,\), not \(\)"),
                           (lambda: run.log_loss(0, ids, loss, short=[1.0]), "short has 1 entry, loss 8 rows"),
                           (lambda: run.log_regression(0, ids, loss, loss[:3]), "target has 3 entries, predicted 8 rows"),
                           (lambda: run.log_regression(0, ids, torch.rand(8, 2), loss), r"predicted must have the shape \(n,\) or \(n, 1\), not \(8, 2\)"),
                           (lambda: run.log_regression(0, ids, loss, loss, prediction=loss), "prediction and target are those of the regression itself")):
            with pytest.raises(ValueError, match=says):
                call()
        assert not run._copies.waiting
        loss[2], loss[5] = torch.nan, torch.inf
        run.log_loss(0, ids, loss)
        loss[:] = 0  # the caller's own, afterwards
        assert run.stats()["refused"] == 2
    assert "a loss that is not finite" in capfd.readouterr().err and len(counts(store)) == 6


def test_losses_are_not_waited_for_by_infobatch(slow, monkeypatch):
    """Their copies arrive when the sampler needs them; the weights go to the device behind the queued work."""
    sent = []
    monkeypatch.setattr(_device, "send", lambda values, device: sent.append(values.tolist()) or values)
    near, far = (portolan.torch.InfoBatchSampler(20, epochs=8, seed=5) for _ in range(2))
    losses = torch.rand(20, dtype=torch.float64)
    with monkeypatch.context() as here:
        here.setattr(_device, "is_remote", lambda values: False)
        kept = near.loss(range(20), losses)
        near.loss([3, 4], losses[:2])
        drawn = list(near)
    parts = [far.loss(range(start, start + 5), losses[start : start + 5]) for start in (0, 5, 10, 15)]
    assert Event.waited == 0 and sent == [[1.0] * 5] * 4 and torch.stack(parts).mean() == pytest.approx(kept.item())
    far.loss([3, 4], losses[:2])
    assert Event.waited == 1, "no more than four are under way"
    assert list(far) == drawn and Event.waited == 5 and len(drawn) < 20 and torch.equal(far.losses, near.losses)
    assert torch.equal(far.state_dict()["losses"], near.losses)


def test_what_is_sent_goes_by_pinned_memory(monkeypatch):
    """The calls of torch, without a device."""
    calls = []

    class Values:
        def pin_memory(self):
            calls.append("pinned")
            return self

        def to(self, device, non_blocking=False):
            calls.append((device, non_blocking))
            return self

    _device.send(Values(), "cuda:0")
    assert calls == ["pinned", ("cuda:0", True)]
    monkeypatch.setattr(Values, "pin_memory", lambda self: (_ for _ in ()).throw(RuntimeError("no more")))
    _device.send(Values(), "cuda:1")
    assert calls[2:] == [("cuda:1", True)], "copied as it is where no more memory may be pinned"


def test_what_the_caller_changes_meanwhile_does_not_matter(store, slow, monkeypatch):
    ids, logits, gold = batches(9, n=8)
    names, labels = [f"x{i}" for i in ids], gold.numpy().copy()
    numbers = ids.numpy().copy()
    monkeypatch.setattr(_device, "is_remote", lambda values: values is logits)
    with portolan.Run("names", store=store) as run, portolan.Run("numbers", store=store) as other:
        run.log_logits(0, names, logits, labels)
        other.log_logits(0, numbers, logits, labels)
        names[:], labels[:], numbers[:] = ["y"] * 8, 0, 0
    assert list(counts(store, "names")) == [f"x{i}" for i in range(8)]
    assert list(counts(store, "numbers")) == list(range(8))
    assert portolan.measures("names", store=store)["gold"].tolist() == gold.tolist()


def test_a_run_that_is_dropped_loses_nothing(store, slow):
    ids, logits, gold = batches(9, n=8)
    run = portolan.Run("run", store=store)
    run.log_logits(0, ids, logits, gold)
    del run
    gc.collect()
    assert set(counts(store).values()) == {1}


def test_a_forked_child_leaves_them_alone(store, slow):
    ids, logits, gold = batches(9, n=8)
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, ids, logits, gold)
        child = os.fork()
        if child == 0:
            os._exit(0 if not run._copies.waiting else 1)
        assert os.waitpid(child, 0)[1] == 0
    assert set(counts(store).values()) == {1}


def test_rows_without_a_label_and_tokens(store, slow):
    logits, gold = torch.randn(2, 4, 9), torch.tensor([[-100, 0, 8, -100], [3, -100, -100, -100]])
    with portolan.Run("run", store=store) as run:
        _hooks.log_batch(run, 0, ["a", "b"], logits, gold)
        _hooks.log_batch(run, 0, ["c", "d"], logits[:, 0], torch.tensor([-100, 2]))
        _hooks.log_batch(run, 0, ["e", "f"], logits[:, 0, :1], torch.tensor([[1.0], [0.0]]))
    ids, values = trajectories(store, 1)
    assert ids == ["a/0", "a/1", "b/0", "d", "e", "f"]
    p = logits.double().softmax(2)
    expected = [p[0, 1, 0], p[0, 2, 8], p[1, 0, 3], p[1, 0, 2], torch.sigmoid(logits[0, 0, 0]), torch.sigmoid(-logits[1, 0, 0])]
    np.testing.assert_allclose(values[:, 0], expected, atol=1e-6)


def test_changed_labels_are_noticed(store, slow, capfd):
    ids, logits, gold = batches(9, n=8)
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, ids, logits, gold)
        run.log_logits(1, ids, logits, gold.roll(1))
    assert capfd.readouterr().err.count("shuffled order") == 1
