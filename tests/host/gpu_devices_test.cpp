// Finding a GPU: every reason for which there is none has its sentence.
#include "tests/host/gpu_fake.h"

namespace tilescope::gpu_test {
namespace {

class GpuDevices : public FakeGpu {};

TEST_F(GpuDevices, AreAsTheDriverStatesThem) {
    tell("count=2");
    const auto found = gpu::devices();
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_EQ(found->size(), 2u);
    const gpu::DeviceInfo& info = found->back();
    EXPECT_EQ(info.ordinal, 1);
    EXPECT_EQ(info.name, "Stand-in GPU");
    EXPECT_EQ(info.cuda_major, 13);
    EXPECT_EQ(info.cuda_minor, 0);
    EXPECT_EQ(info.major, 9);
    EXPECT_EQ(info.minor, 0);
    EXPECT_EQ(info.sms, 132);
    EXPECT_EQ(info.clock_khz, 1980000);
    EXPECT_EQ(info.memory_clock_khz, 3201000);
    EXPECT_EQ(info.memory_bus_bits, 6144);
    EXPECT_EQ(info.memory_bytes, 1u << 30);
    EXPECT_EQ(info.l2_bytes, 62914560u);
    EXPECT_EQ(info.shared_per_block, 49152);
    EXPECT_EQ(info.shared_per_block_optin, 232448);
    EXPECT_EQ(info.shared_per_sm, 233472);
    EXPECT_EQ(info.registers_per_block, 65536);
    EXPECT_EQ(info.registers_per_sm, 65536);
    EXPECT_EQ(info.threads_per_block, 1024);
    EXPECT_EQ(info.threads_per_sm, 2048);
    EXPECT_EQ(info.blocks_per_sm, 32);
    EXPECT_EQ(info.warp_size, 32);
}

TEST_F(GpuDevices, AreDescribedInALine) {
    gpu::DeviceInfo info;
    info.name = "NVIDIA H200";
    info.driver = "580.159.04";
    info.cuda_major = 13;
    info.major = 9;
    EXPECT_EQ(gpu::describe(info), "NVIDIA H200, driver 580.159.04, CUDA 13.0, compute capability 9.0");
    info.driver.clear();
    info.cuda_minor = 1;
    EXPECT_EQ(gpu::describe(info), "NVIDIA H200, CUDA 13.1, compute capability 9.0");
}

TEST_F(GpuDevices, NeedADriver) {
    gpu::use_driver("libcuda-that-is-not-there.so.1");
    expect_error(gpu::devices(),
                 {"no NVIDIA driver was found", "libcuda-that-is-not-there.so.1 cannot be opened",
                  "--backend cpu", "install the driver"});
    expect_error(gpu::Device::open(), {"no NVIDIA driver was found"});
}

TEST_F(GpuDevices, NeedALibraryThatIsADriver) {
    gpu::use_driver("libc.so.6");
    expect_error(gpu::devices(), {"libc.so.6", "reinstall", "--backend cpu"});
}

TEST_F(GpuDevices, NeedADriverThatIsNotTooOld) {
    tell("version=10020");
    expect_error(gpu::devices(), {"too old", "CUDA 10.2", "CUDA 11.0 is needed", "update", "--backend cpu"});
}

TEST_F(GpuDevices, TakeTheOldestDriverThatWillDo) {
    tell("version=11000");
    const auto found = gpu::devices();
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->front().cuda_major, 11);
}

TEST_F(GpuDevices, AreMissed) {
    tell("init=100");
    expect_error(gpu::devices(),
                 {"sees no GPU", "no CUDA-capable device is detected", "CUDA_VISIBLE_DEVICES"});
    gpu::use_driver(TILESCOPE_FAKE_CUDA);
    tell("count=0");
    expect_error(gpu::devices(), {"sees no GPU", "CUDA_VISIBLE_DEVICES"});
}

TEST_F(GpuDevices, CannotBeHadFromAStub) {
    tell("asked=34");
    expect_error(gpu::devices(), {"CUDA Toolkit's stub", "LD_LIBRARY_PATH"});
}

TEST_F(GpuDevices, NeedADriverWhoseHalvesFit) {
    tell("init=803");
    expect_error(gpu::devices(), {"do not fit together", "restart the machine"});
}

TEST_F(GpuDevices, NeedADriverThatStarts) {
    tell("init=304");
    expect_error(gpu::devices(), {"does not start: OS call failed", "nvidia-smi"});
    gpu::use_driver(TILESCOPE_FAKE_CUDA);
    tell("init=4711");
    expect_error(gpu::devices(), {"does not start: CUDA error 4711", "nvidia-smi"});
}

TEST_F(GpuDevices, AreAskedForOnce) {
    ASSERT_TRUE(gpu::devices());
    tell("init=100");
    EXPECT_TRUE(gpu::devices()) << "kept from the first call";
}

TEST_F(GpuDevices, AreOpenedByTheirNumber) {
    tell("count=2");
    expect_error(gpu::Device::open(2), {"no GPU number 2", "has 2"});
    expect_error(gpu::Device::open(-1), {"no GPU number -1"});
    EXPECT_TRUE(gpu::Device::open(1));
}

TEST_F(GpuDevices, MayBeTooOldToOpen) {
    tell("major=6");
    ASSERT_TRUE(gpu::devices()) << "it is there all the same";
    expect_error(gpu::Device::open(), {"Stand-in GPU is too old", "6.0", "7.0 is needed", "--backend cpu"});
    EXPECT_EQ(ask("fake_open"), 0);
}

TEST_F(GpuDevices, MayBeHeldByOthers) {
    tell("retain=46");
    expect_error(gpu::Device::open(),
                 {"Stand-in GPU could not be opened", "busy or unavailable", "nvidia-smi"});
    tell("retain=2");
    expect_error(gpu::Device::open(), {"out of memory", "other programs fill its memory"});
    tell("retain=304");
    expect_error(gpu::Device::open(), {"OS call failed", "start the program again"});
    tell("");
    EXPECT_TRUE(gpu::Device::open());
}

TEST_F(GpuDevices, AreResetWhereAnEarlierFaultIsLeft) {
    ASSERT_TRUE(gpu::devices());
    tell("sick=1");
    gpu::use_driver(TILESCOPE_FAKE_CUDA);
    const auto device = open();
    ASSERT_TRUE(device);
    EXPECT_EQ(ask("fake_resets"), 1);
    EXPECT_TRUE(device->allocate(16, "words"));
}

TEST_F(GpuDevices, HaveAnotherContextWhereAResetDoesNotHelp) {
    tell("sick=4");
    for (int round = 0; round < 2; ++round) {
        const auto device = open();
        ASSERT_TRUE(device);
        EXPECT_EQ(ask("fake_others"), round + 1);
        EXPECT_EQ(ask("fake_open"), 1);
        const auto function = device->load(kAddOne, "add_one.ptx", "add_one");
        ASSERT_TRUE(function);
        const auto memory = device->allocate(64, "words");
        ASSERT_TRUE(memory);
        tell("fault=719");  // which destroys it, and the next is another again
        EXPECT_FALSE(device->launch(*function, {1}, {1}, {memory->address(), 16}));
        EXPECT_EQ(ask("fake_open"), 0);
        tell("");
    }
    auto well = open();
    ASSERT_TRUE(well);
    EXPECT_EQ(ask("fake_others"), 2) << "the primary context again";
    well.reset();
    EXPECT_EQ(ask("fake_open"), 0);
    EXPECT_EQ(ask("fake_stale"), 0);
}

TEST_F(GpuDevices, SayWhereNoContextIsWell) {
    tell("sick=2 create=719");
    expect_error(gpu::Device::open(), {"unspecified launch failure", "start the program again"});
    tell("");
    EXPECT_TRUE(gpu::Device::open());
}

TEST_F(GpuDevices, AreClosedWhenTheLastUserGoes) {
    auto first = open(), second = open();
    EXPECT_EQ(ask("fake_open"), 1) << "one context for both";
    auto memory = first->allocate(64, "words");
    ASSERT_TRUE(memory);
    first.reset();
    second.reset();
    EXPECT_EQ(ask("fake_open"), 1) << "memory keeps it";
    EXPECT_EQ(ask("fake_held"), 1);
    memory = gpu::Memory{};
    EXPECT_EQ(ask("fake_held"), 0);
    EXPECT_EQ(ask("fake_open"), 0);
    EXPECT_EQ(ask("fake_stale"), 0);
}

}  // namespace
}  // namespace tilescope::gpu_test
