"""The studies of artifacts: a planted corpus, and the one-line descriptions of Debian's packages by section."""

import csv
import json
import random
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests/bench"))

import numpy as np  # noqa: E402

import planted  # noqa: E402

PORTOLAN = ROOT / "build/analyzer/portolan"
SEEDS = (1, 2, 3)
RECORDS = 550_000
PER_SECTION = 2000   # packages of each section: equally many, so that the prior is 1 / sections
HELD_OUT = 0.25
TABLE = 20           # tokens that are shown, of all sections
PROGRAMS = ("net", "python", "utils")   # sections of programs, which a classifier is to tell apart; libdevel or doc are named by rule
TOP, MIN_COUNT, CAP = 10, 30, 20
VARIANTS = {"before": None, "after": (), f"capped at {CAP}": ("--max-multiplicity", CAP)}


def portolan(*words):
    """What it prints; what it warns of stands in its reports too."""
    done = subprocess.run([str(word) for word in (PORTOLAN, *words)], capture_output=True, text=True)
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


def study_planted(out):
    data = out / "planted.jsonl"
    planted.write_planted(data, RECORDS, seed=0)
    words = (data, "--text", "premise,hypothesis", "--label-field", "label")
    portolan("artifacts", *words, "-o", out / "planted.tsv", "--plot", out / "planted.png")
    top = [row["token"] for row in read_table(out / "planted.tsv")[:planted.TOKENS]]
    found = set(top) == {f"plant{i}" for i in range(planted.TOKENS)}
    print(f"{RECORDS:,} records; the {planted.TOKENS} planted tokens are {'' if found else 'NOT '}the first {planted.TOKENS} by z*\n")
    rows = [["draws", "seed", "iterations", "sum of D", "growth", "p* after: most", "a record stands at most"]]
    for title, more in (("conflict-free", ()), ("uniform", ("--pick", "uniform")), ("conflict-free, 50 times at most", ("--max-multiplicity", 50))):
        for seed in SEEDS:
            plot = ("--plot", out / f"planted-{title.split(',')[0]}{'-capped' if ',' in title else ''}.png") if seed == SEEDS[0] else ()
            report = json.loads(portolan("upsample", *words, "--seed", seed, *more, *plot, "--json", "-o", out / "planted-up.jsonl"))
            rows.append([title, str(seed), str(report["iterations"]), f"{report['imbalance'][0]:,} → {report['imbalance'][-1]:,}",
                         f"{report['growth']:.2%}", f"{max(token['after']['p_star'] for token in report['tokens']):.4f}",
                         str(len(report["multiplicities"]))])
    print_table(rows)
    print(f"\nDrawn in {out}/planted*.png")


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


def write_records(path, records):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def read_records(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def draw_packages():
    sections = packages()
    labels = sorted(label for label, members in sections.items() if len(members) >= PER_SECTION)
    if len(labels) < 3:
        sys.exit(f"tools/study: the package lists have {sum(map(len, sections.values())):,} descriptions, and fewer than three sections with "
                 f"{PER_SECTION:,}: apt-get update fetches Debian's lists")
    generator = random.Random(0)
    records = [{"package": name, "description": description, "section": label}
               for label in labels for name, description in generator.sample(sections[label], PER_SECTION)]
    generator.shuffle(records)
    return labels, records


def train(records, seed):
    """A classifier on counts of words, which sees what the tokens are made of."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline

    order = np.random.default_rng(seed).permutation(len(records))
    model = make_pipeline(CountVectorizer(binary=True), SGDClassifier(loss="log_loss", alpha=1e-5, max_iter=30, tol=None, random_state=seed))
    return model.fit([records[i]["description"] for i in order], [records[i]["section"] for i in order])


def side_hits(model, tokens, records):
    """Overall accuracy; and by token (hits, records) of its section, and of others."""
    right = model.predict([record["description"] for record in records]) == np.array([record["section"] for record in records])
    words = [set(re.findall(r"\w+", record["description"].lower())) for record in records]
    sides = {}
    for token, label in tokens:
        held = np.array([token in word for word in words])
        leads = np.array([record["section"] == label for record in records])
        sides[token] = [(int(right[held & side].sum()), int((held & side).sum())) for side in (leads, ~leads)]
    return right.mean(), sides


def share(pairs):
    """Accuracy of several (hits, records), pooled."""
    hits, many = (sum(pair[i] for pair in pairs) for i in (0, 1))
    return f"{hits / many:.3f}" if many else "–"


def study_artifacts(out):
    labels, records = draw_packages()
    print(f"{len(records):,} one-line descriptions of Debian packages, {PER_SECTION:,} of each of {len(labels)} sections: {', '.join(labels)}\n")
    data = out / "packages.jsonl"
    write_records(data, records)
    words = ("--text", "description", "--label-field", "section", "--min-count", MIN_COUNT)
    portolan("artifacts", data, *words, "-o", out / "packages.tsv", "--plot", out / "packages.png")
    print_table([["token", "n", "section", "p*", "z*"]] +
                [[row["token"], row["n"], row["label"], f"{float(row['p_star']):.3f}", f"{float(row['z_star']):.1f}"]
                 for row in read_table(out / "packages.tsv")[:TABLE]])
    missing = set(PROGRAMS) - set(labels)
    if missing:
        sys.exit(f"tools/study: the package lists have too few packages of the section {sorted(missing)[0]}")
    compare_classifiers(out, words, [record for record in records if record["section"] in PROGRAMS])


def compare_classifiers(out, words, records):
    """Trained on three quarters, as they are and up-sampled; tried on the rest, which nothing was counted on."""
    results, overall, reports = defaultdict(list), defaultdict(list), defaultdict(list)
    train_file, up_file = out / "packages-train.jsonl", out / "packages-up.jsonl"
    for seed in SEEDS:
        order = np.random.default_rng(seed).permutation(len(records))
        held_out = [records[i] for i in order[:int(HELD_OUT * len(records))]]
        write_records(train_file, [records[i] for i in order[len(held_out):]])
        for name, more in VARIANTS.items():
            if more is not None:
                report = json.loads(portolan("upsample", train_file, *words, "--count", TOP, "--seed", seed, *more, "--json", "-o", up_file,
                                             "--plot", out / f"packages-up{'-capped' if more else ''}.png"))
                reports[name].append(report)
            else:
                report = json.loads(portolan("upsample", train_file, *words, "--count", TOP, "--iterations", 1, "--json", "-o", up_file))
            tokens = [(token["token"], token["label"]) for token in report["tokens"]]
            accuracy, sides = side_hits(train(read_records(train_file if more is None else up_file), seed), tokens, held_out)
            overall[name].append(accuracy)
            for token, pair in sides.items():
                results[token, name].append(pair)
    print(f"\nUp-sampling {len(order) - len(held_out):,} descriptions of {', '.join(PROGRAMS)}, the first {TOP} tokens, seeds "
          f"{', '.join(map(str, SEEDS))}:\n")
    rows = [["", "growth", "iterations", "sum of D", "a record stands at most", "pairs not balanced, no record has both"]]
    for name, some in reports.items():
        for report in some:
            why = [entry["why"] for token in report["tokens"] for entry in token["not_balanced"]]
            rows.append([name, f"{report['growth']:.1%}", str(report["iterations"]), f"{report['imbalance'][0]:,} → {report['imbalance'][-1]:,}",
                         str(len(report["multiplicities"])), f"{len(why)}, {sum('no record' in text for text in why)}"])
    print_table(rows)
    report_sides(results, overall)
    print(f"\nDrawn in {out}/packages*.png")


def report_sides(results, overall):
    print("\nHeld-out accuracy, hits of all seeds pooled (which tokens are the first varies a little with the seed): on records of the\n"
          "token's section (majority), and of others (minority, so many)\n")
    tokens = sorted({token for token, _ in results}, key=lambda token: -sum(pair[1][1] for pair in results[token, "before"]))
    rows = [["token", "minority", *(f"{side} {name}" for side in ("maj.", "min.") for name in VARIANTS)]]

    def add(title, names):
        pooled = {name: [pair for token in names for pair in results[token, name]] for name in VARIANTS}
        rows.append([title, str(sum(pair[1][1] for pair in pooled["before"])),
                     *(share([pair[side] for pair in pooled[name]]) for side in (0, 1) for name in VARIANTS)])

    for token in tokens:
        add(token, [token])
    add("all of these", tokens)
    print_table(rows)
    print("\nHeld-out accuracy on everything: " + "; ".join(
        f"{name} {np.mean(overall[name]):.4f} (s.d. {np.std(overall[name], ddof=1):.4f})" for name in VARIANTS))


STUDIES = {"artifacts": study_artifacts, "planted": study_planted}
