#!/usr/bin/env python3
"""Measures both engines side by side and writes their table into docs/benchmarks.md, between its markers.

    tests/bench/engines.py build/bench [ROUNDS]

Each kernel runs interpreted, compiled and recorded, on one core and on all, ROUNDS times in turn (3); the table has the
medians, in millions of warp instructions a second. Compiling is not counted.
"""
import json
import pathlib
import statistics
import subprocess
import sys

import table

BEGIN, END = "<!-- engines: begin -->", "<!-- engines: end -->"
WORDS = {
    "tiled_float": "tiled product, 256³, T = 16, floats",
    "tiled_integer": "the same of integers",
    "naive": "naive product, 256³, blocks of 16 × 16",
    "stencil": "stencil of 5 points, 1024²",
    "gaussian": "Gaussian with expf, 2²⁰ elements",
    "row_sums": "row sums, 2048², strided loads",
    "reduction": "tree reduction in shared memory, diverging",
    "shuffles": "reduction with shuffles",
    "histogram": "histogram with shared atomics",
    "mandelbrot": "Mandelbrot, a diverging loop",
}


def measure(bench, rounds):
    found = {}
    for _ in range(rounds):
        out = subprocess.run([bench, "--benchmark_filter=^engines/", "--benchmark_min_time=0.1", "--benchmark_format=json"],
                             check=True, stdout=subprocess.PIPE, text=True).stdout
        for result in json.loads(out)["benchmarks"]:
            if result.get("error_occurred"):
                sys.exit(f"engines.py: {result['name']} failed: {result['error_message']}")
            kernel, how, cores = result["name"].split("/")[1:4]
            found.setdefault((kernel, how, cores), []).append(result["warp_instructions/s"] / 1e6)
    return {key: statistics.median(values) for key, values in found.items()}


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("engines.py: give the program, as in tests/bench/engines.py build/bench")
    of = measure(str(pathlib.Path(sys.argv[1]).resolve()), int(sys.argv[2]) if len(sys.argv) == 3 else 3)
    lines = [f"Measured on: {table.machine()}. Millions of warp instructions a second.", "",
             "| kernel | interpreted | compiled | factor | recorded | all cores: interpreted | compiled | recorded |",
             "|---|---:|---:|---:|---:|---:|---:|---:|"]
    for kernel, words in WORDS.items():
        one, every = ({how: of[kernel, how, cores] for how in ("interpreted", "compiled", "recorded")}
                      for cores in ("one_core", "all_cores"))
        cells = [one["interpreted"], one["compiled"], one["recorded"], every["interpreted"], every["compiled"], every["recorded"]]
        text = [f"{value:,.0f}" for value in cells]
        text.insert(2, f"{one['compiled'] / one['interpreted']:.1f}")
        lines.append(f"| {words} | " + " | ".join(text) + " |")
    page = table.PAGE.read_text(encoding="utf-8")
    if BEGIN not in page or END not in page:
        sys.exit(f"engines.py: docs/benchmarks.md lacks the markers {BEGIN} and {END}")
    head, rest = page.split(BEGIN, 1)
    table.PAGE.write_text(head + BEGIN + "\n" + "\n".join(lines) + "\n" + END + rest.split(END, 1)[1], encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
