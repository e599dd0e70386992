"""10,000,000 examples × 2 epochs in shuffled order: string ids against declared integer ids. Long; run when named."""

import shutil

import ingest

EXAMPLES = "10000000"


def run(report, programs, repeats):
    folder = ingest.folder_on_disk(programs)
    try:
        options = ["--examples", EXAMPLES, "--epochs", "2", "--shuffled", "--no-raw", "--max-memory", "4G"]  # its share for ids holds all of them
        pairs = []
        for _ in range(min(repeats, 3)):
            pairs.append((ingest.turn(programs, folder, [*options, "--strings"]), ingest.turn(programs, folder, options)))
        for what, name in (("acknowledged", "to the last acknowledgement"), ("columns", "until columns"),
                           ("stored", "size of the store")):
            report.ratio(f"10 M × 2, string ids / declared: {name}", [s[what] / d[what] for s, d in pairs])
        strings, declared = (max(max(pair[i]["memory"]) for pair in pairs) / 1024 for i in (0, 1))
        report.ratio("10 M × 2, string ids / declared: collector's memory", [strings / declared],
                     note=f"{strings:.0f} MB with strings of 16 bytes, {declared:.0f} MB with declared ids")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
