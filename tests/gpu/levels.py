#!/usr/bin/env python3
"""Nsight Compute's counters of caches, pipes and stalls, for the launches that `tilescope levels` is held against,
and their times.

    tests/gpu/levels.py PROGRAM [-o assets/levels/h200.json] [--seconds S] [--draw SEED]

A row a launch, written as soon as it is counted, so that a run that is cut short keeps what it has; a second run
leaves out the rows that FILE already holds. The launches are in four sets: `fitted`, squares, on which constants and
rules may be chosen; `held`, rectangles, other tile widths and other kernels, drawn once by a fixed seed; and `ladder`, other
sizes of the kernels that follow tiles; `ends`, the narrowest and the widest squares that ship with times. No constant is
fitted to the latter three. With --draw they are 60 rectangles drawn by that seed instead, the set `drawn`.

Two times of a launch stand beside each other: `duration_ns`, of one that Nsight Compute counts, before which it
invalidates the caches, and `median_ms`, of twenty launches by `tilescope time`, one right behind the other.

Needs an NVIDIA GPU with readable counters and ncu; NVRTC for its launches.
"""

import argparse
import json
import pathlib
import random
import subprocess
import tempfile
import time

from counters import ROOT, Launch, count, first_line, kernels_without_tile, square

# Our name -> the counter.
COUNTED = {
    "requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1_hits": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
    "l1_tags": "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum",
    "returned_sectors": "l1tex__m_xbar2l1tex_read_sectors.sum",
    "l2_read_sectors": "lts__t_sectors_op_read.sum",
    "l2_read_sectors_l1": "lts__t_sectors_srcunit_tex_op_read.sum",
    "l2_read_hits_l1": "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "pipe_wavefronts": "l1tex__data_pipe_lsu_wavefronts.sum",
    "pipe_wavefronts_shared": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "instructions": "smsp__inst_executed.sum",
    "lsu_instructions": "sm__inst_executed_pipe_lsu.sum",
    "ffma": "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "cycles": "sm__cycles_elapsed.max",
    "cycles_active": "sm__cycles_active.avg",
    "duration_ns": "gpu__time_duration.sum",
    "warps_active": "sm__warps_active.avg.per_cycle_active",
    # Speed of light, in percent of what the unit could do.
    "sol_sm": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "sol_memory": "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "sol_l1": "l1tex__throughput.avg.pct_of_peak_sustained_active",
    "sol_l2": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "sol_dram": "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "sol_pipe": "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
    "sol_lsuin": "l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed",
    "sol_issue": "sm__inst_issued.avg.pct_of_peak_sustained_elapsed",
    "sol_lsu": "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed",
    "sol_fma": "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sol_alu": "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed",
}
STALLS = ["barrier", "branch_resolve", "dispatch_stall", "drain", "imc_miss", "lg_throttle", "long_scoreboard",
          "math_pipe_throttle", "mio_throttle", "no_instruction", "not_selected", "selected", "short_scoreboard", "wait"]
COUNTED |= {f"stall_{why}": f"smsp__average_warps_issue_stalled_{why}_per_issue_active.ratio" for why in STALLS}

KEY = ("kernel", "m", "k", "n", "tile", "compiler")
COMPILERS = ("clang", "nvrtc")
PRODUCTS = ("untiled", "untiled_swapped", "tiled", "tiled_swapped")
RECTANGLES = [(1024, 512, 2048), (2048, 1000, 1500), (777, 1333, 1111), (3000, 700, 2000), (1536, 3072, 1024)]


def fitted(rest):
    return [square(kernel, width, tile, compiler)
            for width in (512, 1024, 2048) for kernel in PRODUCTS for tile in (16, 32) for compiler in COMPILERS] + [
                square(kernel, 1024, 8, compiler) for kernel in (*PRODUCTS, "tiled_transposed", "tiled_padded")
                for compiler in COMPILERS] + [
                square(kernel, width, 0, compiler) for kernel in rest for width in (1536, 3072) for compiler in COMPILERS]


def held(_):
    """80 rectangles of 150, and squares of 4096."""
    every = [Launch(kernel, *size, tile, compiler) for size in RECTANGLES for kernel in (*PRODUCTS, "tiled_transposed")
             for tile in (8, 16, 32) for compiler in COMPILERS]
    picked = random.Random(20261123).sample(every, 80)
    return picked + [square(kernel, 4096, tile, compiler) for kernel in PRODUCTS for tile in (16, 32)
                     for compiler in COMPILERS]


def ladder(rest):
    return [Launch(kernel, *size, 0, compiler) for kernel in rest for compiler in COMPILERS
            for size in [(width,) * 3 for width in (512, 1024, 2048, 4096)] + [(2048, 1000, 1500)]]


def ends(rest):
    return [square(kernel, 256, tile, compiler) for kernel in PRODUCTS for tile in (8, 16, 32) for compiler in COMPILERS] + [
        square(kernel, 256, 0, compiler) for kernel in rest for compiler in COMPILERS] + [
        square(kernel, 8192, tile, compiler) for kernel in ("untiled", "tiled") for tile in (16, 32) for compiler in COMPILERS] + [
        square(kernel, 8192, 0, compiler) for kernel in rest for compiler in COMPILERS]


def drawn(seed):
    """60 rectangles of 1.05e9 to 5e9 products."""
    chance = random.Random(seed)
    launches = []
    while len(launches) < 60:
        m, k, n = (chance.choice((600, 768, 900, 1000, 1100, 1280, 1500, 1792, 2048, 2500, 3000)) for _ in range(3))
        if 1.05e9 <= m * k * n <= 5e9:
            launches.append(Launch(chance.choice((*PRODUCTS, "tiled_transposed")), m, k, n, chance.choice((8, 16, 32)),
                                   chance.choice(COMPILERS)))
    return launches


def known_metrics():
    """Those of COUNTED that this device has."""
    ran = subprocess.run(["ncu", "--query-metrics-mode", "all", "--query-metrics"], capture_output=True, text=True)
    there = {word for line in ran.stdout.splitlines() for word in line.split()[:1]}
    base = {name: metric.split(".")[0] for name, metric in COUNTED.items()}
    return {name: COUNTED[name] for name in COUNTED if base[name] in there or COUNTED[name] in there}


def median_ms(program, launch):
    with tempfile.TemporaryDirectory() as name:
        out = pathlib.Path(name) / "times.json"
        command = [program, "time", *launch.arguments(), "--no-cublas", "--no-price", "--no-roofs", "--json", "-o", str(out)]
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: {ran.stderr.strip()}")
        return next(row["median_ms"] for row in json.loads(out.read_text())["rows"] if row["kernel"] == launch.kernel)


def main():
    parser = argparse.ArgumentParser(description="Counters of caches, pipes and stalls.")
    parser.add_argument("program", help="build/tilescope")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=ROOT / "assets/levels/h200.json")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no launch after this time")
    parser.add_argument("--draw", type=int, metavar="SEED", help="count rectangles drawn by chance; name their file with -o")
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    begin = time.monotonic()

    device, _, driver = first_line(
        ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], "unknown, ").partition(", ")
    rows = {}
    if options.output.exists():
        known = json.loads(options.output.read_text())
        if (known["device"], known["driver"]) != (device, driver):
            raise SystemExit(f"levels.py: {options.output} is of {known['device']}, driver {known['driver']}; name another file with -o")
        rows = {tuple(row[name] for name in KEY): row for row in known["rows"]}
    metrics = known_metrics()
    print("not known here:", ", ".join(sorted(set(COUNTED) - set(metrics))) or "none", flush=True)
    rest = kernels_without_tile(program)
    wanted = [(launch, made.__name__) for made in (fitted, held, ladder, ends) for launch in made(rest)]
    if options.draw is not None:
        wanted = [(launch, "drawn") for launch in drawn(options.draw)]
    random.Random(1).shuffle(wanted)  # what was counted when time ran out is of all kinds
    left, failed = 0, 0
    with tempfile.TemporaryDirectory() as name:
        for launch, which in wanted:
            key = (launch.kernel, launch.m, launch.k, launch.n, launch.tile, launch.compiler)
            row = rows.get(key, {})
            if "median_ms" in row:
                continue
            if time.monotonic() - begin > options.seconds:
                left += 1
                continue
            try:
                if not row:
                    values = count(program, launch, pathlib.Path(name), tuple(metrics.values()))
                    row = dict(zip(KEY, key)) | {"set": which} | {name: round(values[metric], 4) for name, metric in metrics.items()}
                row["median_ms"] = median_ms(program, launch)
            except SystemExit as why:
                print(f"{launch.name}: {str(why)[:600]}", flush=True)
                failed += 1
                if failed > 3:
                    raise
                continue
            rows[key] = row
            text = ",\n    ".join(sorted(map(json.dumps, rows.values())))
            head = json.dumps({"schema": "tilescope.counters/1", "device": device, "driver": driver,
                               "tool": "Nsight Compute " + first_line(["ncu", "--version"]).removeprefix("Version "),
                               "command": "tests/gpu/levels.py build/tilescope", "counters": metrics}, indent=2)[:-2]
            options.output.parent.mkdir(parents=True, exist_ok=True)
            options.output.write_text(f'{head},\n  "rows": [\n    {text}\n  ]\n}}\n')
            print(f"{launch.name}: {time.monotonic() - begin:.0f} s", flush=True)
    print(f"{len(rows)} launches counted, {left} left for another run")


if __name__ == "__main__":
    main()
