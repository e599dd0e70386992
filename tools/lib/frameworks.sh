#!/bin/bash
# frameworks.sh BUILD FOLDER [NAME...]: the hooks against the frameworks they are for, the tables against what reads them. A virtual environment in FOLDER gets them from PyPI; a
# second time they are there. Then tests/frameworks runs in it, with the package and the programs of BUILD; NAME stands for test_NAME*.py.
set -euo pipefail

cd "$(dirname "$0")/../.."
build=$PWD/$1 folder=$PWD/$2
shift 2
python=$folder/bin/python

# torch first and alone: what needs it would else choose another one.
groups=(
	"torch==2.13.0 numpy pytest pillow"
	"transformers accelerate datasets trl lightning peft torch_geometric"
	"keras jax flax optax scikit-learn skorch cleanlab"
	"tensorflow-cpu"
	"xgboost-cpu lightgbm catboost scipy"
	"tensorboard mlflow-skinny wandb" # what the report's page writes to
	"pandas>=3 polars duckdb pyarrow matplotlib nbconvert ipykernel" # what reads the tables, draws maps, and runs the notebook
	"fastcore fastdownload fastprogress fasttransform plum-dispatch<2.10"
	"jupyterlab jupyter-server-proxy jupyterhub configurable-http-proxy selenium" # the live page in a cell: on this machine, through the notebook's server, on a hub
	"--no-deps fastai" # it asks for a torchvision, which would ask for a torch of its own, and for spacy
	"--no-deps --target $folder/torchvision torchvision==0.28.0" # apart: it cannot be imported beside every build of torch, and transformers would
)

wanted=$(printf '%s\n' "${groups[@]}")
if [ "$(cat "$folder/installed" 2>/dev/null)" != "$wanted" ]; then
	echo "installing into ${folder##*/}/: ${groups[*]}"
	[ -x "$python" ] || /usr/bin/python3 -m venv "$folder"
	rm -f "$folder/installed"
	for group in "${groups[@]}"; do
		# shellcheck disable=SC2086 # a list of words
		"$python" -m pip install --quiet --disable-pip-version-check $group 2>"$folder/pip.log" || {
			tail -n 20 "$folder/pip.log" >&2
			echo "tools/test: pip could not install: $group (all it said is in $folder/pip.log)" >&2
			exit 1
		}
	done
	echo "$wanted" >"$folder/installed"
fi
"$python" -m pip list --format=freeze --disable-pip-version-check |
	grep -E '^(torch|transformers|accelerate|datasets|trl|lightning|keras|jax|flax|scikit-learn|tensorflow_cpu|skorch|cleanlab|fastai|xgboost-cpu|lightgbm|catboost|peft|torch-geometric|numpy|tensorboard|mlflow-skinny|wandb|pandas|polars|duckdb|pyarrow|nbconvert|jupyterlab|jupyter_server_proxy|jupyterhub)==' | paste -sd' '

tests=()
for name in "$@"; do
	tests+=(tests/frameworks/test_"$name"*.py)
done
export PYTHONPATH=$build/python:$PWD/tests/integration:$PWD/tests/frameworks:$PWD/tests/browser PYTHONDONTWRITEBYTECODE=1
export PORTOLAND=$build/collector/portoland PORTOLAN=$build/analyzer/portolan
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false
exec "$python" -m pytest -q -p no:cacheprovider --durations=5 "${tests[@]:-tests/frameworks}"
