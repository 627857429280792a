// Text of a stranger's recording never reaches the terminal as it stands, whatever the command.
#include "core/trace/file.h"
#include "tests/host/cli_exported.h"
#include "tests/recorded.h"

namespace tilescope::cli_test {
namespace {

// An escape that sets the window's title, one of a single character of C1, a bell, a line of its own, a
// direction turned round, and bytes that are no UTF-8.
const std::string kHostile = "\x1b]0;owned\a\u009b31m\nforged line\r\u202e";

void expect_harmless(const std::string& text, const std::string& of) {
    for (size_t at = 0; at < text.size(); ++at) {
        const auto byte = static_cast<unsigned char>(text[at]);
        const bool line_end = byte == '\n' || (byte == '\r' && text[at + 1] == '\n');
        ASSERT_TRUE((byte >= 0x20 && byte != 0x7F) || line_end)
            << of << ": byte " << int{byte} << " at " << at;
        const auto next = static_cast<unsigned char>(text[std::min(at + 1, text.size() - 1)]);
        ASSERT_FALSE(byte == 0xC2 && next < 0xA0) << of << ": C1 at " << at;
    }
    EXPECT_EQ(text.find("\u202e"), std::string::npos) << of;
}

std::string hostile_recording() {
    trace::Trace trace = kernels::recorded("tiled", {4, 4, 4, 2});
    trace::Meta& meta = trace.meta;
    for (std::string* text : {&meta.kernel, &meta.device, &meta.driver, &meta.source_name, &meta.ptx_name,
                              &meta.tool_version, &meta.incomplete_reason})
        *text += kHostile;
    meta.complete = false;
    for (Array& array : trace.launch.arrays) array.name = "=" + array.name + "|`<b>" + kHostile;
    for (Argument& argument : trace.launch.arguments) argument.name += kHostile;
    meta.source += kHostile;
    const std::string path = in_folder("hostile.tsc");
    EXPECT_TRUE(trace::write_file(trace, path));
    return path;
}

TEST(CliText, OfARecordingIsPrintedWithoutControls) {
    const std::string path = hostile_recording();
    const std::vector<std::vector<std::string>> calls = {{"report", path},
                                                         {"report", path, "--json"},
                                                         {"table", path},
                                                         {"table", path, "--format", "csv"},
                                                         {"table", path, "--format", "md"},
                                                         {"roofline", path},
                                                         {"limits", path},
                                                         {"report", path + kHostile},
                                                         {"export", path, "--format", kHostile, "-o", "a"},
                                                         {"table", path, "--block", kHostile},
                                                         {"compare", path, path},
                                                         {"compare", path, path, "--json"}};
    for (const std::vector<std::string>& call : calls) {
        const Ran ran = tilescope(call);
        const std::string of = call[0] + " " + call.back();
        EXPECT_FALSE((ran.out + ran.err).empty()) << of;
        expect_harmless(ran.out, of);
        expect_harmless(ran.err, of);
        EXPECT_EQ(ran.out.find("\nforged line"), std::string::npos) << of << ": a line of the file's own";
    }
    for (const std::string format : {"csv", "json", "perfetto"}) {
        const Ran ran = tilescope({"export", path, "--format", format, "-o", "out." + format});
        if (ran.status == 0 && format != "csv") expect_harmless(read(folder() / ("out." + format)), format);
        if (ran.status == 0 && format == "csv") {
            const std::string csv = read(folder() / "out.csv");
            EXPECT_EQ(csv.find('\x1b'), std::string::npos);
            EXPECT_EQ(csv.find(",=") + csv.find(",\"="), 2 * std::string::npos) << "no formula";
        }
    }
}

// Not a megabyte for every cell that says a name.
TEST(CliText, LongNamesAreShortened) {
    trace::Trace trace = kernels::recorded("tiled", {4, 4, 4, 2});
    const std::string name(1 << 20, 'n');
    trace.meta.kernel = trace.meta.device = name;
    for (Array& array : trace.launch.arrays) array.name = name + array.name;
    const std::string path = in_folder("long.tsc");
    ASSERT_TRUE(trace::write_file(trace, path));
    for (const std::vector<std::string>& call : {std::vector<std::string>{"report", path},
                                                 {"table", path},
                                                 {"table", path, "--format", "csv"},
                                                 {"report", std::string(100'000, 'p')}}) {
        const Ran ran = tilescope(call);
        EXPECT_LT((ran.out + ran.err).size(), 200'000u) << call[0];
    }
    const Ran ran = tilescope({"export", path, "--format", "csv", "-o", "out.csv"});
    if (ran.status == 0) EXPECT_LT(read(folder() / "out.csv").size(), 200'000u);
}

}  // namespace
}  // namespace tilescope::cli_test
