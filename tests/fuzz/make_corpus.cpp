// Makes the inputs of a corpus that have a name, and the dictionary:
//
//   fuzz_corpus tests/fuzz
//
// Seeds are recordings, PTX and command lines as they are made; the others once crashed Tilescope, hung it or
// made it take gigabytes. Inputs that a fuzzer added are called by libFuzzer's hash of them.
#include <filesystem>
#include <set>

#include "core/ptx/lexer.h"
#include "core/ptx/names.h"
#include "tests/launch_examples.h"
#include "tests/unit/trace_forge.h"
#include "tests/unit/trace_requests.h"
#include "tests/unit/words_trace.h"

namespace tilescope {
namespace {

namespace fs = std::filesystem;
using trace::Forged;
using trace::SectionKind;
using trace::Trace;

fs::path g_folder;

void put(const std::string& fuzzer, const std::string& name, const std::string& bytes) {
    const fs::path path = g_folder / "corpus" / fuzzer / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
}

// --- barriers in memory and copies in bulk

test::Ring small_ring() {
    test::Ring ring;
    ring.stages = 2, ring.consumers = 1, ring.trips = 3;
    return ring;
}

// 4 rows of 8 floats of 6 rows of 12, half of them outside.
test::RandomBox small_box(bool load) {
    test::RandomBox one;
    one.map.type = ptx::TensorType::F32, one.map.rank = 2, one.map.address = 0x100000;
    one.map.extent = {12, 6, 1, 1, 1}, one.map.stride = {48, 0, 0, 0}, one.map.box = {8, 4, 1, 1, 1};
    one.map.swizzle = ptx::Swizzle::B32;
    one.box.at = {8, 4}, one.box.shared = 256, one.box.stores = !load;
    one.bytes = 288;
    return one;
}
std::string box_text(bool load) {
    const test::RandomBox one = small_box(load);
    return test::box_kernel(one.map, one.box, load);
}

// --- recordings

using Change = std::function<void(Trace&)>;
using ChangeSections = std::function<void(std::vector<Forged>&)>;

void put_recordings() {
    Trace small;
    const auto shape = kernels::Shape{4, 3, 4, 2};
    for (const char* kernel : {"tiled", "tiled_no_barrier", "tiled_stale_edge", "untiled_swapped"}) {
        const Trace recorded = kernels::recorded(kernel, shape);
        put("trace", kernel, trace::serialize(recorded));
        if (std::string_view(kernel) == "tiled") small = recorded;
    }
    for (const kernels::Plan& plan :
         {kernels::vector_add(), kernels::histogram(), kernels::reverse(), kernels::pairs(), kernels::bins(),
          kernels::filter(), kernels::copies(), kernels::block_sums(), kernels::warp_talk()})
        put("trace", plan.kernel, trace::serialize(kernels::recorded(plan)));
    put("trace", "ring-of-stages", trace::serialize(trace::ring_trace(small_ring())));
    for (const bool load : {true, false})
        put("trace", load ? "box-that-is-loaded" : "box-that-is-stored",
            trace::serialize(trace::recorded_words(trace::box_words(small_box(load), load), box_text(load))));
    put("trace", "every-kind-of-request", trace::serialize(trace::random_trace(1, 2, 1, 40)));
    put("trace", "of-a-gpu",
        file_text(fs::path(TILESCOPE_SOURCE_DIR) / "assets/recordings/tiled-4x4x4-t2.tsc"));

    const auto broken = [&](const char* name, const Change& change) {
        Trace trace = small;
        change(trace);
        put("trace", name, trace::serialize(trace));
    };
    const auto forged = [&](const char* name, const ChangeSections& change) {
        put("trace", name, trace::forged(small, change));
    };
    const auto equal = [&](const char* name, size_t at, SectionKind kind, uint64_t said, uint64_t real,
                           char value) {
        forged(name, [=](std::vector<Forged>& sections) {
            sections[at] = trace::forged_equal(kind, said, real, value);
        });
    };
    broken("irregular-at-the-last-integer", [](Trace& t) { t.forms[0].irregular = INT32_MAX; });
    broken("arrays-without-elements", [](Trace& t) {
        for (Array& array : t.launch.arrays) array.rows = array.cols = 0;
    });
    for (const size_t length : {16'384, 1 << 20}) {
        const std::string name(length, 'n'), ending = length > 16'384 ? "-of-1-mb" : "-as-long-as-can-be";
        broken(("array-name" + ending).c_str(), [&](Trace& t) { t.launch.arrays[0].name = name; });
        broken(("kernel-name" + ending).c_str(), [&](Trace& t) { t.meta.kernel = name; });
    }
    broken("source-line-of-1-mb", [](Trace& t) { t.meta.source = std::string(1 << 20, 'x') + "\n"; });
    equal("source-that-says-4-gb", 1, SectionKind::Source, uint64_t{4} << 30, 1000, 'x');
    equal("forms-of-28-mb", 3, SectionKind::Forms, 28 << 20, 28 << 20, 0);
    equal("rows-of-64-mb", 4, SectionKind::Irregular, 64 << 20, 64 << 20, 0);
    equal("blocks-of-40-mb", 5, SectionKind::Blocks, 40 << 20, 40 << 20, 0);
    equal("source-of-4-million-lines", 1, SectionKind::Source, 4 << 20, 4 << 20, '\n');
    equal("source-of-63-million-lines", 1, SectionKind::Source, 63 << 20, 63 << 20, '\n');
    forged("columns-of-1-gb", [](std::vector<Forged>& sections) {
        sections.resize(6);
        sections.insert(sections.end(), 256, trace::forged_equal(SectionKind::Key, 4 << 20, 4 << 20));
    });
    broken("many-steps", [](Trace& t) {
        t.key.assign(10'000, t.key[0]), t.base.assign(t.key.size(), t.base[0]);
        for (trace::Block& block : t.blocks) block.first = t.key.size(), block.count = 0;
        t.blocks[0].first = 0;
        t.blocks[0].count = t.key.size();
        t.meta.complete = false, t.meta.result = {}, t.meta.incomplete_reason = "it was stopped";
    });
    broken("shared-arrays-of-100-mb", [](Trace& t) {
        for (Array& array : t.launch.arrays)
            if (array.space == Space::Shared) array.rows = 100'000, array.cols = 1000;
    });
    broken("array-of-1-tb", [](Trace& t) {
        t.launch.arrays[0].rows = 1 << 19, t.launch.arrays[0].cols = 1 << 18;
        t.launch.arrays[0].base = uint64_t{1} << 45;
        t.meta.result = {};
    });
    const auto with_ptx = [&](const char* name, const std::string& body, const std::string& variables) {
        broken(name, [&](Trace& t) {
            const size_t at = t.meta.ptx.find(".visible .entry"), open = t.meta.ptx.find("{", at);
            t.meta.ptx.insert(open + 1, body);
            t.meta.ptx.insert(at, variables);
            t.meta.complete = false, t.meta.result = {}, t.meta.incomplete_reason = "it was stopped";
        });
    };
    with_ptx("endless-loop", "\nSpin: bra Spin;\n", "");
    with_ptx("constants-of-2-gb", "", ".const .align 4 .b8 big[2000000000];\n");
    with_ptx("globals-of-2-gb", "", ".global .align 4 .b8 big[2000000000];\n");
    broken("complete-without-steps", [](Trace& t) {
        t.key.clear(), t.base.clear(), t.forms.clear(), t.irregular.clear();
        for (trace::Block& block : t.blocks) block.first = block.count = 0;
    });
    broken("last-block-cut", [](Trace& t) {
        trace::Block& last = t.blocks.back();
        last.count -= 20;
        t.key.resize(t.key.size() - 20), t.base.resize(t.base.size() - 20);
    });
    broken("complete-and-why-not", [](Trace& t) { t.meta.incomplete_reason = "it was stopped"; });
    broken("verified-with-5-wrong", [](Trace& t) { t.meta.result.wrong = 5; });
    broken("window-without-blocks", [](Trace& t) { t.meta.window.x1 = 0; });
    broken("clock-that-stands", [](Trace& t) { t.meta.price.clock_mhz = 1e-300; });
    broken("escapes-and-formulas", [](Trace& t) {
        t.meta.kernel = "\x1b]0;x\x07=cmd|'/c calc'!A1";
        t.meta.source_name = "<script>|`\n\r\xC2\x9B";
        t.launch.arrays[0].name = "=1+1", t.launch.arrays[1].name = "@|\n<b>",
        t.launch.arrays[2].name = "\x1b[2J";
    });
    forged("description-of-no-launch", [](std::vector<Forged>& sections) {
        sections[0] = trace::forged_raw(SectionKind::Meta, trace::meta_to_json(Trace{}));
    });
    forged("description-nested-deeply", [](std::vector<Forged>& s) {
        s[0] = trace::forged_raw(SectionKind::Meta, std::string(1 << 16, '['));
    });
}

// --- PTX

// A kernel `k` of two pointers and a number with this body.
std::string kernel(const std::string& body, const std::string& variables = "") {
    return ".version 7.0\n.target sm_70\n.address_size 64\n" + variables +
           ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n)\n{\n"
           ".reg .pred %p<4>; .reg .b16 %rs<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>; "
           ".reg .f64 %fd<4>;\nld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nld.param.u32 %r1, [n];\n" +
           body + "\nret;\n}\n";
}

void put_ptx() {
    const fs::path root = TILESCOPE_SOURCE_DIR;
    for (const char* name : {"tiled.t2", "tiled_stale_edge.t2", "untiled"})
        put("ptx", name, file_text(root / "assets/ptx" / (std::string(name) + ".ptx")));
    for (const char* name : {"stencil", "histogram", "reverse", "pairs", "vector_add", "copies"})
        put("ptx", name, file_text(root / "tests/data/launches" / (std::string(name) + ".ptx")));
    const auto body = [](const char* name, const std::string& text, const std::string& variables = "") {
        put("ptx", name, kernel(text, variables));
    };
    body("atomics",
         "atom.global.add.u32 %r2, [%rd1], 1; red.global.max.s32 [%rd1+4], -7; atom.global.cas.b32 %r3, "
         "[%rd2], 0, 1;\n"
         "mov.u64 %rd3, s; atom.shared.exch.b32 %r4, [s], %r2;",
         ".shared .align 4 .b8 s[64];\n");
    body("warp-exchange",
         "mov.u32 %r2, %tid.x; shfl.sync.bfly.b32 %r3|%p1, %r2, 1, 31, -1; vote.sync.ballot.b32 %r4, %p1, "
         "-1;\n"
         "activemask.b32 %r5; st.global.u32 [%rd1], %r3; bar.warp.sync -1;");
    body("divergence",
         "mov.u32 %r2, %laneid; setp.lt.u32 %p1, %r2, 3; @%p1 bra A; bar.sync 0; bra B; A: st.global.u32 "
         "[%rd1+8], %r2; B:");
    body("vectors-and-halves",
         "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16]; cvt.rn.f16.f32 %rs1, %f1; fma.rn.f32 %f5, %f1, "
         "%f2, %f3;\n"
         "cvt.rzi.s32.f32 %r2, %f5; div.rn.f32 %f6, %f1, %f2; st.global.v2.u32 [%rd2], {%r2, %r1}; "
         "sqrt.rn.f64 %fd1, %fd2;");
    body("half-precision",
         "fma.rn.ftz.relu.f16 %rs1, %rs2, %rs3, %rs1; add.sat.f16x2 %r2, %r1, %r1; mul.rn.bf16x2 %r3, %r2, "
         "%r2;\n"
         "min.NaN.xorsign.abs.f16 %rs1, %rs1, %rs2; ex2.approx.ftz.bf16 %rs3, %rs1; tanh.approx.f16x2 %r4, "
         "%r3;\n"
         "setp.lt.and.f16x2 %p1|%p2, %r2, %r3, %p0; set.ltu.bf16x2.bf16x2 %r5, %r2, %r3; fma.rp.f32x2 %rd3, "
         "%rd1, %rd2, %rd3;\n"
         "cvt.rz.relu.satfinite.bf16x2.f32 %r6, %f1, %f2; cvt.rna.tf32.f32 %r7, %f1; "
         "cvt.rn.satfinite.e4m3x2.f32 %rs1, %f1, %f2;\n"
         "cvt.rn.f16x2.e5m2x2 %r2, %rs1; cvt.rn.satfinite.e2m3x2.f32 %rs2, %f3, %f4; cvt.rn.f16x2.e3m2x2 "
         "%r3, %rs2;\n"
         "cvt.rp.ue8m0x2.bf16x2 %rs3, %r3; mov.b32 {%rs1, %rs2}, %r2; st.global.b32 [%rd1], %r3;");
    // The shared memory is such that the fuzzer's blocks, which follow from the text, have whole warps.
    body("rows-of-matrices",
         "mov.u32 %r2, %laneid; mov.u32 %r3, s; mad.lo.u32 %r3, %r2, 16, %r3;\n"
         "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r3], {%r1, %r2, %r3, %r2};\n"
         "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r4, %r5}, [%r3]; "
         "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [s+16];\n"
         "movmatrix.sync.aligned.m8n8.trans.b16 %r7, %r4; st.global.v2.u32 [%rd1], {%r6, %r7};",
         ".shared .align 16 .b8 s[1072];\n");
    body("products-of-matrices",
         ".reg .b32 %m<8>; ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd1]; ld.global.v2.u32 {%r6, %r7}, "
         "[%rd2+16];\n"
         "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r2, %r3, %r4, %r5}, "
         "{%r6, %r7}, {%f4, %f4, %f4, %f4};\n"
         "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%m0, %m1, %m2, %m3}, {%r2, %r3, %r4, "
         "%r5}, {%r6, %r7}, {%r1, %r1, %r1, %r1};\n"
         "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e5m2.f16 {%m4, %m5}, {%r2, %r3, %r4, %r5}, {%r6, %r7}, "
         "{%r2, %r2};\n"
         "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd0, %fd1}, {%fd2}, {%fd3}, {%fd0, %fd1};\n"
         "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%m0, %m1, %m2, %m3}, {%r2, %r3, %r4, "
         "%r5}, {%r6, %r7}, {%m0, %m1, %m2, %m3};\n"
         "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r2, "
         "%r3}, {%r6, %r7}, {%f0, %f1, %f2, %f3}, %r4, 2;\n"
         "st.global.v4.f32 [%rd1+32], {%f0, %f1, %f2, %f3}; st.global.v4.u32 [%rd2], {%m0, %m1, %m4, %m5};",
         ".shared .align 16 .b8 s[1040];\n");
    body(
        "wmma",
        ".reg .b32 %m<8>; wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r0, %r1, %r2, %r3, %r4, %r5, "
        "%r6, %r7}, [s], 24;\n"
        "wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {%m0, %m1, %m2, %m3, %m4, %m5, %m6, %m7}, [%rd1], "
        "16; wmma.load.c.sync.aligned.row.m16n16k16.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%rd2];\n"
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, {%r0, "
        "%r1, %r2, %r3, %r4, %r5, %r6, %r7}, {%m0, %m1, %m2, %m3, %m4, %m5, %m6, %m7}, {%f0, %f1, %f2, %f3, "
        "%f4, %f5, %f6, %f7};\n"
        "wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [%rd2], {%f0, %f1, %f2, %f3, %f4, %f5, %f6, "
        "%f7}, 16;\n"
        "wmma.load.a.sync.aligned.col.m32n8k16.shared.u8 {%r0, %r1, %r2, %r3}, [s], 32; "
        "wmma.load.b.sync.aligned.row.m8n8k4.shared.f64 {%fd1}, [s], 8;",
        ".shared .align 16 .b8 s[1040];\n");
    body("local-and-const",
         ".local .align 4 .b8 l[16]; ld.const.u32 %r2, [c+4]; st.local.u32 [l], %r2; ld.local.u32 %r3, [l]; "
         "st.global.u32 [%rd1], %r3;",
         ".const .align 4 .b8 c[16] = {1, 2, 3, 4, 5};\n.const .align 4 .u32 none[4];\n");
    body("copies-of-parts",
         "cp.async.ca.shared.global [s], [%rd1], 8, %r1; cp.async.cg.shared.global.L2::128B [s+16], [%rd2], "
         "16, 0;\n"
         "cp.async.commit_group; ld.shared.u32 %r2, [s]; cp.async.wait_group 1; @%p1 cp.async.wait_all;",
         ".shared .align 16 .b8 s[64];\n");
    body("barriers-and-boxes",
         "mbarrier.init.shared.b64 [s], 1; mbarrier.arrive.expect_tx.shared::cta.b64 _, [s], 64;\n"
         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s+16], [%rd1], 64, [s];\n"
         "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [s+16], "
         "[%rd1, {%r1, -1}], "
         "[s], %rd2;\n"
         "W: mbarrier.try_wait.parity.shared.b64 %p1, [s], 0, 1000; @!%p1 bra W; "
         "fence.proxy.async.shared::cta;\n"
         "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, "
         "%rd3, %rd4, 0, "
         "1, -1, 0, 1;\n"
         "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
         "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd2], [s+16], 64; "
         "cp.async.bulk.commit_group;\n"
         "cp.async.bulk.wait_group.read 0; mapa.shared::cluster.u32 %r2, s, 1; "
         "barrier.cluster.arrive.relaxed.aligned;\n"
         "barrier.cluster.wait; st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r2], {%r1, "
         "%r1}, [%r3];",
         ".shared .align 128 .b8 s[1024];\n");
    body(
        "small-forms",
        ".reg .u8 d; .reg .b128 q; createpolicy.fractional.L2::evict_last.b64 %rd3, 1.0;\n"
        "ld.global.L2::cache_hint.b32 { %r2 }, [%rd1], %rd3; ld.global.nc.u8 d, [%rd1]; cvt.u16.u8 %rs1, d;\n"
        "atom.add.release.gpu.u32 %r2, [%rd1], 1; red.global.add.noftz.f16x2 [%rd2], %r2; ld.global.b128 q, "
        "[%rd1];\n"
        "mov.b128 {%rd3, %rd4}, q; st.global.v4.u64 [%rd2], {%rd3, %rd4, %rd3, %rd4}; elect.sync %r3|%p1, "
        "-1;\n"
        "bar.arrive 1, 64; @%p1 frobnicate.sync.aligned.x {%f1, _}|%p1, %r2, -1;");
    body("arrivals",
         "mov.u32 %r2, %tid.x; setp.lt.u32 %p1, %r2, 32; @%p1 bra A; bar.sync 1, 64; bra B; A: bar.arrive 1, "
         "64; B:");
    put("ptx", "ring-of-stages", small_ring().ptx());
    put("ptx", "box-that-is-loaded", box_text(true));
    put("ptx", "box-that-is-stored", box_text(false));
    body("barriers-in-memory",
         "mov.u32 %r2, s; mbarrier.init.shared::cta.b64 [s], 2; mbarrier.arrive.shared.b64 %rd3, [%r2]; "
         "mbarrier.pending_count.b64 %r3, %rd3;\n"
         "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [s], 16; "
         "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 "
         "[s], 16; mbarrier.arrive_drop.shared.b64 _, [s];\n"
         "W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [s], 0, 100; @!%p1 bra W; "
         "mbarrier.test_wait.shared.b64 %p2, [s], %rd3; cp.async.mbarrier.arrive.noinc.shared::cta.b64 [s];\n"
         "mbarrier.inval.shared.b64 [s]; st.global.u32 [%rd1], %r3;",
         ".shared .align 16 .b8 s[16];\n");
    body("copies-in-bulk",
         "mbarrier.init.shared::cta.b64 [s], 1; mbarrier.arrive.expect_tx.shared::cta.b64 _, [s], %r1;\n"
         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s+16], [%rd1], %r1, [s]; "
         "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [s+16], 32;\n"
         "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0; "
         "fence.proxy.async.shared::cta;\n"
         "W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [s], 0; @!%p1 bra W;",
         ".shared .align 16 .b8 s[64];\n");
    body("position-without-an-instruction", ".loc 1 2 3\nA: B:\n.loc 1 10 1\nC:");
    body("endless-loop", "A: bra A;");
    body("endless-loop-with-steps",
         "A: ld.volatile.global.u32 %r2, [%rd1]; setp.ne.u32 %p1, %r2, 77; @%p1 bra A;");
    body("address-overflows",
         "mov.u64 %rd3, 9223372036854775807; ld.global.f32 %f1, [%rd3+2147483647]; "
         "st.global.f32 [%rd1-2147483648], %f1;");
    body("address-at-the-end", "mov.u64 %rd3, -4; st.global.v4.u32 [%rd3], {%r1, %r1, %r1, %r1};");
    for (const char* space : {"const", "global", "shared"})
        body((std::string(space) + "-of-2-gb").c_str(), "",
             std::string(".") + space + " .align 4 .b8 big[2000000000];\n");
    body("local-of-2-gb", ".local .align 4 .b8 big[2000000000]; st.local.u32 [big], 0;");
    body("a-million-registers", ".reg .b32 %q<1000000>; mov.u32 %q999999, 1;");
}

// --- command lines

void put_command_lines() {
    const std::pair<const char*, const char*> lines[] = {
        {"none", ""},
        {"help", "record --help"},
        {"version", "--version"},
        {"kernels", "kernels --json"},
        {"recordings", "recordings --json"},
        {"save", "recordings --save tiled-4x4x4-t2 -o a.tsc"},
        {"record",
         "record tiled --tile 2 --m 4 --k 4 --n 4 --blocks 0:1,0:2 --schedule greedy --backend cpu -o a.tsc"},
        {"record-block",
         "record untiled --block 16x16 --seed 18446744073709551615 --ptx a.ptx --compiler nvrtc"},
        {"record-gpu", "record tiled --backend gpu --buffer 64 --exact --one-launch"},
        {"report", "report tiled-4x4x4-t2 --json"},
        {"table", "table tiled-4x4x4-t2 --block 1,0 --format md --notation MdNdPd --column-first"},
        {"table-block", "table tiled-4x4x4-t2 --block=4294967296,-1"},
        {"export", "export a.tsc --format csv --block 0,0 --lanes -o a.csv --steps 12:40"},
        {"steps", "export a.tsc --format perfetto -o a.json --steps first:last"},
        {"film", "export a.tsc --format mp4 --fps 8 --size 1280x720 --theme dark --lecture -o a.mp4"},
        {"render", "render a.tsc --screen compare --with b.tsc --at middle -o a.png"},
        {"compare", "compare a.tsc b.tsc --lock share --json"},
        {"limits", "limits --device H200 --json"},
        {"roofline", "roofline --device 9.0 tiled a.tsc --json"},
        {"time", "time tiled untiled --n 1024 2048 --runs 5 --warm-up 1 --json"},
        {"unknown", "report\ta.tsc --jsn --"},
    };
    for (const auto& [name, line] : lines) {
        std::string text = line;
        std::ranges::replace(text, ' ', '\n');
        put("args", name, text);
    }
}

// --- descriptions of launches, and the compiler's flags

void put_descriptions() {
    const std::pair<const char*, const char*> texts[] = {
        {"options",
         "// tilescope: --kernel add --grid 4,2 --block 16x16 --shared 4096 --arg n=0x1F --arg 'in=float[8, "
         "8]:random'\n"},
        {"call",
         "// tilescope: --call 'solve<2>(A=float4[8,16]:iota, B=int[3]:-2.5e-3, C=half[7]:ones, "
         "b=bytes:00ff, "
         "s=null)'\n__global__ void solve();\n"},
        {"call-alone", "scale(data=unsigned char[2][3]:zeros, 512, -9)"},
        {"two-kernels",
         "/* tilescope: --kernel a --grid 7 */\n   // tilescope: --block 32 --arg in=int[3]\n"
         " * tilescope: --kernel b --arg x=true\n"},
        {"quotes", "// tilescope: --kernel='a b' \"--arg=n=1\" --arg m=\\ 2 --grid '4\n"},
        {"minus-zero", "// tilescope: --call 'solve(B=int[3]:-0.f, x=-0, y=3.)'\n"},
        {"numbers", "x=-9223372036854775809\ny=nan\nz=-inff\nw=0x\n"},
        {"too-many", "a=float[2147483647,2147483647,2147483647]:iota"},
        {"written",
         R"({"schema":"tilescope.launch/1","number":3,"kernel":"k","ptx":"k.ptx","source":"k.py","gr)"
         R"(id":[4,2],"block":[128],"shared":16,"arguments":[{"name":"x","dtype":"float32","shape":[)"
         R"(2,3],"strides":[4,1],"offset":1,"storage":0,"contents":"x.bin","result":"x.after"},{"nam)"
         R"(e":"y","dtype":"bfloat16","shape":[2,3],"storage":0},{"name":"n","type":"i32","value":-3)"
         R"(},{"name":"e","type":"fp32","value":"inf"},{"name":"s","bytes":"00ff"},{"name":"p","null)"
         R"(":true}]})"},
    };
    for (const auto& [name, text] : texts) put("description", name, text);
}

void put_flags() {
    const std::pair<const char*, const char*> texts[] = {
        {"plain", "-O2 -I include -DN=4 -lm -L /usr/lib -std=c++20 more.cu ../helper.cpp lib.a"},
        {"nvcc",
         "-arch=sm_80 -gencode arch=compute_75,code=sm_75 --use_fast_math -Xptxas -v -Xcompiler "
         "-Wall,-fopenmp -lineinfo --maxrregcount 32 -o a.out -x cu"},
        {"quotes", "'-DTEXT=\"a b\"' -DDOLLAR=\\$HOME \"-I a\\\"b\" '' 'new\nline.cu'"},
        {"shell", "$(touch a) `id` ; rm -rf * | tee > b & ~ {1,2} !x #c"},
        {"open", "-I 'a"},
        {"last", "-arch"},
        {"linked", "-rdc=true"},
    };
    for (const auto& [name, text] : texts) put("flags", name, text);
    put("flags", "zero-behind-a-backslash", std::string("a\\\0b", 4));
}

// --- lessons, beside those that ship, which are inputs as they are

// A lesson of these stops.
std::string lesson_of(const std::string& stops, const std::string& more = "") {
    return R"({"title": "Tiles", "teaches": "Each element is used often.", "stops": [)" + stops + "]" + more +
           "}";
}

void put_lessons() {
    const std::string on = R"("file": "mine.tsc", "say": "{lanes} lanes load {array}.")";
    const auto asked = [&](const std::string& more, const std::string& where = "") {
        return lesson_of("{" + on + where +
                         R"(, "ask": {"question": "How many of {threads}?", "why": "{rival}", )" + more +
                         "}}");
    };
    const std::pair<const char*, std::string> texts[] = {
        {"number",
         asked(R"("kind": "number", "answer": "sectors")",
               R"(, "kind": "global load", "array": "M", "where": ["phase = last_phase", "touched < 4"])")},
        {"value", asked(R"("kind": "value", "answer": "sum")", R"(, "kind": "shared load")")},
        {"first-value", asked(R"("kind": "value", "answer": "first")", R"(, "step": 3)")},
        {"bank", asked(R"("kind": "bank")", R"(, "kind": "shared store", "block": [0, 0])")},
        {"elements", asked(R"("kind": "elements")", R"(, "do": ["phase_table", "thread:3", "element:0,7"])")},
        {"lanes", asked(R"("kind": "lanes", "answer": "idle")", R"(, "screen": "compare")")},
        {"choice", asked(R"("kind": "choice", "choices": [{"say": "right", "when": "wrong = 0"},
                            {"say": "{wrong} wrong", "when": "wrong > 0"}])",
                         R"(, "kind": "barrier")")},
        {"summary",
         lesson_of("{" + on + R"(}, {"kernel": "tiled", "m": 4, "k": 4, "n": 4, "tile": 2, "say": "x"})",
                   R"(, "summary": ["{loads} loads.", "{first_wait}"], "order": 7, "made_by": "tilescope")")},
        {"figure",
         lesson_of(R"({"figure": "latency", "set": {"warps": 13, "branch": "warp"}, "say": "{busy_percent} %",
                                "ask": {"kind": "number", "question": "How much?", "answer": "busy_percent"}})")},
        {"case", lesson_of(R"({"case": "cliff", "which": 2, "say": "{sm_blocks} blocks, {limit}.",
                              "ask": {"kind": "choice", "question": "Full?", "choices": [
                                {"say": "yes", "when": "sm_threads = thread_slots"},
                                {"say": "no", "when": "sm_threads < thread_slots"}]}})")},
        {"block-beyond-32-bits", lesson_of("{" + on + R"(, "block": [4294967296, 0]})")},
        {"condition-of-two-lines", lesson_of("{" + on + R"(, "where": ["lanes\n= 3"]})")},
        {"field-of-two-lines", lesson_of("{" + on + R"(, "a\nb": 1})")},
        {"file-outside", lesson_of(R"({"file": "../mine.tsc", "say": "x"})")},
        {"open-brace", lesson_of(R"({"file": "mine.tsc", "say": "{lanes"})")},
        {"nested-deeply", R"({"stops": )" + std::string(1 << 14, '[')},
        {"no-object", "[1, null]"},
    };
    for (const auto& [name, text] : texts) put("lesson", name, text);
}

// What lessons are written with: their words that stand in quotes or braces, no prose.
void put_lesson_dictionary() {
    std::set<std::string> words;
    const auto in_word = [](char c) { return std::islower(static_cast<unsigned char>(c)) || c == '_'; };
    for (const fs::path& folder :
         {fs::path(TILESCOPE_SOURCE_DIR) / "assets/lessons", g_folder / "corpus/lesson"}) {
        for (const auto& entry : fs::directory_iterator(folder)) {
            const std::string text = file_text(entry.path());
            for (size_t at = 1, end = 0; at < text.size(); at = end + 1) {
                for (end = at; end < text.size() && in_word(text[end]);) ++end;
                const std::string around{text[at - 1], end < text.size() ? text[end] : ' '};
                if (end > at && (around == "\"\"" || around == "{}"))
                    words.emplace(text.substr(at, end - at));
            }
        }
    }
    std::ofstream out(g_folder / "lesson.dict");
    out << "# Words of lessons, made by fuzz_corpus.\n";
    for (const std::string& word : words) out << '"' << word << "\"\n";
    for (const char* odd :
         {"4294967296", "18446744073709551615", "1e400", "-1", "../", "\\x5cn", ".tsc", " = ", " != "})
        out << '"' << odd << "\"\n";
}

// --- the dictionary

// Words and suffixes of the PTX here, and every name of the tables; registers and mangled names left out.
void put_dictionary() {
    std::set<std::string> words;
    for (const char* folder :
         {"tests/data/ptx", "tests/data/launches", "assets/ptx", "tests/fuzz/corpus/ptx"}) {
        for (const auto& entry : fs::recursive_directory_iterator(fs::path(TILESCOPE_SOURCE_DIR) / folder)) {
            const std::string text = entry.is_regular_file() ? file_text(entry.path()) : "";
            const auto tokens = ptx::tokenise(text, "a");
            if (!tokens || entry.path().extension() == ".cu") continue;
            for (const ptx::Token& token : *tokens) {
                const bool register_or_label =
                    token.text.find_first_of("0123456789$_") != std::string_view::npos;
                if (token.kind == ptx::Token::Kind::Dot ||
                    (token.kind == ptx::Token::Kind::Word && !register_or_label && token.text.size() > 1))
                    words.emplace(token.text);
            }
        }
    }
    for (int op = 0; op <= static_cast<int>(ptx::Op::WmmaMma); ++op)
        words.emplace(name_of(static_cast<ptx::Op>(op)));
    words.erase("");
    std::ofstream out(g_folder / "ptx.dict");
    out << "# Words of PTX, made by fuzz_corpus.\n";
    for (const std::string& word : words) out << '"' << word << "\"\n";
    for (const char* odd :
         {"4294967296", "-9223372036854775808", "18446744073709551615", "0f7FC00000", "0d7FF0000000000000",
          "WARP_SZ", "%p1|%p2", "%tid.x", "%ctaid.x", "%ntid.x", "%laneid", "%clock64", "<", "{", "}"})
        out << '"' << odd << "\"\n";
}

}  // namespace
}  // namespace tilescope

int main(int argc, char** argv) {
    tilescope::g_folder = argc > 1 ? argv[1] : TILESCOPE_SOURCE_DIR "/tests/fuzz";
    tilescope::put_recordings();
    tilescope::put_ptx();
    tilescope::put_command_lines();
    tilescope::put_descriptions();
    tilescope::put_flags();
    tilescope::put_lessons();
    tilescope::put_lesson_dictionary();
    tilescope::put_dictionary();
}
