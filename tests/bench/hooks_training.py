"""hooks_training.py FOLDER REPEATS: trains a torch model on FOLDER/words.tsv, in turns with and without recording, and prints figures as JSON."""

import json
import os
import statistics
import sys
import time
import zlib

import torch
from torch import nn

import portolan
import portolan.torch

BATCH, BUCKETS, STEPS = 256, 1 << 16, 25


class Letters(nn.Module):
    """A convolution over the letters of a word: a small model as people train them."""

    def __init__(self, classes):
        super().__init__()
        self.embed = nn.Embedding(BUCKETS, 32)
        self.convolve = nn.Conv1d(32, 128, 3, padding=1)
        self.head = nn.Linear(128, classes)

    @staticmethod
    def inputs(words):
        return (torch.tensor([[ord(letter) % BUCKETS for letter in word.ljust(20)] for word in words]),)

    def forward(self, letters):
        return self.head(torch.relu(self.convolve(self.embed(letters).transpose(1, 2))).amax(2))


class Pieces(nn.Module):
    """The average of embedded character 1-4-grams: among the cheapest steps there are."""

    def __init__(self, classes):
        super().__init__()
        self.bag = nn.EmbeddingBag(BUCKETS, 64, mode="mean", sparse=True)
        self.head = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, classes))

    @staticmethod
    def inputs(words):
        grams = [[zlib.crc32(f" {word} "[i : i + n].encode()) % BUCKETS for n in range(1, 5) for i in range(len(word) + 3 - n)] for word in words]
        return torch.tensor(sum(grams, [])), torch.tensor([0, *map(len, grams)]).cumsum(0)[:-1]

    def forward(self, indices, offsets):
        return self.head(self.bag(indices, offsets))


def batches(path, model_class):
    """[(ids, inputs, gold)] as a loader would give them."""
    with open(path, encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in list(lines)[1:]]
    labels = sorted({row[1] for row in rows})
    out = []
    for first in range(0, len(rows) - BATCH, BATCH):
        batch = rows[first : first + BATCH]
        gold = torch.tensor([labels.index(row[1]) for row in batch])
        out.append((torch.arange(first, first + BATCH), model_class.inputs([row[0] for row in batch]), gold))
    return out, len(labels)


def train(model, optimizer, some, run=None, epoch=0):
    """Seconds of these steps, seconds in which a processor worked at them, seconds of the log calls among them."""
    logging = 0.0
    start, processor = time.perf_counter(), time.thread_time()
    for ids, inputs, gold in some:
        logits = model(*inputs)
        if run is not None:
            begin = time.perf_counter()
            run.log_logits(epoch, ids, logits, gold)
            logging += time.perf_counter() - begin
        optimizer.zero_grad()
        nn.functional.cross_entropy(logits, gold).backward()
        optimizer.step()
    return time.perf_counter() - start, time.thread_time() - processor, logging


def measure_training(folder, model_class, repeats):
    """Ratios of many short turns, each of the same batches with and without, in changing order: what else the machine does hits both."""
    some, classes = batches(os.path.join(folder, "words.tsv"), model_class)
    model = model_class(classes)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    ratios, processor, share, steps = [], [], [], []
    with portolan.Run(model_class.__name__, store=os.path.join(folder, "store"), mode="train-forward") as run:
        for turn in range(repeats * 8 + 2):
            first = turn * STEPS % (len(some) - STEPS)
            turns = {}
            for recorded in (True, False) if turn % 2 else (False, True):
                turns[recorded] = train(model, optimizer, some[first : first + STEPS], run if recorded else None, turn)
            if turn >= 2:
                ratios.append(turns[True][0] / turns[False][0])
                processor.append(turns[True][1] / turns[False][1])
                share.append(turns[True][2] / turns[False][0])
                steps.append(turns[False][0] / STEPS * 1e6)
    return {"ratios": ratios, "processor": processor, "share": share, "step_us": statistics.median(steps)}


def measure_calls(folder, classes, repeats, calls=2000):
    logits, gold = torch.randn(BATCH, classes), torch.randint(0, classes, (BATCH,))
    ids = [torch.arange(i, i + BATCH) for i in range(0, 100 * BATCH, BATCH)]
    gold = [torch.randint(0, classes, (BATCH,), generator=torch.Generator().manual_seed(i)) for i in range(100)]
    out = []
    with portolan.Run(f"calls-{classes}", store=os.path.join(folder, "store"), mode="train-forward") as run:
        for epoch in range(repeats + 1):
            start = time.perf_counter()
            for step in range(calls):
                run.log_logits(epoch * 20 + step // 100, ids[step % 100], logits, gold[step % 100])
            if epoch:
                out.append((time.perf_counter() - start) / calls * 1e6)
            run.flush()
    return out


def measure_nothing(repeats, calls=2000):
    out = []
    for _ in range(repeats):
        start = time.perf_counter()
        for step in range(calls):
            step % 100
        out.append((time.perf_counter() - start) / calls * 1e6)
    return out


def main():
    folder, repeats = sys.argv[1], int(sys.argv[2])
    torch.set_num_threads(1)
    torch.manual_seed(1)
    training = {model_class.__name__: measure_training(folder, model_class, repeats) for model_class in (Letters, Pieces)}
    calls = {classes: measure_calls(folder, classes, repeats) for classes in (3, 8, 1000)}
    versions = f"torch {torch.__version__}, one thread"
    print(json.dumps({"training": training, "calls": calls, "empty": measure_nothing(repeats), "versions": versions}))


if __name__ == "__main__":
    main()
