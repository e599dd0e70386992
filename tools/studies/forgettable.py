"""Training once more on what a shallow model forgets (Yaghoobzadeh et al. 2021, section 4), on words with a planted cue.

Each word comes with a cue, a feature that names a language: nine times out of ten the right one, so that it is worth more than any
group of letters, and wrong otherwise. A shallow model (letters, pairs of letters and the cue; linear) is recorded, and its forgettable
words taken. A larger one (groups of up to four letters and the cue; a hidden layer) is trained on everything, and then a second
time, at a smaller step, on those words; or on a random subset of the same size; or on what it forgets itself.
What counts is its accuracy where the cue misleads.
"""

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier

import portolan
import portolan.sklearn

PER_LANGUAGE = 4000
CUE_IS_RIGHT = 0.9
HIDDEN, BATCH = 128, 100
EPOCHS, STEP = 10, 0.1
SECOND_EPOCHS, SECOND_STEP = 3, 0.01
TESTS = ("cue as in training", "no cue", "cue misleads")


class Network:
    """One hidden layer, softmax, stochastic gradient descent with momentum 0.9; float32."""

    def __init__(self, inputs, classes, seed, active=20):
        """active: how many inputs of an example are not 0, about; of a word some twenty."""
        self.random = np.random.default_rng(seed)
        self.weights = [
            self.random.normal(0, np.sqrt(2 / active), (inputs, HIDDEN)).astype("f4"),
            np.zeros(HIDDEN, "f4"),
            self.random.normal(0, np.sqrt(1 / HIDDEN), (HIDDEN, classes)).astype("f4"),
            np.zeros(classes, "f4"),
        ]
        self.velocity = [np.zeros_like(w) for w in self.weights]

    def forward(self, x):
        w1, b1, w2, b2 = self.weights
        hidden = np.maximum(x @ w1 + b1, 0)
        logits = hidden @ w2 + b2
        return hidden, logits - logits.max(axis=1, keepdims=True)

    def train_epoch(self, x, gold, step):
        order = self.random.permutation(len(gold))
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            self._train_batch(x[rows], gold[rows], step)

    def _train_batch(self, x, gold, step):
        hidden, logits = self.forward(x)
        error = np.exp(logits)
        error /= error.sum(axis=1, keepdims=True)
        error[np.arange(len(gold)), gold] -= 1
        error /= len(gold)
        back = (error @ self.weights[2].T) * (hidden > 0)
        for w, v, g in zip(self.weights, self.velocity, (x.T @ back, back.sum(axis=0), hidden.T @ error, error.sum(axis=0))):
            v *= 0.9
            v -= step * g
            w += v

    def copy(self, seed):
        """The same model, with an optimizer and an order of its own."""
        twin = object.__new__(Network)
        twin.random = np.random.default_rng(seed)
        twin.weights = [w.copy() for w in self.weights]
        twin.velocity = [np.zeros_like(w) for w in self.weights]
        return twin

    def accuracy(self, x, gold):
        return float((self.forward(x)[1].argmax(axis=1) == gold).mean())


class Cued:
    """Words, and cues that are right with this probability, or absent."""

    def __init__(self, words, gold, classes, right, rng):
        self.words, self.gold, self.classes = words, gold, classes
        wrong = (gold + rng.integers(1, classes, len(gold))) % classes
        self.cue = None if right is None else np.where(rng.random(len(gold)) < right, gold, wrong)

    def features(self, letters, size):
        """Groups of up to so many letters, and one column per language for the cue."""
        vectorizer = HashingVectorizer(analyzer="char_wb", ngram_range=(1, letters), n_features=size, alternate_sign=False, dtype="f4")
        cues = sparse.csr_matrix((len(self.words), self.classes), dtype="f4")
        if self.cue is not None:
            cues = sparse.identity(self.classes, dtype="f4", format="csr")[self.cue]
        return sparse.hstack([vectorizer.transform(self.words), cues], format="csr", dtype="f4")

    def large(self):
        return self.features(4, 2**13)

    def shallow(self):
        return self.features(2, 2**10)


def choose(words, per_language, classes, rng):
    """(words, gold) of so many of each language."""
    rows = np.concatenate([rng.permutation(np.flatnonzero(words.gold == k))[:per_language] for k in range(classes)])
    return [words.words[row] for row in rows], words.gold[rows]


def one_seed(study, seed):
    """{row of the table: [accuracy on each test]}, and how many words are forgettable and how many of them have a wrong cue."""
    rng, classes = np.random.default_rng(seed), len(study.labels)
    train = Cued(*choose(study.train, PER_LANGUAGE, classes, rng), classes, CUE_IS_RIGHT, rng)
    held_out = (study.held_out.words, study.held_out.gold, classes)
    tests = [Cued(*held_out, right, rng) for right in (CUE_IS_RIGHT, None, 0.0)]
    tests = [(test.large(), test.gold) for test in tests]

    shallow, large = f"forgettable/shallow/seed{seed}", f"forgettable/large/seed{seed}"
    estimator = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=1.0, alpha=1e-7, random_state=seed)
    portolan.sklearn.track(
        estimator, train.shallow(), train.gold, shallow, EPOCHS, ids=train.words, batch_size=1000, store=study.store, overwrite=True)
    x, network = train.large(), Network(2**13 + classes, classes, seed)
    with portolan.Run(large, store=study.store, labels=study.labels, config={"seed": seed, "hidden": HIDDEN}, overwrite=True) as run:
        for epoch in range(EPOCHS):
            network.train_epoch(x, train.gold, STEP)
            run.log_logits(epoch, train.words, network.forward(x)[1], train.gold)
            run.end_epoch(epoch)

    place = {word: row for row, word in enumerate(train.words)}

    def forgettable(name, *words):
        return np.array([place[word] for word in study.portolan("select", name, "--by", "forgettable", *words).split("\n")[:-1]])

    chosen = forgettable(shallow)
    size = len(chosen)
    subsets = {
        "then forgettable, of the shallow model": chosen,
        "then random, as many": rng.permutation(len(train.words))[:size],
        "then forgettable, of the model itself": forgettable(large),
        "then everything": np.arange(len(train.words)),
    }
    rows = {"trained once": [network.accuracy(*test) for test in tests]}
    for title, subset in subsets.items():
        twin = network.copy(seed)
        for _ in range(SECOND_EPOCHS):
            twin.train_epoch(x[subset], train.gold[subset], SECOND_STEP)
        rows[title] = [twin.accuracy(*test) for test in tests]
    return rows, {"words": len(train.words), "forgettable": size, "own": len(subsets["then forgettable, of the model itself"]),
                  "wrong cue among them": float((train.cue[chosen] != train.gold[chosen]).mean())}


def study_forgettable(study, seeds):
    """Rows of a table, the heading first; and a line about the subsets."""
    results, facts = [], []
    for seed in seeds:
        rows, fact = one_seed(study, seed)
        study.progress.finish(f"seed {seed}: where the cue misleads, " + ", ".join(f"{title}: {row[2]:.3f}" for title, row in rows.items()))
        results.append(rows)
        facts.append(fact)
    table = [["held-out accuracy", *(cell for test in TESTS for cell in (test, "s.d."))]]
    for title in results[0]:
        values = np.array([rows[title] for rows in results])
        table.append([title, *(cell for j in range(len(TESTS)) for cell in (f"{values[:, j].mean():.3f}", f"{values[:, j].std(ddof=1):.3f}"))])
    mean = {name: np.mean([fact[name] for fact in facts]) for name in facts[0]}
    return table, (f"{mean['words']:,.0f} words; forgettable {mean['forgettable']:,.0f} of them ({mean['wrong cue among them']:.0%} with a wrong cue, of all "
                   f"words {1 - CUE_IS_RIGHT:.0%}), for the larger model itself {mean['own']:,.0f}; {len(seeds)} seeds")
