"""spark_job.py MILLION...: for tests/bench/spark.py, run by build-spark's Python: a JSON line for each size, of the second of two jobs."""

import json
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from cluster import SETTINGS, Cluster
from pyspark.sql import SparkSession

import datasets
import portolan.spark
import runs

EPOCHS = 10


def write(folder, million):
    """Two nodes' exports of about so many observations: a fifth is missing, as many are of both nodes. Returns their folders."""
    sessions_a, sessions_b = datasets.two_nodes(np.random.default_rng(round(10 * million)), int(million * 1e6 / EPOCHS), EPOCHS)
    for name, sessions in (("a", sessions_a), ("b", sessions_b)):
        runs.export(folder / name, sessions, datasets.scattered, pa.int64())
    return [str(folder / "a"), str(folder / "b")]


def job(spark, folders, group):
    """(seconds, the workers' processor seconds, bytes shuffled) of one job."""
    spark.sparkContext.setJobGroup(group, group)
    begin = time.perf_counter()
    portolan.spark.measures(portolan.spark.read(spark, "run", *folders)).write.format("noop").mode("overwrite").save()
    seconds = time.perf_counter() - begin
    tracker, store = spark.sparkContext.statusTracker(), spark.sparkContext._jsc.sc().statusStore()
    stages = {stage for number in tracker.getJobIdsForGroup(group) for stage in tracker.getJobInfo(number).stageIds}
    data = [store.lastStageAttempt(stage) for stage in stages]
    return seconds, sum(stage.executorCpuTime() for stage in data) / 1e9, sum(stage.shuffleWriteBytes() for stage in data)


def measure(spark, million):
    folder = Path(tempfile.mkdtemp(prefix="portolan-bench-"))
    try:
        folders = write(folder, million)
        observations = portolan.spark.read(spark, "run", *folders).count()
        job(spark, folders, f"{million}-first")
        seconds, processor_seconds, shuffle_bytes = job(spark, folders, f"{million}-second")
        parquet_bytes = sum(path.stat().st_size for path in folder.rglob("*.parquet"))
        print(json.dumps({"observations": observations, "seconds": seconds, "processor_seconds": processor_seconds, "parquet_bytes": parquet_bytes,
                          "shuffle_bytes": shuffle_bytes}), flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the cluster goes too
    work = Path(tempfile.mkdtemp(prefix="portolan-workers-"))
    cluster = Cluster(work)
    try:
        builder = SparkSession.builder.master(cluster.url).appName("bench")
        for name, value in SETTINGS.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        for million in sys.argv[1:]:
            measure(spark, float(million))
        spark.stop()
    finally:
        cluster.stop()
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
