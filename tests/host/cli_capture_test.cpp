// Launches of Python programs: capture_launch.py writes them down, and `tilescope record FOLDER` records them. Triton,
// PyTorch and CuPy are stand-ins here: modules of a few lines with the classes that the recipe hooks.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/contents.h"
#include "tests/host/cli_program.h"

namespace tilescope::cli_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// out[i] = x[i] + y[i], written as Triton's compiler does.
constexpr const char* kAddPtx = R"(
.version 8.7
.target sm_90a
.address_size 64
.visible .entry add_kernel(
	.param .u64 .ptr .global .align 1 add_kernel_param_0,
	.param .u64 .ptr .global .align 1 add_kernel_param_1,
	.param .u64 .ptr .global .align 1 add_kernel_param_2,
	.param .u32 add_kernel_param_3,
	.param .u64 .ptr .global .align 1 add_kernel_param_4,
	.param .u64 .ptr .global .align 1 add_kernel_param_5
)
.reqntid 32
{
	.reg .pred %p<2>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<9>;
	.loc 1 4 0
	ld.param.b64 %rd1, [add_kernel_param_0];
	ld.param.b64 %rd2, [add_kernel_param_1];
	ld.param.b64 %rd3, [add_kernel_param_2];
	ld.param.b32 %r1, [add_kernel_param_3];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r4, %r2, 32, %r3;
	setp.lt.s32 %p1, %r4, %r1;
	mul.wide.s32 %rd4, %r4, 4;
	add.s64 %rd5, %rd1, %rd4;
	add.s64 %rd6, %rd2, %rd4;
	add.s64 %rd7, %rd3, %rd4;
	.loc 1 5 0
	@%p1 ld.global.b32 { %r5 }, [ %rd5 + 0 ];
	@%p1 ld.global.b32 { %r6 }, [ %rd6 + 0 ];
	add.f32 %r7, %r5, %r6;
	@%p1 st.global.b32 [ %rd7 + 0 ], { %r7 };
	ret;
}
	.file 1 "program.py"
)";

// A tensor whose memory is a bytearray, and torch.as_strided(), which the recipe reads it with.
constexpr const char* kTorch = R"(
uint8 = "torch.uint8"
class Storage:
    def __init__(self, data): self.data = data
    def data_ptr(self): return id(self.data)
class Bytes:
    def __init__(self, data): self.data = data
    def cpu(self): return self
    def numpy(self): return self
    def tobytes(self): return bytes(self.data)
class Tensor:
    dtype = "torch.float32"
    def __init__(self, data, shape, strides, offset=0):
        self.data, self.shape, self.strides, self.offset = data, shape, strides, offset
    def stride(self): return self.strides
    def element_size(self): return 4
    def storage_offset(self): return self.offset
    def data_ptr(self): return id(self.data) + 4 * self.offset
    def untyped_storage(self): return Storage(self.data)
    def detach(self): return self
    def view(self, dtype):
        return Bytes(self.data[4 * self.offset:4 * (self.offset + self.shape[0])])
def as_strided(tensor, shape, strides, offset): return Tensor(tensor.data, shape, strides, offset)
)";

// Triton's compiled kernel. 3.6: the launcher is kept in _run, and the signature goes by names. 3.0: in run, and by
// places, without what is compiled in.
constexpr const char* kTriton = R"(
import os, struct, types
PTX = open(os.path.join(os.path.dirname(__file__), "..", "..", "add_kernel.ptx")).read()
def launch(x, y, out, n):
    def floats(tensor): return list(struct.unpack("<%df" % n, bytes(tensor.data[:4 * n])))
    out.data[:4 * n] = struct.pack("<%df" % n, *[a + b for a, b in zip(floats(x), floats(y))])
class Source:
    def __init__(self, fn, signature):
        self.signature, self.fn = signature, types.SimpleNamespace(fn=fn, arg_names=["x", "y", "out", "n", "B"])
class CompiledKernel:
    def __init__(self, fn, signature):
        self.src, self.asm, self.name = Source(fn, signature), {"ptx": PTX}, "add_kernel"
        self.metadata = types.SimpleNamespace(name="add_kernel", num_warps=1, shared=0, num_ctas=1)
FIELD
)";
constexpr const char* kNewTriton = R"(
        self._run = None
    def _init_handles(self):
        if self._run is None:
            self._run = lambda *words: launch(*words[9:13])
    @property
    def run(self):
        self._init_handles()
        return self._run
)";
constexpr const char* kOldTriton = R"(
        self.made = False
    def _init_handles(self):
        if not self.made:
            self.made, self.run = True, lambda *words: launch(*words[9:13])
    def __getattribute__(self, name):
        if name == "run": object.__getattribute__(self, "_init_handles")()
        return object.__getattribute__(self, name)
)";

constexpr const char* kProgram = R"(
import struct, sys
from triton.compiler.compiler import CompiledKernel
from torch import Tensor
def add_kernel(x, y, out, n, B): pass
def floats(*values): return bytearray(struct.pack("<%df" % len(values), *values))
x = Tensor(floats(*range(40)), (4, 10), (10, 1))
y = Tensor(floats(*[0.5] * 40), (4, 10), (10, 1))
out = Tensor(floats(*[0] * 40), (4, 10), (10, 1))
kernel = CompiledKernel(add_kernel, SIGNATURE)
for _ in range(3):
    kernel.run(2, 1, 1, 0, 0, None, None, None, None, x, y, out, 40 CONSTANTS)
print(struct.unpack("<40f", bytes(out.data))[39], *sys.argv[1:])
)";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    text.replace(text.find(what), what.size(), by);
    return text;
}

bool has_python() { return shell("python3 -c pass").status == 0; }

void write_stand_ins(bool old) {
    fs::create_directories(in_folder("triton/compiler"));
    write(in_folder("add_kernel.ptx"), kAddPtx);
    write(in_folder("torch.py"), kTorch);
    write(in_folder("triton/__init__.py"), "");
    write(in_folder("triton/compiler/__init__.py"), "");
    write(in_folder("triton/compiler/compiler.py"),
          replaced(kTriton, "FIELD", old ? kOldTriton : kNewTriton));
    const std::string signature =
        old ? R"({0: "*fp32", 1: "*fp32", 2: "*fp32", 3: "i32"})"
            : R"({"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "B": "constexpr"})";
    write(in_folder("program.py"),
          replaced(replaced(kProgram, "SIGNATURE", signature), "CONSTANTS", old ? "" : ", 32"));
    ASSERT_EQ(shell("\"$TILESCOPE\" capture-launch > capture_launch.py").status, 0);
}

Ran captured(const std::string& options, const std::string& program = "program.py a b") {
    return shell("python3 capture_launch.py --out launches " + options + " -- " + program);
}

size_t launches_in(const std::string& name) {
    size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(in_folder(name)))
        count += entry.path().filename() == "launch.json";
    return count;
}

void expect_captured_and_recorded(bool old) {
    write_stand_ins(old);
    const Ran plain = shell("python3 program.py a b"), ran = captured("--results");
    EXPECT_EQ(ran.status, 0);
    EXPECT_EQ(ran.err, "");
    EXPECT_EQ(ran.out, "39.5 a b\n");
    EXPECT_EQ(ran.out, plain.out) << "the program runs as without";
    EXPECT_EQ(launches_in("launches"), 1u) << "the first of three";
    const json launch = json::parse(read(in_folder("launches/add_kernel.1/launch.json")));
    EXPECT_EQ(launch["schema"], "tilescope.launch/1");
    EXPECT_EQ(launch["arguments"].size(), 4u);
    EXPECT_EQ(read(in_folder("launches/add_kernel.1/program.py")), read(in_folder("program.py")));

    const Ran recorded = tilescope({"record", in_folder("launches"), "-o", in_folder("add.tsc")});
    EXPECT_EQ(recorded.status, 0) << recorded.err;
    EXPECT_NE(recorded.out.find("result verified"), std::string::npos) << recorded.out;
    const trace::Trace trace = recording(in_folder("add.tsc"));
    EXPECT_EQ(trace.meta.source_name, "program.py");
    EXPECT_EQ(trace.meta.source, read(in_folder("program.py")));
    ASSERT_EQ(trace.launch.arrays.size(), 3u);
    EXPECT_EQ(trace.launch.arrays[0].name, "x");
    EXPECT_EQ(trace.launch.arrays[0].rows, 4u);
    EXPECT_EQ(trace.launch.arrays[0].cols, 10u);
    EXPECT_EQ(initial_value(trace.launch.arrays[0], 39).bits, value_of(39.0F).bits);
    EXPECT_EQ(trace.launch.arguments[3].value, 40u);
}

TEST(CliCapture, ALaunchOfTritonIsWrittenDownAndRecorded) {
    if (!has_python()) GTEST_SKIP() << "there is no python3";
    expect_captured_and_recorded(false);
}

TEST(CliCapture, AndOneOfItsFirstThirdVersion) {
    if (!has_python()) GTEST_SKIP() << "there is no python3";
    expect_captured_and_recorded(true);
}

TEST(CliCapture, OfSeveralLaunchesThoseAreRecordedThatAreChosen) {
    if (!has_python()) GTEST_SKIP() << "there is no python3";
    write_stand_ins(false);
    ASSERT_EQ(captured("--every").status, 0);
    EXPECT_EQ(launches_in("launches"), 3u);
    expect_refused(2, {"record", in_folder("launches")},
                   "holds the launches 1 add_kernel, 2 add_kernel, 3 add_kernel; choose with --launch NUMBER "
                   "or --kernel NAME, or all with --every");
    const Ran one = tilescope({"record", in_folder("launches"), "--launch", "2", "-o", in_folder("one.tsc")});
    EXPECT_EQ(one.status, 0) << one.err;
    EXPECT_TRUE(recording(in_folder("one.tsc")).meta.complete);
    const Ran all = tilescope({"record", in_folder("launches"), "--every", "--json", "-o", in_folder("all")});
    EXPECT_EQ(all.status, 0) << all.err;
    EXPECT_EQ(json::parse(all.out)["launches"].size(), 3u);
    for (const char* name : {"all/add_kernel.1.tsc", "all/add_kernel.2.tsc", "all/add_kernel.3.tsc"})
        EXPECT_TRUE(recording(in_folder(name)).meta.complete) << name;
    // One of them, by its folder and by its document.
    EXPECT_EQ(tilescope({"record", in_folder("launches/add_kernel.3"), "-o", in_folder("a.tsc")}).status, 0);
    EXPECT_EQ(tilescope({"record", in_folder("launches/add_kernel.3/launch.json"), "-o", in_folder("b.tsc")})
                  .status,
              0);
    // A link may lead anywhere, and what it leads to would be in the recording.
    fs::remove(in_folder("launches/add_kernel.2/x.bin"));
    fs::create_symlink(in_folder("launches/add_kernel.1/x.bin"), in_folder("launches/add_kernel.2/x.bin"));
    expect_refused(1, {"record", in_folder("launches"), "--launch", "2"},
                   "x.bin' is a link; put the file itself");
    expect_refused(2, {"record", in_folder("launches"), "--kernel", "other"},
                   "holds the launches 1 add_kernel");
    expect_refused(2, {"record", in_folder("launches"), "--grid", "4"},
                   "says all of its launches; leave out");
}

TEST(CliCapture, LargeTensorsAreSmallWholeNumbers) {
    if (!has_python()) GTEST_SKIP() << "there is no python3";
    write_stand_ins(false);
    ASSERT_EQ(captured("--contents 16 --results").status, 0);
    EXPECT_FALSE(fs::exists(in_folder("launches/add_kernel.1/x.bin")));
    EXPECT_EQ(tilescope({"record", in_folder("launches"), "-o", in_folder("add.tsc")}).status, 0);
    const trace::Trace trace = recording(in_folder("add.tsc"));
    EXPECT_EQ(trace.launch.arrays[0].contents.kind, Contents::Kind::SmallIntegers);
    EXPECT_FALSE(trace.meta.result.checked);
}

TEST(CliCapture, LaunchesThatGoIntoAGraphAreLeftAlone) {
    if (!has_python()) GTEST_SKIP() << "there is no python3";
    write_stand_ins(false);
    write(in_folder("torch.py"), std::string(kTorch) + "class cuda:\n" +
                                     "    is_current_stream_capturing = staticmethod(lambda: True)\n");
    const Ran ran = captured("");
    EXPECT_EQ(ran.out, "39.5 a b\n");
    EXPECT_EQ(ran.err, "");
    EXPECT_FALSE(fs::exists(in_folder("launches")));
}

TEST(CliCapture, AKernelWithoutAFileHasNoSource) {
    if (!has_python()) GTEST_SKIP() << "there is no python3";
    write_stand_ins(false);
    write(in_folder("cell.py"), "exec(compile(open('program.py').read(), '<cell 1>', 'exec'))\n");
    const Ran ran = captured("", "cell.py a b");
    EXPECT_EQ(ran.out, "39.5 a b\n");
    EXPECT_EQ(ran.err, "");
    EXPECT_EQ(tilescope({"record", in_folder("launches"), "-o", in_folder("add.tsc")}).status, 0);
    EXPECT_EQ(recording(in_folder("add.tsc")).meta.source, "");
}

TEST(CliCapture, ProcessesHaveFoldersOfTheirOwn) {
    if (!has_python()) GTEST_SKIP() << "there is no python3";
    write_stand_ins(false);
    ASSERT_EQ(shell("RANK=1 python3 capture_launch.py --out launches -- program.py").status, 0);
    EXPECT_EQ(launches_in("launches-rank1"), 1u);
}

TEST(CliCapture, WhatGoesWrongIsALineAndTheProgramRuns) {
    if (!has_python()) GTEST_SKIP() << "there is no python3";
    write_stand_ins(false);
    write(in_folder("launches"), "a file where the folder is to be\n");
    const Ran ran = captured("");
    EXPECT_EQ(ran.status, 0);
    EXPECT_EQ(ran.out, "39.5 a b\n");
    EXPECT_NE(ran.err.find("capture_launch: a launch of Triton is not written down: "), std::string::npos)
        << ran.err;
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    // A version whose classes are others.
    write(in_folder("triton/compiler/compiler.py"), "class Kernel: pass\n");
    write(in_folder("other.py"), "import triton.compiler.compiler\nprint('done')\n");
    const Ran unknown = captured("", "other.py");
    EXPECT_EQ(unknown.out, "done\n");
    EXPECT_NE(unknown.err.find("launches of this version of triton are not seen"), std::string::npos)
        << unknown.err;
    EXPECT_EQ(shell("python3 capture_launch.py --out x").status, 2) << "no program is named";
}

// RawKernel, whose PTX the recipe has NVRTC make.
TEST(CliCapture, ALaunchOfCupyIsWrittenDownAndRecorded) {
    if (!has_python()) GTEST_SKIP() << "there is no python3";
    write_stand_ins(false);
    for (const char* name : {"cupy/cuda", "cupy_backends/cuda/libs"}) fs::create_directories(in_folder(name));
    write(in_folder("cupy/__init__.py"), R"(
import types
uint8 = "uint8"
class ndarray:
    def __init__(self, shape, dtype, pointer):
        self.shape, self.dtype, self.data, self.itemsize = shape, dtype, pointer, 1 if dtype == "uint8" else 4
        self.strides = (self.itemsize,)
        self.__cuda_array_interface__ = {}
    def get(self): return self
    def tobytes(self): return self.data.mem.bytes[self.data.ptr - self.data.mem.ptr:][:self.shape[0]]
class Pointer:
    def __init__(self, mem, ptr): self.mem, self.ptr = mem, ptr
    def __sub__(self, bytes): return Pointer(self.mem, self.ptr - bytes)
class RawKernel:
    def __init__(self, code, name, options=()): self.name = name
    def __call__(self, grid, block, args, *, shared_mem=0): print("runs", self.name)
)");
    write(in_folder("cupy/cuda/__init__.py"), "");
    write(in_folder("cupy/cuda/device.py"), "class Device:\n    compute_capability = '90'\n");
    for (const char* name : {"cupy_backends/__init__.py", "cupy_backends/cuda/__init__.py",
                             "cupy_backends/cuda/libs/__init__.py"})
        write(in_folder(name), "");
    write(in_folder("cupy_backends/cuda/libs/nvrtc.py"), R"(
def createProgram(code, name, headers, names): return code
def compileProgram(program, options): assert "-lineinfo" in options
def getPTX(program): return open("add_kernel.ptx").read()
)");
    write(in_folder("raw.py"), R"(
import struct, types, cupy
places = iter(range(4096, 1 << 20, 4096))
def array(*values):
    memory = types.SimpleNamespace(ptr=next(places), bytes=struct.pack("<%df" % len(values), *values))
    return cupy.ndarray((len(values),), "float32", cupy.Pointer(memory, memory.ptr))
class int32(int):
    dtype = "int32"
kernel = cupy.RawKernel("the source", "add_kernel")
kernel((2,), (32,), (array(*range(40)), array(*[1] * 40), array(*[0] * 40), int32(40)))
)");
    const Ran ran = captured("", "raw.py");
    EXPECT_EQ(ran.out, "runs add_kernel\n");
    EXPECT_EQ(ran.err, "");
    ASSERT_EQ(tilescope({"record", in_folder("launches"), "-o", in_folder("add.tsc")}).status, 0);
    const trace::Trace trace = recording(in_folder("add.tsc"));
    EXPECT_EQ(trace.meta.source, "the source");
    EXPECT_EQ(initial_value(trace.launch.arrays[0], 39).bits, value_of(39.0F).bits);
}

TEST(CliCapture, FoldersWithoutLaunchesAreRefused) {
    expect_refused(2, {"record", in_folder("")}, "holds no launch that was written down");
    fs::create_directories(in_folder("tiled"));
    const Ran kernel = shell("\"$TILESCOPE\" record tiled --tile 2 --m 4 --k 4 --n 4 -o tiled.tsc");
    EXPECT_EQ(kernel.status, 0) << "a kernel comes before a folder: " << kernel.err;
    write(in_folder("launch.json"), "{}");
    expect_refused(1, {"record", in_folder("")}, "launch.json says no schema 'tilescope.launch/1'");
    write(in_folder("launch.json"), "[[[");
    expect_refused(1, {"record", in_folder("launch.json")}, "launch.json is no JSON object");
}

}  // namespace
}  // namespace tilescope::cli_test
