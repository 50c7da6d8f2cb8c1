#!/usr/bin/env bash
# Make the portable bundle: gridmarch with Open MPI, HDF5 and all else but the C library inside, its
# mpirun, examples and docs, in one folder that runs from anywhere on x86-64 Linux with glibc 2.17
# or later.
#   packaging/portable.sh [FOLDER]      default: build/portable/bundle; FOLDER is replaced
# FOLDER.tar.gz and its checksum are laid beside it. The first call builds the libraries
# (packaging/dependencies.sh says where they are kept); .ci/install.sh portable installs what is needed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
case ${1:-} in
-h | --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' packaging/portable.sh && exit 0 ;;
-*) echo "portable.sh: $1: there are no options; give a folder, or nothing" >&2 && exit 2 ;;
esac
bundle=${1:-build/portable/bundle}
begin=$SECONDS

GRIDMARCH_PORTABLE=$(packaging/dependencies.sh)
export GRIDMARCH_PORTABLE
# Afresh: what an earlier recipe or a trial has left in the build folder must not come in.
cmake --fresh --preset portable >/dev/null
cmake --build --preset portable

rm -rf "$bundle"
mkdir -p "$bundle"/{bin,libexec/{bin,etc,share},licences}
cp packaging/bundle/{gridmarch,mpirun} "$bundle/bin/"
cp packaging/bundle/environment.sh "$bundle/libexec/"
for program in mpirun prterun prted; do
    cp -L "$GRIDMARCH_PORTABLE/bin/$program" "$bundle/libexec/bin/"
done
cp build/portable/gridmarch "$bundle/libexec/bin/"
strip "$bundle"/libexec/bin/*
cp -r "$GRIDMARCH_PORTABLE"/etc/. "$bundle/libexec/etc/"
for texts in openmpi pmix prte; do # Open MPI's messages
    mkdir "$bundle/libexec/share/$texts"
    find "$GRIDMARCH_PORTABLE/share/$texts" -name '*.txt' -exec cp {} "$bundle/libexec/share/$texts/" \;
done
cp "$GRIDMARCH_PORTABLE"/licences/* "$bundle/licences/"
nvcc=$(sed -n 's/^NVCC:FILEPATH=//p' build/portable/CMakeCache.txt)
if [ -x "$nvcc" ]; then
    find "$(dirname "$(dirname "$(realpath "$nvcc")")")" \( -name EULA.txt -o \
        -path '*cuda_runtime*' -name License.txt \) -exec cp {} "$bundle/licences/cuda.txt" \;
fi
cp LICENSE "$bundle/licences/gridmarch.txt"
cp packaging/bundle/licences.md "$bundle/licences/README.md"
cp -r examples docs jobscripts README.md CITATION.cff "$bundle/"

sums=$(cd "$bundle" && find . -type f -print0 | sort -z | xargs -0 sha256sum)
echo "$sums" >"$bundle/SHA256SUMS"
archive=$bundle.tar.gz
name=gridmarch-$(sed -n 's/^project(gridmarch VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)-x86_64
tar -C "$bundle" --transform "s,^\.,$name," --sort=name --owner=0 --group=0 --numeric-owner -czf "$archive" .
(cd "$(dirname "$archive")" && sha256sum "$(basename "$archive")" >"$(basename "$archive").sha256")
printf '%s: %s, as archive %s, in %d s\n' "$bundle" "$(du -sh "$bundle" | cut -f 1)" \
    "$(du -h "$archive" | cut -f 1)" "$((SECONDS - begin))"
