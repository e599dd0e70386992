#!/usr/bin/python3
"""Trains a classifier (which language is this word?) and records how it sees every training word, epoch after epoch.

    demo_train.py OUT [--epochs N] [--seed S]

reads OUT/words.tsv and OUT/held-out.tsv, records the run `words` in OUT/store. What Portolan adds to an ordinary scikit-learn
loop are the lines with `run`, in record() and observe_epoch().
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier

import portolan

BATCH = 10_000
# A constant step keeps the model moving: what it is unsure of then swings from epoch to epoch, what it knows does not.
STEP = 6.0


def read_words(path):
    with open(path, encoding="utf-8") as lines:
        next(lines)
        rows = [line.split("\t")[:2] for line in lines]
    return [word for word, _ in rows], [language for _, language in rows]


def batches(count):
    for start in range(0, count, BATCH):
        yield slice(start, min(start + BATCH, count))


class Progress:
    """One line per epoch, with a bar in it while the epoch lasts if anybody watches."""

    def __init__(self, stream=sys.stdout):
        self.stream = stream
        self.watched = stream.isatty()

    def show(self, title, share):
        if self.watched:
            bar = "#" * round(share * 30)
            self.stream.write(f"\r      {title} [{bar:<30}] {share:4.0%}")
            self.stream.flush()

    def finish(self, line):
        clear = "\r\033[K" if self.watched else ""
        self.stream.write(f"{clear}      {line}\n")
        self.stream.flush()


class Words:
    """Words to train on, or to test with: their gold classes, and what the classifier sees of them."""

    def __init__(self, words, gold, features):
        self.words, self.gold, self.features = words, gold, features

    def __len__(self):
        return len(self.words)


def load_plain(out):
    """(class names, words to train on, words held out), without features."""
    (words, languages), (held_out_words, held_out_languages) = (read_words(out / name) for name in ("words.tsv", "held-out.tsv"))
    labels = sorted(set(languages))
    return labels, Words(words, np.searchsorted(labels, languages), None), Words(held_out_words, np.searchsorted(labels, held_out_languages), None)


def load(out, progress):
    """(class names, words to train on, words held out)."""
    labels, train, held_out = load_plain(out)
    progress.finish(f"cutting {len(train) + len(held_out):,} words into pieces of 1 to 4 letters")
    vectorizer = HashingVectorizer(analyzer="char_wb", ngram_range=(1, 4), n_features=2**18, alternate_sign=False)
    for part in (train, held_out):
        part.features = vectorizer.transform(part.words)
    return labels, train, held_out


def make_classifier(seed):
    return SGDClassifier(loss="log_loss", learning_rate="constant", eta0=STEP, alpha=1e-7, random_state=seed)


def train_epoch(classifier, generator, train, classes, show=lambda share: None):
    """One round over the words in random order."""
    order = generator.permutation(len(train))
    for rows in batches(len(train)):
        batch = order[rows]
        classifier.partial_fit(train.features[batch], train.gold[batch], classes=np.arange(classes))
        show(rows.stop / len(train))


def observe_epoch(classifier, run, epoch, train, show=lambda share: None):
    """Records how the classifier sees every word; the share it gets right."""
    right = 0
    for rows in batches(len(train)):
        probs = classifier.predict_proba(train.features[rows])
        run.log_probs(epoch, train.words[rows], probs, train.gold[rows])
        right += np.count_nonzero(probs.argmax(axis=1) == train.gold[rows])
        show(rows.stop / len(train))
    run.end_epoch(epoch)
    return right / len(train)


def record(name, store, labels, train, held_out, epochs, seed, progress):
    """Trains a classifier and records the run `name`; the held-out accuracy at the end."""
    classifier, generator = make_classifier(seed), np.random.default_rng(seed)
    config = {"model": "logistic regression on hashed character 1-4-grams", "step": STEP, "seed": seed}
    accuracy = 0.0
    with portolan.Run(name, store=store, mode="epoch-end", labels=labels, config=config, overwrite=True) as run:
        for epoch in range(epochs):
            start = time.monotonic()
            title = f"epoch {epoch + 1} of {epochs}"
            train_epoch(classifier, generator, train, len(labels),
                        lambda share, title=title: progress.show(f"{title}: training ", share))
            right = observe_epoch(classifier, run, epoch, train,
                                  lambda share, title=title: progress.show(f"{title}: observing", share))
            accuracy = classifier.score(held_out.features, held_out.gold)
            progress.finish(f"{title}: accuracy {right:.3f} on training words, {accuracy:.3f} held out"
                            f" ({time.monotonic() - start:.1f} s)")
    stats = run.stats()
    progress.finish(f"{stats['acknowledged']:,} observations of {len(train):,} words are on disk in {store}")
    return accuracy


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("out", type=Path, help="folder with words.tsv; the store is made in it")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    progress = Progress()
    labels, train, held_out = load(options.out, progress)
    record("words", options.out / "store", labels, train, held_out, options.epochs, options.seed, progress)


if __name__ == "__main__":
    main()
