#!/usr/bin/env python3
"""Runs the benchmarks and writes their table into docs/benchmarks.md, between its markers.

    tests/bench/table.py build/bench build/tilescope     (the build target bench_table)

Where Oclgrind is installed (package oclgrind), it runs the same tiled kernel, as OpenCL C and unrecorded,
in the same minute, and the ratio is printed too.
"""
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"

# name of the benchmark: (what it is, what it must reach, how to print it)
ROWS = {
    "record_tiled_256": ("record all of tiled 256×256×256, T = 16", "", "time"),
    "tiled256/one_thread": ("interpret the same without recording, one thread", "", "time"),
    "instructions/float_one_core": ("run 64 blocks of the tiled product of 1024³, T = 16, floats, one core", "", "instructions"),
    "instructions/float_one_core_recorded": ("the same, recorded", "", "instructions"),
    "instructions/float_all_cores": ("the first on all cores", "", "instructions"),
    "instructions/float_all_cores_recorded": ("the same, recorded", "", "instructions"),
    "instructions/integer_one_core": ("run 64 blocks of the same product of 32-bit integers, one core", "", "instructions"),
    "instructions/integer_one_core_recorded": ("the same, recorded", "", "instructions"),
    "instructions/integer_all_cores": ("the first of integers on all cores", "", "instructions"),
    "instructions/integer_all_cores_recorded": ("the same, recorded", "", "instructions"),
    "judge": ("judge requests: sectors and wavefronts, one core", "≥ 10 M requests/s", "rate"),
    "summarize": ("all sums of `report`, one core", "", "rate"),
    "find_hazards/tiled": ("look for faults in 10 million requests and barriers of tiled, which has none", "", "time"),
    "find_hazards/tiled_no_barrier": ("the same of tiled_no_barrier, where threads race", "", "time"),
    "replay_levels_tiled": ("replay 10.3 million requests of tiled through L1, L2 and DRAM, all that the Levels screen shows, one core", "≥ 10 M requests/s", "rate"),
    "replay_levels_untiled": ("the same of 4.5 million of untiled, all of which go to global memory", "≥ 10 M requests/s", "rate"),
    "replay_levels_small_blocks": ("the same with T = 8, whose blocks of 2 warps send the fewest requests at a time", "≥ 10 M requests/s", "rate"),
    "levels_at_any_step": ("move to any step of the first: where its sectors were found, what L1 holds", "≤ 10 ms", "time"),
    "open_file": ("open a file of 10.3 million requests", "≤ 1 s", "time"),
    "move_to_step": ("move to any step of it: find its block, decode it", "≤ 1 ms", "time"),
    "move_to_any_step": ("the whole state at any step of a block of 1,024 threads, k = 1,024: all cells and sums", "≤ 1 ms", "time"),
    "build_frame": ("build a frame of the Step screen, processor's share", "≤ 2 ms", "time"),
    "build_frame_by_clocks": ("the same with a timeline by clocks, in a block of 71,712 steps and 32 warps", "≤ 2 ms", "time"),
    "build_frame_anywhere": ("the same at any step of 10.3 million, another block each frame", "≤ 2 ms", "time"),
    "build_frame_of_8192": ("the same of 16 blocks out of 8192×8192", "≤ 2 ms", "time"),
    "build_frame_of_the_ladder": ("a block of double_buffer, all of whose 32,768 sums are in sight, playing at full speed", "≤ 2 ms", "time"),
    "build_frame_of_8192_pinned": ("of the window of 8192×8192 with an element of P pinned: its 8,192 products listed", "≤ 2 ms", "time"),
    "build_frame_levels": ("build a frame of the Levels screen at any step of 10.3 million", "≤ 2 ms", "time"),
    "build_frame_race": ("build a frame of the Race screen, at another moment each", "≤ 2 ms", "time"),
    "build_frame_race_of_128": ("the same of two products of 128×128×128", "≤ 2 ms", "time"),
    "build_frame_of_8192_cube": ("build a frame with the product as a solid, of 16 blocks out of 8192×8192", "≤ 2 ms", "time"),
    "build_frame_grid": ("build a frame of the grid at work, of 65,536 blocks", "≤ 2 ms", "time"),
    "draw_frame": ("draw a whole frame at 1600×1000 on software OpenGL, until it is done", "≤ 33 ms", "time"),
    "draw_frame_of_8192": ("the same of 16 blocks out of 8192×8192", "≤ 33 ms", "time"),
    "draw_frame_of_the_ladder": ("a block of double_buffer, all of whose sums are in sight, playing at full speed", "≤ 33 ms", "time"),
    "draw_frame_anywhere": ("the same at any step of 10.3 million, another block each frame", "≤ 33 ms", "time"),
    "draw_opened/phase_table": ("a whole frame with the phase table", "≤ 33 ms", "time"),
    "draw_levels": ("a whole frame with the Levels screen, at any step of 10.3 million", "≤ 33 ms", "time"),
    "draw_race": ("a whole frame of the Race screen", "≤ 33 ms", "time"),
    "draw_cube": ("a whole frame with the product as a solid", "≤ 33 ms", "time"),
    "draw_grid": ("a whole frame of the grid at work, of 65,536 blocks", "≤ 33 ms", "time"),
    "draw_opened/older_rules": ("with a G80's rules for the request", "≤ 33 ms", "time"),
    "draw_opened/trails": ("playing 128 steps a second, with trails", "≤ 33 ms", "time"),
    "draw_opened/rushing": ("playing 512 steps a second, with counts", "≤ 33 ms", "time"),
    "draw_opened/question": ("with a question open", "≤ 33 ms", "time"),
    "draw_opened/figure": ("a figure of the lessons, another one each frame", "≤ 33 ms", "time"),
}


def duration(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return "0 s"


def benchmarks(program):
    wanted = "^(" + "|".join(ROWS) + ")(/iterations.*)?(/real_time)?$"
    out = subprocess.run([program, "--benchmark_format=json", "--benchmark_min_time=0.5",
                          "--benchmark_filter=" + wanted],
                         check=True, stdout=subprocess.PIPE, text=True).stdout
    unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
    order = list(ROWS)  # rows refer to the one above them
    named = [(r["name"].split("/iterations")[0].removesuffix("/real_time"), r) for r in json.loads(out)["benchmarks"]]
    for name, result in sorted(named, key=lambda pair: order.index(pair[0])):
        if result.get("error_occurred"):
            sys.exit(f"table.py: benchmark {name} failed: {result['error_message']}")
        what, goal, kind = ROWS[name]
        clock = "cpu_time" if name.startswith("build_frame") else "real_time"
        value = duration(result[clock] * unit[result["time_unit"]])
        if "most_ms" in result:
            value += f" ({duration(result['most_ms'] * 1e-3)} at most)"
        if kind == "rate":
            value = f"{result['items_per_second'] / 1e6:,.0f} M requests/s"
        if kind == "instructions":
            value = f"{result['warp_instructions/s'] / 1e6:,.0f} M warp instructions/s"
        yield what, value, goal


def timed(command, cwd, runs):
    best = float("inf")
    for _ in range(runs):
        start = time.monotonic()
        subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.DEVNULL)
        best = min(best, time.monotonic() - start)
    return best


def first_frame(tilescope, runs=5):
    """From the program's start to its first frame, in a window on software OpenGL (Xvfb); the median."""
    if not shutil.which("Xvfb"):
        return "not measured: Xvfb is not installed"
    read, write = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1600x1000x24", "-noreset"], pass_fds=[write],
                              stderr=subprocess.DEVNULL)
    times = []
    try:
        display = ":" + os.read(read, 16).decode().strip()
        environment = {**os.environ, "DISPLAY": display, "TILESCOPE_TIMING": "1", "LIBGL_ALWAYS_SOFTWARE": "1"}
        environment.pop("WAYLAND_DISPLAY", None)
        for _ in range(runs):
            start = time.monotonic()
            program = subprocess.Popen([tilescope], env=environment, stderr=subprocess.PIPE, text=True)
            for line in program.stderr:
                if line.startswith("first frame"):
                    times.append(time.monotonic() - start)
                    break
            program.terminate()
            program.wait()
    finally:
        server.terminate()
        server.wait()
    return duration(sorted(times)[len(times) // 2]) if times else "not measured: no window opened"


def against_oclgrind(tilescope):
    with tempfile.TemporaryDirectory() as folder:
        command = [tilescope, "record", "tiled", "--tile", "16", "--m", "256", "--k", "256", "--n", "256",
                   "-o", os.path.join(folder, "tiled.tsc")]
        record = timed(command, HERE, 3)
    yield "`tilescope record` of tiled 256×256×256, T = 16, start to written file", duration(record), ""
    oclgrind = shutil.which("oclgrind-kernel")
    if not oclgrind:
        yield "Oclgrind running the same kernel, unrecorded", "not installed here", ""
        return
    other = timed([oclgrind, "tiled.sim"], HERE, 1)
    yield "Oclgrind 21.10 running the same kernel, unrecorded", duration(other), ""
    yield "recording is faster than Oclgrind by", f"a factor of {other / record:.0f}", "≥ 20"


def machine():
    name = platform.machine()
    for line in open("/proc/cpuinfo", encoding="utf-8"):
        if line.startswith("model name"):
            name = line.split(":", 1)[1].strip()
            break
    return f"{name}, {len(os.sched_getaffinity(0))} threads"


def main():
    if len(sys.argv) != 3:
        sys.exit("table.py: give the programs, as in tests/bench/table.py build/bench build/tilescope")
    bench, tilescope = (os.path.abspath(path) for path in sys.argv[1:])
    rows = [*benchmarks(bench),
            ("first frame from the program's start, which records the default kernel; software OpenGL",
             first_frame(tilescope), "≤ 0.5 s"),
            *against_oclgrind(tilescope)]
    table = [f"Measured on: {machine()}.", "", "| what | measured | target |", "|---|---:|---:|"]
    table += [f"| {what} | {value} | {goal} |" for what, value, goal in rows]
    text = PAGE.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        sys.exit(f"table.py: docs/benchmarks.md lacks the markers {BEGIN} and {END}")
    head, rest = text.split(BEGIN, 1)
    tail = rest.split(END, 1)[1]
    PAGE.write_text(head + BEGIN + "\n" + "\n".join(table) + "\n" + END + tail, encoding="utf-8")
    print("\n".join(table))


if __name__ == "__main__":
    main()
