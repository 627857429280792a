// The lanes of a warp, kept together as long as they have done the same.
//
// Following 32 lanes one by one costs 32 steps a request. Most of the time they agree: so they are kept as
// classes, sets of lanes with one state, that split where a request's mask cuts through one and join again
// where their states have become equal. Two classes are common (the arms of a bounds check), 32 are possible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilescope::analysis {

template <class State>  // regular: copyable, ==
class LaneClasses {
public:
    explicit LaneClasses(State initial = {}) : classes_{{~0u, initial}} {}

    // change(State&) for every lane of mask; returns the first active lane's state after it.
    template <class Change>
    State update(uint32_t mask, Change change) {
        if (Class& first = classes_.front(); first.lanes == mask && classes_.size() == 1) {
            change(first.state);  // as in most kernels: all lanes together
            return first.state;
        }
        return update_each(mask, change);
    }

    // How many sets of lanes there are: what an update costs.
    uint32_t classes() const { return static_cast<uint32_t>(classes_.size()); }

    template <class Visit>
    void each(Visit visit) const {
        for (const Class& one : classes_) visit(one.lanes, one.state);
    }

private:
    struct Class {
        uint32_t lanes;
        State state;
    };

    template <class Change>
    [[gnu::noinline]] State update_each(uint32_t mask, Change change) {
        const uint32_t lowest = mask & (~mask + 1);
        State of_lowest{};
        uint32_t changes = 0;  // classes, a bit each
        const bool several = classes_.size() > 1;
        for (size_t i = 0, end = classes_.size(); i < end; ++i) {
            const uint32_t inside = classes_[i].lanes & mask;
            if (inside == 0) continue;
            State changed = classes_[i].state;
            change(changed);
            if (inside & lowest) of_lowest = changed;
            if (changed == classes_[i].state) continue;
            if (inside == classes_[i].lanes) {
                classes_[i].state = changed;
                changes |= 1u << i;
            } else {
                classes_[i].lanes &= ~inside;
                changes |= 1u << classes_.size();
                classes_.push_back({inside, changed});  // never more classes than lanes
            }
        }
        if (changes != 0 && (several || classes_.size() > 1)) join(changes);
        return of_lowest;
    }

    // Joins each class that changed with one that is now equal to it.
    void join(uint32_t changes) {
        for (size_t i = classes_.size(); i-- > 0;) {
            if (!(changes >> i & 1)) continue;
            for (size_t j = 0; j < classes_.size(); ++j) {
                if (j == i || !(classes_[j].state == classes_[i].state)) continue;
                classes_[j].lanes |= classes_[i].lanes;
                classes_[i] = classes_.back();
                classes_.pop_back();
                break;
            }
        }
    }

    std::vector<Class> classes_;
};

}  // namespace tilescope::analysis
