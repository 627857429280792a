#include "core/recording/recording.h"

#include <cctype>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/words.h"

namespace tilescope::analysis {

Result<Recording> opened(std::shared_ptr<const trace::Trace> trace) {
    auto rule = phase_rule(*trace);
    if (!rule) return rule.error();
    std::optional<Product> product = product_of(*trace);
    return Recording{std::move(trace), std::move(*rule), std::move(product), {}};
}

std::string kernel_name(const Recording& recording) {
    const std::string kernel = one_line(recording.trace->meta.kernel);
    const auto& product = recording.product;
    return product && product->tile > 0 ? fmt::format("{} T={}", kernel, product->tile) : kernel;
}

std::string size_name(const Recording& recording) {
    if (recording.product) return recording.product->sizes();
    const Launch& launch = recording.trace->launch;
    return fmt::format("grid {}, block {}", size_text(launch.grid), size_text(launch.block));
}

std::string launch_text(const Recording& recording) {
    const auto& product = recording.product;
    const bool has_tile = product && product->tile > 0;
    return size_name(recording) + (has_tile ? fmt::format(" T={}", product->tile) : "");
}

std::string stem_of(const Recording& recording) {
    const std::string& kernel = recording.trace->meta.kernel;
    const auto& product = recording.product;
    std::string name(kernel.empty() ? "recording" : beginning_of(kernel, kLongestName));
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-') c = '_';
    if (!product) return name;
    name += "-" + product->sizes("x");
    return product->tile > 0 ? fmt::format("{}-t{}", name, product->tile) : name;
}

std::string title_of(const Recording& recording) {
    return fmt::format("{} {}", one_line(recording.trace->meta.kernel), launch_text(recording));
}

}  // namespace tilescope::analysis
