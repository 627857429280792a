#!/usr/bin/env bash
# Builds programs around public kernels for Hopper, which run.py runs and records on a GPU:
#
#     tests/gpu/public/build.sh FAST CUTLASS KITTENS OUT [NAME...]
#
# FAST, CUTLASS and KITTENS are clones of github.com/pranjalssh/fast.cu, NVIDIA/cutlass and HazyResearch/ThunderKittens;
# programs.txt says what is built of which. OUT/NAME is the program, with PTX beside the machine code; PTX=1 writes
# OUT/NAME.ptx too. JOBS (2) compilers run at a time; the log of each is OUT/NAME.log. Needs nvcc of CUDA 12.8 or newer.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
FAST=$(realpath "$1") CUTLASS=$(realpath "$2") KITTENS=$(realpath "$3")
mkdir -p "$4"
out=$(realpath "$4")
shift 4
nvcc=${NVCC:-nvcc}
toolkit=$(dirname "$(dirname "$(realpath "$(command -v "$nvcc")")")")

build() { # NAME SOURCE FLAGS
    local source=$2 standard=17 failed=0
    case $source in
    FAST/*) source=$FAST/${source#*/} ;;
    CUTLASS/*) source=$CUTLASS/${source#*/} ;;
    KITTENS/*) source=$KITTENS/${source#*/} ;;
    *) source=$here/$source ;;
    esac
    local own=
    [[ $1 == kittens_* ]] && standard=20 own='-DKITTENS_HOPPER --use_fast_math'
    local include=(-I "$FAST" -I "$CUTLASS/include" -I "$CUTLASS/tools/util/include" -I "$CUTLASS/examples/common"
        -I "$CUTLASS/examples" -I "$KITTENS/include" -I "$KITTENS/prototype" -I "$KITTENS" -I "$here")
    # shellcheck disable=SC2206  # flags are words
    local words=(-O3 -std=c++$standard -lineinfo -DNDEBUG -w --expt-relaxed-constexpr --expt-extended-lambda
        "${include[@]}" $own $3)
    local kept=$out/$1.kept
    if [ "${PTX:-0}" = 1 ]; then
        mkdir -p "$kept"
        words+=(--keep --keep-dir "$kept")
    fi
    nice -n 19 "$nvcc" "${words[@]}" -gencode 'arch=compute_90a,code=[sm_90a,compute_90a]' -cudart static -Xlinker -s \
        -o "$out/$1" "$source" -L"$toolkit/lib/stubs" -L"$toolkit/lib64/stubs" -lcuda >"$out/$1.log" 2>&1 || failed=1
    [ "$failed" = 0 ] && [ -d "$kept" ] && mv "$kept"/*.ptx "$out/$1.ptx"
    rm -rf "$kept"
    if [ "$failed" = 0 ]; then
        echo "built $1, $(stat -c %s "$out/$1") bytes"
    else
        echo "$1 could not be built: $(grep -m 1 error "$out/$1.log" || tail -1 "$out/$1.log")"
    fi
    return "$failed"
}

trim() { sed 's/^ *//; s/ *$//' <<<"$1"; }
status=0 known=
mapfile -t rows <"$here/programs.txt"
for row in "${rows[@]}"; do
    IFS='|' read -r name source _ _ _ flags <<<"$row"
    name=$(trim "$name")
    [[ $name == '' || $name == '#'* ]] && continue
    known+=" $name"
    [[ $# -gt 0 && " $* " != *" $name "* ]] && continue
    while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-2}" ]; do wait -n || status=1; done
    build "$name" "$(trim "$source")" "$(trim "$flags")" &
done
while [ -n "$(jobs -p)" ]; do
    wait -n || status=1
done
for name in "$@"; do
    [[ " $known " == *" $name "* ]] && continue
    echo "programs.txt has no $name; it has$known"
    status=1
done
exit "$status"
