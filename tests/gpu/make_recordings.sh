#!/usr/bin/env bash
# Records on a GPU what ships in assets/recordings, and writes index.json beside it:
#
#     tests/gpu/make_recordings.sh PROGRAM [OUT_DIR]        OUT_DIR: assets/recordings
#
# The presets of the window, the kernels that people compare with them, a window of four blocks of a large
# product, two grids of 1,024 blocks for the grid at work (one wave that is not full; several waves and a
# tail), and for coalescing products with T = 32, where a warp is a row of the block. The latter are recorded
# on the CPU, as their entries say: what they show is which sectors a request needs, and no clocks.
#
# BACKEND=cpu tries the script where there is no GPU; what it makes of the others is not for shipping then.
# ONLY=cpu makes those of the CPU anew and leaves the others, and their entries, as they are; ONLY="NAME..."
# does so with the recordings of these names.
#
# assets/recordings/make_examples.sh, run behind it, records the example programs for lessons.
set -euo pipefail
program=$(realpath "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
out=${2:-$root/assets/recordings}
backend=${BACKEND:-gpu}
most_bytes=$((1600 * 1024))

# kernel m k n tile [window], and behind a colon "cpu" for what is always recorded there
recordings="
tiled 4 4 4 2
tiled 16 16 16 4
tiled 64 64 64 16
tiled 100 70 130 16
untiled 64 64 64 16
untiled_swapped 64 64 64 16
tiled_swapped 64 64 64 16
tiled_transposed 64 64 64 32
tiled_padded 64 64 64 32
tiled_no_barrier 64 64 64 16
tiled_stale_edge 20 20 20 8
tiled 1024 1024 1024 16 31:33,31:33
untiled 512 8 512 16
untiled 1024 4 1024 32
untiled 64 64 64 32 :cpu
untiled_swapped 64 64 64 32 :cpu
tiled 64 64 64 32 :cpu
tiled_swapped 64 64 64 32 :cpu
"

mkdir -p "$out"
[ -n "${ONLY:-}" ] || rm -f "$out"/*.tsc "$out/index.json"
cd "$out"
list=$(mktemp)
trap 'rm -f "$list"' EXIT
while read -r kernel m k n tile window; do
    [ -n "$kernel" ] || continue
    on=$backend
    if [ "${window:-}" = :cpu ]; then
        on=cpu
        window=
    elif [ "${ONLY:-}" = cpu ]; then
        continue
    fi
    name=$kernel-${m}x${k}x${n}-t$tile${window:+-window}
    if [ -n "${ONLY:-}" ] && [ "$ONLY" != cpu ] && [[ " $ONLY " != *" $name "* ]]; then continue; fi
    arguments="record $kernel --tile $tile --m $m --k $k --n $n${window:+ --blocks $window} --backend $on"
    # shellcheck disable=SC2086  # the words are meant to fall apart
    "$program" $arguments -o "$name.tsc"
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\ttilescope %s -o %s.tsc\n' "$name" "$kernel" "$m" "$k" "$n" "$tile" \
        "${window:--}" "$arguments" "$name" >>"$list"
done <<<"$recordings"
[ -s "$list" ] || { echo "ONLY names no recording of this script: ${ONLY:-}" >&2; exit 1; }

driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -1 || true)
python3 - "$program" "$list" "$driver" "$(date -u +%Y-%m-%d)" <<'PY'
import json, subprocess, sys
program, rows, driver, date = sys.argv[1:]
catalogue = json.loads(subprocess.run([program, "kernels", "--json"], check=True, capture_output=True).stdout)
wrong = {kernel["name"] for kernel in catalogue["kernels"] if kernel["fault"]}  # made to be
made = [row.split("\t")[0] for row in open(rows)]
entries = []  # those that stand, and behind them those made now
try:
    entries = [entry for entry in json.load(open("index.json"))["recordings"] if entry["name"] not in made]
except FileNotFoundError:
    pass
for row in open(rows):
    name, kernel, m, k, n, tile, window, command = row.rstrip("\n").split("\t")
    report = json.loads(subprocess.run([program, "report", name + ".tsc", "--json"], check=True, capture_output=True).stdout)
    if not report["complete"]:
        sys.exit(f"make_recordings.sh: {name} is not complete: {report['incomplete_reason']}")
    if kernel not in wrong and not report["result"]["verified"]:
        sys.exit(f"make_recordings.sh: the result of {name} is wrong")
    device = report["device"]
    some = "" if window == "-" else f"{report['blocks']['recorded']} blocks, "
    gpu = report["backend"] == "gpu"
    on = "an " + device if device.startswith("NVIDIA") else "the " + device
    what = kernel.replace("_", " ").capitalize()
    entries.append({
        "name": name, "label": f"{what} {m} × {k} × {n}, T = {tile}, {some}recorded on {on}", "kernel": kernel,
        "m": int(m), "k": int(k), "n": int(n), "tile": int(tile),
        "device": device, "driver": driver if gpu else "", "date": date, "command": command})
lines = ",\n    ".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
open("index.json", "w").write('{\n  "schema": "tilescope.recordings/1",\n  "recordings": [\n    ' + lines + "\n  ]\n}\n")
PY

bytes=$(cat ./*.tsc | wc -c)
echo "$out: $(wc -l <"$list") recordings, $bytes bytes"
if [ "$bytes" -gt "$most_bytes" ]; then
    echo "make_recordings.sh: more than $most_bytes bytes ship; leave a recording out" >&2
    exit 1
fi
