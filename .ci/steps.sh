# shellcheck shell=bash
# What the scripts for people and for CI share: quiet steps, and how MPI is started. To be sourced.

# Run a command with its output in a log; print one line, or on failure the log's end and advice.
#   gm_step TITLE LOG ADVICE COMMAND [ARGUMENT...]
gm_step() {
    local title=$1 log=$2 advice=$3 code=0 begin=$SECONDS
    shift 3
    mkdir -p "$(dirname "$log")"
    printf '%s ... ' "$title"
    "$@" >"$log" 2>&1 || code=$?
    if [ "$code" -eq 0 ]; then
        printf '%d s\n' "$((SECONDS - begin))"
        return 0
    fi
    printf 'FAILED (exit code %d)\n' "$code"
    tail -n 30 "$log" | sed 's/^/    | /'
    printf 'This step failed: %s\nIts whole output: %s\n%s\n' "$title" "$log" "$advice"
    return "$code"
}

# Let mpirun start as root where there is no other user (containers), and only there.
gm_mpi_environment() {
    if [ "$(id -u)" -eq 0 ]; then
        export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    fi
    # Open MPI's hwloc complains, once per rank, where /sys is not mounted (a bare chroot).
    if [ ! -d /sys/devices/system/cpu ]; then export HWLOC_HIDE_ERRORS=2; fi
    # Containers often forbid the kernel call behind the fast path between ranks of one host.
    if [ -e /.dockerenv ] || [ -e /run/.containerenv ]; then
        export OMPI_MCA_btl_vader_single_copy_mechanism=none
    fi
}

# Cores this process may use: what Open MPI counts as slots when no scheduler says otherwise.
gm_core_count() {
    local core thread
    thread=$(nproc)
    core=$(lscpu --parse=SOCKET,CORE 2>/dev/null | grep -v '^#' | sort -u | wc -l) || core=$thread
    if [ "$core" -lt 1 ] || [ "$core" -gt "$thread" ]; then core=$thread; fi
    echo "$core"
}

# Set the array GM_MPIRUN to the start of a command line for N ranks on this machine.
gm_mpirun_command() {
    local n_rank=$1
    GM_MPIRUN=(mpirun -n "$n_rank")
    if mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
        GM_MPIRUN+=(--bind-to none) # the program shares the cores out among its ranks itself
        if [ "$(gm_core_count)" -lt "$n_rank" ]; then GM_MPIRUN+=(--oversubscribe); fi
    fi
}
