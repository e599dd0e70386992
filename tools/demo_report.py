#!/usr/bin/python3
"""Prints what the demo found: the words at the top of each selection, and where the words of several languages are.

    demo_report.py OUT --all-epochs FILE

reads OUT/words.tsv, the selections OUT/{ambiguous,hard-to-learn,forgettable}.tsv as `portolan select --data
--with-measures` wrote them, and FILE, the ids of the most variable tenth when no epoch is left out.
"""

import argparse
import csv
from pathlib import Path

TOP = 20
COLUMNS = (
    ("word", "<", "{}"),
    ("language", "<", "{}"),
    ("also_in", "<", "{}"),
    ("confidence", ">", "{:.2f}"),
    ("variability", ">", "{:.2f}"),
    ("correctness", ">", "{:.2f}"),
    ("forgetting_events", ">", "{:.0f}"),
)
SELECTIONS = (
    ("ambiguous", "Ambiguous: the probability of the label swings most"),
    ("hard-to-learn", "Hard to learn: the label is least believed"),
    ("forgettable", "Forgettable: learned and lost again (the first ten), or never learned (ten of them)"),
)


def read_table(path):
    with open(path, encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def print_table(rows):
    cells = [[name.replace("_", " ") for name, _, _ in COLUMNS]]
    for row in rows:
        cells.append([form.format(row[name] if align == "<" else float(row[name])) for name, align, form in COLUMNS])
    widths = [max(len(line[i]) for line in cells) for i in range(len(COLUMNS))]
    for line in cells:
        print("  " + "  ".join(f"{text:{COLUMNS[i][1]}{widths[i]}}" for i, text in enumerate(line)).rstrip())


def examples_of(name, rows):
    """Twenty rows to look at: the first; of the forgettable, whose never learned words come first, ten of either kind."""
    if name != "forgettable":
        return rows[:TOP]
    never = [row for row in rows if float(row["never_learned"])]
    forgotten = rows[len(never) :]
    return forgotten[: TOP // 2] + never[:: max(1, len(never) // (TOP // 2))][: TOP // 2]


def share(words, shared):
    return sum(word in shared for word in words) / max(1, len(words))


def print_enrichment(sets, shared, overall):
    print(f"Words that belong to several languages are {overall:.1%} of all. Among")
    for title, words in sets:
        part = share(words, shared)
        print(f"  {title:<52} {part:6.1%}   {part / overall:4.1f} times as often")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--all-epochs", type=Path, required=True)
    options = parser.parse_args()

    words = read_table(options.out / "words.tsv")
    shared = {row["word"] for row in words if row["also_in"]}
    chosen = {name: read_table(options.out / f"{name}.tsv") for name, _ in SELECTIONS}
    for name, title in SELECTIONS:
        print(f"{title} ({len(chosen[name]):,} words in {options.out / name}.tsv)")
        print_table(examples_of(name, chosen[name]))
        print()
    sets = (
        ("the 10% most variable, all epochs:", options.all_epochs.read_text(encoding="utf-8").split()),
        ("the 10% most variable, burn-in left out:", [row["word"] for row in chosen["ambiguous"]]),
        ("the 10% least confident, burn-in left out:", [row["word"] for row in chosen["hard-to-learn"]]),
    )
    print_enrichment(sets, shared, len(shared) / len(words))


if __name__ == "__main__":
    main()
