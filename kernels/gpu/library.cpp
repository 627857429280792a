#include "kernels/gpu/library.h"

#include <cstdlib>

#include <dlfcn.h>
#include <fmt/format.h>

namespace tilescope::gpu {

Library open_library(const std::vector<std::string>& names) {
    for (const std::string& name : names)
        if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return {handle, name};
    return {};
}

std::vector<std::string> toolkit_folders() {
    std::vector<std::string> folders;
    for (const char* variable : {"CUDA_PATH", "CUDA_HOME"})
        if (const char* home = std::getenv(variable); home && *home) folders.emplace_back(home);
    folders.emplace_back("/usr/local/cuda");
    return folders;
}

std::vector<std::string> toolkit_names(const std::string& stem, const std::vector<std::string>& numbers) {
    std::vector<std::string> folders{""};
    for (const std::string& home : toolkit_folders()) folders.push_back(home + "/lib64/");
    std::vector<std::string> names;
    for (const std::string& folder : folders) {
        names.push_back(fmt::format("{}lib{}.so", folder, stem));
        for (const std::string& number : numbers)
            names.push_back(fmt::format("{}lib{}.so.{}", folder, stem, number));
    }
    return names;
}

void* symbol_of(const Library& library, const char* name) {
    return library.handle ? dlsym(library.handle, name) : nullptr;
}

}  // namespace tilescope::gpu
