#!/bin/sh
# bombs.sh BUILD FOLDER: the seconds and the peak memory (VmHWM) of every command on recordings that a small
# file holds and that take long to look at (tests/unit/bombs.h). BUILD: a Release build with the target `bombs`.
# Ends with 1 where a command on a file of at most 1 MB takes more than 10 s or 1 GB.
set -u
build=$(cd "$1" && pwd) && mkdir -p "$2" && cd "$2" || exit 2
[ -e one_block.tsc ] || "$build/bombs" . || exit 2
python3 - "$build/tilescope" <<'PY'
import glob, os, resource, subprocess, sys, time

def commands(file):
    yield "report", ["report", file]
    yield "table", ["table", file]
    yield "compare", ["compare", file, file]
    yield "export", ["export", file, "--format", "csv", "-o", "out.csv"]
    yield "lanes", ["export", file, "--format", "csv", "--lanes", "-o", "out.csv"]
    yield "perfetto", ["export", file, "--format", "perfetto", "-o", "out.json"]
    yield "levels", ["levels", file]
    yield "roofline", ["roofline", file]
    for screen in ["step", "timing", "limits", "lessons"]:
        yield "render " + screen, ["render", file, "--screen", screen, "-o", "out.png"]
    yield "render compare", ["render", file, "--screen", "compare", "--with", file, "-o", "out.png"]

bad = False
print(f"{'file':28} {'KB':>6}  {'command':16} {'s':>6} {'MB':>6}  says")
for file in sorted(glob.glob("*.tsc")):
    for name, arguments in commands(file):
        began = time.time()
        child = subprocess.Popen([sys.argv[1], *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = child.stderr.read(4000).decode(errors="replace").strip()
        _, status, used = os.wait4(child.pid, 0)
        seconds, megabytes = time.time() - began, used.ru_maxrss * 1024 / 1e6
        small = os.path.getsize(file) <= 1_000_000
        over = seconds > 10 or megabytes > 1000
        bad = bad or (small and over)
        mark = "!" if over else " "
        print(f"{file:28} {os.path.getsize(file) // 1000:6}  {name:16} {seconds:6.1f} {megabytes:6.0f} {mark} "
              f"{os.waitstatus_to_exitcode(status)} {said[:100]}", flush=True)
        for left in glob.glob("out.*"):
            os.remove(left)
sys.exit(bad)
PY
