// A libcuda.so.1 that stands in for NVIDIA's where there is no GPU: device memory is the host's, a kernel is
// a name, and FAKE_CUDA in the environment makes it misbehave, word by word, separated by blanks:
//
//   version=10020   the CUDA that it supports (without: 13000)
//   asked=CODE      asked for it, it gives CODE
//   init=CODE       cuInit gives CODE
//   count=N         that many GPUs (1)
//   major=N         of compute capability N.0 (9)
//   memory=N        of N bytes (1 GiB)
//   retain=CODE     opening the context gives CODE
//   create=CODE     making another context gives CODE
//   sick=N          the next N primary contexts are broken from the start
//   register=CODE   locking host memory gives CODE
//   load=CODE       compiling PTX gives CODE, and 218 a log
//   launch=CODE     cuLaunchKernel gives CODE
//   fault=CODE      the kernel ends in CODE
//   hang=MS         the kernel runs for MS milliseconds
//
// It keeps to what the real one does after a fault (every call on the context gives the fault until the
// context is reset), and counts what the real one would punish: calls that would wait for a kernel that
// hangs, and pieces of a context that is gone.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace fake {

using Clock = std::chrono::steady_clock;

struct Context {
    int alive = 0;
    bool sick = false;
};

struct Event {
    Clock::time_point at;
    int fault = 0;
};

struct Function {
    std::string name;
    int parameters = 0;
};

struct Module {
    std::map<std::string, Function> functions;
};

struct Gpu {
    bool started = false;
    Context primary, other;
    int fault = 0;          // what the context gives from now on
    int pending_fault = 0;  // the same once the kernel's event is asked for
    int broken_starts = 0;
    Clock::time_point busy_until{};
    std::map<uint64_t, size_t> memory, mapped;
    std::set<void*> locked, events, modules;
    int stale = 0, blocked = 0, resets = 0, others = 0;
};

extern Gpu gpu;
extern thread_local Context* current;

// The number after WORD= in FAKE_CUDA, or `otherwise`.
long value_of(const std::string& word, long otherwise);
int code_of(const std::string& word);

// Whether a kernel runs.
bool busy();

// What every call on the context begins with: the code to give back. waits: the real call would block.
int enter(bool waits);

// The context's memory, events and modules are gone.
void drop_all();

// Whether the bytes lie in a piece of device memory.
bool owns(uint64_t address, size_t bytes);

}  // namespace fake
