// Instructions on matrices, recorded by the interpreter and by the sequences that a GPU runs: the same requests, lane for
// lane; and what a recording's file says of their sites.
#include <gtest/gtest.h>

#include "core/trace/builder.h"
#include "core/trace/file.h"
#include "tests/host/instrumented_run.h"
#include "tests/host/same_requests.h"
#include "tests/launches.h"

namespace tilescope::trace {
namespace {

constexpr uint64_t kInput = 0x7F00'1000'0000, kOutput = 0x7F00'1001'0000, kBytes = 1 << 15;

// Two warps; %i and %o are in and out, %s a lane's 16 bytes of its warp's half of tile, %b that half.
const char* const kHead = R"(
.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_0, .param .u64 k_1, .param .u32 k_2)
{
    .reg .b32 %t; .reg .b32 %s; .reg .b32 %b; .reg .b32 %n; .reg .b32 %r<64>; .reg .f32 %f<64>;
    .reg .b64 %i; .reg .b64 %o; .reg .b64 %d<16>; .reg .f64 %g<16>; .reg .pred %p<9>;
    .shared .align 16 .b8 tile[8192];
    ld.param.u64 %i, [k_0];
    ld.param.u64 %o, [k_1];
    ld.param.u32 %n, [k_2];
    mov.u32 %t, %tid.x;
    shl.b32 %s, %t, 4;
    and.b32 %b, %t, 32;
    shl.b32 %b, %b, 7;
    mov.u32 %r63, tile;
    add.u32 %s, %s, %r63;
    mul.wide.u32 %d0, %b, 4;
    cvta.to.global.u64 %d3, %o;
    add.s64 %d3, %d3, %d0;
    add.u32 %b, %b, %r63;
    mul.wide.u32 %d0, %t, 16;
    add.s64 %d1, %i, %d0;
    add.s64 %d2, %o, %d0;
    ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%d1];
    st.shared.v4.b32 [%s], {%r1, %r2, %r3, %r4};
    st.shared.v4.b32 [%s+1024], {%r1, %r2, %r3, %r4};
    bar.sync 0;
    mov.u32 %r62, 24;
)";

const char* const kBodies[] = {
    // Four steps of one block that follow each other, a product that no lane or every lane makes, a loop.
    R"(
    mov.u32 %r10, 0;
    setp.lt.u32 %p0, %t, 99;
    setp.gt.u32 %p1, %t, 99;
L:
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%s];
    ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r5, %r6}, [%s+512];
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f0, %f1, %f2, %f3};
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f0, %f1, %f2, %f3};
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f0, %f1, %f2, %f3};
    @%p0 mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f0, %f1, %f2, %f3};
    @%p1 mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f0, %f1, %f2, %f3};
    add.u32 %r10, %r10, 1;
    setp.lt.u32 %p2, %r10, 5;
    @%p2 bra L;
    st.global.v4.f32 [%d2], {%f0, %f1, %f2, %f3};
)",
    // Generic addresses, fewer matrices, addresses that no lane's number gives.
    R"(
    xor.b32 %r20, %t, 5;
    shl.b32 %r20, %r20, 4;
    add.u32 %r20, %r20, %r63;
    cvt.u64.u32 %d4, %r20;
    cvta.shared.u64 %d4, %d4;
    ldmatrix.sync.aligned.m8n8.x4.trans.b16 {%r1, %r2, %r3, %r4}, [%d4];
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r20+32];
    setp.gt.u32 %p3, %t, 40;
    @%p3 add.u32 %r20, %r20, 100000;
    movmatrix.sync.aligned.m8n8.trans.b16 %r6, %r5;
    stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r20+2048], {%r6};
    stmatrix.sync.aligned.m8n8.x2.b16 [%d4+1024], {%r5, %r6};
    st.global.v4.b32 [%d2], {%r1, %r2, %r5, %r6};
)",
    // wmma, whose stride is known, or not.
    R"(
    wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%b], %r62;
    wmma.load.b.sync.aligned.row.m16n16k16.global.f16 {%r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18}, [%i+64], %n;
    wmma.load.c.sync.aligned.col.m16n16k16.global.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%i+512], 20;
    wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, {%r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18}, {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};
    wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%b+64], {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};
    wmma.store.d.sync.aligned.col.m16n16k16.f32 [%d3+128], {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, %n;
    wmma.load.a.sync.aligned.row.m8n8k4.f64 {%g0}, [%i], 4;
    wmma.store.d.sync.aligned.col.m8n8k4.global.f64 [%d3+8192], {%g0, %g1}, %r62;
    wmma.load.a.sync.aligned.row.m8n8k32.global.s4 {%r30}, [%i+4096], 64;
    wmma.load.b.sync.aligned.col.m8n8k128.shared.b1 {%r31}, [%b+512], %n;
)",
    // Rows wherever memory says.
    R"(
    and.b32 %r20, %r1, 2032;
    add.u32 %r20, %r20, %r63;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r20];
    ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r5, %r6}, [%r20+512];
    stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r20+4096], {%r5};
    st.global.v4.b32 [%d2], {%r1, %r2, %r5, %r6};
)",
    // Rows of 128 bytes, whose pieces of 16 are swizzled, and copies to them.
    R"(
    and.b32 %r20, %t, 7;
    shr.u32 %r21, %t, 3;
    xor.b32 %r22, %r20, %r21;
    shl.b32 %r22, %r22, 4;
    shl.b32 %r23, %r21, 7;
    add.u32 %r22, %r22, %r23;
    add.u32 %r22, %r22, %r63;
    mul.lo.u32 %r24, %r21, %n;
    add.u32 %r24, %r24, %r20;
    mul.wide.u32 %d4, %r24, 4;
    add.s64 %d4, %i, %d4;
    ld.global.b32 %r25, [%d4];
    st.shared.b32 [%r22], %r25;
    bar.sync 0;
    and.b32 %r26, %t, 15;
    mov.u32 %r27, %laneid;
    shr.u32 %r27, %r27, 4;
    and.b32 %r28, %r26, 7;
    xor.b32 %r27, %r27, %r28;
    shl.b32 %r27, %r27, 4;
    shl.b32 %r29, %r26, 7;
    or.b32 %r27, %r27, %r29;
    add.u32 %r27, %r27, %b;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r27];
    ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r5, %r6, %r7, %r8}, [%r27+2048];
    st.global.v4.b32 [%d2], {%r1, %r2, %r5, %r6};
)",
    // Addresses that memory gives, of several widths, by all lanes and by some.
    R"(
    ld.shared.b32 %r10, [%s];
    and.b32 %r10, %r10, 48;
    add.u32 %r11, %r63, %r10;
    ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%r11+16];
    ld.shared.v2.b32 {%r5, %r6}, [%r11+8];
    ld.shared.b32 %r7, [%r11+4];
    ld.shared.u16 %r8, [%r11+2];
    mul.wide.u32 %d4, %r10, 4;
    add.s64 %d4, %i, %d4;
    setp.lt.u32 %p0, %t, 40;
    @%p0 ld.global.v2.b32 {%r2, %r3}, [%d4];
    @%p0 st.shared.b32 [%r11+8], %r7;
    st.global.v4.b32 [%d2], {%r1, %r5, %r7, %r8};
)"};

struct Matrices {
    ptx::Module module;
    std::shared_ptr<const simt::Program> program;
    Launch launch;
    simt::GlobalMemory memory;

    explicit Matrices(const std::string& body) {
        auto parsed = ptx::parse(kHead + body + "\n    ret;\n}\n", "k.ptx");
        EXPECT_TRUE(parsed) << parsed.error().message;
        module = std::move(*parsed);
        auto made = simt::prepare(module, "k");
        EXPECT_TRUE(made) << made.error().message;
        program = *made;
        launch.entry = "k";
        launch.block = {64, 1, 1};
        launch.arguments = test_arguments({kInput, kOutput, 128});
        for (const auto& [name, base] : {std::pair{"in", kInput}, {"out", kOutput}}) {
            launch.arrays.push_back(test_array(name, Space::Global, ArrayRole::InOut, 1, kBytes / 4, base));
            memory.buffers.push_back({name, base, simt::Bytes(kBytes)});
        }
        launch.arrays.push_back(test_array("tile", Space::Shared, ArrayRole::Shared, 1, 2048, 0, "tile"));
        for (size_t i = 0; i < kBytes; ++i) memory.buffers[0].bytes[i] = static_cast<std::byte>(i * 37 % 59);
    }

    Trace record(simt::GlobalMemory& after) const {
        std::vector<std::unique_ptr<BlockRecorder>> blocks;
        after = memory;
        simt::RunOptions options;
        options.threads = 1;
        const auto outcome = simt::run(*program, launch, after, options, [&](const simt::BlockId& id) {
            blocks.push_back(std::make_unique<BlockRecorder>(launch.arrays, simt::sites_of(*program), id));
            return blocks.back().get();
        });
        EXPECT_TRUE(outcome && outcome->complete)
            << (outcome && outcome->fault ? outcome->fault->message : "");
        return assemble({}, launch, simt::sites_of(*program), std::move(blocks));
    }
};

TEST(TraceMatrix, AGpuRecordsWhatTheInterpreterDoes) {
    for (const char* body : kBodies)
        for (const bool exact : {false, true})
            for (const bool runs : {false, true}) {
                const Matrices made(body);
                simt::GlobalMemory plain;
                const Trace cpu = made.record(plain);
                InstrumentedRun run;
                run.options.exact = exact, run.options.runs = runs;
                run.options.same_high = true, run.options.high = kInput >> 32;
                ASSERT_TRUE(
                    run.run(made.module, "k", made.launch, {}, made.memory, cpu.launch.arrays, cpu.sites))
                    << run.problem;
                EXPECT_EQ(run.flags, 0u);
                EXPECT_TRUE(same_bits(plain, run.memory));
                const Trace device = assemble({}, cpu.launch, cpu.sites, std::move(run.decoded.blocks));
                EXPECT_GT(cpu.steps(), 10u);
                expect_same_requests(cpu, device);
            }
}

// Products within a run leave nothing: seven steps are one slot, with the address of the first, its clock and that of
// the last.
TEST(TraceMatrix, ProductsWithinARunAreNotRecorded) {
    const Matrices made(R"(
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%s];
    mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2}, {%r3}, {%f0, %f1, %f2, %f3};
    mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2}, {%r4}, {%f0, %f1, %f2, %f3};
    movmatrix.sync.aligned.m8n8.trans.b16 %r5, %r1;
    mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2}, {%r5}, {%f0, %f1, %f2, %f3};
    ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%s+256];
    mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2}, {%r5}, {%f0, %f1, %f2, %f3};
)");
    simt::GlobalMemory plain;
    const Trace cpu = made.record(plain);
    InstrumentedRun run;
    run.options.same_high = true, run.options.high = kInput >> 32;
    ASSERT_TRUE(run.run(made.module, "k", made.launch, {}, made.memory, cpu.launch.arrays, cpu.sites))
        << run.problem;
    uint32_t clocks = 0, products = 0, slots = 0;
    for (const ptx::Code& one : run.code.codes) {
        if (one.kind != ptx::Code::Kind::Run ||
            run.code.sites[one.second].exchange != ptx::Exchange::Multiply)
            continue;
        slots += one.slots;
        for (uint32_t s = one.site; s <= one.second; ++s) {
            products += ptx::is_of_matrices(run.code.sites[s].exchange);
            clocks += run.code.places[s].clock != ptx::RunPlace::kNone;
        }
    }
    EXPECT_EQ(products, 5u);
    EXPECT_EQ(clocks, 2u);
    EXPECT_EQ(slots, 1u);
    const Trace device = assemble({}, cpu.launch, cpu.sites, std::move(run.decoded.blocks));
    expect_same_requests(cpu, device);
    // They have the time of the step before them.
    for (size_t step = 1; step < device.steps(); ++step) EXPECT_LE(device.time[step - 1], device.time[step]);
}

// Of addresses that memory gives no more is recorded than tells them apart, but where nothing is believed.
TEST(TraceMatrix, AddressesAreRecordedInFewBits) {
    using Bytes = std::vector<uint32_t>;
    const auto narrow = [](const char* body, bool exact, bool same_high) {
        const Matrices made(body);
        ptx::InstrumentOptions options;
        options.launch = {made.launch.grid, made.launch.block, made.launch.parameters()};
        options.exact = exact;
        options.same_high = same_high, options.high = kInput >> 32;
        const auto code = ptx::instrument(made.module, "k", options);
        EXPECT_TRUE(code);
        Bytes bytes;
        for (const ptx::Code& one : code->codes)
            if (one.kind == ptx::Code::Kind::Narrow)
                bytes.push_back(ptx::narrow_addresses(code->sites[one.site]).record_bytes());
        const std::vector<uint32_t> most = ptx::bytes_of_steps(*code);
        for (const uint32_t one : bytes) EXPECT_NE(std::ranges::find(most, one), most.end());
        return bytes;
    };
    EXPECT_EQ(narrow(kBodies[3], false, false), (Bytes{80, 48, 32}));  // rows of four matrices, two and one
    // Of 16, 8, 4 and 2 bytes from shared memory, of global memory, and of 4 bytes to shared memory.
    EXPECT_EQ(narrow(kBodies[5], false, true), (Bytes{80, 80, 80, 144, 144, 80}));
    EXPECT_EQ(narrow(kBodies[5], false, false), (Bytes{80, 80, 80, 144, 80}));
    EXPECT_EQ(narrow(kBodies[5], true, true), Bytes{});
}

// What a thread makes of its number by and, xor and shifts is known: of a swizzle one lane's address is enough.
TEST(TraceMatrix, SwizzledAddressesFollowFromOne) {
    const Matrices made(kBodies[4]);
    ptx::InstrumentOptions options;
    options.launch = {made.launch.grid, made.launch.block, made.launch.parameters()};
    options.same_high = true, options.high = kInput >> 32;
    const auto code = ptx::instrument(made.module, "k", options);
    ASSERT_TRUE(code);
    for (const ptx::Code& one : code->codes) {
        EXPECT_NE(one.kind, ptx::Code::Kind::Escape) << one.site;
        // A warp's rows are turned by another number than the other's.
        EXPECT_TRUE(one.kind != ptx::Code::Kind::Narrow || code->sites[one.site].kind == ptx::SiteKind::Store)
            << one.site;
    }
    EXPECT_GE(code->distances.size(), 2u);
}

TEST(TraceMatrix, AFileKeepsWhatSitesMove) {
    const Matrices made(kBodies[1]);
    simt::GlobalMemory after;
    Trace trace = made.record(after);
    const auto again = deserialize(serialize(trace), "a");
    ASSERT_TRUE(again) << again.error().message;
    ASSERT_EQ(again->sites.size(), trace.sites.size());
    for (size_t i = 0; i < trace.sites.size(); ++i) {
        EXPECT_EQ(again->sites[i].matrices, trace.sites[i].matrices);
        EXPECT_EQ(again->sites[i].transposed, trace.sites[i].transposed);
        EXPECT_EQ(again->sites[i].exchange, trace.sites[i].exchange);
    }
}

}  // namespace
}  // namespace tilescope::trace
