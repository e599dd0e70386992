#!/bin/bash
# run.sh PROGRAM ARGUMENT...: how Meson starts a test for the other processor. A test of cmocka 1.1.5 (Debian 12) that is skipped says "not ok N # SKIP", which Meson takes for a failure.
set -o pipefail
"$@" | sed -u 's/^not ok \([0-9]* # SKIP\)/ok \1/'
