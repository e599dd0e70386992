"""`portolan artifacts` and `portolan upsample`, whole processes, against two plain scripts that do the same: one with
collections.Counter over the words of each line, one with pandas (explode, groupby).

550,000 records of about 20 tokens, three labels, ten planted tokens. The scripts are what one would write for oneself: read the file,
split texts into words, count, rank, repeat records until the ten worst tokens are balanced, write the file. All find the same numbers:
the tables are compared, and after up-sampling every one of the ten tokens must be balanced by all. Starting Python is not timed.
Every turn writes new files, as to replace a large one takes time for the file that goes. What `upsample` must do besides counting, to write its output to
the disk, is measured as well.
"""

import csv
import json
import os
import random
import re
import shutil
import tempfile
import time
from collections import Counter, defaultdict
from itertools import chain

import harness
from planted import write_planted

try:
    import pandas as pd
except ImportError:
    pd = None

RECORDS, TOP, MIN_COUNT, STEP, ITERATIONS = 550_000, 10, 1000, 0.2, 50
TEXTS = ["premise", "hypothesis"]
WORD = re.compile(r"\w+")


def z_of(counts, labels):
    """The rows (token, n, z*, counts by label), strongest first, of the tokens that stand in enough records."""
    prior = 1 / len(labels)
    rows = []
    for token in set().union(*counts.values()):
        row = [counts[label][token] for label in labels]
        n = sum(row)
        if n >= MIN_COUNT:
            rows.append((token, n, (max(row) / n - prior) / (prior * (1 - prior) / n) ** 0.5, row))
    return sorted(rows, key=lambda row: -row[2])


class WithCounter:
    """json and collections.Counter, records as they come."""

    def statistics(self, path):
        with open(path, encoding="utf-8") as lines:
            self.lines = lines.readlines()
        by_label, self.tokens, self.of = defaultdict(list), [], []
        for line in self.lines:
            record = json.loads(line)
            words = set(WORD.findall(" ".join([record[text] for text in TEXTS]).lower()))
            self.tokens.append(words)
            self.of.append(record["label"])
            by_label[record["label"]].append(words)
        self.labels = sorted(by_label)
        return z_of({label: Counter(chain.from_iterable(sets)) for label, sets in by_label.items()}, self.labels)

    def holders(self, biased):
        known = set(biased)
        return {record: (known & words, self.of[record]) for record, words in enumerate(self.tokens) if not known.isdisjoint(words)}

    def write(self, repeats, out):
        with open(out, "w", encoding="utf-8") as file:
            file.writelines(self.lines)
            file.writelines(self.lines[record] * times for record, times in repeats.items())


class WithPandas:
    """A row for each token of each record (explode), then groupby."""

    def statistics(self, path):
        self.frame = pd.read_json(path, lines=True)
        self.labels = sorted(self.frame["label"].unique())
        text = self.frame[TEXTS[0]].str.cat(self.frame[TEXTS[1:]], sep=" ").str.lower()
        self.long = pd.DataFrame({"record": self.frame.index, "label": self.frame["label"], "token": text.str.findall(WORD.pattern)})
        self.long = self.long.explode("token").drop_duplicates(["record", "token"])
        table = self.long.groupby(["token", "label"]).size().unstack(fill_value=0)
        table = table[table.sum(axis=1) >= MIN_COUNT]
        n, prior = table.sum(axis=1), 1 / len(self.labels)
        z = (table.max(axis=1) / n - prior) / (prior * (1 - prior) / n) ** 0.5
        order = z.sort_values(ascending=False).index
        return [(token, int(n[token]), z[token], table.loc[token, self.labels].tolist()) for token in order]

    def holders(self, biased):
        held = self.long[self.long["token"].isin(biased)]
        return {record: (set(rows["token"]), rows["label"].iloc[0]) for record, rows in held.groupby("record")}

    def write(self, repeats, out):
        more = self.frame.loc[[record for record, times in repeats.items() for _ in range(times)]]
        pd.concat([self.frame, more]).to_json(out, orient="records", lines=True)


def plain_upsample(plain, table, out):
    biased = [row[0] for row in table[:TOP]]
    counts = {token: dict(zip(plain.labels, row)) for token, _, _, row in table[:TOP]}
    holds, pools = plain.holders(biased), defaultdict(list)
    for record, (held, label) in holds.items():
        for token in held:
            pools[token, label].append(record)
    repeats, generator = Counter(), random.Random(0)
    for _ in range(ITERATIONS):
        if all(len(set(row.values())) == 1 for row in counts.values()):
            break
        for token in biased:
            for label in plain.labels:
                lack = max(counts[token].values()) - counts[token][label]
                pool = pools[token, label]
                if lack <= 0 or not pool:
                    continue
                leads = {other for other in biased if other != token and counts[other][label] == max(counts[other].values())}
                conflicts = [len(leads & holds[record][0]) for record in pool]
                fewest = min(conflicts)
                choice = [record for record, many in zip(pool, conflicts) if many == fewest]
                for record in generator.choices(choice, k=-int(-STEP * lack // 1)):
                    repeats[record] += 1
                    for other in holds[record][0]:
                        counts[other][label] += 1
    plain.write(repeats, out)
    return counts


def check_same(path, table):
    with open(path, encoding="utf-8", newline="") as lines:
        rows = {row["token"]: row for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)}
    assert len(rows) == len(table), f"{len(rows)} tokens, the plain script has {len(table)}"
    for token, n, z, _ in table:
        assert int(rows[token]["n"]) == n and abs(float(rows[token]["z_star"]) - z) < 1e-9, (rows[token], n, z)


def remove(*paths):
    for path in paths:
        if os.path.exists(path):
            os.unlink(path)


def seconds_to_write(path, data):
    """Of a new file, until it is on the disk."""
    start = time.perf_counter()
    with open(path, "wb", buffering=0) as file:
        for at in range(0, len(data), 1 << 20):
            file.write(data[at:at + (1 << 20)])
        os.fsync(file.fileno())
    return time.perf_counter() - start


def run(report, programs, repeats):
    if pd is None:
        raise harness.Absent("a plain script needs pandas: apt-get install python3-pandas")
    folder = tempfile.mkdtemp(prefix="portolan-bench-")
    data, stats, ours, theirs = (os.path.join(folder, name) for name in ("data.jsonl", "stats.tsv", "ours.jsonl", "theirs.jsonl"))
    words = [data, "--text", ",".join(TEXTS), "--label", "label", "--prior", "uniform"]  # as the scripts have it
    scripts = {"Counter": WithCounter, "pandas": WithPandas}
    seconds, writing = {name: [] for name in ("artifacts", "upsample", *scripts)}, []
    try:
        write_planted(data, RECORDS, seed=0)
        for turn in range(min(repeats, 3) + 1):
            remove(stats, ours)
            times = {"artifacts": harness.child_seconds([programs["portolan"], "artifacts", *words, "--stop-words", "none", "-o", stats]),
                     "upsample": harness.child_seconds([programs["portolan"], "upsample", *words, "--stop-words", "none", "-o", ours],
                                                       stdout=-3)}
            with open(ours, "rb") as file:
                written = memoryview(file.read())
            remove(theirs)
            writing.append(seconds_to_write(theirs, written))
            for name, script in scripts.items():
                remove(theirs)
                start, plain = (time.process_time(), time.perf_counter()), script()
                table = plain.statistics(data)
                counted = (time.process_time(), time.perf_counter())
                counts = plain_upsample(plain, table, theirs)
                times[name] = [(processor - start[0], wall - start[1])
                               for processor, wall in (counted, (time.process_time(), time.perf_counter()))]
                if turn == 0:
                    check_same(stats, table)
                    assert all(len(set(row.values())) == 1 for row in counts.values()), f"the script with {name} did not balance"
            if turn > 0:  # the first is the warm-up
                for name, taken in times.items():
                    seconds[name].append(taken)
        for name in scripts:
            for command, column in (("artifacts", 0), ("upsample", 1)):
                theirs, ours = [turn[column] for turn in seconds[name]], seconds[command]
                processor, wall = ([one[kind] / other[kind] for one, other in zip(theirs, ours)] for kind in (0, 1))
                taken = [harness.spread(values)[0] for values in (*zip(*ours), *zip(*theirs))]
                report.ratio(f"{command}, {RECORDS:,} records: script with {name} / ours", wall, aim="≥ 40",
                             note="wall time; processor time {:.3g} ×; ours {:.2f} s of the processor in {:.2f} s, the script {:.1f} s "
                                  "in {:.1f} s".format(harness.spread(processor)[0], *taken))
        report.ratio(f"upsample, {RECORDS:,} records: artifacts, and a copy of the output to the disk / ours",
                     [(counting[1] + copy) / ours[1] for counting, copy, ours in zip(seconds["artifacts"], writing[1:], seconds["upsample"])],
                     better="more", note=f"wall time; the copy: {harness.spread(writing[1:])[0]:.2f} s for {len(written) / 1e6:.0f} MB")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
