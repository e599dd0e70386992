"""Command-line tests of portolan: what it prints, on both streams, its exit status, and the files it writes.

    run_cli.py PORTOLAN MAKE_STORE [--regenerate]

Each case has a file in expected/. With --regenerate these are written anew: read the difference before committing it.
Times of creation are replaced by CREATED, and the version of portolan by VERSION.
"""

import os
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mishaps
import stores

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "expected")
TEMPLATES = os.path.join(HERE, "..", "..", "analyzer")

# Names, then the shell words after "portolan"; run in the test's folder, where ./store is. FILE> shows a file written,
# FILES> what is in a folder.
CASES = {
    "no-command": "",
    "version": "--version",
    "help": "--help",
    "help-of-unknown": "help metrcs",
    "help-runs": "help runs",
    "help-backup": "help backup",
    "help-salvage": "help salvage",
    "short-runs": "runs --help",
    "short-check": "check --help",
    "short-metrics": "metrics --help",
    "short-dynamics": "dynamics --help",
    "short-show": "show --help",
    "short-epochs": "epochs --help",
    "short-map": "map --help",
    "short-select": "select -h",
    "short-noise": "noise --help",
    "short-compare": "compare --help",
    "short-groups": "groups --help",
    "short-aflite": "aflite --help",
    "short-artifacts": "artifacts --help",
    "short-upsample": "upsample --help",
    "short-watch": "watch --help",
    "short-serve": "serve --help",
    "short-import": "import --help",
    "short-rm": "rm --help",
    "short-backup": "backup --help",
    "short-salvage": "salvage --help",
    "salvage-no-output": "salvage damaged",
    "short-keygen": "keygen --help",
    "short-completion": "completion --help",
    "short-noise-fit": "noise fit --help",
    "help-noise-fit": "help noise fit",
    "help-noise-mixture": "help noise mixture",
    "help-noise-aum": "help noise aum",
    "help-noise-confident": "help noise confident",
    "help-no-action": "help noise fti",
    "help-no-actions": "help runs plan",
    "help-check": "help check",
    "help-completion": "help completion",
    "completion-operand": "completion bash there",
    "completion-wrong": "completion tcsh",
    "completion-candidates": "completion candidates -- select small --by reg",
    "help-metrics": "help metrics",
    "help-dynamics": "help dynamics",
    "help-show": "help show",
    "help-epochs": "help epochs",
    "epochs": "epochs small",
    "epochs-json": "epochs small --json",
    "epochs-tsv": "epochs signals -o e.tsv FILE>e.tsv",
    "epochs-in-progress": "epochs progress --strict",
    "epochs-nothing-yet": "epochs nothing",
    "epochs-no-run": "epochs smal",
    "epochs-no-store": "epochs small --store ./nowhere",
    "help-map": "help map",
    "help-select": "help select",
    "help-noise": "help noise",
    "help-compare": "help compare",
    "help-groups": "help groups",
    "help-aflite": "help aflite",
    "groups-numbers": "groups small --attributes agree.csv --id-field id --by ambiguous --count 3 --replicates 200",
    "groups-fraction-of-none": "groups small --attributes agree.csv --id-field id --by ambiguous --fraction 0.01 --replicates 0",
    "groups-json": "groups strings --attributes pairs.jsonl --id-field guid --by confidence:asc --count 1 --json --replicates 0",
    "groups-blanks": "groups small --attributes blanks.csv --id-field id --by hard-to-learn --replicates 0",
    "groups-texts": "groups small --attributes pairs.csv --id-field id --text-pair premise,hypothesis --words NOT,never --by hard-to-learn --replicates 0",
    "groups-columns": "groups small --attributes pairs.csv --id-field id --columns source,length --level 0.5 --seed 3",
    "groups-latin": "groups small --attributes latin.csv --id-field id --by region:hard-to-learn --json --replicates 0",
    "groups-latin-rows": "groups small --attributes latin.csv --id-field id --by region:hard-to-learn --replicates 0 -o latin.jsonl FILE>latin.jsonl",
    "groups-region": "groups small --attributes agree.csv --id-field id --columns agreement --by region:easy-to-learn --replicates 0 --json",
    "groups-k-center": "groups small --attributes agree.csv --id-field id --by k-center",
    "groups-wrong-seed": "groups small --attributes pairs.csv --id-field id --seed 9223372036854775808",
    "groups-strict": "groups small --attributes pairs.csv --id-field id --columns length --replicates 0 --strict",
    "groups-no-column": "groups small --attributes pairs.csv --id-field id --columns lenght",
    "groups-no-id-field": "groups small --attributes pairs.csv",
    "groups-wrong-id-field": "groups small --attributes pairs.csv --id-field source",
    "groups-nothing": "groups small",
    "groups-both": "groups small --attributes pairs.csv --id-field id --forgetting",
    "groups-words-alone": "groups small --attributes pairs.csv --id-field id --words not",
    "groups-one-text": "groups small --attributes pairs.csv --id-field id --text-pair premise",
    "groups-number-text": "groups small --attributes pairs.csv --id-field id --text-pair premise,length",
    "groups-twice": "groups small --attributes twice.csv --id-field id",
    "groups-both-sizes": "groups small --attributes pairs.csv --id-field id --count 1 --fraction 0.5",
    "groups-wrong-replicates": "groups small --attributes pairs.csv --id-field id --replicates many",
    "groups-wrong-level": "groups small --attributes pairs.csv --id-field id --level 95",
    "groups-no-signals": "groups small --attributes pairs.csv --id-field id --by aum:asc",
    "groups-plot-alone": "groups small --attributes pairs.csv --id-field id --plot x.svg",
    "groups-forgetting": "groups small --forgetting --plot forgotten.svg --script FILE>forgotten.gp",
    "groups-forgetting-never-learned": "groups small --forgetting --never-learned infinity",
    "groups-never-learned-json": "groups small --forgetting --never-learned epochs --json",
    "groups-forgetting-by": "groups small --forgetting --by hard-to-learn",
    "groups-forgetting-json": "groups small --forgetting --json --epochs 1:",
    "help-artifacts": "help artifacts",
    "help-upsample": "help upsample",
    "artifacts": "artifacts pairs.csv --text premise,hypothesis --label source --min-count 1 --top 4",
    "artifacts-prior": "artifacts pairs.csv --text premise --label source --min-count 1 --prior share --per-field --plot tokens.svg --script FILE>tokens.gp",
    "artifacts-no-text": "artifacts pairs.csv --label source",
    "artifacts-no-label": "artifacts pairs.csv --text premise",
    "artifacts-no-file": "artifacts --text premise --label source",
    "artifacts-missing-file": "artifacts nowhere.csv --text premise --label source",
    "artifacts-wrong-text": "artifacts pairs.csv --text premis --label source",
    "artifacts-same-text": "artifacts pairs.csv --text premise,premise --label source",
    "artifacts-empty-text": "artifacts pairs.csv --text premise, --label source",
    "artifacts-wrong-prior": "artifacts pairs.csv --text premise --label source --prior shares",
    "artifacts-wrong-ngrams": "artifacts pairs.csv --text premise --label source --ngrams 6",
    "artifacts-wrong-limits": "artifacts pairs.csv --text premise --label source --max-count 10",
    "artifacts-wrong-plot": "artifacts pairs.csv --text premise --label source --plot tokens.txt",
    "artifacts-no-stop-words": "artifacts pairs.csv --text premise --label source --stop-words nowhere.txt",
    "artifacts-tokens-and-more": "artifacts pairs.csv --text premise --label source --tokens ids.txt --per-field",
    "artifacts-few": "artifacts pairs.csv --text premise --label source --plot tokens.png",
    "artifacts-full-disk": "artifacts pairs.csv --text premise --label source --min-count 1 -o /dev/full",
    "upsample": "upsample pairs.csv --text premise,hypothesis --label source --min-count 1 --top 2 --plot up.svg -o up.csv --script FILE>up.gp",
    "upsample-file": "upsample pairs.csv --text premise,hypothesis --label source --min-count 1 --top 2 -o up.csv FILE>up.csv",
    "upsample-json": "upsample pairs.csv --text premise,hypothesis --label source --min-count 1 --top 1 --weights count --json -o up.txt FILE>up.txt",
    "upsample-no-output": "upsample pairs.csv --text premise --label source",
    "upsample-other-ending": "upsample pairs.csv --text premise --label source --min-count 1 -o up.jsonl",
    "upsample-wrong-step": "upsample pairs.csv --text premise --label source --step 2 -o up.csv",
    "upsample-wrong-pick": "upsample pairs.csv --text premise --label source --pick conflictfree -o up.csv",
    "upsample-wrong-weights": "upsample pairs.csv --text premise --label source --weights counts -o up.csv",
    "upsample-wrong-top": "upsample pairs.csv --text premise --label source --top 1001 -o up.csv",
    "upsample-both-to-output": "upsample pairs.csv --text premise --label source --json -o -",
    "upsample-full-disk": "upsample pairs.csv --text premise --label source --min-count 1 -o /dev/full",
    "help-watch": "help watch",
    "watch-no-run": "watch --once",
    "watch-wrong-run": "watch smal --once",
    "watch-no-store": "watch small --once --store ./nowhere",
    "watch-wrong-interval": "watch small --interval 0",
    "help-serve": "help serve",
    "serve-wrong-listen": "serve --listen 0.0.0.0:5780",
    "help-import": "import --help",
    "help-rm": "help rm",
    "help-keygen": "help keygen",
    "mistyped-command": "metrcs small",
    "unknown-command": "xyzzy",
    "mistyped-option": "metrics small --epoch-range 1:",
    "mistyped-option-near": "metrics small --epocs 1:",
    "option-without-argument": "metrics small --epochs",
    "option-with-argument": "metrics small --strict=yes",
    "unknown-short-option": "metrics small -x",
    "unknown-letter": "metrics small -é",
    "no-run": "metrics",
    "two-runs": "metrics small other",
    "runs": "runs",
    "runs-json": "runs --json",
    "runs-operand": "runs small",
    "check": "check small",
    "check-complete": "check bell",
    "check-json": "check strings --json",
    "check-all": "check",
    "check-in-progress": "check progress",
    "check-nothing-yet": "check nothing",
    "check-wrong-run": "check smal",
    "check-two-runs": "check small strings",
    "missing-store": "runs --store ./nowhere",
    "wrong-run": "metrics smal",
    "wrong-run-far": "metrics completely-different",
    "metrics": "metrics small",
    "metrics-json": "metrics small --json",
    "metrics-jsonl": "metrics small --format jsonl",
    "dynamics": "dynamics small",
    "dynamics-columns": "dynamics strings --columns correct,gold,rank --format jsonl --epochs 1:",
    "dynamics-wrong-column": "dynamics small --columns confidence",
    "dynamics-id-bytes": "dynamics small --id-bytes",
    "show": "show small 4 0 4",
    "show-unknown": "show strings 10 11 --epochs 1:",
    "show-nobody": "show small",
    "metrics-cartography": "metrics small --format cartography",
    "metrics-include-ci": "metrics small --format cartography --include-ci",
    "metrics-include-ci-one-epoch": "metrics small --format cartography --include-ci --epochs :1",
    "metrics-include-ci-csv": "metrics small --include-ci",
    "metrics-never-learned-1000": "metrics small --never-learned 1000",
    "metrics-never-learned-epochs": "metrics small --never-learned epochs --format cartography",
    "metrics-never-learned-infinity": "metrics small --never-learned infinity",
    "metrics-never-learned-infinity-jsonl": "metrics small --never-learned infinity -f jsonl",
    "metrics-never-learned-zero": "metrics small --never-learned 0 --format cartography",
    "metrics-never-learned-flag": "metrics small --never-learned flag --format cartography",
    "metrics-never-learned-wrong": "metrics small --never-learned infinite",
    "metrics-threads-wrong": "metrics small --threads 0",
    "metrics-memory-wrong": "metrics small --max-memory 1.5G",
    "metrics-strings": "metrics strings",
    "metrics-aum": "metrics signals --format aum",
    "metrics-aum-no-signals": "metrics small --format aum",
    "metrics-aum-never-learned": "metrics signals --format aum --never-learned infinity",
    "metrics-strings-jsonl": "metrics strings -f jsonl",
    "metrics-signals": "metrics signals",
    "metrics-epochs": "metrics small --epochs 1:3",
    "metrics-epochs-open": "metrics small --epochs :1",
    "metrics-epochs-none": "metrics small --epochs 7:",
    "metrics-epochs-none-between": "metrics small --epochs 7:9",
    "metrics-epochs-empty": "metrics small --epochs 2:2",
    "metrics-epochs-wrong": "metrics small --epochs 2",
    "metrics-format-wrong": "metrics small --format jsnl",
    "metrics-strict": "metrics small --strict",
    "metrics-in-progress": "metrics progress",
    "metrics-nothing-yet": "metrics nothing",
    "metrics-first-epoch": "metrics scratch --format cartography",
    "select-first-epoch": "select scratch --by ambiguous --fraction 0.5",
    "select-first-epoch-auto": "select scratch --by ambiguous --fraction 0.5 --epochs auto -o auto.txt FILE>auto.txt.manifest.json",
    "select-one-epoch": "select small --by ambiguous --epochs 0:1",
    "select-fraction-of-none": "select small --by hard-to-learn --fraction 0.01",
    "select-fraction-of-none-per-class": "select small --by hard-to-learn --fraction 0.1 --per-class",
    "select-count-too-large": "select small --by hard-to-learn --count 50",
    "metrics-first-epoch-left-out": "metrics scratch --format cartography --epochs 1:",
    "metrics-to-file": "metrics small -o out.jsonl FILE>out.jsonl",
    "metrics-no-folder": "metrics small -o no/such/out.csv",
    "metrics-full-disk": "metrics small -o /dev/full",
    "select-no-rule": "select small",
    "select-wrong-rule": "select small --by ambigous",
    "select-no-such-rule": "select small --by best",
    "select-no-such-measure": "select small --by best:desc",
    "select-no-direction": "select small --by confidence",
    "select-wrong-measure": "select small --by confidnce:asc",
    "select-no-signals": "select small --by aum:asc",
    "select-dual": "select long --by dual:desc --count 5 --with-measures --format csv",
    "select-dual-short": "select small --by dual:desc",
    "select-strata": "select bell --by confidence:asc --strata 10 --cut 0.2 --count 15",
    "select-strata-by-id": "select bell --by random --strata 5 --count 3",
    "select-strata-no-size": "select bell --by confidence:asc --strata 5",
    "select-strata-offset": "select bell --by confidence:asc --strata 5 --count 3 --offset 2",
    "select-strata-per-class": "select bell --by confidence:asc --strata 5 --count 3 --per-class",
    "select-cut-alone": "select bell --by confidence:asc --cut 0.2 --count 3",
    "select-strata-cut-too-much": "select bell --by confidence:asc --strata 5 --cut 0.999 --count 5",
    "select-dual-beta": "select long --by dual-beta --count 8 --c-d 2",
    "select-dual-beta-no-size": "select long --by dual-beta",
    "select-dual-beta-sizes": "select long --by dual-beta --fractions 0.1,0.2 -o out.txt",
    "select-dual-beta-per-class": "select long --by dual-beta --count 3 --stratified",
    "select-dual-beta-short": "select small --by dual-beta --count 3",
    "select-c-d-alone": "select long --by dual:desc --c-d 2",
    "select-s2l": "select long --by s2l --clusters 5 --count 10",
    "select-s2l-with": "select bell --with bell2 --by s2l --count 3",
    "select-s2l-per-class": "select bell --by s2l --count 3 --per-class",
    "select-clusters-alone": "select bell --by random --clusters 3",
    "select-tdds-without": "select long --by tdds:desc",
    "groups-dual-beta": "groups long --data X.npy --id-field id --by dual-beta",
    "select-dyn-unc-window": "select small --by dyn_unc:desc --window 2 --with-measures --format csv",
    "select-window-wrong": "select small --by dyn_unc:desc --window 1",
    "select-ambiguous": "select small --by ambiguous --fraction 0.33",
    "select-hard": "select small --by hard-to-learn --count 2",
    "select-easy": "select small --by easy-to-learn --fraction 0.5",
    "select-all": "select small --by correctness:asc",
    "select-forgettable": "select small --by forgettable",
    "select-forgettable-one": "select small --by forgettable --count 1",
    "select-random": "select small --by random --seed 5",
    "select-user-column": "select signals --by my_loss:desc",
    "select-aum": "select signals --by aum:asc",
    "select-csv": "select strings --by ambiguous --format csv",
    "select-jsonl": "select strings --by ambiguous --format jsonl --count 2",
    "select-with-measures": "select small --by ambiguous --count 2 --with-measures",
    "select-with-measures-ids": "select small --by ambiguous --with-measures --format ids",
    "select-per-class": "select small --by ambiguous --count 1 --per-class",
    "select-per-class-smallest": "select small --by ambiguous --per-class --count smallest -o smallest.txt FILE>smallest.txt FILE>smallest.txt.manifest.json",
    "select-smallest-alone": "select small --by ambiguous --count smallest",
    "select-wrong-count": "select small --by ambiguous --count 0",
    "select-offset": "select small --by ambiguous --count 2 --offset 1 -o window.txt FILE>window.txt FILE>window.txt.manifest.json",
    "select-offset-too-large": "select small --by ambiguous --count 2 --offset 0.9",
    "select-wrong-offset": "select small --by ambiguous --offset 1.5",
    "select-offset-both-ends": "select small --by hard-to-learn --count 2 --offset 1 --both-ends 0.5",
    "select-group": "select small --by group:ambiguous -o group.txt FILE>group.txt FILE>group.txt.manifest.json",
    "select-sizes": "select small --by ambiguous --fraction 0.33 --sizes published",
    "select-sizes-count": "select small --by ambiguous --count 2 --sizes published",
    "select-per-class-no-size": "select small --by ambiguous --per-class",
    "select-mix": "select small --by hard-to-learn --count 4 --mix easy-to-learn=0.5",
    "select-mix-too-much": "select small --by ambiguous --count 4 --mix random=0.6 --mix easy-to-learn=0.6",
    "select-npy-strings": "select strings --by ambiguous --format npy",
    "select-both-sizes": "select small --by ambiguous --count 1 --fraction 0.5",
    "select-wrong-seed": "select small --by random --seed 9223372036854775808",
    "compare-wrong-regions": "compare bell bell2 --show regions --regions -0.1,0.5",
    "select-wrong-fraction": "select small --by ambiguous --fraction 33%",
    "select-join-tsv": "select small --by ambiguous --count 3 --join lines.tsv --id-field id",
    "select-join-csv": "select small --by ambiguous --count 2 --join lines.csv --id-field id",
    "select-join-jsonl": "select strings --by ambiguous --join lines.jsonl --id-field guid",
    "select-join-missing": "select small --by hard-to-learn --join lines.tsv --id-field id",
    "select-glue-alone": "select small --by ambiguous --glue",
    "select-join-measures-tsv": "select small --by ambiguous --count 2 --join lines.tsv --id-field id --with-measures",
    "select-join-measures-jsonl": "select strings --by ambiguous --count 1 --join lines.jsonl --id-field guid --with-measures",
    "select-join-wrong-field": "select small --by ambiguous --join lines.tsv --id-field Id",
    "select-join-wrong-json-field": "select strings --by ambiguous --join lines.jsonl --id-field id",
    "select-join-malformed": "select strings --by ambiguous --join broken.jsonl --id-field guid",
    "select-join-no-field": "select small --by ambiguous --join lines.tsv",
    "select-join-no-file": "select small --by ambiguous --join nowhere.tsv --id-field id",
    "select-threshold": "select small --by confidence:desc --threshold 0.5 --with-measures",
    "select-threshold-ascending": "select small --by confidence:asc --threshold 0.5",
    "select-threshold-none": "select small --by ambiguous --threshold 2",
    "select-threshold-random": "select small --by random --threshold 2",
    "select-threshold-wrong": "select small --by ambiguous --threshold much",
    "select-region": "select small --by region:easy-to-learn",
    "select-region-cuts": "select small --by region:hard-to-learn --regions 0.3,0.6",
    "select-region-too-few": "select small --by region:ambiguous --count 4",
    "select-region-wrong-cuts": "select small --by region:ambiguous --regions 0.3",
    "select-region-cuts-alone": "select small --by ambiguous --regions 0.3,0.5",
    "select-both-ends": "select small --by hard-to-learn --both-ends 0.7 --fraction 0.5",
    "select-both-ends-random": "select small --by random --both-ends 0.7 --fraction 0.5",
    "select-both-ends-wrong": "select small --by hard-to-learn --both-ends 1 --count 2",
    "select-both-ends-no-size": "select small --by hard-to-learn --both-ends 0.5",
    "select-stratified": "select small --by hard-to-learn --count 3 --stratified",
    "select-stratified-per-class": "select small --by hard-to-learn --count 3 --stratified --per-class",
    "select-stratified-no-labels": "select strings --by hard-to-learn --count 3 --stratified",
    "select-forgetting": "select small --by forgetting",
    "select-forgetting-manifest": "select small --by forgetting -o f.txt FILE>f.txt.manifest.json",
    "select-never-learned": "select small --by forgetting --never-learned 0",
    "select-never-learned-wrong": "select small --by forgetting --never-learned 2000",
    "select-only": "select small --by easy-to-learn --fraction 0.5 --only some.txt",
    "select-only-strict": "select small --by easy-to-learn --only some.txt --exclude zero.txt --strict",
    "select-exclude": "select small --by easy-to-learn --exclude zero.txt --exclude three.txt --count 2",
    "select-exclude-strings": "select strings --by easy-to-learn --exclude names.txt",
    "select-exclude-all": "select small --by easy-to-learn --only zero.txt --exclude zero.txt",
    "select-exclude-words": "select small --by easy-to-learn --exclude words.txt",
    "select-exclude-no-file": "select small --by easy-to-learn --exclude nowhere.txt",
    "select-stdin-twice": "select small --by easy-to-learn --exclude - --only -",
    "select-manifest": "select small --by hard-to-learn --fraction 0.5 --both-ends 0.7 --stratified --exclude zero.txt -o chosen.txt "
                       "FILE>chosen.txt FILE>chosen.txt.manifest.json",
    "select-manifest-strings": "select strings --by region:ambiguous --mix random=0.5 --count 2 --regions 0.3,0.5 --epochs 0:2 "
                               "-o strings.csv -f csv FILE>strings.csv.manifest.json",
    "select-no-manifest": "select small --by random --no-manifest -o folder/bare.txt FILES>folder",
    "select-fractions": "select small --by hard-to-learn --fractions 0.5,.25 -o folder/hard.d/few.txt FILES>folder/hard.d "
                        "FILE>folder/hard.d/few-0.25.txt FILE>folder/hard.d/few-0.5.txt",
    "select-fractions-paper": "select bell --by ambiguous --fractions paper --no-manifest -o folder/paper FILES>folder",
    "select-fractions-twice": "select small --by ambiguous --fractions 0.1,0.10 -o x.txt",
    "select-fractions-wrong": "select small --by ambiguous --fractions 0.1,,0.2 -o x.txt",
    "select-fractions-no-output": "select small --by ambiguous --fractions 0.1",
    "select-with": "select small --with progress --by hard-to-learn --with-measures",
    "select-with-strings": "select small --with strings --by hard-to-learn",
    "select-with-itself": "select small --with small --by hard-to-learn",
    "select-with-no-run": "select small --with smal --by hard-to-learn",
    "select-with-no-signals": "select signals --with small --by aum:asc",
    "select-with-strict": "select small --with progress --by ambiguous --strict --epochs 0:1",
    "select-k-center": "select small --by k-center --features X.npy --count 4",
    "select-k-center-ids": "select strings --by k-center --features X.npy --feature-ids names-npy.npy --count 3",
    "select-k-center-id-text": "select strings --by k-center --features X.npy --feature-ids six.txt --fraction 1",
    "select-k-center-no-features": "select small --by k-center --count 2",
    "select-k-center-no-size": "select small --by k-center --features X.npy",
    "select-k-center-strings": "select strings --by k-center --features X.npy --count 2",
    "select-k-center-short": "select small --by k-center --features short.npy --count 2",
    "select-k-center-nan": "select small --by k-center --features nan.npy --count 2",
    "select-k-center-fortran": "select small --by k-center --features fortran.npy --count 2",
    "select-k-center-integers": "select small --by k-center --features integers.npy --count 2",
    "select-k-center-flat": "select small --by k-center --features flat.npy --count 2",
    "select-k-center-swapped": "select small --by k-center --features swapped.npy --count 2",
    "select-k-center-cut": "select small --by k-center --features cut.npy --count 2",
    "select-k-center-text": "select small --by k-center --features lines.tsv --count 2",
    "select-k-center-ids-twice": "select strings --by k-center --features X.npy --feature-ids twice.txt --count 3",
    "select-k-center-ids-few": "select strings --by k-center --features X.npy --feature-ids names.txt --count 3",
    "select-why": "select bell --by hard-to-learn --fraction 0.1 --why -o why.txt FILE>why.txt.manifest.json",
    "select-why-sizes": "select small --by random --fractions 0.4,0.8 --why -o why.txt",
    "select-why-json": "select small --by random --count 3 --why --json -o why.txt",
    "select-why-json-no-file": "select small --by random --why --json",
    "select-json-alone": "select small --by random --json",
    "select-without-suspects": "select signals --without-suspects",
    "select-corrections-no-label-field": "select small --corrections some.txt --data lines.tsv --id-field id",
    "select-corrections-no-columns": "select small --corrections lines.csv",
    "select-everything": "select small --by all --data lines.tsv --id-field id",
    "select-features-for-nothing": "select small --by ambiguous --features X.npy",
    "map-no-output": "map small",
    "map-wrong-ending": "map small -o map.jpg",
    "map-wrong-sample": "map small -o map.png --sample 0",
    "map-no-folder": "map small -o no/such/map.png",
    "map-foreign-script": "map small -o foreign.png --script",
    "map-other-script": "map small -o other.pdf --script",
    "map-foreign-data": "map small -o precious.png --script",
    "map-no-file": "map small -o folder.png",
    "compare-script-alone": "compare small again --early-stopping --script",
    "map-missing-epochs": "map small -o gaps.svg --script FILE>gaps.gp",
    "map-from-and-run": "map small --from points.jsonl -o x.png",
    "map-two-kinds": "map bell --beside long --shift long -o x.png",
    "map-two-kinds-gif": "map bell --beside long -o x.gif",
    "map-from-path": "map --from points.jsonl --path 1 -o x.png",
    "map-shift-colour": "map bell --shift long --colour aum -o x.png",
    "map-path-density": "map bell --path 1 --density -o x.png",
    "map-frames-png": "map bell --frames frames -o x.png",
    "map-colour-file-alone": "map bell --colour-file agree.csv -o x.png",
    "map-id-field-alone": "map bell --id-field id -o x.png",
    "map-from-epochs": "map --from points.jsonl --epochs 1: -o x.png",
    "map-path-empty": "map bell --path 1,,2 -o x.png",
    "map-path-many": "map bell --path 1,2,3,4,5,6,7,8,9,10,11,12,13 -o x.png",
    "map-path-unknown": "map bell --path 1,2000 -o x.png",
    "map-measure-unknown": "map bell --x variablity -o x.png",
    "map-measure-without-signal": "map bell --y entropy -o x.png",
    "map-beside-unknown": "map bell --beside lang -o x.png",
    "map-colour-no-file": "map bell --colour-file nowhere.csv --colour x -o x.png",
    "map-colour-no-column": "map bell --colour-file agree.csv --colour agreemant -o x.png",
    "map-colour-no-field": "map bell --colour-file agree.jsonl --colour nothing -o x.png",
    "map-colour-no-id-field": "map bell --colour-file agree.csv --id-field guid --colour agreement -o x.png",
    "map-colour-text": "map bell --density --colour-file agree.csv --colour label -o x.png",
    "map-colour-twice": "map bell --colour-file twice.csv --colour agreement -o x.png",
    "map-colour-malformed": "map bell --colour-file broken-agree.jsonl --colour agreement -o x.png",
    "map-colour-object": "map bell --colour-file object.jsonl --colour agreement -o x.png",
    "map-colour-unknown-ids": "map --from points.jsonl --colour-file agree.csv --colour agreement -o x.png",
    "map-colour-other-ids": "map bell --colour-file points.jsonl --colour index -o x.png",
    "map-from-no-column": "map --from agree.csv -o x.png",
    "map-from-text": "map --from agree.csv --x label --y agreement -o x.png",
    "map-from-outside": "map --from outside.tsv -o x.png",
    "map-from-twice": "map --from twice.csv --x agreement --y agreement -o x.png",
    "map-from-no-id": "map --from no-id.jsonl --x confidence --y confidence -o x.png",
    "map-from-empty": "map --from header.csv --x a --y a -o x.png",
    "map-from-no-places": "map --from nothing.jsonl -o x.png",
    "map-json": "map bell --sample 100 -o json.png --json",
    "map-measures": "map small --x first_learned --y forgetting_events -o counts.svg --json --script FILE>counts.gp",
    "map-user-column": "map signals --x my_loss --y aum --colour entropy -o user.svg --script FILE>user.gp",
    "map-one-epoch": "map -o one.svg --epochs 0:1 long",
    "map-colour": "map bell --colour correctness -o same-colour.svg --sample 20",
    "map-colour-file": "map small --colour-file agree.csv --color agreement -o agree.svg --json --script FILE>agree.gp",
    "map-colour-jsonl": "map small --colour-file agree.jsonl --colour agreement -o votes.svg --json",
    "map-means": "map small --density --colour-file agree.csv --colour agreement -o means.svg --script FILE>means.gp",
    "map-beside": "map bell --beside long --sample 50 -o beside.svg --json --script FILE>beside.gp",
    "map-shift": "map bell --shift long -o shift.svg --json --script FILE>shift.gp",
    "map-path": "map strings --path b,a\\,\"quoted\" -o path.svg --json --script FILE>path.gp",
    "map-frames": "map small --frames frames --json --script FILE>frames/epoch-001.gp",
    "map-gif": "map small -o moving.gif --compact --script FILE>moving.gp",
    "map-from": "map --from points.jsonl -o points.svg --json --script FILE>points.gp",
    "map-from-csv": "map --from points.csv --density -o points-csv.pdf --json --title published",
    "map-from-coloured": "map --from points.csv --colour-file agree.csv --colour agreement -o from.svg --json",
    "select-join-cut": "select strings --by ambiguous --join cut.jsonl --id-field guid --with-measures",
    "select-join-quotes": "select small --by hard-to-learn --count 2 --join quotes.csv --id-field id",
    "select-join-empty": "select small --by hard-to-learn --join empty.csv --id-field id",
    "select-join-binary": "select small --by hard-to-learn --join binary.csv --id-field id",
    "select-within-empty": "select small --within empty.csv",
    "select-within-no-json": "select small --within header.csv",
    "select-wrong-direction": "select small --by confidence:up",
    "select-count-no-number": "select small --by hard-to-learn --count 1e3",
    "select-join-unclosed": "select small --by hard-to-learn --count 2 --join unclosed.csv --id-field id",
    "select-join-compressed": "select small --by hard-to-learn --join lines.gz --id-field id",
    "compare": "compare small again",
    "compare-three": "compare bell long bell2",
    "compare-regions": "compare bell bell2 --show regions",
    "compare-regions-cuts": "compare bell bell2 --show regions --regions 0.2,0.75",
    "compare-selection": "compare bell bell2 --show selection",
    "compare-selection-forgettable": "compare small again --show selection --by forgettable",
    "compare-json": "compare small again --json --early-stopping",
    "compare-early": "compare small --early-stopping",
    "compare-early-plot": "compare bell --early-stopping --plot early.svg -o early.csv --script FILE>early.csv FILE>early.gp",
    "compare-early-plot-two": "compare alpha beta --early-stopping --plot early.svg",
    "compare-average": "compare small again --average",
    "compare-average-never-learned": "compare small again --average --never-learned flag",
    "compare-never-learned-alone": "compare small again --never-learned epochs",
    "compare-average-strict": "compare small again --average --strict -o average.jsonl --format jsonl FILE>average.jsonl",
    "compare-no-run": "compare",
    "compare-one-run": "compare small",
    "compare-same-run": "compare small small",
    "compare-id-kinds": "compare small strings",
    "compare-none-shared": "compare scratch far",
    "compare-wrong-table": "compare small again --show regoins",
    "compare-k-center": "compare bell bell2 --show selection --by k-center",
    "compare-wrong-rule": "compare small again --by confidnce:asc --show selection",
    "compare-no-signals": "compare small again --by aum:asc --show selection",
    "compare-plot-alone": "compare small again --plot x.svg",
    "compare-plot-ending": "compare small --early-stopping --plot x.gif",
    "compare-scatter": "compare small again --scatter scatter.svg -o scatter.csv --script FILE>scatter.csv FILE>scatter.gp",
    "compare-scatter-three": "compare bell long bell2 --scatter scatter.svg",
    "compare-scatter-early": "compare bell bell2 --early-stopping --scatter scatter.svg",
    "compare-scatter-ending": "compare small again --scatter scatter.jpg",
    "compare-sample-alone": "compare small again --sample 10",
    "compare-format-alone": "compare small again --format csv",
    "noise-plan": "noise plan three --fraction 0.1 -o flips.tsv FILE>flips.tsv FILE>flips.tsv.manifest.json",
    "noise-plan-manifest": "noise plan words --fraction 0.34 --seed 5 --regions 0.5,0.25 --epochs :2 -o few.tsv FILE>few.tsv.manifest.json",
    "noise-plan-device": "noise plan three --fraction 0.01 -o /dev/null",
    "noise-plan-seed": "noise plan three --fraction 0.1 --seed 7 -o -",
    "noise-plan-strings": "noise plan words --fraction 0.34 --regions 0.5,0.5 -o -",
    "noise-plan-too-many": "noise plan three --fraction 0.9 -o -",
    "noise-plan-none": "noise plan small --fraction 0.01 -o -",
    "noise-plan-no-labels": "noise plan bell --fraction 0.01 -o -",
    "noise-plan-one-class": "noise plan alike --fraction 0.5 -o -",
    "noise-plan-no-fraction": "noise plan three -o -",
    "noise-plan-no-output": "noise plan three --fraction 0.01",
    "noise-plan-aum": "noise plan words --method aum -o few-samples.tsv FILE>few-samples.tsv FILE>few-samples.tsv.manifest.json",
    "noise-plan-aum-set": "noise plan three --method aum --set 5 -o -",
    "noise-plan-aum-no-labels": "noise plan bell --method aum -o -",
    "noise-plan-aum-none": "noise plan three --method aum --fraction 0.001 -o -",
    "noise-plan-aum-regions": "noise plan three --method aum --regions 0.1,0.5 -o -",
    "noise-plan-set": "noise plan three --fraction 0.1 --set 2 -o -",
    "noise-fit": "noise fit flipped --flips planned.tsv -o model.json --before three --plot fit.svg --script FILE>model.json FILE>fit.gp",
    "noise-fit-json": "noise fit flipped --flips planned.tsv -o model2.json --json --seed 3",
    "noise-fit-unknown": "noise fit flipped --flips unknown.tsv -o model3.json",
    "noise-fit-strict": "noise fit flipped --flips unknown.tsv -o model3.json --strict",
    "noise-fit-not-retrained": "noise fit three --flips planned.tsv -o model3.json",
    "noise-fit-wrong-before": "noise fit flipped --flips planned.tsv -o model3.json --before flipped --plot x.svg",
    "noise-fit-wrong-label": "noise fit flipped --flips wrong-label.tsv -o model3.json",
    "noise-fit-twice": "noise fit flipped --flips twice.tsv -o model3.json",
    "noise-fit-same": "noise fit flipped --flips same.tsv -o model3.json",
    "noise-fit-cut": "noise fit flipped --flips cut.tsv -o model3.json",
    "noise-fit-commas": "noise fit flipped --flips commas.csv -o model3.json",
    "noise-fit-empty": "noise fit flipped --flips empty.tsv -o model3.json",
    "noise-fit-one": "noise fit flipped --flips one.tsv -o model3.json",
    "noise-fit-no-file": "noise fit flipped --flips nowhere.tsv -o model3.json",
    "noise-fit-no-output": "noise fit flipped --flips planned.tsv",
    "noise-apply": "noise apply three --model model.json --count 5",
    "noise-apply-jsonl": "noise apply words --model model.json --format jsonl",
    "noise-apply-threshold": "noise apply flipped --model model.json --threshold 0.9",
    "noise-apply-not-json": "noise apply three --model planned.tsv",
    "noise-apply-other-json": "noise apply three --model other.json",
    "noise-apply-no-file": "noise apply three --model nowhere.json",
    "noise-apply-both-sizes": "noise apply three --model model.json --count 5 --fraction 0.1",
    "noise-mixture": "noise mixture flipped --count 6 --plot mixture.png --script FILE>mixture.gp",
    "noise-mixture-aum": "noise mixture signals --by aum",
    "noise-mixture-no-aum": "noise mixture three --by aum",
    "noise-mixture-one-group": "noise mixture level",
    "noise-apply-suspects": "noise apply flipped --model model.json --suspects",
    "noise-apply-suspects-count": "noise apply flipped --model model.json --suspects --count 1",
    "noise-confident-json": "noise confident small --json",
    "noise-apply-fraction-of-none": "noise apply flipped --model model.json --fraction 0.001",
    "noise-aum-no-samples": "noise aum signals",
    "noise-aum-no-margin": "noise aum three --threshold-samples planned.tsv",
    "noise-confident-no-classes": "noise confident three",
    "noise-confident-threshold": "noise confident three --threshold 0.5",
    "noise-no-action": "noise",
    "noise-wrong-action": "noise plna three",
    "noise-no-run": "noise plan",
    "noise-apply-empty": "noise apply flipped --model empty.csv",
    "noise-two-runs": "noise apply three flipped --model model.json",
    "noise-wrong-option": "noise mixture three --flips planned.tsv",
    "select-join-whole-csv": "select small --by hard-to-learn --join whole.csv --id-field id",
    "select-join-whole-jsonl": "select small --by hard-to-learn --join whole.jsonl --id-field id",
    "select-join-array": "select small --by hard-to-learn --join array.json --id-field id",
    "select-join-far-field": "select small --by hard-to-learn --join lines.tsv --id-field example",
    "select-join-measures-there-csv": "select small --by hard-to-learn --join there.csv --id-field id --with-measures",
    "select-join-measures-there-jsonl": "select small --by hard-to-learn --join there.jsonl --id-field id --with-measures",
    "select-join-without-id": "select small --by hard-to-learn --join no-id.jsonl --id-field id",
    "select-join-measures-short": "select small --by hard-to-learn --join short.tsv --id-field id --with-measures",
    "select-join-measures-long": "select small --by hard-to-learn --join long.csv --id-field id --with-measures",
    "run-with-dash": "metrics -- -dash",
    "map": "map bell -o it's.svg --title it's`x` --script FILE>it_s.gp",
    "map-density": "map bell -o density.png --density --epochs 1: --script FILE>density.gp",
    "map-compact": "map long -o compact.pdf --compact --sample 100 --seed 3 --script FILE>compact.gp",
    "handover": "import ./dynamics --run new --store x",
    "handover-rm": "rm small",
    "handover-backup": "backup copy --store store",
    "handover-salvage": "salvage damaged -o new --json",
}


def bell(n, epochs, seed):
    """Gold probabilities that make a bell-shaped map, in steps of 1/256 so that they are the same on every machine."""
    draw = np.random.RandomState(seed).randint
    hardness = draw(0, 257, n) * draw(0, 257, n) / 65536
    return [np.clip(np.round(256 * (1 - hardness) + draw(-127, 128, n) * 4 * hardness * (1 - hardness)), 0, 256) / 256
            for _ in range(epochs)]


def log_all(probabilities, ids=None):
    ids = np.arange(len(probabilities[0])) if ids is None else ids
    return [stores.batch(e, ids, p, np.asarray(p) > 0.5) for e, p in enumerate(probabilities)]


FLIPPED = [3, 8, 21, 34, 40, 55, 62, 71, 80, 97]


def flip_runs():
    """A run of 100 examples, and one trained with the labels of FLIPPED changed: these are believed less, most of them."""
    draw = np.random.RandomState(4).randint
    gold = np.arange(100) % 3
    first = [np.clip(draw(150, 257, 100) + draw(-9, 10, 100), 0, 256) / 256 for _ in range(4)]
    second = [p.copy() for p in first]
    for p in second:
        p[FLIPPED] = draw(0, 110, len(FLIPPED)) / 256
        p[[21, 5]] = p[[5, 21]]
    changed = gold.copy()
    changed[FLIPPED] = (gold[FLIPPED] + 1) % 3
    ids = np.arange(100)
    return [[stores.batch(e, ids, p, p > 0.5, labels) for e, p in enumerate(run)]
            for run, labels in ((first, gold), (second, changed))]


def write_flips(name, rows, header="id\told\tnew", separator="\t"):
    with open(name, "w") as file:
        file.write(header + "\n" + "".join(separator.join(str(field) for field in row) + "\n" for row in rows))


def runs():
    small = [  # ids 0 … 5, gold labels of three classes; 4 misses an epoch, 5 is never learned
        stores.batch(0, [0, 1, 2, 3, 4, 5], [0.25, 0.5, 0.75, 1, 0.25, 0], [0, 1, 1, 1, 0, 0], [0, 1, 2, 0, 1, 2]),
        stores.batch(1, [5, 4, 3, 2, 1, 0], [0.125, 0.75, 1, 0.25, 0.5, 0.75], [0, 1, 1, 0, 1, 1], [2, 1, 0, 2, 1, 0]),
        stores.batch(2, [0, 1, 2, 3, 5], [0.5, 0.5, 0.75, 1, 0.25], [1, 1, 1, 1, 0], [0, 1, 2, 0, 2]),
    ]
    names = ["b", "a,\"quoted\"", "ä", "10", "9"]
    strings = [stores.batch(0, names, [0.5, 0.25, 1, 0, 0.75], [1, 0, 1, 0, 1]),
               stores.batch(1, names, [1, 0.75, 1, 0.5, 0.25], [1, 1, 1, 1, 0])]
    signals = [stores.batch(e, [7, 3, 18446744073709551615], [0.5, 0.25, 0.75], [1, 0, 1], margin=[e, -1, 2.5],
                            other_sq=[0.25, 0.5, 0.0625], entropy=[0.5, 1, 0.25], my_loss=[1, 3, 2]) for e in range(2)]
    scratch = log_all([[0.125, 0.25, 0.125], [0.875, 1, 0.75], [0.875, 1, 0.875], [1, 1, 0.875]])
    return [
        stores.run("small", small, declared=6, labels=("red", "green", "blue, dark")),
        stores.run("strings", strings),
        stores.run("signals", signals),
        stores.run("scratch", scratch, declared=3),
        stores.run("bell", log_all(bell(2000, 6, 1)), declared=2000),
        stores.run("long", log_all(bell(500, 12, 2)), declared=500),
        stores.run("-dash", log_all([[0.5, 0.75]]), declared=2),
        stores.run("progress", log_all([[0.5, 0.75, 1], [0.5, 0.5, 0.5]]), declared=4, ended=False),
        stores.run("nothing", [], ended=False),
    ]


def more_runs():
    """For the commands that compare and judge: in a store of their own, with those above."""
    names = ["b", "a,\"quoted\"", "ä", "10", "9"]
    again = [  # example 3 is not seen, 6 is another's; all of 0's labels differ
        stores.batch(0, [6, 5, 4, 2, 1, 0], [0.5, 0.125, 0.5, 0.75, 0.25, 0.5], [0, 0, 1, 1, 0, 1], [1, 2, 1, 2, 1, 1]),
        stores.batch(1, [0, 1, 2, 4, 5, 6], [0.75, 0.5, 0.5, 0.75, 0.25, 1], [1, 1, 0, 1, 0, 1], [1, 1, 2, 1, 2, 1]),
    ]
    three, flipped = flip_runs()
    words = [stores.batch(e, names, [1, 0.75 + e / 4, 0.5, 0, 0.75], [1, 1, 1, 0, 1], [0, 1, 0, 1, 7]) for e in range(2)]
    return runs() + [
        stores.run("again", again),
        stores.run("bell2", log_all(bell(2000, 5, 3)), declared=2000),
        stores.run("far", log_all([[0.5, 0.75]], ids=np.array([100, 101]))),
        stores.run("three", three, declared=100, labels=("red", "green", "blue, dark")),
        stores.run("flipped", flipped, declared=100, labels=("red", "green", "blue, dark")),
        stores.run("words", words, labels=("x", "y")),
        stores.run("alike", [stores.batch(e, [1, 2, 3], [1, 0.5, 1], [1, 1, 1], [4, 4, 4]) for e in range(2)]),
        stores.run("level", log_all([[0.5] * 8] * 2), declared=8),
    ]


def write_files():
    with open("lines.tsv", "w", newline="") as file:
        file.write("text\tid\nzero\t0\none\t1\ntwo\t2\nthree\t3\nno number\tx\ntwo again\t2\n")
    with open("lines.csv", "w", newline="") as file:
        file.write('id,text\r\n"0","zero, ""0"""\r\n2,"two\nlines"\r\n4,four')
    with open("lines.jsonl", "w") as file:
        file.write('{"guid": "b", "x": {"guid": "no"}}\n\n{"guid":"\\u00e4"}\n{"guid": 10}\n{"guid": "9", "y": [1, 2]}\n'
                   '{"guid": "a,\\"quoted\\""}\n')
    with open("broken.jsonl", "w") as file:
        file.write('{"guid": "b"}\n{"guid" "a"}\n')
    with open("cut.jsonl", "w") as file:
        file.write('{"guid": "b", "x": {"y": 1}}\n{"guid": "9", "x": {"y": "z"}, "t": "hel')
    with open("quotes.csv", "w") as file:
        file.write('id,text\n0,a\n1,the 5" disk\n2,b\n3,c\n4,the 3" disk\n5,d\n')
    with open("unclosed.csv", "w") as file:
        file.write('id,text\n0,"a\n1,b\n2,c\n')
    with open("whole.csv", "w") as file:
        file.write('id,text\n0.0,zero\n 3,three\n4.5,no\n"2e0 ",two\nx,no\n')
    with open("whole.jsonl", "w") as file:
        file.write('{"id": 0.0}\n  \n{"id": 2.0}\n{"id": "3"}\n{"id": -1}\n')
    with open("array.json", "w") as file:
        file.write('[\n{"id": 0},\n{"id": 1}]\n')
    with open("there.csv", "w") as file:
        file.write('id,"confidence"\n0,high\n')
    with open("there.jsonl", "w") as file:
        file.write('{"id": 9, "aum": 1, "x": {"epochs": 1}}\n{"id": 1, "t": "epochs", "x": {"epochs": 1}}\n'
                   '{"id": 0, "first_learned": null}\n')
    with open("short.tsv", "w") as file:
        file.write("id\ttext\tlanguage\n0\tzero\n1\n2\ttwo\ten\n")
    with open("long.csv", "w") as file:
        file.write('id,text\n0,"a, b"\n1,a, b\n')
    with open("lines.gz", "wb") as file:
        file.write(b"\x1f\x8b\x08\x00nonsense")
    with open("some.txt", "w", newline="") as file:
        file.write("\ufeff0\r\n\r\n 3.0\r\n77\r\n5\r\n78")
    for name, text in (("zero", "0\n"), ("three", "3\n3\n"), ("words", "1\n\ntwo\n"), ("names", "b\nä\n"),
                       ("six", "b\nä\n10\n9\na,\"quoted\"\nc\n"), ("twice", "b\nä\n10\n9\nb\nc\n")):
        with open(name + ".txt", "w") as file:
            file.write(text)
    X = np.array([[0, 0], [1, 0], [0, 3], [5, 5], [5, 5], [-2, 0]], "f4")
    np.save("X.npy", X)
    np.save("names-npy.npy", np.array(["c", "b", "ä", "10", "9", "a,\"quoted\""]))
    np.save("short.npy", X[:4])
    np.save("nan.npy", np.where(X == 3, np.nan, X))
    np.save("fortran.npy", np.asfortranarray(X))
    np.save("integers.npy", X.astype("i4"))
    np.save("flat.npy", X[0])
    np.save("swapped.npy", X.astype(">f4"))
    with open("cut.npy", "wb") as file, open("X.npy", "rb") as whole:
        file.write(whole.read()[:-1])
    os.makedirs("folder/hard.d")
    with open("foreign.gp", "w") as file:
        file.write("plot sin(x)\n")
    with open("other.gp", "w") as file:
        file.write("# other.png, drawn by portolan 0.0.1. To draw it again: gnuplot other.gp\n")
    with open("precious.map-data", "w") as file:
        file.write("precious")
    os.mkdir("folder.png")
    with open("agree.csv", "w") as file:
        file.write("id,agreement,label\n0,0.25,a\n1,1,b\n2,,\n4,0.5,a\n77,1,b\n")
    with open("blanks.csv", "w") as file:
        file.write("id, agreement , label\n0, 0.25, a\n1,\t1 , b\n2, , b\n4,0.5\n, 1, a\n")
    with open("agree.jsonl", "w") as file:
        file.write('{"id": 0, "agreement": true}\n\n{"id": 1, "agreement": false}\n{"id": 2, "agreement": null}\n{"id": 5}\n'
                   '{"id": 3, "agreement": "0.5"}\n')
    with open("twice.csv", "w") as file:
        file.write('id,agreement,note\n3,0.25,"two\nlines"\n1,1,\n3,1,\n')
    with open("pairs.csv", "w") as file:
        file.write('id,source,length,premise,hypothesis\n0,web,3,A man runs,a man does not run\n1,"a, book",5,Two dogs,two dogs\n'
                   '2,web,,It is late,\n3,web,2.5,He sleeps,He NEVER sleeps\n5,"a, book",4,"So, what?",not\n')
    with open("latin.csv", "wb") as file:  # neither column name nor values are UTF-8
        file.write(b"id,caf\xe9\n0,\xe8\n1,\xe9\n2,\xc3\xa9\n3,\xe9\n")
    with open("pairs.jsonl", "w") as file:
        file.write('{"guid": "b", "x": {"y": 1}, "kind": "new", "ok": true}\n{"guid": "9", "kind": "old", "ok": false}\n'
                   '{"guid": "10", "kind": "new", "ok": null}\n{"guid": "a,\\"quoted\\"", "kind": "n\\u00e4\\"", "ok": true}\n')
    with open("broken-agree.jsonl", "w") as file:
        file.write('{"id": 0, "agreement": 1}\n{"id": 1, "agreement": 0.')
    with open("object.jsonl", "w") as file:
        file.write('{"id": 0, "agreement": 1}\n{"id": 1, "agreement": [1, 2]}\n')
    with open("outside.tsv", "w") as file:
        file.write("guid\tvariability\tconfidence\tcorrectness\nx\t0.1\t0.5\t2\ny\t0.1\t1.5\t2\n")
    with open("no-id.jsonl", "w") as file:
        file.write('{"guid": 1, "confidence": 0.5}\n{"id": 2, "confidence": 0.75}\n')
    open("empty.csv", "w").close()
    with open("binary.csv", "wb") as file:
        file.write(b"PAR1\x15\x04\x00\xff" * 9)
    with open("header.csv", "w") as file:
        file.write("id,a\n")
    with open("nothing.jsonl", "w") as file:
        file.write('{"guid": 1, "variability": null, "confidence": 0.5}\n{"guid": 2, "variability": 0.25, "confidence": null}\n')
    draw = np.random.RandomState(6).randint
    points = [(f"e{i}", draw(0, 65) / 128, draw(0, 129) / 128, draw(0, 6)) for i in range(30)]
    with open("points.jsonl", "w") as file:
        file.write("".join('{"guid": "%s", "index": %d, "variability": %s, "confidence": %s, "correctness": %d}\n'
                           % (g, i, v, c, k) for i, (g, v, c, k) in enumerate(points)))
    with open("points.csv", "w") as file:
        file.write("id,epochs,confidence,variability,correctness\n" +
                   "".join(f"{g[1:]},5,{c},{v},{k / 5}\n" for g, v, c, k in points))
    planned = [(i, i % 3, (i + 1) % 3) for i in FLIPPED]
    write_flips("planned.tsv", planned)
    write_flips("unknown.tsv", planned + [(100, 0, 1), ("x", 0, 1)])
    write_flips("wrong-label.tsv", planned[:4] + [(40, 1, 0)])
    write_flips("twice.tsv", planned + planned[2:3])
    write_flips("same.tsv", planned[:2] + [(9, 0, 0)])
    write_flips("cut.tsv", planned[:3] + [(34, 1)])
    write_flips("commas.csv", planned, "id,old,new", ",")
    write_flips("one.tsv", planned[:1])
    open("empty.tsv", "w").close()
    with open("other.json", "w") as file:
        file.write('{"kind": "portolan noise model", "version": 1, "feature": "confidence", "weight": "x"}\n')
    with open("portoland", "w") as file:
        file.write('#!/bin/sh\nfor word in "$@"; do echo "got: $word"; done\nexit 3\n')
    os.chmod("portoland", 0o755)


def read_text(path):
    with open(path, newline="") as file:
        return file.read()


def without_templates(script):
    """A gnuplot script with the names of its templates, and how many lines of a chart's data there are, in their place."""
    script = re.sub(r"(?<=\$data << EOD\n).*?(?=EOD\n)", lambda data: f"({data[0].count(chr(10))} lines)\n", script, flags=re.S)
    for name in ("plot/begin.gp", "plot/chart.gp", "map/marks.gp", "map/map.gp", "map/facets.gp"):
        script = script.replace(read_text(os.path.join(TEMPLATES, name)), f"({name})\n")
    return script


def execute(portolan, words, version):
    shown = [w[5:] for w in words if w.startswith("FILE>")]
    folders = [w[6:] for w in words if w.startswith("FILES>")]
    words = [w for w in words if not w.startswith(("FILE>", "FILES>"))]
    store = "more" if words and words[0] in ("compare", "noise") else "store"
    environment = dict(os.environ, SOURCE_DATE_EPOCH="0", PORTOLAN_STORE=store, PORTOLAND=os.path.abspath("portoland"),
                       LC_ALL="C.UTF-8")
    done = subprocess.run([portolan] + words, capture_output=True, env=environment, stdin=subprocess.DEVNULL)
    text = f"$ portolan {' '.join(words)}\nexit status {done.returncode}\n"
    for name, content in [("stdout", done.stdout), ("stderr", done.stderr)]:
        if content:
            text += f"--- {name}\n{content.decode()}"
    for name in shown:
        text += f"--- {name}\n{without_templates(read_text(name))}"
    for name in folders:
        text += f"--- {name}: {' '.join(sorted(os.listdir(name)))}\n"
    text = text.replace(os.getcwd(), "FOLDER").replace(f"portolan {version}", "portolan VERSION").replace(f'"portolan": "{version}"', '"portolan": "VERSION"')
    if words and words[0] == "noise":  # from exp() and log(), whose last digit is not the same on every machine
        text = re.sub(r"\d\.\d{8,}", lambda number: f"{float(number[0]):.6f}", text)
    return re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "CREATED", text)


def check_picture(name, start, least):
    with open(name, "rb") as file:
        content = file.read()
    return [] if content.startswith(start) and len(content) > least else [f"{name}: no picture, or too small"]


def check_animation(name, frames):
    with open(name, "rb") as file:
        content = file.read()
    count = content.count(b"\x21\xf9\x04")  # each has a graphic control extension
    return [] if content.startswith(b"GIF89a") and count == frames else [f"{name}: {count} frames, not {frames}"]


def without_description(svg):
    """The picture alone: its title, its description and fonts to take instead of its own are not gnuplot's."""
    svg, count = re.subn(r"\s*<title>.*?</title>\s*<desc>.*?</desc>\s*", "", svg, count=1, flags=re.DOTALL)
    return svg.replace('", Verdana, Arial, sans-serif', '"').replace(", Verdana, Arial, sans-serif", "") if count else None


def check_description():
    """Title and description of an SVG and a PDF, whatever the texts are; an SVG's other fonts stand in tags alone."""
    svg = read_text("it's.svg")
    found = re.search(r"<svg[^>]*>\n<title>(.*)</title>\n<desc>(.*)</desc>\n", svg)
    wanted = ("it's`x`", "A data map: variability to the right, confidence upwards; coloured by correctness. 2,000 examples · epochs 0 to 5 · "
              "measured at the end of each epoch. Regions: easy-to-learn: 1,221, ambiguous: 666, hard-to-learn: 113.")
    problems = [] if found and found.groups() == wanted else [f"it's.svg: title and description: {found and found.groups()}"]
    fonts = set(re.findall(r'font-family="([^"]*)"', svg))
    problems += [] if fonts == {"DejaVu Sans, Verdana, Arial, sans-serif"} else [f"it's.svg: fonts: {fonts}"]
    with open("compact.pdf", "rb") as file:
        pdf = file.read()
    title = re.search(rb"/Title <FEFF([0-9A-F]*)>", pdf)
    problems += [] if title and bytes.fromhex(title[1].decode()).decode("utf-16-be") == "long" else ["compact.pdf: no title"]
    start = int(re.findall(rb"startxref\s+(\d+)", pdf)[-1])
    table = re.match(rb"xref\n(\d+) 1\n(\d{10}) 00000 n \ntrailer\n", pdf[start:])
    stream = re.match(rb"\d+ 0 obj\n<< /Type /XRef\n(?:.*\n)*   /Index \[(\d+) 1 \d+ 1\]\n(?:.*\n)*stream\n01([0-9a-f]{8})00", pdf[start:])  # cairo 1.18 and later
    at = int(table[2]) if table else int(stream[2], 16) if stream else -1
    problems += [] if at > 0 and pdf[at:].startswith((table or stream)[1] + b" 0 obj\n") else ["compact.pdf: its last table does not say where it is"]
    return problems


def check_script_again():
    """The script draws the same picture by hand, from whatever folder, and leaves nothing else behind."""
    name = re.search(r"own_picture = '(.*)'", read_text("it_s.gp")).group(1)
    same = True
    for folder, script in ((".", "it_s.gp"), ("folder", "../it_s.gp"), ("/", os.path.abspath("it_s.gp"))):
        subprocess.run(["gnuplot", script], check=True, cwd=folder)
        same = without_description(read_text(name)) == without_description(read_text("it's.svg")) and same
        os.unlink(name)
    left = [f for f in os.listdir(".") if re.search(r"\.\d+\.(svg|png|pdf)$", f) or "XXXXXX" in f or "chart-data" in f]
    return ([] if same else ["the script does not draw the same picture again"]) + [f"left behind: {f}" for f in left]


def check_examples(portolan):
    """In every help, an example is a comment and a command, in turn: one too many would make commands of the comments."""
    problems = []
    listed = subprocess.run([portolan, "help"], capture_output=True, text=True, check=True).stdout
    for name in re.findall(r"^  ([a-z]+)  ", listed, re.M):
        text = subprocess.run([portolan, "help", name], capture_output=True, text=True, check=True).stdout
        lines = re.sub(r" \\\n +", " ", text[text.index("Examples:"):text.index("Usage:")]).splitlines()[1:-1]  # a long one is broken
        for comment, command in zip(lines[::2], lines[1::2] + [""]):
            if not re.match(r"  # (?!portolan )", comment) or not re.match(r"  (portolan|gnuplot|seq|paste|sort|head) ", command):
                problems.append(f"help {name}: {comment!r}, {command!r}")
    return problems if "map" in listed else ["help: no commands listed"]


def main():
    portolan, maker = (os.path.abspath(path) for path in sys.argv[1:3])
    regenerate = "--regenerate" in sys.argv[3:]
    version = subprocess.run([portolan, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        stores.make_store(maker, "store", runs())
        stores.make_store(maker, "more", more_runs())
        write_files()
        for name, line in CASES.items():
            path = os.path.join(EXPECTED, name + ".txt")
            got = execute(portolan, line.split(), version)
            if regenerate:
                with open(path, "w", newline="") as file:
                    file.write(got)
                continue
            expected = read_text(path) if os.path.exists(path) else "(no such file)\n"
            if got != expected:
                problems.append(f"{name}:\n--- expected\n{expected}--- got\n{got}")
        for mishap in mishaps.ALL:
            problems += mishap(portolan)
        problems += check_examples(portolan)
        problems += check_picture("it's.svg", b"<?xml", 50000)
        problems += check_picture("density.png", b"\x89PNG", 20000)
        problems += check_picture("compact.pdf", b"%PDF", 10000)
        for name in ("counts", "user", "agree", "means", "beside", "shift", "path", "points", "one"):
            problems += check_picture(name + ".svg", b"<?xml", 5000)
        problems += check_picture("points-csv.pdf", b"%PDF", 5000)
        problems += check_picture("frames/epoch-002.png", b"\x89PNG", 10000)
        problems += check_animation("moving.gif", 3)
        problems += check_picture("early.svg", b"<?xml", 5000)
        problems += check_picture("fit.svg", b"<?xml", 5000)
        problems += check_picture("forgotten.svg", b"<?xml", 5000)
        problems += check_picture("mixture.png", b"\x89PNG", 10000)
        problems += check_script_again() + check_description()
        os.chdir("/")
    print("\n".join(problems) if problems else f"{len(CASES)} cases: all as expected")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
