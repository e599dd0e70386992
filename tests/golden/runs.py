"""The golden runs: what is recorded into the golden stores and spools. Plain functions of epoch and example, without a random number and without a
function of libm, so that every machine records the same bits.

A new kind of content gets a function here and its line in RUNS; then make.py makes the files anew, before a release and never after it.
"""

import numpy as np

import portolan

LABELS = ["Katze", "dog", "bird, small"]
TEXTS = ["a", "b 2", "é", 'say "so"', "x,y", "line-7", "Z" * 255, "日本"]
WIDE = [3, 10, 2**32 + 1, 2**63 + 5, 2**64 - 1]
FLIPS = {11: 0, 13: 0, 16: 2, 20: 1, 21: 1}  # of words/declared, as `portolan noise plan --fraction 0.2 --regions 1,0` draws them: {id: new label}
CHUNKS = 16_400  # more than one chunk of the store


def share(rows, epoch, salt=0):
    """float32 within 0 and 1, as multiples of 1/1024: short in a packed file, and exact."""
    return ((np.asarray(rows) * 397 + epoch * 211 + salt * 97) % 1009).astype("f4") / 1024


def scores(count, epoch, classes, salt=0):
    """Logits, (count, classes), of which the gold label's grows with the epochs for most examples."""
    rows = np.arange(count)
    made = np.stack([share(rows, epoch, salt + c) * 4 - 2 for c in range(classes)], axis=1)
    made[rows, gold(count, classes)] += np.where(rows % 5 == 4, -0.5, 0.5 * epoch).astype("f4")
    return made.astype("f4")


def gold(count, classes=3):
    return np.arange(count) * 7 % classes


def declared(open_run):
    """Declared ids, names of classes, a config, all signals; an epoch with gaps, a refused row, a patch of an epoch that is over."""
    n = 24
    with open_run("words/declared", examples=n, labels=LABELS, config={"lr": 0.125, "seed": 1}) as run:
        for epoch in range(5):
            rows = np.arange(n) if epoch != 2 else np.arange(0, n, 2)
            logits = scores(n, epoch, 3)
            if epoch == 3:
                logits[5] = np.nan
            run.log_logits(epoch, rows, logits[rows], gold(n)[rows])
            run.end_epoch(epoch)
        run.log_logits(1, [4, 5], scores(n, 9, 3)[4:6], gold(n)[4:6])


def flipped(open_run):
    """words/declared with FLIPS for labels, which the model does not learn."""
    n, labels = 24, gold(24)
    for row, new in FLIPS.items():
        labels[row] = new
    with open_run("words/flipped", examples=n, labels=LABELS) as run:
        for epoch in range(5):
            run.log_logits(epoch, np.arange(n), scores(n, epoch, 3), labels)
            run.end_epoch(epoch)


def integers(open_run):
    """Integer ids that are not declared, some beyond 32 and 63 bits; probabilities of two classes; measured as mini-batches pass."""
    with open_run("integers", mode="train-forward") as run:
        for epoch in range(3):
            p = share(np.arange(len(WIDE)), epoch, 1)
            run.log_probs(epoch, np.array(WIDE, "u8"), np.stack([1 - p, p], axis=1), [0, 1, 1, 0, 1])
            run.end_epoch(epoch)


def texts(open_run):
    """Ids that are texts, columns of the user's own, names of classes."""
    n = len(TEXTS)
    with open_run("texts", labels=LABELS) as run:
        for epoch in range(4):
            run.log_logits(epoch, TEXTS, scores(n, epoch, 3, 2), gold(n), columns={"grad_norm": share(np.arange(n), epoch, 3), "length": np.arange(n, dtype="f4")})
            run.end_epoch(epoch)


def given(open_run):
    """Nothing but p(gold) and correct, in more than one chunk. The epochs are few, and the values repeat."""
    rows = np.arange(CHUNKS)
    with open_run("given", examples=CHUNKS) as run:
        for epoch in range(2):
            p = ((rows + epoch) % 8).astype("f4") / 8
            for part in np.array_split(rows, 4):
                run.log_gold(epoch, part, p[part], p[part] > 0.5)
            run.end_epoch(epoch)


def losses(open_run):
    """Losses of any task."""
    with open_run("losses") as run:
        for epoch in range(4):
            run.log_loss(epoch, np.arange(10), 3 * share(np.arange(10), epoch, 4) / (1 + epoch), weight=np.ones(10, "f4"))
            run.end_epoch(epoch)


def regression(open_run):
    with open_run("regression") as run:
        for epoch in range(4):
            target = np.arange(12) * 0.25
            run.log_regression(epoch, np.arange(12), target + (share(np.arange(12), epoch, 5) - 0.5) / (1 + epoch), target)
            run.end_epoch(epoch)


def resumed(open_run):
    """Two sessions, of which the second observes an epoch again, with another label of one example."""
    for first, last in ((0, 2), (1, 4)):
        with open_run("resumed", resume=True) as run:
            labels = gold(9)
            labels[2] = first
            for epoch in range(first, last):
                run.log_logits(epoch, np.arange(9) + 100, scores(9, epoch, 3, first), labels)
                run.end_epoch(epoch)


def ranks(open_run):
    """Two ranks of one job."""
    with open_run("ranks", group="job 7", rank=0) as zero, open_run("ranks", group="job 7", rank=1) as one:
        for epoch in range(3):
            for rank, run in enumerate((zero, one)):
                rows = np.arange(rank, 10, 2)
                run.log_logits(epoch, rows, scores(10, epoch, 3, 6)[rows], gold(10)[rows])
                run.end_epoch(epoch)


def explained(open_run):
    """Texts of examples: two fields, one example without any, one whose text was replaced by a later session."""
    for session in range(2):
        with open_run("explained", examples=6, labels=LABELS, resume=True) as run:
            rows = [0, 1, 3, 4, 5] if session == 0 else [3]
            run.log_examples(rows, text=[f"{TEXTS[row]} of session {session}" for row in rows], note=["" if row == 4 else f"note {row}\n日本" for row in rows])
            run.log_logits(session, np.arange(6), scores(6, session, 3, 9), gold(6))
            run.end_epoch(session)


RUNS = {"words/declared": declared, "words/flipped": flipped, "integers": integers, "texts": texts, "given": given, "losses": losses, "regression": regression,
        "resumed": resumed, "ranks": ranks, "explained": explained}


def interrupted(run, epochs):
    """The run whose collector is killed after epoch 1: epochs 0 and 1 are in its store, and the rest is in a spool file."""
    for epoch in epochs:
        run.log_logits(epoch, np.arange(12), scores(12, epoch, 3, 7), gold(12))
        run.end_epoch(epoch)


def alone(name, ids, folder, endpoint):
    """A run for which no collector ever answered: all of it is in a spool file."""
    with portolan.Run(name, endpoint=endpoint, spool=folder) as run:
        for epoch in range(3):
            run.log_logits(epoch, ids, scores(len(ids), epoch, 3, 8), gold(len(ids)))
            run.end_epoch(epoch)
