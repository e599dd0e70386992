"""What the log calls take, in every form, and what they refuse, by name."""

import array
import math
import sys

import numpy as np
import pytest

import portolan

LOGITS = np.array([[2.0, -1.0, 0.5], [0.25, 0.25, 3.0], [-4.0, 1.0, 1.0], [0.0, 0.5, -0.5]])
GOLD = np.array([0, 1, 1, 2])
IDS = np.array([10, 3, 7, 250])


def softmax(z):
    p = np.exp(z - z.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


P_GOLD = softmax(LOGITS)[np.arange(4), GOLD]
CORRECT = LOGITS.argmax(axis=1) == GOLD  # row 2 ties: the lowest index wins


class Tensor:
    """Behaves like a torch tensor: no buffer, .detach().cpu().numpy(), which half precision and graphs refuse."""

    def __init__(self, values, dtype="torch.float32", graph=True):
        self.values, self.dtype, self.graph = np.asarray(values), dtype, graph

    def detach(self):
        return Tensor(self.values, self.dtype, graph=False)

    def float(self):
        return Tensor(self.values.astype("f4"), "torch.float32", self.graph)

    def cpu(self):
        return self

    def numpy(self):
        if self.graph:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad")
        if self.dtype == "torch.bfloat16":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.values

    def tolist(self):
        return self.values.tolist()


class OnlyArray:
    """Like a data frame's column."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None):
        return self.values


def every_second(values):
    """The same values, strided."""
    wide = np.zeros((2 * values.shape[0], 3 * values.shape[1]), dtype=values.dtype)
    wide[::2, 1::3] = values
    return wide[::2, 1::3]


def unaligned(values):
    raw = np.zeros(values.nbytes + 1, dtype="u1")
    view = raw[1:].view(values.dtype).reshape(values.shape)
    view[...] = values
    return view


def read_only(values):
    values = values.copy()
    values.setflags(write=False)
    return values


FORMS = {
    "float64": LOGITS,
    "float32": LOGITS.astype("f4"),
    "float16": LOGITS.astype("f2"),
    "fortran": np.asfortranarray(LOGITS),
    "strided": every_second(LOGITS),
    "reversed": LOGITS[::-1, ::-1].copy()[::-1, ::-1],
    "unaligned": unaligned(LOGITS),
    "read-only": read_only(LOGITS),
    "lists": LOGITS.tolist(),
    "tuples": tuple(map(tuple, LOGITS.tolist())),
    "list of rows": list(LOGITS.astype("f4")),
    "list of tensors": [Tensor(row, graph=False).numpy() for row in LOGITS],
    "memoryview": memoryview(array.array("d", LOGITS.ravel())).cast("B").cast("d", (4, 3)),
    "tensor": Tensor(LOGITS.astype("f4")),
    "bfloat16 tensor": Tensor(LOGITS.astype("f4"), "torch.bfloat16"),
    "float16 tensor": Tensor(LOGITS.astype("f2"), "torch.float16"),
    "__array__": OnlyArray(LOGITS),
    "object array": LOGITS.astype(object),
}
INTEGER_TYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]


def check(epoch, store, ids=IDS, p=P_GOLD, correct=CORRECT, gold=GOLD):
    """What arrived is what an independent softmax says."""
    m = portolan.measures("run", store=store, epochs=(epoch, epoch + 1))
    order = np.argsort(ids)
    assert m["id"].tolist() == np.asarray(ids)[order].tolist()
    assert np.abs(m["confidence"] - np.asarray(p)[order]).max() < 1e-6
    assert m["correctness"].tolist() == np.asarray(correct, dtype=float)[order].tolist()
    assert m["gold"].tolist() == np.asarray(gold)[order].tolist()


def test_every_form_of_scores_arrives(store):
    with portolan.Run("run", store=store) as run:
        for epoch, values in enumerate(FORMS.values()):
            run.log_logits(epoch, IDS, values, GOLD)
            run.end_epoch(epoch)
    for epoch in range(len(FORMS)):
        check(epoch, store)


def test_probabilities_arrive(store):
    probs = softmax(LOGITS)
    with portolan.Run("run", store=store) as run:
        for epoch, values in enumerate([probs, probs.astype("f4"), probs.tolist(), Tensor(probs.astype("f4"))]):
            run.log_probs(epoch, IDS, values, GOLD)
    for epoch in range(4):
        check(epoch, store)


def test_every_integer_type_arrives(store):
    forms = [np.dtype(t) for t in INTEGER_TYPES]
    with portolan.Run("run", store=store) as run:
        for epoch, dtype in enumerate(forms):
            ids = np.array([10, 3, 7, 100]).astype(dtype)
            run.log_logits(epoch, ids, LOGITS, GOLD.astype(dtype))
            run.log_gold(100 + epoch, ids[::-1], P_GOLD[::-1], CORRECT[::-1].astype(dtype), gold=GOLD[::-1].astype(dtype))
        run.log_logits(50, [10, 3, 7, 100], LOGITS, GOLD.tolist())
        run.log_logits(51, array.array("H", [10, 3, 7, 100]), LOGITS, Tensor(GOLD, "torch.int64"))
        run.log_logits(52, IDS.reshape(4, 1) * 0 + [[10], [3], [7], [100]], LOGITS, GOLD.reshape(4, 1))
        run.log_gold(53, [10, 3, 7, 100], P_GOLD.tolist(), CORRECT.tolist(), gold=None)
        run.log_gold(54, [10, 3, 7, 100], Tensor(P_GOLD.astype("f4"), "torch.bfloat16"), Tensor(CORRECT), gold=GOLD)
    for epoch in [*range(8), *range(100, 108), *range(50, 55)]:
        check(epoch, store, ids=[10, 3, 7, 100])


def test_sigmoid_of_one_column(store):
    z = np.array([1.5, -2.0, 0.25, -0.5])
    gold = np.array([1, 0, 0, 1])
    p = 1 / (1 + np.exp(-z))
    p_gold = np.where(gold == 1, p, 1 - p)
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, IDS, z, gold)
        run.log_logits(1, IDS, z.reshape(4, 1), gold.astype(bool))
        run.log_logits(2, IDS, z.tolist(), gold)
        run.log_probs(3, IDS, p, gold)
        run.log_probs(4, IDS, p.reshape(4, 1).tolist(), gold)
    for epoch in range(5):
        check(epoch, store, p=p_gold, correct=p_gold > 0.5, gold=gold)


def test_minus_infinity_masks_a_choice(store):
    masked = LOGITS.copy()
    masked[0, 2] = masked[3, 0] = -np.inf
    p = softmax(masked)[np.arange(4), GOLD]
    with portolan.Run("run", store=store, strict=True) as run:
        run.log_logits(0, IDS, masked, GOLD)
    check(0, store, p=p, correct=masked.argmax(axis=1) == GOLD)


def test_nan_rows_are_left_out_and_counted(store, capfd):
    broken = LOGITS.copy()
    broken[1, 0] = np.nan
    broken[3, 1] = np.inf
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, IDS, broken, GOLD)
        run.log_logits(1, IDS, broken, GOLD)
    stats = run.stats()
    assert (stats["logged"], stats["refused"], stats["acknowledged"]) == (4, 4, 4)
    check(0, store, ids=IDS[::2], p=P_GOLD[::2], correct=CORRECT[::2], gold=GOLD[::2])
    assert capfd.readouterr().err.count("refused") <= 1, "a warning is said once"


def test_logits_where_probabilities_belong(store, capfd):
    with portolan.Run("run", store=store) as run:
        run.log_probs(0, IDS, LOGITS, GOLD)
    assert run.stats()["logged"] == 0 and "are they logits, for log_logits?" in capfd.readouterr().err


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_probabilities_where_logits_belong(store, capfd, dtype):
    probs = softmax(LOGITS).astype(dtype)
    masked = probs.copy()
    masked[0] = [1, 0, -np.inf]
    with portolan.Run("run", store=store, strict=True) as run:
        run.log_logits(0, IDS, probs, GOLD)
        run.log_logits(1, IDS, probs, GOLD)
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("portolan: run run, epoch 0: the logits are probabilities, within 0 and 1, each row with the sum 1: ") and "log_probs" in line
    check(0, store, p=softmax(probs.astype(float))[np.arange(4), GOLD], correct=CORRECT)
    with portolan.Run("one by one", store=store) as run:
        for row in range(4):
            run.log_logits(0, IDS[row : row + 1], probs[row : row + 1], GOLD[row : row + 1])
    assert capfd.readouterr().err.count("log_probs") == 1
    said = {"logits": LOGITS, "one row of four": np.concatenate([probs[:3], LOGITS[3:].astype(dtype)]), "masked": masked, "a sigmoid": probs[:, :1],
            "near": probs + np.array(0.02, dtype), "later": probs}
    for name, logits in said.items():
        with portolan.Run(name, store=store) as run:
            if name == "later":
                run.log_logits(0, IDS, LOGITS, GOLD)
            run.log_logits(1, IDS, logits, GOLD % logits.shape[1])
    assert capfd.readouterr().err == ""


def test_a_number_of_classes_that_changes(store, capfd):
    wider = np.concatenate([LOGITS, LOGITS[:, :1]], axis=1)
    with portolan.Run("run", store=store, strict=True) as run:
        run.log_logits(0, IDS, LOGITS, GOLD)
        run.log_logits(1, IDS, wider, GOLD)
        run.log_probs(2, IDS, softmax(LOGITS), GOLD)
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("portolan: run run, epoch 1: the scores have 4 classes, and had 3 before. ") and "(said once)" in line
    assert run.stats()["logged"] == 12
    with portolan.Run("named", store=store, labels=["a", "b"]) as run:
        run.log_logits(0, IDS, LOGITS, GOLD)
    assert "run named, epoch 0: the scores have 3 classes, and the run has 2 labels. " in capfd.readouterr().err
    with portolan.Run("one label", store=store, labels=["yes"]) as run:
        run.log_logits(0, IDS, LOGITS[:, :1], GOLD % 2)
    assert "the scores have 2 classes, and the run has 1 labels. " in capfd.readouterr().err
    for name, labels, some in (("binary", ["no", "yes"], [LOGITS[:, :1], LOGITS[:, :2]]), ("same", list("abc"), [LOGITS, softmax(LOGITS)])):
        with portolan.Run(name, store=store, labels=labels) as run:
            for epoch, scores in enumerate(some):
                (run.log_probs if epoch and name == "same" else run.log_logits)(epoch, IDS, scores, [0, 1, 1, 0])
            run.log_gold(2, IDS, P_GOLD, CORRECT)
    assert capfd.readouterr().err == ""


def test_strict_raises_after_logging_the_good_rows(store):
    broken = LOGITS.copy()
    broken[1, 0] = np.nan
    with portolan.Run("run", store=store, strict=True) as run:
        with pytest.raises(portolan.RowsRefused):
            run.log_logits(0, IDS, broken, GOLD)
        with pytest.raises(ValueError):
            run.log_logits(1, IDS, broken, GOLD)
    keep = [0, 2, 3]
    check(0, store, ids=IDS[keep], p=P_GOLD[keep], correct=CORRECT[keep], gold=GOLD[keep])


STRINGS = ["b", "é-ü", "日本", "a" * 255]


@pytest.mark.parametrize("ids", [
    STRINGS,
    tuple(STRINGS),
    np.array(STRINGS),
    np.array(STRINGS, dtype=object),
    [s.encode() for s in STRINGS[:3]] + [STRINGS[3].encode()],
    OnlyArray(np.array(STRINGS, dtype=object)),
], ids=["list", "tuple", "numpy U", "numpy object", "bytes", "__array__"])
def test_string_ids(store, ids):
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, ids, LOGITS, GOLD)
    m = portolan.measures("run", store=store)
    order = sorted(range(4), key=lambda i: STRINGS[i].encode())
    assert m["id"].tolist() == [STRINGS[i] for i in order]
    assert np.abs(m["confidence"] - P_GOLD[order]).max() < 1e-6


def test_bytes_array_ids(store):
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, np.array([b"x", b"yy", b"z", b"w"]), LOGITS, GOLD)
    assert portolan.measures("run", store=store)["id"].tolist() == ["w", "x", "yy", "z"]


def test_nothing_to_log(store):
    with portolan.Run("run", store=store) as run:
        run.log_logits(0, [], [], [])
        run.log_logits(0, np.zeros(0, int), np.zeros((0, 3)), np.zeros(0, int))
        run.log_gold(0, [], [], [])
        assert run.stats()["logged"] == 0


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    with portolan.Run("run", store=tmp_path_factory.mktemp("arguments") / "store") as run:
        yield run
        assert run.stats()["logged"] == 0, "a refused call logs nothing"


WRONG = [
    # error, words of its message, epoch, ids, logits, gold
    (ValueError, "gold has 3 entries, logits 4 rows", 0, IDS, LOGITS, GOLD[:3]),
    (ValueError, "ids has 5 entries, logits 4 rows", 0, range(5), LOGITS, GOLD),
    (ValueError, "ids has 3 entries, logits 4 rows", 0, ["a", "b", "c"], LOGITS, GOLD),
    (ValueError, "logits", 0, [1], np.zeros((1, 2, 3)), [0]),
    (ValueError, "logits", 0, [1], np.zeros((1, 0)), [0]),
    (ValueError, "logits", 0, [1], np.array(1.0), [0]),
    (ValueError, r"logits\[1\]", 0, [1, 2], [[1, 2], [1]], [0, 0]),
    (ValueError, r"logits\[1\]", 0, [1, 2], [[1, 2], 1], [0, 0]),
    (ValueError, r"logits\[0\]", 0, [1], [[]], [0]),
    (ValueError, "gold must have the shape", 0, [1], [[1, 2]], np.zeros((1, 2), int)),
    (ValueError, "ids must have the shape", 0, np.zeros((2, 2), int), LOGITS[:2], GOLD[:2]),
    (TypeError, "logits must be float", 0, IDS, LOGITS.astype(">f8"), GOLD),
    (TypeError, "logits must be float", 0, IDS, LOGITS.astype(int), GOLD),
    (TypeError, "logits must be float", 0, IDS, LOGITS.astype(complex), GOLD),
    (TypeError, "logits", 0, [1], 3.0, [0]),
    (TypeError, "logits", 0, [1], "3.0", [0]),
    (TypeError, r"logits\[0\]", 0, [1], [["1", 2]], [0]),
    (TypeError, r"logits\[1\]", 0, [1, 2], [1, [2]], [0, 0]),
    (TypeError, r"ids must be integers .*: if they are whole numbers, pass ids.astype\(int\), of a tensor ids.long\(\)", 0, IDS.astype(float), LOGITS, GOLD),
    (TypeError, "ids must be integers", 0, IDS.astype(">i8"), LOGITS, GOLD),
    (TypeError, "ids", 0, "abcd", LOGITS, GOLD),
    (TypeError, "ids", 0, b"abcd", LOGITS, GOLD),
    (TypeError, "ids.*masked", 0, np.ma.array(IDS, mask=[0, 1, 0, 0]), LOGITS, GOLD),
    (TypeError, "logits.*masked", 0, IDS, np.ma.array(LOGITS, mask=LOGITS < 0), GOLD),
    (TypeError, "gold.*masked", 0, IDS, LOGITS, np.ma.array(GOLD, mask=[0, 1, 0, 0])),
    (ValueError, r"logits\[1\]", 0, [1, 2], [[1, 2], [10**400, 1]], [0, 0]),
    (TypeError, "ids", 0, {1, 2, 3, 4}, LOGITS, GOLD),
    (TypeError, "ids", 0, {1: 1, 2: 2, 3: 3, 4: 4}, LOGITS, GOLD),
    (TypeError, "ids", 0, iter(IDS), LOGITS, GOLD),
    (TypeError, "ids", 0, None, LOGITS, GOLD),
    (TypeError, r"ids\[1\].*one kind", 0, [1, "b", 3, 4], LOGITS, GOLD),
    (TypeError, r"ids\[1\].*one kind", 0, ["a", 2, 3, 4], LOGITS, GOLD),
    (TypeError, r"ids\[2\]", 0, [1, 2, 3.5, 4], LOGITS, GOLD),
    (TypeError, "ids", 0, np.array(["2020-01-01"], dtype="M8[D]"), LOGITS[:1], GOLD[:1]),
    (ValueError, "ids", 0, [1, 2, -3, 4], LOGITS, GOLD),
    (ValueError, "ids", 0, np.array([1, 2, -3, 4], dtype="i2"), LOGITS, GOLD),
    (ValueError, "ids", 0, [1, 2, 2**64, 4], LOGITS, GOLD),
    (ValueError, "ids", 0, [-1, 2, 2**63, 4], LOGITS, GOLD),
    (ValueError, r"ids\[1\]", 0, ["a", "\ud800", "b", "c"], LOGITS, GOLD),
    (ValueError, "id", 0, ["a", "", "b", "c"], LOGITS, GOLD),
    (ValueError, "id", 0, ["a", "b" * 256, "b", "c"], LOGITS, GOLD),
    (ValueError, "id", 0, ["a", "new\nline", "b", "c"], LOGITS, GOLD),
    (ValueError, "id", 0, ["a", "nul\0", "b", "c"], LOGITS, GOLD),
    (ValueError, "gold.*2", 0, IDS, LOGITS, [0, 1, 3, 2]),
    (ValueError, "gold.*1", 0, IDS, LOGITS, [0, -1, 1, 2]),
    (ValueError, "gold.*3", 0, IDS, LOGITS[:, 0], [0, 1, 1, 2]),
    (TypeError, r"gold must be integers.*if they are whole numbers, pass gold.astype\(int\), of a tensor gold.long\(\)", 0, IDS, LOGITS,
     GOLD.astype(float)),
    (TypeError, r"gold\[0\] must be an integer, not 0.0: if they are whole numbers, pass .*gold.long\(\)", 0, IDS, LOGITS, GOLD.astype(float).tolist()),
    (TypeError, "gold must be integers.*soft labels.*no gold probability; pass the class numbers", 0, IDS, LOGITS, GOLD + 0.25),
    (ValueError, r"gold must have the shape \(n,\); it has the shape \(4, 3\): soft labels.*gold.argmax\(1\)", 0, IDS, LOGITS, LOGITS),
    (TypeError, r"gold\[0\] must be an integer, not 0.9: soft labels.*no gold probability", 0, IDS, LOGITS, [0.9, 0.1, 0.5, 0.5]),
    (TypeError, r"gold\[0\] must be an integer, not 'cat': pass the numbers of the classes", 0, IDS, LOGITS, ["cat", "dog", "cat", "dog"]),
    (TypeError, r"ids\[1\] must be an integer, not None: an id is an integer from 0 on, or a string", 0, [1, None, 3, 4], LOGITS, GOLD),
    (TypeError, r"gold\[0\] must be an integer, not \[0.9, 0.1\]: soft labels", 0, IDS, LOGITS, [[0.9, 0.1]] * 4),
    (TypeError, r"gold\[3\]", 0, IDS, LOGITS, [0, 1, 1, None]),
    (TypeError, "gold", 0, IDS, LOGITS, None),
    (ValueError, "epoch", -1, IDS, LOGITS, GOLD),
    (ValueError, "epoch", 2**32, IDS, LOGITS, GOLD),
    (ValueError, "epoch", 2**32 - 1, IDS, LOGITS, GOLD),
    (TypeError, "epoch", 0.5, IDS, LOGITS, GOLD),
    (TypeError, "epoch", "0", IDS, LOGITS, GOLD),
]


@pytest.mark.parametrize("error, words, epoch, ids, logits, gold", WRONG, ids=range(len(WRONG)))
def test_wrong_arguments_are_named(run, error, words, epoch, ids, logits, gold):
    with pytest.raises(error, match=words):
        run.log_logits(epoch, ids, logits, gold)


@pytest.mark.parametrize("error, words, gold_probs, correct, gold", [
    (ValueError, "correct has 3 entries, gold_probs 4 rows", P_GOLD, CORRECT[:3], None),
    (ValueError, "correct", P_GOLD, [0, 1, 2, 0], None),
    (ValueError, "correct: row 2 has 256", P_GOLD, np.array([0, 1, 256, 0]), None),
    (ValueError, "correct: row 2 has -1", P_GOLD, np.array([0, 1, -1, 0], dtype="i1"), None),
    (ValueError, "correct: row 1 has -5", P_GOLD, np.array([0, -5, -1, 0], dtype="i2"), None),
    (ValueError, "correct: row 3 has 7", P_GOLD, np.array([0, 1, 0, 7], dtype="u4"), None),
    (ValueError, "correct: row 3 has 7", P_GOLD, np.array([0, 1, 0, 7], dtype="u1"), None),
    (TypeError, "correct", P_GOLD, P_GOLD, None),
    (TypeError, "correct", P_GOLD, None, None),
    (ValueError, "gold has 2 entries", P_GOLD, CORRECT, [0, 1]),
    (ValueError, "gold_probs must have the shape", LOGITS, CORRECT, None),
])
def test_wrong_arguments_of_log_gold_are_named(run, error, words, gold_probs, correct, gold):
    with pytest.raises(error, match=words):
        run.log_gold(0, IDS, gold_probs, correct, gold=gold)


@pytest.mark.parametrize("error, words, options", [
    (ValueError, "keys", {"keys": ""}),
    (ValueError, "keys are for an endpoint tcp", {"keys": "DIR"}),
    (ValueError, "spool_bytes", {"spool_bytes": 0}),
    (ValueError, "spool", {"spool": ""}),
    (ValueError, "store", {"store": ""}),
    (ValueError, "store holds a NUL", {"store": "a\0b"}),
    (TypeError, "store", {"store": 5}),
    (TypeError, "group", {"group": 5}),
    (ValueError, "group holds a NUL", {"group": "a\0b"}),
    (TypeError, "endpoint", {"store": None, "endpoint": 5}),
    (ValueError, "endpoint is empty", {"store": None, "endpoint": ""}),
    (ValueError, r"labels\[1\]", {"labels": ["a", "\ud800"]}),
    (ValueError, "config", {"config": {"a": "\ud800"}}),
    (TypeError, "resume", {"resume": "no"}),
    (TypeError, "overwrite", {"overwrite": "no"}),
    (TypeError, "strict", {"strict": 2}),
    (TypeError, "rank", {"rank": 1.5, "group": "g"}),
    (TypeError, "open_timeout", {"open_timeout": "5"}),
    (ValueError, "mode", {"mode": ["x"]}),
    (ValueError, "mode", {"mode": "sometimes"}),
    (ValueError, "when_full", {"when_full": "panic"}),
    (ValueError, "examples", {"examples": 0}),
    (TypeError, "examples", {"examples": "many"}),
    (TypeError, "labels", {"labels": "ab"}),
    (TypeError, r"labels\[1\]", {"labels": ["a", 1]}),
    (TypeError, "config", {"config": [1]}),
    (TypeError, "config", {"config": {"a": object()}}),
    (ValueError, "config", {"config": {"a": math.nan}}),
    (ValueError, "rank", {"rank": -1}),
    (ValueError, "store or endpoint", {"endpoint": "tcp://127.0.0.1:1"}),
    (ValueError, "open_timeout", {"open_timeout": -1}),
])
def test_wrong_options_are_named(tmp_path, error, words, options):
    with pytest.raises(error, match=words):
        portolan.Run("run", **{"store": tmp_path / "store", **options})
    assert not (tmp_path / "store").exists()


def test_rank_comes_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("RANK", "two")
    with pytest.raises(ValueError, match="RANK"):
        portolan.Run("run", store=tmp_path / "store", group="job")


@pytest.mark.parametrize("name", [5, None, b"run"])
def test_names_that_are_no_strings(tmp_path, name):
    with pytest.raises(TypeError, match="name"):
        portolan.Run(name, store=tmp_path / "store")


@pytest.mark.parametrize("epochs", [3, (1, 2, 3), ("1", "2"), 1.5])
def test_wrong_epochs(tmp_path, epochs):
    with pytest.raises(TypeError, match="epochs"):
        portolan.measures("run", store=tmp_path, epochs=epochs)


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 256, "nul\0"])
def test_wrong_names(tmp_path, name):
    with pytest.raises(ValueError):
        portolan.Run(name, store=tmp_path / "store")


def test_a_collector_that_is_not_there():
    with pytest.raises(portolan.NoCollector, match="127.0.0.1:1"):
        portolan.Run("run", endpoint="tcp://127.0.0.1:1", open_timeout=0.3)


CALLS = {
    "logits": lambda run, epoch, columns: run.log_logits(epoch, IDS, LOGITS, GOLD, columns=columns),
    "probs": lambda run, epoch, columns: run.log_probs(epoch, IDS, softmax(LOGITS), GOLD, columns=columns),
    "gold_probs": lambda run, epoch, columns: run.log_gold(epoch, IDS, P_GOLD, CORRECT, columns=columns),
}


@pytest.mark.parametrize("call", CALLS)
def test_columns_of_ones_own(store, call):
    """They are in the dynamics, and their means are measures, over everything that has been recorded; also where only some rows have them."""
    with portolan.Run("run", store=store) as run:
        for epoch, lengths in enumerate(([4, 9, 2, 7], [6, 9, 0, 8])):
            CALLS[call](run, epoch, {"length": np.array(lengths, "f4"), "share_2": [0.5, 0.25, 1e-3, epoch]})
            run.end_epoch(epoch)
    m = portolan.measures("run", store=store)
    at = [m["id"].tolist().index(one) for one in IDS]
    np.testing.assert_array_equal(m["length"][at], [5, 9, 1, 7.5])
    np.testing.assert_allclose(m["share_2"][at], [0.5, 0.25, 1e-3, 0.5], rtol=1e-7)
    np.testing.assert_allclose(m["confidence"][at], P_GOLD, atol=1e-6)
    assert m["correctness"][at].tolist() == CORRECT.tolist() and ("aum" in m.to_numpy().dtype.names) == (call == "logits")
    d = portolan.dynamics("run", store=store)
    assert sorted(zip(d["epoch"].tolist(), d["length"].tolist())) == [(0, 2), (0, 4), (0, 7), (0, 9), (1, 0), (1, 6), (1, 8), (1, 9)]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("columns, error, message", [
    ({"length": [1.0, 2.0]}, ValueError, "length has 2 entries, {call} 4 rows"),
    ({"length": [None] * 4}, TypeError, r"length\[0\] must be a number, not NoneType"),
    ({"Length": [0.0] * 4}, ValueError, "column 'Length': no name"),
    ({"margin": [0.0] * 4}, ValueError, "column 'margin': a signal has this name"),
    ({"length\0": [0.0] * 4}, ValueError, "has a null character"),
    ([1.0, 2.0, 3.0, 4.0], TypeError, "columns must be a dict of names and values, not list"),
    ({1: [0.0] * 4}, TypeError, "columns: the name 1 must be a str, not int"),
    ({1: np.zeros(4, "f4")}, TypeError, "columns: the name 1 must be a str, not int"),
    ({f"c{i}": [0.0] * 4 for i in range(17)}, ValueError, "columns: there are 17; the limit is 16"),
])
def test_columns_that_are_refused(store, call, columns, error, message):
    with portolan.Run("run", store=store) as run:
        with pytest.raises(error, match=message.replace("{call}", call)):
            CALLS[call](run, 0, columns)
        assert run.stats()["logged"] == 0


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("dtype", ["f2", "i8", "u1", "?"])
def test_columns_of_other_numbers(store, call, dtype):
    """Lengths are whole numbers, and losses may be in half precision."""
    values = np.array([1, 0, 1, 1], dtype)
    with portolan.Run("run", store=store) as run:
        CALLS[call](run, 0, {"length": values, "reversed": values[::-1], "upright": values[:, None]})
    m = portolan.measures("run", store=store)
    at = [m["id"].tolist().index(one) for one in IDS]
    assert m["length"][at].tolist() == m["upright"][at].tolist() == [1, 0, 1, 1] and m["reversed"][at].tolist() == [1, 1, 0, 1]


@pytest.mark.parametrize("call", CALLS)
def test_a_row_with_a_column_that_is_not_finite(store, capfd, call):
    with portolan.Run("run", store=store) as run:
        CALLS[call](run, 0, {"length": [1.0, math.inf, 3.0, math.nan]})
    assert "2 of 4 rows refused; the first, row 1, has a column that is not finite" in capfd.readouterr().err
    assert portolan.measures("run", store=store)["id"].tolist() == [7, 10]


def test_types_are_let_go_of_however_they_are_met(store):
    """The types seen last are remembered, and asking one of them may run code that logs objects of others."""
    run = portolan.Run("run", store=store)

    def log(kinds):
        for kind in kinds:
            run.log_logits(0, IDS, LOGITS.view(kind), GOLD)

    class Asked(type):
        @property
        def mask(cls):
            log(meanwhile)
            raise AttributeError("no mask")

    before, meanwhile, after = ([type("Array", (np.ndarray,), {"__slots__": ()}) for _ in range(10)] for _ in range(3))
    held = [sys.getrefcount(kind) for kind in before + meanwhile]
    with run:
        log(before)
        log([Asked("Array", (np.ndarray,), {"__slots__": ()})])
        log(after)
    assert [sys.getrefcount(kind) for kind in before + meanwhile] == held
