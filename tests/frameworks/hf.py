"""A tiny transformers model, made from a configuration, and its data; a program that trains it: hf.py STORE MODE FOLDER [resume]."""

import sys

import datasets
import torch
import transformers
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments

import portolan.transformers

EXAMPLES, EPOCHS = 50, 3
PAD = 0

transformers.utils.logging.set_verbosity_error()


def rows(n=EXAMPLES):
    """Texts of different lengths, as numbers, with string ids that no tensor takes."""
    generator = torch.Generator().manual_seed(1)
    out = []
    for i in range(n):
        length, label = 3 + i % 6, i % 3
        tokens = torch.randint(4, 30, (length,), generator=generator).tolist() + [30 + label]
        out.append({"guid": f"ex-{i}", "input_ids": tokens, "label": label, "note": "kept out of the model"})
    return out


def config(**options):
    return BertConfig(vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
                      max_position_embeddings=16, **{"num_labels": 3, **options})


def collate(examples):
    """Pads as a tokenizer's collator does: of what it does not know it makes a tensor."""
    width = max(len(example["input_ids"]) for example in examples)
    batch = {
        "input_ids": torch.tensor([e["input_ids"] + [PAD] * (width - len(e["input_ids"])) for e in examples]),
        "attention_mask": torch.tensor([[1] * len(e["input_ids"]) + [0] * (width - len(e["input_ids"])) for e in examples]),
        "labels": torch.tensor([e["label"] for e in examples]),
    }
    for name in examples[0].keys() - {"input_ids", "label"}:
        batch[name] = torch.tensor([e[name] for e in examples])
    return transformers.BatchEncoding(batch)


def arguments(folder, **options):
    usual = {"num_train_epochs": EPOCHS, "per_device_train_batch_size": 8, "report_to": [], "save_strategy": "epoch", "logging_strategy": "no",
             "disable_tqdm": True, "use_cpu": True, "seed": 11, "learning_rate": 1e-3, "dataloader_pin_memory": False}
    return TrainingArguments(output_dir=str(folder), **{**usual, **options})


def make_model(**options):
    transformers.set_seed(3)
    return BertForSequenceClassification(config(**options))


class RecordingTrainer(portolan.transformers.PortolanMixin, Trainer):
    pass


class Steps(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        print(f"step {state.global_step}", flush=True)


def main():
    store, mode, folder = sys.argv[1:4]
    resume = len(sys.argv) > 4
    train = datasets.Dataset.from_list(rows())
    common = {"model": make_model(), "args": arguments(folder, save_steps=3, save_strategy="steps"), "train_dataset": train, "data_collator": collate}
    if mode == "train-forward":
        trainer = RecordingTrainer(**common, callbacks=[Steps()], portolan={"id_column": "guid", "run": "run", "store": store})
    else:
        callback = portolan.transformers.PortolanCallback(train, "guid", "run", store=store)
        trainer = Trainer(**common, callbacks=[Steps(), callback])
    trainer.train(resume_from_checkpoint=resume)
    trainer.save_model(f"{folder}/final")


if __name__ == "__main__":
    main()
