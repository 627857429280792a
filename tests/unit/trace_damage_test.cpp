// Damaged files: an Error or the identical trace, never a crash and never another trace.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/unit/trace_compare.h"
#include "tests/unit/trace_forge.h"
#include "tests/unit/trace_requests.h"

namespace tilescope::trace {
namespace {

class Damage {
public:
    explicit Damage(uint64_t seed) : random_(seed) {}

    std::string apply(std::string bytes) {
        const size_t a = below(bytes.size()), b = below(bytes.size());
        const size_t length = 1 + below(std::min<size_t>(64, bytes.size() - std::max(a, b)));
        switch (below(7)) {
            case 0: bytes[a] = static_cast<char>(bytes[a] ^ 1 << below(8)); break;
            case 1: bytes.resize(a); break;
            case 2: std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(a), length, '\0'); break;
            case 3: bytes.replace(a, length, bytes.substr(b, length)); break;
            case 4: bytes.insert(a, bytes.substr(b, length)); break;
            case 5: bytes.erase(a, length); break;
            default:
                for (size_t i = 0; i < length; ++i) bytes[a + i] = static_cast<char>(random_());
        }
        return bytes;
    }

    size_t below(size_t limit) { return random_() % limit; }

private:
    std::mt19937_64 random_;
};

// Reads everything that a trace can be asked for.
void walk(const Trace& trace) {
    for (uint64_t step = 0; step < trace.steps(); ++step) {
        const Access access = decode(trace, step);
        const uint32_t block = block_of(trace, step);
        ASSERT_LT(block, trace.blocks.size());
        ASSERT_NE(access.mask, 0u);
        for (int lane = 0; lane < 32; ++lane) {
            if (!(access.mask >> lane & 1)) continue;
            ASSERT_LT(access.warp * 32 + static_cast<uint32_t>(lane), trace.launch.block.count());
            if (access.array != kNoArray) {
                ASSERT_LE(access.offset[lane] + trace.sites[access.site].bytes,
                          trace.launch.arrays[access.array].bytes());
            }
        }
    }
}

void expect_sentence(const std::string& message) {
    EXPECT_EQ(message.rfind("a.tsc is not a whole Tilescope recording: ", 0), 0u) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(TraceDamage, IsAlwaysFound) {
    const Trace trace = random_trace(11, 2, 2, 100);
    const std::string bytes = serialize(trace);
    Damage damage(1);
    for (int i = 0; i < 1000; ++i) {
        const std::string damaged = damage.apply(bytes);
        const auto read = deserialize(damaged, "a.tsc");
        if (read) {
            ASSERT_TRUE(same(trace, *read)) << i;
            ASSERT_EQ(damaged, bytes) << i;
        } else {
            expect_sentence(read.error().message);
        }
    }
}

TEST(TraceDamage, EveryTruncationIsFound) {
    const std::string bytes = serialize(random_trace(12, 1, 1, 20));
    for (size_t length = 0; length < bytes.size(); ++length)
        ASSERT_FALSE(deserialize(std::string_view(bytes).substr(0, length), "a.tsc")) << length;
}

// Who repairs the checksums gets past them, but not past the checks of what they cover.
TEST(TraceDamage, WithRightChecksumsIsSafe) {
    const std::string bytes = serialize(random_trace(13, 2, 2, 60));
    Damage damage(2);
    int read_at_all = 0;
    for (int i = 0; i < 1000; ++i) {
        std::string damaged = damage.apply(bytes);
        repair(damaged);
        const auto read = deserialize(damaged, "a.tsc");
        if (read) {
            ++read_at_all;
            walk(*read);
        } else {
            expect_sentence(read.error().message);
        }
    }
    EXPECT_GT(read_at_all, 0);
}

// The same on the tables themselves, which compression hides from random damage.
TEST(TraceDamage, InTheTablesIsSafe) {
    const Trace trace = random_trace(14, 2, 2, 40);
    Damage damage(3);
    int refused = 0, accepted = 0;
    for (int i = 0; i < 1000; ++i) {
        Trace changed = trace;
        const auto value = damage.below(3) ? static_cast<uint32_t>(damage.below(64))
                                           : static_cast<uint32_t>(damage.below(1ull << 32));
        Form& form = changed.forms[damage.below(changed.forms.size())];
        Block& block = changed.blocks[damage.below(4)];
        switch (damage.below(18)) {
            case 0: form.site = value; break;
            case 1: form.array = static_cast<uint8_t>(value); break;
            case 2: form.base_high = static_cast<uint8_t>(value); break;
            case 3: form.width = static_cast<uint8_t>(value); break;
            case 4: form.mask = value & 1 ? 0 : value; break;
            case 5: form.stride = static_cast<int32_t>(value); break;
            case 6: form.stride2 = static_cast<int32_t>(value); break;
            case 7: form.irregular = static_cast<int32_t>(value); break;
            case 8: form.wide = !form.wide; break;
            case 9: form.space = form.space == Space::Global ? Space::Shared : Space::Global; break;
            case 10: block.x = value; break;
            case 11: block.count = value; break;
            case 12: block.dropped = value; break;
            case 13: changed.key[damage.below(changed.key.size())] = value; break;
            case 14: changed.base[damage.below(changed.base.size())] = value; break;
            case 15: changed.launch.block.x = value; break;
            case 16: changed.launch.arrays[damage.below(5)].rows = value; break;
            default:
                changed.sites[damage.below(changed.sites.size())].kind =
                    static_cast<ptx::SiteKind>(value % 3);
                break;
        }
        const auto read = deserialize(serialize(changed), "a.tsc");
        ++(read ? accepted : refused);
        if (read)
            walk(*read);
        else
            expect_sentence(read.error().message);
    }
    EXPECT_GT(refused, 300);
    EXPECT_GT(accepted, 50);
}

}  // namespace
}  // namespace tilescope::trace
