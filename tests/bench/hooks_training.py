"""hooks_training.py FOLDER REPEATS: trains a torch model on FOLDER/words.tsv, in turns with and without recording, and prints figures as JSON."""

import contextlib
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


class Recorders:
    """What a step may do besides training, by name: each is called with step, ids and texts, logits, gold, and the loss."""

    def __init__(self, folder):
        self._stack = contextlib.ExitStack()
        store = os.path.join(folder, "store")
        integers, strings = (self._stack.enter_context(portolan.Run(name, store=store, mode="train-forward")) for name in ("integers", "strings"))
        self._lines = self._stack.enter_context(open(os.path.join(folder, "dynamics.jsonl"), "w", encoding="utf-8"))
        self.all = {
            "none": lambda *_: None,
            "integer ids": lambda step, ids, texts, logits, gold, loss: integers.log_logits(step // STEPS, ids, logits, gold),
            "string ids": lambda step, ids, texts, logits, gold, loss: strings.log_logits(step // STEPS, texts, logits, gold),
            "JSONL of guid, logits, gold": self._write_lines,
        }
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            return
        self._writer = SummaryWriter(os.path.join(folder, "tensorboard"))
        self._stack.callback(self._writer.close)
        self.all["TensorBoard's loss and accuracy"] = self._add_scalars

    def _add_scalars(self, step, ids, texts, logits, gold, loss):
        self._writer.add_scalar("loss", loss.item(), step)
        self._writer.add_scalar("accuracy", (logits.argmax(1) == gold).float().mean().item(), step)

    def _write_lines(self, step, ids, texts, logits, gold, loss):
        for guid, row, label in zip(texts, logits.tolist(), gold.tolist()):
            self._lines.write(json.dumps({"guid": guid, "logits": row, "gold": label}) + "\n")

    def __enter__(self):
        return self.all

    def __exit__(self, *error):
        self._stack.close()


def measure_small_steps(folder, repeats, classes=8):
    """{name: ratios} of turns of some steps of about 1 ms, each recorder's beside those without, in changing order."""
    model = nn.Sequential(nn.Linear(128, 384), nn.ReLU(), nn.Linear(384, 128), nn.ReLU(), nn.Linear(128, classes))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    inputs, gold = torch.randn(BATCH, 128), torch.randint(0, classes, (BATCH,))
    ids = [torch.arange(first, first + BATCH) for first in range(0, STEPS * BATCH, BATCH)]
    texts = [[f"train-{one:06d}" for one in some.tolist()] for some in ids]

    def turn(record, first):
        start, processor = time.perf_counter(), time.thread_time()
        for step in range(first, first + STEPS):
            logits = model(inputs)
            loss = nn.functional.cross_entropy(logits, gold)
            record(step, ids[step % STEPS], texts[step % STEPS], logits, gold, loss)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return time.perf_counter() - start, time.thread_time() - processor

    with Recorders(folder) as recorders:
        wall, processor = ({name: [] for name in recorders if name != "none"} for _ in range(2))
        took = []
        for number in range(repeats * 8 + 2):
            for name in wall:
                turns = {which: turn(recorders[which], number * STEPS) for which in ((name, "none") if number % 2 else ("none", name))}
                if number >= 2:
                    wall[name].append(turns[name][0] / turns["none"][0])
                    processor[name].append(turns[name][1] / turns["none"][1])
                    took.append(turns["none"][0])
    return {"wall": wall, "processor": processor, "step_us": statistics.median(took) / STEPS * 1e6}


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
    small = measure_small_steps(folder, repeats)
    versions = f"torch {torch.__version__}, one thread"
    print(json.dumps({"training": training, "calls": calls, "small": small, "empty": measure_nothing(repeats), "versions": versions}))


if __name__ == "__main__":
    main()
