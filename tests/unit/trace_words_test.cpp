// Recordings whose steps have words: they are those that the interpreter told, a file keeps them, an access view lays them
// out, and any damage is refused in a sentence or harms nobody.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "core/trace/access.h"
#include "tests/unit/trace_compare.h"
#include "tests/unit/trace_forge.h"
#include "tests/unit/words_trace.h"

namespace tilescope::trace {
namespace {

using simt::test::WordRun, simt::test::WordStep;
using tilescope::test::BoxForm, tilescope::test::RandomBox, tilescope::test::Ring;

struct RecordedWords {
    WordRun run;
    Trace trace;
    RecordedWords(WordRun made, const std::string& ptx) : trace(recorded_words(made, ptx)) {
        run = std::move(made);
        run.run();
    }
};

std::vector<RecordedWords> recordings() {
    std::vector<RecordedWords> all;
    Ring ring;
    ring.stages = 2, ring.trips = 90;  // more steps than one stride of the index
    all.emplace_back(WordRun(ring), ring.ptx());
    ring.by_state = ring.all_lanes = true, ring.trips = 4;
    all.emplace_back(WordRun(ring), ring.ptx());
    std::mt19937 random(3);
    for (int i = 0; i < 24; ++i) {
        const bool load = i % 2;
        const BoxForm form = i % 5 == 4 ? BoxForm::Im2col : i % 7 == 6 ? BoxForm::Gather : BoxForm::Tile;
        const RandomBox box = tilescope::test::random_box(random, 0x100000, load, form);
        all.emplace_back(box_words(box, load, form),
                         tilescope::test::box_kernel(box.map, box.box, load, form));
    }
    return all;
}

void expect_same_words(const Trace& a, const Trace& b) {
    EXPECT_TRUE(same(a, b));
    EXPECT_EQ(a.arrival, b.arrival);
    EXPECT_EQ(a.returned_at, b.returned_at);
    ASSERT_EQ(a.sites.size(), b.sites.size());
    for (size_t i = 0; i < a.sites.size(); ++i) {
        const ptx::Site &x = a.sites[i], &y = b.sites[i];
        EXPECT_TRUE(x.signal == y.signal && x.copy == y.copy && x.box == y.box && x.words == y.words) << i;
    }
    ASSERT_EQ(a.launch.maps.size(), b.launch.maps.size());
    for (size_t i = 0; i < a.launch.maps.size(); ++i) {
        const PlacedMap &x = a.launch.maps[i], &y = b.launch.maps[i];
        EXPECT_TRUE(x.address == y.address && x.in_parameters == y.in_parameters && x.bytes == y.bytes);
    }
}

TEST(TraceWords, AreThoseThatWereToldAndAFileKeepsThem) {
    size_t strides = 0;
    for (const RecordedWords& made : recordings()) {
        const Trace& trace = made.trace;
        ASSERT_EQ(trace.steps(), made.run.steps.size());
        uint64_t at = 0;
        for (uint64_t step = 0; step < trace.steps(); ++step) {
            if (step % kReturnedStride == 0) ASSERT_EQ(trace.returned_at[step / kReturnedStride], at);
            const WordStep& told = made.run.steps[step];
            const ptx::Site& site = trace.sites[trace.form_of(step).site];
            for_lanes(told.mask, [&](uint32_t lane) {
                if (site.words != 0) ASSERT_EQ(words_of(trace, step, lane), told.words[lane]) << step;
                at += 4 * site.words;
            });
        }
        EXPECT_EQ(at, trace.returned.size());
        strides += trace.returned_at.size();
        // Where copies landed.
        const Arrivals arrivals(trace, trace.blocks[0]);
        std::map<uint32_t, uint32_t> landed(made.run.landed.begin(), made.run.landed.end());
        for (const auto& later : arrivals.later()) EXPECT_EQ(later.visible_from, landed.at(later.step));
        EXPECT_EQ(arrivals.later().size(), landed.size());

        const std::string file = serialize(trace);
        EXPECT_EQ(get<uint32_t>(file, 8), kWordsVersion);
        const auto read = deserialize(file, "a.tsc");
        ASSERT_TRUE(read) << read.error().message;
        expect_same_words(trace, *read);
        EXPECT_TRUE(read->meta.complete) << read->meta.incomplete_reason;
    }
    EXPECT_GT(strides, recordings().size() + 2);
}

// What is moved byte for byte, by the interpreter's pieces, is what the view lays out of the words.
TEST(TraceWords, AnAccessViewLaysThemOut) {
    for (const RecordedWords& made : recordings())
        for (uint64_t step = 0; step < made.trace.steps(); ++step) {
            const AccessView view(made.trace, step);
            if (!view.is_box()) continue;
            std::multiset<std::pair<uint32_t, uint64_t>> told, laid;  // lane, address of a byte
            std::set<uint64_t> sectors, visited;
            for (const auto& piece : made.run.steps[step].pieces)
                for (uint64_t i = 0; i < piece.data.size(); ++i)
                    told.emplace(piece.lane, piece.address + i), sectors.insert((piece.address + i) / 32);
            view.for_pieces([&](uint32_t lane, uint64_t address, uint64_t bytes) {
                EXPECT_NE(bytes, 0u);
                for (uint64_t i = 0; i < bytes; ++i) laid.emplace(lane, address + i);
            });
            view.for_lines([&](uint64_t line, uint32_t mask) {
                for (uint32_t i = 0; i < 4; ++i)
                    if (mask >> i & 1) visited.insert(4 * line + i);
            });
            ASSERT_EQ(laid, told) << step;
            ASSERT_EQ(visited, sectors) << step;
            EXPECT_EQ(view.lane_bytes(), told.size());
            AccessView moved = view;
            moved.move(512);
            moved.for_pieces([&](uint32_t lane, uint64_t address, uint64_t bytes) {
                for (uint64_t i = 0; i < bytes; ++i) EXPECT_TRUE(told.contains({lane, address + i - 512}));
            });
        }
}

// --- damage

// The first step at a site of that kind.
template <class Is>
uint64_t first_step(const Trace& trace, Is is) {
    for (uint64_t step = 0; step < trace.steps(); ++step)
        if (is(trace.sites[trace.form_of(step).site])) return step;
    ADD_FAILURE() << "there is none";
    return 0;
}

uint8_t* words_at(Trace& trace, uint64_t step) {
    uint64_t at = 0;
    for (uint64_t before = 0; before < step; ++before) at += returned_bytes(trace, trace.form_of(before));
    return trace.returned.data() + at;
}

void set_word(Trace& trace, uint64_t step, size_t word, uint32_t value) {
    std::memcpy(words_at(trace, step) + 4 * word, &value, 4);
}

TEST(TraceWords, DamageIsRefusedInASentence) {
    Ring ring;
    ring.trips = 3;
    const Trace good = ring_trace(ring);
    const auto is_signal = [](const ptx::Site& site) { return site.signal == ptx::Signal::Arrive; };
    const auto reads_row = [](const ptx::Site& site) {
        return site.box == ptx::Box::Row && site.kind == ptx::SiteKind::Load;
    };
    const auto writes_row = [](const ptx::Site& site) {
        return site.box == ptx::Box::Row && site.kind == ptx::SiteKind::Store;
    };
    const auto problem = [](const Trace& from, const auto& change) {
        Trace trace = from;
        change(trace);
        const auto read = deserialize(serialize(trace), "a.tsc");
        const std::string begin = "a.tsc is not a whole Tilescope recording: ";
        if (read) return std::string("nothing");
        EXPECT_EQ(read.error().message.rfind(begin, 0), 0u) << read.error().message;
        return read.error().message.substr(begin.size());
    };
    const auto site_of = [](Trace& trace, const auto& is) -> ptx::Site& {
        return trace.sites[trace.form_of(first_step(trace, is)).site];
    };
    const uint64_t bytes = good.returned.size();
    EXPECT_EQ(problem(good, [](Trace&) {}), "nothing");
    EXPECT_EQ(problem(good, [](Trace& t) { t.returned.resize(t.returned.size() - 4); }),
              fmt::format("its steps have {} bytes beside their addresses, and it holds {} of them", bytes,
                          bytes - 4));
    EXPECT_EQ(problem(good, [](Trace& t) { t.returned.clear(); }),
              fmt::format("its steps have {} bytes beside their addresses, and it holds 0 of them", bytes));
    EXPECT_EQ(problem(good, [](Trace& t) { t.returned.push_back(0); }),
              fmt::format("its steps have {} bytes beside their addresses, and it holds {} of them", bytes,
                          bytes + 1));
    const uint32_t signal = site_of(const_cast<Trace&>(good), is_signal).id;
    const auto wrong_words = [](uint32_t site, uint32_t words) {
        return fmt::format("its site {} has {} words beside its address, which none of its kind has", site,
                           words);
    };
    EXPECT_EQ(problem(good, [&](Trace& t) { site_of(t, is_signal).words = 1; }), wrong_words(signal, 1));
    EXPECT_EQ(problem(good, [&](Trace& t) { site_of(t, is_signal).signal = ptx::Signal::None; }),
              wrong_words(signal, 2));
    EXPECT_EQ(problem(good, [&](Trace& t) { site_of(t, is_signal).box = ptx::Box::Row; }),
              wrong_words(signal, 2));
    EXPECT_EQ(problem(good, [&](Trace& t) { site_of(t, reads_row).box = ptx::Box::Tensor; }),
              wrong_words(site_of(const_cast<Trace&>(good), reads_row).id, 2));

    const uint64_t reads = first_step(good, reads_row), writes = first_step(good, writes_row);
    EXPECT_EQ(problem(good, [&](Trace& t) { set_word(t, reads, 0, 3 * 256 + 16); }),
              fmt::format("its step {} moves more bytes than its array has", reads + 1));
    EXPECT_EQ(problem(good, [&](Trace& t) { set_word(t, writes, 0, 0xFFFFFFF0); }),
              fmt::format("its step {} moves more bytes than its array has", writes + 1));
    EXPECT_EQ(problem(good, [&](Trace& t) { set_word(t, reads, 0, 0); }),
              fmt::format("its step {} moves 0 bytes, and a copy in bulk moves some", reads + 1));
    // Outside of all arrays shared memory is the bound, on either side.
    const auto nowhere = [&](Trace& t) {
        for (Form& form : t.forms)
            if (reads_row(t.sites[form.site])) form.array = kNoArray;
        set_word(t, reads, 0, 0xFFFFFFF0);
    };
    EXPECT_EQ(problem(good, nowhere),
              fmt::format("its step {} moves 4,294,967,280 bytes, more than shared memory holds", reads + 1));
    EXPECT_EQ(problem(good, [](Trace& t) { t.arrival.pop_back(); }),
              "it has 3 copies, and says where 2 arrived");
    EXPECT_EQ(
        problem(good, [](Trace& t) { t.arrival[0] = 0; }),
        fmt::format("the copy of its step {} arrives before it is asked for, or behind its block's last step",
                    writes + 1));

    std::string old = serialize(good);
    set(old, 8, kMatricesVersion);
    repair(old);
    const auto read = deserialize(old, "a.tsc");
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().message.find("barriers in memory or bulk copies"), std::string::npos)
        << read.error().message;

    // A box of a tensor.
    RandomBox box;
    box.map.address = 0x100000;
    box.map.type = ptx::TensorType::U32, box.map.rank = 2;
    box.map.extent = {16, 8, 1, 1, 1}, box.map.stride = {64, 0, 0, 0}, box.map.box = {8, 4, 1, 1, 1};
    box.bytes = 512;
    const Trace tensor =
        recorded_words(box_words(box, true), tilescope::test::box_kernel(box.map, box.box, true));
    const uint64_t copies = first_step(tensor, [](const ptx::Site& s) { return s.box == ptx::Box::Tensor; });
    EXPECT_EQ(problem(tensor, [](Trace&) {}), "nothing");
    // Without its map nothing is known of a box, and it moves nothing.
    const auto without_map = [&](const auto& change) {
        Trace trace = tensor;
        change(trace.launch.maps);
        const auto without = deserialize(serialize(trace), "a.tsc");
        ASSERT_TRUE(without) << without.error().message;
        EXPECT_EQ(AccessView(*without, copies).lane_bytes(), 0u);
    };
    using Maps = std::vector<PlacedMap>;
    without_map([](Maps& maps) { maps.clear(); });
    without_map([](Maps& maps) { maps[0].bytes[9] ^= std::byte{1}; });
    without_map([](Maps& maps) { maps[0].address = 64; });
    without_map([](Maps& maps) { maps[0].bytes.pop_back(); });
    EXPECT_EQ(
        problem(tensor, [&](Trace& t) { set_word(t, copies, 4, 3); }),
        fmt::format(
            "its step {} copies a box of a tensor: the first coordinate is 3, 12 bytes from the tensor's "
            "begin; a box must begin at a multiple of 16 bytes",
            copies + 1));
    const auto leave = [&](Trace& t) {
        RandomBox other = box;
        other.map.address += 1 << 20;
        const ptx::TensorMapBytes made = ptx::encode(other.map);
        t.launch.maps[0].bytes.assign(made.begin(), made.end());
    };
    EXPECT_EQ(problem(tensor, leave),
              fmt::format("its step {} moves more bytes than its array has", copies + 1));
}

// A result that copies in bulk store is whole, and what they do not store is missed.
TEST(TraceWords, AResultMayBeStoredInBulk) {
    RandomBox box;
    box.map.type = ptx::TensorType::U32, box.map.rank = 2, box.map.address = 0x100000;
    box.map.extent = {16, 8, 1, 1, 1}, box.map.stride = {64, 0, 0, 0}, box.map.box = {16, 8, 1, 1, 1};
    box.box.stores = true, box.bytes = 512;
    for (const uint32_t rows : {8u, 7u}) {
        box.map.box[1] = rows;
        Trace trace =
            recorded_words(box_words(box, false), tilescope::test::box_kernel(box.map, box.box, false));
        trace.meta.result.checked = trace.meta.result.verified = true, trace.meta.result.array = 1;
        const auto read = deserialize(serialize(trace), "a.tsc");
        if (rows == 8)
            EXPECT_TRUE(read && read->meta.result.verified) << (read ? "" : read.error().message);
        else
            EXPECT_EQ(read ? "" : read.error().message,
                      "a.tsc is not a whole Tilescope recording: it says that its result is verified and "
                      "stores nothing "
                      "to 16 elements of it");
    }
}

// Whatever is changed, what is read can be walked through.
TEST(TraceWords, RandomDamageHarmsNobody) {
    std::mt19937 random(7);
    const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
    std::vector<Trace> traces;
    Ring ring;
    ring.trips = 3, ring.by_state = true;
    traces.push_back(ring_trace(ring));
    for (int i = 0; i < 3; ++i) {
        const bool load = i != 1;
        const BoxForm form = i == 2 ? BoxForm::Im2col : BoxForm::Tile;
        const RandomBox box = tilescope::test::random_box(random, 0x100000, load, form);
        traces.push_back(recorded_words(box_words(box, load, form),
                                        tilescope::test::box_kernel(box.map, box.box, load, form)));
    }
    size_t refused = 0, accepted = 0;
    for (int i = 0; i < 1200; ++i) {
        Trace trace = traces[i % traces.size()];
        const auto value = below(2) ? static_cast<uint32_t>(below(64)) : static_cast<uint32_t>(random());
        const auto boxed = [](const ptx::Site& site) { return site.box != ptx::Box::None; };
        Form& form = trace.forms[below(trace.forms.size())];
        ptx::Site& site = trace.sites[below(trace.sites.size())];
        switch (below(11)) {
            case 0: set_word(trace, first_step(trace, boxed), below(22), value); break;
            case 1:
                std::memcpy(trace.returned.data() + below(trace.returned.size() / 4) * 4, &value, 4);
                break;
            case 2: form.array = static_cast<uint8_t>(below(2) ? kNoArray : below(6)); break;
            case 3: form.mask = value; break;
            case 4: trace.base[below(trace.base.size())] = value; break;
            case 5:
                trace.key[below(trace.key.size())] = static_cast<uint32_t>(below(trace.forms.size()));
                break;
            case 6: site.box = static_cast<ptx::Box>(below(4)), site.words = words_of(site.box); break;
            case 7: site.signal = static_cast<ptx::Signal>(below(ptx::kSignals)); break;
            case 8: site.copy = !site.copy; break;
            case 9: trace.arrival[below(trace.arrival.size())] = value; break;
            default:
                if (trace.launch.maps.empty()) break;
                ptx::TensorMapBytes bytes;
                std::ranges::copy(trace.launch.maps[0].bytes, bytes.begin());
                ptx::TensorMap map = *ptx::decode(bytes);
                (below(2) ? map.extent[below(5)] : map.stride[below(4)]) = value;
                map.box[below(5)] = 1 + value % 256, map.address = below(2) ? map.address : value;
                const ptx::TensorMapBytes made = ptx::encode(map);
                trace.launch.maps[0].bytes.assign(made.begin(), made.end());
        }
        index_returned(trace);
        const auto read = deserialize(serialize(trace), "a.tsc");
        ++(read ? accepted : refused);
        if (!read) {
            EXPECT_EQ(read.error().message.find('\n'), std::string::npos);
            continue;
        }
        for (uint64_t step = 0; step < read->steps(); ++step) {
            const ptx::SiteKind kind = read->sites[read->form_of(step).site].kind;
            if (!ptx::has_addresses(kind)) continue;
            const AccessView view(*read, step);
            const Array* const array = read->array_of(read->form_of(step));
            view.for_pieces([&](uint32_t, uint64_t address, uint64_t bytes) {
                ASSERT_NE(bytes, 0u);
                ASSERT_LE(bytes, uint64_t{1} << 20);
                if (array == nullptr || !view.is_box()) return;
                ASSERT_GE(address, array->base);
                ASSERT_LE(address - array->base + bytes, array->bytes());
            });
            uint64_t lines = 0;
            view.for_lines([&](uint64_t, uint32_t) { ++lines; });
            ASSERT_LE(lines, uint64_t{1} << 16);
        }
        for (const Block& block : read->blocks) Arrivals(*read, block);
    }
    EXPECT_GT(refused, 300u);
    EXPECT_GT(accepted, 100u);
}

}  // namespace
}  // namespace tilescope::trace
