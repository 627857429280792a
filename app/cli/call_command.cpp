// tilescope record FILE.cu --call 'solve(A=float[1024], N=1024)': a file without a main, whose host function
// launches the kernels. It gets a main (kernels/call), and is then recorded like any program. What is not
// said of the arguments is guessed, and said as the command that repeats the call.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "app/cli/record.h"
#include "app/cli/work.h"
#include "core/base/file.h"
#include "core/base/user_cache.h"
#include "core/trace/claims.h"
#include "kernels/call/guess.h"
#include "kernels/program/cache.h"
#include "kernels/program/flags.h"
#include "kernels/program/run.h"
#include "kernels/program/source.h"

namespace tilescope::cli {

namespace {

namespace fs = std::filesystem;

Result<std::string> source_of(const std::string& file) {
    return read_whole(file, trace::most_of(trace::Claim::SourceBytes));
}

// What the command line and the source's comment say.
Result<kernels::Description> described(const std::string& source, const AloneOptions& options) {
    const kernels::Description on_line = said_by(options);
    auto comment = kernels::described_in(source, on_line.kernel);
    if (!comment) return comment;
    return kernels::joined(std::move(*comment), on_line);
}

// A run whose output nobody sees. folder: "" where nothing is recorded.
Result<kernels::Trial> try_out(const program::Built& built, const std::string& file,
                               const ProgramRequest& request, const std::vector<std::string>& words,
                               const std::string& folder, const std::atomic<bool>* stop) {
    program::RunRequest run;
    run.path = built.path;
    run.arguments = words;
    run.quiet = true;
    run.stop = stop;
    std::error_code error;
    run.orders.source = fs::absolute(file, error).string();
    run.orders.device = request.device;
    run.orders.folder = folder;
    run.orders.every = true;
    if (folder.empty()) run.orders.numbers = {UINT64_MAX};  // no launch has that number
    const auto ran = program::run_program(run);
    if (!ran) return ran.error();
    kernels::Trial trial;
    // The main that was made ends with 1 after a fault. A hazard is the program's, whatever its arguments.
    trial.right = ran->status == 0 && ran->damage.empty() && !ran->launches.empty();
    trial.all_known = std::all_of(ran->launches.begin(), ran->launches.end(), [](const auto& line) {
        return !line.recorded.empty() || line.same_as != 0;
    });
    return trial;
}

}  // namespace

bool is_host_call(const std::string& file, const AloneOptions& options) {
    if (fs::path(file).extension() != ".cu") return false;
    // A file that cannot be read is refused by whoever reads it next; so is a comment.
    const auto source = source_of(file);
    if (!source) return false;
    const auto said = described(*source, options);
    if (!said || said->grid || said->block || said->shared) return false;
    if (said->kernel.empty() && (program::has_main(*source) || program::names_files(options.flags)))
        return false;
    const auto function = kernels::function_to_call(*source, said->kernel);
    // One that nobody names and that cannot be called leaves its kernels to be recorded alone.
    return function && (!said->kernel.empty() || kernels::call_of(*source, *function));
}

int record_host_call(const std::string& file, const ProgramRequest& request, const AloneOptions& options) {
    if (!request.arguments.empty())
        refuse(kWrongCall,
               "'{}' is an argument for a main, and a function is called in '{}'; give the function's "
               "arguments with --call or --arg",
               request.arguments.front(), file);
    const std::string source = need(source_of(file));
    const kernels::Description said = need(described(source, options));
    const kernels::Call call =
        need(kernels::call_of(source, kernels::function_to_call(source, said.kernel).value()));
    return record_made_program(file, request, [&] {
        MadeProgram made;
        made.built = build_program(file, request, need(program::kept_source(kernels::main_for(call))));
        std::error_code error;
        const fs::path temporary = fs::temp_directory_path(error);
        const WorkFolder work = need(WorkFolder::make(error ? fs::path("/tmp") : temporary));
        const kernels::GuessedCall guessed =
            with_progress(1, "calls guessed", "nothing was recorded", [&](const auto& stop, auto&) {
                return kernels::guess_call(
                    call, said, (work.path() / "trial").string(),
                    [&](const std::vector<std::string>& words, const std::string& folder) {
                        return try_out(made.built, file, request, words, folder, &stop);
                    },
                    &stop);
            });
        made.arguments = kernels::words_for(guessed.whole);
        made.command = kernels::call_command(file, guessed.whole);
        if (!request.flags.empty()) made.command += " --flags " + kernels::shell_word(request.flags);
        made.guess_fails = !guessed.right;
        if (request.compiler == "nvcc") made.command += " --compiler nvcc";
        return made;
    });
}

}  // namespace tilescope::cli
