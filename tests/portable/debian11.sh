#!/usr/bin/env bash
# Run a command in a Debian 11 root that sees the bundle at /bundle and a folder at /mnt.
#   tests/portable/debian11.sh BUNDLE FOLDER COMMAND [ARGUMENT...]
# The root is made by debootstrap at the first call and kept in the cache of packaging/dependencies.sh.
# Needs to be root. All mounts are in a namespace of their own and end with the command.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${GRIDMARCH_PORTABLE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gridmarch/portable}
root=$cache/debian11
if [ ! -d "$root" ]; then
    rm -rf "$root.new"
    mkdir -p "$cache"
    debootstrap --variant=minbase bullseye "$root.new" "$("$here/../../packaging/mirror.sh")" \
        >"$cache/debian11.log" 2>&1 || {
        tail "$cache/debian11.log" >&2
        exit 1
    }
    mkdir -p "$root.new/bundle"
    mv "$root.new" "$root"
fi
# shellcheck disable=SC2016 # expanded inside
exec unshare --mount sh -euc '
    root=$1 bundle=$2 folder=$3
    shift 3
    mount --bind "$bundle" "$root/bundle"
    mount --bind "$folder" "$root/mnt"
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount -t tmpfs tmpfs "$root/dev/shm"
    exec chroot "$root" env -i PATH=/usr/bin:/bin HOME=/root OMPI_ALLOW_RUN_AS_ROOT=1 \
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$@"' sh "$root" "$1" "$2" "${@:3}"
