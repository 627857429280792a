#!/usr/bin/env bash
# Runs compute-sanitizer over recordings of every kernel that ships: the instrumented kernels must neither touch
# memory that is not theirs (memcheck) nor race in shared memory (racecheck). tiled_no_barrier is made to race, and
# racecheck must say so.
#
#     tests/gpu/sanitize.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
command -v compute-sanitizer >/dev/null || {
    echo "sanitize.sh: compute-sanitizer is not on the path; it comes with the CUDA Toolkit" >&2
    exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# check TOOL KERNEL EXPECTED OPTION...     EXPECTED: quiet, or hazards
check() {
    tool=$1 kernel=$2 expected=$3
    shift 3
    log=$work/$tool-$kernel.log
    status=0
    compute-sanitizer --tool "$tool" --target-processes all "$program" record "$kernel" "$@" --backend gpu \
        -o "$work/a.tsc" >"$log" 2>&1 || status=$?
    if [ "$tool" = memcheck ]; then
        found=$(sed -n 's/.*ERROR SUMMARY: \([0-9]*\) error.*/\1/p' "$log" | tail -1)
    else
        found=$(sed -n 's/.*RACECHECK SUMMARY: \([0-9]*\) hazard.*/\1/p' "$log" | tail -1)
    fi
    verdict=FAILED
    if [ -n "$found" ] && [ "$status" -eq 0 ]; then
        if [ "$expected" = quiet ] && [ "$found" -eq 0 ]; then verdict=ok; fi
        if [ "$expected" = hazards ] && [ "$found" -gt 0 ]; then verdict=ok; fi
    fi
    printf '%-9s %-17s %-40s %s found, %s expected: %s\n' "$tool" "$kernel" "$*" "${found:-nothing}" "$expected" "$verdict"
    if [ "$verdict" != ok ]; then
        failed=$((failed + 1))
        tail -30 "$log"
    fi
}

kernels="untiled untiled_swapped tiled tiled_swapped tiled_transposed tiled_padded tiled_no_barrier tiled_stale_edge"
# Edges on every side, several phases, several warps a block.
for kernel in $kernels; do
    check memcheck "$kernel" quiet --m 50 --k 40 --n 70 --tile 16
    expected=quiet
    [ "$kernel" != tiled_no_barrier ] || expected=hazards
    check racecheck "$kernel" "$expected" --m 50 --k 40 --n 70 --tile 16
done
# Threads that own several elements; a second block each way. Not under racecheck: it holds a warp longer than the
# clocks of its records can tell, which the recording then says.
for kernel in register_column register_tile vector_loads warp_tile double_buffer; do
    check memcheck "$kernel" quiet --m 270 --k 20 --n 140
done
# Full blocks of 32 warps, and blocks of a part of a warp.
check memcheck tiled quiet --m 64 --k 64 --n 64 --tile 32
check memcheck tiled quiet --m 5 --k 9 --n 7 --tile 2
check racecheck tiled quiet --m 64 --k 64 --n 64 --tile 32
# Only some blocks record; the others run the kernel's own code.
check memcheck tiled quiet --m 64 --k 64 --n 64 --tile 16 --blocks 1:2,1:3

if [ "$failed" -gt 0 ]; then
    echo "sanitize.sh: $failed of the runs are not as expected"
    exit 1
fi
echo "sanitize.sh: all runs as expected"
