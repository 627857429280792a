#!/usr/bin/env python3
"""Makes the page of what was built: pack.py BUILT OUT

    OUT/index.html, tilescope.js, tilescope.packed, tilescope.wasm, recordings/    for any server of static files
    OUT/tilescope.html                                                             all of it in one file

tilescope.packed is tilescope.wasm, compressed by gzip: the page unpacks it, so that the server need not know how. The name
keeps servers from declaring it as compressed. Fails where what the first picture needs is larger than kMost.
"""
import base64
import gzip
import pathlib
import shutil
import sys

kMost = 2_300_000  # bytes, compressed


def fail(sentence):
    sys.exit(f"pack.py: {sentence}")


def main(built, out):
    root = pathlib.Path(__file__).resolve().parent
    page = (root / "index.html").read_text()
    script = (built / "tilescope.js").read_text()
    wasm = (built / "tilescope.wasm").read_bytes()
    packed = gzip.compress(wasm, 9, mtime=0)
    first = len(packed) + sum(len(gzip.compress(text.encode(), 9)) for text in (page, script))
    if first > kMost:
        fail(f"the page takes {first:,} bytes compressed, and {kMost:,} are allowed; make it smaller")

    (out / "recordings").mkdir(parents=True, exist_ok=True)
    (out / "index.html").write_text(page)
    (out / "tilescope.js").write_text(script)
    (out / "tilescope.wasm").write_bytes(wasm)
    (out / "tilescope.packed").write_bytes(packed)
    beside = {}
    for recording in sorted((root.parent / "assets/recordings").glob("*.tsc")):
        shutil.copy(recording, out / "recordings")
        beside[f"recordings/{recording.name}"] = base64.b64encode(recording.read_bytes()).decode()

    # One file: what is fetched by name stands in the page instead.
    line = '<script async src="tilescope.js"></script>\n'
    if page.count(line) != 1 or "</script" in script:
        fail("index.html or tilescope.js is not as this script knows it")
    held = "".join(f'  "{name}": "{text}",\n' for name, text in beside.items())
    one = page.replace(line, f"<script>\nModule.packed = \"{base64.b64encode(packed).decode()}\";\n"
                             f"Module.beside = {{\n{held}}};\n</script>\n<script>\n{script}\n</script>\n")
    (out / "tilescope.html").write_text(one)
    print(f"{first:,} bytes compressed for the first picture, {len(one.encode()):,} bytes as one file")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        fail("give the folder that was built and the one to write")
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
