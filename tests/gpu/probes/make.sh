#!/usr/bin/env bash
# Asks a real GPU for the facts that the tests hold the model against, and writes them to a folder:
#   banks.txt        wavefronts and bank conflicts of shared accesses, as Nsight Compute counts them
#   arithmetic.txt   results of PTX arithmetic on special values, bit for bit
# Needs nvcc, ncu with readable counters, python3. Usage: tests/gpu/probes/make.sh [FOLDER]   (tests/data/hardware)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../../data/hardware}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

device=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1)
cuda=$(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
head="# device: $device; CUDA $cuda; $(date -u +%Y-%m-%d); made by tests/gpu/probes/make.sh"

for probe in banks arithmetic; do nvcc -arch=native -o "$work/$probe" "$here/$probe.cu"; done

{ echo "$head"; "$work/arithmetic"; } > "$out/arithmetic.txt"

pipe=l1tex__data_pipe_lsu_wavefronts_mem_shared_op conflicts=l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op
ncu --clock-control none --csv --log-file "$work/ncu.csv" \
    --metrics ${pipe}_ld.sum,${pipe}_st.sum,${conflicts}_ld.sum,${conflicts}_st.sum "$work/banks" > "$work/patterns.txt"
python3 - "$work" "$head" > "$out/banks.txt" <<'PY'
import csv, sys
work, head = sys.argv[1:]
launches = {}
for row in csv.reader(open(work + "/ncu.csv")):
    if row and row[0].isdigit():
        launches.setdefault(int(row[0]), {})[row[12]] = int(float(row[14]))
launches = [launches[i] for i in sorted(launches)]
patterns = [line.split()[1:] for line in open(work + "/patterns.txt") if line.startswith("pattern")]
assert len(launches) == 2 * len(patterns), (len(launches), len(patterns))
print(head)
print("# bytes mask load_wavefronts load_conflicts store_wavefronts store_conflicts index[32] (in units of bytes)")
name = "l1tex__data_%s_mem_shared_op_%s.sum"
for i, (bytes_, mask, *index) in enumerate(patterns):
    counts = [launches[2 * i + (op == "st")][name % (what, op)]
              for op in ("ld", "st") for what in ("pipe_lsu_wavefronts", "bank_conflicts_pipe_lsu")]
    print(bytes_, mask, *counts, *index)
PY
echo "wrote $out/banks.txt and $out/arithmetic.txt"
