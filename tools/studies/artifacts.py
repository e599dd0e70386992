"""What up-sampling against words that give a label away is worth (Chen 2024, Table 1 and Figures 1 to 4): on a planted corpus, and on
the one-line descriptions of Debian's packages by section.

A quarter is held out. Words are counted on the rest, which is up-sampled; a classifier is trained on it as it was, and one on each
up-sampled form. How they do on what was held out is recorded, and portolan artifacts says on which side of the words.
"""

import csv
import json
import random
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import SGDClassifier

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/bench"))

import planted  # noqa: E402
import portolan  # noqa: E402

PROGRAM = ROOT / "build/analyzer/portolan"
SEEDS = (1, 2, 3)      # each with its own held-out quarter, draws and classifiers
HELD_OUT, EPOCHS, TOP = 0.25, 5, 10
RECORDS, TELLING = 100_000, 250  # of the planted corpus: records; words of each label that tell it rightly, too rare to be counted
PER_SECTION = 2000     # packages of each section: equally many, so that the prior is 1 / sections
SECTIONS = ("net", "python", "utils")  # of programs, which a classifier is to tell apart; libdevel or doc are named by rule
PUBLISHED = "as published"
UNIFORM = ("--prior", "uniform")  # as the paper has it: labels are even, but for what was held out
VARIANTS = {PUBLISHED: ("--as-published",), "conflict-free": UNIFORM, "20 times at most": (*UNIFORM, "--max-multiplicity", 20)}


class Corpus:
    """Records with an id, a label and texts; the arguments with which portolan reads a file of them."""

    def __init__(self, name, records, id_field, label, texts, min_count):
        self.name, self.records, self.id_field, self.label, self.texts = name, records, id_field, label, texts
        self.words = ["--text", ",".join(texts), "--label-field", label]
        self.min_count = ["--min-count", min_count]
        self.labels = sorted({record[label] for record in records})

    def split(self, seed):
        """(the records to train on, those held out)"""
        order = np.random.default_rng(seed).permutation(len(self.records))
        held_out = int(HELD_OUT * len(order))
        return [self.records[i] for i in order[held_out:]], [self.records[i] for i in order[:held_out]]

    def text(self, record):
        return " ".join(record[field] for field in self.texts)

    def gold(self, records):
        return np.searchsorted(self.labels, [record[self.label] for record in records])


def call(folder, *words):
    """What portolan prints; what it warns of stands in its reports too."""
    done = subprocess.run([str(word) for word in (PROGRAM, *words)], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"tools/study: {done.stderr.strip()}")
    return done.stdout


def print_table(rows):
    """Rows of text, the first of them the heading; the first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [f"{text:<{widths[i]}}" if i == 0 else f"{text:>{widths[i]}}" for i, text in enumerate(row)]
        print("  " + "  ".join(cells).rstrip())


def read_table(path):
    with open(path, encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def write_records(path, records):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def read_records(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def planted_corpus(out):
    path = out / "artifacts-planted.jsonl"
    planted.write_planted(path, RECORDS, seed=0, telling=TELLING)
    return Corpus("planted", read_records(path), "id", "label", ("premise", "hypothesis"), 250)


def packages():
    """Name, section and one-line description of every package that this machine's lists know; descriptions that several share, once."""
    try:
        text = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, check=True).stdout.decode("utf-8", "replace")
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"tools/study: apt-cache dumpavail: {error}: this study needs a Debian machine's package lists")
    seen, sections = set(), defaultdict(list)
    for block in text.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Section|Description): (.*)$", block, re.MULTILINE))
        description = fields.get("Description", "")
        if len(fields) == 3 and description not in seen:
            seen.add(description)
            sections[fields["Section"].split("/")[-1]].append((fields["Package"], description))
    return sections


def package_corpus():
    sections, generator = packages(), random.Random(0)
    for label in SECTIONS:
        if len(sections[label]) < PER_SECTION:
            sys.exit(f"tools/study: the package lists have {len(sections[label]):,} descriptions of the section {label}, and not {PER_SECTION:,}: "
                     "apt-get update fetches Debian's lists")
    records = [{"package": name, "description": description, "section": label}
               for label in SECTIONS for name, description in generator.sample(sections[label], PER_SECTION)]
    return Corpus("packages", records, "package", "section", ("description",), 30)


def record(corpus, run, store, train, held_out, seed):
    """Trains a classifier on counts of words, which sees what the tokens are made of; records how it does on what was held out."""
    counter, model = CountVectorizer(binary=True), SGDClassifier(loss="log_loss", alpha=1e-5, random_state=seed)
    x, gold = counter.fit_transform(map(corpus.text, train)), corpus.gold(train)
    tested, ids = counter.transform(map(corpus.text, held_out)), [record[corpus.id_field] for record in held_out]
    generator = np.random.default_rng(seed)
    with portolan.Run(run, store=store, mode="epoch-end", labels=corpus.labels, config={"seed": seed}, overwrite=True) as recorded:
        for epoch in range(EPOCHS):
            order = generator.permutation(len(gold))
            model.partial_fit(x[order], gold[order], classes=np.arange(len(corpus.labels)))
            recorded.log_probs(epoch, ids, model.predict_proba(tested), corpus.gold(held_out))
            recorded.end_epoch(epoch)


def one_seed(corpus, out, seed):
    """{part: {"before" or variant: accuracy, "n": examples}}, and the report of each variant's up-sampling. Pictures are of the first seed."""
    base, store = f"artifacts-{corpus.name}", "artifacts-store"
    train_file, test_file, up_file, statistics, summary = (base + ending for ending in ("-train.jsonl", "-test.jsonl", "-up.jsonl", ".tsv", "-summary.tsv"))
    train, held_out = corpus.split(seed)
    write_records(out / train_file, train)
    write_records(out / test_file, held_out)

    def figure(number):
        return ["--plot", f"{base}-figure{number}.png"] if seed == SEEDS[0] else []

    def train_on(records, name):
        run = f"{corpus.name}/seed{seed}/{name.replace(' ', '-')}"
        record(corpus, run, out / store, records, held_out, seed)
        return run

    def accuracies(*runs, plot=()):
        call(out, "artifacts", test_file, *corpus.words, "--statistics", statistics, "--run", *runs, "--store", store, "--id-field", corpus.id_field,
             "--summary", summary, *plot, "-o", f"{base}-sides.tsv")
        return {row["part"]: row for row in read_table(out / summary)}

    call(out, "artifacts", train_file, *corpus.words, *corpus.min_count, *UNIFORM, "-o", statistics, *figure(1))
    before = train_on(train, "before")
    parts = {part: {"n": int(row["n"]), "before": float(row["accuracy"])} for part, row in accuracies(before, plot=figure(2)).items()}
    reports = {}
    for variant, more in VARIANTS.items():
        report = call(out, "upsample", train_file, *corpus.words, *corpus.min_count, "--count", TOP, "--seed", seed, *more, "--json", "-o", up_file,
                      *(figure(3) if variant == PUBLISHED else ()))
        reports[variant] = json.loads(report)
        after = train_on(read_records(out / up_file), variant)
        for part, row in accuracies(before, "--after", after).items():
            parts[part][variant] = float(row["after_accuracy"])
        if variant == PUBLISHED and figure(4):
            accuracies(after, plot=figure(4))
        print(f"{corpus.name}, seed {seed}: {variant} done", file=sys.stderr)
    return parts, reports


def spread(values, form):
    return f"{np.mean(values):{form}} ± {np.std(values, ddof=1):{form}}"


def table_of_accuracies(results):
    """Chen's Table 1, %, and the standard deviation over the seeds."""
    rows = [["", "examples", "before", *VARIANTS]]
    for part in results[0]:
        examples = [parts[part]["n"] for parts in results]
        rows.append([part, f"{np.mean(examples):,.0f}",
                     *(spread([100 * parts[part][name] for parts in results], ".1f") for name in ("before", *VARIANTS))])
    return rows


def table_of_sampling(reports):
    rows = [["", "growth, %", "iterations", "imbalance left, %", "a record stands at most"]]
    for variant in VARIANTS:
        some = [report[variant] for report in reports]
        rows.append([variant, spread([100 * report["growth"] for report in some], ".1f"), ", ".join(str(report["iterations"]) for report in some),
                     spread([100 * report["imbalance"][-1] / report["imbalance"][0] for report in some], ".1f"),
                     ", ".join(str(len(report["multiplicities"])) for report in some)])
    return rows


def study_artifacts(out):
    out.mkdir(parents=True, exist_ok=True)
    for corpus in (planted_corpus(out), package_corpus()):
        results, reports = zip(*(one_seed(corpus, out, seed) for seed in SEEDS))
        train, held_out = corpus.split(SEEDS[0])
        words = ", ".join(row["token"] for row in read_table(out / f"artifacts-{corpus.name}.tsv")[:TOP])
        print(f"{corpus.name}: {len(train):,} records to train on, {len(held_out):,} held out; the first {TOP} words of the last seed: {words}\n\n"
              f"Accuracy on what was held out, %, before and after up-sampling against the first {TOP} words:\n")
        print_table(table_of_accuracies(results))
        print("\nThe up-sampling:\n")
        print_table(table_of_sampling(reports))
        print(f"\nFigures 1 to 4: {out}/artifacts-{corpus.name}-figure[1-4].png\n")
