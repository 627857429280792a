#!/usr/bin/env bash
# What recording costs on this machine's GPU, and what a buffer that is too small does; the figures of docs/hardware.md:
#
#     tests/gpu/price.sh PROGRAM
#
# Recordings of 1024 x 1024 matrices take 20 GB of memory.
set -uo pipefail
program=$1
export TILESCOPE_MAX_MEMORY=64
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

cost() {
    "$program" record "$@" --backend gpu -o "$folder/a.tsc" >"$folder/said" || {
        failed=1
        return
    }
    printf '\nrecord %s\n' "$*"
    "$program" report "$folder/a.tsc" | sed -n '3,6p'
    rm -f "$folder/a.tsc"
}

cost tiled --m 1024 --k 1024 --n 1024 --tile 16
cost tiled --m 1024 --k 1024 --n 1024 --tile 16 --compiler nvrtc
cost untiled --m 1024 --k 1024 --n 1024 --tile 16
cost untiled --m 1024 --k 1024 --n 1024 --tile 16 --compiler nvrtc
cost tiled --m 1024 --k 1024 --n 1024 --tile 32 --compiler nvrtc
cost tiled --m 8192 --k 8192 --n 8192 --tile 16 --blocks 100:104,100:104
cost tiled --m 2048 --k 2048 --n 2048 --tile 16 --buffer 1000000000

# What another tool costs that looks at every access: the kernel's own time, and under compute-sanitizer.
median() { sed -n 's/.*"median_ms": *\([0-9.]*\).*/\1/p' "$1" | head -1; }
if command -v compute-sanitizer >/dev/null; then
    own="tiled --n 1024 --tile 16 --compiler nvrtc --no-cublas --no-price --no-roofs --json"
    # shellcheck disable=SC2086
    "$program" time $own -o "$folder/plain.json" || failed=1
    # shellcheck disable=SC2086
    compute-sanitizer --tool memcheck --target-processes all "$program" time $own -o "$folder/memcheck.json" \
        >"$folder/said" || failed=1
    printf '\ntiled 1024 x 1024 x 1024, T = 16, NVRTC: %s ms; under memcheck: %s ms, ' \
        "$(median "$folder/plain.json")" "$(median "$folder/memcheck.json")"
    awk -v a="$(median "$folder/plain.json")" -v b="$(median "$folder/memcheck.json")" 'BEGIN { printf "%.0f times\n", b / a }'
fi

# One warp, whose bytes can be counted: in a buffer of 16 bytes less, its last request has no place.
small="tiled --m 4 --k 4 --n 4 --tile 4 --backend gpu"
# shellcheck disable=SC2086
"$program" record $small -o "$folder/whole.tsc" >/dev/null || failed=1
bytes=$("$program" report "$folder/whole.tsc" --json | sed -n 's/.*"device_bytes": \([0-9]*\).*/\1/p')
printf '\na buffer of %s bytes, all that is written:\n' "$bytes"
# shellcheck disable=SC2086
"$program" record $small --one-launch --buffer "$bytes" -o "$folder/fits.tsc" || failed=1
printf '\n16 bytes less:\n'
# shellcheck disable=SC2086
"$program" record $small --one-launch --buffer $((bytes - 16)) -o "$folder/lacks.tsc" 2>&1 && failed=1
"$program" report "$folder/lacks.tsc" | grep "NOT WHOLE" || failed=1
exit "$failed"
