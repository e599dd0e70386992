"""python -m portolan.spark: measures, select, map-counts."""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Sequence

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from portolan._spark import _map, _measures, _read, _select, _state, _sums

_EXAMPLES = """\
examples:
  # on this machine, all its processors
  python -m portolan.spark measures snli/seed1 exported -o measures
  # what three nodes have recorded and exported, on a cluster
  python -m portolan.spark --master spark://head:7077 measures web/seed1 /data/node0 /data/node1 /data/node2 -o /data/measures
  # the same during a long training, after each export: only the epochs that came since are read
  python -m portolan.spark measures snli/seed1 exported --state state -o measures-12
  # the most ambiguous third, from written measures; cat ambiguous/part-* prints its ids in rank order
  python -m portolan.spark select --measures measures --by ambiguous --fraction 0.33 -o ambiguous
  # the map of a billion examples, drawn on one machine
  python -m portolan.spark map-counts --measures measures -o map.csv && portolan map --from map.csv -o map.png
  # by spark-submit, which knows the cluster
  spark-submit "$(python -c 'import portolan.spark; print(portolan.spark.__file__)')" measures web/seed1 /data/node* -o /data/measures
"""


def main(words: Sequence[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(words)
    if options.command != "measures" and (options.measures is None) == (options.run is None):
        parser.error(f"{options.command}: say RUN and the folders with its observations, or --measures and a folder with its measures")
    if options.run is not None and not options.folders:
        parser.error(f"{options.command}: say which folders hold run '{options.run}': those that portolan.export wrote")
    if options.command == "measures" and options.state is not None:
        for name in ("epochs", "window", "loss_threshold"):
            if getattr(options, name) is not None:
                parser.error(f"measures: --state keeps sums of all epochs, of labels, without windows: leave --{name.replace('_', '-')} out")
    if options.command == "select":
        _check_rule(parser, options)
    spark = _session(options.master)
    try:
        return {"measures": _write_measures, "select": _write_selection, "map-counts": _write_map_counts}[options.command](spark, options)
    except (OSError, ValueError, AnalysisException) as error:
        parser.exit(1, f"portolan.spark: {str(error).strip().splitlines()[0]}\n")
    finally:
        spark.stop()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m portolan.spark",
        description="The measures, selections and the map of runs that no single machine holds, from what portolan.export wrote.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--master", metavar="URL", help="the cluster, as spark://HOST:7077 (default: spark-submit's, else this machine)")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    measures = _command(commands, "measures", "every example's measures, by ascending id, as a folder of files")
    measures.add_argument("--epochs", metavar="A:B", help="use epochs A to B−1, counted from 0; either side may be empty (default: all)")
    measures.add_argument("--window", type=int, metavar="J", help="dyn_unc and dual too, over windows of J observed epochs (default: without)")
    measures.add_argument("--state", metavar="DIR", help="keep sums in DIR, and read only the epochs that came since the last call")
    measures.add_argument("--format", choices=("parquet", "csv"), default="parquet", help="of the files (default: parquet)")
    _operands(measures, "+")
    select = _command(commands, "select", "the ids that a rule ranks first, in rank order, as a folder of text files")
    select.add_argument("--by", metavar="RULE", required=True, help="a rule of portolan select, but k-center, dual-beta and s2l")
    size = select.add_mutually_exclusive_group()
    size.add_argument("--fraction", type=float, metavar="F", help="take this fraction of the examples, rounded half up")
    size.add_argument("--count", type=int, metavar="N", help="take so many")
    select.add_argument("--threshold", type=float, metavar="X", help="only those whose value is X or more; with MEASURE:asc, X or less")
    select.add_argument("--seed", type=int, default=0, metavar="N", help="of the rule random (default: 0)")
    counts = _command(commands, "map-counts", "how many examples lie in each cell of the map, as one CSV file for portolan map --from")
    counts.add_argument("--x", default="variability", metavar="MEASURE", help="across (default: variability)")
    counts.add_argument("--y", metavar="MEASURE", help="up (default: confidence; of a run of losses task_loss)")
    counts.add_argument("--colour", metavar="MEASURE", help="the cells get the mean of this measure as well")
    for command in (measures, select, counts):
        command.add_argument("--loss-threshold", type=float, metavar="T", help="in runs of losses, take a loss up to T as right")
    for command in (select, counts):
        command.add_argument("--measures", metavar="DIR", help="read measures that were written, instead of observations")
        _operands(command, "*")
    return parser


def _command(commands: argparse._SubParsersAction, name: str, summary: str) -> argparse.ArgumentParser:  # type: ignore[type-arg]
    command = commands.add_parser(
        name, help=summary, description=summary[0].upper() + summary[1:] + ".", epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    command.add_argument("-o", "--output", required=True, metavar="PATH", help="where to; it must not exist")
    return command


def _operands(command: argparse.ArgumentParser, how_many: str) -> None:
    command.add_argument("run", nargs=None if how_many == "+" else "?", metavar="RUN", help="the run's name")
    command.add_argument("folders", nargs=how_many, metavar="DIR", help="what portolan.export wrote: one folder for each node or store")


def _check_rule(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Reports errors that do not depend on the data, before a session is started."""
    try:
        _select.check_request(options.by, options.fraction, options.count, options.threshold)
    except ValueError as error:
        parser.error(f"select: {error}")


def _session(master: str | None) -> SparkSession:
    builder = SparkSession.builder.appName("portolan")
    if master is not None:
        builder = builder.master(master)
    return builder.getOrCreate()


def _table(spark: SparkSession, options: argparse.Namespace) -> DataFrame:
    """The measures that a command starts from."""
    if getattr(options, "measures", None) is not None:
        if _read.is_missing(spark, options.measures):
            raise ValueError(f"{options.measures} is not there: portolan.spark measures writes it")
        if options.loss_threshold is not None:
            raise ValueError("--loss-threshold is of observations: portolan.spark measures takes it")
        return spark.read.parquet(options.measures)
    seen = _read.read(spark, options.run, *options.folders)
    return _measures.measures(
        seen, epochs=getattr(options, "epochs", None), window=getattr(options, "window", None), loss_threshold=options.loss_threshold
    )


def _write_measures(spark: SparkSession, options: argparse.Namespace) -> int:
    if options.state is not None:
        table = _sums.measures_of(_state.keep_sums(spark, options.state, options.run, *options.folders))
    else:
        table = _table(spark, options)
    rows = table.orderBy("id")
    rows.write.save(options.output, format=options.format, header=True)
    return 0


def _write_selection(spark: SparkSession, options: argparse.Namespace) -> int:
    chosen = _select.select(
        _table(spark, options), options.by, options.fraction, options.count, threshold=options.threshold, seed=options.seed
    )
    chosen.select(chosen["id"].cast("string")).write.text(options.output)
    return 0


def _write_map_counts(spark: SparkSession, options: argparse.Namespace) -> int:
    """At most 13,200 rows, which come to the driver."""
    if os.path.lexists(options.output):
        raise ValueError(f"{options.output} is there already")
    counts = _map.map_counts(_table(spark, options), options.x, options.y, options.colour)
    rows = counts.collect()
    with open(options.output, "x", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(counts.columns)
        table.writerows(rows)
    return 0
