#!/usr/bin/env python3
"""Asks a GPU how its tensor cores form sums: random and special tiles through mma.sync, and which rule gives the results.

A rule: products are taken in chunks of so many along k, together with the sum so far. All terms are cut to multiples of
2^(e - 23 - extra), e the largest exponent among them (of a product: the sum of its factors' exponents, or its own), added
up exactly, and the sum is cut, or rounded, to 24 bits. `double`: the exact sum rounded once. `by pairs`: the columns
4 i and 4 i + 1 are in the first of two chunks, both without C, which is added last, as machine code for sm_90 does with
8-bit floats, that are f16 then. core/simt/matrix_sums.h has the rule that was found.

    tests/gpu/probes/matrix_sums.py [-o FILE] [--tiles N]    needs nvcc and a GPU; prints the best rules of each form

FILE (tests/data/hardware/matrix_sums.bin, which a test holds the CPU to) gets a line of text for each form,
"form SHAPE SUM FACTOR TILES A B C D" with the registers of each fragment, then for each tile its words
[register][lane] of A, B, C and D, 32 bits each, little-endian.
"""
import argparse, random, struct, subprocess, sys, tempfile
from fractions import Fraction
from math import frexp, ldexp
from pathlib import Path

# Type: bits, exponent bits, fraction bits, where the lowest bit lies in its register's part.
TYPES = {"f16": (16, 5, 10, 0), "bf16": (16, 8, 7, 0), "tf32": (32, 8, 10, 13), "e4m3": (8, 4, 3, 0), "e5m2": (8, 5, 2, 0),
         "f32": (32, 8, 23, 0)}
# Shape, D and C, A and B.
FORMS = [("m16n8k16", "f32", "f16"), ("m16n8k8", "f32", "f16"), ("m16n8k16", "f16", "f16"), ("m16n8k8", "f16", "f16"),
         ("m16n8k16", "f32", "bf16"), ("m16n8k8", "f32", "bf16"), ("m16n8k8", "f32", "tf32"), ("m16n8k4", "f32", "tf32"),
         ("m16n8k32", "f32", "e4m3"), ("m16n8k32", "f32", "e5m2"), ("m16n8k32", "f16", "e4m3")]
KINDS = ["near", "wide", "spikes", "cancel", "subnormal", "large_c", "powers", "bits"]


def registers(shape, sum_type, factor):
    k = int(shape.split("k")[1])
    bits = TYPES[factor][0]
    return 16 * k * bits // 1024, 8 * k * bits // 1024, 2 if sum_type == "f16" else 4


def cuda(forms):
    text = "#include <cstdio>\n#include <cstdint>\n#include <vector>\n"
    for n, (shape, d, f) in enumerate(forms):
        a, b, c = registers(shape, d, f)
        names = lambda first, count: "{" + ", ".join("%%%d" % (first + i) for i in range(count)) + "}"
        text += f"""__global__ void k{n}(const uint32_t* in, uint32_t* out) {{
    const uint32_t lane = threadIdx.x;
    in += blockIdx.x * {32 * (a + b + c)}; out += blockIdx.x * {32 * c};
    uint32_t d[{c}], x[{a + b + c}];
    for (int i = 0; i < {a + b + c}; ++i) x[i] = in[32 * i + lane];
    asm volatile("mma.sync.aligned.{shape}.row.col.{d}.{f}.{f}.{d} {names(0, c)}, {names(c, a)}, {names(c + a, b)}, {names(c + a + b, c)};"
        : {", ".join('"=r"(d[%d])' % i for i in range(c))} : {", ".join('"r"(x[%d])' % i for i in range(a + b + c))});
    for (int i = 0; i < {c}; ++i) out[32 * i + lane] = d[i];
}}
"""
    text += "int main(int, char** v) {\n    FILE* f = fopen(v[1], \"rb\"); FILE* g = fopen(v[2], \"wb\"); uint32_t tiles;\n"
    for n, (shape, d, f) in enumerate(forms):
        a, b, c = registers(shape, d, f)
        text += f"""    {{ if (fread(&tiles, 4, 1, f) != 1) return 1;
      std::vector<uint32_t> in(tiles * {32 * (a + b + c)}), out(tiles * {32 * c}); if (fread(in.data(), 4, in.size(), f) != in.size()) return 1;
      uint32_t *p, *q; cudaMalloc(&p, 4 * in.size()); cudaMalloc(&q, 4 * out.size()); cudaMemcpy(p, in.data(), 4 * in.size(), cudaMemcpyHostToDevice);
      k{n}<<<tiles, 32>>>(p, q); cudaMemcpy(out.data(), q, 4 * out.size(), cudaMemcpyDeviceToHost);
      if (cudaGetLastError() != cudaSuccess) {{ fprintf(stderr, "{shape} {d} {f} failed\\n"); return 1; }}
      fwrite(out.data(), 4, out.size(), g); cudaFree(p); cudaFree(q); }}
"""
    return text + "    fclose(g);\n}\n"


def element(kind, name, role, rng):
    bits, exponents, fraction, shift = TYPES[name]
    bias, most = (1 << exponents - 1) - 1, (1 << exponents) - 2
    e = bias + rng.randint(-2, 2)
    m = rng.getrandbits(fraction)
    if kind == "wide": e = bias + rng.randint(-bias // 2, bias // 2 if exponents < 8 else 20)
    if kind == "spikes": e = bias + (rng.randint(3, 6) if rng.random() < 0.1 else rng.randint(-6, -3))
    if kind == "subnormal": e = rng.randint(0, 1) if role != "c" else 0
    if kind == "large_c" and role == "c": e = bias + rng.randint(4, 14)
    if kind == "powers": e, m = bias + rng.randint(-min(bias - 1, 14), min(bias - 1, 14)), 0
    if kind == "bits": return rng.getrandbits(bits - shift) << shift
    return (rng.getrandbits(1) << bits - 1 - shift | max(0, min(e, most)) << fraction | m) << shift


def words(kind, name, role, count, rng):
    per = 32 // TYPES[name][0]
    made = []
    for _ in range(32 * count):
        parts = [element(kind, name, role, rng) for _ in range(per)]
        if kind == "cancel" and per > 1 and role != "c":  # neighbours along k nearly cancel each other
            parts[1] = parts[0] ^ (1 << TYPES[name][0] - 1 if role == "a" else rng.getrandbits(1))
        made.append(sum(p << TYPES[name][0] * i for i, p in enumerate(parts)))
    return made


def number(name, bits):
    """(value, exponent that the hardware sees) or None for what is no finite number."""
    size, exponents, fraction, shift = TYPES[name]
    bits >>= shift
    width = size - shift
    sign, e, m = bits >> width - 1, bits >> fraction & (1 << exponents) - 1, bits & (1 << fraction) - 1
    bias = (1 << exponents - 1) - 1
    if (e == (1 << exponents) - 1 and name != "e4m3") or (name == "e4m3" and bits & 0x7F == 0x7F): return None
    value = ldexp(m + (1 << fraction if e else 0), max(e, 1) - bias - fraction)
    return (-value if sign else value), max(e, 1) - bias


def place(form, role, lane, i, e):  # core/ptx/matrix.h
    each = 32 // TYPES[form[2] if role in "ab" else form[1]][0]
    g, t = lane // 4, lane % 4
    if role == "a": return g + 8 * (i % 2), each * t + 4 * each * (i // 2) + e
    if role == "b": return each * t + 4 * each * i + e, g
    return (g + 8 * i, 2 * t + e) if each == 2 else (g + 8 * (i // 2), 2 * t + i % 2)


# Values and sums of cut terms fit into the 53 bits of Python's floats.

def log2_of(x):  # floor, of the size of what is not 0
    return frexp(x)[1] - 1


def to_format(x, name, nearest):
    _, exponents, fraction, _ = TYPES[name]
    if x == 0: return 0.0
    lowest = 2 - (1 << exponents - 1)
    unit = max(log2_of(x), lowest) - fraction
    n = ldexp(x, -unit)
    return ldexp(round(n) if nearest else int(n), unit)  # round: to even


def cut_sum(terms, extra, nearest, out):
    """Of (value, exponent)."""
    terms = [t for t in terms if t[0]]
    if not terms: return 0.0
    unit = max(e for _, e in terms) - 23 - extra
    return to_format(ldexp(sum(int(ldexp(v, -unit)) for v, _ in terms), unit), out, nearest)


def by_rule(pairs, c, rule, out):
    """pairs: of factors, each (value, exponent), along k."""
    chunk, extra, own, nearest, apart = rule
    if chunk == 0:
        exact = sum((Fraction(x[0]) * Fraction(y[0]) for x, y in pairs), Fraction(c[0]))
        return to_format(float(exact), out, True)
    if apart: pairs = [[(v, max(log2_of(v), -14) if v else 0) for v, _ in p] for p in pairs]  # as f16
    terms = [(x[0] * y[0], log2_of(x[0] * y[0]) if own and x[0] * y[0] else x[1] + y[1]) for x, y in pairs]
    acc = 0.0 if apart else c[0]
    chunks = [[t for i, t in enumerate(terms) if i // 2 % 2 == half] for half in (0, 1)] if apart else [
        terms[first:first + chunk] for first in range(0, len(terms), chunk)]
    for part in chunks:
        acc = cut_sum(part + [(acc, log2_of(acc))] if acc else part, extra, nearest, "f32")
        if apart and out == "f16": acc = to_format(acc, out, True)
    return to_format(acc + c[0] if apart else acc, out, True)


def named(rule):
    chunk, extra, own, nearest, apart = rule
    if chunk == 0: return "double"
    return "chunk %d%s, %d bits more, exponents of %s, sums %s" % (
        chunk, " by pairs" if apart else "", extra, "products" if own else "factors", "rounded" if nearest else "cut")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("-o", default="matrix_sums.bin")
    options.add_argument("--tiles", type=int, default=2, help="of each kind")
    options.add_argument("--looked-at", type=int, default=400, help="elements of each form")
    options = options.parse_args()
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "p.cu").write_text(cuda(FORMS))
        subprocess.run(["nvcc", "-arch=native", "-o", work / "p", work / "p.cu"], check=True)
        inputs = []
        with open(work / "in", "wb") as f:
            for form in FORMS:
                a, b, c = registers(*form)
                tiles = [(words(kind, form[2], "a", a, rng), words(kind, form[2], "b", b, rng), words(kind, form[1], "c", c, rng))
                         for kind in KINDS for _ in range(options.tiles)]
                inputs.append(tiles)
                f.write(struct.pack("<I", len(tiles)))
                for tile in tiles: f.write(struct.pack("<%dI" % sum(map(len, tile)), *sum(tile, [])))
        subprocess.run([work / "p", work / "in", work / "out"], check=True)
        raw = (work / "out").read_bytes()
    at = 0
    with open(options.o, "wb") as f:
        for form, tiles in zip(FORMS, inputs):
            a, b, c = registers(*form)
            k = int(form[0].split("k")[1])
            f.write(("form %s %s %s %d %d %d %d %d\n" % (*form, len(tiles), a, b, c, c)).encode())
            cases = []
            for n, tile in enumerate(tiles):
                d = struct.unpack_from("<%dI" % (32 * c), raw, at)
                at += 128 * c
                f.write(struct.pack("<%dI" % (sum(map(len, tile)) + len(d)), *sum(tile, []), *d))
                held = {}
                for role, name, source, count in (("a", form[2], tile[0], a), ("b", form[2], tile[1], b), ("c", form[1], tile[2], c), ("d", form[1], d, c)):
                    size = TYPES[name][0]
                    for i in range(count):
                        for lane in range(32):
                            for e in range(32 // size):
                                held[role, *place(form, role, lane, i, e)] = number(name, source[32 * i + lane] >> size * e & (1 << size) - 1)
                for row in range(16):
                    for column in range(8):
                        pairs = [(held["a", row, i], held["b", i, column]) for i in range(k)]
                        if None in (held["c", row, column], held["d", row, column]) or any(None in p for p in pairs): continue
                        cases.append((KINDS[n // options.tiles], pairs, held["c", row, column], held["d", row, column][0]))
            rng.shuffle(cases)
            cases = cases[:options.looked_at]
            rules = [(0, 0, False, True, False)] + [
                (chunk, extra, own, nearest, apart) for chunk in (4, 8, 16, 32) if chunk <= k for extra in (-10, -9, 0, 1, 2, 3)
                for own in (False, True) for nearest in (False, True) for apart in (False, True)
                if not apart or (TYPES[form[2]][0] == 8 and chunk == k // 2)]
            right = sorted(((sum(by_rule(p, c0, rule, form[1]) == d0 for _, p, c0, d0 in cases), rule) for rule in rules), reverse=True)
            print(".".join(form), "of", len(cases), "elements:")
            for count, rule in right[:4]: print("   %5d right  %s" % (count, named(rule)))
            wrong = {}
            for kind, p, c0, d0 in cases: wrong[kind] = wrong.get(kind, 0) + (by_rule(p, c0, right[0][1], form[1]) != d0)
            print("    wrong by the first, by kind:", {x: y for x, y in wrong.items() if y})
            sys.stdout.flush()


if __name__ == "__main__":
    main()
