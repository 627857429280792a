#!/usr/bin/env python3
"""Programs run by the interpreter and on a GPU: the same output, and recordings for gpu_record to compare.

    tests/gpu/programs.py LIBRARY OUT_DIR PROGRAM...

LIBRARY is the folder of libtilescope_cudart.so. PROGRAM is what `tilescope record FILE.cu` built, with FILE.cu beside
it as PROGRAM.cu and, where it takes arguments, a line of them in PROGRAM.args. Recordings go to OUT_DIR/NAME/cpu and
OUT_DIR/NAME/gpu; then

    TILESCOPE_PROGRAMS=OUT_DIR gpu_record --gtest_filter='RecordPrograms*'

holds them against each other, lane for lane. TILESCOPE_PRELOAD may name a library to load first, such as one whose
time() stands still, for programs that draw random numbers by the clock. A line for each program says how it ended and what it wrote otherwise;
lines with times differ, so that digits after a decimal point are not compared.
"""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys


def orders(folder, program, backend):
    os.makedirs(folder)
    launches = os.path.join(folder, "launches.jsonl")
    open(launches, "w").close()
    path = os.path.join(folder, "orders.json")
    with open(path, "w") as file:
        json.dump({"schema": "tilescope.orders/1", "folder": folder, "launches": launches, "source": program + ".cu",
                   "device": "h200", "backend": backend, "kernels": [], "numbers": [], "every": False,
                   "window": [0, 4294967295, 0, 4294967295, 0, 4294967295]}, file)
    return path


def run(library, program, folder, backend, limit):
    shutil.rmtree(folder, ignore_errors=True)
    env = dict(os.environ, TILESCOPE_ORDERS=orders(folder, program, backend))
    env["LD_LIBRARY_PATH"] = library + ":" + env.get("LD_LIBRARY_PATH", "")
    if "TILESCOPE_PRELOAD" in os.environ:
        env["LD_PRELOAD"] = os.environ["TILESCOPE_PRELOAD"]
    arguments = []
    if os.path.exists(program + ".args"):
        arguments = open(program + ".args").read().split()
    try:
        done = subprocess.run([program] + arguments, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=limit, cwd=folder)
        return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        return "time", "", ""


def plain(text):
    return [re.sub(r"\d+\.\d+(e[-+]?\d+)?", "#", line) for line in text.splitlines()]


def lines_of(folder):
    return [json.loads(line) for line in open(os.path.join(folder, "launches.jsonl"))]


def main():
    library, out = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
    limit = float(os.environ.get("TILESCOPE_LIMIT", "60"))
    programs = [os.path.realpath(p) for p in sys.argv[3:]]
    folder = lambda p, backend: os.path.join(out, os.path.basename(p), backend)
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("TILESCOPE_JOBS", "4"))) as pool:
        on_cpu = {p: pool.submit(run, library, p, folder(p, "cpu"), "cpu", limit) for p in programs}
        for program in programs:
            gpu = run(library, program, folder(program, "gpu"), "gpu", limit)
            cpu = on_cpu[program].result()
            a, b = plain(cpu[1]), plain(gpu[1])
            different = [(x, y) for x, y in zip(a, b) if x != y]
            same = a == b and cpu[0] == gpu[0]
            launched = lines_of(folder(program, "gpu"))
            recorded = sum(1 for line in launched if line["recorded"])
            # A GPU's blocks print in no stated order.
            other_order = not same and sorted(a) == sorted(b) and cpu[0] == gpu[0]
            verdict = "same" if same else "same lines in another order" if other_order else "DIFFERENT"
            print(f"{verdict} {os.path.basename(program)}: cpu {cpu[0]}, gpu {gpu[0]}, "
                  f"{len(launched)} launches, {recorded} recorded", flush=True)
            if len(a) != len(b):
                print(f"    {len(a)} lines and {len(b)}")
            for x, y in different[:2]:
                print(f"    {x[:100]} | {y[:100]}")
            for side, log in (("cpu", cpu), ("gpu", gpu)):
                said = [line for line in log[2].splitlines() if line.startswith("tilescope")]
                for line in said[:2]:
                    print(f"    {side}: {line[:220]}")
            for line in launched:
                if line["unrecorded"]:
                    print(f"    not recorded: {line['kernel']}: {line['unrecorded'][:160]}")


if __name__ == "__main__":
    main()
