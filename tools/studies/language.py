"""A small fine-tuning set for a tiny language model, with known kinds of examples: what do the corners of its map hold?

language.py PORTOLAN FOLDER, run by a Python that has torch: tools/study language does. A prompt is a verb and some words, the answer is made of
these words:

    common      "copy": the words themselves
    rare        "turn": the words backwards; few examples
    two answers "vary": the words themselves or each word's neighbour, half of the examples each
    wrong       "copy", with a word of the answer replaced by another
    random      "copy", with words that have nothing to do with the prompt
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader

import portolan
import portolan.language
import portolan.torch

KINDS = {"common": 3000, "rare": 150, "two answers": 450, "wrong": 150, "random": 150}
WORDS, VERBS, PAD, END = 40, ("copy", "turn", "vary"), 0, 1
FIRST = 2 + len(VERBS)
EPOCHS, BURN_IN, LONGEST = 14, 2, 8


def make_example(kind, generator):
    """(prompt, answer) as numbers."""
    words = generator.integers(0, WORDS, generator.integers(2, LONGEST + 1))
    answer = words.copy()
    if kind == "rare":
        answer = words[::-1]
    elif kind == "random":
        answer = generator.integers(0, WORDS, len(words))
    elif kind == "wrong":
        at = generator.integers(len(words))
        answer[at] = (answer[at] + generator.integers(2, WORDS - 1)) % WORDS
    elif kind == "two answers" and generator.random() < 0.5:
        answer = (words + 1) % WORDS
    verb = {"rare": 1, "two answers": 2}.get(kind, 0)
    return [2 + verb, *(FIRST + words), END], [*(FIRST + answer), END]


def make_set(seed):
    generator = np.random.default_rng(seed)
    kinds = generator.permutation([kind for kind, count in KINDS.items() for _ in range(count)])
    rows = []
    for number, kind in enumerate(kinds):
        prompt, answer = make_example(kind, generator)
        rows.append({"id": number, "kind": str(kind), "tokens": [int(word) for word in prompt + answer], "prompt": len(prompt)})
    return rows


class Model(nn.Module):
    """Two layers of causal attention."""

    def __init__(self, width=64, heads=4, layers=2):
        super().__init__()
        self.words, self.places = nn.Embedding(FIRST + WORDS, width), nn.Embedding(2 * LONGEST + 4, width)
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, FIRST + WORDS)

    def forward(self, tokens):
        length = tokens.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        return self.head(self.body(self.words(tokens) + self.places(torch.arange(length)), mask=mask, is_causal=True))


def collate(rows):
    width = max(len(row["tokens"]) for row in rows)
    tokens = torch.tensor([row["tokens"] + [PAD] * (width - len(row["tokens"])) for row in rows])
    labels = tokens.clone()
    for at, row in enumerate(rows):
        labels[at, : row["prompt"]] = -100
        labels[at, len(row["tokens"]) :] = -100
    return {"tokens": tokens, "labels": labels}


def train(rows, store, seed):
    torch.manual_seed(seed)
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    loader = DataLoader(rows, batch_size=32, shuffle=True, collate_fn=portolan.language.keep_ids(collate))
    config = {"seed": seed, "kinds": KINDS}
    options = {"store": store, "config": config, "overwrite": True}
    with portolan.torch.open_run("language", model, examples=len(rows), **options) as run, portolan.Run("language/tokens", **options) as tokens:
        for epoch in range(EPOCHS):
            model.train()
            for batch in loader:
                optimizer.zero_grad()
                scores = model(batch["tokens"])[:, :-1]
                nn.functional.cross_entropy(scores.flatten(0, 1), batch["labels"][:, 1:].flatten(), ignore_index=-100).backward()
                optimizer.step()
            portolan.language.observe(run, model, loader, epoch)
            portolan.language.observe(tokens, model, loader, epoch, tokens=True)
            print(f"epoch {epoch + 1} of {EPOCHS}", end="\r", file=sys.stderr)
    print(file=sys.stderr)


def auroc(scores, positive):
    """That a positive has a higher score than another one; ties count one half."""
    order = np.unique(scores, return_inverse=True)[1]
    counts = np.bincount(order)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[order]
    many = positive.sum()
    return (ranks[positive].sum() - many * (many + 1) / 2) / (many * (len(scores) - many))


def shares(title, chosen, kinds):
    counts = [np.mean(kinds[chosen] == kind) for kind in KINDS]
    return [title, f"{len(chosen):,}", *(f"{share:.1%}" for share in counts)]


def corner_rows(store, kinds):
    """What the corners hold: a tenth of the examples each."""
    rows = [["", "examples", *KINDS], shares("all", np.arange(len(kinds)), kinds)]
    for rule in ("easy-to-learn", "ambiguous", "hard-to-learn", "forgettable"):
        size = {} if rule == "forgettable" else {"fraction": 0.1}
        chosen = portolan.select("language", store=store, by=rule, epochs=f"{BURN_IN}:", **size)
        rows.append(shares(rule if rule == "forgettable" else f"{rule}, a tenth", np.asarray(chosen["id"]).astype(int), kinds))
    return rows


def ranking_rows(m, kinds):
    """How well planted wrong answers are found: among answers that can be right, and among all but the random ones."""
    wrong, right = kinds == "wrong", np.isin(kinds, ("common", "wrong"))
    known = kinds != "random"
    rankings = {
        "confidence (geometric mean)": m["confidence"],
        "probability of the whole answer": m["product"],
        "arithmetic mean of the tokens' probabilities": m["arithmetic"],
        "token accuracy": m["token_accuracy"],
        "last epoch's loss": -m["last_loss"],
    }
    rows = [["wrong answers ranked by", "AUROC among copies", "among all but random", "correlation with length"]]
    for title, values in rankings.items():
        clean = kinds == "common"
        rows.append([title, f"{auroc(-values[right], wrong[right]):.3f}", f"{auroc(-values[known], wrong[known]):.3f}",
                     f"{np.corrcoef(values[clean], m['tokens'][clean])[0, 1]:+.2f}"])
    return rows


def alternatives(store, count):
    """Measures, and what other definitions of confidence would have been, from the same observations."""
    m = portolan.measures("language", store=store, epochs=f"{BURN_IN}:")
    out = {name: np.asarray(m[name]) for name in ("confidence", "variability", "correctness", "token_accuracy", "tokens")}
    d = portolan.dynamics("language", store=store, epochs=f"{BURN_IN}:")
    ids, p, tokens, epoch = (np.asarray(d[name]) for name in ("id", "gold_prob", "tokens", "epoch"))
    ids = ids.astype(int)
    out["product"] = np.bincount(ids, p**tokens, count) / np.bincount(ids, minlength=count)
    t = portolan.measures("language/tokens", store=store, epochs=f"{BURN_IN}:")
    of = np.array([int(one.partition("/")[0]) for one in t["id"].tolist()])
    out["arithmetic"] = np.bincount(of, t["confidence"], count) / np.bincount(of, minlength=count)
    last = epoch == epoch.max()
    out["last_loss"] = np.bincount(ids[last], -np.log(np.maximum(p[last], 1e-30)), count)
    return out


def main():
    program, folder = sys.argv[1], Path(sys.argv[2])
    store = folder / "language-store"
    rows = make_set(1)
    with open(folder / "language.jsonl", "w", encoding="utf-8") as out:
        out.writelines(json.dumps({**row, "kind_number": list(KINDS).index(row["kind"])}) + "\n" for row in rows)
    torch.set_num_threads(min(2, torch.get_num_threads()))
    train(rows, store, 1)
    kinds = np.array([row["kind"] for row in rows])
    m = alternatives(store, len(rows))
    picture = folder / "language.png"
    subprocess.run([program, "map", "language", "--store", store, "--epochs", f"{BURN_IN}:", "--colour-file", folder / "language.jsonl", "--id-field", "id",
                    "--colour", "kind_number", "--title", "colour: " + ", ".join(f"{n} {kind}" for n, kind in enumerate(KINDS)), "-o", picture], check=True)
    means = [["kind", "confidence", "variability", "correctness", "token accuracy"]]
    for kind in KINDS:
        at = kinds == kind
        means.append([kind, *(f"{m[name][at].mean():.2f}" for name in ("confidence", "variability", "correctness", "token_accuracy"))])
    print(json.dumps({"means": means, "corners": corner_rows(store, kinds), "rankings": ranking_rows(m, kinds), "map": str(picture)}))


if __name__ == "__main__":
    main()
