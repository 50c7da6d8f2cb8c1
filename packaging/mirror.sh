#!/usr/bin/env bash
# Print the address of the Debian archive, as apt on this machine has it or GRIDMARCH_PORTABLE_MIRROR.
set -euo pipefail
address=${GRIDMARCH_PORTABLE_MIRROR:-}
# shellcheck disable=SC2016 # apt expands these
[ -n "$address" ] || address=$(apt-get indextargets --format '$(REPO_URI)|$(ORIGIN)|$(LABEL)' \
    'Created-By: Packages' | awk -F '|' '$2 == "Debian" && $3 == "Debian" { print $1; exit }')
if [ -z "$address" ]; then
    echo "portable: apt on this machine knows no Debian archive: name one in GRIDMARCH_PORTABLE_MIRROR" >&2
    exit 1
fi
echo "$address"
