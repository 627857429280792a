#!/usr/bin/env bash
# Records on the CPU the example programs that lessons stand on, so that lessons need no compiler, and
# writes their rows of index.json anew; those from GPUs (tests/gpu/make_recordings.sh) stay as they are:
#
#     assets/recordings/make_examples.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"

# program launch name; a program that is made to go wrong ends with status 1
recordings="
product_one_block 1 product_one_block
product_inner_barrier 1 product_inner_barrier
product_one_warp 1 product_one_warp
product_one_warp 2 product_two_warps
barrier_condition 1 barrier_condition
memory_spaces 1 memory_spaces
warps_at_barrier 1 warps_at_barrier
edge_wraps 1 edge_wraps
edge_wraps 2 edge_checked
vector_2000 1 vector_2000
matrix_add 1 matrix_add
blur 1 blur
divergence 1 divergence_by_thread
divergence 2 divergence_by_warp
strided_copy 1 copy_with_offset
strided_copy 2 copy_with_stride
structs 1 array_of_structures
structs 2 structure_of_arrays
vector_copy 1 copy_floats
vector_copy 2 copy_vectors
reduction_interleaved 1 reduction_interleaved
reduction_strided 1 reduction_strided
reduction_sequential 1 reduction_sequential
column_major 1 column_major
column_major 2 corner_turned
coarsened_product 1 coarsened_product
batched_product 1 batched_product
softmax 1 softmax
layer_norm 1 layer_norm
reduction_shuffle 1 reduction_shuffle
"
faulty=" product_one_warp barrier_condition "

list=$(mktemp)
trap 'rm -f "$list"' EXIT
while read -r source launch name; do
    [ -n "$source" ] || continue
    arguments="record kernels/examples/$source.cu --launch $launch -o assets/recordings/$name.tsc"
    # shellcheck disable=SC2086  # the words are meant to fall apart
    "$program" $arguments --backend cpu >/dev/null 2>&1 || [[ $faulty == *" $source "* ]]
    printf '%s\t%s\t%s\ttilescope %s --backend cpu\n' "$name" "$source" "$launch" "$arguments" >>"$list"
done <<<"$recordings"

python3 - "$program" "$list" "$(date -u +%Y-%m-%d)" <<'PY'
import json, subprocess, sys
program, rows, date = sys.argv[1:]
index = "assets/recordings/index.json"
entries = [one for one in json.load(open(index))["recordings"] if one["tile"] > 0]
for row in open(rows):
    name, source, launch, command = row.rstrip("\n").split("\t")
    made = json.loads(subprocess.run([program, "report", f"assets/recordings/{name}.tsc", "--json"], check=True,
                                     capture_output=True).stdout)
    entries.append({"name": name, "label": f"{source}.cu, launch {launch}, recorded on the {made['device']}",
                    "kernel": made["kernel"], "m": 0, "k": 0, "n": 0, "tile": 0, "device": made["device"],
                    "driver": "", "date": date, "command": command})
lines = ",\n    ".join(json.dumps(one, ensure_ascii=False) for one in entries)
open(index, "w").write('{\n  "schema": "tilescope.recordings/1",\n  "recordings": [\n    ' + lines + "\n  ]\n}\n")
PY
