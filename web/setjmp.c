// What the compiler makes of setjmp and longjmp, by WebAssembly's exceptions: clang calls these three from version 19 on, and
// emscripten's library of 2022 has older ones. FreeType divides a glyph that is too much for one pass by them.
//
// Source: LLVM, WebAssemblyLowerEmscriptenEHSjLj.cpp, "Wasm setjmp/longjmp handling".
#include <setjmp.h>
#include <stdint.h>

struct Jump {
    void* frame;     // the call that setjmp stands in
    uint32_t label;  // which setjmp of it
    struct {
        void* env;
        int value;
    } thrown;
};
_Static_assert(sizeof(struct Jump) <= sizeof(jmp_buf), "it lies in a jmp_buf");

void __wasm_setjmp(void* env, uint32_t label, void* frame) {
    struct Jump* const jump = env;
    jump->frame = frame;
    jump->label = label;
}

uint32_t __wasm_setjmp_test(void* env, void* frame) {
    const struct Jump* const jump = env;
    return jump->frame == frame ? jump->label : 0;
}

void __wasm_longjmp(void* env, int value) {
    struct Jump* const jump = env;
    jump->thrown.env = env;
    jump->thrown.value = value == 0 ? 1 : value;
    __builtin_wasm_throw(1, &jump->thrown);  // the tag __c_longjmp
}
