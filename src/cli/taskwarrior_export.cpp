#include "taskwarrior_export.hpp"

#include <callsign/base/keyed_hash.hpp>
#include <callsign/base/text.hpp>
#include <callsign/base/time.hpp>

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <charconv>
#include <limits>
#include <unordered_map>

namespace callsign::cli {
namespace {

namespace json = boost::json;

std::string_view view(const json::string& text) {
    return {text.data(), text.size()};
}

constexpr std::string_view blank = " \t\r\n";

// YYYYMMDDTHHMMSSZ as seconds since the epoch; nullopt: it is not in this form, or no such day.
std::optional<std::int64_t> parse_stamp(std::string_view text) {
    if (text.size() != 16 || text[8] != 'T' || text[15] != 'Z') return std::nullopt;
    const std::string t(text);
    const auto at =
        parse_rfc3339(t.substr(0, 4) + "-" + t.substr(4, 2) + "-" + t.substr(6, 2) + "T" +
                      t.substr(9, 2) + ":" + t.substr(11, 2) + ":" + t.substr(13, 2) + "Z");
    if (!at) return std::nullopt;
    return at->time_since_epoch().count() / 1000;
}

// Dates of Taskwarrior's own. Of a user's attribute nobody knows here whether it is one.
bool is_instant(std::string_view name) {
    constexpr std::array<std::string_view, 8> known{"due",       "end",   "entry", "modified",
                                                    "scheduled", "start", "until", "wait"};
    return std::find(known.begin(), known.end(), name) != known.end();
}

bool is_left_out(std::string_view name) {
    return name == "id" || name == "urgency";
}

// A number as Taskwarrior keeps it: text. nullopt: it is none.
std::optional<std::string> number_text(const json::value& value) {
    if (value.is_int64()) return std::to_string(value.get_int64());
    if (value.is_uint64()) return std::to_string(value.get_uint64());
    if (!value.is_double()) return std::nullopt;
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.begin(), digits.end(), value.get_double()).ptr;
    return std::string(digits.begin(), end);
}

// Reads one object; what is wrong with it goes to `faults` with its place before it.
class task_reader {
  public:
    task_reader(const json::object& in, std::string place, taskwarrior_export& out)
        : in_(in), place_(std::move(place)), out_(out) {}

    void read(exported_task& task) {
        for (const auto& member : in_) {
            const std::string_view name(member.key().data(), member.key().size());
            if (name == "uuid") {
                read_uuid(member.value(), task.uuid);
            } else if (name == "tags") {
                read_list(member.value(), name, [&](std::string_view tag) {
                    if (tag.empty()) return false;
                    put(task, "tag_" + std::string(tag), "");
                    return true;
                });
            } else if (name == "depends") {
                read_list(member.value(), name, [&](std::string_view text) {
                    const auto id = parse_uuid(text);
                    if (id) put(task, "dep_" + to_string(*id), "");
                    return id.has_value();
                });
            } else if (name == "annotations") {
                read_annotations(member.value(), task);
            } else if (!is_left_out(name)) {
                read_attribute(name, member.value(), task);
            }
        }
        settle_status(task);
        if (!in_.contains("uuid")) fault("it has no uuid");
        const auto description = task.attributes.find("description");
        if (!in_.contains("description") ||
            (description != task.attributes.end() && description->second.empty())) {
            fault("it has no description");
        }
    }

  private:
    void fault(const std::string& why) { out_.faults.push_back(place_ + ": " + why); }

    static void put(exported_task& task, std::string name, std::string value) {
        task.attributes.emplace(std::move(name), std::move(value));
    }

    // Before Taskwarrior 3 a task that waits had a status of its own; now `wait` says it, and the
    // old word would hide the task. Taskwarrior's own import does the same.
    static void settle_status(exported_task& task) {
        std::string& status = task.attributes["status"];
        if (status.empty() || status == "waiting") status = "pending";
    }

    void read_uuid(const json::value& value, uuid& out) {
        const auto id = value.is_string() ? parse_uuid(view(value.get_string())) : std::nullopt;
        if (!id || id->is_nil()) return fault("uuid: it is no UUID");
        out = *id;
    }

    void read_attribute(std::string_view name, const json::value& value, exported_task& task) {
        const std::string field(name);
        if (name.empty()) return fault("an attribute has no name");
        if (value.is_string()) {
            const std::string_view text = view(value.get_string());
            if (!is_instant(name)) return put(task, field, std::string(text));
            const auto seconds = parse_stamp(text);
            if (!seconds) return fault(field + ": it is no date such as 20261120T124800Z");
            return put(task, field, std::to_string(*seconds));
        }
        auto number = number_text(value);
        if (!number || is_instant(name)) {
            return fault(field + ": it is of a kind that Taskwarrior does not export");
        }
        put(task, field, std::move(*number));
    }

    // An array of texts, or one text with commas, as older versions have it. `take` says whether
    // an element is good.
    template <class Take>
    void read_list(const json::value& value, std::string_view name, Take take) {
        const std::string field(name);
        if (value.is_string()) {
            std::string_view rest = view(value.get_string());
            while (!rest.empty()) {
                const auto end = std::min(rest.find(','), rest.size());
                if (!take(trimmed(rest.substr(0, end), blank))) {
                    fault(field + ": an element is not valid");
                }
                rest.remove_prefix(std::min(end + 1, rest.size()));
            }
            return;
        }
        if (!value.is_array()) return fault(field + ": it is no list");
        for (const json::value& one : value.get_array()) {
            if (!one.is_string() || !take(view(one.get_string()))) {
                fault(field + ": an element is not valid");
            }
        }
    }

    // The later one of a second moves to the next, as Taskwarrior does it.
    void read_annotations(const json::value& value, exported_task& task) {
        if (!value.is_array()) return fault("annotations: it is no list");
        for (const json::value& one : value.get_array()) {
            const auto* parts = one.if_object();
            const auto* entry = parts ? parts->if_contains("entry") : nullptr;
            const auto* text = parts ? parts->if_contains("description") : nullptr;
            auto at =
                entry && entry->is_string() ? parse_stamp(view(entry->get_string())) : std::nullopt;
            if (!at || !text || !text->is_string()) {
                fault("annotations: an element has no entry or no description");
                continue;
            }
            std::string name = "annotation_" + std::to_string(*at);
            while (task.attributes.contains(name)) {
                name = "annotation_" + std::to_string(++*at);
            }
            put(task, std::move(name), std::string(view(text->get_string())));
        }
    }

    const json::object& in_;
    std::string place_;
    taskwarrior_export& out_;
};

// Everything that the export holds, one value at a time, with its place.
class export_reader {
  public:
    explicit export_reader(taskwarrior_export& out) : out_(out) {}

    void read(std::string_view text) {
        if (trimmed(text, blank).starts_with('[')) {
            read_array(trimmed(text, blank));
        } else {
            read_lines(text);
        }
    }

  private:
    void read_array(std::string_view text) {
        json::error_code error;
        const json::value all = json::parse({text.data(), text.size()}, error);
        if (error) {
            out_.faults.push_back("this is not well-formed JSON: " + error.message());
            return;
        }
        std::size_t n = 0;
        for (const json::value& one : all.as_array()) {
            take(one, "entry " + std::to_string(++n));
        }
    }

    void read_lines(std::string_view text) {
        for (std::size_t n = 1; !text.empty(); ++n) {
            const auto end = std::min(text.find('\n'), text.size());
            std::string_view line = trimmed(text.substr(0, end), blank);
            text.remove_prefix(std::min(end + 1, text.size()));
            if (line.ends_with(',')) line.remove_suffix(1);
            if (line.empty()) continue;
            const std::string place = "line " + std::to_string(n);
            json::error_code error;
            const json::value one = json::parse({line.data(), line.size()}, error);
            if (error) {
                out_.faults.push_back(place + ": this is not well-formed JSON: " + error.message());
            } else {
                take(one, place);
            }
        }
    }

    void take(const json::value& one, const std::string& place) {
        if (!one.is_object()) {
            out_.faults.push_back(place + ": it is no task");
            return;
        }
        exported_task& task = out_.tasks.emplace_back();
        task_reader(one.get_object(), place, out_).read(task);
        if (task.uuid.is_nil()) return;  // which has been said
        const auto [known, fresh] = places_.emplace(task.uuid, place);
        if (!fresh) out_.faults.push_back(place + ": its uuid is that of " + known->second);
    }

    taskwarrior_export& out_;
    std::unordered_map<uuid, std::string, keyed_hash> places_;
};

// Seconds; those without one come last.
std::int64_t entry_of(const exported_task& task) {
    std::int64_t seconds = std::numeric_limits<std::int64_t>::max();
    const auto found = task.attributes.find("entry");
    if (found == task.attributes.end()) return seconds;
    const std::string& text = found->second;
    std::from_chars(text.data(), text.data() + text.size(), seconds);
    return seconds;
}

}  // namespace

taskwarrior_export read_taskwarrior_export(std::string_view text) {
    taskwarrior_export out;
    export_reader(out).read(text);
    std::stable_sort(
        out.tasks.begin(), out.tasks.end(),
        [](const exported_task& a, const exported_task& b) { return entry_of(a) < entry_of(b); });
    return out;
}

}  // namespace callsign::cli
