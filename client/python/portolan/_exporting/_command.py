"""The command line ``python -m portolan COMMAND``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from portolan._exporting import _export
from portolan._portolan import Error

_FAILED, _WRONG_USAGE, _INTERRUPTED = 1, 2, 130

_EXAMPLES = """\
examples:
  python -m portolan export snli/seed1 -o exported/
                            the observations, as a Parquet data set: exported/run=snli%2Fseed1/epoch=0/part-STORE.parquet, ...
  python -m portolan export snli/seed1 -o exported/ --epochs 2:
                            without the first two epochs
  python -m portolan export snli/seed1 -o measures.parquet --what measures
                            a row per example

The same command, started again, completes an export that was broken off, and adds what has been recorded since. All other commands of
Portolan belong to the program portolan: see `portolan help`.
"""


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status. `words`: the command line without the program's name; None: that of the process."""
    options = _parser().parse_args(words)
    if options.output == "-":
        return _said("-o -: Parquet is written to files, not to standard output; a folder of that name is ./-", _WRONG_USAGE)
    try:
        done = _export.export(options.run, options.output, store=options.store, epochs=options.epochs, what=options.what)
    except (Error, ModuleNotFoundError) as error:
        return _said(str(error), _FAILED)
    except (ValueError, TypeError) as error:
        return _said(str(error), _WRONG_USAGE)
    except KeyboardInterrupt:
        return _said("interrupted; the epochs that are complete stay, and the same command goes on from there", _INTERRUPTED)
    if not options.quiet:
        _said(str(done), 0)
    return 0


def _said(text: str, status: int) -> int:
    print(f"portolan: {text}", file=sys.stderr, flush=True)
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m portolan", description="Portolan's Python package as a command.", epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    export = commands.add_parser(
        "export", help="write a run as Parquet", description="Writes a run as Parquet, for Spark, DuckDB, polars, pandas, and others.",
        epilog=_EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    export.add_argument("run", metavar="RUN", help="the run's name")
    export.add_argument("-o", "--output", metavar="PATH", required=True, help="the folder to write to, which is made; of measures, the file")
    export.add_argument("--store", metavar="DIR", help="the store's directory (default: $PORTOLAN_STORE, or ./portolan-store)")
    export.add_argument("--epochs", metavar="A:B", help="epochs A to B-1, counted from 0; either side may be empty (default: all)")
    export.add_argument("--what", choices=("observations", "measures"), default="observations",
                        help="a row per observation, or a row per example (default: observations)")  # fmt: skip
    export.add_argument("-q", "--quiet", action="store_true", help="say nothing at the end")
    return parser
