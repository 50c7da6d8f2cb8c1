#!/usr/bin/env bash
# Build what the portable program holds inside, from source and static: zlib, libyaml, Open MPI, HDF5,
# all compiled against the C library of Debian 11. Prints the folder that holds them, last.
#   packaging/dependencies.sh
# Kept in $GRIDMARCH_PORTABLE_CACHE, else $XDG_CACHE_HOME/gridmarch/portable, in a folder named by the
# recipe's hash: what is there already is not built again. In that folder: cc (the compiler to use),
# bin, include, lib, licences. The sources come from the Debian mirror that apt uses on this
# machine (or GRIDMARCH_PORTABLE_MIRROR, an address); apt's own lists and settings stay as they are.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${GRIDMARCH_PORTABLE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gridmarch/portable}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
n_job=$(nproc)

fail() {
    printf 'portable: %s\n' "$@" >&2
    exit 1
}

# Run a command with its output in the log of a step; say how long it took, on stderr.
step() {
    local name=$1 begin=$SECONDS
    shift
    printf '%s ... ' "$name" >&2
    ("$@") >"$prefix/log/$name.log" 2>&1 & # behind `if` itself, a failure in it would be ignored
    if wait "$!"; then
        printf '%d s\n' "$((SECONDS - begin))" >&2
    else
        echo FAILED >&2
        tail -n 30 "$prefix/log/$name.log" | sed 's/^/    | /' >&2
        fail "$name failed; its whole output is in $prefix/log/$name.log"
    fi
}

recipe_hash() {
    {
        cat "$here/dependencies.sh" "$here/sources.sha256" "$here/glibc_floor.h"
        gcc --version
    } | sha256sum | cut -c 1-16
}

# An apt of our own, whose state, lists and settings lie below $build/apt.
private_apt() { APT_CONFIG=$build/apt/apt.conf apt-get -q "$@"; }

download() {
    local address
    address=$("$here/mirror.sh")
    [ -r "$keyring" ] || fail "$keyring is missing: install debian-archive-keyring"
    mkdir -p "$build/apt/"{state/lists/partial,cache/archives/partial,parts} "$build/sources"
    cat >"$build/apt/apt.conf" <<END
Dir::State "$build/apt/state";
Dir::State::status "/dev/null";
Dir::Cache "$build/apt/cache";
Dir::Etc::sourcelist "$build/apt/sources.list";
Dir::Etc::sourceparts "$build/apt/parts";
Acquire::Languages "none";
APT::Sandbox::User "$(id -un)";
END
    printf '%s [signed-by=%s%s] %s %s main\n' deb "$keyring" " arch=amd64" "$address" bullseye \
        deb-src "$keyring" "" "$address" trixie >"$build/apt/sources.list"
    private_apt update
    cd "$build/sources"
    private_apt source --download-only --tar-only openmpi hdf5 zlib libyaml librandom123
    private_apt download libc6 libc6-dev linux-libc-dev
    sha256sum --check "$here/sources.sha256"
}

# The C library of Debian 11, and a compiler that builds against it.
floor() {
    local package link target s=$prefix/sysroot
    for package in "$build"/sources/*.deb; do dpkg -x "$package" "$s"; done
    find "$s" -type l -lname '/*' | while read -r link; do
        target=$s$(readlink "$link")
        ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$target")" "$link"
    done
    rm "$s"/usr/lib/x86_64-linux-gnu/lib{c,m,dl,rt,pthread,util,resolv}.a # never linked static
    cp "$here/glibc_floor.h" "$prefix/"
    cat >"$prefix/cc" <<END
#!/bin/sh
# gcc against the C library of Debian 11.
unset LIBRARY_PATH
s=$s
exec gcc --sysroot="\$s" -B"\$s/usr/lib/x86_64-linux-gnu/" -L"\$s/usr/lib/x86_64-linux-gnu" \\
    -L"\$s/lib/x86_64-linux-gnu" -include "$prefix/glibc_floor.h" -fPIC "\$@"
END
    chmod +x "$prefix/cc"
}

unpack() { # PATTERN: the folder a source is unpacked to, on stdout
    local folder=$build/$1
    mkdir -p "$folder"
    tar -C "$folder" --strip-components=1 -xf "$(echo "$build/sources/$1"_*.orig.tar.*)"
    cd "$folder"
}

build_zlib() {
    unpack zlib
    CC=$prefix/cc CFLAGS=$flags ./configure --static --prefix="$prefix"
    make -j"$n_job" libz.a && make install
}

# What needs no building: headers of the random numbers, and gcc's static OpenMP library.
copied_parts() {
    unpack librandom123
    mkdir -p "$prefix/include"
    cp -r include/Random123 "$prefix/include/"
    cp "$(gcc -print-file-name=libgomp.a)" "$prefix/lib/"
}

build_libyaml() {
    unpack libyaml
    cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$prefix/cc" \
        -DCMAKE_C_FLAGS="$flags" -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF \
        -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib
    cmake --build build -j"$n_job" && cmake --install build
}

# What is left out would come with shared libraries of its own or needs a network of its own.
build_openmpi() {
    unpack openmpi
    ac_cv_func_getrandom=no ./configure --prefix="$prefix" --enable-static --disable-shared \
        --disable-dlopen --with-{libevent,hwloc,pmix,prrte}=internal --disable-mpi-fortran \
        --disable-oshmem --disable-io-romio --disable-mpi-java --disable-sphinx \
        --enable-prte-prefix-by-default --with-slurm \
        --without-{tm,lsf,sge,alps,ucx,ofi,psm2,portals4,ugni,xpmem,knem,libnl,cuda,rocm,hcoll,ucc} \
        --without-{munge,jansson,curl,libev} --with-zlib="$prefix" \
        --disable-{libxml2,nvml,opencl,rsmi,levelzero,gl,pci,libudev,cairo,cuda} \
        --enable-mca-no-build="$left_out" CC="$prefix/cc" CFLAGS="-O2 -g0 $flags"
    make -j"$n_job" && make install
}
left_out=btl-usnic,coll-hcoll,coll-ucc,mtl,pml-cm,pml-monitoring,common-monitoring,osc-monitoring
left_out+=,coll-monitoring,btl-smcuda,accelerator-ze

build_hdf5() {
    unpack hdf5
    ./configure --prefix="$prefix" CC="$prefix/bin/mpicc" --enable-parallel --disable-shared \
        --enable-static --enable-hl --disable-{cxx,fortran,java,tools,tests} --with-zlib="$prefix" \
        --without-szlib --with-default-api-version=v114 --enable-build-mode=production \
        CFLAGS="$flags"
    make -j"$n_job" && make install
}

# The texts that must travel with what is inside.
licences() {
    local part folder=$prefix/licences
    mkdir -p "$folder"
    cp "$build/openmpi/LICENSE" "$folder/openmpi.txt"
    cat "$build/hdf5/COPYING" "$build/hdf5/COPYING_LBNL_HDF5" >"$folder/hdf5.txt"
    cp "$build/libyaml/License" "$folder/libyaml.txt"
    cp "$build/librandom123/LICENSE" "$folder/random123.txt"
    cp "$(find /usr/share/doc/ -maxdepth 2 -path '*/gcc-*-base/copyright' | sort -V | tail -n 1)" \
        "$folder/libgomp.txt"
    sed -n '/^Copyright notice/,/^ *Jean-loup Gailly  *Mark Adler/p' "$build/zlib/README" \
        >"$folder/zlib.txt"
    [ -s "$folder/zlib.txt" ]
    for part in openpmix prrte libevent hwloc; do
        find "$build/openmpi/3rd-party/" -maxdepth 2 -path "*/$part*" \
            \( -name LICENSE -o -name COPYING \) -exec cp {} "$folder/$part.txt" \;
        [ -s "$folder/$part.txt" ]
    done
}

prefix=$cache/$(recipe_hash)
build=$prefix/build
if [ ! -e "$prefix/complete" ]; then
    rm -rf "$prefix"
    mkdir -p "$prefix/log" "$build"
    flags="-O2 -fPIC -ffunction-sections -fdata-sections"
    step download download
    step floor floor
    step zlib build_zlib
    step libyaml build_libyaml
    step copied_parts copied_parts
    step openmpi build_openmpi
    step hdf5 build_hdf5
    step licences licences
    rm -rf "$build"
    : >"$prefix/complete"
fi
echo "$prefix"
