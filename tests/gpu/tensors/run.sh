#!/usr/bin/env bash
# Asks a GPU of sm_90 where TMA puts each byte and wgmma takes each element, and how wgmma's sums are rounded:
#
#     tests/gpu/tensors/run.sh OUT [BOXES [whole]]      OUT/tensor_*.txt: boxes, edges, verdicts, values, addresses, sums
#
# What boxes.cu and products.cu beside it ask, and what `whole` adds, stands in their heads. BOXES: how many random boxes are
# drawn (800). A box that stops the GPU is named, and the next one asked by a new process. Programs that are built already
# are taken from OUT. Needs nvcc, or those programs. unit_ptx and unit_simt (TensorHardware) hold the model to the answers in
# tests/data/hardware.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1
count=${2:-800}
whole=${3:-}
mkdir -p "$out"
for program in boxes products; do
    [ -x "$out/$program" ] ||
        nvcc -std=c++17 -gencode arch=compute_90a,code=sm_90a -o "$out/$program" "$here/$program.cu"
done

device=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1)
head="# device: $device; $(date -u +%Y-%m-%d); made by tests/gpu/tensors/run.sh"
answers() { echo "$out/tensor_$1.txt"; }
for what in boxes edges verdicts values addresses sums; do echo "$head" >"$(answers "$what")"; done

next=0 stops=0
while [ "$next" -lt "$count" ] && [ "$stops" -lt 20 ]; do
    status=0
    timeout 60 "$out/boxes" "$next" "$count" $whole >"$out/part.txt" || status=$?
    grep -v '^asks\|^done\|^stopped' "$out/part.txt" >>"$(answers boxes)" || true
    [ "$status" = 0 ] && break
    last=$(sed -n 's/^asks //p' "$out/part.txt" | tail -1)
    echo "box ${last:-$next} ended the process with status $status: $(tail -1 "$out/part.txt" | cut -c1-400)"
    next=$((${last:-$next} + 1)) stops=$((stops + 1))
done
for number in $(seq 0 99); do
    status=0
    timeout 20 "$out/boxes" edge "$number" >"$out/part.txt" || status=$?
    [ "$status" = 4 ] && break
    cat "$out/part.txt" >>"$(answers edges)"
done
rm -f "$out/part.txt"
for what in verdicts values; do
    timeout 60 "$out/boxes" "$what" | grep -v '^done' >>"$(answers "$what")" || echo "$what: failed"
done
for what in addresses sums; do
    timeout 120 "$out/products" "$what" $whole | grep -v '^done' >>"$(answers "$what")" || echo "$what: failed"
done

printf '%-10s %8s\n' asked answers
for what in boxes edges verdicts values addresses sums; do
    printf '%-10s %8s\n' "$what" "$(grep -vc '^#\|unclear' "$(answers "$what")" || true)"
done
