#include "kernels/call/guess.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/base/launch.h"
#include "core/base/text.h"
#include "core/trace/file.h"
#include "kernels/alone/sizes.h"

namespace tilescope::kernels {

namespace {

namespace fs = std::filesystem;
using Given = GivenKind;
using Fill = GivenFill;

constexpr uint64_t kRoom = uint64_t{1} << 20;  // bytes of an array in a trial

class CallGuesser {
public:
    CallGuesser(const Call& call, std::string scratch, const RunCall& run, const std::atomic<bool>* stop)
        : call_(call), scratch_(std::move(scratch)), run_(run), stop_(stop), given_(call.parameters.size()) {}

    Result<GuessedCall> of(const Description& said) {
        if (auto fits = take(said); !fits) return fits.error();
        find_sizes();
        indices_ = std::any_of(call_.parameters.begin(), call_.parameters.end(), is_index_array);
        if (std::all_of(given_.begin(), given_.end(), [](const auto& given) { return given.has_value(); }))
            return GuessedCall{description({}), true};
        const Patience patience;
        // A function that allocates by one of its numbers may take the others for places in there.
        for (const bool inside : {false, true}) {
            inside_ = inside;
            if (inside && !has_more_counts()) break;
            for (const LaunchGuess& guess : guesses({Dim3{}}, sized_, indices_)) {
                auto found = attempt(guess);
                if (!found) return found.error();
                if (*found) return GuessedCall{std::move(**found), true};
                if (patience.over()) return worst();
            }
        }
        inside_ = false;
        return worst();
    }

private:
    GuessedCall worst() const {
        Description whole = description({});
        for (size_t i = 0; i < given_.size(); ++i)
            if (!given_[i] && call_.parameters[i].pointer)
                whole.arguments[i].extents = {kRoom / size_of(whole.arguments[i].type)};
        return {std::move(whole), false};
    }

    static bool is_index_array(const CallParameter& parameter) {
        return parameter.pointer && parameter.constant && !is_float(parameter.type) &&
               size_of(parameter.type) >= 4;
    }

    Result<void> take(const Description& said) {
        std::vector<std::string> names;
        for (const CallParameter& parameter : call_.parameters) names.push_back(parameter.name);
        for (size_t place = 0; place < said.arguments.size(); ++place) {
            const GivenArgument& argument = said.arguments[place];
            const auto at = parameter_of(said.arguments, place, names, one_line(call_.function));
            if (!at) return at.error();
            const CallParameter& parameter = call_.parameters[*at];
            const bool pointer = argument.kind == Given::Array || argument.kind == Given::Null;
            if (pointer != parameter.pointer || argument.kind == Given::Object)
                return Error{fmt::format(
                    "parameter '{}' is {}, and '{}' was given", one_line(parameter.name),
                    parameter.pointer ? "a pointer: give it an array, such as float[1024]" : "a number",
                    one_line(value_text(argument)))};
            given_[*at] = argument;
            given_[*at]->name = parameter.name;
        }
        return {};
    }

    void find_sizes() {
        size_t sizes = 0;
        std::optional<uint64_t> x, y, z;
        for (size_t i = 0; i < given_.size(); ++i) {
            if (!is_count(call_.parameters[i])) continue;
            const Meaning meaning = meaning_of(call_.parameters[i].name);
            sizes += is_size(meaning);
            if (!given_[i] || !given_[i]->number.whole) continue;
            if (meaning == Meaning::Columns) x = std::max(x.value_or(1), *given_[i]->number.whole);
            if (meaning == Meaning::Rows) y = *given_[i]->number.whole;
            if (meaning == Meaning::Slices) z = *given_[i]->number.whole;
        }
        for (const auto& given : given_)
            if (given && given->kind == Given::Array && !x) x = given->extents.back();
        sizes_ = sizes_for({}, sizes);
        const uint64_t any = x ? *x : y ? *y : z.value_or(0);
        sized_ = any != 0;
        if (sized_) sizes_ = {x.value_or(any), y.value_or(any), z.value_or(std::min(any, sizes_.z))};
    }

    static bool is_count(const CallParameter& parameter) {
        return !parameter.pointer && !is_float(parameter.type) && size_of(parameter.type) >= 4;
    }

    // Whether there are numbers behind the first one that nobody says.
    bool has_more_counts() const {
        size_t counts = 0;
        for (size_t i = 0; i < given_.size(); ++i) counts += is_count(call_.parameters[i]);
        return counts > 1;
    }

    // Whether a number is taken for a place inside what the first one counts.
    bool is_inside(size_t parameter) const {
        if (!inside_ || !is_count(call_.parameters[parameter])) return false;
        for (size_t i = 0; i < parameter; ++i)
            if (is_count(call_.parameters[i])) return true;
        return false;
    }

    // The call with arrays of room; those that differ in size tell which is which in the recordings.
    Description description(const LaunchGuess& attempt) const {
        Description whole;
        whole.kernel = call_.function;
        const bool has_const = std::any_of(call_.parameters.begin(), call_.parameters.end(),
                                           [](const CallParameter& one) { return one.constant; });
        for (size_t i = 0; i < given_.size(); ++i) {
            const CallParameter& parameter = call_.parameters[i];
            GivenArgument argument = given_[i].value_or(GivenArgument{});
            argument.name = parameter.name;
            if (!given_[i] && parameter.pointer) {
                argument.kind = Given::Array;
                argument.type = parameter.type;
                argument.extents = {bytes_of_room(i) / size_of(parameter.type)};
            } else if (!given_[i]) {
                argument.number = guessed_number(parameter.name, parameter.type, attempt.of(sizes_));
                if (is_inside(i) && argument.number.whole) *argument.number.whole /= 2;
            }
            if (argument.kind == Given::Array && argument.contents.kind == Fill::Guessed)
                argument.contents.kind = parameter.constant && is_index_array(parameter) == indices_
                                             ? attempt.contents
                                         : has_const && !parameter.constant ? Fill::Zeros
                                                                            : Fill::Random;
            whole.arguments.push_back(std::move(argument));
        }
        return whole;
    }

    static uint64_t bytes_of_room(size_t parameter) { return kRoom + 256 * (parameter + 1); }

    // The call that goes well with these guesses; nothing where it does not.
    Result<std::optional<Description>> attempt(const LaunchGuess& attempt) {
        const Description roomy = description(attempt);
        std::error_code error;
        fs::remove_all(scratch_, error);
        fs::create_directories(scratch_, error);
        const auto tried = run(roomy, scratch_);
        if (!tried) return tried.error();
        if (!tried->right) return std::optional<Description>();
        Description cut = roomy;
        const std::vector<uint64_t> touched = touched_in_recordings();
        for (size_t i = 0; i < given_.size(); ++i)
            if (!given_[i] && call_.parameters[i].pointer && touched[i] > 0 && tried->all_known)
                cut.arguments[i].extents = {(touched[i] + size_of(cut.arguments[i].type) - 1) /
                                            size_of(cut.arguments[i].type)};
        fs::remove_all(scratch_, error);
        // Host code may copy more of an array than kernels touch.
        const auto again = run(cut, "");
        if (!again) return again.error();
        return std::optional(again->right ? std::move(cut) : roomy);
    }

    Result<Trial> run(const Description& whole, const std::string& folder) const {
        auto tried = run_(words_for(whole), folder);
        if (stop_ && stop_->load()) return Error{"stopped before the arguments were guessed"};
        return tried;
    }

    // By parameter: bytes up to the last one that any launch touched.
    std::vector<uint64_t> touched_in_recordings() const {
        std::vector<uint64_t> touched(given_.size());
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(scratch_, error)) {
            const auto trace = trace::read_file(entry.path().string());
            if (!trace) continue;
            std::vector<int> parameter_of(trace->launch.arrays.size(), -1);
            for (size_t a = 0; a < parameter_of.size(); ++a)
                for (size_t i = 0; i < given_.size(); ++i)
                    if (trace->launch.arrays[a].bytes() == bytes_of_room(i))
                        parameter_of[a] = static_cast<int>(i);
            for (uint64_t step = 0; step < trace->steps(); ++step) {
                const trace::Access access = trace::decode(*trace, step);
                if (access.array == trace::kNoArray || parameter_of[access.array] < 0) continue;
                uint64_t& most = touched[static_cast<size_t>(parameter_of[access.array])];
                const uint64_t bytes = trace->sites[access.site].bytes;
                for_lanes(access.mask,
                          [&](uint32_t lane) { most = std::max(most, access.offset[lane] + bytes); });
            }
        }
        return touched;
    }

    const Call& call_;
    const std::string scratch_;
    const RunCall& run_;
    const std::atomic<bool>* stop_;
    std::vector<std::optional<GivenArgument>> given_;
    Sizes sizes_;
    bool sized_ = false;    // sizes are said
    bool inside_ = false;   // numbers behind the first one are places inside what it counts
    bool indices_ = false;  // there are const arrays of whole numbers
};

}  // namespace

Result<GuessedCall> guess_call(const Call& call, const Description& said, const std::string& scratch,
                               const RunCall& run, const std::atomic<bool>* stop) {
    return CallGuesser(call, scratch, run, stop).of(said);
}

}  // namespace tilescope::kernels
