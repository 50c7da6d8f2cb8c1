#!/usr/bin/env bash
# Gather a build and the libraries it needs in one folder, to run it on a GPU machine that lacks
# them. MPI and the C library stay that machine's own.
#   bash tests/gpu/pack.sh [PRESET] [FOLDER]        default: release build/gpu
# Where packaging/portable.sh has made a bundle (build/portable/bundle), it is packed as well.
# There: bash FOLDER/../../tests/gpu/run.sh FOLDER   (see tests/gpu/run.sh)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
preset=${1:-release} folder=${2:-build/gpu}

cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset"
rm -rf "$folder"
mkdir -p "$folder/lib"
cp "build/$preset/gridmarch" "build/$preset/tests/overlap" "$folder/"
strip "$folder/gridmarch" "$folder/overlap"
ldd "build/$preset/gridmarch" | awk '$3 ~ /^\// { print $3 }' |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv|libmpi|libopen-rte|libopen-pal|libhwloc|libevent[^/]*|libudev|ld-linux[^/]*)\.so' |
    while read -r library; do cp -L "$library" "$folder/lib/"; done
if [ -n "${GM_CONNECTOMES:-}" ]; then
    cp -r "$GM_CONNECTOMES/enigma_dk68" "$GM_CONNECTOMES/enigma_glasser360" "$folder/"
fi
if [ -d build/portable/bundle ]; then cp -r build/portable/bundle "$folder/"; fi
size=$(du -sm "$folder" | cut -f 1)
echo "$folder: $size MiB"
if [ "$size" -gt 64 ]; then
    echo "pack.sh: $folder is larger than 64 MiB" >&2
    exit 1
fi
