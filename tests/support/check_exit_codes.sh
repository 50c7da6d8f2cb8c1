#!/usr/bin/env bash
# The table in docs/exit-codes.md says the same as GM_STATUS_LIST: code, name and meaning.
#   tests/support/check_exit_codes.sh [ROOT]
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/../..}"

# Both as sorted lines "code|name|meaning".
header=$(sed ':a;/\\$/{N;s/\\\n/ /;ba;}' src/core/status.h |
    grep -oE 'X\(GM_[A-Z_0-9]+, *[0-9]+, *"[^"]*"\)' |
    sed -E 's/X\((GM_[A-Z_0-9]+), *([0-9]+), *"([^"]*)"\)/\2|\1|\3/' | sort)
# shellcheck disable=SC2016 # the backquotes are the page's
table=$(sed -nE 's/^\| *([0-9]+) *\| *`(GM_[A-Z_0-9]+)` *\| *([^|]*[^| ]) *\|.*/\1|\2|\3/p' \
    docs/exit-codes.md | sort)

if [ -z "$header" ]; then
    echo "src/core/status.h: no GM_STATUS_LIST entry found" >&2
    exit 1
fi
if ! diff <(echo "$header") <(echo "$table"); then
    echo "docs/exit-codes.md (>) does not match GM_STATUS_LIST in src/core/status.h (<)" >&2
    exit 1
fi
echo "exit codes: $(echo "$header" | wc -l) entries, header and page agree"
