#!/bin/sh
# Makes a file of times that ships: every kernel and cuBLAS, T 8, 16 and 32, on the GPU of this machine.
#
#     assets/timings/make.sh PROGRAM OUT.json [WIDTH... | small]
#
#     assets/timings/make.sh build/tilescope assets/timings/h200.json                small, and 256 to 8192
#     assets/timings/make.sh build/tilescope assets/timings/h200.json small          what presets and lessons use
#     assets/timings/make.sh build/tilescope assets/timings/h200.json 256 512 1024 2048 4096
#     assets/timings/make.sh build/tilescope assets/timings/h200.json 8192           in two goes
#     KERNELS="untiled_swapped cublas" assets/timings/make.sh ... 8192               some kernels only
#     OPTIONS=--no-price assets/timings/make.sh ...                                  more for `tilescope time`
#
# OUT keeps what it has of the same device, but for the rows that are measured again. A width is a call of
# `tilescope time`, and is in OUT when it ends: what breaks off later loses nothing. On an H200 it is 8192
# that takes long, since untiled_swapped runs for seconds there and is run 23 times for each T: about 4
# minutes, all other widths together about 2.
set -eu
[ $# -ge 2 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
program=$1 out=$2
shift 2
[ $# -gt 0 ] || set -- small 256 512 1024 2048 4096 8192
here=$(dirname "$0")
part=$out.part.$$
trap 'rm -f "$part"' EXIT
trap 'exit 130' INT TERM
measure() {  # the arguments of one call
    # shellcheck disable=SC2086
    "$program" time ${KERNELS:-} "$@" --json -o "$part" ${OPTIONS:-}
    python3 "$here/merge.py" "$out" "$part"
}
for width; do
    begun=$(date +%s)
    if [ "$width" = small ]; then
        measure --n 4 --tile 2
        measure --n 3 --tile 2
        measure --n 16 --tile 4
        measure --n 20 --tile 8
        measure --n 64 --tile 8 16 32
        measure --m 100 --k 70 --n 130 --tile 16
    else
        measure --n "$width" --tile 8 16 32
    fi
    echo "$width: $(($(date +%s) - begun)) s"
done
