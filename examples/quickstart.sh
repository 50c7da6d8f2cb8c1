#!/usr/bin/env bash
# From a fresh checkout to a picture: install, build, run a small sweep on two ranks, show it.
#   bash examples/quickstart.sh         (safe to repeat; everything it makes lies in build/)
set -euo pipefail
from=$PWD
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# shellcheck source=.ci/steps.sh
source .ci/steps.sh
# shellcheck source=.ci/find_python.sh
source .ci/find_python.sh

# Paths are shown short to someone who stands in the checkout, else in full.
shown=$root/
if [ "$from" = "$root" ]; then shown=; fi
program=${shown}build/release/gridmarch
sweep=${shown}examples/wilson_cowan.yaml
result=${shown}build/quickstart/wilson_cowan.h5
picture=${result%.h5}.png
log=${shown}build/log

if ! .ci/install.sh build look; then
    echo "quickstart: stopped at installing; once the above is there, run this again" >&2
    exit 1
fi
gm_step "configuring the release build" "$log/quickstart-configure.log" \
    "If the build folder is stale, remove build/release and run this again." \
    cmake --preset release
gm_step "building gridmarch" "$log/quickstart-build.log" \
    "If the build folder is stale, remove build/release and run this again." \
    cmake --build --preset release --target gridmarch

mkdir -p build/quickstart
gm_mpi_environment
gm_mpirun_command 2
command=("${GM_MPIRUN[@]}" "$program" run "$sweep" -o "$result" --overwrite)
printf 'running the sweep on two ranks:\n  %s\n' "${command[*]}"
code=0
"${command[@]}" </dev/null 2>&1 | tee "$log/quickstart-run.log" | sed 's/^/    /' || code=${PIPESTATUS[0]}
if [ "$code" -ne 0 ]; then
    echo "quickstart: the run failed with exit code $code; docs/exit-codes.md says what to do" >&2
    echo "            '$program doctor' checks MPI, HDF5 and the GPUs of this machine" >&2
    exit "$code"
fi

python=$(gm_find_python h5netcdf matplotlib)
advice="The result itself is whole: $result opens in xarray, h5py and h5dump."
gm_step "drawing it" "$log/quickstart-plot.log" "$advice" \
    "$python" examples/plot.py "$result" E -o "$picture"
printf '\n'
"$python" examples/plot.py "$result" --table
printf '\nresult:  %s   (xarray.open_dataset opens it)\npicture: %s\n' "$result" "$picture"
