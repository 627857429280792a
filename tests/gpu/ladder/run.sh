#!/usr/bin/env bash
# Times what comes after tiles, a rung a file, beside cuBLAS:
#
#     tests/gpu/ladder/run.sh [KERNEL...]      needs nvcc with cuBLAS and an NVIDIA GPU
#
#     register_column   a thread owns eight elements of a column of P
#     register_tile     8 x 8 elements
#     vector_loads      the same with loads of 16 bytes
#     warp_tile         a warp owns 32 x 64 elements, a thread 8 x 8 in patches of 4 x 4
#     double_buffer     the next tiles are copied while these are multiplied
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- register_column register_tile vector_loads warp_tile double_buffer
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
failed=0
for kernel; do
    nvcc -O3 -std=c++20 -arch=native "-DRUNG=$kernel" "-DSOURCE=\"../../../kernels/textbook/$kernel.cu\"" time.cu -lcublas -o "$work/$kernel" &
done
wait
for kernel; do
    echo "$kernel"
    "$work/$kernel" || failed=1
done
exit $failed
