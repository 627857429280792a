"""Runs the programs of run.sh plainly, listed and recorded, and prints a table of what came of it."""
import os
import re
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(here))
import capturing
tilescope, out = sys.argv[1], sys.argv[2]
python = sys.executable
PROGRAMS = {
    "launches": ("nvcc", [out + "/launches"], "numpy"),
    "trainer": ("nvcc", [out + "/trainer", "400"], "numpy"),
    "block": ("torch.compile", [python, here + "/block.py", "100"], "torch,triton"),
    "attention": ("Triton", [python, here + "/attention.py", "1000"], "torch,triton"),
    "raw_kernel": ("CuPy", [python, here + "/raw_kernel.py", "2000"], "cupy"),
    "function": ("JAX", [python, here + "/function.py", "500"], "jax"),
}
TIMES = int(os.environ.get("TIMES", "3"))  # plain and listed runs by turns; the fastest of each counts
os.environ.setdefault("TRITON_CACHE_DIR", out + "/cache/triton")
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", out + "/cache/inductor")
os.environ.setdefault("CUPY_CACHE_DIR", out + "/cache/cupy")
failed = []


def run(command, name):
    done, seconds = capturing.run(command, f"{out}/{name}.out")
    loop = re.search(r"^loop ([0-9.]+)", done.stderr, re.M)
    return done, seconds, float(loop.group(1)) if loop else 0.0


def results(text):
    """What a program printed, without what capture put behind it."""
    return [line for line in text.splitlines() if re.match(r"(step|weights|loss|out|right|a|sum|_orig_mod\S*) ", line)]


def captured(command, name, *options):
    document, done, seconds = capturing.captured(tilescope, command, f"{out}/{name}.out", *options)
    if not document:
        failed.append(f"{name}: no document: {done.stderr.strip().splitlines()[-1:]}")
    loop = re.search(r"^loop ([0-9.]+)", done.stderr, re.M)
    return document, results(done.stderr), seconds, float(loop.group(1)) if loop else 0.0


def check(name):
    maker, command, modules = PROGRAMS[name]
    if subprocess.run([python, "-c", f"import {modules}"], capture_output=True).returncode:
        return [name, maker, "left out: not installed"]
    first, _, _ = run(command, name + ".warm")  # compiles, and fills caches
    if first.returncode:
        failed.append(f"{name} fails by itself: {first.stderr.strip().splitlines()[-1:]}")
        return [name, maker, "fails"]
    plain_s, listed_s, plain_loop, listed_loop = [], [], [], []
    for _ in range(TIMES):
        plain, seconds, loop = run(command, name + ".plain")
        plain_s.append(seconds), plain_loop.append(loop)
        document, listed, seconds, loop = captured(command, name + ".listed")
        listed_s.append(seconds), listed_loop.append(loop)
    expected = results(plain.stdout)
    record_dir = f"{out}/recordings/{name}"
    kernels = {row["kernel"] for row in document.get("launches", []) if row["ptx"]}
    chosen = [word for kernel in sorted(kernels) for word in ("--kernel", kernel)]
    if "torch" in modules:
        chosen.append("--python")
    recording, recorded_out = {}, listed
    if kernels:
        recording, recorded_out, _, _ = captured(command, name + ".recorded", "-o", record_dir, *chosen)
    tried = [one for _, one in capturing.recordings_of(recording)]
    made = [one for one in tried if one["recorded"]]
    opened = 0
    for one in made:
        report = subprocess.run([tilescope, "report", one["recorded"]], capture_output=True, text=True)
        opened += report.returncode == 0
        if report.returncode:
            failed.append(f"{name}: {one['recorded']} does not open: {report.stderr.strip()}")
    for one in tried:
        if one["unrecorded"]:
            print(f"  {name}, launch {one['launch']}: not recorded: {one['unrecorded']}")
        if one["remark"]:
            print(f"  {name}, launch {one['launch']}: {one['remark']}")
    same = expected == listed == recorded_out and bool(expected)
    if not same:
        failed.append(f"{name} prints something else when it is captured")
    if not made and name != "launches":
        failed.append(f"{name}: nothing was recorded")
    launches = sum(row["count"] for row in document.get("launches", []))
    rows = len(document.get("launches", []))
    with_ptx = sum(1 for row in document.get("launches", []) if row["ptx"])
    price = sorted(one["recording_ms"] for one in made)
    middle = f"{price[len(price) // 2]:.0f} ({price[0]:.0f} to {price[-1]:.0f})" if price else ""
    percent = lambda a, b: f"{100 * (min(b) / min(a) - 1):+.1f} %" if min(a) > 0 else ""
    if name != "launches" and min(listed_s) > 1.05 * min(plain_s) + 0.05:
        failed.append(f"{name}: listing costs {percent(plain_s, listed_s)} of its time")
    return [name, maker, launches, rows, with_ptx, f"{opened} of {len(tried)}", "same" if same else "DIFFERS",
            f"{min(plain_s):.2f} {percent(plain_s, listed_s)}", f"{min(plain_loop):.3f} {percent(plain_loop, listed_loop)}",
            f"{1e6 * (min(listed_loop) - min(plain_loop)) / max(launches, 1):.2f}", middle]


head = ["program", "by", "launches", "rows", "with PTX", "recorded", "output", "whole s, listed", "loop s, listed",
        "us a launch", "ms a recording"]
table = [head] + [check(name) for name in (sys.argv[3:] or PROGRAMS)]
sys.exit(capturing.said(table, failed))
