#!/usr/bin/python3
"""Makes the demo's dataset: the language of a word, from Debian's word lists.

    demo_words.py OUT [--per-language N] [--seed S]

writes OUT/words.tsv and OUT/held-out.tsv (word, language, also_in), in random order. A word that several languages share is
kept once, with one of them, drawn at random, as its label; `also_in` names the others. Such words are by nature ambiguous.
"""

import argparse
import random
from pathlib import Path

LISTS = {
    "dutch": ["dutch"],
    "english": ["american-english", "british-english"],
    "french": ["french"],
    "german": ["ngerman"],
    "italian": ["italian"],
    "portuguese": ["portuguese"],
    "spanish": ["spanish"],
    "swedish": ["swedish"],
}
DICTIONARIES = Path("/usr/share/dict")


def read_list(path):
    """The lower-cased words of 3 to 20 letters. Most lists are UTF-8, some Latin-1."""
    data = path.read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return [word for word in text.lower().split("\n") if 3 <= len(word) <= 20 and word.isalpha()]


def read_languages():
    """{word: [languages]}, in the order of the lists, so that one seed gives one dataset."""
    owners = {}
    for language, names in LISTS.items():
        for name in names:
            for word in read_list(DICTIONARIES / name):
                known = owners.setdefault(word, [])
                if language not in known:
                    known.append(language)
    return owners


def sample(owners, per_language, generator):
    """[(word, language, the other languages)], the same number of each language, shuffled."""
    labelled = {language: [] for language in LISTS}
    for word, languages in owners.items():
        language = languages[0] if len(languages) == 1 else generator.choice(languages)
        labelled[language].append((word, language, [other for other in languages if other != language]))
    size = min(per_language, *map(len, labelled.values()))
    rows = [row for language in LISTS for row in generator.sample(labelled[language], size)]
    generator.shuffle(rows)
    return rows


def write(path, rows):
    with open(path, "w", encoding="utf-8") as out:
        out.write("word\tlanguage\talso_in\n")
        for word, language, others in rows:
            out.write(f"{word}\t{language}\t{','.join(others)}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("out", type=Path, help="folder for words.tsv and held-out.tsv")
    parser.add_argument("--per-language", type=int, default=50_000, help="words of each language (default: 50000)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.per_language < 100:
        parser.error("--per-language: at least 100")

    owners = read_languages()
    rows = sample(owners, options.per_language, random.Random(options.seed))
    held_out = len(rows) // 10
    write(options.out / "held-out.tsv", rows[:held_out])
    write(options.out / "words.tsv", rows[held_out:])
    shared = sum(bool(others) for _, _, others in rows[held_out:])
    print(f"{len(owners):,} different words in {len(LISTS)} languages; {len(rows):,} drawn, "
          f"{len(rows) - held_out:,} to train on, {held_out:,} held out")
    print(f"{shared:,} of the training words ({shared / (len(rows) - held_out):.1%}) belong to several languages")


if __name__ == "__main__":
    main()
