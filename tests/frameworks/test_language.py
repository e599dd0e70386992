"""portolan.language: examples of a language model, against what NumPy makes of the scores."""

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.data import DataLoader
from transformers import DataCollatorWithFlattening

import portolan
import portolan.language
import portolan.torch
from language_data import assert_recorded, by_hand, gpt, of_model, pad, recorded, texts
from portolan._recording import _device, _tokens

CLASSES = 50


def batch(n=12, length=9, dtype=torch.float32, seed=1):
    """(ids, logits, labels): prompts of several lengths are masked, and so is what follows the text."""
    generator = torch.Generator().manual_seed(seed)
    logits = (torch.randn(n, length, CLASSES, generator=generator) * torch.logspace(-1, 1, n)[:, None, None]).to(dtype)
    labels = torch.randint(0, CLASSES, (n, length), generator=generator)
    labels[::2] = torch.cat((labels[::2, :1], logits[::2, :-1].argmax(2)), 1)  # half of them are predicted, but for a token in some
    labels[::4, 6] = 3
    for row in range(n):
        labels[row, : row % 4] = -100
        labels[row, length - row % 3 :] = -100
    return [f"e{i}" for i in range(n)], logits, labels


def expected(ids, logits, labels, shift=True, share=1.0):
    out = {}
    for one, scores, gold in zip(ids, logits.double().numpy(), labels.numpy()):
        at = [k for k in range(int(shift), len(gold)) if gold[k] != -100]
        if at:
            out[one] = by_hand(scores[[k - int(shift) for k in at]], gold[at], share)
    return out


def log(store, *arguments, name="run", **options):
    with portolan.Run(name, store=store) as run:
        portolan.language.log(run, 0, *arguments, **options)
        run.end_epoch(0)


@pytest.fixture
def device(monkeypatch):
    """Every tensor counts as one on an accelerator."""
    monkeypatch.setattr(_device, "is_remote", lambda values: isinstance(values, torch.Tensor))
    monkeypatch.setattr(_device, "start_copy", lambda block: (block.clone(), None))


@pytest.mark.parametrize("way", ["here", "device"])
@pytest.mark.parametrize("shift", [True, False])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_what_is_recorded_of_an_example(store, dtype, shift, way, request, monkeypatch):
    if way == "device":
        request.getfixturevalue("device")
    for name in ("_CHUNK", "_CHUNK_HERE"):
        monkeypatch.setattr(_tokens, name, 7 * CLASSES)  # several slices
    ids, logits, labels = batch(dtype=dtype)
    log(store, ids, logits, labels, shift=shift)
    want = expected(ids, logits, labels, shift)
    assert {values[1] for values in want.values()} == {0.0, 1.0} or not shift
    assert_recorded(store, want)


def test_a_share_of_the_tokens_makes_an_example_correct(store):
    ids, logits, labels = batch()
    log(store, ids, logits, labels, correct_share=0.75)
    want = expected(ids, logits, labels, share=0.75)
    assert [one for one, values in want.items() if values[1] == 1 and values[3] < 1]
    assert_recorded(store, want)
    with pytest.raises(ValueError, match="correct_share must be a share above 0"):
        log(store, ids, logits, labels, correct_share=0, name="none")


def test_a_token_that_is_very_unlikely_does_not_make_the_example_impossible(store):
    """p of that token, e to the -200, is no float32."""
    logits = torch.zeros(1, 41, CLASSES)
    labels = torch.full((1, 41), 7)
    logits[0, :, 7] = 60.0
    logits[0, 20, 8] = 260.0
    log(store, [0], logits, labels)
    got = recorded(store)[0]
    assert got[0] == pytest.approx(np.exp(-200 / 40), rel=1e-5) and got[1] == 0 and got[3] == pytest.approx(39 / 40)


def test_scores_that_cannot_be_used_are_refused(store, capfd):
    ids, logits, labels = batch(n=4)
    labels[:] = 5
    logits[1, 3, 9] = float("nan")
    logits[2, 3, 5] = -torch.inf
    logits[3, 3, 9] = -torch.inf  # a token that may not be chosen
    log(store, ids, logits, labels)
    assert "2 of 4 rows refused" in capfd.readouterr().err
    assert_recorded(store, expected(["e0", "e3"], logits[[0, 3]], labels[[0, 3]]))


def test_examples_without_a_target(store, capfd):
    ids, logits, labels = batch(n=5)
    labels[2] = -100
    labels[4, 1:] = -100  # of its first token nothing is predicted
    with portolan.Run("run", store=store) as run:
        portolan.language.log(run, 0, ids, logits, labels)
        portolan.language.log(run, 1, ids, logits, labels)
    assert capfd.readouterr().err.count("examples without a target token") == 1
    assert_recorded(store, expected(ids, logits, labels))
    assert set(recorded(store)) == {"e0", "e1", "e3"}


def packed(parts, length=None):
    """A row of several examples, positions that begin again, and padding; (logits, labels, position_ids, seq_idx), each with one row."""
    logits = torch.cat([part[0] for part in parts])
    labels = torch.cat([part[1] for part in parts])
    positions = torch.cat([torch.arange(len(part[1])) for part in parts])
    numbers = torch.cat([torch.full((len(part[1]),), k) for k, part in enumerate(parts)])
    more = (length or len(labels)) - len(labels)
    pad = torch.nn.functional.pad
    return pad(logits, (0, 0, 0, more))[None], pad(labels, (0, more), value=-100)[None], pad(positions, (0, more))[None], pad(numbers, (0, more), value=-1)[None]


@pytest.mark.parametrize("told_by", ["position_ids", "seq_idx"])
@pytest.mark.parametrize("way", ["here", "device"])
def test_packed_examples(store, told_by, way, request):
    """Two rows; the first token of an example has a label, and what stands before it is of another example."""
    if way == "device":
        request.getfixturevalue("device")
    ids, logits, labels = batch(n=5)
    cut = [2, 5, 9, 7, 4]
    parts = [(logits[i, : cut[i]], labels[i, : cut[i]]) for i in range(5)]
    parts[1][1][:] = 4
    rows = [packed(parts[:3], 18), packed(parts[3:], 18)]
    both = [torch.cat([row[k] for row in rows]) for k in range(4)]
    places = {"position_ids": both[2]} if told_by == "position_ids" else {"seq_idx": both[3]}
    log(store, ids, both[0], both[1], **places)
    want = {}
    for one, (scores, gold) in zip(ids, parts):
        want.update(expected([one], scores[None], gold[None]))
    assert len(want) >= 4 and want["e1"][2] == 4
    assert_recorded(store, want)


@pytest.mark.parametrize("way", ["here", "device"])
def test_packed_examples_need_an_id_each(store, way, request):
    if way == "device":
        request.getfixturevalue("device")
    _, logits, labels = batch(n=3)
    row = packed([(logits[i], labels[i]) for i in range(3)])
    for ids in (["a"], ["a", "b"], list("abcd")):
        with pytest.raises(ValueError, match=f"the batch has 3 examples, and there are {len(ids)} ids"):
            log(store, ids, row[0], row[1], position_ids=row[2], name=f"of-{len(ids)}")
    with pytest.raises(ValueError, match="the batch has 1 example, and there are 3 ids"):  # nothing tells them apart
        log(store, list("abc"), row[0], row[1], name="untold")


def test_parts_of_an_example_in_one_batch_are_added_up(store):
    """Cut in two by packing: the second part's first token is not predicted."""
    _, logits, labels = batch(n=2, length=8)
    labels[:] = 6
    row = packed([(logits[0, :5], labels[0, :5]), (logits[1], labels[1]), (logits[0, 5:], labels[0, 5:])])
    log(store, [7, 8, 7], row[0], row[1], position_ids=row[2])
    scores = logits.double().numpy()
    assert_recorded(store, {7: by_hand(scores[0][[0, 1, 2, 3, 5, 6]], [6] * 6), 8: by_hand(scores[1][:7], [6] * 7)})


@pytest.mark.parametrize("way", ["here", "device"])
def test_each_token_an_observation(store, way, request):
    if way == "device":
        request.getfixturevalue("device")
    ids, logits, labels = batch(n=6)
    log(store, ids, logits, labels, tokens=True)
    row = packed([(logits[i], labels[i]) for i in range(6)], 60)
    log(store, ids, row[0], row[1], position_ids=row[2], tokens=True, name="packed")
    want = {}
    for one, scores, gold in zip(ids, logits.double().numpy(), labels.numpy()):
        at = [k for k in range(1, len(gold)) if gold[k] != -100]
        want.update({f"{one}/{number}": by_hand(scores[[k - 1]], gold[[k]])[0] for number, k in enumerate(at)})
    for name in ("run", "packed"):
        m = portolan.measures(name, store=store)
        got = dict(zip(m["id"].tolist(), m["confidence"].tolist()))
        assert got == pytest.approx(want, abs=1e-6) and len(m["aum"]) == len(want)


def test_wrong_arguments(store, device):
    ids, logits, labels = batch(n=3)
    with portolan.Run("run", store=store) as run:
        for arguments, message in (
            ((ids, logits[0], labels), r"logits have the shape \(9, 50\) and labels \(3, 9\)"),
            ((ids, logits[:, 1:], labels), "a score at every token"),
            ((ids, logits, labels + 100), r"labels: \d+ of them are not within 0 and 49 \(classes\), nor -100"),
        ):
            with pytest.raises(ValueError, match=message):
                portolan.language.log(run, 0, *arguments)
        with pytest.raises(TypeError, match="labels must be integers, not torch.float32"):
            portolan.language.log(run, 0, ids, logits, labels.float())
        with pytest.raises(ValueError, match="must have the shape of labels"):
            portolan.language.log(run, 0, ids, logits, labels, position_ids=labels[:, 1:])
        assert run.stats()["logged"] == 0


class Largest(TorchDispatchMode):
    """The largest floating-point table that an operation has made: not a view of `given`."""

    size = 0

    def __init__(self, given):
        super().__init__()
        self.given = given.untyped_storage().data_ptr()

    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        out = function(*arguments, **(options or {}))
        for one in out if isinstance(out, (tuple, list)) else [out]:
            if isinstance(one, torch.Tensor) and one.is_floating_point() and one.untyped_storage().data_ptr() != self.given:
                self.size = max(self.size, one.numel())
        return out


@pytest.mark.parametrize("way", ["here", "device"])
def test_no_second_table_of_all_scores(store, way, request, monkeypatch):
    if way == "device":
        request.getfixturevalue("device")
    for name in ("_CHUNK", "_CHUNK_HERE"):
        monkeypatch.setattr(_tokens, name, 5000)
    logits, labels = torch.zeros(4, 32, 1000, dtype=torch.bfloat16), torch.ones(4, 32, dtype=torch.int64)
    with portolan.Run("run", store=store) as run, Largest(logits) as largest:
        portolan.language.log(run, 0, range(4), logits, labels)
    assert 0 < largest.size <= 5000


def test_the_device_is_not_asked(monkeypatch):
    """A tensor on `meta` has no values: what would wait for one fails."""
    monkeypatch.setattr(_device, "is_remote", lambda values: getattr(values, "is_meta", False))
    block = []
    monkeypatch.setattr(_device, "start_copy", lambda one: (block.append(one), None))
    logits, labels = torch.empty(4, 10, 300, device="meta"), torch.empty(4, 10, device="meta", dtype=torch.int64)
    for starts in (None, _tokens._starts(labels, labels, None)):
        _tokens.Examples(None, 0, range(4), _tokens._Scores(logits), _tokens._find(labels, starts, True, 4), 1.0)
        assert block.pop().shape == (5, 4)


def train(store, tmp_path, observed, collator=pad):
    """Two epochs of a plain loop; what the model says after each, by hand."""
    model, want = gpt(), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    loader = DataLoader(texts(), batch_size=6, shuffle=True, collate_fn=portolan.language.keep_ids(collator))
    run = portolan.torch.open_run("run", model, store=store) if observed else None
    for epoch in range(2):
        model.train()
        for one in loader:
            optimizer.zero_grad()
            model(**{name: one[name] for name in one.keys() - {"id"}}).loss.backward()
            optimizer.step()
        if observed:
            assert portolan.language.observe(run, model, loader, epoch) == 20
            assert model.training
            model.eval()
            want.append({e["id"]: of_model(model, e["input_ids"], range(1, len(e["input_ids"]))) for e in texts()})
    if observed:
        run.close()
    return torch.cat([p.detach().reshape(-1) for p in model.parameters()]), want


def test_a_plain_loop(store, tmp_path):
    weights, want = train(store, tmp_path, True)
    assert torch.equal(weights, train(store, tmp_path, False)[0]), "observing changed the training"
    for epoch in range(2):
        assert_recorded(store, want[epoch], epochs=(epoch, epoch + 1))


def test_a_collator_that_packs(store, tmp_path):
    """Attention goes across examples here, as nothing tells this model's; so the values are those of the packed row."""
    model = gpt().eval()
    collator = DataCollatorWithFlattening(return_tensors="pt")
    loader = DataLoader(texts(), batch_size=5, collate_fn=portolan.language.keep_ids(collator))
    want = {}
    for one in loader:
        with torch.no_grad():
            logits = model(input_ids=one["input_ids"], position_ids=one["position_ids"]).logits[0].double().numpy()
        begin = 0
        for example in one["id"]:
            tokens = next(e["input_ids"] for e in texts() if e["id"] == example)
            want[example] = by_hand(logits[begin : begin + len(tokens) - 1], tokens[1:])
            begin += len(tokens)
    with portolan.torch.open_run("run", model, store=store) as run:
        assert portolan.language.observe(run, model, loader, 0) == 20
    assert_recorded(store, want)


def test_a_loader_without_ids_says_what_is_missing(store):
    with portolan.torch.open_run("run", store=store) as run:
        with pytest.raises(KeyError, match="an example has no entry 'id'"):
            portolan.language.observe(run, gpt(), DataLoader([{"input_ids": [1, 2]}], collate_fn=portolan.language.keep_ids(pad)), 0)
