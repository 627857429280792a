#!/bin/sh
# Makes the PTX that the parser's tests read: every kernel that has a T with T = 4, as different compilers give it.
#
#     tests/data/ptx/make.sh          needs clang++ 14 and nvcc 13 on the path
#
#     nvcc/KERNEL.default.ptx         nvcc -lineinfo
#     nvcc/KERNEL.O1.ptx              nvcc -lineinfo -Xcicc -O1
#     nvrtc/KERNEL.default.ptx        NVRTC -lineinfo (nvrtc.py; libnvrtc.so on LD_LIBRARY_PATH)
#     nvrtc/KERNEL.min.ptx            NVRTC -lineinfo --Ofast-compile=max: as little optimising as it does
#     clang/KERNEL.O1.ptx, .O2, .O3   clang without a CUDA Toolkit
#     nvcc/wide.ptx                   wide.cu, instructions beyond those of the kernels
set -eu
cd "$(dirname "$0")/../../.."
out=tests/data/ptx
mkdir -p "$out/nvcc" "$out/nvrtc" "$out/clang"

# No folders of the machine it was made on.
plain() {
    sed -e 's|^\([[:space:]]*\.file[[:space:]]*[0-9]* \)"[^"]*/\(kernels/textbook/[^"/]*\)"|\1"\2"|' \
        -e 's|^\([[:space:]]*\.file[[:space:]]*[0-9]* \)"/[^"]*/\([^"/]*\)"|\1"\2"|'
}

for source in kernels/textbook/*tiled*.cu; do
    kernel=$(basename "$source" .cu)
    nvcc -ptx -lineinfo -arch=sm_75 -DTILE_WIDTH=4 "$source" -o - | plain >"$out/nvcc/$kernel.default.ptx"
    nvcc -ptx -lineinfo -arch=sm_75 -DTILE_WIDTH=4 -Xcicc -O1 "$source" -o - | plain >"$out/nvcc/$kernel.O1.ptx"
    for how in default: min:--Ofast-compile=max; do
        # shellcheck disable=SC2086  # no option is no word
        python3 "$out/nvrtc.py" "$source" --gpu-architecture=compute_75 -lineinfo -DTILE_WIDTH=4 ${how#*:} |
            plain >"$out/nvrtc/$kernel.${how%%:*}.ptx"
    done
    for level in 1 2 3; do
        clang++ -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-path=/nonexistent \
            --cuda-gpu-arch=sm_70 -DTILE_WIDTH=4 -gline-tables-only -S "-O$level" \
            -include kernels/textbook/no_toolkit.h "$source" -o - | plain >"$out/clang/$kernel.O$level.ptx"
    done
done
nvcc -ptx -lineinfo -arch=sm_75 "$out/wide.cu" -o - | plain >"$out/nvcc/wide.ptx"
