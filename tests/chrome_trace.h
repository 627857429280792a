// Holds a Chrome trace against the rules of its format.
//
// "Trace Event Format" (Google), JSON Object Format: traceEvents is a list of events, displayTimeUnit is ms
// or ns; every event has name, ph, pid, tid; X (complete) has ts and dur in microseconds, C (counter) has ts
// and numbers as args, M (metadata) has one of the names that are known, with the args of that name; every B
// has its E. perfetto.dev, "Importing external traces": events of a thread must nest, one process's threads.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace tilescope::test {

class ChromeTraceRules {
public:
    using Json = nlohmann::json;

    // The first rule that is broken, in words, or "".
    static std::string broken(const Json& trace) {
        if (!trace.is_object() || !trace.contains("traceEvents") || !trace["traceEvents"].is_array())
            return "traceEvents is no list";
        if (trace.contains("displayTimeUnit") && trace["displayTimeUnit"] != "ms" &&
            trace["displayTimeUnit"] != "ns")
            return "displayTimeUnit is neither ms nor ns";
        ChromeTraceRules rules;
        size_t number = 0;
        for (const Json& event : trace["traceEvents"]) {
            if (const std::string rule = rules.event(event); !rule.empty())
                return rule + ": event " + std::to_string(number) + ", " + event.dump();
            ++number;
        }
        for (const auto& [thread, open] : rules.open_)
            if (!open.empty()) return "a B without its E on thread " + std::to_string(thread.second);
        return "";
    }

private:
    using Thread = std::pair<int64_t, int64_t>;

    static bool time(const Json& event, const char* key) {
        return event.contains(key) && event[key].is_number() && std::isfinite(event[key].get<double>()) &&
               event[key].get<double>() >= 0;
    }
    static int64_t ns(const Json& us) { return std::llround(us.get<double>() * 1000); }

    std::string event(const Json& event) {
        if (!event.is_object()) return "no object";
        for (const char* key : {"name", "ph"})
            if (!event.contains(key) || !event[key].is_string() || event[key].get<std::string>().empty())
                return std::string(key) + " is no text";
        for (const char* key : {"pid", "tid"})
            if (!event.contains(key) || !event[key].is_number_integer())
                return std::string(key) + " is no number";
        if (event.contains("cat") && !event["cat"].is_string()) return "cat is no text";
        if (event.contains("args") && !event["args"].is_object()) return "args is no object";
        const Thread thread{event["pid"], event["tid"]};
        if (process_of_.try_emplace(thread.second, thread.first).first->second != thread.first)
            return "a thread of two processes";
        const std::string ph = event["ph"];
        if (ph == "M") return metadata(event, thread);
        if (!time(event, "ts")) return "ts is no time";
        if (ph == "C") return counter(event, thread);
        if (!threads_.count(thread) || !processes_.count(thread.first)) return "a thread without a name";
        if (ph == "X") {
            if (!time(event, "dur")) return "dur is no time";
            return span(thread, ns(event["ts"]), ns(event["ts"]) + ns(event["dur"]));
        }
        auto& open = open_[thread];
        if (ph == "B") {
            open.push_back(ns(event["ts"]));
            return "";
        }
        if (ph == "E") {
            if (open.empty()) return "an E without its B";
            if (open.back() > ns(event["ts"])) return "an E before its B";
            open.pop_back();
            return "";
        }
        return "ph is not known";
    }

    // Spans of a thread, by when they begin: each after the one before it, or wholly inside it.
    std::string span(const Thread& thread, int64_t from, int64_t to) {
        auto& last = spans_[thread];
        if (last.second > 0 && from < last.first) return "not in the order of time";
        if (from < last.second && to > last.second) return "overlaps the one before it";
        last = {from, std::max(to, last.second)};
        return "";
    }

    std::string counter(const Json& event, const Thread& thread) {
        if (!event.contains("args") || event["args"].empty()) return "a counter of nothing";
        for (const auto& [key, value] : event["args"].items())
            if (!value.is_number()) return "a counter of what is no number";
        int64_t& last = counted_[{thread.first, event["name"]}];
        if (ns(event["ts"]) < last) return "a counter that goes back in time";
        last = ns(event["ts"]);
        return "";
    }

    std::string metadata(const Json& event, const Thread& thread) {
        const std::string name = event["name"];
        const bool names = name == "process_name" || name == "thread_name";
        if (!names && name != "process_sort_index" && name != "thread_sort_index" && name != "process_labels")
            return "metadata of a name that is not known";
        const char* const key = names ? "name" : name == "process_labels" ? "labels" : "sort_index";
        if (!event.contains("args") || !event["args"].contains(key)) return "metadata without its args";
        const Json& value = event["args"][key];
        if (std::string(key) == "sort_index" ? !value.is_number_integer() : !value.is_string())
            return "metadata of another type";
        if (name == "process_name" && !processes_.insert(thread.first).second) return "a process named twice";
        if (name == "thread_name" && !threads_.insert(thread).second) return "a thread named twice";
        return "";
    }

    std::map<int64_t, int64_t> process_of_;  // by thread
    std::set<int64_t> processes_;
    std::set<Thread> threads_;
    std::map<Thread, std::pair<int64_t, int64_t>> spans_;
    std::map<Thread, std::vector<int64_t>> open_;
    std::map<std::pair<int64_t, std::string>, int64_t> counted_;
};

}  // namespace tilescope::test
