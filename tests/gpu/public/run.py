"""Runs and records the programs that build.sh made, on a GPU; or compiles and records them on the CPU:

    tests/gpu/public/run.py PROGRAM BIN OUT [NAME...]
    tests/gpu/public/run.py PROGRAM --cpu FAST CUTLASS KITTENS OUT [NAME...]

PROGRAM is tilescope. On a GPU each program runs as it is and must find its result right; then under tilescope capture,
where it must print the same, and all launches of the kernel of programs.txt must be recorded whole. With --cpu tilescope compiles the
source with clang, runs it on the CPU and records that kernel; FAST, CUTLASS and KITTENS are the clones. Of each
recording the report is read: it must be complete, and no fault may be found but those that programs.txt names. SECONDS (60; on the CPU 300) is how long a
program may take. OUT gets the recordings, and the log of each run. Exit status 1 where one fails.
"""
import json
import os
import re
import shutil
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(here))
import capturing

cpu = sys.argv[2:3] == ["--cpu"]
if len(sys.argv) < (7 if cpu else 4):
    sys.exit(__doc__)
tilescope = os.path.abspath(sys.argv[1])
clones = dict(zip(("FAST", "CUTLASS", "KITTENS"), map(os.path.abspath, sys.argv[3:6]))) if cpu else {}
binaries = "" if cpu else os.path.abspath(sys.argv[2])
out, names = os.path.abspath(sys.argv[6 if cpu else 3]), sys.argv[7 if cpu else 4:]
SECONDS = float(os.environ.get("SECONDS", "300" if cpu else "60"))
failed = []


def programs():
    """Name, source, kernel, arguments, faults and flags of the programs that are asked for."""
    with open(here + "/programs.txt") as file:
        rows = [[cell.strip() for cell in line.split("|")] for line in file if not line.startswith("#") and line.strip()]
    unknown = set(names) - {row[0] for row in rows}
    if unknown:
        sys.exit(f"programs.txt has no {', '.join(sorted(unknown))}; it has {', '.join(row[0] for row in rows)}")
    return [row for row in rows if row[0] in names or not names]


def verdict(text):
    """What a program says of its result: a line of check.h, or of an example of CUTLASS."""
    return [line for line in text.splitlines() if re.search(r" (right|wrong): |Disposition|Passed|PASSED|Failed|FAILED", line)]


def right(done):
    lines = verdict(done.stdout + done.stderr)
    return bool(lines) and not any(re.search("wrong|Failed|FAILED", line) for line in lines)


def numbers(size):
    return ",".join(map(str, size)) if size else ""


def judged(name, path, known):
    """Cells of a recording: cluster, requests, whether it is whole, faults. `known` are kinds of faults that it has."""
    done, _ = capturing.run([tilescope, "report", path, "--json"], f"{out}/{os.path.basename(path)}.{name}.report", SECONDS)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        failed.append(f"{name}: no report: {capturing.last_line(done.stderr)}")
        return ["", "", "no report", ""]
    blocks = report["blocks"]
    whole = report["complete"] and blocks["recorded"] == blocks["total"]
    why = "complete" if whole else f"{blocks['recorded']} of {blocks['total']} blocks, {report['dropped']} dropped"
    faults = [fault for fault in report["faults"] if fault["severity"] == "fault" and fault["kind"] not in known]
    kinds = sorted({(fault["kind"], fault["severity"]) for fault in report["faults"]})
    said = ", ".join(f"{kind} (known)" if kind in known else kind if severity == "fault" else f"{severity}: {kind}"
                     for kind, severity in kinds) or "none found"
    if not whole:
        failed.append(f"{name} is not whole: {why}")
    for fault in faults:
        failed.append(f"{name}: {fault.get('sentence', fault)}")
    return [numbers(report["launch"].get("cluster")), sum(site["requests"] for site in report["sites"]), why, said]


def on_gpu(name, kernel, arguments, known):
    command = [f"{binaries}/{name}", *arguments]
    if not os.path.exists(command[0]):
        if names:
            failed.append(f"{name} is not there; build it with build.sh")
        return [[name, "not built"]]
    plain, _ = capturing.run(command, f"{out}/{name}.plain", SECONDS)
    if plain.returncode or not right(plain):
        failed.append(f"{name} fails by itself: {capturing.last_line(plain.stdout + plain.stderr)}")
        return [[name, "fails by itself"]]
    document, done, _ = capturing.captured(tilescope, command, f"{out}/{name}.capture", "--kernel", kernel, "--every", "-o",
                                           f"{out}/recordings/{name}", seconds=SECONDS)
    if verdict(plain.stdout) != verdict(done.stderr):
        failed.append(f"{name} prints something else when it is captured: {capturing.last_line(done.stderr)}")
    tried = capturing.recordings_of(document)
    if not tried:
        failed.append(f"{name}: nothing to record: {document.get('failure') or capturing.last_line(done.stderr)}")
        return [[name, "nothing to record"]]
    cells = []
    for row, one in tried:
        head = [name, row["kernel"][:32], numbers(row["grid"]), numbers(row["block"])]
        if not one["recorded"]:
            failed.append(f"{name}, launch {one['launch']}, was not recorded: {one['unrecorded']}")
            cells.append([*head, "", "", "not recorded"])
            continue
        if one["remark"]:
            print(f"  {name}: {one['remark']}")
        cells.append([*head, *judged(name, one["recorded"], known), f"{one['recording_ms']:.0f}", megabytes(one["recorded"])])
    return cells


# What clang does not take of these sources, which nvcc does: clone, file, what stands there, what clang wants.
REGISTER = (r'("mov\.[ub](?:32|64) .*, )%(?=[a-z])', r"\1%%")  # a special register in assembly with operands
REPAIRS = [
    *(("FAST", f"examples/matmul/matmul_{kernel}.cuh", *REGISTER) for kernel in range(8, 13)),
    # dynamic shared memory that is no array
    ("FAST", "examples/matmul/matmul_3.cuh", r"extern __shared__ (SMem<.*>) s;",
     r"extern __shared__ __align__(128) uint8_t bytes[]; \1& s = *reinterpret_cast<\1*>(bytes);"),
    *(("KITTENS", f"include/{file}.cuh", *REGISTER) for file in ("common/util", "ops/thread/util/sync", "ops/thread/util/tma")),
    # an attribute of Blackwell
    ("KITTENS", "include/common/util.cuh", "PreferredClusterDimension", "ClusterDimension"),
    # an operand too far, in a template that nobody uses
    ("KITTENS", "include/ops/thread/memory/tile/tma.cuh", r"(%6}\], \[%2\], )%8;", r"\1%7;"),
    # memory of several processes
    *(("KITTENS", f"include/types/system/{file}.cuh", r"(?s)\A.*\Z", "#pragma once\n") for file in ("vmm", "ipc")),
    # a type that depends on a template's parameter
    ("KITTENS", "kernels/rotary/rotary.cu", r"sizeof\(layout::", "sizeof(typename layout::"),
]


def for_clang(name, copy):
    """A copy of a clone's sources that clang compiles."""
    shutil.rmtree(copy, ignore_errors=True)
    for folder in ("examples",) if name == "FAST" else ("include", "prototype", "kernels"):
        shutil.copytree(f"{clones[name]}/{folder}", f"{copy}/{folder}", ignore=shutil.ignore_patterns("*.png", "*.py"))
    for clone, file, found, instead in REPAIRS:
        if clone != name:
            continue
        with open(f"{copy}/{file}") as source:
            text = source.read()
        with open(f"{copy}/{file}", "w") as source:
            source.write(re.sub(found, instead, text))
    return copy


def on_cpu(name, source, kernel, arguments, known, flags):
    first, _, rest = source.partition("/")
    path = f"{clones[first]}/{rest}" if first in clones else f"{here}/{source}"
    fast, cutlass, kittens = clones["FAST"], clones["CUTLASS"], clones["KITTENS"]
    include = [fast, cutlass + "/include", cutlass + "/tools/util/include", cutlass + "/examples/common",
               cutlass + "/examples", kittens + "/include", kittens + "/prototype", kittens, here]
    own = "-std=c++20 -DKITTENS_HOPPER -Wno-invalid-constexpr" if name.startswith("kittens_") else "-std=c++17"
    words = f"-arch=sm_90a -O3 -w -DNDEBUG {own} {' '.join('-I ' + folder for folder in include)} {flags}"
    folder = f"{out}/recordings/{name}"
    os.makedirs(folder, exist_ok=True)
    done, took = capturing.run([tilescope, "record", path, "--backend", "cpu", "--kernel", kernel, "--json", "--flags",
                                words, "-o", folder + "/", "--", *arguments], f"{out}/{name}.record", SECONDS)
    files = sorted(file for file in os.listdir(folder) if file.endswith(".tsc"))
    if not right(done) or not files:
        failed.append(f"{name}: {first_error(done)}")
        return [[name, "failed"]]
    path = f"{folder}/{files[0]}"
    launch = json.loads(done.stdout)["launches"][0]
    return [[name, kernel, numbers(launch.get("grid")), numbers(launch.get("block")), *judged(name, path, known),
             f"{1000 * took:.0f}", megabytes(path)]]


def first_error(done):
    errors = [line for line in done.stderr.splitlines() if re.search("error|wrong:", line)]
    return errors[0] if errors else capturing.last_line(done.stderr)


def megabytes(path):
    return f"{os.path.getsize(path) / 1e6:.1f}"


os.makedirs(out, exist_ok=True)
table = [["program", "kernel", "grid", "block", "cluster", "requests", "recorded", "faults", "ms", "MB"]]
if cpu:
    for name in ("FAST", "KITTENS"):
        clones[name] = for_clang(name, f"{out}/{name.lower()}")
for name, source, kernel, arguments, known, flags in programs():
    print(f"{name} ...", flush=True)
    words, kinds = arguments.split(), known.split()
    table += on_cpu(name, source, kernel, words, kinds, flags) if cpu else on_gpu(name, kernel, words, kinds)
sys.exit(capturing.said(table, failed))
