"""What measures() of portolan.spark costs at about 0.8, 3.3, 13 and 50 million observations: 10 epochs, all signals, two nodes' exports.

The cluster is that of the tests: a master and two workers of one core and 2 GB each. Each figure is of a second job: the first has the code compiled.
Needs build-spark/, which `tools/test spark` makes.
"""

import json
import os
import subprocess

import harness
import machine

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MILLIONS, LARGEST, MEMORY = (0.8, 3.3, 13), 50, 16  # of observations; the largest where there are so many GB of memory for making it


def sizes(report):
    free = int(machine.first_match("/proc/meminfo", rb"^MemAvailable: *(\d+) kB")) / 1e6
    if free < MEMORY:
        report.remarks(f"{LARGEST} million observations need {MEMORY} GB of free memory, and {free:.0f} GB are there")
        return MILLIONS
    return (*MILLIONS, LARGEST)


def run(report, programs, repeats):
    python = programs["spark"]
    if not os.path.exists(python):
        raise harness.Absent("it needs pyspark, which tools/test spark installs: run that first")
    folders = [os.path.join(ROOT, "tests", folder) for folder in ("spark", "bench")]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([os.path.join(programs["build"], "python"), *folders]), SPARK_LOCAL_IP="127.0.0.1",
                       MAKE_STORE=os.path.join(programs["build"], "tests", "cli", "make_store"), PORTOLAN=programs["portolan"])
    done = subprocess.run([python, os.path.join(ROOT, "tests", "bench", "spark_job.py"), *map(str, sizes(report))], env=environment, check=True,
                          stdout=subprocess.PIPE, text=True)
    jobs = [json.loads(line) for line in done.stdout.splitlines()]
    for job in jobs:
        job["per"] = job["processor_seconds"] / job["observations"]
    first = f"{jobs[0]['observations'] / 1e6:.1f} M"
    for job in jobs:
        note = (f"{job['seconds']:.1f} s, {job['processor_seconds']:.1f} s of the workers' processors; bytes per observation: "
                f"{job['parquet_bytes'] / job['observations']:.1f} in Parquet, {job['shuffle_bytes'] / job['observations']:.1f} shuffled")
        report.ratio(f"measures, {job['observations'] / 1e6:.1f} M observations: processor time of each / of {first}", [job["per"] / jobs[0]["per"]],
                     note=note)
    slope = (jobs[-1]["seconds"] - jobs[0]["seconds"]) / (jobs[-1]["observations"] - jobs[0]["observations"])
    report.ratio(f"measures: seconds for one more observation / for each of {first}", [slope * jobs[0]["observations"] / jobs[0]["seconds"]], aim="≤ 1",
                 note=f"{1e6 * slope:.2f} s for a million more")
