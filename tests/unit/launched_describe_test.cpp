// A launch as anyone may bring it: a table of allocations, a module's PTX, an entry, sizes and the bytes of
// the arguments, without the stand-in for CUDA's runtime.
#include <array>
#include <cstring>
#include <numeric>

#include <gtest/gtest.h>

#include "core/trace/file.h"
#include "kernels/launched/record.h"
#include "tests/temp_folder.h"

namespace tilescope::launched {
namespace {

// out[i] = scale[0] * in[i] for i < n; the second kernel takes {in, n, out} as a struct.
constexpr const char* kPtx = R"ptx(.version 7.0
.target sm_70
.address_size 64
.visible .const .align 4 .b8 scale[8] = {0, 0, 0, 64, 0, 0, 128, 63};
.visible .entry _Z5scalePKfPfi(.param .u64 p0, .param .u64 p1, .param .u32 p2)
{
  .reg .pred %p<2>;
  .reg .f32 %f<4>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [p0];
  ld.param.u64 %rd2, [p1];
  ld.param.u32 %r1, [p2];
  mov.u32 %r2, %tid.x;
  setp.ge.s32 %p1, %r2, %r1;
  @%p1 bra DONE;
  mul.wide.s32 %rd3, %r2, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.f32 %f1, [%rd4];
  ld.const.f32 %f2, [scale];
  mul.f32 %f3, %f1, %f2;
  add.s64 %rd5, %rd2, %rd3;
  st.global.f32 [%rd5], %f3;
DONE:
  ret;
}
.visible .entry packed(.param .align 8 .b8 p0[24])
{
  .reg .f32 %f<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p0];
  ld.param.u64 %rd2, [p0+16];
  ld.global.f32 %f1, [%rd1];
  st.global.f32 [%rd2], %f1;
  ret;
}
)ptx";

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
    return std::as_bytes(std::span(&value, 1));
}

class Launched : public TempFolder {
protected:
    Launched() {
        std::iota(in_.begin(), in_.end(), 1.0f);
        for (auto* array : {&in_, &out_}) {
            Allocation one;
            one.base = reinterpret_cast<uintptr_t>(array->data()), one.bytes = sizeof *array;
            EXPECT_NE(memory_.add(one), nullptr);
        }
        module_.text = kPtx, module_.name = "two.ptx";
        EXPECT_TRUE(module_.parse()) << module_.problem;
        Allocation constant;
        constant.base = reinterpret_cast<uintptr_t>(scale_.data()), constant.bytes = sizeof scale_;
        constant.kind = MemoryKind::Variable, constant.symbol = "scale";
        EXPECT_NE(memory_.add(constant), nullptr);
        module_.bases["scale"] = constant.base;
    }

    LoadedKernel kernel_named(const std::string& entry) {
        LoadedKernel kernel;
        kernel.module = &module_;
        kernel.entry = entry, kernel.name = kernels::plain_name(entry);
        return kernel;
    }
    Launch described(LoadedKernel& kernel, const std::vector<std::span<const std::byte>>& arguments) {
        const ptx::Kernel* const code = kernel.look_up("");
        EXPECT_NE(code, nullptr) << kernel.problem;
        return code ? describe(memory_, kernel, *code, {{1, 1, 1}, {32, 1, 1}, 0}, arguments) : Launch{};
    }

    alignas(256) std::array<float, 64> in_{}, out_{};
    alignas(256) std::array<float, 2> scale_{2, 1};
    KnownMemory memory_;
    DeviceHeap heap_;
    LoadedModule module_;
};

TEST_F(Launched, PointersAreFoundByTheirValues) {
    LoadedKernel kernel = kernel_named("_Z5scalePKfPfi");
    const float *const from = in_.data() + 4, *const to = out_.data();
    const int n = 7;
    const Launch launch = described(kernel, {bytes_of(from), bytes_of(to), bytes_of(n)});
    ASSERT_EQ(launch.arrays.size(), 3u);
    ASSERT_EQ(launch.arguments.size(), 3u);
    EXPECT_EQ(launch.arguments[0].array, 0);
    EXPECT_EQ(launch.arguments[0].offset, 16u) << "it points into the allocation";
    EXPECT_EQ(launch.arguments[1].array, 1);
    EXPECT_EQ(launch.arguments[2].array, -1);
    EXPECT_EQ(launch.arguments[2].value, 7u);
    EXPECT_EQ(launch.arrays[0].type, ElementType::F32);
    EXPECT_EQ(launch.arrays[0].bytes(), sizeof in_);
    EXPECT_EQ(launch.arrays[2].name, "scale");
    EXPECT_EQ(launch.arrays[2].space, Space::Const);
    EXPECT_EQ(launch.block, (Dim3{32, 1, 1}));
}

TEST_F(Launched, PointersInStructsAreFoundToo) {
    LoadedKernel kernel = kernel_named("packed");
    const std::array<uint64_t, 3> given = {reinterpret_cast<uintptr_t>(in_.data()), 7,
                                           reinterpret_cast<uintptr_t>(out_.data())};
    const Launch launch = described(kernel, {bytes_of(given)});
    ASSERT_EQ(launch.arrays.size(), 2u);
    EXPECT_EQ(launch.arrays[1].base, given[2]);
    EXPECT_EQ(launch.arguments.at(0).object.size(), sizeof given);
}

TEST_F(Launched, AKernelThatIsNotThereSaysSo) {
    LoadedKernel kernel = kernel_named("nothing");
    EXPECT_EQ(kernel.look_up(""), nullptr);
    EXPECT_EQ(kernel.problem, "the program's PTX has no kernel nothing; compile it again");
}

TEST_F(Launched, ARecordedLaunchIsDone) {
    LoadedKernel kernel = kernel_named("_Z5scalePKfPfi");
    const float *const from = in_.data(), *const to = out_.data();
    const int n = 20;
    const Launch launch = described(kernel, {bytes_of(from), bytes_of(to), bytes_of(n)});
    ASSERT_TRUE(kernel.prepare(launch, 1)) << kernel.problem;
    Orders orders;
    orders.folder = folder_.string();
    ASSERT_TRUE(is_chosen(orders, kernel, 3)) << "the first of its kernel";
    std::atomic<bool> stop{false};
    simt::RunOptions run;
    run.stop = &stop;
    run.name_outside = [](uint64_t) { return ""; };
    const RecordedLaunch made =
        record({orders, "", memory_, heap_, nullptr, DriverMaps{}}, kernel, launch, 3, run);
    EXPECT_EQ(made.why_not, "");
    EXPECT_TRUE(made.ran);
    EXPECT_FALSE(made.fault);
    EXPECT_EQ(out_[19], 40.0f);
    EXPECT_EQ(out_[20], 0.0f);
    const auto trace = trace::read_file(made.path);
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ(trace->meta.kernel, "scale");
    EXPECT_TRUE(made.path.ends_with("/scale.3.tsc")) << made.path;
    orders.numbers = {4};
    EXPECT_FALSE(is_chosen(orders, kernel, 3));
    orders.numbers.clear(), orders.kernels = {"packed"};
    EXPECT_FALSE(is_chosen(orders, kernel, 3));
}

TEST(KnownMemory, FindsWhatHoldsAnAddress) {
    KnownMemory memory;
    const auto one = [](uint64_t base, uint64_t bytes) {
        Allocation made;
        made.base = base, made.bytes = bytes;
        return made;
    };
    ASSERT_NE(memory.add(one(0x1000, 0x100)), nullptr);
    ASSERT_NE(memory.add(one(0x2000, 0x100)), nullptr);
    EXPECT_EQ(memory.add(one(0x10ff, 8)), nullptr) << "it overlaps the first";
    EXPECT_EQ(memory.add(one(0x1ff9, 8)), nullptr) << "and the second";
    EXPECT_EQ(memory.find(0xfff), nullptr);
    EXPECT_EQ(memory.find(0x10ff)->base, 0x1000u);
    EXPECT_EQ(memory.find(0x1100), nullptr);
    EXPECT_EQ(memory.holds(0x1100, 0)->base, 0x1000u) << "an end is of what it ends";
    EXPECT_EQ(memory.holds(0x10f8, 9), nullptr);
    EXPECT_EQ(memory.nearest(0x1900)->base, 0x2000u);
    EXPECT_EQ(memory.nearest(0x1180)->base, 0x1000u);
    const uint64_t before = memory.find(0x1000)->version;
    memory.written(*memory.find(0x1000));
    EXPECT_GT(memory.find(0x1000)->version, before);
    memory.note_freed(*memory.find(0x1000));
    memory.remove(0x1000);
    EXPECT_EQ(memory.find(0x1000), nullptr);
    EXPECT_TRUE(memory.freed(0x10ff));
    EXPECT_FALSE(memory.freed(0x1100));
    EXPECT_EQ(memory.views().size(), 1u);
}

TEST(DeviceHeap, GivesRoomOutAndTakesItBack) {
    DeviceHeap heap;
    EXPECT_EQ(heap.allocate(1), 0u) << "it is not placed";
    heap.place(0x1000, 64);
    EXPECT_EQ(heap.allocate(20), 0x1000u);
    const DeviceHeap::Taken taken = heap.taken();
    EXPECT_EQ(heap.allocate(16), 0x1020u) << "aligned to 16 bytes";
    EXPECT_EQ(heap.allocate(17), 0u);
    heap.release(0x1000);
    EXPECT_EQ(heap.allocate(32), 0x1000u);
    heap.restore(taken);
    EXPECT_EQ(heap.allocate(16), 0x1020u);
}

}  // namespace
}  // namespace tilescope::launched
