"""Shared loads and stores of a kernel's machine code: how many instructions stand for how many of the PTX.

ptxas merges neighbouring 4-byte loads of one thread into one LDS.64 or LDS.128 where it knows the alignment:
32 ld.shared of a phase become, say, 16 LDS (down a column) and 4 LDS.128 (along a row). Both load the same 32
words a thread, so that

    instructions executed = PTX instructions executed * (instructions of a trip) / (words of a trip)

wherever every trip of the loop has the same share; a kernel whose loops differ (unrolled by two with a
remainder) is counted trip by trip. Whether that holds is not believed but held against the hardware's counter.

Listing: `cuobjdump -sass` or `nvdisasm` of the cubin that ptxas makes of the PTX.
"""

import re
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")
LABEL = re.compile(r"^\s*(\.L_[\w$]+):")
WORDS = {"": 1, ".64": 2, ".128": 4}


@dataclass
class Instruction:
    address: int
    text: str  # without its predicate

    @property
    def opcode(self):
        return self.text.split()[0]


@dataclass
class Group:
    """The shared accesses of one innermost loop, or of no loop."""

    opcodes: Counter  # "LDS.128" -> instructions of one trip
    words: int  # 4-byte words a thread of one trip
    in_loop: bool

    @property
    def instructions(self):
        return sum(self.opcodes.values())


def parse(listing):
    """Instructions by address, and the backward branches as (first, last) addresses of a loop."""
    instructions, labels, waiting, branches = [], {}, [], []
    for line in listing.splitlines():
        label = LABEL.match(line)
        if label:
            waiting.append(label.group(1))
            continue
        match = INSTRUCTION.match(line)
        if not match:
            continue
        address = int(match.group(1), 16)
        text = re.sub(r"^@!?U?P\w+\s+", "", match.group(2))
        labels.update((name, address) for name in waiting)
        waiting = []
        instructions.append(Instruction(address, text))
        if text.split()[0].split(".")[0] == "BRA":
            target = re.search(r"`\((\.L_[\w$]+)\)|(0x[0-9a-f]+)\s*$", text)
            if target:
                branches.append((address, target))
    loops = []
    for address, target in branches:
        to = labels.get(target.group(1)) if target.group(1) else int(target.group(2), 16)
        if to is not None and to < address:
            loops.append((to, address))
    return instructions, loops


def groups(listing, op):
    """op: "LDS" or "STS". Groups by innermost loop, those of loops first."""
    instructions, loops = parse(listing)
    found = {}
    for instruction in instructions:
        name = instruction.opcode
        if name.split(".")[0] != op:
            continue
        around = [loop for loop in loops if loop[0] <= instruction.address <= loop[1]]
        loop = min(around, key=lambda l: l[1] - l[0]) if around else None
        width = next((w for suffix, w in WORDS.items() if suffix and name.endswith(suffix)), 1)
        group = found.setdefault(loop, Group(Counter(), 0, loop is not None))
        group.opcodes[name] += 1
        group.words += width
    return sorted(found.values(), key=lambda g: (not g.in_loop, -g.words))


def executed(found, ptx_per_warp, phases):
    """Instructions that a warp executes, where its PTX executes ptx_per_warp of them in `phases` phases; None
    where the loops do not say."""
    if not found:
        return 0 if ptx_per_warp == 0 else None
    shares = {Fraction(group.instructions, group.words) for group in found}
    if len(shares) == 1:
        count = ptx_per_warp * shares.pop()
        return int(count) if count.denominator == 1 else None
    # Loops of whole phases, the widest first; then what stands outside loops, once.
    if phases == 0 or ptx_per_warp % phases:
        return None
    words_a_phase, left, count = ptx_per_warp // phases, phases, 0
    once = [group for group in found if not group.in_loop]
    for group in once + [group for group in found if group.in_loop]:
        if group.words % words_a_phase:
            return None
        step = group.words // words_a_phase
        trips = min(1, left // step) if not group.in_loop else left // step
        count += trips * group.instructions
        left -= trips * step
    return count if left == 0 else None


def describe(found):
    """"16 LDS + 4 LDS.128 for 32 words" of each group."""
    return "; ".join(
        " + ".join(f"{count} {name}" for name, count in sorted(group.opcodes.items()))
        + f" for {group.words} word{'s' if group.words > 1 else ''}"
        for group in found
    )


def listing_of(ptx, folder, arch="sm_90"):
    """The machine code that ptxas makes of a PTX file, or None where the tools are missing."""
    if not shutil.which("ptxas") or not shutil.which("cuobjdump"):
        return None
    cubin = str(folder / (ptx.stem + ".cubin"))
    subprocess.run(["ptxas", f"-arch={arch}", "-o", cubin, str(ptx)], check=True)
    return subprocess.run(["cuobjdump", "-sass", cubin], check=True, capture_output=True, text=True).stdout
