// The lanes of a warp, kept together as long as they have done the same.
//
// Following 32 lanes one by one costs 32 steps a request. Most of the time they agree: so they are kept as
// classes, sets of lanes with one state, that split where a request's mask cuts through one and join again
// where their states have become equal. Two classes are common (the arms of a bounds check), 32 are possible.
#pragma once

#include <array>
#include <cstdint>

namespace tilescope::analysis {

template <class State>  // regular: copyable, ==
class LaneClasses {
public:
    explicit LaneClasses(State initial = {}) { classes_[0] = {~0u, initial}; }

    // change(State&) for every lane of mask; returns the first active lane's state after it.
    template <class Change>
    State update(uint32_t mask, Change change) {
        const uint32_t lowest = mask & (~mask + 1);
        State of_lowest{};
        bool several = count_ > 1;
        for (uint32_t i = 0, end = count_; i < end; ++i) {
            const uint32_t inside = classes_[i].lanes & mask;
            if (inside == 0) continue;
            State changed = classes_[i].state;
            change(changed);
            if (inside & lowest) of_lowest = changed;
            if (inside == classes_[i].lanes) {
                classes_[i].state = changed;
            } else if (!(changed == classes_[i].state)) {
                classes_[i].lanes &= ~inside;
                classes_[count_++] = {inside, changed};  // never more classes than lanes
                several = true;
            }
        }
        if (several) join();
        return of_lowest;
    }

    template <class Visit>
    void each(Visit visit) const {
        for (uint32_t i = 0; i < count_; ++i) visit(classes_[i].lanes, classes_[i].state);
    }

private:
    struct Class {
        uint32_t lanes;
        State state;
    };

    void join() {
        for (uint32_t i = 0; i < count_; ++i)
            for (uint32_t j = count_ - 1; j > i; --j)
                if (classes_[i].state == classes_[j].state) {
                    classes_[i].lanes |= classes_[j].lanes;
                    classes_[j] = classes_[--count_];
                }
    }

    std::array<Class, 32> classes_;
    uint32_t count_ = 1;
};

}  // namespace tilescope::analysis
