#!/usr/bin/env bash
# Launches of running programs, listed and recorded by tilescope capture:
#
#     tests/gpu/capture/run.sh PROGRAM OUT [NAME...]
#
# PROGRAM is tilescope, with libtilescope_capture.so beside it or in ../lib. Each program here runs as it is, listed and
# recorded; its output must be the same, bit for bit, and all recordings must open. run.py prints the table. NVCC and
# PYTHON name the compiler and the interpreter that has torch, triton, cupy and jax.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
shift 2
for name in trainer launches; do
    "${NVCC:-nvcc}" -O2 -lineinfo -gencode 'arch=compute_90,code=[sm_90,compute_90]' -o "$out/$name" "$here/$name.cu"
done
exec "${PYTHON:-python3}" "$here/run.py" "$program" "$out" "$@"
