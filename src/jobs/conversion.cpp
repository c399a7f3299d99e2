#include "history.hpp"

#include <callsign/jobs/conversion.hpp>
#include <callsign/seal/at_rest.hpp>

#include <optional>

namespace callsign::jobs {

using boost::asio::awaitable;

namespace {

// A client that adds a version while the last ones are written is read after it, so often.
constexpr int attempts_max = 20;

// Opens everything there is by now. None: all is opened.
awaitable<result<std::optional<conversion_answer>>> open_history(context& with, account_id account,
                                                                 history_opener& opener,
                                                                 board::job& job,
                                                                 std::int64_t total) {
    using ended = std::optional<conversion_answer>;
    for (;;) {
        if (job.is_cancelled()) co_return ended(cancelled{});
        job.at({opener.head().seq, std::max(total, opener.head().seq)});
        read_sealed_versions question{account, opener.head()};
        auto page = co_await with.engine.ask(std::move(question));
        if (!page) co_return page.error();
        if (page->versions.empty()) co_return ended();
        auto open = [&] { return opener.add(*page); };
        const claim asks{account, {.bytes = read_sealed_versions::bytes_max}};
        auto fault = co_await with.engine.offload(asks, std::move(open));
        if (!fault) co_return fault.error();
        if (*fault) co_return ended(std::move(**fault));
    }
}

// The command that takes over what was opened, built beside the network thread: it is large.
awaitable<result<manage_account>> build_command(context& with, account_id account, uuid client_id,
                                                history_opener& opener, const seal::key& derived) {
    auto build = [&] {
        const seal::belongs_to owner{seal::purpose::device_key, account, client_id};
        manage_account command;
        command.account = account;
        command.head = opener.head();
        command.bytes = opener.bytes();
        command.history = opener.take_history();
        command.tasks = opener.take_tasks();
        command.device_name = converted_device_name;
        command.sealed_key = sealed_at_rest(with, owner, derived);
        return command;
    };
    const claim asks{account, {.rows = static_cast<std::size_t>(opener.head().seq)}};
    co_return co_await with.engine.offload(asks, std::move(build));
}

awaitable<result<conversion_answer>> convert(context& with, find_opaque_account::found account,
                                             const std::string& secret) {
    const account_id id = account.account.id;
    auto job = with.board.begin(job_kind::conversion, id);
    job.at({0, account.head.seq});
    const uuid client_id = account.client.client_id;
    auto derived = co_await derive_key(with, id, secret, client_id);
    if (!derived) co_return derived.error();
    for (int attempt = 0; attempt < attempts_max; ++attempt) {
        history_opener opener(*derived);
        auto ended = co_await open_history(with, id, opener, job, account.head.seq);
        if (!ended) co_return ended.error();
        if (*ended) co_return std::move(**ended);
        auto command = co_await build_command(with, id, client_id, opener, *derived);
        if (!command) co_return command.error();
        const auto done = co_await with.engine.submit(std::move(*command));
        if (!done) co_return done.error();
        if (const auto* counts = std::get_if<manage_account::managed>(&*done)) {
            co_return conversion_answer(converted{account.account.name, *counts});
        }
        if (const auto* const held = std::get_if<series_held>(&*done)) {
            co_return conversion_answer(*held);
        }
        if (std::holds_alternative<manage_account::no_history>(*done)) {
            co_return conversion_answer(manage_account::no_history{});
        }
        if (std::holds_alternative<manage_account::not_opaque>(*done)) {
            co_return conversion_answer(account_is_managed{});
        }
        if (std::holds_alternative<no_such_account>(*done)) {
            co_return conversion_answer(no_such_account{});
        }
    }
    co_return conversion_answer(outpaced{});
}

}  // namespace

awaitable<result<conversion_answer>> convert_account(context& with, std::string name,
                                                     const std::string& secret) {
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
    co_return co_await convert(with, std::move(*account), secret);
}

}  // namespace callsign::jobs
