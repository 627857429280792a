#!/usr/bin/env python3
"""How near `tilescope levels` comes to the counters of assets/levels/h200.json. Needs no GPU.

    tests/gpu/levels_compare.py PROGRAM [--counters FILE.json --device h100] [--set fitted|held|ladder|ends|drawn] [--kernel NAME] [--most-work N] [--jobs J] [--worst W]

Prints, a set and family of launches at a time, how far the hit rate of L1, its misses, the sectors that L2 is asked for
and the bytes read from DRAM lie from what was counted, how many launches stay within the limits below, and the
launches that lie farthest; then what the bounds say, beside Nsight Compute's "speed of light" and stalls, and beside
two times: the median of launches one right behind the other, as the program shows it, and of one launch with empty
caches, as Nsight Compute counted it.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
COUNTERS = ROOT / "assets/levels/h200.json"

# The resource of a bound that a percentage of "speed of light" is of.
LIGHT = {"sol_dram": "dram", "sol_l2": "l2", "sol_pipe": "data_pipe", "sol_lsuin": "lsu", "sol_lsu": "lsu",
         "sol_issue": "issue", "sol_fma": "fp32"}
# The resources that a warp waits for which a stall reason names. Source: Nsight Compute, Kernel Profiling Guide,
# "Warp Scheduler States". The queue to the memory input/output unit (MIO) is the way to shared memory, and the one to
# the load/store unit that to global memory; both lead to the data pipe.
STALL = {"long_scoreboard": {"latency"}, "barrier": {"latency"}, "short_scoreboard": {"data_pipe", "lsu"},
         "mio_throttle": {"data_pipe", "lsu"}, "lg_throttle": {"data_pipe", "lsu"}, "wait": {"issue"},
         "not_selected": {"issue"}, "math_pipe_throttle": {"fp32"}}
SETS = ("fitted", "held", "ladder", "ends", "drawn")


def work_of(row):
    return row["m"] * row["k"] * row["n"]


def key_of(row):
    return tuple(row[name] for name in ("kernel", "m", "k", "n", "tile", "compiler"))


def modelled(program, row, device):
    command = [program, "levels", row["kernel"], "--json", "--compiler", row["compiler"], "--device", device]
    for name in ("m", "k", "n", "tile"):
        command += [f"--{name}", str(row[name])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"levels_compare.py: {' '.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def compared(row, found, half_of_l2):
    model = found["modelled"]
    hits, sectors = row["l1_hits"], row["l1_sectors"]
    misses = sectors - hits
    bound = max(found["bounds"], key=lambda entry: entry["ms"])
    light = max(LIGHT, key=lambda name: row[name])
    stalls = {name: row[f"stall_{name}"] for name in STALL}
    stall = max(stalls, key=stalls.get)
    ms = row["duration_ns"] / 1e6
    dram, low, high = row["dram_read_bytes"], model["dram_read_bytes"], model["dram_read_bytes"]
    if model.get("dram_read_bytes_range"):
        low, high = model["dram_read_bytes_range"]
    arrays = 4 * (row["m"] * row["k"] + row["k"] * row["n"] + row["m"] * row["n"])
    return {
        "key": key_of(row), "set": row["set"], "large": work_of(row) >= 1024**3, "fits": arrays <= half_of_l2,
        "simulated": found["launch"]["simulated_blocks"],
        "hit": 100 * (model["l1_hit_rate"] - hits / sectors),
        "miss": model["l1_sectors"] * (1 - model["l1_hit_rate"]) / misses - 1,
        "l2": model["l2_read_sectors"] / row["l2_read_sectors_l1"] - 1,
        "dram": 0.0 if low <= dram <= high else min(low / dram - 1, high / dram - 1, key=abs),
        "bound": bound["resource"], "ratio": row["median_ms"] / bound["ms"], "cold_ratio": ms / bound["ms"],
        "light": light, "light_share": row[light], "stall": stall,
        "named": bound["resource"] == LIGHT[light] or bound["resource"] in STALL[stall],
    }


def share(rows, holds):
    rows = list(rows)
    return f"{100 * sum(map(holds, rows)) / len(rows):.0f} % of {len(rows)}" if rows else "none"


def print_errors(title, rows):
    def mean(name):
        return sum(abs(row[name]) for row in rows) / len(rows)

    def most(name):
        return max(abs(row[name]) for row in rows)

    print(f"{title:34} {len(rows):4}   {mean('hit'):4.1f} /{most('hit'):5.1f}   "
          + "   ".join(f"{100 * mean(name):5.1f} /{100 * most(name):6.1f}" for name in ("miss", "l2", "dram")))


def print_rows(rows):
    for row in rows:
        print("  {:17} {:4} x {:4} x {:4} T {:2} {:5}".format(*row["key"])
              + f"  hit {row['hit']:+5.1f}  misses {100 * row['miss']:+6.1f} %  L2 {100 * row['l2']:+6.1f} %"
              + f"  DRAM {100 * row['dram']:+6.1f} %  {row['bound']:9} {row['ratio']:5.3f} {row['cold_ratio']:5.3f}"
              + f"  {LIGHT[row['light']]:9} {row['light_share']:3.0f} % {row['stall']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--counters", type=pathlib.Path, default=COUNTERS, help="as tests/gpu/levels.py wrote them")
    parser.add_argument("--device", default="h200", help="of these, as `tilescope levels` names it")
    parser.add_argument("--set", choices=SETS)
    parser.add_argument("--kernel")
    parser.add_argument("--most-work", type=float, default=float("inf"), help="largest m * k * n")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--worst", type=int, default=10)
    parser.add_argument("--json", type=pathlib.Path, help="write every launch's errors here too")
    options = parser.parse_args()

    rows = [row for row in json.loads(options.counters.read_text())["rows"]
            if options.set in (None, row["set"]) and options.kernel in (None, row["kernel"])
            and work_of(row) <= options.most_work]
    if not rows:
        sys.exit(f"levels_compare.py: no launch of {options.counters} is left; choose wider")
    rows.sort(key=work_of)
    spec = json.loads((ROOT / f"assets/devices/{options.device}.json").read_text())
    half_of_l2 = spec["levels"]["l2_bytes"]["value"] / 2  # DRAM of matrices that fit it is held to the narrower limit
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        found = list(pool.map(lambda row: compared(row, modelled(options.program, row, options.device), half_of_l2), rows))
    if options.json:
        options.json.write_text(json.dumps(found, indent=0))

    print("model against counters, mean / most            L1 hit, points   misses, %        L2 sectors, %    DRAM, %")
    for kind in SETS:
        families = collections.defaultdict(list)
        for row in found:
            if row["set"] == kind:
                families[(row["key"][0], row["key"][5], row["key"][4])].append(row)
        for (kernel, compiler, tile), family in sorted(families.items()):
            print_errors(f"{kind} {kernel} {compiler} T {tile}", family)
    for kind in SETS:
        chosen = [row for row in found if row["set"] == kind]
        if not chosen:
            continue
        print()
        print_errors(f"all {kind}", chosen)
        large = [row for row in chosen if row["large"]]
        print(f"L1 hit rate within 3 points: {share(chosen, lambda r: abs(r['hit']) <= 3)}; "
              f"within 5: {share(chosen, lambda r: abs(r['hit']) <= 5)}")
        print(f"of those with the work of n = 1024 or more: misses within 10 %: {share(large, lambda r: abs(r['miss']) <= 0.10)}; "
              f"L2 sectors within 12 %: {share(large, lambda r: abs(r['l2']) <= 0.12)}")
        print(f"DRAM within 5 % where the matrices fit half of L2: {share((r for r in chosen if r['fits']), lambda r: abs(r['dram']) <= 0.05)}; "
              f"else within 10 % or in the stated range: {share((r for r in chosen if not r['fits']), lambda r: abs(r['dram']) <= 0.10)}")
        print(f"the bound is the highest speed of light or the top stall: {share(chosen, lambda r: r['named'])}; "
              f"not above either time: {share(chosen, lambda r: min(r['ratio'], r['cold_ratio']) >= 1)}")
        bound_inside = [row for row in chosen if row["bound"] in ("data_pipe", "issue")]
        print(f"of pipe and issue bounds within 1.35 times: {share(bound_inside, lambda r: r['ratio'] <= 1.35)}; "
              f"with empty caches too: {share(bound_inside, lambda r: r['cold_ratio'] <= 1.35)}")
    print("\nfarthest by hit rate:")
    print_rows(sorted(found, key=lambda row: -abs(row["hit"]))[:options.worst])
    print("farthest by L2 sectors:")
    print_rows(sorted(found, key=lambda row: -abs(row["l2"]))[:options.worst])
    print("farthest by DRAM:")
    print_rows(sorted(found, key=lambda row: -abs(row["dram"]))[:options.worst])
    print("the bound is above a time, or it is the pipe or issue slots, and a time is above 1.35 times that:")
    print_rows([row for row in found if min(row["ratio"], row["cold_ratio"]) < 1 or
                row["bound"] in ("data_pipe", "issue") and max(row["ratio"], row["cold_ratio"]) > 1.35])
    print("the bound is not what the counters name:")
    print_rows([row for row in found if not row["named"]])


if __name__ == "__main__":
    main()
