#pragma once
// A task is a UUID and a map of attributes, exactly as TaskChampion has it: REST fields are names
// in that map (`description`, `tag_NAME`, `dep_UUID`, `annotation_EPOCH`), so a task made over HTTP
// and one that came from Taskwarrior are the same thing.

#include <callsign/base/strong_id.hpp>
#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/author.hpp>

#include <boost/container/flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace callsign {

using attributes = boost::container::flat_map<std::string, std::string, std::less<>>;

// Names and values together, in bytes.
inline std::size_t size_of(const attributes& all) noexcept {
    std::size_t bytes = 0;
    for (const auto& [name, value] : all) bytes += name.size() + value.size();
    return bytes;
}

// Empty: there is no such attribute.
inline std::string_view value_of(const attributes& all, std::string_view name) {
    const auto found = all.find(name);
    return found == all.end() ? std::string_view{} : std::string_view{found->second};
}

// What leads from one state of a task to another: what is set, and what is not there any more.
struct attribute_diff {
    attributes set;
    std::vector<std::string> absent;  // names

    friend bool operator==(const attribute_diff&, const attribute_diff&) = default;
};
attribute_diff diff_between(const attributes& from, const attributes& to);
// False, and nothing is known of the state: one that is to go is not there.
bool apply_diff(const attribute_diff& diff, attributes& state);
std::size_t size_of(const attribute_diff& diff) noexcept;

// All tasks of a replica.
using task_map = std::map<uuid, attributes>;

// The immutable answer of a creation. Kept with the task for ever, given again on every retry.
struct receipt {
    callsign::uuid uuid{};
    std::string prefix;  // as it was when the number was taken
    std::string period;  // empty: the series never resets
    std::int64_t number = 0;
    std::int64_t seq = 0;
    time_point created_at;
    bool created = true;  // false: this key found the task already there

    friend bool operator==(const receipt&, const receipt&) = default;
};

// SYN-42, or INC-20261120-7 with a period.
std::string format_key(std::string_view prefix, std::string_view period, std::int64_t number);

inline std::string key_of(const receipt& r) {
    return format_key(r.prefix, r.period, r.number);
}

struct task {
    task_id id;
    account_id account;
    callsign::uuid uuid{};
    std::optional<receipt> numbered;  // empty only for a task still without a number
    std::string current_prefix;  // its series' prefix today; a renamed series gives keys a new one
    std::int64_t last_seq = 0;   // of its latest change
    time_point created_at;
    bool purged = false;  // a tombstone: uuid, key and receipt stay, the attributes are gone
    callsign::attributes attributes;
    callsign::author author{};  // of its creation
    std::string author_name{};  // to be shown; a store leaves it empty
};

// It has its number, and nobody has seen it here: an opaque account's.
inline bool is_unseen(const task& t) {
    return t.purged && t.numbered && t.numbered->seq == 0;
}

// Where a task stands in the order of keys.
struct task_place {
    // Instead of a period: its number is the task's id.
    static constexpr std::string_view unnumbered = "u";

    series_id series;
    std::string period;
    std::int64_t number = 0;

    friend bool operator==(const task_place&, const task_place&) = default;
};

// A key as a person says it, prefix in upper case.
struct task_key {
    std::string prefix;
    std::string period;
    std::int64_t number = 0;

    friend bool operator==(const task_key&, const task_key&) = default;
};

// How a task is named in a path or a body: its UUID or its key.
using task_ref = std::variant<uuid, task_key>;

// UUID first, then PREFIX-N or PREFIX-PERIOD-N, prefix in any case; nullopt: malformed.
std::optional<task_ref> parse_task_ref(std::string_view text);

// Why a ref does not name a task that can be used. is_itself: a task cannot depend on itself.
enum class ref_fault : std::uint8_t { unknown_prefix, task_not_found, task_deleted, is_itself };

// The form parse_task_ref reads back; equal refs give equal text.
std::string to_string(const task_ref& ref);

}  // namespace callsign
