"""A corpus with planted artifacts: texts of random words, three labels, and ten tokens that give a label away.

Token plantS leans towards label S mod 3: the share of its records that have that label is 0.6 for the first, 0.99 for the last. In one
record of twenty the planted tokens are many times as frequent, so that several of them, of different labels, come together.
Where so many telling words of each label are asked for, two of them stand in four records of five: nine times out of ten those of its label.
"""

import json

import numpy as np

LABELS = ("contradiction", "entailment", "neutral")
TOKENS = 10
BIASES = np.linspace(0.6, 0.99, TOKENS)


def write_planted(path, records, seed, words=20_000, rate=0.02, crowded=0.05, telling=0):
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(3, words + 3)
    vocabulary = np.array([f"w{i}" for i in range(words)])
    lengths = rng.integers(10, 30, records)
    texts = np.split(vocabulary[rng.choice(words, lengths.sum(), p=weights / weights.sum())], np.cumsum(lengths)[:-1])
    labels = rng.integers(0, 3, records)
    often = np.where(rng.random(records) < crowded, 8, 1)
    planted = [[] for _ in range(records)]
    for token, bias in enumerate(BIASES):
        share = np.where(labels == token % 3, bias, (1 - bias) / 2)
        for record in np.flatnonzero(rng.random(records) < share * rate * often):
            planted[record].append(f"plant{token}")
    if telling:
        told = np.where(rng.random(records) < 0.9, labels, (labels + rng.integers(1, 3, records)) % 3)
        for record in np.flatnonzero(rng.random(records) < 0.8):
            planted[record] += [f"true{told[record]}x{word}" for word in rng.integers(0, telling, 2)]
    with open(path, "w", encoding="utf-8") as out:
        for i in range(records):
            text = [*texts[i], *planted[i]]
            half = len(text) // 2
            out.write(json.dumps({"id": i, "premise": " ".join(text[:half]) + ".", "hypothesis": " ".join(text[half:]) + ".",
                                  "label": LABELS[labels[i]]}) + "\n")
