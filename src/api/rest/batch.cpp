// Many creations or edits in one request, each with its own outcome. They are submitted together,
// so that the engine needs few commits.

#include "handlers.hpp"
#include "shared/etags.hpp"
#include "shared/task_answers.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>

namespace callsign::api {
namespace {

namespace asio = boost::asio;

constexpr int items_max = 500;

// Each item may have several errors, which affect no other item.
constexpr std::size_t faults_max = std::size_t{4} * items_max;

// ---- errors by item ----

struct batch_faults {
    wire::field_errors of_all;                   // of no single item
    std::vector<wire::field_errors> of_items{};  // by field of the item
};

// Returns 12 and "due" for "items[12].task.due"; nullopt: the path is of no item.
std::optional<std::pair<std::size_t, std::string>> item_and_field(std::string_view path) {
    constexpr std::string_view before = "items[";
    if (!path.starts_with(before)) return std::nullopt;
    path.remove_prefix(before.size());
    std::size_t item = 0;
    const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), item);
    path.remove_prefix(static_cast<std::size_t>(end - path.data()));
    if (error != std::errc{} || !path.starts_with(']')) return std::nullopt;
    path.remove_prefix(1);
    for (const std::string_view outer : {".task.", "."}) {
        if (path.starts_with(outer)) return std::pair(item, std::string(path.substr(outer.size())));
    }
    return std::pair(item, std::string(path));
}

// Reads the body and sorts errors by item. If there are so many that not all fields were read, the
// whole body is rejected.
template <class Message>
batch_faults read_batch(const request_context& c, Message& message) {
    wire::field_errors found;
    const bool is_message = read_body(c, message, found, faults_max);
    batch_faults sorted;
    if (!is_message || found.size() >= faults_max) {
        found.resize(std::min(found.size(), wire::faults_max));
        sorted.of_all = std::move(found);
        return sorted;
    }
    const int count = message.items_size();
    if (count == 0 || count > items_max) {
        add_error(found, {"items", count == 0 ? "required" : "too-long",
                          "Must have 1 to " + std::to_string(items_max) + " items."});
    }
    sorted.of_items.resize(static_cast<std::size_t>(count));
    for (wire::field_error& fault : found) {
        auto place = item_and_field(fault.field);
        if (!place || place->first >= sorted.of_items.size()) {
            sorted.of_all.push_back(std::move(fault));
        } else {
            fault.field = std::move(place->second);
            sorted.of_items[place->first].push_back(std::move(fault));
        }
    }
    return sorted;
}

// ---- concurrency ----

// Runs `work` for 0, 1 ... concurrently, begun in this order. Returns the results, or throws an
// exception of one after all have ended.
template <class Result, class Work>
awaitable<std::vector<Result>> each_of(std::size_t count, const Work& work) {
    const auto executor = co_await asio::this_coro::executor;
    const auto begin = [&](std::size_t i) {
        return asio::co_spawn(executor, work(i), asio::deferred);
    };
    std::vector<decltype(begin(0))> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(begin(i));
    auto [order, thrown, results] =
        co_await asio::experimental::make_parallel_group(std::move(all))
            .async_wait(asio::experimental::wait_for_all(), asio::use_awaitable);
    for (const std::exception_ptr& error : thrown) {
        if (error) std::rethrow_exception(error);
    }
    co_return std::move(results);
}

// ---- creations ----

// Returns the key itself. Quotes in the text are those of the header field.
std::string read_item_key(const std::string& text, wire::field_errors& found) {
    auto read = wire::parse_idempotency_key(text.empty() ? std::vector<std::string_view>{}
                                                         : std::vector<std::string_view>{text});
    if (auto* key = std::get_if<std::string>(&read)) return std::move(*key);
    if (const auto* malformed = std::get_if<wire::key_malformed>(&read)) {
        add_error(found, {"idempotencyKey", "malformed", malformed->detail});
    } else {
        add_error(found,
                  {"idempotencyKey", "required", "Must be given, and differ for each creation."});
    }
    return {};
}

awaitable<v1::CreationResult> create_one(rest_context& r, const principal& who,
                                         const v1::KeyedCreation& item, wire::field_errors found) {
    v1::CreationResult result;
    reserve request;
    request.account = *who.account;
    request.author = who.token;
    request.key = read_item_key(item.idempotency_key(), found);
    auto wanted = wire::to_domain(item.task(), found, r.key_attribute);
    if (!found.empty()) {
        *result.mutable_problem() = to_message(rejected_for(std::move(found)));
        co_return result;
    }
    request.fingerprint = wanted->fingerprint;
    request.uuid = wanted->uuid;
    request.prefix = std::move(wanted->prefix);
    request.attributes = std::move(wanted->attributes);
    request.depends = std::move(wanted->depends);
    const auto answer = co_await r.engine.create(std::move(request));
    if (!answer) {
        *result.mutable_problem() = to_message(rejected_for(answer.error()));
        co_return result;
    }
    const auto why = rejection_of_task(*answer, item.task().depends(), r.key_attribute);
    if (why) {
        *result.mutable_problem() = to_message(*why);
        co_return result;
    }
    const auto& given = std::get<receipted>(*answer);
    *result.mutable_receipt() = wire::to_message(given.receipt);
    result.set_replayed(given.replayed);
    co_return result;
}

// ---- edits ----

// Maximum per task; 500 of them are in memory together.
constexpr std::size_t shown_bytes_max = std::size_t{16} * 1024;

// Returns the item's key with the fingerprint of the item; none: it has none.
std::optional<request_key> key_of(const v1::TaskEdit& item, wire::field_errors& found) {
    if (item.idempotency_key().empty()) return std::nullopt;
    auto read = wire::parse_idempotency_key({item.idempotency_key()});
    if (const auto* const malformed = std::get_if<wire::key_malformed>(&read)) {
        add_error(found, {"idempotencyKey", "malformed", malformed->detail});
        return std::nullopt;
    }
    v1::TaskEdit content = item;
    content.clear_idempotency_key();
    content.clear_if_match();
    return request_key{std::get<std::string>(std::move(read)),
                       sha256(wire::encode(wire::format::protobuf, content))};
}

awaitable<v1::EditResult> edit_one(rest_context& r, const principal& who, const v1::TaskEdit& item,
                                   wire::field_errors found) {
    v1::EditResult result;
    const auto ref = parse_task_ref(item.ref());
    if (!ref) {
        add_error(found, {"ref", item.ref().empty() ? "required" : "malformed",
                          "Must be a task's UUID or its key, such as SYN-42."});
    }
    std::optional<std::vector<task_tag>> if_match;
    if (!item.if_match().empty()) if_match = read_if_match(item.if_match(), "ifMatch", found);
    auto wanted = wire::to_domain(item.task(), found, r.key_attribute);
    auto once = key_of(item, found);
    if (!found.empty()) {
        *result.mutable_problem() = to_message(rejected_for(std::move(found)));
        co_return result;
    }
    edit_task command{.account = *who.account,
                      .task = *ref,
                      .changes = std::move(wanted->changes),
                      .replaced = std::move(wanted->replaced),
                      .depends = std::move(wanted->depends),
                      .if_match = std::move(if_match),
                      .author = who.token,
                      .once = std::move(once),
                      .bytes = item.ByteSizeLong(),
                      .shown_bytes_max = shown_bytes_max};
    const auto done = co_await r.engine.edit(std::move(command));
    if (!done) {
        *result.mutable_problem() = to_message(rejected_for(done.error()));
        co_return result;
    }
    const auto why = rejection_of_task(*done, item.task().depends().values(), r.key_attribute);
    if (why) {
        *result.mutable_problem() = to_message(*why);
    } else {
        const auto* const again = std::get_if<replayed<edit_task::edited>>(&*done);
        const task& now = again ? again->first.now : std::get<edit_task::edited>(*done).now;
        *result.mutable_task() = wire::to_message(now, r.key_attribute);
        result.set_replayed(again != nullptr);
    }
    co_return result;
}

}  // namespace

awaitable<http_response> post_tasks(rest_context& r, request_context& c) {
    if (c.who.mode == account_mode::opaque) co_return answer_unseen(c);
    v1::CreateTasks message;
    batch_faults faults = read_batch(c, message);
    if (!faults.of_all.empty()) co_return answer_faults(c, std::move(faults.of_all));
    const auto one = [&](std::size_t i) {
        return create_one(r, c.who, message.items(static_cast<int>(i)),
                          std::move(faults.of_items[i]));
    };
    v1::CreatedTasks answer;
    auto results = co_await each_of<v1::CreationResult>(faults.of_items.size(), one);
    for (auto& result : results) *answer.add_results() = std::move(result);
    auto make = [&] { return answer_message(c, 200, answer); };
    co_return co_await answer_written(r.engine, c, answer.ByteSizeLong(), std::move(make));
}

awaitable<http_response> patch_tasks(rest_context& r, request_context& c) {
    if (c.who.mode == account_mode::opaque) co_return answer_unseen(c);
    v1::EditTasks message;
    batch_faults faults = read_batch(c, message);
    if (!faults.of_all.empty()) co_return answer_faults(c, std::move(faults.of_all));
    const auto one = [&](std::size_t i) {
        return edit_one(r, c.who, message.items(static_cast<int>(i)),
                        std::move(faults.of_items[i]));
    };
    v1::EditedTasks answer;
    auto results = co_await each_of<v1::EditResult>(faults.of_items.size(), one);
    for (auto& result : results) *answer.add_results() = std::move(result);
    auto make = [&] { return answer_message(c, 200, answer); };
    co_return co_await answer_written(r.engine, c, answer.ByteSizeLong(), std::move(make));
}

}  // namespace callsign::api
