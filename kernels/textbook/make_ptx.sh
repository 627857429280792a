#!/bin/sh
# Makes the PTX of the kernels that ship, with clang alone: no CUDA Toolkit is needed.
#
#     kernels/textbook/make_ptx.sh [OUT] [KERNEL...]      OUT: assets/ptx; KERNEL: all of them
#     CXX=clang++-18 kernels/textbook/make_ptx.sh ...     another clang
#
# sm_70 gives PTX that every driver since 2017 loads; cp.async and mma.sync need sm_80, and fragments of mma.h have no
# older PTX that clang would write. wgmma needs sm_90a, which this clang may not know: it hands inline PTX on as it stands,
# and the two lines that name version and target are written anew. LLVM does not unroll loops here, nor take vector loads apart, so that a memory
# instruction of the PTX is an access of the source; ptxas, behind it, may still unroll.
# Loops over what a thread keeps in registers are marked in the source and must be unrolled: an
# index into registers that changes as the kernel runs would put them into local memory.
#
# There is no program yet that could be asked for its catalogue: every source beside this script is a kernel of it,
# and what the source uses says how it is compiled: TILE_WIDTH, cp.async, mma, wgmma, marked loops.
set -eu
cd "$(dirname "$0")/../.."
compiler=${CXX:-clang++}
out=${1:-assets/ptx}
[ $# -gt 0 ] && shift
folder=kernels/textbook
# shellcheck disable=SC2046  # names of kernels are words
[ $# -gt 0 ] || set -- $(cd $folder && ls -- *.cu roofs/*.cu | sed 's/\.cu$//')

target="-x cuda --cuda-device-only -nocudainc -nocudalib --cuda-path=/nonexistent"
code="-O3 -gline-tables-only -mllvm -unroll-threshold=0 -mllvm -unroll-max-count=1"
no_unrolling="-mllvm -unroll-full-max-count=1 -mllvm -unroll-runtime=0"
marked_only="-mllvm -unroll-runtime=0"
version=$("$compiler" --version | sed -n '1s/.*\(clang version [0-9.]*\).*/\1/p')

uses() { grep -q "$2" "$folder/$1.cu"; }

# compile KERNEL FILE [DEFINE]
compile() {
    arch=sm_70 loops=$no_unrolling headers= newer=
    if uses "$1" 'cp\.async\|mma\.'; then arch=sm_80; fi
    if uses "$1" 'wgmma\.'; then newer='s/^\.version .*/.version 8.0/; s/^\.target .*/.target sm_90a/'; fi
    if uses "$1" '#include <'; then headers="-I$folder/no_toolkit "; fi
    if uses "$1" '#pragma unroll'; then loops=$marked_only; fi
    command="$target --cuda-gpu-arch=$arch $code $loops ${3:+$3 }-include $folder/no_toolkit.h $headers-S $folder/$1.cu"
    # shellcheck disable=SC2086
    text=$("$compiler" $command -o -)
    {
        echo "// $version"
        echo "// clang++ $command"
        # The same text on every machine: no folders of this one.
        printf '%s\n' "$text" |
            sed -e "$newer" -e 's|^\([[:space:]]*\.file[[:space:]]*[0-9]* \)"[^"]*/\(__clang_[^"/]*\)"|\1"\2"|' \
                -e 's|^\([[:space:]]*\.file[[:space:]]*[0-9]* \)"[^"]*/\(kernels/[^"]*\)"|\1"\2"|'
    } >"$out/$2.tmp.$$"
    mv "$out/$2.tmp.$$" "$out/$2"
}

mkdir -p "$out/roofs"
for kernel; do
    if uses "$kernel" TILE_WIDTH; then
        for tile in 2 4 8 16 32; do compile "$kernel" "$kernel.t$tile.ptx" "-DTILE_WIDTH=$tile"; done
    else
        compile "$kernel" "$kernel.ptx"
    fi
done
