#!/usr/bin/env bash
# Packs a built program for a GPU machine that has none of our libraries:
#
#     tests/gpu/package.sh BUILD_DIR OUT_DIR
#
#     OUT_DIR/bin/tilescope   a wrapper that finds the libraries; so is every test program labelled gpu, the
#                             one that draws pictures, and the benchmarks where they are built
#     OUT_DIR/lib/            the shared libraries that they need, but for those of the C and C++ languages and
#                             OpenGL, which must be the machine's own
#
# The machine needs a C library and a libstdc++ no older than this one's. OUT_DIR is made anew.
set -euo pipefail
build=$(realpath "$1")
out=$2
[ -x "$build/tilescope" ] || {
    echo "package.sh: there is no $build/tilescope; build it first" >&2
    exit 1
}
rm -rf "${out:?}/bin" "${out:?}/lib"
mkdir -p "$out/bin" "$out/lib"

programs="$build/tilescope"
for test in "$build"/tests/gpu_* "$build/tests/gl_app" "$build/bench"; do
    if [ -f "$test" ] && [ -x "$test" ]; then programs="$programs $test"; fi
done

own='^(linux-vdso|ld-linux.*|libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+|libGL|libEGL|libGLX|libGLdispatch|libOpenGL|libcuda|libnvrtc)\.so'
for program in $programs; do
    name=$(basename "$program")
    strip -o "$out/bin/$name.bin" "$program"
    chmod 755 "$out/bin/$name.bin"
    cat >"$out/bin/$name" <<'WRAPPER'
#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
LD_LIBRARY_PATH="$here/../lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export LD_LIBRARY_PATH
exec "$here/$(basename "$0").bin" "$@"
WRAPPER
    chmod 755 "$out/bin/$name"
    ldd "$program" | while read -r library _ path _; do
        case $path in /*) ;; *) continue ;; esac
        if [[ $library =~ $own ]]; then continue; fi
        [ -e "$out/lib/$library" ] || strip -o "$out/lib/$library" "$(realpath "$path")"
    done
    if ldd "$program" | grep "not found"; then
        echo "package.sh: $name asks for libraries that are not here" >&2
        exit 1
    fi
done

# The library that sees launches of other programs finds what it needs beside itself.
if [ -f "$build/libtilescope_capture.so" ]; then
    strip -o "$out/lib/libtilescope_capture.so" "$build/libtilescope_capture.so"
fi

# What was packed must start with nothing of the caller's environment.
env -i "$out/bin/tilescope" --version
count() { find "$1" -name "$2" | wc -l; }
echo "$out: $(count "$out/bin" '*.bin') programs and $(count "$out/lib" '*.so*') libraries, $(du -sk "$out" | cut -f1) KiB"
