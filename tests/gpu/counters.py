#!/usr/bin/env python3
"""Holds the sums of `tilescope report` against the hardware's counters, launch by launch.

    tests/gpu/counters.py PROGRAM [-o assets/counters/h200.json] [--only WORD]

Nsight Compute counts one launch of the plain, uninstrumented kernel that `tilescope time` runs; the report's sums
come from a CPU recording of the same PTX. Requests and sectors of global memory must be equal, loads and stores,
or the exit status is 1. Shared instructions are shown as the PTX has them and as the device executed them, with
the factor between them explained from the machine code (sass.py). L2 and DRAM are shown, for nothing in a
recording speaks of caches.

A load under a predicate that is off in all 32 lanes issues, but asks L1 for nothing: counted as an instruction,
not as a request. So requests, not instructions, are what a recording's requests must equal.

Needs an NVIDIA GPU with readable counters, ncu, and for the factor ptxas and cuobjdump; nvcc for the launches with
its PTX, left out where it is missing.
"""

import argparse
import csv
import datetime
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import grid_sums
import sass

ROOT = pathlib.Path(__file__).resolve().parents[2]

GLOBAL = {  # what the report says -> the counter that must equal it
    "global_load.requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load.sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store.requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store.sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
}
SHARED = {  # shown beside each other
    "shared_load.requests": "smsp__inst_executed_op_shared_ld.sum",
    "shared_store.requests": "smsp__inst_executed_op_shared_st.sum",
    "shared_load.wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store.wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared_load.bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared_store.bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
}
MEMORY = ["lts__t_sectors_op_read.sum", "dram__bytes_read.sum"]
METRICS = [*GLOBAL.values(), *SHARED.values(), *MEMORY]


@dataclass
class Launch:
    kernel: str
    m: int
    k: int
    n: int
    tile: int  # 0: the kernel has none
    compiler: str = "clang"  # clang: the PTX that ships; nvcc, nvrtc: what they make of the source
    ptx: pathlib.Path | None = None  # nvcc's

    @property
    def name(self):
        return f"{self.kernel}-{self.m}x{self.k}x{self.n}-t{self.tile}-{self.compiler}"

    def arguments(self):
        sizes = ["--m", self.m, "--k", self.k, "--n", self.n] + (["--tile", self.tile] if self.tile else [])
        ptx = ["--ptx", str(self.ptx)] if self.ptx else ["--compiler", "nvrtc"] if self.compiler == "nvrtc" else []
        return [self.kernel, *map(str, sizes), *ptx]

    def grid(self):
        across, down = -(-self.n // self.tile), -(-self.m // self.tile)
        return (down, across) if self.kernel == "untiled_swapped" else (across, down)

    def warps(self):
        grid = self.grid()
        return grid[0] * grid[1] * -(-self.tile * self.tile // 32)


def square(kernel, width, tile, compiler="clang"):
    return Launch(kernel, width, width, width, tile, compiler)


LAUNCHES = [
    square("tiled", 256, 8),
    square("tiled", 256, 16),
    square("tiled", 256, 32),
    square("tiled", 1000, 16),
    square("tiled", 1000, 32),
    square("tiled", 1024, 32),
    square("tiled", 2048, 16),
    Launch("tiled", 250, 300, 270, 16),
    Launch("tiled", 1000, 500, 333, 8),
    square("tiled_swapped", 512, 16),
    Launch("tiled_swapped", 250, 300, 270, 32),
    square("tiled_transposed", 512, 32),
    square("tiled_transposed", 1024, 16),
    square("tiled_padded", 512, 32),
    square("tiled_stale_edge", 300, 16),
    square("untiled", 256, 16),
    Launch("untiled", 250, 300, 270, 16),
    square("untiled", 1024, 32),
    square("untiled", 2048, 32),
    square("untiled_swapped", 256, 16),
    Launch("untiled_swapped", 250, 300, 270, 8),
    square("untiled_swapped", 1024, 32),
    # What presets and lessons are shown on.
    *(square(kernel, 64, tile) for tile in (16, 32)
      for kernel in ("untiled", "untiled_swapped", "tiled", "tiled_swapped", "tiled_transposed", "tiled_padded")),
    *(Launch(kernel, *size) for size in ((4, 4, 4, 2), (16, 16, 16, 4), (100, 70, 130, 16))
      for kernel in ("untiled", "tiled")),
    square("tiled", 512, 16, "nvcc"),
    square("tiled", 1024, 32, "nvcc"),
    square("tiled_transposed", 512, 32, "nvcc"),
    square("untiled", 512, 16, "nvcc"),
]


def kernels_without_tile(program):
    """Names of those whose threads own several elements of P each."""
    ran = subprocess.run([program, "kernels", "--json"], check=True, capture_output=True, text=True)
    return tuple(kernel["name"] for kernel in json.loads(ran.stdout)["kernels"] if not kernel["tiles"])


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def parse_ncu(text, kernel, metrics=METRICS):
    """Metric -> value of the first launch of a kernel, from either of ncu's forms: a launch a row under a row of
    metrics and one of units (--page raw), or a metric a row (--page details)."""
    rows = [row for row in csv.reader(text.splitlines()) if row]
    start = next((i for i, row in enumerate(rows) if row[0] == "ID" and "Kernel Name" in row), None)
    if start is None:
        raise SystemExit("counters.py: ncu printed no table; it said:\n" + text[-2000:])
    head = rows[start]
    launches = {}
    for row in rows[start + 1 :]:
        if len(row) != len(head) or not row[0].isdigit():
            continue  # units, or what the program printed
        entry = dict(zip(head, row))
        if entry["Kernel Name"].split("(")[0].split("::")[-1].strip() != kernel:
            continue
        values = launches.setdefault(int(row[0]), {})
        if "Metric Name" in entry:
            values[entry["Metric Name"]] = number(entry["Metric Value"])
        else:
            values.update((name, number(entry[name])) for name in metrics if name in entry)
        for what in ("Block Size", "Grid Size"):
            values.setdefault(what, entry.get(what, ""))
    if not launches:
        raise SystemExit(f"counters.py: ncu saw no launch of {kernel}")
    first = launches[min(launches)]
    missing = [name for name in metrics if first.get(name) is None]
    if missing:
        raise SystemExit(f"counters.py: ncu gave no number for {', '.join(missing)}")
    return first


def count(program, launch, folder, metrics=METRICS):
    """Counters of one launch."""
    log = folder / "ncu.csv"
    command = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base"]
    command += ["--kernel-name", launch.kernel, "--launch-count", "1", "--log-file", str(log)]
    command += ["--metrics", ",".join(metrics)]
    command += [program, "time", *launch.arguments(), "--warm-up", "1", "--no-cublas", "--no-price", "--no-roofs"]
    ran = subprocess.run(command, capture_output=True, text=True)
    text = log.read_text() if log.exists() else ""
    if ran.returncode != 0 or not text:
        raise SystemExit(
            f"counters.py: failed with status {ran.returncode}: {shlex.join(command)}\n{ran.stdout}{ran.stderr}{text}"
        )
    log.unlink()
    values = parse_ncu(text, launch.kernel, metrics)
    sizes = {"Grid Size": launch.grid(), "Block Size": (launch.tile, launch.tile)} if launch.tile else {}
    for what, (x, y) in sizes.items():
        if values[what] and [int(w) for w in values[what].strip("() ").split(",")] != [x, y, 1]:
            raise SystemExit(f"counters.py: ncu saw {what} {values[what]} of {launch.name}, not {x}, {y}, 1")
    return {name: values[name] for name in metrics}


def ptx_of(launch):
    if launch.ptx:
        return launch.ptx
    tiled = launch.kernel.startswith("tiled")
    return ROOT / "assets" / "ptx" / (f"{launch.kernel}.t{launch.tile}.ptx" if tiled else f"{launch.kernel}.ptx")


def explain(launch, sums, phases, counters, folder):
    """Lines about shared loads and stores: PTX, device, factor and why."""
    lines = []
    listing = sass.listing_of(ptx_of(launch), folder)
    for part, op in (("shared_load", "LDS"), ("shared_store", "STS")):
        ptx, device = sums[part + ".requests"], counters[SHARED[part + ".requests"]]
        if ptx == 0 and device == 0:
            continue
        line = f"  {part.replace('_', ' ')}s: {ptx} of the PTX, {device:.0f} on the device"
        if device:
            line += f", factor {ptx / device:.4g}"
        if listing is None:
            lines.append(line + "; no ptxas or cuobjdump here to say why")
            continue
        found = sass.groups(listing, op)
        warps = launch.warps()
        expected = sass.executed(found, ptx // warps, phases) if ptx % warps == 0 else None
        line += f": {sass.describe(found)}"
        if expected is None:
            line += "; the loops alone do not give the count"
        else:
            line += f", so {expected * warps} expected: " + ("EXPLAINED" if expected * warps == device else "NOT EXPLAINED")
        lines.append(line)
    for what in ("wavefronts", "bank_conflicts"):
        for part in ("shared_load", "shared_store"):
            ptx, device = sums[f"{part}.{what}"], counters[SHARED[f"{part}.{what}"]]
            if ptx or device:
                same = "equal" if ptx == device else "the PTX's accesses, and the device's merged ones"
                lines.append(f"  {part} {what}: {ptx} | {device:.0f}  {same}")
    return lines


def judge(sums, counters):
    """(whether equal, lines)"""
    equal, lines = True, []
    for what, metric in GLOBAL.items():
        same = sums[what] == counters[metric]
        equal = equal and same
        lines.append(f"  {what}: {sums[what]} | {counters[metric]:.0f}  {'equal' if same else 'DIFFERENT'}")
    return equal, lines


def nvcc_ptx(launch, folder):
    path = folder / f"{launch.kernel}.t{launch.tile}.nvcc.ptx"
    source = ROOT / "kernels" / "textbook" / f"{launch.kernel}.cu"
    command = ["nvcc", "-ptx", "-lineinfo", "-arch=sm_75", f"-DTILE_WIDTH={launch.tile}", str(source), "-o", str(path)]
    subprocess.run(command, check=True)
    return path


def first_line(command, default=""):
    try:
        ran = subprocess.run(command, capture_output=True, text=True)
    except OSError:
        return default
    return ran.stdout.strip().splitlines()[-1].strip() if ran.stdout.strip() else default


def write(path, rows):
    device, _, driver = first_line(
        ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], "unknown, "
    ).partition(", ")
    answer = {
        "schema": "tilescope.counters/1",
        "device": device,
        "driver": driver,
        "tool": "Nsight Compute " + first_line(["ncu", "--version"], "unknown").removeprefix("Version "),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "command": "tests/gpu/counters.py build/tilescope",
    }
    lines = ",\n    ".join(json.dumps(row) for row in rows)
    head = json.dumps(answer, indent=2)[:-2]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{head},\n  "rows": [\n    {lines}\n  ]\n}}\n')


def main():
    parser = argparse.ArgumentParser(description="The report's sums against hardware counters.")
    parser.add_argument("program", help="build/tilescope")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=ROOT / "assets/counters/h200.json")
    parser.add_argument("--only", default="", help="only launches with this word in their name")
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    if not shutil.which("ncu"):
        raise SystemExit("counters.py: ncu is not on the path; Nsight Compute comes with the CUDA Toolkit")

    rows, wrong = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for launch in LAUNCHES:
            if options.only not in launch.name:
                continue
            if launch.compiler == "nvcc":
                if not shutil.which("nvcc"):
                    print(f"{launch.name}: left out, there is no nvcc here")
                    continue
                launch.ptx = nvcc_ptx(launch, folder)
            sums, phases, how = grid_sums.grid_sums(program, launch, folder)
            counters = count(program, launch, folder)
            equal, lines = judge(sums, counters)
            print(f"{launch.name}   report | device   ({how})")
            print("\n".join(lines + explain(launch, sums, phases, counters, folder)))
            print("  " + ", ".join(f"{metric} {counters[metric]:.0f}" for metric in MEMORY))
            print(f"  verdict: {'requests and sectors equal' if equal else 'DIFFERENT'}", flush=True)
            if not equal:
                wrong.append(launch.name)
            rows.append(
                {"kernel": launch.kernel, "m": launch.m, "k": launch.k, "n": launch.n, "tile": launch.tile}
                | {"ptx": launch.compiler, "counters": {name: int(value) for name, value in counters.items()}}
            )
    if not options.only:
        write(options.output, rows)
    print(f"{len(rows) - len(wrong)} of {len(rows)} launches: requests and sectors equal the hardware's")
    if wrong:
        print("different: " + ", ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
