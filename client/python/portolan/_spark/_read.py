"""Reads one run from the folders that portolan.export wrote."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from portolan._exporting._folder import encoded

_WHOLE = (T.ByteType, T.ShortType, T.IntegerType, T.LongType, T.DecimalType)
_PARTS = "part-*.parquet"  # the names that exports give; Parquet files of others are not read
_UNSIGNED = T.DecimalType(20, 0)  # Spark's type for an unsigned 64-bit integer


def read(spark: SparkSession, run: str, *folders: str | os.PathLike[str]) -> DataFrame:
    """The observations of run `run`, a row each, from every folder that portolan.export wrote: one per node or store.

    Args:
        spark: the session.
        run: the run's name, as it was recorded.
        folders: paths, or addresses that Spark reads (hdfs://, s3a://, ...), of the folders that hold ``run=NAME/``.

    Returns:
        A DataFrame with the columns id, epoch, gold_prob, correct (of losses task_loss in place of both) and whatever else was exported. Columns that some folders lack
        are null there. Ids are long, or decimal(20,0) where one is 2^63 or more, or string.

    Raises:
        ValueError: a folder does not hold the run, or the ids are integers in one and strings in another.
    """
    if not folders:
        raise ValueError("read() needs at least one folder that portolan.export wrote")
    paths = _paths(run, folders)
    schema = _common_schema(run, paths, [_schema_of(spark, run, path) for path in paths])
    parts = [spark.read.schema(schema).options(basePath=path, pathGlobFilter=_PARTS).parquet(path) for path in paths]
    return functools.reduce(DataFrame.union, parts)


def epochs(spark: SparkSession, run: str, *folders: str | os.PathLike[str]) -> DataFrame:
    """Of each epoch: epoch, rows, and written, when the last of its files was, in µs since 1970. Of the files only the ends are read."""
    parts = [
        spark.read.schema("epoch int").options(basePath=path, pathGlobFilter=_PARTS).parquet(path)
        .select("epoch", F.unix_micros("_metadata.file_modification_time").alias("written"))
        for path in _paths(run, folders)
    ]  # fmt: skip
    every = functools.reduce(DataFrame.union, parts)
    return every.groupBy("epoch").agg(F.count(F.lit(1)).alias("rows"), F.max("written").alias("written"))


def _paths(run: str, folders: Sequence[str | os.PathLike[str]]) -> list[str]:
    return [f"{os.fspath(folder).rstrip('/')}/run={encoded(run)}" for folder in folders]


def is_missing(spark: SparkSession, path: str) -> bool:
    """Whether nothing matches `path`. Ask before Spark reads it, which would log a trace of Java. Through Spark Connect it cannot be asked."""
    jvm, context = getattr(spark, "_jvm", None), getattr(spark, "_jsc", None)
    if jvm is None or context is None:
        return False
    try:
        place = jvm.org.apache.hadoop.fs.Path(path)
        return not place.getFileSystem(context.hadoopConfiguration()).globStatus(place)
    except Exception:  # an address that Spark cannot read either, and says why
        return False


def _schema_of(spark: SparkSession, run: str, path: str) -> T.StructType:
    """The common schema of all files under `path`."""
    reader = spark.read.options(basePath=path, pathGlobFilter=_PARTS)
    missing = f"{path} is not there, or holds no Parquet file: has run '{run}' been exported to it?"
    if is_missing(spark, path):
        raise ValueError(missing)
    try:
        return reader.option("mergeSchema", "true").parquet(path).schema
    except Exception as error:  # Spark Connect raises Java's errors as other classes
        if "PATH_NOT_FOUND" in str(error) or "UNABLE_TO_INFER_SCHEMA" in str(error):
            raise ValueError(missing) from None
        if "CANNOT_MERGE" not in str(error):
            raise
        schema = reader.option("mergeSchema", "false").parquet(path).schema
        if not isinstance(schema["id"].dataType, _WHOLE):
            raise
    # A run may get ids of 2^63 and more late: files that were written before have signed ids.
    return T.StructType([T.StructField(field.name, _UNSIGNED if field.name == "id" else field.dataType) for field in schema])


def _common_schema(run: str, paths: list[str], schemas: list[T.StructType]) -> T.StructType:
    kinds: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for path, schema in zip(paths, schemas, strict=True):
        for field in schema:
            known = kinds.setdefault(field.name, field.dataType)
            first = origins.setdefault(field.name, path)
            if known != field.dataType:
                kinds[field.name] = _wider(run, field.name, (first, known), (path, field.dataType))
    return T.StructType([T.StructField(name, kind) for name, kind in kinds.items()])


def _wider(run: str, column: str, first: tuple[str, Any], second: tuple[str, Any]) -> Any:
    if isinstance(first[1], _WHOLE) and isinstance(second[1], _WHOLE):
        return _UNSIGNED if column == "id" else T.LongType()
    raise ValueError(
        f"run '{run}': the column {column} is {first[1].simpleString()} in {first[0]} and {second[1].simpleString()} in {second[0]}"
    )
