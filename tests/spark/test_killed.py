"""A worker that is killed in the middle of the job: the others do its work again, and the measures are the same."""

import threading
import time

import pyarrow.parquet as pq

import portolan.spark
import runs


GROUP, TASKS = "killed", 10


def tasks_done(spark):
    """Of the group's jobs."""
    tracker = spark.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(s) for job in tracker.getJobIdsForGroup(GROUP) for s in tracker.getJobInfo(job).stageIds]
    return sum(stage.numCompletedTasks for stage in stages if stage)


def test_a_worker_is_killed_during_the_job(spark, cluster, million, tmp_path):
    out, failures = str(tmp_path / "out"), []
    seen = portolan.spark.read(spark, "run", *million.folders)
    spark.conf.set("spark.sql.files.maxPartitionBytes", "4m")  # many tasks, half of them to come when the worker goes
    spark.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")

    def write():
        try:
            spark.sparkContext.setJobGroup(GROUP, "measures")
            portolan.spark.measures(seen).write.parquet(out)
        except Exception as error:  # for the thread that waits
            failures.append(error)

    job = threading.Thread(target=write)
    job.start()
    while job.is_alive() and tasks_done(spark) < TASKS:
        time.sleep(0.02)
    assert job.is_alive(), failures
    cluster.kill_a_worker()
    job.join()
    cluster.start_workers(2)
    assert failures == []
    runs.check_same(pq.read_table(out), million.expected)
