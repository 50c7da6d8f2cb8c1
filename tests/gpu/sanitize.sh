#!/usr/bin/env bash
# compute-sanitizer on small cases: memory, races, uninitialised reads, barriers.
set -uo pipefail
tool=$(PATH=$PATH:/usr/local/cuda/bin command -v compute-sanitizer) || {
    echo "skipped: compute-sanitizer is not installed"
    exit 0
}
cat >small.yaml <<'Y'
model: wilson_cowan
network: {weights: small.csv, normalise: none, symmetric: as_is, self_connections: drop}
axes: {G: {linspace: [0, 1, 5]}}
parameters: {sigma_e: 0.01}
initial: {E: {uniform: [0, 0.1]}}
time: {dt: 0.1, duration: 3, transient: 1}
integrator: heun
record: {last: all, mean: all, variance: all, trajectory: {variables: [E], every: 3}}
Y
printf '0,1,2\n3,0,4\n5,6,0\n' >small.csv
cat >plain.yaml <<'Y'
model: lorenz63
axes: {rho: {linspace: [1, 20, 70]}}
time: {dt: 0.01, duration: 0.7}
integrator: rk4
precision: fp64
record: {last: all, max: all, trajectory: {variables: all, every: 2}}
Y
# Engines: a block per point; products of one warp, of a split team, of four warps together.
python3 - <<'P'
import numpy as np
np.savetxt("ring.csv", np.roll(np.eye(20), 1, axis=1), delimiter=",")
P
sed 's/small.csv/ring.csv/' small.yaml >split.yaml
sed 's/^integrator.*/&\nprecision: fp64/' split.yaml >double.yaml
code=0
check() { # NAME SWEEP OPTION...
    local name=$1 sweep=$2 tool_name
    shift 2
    for tool_name in memcheck racecheck initcheck synccheck; do
        if "$tool" --tool "$tool_name" --error-exitcode 9 "$GRIDMARCH" run "$sweep.yaml" \
            -o "$name-$tool_name.h5" --backend cuda --chunk 7 --quiet "$@" \
            >"$name-$tool_name.log" 2>&1; then
            echo "$name $tool_name: clean"
        else
            echo "$name $tool_name: FAULTS"
            grep -m 20 '=========' "$name-$tool_name.log"
            code=1
        fi
    done
}
check plain plain
check block small --engine block
check together small --engine matrix
check split split --engine matrix
check double double --engine matrix
exit $code
