"""A standalone cluster of Spark as a pytest plugin: a master and two workers, processes of their own on loopback, and a session that works there."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
# A machine that is busy, or has been asleep, is not one that is gone; a process that is gone closes its connections.
os.environ["SPARK_DAEMON_JAVA_OPTS"] = "-Dspark.worker.timeout=3600 -Dspark.network.timeout=3600s"
os.environ["PYSPARK_PYTHON"] = sys.executable

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.executor.memory": "1400m",
    "spark.network.timeout": "3600s",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "8",
}


class Daemon:
    """A master or a worker; `wait` reads its log up to a line, and goes on reading after it, so that the pipe never fills."""

    def __init__(self, *words):
        self.process = subprocess.Popen([SPARK_CLASS, *words], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, start_new_session=True)

    def wait(self, pattern):
        said = []
        for line in self.process.stderr:
            said.append(line)
            found = re.search(pattern, line)
            if found:
                threading.Thread(target=self._drain, daemon=True).start()
                return found
        raise AssertionError(f"it ended before it said {pattern}:\n{''.join(said)}")

    def _drain(self):
        for _ in self.process.stderr:
            pass

    def kill(self):
        """With SIGKILL, and its executors too, as when a machine goes."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Cluster:
    def __init__(self, folder):
        self.folder, self.workers = folder, []
        self.master = Daemon("org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.url = self.master.wait(r"Starting Spark master at (spark://\S+)")[1]
        self.start_workers(2)

    def start_workers(self, count):
        """Until so many work."""
        started = []
        while len(self.workers) < count:
            work = self.folder / f"worker-{len(os.listdir(self.folder))}"
            work.mkdir()
            started.append(Daemon("org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "2g",
                                  "--work-dir", str(work), "--webui-port", "0", self.url))
            self.workers.append(started[-1])
        for worker in started:
            worker.wait("Successfully registered with master")

    def kill_a_worker(self):
        self.workers.pop().kill()

    def stop(self):
        for daemon in (*self.workers, self.master):
            daemon.kill()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("workers"))
    yield cluster
    cluster.stop()


@pytest.fixture(scope="module")
def spark(cluster):
    """A session that takes all the workers, until its module ends."""
    builder = SparkSession.builder.master(cluster.url).appName("tests")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
