// The field's words as rows of the palette: what each means, and the screen, lesson or key that shows it.
#include <fmt/format.h>

#include "app/app.h"

namespace tilescope::app {
namespace {

struct Term {
    const char* word;
    const char* means;
    const char* shown_by;  // an action's name
};
constexpr Term kTerms[] = {
    {"site", "one memory instruction or barrier, with its source line", "screen_step"},
    {"access", "one thread's load, store or atomic: its element and address", "screen_step"},
    {"request", "one warp's load or store: up to 32 accesses, judged together", "screen_step"},
    {"step", "one request, or one warp's arrival at a barrier", "screen_step"},
    {"sector", "32 aligned bytes of global memory, the unit of a request's cost", "lesson:coalescing"},
    {"line", "128 aligned bytes of global memory: four sectors", "lesson:coalescing"},
    {"coalescing", "lanes that ask for neighbours share sectors", "lesson:coalescing"},
    {"bank", "one of 32 columns of shared memory; each serves one word a wavefront", "lesson:banks"},
    {"bank conflict", "different words of one bank, which take a wavefront each", "lesson:banks"},
    {"wavefront", "one pass of shared memory; as many as the worst bank has words", "lesson:banks"},
    {"padding", "a column more in a shared tile, against bank conflicts", "lesson:banks"},
    {"phase", "one trip of the loop that walks the tiles", "lesson:barriers"},
    {"barrier", "a point that no thread of a block passes before all are there", "lesson:barriers"},
    {"barrier interval", "what lies between two barriers of a block", "lesson:barriers"},
    {"race", "two threads at one address, one of them storing, no barrier between", "lesson:race"},
    {"zero fill", "the zero that a lane outside the matrices stores in its tile", "lesson:stale"},
    {"boundary check", "lanes outside the matrices load and store nothing", "lesson:edges"},
    {"launch", "one <<<>>>: a kernel with its grid, block and arguments", "record"},
    {"program", "a .cu file with a main; its launches are numbered from 1", "screen_program"},
    {"product", "a launch read as P = M N, with m, k, n and T", "screen_step"},
    {"array", "memory with a name, an element type and up to three extents", "screen_step"},
    {"block", "threads that share memory and barriers", "screen_step"},
    {"grid", "the blocks of a launch", "screen_step"},
    {"tile", "T x T elements that a block loads once into shared memory", "lesson:reuse"},
    {"shared memory", "a block's own memory on the SM, read many times", "lesson:reuse"},
    {"reuse", "how often an element is used for each time it is loaded", "lesson:reuse"},
    {"warp", "32 threads that run an instruction together", "lesson:warps"},
    {"lane", "a thread's place in its warp, from 0 to 31", "lesson:warps"},
    {"divergence", "lanes of one warp that take different branches", "lesson:warps"},
    {"SM", "streaming multiprocessor: has thread and block slots, registers, shared memory", "screen_limits"},
    {"occupancy", "the share of an SM's warp slots in use", "screen_limits"},
    {"register", "a thread's own 32 bits; an SM has a fixed number of them", "limits:cliff"},
    {"latency", "the cycles that a warp waits for memory, hidden by other warps", "limits:latency"},
    {"level", "where bytes are counted: threads, requests, L1, L2, DRAM", "screen_timing"},
    {"arithmetic intensity", "FLOP for each byte of global memory", "screen_timing"},
    {"CGMA", "FLOP for each access to global memory", "screen_timing"},
    {"roofline", "what bandwidth and peak allow at an arithmetic intensity", "screen_timing"},
};

// "lesson", "Limits", "record": where a row leads, for its right end.
std::string place_of(std::string_view action) {
    const std::string_view kind = action.substr(0, action.find(':'));
    for (const ScreenRow& screen : screens())
        if (action == fmt::format("screen_{}", screen.option) || kind == screen.option) return screen.name;
    return std::string(kind);
}

}  // namespace

const input::Actions<input::State>& terms() {
    static const input::Actions<input::State> all = [] {
        input::Actions<input::State> rows;
        for (const Term& term : kTerms)
            rows.emplace_back(
                std::string("term:") + term.word, std::string(term.word) + ": " + term.means,
                place_of(term.shown_by), input::Chord(), input::Chord(),
                [&term](session::Session& session) { session.asked.emplace_back(term.shown_by); });
        return rows;
    }();
    return all;
}

}  // namespace tilescope::app
