"""portolan.select(): what portolan select prints; and the way back to the dataset, for whatever has positions or ids."""

import json
import os
import subprocess

import numpy as np
import pytest

import portolan

N = 40


def record(store, name="run", ids=range(N), seed=0, labels=None):
    rng = np.random.default_rng(seed)
    ids, gold = list(ids), rng.integers(0, 2, N)
    with portolan.Run(name, store=store, labels=labels) as run:
        for epoch in range(4):
            logits = rng.normal(size=(N, 2))
            logits[np.arange(N), gold] += epoch / 2
            run.log_logits(epoch, ids, logits, gold)
            run.end_epoch(epoch)


def printed(store, *words):
    done = subprocess.run([os.environ["PORTOLAN"], "select", "--store", store, *map(str, words)], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("ids", [range(N), [f"wört, {i}" for i in range(N)]], ids=["integers", "texts"])
@pytest.mark.parametrize("given, words", [
    ({"by": "ambiguous"}, ["--by", "ambiguous"]),
    ({"by": "hard-to-learn", "fraction": 0.33}, ["--by", "hard-to-learn", "--fraction", 0.33]),
    ({"by": "confidence:desc", "count": 7, "per_class": True}, ["--by", "confidence:desc", "--count", 7, "--per-class"]),
    ({"by": "variability:desc", "threshold": 0.2}, ["--by", "variability:desc", "--threshold", 0.2]),
    ({"by": "random", "count": 9, "seed": 3, "stratified": True}, ["--by", "random", "--count", 9, "--seed", 3, "--stratified"]),
    ({"by": "ambiguous", "count": 10, "mix": {"easy-to-learn": 0.2, "random": 0.1}},
     ["--by", "ambiguous", "--count", 10, "--mix", "easy-to-learn=0.2", "--mix", "random=0.1"]),
    ({"by": "easy-to-learn", "count": 10, "both_ends": 0.7, "epochs": (1, None)},
     ["--by", "easy-to-learn", "--count", 10, "--both-ends", 0.7, "--epochs", "1:"]),
    ({"by": "region:ambiguous", "regions": (0.2, 0.5)}, ["--by", "region:ambiguous", "--regions", "0.2,0.5"]),
    ({"by": "ambiguous", "fraction": 0.33, "sizes": "published"}, ["--by", "ambiguous", "--fraction", 0.33, "--sizes", "published"]),
    ({"by": "ambiguous", "fraction": 0.2, "offset": 0.1}, ["--by", "ambiguous", "--fraction", 0.2, "--offset", 0.1]),
    ({"by": "group:ambiguous", "count": 5, "offset": 3}, ["--by", "group:ambiguous", "--count", 5, "--offset", 3]),
    ({"by": "ambiguous", "count": "smallest", "per_class": True}, ["--by", "ambiguous", "--count", "smallest", "--per-class"]),
    ({"by": "dual:desc", "fraction": 0.25, "window": 3}, ["--by", "dual:desc", "--fraction", 0.25, "--window", 3]),
    ({"by": "confidence:asc", "count": 10, "strata": 4, "cut": 0.2, "seed": 3},
     ["--by", "confidence:asc", "--count", 10, "--strata", 4, "--cut", 0.2, "--seed", 3]),
    ({"by": "dual-beta", "count": 9, "c_d": 5.5, "window": 2}, ["--by", "dual-beta", "--count", 9, "--c-d", 5.5, "--window", 2]),
    ({"by": "s2l", "count": 9, "clusters": 3, "starts": 2}, ["--by", "s2l", "--count", 9, "--clusters", 3, "--starts", 2]),
    ({"by": "ambiguous", "with_": "again"}, ["--by", "ambiguous", "--with", "again"]),
    ({"by": "confidence:desc", "count": 5, "minus": "again", "minus_epochs": "1:", "never": "next"}, ["--by", "confidence:desc", "--count", 5, "--minus", "again", "--minus-epochs", "1:", "--never", "next"]),
])
def test_it_is_what_the_command_prints(store, ids, given, words):
    record(store, ids=ids)
    record(store, "again", ids=ids, seed=1)
    s = portolan.select("run", store=store, **given)
    assert [str(one) for one in s.ids()] == printed(store, *words, "run") and len(s) > 0
    assert s["id"].tolist() == s.ids() and {type(one) for one in s.ids()} == {type(list(ids)[0])}


def test_the_measures_are_there(store):
    record(store, labels=["cat", "dog"])
    m, s = portolan.measures("run", store=store), portolan.select("run", "ambiguous", count=5, store=store)
    assert s.dtype.names == m.dtype.names
    assert (s == m[np.argsort(-m["variability"], kind="stable")[:5]]).all()
    assert repr(s).startswith("selection from run by ambiguous: 5 examples\n")
    assert len(portolan.select("run", "confidence:desc", threshold=2, store=store)) == 0


def test_what_it_is_made_of(store, tmp_path):
    record(store, labels=["cat", "dog"])
    plain = portolan.select("run", "hard-to-learn", count=20, store=store)
    s = portolan.select("run", "hard-to-learn", count=20, store=store, why=True)
    assert plain.why is None and (s == plain).all() and repr(s) == repr(plain)
    printed(store, "--by", "hard-to-learn", "--count", 20, "--why", "-o", tmp_path / "s.txt", "run")
    assert s.why == json.loads((tmp_path / "s.txt.manifest.json").read_text())["why"]
    assert s.why[0] == {"of": "examples", "name": None, "observed": N, "observed_of": N, "observed_share": 1.0,
                        "chosen": 20, "chosen_of": N, "chosen_share": 20 / N}
    assert [(row["name"], row["chosen"]) for row in s.why if row["of"] == "class"] == [
        (name, (s["gold"] == gold).sum()) for gold, name in enumerate(["cat", "dog"])]
    with pytest.raises(portolan.Error, match=r"^only=\.\.\.: line 1: 'x' is no whole number"):
        portolan.select("run", "random", only=["x"], store=store, why=True)


def test_without_suspects_and_with_corrections(store, tmp_path):
    record(store, labels=["cat", "dog"])
    m = portolan.measures("run", store=store)
    everybody, left = m["id"].tolist(), portolan.select("run", without_suspects=True, store=store)
    assert [str(one) for one in left.ids()] == printed(store, "--without-suspects", "run") and set(left.ids()) <= set(everybody)
    names = ["cat", "dog"]
    (tmp_path / "fixed.tsv").write_text(f"id\told\tnew\n3\t{names[m['gold'][3]]}\t{names[1 - m['gold'][3]]}\n5\t{names[m['gold'][5]]}\tdrop\n")
    with pytest.warns(UserWarning, match="1 label changed, 1 example dropped"):
        s = portolan.select("run", corrections=tmp_path / "fixed.tsv", store=store)
    assert s.ids() == [one for one in everybody if one != 5]
    assert [row["id"] for row in s if row["gold"] != m["gold"][row["id"]]] == [3]


def test_among_some_ids(store, tmp_path):
    record(store, ids=[f"ex-{i}" for i in range(N)])
    some = [f"ex-{i}" for i in range(0, N, 2)]
    (tmp_path / "some.txt").write_text("\n".join(some))
    whole = portolan.select("run", "ambiguous", store=store)
    wanted = [one for one in whole.ids() if one in some]
    for only in (some, np.array(some), tmp_path / "some.txt", str(tmp_path / "some.txt"), whole[np.isin(whole["id"], some)]):
        assert portolan.select("run", "ambiguous", only=only, store=store).ids() == wanted
    rest = portolan.select("run", "ambiguous", exclude=some, store=store).ids()
    assert rest == [one for one in whole.ids() if one not in some]


def test_among_the_examples_of_a_table(store):
    record(store)
    m = portolan.measures("run", store=store)
    low = m[m["confidence"] < np.median(m["confidence"])]
    assert sorted(portolan.select("run", "ambiguous", only=low, store=store).ids()) == low["id"].tolist()
    assert not set(portolan.select("run", "ambiguous", exclude=low, store=store).ids()) & set(low["id"].tolist())
    for ids in (low, low["id"]):
        assert portolan.dynamics("run", ids=ids, epochs="0:1", store=store)["id"].tolist() == low["id"].tolist()
    everything = portolan.select("run", "ambiguous", store=store)
    assert everything.indices(ids=m) == everything.ids() and everything[:3].mask(m).sum() == 3


def test_without_ids(store):
    record(store)
    everything = portolan.select("run", "ambiguous", store=store).ids()
    assert portolan.select("run", "ambiguous", exclude=[], store=store).ids() == everything
    assert portolan.select("run", "ambiguous", exclude=np.array([], "i8"), store=store).ids() == everything
    with pytest.raises(ValueError, match="only holds no ids"):
        portolan.select("run", "ambiguous", only=[], store=store)
    with pytest.raises(ValueError, match="ids holds no ids"):
        portolan.dynamics("run", ids=[], store=store)


@pytest.mark.parametrize("wrong", ["ex-1\nex-2", "ex-1\r", "", "ex-1\x85"])
def test_what_no_id_can_be(store, wrong):
    """A line of the file that is made of them, or two, or none, would be read as others."""
    record(store, ids=[f"ex-{i}" for i in range(N)])
    with pytest.raises(ValueError, match="which is no id"):
        portolan.select("run", "ambiguous", only=["ex-5", wrong], store=store)
    with pytest.raises(ValueError, match="which is no id"):
        portolan.dynamics("run", ids=[wrong], store=store)


def test_what_is_said_of_ids_names_the_argument(store):
    record(store)
    with pytest.raises(portolan.Error, match=r"^only=\.\.\.: line 2: 'x' is no whole number"):
        portolan.select("run", "ambiguous", only=["1", "x"], store=store)
    with pytest.warns(UserWarning, match=r"1 of the 2 ids in ids=\.\.\., '99' in line 2 the first"):
        portolan.dynamics("run", ids=[3, 99], store=store).to_numpy()


def test_within_a_selection_of_the_page(store, tmp_path):
    record(store)
    selection = {"filters": {"id": {"in": [3, 1, 7]}}}
    (tmp_path / "selection.json").write_text(json.dumps(selection))
    for within in (selection, tmp_path / "selection.json"):
        assert portolan.select("run", within=within, store=store).ids() == [1, 3, 7]
        assert set(portolan.select("run", "ambiguous", count=2, within=within, store=store).ids()) < {1, 3, 7}


def test_k_center_by_an_array(store, tmp_path):
    record(store)
    X = np.arange(N, dtype="f4").reshape(-1, 1)
    np.save(tmp_path / "X.npy", X)
    for features in (X, X[::-1][::-1], tmp_path / "X.npy"):
        assert portolan.select("run", "k-center", count=2, features=features, store=store).ids() == [0, N - 1]
    assert portolan.select("run", "k-center", count=2, features=X, feature_ids=list(range(N))[::-1], store=store).ids() == [0, N - 1]


def test_an_open_run(store):
    with portolan.Run("open", store=store) as run:
        run.log_gold(0, [4, 5], [0.1, 0.9], [False, True])
        assert portolan.select(run, "hard-to-learn").ids() == [4, 5]


def test_what_is_refused_is_said_by_the_program(store):
    record(store)
    with pytest.raises(portolan.Error, match="ambigous"):
        portolan.select("run", "ambigous", store=store)
    with pytest.raises(portolan.Error, match="fraction"):
        portolan.select("run", "ambiguous", fraction=33, store=store)
    with pytest.raises(portolan.Error, match="which rule"):
        portolan.select("run", count=3, store=store)
    with pytest.raises(TypeError, match="fraction must be a number"):
        portolan.select("run", "ambiguous", fraction=[0.1], store=store)
    with pytest.raises(TypeError, match="per_class"):
        portolan.select("run", "ambiguous", fraction=0.1, per_class="no", store=store)


@pytest.fixture
def texts(store):
    """Ids ex-0, ex-1, ...; a selection of six."""
    record(store, "texts", ids=[f"ex-{i}" for i in range(N)])
    return portolan.select("texts", "hard-to-learn", count=6, store=store)


@pytest.fixture
def numbers(store):
    record(store, "numbers")
    return portolan.select("numbers", "hard-to-learn", count=6, store=store)


def test_positions_are_the_ids_that_were_declared(numbers):
    X = np.arange(N) * 10
    assert numbers.indices(X) == numbers.indices() == numbers.ids()
    assert (X[numbers.indices(X)] == numbers["id"] * 10).all()
    assert all(type(one) is int for one in numbers.indices(X))
    with pytest.raises(ValueError, match=f"no position in a dataset of {max(numbers.ids())} examples, {max(numbers.ids())} the first: say which ids"):
        numbers.indices(list(range(max(numbers.ids()))))


def test_positions_of_ids(texts):
    order = np.random.default_rng(1).permutation(N)
    shuffled = [f"ex-{i}" for i in order]
    rows = [{"guid": one, "text": "…"} for one in shuffled]
    columns = {"guid": np.array(shuffled), "text": ["…"] * N}
    for got in (texts.indices(ids=shuffled), texts.indices(rows, ids=shuffled), texts.indices(rows, ids="guid"), texts.indices(columns, ids="guid"),
                texts.indices(ids=np.array(shuffled)), texts.indices(ids=tuple(shuffled))):
        assert [shuffled[i] for i in got] == texts.ids()


def test_ids_that_cannot_be_matched(texts, numbers):
    known = [f"ex-{i}" for i in range(N)]
    with pytest.raises(ValueError, match=r"run's ids are texts, as 'ex-\d+', and of this dataset's examples only the positions are known"):
        texts.indices(range(N))
    with pytest.raises(ValueError, match=r"the run's ids are texts, as 'ex-\d+', and those given are integers, as 0"):
        texts.indices(ids=range(N))
    with pytest.raises(ValueError, match="the run's ids are integers, as .*, and those given are texts"):
        numbers.mask([str(i) for i in range(N)])
    missing = texts.ids()[2]
    with pytest.raises(ValueError, match=f"1 of the 6 selected ids is not among the dataset's 39, '{missing}' the first"):
        texts.indices(ids=[one for one in known if one != missing])
    with pytest.raises(ValueError, match=f"id '{missing}' stands more than once in the dataset"):
        texts.indices(ids=[*known, missing])
    with pytest.raises(ValueError, match="there are 39 ids for 40 examples"):
        texts.indices(range(N), ids=known[1:])
    with pytest.raises(ValueError, match="no such column; it has guid, text"):
        texts.indices({"guid": known, "text": known}, ids="id")
    with pytest.raises(ValueError, match="the dataset's examples have no entry of this name"):
        texts.indices([{"guid": one} for one in known], ids="id")
    assert len(texts.indices(ids=[*known, "other", "other"])) == 6, "another one twice is no matter"


def test_masks(texts, numbers):
    known = np.array([f"ex-{i}" for i in range(N)])
    mask = texts.mask(known)
    assert mask.dtype == bool and mask.shape == (N,) and set(known[mask]) == set(texts.ids())
    assert (np.flatnonzero(numbers.mask(np.arange(N))) == np.sort(numbers["id"])).all()
    part = sorted(numbers.ids())[:2]
    assert numbers.mask(part).tolist() == [True, True] and numbers.mask([]).tolist() == []
    with pytest.raises(ValueError, match="none of the 6 selected ids is among the 2 given"):
        texts.mask(["a", "b"])


def test_a_part_of_a_selection_is_one(numbers):
    assert numbers[:2].indices() == numbers.ids()[:2]


def test_the_common_trend_is_warned_of(store):
    """As the commands say it: what a ranking by variability shows, and which epochs `auto` takes."""
    rng = np.random.default_rng(0)
    with portolan.Run("scratch", store=store) as run:
        for epoch in range(9):
            p = np.clip(0.3 + 0.2 * min(epoch, 2) + 0.03 * rng.normal(size=N), 0, 1)
            run.log_gold(epoch, range(N), p, p > 0.5)
            run.end_epoch(epoch)
    with pytest.warns(UserWarning, match=r"% of the variance within examples is the common trend, .* try --epochs 2:, over which it is"):
        portolan.select("scratch", store=store, by="ambiguous", fraction=0.3)
    with pytest.warns(UserWarning, match="try --epochs 2:, over which it is"):
        portolan.map("scratch", store=store)._repr_png_()
    taken = r"--epochs auto takes epochs 2 to 8 of 0 to 8: over all epochs the common trend is \d+% of the variance within examples, over these \d+%"
    with pytest.warns(UserWarning, match=taken):
        chosen = portolan.select("scratch", store=store, by="ambiguous", fraction=0.3, epochs="auto")
    assert chosen.ids() == portolan.select("scratch", store=store, by="ambiguous", fraction=0.3, epochs="2:").ids()
    with pytest.warns(UserWarning, match=taken):
        assert (portolan.measures("scratch", store=store, epochs="auto")["epochs"] == 7).all()
    with pytest.warns(UserWarning, match=taken):
        portolan.map("scratch", store=store, epochs="auto")._repr_png_()
