#!/usr/bin/env bash
# Everything that needs a GPU, in one go; each step's output is kept, and a step that fails does not stop the next:
#
#     tests/gpu/run_all.sh PROGRAM OUT_DIR [STEP...]
#
#     tests        the test programs labelled gpu, beside PROGRAM or in tests/ beside it
#     pictures     the goldens drawn by this GPU through EGL, and the time of a frame
#     price        what recording costs, and what a buffer too small does
#     sanitize     compute-sanitizer over the instrumented kernels
#     counters     Nsight Compute's counters against the report's sums   -> OUT_DIR/counters/h200.json
#     levels       its counters of caches and pipes                      -> OUT_DIR/levels/h200.json
#     recordings   what ships in assets/recordings                       -> OUT_DIR/recordings/
#     times        what ships in assets/timings                          -> OUT_DIR/timings/h200.json
#
# PROGRAM is build/tilescope, or bin/tilescope of what tests/gpu/package.sh made for a machine without our libraries.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
shift 2
steps=${*:-tests pictures price sanitize counters levels recordings times}
# Without a GPU the tests are skipped, which must not look like passing.
nvidia-smi -L >/dev/null 2>&1 || {
    echo "run_all.sh: nvidia-smi finds no NVIDIA GPU here, and every step needs one" >&2
    exit 1
}

run_tests() {
    local failed=0 found=0
    for test in "$(dirname "$program")"/gpu_* "$(dirname "$program")"/tests/gpu_*; do
        case $test in *.bin) continue ;; esac  # behind a wrapper of the same name
        [ -x "$test" ] || continue
        found=1
        "$test" --gtest_filter='-*Faults*' || failed=1
        # A fault may leave its process without a GPU.
        for case in $("$test" --gtest_list_tests --gtest_filter='*Faults*' | sed -n 's/^  *\([A-Za-z]*\).*/\1/p'); do
            "$test" --gtest_filter="*Faults*.$case" || failed=1
        done
    done
    [ "$found" -eq 1 ] || echo "run_all.sh: there is no test program labelled gpu beside $program"
    [ "$found" -eq 1 ] && [ "$failed" -eq 0 ]
}

run_pictures() {
    local beside failed=0
    beside=$(dirname "$program")
    for test in "$beside/gl_app" "$beside/tests/gl_app"; do
        if [ -x "$test" ]; then "$test" || failed=1; fi
    done
    if [ -x "$beside/bench" ]; then "$beside/bench" --benchmark_filter='^(draw|build)_frame' || failed=1; fi
    [ "$failed" -eq 0 ]
}

run_step() {
    case $1 in
    tests) run_tests ;;
    pictures) run_pictures ;;
    price) "$here/price.sh" "$program" ;;
    sanitize) "$here/sanitize.sh" "$program" ;;
    counters) python3 "$here/counters.py" "$program" -o "$out/counters/h200.json" ;;
    levels) python3 "$here/levels.py" "$program" -o "$out/levels/h200.json" ;;
    recordings) "$here/make_recordings.sh" "$program" "$out/recordings" ;;
    times)
        mkdir -p "$out/timings"
        "$program" time --all --json -o "$out/timings/h200.json"
        ;;
    *)
        echo "run_all.sh: there is no step '$1'; choose tests, pictures, price, sanitize, counters, levels, recordings or times"
        false
        ;;
    esac
}

failed=""
for step in $steps; do
    echo "== $step"
    begin=$(date +%s)
    if run_step "$step" 2>&1 | tee "$out/$step.log"; then verdict=ok; else
        verdict=FAILED
        failed="$failed $step"
    fi
    echo "== $step: $verdict after $(($(date +%s) - begin)) s"
done
[ -z "$failed" ] || {
    echo "run_all.sh: failed:$failed"
    exit 1
}
echo "run_all.sh: all steps passed"
