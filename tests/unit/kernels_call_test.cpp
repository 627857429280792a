// Host functions that launch kernels, and the main that is made for them.
#include <gtest/gtest.h>

#include "kernels/call/call.h"

namespace tilescope::kernels {
namespace {

constexpr const char* kSolve = R"(
#include <cuda_runtime.h>
#define OPEN {
__global__ void add(const float* a, float* b, int n) { if (n > 0) b[0] = a[0]; }
static void helper(int n) {}
template <class T> void launch(T* a) { add<<<1, 1>>>(a, a, 1); }
struct Box { void fill() { add<<<1, 1>>>(0, 0, 1); } };
namespace inner { void hidden() { add<<<1, 1>>>(0, 0, 1); } }
// void solve(int commented) { }
extern "C" void solve(const float* A, float *__restrict__ B, unsigned char* image, int N = 4, size_t count) {
    const char* text = "}{";
    add<<<1, 32>>>(A, B, N);
}
)";

std::vector<std::string> names_of(const std::string& source) {
    std::vector<std::string> names;
    for (const FunctionText& function : host_functions_in(source)) names.push_back(function.name);
    return names;
}

TEST(HostFunctions, AreThoseThatOtherFilesCanCall) {
    EXPECT_EQ(names_of(kSolve), std::vector<std::string>{"solve"});
    const FunctionText solve = host_functions_in(kSolve).front();
    EXPECT_TRUE(solve.c_linkage);
    EXPECT_TRUE(solve.launches);
    EXPECT_EQ(solve.result, "void");
    ASSERT_EQ(solve.parameters.size(), 5u);
    EXPECT_EQ(solve.parameters[3].name, "N");
}

TEST(HostFunctions, LinkageIsThatOfABlockOrADeclaration) {
    const auto linkage = [](const std::string& source) {
        return host_functions_in(source).front().c_linkage;
    };
    EXPECT_FALSE(linkage("void f(int n) { k<<<1, 1>>>(n); }"));
    EXPECT_TRUE(linkage("extern \"C\" { int a; void f(int n) { k<<<1, 1>>>(n); } }"));
    EXPECT_TRUE(linkage("extern \"C\" void f(int n);\nvoid f(int n) { k<<<1, 1>>>(n); }"));
}

TEST(HostFunctions, TheOneToCallIsSolveOrTheOnlyOneThatLaunches) {
    const auto called = [](const std::string& source, const std::string& name = "") {
        const auto found = function_to_call(source, name);
        return found ? found->name : "";
    };
    const std::string two = "void f() { k<<<1, 1>>>(); } void g() { k<<<1, 1>>>(); }";
    EXPECT_EQ(called(two), "");
    EXPECT_EQ(called(two, "g"), "g");
    EXPECT_EQ(called(two, "h"), "");
    EXPECT_EQ(called(two + " void solution() { f(); }"), "solution");
    EXPECT_EQ(called("void f() { k<<<1, 1>>>(); } void g() {}"), "f");
    EXPECT_EQ(called("int main() { k<<<1, 1>>>(); }"), "");
    EXPECT_EQ(called("__global__ void k() {}"), "");
}

TEST(HostFunctions, NoTextIsTooMuch) {
    for (const char* text :
         {"extern \"C\" {", "void f(", "void f() {", "}}}{{{", "#define A \\", "(", "void f(int a[) {}"})
        host_functions_in(text);
    std::string nested;
    for (int i = 0; i < 20000; ++i) nested += "extern \"C\" {";
    EXPECT_TRUE(host_functions_in(nested).empty());
}

TEST(HostCall, KnowsParametersByTheirTypes) {
    const std::string source =
        "typedef float real; struct Point { float x; };\n"
        "void f(const real* a, Point* b, half* c, const size_t n, real alpha) { k<<<1, 1>>>(); }";
    const auto call = call_of(source, *function_to_call(source, ""));
    ASSERT_TRUE(call) << call.error().message;
    ASSERT_EQ(call->parameters.size(), 5u);
    EXPECT_EQ(call->parameters[0].type, ElementType::F32);
    EXPECT_TRUE(call->parameters[0].constant);
    EXPECT_EQ(call->parameters[1].type, ElementType::B8);
    EXPECT_EQ(call->parameters[2].type, ElementType::F16);
    EXPECT_EQ(call->parameters[3].type, ElementType::U64);
    EXPECT_EQ(call->parameters[4].type, ElementType::F32);
    const std::string main = main_for(*call);
    EXPECT_NE(main.find("struct Point;\nvoid f(const float*, Point*, half*, const size_t, float);"),
              std::string::npos)
        << main;
}

TEST(HostCall, RefusesWhatCannotBeDescribed) {
    const auto refused = [](const std::string& parameter) {
        const std::string source = "struct S { int a; }; void f(" + parameter + ") { k<<<1, 1>>>(); }";
        const auto call = call_of(source, *function_to_call(source, ""));
        return call ? "" : call.error().message;
    };
    EXPECT_NE(refused("float** rows").find("'rows' of f is a pointer to pointers"), std::string::npos);
    EXPECT_NE(refused("S s").find("is a struct"), std::string::npos);
    EXPECT_NE(refused("const int& n").find("is a reference"), std::string::npos);
    EXPECT_EQ(refused("void* data"), "");
    const std::string source = "struct Box { int a; }; Box f(int n) { k<<<1, 1>>>(n); }";
    const auto call = call_of(source, *function_to_call(source, ""));
    ASSERT_FALSE(call);
    EXPECT_NE(call.error().message.find("f returns Box"), std::string::npos) << call.error().message;
}

TEST(HostCall, TheCommandGivesTheSameWordsAgain) {
    Description whole;
    ASSERT_TRUE(add_call(whole, "solve(A=float[4,2]:iota, N=-3, p=null)"));
    EXPECT_EQ(words_for(whole), (std::vector<std::string>{"float[4,2]:iota", "-3", "null"}));
    EXPECT_EQ(call_command("a b.cu", whole),
              "tilescope record 'a b.cu' --call 'solve(A=float[4,2]:iota, N=-3, p=null)'");
}

}  // namespace
}  // namespace tilescope::kernels
