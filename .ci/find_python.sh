#!/usr/bin/env bash
# Print a Python 3 that can read result files. A python3 early on the PATH (pyenv, conda, a module)
# often lacks the packages that the system's own has, so each is asked.
#   .ci/find_python.sh [MODULE...]        or: source it and call gm_find_python

# First of $GM_PYTHON, python3, /usr/bin/python3 that imports xarray, h5py and the modules named.
gm_find_python() {
    local python module statement="import xarray, h5py"
    for module in "$@"; do statement+=", $module"; done
    for python in "${GM_PYTHON:-}" python3 /usr/bin/python3; do
        if [ -n "$python" ] && "$python" -c "$statement" >/dev/null 2>&1; then
            command -v "$python"
            return 0
        fi
    done
    echo "no python3 here can '$statement': install them (python3 -m pip install numpy xarray h5netcdf h5py matplotlib), or name one that can in GM_PYTHON" >&2
    return 1
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then gm_find_python "$@"; fi
