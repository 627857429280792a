#!/usr/bin/env python3
"""Merges what `tilescope time --json` wrote into a file of times that ships.

    merge.py OUT PART

Rows of PART replace rows of OUT with the same kernel, shape and tile width; OUT may not exist yet. Both must
be of one device, driver and compiler: times of two devices or compilers are two files. Roofs and version are those of PART;
the commands are listed one behind the other, and the date is "FIRST to LAST" where days differ.
"""
import json
import os
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def key(row):
    return tuple(row[name] for name in ("kernel", "m", "k", "n", "tile"))


def dates(old, new):
    first, last = old.split(" to ")[0], new.split(" to ")[-1]
    return last if first[:10] == last[:10] else f"{first} to {last}"


def merged(old, new):
    for name in ("schema", "device", "driver", "cuda", "compiler"):
        if old[name] != new[name]:
            sys.exit(f"merge.py: {name} is {new[name]} and was {old[name]}; "
                     "measure all of a file on one machine")
    again = {key(row) for row in new["rows"]}
    rows = [row for row in old["rows"] if key(row) not in again] + new["rows"]
    # cuBLAS, whose tile is 0, ends its width.
    rows.sort(key=lambda row: (row["m"], row["k"], row["n"], row["tile"] or 99))
    commands = old["command"].split("; ")
    if new["command"] not in commands:
        commands.append(new["command"])
    roofs = {name: new["roofs"][name] or old["roofs"][name] for name in new["roofs"]}
    return {**new, "date": dates(old["date"], new["date"]), "command": "; ".join(commands), "roofs": roofs, "rows": rows}


def text_of(timings):
    """As the program writes it: a row a line."""
    head = {name: value for name, value in timings.items() if name != "rows"}
    lines = [f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)},\n"
             for name, value in head.items()]
    rows = ",\n".join("    " + json.dumps(row) for row in timings["rows"])
    return "{\n" + "".join(lines) + f'  "rows": [\n{rows}\n  ]\n}}\n'


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    out, part = sys.argv[1:]
    timings = read(part)
    if os.path.exists(out):
        timings = merged(read(out), timings)
    with open(out + ".tmp", "w", encoding="utf-8") as file:
        file.write(text_of(timings))
    os.replace(out + ".tmp", out)


if __name__ == "__main__":
    main()
