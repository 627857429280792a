// Atomic functions, over the ones that clang's header has for each type; where PTX has no instruction, a
// loop of compare-and-swap. _block and _system are those of other scopes.
//
// Source: CUDA C++ Programming Guide, "Atomic Functions".
#pragma once

#define TILESCOPE_ATOMIC(name, T, S, call)                                             \
    TILESCOPE_DEVICE T name(T* p, T v) { return (T)call((S*)p, (S)v); }                \
    TILESCOPE_DEVICE T name##_block(T* p, T v) { return (T)call##_block((S*)p, (S)v); } \
    TILESCOPE_DEVICE T name##_system(T* p, T v) { return (T)call##_system((S*)p, (S)v); }

TILESCOPE_ATOMIC(atomicAdd, int, int, __iAtomicAdd)
TILESCOPE_ATOMIC(atomicAdd, unsigned int, unsigned int, __uAtomicAdd)
TILESCOPE_ATOMIC(atomicAdd, unsigned long long, unsigned long long, __ullAtomicAdd)
TILESCOPE_ATOMIC(atomicAdd, float, float, __fAtomicAdd)
TILESCOPE_ATOMIC(atomicAdd, double, double, __dAtomicAdd)
TILESCOPE_ATOMIC(atomicExch, int, int, __iAtomicExch)
TILESCOPE_ATOMIC(atomicExch, unsigned int, unsigned int, __uAtomicExch)
TILESCOPE_ATOMIC(atomicExch, unsigned long long, unsigned long long, __ullAtomicExch)
TILESCOPE_ATOMIC(atomicExch, float, float, __fAtomicExch)
TILESCOPE_ATOMIC(atomicMin, int, int, __iAtomicMin)
TILESCOPE_ATOMIC(atomicMin, unsigned int, unsigned int, __uAtomicMin)
TILESCOPE_ATOMIC(atomicMin, long long, long long, __illAtomicMin)
TILESCOPE_ATOMIC(atomicMin, unsigned long long, unsigned long long, __ullAtomicMin)
TILESCOPE_ATOMIC(atomicMax, int, int, __iAtomicMax)
TILESCOPE_ATOMIC(atomicMax, unsigned int, unsigned int, __uAtomicMax)
TILESCOPE_ATOMIC(atomicMax, long long, long long, __illAtomicMax)
TILESCOPE_ATOMIC(atomicMax, unsigned long long, unsigned long long, __ullAtomicMax)
TILESCOPE_ATOMIC(atomicAnd, int, int, __iAtomicAnd)
TILESCOPE_ATOMIC(atomicAnd, unsigned int, unsigned int, __uAtomicAnd)
TILESCOPE_ATOMIC(atomicAnd, unsigned long long, unsigned long long, __ullAtomicAnd)
TILESCOPE_ATOMIC(atomicOr, int, int, __iAtomicOr)
TILESCOPE_ATOMIC(atomicOr, unsigned int, unsigned int, __uAtomicOr)
TILESCOPE_ATOMIC(atomicOr, unsigned long long, unsigned long long, __ullAtomicOr)
TILESCOPE_ATOMIC(atomicXor, int, int, __iAtomicXor)
TILESCOPE_ATOMIC(atomicXor, unsigned int, unsigned int, __uAtomicXor)
TILESCOPE_ATOMIC(atomicXor, unsigned long long, unsigned long long, __ullAtomicXor)
TILESCOPE_ATOMIC(atomicInc, unsigned int, unsigned int, __uAtomicInc)
TILESCOPE_ATOMIC(atomicDec, unsigned int, unsigned int, __uAtomicDec)
#undef TILESCOPE_ATOMIC

#define TILESCOPE_SUBTRACT(suffix)                                                                          \
    TILESCOPE_DEVICE int atomicSub##suffix(int* p, int v) { return atomicAdd##suffix(p, (int)(0u - (unsigned)v)); } \
    TILESCOPE_DEVICE unsigned int atomicSub##suffix(unsigned int* p, unsigned int v) {                      \
        return atomicAdd##suffix(p, 0u - v);                                                                \
    }
TILESCOPE_SUBTRACT()
TILESCOPE_SUBTRACT(_block)
TILESCOPE_SUBTRACT(_system)
#undef TILESCOPE_SUBTRACT

#define TILESCOPE_SWAP(T, call)                                                                           \
    TILESCOPE_DEVICE T atomicCAS(T* p, T expected, T v) { return (T)call(p, expected, v); }               \
    TILESCOPE_DEVICE T atomicCAS_block(T* p, T expected, T v) { return (T)call##_block(p, expected, v); } \
    TILESCOPE_DEVICE T atomicCAS_system(T* p, T expected, T v) { return (T)call##_system(p, expected, v); }
TILESCOPE_SWAP(int, __iAtomicCAS)
TILESCOPE_SWAP(unsigned int, __uAtomicCAS)
TILESCOPE_SWAP(unsigned long long, __ullAtomicCAS)
#undef TILESCOPE_SWAP

// Of 16 bits: in the word around them.
TILESCOPE_DEVICE_LONG unsigned short atomicCAS(unsigned short* p, unsigned short expected, unsigned short v) {
    unsigned int* const word = (unsigned int*)((unsigned long long)p & ~3ull);
    const unsigned int shift = ((unsigned long long)p & 2) ? 16 : 0;
    unsigned int old = *(volatile unsigned int*)word;
    for (;;) {
        if ((unsigned short)(old >> shift) != expected) return (unsigned short)(old >> shift);
        const unsigned int seen = atomicCAS(word, old, (old & ~(0xffffu << shift)) | ((unsigned int)v << shift));
        if (seen == old) return expected;
        old = seen;
    }
}
