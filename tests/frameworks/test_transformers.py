"""portolan.transformers against the real Trainer."""

from pathlib import Path

import datasets
import numpy as np
import pytest
import torch
from transformers import (
    BertForMultipleChoice,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    GPT2Config,
    GPT2LMHeadModel,
    Trainer,
    TrainerCallback,
)

import portolan
import portolan.transformers
from hf import EPOCHS, RecordingTrainer, arguments, collate, config, make_model, rows
from portolan.transformers import PortolanCallback
from python_regressors import check_numbers
from support import assert_trajectories, counts, gold_probs, kill_at, run_script, trajectories

SCRIPT = Path(__file__).with_name("hf.py")


def by_hand(folder, checkpoints=("checkpoint-7", "checkpoint-14", "checkpoint-21")):
    """{guid: [p(gold)]} from the Trainer's checkpoints."""
    columns, examples = [], rows()
    for checkpoint in checkpoints:
        model = BertForSequenceClassification.from_pretrained(f"{folder}/{checkpoint}").eval()
        with torch.no_grad():
            logits = torch.cat([model(torch.tensor([e["input_ids"]])).logits for e in examples])
        columns.append(gold_probs(logits.numpy(), [e["label"] for e in examples]))
    return dict(zip([e["guid"] for e in examples], np.stack(columns, 1).tolist()))


def weights(model):
    return torch.cat([p.detach().reshape(-1) for p in model.parameters()])


class Collect(TrainerCallback):
    """What a test wants to know of each epoch."""

    def __init__(self, look):
        self.look, self.seen = look, []

    def on_epoch_end(self, args, state, control, model=None, **kwargs):
        self.seen.append(self.look(model))


@pytest.mark.parametrize("form", ["datasets", "list"])
def test_the_callback_records_what_the_checkpoints_say(store, tmp_path, form, capfd):
    train = datasets.Dataset.from_list(rows()) if form == "datasets" else rows()
    before = Trainer(make_model(), arguments(tmp_path / "a"), train_dataset=train, data_collator=collate)
    before.train()
    modes = Collect(lambda model: [module.training for module in model.modules()])
    callback = PortolanCallback(train, "guid", "run", store=store)
    after = Trainer(make_model(), arguments(tmp_path / "b"), train_dataset=train, data_collator=collate, callbacks=[callback, modes])
    after.train()
    assert torch.equal(weights(before.model), weights(after.model)), "the callback changed the training"
    assert all(all(one) for one in modes.seen) and len(modes.seen) == EPOCHS
    assert_trajectories(store, EPOCHS, by_hand(tmp_path / "b"))
    assert "150 observations on disk" in capfd.readouterr().err
    assert not callback.run.is_open


@pytest.mark.parametrize("column", ["guid", None])
def test_the_mixin_records_the_training_pass(store, tmp_path, column):
    """Without dropout, and with a learning rate of 0, every pass is the same, so it can be computed by hand."""
    train = datasets.Dataset.from_list(rows())
    quiet = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    args = arguments(tmp_path / "a", gradient_accumulation_steps=2, save_strategy="no", eval_strategy="epoch", learning_rate=0.0)
    model = make_model(**quiet)
    trainer = RecordingTrainer(model, args, train_dataset=train, eval_dataset=train, data_collator=collate,
                               portolan={"id_column": column, "run": "run", "store": store})
    trainer.train()
    assert trainer.train_dataset is train
    model.eval()
    expected = {}
    for position, e in enumerate(rows()):
        logits = model(input_ids=torch.tensor([e["input_ids"]])).logits.detach().numpy()
        expected[e["guid"] if column else position] = gold_probs(logits, [e["label"]]).tolist() * EPOCHS
    assert_trajectories(store, EPOCHS, expected)
    assert trainer.evaluate()["eval_loss"] > 0 and trainer.predict(train).predictions.shape == (50, 3)


@pytest.mark.parametrize("options", [{}, {"label_smoothing_factor": 0.1}, {"train_sampling_strategy": "group_by_length"},
                                     {"gradient_accumulation_steps": 3, "dataloader_num_workers": 2}, {"remove_unused_columns": True, "bf16": True}])
@pytest.mark.parametrize("kind", ["mixin", "mixin, positions", "callback"])
def test_training_goes_the_same_way(store, tmp_path, options, kind):
    train = datasets.Dataset.from_list(rows())

    def go(trainer_class, folder, **more):
        args = arguments(tmp_path / folder, save_strategy="no", **options)
        trainer = trainer_class(make_model(), args, train_dataset=train, data_collator=collate, **more)
        trainer.train()
        return weights(trainer.model)

    if kind != "callback":
        column = "guid" if kind == "mixin" else None
        recorded = go(RecordingTrainer, "b", portolan={"id_column": column, "run": "run", "store": store})
    else:
        recorded = go(Trainer, "b", callbacks=[PortolanCallback(train, "guid", "run", store=store)])
    assert torch.equal(go(Trainer, "a"), recorded)
    assert set(counts(store).values()) == {EPOCHS} and len(counts(store)) == 50
    assert kind != "mixin, positions" or set(counts(store)) == set(range(50))


def test_the_runs_name_and_record(store, tmp_path):
    train = datasets.Dataset.from_list(rows())
    model = make_model(id2label={0: "yes", 1: "no", 2: "maybe"}, label2id={"yes": 0, "no": 1, "maybe": 2})
    callback = PortolanCallback(train, "guid", store=store, config={"note": "mine"})
    args = arguments(tmp_path / "my-output", save_strategy="no")
    Trainer(model, args, train_dataset=train, data_collator=collate, callbacks=[callback]).train()
    assert callback.run.name == "my-output"
    assert set(counts(store, "my-output").values()) == {EPOCHS}


def test_what_cannot_be_recorded_is_said_before_training(store, tmp_path):
    train = datasets.Dataset.from_list(rows())
    with pytest.raises(ValueError, match="no column 'id'; it has guid, input_ids"):
        PortolanCallback(train)
    shared = datasets.Dataset.from_list([{**e, "guid": "same" if row in (3, 9) else e["guid"]} for row, e in enumerate(rows())])
    trainer = RecordingTrainer(make_model(), arguments(tmp_path), train_dataset=shared, data_collator=collate,
                               portolan={"id_column": "guid", "run": "run", "store": store})
    for say in (lambda: PortolanCallback(shared, "guid"), trainer.train):
        with pytest.raises(ValueError, match="rows 3 and 9 have the same id, 'same'; of the 50 ids 49 differ"):
            say()

    def refused(model, message, dataset=train, **options):
        callback = PortolanCallback(dataset, "guid", "run", store=store, **options)
        with pytest.raises(ValueError, match=message):
            Trainer(model, arguments(tmp_path), train_dataset=train, data_collator=collate, callbacks=[callback]).train()

    refused(make_model(problem_type="multi_label_classification"), r"multi_label_classification: an example has no one gold label.*portolan\.per_label")
    refused(make_model(num_labels=3, problem_type="regression"), "the model predicts 3 numbers for an example: give loss=f")
    for more in ({"task": "regression"}, {"observations": lambda ids, inputs, outputs: None}):
        with pytest.raises(ValueError, match="loss= is for any other task"):
            PortolanCallback(train, "guid", loss=lambda outputs, labels: None, **more)
    refused(BertForQuestionAnswering(config(num_labels=2)), "start_positions, end_positions: give observations=")
    trainer = RecordingTrainer(make_model(), arguments(tmp_path), train_dataset=train, data_collator=collate, portolan={"run": "run", "store": store})
    with pytest.raises(ValueError, match="train_dataset has no column 'id'"):
        trainer.train()
    with portolan.Run("taken", store=store):
        pass
    callback = PortolanCallback(train, "guid", "taken", store=store)
    with pytest.raises(portolan.Refused):
        Trainer(make_model(), arguments(tmp_path), train_dataset=train, data_collator=collate, callbacks=[callback]).train()


def test_examples_that_are_not_trained_on_are_said(store, tmp_path, capfd):
    train = datasets.Dataset.from_list(rows())
    for number, dataset in enumerate((train, train.select(range(40)), train.shuffle(seed=1), rows()[:30])):
        callback = PortolanCallback(train if number < 3 else rows()[:30], "guid", f"run{number}", store=store)
        Trainer(make_model(), arguments(tmp_path, save_strategy="no", num_train_epochs=1), train_dataset=dataset, data_collator=collate, callbacks=[callback]).train()
        lines = [line for line in capfd.readouterr().err.splitlines() if "trains on" in line]
        said = "portolan: PortolanCallback was given 50 examples, and the trainer trains on 40: the others are recorded too, though no step trains on them."
        assert len(lines) == (number == 1) and all(line.startswith(said) for line in lines), lines
    assert len(counts(store, "run1")) == 50


class Unmeasured(torch.utils.data.IterableDataset):
    def __iter__(self):
        return iter([{name: row[name] for name in ("input_ids", "label")} for row in rows()])

    def __len__(self):
        raise TypeError("a stream has no length")


def test_a_stream_whose_length_is_an_error_is_trained_on(store, tmp_path, capfd):
    train = datasets.Dataset.from_list(rows())
    callback = PortolanCallback(train, "guid", "run", store=store)
    trainer = Trainer(make_model(), arguments(tmp_path, save_strategy="no", max_steps=3), train_dataset=train, data_collator=collate, callbacks=[callback])
    trainer.get_train_dataloader = lambda: torch.utils.data.DataLoader(Unmeasured(), batch_size=8, collate_fn=collate)
    trainer.train()
    assert "trains on" not in capfd.readouterr().err


class Halved(RecordingTrainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        """Goes on to the mixin's."""
        return super().compute_loss(model, inputs, return_outputs, **kwargs)


class Weighted(RecordingTrainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        labels = inputs["labels"]
        outputs = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])
        loss = torch.nn.functional.cross_entropy(outputs.logits, labels, weight=torch.tensor([1.0, 2.0, 1.0]))
        return (loss, outputs) if return_outputs else loss


class Plain(RecordingTrainer):
    def get_train_dataloader(self):
        return Trainer.get_train_dataloader(self)


@pytest.mark.parametrize("kind, said", [(Halved, None), (Weighted, "compute_loss"), (Plain, "get_train_dataloader")])
def test_the_mixin_says_why_it_hears_nothing(store, tmp_path, capfd, kind, said):
    """At once, not after an epoch."""
    heard = []

    class AfterAStep(TrainerCallback):
        def on_step_end(self, args, state, control, **kwargs):
            heard.append(capfd.readouterr().err)

    trainer = kind(make_model(), arguments(tmp_path, save_strategy="no"), train_dataset=datasets.Dataset.from_list(rows()), data_collator=collate,
                   portolan={"id_column": "guid", "run": "run", "store": store})
    trainer.add_callback(AfterAStep())
    trainer.train()
    lines = [line for line in "".join([*heard, capfd.readouterr().err]).splitlines() if "nothing was recorded in epoch" in line]
    if said is None:
        assert lines == [] and set(counts(store).values()) == {EPOCHS}
        return
    assert len(lines) == 1 and lines[0] in heard[0], lines
    assert f"{kind.__name__}.{said} stands before the mixin's, and does not call it: let it call super().{said}(...), or put it into a class behind" in lines[0]


def test_positions_as_ids_and_an_open_run(store, tmp_path):
    train = datasets.Dataset.from_list(rows())
    with portolan.Run("run", store=store, examples=50) as run:
        callback = PortolanCallback(train, None, run)
        Trainer(make_model(), arguments(tmp_path, save_strategy="no"), train_dataset=train, data_collator=collate, callbacks=[callback]).train()
        assert run.is_open
    assert counts(store) == dict.fromkeys(range(50), EPOCHS)


def test_multiple_choice(store, tmp_path):
    """One score per option."""
    examples = [{"id": i, "input_ids": [[4 + i % 20, 30 + k, 5] for k in range(4)], "label": i % 4} for i in range(20)]

    def collate_choices(batch):
        return {"input_ids": torch.tensor([e["input_ids"] for e in batch]), "labels": torch.tensor([e["label"] for e in batch])}

    model = BertForMultipleChoice(config())
    callback = PortolanCallback(examples, "id", "run", store=store)
    Trainer(model, arguments(tmp_path), train_dataset=examples, data_collator=collate_choices, callbacks=[callback]).train()
    model = BertForMultipleChoice.from_pretrained(f"{tmp_path}/checkpoint-9").eval()
    p = gold_probs(model(torch.tensor([e["input_ids"] for e in examples])).logits.detach().numpy(), [e["label"] for e in examples])
    _, values = trajectories(store, EPOCHS)
    np.testing.assert_allclose(values[:, 2], p, atol=1e-6)


def test_tokens(store, tmp_path):
    """An id per token that has a label; -100, and padding, have none."""
    examples = [{"id": i, "input_ids": [2] + [4 + (i + k) % 30 for k in range(2 + i % 4)], "labels": [-100] + [k % 3 for k in range(2 + i % 4)]}
                for i in range(12)]

    def collate_tokens(batch):
        width = max(len(e["input_ids"]) for e in batch)
        return {name: torch.tensor([e[name] + [pad] * (width - len(e[name])) for e in batch]) for name, pad in (("input_ids", 0), ("labels", -100))}

    callback = PortolanCallback(examples, "id", "run", store=store)
    args = arguments(tmp_path, per_device_eval_batch_size=1)
    Trainer(BertForTokenClassification(config()), args, train_dataset=examples, data_collator=collate_tokens, callbacks=[callback]).train()
    model = BertForTokenClassification.from_pretrained(f"{tmp_path}/checkpoint-6").eval()
    expected = {}
    for e in examples:
        p = gold_probs(model(torch.tensor([e["input_ids"]])).logits[0, 1:].detach().numpy(), e["labels"][1:])
        expected.update({f"{e['id']}/{k}": one for k, one in enumerate(p)})
    ids, values = trajectories(store, EPOCHS)
    assert ids == sorted(expected)
    np.testing.assert_allclose(values[:, 2], [expected[one] for one in ids], atol=1e-6)


def test_a_causal_model_is_shifted_by_one(store, tmp_path):
    examples = [{"id": i, "input_ids": [4 + (i * k) % 30 for k in range(1, 7)], "labels": [-100, -100] + [4 + (i * k) % 30 for k in range(3, 7)]}
                for i in range(8)]

    def collate_text(batch):
        return {name: torch.tensor([e[name] for e in batch]) for name in ("input_ids", "labels")}

    gpt = GPT2Config(vocab_size=40, n_positions=16, n_embd=16, n_layer=1, n_head=2, bos_token_id=1, eos_token_id=1)
    callback = PortolanCallback(examples, "id", "run", tokens=True, store=store)
    Trainer(GPT2LMHeadModel(gpt), arguments(tmp_path), train_dataset=examples, data_collator=collate_text, callbacks=[callback]).train()
    model = GPT2LMHeadModel.from_pretrained(f"{tmp_path}/checkpoint-3").eval()
    e = examples[5]
    p = gold_probs(model(torch.tensor([e["input_ids"]])).logits[0, 1:5].detach().numpy(), e["labels"][2:])
    ids, values = trajectories(store, EPOCHS)
    np.testing.assert_allclose([values[ids.index(f"5/{k}"), 2] for k in range(4)], p, atol=1e-6)


def test_spans_with_a_function_of_ones_own(store, tmp_path):
    examples = [{"id": i, "input_ids": [4 + (i + k) % 30 for k in range(6)], "start_positions": i % 6, "end_positions": i % 6}
                for i in range(12)]

    def collate_spans(batch):
        return {name: torch.tensor([e[name] for e in batch]) for name in ("input_ids", "start_positions", "end_positions")}

    def starts(ids, inputs, outputs):
        return ids, outputs.start_logits, inputs["start_positions"]

    callback = PortolanCallback(examples, "id", "run", observations=starts, store=store)
    Trainer(BertForQuestionAnswering(config(num_labels=2)), arguments(tmp_path), train_dataset=examples, data_collator=collate_spans, callbacks=[callback]).train()
    model = BertForQuestionAnswering.from_pretrained(f"{tmp_path}/checkpoint-6").eval()
    p = gold_probs(model(torch.tensor([e["input_ids"] for e in examples])).start_logits.detach().numpy(), [e["start_positions"] for e in examples])
    _, values = trajectories(store, EPOCHS)
    np.testing.assert_allclose(values[:, 2], p, atol=1e-6)


def test_an_exception_in_training_leaves_the_run_usable(store, tmp_path):
    class Fails(TrainerCallback):
        def on_step_end(self, args, state, control, **kwargs):
            if state.global_step == 10:
                raise ArithmeticError("in the middle")

    train = datasets.Dataset.from_list(rows())
    callback = PortolanCallback(train, "guid", "run", store=store)
    trainer = Trainer(make_model(), arguments(tmp_path), train_dataset=train, data_collator=collate, callbacks=[callback, Fails()])
    with pytest.raises(ArithmeticError):
        trainer.train()
    assert callback.run.is_open and callback.run.flush()
    trainer.remove_callback(Fails)
    trainer.train(resume_from_checkpoint=True)
    assert_trajectories(store, EPOCHS, by_hand(tmp_path))


@pytest.mark.parametrize("mode", ["train-forward", "epoch-end"])
def test_killed_and_resumed(store, stores, tmp_path, mode):
    """Killed in an epoch's middle, and resumed from a checkpoint that was written in an epoch's middle."""
    whole = tmp_path / "whole"
    stores.append(whole / "store")
    run_script(SCRIPT, whole / "store", mode, whole)
    kill_at(SCRIPT, "step 11", store, mode, tmp_path / "out")
    run_script(SCRIPT, store, mode, tmp_path / "out", "resume")
    ids, expected = trajectories(whole / "store", EPOCHS)
    again, got = trajectories(store, EPOCHS)
    assert ids == again and set(counts(store).values()) == {EPOCHS}
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("mode", ["train-forward", "epoch-end"])
def test_several_processes(store, tmp_path, mode):
    run_script(SCRIPT, store, mode, tmp_path, ranks=2)
    assert len(counts(store)) == 50 and set(counts(store).values()) == {EPOCHS}
    if mode == "epoch-end":
        ids, values = trajectories(store, EPOCHS)
        expected = by_hand(tmp_path, ["final"])
        np.testing.assert_allclose(values[:, -1], [expected[one][0] for one in ids], atol=1e-6)


def numbers(outputs=1):
    """The examples with targets in the place of labels: lists of several."""
    generator = torch.Generator().manual_seed(2)
    return [{**e, "label": t if outputs > 1 else t[0]} for e, t in zip(rows(), (3 * torch.randn(50, outputs, generator=generator) + 1).tolist())]


def predictions(folder, examples):
    """What the checkpoints predict: epochs × examples × outputs."""
    found = []
    for checkpoint in ("checkpoint-7", "checkpoint-14", "checkpoint-21"):
        model = BertForSequenceClassification.from_pretrained(f"{folder}/{checkpoint}").eval()
        with torch.no_grad():
            found.append(torch.cat([model(torch.tensor([e["input_ids"]])).logits for e in examples]).double().numpy())
    return np.stack(found)


@pytest.mark.parametrize("said", [{}, {"task": "regression"}, {"task": "regression", "observations": lambda ids, inputs, outputs: (ids, outputs.logits, inputs["labels"])}])
def test_a_regression(store, tmp_path, said):
    examples = numbers()
    callback = PortolanCallback(datasets.Dataset.from_list(examples), "guid", "run", store=store, **said)
    before = Trainer(make_model(num_labels=1), arguments(tmp_path / "a"), train_dataset=examples, data_collator=collate)
    before.train()
    after = Trainer(make_model(num_labels=1), arguments(tmp_path / "b"), train_dataset=examples, data_collator=collate, callbacks=[callback])
    after.train()
    assert torch.equal(weights(before.model), weights(after.model)), "the callback changed the training"
    check_numbers(store, "run", predictions(tmp_path / "b", examples)[:, :, 0], [e["label"] for e in examples], [e["guid"] for e in examples])


def test_the_mixin_records_a_regression(store, tmp_path):
    """Without dropout, and with a learning rate of 0, every pass is the same."""
    examples = numbers()
    model = make_model(num_labels=1, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    args = arguments(tmp_path, save_strategy="no", learning_rate=0.0)
    RecordingTrainer(model, args, train_dataset=examples, data_collator=collate, portolan={"id_column": "guid", "run": "run", "store": store}).train()
    model.eval()
    predicted = [model(input_ids=torch.tensor([e["input_ids"]])).logits.item() for e in examples]
    check_numbers(store, "run", [predicted] * EPOCHS, [e["label"] for e in examples], [e["guid"] for e in examples])


def test_a_loss_of_all_pairs_is_refused(store, tmp_path):
    """Logits (n, 1) less labels (n,)."""
    examples = numbers()
    callback = PortolanCallback(examples, "guid", "run", loss=lambda outputs, labels: (outputs.logits - labels).abs(), store=store)
    trainer = Trainer(make_model(num_labels=1), arguments(tmp_path), train_dataset=examples, data_collator=collate, callbacks=[callback])
    with pytest.raises(ValueError, match=r"the loss has the shape \(\d+, \d+\), a number for each pair of examples.*loss\(output.squeeze\(-1\), y\)"):
        trainer.train()


def test_any_other_loss(store, tmp_path):
    """A regression of three numbers."""
    examples = numbers(3)
    squares = lambda outputs, labels: (outputs.logits - labels).square()  # (n, 3): their mean is recorded
    callback = PortolanCallback(examples, "guid", "run", loss=squares, store=store)
    model = make_model(num_labels=3, problem_type="regression")
    Trainer(model, arguments(tmp_path), train_dataset=examples, data_collator=collate, callbacks=[callback]).train()
    wanted = ((predictions(tmp_path, examples) - np.array([e["label"] for e in examples])) ** 2).mean(2)
    d = portolan.dynamics("run", store=store)
    place = {e["guid"]: row for row, e in enumerate(examples)}
    assert len(d) == EPOCHS * 50
    np.testing.assert_allclose(d["task_loss"], [wanted[int(epoch), place[one]] for one, epoch in zip(d["id"].tolist(), d["epoch"])], rtol=1e-4)
