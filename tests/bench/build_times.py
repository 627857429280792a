#!/usr/bin/env python3
"""Where the minutes of a build and of its tests go, as a table in Markdown.

    build_times.py BUILD...

BUILD: a build folder that Ninja made from nothing and in which ctest has run. Compilation comes from Ninja's log, by
target, tests from ctest's, by program. Each figure is the sum of the seconds that its commands took, so on quiet cores
with as many commands at a time as there are cores it is processor time; divide it by the cores for the time that passed.
"""
import collections
import os
import re
import sys


def compiled(build):
    """Seconds by target: of its objects, and of what is linked or made besides."""
    seconds, seen = collections.Counter(), {}
    with open(os.path.join(build, ".ninja_log"), encoding="utf-8") as log:
        for line in log:
            if line.startswith("#"):
                continue
            begin, end, _, output, command = line.rstrip("\n").split("\t")
            seen[output if ".dir/" in output else command] = (output, int(end) - int(begin))
    for output, milliseconds in seen.values():
        target = re.search(r"CMakeFiles/([^/]+)\.dir/", output)
        if output.startswith("build.ninja") or output.endswith("CMakeCache.txt"):
            name = "configure"
        elif target is None:
            name = "link and embed"
        elif "cmake_pch" in output:
            name = "precompile headers"
        else:
            name = target.group(1).replace("tilescope_", "")
        seconds["compile " + name if target and "pch" not in output else name] += milliseconds / 1000
    return seconds


def tested(build):
    """Seconds by test program."""
    seconds = collections.Counter()
    log = os.path.join(build, "Testing", "Temporary", "LastTest.log")
    if os.path.exists(log):
        with open(log, encoding="utf-8", errors="replace") as text:
            for command, took in re.findall(r'^Command: "([^"]+)".*?^Test time = +([\d.]+) sec', text.read(), re.M | re.S):
                seconds["run " + os.path.basename(command)] += float(took)
    return seconds


def main():
    builds = [compiled(build) + tested(build) for build in sys.argv[1:]]
    if not builds:
        sys.exit(__doc__)
    names = sorted(set().union(*builds), key=lambda name: (name.startswith("run "), -max(build[name] for build in builds)))
    print("| seconds |" + "".join(f" {os.path.basename(os.path.normpath(b))} |" for b in sys.argv[1:]))
    print("|---|" + "---:|" * len(builds))
    small = [0.0] * len(builds)
    for name in names:
        if max(build[name] for build in builds) < 5:
            small = [sum_ + build[name] for sum_, build in zip(small, builds)]
        else:
            print(f"| {name} |" + "".join(f" {build[name]:.0f} |" for build in builds))
    print("| all that take less than 5 s |" + "".join(f" {s:.0f} |" for s in small))
    print("| **sum** |" + "".join(f" **{sum(build.values()):.0f}** |" for build in builds))


main()
