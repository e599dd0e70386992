"""Portolan on Spark: the measures, selections and the binned map of runs that no single machine holds.

    import portolan.spark

    seen = portolan.spark.read(spark, "web/seed1", "hdfs:///runs/node0", "hdfs:///runs/node1")
    measures = portolan.spark.measures(seen)
    measures.write.parquet("hdfs:///measures/seed1")
    portolan.spark.select(spark.read.parquet("hdfs:///measures/seed1"), by="ambiguous", fraction=0.33)

Each node records into a store of its own, and portolan.export writes it as Parquet. All of this is DataFrame operations: the workers need
neither this package nor Python. ``python -m portolan.spark`` does the same as a command; docs/spark.md says how to run it on nodes.
"""

import os
import sys

if __name__ == "__main__" and os.path.realpath(sys.path[0]) == os.path.dirname(os.path.realpath(__file__)):
    del sys.path[0]  # spark-submit runs this file by its path: then the module torch beside it would hide PyTorch

from portolan._spark._map import map_counts
from portolan._spark._measures import measures
from portolan._spark._read import read
from portolan._spark._select import select
from portolan._spark._state import keep_sums
from portolan._spark._sums import add, measures_of, sums

__all__ = ["add", "keep_sums", "map_counts", "measures", "measures_of", "read", "select", "sums"]

if __name__ == "__main__":
    from portolan._spark._command import main

    sys.exit(main())
