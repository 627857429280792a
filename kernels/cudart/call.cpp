// The arguments of a host function that is called by a main of Tilescope's making (kernels/call/call.h):
// arrays become memory of the device with their contents, numbers values in the parameter's type.
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "core/base/contents.h"
#include "core/base/words.h"
#include "kernels/alone/description.h"
#include "kernels/cudart/runtime.h"

namespace tilescope::cudart {
namespace {

[[noreturn]] void refuse(const std::string& sentence) {
    say(sentence);
    std::_Exit(EXIT_FAILURE);
}

void* make_array(const kernels::GivenArgument& argument, unsigned place) {
    Runtime& r = runtime();
    const std::lock_guard lock(r.mutex);
    Array array = kernels::array_of(argument);
    kernels::put_contents(array, argument.contents, place);
    // Functions that take memory of the host, and copy it, are called the same way.
    const Allocation* const made = r.memory.allocate(array.bytes(), MemoryKind::Managed, cudaMemAttachGlobal);
    if (!made)
        refuse(fmt::format("an array of {} does not fit the device's memory; make it smaller",
                           bytes_text(array.bytes())));
    fill(array, made->data());
    return made->data();
}

}  // namespace
}  // namespace tilescope::cudart

// value: as a description has it, "float[1024]:random", "null", "64". type: PTX's name of a number's type.
// to: takes the pointer, or the number. A value that cannot be read ends the program.
extern "C" void tilescope_make_argument(const char* value, unsigned place, const char* type, void* to) {
    namespace kernels = tilescope::kernels;
    using Kind = kernels::GivenKind;
    const auto argument = kernels::parse_argument(value ? value : "");
    if (!argument) tilescope::cudart::refuse(argument.error().message);
    if (argument->kind == Kind::Array) {
        void* const data = tilescope::cudart::make_array(*argument, place);
        std::memcpy(to, &data, sizeof data);
    } else if (argument->kind == Kind::Null) {
        std::memset(to, 0, sizeof(void*));
    } else if (const auto element = tilescope::element_type_of(type)) {
        const uint64_t bits = kernels::bits_in(*element, argument->number);
        std::memcpy(to, &bits, size_of(*element));
    }
}
