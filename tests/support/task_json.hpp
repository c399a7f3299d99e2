#pragma once
// Converts tasks and changes from JSON.

#include "model_follower.hpp"

#include <callsign/base/time.hpp>

#include <boost/json.hpp>
#include <charconv>
#include <string>
#include <string_view>

namespace callsign::testing {

inline std::string text_of(const boost::json::object& o, std::string_view name) {
    const auto* const found = o.if_contains(name);
    return found && found->is_string() ? std::string(found->as_string()) : std::string();
}

inline std::string code_of(const boost::json::object& problem) {
    return text_of(problem, "code");
}

// For the result of an item in a batch.
inline unsigned status_of(const boost::json::object& result) {
    const auto* const problem = result.if_contains("problem");
    if (!problem || problem->is_null()) return 201;
    return static_cast<unsigned>(problem->at("status").as_int64());
}

inline attributes attributes_of(const boost::json::object& task) {
    attributes all;
    for (const char* name : {"description", "status", "project", "priority", "recur"}) {
        if (auto text = text_of(task, name); !text.empty()) all[name] = std::move(text);
    }
    for (const char* name : {"entry", "modified", "end", "start", "due", "wait", "scheduled"}) {
        const auto at = parse_rfc3339(text_of(task, name));
        if (!at) continue;
        const auto seconds = std::chrono::floor<std::chrono::seconds>(*at).time_since_epoch();
        all[name] = std::to_string(seconds.count());
    }
    for (const auto& [list, start] : {std::pair("tags", "tag_"), std::pair("depends", "dep_")}) {
        const auto* const found = task.if_contains(list);
        if (!found) continue;
        for (const auto& each : found->as_array()) {
            all[std::string(start) + std::string(each.as_string())] = "";
        }
    }
    if (const auto* const rest = task.if_contains("attributes")) {
        for (const auto& [name, value] : rest->as_object()) {
            all[std::string(name)] = std::string(value.as_string());
        }
    }
    return all;
}

// MARK.SEQ or MARK.SEQ.TASKS; "0" is the beginning of the feed.
inline feed_place place_of(std::string_view cursor) {
    feed_place at;
    const auto first = cursor.find('.');
    if (first == std::string_view::npos) return at;
    const char* const end = cursor.data() + cursor.size();
    const auto seq = std::from_chars(cursor.data() + first + 1, end, at.seq);
    if (seq.ptr != end) std::from_chars(seq.ptr + 1, end, at.tasks);
    return at;
}

inline heard_change heard_of(const boost::json::object& change) {
    const auto& task = change.at("task").as_object();
    heard_change heard;
    heard.place = place_of(text_of(change, "cursor"));
    heard.task = parse_uuid(text_of(task, "uuid")).value_or(uuid{});
    heard.purged = change.at("purged").as_bool();
    heard.attributes = attributes_of(task);
    heard.attributes.erase("key");
    return heard;
}

}  // namespace callsign::testing
