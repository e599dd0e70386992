"""`portolan artifacts` and `portolan upsample`, whole processes, against a plain script that does the same with pandas and collections.

550,000 records of about 20 tokens, three labels, ten planted tokens. The script is what one would write for oneself: read the file,
split texts into words, count, rank, repeat records until the ten worst tokens are balanced, write the file. Both find the same numbers:
the table is compared, and after up-sampling every one of the ten tokens must be balanced by both.
"""

import csv
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter, defaultdict

import harness
from planted import write_planted

try:
    import pandas as pd
except ImportError:
    pd = None

RECORDS, TOP, MIN_COUNT, STEP, ITERATIONS = 550_000, 10, 1000, 0.2, 50
TEXTS = ["premise", "hypothesis"]
WORD = re.compile(r"\w+")


def plain_statistics(path):
    frame = pd.read_json(path, lines=True)
    labels = sorted(frame["label"].unique())
    tokens = [set(WORD.findall(" ".join(row).lower())) for row in zip(*(frame[text] for text in TEXTS))]
    counts = {label: Counter() for label in labels}
    for words, label in zip(tokens, frame["label"]):
        counts[label].update(words)
    table = pd.DataFrame(counts).fillna(0).astype(int)
    n = table.sum(axis=1)
    table = table[n >= MIN_COUNT]
    n = n[n >= MIN_COUNT]
    share = table.div(n, axis=0)
    prior = 1 / len(labels)
    z = (share - prior).div(((prior * (1 - prior)) / n) ** 0.5, axis=0)
    result = pd.DataFrame({"n": n, "label": share.idxmax(axis=1), "p_star": share.max(axis=1), "z_star": z.max(axis=1)})
    return frame, labels, tokens, result.join(table).sort_values("z_star", ascending=False)


def plain_upsample(frame, labels, tokens, table, out):
    biased = list(table.index[:TOP])
    known = set(biased)
    counts = {token: {label: int(table.loc[token, label]) for label in labels} for token in biased}
    holds, pools = {}, defaultdict(list)
    for record, (words, label) in enumerate(zip(tokens, frame["label"])):
        held = known & words
        if held:
            holds[record] = held
            for token in held:
                pools[token, label].append(record)
    repeats, generator = Counter(), random.Random(0)
    for _ in range(ITERATIONS):
        if all(len(set(row.values())) == 1 for row in counts.values()):
            break
        for token in biased:
            for label in labels:
                lack = max(counts[token].values()) - counts[token][label]
                pool = pools[token, label]
                if lack <= 0 or not pool:
                    continue
                leads = {other for other in biased if other != token and counts[other][label] == max(counts[other].values())}
                conflicts = [len(leads & holds[record]) for record in pool]
                fewest = min(conflicts)
                choice = [record for record, many in zip(pool, conflicts) if many == fewest]
                for record in generator.choices(choice, k=-int(-STEP * lack // 1)):
                    repeats[record] += 1
                    for other in holds[record]:
                        counts[other][label] += 1
    more = frame.loc[[record for record, times in repeats.items() for _ in range(times)]]
    pd.concat([frame, more]).to_json(out, orient="records", lines=True)
    return counts


def check_same(path, table):
    with open(path, encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert len(rows) == len(table), f"{len(rows)} tokens, the plain script has {len(table)}"
    for row in rows:
        other = table.loc[row["token"]]
        assert int(row["n"]) == other["n"] and abs(float(row["z_star"]) - other["z_star"]) < 1e-9, (row, other)


def run(report, programs, repeats):
    if pd is None:
        print("artifacts: not measured, as the plain script needs pandas (Debian's python3-pandas)", file=sys.stderr)
        return
    folder = tempfile.mkdtemp(prefix="portolan-bench-")
    data, stats, ours, theirs = (os.path.join(folder, name) for name in ("data.jsonl", "stats.tsv", "ours.jsonl", "theirs.jsonl"))
    words = [data, "--text", ",".join(TEXTS), "--label", "label"]
    ratios = {"statistics": [], "statistics and up-sampling": []}
    seconds = []
    try:
        write_planted(data, RECORDS, seed=0)
        for turn in range(min(repeats, 3) + 1):
            _, counting = harness.child_seconds([programs["portolan"], "artifacts", *words, "--stop-words", "none", "-o", stats])
            _, sampling = harness.child_seconds([programs["portolan"], "upsample", *words, "--stop-words", "none", "-o", ours], stdout=-3)
            start = time.perf_counter()
            frame, labels, tokens, table = plain_statistics(data)
            counted = time.perf_counter() - start
            counts = plain_upsample(frame, labels, tokens, table, theirs)
            sampled = time.perf_counter() - start
            if turn == 0:
                check_same(stats, table)
                assert all(len(set(row.values())) == 1 for row in counts.values()), "the plain script did not balance"
                continue  # the warm-up
            ratios["statistics"].append(counted / counting)
            ratios["statistics and up-sampling"].append(sampled / sampling)
            seconds.append((counting, sampling, counted, sampled))
        note = "seconds, ours: statistics {:.2f}, with up-sampling {:.2f}; plain: {:.1f}, {:.1f}".format(
            *(harness.spread(values)[0] for values in zip(*seconds)))
        for name, values in ratios.items():
            report.ratio(f"{name}, 550,000 records: plain script / ours, wall time", values, aim="≥ 20", note=note)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
