#!/usr/bin/env bash
# Drive the readers with mutated input: libFuzzer, address and undefined-behaviour sanitizers.
#   tests/fuzz/run.sh [RUNS [READER...]]     default: 100000 runs of each reader of fuzz_*.c
# Needs clang 14 (apt: clang-14). What crashes, hangs for 10 s or takes 1.5 GB is written to
# build/fuzz/found; after mending, keep it under a telling name in tests/fuzz/found/READER. New
# inputs that reach new code are kept in build/fuzz/corpus; to add the best of them here:
#   build/fuzz/tests/fuzz/fuzz_READER -merge=1 tests/fuzz/corpus/READER build/fuzz/corpus/READER
# Readers of HDF5 files try each input in a child first: a fault inside the HDF5 library is told in
# build/fuzz/READER.log ("in the HDF5 library") and is none of theirs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
n_run=${1:-100000}
shift $(($# > 0 ? 1 : 0))
readers=("$@")
if [ $# -eq 0 ]; then
    for harness in tests/fuzz/fuzz_*.c; do
        name=${harness##*/fuzz_}
        readers+=("${name%.c}")
    done
fi

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz
# What the library asks for is refused, not reported; its own leaks on damaged files are not ours.
library=allocator_may_return_null=1:max_allocation_size_mb=1500:detect_leaks=0
code=0
for reader in "${readers[@]}"; do
    new=build/fuzz/corpus/$reader found=build/fuzz/found/$reader dictionary=() options=()
    mkdir -p "$new" "$found"
    if [ -f "tests/fuzz/$reader.dict" ]; then dictionary=(-dict="tests/fuzz/$reader.dict"); fi
    case $reader in hdf5 | result) options=(-malloc_limit_mb=0 -max_len=32768) ;; esac
    seeds=("tests/fuzz/corpus/$reader")
    if [ -d "tests/fuzz/found/$reader" ]; then seeds+=("tests/fuzz/found/$reader"); fi
    ASAN_OPTIONS=${options[0]:+$library} \
        "build/fuzz/tests/fuzz/fuzz_$reader" -runs="$n_run" -timeout=10 -rss_limit_mb=1536 -max_len=16384 \
        -print_final_stats=1 -artifact_prefix="$found/" "${dictionary[@]}" "${options[@]}" "$new" \
        "${seeds[@]}" 2>"build/fuzz/$reader.log" || code=1
    printf '%-12s %s\n' "$reader" "$(grep -c '^==.*ERROR' "build/fuzz/$reader.log" || true) faults, $(
        sed -n 's/^stat::number_of_executed_units: *//p' "build/fuzz/$reader.log") inputs"
done
exit "$code"
