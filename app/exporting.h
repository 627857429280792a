// Exports from the window: the program calls its own command line beside the window, which stays free.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/state.h"
#include "app/view/export_choice.h"
#include "core/base/result.h"

namespace tilescope::app {

class Exporting {
public:
    // Writes the State's recording to a file of its own and starts the command on it.
    static Result<std::unique_ptr<Exporting>> start(const State& state, const view::ExportChoice& choice,
                                                    const std::string& path);
    ~Exporting();  // stops the command where it still runs; nothing half written is left

    bool running();                   // does not wait
    std::string outcome();            // once it no longer runs: one sentence, good or bad
    const std::string& path() const;  // what is written

private:
    struct Parts;
    explicit Exporting(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

// Says in state.message how an export ended; true while one runs.
bool poll_export(State& state);

}  // namespace tilescope::app
