"""The collector's memory for 100,000,000 examples with declared, sequential ids: bounded, and the same in each epoch. Long."""

import shutil

import ingest

EXAMPLES, EPOCHS = "100000000", 3


def run(report, programs, repeats):
    folder = ingest.folder_on_disk(programs)
    try:
        turn = ingest.turn(programs, folder, ["--examples", EXAMPLES, "--epochs", str(EPOCHS), "--no-raw"])
        memory = [kib / 1024 for kib in turn["memory"]]
        report.ratio("100 M examples: collector's memory, last epoch / first", [memory[-1] / memory[0]],
                     note="anonymous memory at most, by epoch: " + ", ".join(f"{mb:.0f} MB" for mb in memory))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
