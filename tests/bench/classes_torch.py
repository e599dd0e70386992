"""Run by classes.py with torch's interpreter: classes_torch.py FOLDER REPEATS. Prints one JSON object for each kind of logits."""

import json
import os
import statistics
import sys
import time

import portolan
import torch

ROWS = 256


def seconds(work, calls):
    start = time.thread_time()
    for _ in range(calls):
        work()
    return (time.thread_time() - start) / calls


def cases():
    for classes in (3, 100, 1000, 50000):
        yield f"{classes:,}", torch.randn(ROWS, classes) * 3
    yield "1,000 float64", torch.randn(ROWS, 1000).double()
    yield "1,000, every second column", torch.randn(ROWS, 2000)[:, ::2]
    yield "1,000 float16", torch.randn(ROWS, 1000).half()
    yield "1,000 bfloat16", torch.randn(ROWS, 1000).bfloat16()


def measure(run, epoch, logits, gold, ids, repeats):
    calls = max(1, 40000 // logits.shape[1])
    calls = min(calls, 400)
    turns = []
    for turn in range(repeats * 3 + 2):
        works = [lambda: run.log_logits(epoch, ids, logits, gold),
                 lambda: (logits.log_softmax(1).gather(1, gold.unsqueeze(1)), logits.argmax(1)),
                 logits.sum]
        order = [0, 1, 2] if turn % 2 else [2, 1, 0]
        took = {which: seconds(works[which], calls) for which in order}
        run.flush()
        if turn >= 2:
            turns.append(took)
    return turns


def main():
    folder, repeats = sys.argv[1], int(sys.argv[2])
    torch.set_num_threads(1)
    torch.manual_seed(1)
    ids = torch.arange(ROWS)
    for number, (what, logits) in enumerate(cases()):
        gold = torch.randint(0, logits.shape[1], (ROWS,))
        with portolan.Run(f"classes-{number}", store=os.path.join(folder, "store"), mode="train-forward") as run:
            turns = measure(run, 0, logits, gold, ids, repeats)
        ours = statistics.median(turn[0] for turn in turns)
        print(json.dumps({
            "what": what,
            "ratios": [turn[0] / turn[1] for turn in turns],
            "reads": [turn[0] / turn[2] for turn in turns],
            "us": ours * 1e6,
            "gbytes": logits.numel() * logits.element_size() / ours / 1e9,
            "version": f"torch {torch.__version__}, one thread",
        }), flush=True)


if __name__ == "__main__":
    main()
