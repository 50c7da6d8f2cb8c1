#!/usr/bin/env bash
# Who may know whom: greps every include of the source tree and prints those that cross a wall.
#   tests/support/check_rooms.sh [ROOT]
#   app -> {kernels, mpi, io} -> core; siblings never meet. Foreign headers: see `foreign_rooms`.
set -euo pipefail
root=${1:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
cd "$root"

# Room of a path in the tree; nothing for a path outside the rooms.
room_of() {
    case $1 in
    src/core/* | core/*) echo core ;;
    src/app/* | app/*) echo app ;;
    kernels/* | mpi/* | io/*) echo "${1%%/*}" ;;
    esac
}

# Rooms that a room may include.
allowed_rooms() {
    case $1 in
    app) echo app core kernels mpi io ;;
    core) echo core ;;
    *) echo "$1" core ;;
    esac
}

# Places (path prefixes) that may include a foreign header; '*' for all.
foreign_rooms() {
    case $1 in
    mpi.h) echo mpi/ io/ src/app/ ;;
    hdf5.h | hdf5_hl.h | H5*.h) echo io/ ;;
    cuda* | nvrtc* | nvml* | mma.h | cooperative_groups*) echo kernels/cuda/ ;;
    *) echo '*' ;;
    esac
}

# Where a quoted include leads, as the compiler would look: beside the file, src, the root.
resolve() {
    local from=$1 name=$2 candidate
    for candidate in "$(dirname "$from")/$name" "src/$name" "$name"; do
        if [ -e "$candidate" ]; then
            realpath --relative-to=. "$candidate"
            return
        fi
    done
    echo "$name" # generated, or missing: judged by its name
}

is_among() {
    local word=$1 item
    shift
    for item in "$@"; do
        if [ "$item" = "$word" ]; then return 0; fi
    done
    return 1
}

# Prints why an include is not allowed, or nothing.
verdict() {
    local file=$1 quote=$2 name=$3 room target place
    room=$(room_of "$file")
    if [ "$quote" = '"' ]; then
        target=$(room_of "$(resolve "$file" "$name")")
        # shellcheck disable=SC2046 # words
        if [ -n "$target" ] && ! is_among "$target" $(allowed_rooms "$room"); then
            echo "$room may not know $target"
            return
        fi
    fi
    set -f # the '*' below is a word
    for place in $(foreign_rooms "$name"); do
        case $place in '*') return ;; esac
        case $file in "$place"*) return ;; esac
    done
    echo "$name belongs to $(foreign_rooms "$name") alone"
}

n_include=0 n_bad=0
while IFS=: read -r file line text; do
    if [[ $text =~ ^[[:space:]]*\#[[:space:]]*include[[:space:]]*([\"\<])([^\"\>]+) ]]; then
        n_include=$((n_include + 1))
        why=$(verdict "$file" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}")
        if [ -n "$why" ]; then
            n_bad=$((n_bad + 1))
            echo "$file:$line: ${text#"${text%%[![:space:]]*}"}   <- $why"
        fi
    fi
done < <(find src kernels mpi io -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) \
    -exec grep -HnE '^[[:space:]]*#[[:space:]]*include' {} + | sort)

if [ "$n_include" -eq 0 ]; then
    echo "rooms: no include found under $root: nothing was checked" >&2
    exit 1
fi
echo "rooms: $n_include includes, $n_bad out of place"
[ "$n_bad" -eq 0 ]
