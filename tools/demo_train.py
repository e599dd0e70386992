#!/usr/bin/python3
"""Trains a classifier (which language is this word?) and records how it sees every training word, epoch after epoch.

    demo_train.py OUT [--epochs N] [--seed S]

reads OUT/words.tsv and OUT/held-out.tsv, records the run `words` in OUT/store. What Portolan adds to an ordinary scikit-learn
loop are the lines with `run`.
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("out", type=Path, help="folder with words.tsv; the store is made in it")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    words, languages = read_words(options.out / "words.tsv")
    held_out_words, held_out_languages = read_words(options.out / "held-out.tsv")
    labels = sorted(set(languages))
    gold = np.searchsorted(labels, languages)
    held_out_gold = np.searchsorted(labels, held_out_languages)

    progress = Progress()
    progress.finish(f"cutting {len(words) + len(held_out_words):,} words into pieces of 1 to 4 letters")
    vectorizer = HashingVectorizer(analyzer="char_wb", ngram_range=(1, 4), n_features=2**18, alternate_sign=False)
    features = vectorizer.transform(words)
    held_out_features = vectorizer.transform(held_out_words)
    classifier = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=STEP, alpha=1e-7, random_state=options.seed)
    generator = np.random.default_rng(options.seed)

    config = {"model": "logistic regression on hashed character 1-4-grams", "step": STEP, "seed": options.seed}
    with portolan.Run("words", store=options.out / "store", mode="epoch-end", labels=labels, config=config,
                      overwrite=True) as run:
        for epoch in range(options.epochs):
            start = time.monotonic()
            title = f"epoch {epoch + 1} of {options.epochs}"

            order = generator.permutation(len(words))
            for rows in batches(len(words)):
                batch = order[rows]
                classifier.partial_fit(features[batch], gold[batch], classes=np.arange(len(labels)))
                progress.show(f"{title}: training ", rows.stop / len(words))

            right = 0
            for rows in batches(len(words)):
                probs = classifier.predict_proba(features[rows])
                run.log_probs(epoch, words[rows], probs, gold[rows])
                right += np.count_nonzero(probs.argmax(axis=1) == gold[rows])
                progress.show(f"{title}: observing", rows.stop / len(words))
            run.end_epoch(epoch)

            held_out = classifier.score(held_out_features, held_out_gold)
            progress.finish(f"{title}: accuracy {right / len(words):.3f} on training words, {held_out:.3f} held out"
                            f" ({time.monotonic() - start:.1f} s)")
    stats = run.stats()
    progress.finish(f"{stats['acknowledged']:,} observations of {len(words):,} words are on disk in {options.out / 'store'}")


if __name__ == "__main__":
    main()
