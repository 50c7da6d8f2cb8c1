#!/usr/bin/env bash
# Install what is missing, with apt. Safe to repeat: with nothing missing it does nothing.
#   .ci/install.sh GROUP...     groups: build, test, look (plots), lint, portable,
#                               cluster (Slurm and two hosts, for tests)
# Where apt is not the way (RHEL, macOS, clusters with modules) it checks that the tools are there.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=.ci/find_python.sh
source "$root/.ci/find_python.sh"

declare -A packages=(
    [build]="gcc libc6-dev cmake ninja-build make pkg-config openmpi-bin libopenmpi-dev
             libhdf5-openmpi-dev librandom123-dev libyaml-dev zlib1g-dev ca-certificates"
    [test]="libcmocka-dev python3-pytest python3-numpy python3-scipy python3-h5py python3-xarray
            python3-h5netcdf python3-netcdf4 netcdf-bin hdf5-tools"
    [look]="python3-xarray python3-h5netcdf python3-h5py python3-matplotlib"
    [lint]="clang-format-14 clang-tidy-14 shellcheck git"
    [portable]="binutils bzip2 xz-utils perl debian-archive-keyring debootstrap util-linux"
    [cluster]="slurm-wlm munge libpmix2 libpmix-dev iproute2 procps util-linux"
)

fail() {
    printf 'install: %s\n' "$@" >&2
    exit 1
}

# Packages of the groups that dpkg does not have.
missing_packages() {
    local group package
    for group in "$@"; do
        for package in ${packages[$group]}; do
            if ! dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed'; then
                echo "$package"
            fi
        done
    done | sort -u
}

has_command() { command -v "$1" >/dev/null 2>&1; }
has_header() { # a header that the compiler finds by itself or through pkg-config
    local flags
    flags=$(pkg-config --cflags "$2" 2>/dev/null) || flags=
    # shellcheck disable=SC2086 # flags are words
    printf '#include <stdarg.h>\n#include <stddef.h>\n#include <setjmp.h>\n#include <stdint.h>\n#include <%s>\n' \
        "$1" | cc $flags -E - >/dev/null 2>&1
}

# What a group needs and this machine lacks, however it was installed; one line each.
missing_tools() {
    local group tool
    for group in "$@"; do
        case $group in
        build)
            has_command cc || echo "a C11 compiler (cc)"
            has_command cmake || echo "CMake 3.25 or newer (cmake)"
            has_command ninja || echo "Ninja (ninja)"
            has_command mpicc || echo "an MPI library with its compiler (mpicc)"
            has_command mpirun || echo "the launcher of that MPI library (mpirun)"
            has_command h5pcc || has_command h5cc || pkg-config --exists hdf5 2>/dev/null ||
                echo "HDF5 with its headers (h5pcc or h5cc)"
            has_header yaml.h yaml-0.1 || echo "libyaml with its headers (yaml.h)"
            has_header zlib.h zlib || echo "zlib with its headers (zlib.h)"
            has_header Random123/philox.h random123 || echo "Random123 (Random123/philox.h)"
            ;;
        test)
            has_header cmocka.h cmocka || echo "cmocka with its headers (cmocka.h)"
            gm_find_python pytest numpy scipy h5netcdf netCDF4 >/dev/null 2>&1 ||
                echo "a python3 with pytest, numpy, scipy, h5py, xarray, h5netcdf, netCDF4"
            has_command h5dump || echo "the HDF5 tools (h5dump)"
            has_command ncdump || echo "the netCDF tools (ncdump)"
            ;;
        look)
            gm_find_python h5netcdf matplotlib >/dev/null 2>&1 ||
                echo "a python3 with xarray, h5netcdf, h5py, matplotlib"
            ;;
        lint)
            has_command clang-format-14 || clang-format --version 2>/dev/null | grep -q 'version 14\.' ||
                echo "clang-format 14"
            has_command clang-tidy-14 || clang-tidy --version 2>/dev/null | grep -q 'version 14\.' ||
                echo "clang-tidy 14"
            has_command git || echo "git"
            ;;
        portable)
            for tool in apt-get dpkg objdump bzip2 xz perl unshare; do
                has_command "$tool" || echo "$tool"
            done
            ;;
        cluster)
            for tool in slurmctld slurmd munged srun unshare nsenter setpriv ip pgrep; do
                PATH=$PATH:/usr/sbin:/sbin has_command "$tool" || echo "$tool"
            done
            ;;
        esac
    done
}

# Go on when everything is there in another way; else say what to install and stop.
accept_or_stop() {
    local why=$1 lacking
    shift
    lacking=$(missing_tools "$@")
    if [ -z "$lacking" ]; then
        echo "install: $why, but every tool needed was found: going on"
        return 0
    fi
    echo "install: $why. Needed and not found:" >&2
    printf '%s\n' "$lacking" | sed 's/^/    /' >&2
    if [ -n "${apt_line:-}" ]; then
        printf 'install: ask someone who may install packages to run\n    %s\n' "$apt_line" >&2
    else
        echo "install: install them with this system's packages, modules or Spack; then repeat" >&2
    fi
    exit 1
}

# apt_install [sudo...]: as root, or through sudo.
apt_install() {
    local begin=$SECONDS
    local -a as_root=("$@") apt=(env DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=300)
    local log="$root/build/log/install.log"
    mkdir -p "$root/build/log"
    printf 'installing with apt: %s ... ' "${missing[*]}"
    {
        "${as_root[@]}" "${apt[@]}" update || echo "apt-get update failed: trying with the lists at hand"
        "${as_root[@]}" "${apt[@]}" install --no-install-recommends "${missing[@]}"
    } >"$log" 2>&1 </dev/null && printf '%d s\n' "$((SECONDS - begin))" && return 0
    echo FAILED
    tail -n 20 "$log" | sed 's/^/    | /' >&2
    fail "apt-get could not install: ${missing[*]}" "its whole output is in $log"
}

check_cmake_version() {
    local version
    version=$(cmake --version 2>/dev/null | sed -n 's/^cmake version \([0-9]*\.[0-9]*\).*/\1/p')
    if [ "$(printf '3.25\n%s\n' "$version" | sort -V | head -n 1)" != 3.25 ]; then
        fail "cmake is ${version:-not usable}; 3.25 or newer is needed (its presets)" \
            "newer ones: python3 -m pip install --user cmake, or https://cmake.org/download"
    fi
}

[ $# -gt 0 ] || fail "name one group or more of: build test look lint portable cluster"
for group in "$@"; do
    [ -n "${packages[$group]:-}" ] || fail "no group is named '$group'; there are build test look lint portable cluster"
done

if has_command apt-get && has_command dpkg-query; then
    mapfile -t missing < <(missing_packages "$@")
    if [ ${#missing[@]} -gt 0 ]; then
        apt_line="sudo apt-get update && sudo apt-get install --no-install-recommends ${missing[*]}"
        if [ "$(id -u)" -eq 0 ]; then
            apt_install
        elif has_command sudo && sudo -n true 2>/dev/null; then
            apt_install sudo -n
        elif [ -z "$(missing_tools "$@")" ]; then
            echo "install: not everything comes from apt here, but every tool needed was found"
        elif has_command sudo && [ -t 0 ] && [ -t 2 ]; then
            echo "packages are missing: installing them needs sudo, which may ask for your password"
            sudo -v || accept_or_stop "sudo was refused" "$@"
            apt_install sudo
        else
            accept_or_stop "packages are missing, and this user may not install any" "$@"
        fi
    fi
else
    accept_or_stop "this system has no apt-get" "$@"
fi
case " $* " in *" build "*) check_cmake_version ;; esac
