# shellcheck shell=sh disable=SC2154
# Tells Open MPI where this bundle lies. Sourced by bin/gridmarch and bin/mpirun, which set `bundle`.
OPAL_PREFIX=$bundle/libexec PMIX_PREFIX=$bundle/libexec PRTE_PREFIX=$bundle/libexec
# Without munge inside, its absence is nothing to warn of.
: "${PMIX_MCA_psec:=native}"
# Open MPI looks for settings in the home folder and gives up where none is named.
: "${HOME:=/}"
# Modules of a site's own Open MPI may name transports that are not inside.
unset OMPI_MCA_pml OMPI_MCA_mtl OMPI_MCA_osc
export OPAL_PREFIX PMIX_PREFIX PRTE_PREFIX PMIX_MCA_psec HOME
