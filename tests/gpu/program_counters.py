#!/usr/bin/env python3
"""Hardware counters of whole programs' launches against what their recordings say.

    tests/gpu/program_counters.py count LIBRARY COUNTERS.json PROGRAM...     on a machine with an NVIDIA GPU and ncu
    tests/gpu/program_counters.py compare COUNTERS.json RECORDINGS TILESCOPE

PROGRAM and RECORDINGS are those of tests/gpu/programs.py. ncu counts the launches of the program as it runs on the GPU
through our runtime; a recording of launch N is held against the N-th of them. Requests and sectors of global loads,
stores and atomics must be equal. An atomic whose result nobody uses is a reduction for the hardware, so that the two
are added up.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile

COUNTED = {
    "global_load": ["ld"],
    "global_store": ["st"],
    "global_atomic": ["atom", "red"],
}
WHAT = ["requests", "sectors"]
MOST_LAUNCHES = "30"


def metric(what, op):
    return f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}"


METRICS = [metric(what, op) for what in WHAT for ops in COUNTED.values() for op in ops]


def known_metrics():
    ran = subprocess.run(["ncu", "--query-metrics"], capture_output=True, text=True)
    there = {line.split()[0] for line in ran.stdout.splitlines() if line.split()}
    return [m for m in METRICS if m in there]


def launches_in(text):
    rows = [row for row in csv.reader(text.splitlines()) if row]
    start = next((i for i, row in enumerate(rows) if row[0] == "ID" and "Kernel Name" in row), None)
    if start is None:
        return []
    found = []
    for row in rows[start + 1:]:
        if len(row) != len(rows[start]) or not row[0].isdigit():
            continue
        entry = dict(zip(rows[start], row))
        values = {name.removesuffix(".sum"): float(value.replace(",", "")) for name, value in entry.items()
                  if name.startswith("l1tex") and value}
        found.append({"kernel": entry["Kernel Name"], "grid": entry.get("Grid Size", ""), "counters": values})
    return found


def count(library, out, programs):
    metrics = known_metrics()
    print("metrics:", " ".join(metrics), flush=True)
    answer = {}
    for program in map(os.path.realpath, programs):
        with tempfile.TemporaryDirectory() as folder:
            launches, orders = os.path.join(folder, "launches"), os.path.join(folder, "orders")
            open(launches, "w").close()
            with open(orders, "w") as file:
                json.dump({"schema": "tilescope.orders/1", "folder": folder, "launches": launches, "source": "",
                           "device": "h200", "backend": "gpu", "kernels": ["none of them"], "numbers": [],
                           "every": False, "window": [0, 1, 0, 1, 0, 1]}, file)
            env = dict(os.environ, TILESCOPE_ORDERS=orders)
            env["LD_LIBRARY_PATH"] = os.path.realpath(library) + ":" + env.get("LD_LIBRARY_PATH", "")
            arguments = open(program + ".args").read().split() if os.path.exists(program + ".args") else []
            log = os.path.join(folder, "ncu.csv")
            command = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base",
                       "--launch-count", MOST_LAUNCHES, "--log-file", log,
                       "--metrics", ",".join(m + ".sum" for m in metrics), program, *arguments]
            try:
                ran = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                     errors="replace", timeout=60, cwd=folder)
                found = launches_in(open(log).read()) if os.path.exists(log) else []
                said = "" if found else (open(log).read() if os.path.exists(log) else ran.stderr)[-300:]
            except subprocess.TimeoutExpired:
                found, said = [], "it took over a minute"
            print(f"{os.path.basename(program)}: {len(found)} launches {said}", flush=True)
            answer[os.path.basename(program)] = found
    with open(out, "w") as file:
        json.dump(answer, file, indent=1)


def compare(counters, recordings, tilescope):
    counted = json.load(open(counters))
    equal = different = 0
    for name, launches in counted.items():
        lines = os.path.join(recordings, name, "cpu", "launches.jsonl")
        if not launches or not os.path.exists(lines):
            continue
        for line in map(json.loads, open(lines)):
            if not line["recorded"] or line["number"] > len(launches):
                continue
            report = subprocess.run([tilescope, "report", line["recorded"], "--json"], capture_output=True, text=True)
            if report.returncode != 0:
                print(f"{name} {line['kernel']}: {report.stderr.strip()}")
                continue
            totals, hardware = json.loads(report.stdout)["totals"], launches[line["number"] - 1]["counters"]
            shown, same = [], True
            for part, ops in COUNTED.items():
                for what in WHAT:
                    ours = totals.get(part, {}).get(what, 0)
                    theirs = sum(hardware.get(metric(what, op), 0) for op in ops)
                    same = same and ours == theirs
                    if ours or theirs:
                        shown.append(f"{part}.{what} {ours}" + ("" if ours == theirs else f" | {theirs:.0f}"))
            equal, different = equal + same, different + (not same)
            print(f"{'equal' if same else 'DIFFERENT'} {name} launch {line['number']} {line['kernel']}: " + ", ".join(shown))
    print(f"{equal} launches equal, {different} different")
    return 0 if different == 0 and equal > 0 else 1


if __name__ == "__main__":
    if len(sys.argv) > 4 and sys.argv[1] == "count":
        count(sys.argv[2], sys.argv[3], sys.argv[4:])
    elif len(sys.argv) == 5 and sys.argv[1] == "compare":
        sys.exit(compare(*sys.argv[2:]))
    else:
        sys.exit(__doc__)
