#!/bin/sh
# Makes the PTX of the kernels that ship as NVRTC optimises it, for machines without NVRTC:
#
#     kernels/textbook/make_nvrtc_ptx.sh [OUT]      OUT: assets/ptx/nvrtc; needs libnvrtc.so where the system looks
#                                                   and the toolkit's headers in $CUDA_HOME
#
# compute_75 is the oldest architecture that NVRTC 13 compiles for, compute_80 the oldest that has cp.async and the
# mma.sync of the kernels, and wgmma needs compute_90a; the options are those of kernels/gpu/nvrtc.cpp.
set -eu
cd "$(dirname "$0")/../.."
out=${1:-assets/ptx/nvrtc}
mkdir -p "$out"
headers=${CUDA_HOME:-/usr/local/cuda}/include
options="-lineinfo -default-device -I$headers"

for source in kernels/textbook/*.cu; do
    kernel=$(basename "$source" .cu)
    tiles=2 architecture=compute_75
    if grep -q TILE_WIDTH "$source"; then tiles="2 4 8 16 32"; fi
    if grep -q 'cp\.async\|mma\.' "$source"; then architecture=compute_80; fi
    if grep -q 'wgmma\.' "$source"; then architecture=compute_90a; fi
    for tile in $tiles; do
        file=$kernel.ptx
        if [ "$tiles" != 2 ]; then file=$kernel.t$tile.ptx; fi
        # shellcheck disable=SC2086  # options are words
        text=$(python3 tests/data/ptx/nvrtc.py "$source" --gpu-architecture=$architecture $options "-DTILE_WIDTH=$tile")
        # No folders of the machine it was made on.
        printf '%s\n' "$text" |
            sed -e 's|^\([[:space:]]*\.file[[:space:]]*[0-9]* \)"[^"]*/\(kernels/textbook/[^"/]*\)"|\1"\2"|' \
                -e "s|^\\([[:space:]]*\\.file[[:space:]]*[0-9]* \\)\"$headers/|\\1\"|" >"$out/$file.tmp.$$"
        mv "$out/$file.tmp.$$" "$out/$file"
    done
done
