"""portolan.transformers on language models: the Trainer, TRL's SFTTrainer with its kinds of data sets, LoRA; by value against the checkpoints."""

import datasets
import numpy as np
import peft
import pytest
import torch
from transformers import GPT2LMHeadModel, T5Config, T5ForConditionalGeneration, Trainer, set_seed
from trl import SFTConfig, SFTTrainer

import portolan
import portolan.transformers
from hf import arguments
from language_data import WORDS, assert_recorded, by_hand, gpt, of_model, prompts, tokenizer
from portolan.transformers import PortolanCallback
from support import trajectories

EPOCHS, ROWS = 2, 24


def sft(folder, **options):
    usual = {"num_train_epochs": EPOCHS, "per_device_train_batch_size": 6, "per_device_eval_batch_size": 5, "report_to": [], "save_strategy": "epoch",
             "logging_strategy": "no", "disable_tqdm": True, "use_cpu": True, "seed": 11, "learning_rate": 1e-2, "bf16": False,
             "dataloader_pin_memory": False, "gradient_checkpointing": False, "max_length": 32}
    return SFTConfig(output_dir=str(folder), **{**usual, **options})


def checkpoints(folder):
    return sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.rpartition("-")[2]))


def numbered(text):
    return [WORDS.index(word) for word in text.split()]


def expected(folder, example, load=GPT2LMHeadModel.from_pretrained, share=1.0):
    """A dict for each epoch; ``example(row) -> (tokens, positions of the targets)``."""
    out = []
    for path in checkpoints(folder):
        model = load(path).eval()
        out.append({row["id"]: of_model(model, *example(row), share) for row in prompts(ROWS)})
    assert len(out) == EPOCHS
    return out


def completion_of(row):
    prompt, full = numbered(row["prompt"]), numbered(row["prompt"] + row["completion"] + " <eos>")
    return full, range(len(prompt), len(full))


def assert_epochs(store, want):
    for epoch, values in enumerate(want):
        assert_recorded(store, values, tolerance=2e-6, epochs=(epoch, epoch + 1))


def data(make):
    return datasets.Dataset.from_list([{"id": row["id"], **make(row)} for row in prompts(ROWS)])


def completions(row):
    """As SFTTrainer's tokenizer splits them: the end of text is a word of its own."""
    return {"prompt": row["prompt"], "completion": row["completion"] + " <eos>"}


def run_sft(store, folder, dataset, way="raw", options=None, **trainer):
    """Trains; ways to record: the data set as it is, what the trainer has made of it, or the mixin."""
    recording = type("Recording", (portolan.transformers.PortolanMixin, SFTTrainer), {}) if way == "mixin" else SFTTrainer
    more = {"portolan": {"run": "run", "store": store, **(options or {})}} if way == "mixin" else {}
    if way == "raw":
        more["callbacks"] = [PortolanCallback(dataset, "id", "run", store=store, **(options or {}))]
    args = trainer.pop("args", None) or sft(folder)
    made = recording(gpt(), args, train_dataset=dataset, processing_class=tokenizer(), **more, **trainer)
    if way == "prepared":
        made.add_callback(PortolanCallback(made.train_dataset, "id", "run", store=store, **(options or {})))
    made.train()
    return made


@pytest.mark.parametrize("way", ["raw", "prepared"])
def test_prompts_and_completions(store, tmp_path, way):
    """The issue's KeyError: 'input_ids' was this. Prompts have no labels."""
    run_sft(store, tmp_path, data(completions), way, {"correct_share": 0.5})
    assert_epochs(store, expected(tmp_path, completion_of, share=0.5))


def test_text(store, tmp_path):
    """Plain texts: every token but the first is a target."""
    run_sft(store, tmp_path, data(lambda row: {"text": row["prompt"] + row["completion"] + " <eos>"}))
    assert_epochs(store, expected(tmp_path, lambda row: (completion_of(row)[0], range(1, len(completion_of(row)[0])))))


def test_conversations(store, tmp_path):
    """assistant_only_loss: what the user says has no labels."""
    rows = data(lambda row: {"messages": [{"role": "user", "content": row["prompt"]}, {"role": "assistant", "content": row["completion"].strip()}]})

    def answer(row):
        before = numbered(f"user : {row['prompt']} assistant :")
        full = before + numbered(row["completion"] + " <eos>")
        return full, range(len(before), len(full))

    run_sft(store, tmp_path, rows, args=sft(tmp_path, assistant_only_loss=True))
    assert_epochs(store, expected(tmp_path, answer))


def test_truncated_texts(store, tmp_path):
    """max_length cuts the end off; the trainer drops those of which nothing but the prompt is left."""
    run_sft(store, tmp_path, data(completions), args=sft(tmp_path, max_length=3))
    left = {row["id"] for row in prompts(ROWS) if len(numbered(row["prompt"])) < 3}
    assert 0 < len(left) < ROWS
    want = expected(tmp_path, lambda row: (completion_of(row)[0][:3], range(len(numbered(row["prompt"])), 3) if row["id"] in left else [2]))
    assert_epochs(store, [{one: values for one, values in epoch.items() if one in left} for epoch in want])


@pytest.mark.parametrize("padding_free", [False, True])
def test_the_mixin_records_what_training_computes(store, tmp_path, padding_free):
    """Without dropout, and with a learning rate of 0, every pass is the same. With padding_free a batch is one row of several examples."""
    args = sft(tmp_path, learning_rate=0.0, save_strategy="no", padding_free=padding_free, **({"max_length": None} if padding_free else {}))
    model = gpt()
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    recording = type("Recording", (portolan.transformers.PortolanMixin, SFTTrainer), {})
    made = recording(model, args, train_dataset=data(completions), processing_class=tokenizer(), portolan={"run": "run", "store": store})
    passes = []
    made.model.transformer.register_forward_hook(lambda module, given, outputs: passes.append(outputs))
    made.train()
    assert len(passes) == EPOCHS * ROWS // 6, "each batch goes through the model once"
    model.eval()
    assert_recorded(store, {row["id"]: of_model(model, *completion_of(row)) for row in prompts(ROWS)}, tolerance=1e-5)


def test_training_goes_the_same_way(store, tmp_path):
    def weights(trainer):
        return torch.cat([p.detach().reshape(-1) for p in trainer.model.parameters()])

    plain = SFTTrainer(gpt(), sft(tmp_path / "a", save_strategy="no"), train_dataset=data(completions), processing_class=tokenizer())
    plain.train()
    for number, way in enumerate(("raw", "mixin")):
        recorded_one = run_sft(store / str(number), tmp_path / way, data(completions), way, args=sft(tmp_path / way, save_strategy="no"))
        assert torch.equal(weights(plain), weights(recorded_one)), way


def test_lora(store, tmp_path):
    made = run_sft(store, tmp_path, data(completions), peft_config=peft.LoraConfig(r=4, target_modules=["c_attn"], task_type="CAUSAL_LM"))
    assert type(made.model).__name__ == "PeftModelForCausalLM"

    def load(path):
        return peft.PeftModel.from_pretrained(gpt(), path)

    assert_epochs(store, expected(tmp_path, completion_of, load))


@pytest.mark.parametrize("strategy", ["bfd", "bfd_split", "wrapped"])
def test_a_trainer_that_packs(store, tmp_path, strategy, capfd):
    """Its rows have no ids: the callback has the examples as they were before they were packed, and sees each by itself. max_length cuts some."""
    first = SFTTrainer(gpt(), sft(tmp_path, max_length=9), train_dataset=data(completions), processing_class=tokenizer())
    prepared = first.train_dataset
    made = SFTTrainer(gpt(), sft(tmp_path, max_length=20, packing=True, packing_strategy=strategy), train_dataset=prepared, processing_class=tokenizer(),
                      callbacks=[PortolanCallback(prepared, "id", "run", store=store)])
    assert len(made.train_dataset) <= ROWS // 2
    made.train()
    assert "trains on" not in capfd.readouterr().err
    want = expected(tmp_path, lambda row: (completion_of(row)[0][:9], [at for at in completion_of(row)[1] if at < 9]))
    assert any(len(completion_of(row)[0]) > 9 for row in prompts(ROWS))
    assert_epochs(store, want)


def test_where_ids_are_lost_it_is_said_before_training(store, tmp_path):
    for way in ("raw", "mixin"):
        with pytest.raises(ValueError, match="packing=True puts examples into rows, in an order of its own, and drops their ids. Give both"):
            run_sft(store, tmp_path, data(completions), way, args=sft(tmp_path, packing=True))
    many = data(completions)
    prepared = SFTTrainer(gpt(), sft(tmp_path), train_dataset=many.select(range(10)), processing_class=tokenizer()).train_dataset
    made = Trainer(gpt(), arguments(tmp_path), train_dataset=prepared.flatten_indices().remove_columns(["id", "prompt", "completion"]), data_collator=collate,
                   callbacks=[PortolanCallback(many, "id", "run", store=store)])
    with pytest.raises(ValueError, match="was given 24 examples with completion, id, prompt, and the trainer has made 10 of them: which, is not known"):
        made.train()
    assert not (store / "data.mdb").exists()


@pytest.mark.parametrize("way", ["raw", "prepared"])
def test_a_data_set_that_the_trainer_shuffles(store, tmp_path, way):
    made = run_sft(store, tmp_path, data(completions), way, args=sft(tmp_path, shuffle_dataset=True))
    assert list(made.train_dataset["id"]) != [row["id"] for row in prompts(ROWS)]
    assert_epochs(store, expected(tmp_path, completion_of))


def labelled(row):
    full, targets = completion_of(row)
    return {"input_ids": full, "labels": [token if at in targets else -100 for at, token in enumerate(full)]}


def collate(examples):
    widths = {name: max(len(e[name]) for e in examples) for name in ("input_ids", "labels")}
    return {name: torch.tensor([e[name] + [pad] * (widths[name] - len(e[name])) for e in examples]) for name, pad in (("input_ids", 0), ("labels", -100))}


def test_the_trainer_itself(store, tmp_path):
    rows = data(labelled)
    callback = PortolanCallback(rows, "id", "run", store=store)
    Trainer(gpt(), arguments(tmp_path, num_train_epochs=EPOCHS), train_dataset=rows, data_collator=collate, callbacks=[callback]).train()
    assert_epochs(store, expected(tmp_path, completion_of))


def test_each_token_an_observation(store, tmp_path):
    rows = data(labelled)
    callback = PortolanCallback(rows, "id", "run", tokens=True, store=store)
    Trainer(gpt(), arguments(tmp_path, num_train_epochs=EPOCHS), train_dataset=rows, data_collator=collate, callbacks=[callback]).train()
    want = {}
    for path in checkpoints(tmp_path):
        model = GPT2LMHeadModel.from_pretrained(path).eval()
        for row in prompts(ROWS):
            full, targets = completion_of(row)
            for number, at in enumerate(targets):
                want.setdefault(f"{row['id']}/{number}", []).append(of_model(model, full, [at])[0])
    ids, values = trajectories(store, EPOCHS)
    assert set(ids) == set(want)
    np.testing.assert_allclose(values, [want[one] for one in ids], atol=1e-6)


def test_sequence_to_sequence(store, tmp_path):
    """Here a score is of the token at its own place."""
    set_seed(4)
    model = T5ForConditionalGeneration(T5Config(vocab_size=len(WORDS), d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, decoder_start_token_id=0))
    rows = data(lambda row: {"input_ids": numbered(row["prompt"]), "labels": numbered(row["completion"] + " <eos>")})
    callback = PortolanCallback(rows, "id", "run", store=store)
    Trainer(model, arguments(tmp_path, num_train_epochs=EPOCHS, per_device_eval_batch_size=1), train_dataset=rows, data_collator=collate, callbacks=[callback]).train()
    for epoch, path in enumerate(checkpoints(tmp_path)):
        model, want = T5ForConditionalGeneration.from_pretrained(path).eval(), {}
        for row in rows:
            with torch.no_grad():
                logits = model(input_ids=torch.tensor([row["input_ids"]]), labels=torch.tensor([row["labels"]])).logits[0].double().numpy()
            want[row["id"]] = by_hand(logits, row["labels"])
        assert_recorded(store, want, epochs=(epoch, epoch + 1), tolerance=2e-6)
