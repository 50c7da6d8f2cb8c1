#!/usr/bin/env bash
# Build one preset and run its tests. Installs what is missing.
#   bash tests/run.sh [--preset NAME] [--connectomes DIR] [CTEST OPTION...]
#     --preset NAME       dev (default), asan or release
#     --connectomes DIR   real connectomes for the tests that want some; else $GM_CONNECTOMES, else
#                         a folder of them beside the checkout if there is one, else those tests skip
#     CTEST OPTION...     for example  -L unit   or   -R sweep
set -euo pipefail

preset=dev connectomes=
while [ $# -gt 0 ]; do
    case $1 in
    --preset | --connectomes)
        if [ $# -lt 2 ]; then
            echo "tests/run.sh: $1 needs a value" >&2
            exit 2
        fi
        if [ "$1" = --preset ]; then
            preset=$2
        elif ! connectomes=$(cd "$2" 2>/dev/null && pwd); then
            echo "tests/run.sh: --connectomes $2: there is no such folder" >&2
            exit 2
        fi
        shift 2
        ;;
    -h | --help)
        sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}"
        exit 0
        ;;
    *) break ;; # the rest is ctest's
    esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=.ci/steps.sh
source .ci/steps.sh
# shellcheck source=.ci/find_python.sh
source .ci/find_python.sh

if [ -z "$connectomes" ] && [ -z "${GM_CONNECTOMES:-}" ] && [ -d ../shared/data/connectomes ]; then
    connectomes=$(cd ../shared/data/connectomes && pwd)
fi
if [ -n "$connectomes" ]; then export GM_CONNECTOMES=$connectomes; fi
echo "connectomes: ${GM_CONNECTOMES:-none (tests that need them skip)}"

.ci/install.sh build test
GM_PYTHON=$(gm_find_python pytest numpy scipy h5netcdf netCDF4)
export GM_PYTHON
gm_mpi_environment

advice="If the build folder is stale, remove build/$preset and run this again."
gm_step "configuring preset $preset" "build/log/$preset-configure.log" "$advice" \
    cmake --preset "$preset"
gm_step "building preset $preset" "build/log/$preset-build.log" "$advice" \
    cmake --build --preset "$preset"
ctest --test-dir "build/$preset" -j2 --output-on-failure --no-tests=error "$@"
