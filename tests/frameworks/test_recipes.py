"""The programs of docs/recipes.md, run as they stand: what was recorded after the last epoch is what the model they leave behind says."""

import importlib
import os
import runpy
import sys

import numpy as np
import pytest
import torch

import portolan
from support import blocks, gold_probs, run_page_block

NAMES = ("pictures", "boxes", "rows", "stream", "accelerated", "accelerate launch", "sharded", "torchrun", "adapted", "learner", "nodes")
PROGRAMS = dict(zip(NAMES, blocks("recipes.md"), strict=True))


@pytest.fixture
def run_program(tmp_path, monkeypatch, stores):
    """Runs programs of the page, in this process or as it says, in a folder of their own; the last one's names afterwards."""
    stores.append(tmp_path / "portolan-store")
    monkeypatch.chdir(tmp_path)

    def run(name, launcher=None):
        path = tmp_path / f"{name}.py"
        path.write_text(PROGRAMS[name][1], encoding="utf-8")
        if launcher is None:
            return runpy.run_path(str(path))
        assert f"{name}.py" in PROGRAMS[launcher][1] and PROGRAMS[name][1].startswith(f"# {name}.py\n")
        run_page_block(*PROGRAMS[launcher], tmp_path)
        return None

    return run


def check(run, epochs, wanted):
    """`wanted`: {id: p(gold)} after the last epoch; all of these, and only these, were seen in every epoch."""
    store = os.path.join(os.getcwd(), "portolan-store")
    m = portolan.measures(run, store=store)
    assert set(m["id"].tolist()) == set(wanted) and set(m["epochs"]) == {epochs}
    last = portolan.measures(run, store=store, epochs=(epochs - 1, epochs))
    np.testing.assert_allclose(last["confidence"], [wanted[one] for one in last["id"].tolist()], atol=1e-5)
    assert m["variability"].max() > 0.01, "nothing was learned: any record would do"


def after(model, x, y, ids=None):
    model.eval()
    with torch.no_grad():
        p = gold_probs(model(x).numpy(), y.numpy())
    return dict(zip(range(len(p)) if ids is None else ids, p.tolist(), strict=True))


def toy(count):
    torch.manual_seed(0)
    y = torch.randint(0, 3, (count,))
    return torch.randn(count, 10) + 2 * torch.nn.functional.one_hot(y, 10), y


def test_a_folder_of_pictures(run_program):
    image = pytest.importorskip("PIL.Image")
    names = run_program("pictures")
    ids = [f"{kind}/{i}.png" for kind in ("dawn", "dusk", "noon") for i in range(60)]
    x = torch.tensor(np.stack([np.array(image.open(f"pictures/{one}")) for one in ids]) / 255, dtype=torch.float32)
    check("pictures", 4, after(names["model"], x, torch.arange(180) // 60, ids))


@pytest.fixture
def torchvision(monkeypatch):
    """It lies apart, since it may not fit this build of torch: its own operators are then missing. Training a one-stage detector calls none of
    them, so it can be imported where they are declared."""
    folder = os.path.join(sys.prefix, "torchvision")
    if not os.path.isdir(folder):
        pytest.skip("no torchvision beside the environment")
    monkeypatch.syspath_prepend(folder)
    try:
        importlib.import_module("torchvision")
        yield
    except RuntimeError:
        forget("torchvision")
        missing = torch.library.Library("torchvision", "DEF")
        for name in ("nms", "qnms"):
            missing.define(f"{name}(Tensor boxes, Tensor scores, float iou_threshold) -> Tensor")
        yield
    forget("torchvision")  # others ask whether it is there


def forget(package):
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]


def test_a_loss_for_each_picture(run_program, torchvision):
    """By hand: each picture alone, every module but the model in eval mode."""
    names = run_program("boxes")
    model, pictures = names["model"], names["pictures"]
    for module in model.modules():
        module.training = module is model
    with torch.no_grad():
        each = [model([picture], [target]) for picture, target in pictures]
    wanted = np.array([sum(map(float, one.values())) for one in each])
    store = os.path.join(os.getcwd(), "portolan-store")
    d = portolan.dynamics("boxes", store=store)
    last = d["epoch"] == 5
    assert len(d) == 6 * 120 and sorted(d["id"][last].tolist()) == list(range(120))
    np.testing.assert_allclose(d["task_loss"][last], wanted[d["id"][last].astype(int)], rtol=1e-4)
    np.testing.assert_allclose(d["classification"] + d["bbox_regression"], d["task_loss"], rtol=1e-5)
    assert set(portolan.select("boxes", by="hard-to-learn", count=6, store=store).ids()) == set(range(6)), "the wrong boxes are the hardest"
    model.train()
    with torch.no_grad(), pytest.raises(AssertionError):
        trained = [sum(map(float, model([picture], [target]).values())) for picture, target in pictures]
        np.testing.assert_allclose(trained, wanted, rtol=0.01)  # batch normalisation by a single picture is another model


def test_rows_without_ids(run_program):
    names = run_program("rows")
    x, y = toy(600)
    kept = sorted(int(one) for one in names["train"]["id"])
    assert len(kept) < 540 and kept != list(range(len(kept)))
    everything = after(names["model"], x, y)
    check("rows", 4, {one: everything[one] for one in kept})


def test_a_stream(run_program):
    names = run_program("stream")
    torch.manual_seed(0)
    wanted = {}
    for part in range(4):
        y = torch.randint(0, 3, (150,))
        x = torch.randn(150, 10) + 2 * torch.nn.functional.one_hot(y, 10)
        wanted |= after(names["model"], x, y, [f"part-{part}.jsonl:{line}" for line in range(1, 151)])
    check("stream", 4, wanted)


def plain_model(path):
    model = torch.nn.Sequential(torch.nn.Linear(10, 32), torch.nn.ReLU(), torch.nn.Linear(32, 3))
    model.load_state_dict(torch.load(path))
    return model


def test_accelerate_in_one_process(run_program, monkeypatch):
    pytest.importorskip("accelerate")
    names = run_program("accelerated")
    check("accelerated", 4, after(names["model"], names["x"], names["y"]))


def test_accelerate_in_two_processes(run_program):
    pytest.importorskip("accelerate")
    run_program("accelerated", "accelerate launch")
    check("accelerated", 4, after(plain_model("accelerated.pt"), *toy(601)))


def test_fsdp_in_two_processes(run_program):
    run_program("sharded", "torchrun")
    check("sharded", 4, after(plain_model("sharded.pt"), *toy(601)))


def test_a_model_with_adapters(run_program):
    pytest.importorskip("peft")
    names = run_program("adapted")
    train, model = names["train"], names["model"]
    model.eval()
    with torch.no_grad():
        logits = model(input_ids=torch.tensor(list(train["input_ids"]))).logits
    check("adapted", 3, dict(zip(train["guid"], gold_probs(logits.numpy(), list(train["label"])).tolist(), strict=True)))


def test_fastai(run_program):
    pytest.importorskip("fastai")
    names = run_program("learner")
    check("learner", 4, after(names["model"], names["x"], names["y"]))


def test_nodes_of_a_graph(run_program):
    """By hand: the two layers of Kipf and Welling (2017), equation 9, with dense matrices."""
    pytest.importorskip("torch_geometric")
    names = run_program("nodes")
    graph, model, nodes = names["graph"], names["model"], names["nodes"].numpy()
    adjacency = np.zeros((500, 500))
    np.add.at(adjacency, (graph.edge_index[1].numpy(), graph.edge_index[0].numpy()), 1)
    np.fill_diagonal(adjacency, 1)  # a node has an edge to itself, once
    scale = 1 / np.sqrt(adjacency.sum(axis=1))
    spread = scale[:, None] * adjacency * scale
    weights = {name: value.detach().double().numpy() for name, value in model.named_parameters()}
    hidden = np.maximum(spread @ (graph.x.double().numpy() @ weights["first.lin.weight"].T) + weights["first.bias"], 0)
    logits = spread @ (hidden @ weights["second.lin.weight"].T) + weights["second.bias"]
    p = gold_probs(logits, graph.y.numpy())
    check("nodes", 30, {int(node): p[node] for node in nodes})
