#!/bin/bash
# spark.sh BUILD FOLDER [NAME...]: portolan.spark on a standalone cluster of Spark: a master and two workers, on loopback. A virtual environment in
# FOLDER gets Spark, DuckDB and ClickHouse from PyPI; a second time they are there. NAME stands for test_NAME*.py of tests/spark.
set -euo pipefail

cd "$(dirname "$0")/../.."
build=$PWD/$1 folder=$PWD/$2
shift 2
python=$folder/bin/python

wanted="pyspark==4.3.0 numpy pyarrow duckdb chdb pytest" # pyspark brings Spark itself
if [ "$(cat "$folder/installed" 2>/dev/null)" != "$wanted" ]; then
	echo "installing into ${folder##*/}/: $wanted"
	[ -x "$python" ] || /usr/bin/python3 -m venv "$folder"
	rm -f "$folder/installed"
	# shellcheck disable=SC2086 # a list of words
	"$python" -m pip install --quiet --disable-pip-version-check $wanted 2>"$folder/pip.log" || {
		tail -n 20 "$folder/pip.log" >&2
		echo "tools/test: pip could not install: $wanted (all it said is in $folder/pip.log)" >&2
		exit 1
	}
	echo "$wanted" >"$folder/installed"
fi
"$python" -m pip list --format=freeze --disable-pip-version-check | grep -E '^(pyspark|duckdb|chdb|pyarrow|numpy)==' | paste -sd' '

tests=()
for name in "$@"; do
	tests+=(tests/spark/test_"$name"*.py)
done
export PYTHONPATH=$build/python:$PWD/tests/spark PYTHONDONTWRITEBYTECODE=1 SPARK_LOCAL_IP=127.0.0.1
export PORTOLAND=$build/collector/portoland PORTOLAN=$build/analyzer/portolan MAKE_STORE=$build/tests/cli/make_store
exec "$python" -m pytest -q -p no:cacheprovider --durations=5 "${tests[@]:-tests/spark}"
