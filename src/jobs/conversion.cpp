#include "history.hpp"

#include <callsign/base/variants.hpp>
#include <callsign/domain/work.hpp>
#include <callsign/jobs/conversion.hpp>
#include <callsign/seal/at_rest.hpp>

#include <iterator>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace callsign::jobs {

using boost::asio::awaitable;

namespace {

// Versions that clients add during the last steps are read afterwards, at most this often.
constexpr int attempts_max = 20;

// Decrypts all versions that exist by now. None: all are decrypted.
awaitable<result<std::optional<conversion_answer>>> open_history(context& with, account_id account,
                                                                 history_opener& opener,
                                                                 board::job& job,
                                                                 std::int64_t total) {
    using ended = std::optional<conversion_answer>;
    for (;;) {
        if (job.is_cancelled()) co_return ended(cancelled{});
        job.at({opener.head().seq, std::max(total, opener.head().seq)});
        read_sealed_versions question{account, opener.head()};
        auto page = co_await with.engine.ask(question);
        if (!page) co_return page.error();
        if (page->versions.empty()) co_return ended();
        auto open = [&] { return opener.add(*page); };
        const claim asks{account, {.bytes = read_sealed_versions::bytes_max}};
        auto fault = co_await with.engine.offload(asks, std::move(open));
        if (!fault) co_return fault.error();
        if (*fault) co_return ended(std::move(**fault));
    }
}

// The decrypted history, to be submitted in steps.
struct opened_history {
    manage_account last;  // without a history or tasks
    std::vector<version> history;
    std::vector<manage_account::made_task> tasks;
};

// Offloaded, since the history is large.
awaitable<result<opened_history>> close_history(context& with, account_id account, uuid client_id,
                                                history_opener& opener, const seal::key& derived) {
    auto build = [&] {
        const seal::belongs_to owner{seal::purpose::device_key, account, client_id};
        opened_history all;
        all.last.account = account;
        all.last.head = opener.head();
        all.last.device_name = converted_device_name;
        all.last.sealed_key = sealed_at_rest(with, owner, derived);
        all.history = opener.take_history();
        all.tasks = opener.take_tasks();
        return all;
    };
    const claim asks{account, {.rows = static_cast<std::size_t>(opener.head().seq)}};
    co_return co_await with.engine.offload(asks, std::move(build));
}

std::size_t work_of_one(const version& v) {
    return work_of(v);
}
std::size_t work_of_one(const manage_account::made_task& t) {
    return work_of_task + 2 * work_of(t.attributes);
}

// Moves items from the front until one step is full, at least one. Returns the rest.
template <class T>
std::span<T> take_step(std::span<T> rest, std::vector<T>& step, std::size_t& bytes) {
    while (!rest.empty() && (step.empty() || bytes < step_work_max)) {
        bytes += work_of_one(rest.front());
        step.push_back(std::move(rest.front()));
        rest = rest.subspan(1);
    }
    return rest;
}

// Submits all but what fits into the last command. None: success, or cancelled.
awaitable<result<std::optional<manage_account::answer>>> take_over(context& with,
                                                                   opened_history& all,
                                                                   board::job& job) {
    using rejection = std::optional<manage_account::answer>;
    std::span<version> versions(all.history);
    std::span<manage_account::made_task> tasks(all.tasks);
    for (;;) {
        take_over_history step{
            .account = all.last.account, .head = all.last.head, .taken = all.last.taken};
        versions = take_step(versions, step.history, step.bytes);
        if (versions.empty()) tasks = take_step(tasks, step.tasks, step.bytes);
        if (versions.empty() && tasks.empty()) {
            all.last.history = std::move(step.history);
            all.last.tasks = std::move(step.tasks);
            all.last.bytes = step.bytes;
            co_return rejection();
        }
        if (job.is_cancelled()) co_return rejection();
        const auto count = std::ssize(step.tasks);
        const auto done = co_await with.engine.submit(std::move(step));
        if (!done) co_return done.error();
        if (const auto* const on = std::get_if<take_over_history::went_on>(&*done)) {
            all.last.taken = on->taken;
            all.last.taken_tasks += count;
            continue;
        }
        co_return std::visit(
            [](const auto& why) -> rejection {
                if constexpr (std::is_same_v<std::decay_t<decltype(why)>,
                                             take_over_history::went_on>) {
                    return std::nullopt;
                } else {
                    return manage_account::answer(why);
                }
            },
            *done);
    }
}

// Submits one step after another, up to the last.
template <class Command>
awaitable<boost::system::error_code> do_all(context& with, Command command) {
    for (;;) {
        const auto done = co_await with.engine.submit(command);
        if (!done) co_return done.error();
        if (!done->next) co_return boost::system::error_code{};
        command.from = *done->next;
    }
}

// Deletes the converted history of an account that has stayed opaque.
awaitable<boost::system::error_code> undo(context& with, account_id account) {
    return do_all(with, undo_take_over{.account = account});
}

// Deletes the sealed chain of an account that has become managed.
awaitable<boost::system::error_code> remove_all_sealed(context& with, account_id account) {
    return do_all(with, remove_sealed{.account = account});
}

// None: a client has added a version meanwhile.
awaitable<result<std::optional<conversion_answer>>> convert_as_it_is(
    context& with, const find_opaque_account::found& account, const seal::key& derived,
    board::job& job, actor by) {
    using ended = std::optional<conversion_answer>;
    const account_id id = account.account.id;
    // Deletes what an interrupted conversion left.
    const auto cleared = co_await undo(with, id);
    if (cleared) co_return cleared;
    history_opener opener(derived);
    auto told = co_await open_history(with, id, opener, job, account.head.seq);
    if (!told || *told) co_return told;
    auto all = co_await close_history(with, id, account.client.client_id, opener, derived);
    if (!all) co_return all.error();
    auto rejected = co_await take_over(with, *all, job);
    if (!rejected) co_return rejected.error();
    if (job.is_cancelled()) co_return ended(cancelled{});
    const bool is_all_sealed_there = all->last.taken.seq > 0;
    result<manage_account::answer> done = make_error_code(errc::store_unavailable);
    if (*rejected) {
        done = std::move(**rejected);
    } else {
        done = co_await with.engine.submit(std::move(all->last), std::move(by));
    }
    if (!done) co_return done.error();
    if (const auto* counts = std::get_if<manage_account::managed>(&*done)) {
        // What cannot be deleted now is deleted at the next start.
        if (is_all_sealed_there) co_await remove_all_sealed(with, id);
        co_return ended(converted{account.account.name, *counts});
    }
    co_return widen<ended>(
        std::move(*done), [](manage_account::managed&&) { return ended(); },
        [](manage_account::head_changed&&) { return ended(); },
        [](manage_account::not_opaque&&) { return ended(account_is_managed{}); });
}

awaitable<result<conversion_answer>> convert(context& with, find_opaque_account::found account,
                                             const std::string& secret, actor by) {
    const account_id id = account.account.id;
    auto job = with.board.begin(job_kind::conversion, id);
    job.at({0, account.head.seq});
    auto derived = co_await derive_key(with, id, secret, account.client.client_id);
    if (!derived) co_return derived.error();
    result<std::optional<conversion_answer>> ended = std::optional<conversion_answer>();
    for (int attempt = 0; attempt < attempts_max && ended && !*ended; ++attempt) {
        actor again = by;
        ended = co_await convert_as_it_is(with, account, *derived, job, std::move(again));
    }
    const bool is_converted = ended && *ended && std::holds_alternative<converted>(**ended);
    // Nothing decrypted is kept of an account that has stayed opaque.
    if (!is_converted) co_await undo(with, id);
    if (!ended) co_return ended.error();
    if (*ended) co_return std::move(**ended);
    co_return conversion_answer(outpaced{});
}

}  // namespace

awaitable<result<conversion_answer>> convert_account(context& with, std::string name,
                                                     const std::string& secret, actor by) {
    find_opaque_account question{std::move(name)};
    auto found = co_await with.engine.ask(std::move(question));
    if (!found) co_return found.error();
    auto* const account = std::get_if<find_opaque_account::found>(&*found);
    if (std::holds_alternative<no_such_account>(*found)) {
        co_return conversion_answer(no_such_account{});
    }
    if (account == nullptr) co_return conversion_answer(account_is_managed{});
    if (with.master == nullptr) co_return conversion_answer(no_master_key{});
    if (account->head.seq == 0) co_return conversion_answer(manage_account::no_history{});
    if (with.board.count(job_kind::conversion) > 0)
        co_return conversion_answer(another_under_way{});
    co_return co_await convert(with, std::move(*account), secret, std::move(by));
}

awaitable<result<std::int64_t>> finish_conversions(context& with) {
    std::int64_t finished = 0;
    find_half_managed question;
    for (;;) {
        const auto some = co_await with.engine.ask(question);
        if (!some) co_return some.error();
        if (some->first) {
            const bool is_opaque = some->first->mode == account_mode::opaque;
            const account_id id = some->first->account;
            boost::system::error_code error;
            if (is_opaque) {
                error = co_await undo(with, id);
            } else {
                error = co_await remove_all_sealed(with, id);
            }
            if (error) co_return error;
            ++finished;
        }
        if (!some->next) co_return finished;
        question.after = *some->next;
    }
}

}  // namespace callsign::jobs
