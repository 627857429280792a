#!/usr/bin/env bash
# Launches of Triton, torch.compile and CuPy, written down by assets/capture_launch.py and recorded on the CPU and on
# the GPU:
#
#     tests/gpu/triton/run.sh PROGRAM OUT [GPU_RECORD]
#
# PROGRAM is tilescope; GPU_RECORD is the test program gpu_record (beside PROGRAM or in tests/ beside it). A program's
# output must be the same with the recipe as without. Of each launch both recordings must be made, their results must be
# those that the program's own launch left (tilescope record says "result verified"), and gpu_record holds them against
# each other, lane for lane. PYTHON names the interpreter that has torch, triton and cupy; programs whose modules are not there are
# said and left out.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
python=${PYTHON:-python3}
record=${3:-$(dirname "$program")/gpu_record}
[ -x "$record" ] || record=$(dirname "$program")/tests/gpu_record
"$program" capture-launch >"$out/capture_launch.py" || exit 1
failed=0 ran=0

fail() {
    echo "FAILED $*"
    failed=1
}

# record BACKEND FOLDER OUT: what tilescope says, in a file.
record_on() {
    mkdir -p "$(dirname "$3")"
    "$program" record "$2" --backend "$1" -o "$3" >"$3.txt" 2>&1
}

record_launch() {
    local name=$1 folder=$2 launch
    launch=$(basename "$folder")
    for backend in cpu gpu; do
        local to=$out/recordings/$name/$backend/$launch.tsc
        if ! record_on "$backend" "$folder" "$to"; then
            fail "$name $launch $backend: $(tail -n 1 "$to.txt")"
        elif ! grep -q "result verified" "$to.txt"; then
            fail "$name $launch $backend: $(grep -o 'result [^;]*' "$to.txt")"
        else
            echo "ok      $name $launch $backend: $(grep -o '[0-9]* requests.*verified' "$to.txt")"
        fi
    done
}

for file in elements rows products fused raw; do
    modules=torch,triton
    [ "$file" = raw ] && modules=cupy
    if ! "$python" -c "import $modules" 2>/dev/null; then
        echo "left out $file: $python has no $modules"
        continue
    fi
    "$python" "$here/$file.py" >"$out/$file.plain.txt" 2>"$out/$file.plain.err" ||
        fail "$file.py: $(tail -n 1 "$out/$file.plain.err")"
    rm -rf "$out/launches/$file" "$out/recordings/$file"
    "$python" "$out/capture_launch.py" --out "$out/launches/$file" --results -- "$here/$file.py" \
        >"$out/$file.txt" 2>"$out/$file.err" || fail "$file.py with the recipe: $(tail -n 1 "$out/$file.err")"
    cmp -s "$out/$file.plain.txt" "$out/$file.txt" || fail "$file.py prints something else with the recipe"
    grep -q False "$out/$file.txt" && fail "$file.py: $(grep False "$out/$file.txt")"
    grep "^capture_launch: " "$out/$file.err" && failed=1
    for folder in "$out/launches/$file"/*/; do
        [ -e "$folder/launch.json" ] || { fail "$file.py: no launch was written down"; continue; }
        record_launch "$file" "${folder%/}"
        ran=$((ran + 1))
    done
done
echo "$ran launches"
[ "$ran" -gt 0 ] || failed=1
TILESCOPE_PROGRAMS=$out/recordings "$record" --gtest_filter='RecordPrograms*' || failed=1
exit $failed
