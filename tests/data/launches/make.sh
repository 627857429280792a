#!/bin/sh
# Makes the PTX of the launches that tests record, with clang alone: tests/data/launches/make.sh
set -eu
cd "$(dirname "$0")/../../.."
out=tests/data/launches
for source in "$out"/*.cu; do
    clang++ -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-path=/nonexistent --cuda-gpu-arch=sm_70 -O2 \
        -gline-tables-only -fno-unroll-loops -include kernels/textbook/no_toolkit.h -S "$source" -o - |
        sed -e 's|^\([[:space:]]*\.file[[:space:]]*[0-9]* \)"[^"]*/\([^"/]*\)"|\1"\2"|' >"${source%.cu}.ptx"
done
