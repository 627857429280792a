#include "kernels/cudart/guard.h"

#include <array>
#include <atomic>
#include <csignal>

#include <fmt/format.h>
#include <sys/mman.h>

#include "kernels/cudart/caller.h"
#include "kernels/cudart/runtime.h"

namespace tilescope::cudart {
namespace {

// What the handler of the signal looks at: it may take no lock.
struct ClosedPages {
    std::atomic<uint64_t> first{0}, end{0};  // end 0: none
    uint64_t launch = 0;
    std::atomic<void*> met{nullptr};  // the instruction of the host that came there
    std::atomic<uint64_t> address{0};
};
std::array<ClosedPages, 64> closed;
struct sigaction earlier {};

void reopen(ClosedPages& pages) {
    const uint64_t end = pages.end.exchange(0);
    if (end != 0)
        mprotect(reinterpret_cast<void*>(pages.first.load()), end - pages.first.load(),
                 PROT_READ | PROT_WRITE);
}

void on_fault(int signal, siginfo_t* info, void* context) {
    const auto address = reinterpret_cast<uint64_t>(info->si_addr);
    for (ClosedPages& pages : closed) {
        if (address < pages.first.load() || address >= pages.end.load()) continue;
#if defined(__x86_64__)
        void* const at =
            reinterpret_cast<void*>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
        void* const at = reinterpret_cast<void*>(static_cast<ucontext_t*>(context)->uc_mcontext.pc);
#else
        void* const at = nullptr;
#endif
        pages.address = address;
        pages.met = at;
        reopen(pages);
        return;
    }
    // It is the program's own: as if we were not here.
    if ((earlier.sa_flags & SA_SIGINFO) != 0 && earlier.sa_sigaction != nullptr)
        return earlier.sa_sigaction(signal, info, context);
    if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN) return earlier.sa_handler(signal);
    sigaction(SIGSEGV, &earlier, nullptr);
}

// A program that has a handler of its own is left alone.
bool take_signal() {
    static const bool taken = [] {
        struct sigaction ours {};
        ours.sa_sigaction = on_fault;
        ours.sa_flags = static_cast<int>(SA_SIGINFO | SA_NODEFER | SA_ONSTACK);
        sigemptyset(&ours.sa_mask);
        return sigaction(SIGSEGV, nullptr, &earlier) == 0 && (earlier.sa_flags & SA_SIGINFO) == 0 &&
               earlier.sa_handler == SIG_DFL && sigaction(SIGSEGV, &ours, nullptr) == 0;
    }();
    return taken;
}

}  // namespace

void close_managed(Runtime& r, uint64_t base, uint64_t launch) {
    const Allocation* const one = r.memory.find(base);
    if (!one || one->kind != MemoryKind::Managed || r.gpu || !r.recording || !take_signal()) return;
    for (ClosedPages& pages : closed) {
        if (pages.end.load() != 0 || pages.met.load() != nullptr) continue;
        const uint64_t end = (one->end() + kPage - 1) / kPage * kPage;
        pages.launch = launch;
        pages.first = one->base;
        if (mprotect(one->pointer(), end - one->base, PROT_NONE) == 0) pages.end = end;
        return;
    }
}

void open_managed(Runtime& r) {
    for (ClosedPages& pages : closed) {
        reopen(pages);
        void* const at = pages.met.exchange(nullptr);
        if (!at) continue;
        const Allocation* const one = r.memory.find(pages.address.load());
        if (!one) continue;
        const std::string name = one->used.name.empty() ? "managed memory" : one->used.name;
        note_at(r, "remark", place_of(static_cast<char*>(at) + 1),
                fmt::format("the host uses {} while launch {} may still run, since nobody has waited for it: "
                            "call cudaDeviceSynchronize before",
                            name, pages.launch));
    }
}

}  // namespace tilescope::cudart
