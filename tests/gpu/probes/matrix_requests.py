#!/usr/bin/env python3
"""What requests of ldmatrix, stmatrix, wmma.load and wmma.store to shared memory cost, as Nsight Compute counts them.

Every form of them that sm_90 has, in patterns of row addresses (strides, swizzles, equal pairs, random ones), or for
wmma with strides of whole 16 bytes: one warp, one instruction, one pattern a launch. There is no access of 32 bytes
to shared memory on sm_90: a type of 32 bytes is moved by two accesses of 16, which banks.cu asks about.

    tests/gpu/probes/matrix_requests.py [-o FILE] [--compile]    needs nvcc, and ncu with readable counters

FILE (tests/data/hardware/matrix_requests.txt) gets a line a pattern: the instruction, its wavefronts and bank
conflicts, then 32 row addresses in units of 16 bytes, or the stride in elements. --compile: without a GPU, to see
that it builds.
"""
import argparse, csv, random, subprocess, tempfile, time
from pathlib import Path

SHARED_BYTES = 32768
PIPE, CONFLICTS = ("l1tex__data_%s_mem_shared_op_%%s.sum" % what for what in ("pipe_lsu_wavefronts", "bank_conflicts_pipe_lsu"))


# --- rows of 8 x 8 matrices

def regular_rows():
    for stride in (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 32): yield [stride * l for l in range(32)]
    yield [8 * l + (l & 7) for l in range(32)]                              # 128 bytes a row, swizzled
    yield [8 * (l % 16) + (l // 16 ^ l & 7) for l in range(32)]
    yield [4 * (l % 16) + (l // 16 ^ l >> 1 & 3) for l in range(32)]        # 64 bytes
    yield [2 * (l % 16) + (l // 16 ^ l >> 2 & 1) for l in range(32)]        # 32 bytes
    yield [0] * 32
    for distance in (1, 2, 4, 8, 16): yield [l & ~distance for l in range(32)]
    for distance in (1, 2, 4): yield [8 * (l & ~distance) for l in range(32)]


def random_rows(rng):
    for units in (8, 16, 64, SHARED_BYTES // 16):
        for _ in range(2): yield [rng.randrange(units) for _ in range(32)]
    for units in (16, SHARED_BYTES // 16):
        for distance in (1, 2, 3, 4, 7, 8, 16):
            rows = [rng.randrange(units) for _ in range(32)]
            yield [rows[min(l, l ^ distance)] for l in range(32)]
    for _ in range(6):  # each matrix with one distance, or none
        rows = [rng.randrange(SHARED_BYTES // 16) for _ in range(32)]
        distances = [rng.choice((0, 1, 2, 4)) for _ in range(4)]
        yield [rows[min(l, l ^ distances[l // 8])] for l in range(32)]


def matrix_cases(rng):
    for name in ("ldmatrix", "stmatrix"):
        for count in (1, 2, 4):
            for trans in ("", ".trans"):
                instruction = "%s.sync.aligned.m8n8.x%d%s.shared.b16" % (name, count, trans)
                for rows in [*regular_rows(), *random_rows(rng)]: yield instruction, rows


# --- wmma

# A, B, sums; the size of an element in bits; whether A lies in rows and B in columns alone
WMMA = [(("m16n16k16", "m32n8k16", "m8n32k16"), "f16", ("f16", "f32")), (("m16n16k16", "m32n8k16", "m8n32k16"), "bf16", ()),
        (("m16n16k8",), "tf32", ("f32",)), (("m8n8k4",), "f64", ("f64",)),
        (("m16n16k16", "m32n8k16", "m8n32k16"), "s8", ("s32",)), (("m16n16k16", "m32n8k16", "m8n32k16"), "u8", ()),
        (("m8n8k32",), "s4", ("s32",)), (("m8n8k32",), "u4", ()), (("m8n8k128",), "b1", ("s32",))]
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "s32": 32}


def wmma_cases():
    for shapes, factor, sums in WMMA:
        for shape in shapes:
            m, n, k = (int(size) for size in shape[1:].replace("n", " ").replace("k", " ").split())
            roles = [("load.a", factor, m, k), ("load.b", factor, k, n)]
            roles += [(role, type_, m, n) for type_ in sums for role in ("load.c", "store.d")]
            for role, type_, rows, columns in roles:
                for layout in ("row", "col"):
                    if BITS[type_] < 8 and (layout == "row") != (role == "load.a"): continue
                    instruction = "wmma.%s.sync.aligned.%s.%s.shared.%s" % (role, layout, shape, type_)
                    natural = -(-(columns if layout == "row" else rows) * BITS[type_] // 128) * 16  # bytes
                    for stride in sorted({natural, natural + 16, 128, 144}): yield instruction, [stride * 8 // BITS[type_]]


# --- kernels

def registers(instruction):
    """(number, bits of each)"""
    words = instruction.split(".")
    if words[0] != "wmma": return int(words[4][1:]), 32
    m, n, k = (int(size) for size in words[6][1:].replace("n", " ").replace("k", " ").split())
    role, bits = words[2], BITS[words[-1]]
    if role in "ab" and words[-1] == "f16": return 8, 32  # some hold the same once more
    each = 64 if bits == 64 else 32
    return {"a": m * k, "b": k * n}.get(role, m * n) * bits // each // 32, each


def kernel(name, instruction):
    count, bits = registers(instruction)
    letter, type_ = ("r", "uint32_t") if bits == 32 else ("d", "double") if ".f64" in instruction else ("l", "uint64_t")
    if ".f32" in instruction or ".tf32" in instruction and "load.c" in instruction: letter, type_ = "f", "float"
    loads = "load" in instruction or instruction.startswith("ldmatrix")
    strided = instruction.startswith("wmma")
    first = count if loads else 0
    fragment = "{%s}" % ", ".join("%%%d" % i for i in range(0 if loads else 1, count + (not loads)))
    address = "[%%%d]" % first
    stride = ", %%%d" % (count + 1) if strided else ""
    text = "%s %s, %s%s;" % ((instruction, fragment, address, stride) if loads else (instruction, address, fragment, stride))
    held = ", ".join('"%s%s"(x[%d])' % ("=" if loads else "", letter, i) for i in range(count))
    base = '"r"(base%s)' % ("" if strided else " + 16 * at[threadIdx.x]")
    inputs = ", ".join(([] if loads else [base, held]) + ([base] if loads else []) + (['"r"(at[0])'] if strided else []))
    return f"""__global__ void {name}(const uint32_t* at, {type_}* out) {{
    __shared__ __align__(128) char tile[{SHARED_BYTES}];
    const auto base = static_cast<uint32_t>(__cvta_generic_to_shared(tile));
    {type_} x[{count}];
    {"" if loads else f"for (int i = 0; i < {count}; ++i) x[i] = out[32 * i + threadIdx.x];"}
    asm volatile("{text}" : {held if loads else ""} : {inputs} : "memory");
    {f"for (int i = 0; i < {count}; ++i) out[32 * i + threadIdx.x] = x[i];" if loads else ""}
}}
"""


def cuda(cases):
    names = {instruction: "k%d" % i for i, instruction in enumerate(dict.fromkeys(instruction for instruction, _ in cases))}
    text = "#include <cstdint>\n#include <cstdio>\n" + "".join(kernel(name, instruction) for instruction, name in names.items())
    text += "static const uint32_t kNumbers[][32] = {\n"
    text += "".join("{%s},\n" % ", ".join(map(str, numbers)) for _, numbers in cases) + "};\n"
    text += "static const void* const kKernels[] = {%s};\n" % ", ".join("(const void*)" + names[i] for i, _ in cases)
    return text + """int main() {
    char *at, *out;
    cudaMalloc(&at, sizeof kNumbers), cudaMalloc(&out, 65536), cudaMemset(out, 0, 65536);
    cudaMemcpy(at, kNumbers, sizeof kNumbers, cudaMemcpyHostToDevice);
    for (const void* kernel : kKernels) {
        void* arguments[] = {&at, &out};
        cudaLaunchKernel(kernel, dim3(1), dim3(32), arguments, 0, nullptr);
        at += sizeof kNumbers[0];
    }
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) fprintf(stderr, "matrix_requests: %s\\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
"""


def main():
    options = argparse.ArgumentParser()
    options.add_argument("-o", default="matrix_requests.txt")
    options.add_argument("--compile", action="store_true")
    options = options.parse_args()
    began = time.time()
    cases = [*matrix_cases(random.Random(1)), *wmma_cases()]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "p.cu").write_text(cuda(cases))
        subprocess.run(["nvcc", "-O1", "-arch=" + ("sm_90" if options.compile else "native"), "-o", work / "p", work / "p.cu"], check=True)
        print("%d patterns of %d forms; built after %.0f s" % (len(cases), len({i for i, _ in cases}), time.time() - began), flush=True)
        if options.compile: return
        metrics = ",".join(name % op for name in (PIPE, CONFLICTS) for op in ("ld", "st"))
        subprocess.run(["ncu", "--clock-control", "none", "--csv", "--log-file", work / "ncu.csv", "--metrics", metrics, work / "p"], check=True)
        counted = {}
        for row in csv.reader(open(work / "ncu.csv")):
            if row and row[0].isdigit(): counted.setdefault(int(row[0]), {})[row[12]] = int(float(row[14].replace(",", "")))
    assert len(counted) == len(cases), (len(counted), len(cases))
    first_line = lambda command: subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[0]
    device = first_line(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
    with open(options.o, "w") as out:
        out.write("# device: %s; %s; made by tests/gpu/probes/matrix_requests.py\n" % (device, time.strftime("%Y-%m-%d", time.gmtime())))
        out.write("# instruction wavefronts conflicts, then 32 addresses of rows in units of 16 bytes, or the stride in elements\n")
        for (instruction, numbers), launch in zip(cases, (counted[i] for i in sorted(counted))):
            op = "st" if "store" in instruction or instruction.startswith("stmatrix") else "ld"
            out.write("%s %d %d %s\n" % (instruction, launch[PIPE % op], launch[CONFLICTS % op], " ".join(map(str, numbers))))
    print("wrote %s after %.0f s" % (options.o, time.time() - began))


if __name__ == "__main__":
    main()
