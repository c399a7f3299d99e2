#include "taskwarrior_export.hpp"

#include "text.hpp"

#include <callsign/base/keyed_hash.hpp>
#include <callsign/base/text.hpp>
#include <callsign/base/time.hpp>
#include <callsign/domain/task_faults.hpp>

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/stream_parser.hpp>
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

// Parses YYYYMMDDTHHMMSSZ as seconds since the epoch; nullopt: another form, or no such day.
std::optional<std::int64_t> parse_stamp(std::string_view text) {
    if (text.size() != 16 || text[8] != 'T' || text[15] != 'Z') return std::nullopt;
    const std::string t(text);
    const auto at =
        parse_rfc3339(t.substr(0, 4) + "-" + t.substr(4, 2) + "-" + t.substr(6, 2) + "T" +
                      t.substr(9, 2) + ":" + t.substr(11, 2) + ":" + t.substr(13, 2) + "Z");
    if (!at) return std::nullopt;
    return at->time_since_epoch().count() / 1000;
}

// Parses an instant in Taskwarrior's export form, or in seconds, as its own import does.
std::optional<std::int64_t> parse_instant(const json::value& value) {
    if (value.is_string()) {
        const auto stamp = parse_stamp(view(value.get_string()));
        return stamp ? stamp : parse_integer(view(value.get_string()));
    }
    json::error_code not_whole;
    const auto seconds = value.to_number<std::int64_t>(not_whole);
    return not_whole ? std::nullopt : std::optional(seconds);
}

// Text attributes of Taskwarrior. Any other is a UDA, which may be a date.
bool is_text(std::string_view name) {
    constexpr std::array<std::string_view, 9> known{"description", "mask",    "parent",
                                                    "priority",    "project", "recur",
                                                    "rtype",       "status",  "template"};
    return std::find(known.begin(), known.end(), name) != known.end();
}

// Converts a UDA that has the export form of a date. Taskwarrior's import, which knows the type,
// stores seconds; as text it would be a date of 1970 in reports and filters.
std::string user_value(std::string_view text) {
    const auto seconds = parse_stamp(text);
    return seconds && is_kept_instant(*seconds) ? std::to_string(*seconds) : std::string(text);
}

bool is_left_out(std::string_view name) {
    return name == "id" || name == "urgency";
}

// Returns a number as text, as Taskwarrior stores it; nullopt: it is none.
std::optional<std::string> number_text(const json::value& value) {
    if (value.is_int64()) return std::to_string(value.get_int64());
    if (value.is_uint64()) return std::to_string(value.get_uint64());
    if (!value.is_double()) return std::nullopt;
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.begin(), digits.end(), value.get_double()).ptr;
    return std::string(digits.begin(), end);
}

// Reads one object; its errors are added with its place.
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
                read_list(member.value(), name, blank, [&](std::string_view tag) {
                    if (tag.empty()) return false;
                    put(task, std::string(tag_start).append(tag), "");
                    return true;
                });
            } else if (name == "depends") {
                // In a text it may have the brackets and quotation marks of a list.
                read_list(member.value(), name, " \t\r\n[]\"", [&](std::string_view text) {
                    const auto id = parse_uuid(text);
                    if (id) put(task, std::string(dependency_start) + to_string(*id), "");
                    return id.has_value();
                });
            } else if (name == "annotations") {
                read_annotations(member.value(), task);
            } else if (!is_left_out(name)) {
                read_attribute(name, member.value(), task);
            }
        }
        settle_status(task);
        for (const task_fault& each : faults_of_attributes(task.attributes)) {
            fault(each.attribute + ": " + std::string(each.detail));
        }
        if (!in_.contains("uuid")) fault("uuid is missing");
        const auto description = task.attributes.find("description");
        if (!in_.contains("description") ||
            (description != task.attributes.end() && description->second.empty())) {
            fault("description is missing");
        }
    }

  private:
    void fault(const std::string& why) { out_.faults.push_back(place_ + ": " + why); }

    static void put(exported_task& task, std::string name, std::string value) {
        task.attributes.emplace(std::move(name), std::move(value));
    }

    // Before Taskwarrior 3 a waiting task had a status of its own, which would hide it now that
    // `wait` decides. Taskwarrior's own import does the same.
    static void settle_status(exported_task& task) {
        std::string& status = task.attributes["status"];
        if (status.empty() || status == "waiting") status = "pending";
    }

    void read_uuid(const json::value& value, uuid& out) {
        const auto id = value.is_string() ? parse_uuid(view(value.get_string())) : std::nullopt;
        if (!id || id->is_nil()) return fault("uuid: must be a UUID");
        out = *id;
    }

    void read_attribute(std::string_view name, const json::value& value, exported_task& task) {
        const std::string field(name);
        if (name.empty()) return fault("attribute without a name");
        auto number = number_text(value);
        if (!value.is_string() && !number) {
            return fault(field + ": Taskwarrior does not export values of this type");
        }
        if (is_instant_name(name)) {
            const auto seconds = parse_instant(value);
            if (!seconds) return fault(field + ": must be a date such as 20261120T124800Z");
            return put(task, field, std::to_string(*seconds));
        }
        if (number) return put(task, field, std::move(*number));
        const std::string_view text = view(value.get_string());
        put(task, field, is_text(name) ? std::string(text) : user_value(text));
    }

    // Reads an array of texts, or one text with commas, as in older versions. `take` returns
    // whether an element is valid.
    template <class Take>
    void read_list(const json::value& value, std::string_view name, std::string_view around,
                   Take take) {
        const std::string field(name);
        if (value.is_string()) {
            std::string_view rest = trimmed(view(value.get_string()), around);
            while (!rest.empty()) {
                if (!take(take_until(rest, ',', around))) fault(field + ": invalid element");
            }
            return;
        }
        if (!value.is_array()) return fault(field + ": must be a list");
        for (const json::value& one : value.get_array()) {
            if (!one.is_string() || !take(view(one.get_string()))) {
                fault(field + ": invalid element");
            }
        }
    }

    // Of two in the same second the later one moves to the next, as in Taskwarrior.
    void read_annotations(const json::value& value, exported_task& task) {
        if (!value.is_array()) return fault("annotations: must be a list");
        for (const json::value& one : value.get_array()) {
            const auto* parts = one.if_object();
            const auto* entry = parts ? parts->if_contains("entry") : nullptr;
            const auto* text = parts ? parts->if_contains("description") : nullptr;
            auto at = entry ? parse_instant(*entry) : std::nullopt;
            if (!at || !text || !text->is_string()) {
                fault("annotations: element without entry or description");
                continue;
            }
            std::string name = std::string(annotation_start) + std::to_string(*at);
            while (task.attributes.contains(name)) {
                name = std::string(annotation_start) + std::to_string(++*at);
            }
            put(task, std::move(name), std::string(view(text->get_string())));
        }
    }

    const json::object& in_;
    std::string place_;
    taskwarrior_export& out_;
};

// Reads the whole export, one value at a time, with its place.
class export_reader {
  public:
    explicit export_reader(taskwarrior_export& out) : out_(out) {}

    void read(std::string_view text) {
        text = without_byte_order_mark(text);
        if (trimmed(text, blank).starts_with('[')) {
            read_array(text);
        } else {
            read_lines(text);
        }
    }

  private:
    void read_array(std::string_view text) {
        json::error_code error;
        const json::value all = json::parse({text.data(), text.size()}, error);
        if (error) {
            out_.faults.push_back(place_of_error(text) + "malformed JSON: " + error.message());
            return;
        }
        std::size_t n = 0;
        for (const json::value& one : all.as_array()) {
            take(one, "entry " + std::to_string(++n));
        }
    }

    // Returns where the array stops being JSON; empty: at its end, where something is missing.
    static std::string place_of_error(std::string_view text) {
        // The parser does not report the place: line by line, then byte by byte.
        json::stream_parser lines;
        json::error_code error;
        std::size_t line = 1, begin = 0;
        for (;; ++line) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            if (begin == text.size()) return {};
            const std::string_view next = text.substr(begin, end + 1 - begin);
            lines.write(next.data(), next.size(), error);
            if (error) break;
            begin += next.size();
        }
        json::stream_parser bytes;
        bytes.write(text.data(), begin, error = {});
        std::size_t column = 0;
        while (!error) bytes.write(text.data() + begin + column++, 1, error);
        return "entry " + std::to_string(entry_at(text.substr(0, begin + column))) + ", line " +
               std::to_string(line) + ", column " + std::to_string(column) + ": ";
    }

    // Returns the number of the entry in which the text ends.
    static std::size_t entry_at(std::string_view text) {
        std::size_t entry = 1, depth = 0;
        bool is_quoted = false;
        for (std::size_t i = 0; i < text.size(); ++i) {
            const char c = text[i];
            if (is_quoted) {
                if (c == '\\') ++i;
                is_quoted = c != '"';
            } else if (c == '"') {
                is_quoted = true;
            } else if (c == '[' || c == '{') {
                ++depth;
            } else if (c == ']' || c == '}') {
                --depth;
            } else if (c == ',' && depth == 1) {
                ++entry;
            }
        }
        return entry;
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
                out_.faults.push_back(place + ": malformed JSON: " + error.message());
            } else {
                take(one, place);
            }
        }
    }

    void take(const json::value& one, const std::string& place) {
        if (!one.is_object()) {
            out_.faults.push_back(place + ": not a task");
            return;
        }
        exported_task& task = out_.tasks.emplace_back();
        task.place = place;
        task_reader(one.get_object(), place, out_).read(task);
        if (task.uuid.is_nil()) return;  // reported already
        const auto [known, fresh] = places_.emplace(task.uuid, place);
        if (!fresh) out_.faults.push_back(place + ": duplicate uuid, see " + known->second);
    }

    taskwarrior_export& out_;
    std::unordered_map<uuid, std::string, keyed_hash> places_;
};

// Returns seconds; tasks without `entry` come last.
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
