// What compiled kernels and the program share: plain C, read by both. Part of the text of every compiled kernel.
//
// A compiled kernel is one function,
//
//     int run(struct Context* block, struct Warp* warp)
//
// which runs a warp from where it stands (Warp::resume, 0 at its beginning) to its next event, and returns which.
#ifndef TILESCOPE_COMPILED_ABI_H
#define TILESCOPE_COMPILED_ABI_H

#include <stdint.h>

#ifdef __cplusplus
namespace tilescope::compiled {
#endif

#define TILESCOPE_MOST_DEPTH 72 /* of a warp's stack: 32 lanes that part one by one, twice */

enum Event {
    kEnded = 0,
    kAtBarrier = 1,
    kBeforeAtomic = 2,  // whose order matters: it is executed when the warp goes on
    kPaused = 3,        // in a loop, so that the warps of a block share what is in the caches
    kGivenUp = 4,       // a fault, or what is left to the interpreter
};

// How a value differs from lane to lane: lane i holds the first lane's value plus lane[i].
struct __attribute__((aligned(64))) Shape {
    int64_t lane[32];
    uint32_t lane32[32];  // the same, cut to 32 bits
    int64_t low, span;    // the least difference, and from there to the largest
};

// Of Range::flags.
enum {
    kLoadsNoted = 1,  // told to note()
    kStoresNoted = 2,
    kOwn = 4,  // the block's own memory, which nothing has to be kept of
};
// Memory that one group of accesses falls into: `most` bytes from an address on, -1 before the first access.
struct Range {
    uint64_t base;
    int64_t most;
    uint8_t* data;
    uint32_t view, flags;
};

// A column of a request.
struct __attribute__((aligned(64))) Data {
    uint8_t bytes[256];
};

// Lanes of `mask` go on at pc; at `join` they have caught up with the entry below.
struct Path {
    uint32_t pc, join, mask;
};

struct Warp {
    uint32_t number, alive, mask;
    uint32_t resume, depth, join;  // join: of the path that runs
    uint32_t event;                // index of the micro-operation where it stands
    uint32_t barrier, threads;     // at a barrier: its number; of how many threads, 0 for all
    uint32_t votes, result;        // bar.red: the predicate of its lanes, and what it gives
    uint64_t count, turns;         // instructions; requests, barriers and exchanges
    const struct Shape* shapes;
    const uint64_t* firsts;      // values that only depend on the thread: the first lane's
    const uint32_t* predicates;  // the same: bits by lane
    uint8_t* saved;              // registers across an event
    struct Path stack[TILESCOPE_MOST_DEPTH];
};

// Global memory before the block changed it, so that it can be taken back: `bytes` bytes, padded to 8, and this
// behind them. kind: 0 for bytes that were there; others are the program's.
struct Kept {
    uint8_t* at;
    uint32_t bytes, kind;
};
#define TILESCOPE_MOST_KEPT 128  /* bytes of one Kept */
#define TILESCOPE_KEPT_TAGS 1024 /* a power of two */

typedef void (*LaneFunction)(void* d, void* e, const void* a, const void* b, const void* c, uint32_t mask);

struct Context {
    uint32_t block[3];
    uint64_t limit;             // of Warp::count, from which on it pauses, or asks poll() where it cannot
    struct Range* ranges;       // by group
    const LaneFunction* lanes;  // by micro-operation: for all lanes, for some
    void* machine;
    uint8_t *kept, *kept_end;  // where the next goes; the end of the room
    uint64_t* kept_tags;       // by hash: what was kept lately in this block
    uint64_t kept_block;       // the block, in the bits of a tag above those of what is kept
    // Makes the group's range hold [low, low + bytes): 0; another number where no memory does.
    int (*bind)(struct Context*, uint32_t group, uint32_t op, uint64_t low, uint64_t bytes);
    // Before an access of a whole warp to memory that is watched. Not 0: given up.
    int (*note)(struct Context*, uint32_t group, uint32_t op, uint8_t* first, const struct Shape*);
    // One request of some lanes: addresses base + shape, or a column. Data: 256 bytes for each element. Not 0: given up.
    int (*request)(struct Context*, struct Warp*, uint32_t op, uint64_t base, const struct Shape*,
                   const uint64_t* column, uint32_t mask, struct Data* data);
    // depth: of the stack of the warp that runs. Not 0: given up.
    int (*poll)(struct Context*, uint64_t count, uint32_t depth);
};

// Keeps what `bytes` bytes hold, at most 128, once in a block: before they change. Not 0: there is no room.
static inline __attribute__((always_inline)) int keep_piece(struct Context* cx, uint8_t* at, uint32_t bytes) {
    const uint64_t tag = (uint64_t)at ^ (uint64_t)bytes << 48 ^ cx->kept_block << 56;
    uint64_t* const known = cx->kept_tags + ((uint64_t)at * 0x9E3779B97F4A7C15u >> 54);
    const uint32_t padded = (bytes + 7) & ~7u;
    struct Kept* head;
    if (*known == tag) return 0;
    if (__builtin_expect(cx->kept_end - cx->kept < (int64_t)(padded + sizeof(struct Kept)), 0)) return 1;
    *known = tag;
    __builtin_memcpy(cx->kept, at, bytes);
    head = (struct Kept*)(cx->kept + padded);
    head->at = at;
    head->bytes = bytes;
    head->kind = 0;
    cx->kept = (uint8_t*)(head + 1);
    return 0;
}

#ifdef __cplusplus
}  // namespace tilescope::compiled
#endif
#endif
