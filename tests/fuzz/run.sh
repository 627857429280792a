#!/bin/sh
# Runs the fuzzers of build-asan (./run sanitize and ./run fuzz build them), two at a time:
#
#   tests/fuzz/run.sh [SECONDS [FUZZER...]]       60 seconds each of all six
#   SEED=1 tests/fuzz/run.sh                      the same inputs in the same order each time; else new ones
#
# Inputs that reach new code are kept in build-asan/corpus/FUZZER. One at fault lies in build-asan/findings. Exit status
# 1: some input was at fault; 2: the fuzzers are not built with libFuzzer.
set -u
cd "$(dirname "$0")/../.." || exit 1
seconds=${1:-60}
[ $# -eq 0 ] || shift
if ! build-asan/tests/fuzz_flags -help=1 2>&1 | grep -q max_total_time; then
    echo "fuzz: build-asan has no fuzzers of libFuzzer; './run fuzz' builds them, with clang 16 or newer" >&2
    exit 2
fi

# What was freed is kept for 16 MB only, so that the limit of memory is one of the program.
export ASAN_OPTIONS="quarantine_size_mb=16:${ASAN_OPTIONS:-}" UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}"
mkdir -p build-asan/findings

fuzz() { # one fuzzer; what it prints is shown where an input is at fault, else its last line
    log=build-asan/findings/$1.log
    mkdir -p "build-asan/corpus/$1"
    dictionary='' more=''
    case $1 in ptx | lesson) dictionary=-dict=tests/fuzz/$1.dict ;; esac
    [ "$1" != lesson ] || more=assets/lessons
    # shellcheck disable=SC2086
    if "build-asan/tests/fuzz_$1" -seed="${SEED:-0}" -max_total_time="$seconds" -max_len=65536 -timeout=60 \
        -rss_limit_mb=768 -print_final_stats=1 -artifact_prefix=build-asan/findings/$1- $dictionary \
        "build-asan/corpus/$1" "tests/fuzz/corpus/$1" $more >"$log" 2>&1; then
        echo "fuzz: $1: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $seconds s, none at fault"
    else
        tail -n 60 "$log"
        echo "fuzz: $1: an input is at fault; it lies in build-asan/findings"
        return 1
    fi
}

fault=0
# shellcheck disable=SC2048,SC2086
set -- ${*:-trace ptx args description flags lesson}
while [ $# -gt 0 ]; do
    fuzz "$1" &
    first=$!
    if [ $# -gt 1 ]; then fuzz "$2" || fault=1; shift; fi
    wait $first || fault=1
    shift
done
exit $fault
