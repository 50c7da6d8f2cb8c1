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
code=0
for sweep in small plain; do
    for check in memcheck racecheck initcheck synccheck; do
        if "$tool" --tool "$check" --error-exitcode 9 "$GRIDMARCH" run "$sweep.yaml" \
            -o "$sweep-$check.h5" --backend cuda --chunk 7 --quiet >"$sweep-$check.log" 2>&1; then
            echo "$sweep $check: clean"
        else
            echo "$sweep $check: FAULTS"
            grep -m 20 '=========' "$sweep-$check.log"
            code=1
        fi
    done
done
exit $code
