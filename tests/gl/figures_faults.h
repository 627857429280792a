// For the tests of figures: faults of a block, found by walking its steps in the order of the recording. What
// each load of a shared cell read is known from that walk, and what it should have read from the phases: the
// value that its own phase stored before that line, else what the latest phase before stored.
#pragma once

#include "tests/gl/figures_scene.h"

namespace tilescope::app {

using Access = twin::CellAccess;
struct Fault {
    enum Kind { Race, Stale, Unstored } kind = Race;
    enum Order { Overwritten, Early, Right, Open } order = Open;  // of a race
    std::pair<uint8_t, uint64_t> cell;
    uint32_t told = 0;  // the step that it is told at
    // The load, the store of another thread that it races with, what it read, and what it should have read or
    // reads in another order. Of a stale value read is the store that it is left over from.
    Access load, store;
    std::optional<Access> read, other;
    bool known = true;  // whether the screen knows the values of the block

    bool wrong() const { return kind != Race || order == Overwritten || order == Early; }
    bool differ() const { return known && read && other && read->value != other->value; }
    bool one_warp() const { return load.thread / 32 == store.thread / 32; }
    // Of several races of one cell the one that is told: 0 where a load of another warp read a wrong value.
    int rank() const {
        if (wrong()) return (differ() ? 0 : 2) + (one_warp() ? 1 : 0);
        return one_warp() ? 6 : differ() ? 4 : 5;
    }
    // A load that came too late or too early may have read the right value all the same.
    bool value_wrong() const { return kind != Race || (wrong() && (differ() || !other || !known)); }
};

using twin::Accesses, twin::store_before;

// What it should have read; nothing where more than one thread stored that.
inline std::optional<Access> should_read(const Accesses& of, const Access& load) {
    std::optional<Access> best;
    std::set<uint32_t> threads;
    for (const Access& one : of) {
        if (!one.store || one.phase > load.phase || (one.phase == load.phase && one.line > load.line))
            continue;
        if (best && one.phase < best->phase) continue;
        if (best && one.phase > best->phase) threads.clear();
        best = one;
        threads.insert(one.thread);
    }
    return threads.size() == 1 ? best : std::nullopt;
}
// The race of a load with a store of its interval; nothing where there is none.
inline std::optional<Fault> race_of(const Accesses& of, const Access& load) {
    const auto rival = [&](const std::optional<Access>& one) {
        return one && one->interval == load.interval && one->thread != load.thread;
    };
    Fault race;
    race.load = load, race.read = store_before(of, load), race.other = should_read(of, load);
    race.told = load.step;
    if (rival(race.read) && race.read->phase > load.phase) {
        race.order = Fault::Overwritten, race.store = *race.read;
        return race;
    }
    if (rival(race.other) && race.other->step > load.step) {
        race.order = Fault::Early, race.store = *race.other;
        return race;
    }
    race.order = race.read && race.read == race.other ? Fault::Right : Fault::Open;
    for (const Access& one : of)
        if (one.store && one.step > load.step && rival(one)) {  // the next
            race.store = one, race.other = one, race.told = one.step;
            return race;
        }
    if (!rival(race.read)) return std::nullopt;
    race.store = *race.read;
    race.other = store_before(of, race.store);
    return race;
}

inline std::vector<Fault> faults_anew(const twin::Recording& f, size_t block, bool known) {
    std::vector<Fault> all;
    const auto cells = twin::accesses_of(f, block);
    std::map<uint8_t, std::set<uint32_t>> filled;  // by array: the intervals in which it is stored to
    for (const auto& [cell, of] : cells)
        for (const Access& one : of)
            if (one.store) filled[cell.first].insert(one.interval);
    for (const auto& [cell, of] : cells) {
        std::map<uint32_t, Fault> races, loads;  // by interval
        for (const Access& one : of) {
            if (one.store) continue;
            if (auto race = race_of(of, one)) {
                race->cell = cell, race->known = known;
                const auto told = races.find(one.interval);
                const int is = race->rank(), was = told == races.end() ? 100 : told->second.rank();
                if (is < was || (is == was && !race->wrong() && one.step > told->second.load.step))
                    races.insert_or_assign(one.interval, *race);
            }
            // Left over: the array was filled anew since, without this cell, after its value had been used.
            Fault fault{Fault::Unstored,       Fault::Open, cell, one.step, one, {},
                        store_before(of, one), {},          known};
            std::optional<uint32_t> stored;  // the latest interval that stored to it
            for (const Access& store : of)
                if (store.store && store.interval <= one.interval)
                    stored = std::max(stored.value_or(0), store.interval);
            const bool unstored = !stored;
            bool stale = false;
            if (stored) {
                const auto later = filled[cell.first].upper_bound(one.interval);
                const uint32_t anew = later == filled[cell.first].begin() ? 0 : *std::prev(later);
                for (const Access& use : of)
                    stale |= anew > *stored && !use.store && use.interval >= *stored && use.interval < anew;
                fault.kind = Fault::Stale;
            }
            if (!unstored && !stale) continue;
            const auto told = loads.find(one.interval);
            if (told == loads.end() || one.thread < told->second.load.thread)
                loads.insert_or_assign(one.interval, fault);
        }
        for (const auto& [interval, fault] : races) all.push_back(fault);
        for (const auto& [interval, fault] : loads) all.push_back(fault);
    }
    return all;
}
// The same; those of the latest few blocks are kept, since every rule for a text asks for them.
inline const std::vector<Fault>& faults_of(const twin::Recording& f, size_t block, bool known) {
    static twin::Latest<std::tuple<std::shared_ptr<const trace::Trace>, size_t, bool>, std::vector<Fault>>
        faults;
    return faults.answer({f.shared(), block, known}, [&] { return faults_anew(f, block, known); });
}

// Steps of a block at which a load went wrong; where none did, at which a race is told, of two warps if there
// is one.
inline std::set<uint32_t> steps_at_fault(const twin::Recording& f, size_t block, bool known) {
    std::set<uint32_t> wrong, of_warps, told;
    for (const Fault& fault : faults_of(f, block, known)) {
        told.insert(fault.told);
        if (fault.kind != Fault::Race || !fault.one_warp()) of_warps.insert(fault.told);
        if (fault.value_wrong()) wrong.insert(fault.told);
    }
    return !wrong.empty() ? wrong : !of_warps.empty() ? of_warps : told;
}

// --- what is said of them

inline std::string phase_words(const Scene& s, uint32_t phase) {
    return phase == twin::kAfterPhases ? "after the last phase" : fmt::format("phase {}", phase + s.first());
}
// "phase 1's 4"
inline std::string held_words(const Scene& s, const std::optional<Access>& store) {
    if (!store) return "the NaN that was there before";
    if (store->phase == twin::kAfterPhases)
        return fmt::format("the {:.6g} stored after the last phase", store->value);
    return fmt::format("{}'s {}", phase_words(s, store->phase), value_words(store->value));
}
inline std::string where_words(const Scene& s, uint32_t phase) {
    return (phase == twin::kAfterPhases ? "" : "in ") + phase_words(s, phase);
}

// Of the recording that is set beside another no block is run again.
inline bool values_known(const Scene& s) { return s.side != "B "; }

constexpr const char* kFaultNames[] = {"Race", "Stale load", "Uninitialised load"};

// The strip leads to a fault of any block that was recorded.
inline const std::string kGoesThere = " (X goes there)";
template <class Say>
Figures fault_of_strip(const Scene& s, Fault::Kind kind, const std::string& cell, const std::string& thread,
                       Say say) {
    for (size_t block = 0; block < s.trace().blocks.size(); ++block)
        for (const Fault& fault : faults_of(s.f, block, values_known(s)))
            if (fault.kind == kind && s.name(fault.cell.first, fault.cell.second) == cell &&
                s.thread(fault.load.thread) == thread)
                return joined({kFaultNames[kind] + kGoesThere}, say(fault));
    return {"a fault of the recording"};
}
// A recording has one fault for each kind and array.
inline size_t faults_of_recording(const Scene& s) {
    std::set<std::pair<Fault::Kind, uint8_t>> all;
    for (size_t block = 0; block < s.trace().blocks.size(); ++block)
        for (const Fault& fault : faults_of(s.f, block, values_known(s)))
            all.emplace(fault.kind, fault.cell.first);
    return all.size();
}

// The figures of a fault that is told at the step shown, by its cell and the thread that loads, and behind
// them, where it is said, of how many cells one of its kind is told here.
template <class Say>
Figures told_fault(const Scene& s, const Captures& c, Fault::Kind kind, const std::string& cell,
                   const std::string& thread, Say say) {
    if (c[0].ends_with(kGoesThere)) return fault_of_strip(s, kind, cell, thread, say);
    const std::vector<Fault>& all = faults_of(s.f, s.cursor.block, values_known(s));
    std::optional<Fault> found;
    uint64_t cells = 0;
    bool all_right = true;
    for (const Fault& fault : all) {
        all_right = all_right && fault.kind == Fault::Race && fault.order == Fault::Right;
        if (fault.told != s.cursor.step || fault.kind != kind) continue;
        ++cells;
        if (s.name(fault.cell.first, fault.cell.second) == cell && s.thread(fault.load.thread) == thread)
            found = fault;
    }
    if (!found) return {"a fault of this step"};
    Figures right{kFaultNames[kind] + std::string(all_right ? ", no value wrong in this block" : "")};
    right = joined(right, say(*found));
    const auto captured =
        std::ranges::count_if(right, [](const Figure& of) { return of.kind != Figure::Kind::Condition; });
    if (std::ssize(c) > captured) right.emplace_back(cells);
    return right;
}
inline std::string luck_words(const Fault& fault) {
    return fault.other && !fault.differ() ? ", by luck the same value" : "";
}

#define OF_FAULT(kind, cell, thread, ...)                                                         \
    [](const Scene& s, const Captures& c) -> Figures {                                            \
        return told_fault(s, c, Fault::kind, c[cell], c[thread], [&](const Fault& f) -> Figures { \
            const Access &load = f.load, &store = f.store;                                        \
            (void)store;                                                                          \
            return {__VA_ARGS__};                                                                 \
        });                                                                                       \
    }

inline Fault::Kind kind_named(const std::string& pattern) {
    return pattern.starts_with("{Race")    ? Fault::Race
           : pattern.starts_with("{Stale") ? Fault::Stale
                                           : Fault::Unstored;
}

inline std::vector<Rule> with_faults(std::vector<Rule> others) {
    const std::string race = "{Race|Race, no value wrong in this block}: ";
    std::vector<Rule> rules{
        {race + "@ of warp # overwrote @ at line #; @ of warp # now reads * at line # instead of "
                "*{, by luck the same value|}",
         OF_FAULT(Race, 3, 5, s.thread(store.thread), store.thread / 32, s.name(f.cell.first, f.cell.second),
                  store.line, s.thread(load.thread), load.thread / 32, held_words(s, f.read), load.line,
                  held_words(s, f.other), luck_words(f),
                  must(f.known && f.order == Fault::Overwritten && f.other))},
        {race + "@ of warp # overwrote @ at line #; @ of warp # now reads * at line #",
         OF_FAULT(Race, 3, 5, s.thread(store.thread), store.thread / 32, s.name(f.cell.first, f.cell.second),
                  store.line, s.thread(load.thread), load.thread / 32, held_words(s, f.read), load.line,
                  must(f.known && f.order == Fault::Overwritten && !f.other))},
        {race + "@ of warp # overwrote @ at line # *; @ of warp # reads it at line # after that, *, with no "
                "barrier between",
         OF_FAULT(Race, 3, 6, s.thread(store.thread), store.thread / 32, s.name(f.cell.first, f.cell.second),
                  store.line, where_words(s, store.phase), s.thread(load.thread), load.thread / 32, load.line,
                  where_words(s, load.phase), must(!f.known && f.order == Fault::Overwritten))},
        {race + "@ of warp # reads @ at line # * before @ of warp # stores to it at line # *{, with no "
                "barrier between|, which no barrier ensures}",
         OF_FAULT(Race, 3, 1, s.thread(load.thread), load.thread / 32, s.name(f.cell.first, f.cell.second),
                  load.line, where_words(s, load.phase), s.thread(store.thread), store.thread / 32,
                  store.line, where_words(s, store.phase),
                  f.order == Fault::Early ? ", with no barrier between" : ", which no barrier ensures",
                  must(!f.known && f.order != Fault::Overwritten && load.step < store.step))},
        {race + "@ of warp # stores to @ at line # * before @ of warp # reads it at line # *, which no "
                "barrier ensures",
         OF_FAULT(Race, 3, 6, s.thread(store.thread), store.thread / 32, s.name(f.cell.first, f.cell.second),
                  store.line, where_words(s, store.phase), s.thread(load.thread), load.thread / 32, load.line,
                  where_words(s, load.phase), must(!f.known && !f.wrong() && load.step > store.step))},
        {race + "@ of warp # now reads * from @ at line # instead of *, which @ of warp # stores later at "
                "line #{, by luck the same value|}",
         OF_FAULT(Race, 4, 1, s.thread(load.thread), load.thread / 32, held_words(s, f.read),
                  s.name(f.cell.first, f.cell.second), load.line, held_words(s, f.other),
                  s.thread(store.thread), store.thread / 32, store.line, luck_words(f),
                  must(f.known && f.order == Fault::Early))},
        {race + "@ of warp # reads * from @ at line # before @ of warp # stores * at line #: right by luck, "
                "another order reads the @",
         OF_FAULT(Race, 4, 1, s.thread(load.thread), load.thread / 32, held_words(s, f.read),
                  s.name(f.cell.first, f.cell.second), load.line, s.thread(store.thread), store.thread / 32,
                  held_words(s, f.other), store.line, value_words(f.other->value),
                  must(f.known && f.order == Fault::Right && load.step < store.step))},
        {race + "@ of warp # stores * to @ at line # before @ of warp # reads it at line #: right by luck, "
                "another order reads *",
         OF_FAULT(Race, 4, 6, s.thread(store.thread), store.thread / 32, held_words(s, f.read),
                  s.name(f.cell.first, f.cell.second), store.line, s.thread(load.thread), load.thread / 32,
                  load.line, held_words(s, f.other),
                  must(f.known && f.order == Fault::Right && load.step > store.step))},
        {"{Stale load}: @: @ reads * at line # *, stored by @ at line # and not since",
         OF_FAULT(Stale, 1, 2, s.name(f.cell.first, f.cell.second), s.thread(load.thread),
                  held_words(s, f.read), load.line, where_words(s, load.phase), s.thread(f.read->thread),
                  f.read->line, must(f.known && f.read->phase < load.phase))},
        {"{Stale load}: @: @ reads at line # * what @ stored at line # *, as nothing was stored there since",
         OF_FAULT(Stale, 1, 2, s.name(f.cell.first, f.cell.second), s.thread(load.thread), load.line,
                  where_words(s, load.phase), s.thread(f.read->thread), f.read->line,
                  where_words(s, f.read->phase), must(!f.known && f.read->phase < load.phase))},
        {"{Uninitialised load}: @: @ reads at line # *, and nothing was stored there before{: NaN in this "
         "run|}",
         OF_FAULT(Unstored, 1, 2, s.name(f.cell.first, f.cell.second), s.thread(load.thread), load.line,
                  where_words(s, load.phase),
                  f.known && s.trace().meta.backend == trace::Backend::Cpu ? ": NaN in this run" : "",
                  must(!f.read))},
    };
    for (size_t i = rules.size(); i-- > 0;) {
        rules.push_back({rules[i].pattern + "; # cell(s) at this step.", rules[i].right});
        const std::string strip =
            fmt::format("{{{}{}}}{}.", kFaultNames[kind_named(rules[i].pattern)], kGoesThere,
                        rules[i].pattern.substr(rules[i].pattern.find('}') + 1));
        rules.push_back({strip, [right = rules[i].right](const Scene& s, const Captures& c) {
                             return joined(right(s, c), {must(faults_of_recording(s) == 1)});
                         }});
        rules.push_back({"# faults. " + strip, [right = rules[i].right](const Scene& s, const Captures& c) {
                             return joined({faults_of_recording(s)}, right(s, {c.begin() + 1, c.end()}));
                         }});
        rules[i].pattern += ".";
    }
    rules.insert(rules.end(), others.begin(), others.end());
    return rules;
}

}  // namespace tilescope::app
