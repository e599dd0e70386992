"""The hooks for PyTorch, transformers and Lightning against stand-ins: the order of calls, modes, ids, epochs, errors."""

import types
from dataclasses import dataclass, field

import numpy as np
import pytest

import standins
import portolan
import portolan.lightning
import portolan.torch
import portolan.transformers

N, CLASSES, FEATURES = 25, 3, 4
GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(N, FEATURES))
Y = GENERATOR.integers(0, CLASSES, N)
WEIGHTS = GENERATOR.normal(size=(FEATURES, CLASSES))


def make_model():
    return standins.Module(WEIGHTS, [standins.Module(None), standins.Module(None)])


def expected():
    z = X @ WEIGHTS
    p = np.exp(z - z.max(1, keepdims=True))
    return (p / p.sum(1, keepdims=True))[np.arange(N), Y]


def assert_recorded(store, epochs, name="run", ids=range(N)):
    m = portolan.measures(name, store=store)
    assert m["id"].tolist() == list(ids) and set(m["epochs"]) == {epochs}
    np.testing.assert_allclose(m["confidence"], expected(), atol=1e-6)


def loader(**options):
    return standins.Loader(portolan.torch.WithIds(list(zip(X, Y))), batch_size=10, **options)


def test_observe(store):
    model = make_model()
    model._children[0].training = False
    with portolan.torch.open_run("run", model, store=store) as run:
        for epoch in range(2):
            assert portolan.torch.observe(run, model, loader(), epoch) == N
    assert model.called_in == [([False] * 3, False)] * 6
    assert [module.training for module in model.modules()] == [True, False, True]
    assert_recorded(store, 2)


def test_observe_restores_what_a_failure_leaves(store):
    model = make_model()
    with portolan.Run("run", store=store) as run:
        with pytest.raises(ZeroDivisionError):
            portolan.torch.observe(run, model, loader(), 0, forward=lambda model, batch: 1 / 0)
        assert all(module.training for module in model.modules()) and standins.torch.grad_enabled
        portolan.torch.observe(run, model, loader(), 0)
    assert_recorded(store, 1)


def test_several_processes_without_a_group_are_refused(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "4")
    with pytest.raises(RuntimeError, match="init_process_group"):
        portolan.torch.open_run("run", store="nowhere")


@dataclass
class Arguments:
    """TrainingArguments, as far as the hook looks."""

    output_dir: str = "somewhere/out"
    run_name: str | None = None
    seed: int = 5
    learning_rate: float = 0.1
    remove_unused_columns: bool = True
    label_names: list | None = None
    per_device_eval_batch_size: int = 8
    dataloader_num_workers: int = 0
    dataloader_pin_memory: bool = False
    process_index: int = 0
    world_size: int = 1
    device: object = field(default_factory=lambda: types.SimpleNamespace(type="cpu"))

    def to_dict(self):
        return {"learning_rate": self.learning_rate}


def collate(examples):
    assert all(set(example) == {"input_ids", "labels"} for example in examples), "columns that the model does not take are removed"
    return {name: standins.tensor([example[name] for example in examples]) for name in ("input_ids", "labels")}


def drive(callback, model, args, epochs=2, state=None):
    """The events of transformers' Trainer, in its order."""
    state = state or types.SimpleNamespace(epoch=0, global_step=0)
    control = types.SimpleNamespace(should_save=False)
    train = types.SimpleNamespace(collate_fn=collate)
    callback.on_train_begin(args, state, control, model=model, train_dataloader=train)
    first = int(state.epoch)
    for epoch in range(first, first + epochs):
        callback.on_epoch_begin(args, state, control, model=model)
        state.global_step += 3
        state.epoch = epoch + 1.0
        callback.on_step_end(args, state, control, model=model)
        callback.on_epoch_end(args, state, control, model=model, train_dataloader=train)
    callback.on_train_end(args, state, control)


EXAMPLES = [{"id": f"x{i:02}", "input_ids": x, "labels": y, "text": "..."} for i, (x, y) in enumerate(zip(X, Y))]
NAMES = [example["id"] for example in EXAMPLES]


def test_the_callback_of_transformers(store, capfd):
    model = make_model()
    callback = portolan.transformers.PortolanCallback(EXAMPLES, "id", store=store)
    drive(callback, model, Arguments())
    assert callback.run.name == "out" and not callback.run.is_open
    assert model.called_in == [([False] * 3, False)] * 8
    assert_recorded(store, 2, "out", NAMES)
    assert "50 observations on disk" in capfd.readouterr().err


SHARED = "rows 3 and 7 have the same id, {}; of the 25 ids 24 differ"


def test_ids_that_examples_share_are_refused_before_training():
    """Where they can be had: arrays, lists, tensors, columns, lists of dicts."""
    numbers = list(range(N))
    numbers[7] = 3
    names = [f"x{i}" for i in numbers]
    examples, rows = list(zip(X, Y)), [{"id": name, "input_ids": x, "labels": y} for name, x, y in zip(names, X, Y)]
    for ids in (numbers, np.array(numbers), standins.tensor(numbers)):
        with pytest.raises(ValueError, match="WithIds: " + SHARED.format(3)):
            portolan.torch.WithIds(examples, ids)
    for ids in (names, np.array(names)):
        with pytest.raises(ValueError, match="WithIds: " + SHARED.format("'x3'")):
            portolan.torch.WithIds(examples, ids)
    table = type("Table", (), {"column_names": list(rows[0]), "__len__": lambda self: N, "__getitem__": lambda self, name: names})()
    for dataset in (rows, table):
        with pytest.raises(ValueError, match="WithIds: " + SHARED.format("'x3'")):
            portolan.torch.WithIds(dataset, "id")
        with pytest.raises(ValueError, match="PortolanCallback: " + SHARED.format("'x3'")):
            portolan.transformers.PortolanCallback(dataset, "id", "run")
    portolan.transformers.PortolanCallback(rows, None, "run")


def test_a_batch_that_begins_with_a_feature_is_said(store, capfd):
    """(feature, x, y) of whole numbers looks like (ids, x, y)."""
    examples = [(i % 5, x, y) for i, (x, y) in enumerate(zip(X, Y))]
    with portolan.Run("run", store=store) as run:
        portolan.torch.observe(run, make_model(), standins.Loader(examples, batch_size=5), 0)
    said = [line for line in capfd.readouterr().err.splitlines() if "logged in this epoch before" in line]
    assert len(said) == 1 and said[0].startswith("portolan: run run: epoch 0: id 0 was") and "portolan.torch.WithIds" in said[0]


def test_a_second_start_gets_a_number(store, capfd):
    for number in range(3):
        callback = portolan.transformers.PortolanCallback(EXAMPLES, "id", "run", store=store, if_exists="number")
        drive(callback, make_model(), Arguments())
        assert callback.run.name == ("run", "run/2", "run/3")[number]
        assert_recorded(store, 2, callback.run.name, NAMES)
    assert "portolan: run run/3: run 'run' exists: this one is recorded as 'run/3'\n" in capfd.readouterr().err
    state = types.SimpleNamespace(epoch=2.0, global_step=6)
    drive(callback, make_model(), Arguments(), 1, state)  # the same callback knows with which run training goes on
    assert_recorded(store, 3, "run/3", NAMES)
    assert_recorded(store, 2, "run", NAMES)
    another = portolan.transformers.PortolanCallback(EXAMPLES, "id", "run", store=store, if_exists="number")
    with pytest.raises(ValueError, match='training goes on from a checkpoint, and if_exists="number" does not say with which run'):
        drive(another, make_model(), Arguments(), 1, types.SimpleNamespace(epoch=2.0, global_step=6))


def test_training_that_goes_on_continues_the_run(store):
    drive(portolan.transformers.PortolanCallback(EXAMPLES, "id", "run", store=store), make_model(), Arguments())
    with pytest.raises(portolan.Refused):
        drive(portolan.transformers.PortolanCallback(EXAMPLES, "id", "run", store=store), make_model(), Arguments())
    state = types.SimpleNamespace(epoch=1.0 + 2 / 3, global_step=5)  # in the middle of epoch 1
    drive(portolan.transformers.PortolanCallback(EXAMPLES, "id", "run", store=store), make_model(), Arguments(), 2, state)
    assert_recorded(store, 3, "run", NAMES)


def test_each_trial_of_a_search_is_a_run(store):
    callback = portolan.transformers.PortolanCallback(EXAMPLES, "id", "search", store=store)
    for _ in range(2):
        drive(callback, make_model(), Arguments(), 1, types.SimpleNamespace(epoch=0, global_step=0, is_hyper_param_search=True))
    for trial in range(2):
        assert_recorded(store, 1, f"search/trial{trial}", NAMES)


def test_each_process_passes_over_its_share(store):
    """As many steps in each: 25 examples and 4 processes make 28."""
    for process in range(4):
        callback = portolan.transformers.PortolanCallback(EXAMPLES, "id", "run", store=store, group="job", rank=process)
        drive(callback, make_model(), Arguments(process_index=process, world_size=4), 1)
        assert callback.run.stats()["logged"] == 7
    assert_recorded(store, 1, "run", NAMES)


def test_what_transformers_cannot_be_asked(store):
    with pytest.raises(KeyError, match="example 0 has no entry 'guid'; it has id, input_ids, labels, text"):
        drive(portolan.transformers.PortolanCallback(EXAMPLES, "guid", "run", store=store), make_model(), Arguments())
    other = Arguments(label_names=["gold"])
    with pytest.raises(KeyError, match="no gold labels as 'gold'; it has input_ids, labels. .*label_names"):
        portolan.transformers.PortolanCallback(EXAMPLES, "id", "other", store=store).on_train_begin(
            other, types.SimpleNamespace(epoch=0, global_step=0), None, make_model(), types.SimpleNamespace(collate_fn=collate))
    model = make_model()
    model.config = types.SimpleNamespace(problem_type="regression", num_labels=3)
    with pytest.raises(ValueError, match="the model predicts 3 numbers for an example: give loss="):
        drive(portolan.transformers.PortolanCallback(EXAMPLES, "id", "other", store=store), model, Arguments())
    with pytest.raises(ValueError, match="start, end: give observations="):
        drive(portolan.transformers.PortolanCallback(EXAMPLES, "id", "other", store=store), make_model(), Arguments(label_names=["start", "end"]))


class Trainer:
    """As much of transformers' Trainer as PortolanMixin changes."""

    def __init__(self, model, args, train_dataset, data_collator):
        self.model, self.args, self.train_dataset, self.data_collator = model, args, train_dataset, data_collator
        self._signature_columns, self.callbacks = None, []

    def add_callback(self, callback):
        self.callbacks.append(callback)

    def _set_signature_columns_if_needed(self):
        self._signature_columns = self._signature_columns or ["input_ids", "labels"]

    def get_train_dataloader(self):
        keep = set(self._signature_columns)
        rows = [{name: value for name, value in example.items() if name in keep} for example in self.train_dataset]
        return standins.Loader(rows, 10, self.data_collator)

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        assert set(inputs) == {"input_ids", "labels"}, "ids never get as far as the model"
        logits = model(**inputs)
        inputs.pop("labels")  # as label smoothing does
        return (0.0, {"logits": logits}) if return_outputs else 0.0


class RecordingTrainer(portolan.transformers.PortolanMixin, Trainer):
    pass


def test_the_mixin(store):
    model = make_model()
    trainer = RecordingTrainer(model, Arguments(), EXAMPLES, collate, portolan={"run": "run", "store": store})
    (callback,) = trainer.callbacks
    batches = list(trainer.get_train_dataloader())
    assert trainer.data_collator is collate and trainer._signature_columns == ["input_ids", "labels"]
    state, control = types.SimpleNamespace(epoch=0, global_step=0), types.SimpleNamespace(should_save=True)
    callback.on_train_begin(trainer.args, state, control, model=model)
    for epoch in range(2):
        callback.on_epoch_begin(trainer.args, state, control)
        for batch in batches:
            assert trainer.compute_loss(model, dict(batch), num_items_in_batch=4) == 0.0
            callback.on_step_end(trainer.args, state, control)
            assert callback.recorder.run.stats()["acknowledged"] == callback.recorder.run.stats()["logged"] > 0, "before the checkpoint"
        state.epoch = epoch + 1.0
        callback.on_epoch_end(trainer.args, state, control)
    model.eval()
    assert len(trainer.compute_loss(model, dict(batches[0]), return_outputs=True)) == 2, "evaluation is not recorded"
    callback.on_train_end(trainer.args, state, control)
    assert_recorded(store, 2, "run", NAMES)


def lightning_trainer(**options):
    identity = lambda batch: batch
    import contextlib
    precision = types.SimpleNamespace(forward_context=contextlib.nullcontext, convert_input=identity)
    return types.SimpleNamespace(**{"global_step": 0, "current_epoch": 0, "max_epochs": 2, "accumulate_grad_batches": 1, "precision": "32",
                                    "train_dataloader": loader(), "world_size": 1, "global_rank": 0, "precision_plugin": precision,
                                    "strategy": types.SimpleNamespace(batch_to_device=identity), **options})


def drive_lightning(callback, model, trainer, step=lambda batch: None):
    callback.on_train_start(trainer, model)
    for epoch in range(trainer.current_epoch, trainer.max_epochs):
        trainer.current_epoch = epoch
        for number, batch in enumerate(trainer.train_dataloader):
            callback.on_train_batch_end(trainer, model, step(batch), batch, number)
            trainer.global_step += 1
        callback.on_train_epoch_end(trainer, model)
        callback.on_save_checkpoint(trainer, model, {})
        assert callback.run.stats()["acknowledged"] == callback.run.stats()["logged"]
    callback.on_train_end(trainer, model)


def test_the_callback_of_lightning(store, capfd):
    model = make_model()
    drive_lightning(portolan.lightning.PortolanCallback("run", store=store), model, lightning_trainer())
    assert model.called_in == [([False] * 3, False)] * 6 and all(module.training for module in model.modules())
    assert_recorded(store, 2)
    assert "50 observations on disk" in capfd.readouterr().err
    again = lightning_trainer(global_step=6, current_epoch=2, max_epochs=3)
    drive_lightning(portolan.lightning.PortolanCallback("run", store=store), model, again)
    assert_recorded(store, 3)


@pytest.mark.parametrize("gives", [lambda ids, z, y: {"loss": 0, "logits": z}, lambda ids, z, y: {"loss": 0, "logits": z, "gold": y, "ids": ids}])
def test_lightnings_training_pass(store, gives):
    def step(batch):
        ids, x, y = batch
        return gives(ids, model(x), y)

    model = make_model()
    drive_lightning(portolan.lightning.PortolanCallback("run", mode="train-forward", store=store), model, lightning_trainer(), step)
    assert_recorded(store, 2)


def test_what_lightning_cannot_be_asked(store):
    for outputs, message in ((0.5, "a float, without logits"), ({"loss": 0}, "a dict with loss, without logits")):
        callback = portolan.lightning.PortolanCallback("run", mode="train-forward", store=store, overwrite=True)
        with pytest.raises(ValueError, match=message):
            drive_lightning(callback, make_model(), lightning_trainer(), lambda batch, outputs=outputs: outputs)
    with pytest.raises(ValueError, match="the training loader is a dict: give loader="):
        drive_lightning(portolan.lightning.PortolanCallback("other", store=store), make_model(), lightning_trainer(train_dataloader={"a": 1, "b": 2}.copy()))
