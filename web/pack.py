#!/usr/bin/env python3
"""Makes the page of what was built: pack.py BUILT OUT

    OUT/index.html, program.packed, script.packed    what the first picture needs, for any server of static files
    OUT/recordings/                                  recordings that ship, fetched when they are opened
    OUT/tilescope.wasm, tilescope.js                 for browsers that unpack nothing
    OUT/tilescope.html                               all of it but the latter in one file

The page unpacks what is packed, so that the server need not know how: the program by zstd (web/unpack.c), the script by gzip.
Fails where the first picture needs more than kMost.
"""
import base64
import gzip
import pathlib
import shutil
import subprocess
import sys

kMost = 2_300_000  # bytes


def fail(sentence):
    sys.exit(f"pack.py: {sentence}")


def replace(text, old, new):
    if text.count(old) != 1:
        fail(f"index.html has {text.count(old)} times '{old}' in place of once")
    return text.replace(old, new)


def text_of(data):
    return base64.b64encode(data).decode()


def main(built, out):
    root = pathlib.Path(__file__).resolve().parent
    unpacker = gzip.compress((built / "unpack.wasm").read_bytes(), 9, mtime=0)
    page = replace((root / "index.html").read_text(), 'const unpacker = "";', f'const unpacker = "{text_of(unpacker)}";')
    first = {
        "program.packed": subprocess.run(["zstd", "--ultra", "-22", "-c", built / "tilescope.wasm"], check=True,
                                         capture_output=True).stdout,
        "script.packed": gzip.compress((built / "tilescope.js").read_bytes(), 9, mtime=0),
    }
    size = len(page.encode()) + sum(len(data) for data in first.values())
    if size > kMost:
        fail(f"the first picture takes {size:,} bytes, and {kMost:,} are allowed; make the program smaller")

    (out / "recordings").mkdir(parents=True, exist_ok=True)
    (out / "index.html").write_text(page)
    for name in ("tilescope.wasm", "tilescope.js"):
        shutil.copy(built / name, out)
    beside = dict(first)
    for recording in sorted((root.parent / "assets/recordings").glob("*.tsc")):
        beside[f"recordings/{recording.name}"] = recording.read_bytes()
    for name, data in beside.items():
        (out / name).write_bytes(data)

    held = "".join(f'\n      "{name}": "{text_of(data)}",' for name, data in beside.items())
    one = replace(page, "beside: null,", f"beside: {{{held}\n    }},")
    (out / "tilescope.html").write_text(one)
    print(f"{size:,} bytes for the first picture, {len(one.encode()):,} bytes as one file")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        fail("give the folder that was built and the one to write")
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
