#!/usr/bin/env bash
# Runs compute-sanitizer over recordings of every kernel that ships: the instrumented kernels must neither touch
# memory that is not theirs (memcheck) nor race in shared memory (racecheck). Where a kernel is made to race,
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
        -o "$work/a.tsc" >"$log" 2>&1 </dev/null || status=$?
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

# Each kernel, whether it has a tile width, and what racecheck must say.
kernels=$("$program" kernels --json | python3 -c '
import json, sys
for kernel in json.load(sys.stdin)["kernels"]:
    print(kernel["name"], "tile" if kernel["tiles"] else "none", "hazards" if kernel["fault"] == "race" else "quiet")')
while read -r kernel width expected; do
    if [ "$width" = tile ]; then
        # Edges on every side, several phases, several warps a block.
        check memcheck "$kernel" quiet --m 50 --k 40 --n 70 --tile 16
        check racecheck "$kernel" "$expected" --m 50 --k 40 --n 70 --tile 16
    else
        # Threads that own several elements; a second block each way. Not under racecheck: it holds a warp longer than
        # the clocks of its records can tell, which the recording then says.
        check memcheck "$kernel" quiet --m 270 --k 20 --n 140
    fi
done <<<"$kernels"
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
