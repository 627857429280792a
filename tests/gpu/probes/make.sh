#!/usr/bin/env bash
# Asks a real GPU for the facts that the tests hold the model against, and writes them to a folder:
#   banks.txt        wavefronts and bank conflicts of shared accesses, as Nsight Compute counts them
#   arithmetic.txt   results of PTX arithmetic on special values, bit for bit
#   halves.txt       of half precision: hashes of results, and all of those that no manual defines
#   requests.txt     lookups of tags and passes through the data pipe of requests to global memory
#   sms.txt          which SMs' reads are merged on the way to L2, for how long, and where blocks are put
#   steps.txt        whether the blocks of an SM begin their phases together
#   rates.txt        how many loads a clock L1 answers, and how long an empty launch takes
#   latency.txt      what one warp waits for, and what lies between two events beside a kernel's work
#   stores.txt       how fast an SM sends stores on to L2
#   clocks.txt       whether the clocks of the SMs have a common zero
#   matrix_requests.txt  the same as banks.txt of ldmatrix, stmatrix, wmma.load and wmma.store
#   matrix_sums.bin  random tiles and what tensor cores made of them; matrix_sums.py says how they form sums
# forms.cu and cluster_addresses.cu beside it are built and run by themselves: their heads say how.
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

for probe in banks arithmetic halves requests sms rates latency stores clocks; do nvcc -arch=native -o "$work/$probe" "$here/$probe.cu"; done

{ echo "$head"; "$work/arithmetic"; } > "$out/arithmetic.txt"
{ echo "$head"; "$work/halves" rules; "$work/halves"; } > "$out/halves.txt"

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

ncu --clock-control none --csv --log-file "$work/ncu.csv" --kernel-name request \
    --metrics l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum,l1tex__data_pipe_lsu_wavefronts.sum \
    "$work/requests" > "$work/patterns.txt"
python3 - "$work" "$head" > "$out/requests.txt" <<'PY'
import csv, sys
work, head = sys.argv[1:]
launches = {}
for row in csv.reader(open(work + "/ncu.csv")):
    if row and row[0].isdigit():
        launches.setdefault(int(row[0]), {})[row[12]] = int(float(row[14].replace(",", "")))
launches = [launches[i] for i in sorted(launches)]
patterns = [line.split()[1:] for line in open(work + "/patterns.txt") if line.startswith("pattern")]
assert len(launches) == 2 * len(patterns), (len(launches), len(patterns))
print(head)
print("# bytes mask index[32] (in units of bytes), then lookups of tags and passes: of 8 requests that hit; of the "
      "first, and what the launch needs beside it")
for i, pattern in enumerate(patterns):
    once, more = launches[2 * i], launches[2 * i + 1]
    counts = []
    for name in ("l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum", "l1tex__data_pipe_lsu_wavefronts.sum"):
        counts += [more[name] - once[name], once[name]]
    print(*pattern, *counts)
PY

{ echo "$head"; "$work/sms" place; } > "$out/sms.txt"
for what in merge lag; do
    ncu --clock-control none --cache-control none --csv --log-file "$work/ncu.csv" --kernel-name together \
        --metrics lts__t_sectors_srcunit_tex_op_read.sum "$work/sms" "$what" > "$work/said.txt"
    paste -d ' ' <(grep "^$what" "$work/said.txt") \
        <(grep '^"[0-9]' "$work/ncu.csv" | sed 's/.*,"\([0-9,.]*\)"$/\1/; s/,//g') >> "$out/sms.txt"
done

{
    echo "$head"
    echo "# loads of 8 that miss L1 and not L2, warps of an SM, loads a clock that it answers"
    "$work/rates"
    echo "# nanoseconds that an empty launch takes, the shortest and the median of 20, as Nsight Compute counts"
    ncu --clock-control none --cache-control none --csv --log-file "$work/ncu.csv" --metrics gpu__time_duration.sum "$work/rates" empty
    grep '^"[0-9]' "$work/ncu.csv" | sed 's/.*,"\([0-9,.]*\)"$/\1/; s/,//g' | sort -n | awk '{ t[NR] = $1 } END { print "empty", t[1], t[int((NR + 1) / 2)] }'
} > "$out/rates.txt"

{ echo "$head"; sed -n 's|^//     |# |p' "$here/latency.cu"; "$work/latency"; } > "$out/latency.txt"

{ echo "$head"; sed -n 's|^//     |# |p' "$here/stores.cu"; "$work/stores"; } > "$out/stores.txt"

{ echo "$head"; sed -n 's|^//   |# |p' "$here/clocks.cu"; "$work/clocks"; } > "$out/clocks.txt"

# Kernels, rows and columns of P a block, its threads, T; "rolled": the loop over a tile is not unrolled.
{
    echo "$head"
    echo "# kernel width, blocks and warps that an SM holds, how far apart their phases begin (share of a phase)"
    while read -r kernel rows cols x y tile rolled; do
        sed "s/for (int phase .*/&\n        note(phase);/; ${rolled:+s/for (int i = 0; i < TILE_WIDTH/#pragma unroll 1\n        &/}" \
            "$here/../../../kernels/textbook/$kernel.cu" > "$work/noted.cu"
        nvcc -O3 -std=c++20 -arch=native "-DKERNEL=$kernel" "-DSOURCE=\"$work/noted.cu\"" "-DROWS_OF_P=$rows" "-DCOLS_OF_P=$cols" \
            "-DTHREADS_X=$x" "-DTHREADS_Y=$y" "-DTILE_WIDTH=$tile" -o "$work/steps" "$here/steps.cu"
        "$work/steps" | sed "${rolled:+s/^steps $kernel/&_rolled/}"
    done <<'KERNELS'
warp_tile 128 128 256 1 0
vector_loads 128 128 256 1 0
register_tile 128 128 256 1 0
register_column 64 64 512 1 0
tiled 8 8 8 8 8
tiled 16 16 16 16 16
tiled 32 32 32 32 32
tiled_swapped 32 32 32 32 32
tiled_swapped 8 8 8 8 8
tiled_swapped 16 16 16 16 16
tiled_transposed 8 8 8 8 8
tiled_transposed 16 16 16 16 16
tiled 8 8 8 8 8 rolled
tiled 16 16 16 16 16 rolled
tiled_swapped 8 8 8 8 8 rolled
tiled_swapped 16 16 16 16 16 rolled
tiled_transposed 8 8 8 8 8 rolled
tiled_transposed 16 16 16 16 16 rolled
KERNELS
} > "$out/steps.txt"
python3 "$here/matrix_requests.py" -o "$out/matrix_requests.txt"
python3 "$here/matrix_sums.py" -o "$out/matrix_sums.bin"
echo "wrote banks.txt, arithmetic.txt, halves.txt, requests.txt, sms.txt, rates.txt, latency.txt, stores.txt, steps.txt, matrix_requests.txt and matrix_sums.bin to $out"
