#!/usr/bin/env bash
# Times what comes after tiles, a rung a file, beside cuBLAS, in fp32 and on tensor cores:
#
#     tests/gpu/ladder/run.sh [KERNEL...]                                          needs nvcc with cuBLAS and an NVIDIA GPU
#     tests/gpu/ladder/run.sh wmma_tile mma_tile mma_swizzled mma_stages           halves only: a minute
#     tests/gpu/ladder/run.sh wgmma_ring                                           compute capability 9.0 alone
#
# KERNEL: all that have no tile width, which are those whose sources do not ask for one and have loops over registers.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2046  # names of kernels are words
[ $# -gt 0 ] || set -- $(grep -l '#pragma unroll' ../../../kernels/textbook/*.cu | sed 's|.*/\(.*\)\.cu|\1|')
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
failed=0
for kernel; do
    source=../../../kernels/textbook/$kernel.cu
    words="-arch=native"
    if grep -q 'wgmma\.' "$source"; then words="-gencode arch=compute_90a,code=sm_90a -DBOXES -lcuda"; fi
    # shellcheck disable=SC2086  # words are words
    nvcc -O3 -std=c++20 $words "-DRUNG=$kernel" "-DSOURCE=\"$source\"" time.cu -lcublas -o "$work/$kernel" &
done
nvcc -O3 -std=c++20 -arch=native ceiling.cu -o "$work/ceiling" &
wait
"$work/ceiling"
for kernel; do
    echo "$kernel"
    "$work/$kernel" || failed=1
done
exit $failed
