"""One rank of a job that trains a language model: language_train.py STORE MODE FOLDER. Two of them, and a data set that they do not divide.

    observe         a pass at the end of each epoch; rank 0 writes a checkpoint of it
    log, packed     what the training pass computes; each rank writes what it makes of its scores in NumPy, epoch by epoch
    sft             TRL's SFTTrainer and its callback; its checkpoints
"""

import json
import sys

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler
from transformers import DataCollatorWithFlattening

import portolan.language
import portolan.torch
from language_data import by_hand, gpt, pad, texts, tokenizer

EXAMPLES, EPOCHS = 21, 3


def measures_of(batch, logits):
    """{id: measures}, of a row for each example, or of one row of all."""
    found, begin = {}, 0
    scores = logits.detach().double().numpy()
    for row, one in enumerate(batch["id"]):
        tokens = next(example["input_ids"] for example in texts(EXAMPLES) if example["id"] == one)
        of_one = scores[row] if len(scores) > 1 or len(batch["id"]) == 1 else scores[0, begin:]
        found[one] = [float(value) for value in by_hand(of_one[: len(tokens) - 1], tokens[1:])]
        begin += len(tokens)
    return found


def train(store, mode, folder):
    torch.distributed.init_process_group("gloo")
    rank = torch.distributed.get_rank()
    model = DistributedDataParallel(gpt())
    torch.manual_seed(rank)  # dropout
    rows = texts(EXAMPLES)
    sampler = DistributedSampler(rows, shuffle=True, seed=1)
    collator = DataCollatorWithFlattening(return_tensors="pt") if mode == "packed" else pad
    loader = DataLoader(rows, batch_size=4, sampler=sampler, num_workers=1, collate_fn=portolan.language.keep_ids(collator))
    run = portolan.torch.open_run("run", model, store=store, mode="epoch-end" if mode == "observe" else "train-forward")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    kept = []
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        model.train()
        kept.append({})
        for batch in loader:
            outputs = model(**{name: values for name, values in batch.items() if name != "id"})
            if mode != "observe":
                kept[epoch] |= measures_of(batch, outputs.logits)
                portolan.language.log(run, epoch, batch["id"], outputs.logits, batch["labels"], position_ids=batch.get("position_ids"))
            optimizer.zero_grad()
            outputs.loss.backward()
            optimizer.step()
        if mode == "observe":
            portolan.language.observe(run, model, loader, epoch)
        else:
            run.end_epoch(epoch)
        if rank == 0:
            model.module.save_pretrained(f"{folder}/checkpoint-{epoch}")
    run.close()
    with open(f"{folder}/{rank}.json", "w", encoding="utf-8") as file:
        json.dump(kept, file)
    torch.distributed.destroy_process_group()


def train_sft(store, folder):
    from test_sft import completions, data, sft
    from trl import SFTTrainer

    from portolan.transformers import PortolanCallback

    rows = data(completions)
    callback = PortolanCallback(rows, "id", "run", store=store)
    SFTTrainer(gpt(), sft(folder), train_dataset=rows, processing_class=tokenizer(), callbacks=[callback]).train()


if __name__ == "__main__":
    if sys.argv[2] == "sft":
        from pathlib import Path

        train_sft(sys.argv[1], Path(sys.argv[3]))
    else:
        train(*sys.argv[1:4])
