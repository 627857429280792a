#include "app/look/terms.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace tilescope::look {
namespace {

constexpr Term kTerms[] = {
    // What is recorded.
    {"site", "one memory instruction, barrier or exchange of the PTX, with its source line", "screen_step",
     "the static thing: it runs many times"},
    {"access", "one lane's load, store or atomic at a site: thread, element, address", "screen_step", "",
     "access|accesses"},
    {"request", "one warp's load, store or atomic: up to 32 accesses under one active mask", "screen_step",
     "the unit that is recorded, stepped and judged"},
    {"active mask", "which lanes of a warp take part in an instruction", "lesson:warps"},
    {"step", "one request, one warp's arrival at a barrier, or one exchange among its lanes", "screen_step",
     "counted from 1 wherever a person reads it"},
    {"phase", "one trip of the loop that walks the tiles: load, barrier, multiply, barrier",
     "lesson:barriers",
     "in a kernel without barriers one trip of its outermost loop, or of its ring of stages; without a loop "
     "all of it"},
    {"launch", "one <<<>>>: entry, grid, block, dynamic shared bytes, arguments, and their arrays", "record"},
    {"array", "memory with a name, an element type and up to three extents", "screen_step",
     "rows of columns; it is read, written or both"},
    {"program", "a .cu file with a main; its launches are numbered from 1", "screen_program"},
    {"product", "a launch read as P = M·N, with m, k, n and T", "screen_step",
     "a lens over a recording, never part of its format", ""},
    {"recording", "every request, barrier and exchange of a launch, in one .tsc file", "open",
     "whole, or it says what is missing"},
    {"lockstep", "the lanes of a warp run each instruction together, then the next one", "screen_step",
     "how the CPU runs a kernel here: its time is the step's number, not a clock"},
    {"CPU lockstep", "recorded by this program on the CPU: its time is the step's number, not a clock",
     "screen_step", "a recording from a GPU names it instead, and has its clocks"},
    {"cost", "what requests take: sectors of global memory, wavefronts of shared memory", "screen_step",
     "beside it stands the least that would do", "=cost"},
    {"least", "what requests would take at best: their bytes without gaps, no bank hit twice", "screen_step",
     "where cost and least are one, nothing is wasted", "=least"},
    {"efficiency", "the bytes that lanes ask global memory for, of those that the sectors move",
     "lesson:coalescing", "over 100 % where lanes share bytes; Nsight Compute calls it so",
     "efficiency|load efficiency|store efficiency"},
    {"idle lane", "a lane of a request's warp that touches nothing, of 32 in each", "screen_step",
     "its thread does not exist, or takes another path", "idle lane|idle lanes|lane idle|lanes idle"},
    {"fault", "what a kernel does wrong, such as an access outside its array", "lesson:race"},
    // Threads.
    {"kernel", "a function that a launch runs once in every thread", "record", "", "kernel|kernels"},
    {"thread", "one run of the kernel, with its own registers and its own threadIdx", "lesson:warps",
     "written thread[y,x]"},
    {"warp", "32 threads of a block that run an instruction together", "lesson:warps",
     "by consecutive thread number, x fastest"},
    {"lane", "a thread's place in its warp, from 0 to 31", "lesson:warps"},
    {"block", "threads that share memory and barriers, all on one SM", "figure:blocks"},
    {"grid", "the blocks of a launch, in any order on any SM", "figure:blocks"},
    {"exchange", "lanes of a warp give each other something: a shuffle, vote, match or reduction",
     "lesson:shuffles", "or a product of matrices; one instruction and one step, without memory"},
    {"shuffle", "lanes of a warp hand each other values, from register to register", "lesson:shuffles",
     "by __shfl_down_sync(mask, v, d) lane i gets the v of lane i + d",
     "shuffle|shuffles|warp shuffle|warp shuffles"},
    {"vote", "lanes of a warp tell each other whether a condition holds in all, in any, or in which",
     "lesson:shuffles", "__all_sync, __any_sync, __ballot_sync"},
    {"divergence", "lanes of one warp that take different branches, one after the other", "figure:divergence",
     "lanes that are not on the branch are lost while it runs",
     "divergence|diverge|diverges|diverged|divergent"},
    {"boundary check", "a condition that keeps lanes outside the matrices from loading and storing",
     "lesson:edges", "also called a boundary condition",
     "boundary check|boundary checks|bounds check|bounds checks|boundary condition|boundary conditions"},
    {"barrier", "a point that no thread of a block passes before all are there", "figure:gate",
     "__syncthreads(); blocks never wait for one another"},
    {"mbarrier", "a barrier in shared memory that counts arrivals of threads and bytes of copies",
     "screen_step", "who arrives goes on; who waits waits for the end of a phase", "mbarrier|mbarriers"},
    {"phase of an mbarrier",
     "it ends when all arrivals and bytes that it expects have come, and the next begins", "screen_step",
     "a wait names its parity, 0 or 1", "phase of an mbarrier|phases of an mbarrier"},
    {"copy in bulk", "many bytes that one thread asks for, between global and shared memory", "screen_step",
     "cp.async.bulk; it reports its bytes to an mbarrier, or belongs to a group of its thread",
     "copy in bulk|copies in bulk|bulk copy|bulk copies"},
    {"ring of stages",
     "parts of shared memory that copies fill in turn, while warps read those filled before", "screen_step",
     "each has a full and an empty mbarrier; a trip of the ring is a phase",
     "ring of stages|rings of stages"},
    {"barrier interval", "what lies between two barriers of a block", "lesson:barriers"},
    {"race", "two threads at one address, one of them storing, and no barrier between", "lesson:race", "",
     "race|races|data race|data races"},
    // Memory.
    {"register", "a thread's own 32 bits on the SM; the fastest memory, and a fixed number of it",
     "figure:memory"},
    {"local memory", "a thread's own, where registers do not do; it lies in DRAM", "figure:memory"},
    {"shared memory", "a block's own memory on the SM, gone when the block ends", "figure:memory"},
    {"global memory", "what all threads of all launches reach, in DRAM", "figure:memory"},
    {"constant memory", "what all threads read and none writes; fast where a warp reads one address",
     "figure:memory"},
    {"DRAM", "the memory chips beside the GPU, read in bursts of neighbours", "figure:bursts"},
    {"burst", "neighbouring bytes that DRAM hands out together, wanted or not", "figure:bursts", "",
     "burst|bursts|DRAM burst|DRAM bursts"},
    {"cache", "a small fast memory that keeps what was loaded: L1 on each SM, L2 for all", "screen_levels",
     "", "cache|caches"},
    {"L1", "an SM's own cache; shared memory takes its part of the same 256 KiB or less", "screen_levels",
     "what its threads load from global memory is looked for here first"},
    {"L2", "the cache that all SMs share, in front of DRAM", "screen_levels",
     "what is not in an SM's L1 is looked for here"},
    {"hit", "a sector that is asked for and lies in the cache", "screen_levels", "", "cache hit|cache hits"},
    {"miss", "a sector that is asked for and does not lie in the cache", "screen_levels",
     "the next level is asked for it", "cache miss|cache misses"},
    {"data pipe", "what gives an SM's threads their data: from L1 and shared memory, one pass a clock",
     "screen_timing", "a hit in L1 takes as long as a wavefront of shared memory", "data pipe|data pipes"},
    {"in flight", "asked for and not here yet", "screen_levels",
     "a sector that a neighbour has in flight is not asked for again"},
    {"level", "where bytes are counted: threads' bytes, requests, L1, L2, DRAM", "screen_levels"},
    {"evicted", "of a line: it had to go from a cache for another one, the one not used for longest",
     "screen_levels", "", "evict|evicts|evicted"},
    {"cache set", "the places of a cache that a line may take: its address decides which set",
     "screen_levels", "how a GPU chooses sets is documented nowhere; here a hash does",
     "cache set|cache sets"},
    {"unit of loads", "what a block's warps load before any of them comes to the same load again",
     "screen_levels", "its sectors are asked for together: a phase, or trips of a loop that was unrolled",
     "unit of loads|units of loads"},
    {"row-major", "a row's elements lie side by side, one row behind the other", "lesson:coalescing"},
    {"sector", "32 aligned bytes of global memory", "lesson:coalescing",
     "a request is judged by the sectors it needs"},
    {"line", "128 aligned bytes of global memory: four sectors", "lesson:coalescing", "",
     "cache line|cache lines|line (128 bytes)|lines (128 bytes)"},
    {"coalescing", "lanes that ask memory for neighbours share sectors", "lesson:coalescing",
     "one trip to memory serves them all, as a carpool does",
     "coalescing|coalesced|uncoalesced|coalesce|memory coalescing"},
    {"bank", "one of 32 columns of shared memory; each serves one word a wavefront", "lesson:banks"},
    {"bank conflict", "different words of one bank, which take a wavefront each", "lesson:banks"},
    {"wavefront", "one pass of shared memory", "lesson:banks",
     "a request needs as many as its worst bank has different words"},
    {"turn", "lanes of an atomic that meet at one address go one after the other", "screen_step",
     "a request takes as many turns as its worst address has lanes", "turns|atomic turn"},
    {"atomic", "a load, a change and a store that nothing comes between", "screen_step"},
    {"padding", "a column more in a shared tile, against bank conflicts", "lesson:banks"},
    {"swizzle", "an exchange of address bits that spreads a tile over the banks", "figure:layout",
     "it takes no memory, as padding does", "swizzle|swizzles|swizzled"},
    {"fragment", "the elements of a matrix that a lane holds in its registers for a tensor core",
     "figure:fragments", "which ones, the instruction says, such as mma.m16n8k16"},
    {"ldmatrix", "brings matrices of 8 rows of 16 bytes from shared memory into fragments", "screen_step",
     "8, 16 or 32 lanes point to the rows, and all 32 get words of them"},
    // Tiles.
    {"strip mining", "a long loop is cut into pieces, one after the other: the phases of a tiled kernel",
     "lesson:phases", "each piece is as long as what the tiles hold", "strip mining|strip mined"},
    {"privatization",
     "each block, or thread, adds into a copy of its own, and the copies are added up at the end",
     "example:histogram_shared", "so that fewer atomics meet at one address",
     "privatization|privatized|privatize"},
    {"double buffering", "the next tiles are copied into other cells while the tiles before them are used",
     "timing:double_buffer",
     "it takes twice the shared memory, and spares waiting and a barrier of each phase",
     "double buffering|double buffer|double-buffered"},
    {"corner turning", "a tile is loaded along the rows that memory has and read along the other way",
     "example:corner_turning",
     "so that the lanes of a warp load neighbours of a matrix that is stored by columns too"},
    {"thread coarsening", "a thread computes several elements, and uses for each what it loaded once",
     "timing:register_column", "register_column and register_tile do: fewer threads, more registers a thread",
     "thread coarsening|coarsening|coarsened"},
    {"tile", "T × T elements that a block loads once into shared memory", "lesson:reuse",
     "Mds and Nds hold those of M and N"},
    {"T", "the tile width; a block is T × T threads", "figure:tile_width", "",
     "T =|T=|tile width|tile widths"},
    {"reuse", "how often an element is used for each time it is loaded", "figure:tiles_help", "",
     "reuse|reused"},
    {"zero fill", "the zero that a lane outside the matrices stores in its tile", "lesson:stale", "",
     "zero fill|zero fills|zero-filled"},
    {"stale value", "what an earlier phase left in a shared cell", "lesson:stale", "",
     "stale value|stale values|stale"},
    {"CGMA", "FLOP for each access to global memory", "figure:tiles_help",
     "compute to global memory access: untiled 1, tiled T"},
    {"FLOP", "one addition or multiplication of floating-point numbers", "screen_timing", "",
     "FLOP|GFLOP|TFLOP|GFLOP/s|TFLOP/s|FLOP/s|GFLOPS|TFLOPS"},
    {"arithmetic intensity", "FLOP for each byte of global memory", "figure:tiles_help"},
    {"bandwidth", "bytes that memory hands out in a second, at most", "screen_timing"},
    {"roofline", "what bandwidth and peak allow at an arithmetic intensity", "screen_timing", "",
     "roofline|rooflines|roof|roofs"},
    {"bound", "the least time that a resource needs for a launch; the longest is the lowest roof",
     "screen_timing", "no launch takes less, and what it takes more has another reason", "bound|bounds"},
    {"speed of light", "what a resource gives at most, and the share of it that a kernel reaches",
     "screen_timing", "Nsight Compute calls it so"},
    {"speedup", "how many times faster a kernel is than another, such as tiled than untiled", "screen_timing",
     "less than T times for tiles, where caches keep what untiled loads again", "speedup|speedups|speed-up"},
    // What an SM holds.
    {"SM", "streaming multiprocessor: runs blocks; has warp and block slots, registers, shared memory",
     "screen_limits", "", "SM|SMs"},
    {"compute capability", "the version of what a GPU can do and hold, such as 9.0", "screen_limits"},
    {"occupancy", "the share of an SM's warp slots in use", "screen_limits"},
    {"slot", "a place on an SM for a thread, a warp or a block", "figure:partition", "",
     "slot|slots|thread slot|thread slots|warp slot|warp slots|block slot|block slots"},
    {"performance cliff", "a little more of one thing a thread, and a whole block less fits", "limits:cliff"},
    {"wave", "blocks that run at once on all SMs; the next wave follows as slots become free",
     "figure:blocks", "a grid of blocks that all take as long runs in waves", "wave|waves"},
    {"tail", "the last wave of a grid, whose few blocks leave SMs with nothing to do", "figure:blocks",
     "it counts for most where a grid has few waves", "tail|tail effect|last wave"},
    {"latency", "the cycles that a warp waits for memory", "figure:latency"},
    {"latency hiding", "other warps run while one waits; enough of them, and nobody notices",
     "figure:latency"},
    {"Little's law", "bytes on their way = bytes a cycle × cycles that each takes", "figure:latency",
     "so much has to be asked for at any time, or memory is idle", "Little's law"},
    {"schedule", "the order in which warps get their turn; none may be assumed", "lesson:race"},
};

bool in_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0;
}
char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

// What stands for each term in a text, by first letter.
struct TermForm {
    std::string text;
    const Term* term;
    bool alone = false;  // it is all that the text says
};
using Forms = std::array<std::vector<TermForm>, 256>;

Forms make_forms() {
    Forms made;
    const auto add = [&](std::string text, const Term& term) {
        const bool alone = text[0] == '=';
        if (alone) text.erase(0, 1);
        made[static_cast<unsigned char>(lower(text[0]))].push_back({std::move(text), &term, alone});
    };
    for (const Term& term : kTerms) {
        if (term.forms == nullptr) {
            add(term.word, term);
            add(term.word + std::string("s"), term);
            continue;
        }
        for (std::string_view rest = term.forms; !rest.empty();) {
            const std::string_view one = rest.substr(0, rest.find('|'));
            add(std::string(one), term);
            rest.remove_prefix(std::min(one.size() + 1, rest.size()));
        }
    }
    for (auto& forms : made)
        std::ranges::sort(forms,
                          [](const TermForm& a, const TermForm& b) { return a.text.size() > b.text.size(); });
    return made;
}

// Capitals of a form are capitals of the text; the first letter of a sentence may be one.
bool begins(std::string_view text, std::string_view form) {
    if (text.size() < form.size()) return false;
    for (size_t at = 0; at < form.size(); ++at)
        if (text[at] != form[at] && (at > 0 || is_upper(form[0]) || lower(text[at]) != form[at]))
            return false;
    return text.size() == form.size() || !in_word(form.back()) || !in_word(text[form.size()]);
}

}  // namespace

std::span<const Term> terms() { return kTerms; }

std::vector<SaidTerm> terms_in(std::string_view text) {
    static const Forms forms = make_forms();
    std::vector<SaidTerm> said;
    for (size_t at = 0; at < text.size();) {
        const bool begins_word = at == 0 || !in_word(text[at - 1]);
        const auto& here = forms[static_cast<unsigned char>(lower(text[at]))];
        const auto found = std::ranges::find_if(here, [&](const TermForm& one) {
            return begins_word && begins(text.substr(at), one.text) &&
                   (!one.alone || text.size() == one.text.size());
        });
        if (found == here.end()) {
            ++at;
            continue;
        }
        said.push_back({found->term, at, at + found->text.size()});
        at = said.back().end;
    }
    return said;
}

}  // namespace tilescope::look
