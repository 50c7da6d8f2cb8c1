#!/usr/bin/env bash
# All GPU checks, then the measurements, on a machine with a GPU.
#   bash tests/gpu/run.sh [FOLDER] [STAGE...]
#     FOLDER   a folder made by tests/gpu/pack.sh (program and libraries); "-" builds here instead
#     STAGE    of: compare ranks checkpoint models nvrtc sanitize overlap measure  (default: all, in this order),
#              or portable: the bundle that pack.sh found, or GM_BUNDLE, against the program,
#              or several: scaling over the GPUs of this host; GM_SEVERAL: its options, such as "-o FOLDER"
# Needs python3 with numpy and h5py, and mpirun. GM_SCRATCH: where results go (default /dev/shm).
# GM_BENCH: options for the stage `measure`, which is tests/bench/bench.py, such as "--json FILE".
# Exit code 0 only if every check passed. The last lines are a short table.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
begun_in=$PWD
folder=${1:--}
shift || true
if [ "$folder" = - ]; then
    (cd "$here/../.." && cmake --preset release && cmake --build --preset release) || exit 1
    folder=$here/../../build/release
    ln -sf tests/overlap "$folder/overlap"
fi
folder=$(cd "$folder" && pwd)
export GM_BUNDLE=${GM_BUNDLE:-$folder/bundle}
export GM_CONNECTOMES=${GM_CONNECTOMES:-$folder}
if [ "$(id -u)" -eq 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
work=$(mktemp -d "${GM_SCRATCH:-/dev/shm}/gridmarch-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export XDG_CACHE_HOME=$work/cache
# The libraries beside the program are for it alone: python keeps its own.
for name in gridmarch overlap; do
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%s/lib exec %s/%s "$@"\n' "$folder" "$folder" "$name" >"$name"
    chmod +x "$name"
done
export GRIDMARCH=$work/gridmarch

"$GRIDMARCH" doctor || exit 1
failed=()
for stage in "${@:-compare ranks checkpoint models nvrtc sanitize overlap measure}"; do
    for s in $stage; do
        begin=$SECONDS
        printf '\n== %s\n' "$s"
        case $s in
        compare | ranks | checkpoint | models | nvrtc | portable) python3 "$here/$s.py" ;;
        measure)
            # shellcheck disable=SC2086 # words
            (cd "$begun_in" && python3 "$here/../bench/bench.py" ${GM_BENCH:-})
            ;;
        several)
            # shellcheck disable=SC2086 # words
            python3 "$here/several.py" -o "$begun_in/several" ${GM_SEVERAL:-}
            ;;
        sizes) python3 "$here/compare.py" sizes ;;
        sanitize) bash "$here/sanitize.sh" ;;
        overlap) ./overlap ;;
        *) echo "no such stage" && false ;;
        esac || failed+=("$s")
        echo "== $s: $((SECONDS - begin)) s"
    done
done
if [ ${#failed[@]} -gt 0 ]; then
    echo "FAILED: ${failed[*]}"
    exit 1
fi
echo "all GPU stages passed"
