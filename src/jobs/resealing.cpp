#include <callsign/jobs/resealing.hpp>

#include <array>
#include <utility>

namespace callsign::jobs {

using boost::asio::awaitable;

namespace {

constexpr std::int64_t at_once = 100;

seal::belongs_to owner_of(const sealed_secret& s) {
    switch (s.kind) {
    case secret_kind::device_key: return {seal::purpose::device_key, s.account, s.of};
    case secret_kind::webhook_secret: return {seal::purpose::webhook_secret, s.account, s.of};
    case secret_kind::remote_key: break;
    }
    return {seal::purpose::remote_key, account_id{}, s.of};
}

// Re-encrypts those that need it.
reseal look_at(context& with, std::vector<sealed_secret> some, resealed& tally) {
    reseal command;
    for (sealed_secret& s : some) {
        const seal::belongs_to owner = owner_of(s);
        if (with.master->is_current(owner, s.sealed)) {
            ++tally.current;
            continue;
        }
        const auto opened = with.master->open(owner, s.sealed);
        const auto* const secret = std::get_if<seal::secret_bytes>(&opened);
        if (secret == nullptr) {
            ++tally.unopened;
            continue;
        }
        std::array<std::uint8_t, seal::nonce_bytes> nonce{};
        with.entropy.fill(nonce);
        std::string now = with.master->seal(owner, nonce, secret->bytes());
        command.secrets.push_back({std::move(s), std::move(now)});
    }
    return command;
}

awaitable<boost::system::error_code> reseal_kind(context& with, secret_kind kind, resealed& all) {
    for (std::int64_t after = 0;;) {
        list_sealed question{kind, after, at_once};
        auto some = co_await with.engine.ask(question);
        if (!some) co_return some.error();
        if (some->empty()) co_return boost::system::error_code{};
        after = some->back().row;
        reseal command = look_at(with, *std::move(some), all);
        const auto count = std::ssize(command.secrets);
        if (count == 0) continue;
        const auto done = co_await with.engine.submit(std::move(command));
        if (!done) co_return done.error();
        all.resealed += count;
    }
}

}  // namespace

awaitable<result<resealed>> reseal_all(context& with) {
    resealed all;
    for (const secret_kind kind : secret_kinds) {
        const auto error = co_await reseal_kind(with, kind, all);
        if (error) co_return error;
    }
    co_return all;
}

}  // namespace callsign::jobs
