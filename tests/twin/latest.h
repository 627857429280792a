// The answers to the latest few questions, for what is asked again and again: every rule for a text asks for the
// same block, every figure of a screen for the same step.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>

namespace tilescope::twin {

template <class Question, class Answer, size_t most = 16>
class Latest {
public:
    // The answer to `question`: a kept one, or what `work_out()` returns. The reference holds until `most` other
    // questions were asked.
    template <class WorkOut>
    const Answer& answer(const Question& question, WorkOut&& work_out) {
        for (const auto& [asked, answer] : kept_)
            if (asked == question) return answer;
        if (kept_.size() == most) kept_.pop_back();
        return kept_.emplace_front(question, work_out()).second;
    }

private:
    std::deque<std::pair<Question, Answer>> kept_;
};

}  // namespace tilescope::twin
