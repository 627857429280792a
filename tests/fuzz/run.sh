#!/bin/sh
# Builds the fuzzers with the newest clang that has libFuzzer, and runs them one after another:
#
#   tests/fuzz/run.sh [SECONDS [FUZZER...]]       60 seconds each of all six
#   SEED=1 tests/fuzz/run.sh                      the same inputs in the same order each time; else new ones
#
# Inputs that reach new code are kept in build-fuzz/corpus/FUZZER. The first one at fault ends the script; it lies in
# build-fuzz/findings. Exit status 3: there is no such clang.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-60}
[ $# -eq 0 ] || shift
oldest=16 # the first that compiles the ranges of GCC's standard library

compiler=
for version in $(seq 40 -1 $oldest) ''; do
    name=clang++${version:+-$version}
    command -v "$name" >/dev/null || continue
    [ "$("$name" -dumpversion | cut -d. -f1)" -ge $oldest ] || continue
    [ -n "$(find "$(dirname "$("$name" -print-libgcc-file-name --rtlib=compiler-rt)")" -name 'libclang_rt.fuzzer*' 2>/dev/null)" ] || continue
    compiler=$name
    break
done
if [ -z "$compiler" ]; then
    echo "fuzz: no clang $oldest or newer with libFuzzer is here; './run fuzz' installs one" >&2
    exit 3
fi
cmake --preset fuzz -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_C_COMPILER="$(echo "$compiler" | sed 's/clang++/clang/')" >/dev/null
cmake --build --preset fuzz

# What was freed is kept for 16 MB only, so that the limit of memory is one of the program.
export ASAN_OPTIONS="quarantine_size_mb=16:${ASAN_OPTIONS:-}" UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}"
mkdir -p build-fuzz/findings
for fuzzer in ${*:-trace ptx args description flags lesson}; do
    mkdir -p "build-fuzz/corpus/$fuzzer"
    dictionary=
    case $fuzzer in ptx | lesson) dictionary=-dict=tests/fuzz/$fuzzer.dict ;; esac
    more=
    [ "$fuzzer" != lesson ] || more=assets/lessons
    # shellcheck disable=SC2086
    "build-fuzz/tests/fuzz_$fuzzer" -seed="${SEED:-0}" -max_total_time="$seconds" -max_len=65536 -timeout=60 -rss_limit_mb=768 \
        -print_final_stats=1 -artifact_prefix=build-fuzz/findings/$fuzzer- $dictionary \
        "build-fuzz/corpus/$fuzzer" "tests/fuzz/corpus/$fuzzer" $more
done
