"""Training once more on what a shallow model forgets (Yaghoobzadeh et al. 2021, section 4), on words with a planted cue.

Each word comes with a cue, a feature that names a language: nine times out of ten the right one, so that it is worth more than any
group of letters, and wrong otherwise. A shallow model (letters, pairs of letters and the cue; linear) is recorded, and its forgettable
words taken. A larger one (groups of up to four letters and the cue; a hidden layer) is trained on everything, and then a second
time, at a smaller step, on those words; or on as many random ones; on as many with the highest loss in the shallow model's last epoch
(section 4.4, Fig. 4); or on what it forgets itself. Others learn the forgettable words alone, or as many random ones (Table 7).
What counts is the accuracy where the cue misleads; and what the probabilities are worth where half of the cues do (calibration.py).
"""

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier

import calibration
import portolan
import portolan.sklearn
from stored import stored

PER_LANGUAGE = 4000
CUE_IS_RIGHT = 0.9
HIDDEN, BATCH = 128, 100
EPOCHS, STEP = 10, 0.1
SECOND_EPOCHS, SECOND_STEP = 3, 0.01
TESTS = ("cue as in training", "no cue", "cue misleads")
FORGETTABLE, RANDOM, OWN = "then forgettable, of the shallow model", "then random, as many", "then forgettable, of the model itself"


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

    def probs(self, x):
        probs = np.exp(self.forward(x)[1])
        return probs / probs.sum(axis=1, keepdims=True)

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


def train_alone(x, gold, words, classes, seed):
    """A new network that learns these words alone, for as many steps as EPOCHS rounds over so many words have."""
    network = Network(2**13 + classes, classes, seed + 100)
    for _ in range(-(-EPOCHS * words // len(gold))):
        network.train_epoch(x, gold, STEP)
    return network


def record(study, seed, train, x, classes):
    """Records the shallow model and the larger one; the names of the runs, and the larger model."""
    shallow, large = f"forgettable/shallow/seed{seed}", f"forgettable/large/seed{seed}"
    estimator = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=1.0, alpha=1e-7, random_state=seed)
    portolan.sklearn.track(
        estimator, train.shallow(), train.gold, shallow, EPOCHS, ids=train.words, batch_size=1000, store=study.store, overwrite=True)
    network = Network(2**13 + classes, classes, seed)
    with portolan.Run(large, store=study.store, labels=study.labels, config={"seed": seed, "hidden": HIDDEN}, overwrite=True) as run:
        for epoch in range(EPOCHS):
            network.train_epoch(x, train.gold, STEP)
            run.log_logits(epoch, train.words, network.forward(x)[1], train.gold)
            run.end_epoch(epoch)
    return shallow, large, network


def choose_subsets(study, train, shallow, large, rng):
    """{row of the table: rows of the words of the second training}"""
    place = {word: row for row, word in enumerate(train.words)}

    def ranked(name, rule, *words):
        return np.array([place[word] for word in study.portolan("select", name, "--by", rule, *words).split("\n")[:-1]])

    chosen = ranked(shallow, "forgettable")
    return {
        FORGETTABLE: chosen,
        RANDOM: rng.permutation(len(train.words))[:len(chosen)],
        "then the highest final loss of the shallow model, as many": ranked(shallow, "loss:desc", "--epochs", f"{EPOCHS - 1}:", "--count", len(chosen)),
        OWN: ranked(large, "forgettable"),
        "then everything": np.arange(len(train.words)),
    }


def one_seed(study, seed):
    """{row of the table: [accuracy on each test]}; {model: Calibration}; how many words are forgettable, and how many of them have a wrong cue."""
    rng, classes = np.random.default_rng(seed), len(study.labels)
    train = Cued(*choose(study.train, PER_LANGUAGE, classes, rng), classes, CUE_IS_RIGHT, rng)
    held_out = (study.held_out.words, study.held_out.gold, classes)
    tests = [Cued(*held_out, right, rng) for right in (CUE_IS_RIGHT, None, 0.0)]
    tests, mixed = [(test.large(), test.gold) for test in tests], Cued(*held_out, calibration.HALF, rng)
    x, mixed_x = train.large(), mixed.large()

    def calibrate(model):
        return calibration.calibrate(model.probs(mixed_x), mixed.gold, mixed.cue)

    shallow, large, network = record(study, seed, train, x, classes)
    subsets = choose_subsets(study, train, shallow, large, rng)
    rows, calibrated = {"trained once": [network.accuracy(*test) for test in tests]}, {"trained once": calibrate(network)}
    for title, subset in subsets.items():
        twin = network.copy(seed)
        for _ in range(SECOND_EPOCHS):
            twin.train_epoch(x[subset], train.gold[subset], SECOND_STEP)
        rows[title] = [twin.accuracy(*test) for test in tests]
        if title in (FORGETTABLE, RANDOM):
            calibrated[title.split(",", maxsplit=1)[0]] = calibrate(twin)
    for title in (FORGETTABLE, RANDOM):
        alone = train_alone(x[subsets[title]], train.gold[subsets[title]], len(train.words), classes, seed)
        rows[title.replace("then", "only")] = [alone.accuracy(*test) for test in tests]
    chosen = subsets[FORGETTABLE]
    return rows, calibrated, {"words": len(train.words), "forgettable": len(chosen), "own": len(subsets[OWN]),
                              "wrong cue among them": float((train.cue[chosen] != train.gold[chosen]).mean())}


def stored_seed(study, seed):
    """one_seed(), or what it found before."""

    def find():
        rows, models, fact = one_seed(study, seed)
        study.progress.finish(f"seed {seed}: where the cue misleads, " + ", ".join(f"{title}: {row[2]:.3f}" for title, row in rows.items()))
        return [rows, {name: calibration.as_json(one) for name, one in models.items()}, fact]

    made_with = {"words": [len(study.train.words), len(study.held_out.words)], "per_language": PER_LANGUAGE, "cue_is_right": CUE_IS_RIGHT,
                 "network": [HIDDEN, BATCH, EPOCHS, STEP], "second": [SECOND_EPOCHS, SECOND_STEP], "half": calibration.HALF}
    rows, models, fact = stored(study.out / f"forgettable/seed{seed}.json", made_with, find)
    return rows, {name: calibration.from_json(of) for name, of in models.items()}, fact


def study_forgettable(study, seeds):
    """Two tables, each a list of rows, the heading first; and a line about the subsets. Leaves forgettable.png."""
    results, facts, calibrated = [], [], {}
    for seed in seeds:
        rows, models, fact = stored_seed(study, seed)
        for title, one in models.items():
            calibrated.setdefault(title, []).append(one)
        results.append(rows)
        facts.append(fact)
    table = [["held-out accuracy", *(cell for test in TESTS for cell in (test, "s.d."))]]
    for title in results[0]:
        values = np.array([rows[title] for rows in results])
        table.append([title, *(cell for j in range(len(TESTS)) for cell in (f"{values[:, j].mean():.3f}", f"{values[:, j].std(ddof=1):.3f}"))])
    mean = {name: np.mean([fact[name] for fact in facts]) for name in facts[0]}
    calibration.draw(study.out / "forgettable.png", calibrated)
    return [table, calibration.table_of(calibrated)], (f"{mean['words']:,.0f} words; forgettable {mean['forgettable']:,.0f} of them ({mean['wrong cue among them']:.0%} with a wrong cue, of all "
                   f"words {1 - CUE_IS_RIGHT:.0%}), for the larger model itself {mean['own']:,.0f}; {len(seeds)} seeds")
