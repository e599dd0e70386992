"""From two stores through portolan.export and Spark to measures: as if one store had everything."""

import numpy as np
import pyarrow.parquet as pq
import pytest

import datasets
import portolan
import portolan.spark
import runs

pytestmark = pytest.mark.skipif(not hasattr(portolan, "export"), reason="this package cannot export yet")
RUN = "snli/größe+1%2"


@pytest.mark.parametrize("id_of", [datasets.scattered, datasets.names])
@pytest.mark.parametrize("folders", [("node0", "node1"), ("both", "both")])
def test_two_stores_exported(spark, tmp_path, id_of, folders):
    ours, others = datasets.two_nodes(np.random.default_rng(7), 5000)
    runs.make_store(tmp_path / "one", [*ours, *others], id_of, RUN)
    runs.make_store(tmp_path / "a", ours, id_of, RUN)
    runs.make_store(tmp_path / "b", [runs.Session(1), *others], id_of, RUN)
    for store, folder in zip("ab", folders, strict=True):
        portolan.export(RUN, tmp_path / folder, store=tmp_path / store)
    seen = portolan.spark.read(spark, RUN, *(str(tmp_path / folder) for folder in sorted(set(folders))))
    portolan.spark.measures(seen).write.parquet(str(tmp_path / "out"))
    runs.check_same(pq.read_table(tmp_path / "out"), runs.metrics(tmp_path / "one", run=RUN), tolerance=0)
