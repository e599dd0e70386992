"""overhead_steps.py FOLDER: the turns of overhead.py, each as one JSON object: the seconds of its steps, of its recording calls, and of the
processors. FOLDER gets what the recorders write."""

import contextlib
import glob
import importlib.util
import json
import logging
import os
import subprocess
import sys
import time

import torch
from torch import nn

import portolan

ROWS, CLASSES, BATCHES = 256, 8, 50
LENGTHS = {0.0003: 10_000, 0.001: 10_000, 0.01: 500, 0.1: 30}  # seconds of a step: how many in all
ROUNDS = 3  # the fewest that have a spread
PATIENCE = 8  # a turn ends, however many steps it has, when it takes so many times as long as its steps alone
TICK = os.sysconf("SC_CLK_TCK")


class Training:
    """Steps of a small network, and products of matrices to make them longer."""

    def __init__(self):
        self.model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, CLASSES))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.inputs, self.gold = torch.randn(ROWS, 64), torch.randint(0, CLASSES, (ROWS,))
        self.ids = [torch.arange(first, first + ROWS) for first in range(0, BATCHES * ROWS, ROWS)]
        self.texts = [[f"train-{one:06d}" for one in ids.tolist()] for ids in self.ids]
        self.factor = torch.randn(128, 128)

    def step(self, products, record, number):
        """One step; the seconds of the call of `record` in it."""
        logits = self.model(self.inputs)
        loss = nn.functional.cross_entropy(logits, self.gold)
        start = time.perf_counter()
        record(number, self.ids[number % BATCHES], self.texts[number % BATCHES], logits, self.gold, loss)
        took = time.perf_counter() - start
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        for _ in range(products):
            torch.mm(self.factor, self.factor)
        return took

    def products_for(self, seconds):
        """How many products make a step about so long: by the least of several times, as other work can only add to them."""
        least = {}
        for products in (0, 50):
            times = []
            for _ in range(60):
                start = time.perf_counter()
                self.step(products, record_nothing, 0)
                times.append(time.perf_counter() - start)
            least[products] = min(times)
        return max(0, round((seconds - least[0]) / ((least[50] - least[0]) / 50)))


def record_nothing(step, ids, texts, logits, gold, loss):
    pass


@contextlib.contextmanager
def no_recorder(folder):
    yield record_nothing, lambda: None


@contextlib.contextmanager
def portolan_recorder(folder, with_texts):
    with portolan.Run("run", store=os.path.join(folder, "store"), mode="train-forward") as run:

        def record(step, ids, texts, logits, gold, loss):
            run.log_logits(step // BATCHES, texts if with_texts else ids, logits, gold)
            if step % BATCHES == BATCHES - 1:
                run.end_epoch(step // BATCHES)

        yield record, run.flush


@contextlib.contextmanager
def copies_recorder(folder):
    """The least that any recorder in Python does: the logits are the training's no longer than the step."""
    kept = []
    yield lambda step, ids, texts, logits, gold, loss: kept.append((ids, logits.detach().clone(), gold)), kept.clear


@contextlib.contextmanager
def probabilities_recorder(folder):
    """What data maps are made from, computed by torch, and kept in memory."""
    kept = []

    def record(step, ids, texts, logits, gold, loss):
        with torch.no_grad():
            kept.append((ids, logits.softmax(1).gather(1, gold[:, None]), logits.argmax(1) == gold))

    yield record, kept.clear


@contextlib.contextmanager
def lines_recorder(folder):
    with open(os.path.join(folder, "dynamics.jsonl"), "w", encoding="utf-8") as lines:

        def record(step, ids, texts, logits, gold, loss):
            for guid, row, label in zip(texts, logits.tolist(), gold.tolist()):
                lines.write(json.dumps({"guid": guid, "logits": row, "gold": label}) + "\n")

        yield record, lines.flush


def scalars_of(logits, gold, loss):
    return {"loss": loss.item(), "accuracy": (logits.argmax(1) == gold).float().mean().item()}


@contextlib.contextmanager
def tensorboard_recorder(folder):
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(os.path.join(folder, "tensorboard")) as writer:

        def record(step, ids, texts, logits, gold, loss):
            for name, value in scalars_of(logits, gold, loss).items():
                writer.add_scalar(name, value, step)

        yield record, writer.flush


@contextlib.contextmanager
def wandb_recorder(folder):
    os.environ.update({f"WANDB_{name}_DIR": folder for name in ("CACHE", "CONFIG", "DATA")})
    import wandb

    run = wandb.init(project="overhead", mode="offline", dir=folder, settings=wandb.Settings(silent=True))
    try:
        yield lambda step, ids, texts, logits, gold, loss: run.log(scalars_of(logits, gold, loss), step=step), lambda: None
    finally:
        run.finish()


@contextlib.contextmanager
def mlflow_recorder(folder):
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"  # newer versions ask whether it is meant
    from mlflow.tracking import MlflowClient

    logging.getLogger("mlflow").setLevel(logging.ERROR)
    client = MlflowClient(tracking_uri="file://" + os.path.join(folder, "mlflow"))
    run = client.create_run(client.create_experiment("overhead")).info.run_id

    def record(step, ids, texts, logits, gold, loss):
        for name, value in scalars_of(logits, gold, loss).items():
            client.log_metric(run, name, value, step=step)

    yield record, lambda: None
    client.set_terminated(run)


# By name: what it needs that may not be installed, and its context: the call for each step, and one that waits until all is written.
RECORDERS = {
    "none": (None, no_recorder),
    "Portolan, integer ids": (None, lambda folder: portolan_recorder(folder, False)),
    "Portolan, text ids": (None, lambda folder: portolan_recorder(folder, True)),
    "a list of copies of the logits": (None, copies_recorder),
    "a list of probabilities by torch": (None, probabilities_recorder),
    "JSON lines of every example": (None, lines_recorder),
    "TensorBoard, two scalars": ("tensorboard", tensorboard_recorder),
    "W&B offline, two scalars": ("wandb", wandb_recorder),
    "MLflow's files, two scalars": ("mlflow", mlflow_recorder),
}


def processor_seconds(folder):
    """Of this process, its descendants, and those whose command line names the folder (the collector is nobody's child)."""
    processes = {}
    for path in glob.glob("/proc/[0-9]*"):
        with contextlib.suppress(OSError):
            with open(os.path.join(path, "stat"), encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
            with open(os.path.join(path, "cmdline"), "rb") as file:
                words = file.read()
            processes[int(os.path.basename(path))] = (int(fields[1]), words, (int(fields[11]) + int(fields[12])) / TICK)
    chosen = {pid for pid, (_, words, _) in processes.items() if os.fsencode(folder) in words} | {os.getpid()}
    while more := {pid for pid, (parent, words, _) in processes.items() if parent in chosen and NEIGHBOUR not in words} - chosen:
        chosen |= more
    return sum(processes[pid][2] for pid in chosen if pid != os.getpid()) + time.process_time()


NEIGHBOUR = b"while True: pass"


@contextlib.contextmanager
def neighbours(count):
    some = [subprocess.Popen([sys.executable, "-c", NEIGHBOUR.decode()]) for _ in range(count)]
    try:
        yield
    finally:
        for one in some:
            one.kill()
            one.wait()


def measure_turn(training, products, length, count, open_recorder, folder):
    os.makedirs(folder)
    steps, calls = [], []
    with open_recorder(folder) as (record, finish):
        for number in range(20):  # to warm up
            training.step(products, record, number)
        before, start = processor_seconds(folder), time.perf_counter()
        while len(steps) < count and time.perf_counter() - start < PATIENCE * length * count:
            begin = time.perf_counter()
            calls.append(training.step(products, record, 20 + len(steps)))
            steps.append(time.perf_counter() - begin)
        finish()
        time.sleep(0.3)  # what others do later with what was recorded counts, too
        processor = processor_seconds(folder) - before
    return {"steps": steps, "calls": calls, "processor": processor}


def main():
    folder = sys.argv[1]
    torch.set_num_threads(1)
    torch.manual_seed(1)
    there = {name: opens for name, (needs, opens) in RECORDERS.items() if needs is None or importlib.util.find_spec(needs)}
    print(json.dumps({"missing": [name for name in RECORDERS if name not in there]}))
    training = Training()
    products = {length: training.products_for(length) for length in LENGTHS}
    for around, count in (("quiet", 0), ("busy", max(1, (os.cpu_count() or 2) - 1))):
        with neighbours(count):
            for length, steps in LENGTHS.items():
                for turn in range(ROUNDS):
                    names = list(there)[::-1] if turn % 2 else list(there)
                    for place, name in enumerate(names):
                        where = os.path.join(folder, f"{around}-{length}-{turn}-{place}")
                        got = measure_turn(training, products[length], length, -(-steps // ROUNDS), there[name], where)
                        print(json.dumps({"around": around, "length": length, "round": turn, "recorder": name, **got}), flush=True)


if __name__ == "__main__":
    main()
