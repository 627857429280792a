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

// Memory that one group of accesses falls into: `most` bytes from an address on, -1 before the first access.
struct Range {
    uint64_t base;
    int64_t most;
    uint8_t* data;
    uint32_t view;
    uint32_t noted;  // loads (1) and stores (2) are told to note()
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
    uint32_t told, answer;         // bar.red: the predicate of its lanes, and what comes back
    uint64_t count, turns;         // instructions; requests, barriers and exchanges
    const struct Shape* shapes;
    const uint64_t* firsts;      // values that only depend on the thread: the first lane's
    const uint32_t* predicates;  // the same: bits by lane
    uint8_t* saved;              // registers across an event
    struct Path stack[TILESCOPE_MOST_DEPTH];
};

typedef void (*LaneFunction)(void* d, void* e, const void* a, const void* b, const void* c, uint32_t mask);

struct Context {
    uint32_t block[3];
    uint64_t limit;             // of Warp::count, from which on it pauses, or asks poll() where it cannot
    struct Range* ranges;       // by group
    const LaneFunction* lanes;  // by micro-operation: for all lanes, for some
    void* machine;
    // Makes the group's range hold [low, low + bytes): 0; another number where no memory does.
    int (*bind)(struct Context*, uint32_t group, uint32_t op, uint64_t low, uint64_t bytes);
    // Before an access of a whole warp to memory that is watched. Not 0: given up.
    int (*note)(struct Context*, uint32_t group, uint32_t op, uint8_t* first, const struct Shape*);
    // One request of some lanes: addresses base + shape, or a column. Data: 256 bytes for each element. Not 0: given up.
    int (*request)(struct Context*, struct Warp*, uint32_t op, uint64_t base, const struct Shape*,
                   const uint64_t* column, uint32_t mask, struct Data* data);
    int (*poll)(struct Context*, struct Warp*, uint64_t count);
};

#endif
