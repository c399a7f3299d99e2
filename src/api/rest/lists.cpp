// GET /v1/tasks: filters, orders and pages (docs/api.md, "Listing tasks").

#include "handlers.hpp"
#include "shared/etags.hpp"
#include "shared/task_answers.hpp"

#include <callsign/base/base64url.hpp>
#include <callsign/base/sha256.hpp>
#include <callsign/base/text.hpp>
#include <callsign/domain/query.hpp>
#include <callsign/jobs/ordered_lists.hpp>
#include <callsign/wire/filter_parameters.hpp>

#include <algorithm>
#include <cstdio>

namespace callsign::api {
namespace {

constexpr std::int64_t list_size_max = 500;
constexpr std::int64_t list_size_usual = 50;

// A page ends at this size, however few tasks it has.
constexpr std::size_t page_bytes_max = std::size_t{1} << 20;

// The first query is short, to run among other quick queries; most pages need no more. Later ones
// take a step each. If a page has found little after all of them, it is returned as it is, with the
// token to continue.
constexpr std::size_t first_work_max = std::size_t{192} * 1024;
constexpr int list_looks_max = 10;

// A count of tasks is exact up to here, if that many steps find them.
constexpr std::int64_t counted_max = 10'000;
constexpr int count_looks_max = 20;

// ---- the request ----

struct list_request {
    task_filter filter;
    task_order order;
    std::size_t size = list_size_usual;
    std::vector<task_ref> refs;  // the list has these tasks; none: those that match
    std::string token;           // of the page
    std::string asked;           // digest of the parameters that choose tasks, for page tokens
    std::optional<wire::field_choice> fields{};
    bool is_counted = false;
};

// Reads the parameters of a list. Adds an error for each invalid one.
class list_reader {
  public:
    list_reader(const request_context& c, wire::field_errors& found)
        : found_(found), asked_(c.request.query(), known(), found, repeatable()) {}

    list_request read() {
        list_request wanted;
        wanted.filter = read_filter(asked_, found_);
        read_changed_after(wanted.filter);
        read_order(wanted.order);
        read_size(wanted.size);
        read_refs(wanted);
        read_fields(wanted.fields);
        read_count(wanted);
        wanted.token = asked_.get("pageToken");
        wanted.asked = digest_of_question();
        return wanted;
    }

  private:
    static std::span<const std::string_view> known() {
        static const auto all = wire::with_filter_parameters(
            {"changedAfter", "sort", "pageSize", "pageToken", "fields", "count"});
        return all;
    }
    static std::span<const std::string_view> repeatable() {
        static const auto all = [] {
            std::vector<std::string_view> names(wire::repeatable_parameters.begin(),
                                                wire::repeatable_parameters.end());
            names.emplace_back("ref");
            return names;
        }();
        return all;
    }

    void read_changed_after(task_filter& f) {
        const std::string_view text = asked_.get("changedAfter");
        if (text.empty()) return;
        f.changed_after = parse_integer(text);
        if (f.changed_after && *f.changed_after >= 0) return;
        fault("changedAfter", "invalid", "Must be the seq of a change: 0 or more.");
    }

    void read_order(task_order& order) {
        std::string_view text = asked_.get("sort");
        if (text.empty()) return;
        order.descending = text.front() == '-';
        if (order.descending) text.remove_prefix(1);
        if (const auto by = parse_task_sort(text)) {
            order.by = *by;
        } else {
            fault(
                "sort", "invalid",
                "Must be key, due, urgency, entry or modified, after a '-' for descending order.");
        }
    }

    void read_size(std::size_t& size) {
        const std::string_view text = asked_.get("pageSize");
        if (text.empty()) return;
        const auto wanted = parse_integer(text);
        if (!wanted || *wanted < 0) {
            fault("pageSize", "invalid", "Must be a whole number, 1 to 500.");
        } else if (*wanted > 0) {
            size = static_cast<std::size_t>(std::min(*wanted, list_size_max));
        }
    }

    // The list of these tasks, whatever their status, in this order.
    void read_refs(list_request& wanted) {
        const std::vector<std::string> refs = asked_.all("ref");
        if (refs.empty()) return;
        if (std::ssize(refs) > list_size_max) {
            return fault("ref", "too-many", "Must be at most 500 tasks.");
        }
        for (const std::string& text : refs) {
            const auto ref = parse_task_ref(text);
            if (!ref) {
                return fault("ref", "malformed",
                             "Must be a task's UUID or its key, such as SYN-42.");
            }
            const bool is_new = std::ranges::find(wanted.refs, *ref) == wanted.refs.end();
            if (is_new) wanted.refs.push_back(*ref);
        }
        task_filter& f = wanted.filter;
        if (f.statuses.empty()) f.statuses.assign(task_statuses.begin(), task_statuses.end());
        if (asked_.get("pageSize").empty()) wanted.size = list_size_max;
        if (!asked_.get("sort").empty()) {
            fault("sort", "invalid", "Must not be given with ref: tasks are in the order of refs.");
        }
        if (!f.prefix.empty()) fault("prefix", "invalid", "Must not be given with ref.");
        if (f.needs_links()) fault("is", "invalid", "Must not depend on other tasks, with ref.");
    }

    void read_fields(std::optional<wire::field_choice>& fields) {
        std::string_view rest = asked_.get("fields");
        if (rest.empty()) return;
        fields.emplace(*v1::Task::descriptor());
        fields->add("uuid");
        while (!rest.empty()) {
            const std::string_view name = take_until(rest, ',');
            if (fields->add(name)) continue;
            return fault("fields", "unknown-field",
                         "Must be names of a task's fields, separated by commas.");
        }
    }

    void read_count(list_request& wanted) {
        const std::string_view text = asked_.get("count");
        wanted.is_counted = text == "true";
        if (!wanted.is_counted && !text.empty() && text != "false") {
            fault("count", "invalid", "Must be true or false.");
        }
        if (wanted.is_counted && !wanted.refs.empty()) {
            fault("count", "invalid", "Must not be given with ref.");
        }
    }

    // Returns a digest that does not depend on the order of the parameters.
    std::string digest_of_question() const {
        std::vector<wire::parameters::pair> pairs = asked_.pairs();
        std::erase_if(pairs, [](const wire::parameters::pair& p) {
            static constexpr std::string_view others[] = {"pageToken", "pageSize", "fields",
                                                          "count"};
            return std::ranges::find(others, p.first) != std::end(others);
        });
        std::sort(pairs.begin(), pairs.end());
        std::string text;
        for (const auto& [name, value] : pairs) {
            text.append(name).append(1, '\0').append(value).append(1, '\0');
        }
        const digest hash = sha256(text);
        return {reinterpret_cast<const char*>(hash.data()), 8};
    }

    void fault(std::string_view name, std::string_view code, std::string_view detail) {
        add_error(found_, {std::string(name), std::string(code), std::string(detail)});
    }

    wire::field_errors& found_;
    wire::parameters asked_;
};

// ---- page tokens ----
// A token has the list's digest and where to continue: a place in the order of keys, or in an
// ordered list that is kept.

struct list_place {
    std::uint64_t list = 0;  // 0: the list is the request's refs
    std::size_t offset = 0;
};
using page_place = std::variant<std::monostate, task_place, list_place>;

std::string token_of(const list_request& wanted, const task_place& at) {
    return to_base64url(wanted.asked + "k" + std::to_string(at.series.value) + "-" + at.period +
                        "-" + std::to_string(at.number));
}

std::string token_of(const list_request& wanted, const list_place& at) {
    return to_base64url(wanted.asked + "o" + std::to_string(at.list) + "-" +
                        std::to_string(at.offset));
}

// Returns nullopt if the token is not of this list.
std::optional<page_place> asked_place(const list_request& wanted) {
    if (wanted.token.empty()) return page_place{};
    const auto text = from_base64url(wanted.token);
    if (!text || !text->starts_with(wanted.asked)) return std::nullopt;
    const char* const at = text->c_str() + wanted.asked.size();
    long long series = 0, number = 0;
    unsigned long long list = 0, offset = 0;
    char period[16] = "";
    int end = 0;
    if (std::sscanf(at, "k%lld--%lld%n", &series, &number, &end) == 2 ||
        std::sscanf(at, "k%lld-%15[0-9u]-%lld%n", &series, period, &number, &end) == 3) {
        if (at[end] == '\0') return task_place{series_id{series}, period, number};
    } else if (std::sscanf(at, "o%llu-%llu%n", &list, &offset, &end) == 2 && at[end] == '\0') {
        return list_place{list, offset};
    }
    return std::nullopt;
}

// ---- pages ----

struct task_page {
    std::vector<task> tasks;
    std::string next;
    std::optional<v1::TaskCount> count{};
};
using page_or_rejection = std::variant<task_page, rejected>;

// Reads on from `after`, query by query.
awaitable<result<page_or_rejection>> page_by_key(rest_context& r, account_id account,
                                                 const list_request& wanted, time_point now,
                                                 std::optional<task_place> after) {
    task_page page;
    std::size_t bytes = 0;
    for (int look = 0; look < list_looks_max; ++look) {
        list_tasks question{account,
                            wanted.filter,
                            wanted.order.descending,
                            std::move(after),
                            wanted.size - page.tasks.size(),
                            now,
                            look == 0 ? first_work_max : step_work_max};
        auto answer = co_await r.engine.ask(std::move(question));
        if (!answer) co_return answer.error();
        auto* const part = std::get_if<list_tasks::part>(&*answer);
        if (!part) co_return page_or_rejection{unknown_prefix()};
        for (task& t : part->tasks) {
            bytes += size_of(t.attributes);
            page.tasks.push_back(std::move(t));
        }
        after = std::move(part->next);
        if (!after || page.tasks.size() >= wanted.size || bytes >= page_bytes_max) break;
    }
    if (after) page.next = token_of(wanted, *after);
    co_return page_or_rejection{std::move(page)};
}

// Returns the next of these tasks, from `at` on, which is advanced.
template <class Ref>
awaitable<result<page_or_rejection>> page_of(rest_context& r, account_id account,
                                             const list_request& wanted, time_point now,
                                             std::span<const Ref> all, list_place at) {
    task_page page;
    std::size_t bytes = 0;
    while (at.offset < all.size() && page.tasks.size() < wanted.size && bytes < page_bytes_max) {
        const auto some = all.subspan(
            at.offset, std::min(wanted.size - page.tasks.size(), all.size() - at.offset));
        find_listed_tasks question{account, wanted.filter, {some.begin(), some.end()}, now};
        auto answer = co_await r.engine.ask(std::move(question));
        if (!answer) co_return answer.error();
        at.offset += answer->looked_at;
        for (task& t : answer->tasks) {
            bytes += size_of(t.attributes);
            page.tasks.push_back(std::move(t));
        }
    }
    if (at.offset < all.size()) page.next = token_of(wanted, at);
    co_return page_or_rejection{std::move(page)};
}

// Returns the next tasks of an ordered list.
awaitable<result<page_or_rejection>> page_of_list(rest_context& r, const list_request& wanted,
                                                  time_point now, jobs::ordered_lists::shared list,
                                                  std::size_t offset) {
    const list_place at{list->id, offset};
    auto page = co_await page_of(r, list->account, wanted, now, std::span(list->tasks), at);
    if (!page || !wanted.is_counted) co_return page;
    v1::TaskCount count;
    count.set_tasks(std::ssize(list->tasks));
    count.set_exact(true);
    std::get<task_page>(*page).count = std::move(count);
    co_return page;
}

awaitable<result<page_or_rejection>> first_page_in_order(rest_context& r, account_id account,
                                                         const list_request& wanted,
                                                         time_point now) {
    auto made = co_await r.lists.make(account, wanted.filter, wanted.order, now);
    if (!made) co_return made.error();
    if (std::holds_alternative<unknown_series>(*made))
        co_return page_or_rejection{unknown_prefix()};
    if (std::holds_alternative<jobs::ordered_lists::too_many>(*made)) {
        co_return page_or_rejection{rejected{
            problems::too_many_tasks, "Filter by project, tag, prefix or status, or sort by key."}};
    }
    auto list = std::get<jobs::ordered_lists::shared>(std::move(*made));
    co_return co_await page_of_list(r, wanted, now, std::move(list), 0);
}

awaitable<result<page_or_rejection>> next_page_in_order(rest_context& r, account_id account,
                                                        const list_request& wanted, time_point now,
                                                        list_place at) {
    auto list = r.lists.find(account, at.list);
    if (!list) {
        co_return page_or_rejection{
            rejected{problems::page_token_expired, "Request the first page again."}};
    }
    co_return co_await page_of_list(r, wanted, now, std::move(list), at.offset);
}

// Counts the tasks of a list in the order of keys, in steps like those of a page.
awaitable<result<v1::TaskCount>> count_by_key(rest_context& r, account_id account,
                                              const list_request& wanted, time_point now) {
    std::int64_t found = 0;
    std::optional<task_place> after;
    bool is_over = false;
    for (int look = 0; !is_over && look < count_looks_max && found <= counted_max; ++look) {
        scan_tasks question{account, wanted.filter, task_sort::key, std::move(after), now};
        auto answer = co_await r.engine.ask(std::move(question));
        if (!answer) co_return answer.error();
        auto* const part = std::get_if<scan_tasks::part>(&*answer);
        if (part == nullptr) break;  // the page says why
        found += std::ssize(part->tasks);
        after = std::move(part->next);
        is_over = !after;
    }
    v1::TaskCount count;
    count.set_tasks(std::min(found, counted_max));
    count.set_exact(is_over && found <= counted_max);
    co_return count;
}

bool is_by_key(const list_request& wanted) {
    return wanted.refs.empty() && wanted.order.by == task_sort::key && !wanted.filter.needs_links();
}

http_response answer_page(const rest_context& r, const request_context& c,
                          const list_request& wanted, const task_page& page) {
    const wire::field_choice* const only = wanted.fields ? &*wanted.fields : nullptr;
    v1::TaskList message;
    for (const task& t : page.tasks) {
        v1::Task& shown = *message.add_tasks() = wire::to_message(t, r.key_attribute);
        if (only != nullptr) only->apply(shown);
    }
    message.set_next_page_token(page.next);
    if (page.count) *message.mutable_count() = *page.count;
    auto response = answer_message(c, 200, message, only);
    const digest hash = sha256(response.body);
    const std::string tag =
        to_base64url({reinterpret_cast<const char*>(hash.data()), hash.size() / 2});
    return unless_known(c, std::move(response), "\"" + tag + "\"");
}

}  // namespace

awaitable<http_response> get_tasks(rest_context& r, request_context& c) {
    if (c.who.mode == account_mode::opaque) co_return answer_unseen(c);
    wire::field_errors found;
    const list_request wanted = list_reader(c, found).read();
    const auto place = asked_place(wanted);
    const bool by_key = is_by_key(wanted);
    const bool is_of_list = place && std::holds_alternative<list_place>(*place);
    const bool is_of_keys = place && std::holds_alternative<task_place>(*place);
    const bool is_of_refs = !wanted.refs.empty();
    if (!place || (by_key ? is_of_list : is_of_keys)) {
        add_error(found,
                  {"pageToken", "malformed", "Must be the nextPageToken of a page of this list."});
    }
    if (!found.empty()) co_return answer_faults(c, found);

    const time_point now = r.clock.now();
    auto pages =
        is_of_refs   ? page_of(r, c.account(), wanted, now, std::span(wanted.refs),
                             is_of_list ? std::get<list_place>(*place) : list_place{})
          : is_of_list ? next_page_in_order(r, c.account(), wanted, now, std::get<list_place>(*place))
        : by_key
            ? page_by_key(r, c.account(), wanted, now,
                          is_of_keys ? std::optional(std::get<task_place>(*place)) : std::nullopt)
            : first_page_in_order(r, c.account(), wanted, now);
    auto page = co_await std::move(pages);
    if (!page) co_return answer_error(c, page.error());
    if (const auto* const why = std::get_if<rejected>(&*page)) co_return answer_rejected(c, *why);
    auto& found_page = std::get<task_page>(*page);
    if (wanted.is_counted && by_key) {
        auto count = co_await count_by_key(r, c.account(), wanted, now);
        if (!count) co_return answer_error(c, count.error());
        found_page.count = *std::move(count);
    }
    std::size_t work = 0;
    for (const task& t : found_page.tasks) work += callsign::work_of(t.attributes);
    auto make = [&] { return answer_page(r, c, wanted, found_page); };
    co_return co_await answer_encoded(r.engine, c, work, std::move(make));
}

}  // namespace callsign::api
