#include <callsign/base/text.hpp>
#include <callsign/domain/account.hpp>
#include <callsign/wire/filter_parameters.hpp>

#include <algorithm>
#include <cstddef>

namespace callsign::wire {
namespace {

// Limited, because each is checked for each task.
constexpr std::ptrdiff_t parameters_max = 64;

// NAMEAfter and NAMEBefore, for each instant.
const std::vector<std::string>& instant_parameters() {
    static const std::vector<std::string> all = [] {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < task_instants; ++i) {
            const std::string name(to_string(static_cast<task_instant>(i)));
            names.push_back(name + "After");
            names.push_back(name + "Before");
        }
        return names;
    }();
    return all;
}

class filter_reader {
  public:
    filter_reader(const parameters& asked, field_errors& found) : asked_(asked), found_(found) {}

    task_filter read() {
        task_filter f;
        f.statuses =
            words("status", parse_task_status, "Must be pending, completed, deleted or recurring.");
        f.is = words("is", parse_virtual_tag, "Must be a virtual tag that lists support.");
        f.project = asked_.get("project");
        f.tags = asked_.all("tag");
        f.not_tags = asked_.all("notTag");
        f.priorities = asked_.all("priority");
        read_attributes(f);
        f.text = folded(asked_.get("text"));
        read_prefix(f);
        read_instants(f);
        // Of a list; it limits them by itself.
        const auto refs = std::ranges::count(asked_.pairs(), "ref", &parameters::pair::first);
        if (std::ssize(asked_.pairs()) - refs > parameters_max) {
            fault("", "too-many", "Must have at most 64 parameters.");
        }
        return f;
    }

  private:
    template <class Word>
    std::vector<Word> words(std::string_view name,
                            std::optional<Word> (*parse)(std::string_view) noexcept,
                            std::string_view rule) {
        std::vector<Word> read;
        for (const std::string& text : asked_.all(name)) {
            if (const auto word = parse(text)) {
                read.push_back(*word);
            } else {
                fault(name, "invalid", rule);
            }
        }
        return read;
    }

    void read_attributes(task_filter& f) {
        for (std::string& text : asked_.all("attribute")) {
            std::string_view value = text;
            const std::string_view name = take_until(value, ':', {});
            if (name.empty() || name.size() == text.size()) {
                fault("attribute", "malformed", "Must be NAME:VALUE, such as estimate:3h.");
            } else {
                f.attributes.emplace_back(name, value);
            }
        }
    }

    void read_prefix(task_filter& f) {
        f.prefix = upper(asked_.get("prefix"));
        if (f.prefix.empty() || is_valid_prefix(f.prefix)) return;
        fault("prefix", "malformed",
              "Must be a letter and up to 9 letters, digits or underscores.");
    }

    void read_instants(task_filter& f) {
        for (std::size_t i = 0; i < task_instants; ++i) {
            f.instants[i] = {instant(instant_parameters()[2 * i]),
                             instant(instant_parameters()[2 * i + 1])};
        }
    }

    std::optional<time_point> instant(const std::string& name) {
        const std::string_view text = asked_.get(name);
        if (text.empty()) return std::nullopt;
        const auto at = parse_rfc3339(text);
        if (!at) fault(name, "invalid", "Must be an instant such as 2026-11-20T12:48:00Z.");
        return at;
    }

    void fault(std::string_view name, std::string_view code, std::string_view detail) {
        add_error(found_, {std::string(name), std::string(code), std::string(detail)});
    }

    const parameters& asked_;
    field_errors& found_;
};

}  // namespace

std::vector<std::string_view> with_filter_parameters(std::initializer_list<std::string_view> own) {
    std::vector<std::string_view> names(own);
    for (const std::string_view once : {"project", "prefix", "text"}) names.push_back(once);
    names.insert(names.end(), instant_parameters().begin(), instant_parameters().end());
    return names;
}

task_filter read_filter(const parameters& asked, field_errors& found) {
    return filter_reader(asked, found).read();
}

// Without a status all statuses match, so that a follower sees a task close.
std::optional<task_filter> read_feed_filter(const parameters& asked, field_errors& found) {
    task_filter f = read_filter(asked, found);
    if (f.needs_links()) {
        add_error(found, {"is", "invalid",
                          "Must not be blocked, blocking, unblocked or ready: these depend on "
                          "other tasks, and are for lists only."});
    }
    const auto is_filter = [](const parameters::pair& p) {
        return p.first != "after" && p.first != "limit" && p.first != "wait" && p.first != "ticket";
    };
    if (!std::any_of(asked.pairs().begin(), asked.pairs().end(), is_filter)) return std::nullopt;
    if (f.statuses.empty()) {
        f.statuses = {task_status::pending, task_status::completed, task_status::deleted,
                      task_status::recurring};
    }
    return f;
}

}  // namespace callsign::wire
