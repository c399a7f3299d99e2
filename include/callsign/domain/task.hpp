#pragma once
// A task is a UUID and a map of attributes, exactly as in TaskChampion. REST fields are names in
// that map (`description`, `tag_NAME`, `dep_UUID`, `annotation_EPOCH`), so tasks created over HTTP
// and tasks from Taskwarrior are alike.

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

// Returns the bytes of all names and values.
inline std::size_t size_of(const attributes& all) noexcept {
    std::size_t bytes = 0;
    for (const auto& [name, value] : all) bytes += name.size() + value.size();
    return bytes;
}

// Returns an empty text if there is no such attribute.
inline std::string_view value_of(const attributes& all, std::string_view name) {
    const auto found = all.find(name);
    return found == all.end() ? std::string_view{} : std::string_view{found->second};
}

// The difference between two states of a task: the attributes to set and those to remove.
struct attribute_diff {
    attributes set;
    std::vector<std::string> absent;  // names

    friend bool operator==(const attribute_diff&, const attribute_diff&) = default;
};
attribute_diff diff_between(const attributes& from, const attributes& to);
// False: an attribute to be removed does not exist, so `state` is unspecified.
bool apply_diff(const attribute_diff& diff, attributes& state);
std::size_t size_of(const attribute_diff& diff) noexcept;

// All tasks of a replica.
using task_map = std::map<uuid, attributes>;

// The response to a creation. Immutable, kept with the task forever and returned to each retry.
struct receipt {
    callsign::uuid uuid{};
    std::string prefix;  // as it was when the number was assigned
    std::string period;  // empty: the series never resets
    std::int64_t number = 0;
    std::int64_t seq = 0;
    time_point created_at;
    bool created = true;  // false: the task existed before this key was used

    friend bool operator==(const receipt&, const receipt&) = default;
};

// Returns SYN-42, or INC-20261120-7 with a period.
std::string format_key(std::string_view prefix, std::string_view period, std::int64_t number);

inline std::string key_of(const receipt& r) {
    return format_key(r.prefix, r.period, r.number);
}

// Names one state of a task, as a validator (ETag, If-Match): SEQ.STAMP. The stamp depends on the
// store's instance, which a restore changes since it assigns seqs again, and on the prefix, which a
// renaming of the series changes.
struct task_tag {
    std::int64_t seq = 0;  // of the task's latest change
    std::uint32_t stamp = 0;

    friend bool operator==(const task_tag&, const task_tag&) = default;
};
std::uint32_t stamp_of(const uuid& instance, std::string_view prefix);
std::string to_string(const task_tag& tag);
// Returns it in double quotes, as in an ETag.
std::string etag_of(const task_tag& tag);
// Accepts only what to_string() returns.
std::optional<task_tag> parse_task_tag(std::string_view text);

struct task {
    task_id id;
    account_id account;
    callsign::uuid uuid{};
    std::optional<receipt> numbered;  // none: the task has no number yet
    std::string current_prefix;       // of the series today; a renaming of the series changes it
    std::int64_t last_seq = 0;        // of the latest change
    time_point created_at;
    bool purged = false;  // a tombstone: UUID, key and receipt are kept without the attributes
    callsign::attributes attributes;
    callsign::author author{};    // of the creation
    std::optional<slot_id> slot;  // of the request that created it; none: a device or an import
    // For display; a store leaves them empty.
    std::string author_name{};
    task_tag tag{};
};

// Whether it is a task of an opaque account: numbered, but its content was never seen here.
inline bool is_unseen(const task& t) {
    return t.purged && t.numbered && t.numbered->seq == 0;
}

// The position of a task in the order of keys.
struct task_place {
    // In place of a period, for tasks without a number: `number` is the task's ID then.
    static constexpr std::string_view unnumbered = "u";

    series_id series;
    std::string period;
    std::int64_t number = 0;

    friend bool operator==(const task_place&, const task_place&) = default;
};

// A parsed key, with its prefix in upper case.
struct task_key {
    std::string prefix;
    std::string period;
    std::int64_t number = 0;

    friend bool operator==(const task_key&, const task_key&) = default;
};

// Names a task in a path or a body, by UUID or by key.
using task_ref = std::variant<uuid, task_key>;

// Reads a UUID, PREFIX-N or PREFIX-PERIOD-N, with the prefix in any case; nullopt: malformed.
std::optional<task_ref> parse_task_ref(std::string_view text);

// Why a task_ref is rejected. is_itself: a task cannot depend on itself.
enum class ref_fault : std::uint8_t { unknown_prefix, task_not_found, task_deleted, is_itself };

// Returns the form that parse_task_ref reads; equal references give equal text.
std::string to_string(const task_ref& ref);

}  // namespace callsign
