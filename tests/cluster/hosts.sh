#!/usr/bin/env bash
# Make two hosts, n1 and n2, out of namespaces of this machine: each has its own name, network,
# processes and shared memory; a pair of virtual cables joins them, the file system is one.
#   setpriv --pdeathsig KILL unshare --net --uts --mount --pid --fork --kill-child --mount-proc \
#       hosts.sh FOLDER         becomes n1, makes n2, writes FOLDER/ready, stays
#   hosts.sh FOLDER HOST COMMAND...   on n1: run a command on HOST; ssh's place in mpirun
# n2 lies inside n1, so that n1's end, or its starter's, is the end of everything on both.
set -euo pipefail
folder=$1
shift

# What makes a host of the namespaces this process is in.
furnish() {
    hostname "$1"
    ip link set lo up
    mount --bind "$folder/hosts" /etc/hosts
    mount -t tmpfs tmpfs /dev/shm
}

# As process 1: take in what others leave behind. Only bash's own wait does.
stay() {
    while :; do
        sleep 1 &
        wait "$!"
    done
}

if [ $# -gt 0 ] && [ "$1" = --second ]; then
    furnish n2
    : >"$folder/furnished"
    stay
fi

if [ $# -gt 0 ]; then
    target=1
    if [ "$1" = n2 ]; then target=$(<"$folder/n2.pid"); fi
    shift
    exec nsenter --target "$target" --net --uts --mount --pid --wd="$PWD" sh -c "$*"
fi

printf '127.0.0.1 localhost\n10.9.0.1 n1\n10.9.0.2 n2\n' >"$folder/hosts"
furnish n1
unshare --net --uts --mount --pid --fork --kill-child --mount-proc "$0" "$folder" --second &
outer=$!
until [ -e "$folder/furnished" ]; do sleep 0.02; done
second=$(pgrep --parent "$outer")
ip link add eth0 type veth peer name eth0 netns "$second"
ip address add 10.9.0.1/24 dev eth0
ip link set eth0 up
nsenter --target "$second" --net sh -c 'ip address add 10.9.0.2/24 dev eth0; ip link set eth0 up'
echo "$second" >"$folder/n2.pid"
: >"$folder/ready"
stay
