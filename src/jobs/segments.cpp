#include <callsign/domain/work.hpp>
#include <callsign/jobs/segments.hpp>
#include <callsign/seal/envelope.hpp>
#include <callsign/wire/segment.hpp>

#include <array>

namespace callsign::jobs {

using boost::asio::awaitable;

namespace {

std::string seal_now(context& with, const seal::key& key, const uuid& version,
                     std::string_view text) {
    std::array<std::uint8_t, seal::nonce_bytes> nonce{};
    with.entropy.fill(nonce);
    return seal::seal_body(key, version, nonce, text);
}

}  // namespace

awaitable<result<wire::opened_segment>> open_segment(context& with, account_id account,
                                                     const seal::key& key, uuid parent,
                                                     std::string_view body, std::size_t bytes_max) {
    auto open = [&key, parent, body, bytes_max] {
        return wire::open_segment(key, parent, body, {.bytes_max = bytes_max});
    };
    const claim asks{account, {.bytes = body.size()}};
    const bool is_little = body.size() <= wire::open_at_once_bytes_max;
    co_return co_await with.engine.offload_unless(is_little, asks, std::move(open));
}

awaitable<result<wire::opened_snapshot>> open_snapshot(context& with, account_id account,
                                                       const seal::key& key, uuid version,
                                                       std::string_view body,
                                                       std::size_t bytes_max) {
    auto open = [&key, version, body, bytes_max] {
        return wire::open_snapshot(key, version, body, {.bytes_max = bytes_max});
    };
    const claim asks{account, {.bytes = body.size()}};
    co_return co_await with.engine.offload(asks, std::move(open));
}

awaitable<result<std::string>> seal_segment(context& with, account_id account, const seal::key& key,
                                            uuid parent, std::span<const operation> operations) {
    const std::size_t bytes = work_of(operations);
    auto seal = [&with, &key, parent, operations] {
        return seal_now(with, key, parent, wire::encode_segment(operations));
    };
    const claim asks{account, {.bytes = bytes}};
    const bool is_little = bytes <= wire::open_at_once_bytes_max;
    co_return co_await with.engine.offload_unless(is_little, asks, std::move(seal));
}

awaitable<result<std::string>> seal_snapshot(context& with, account_id account,
                                             const seal::key& key, uuid version,
                                             std::string_view packed) {
    auto seal = [&with, &key, version, packed] { return seal_now(with, key, version, packed); };
    const claim asks{account, {.bytes = packed.size()}};
    co_return co_await with.engine.offload(asks, std::move(seal));
}

namespace {

// Reads on in what the device has missed, up to the chain's end. None: all is known. Otherwise the
// reason why the step is rejected.
awaitable<result<std::optional<add_version::answer>>> read_missed(engine& engine,
                                                                  const add_version& step,
                                                                  std::span<const operation> sent,
                                                                  const reserve_bytes& reserve,
                                                                  missed_changes& missed) {
    for (bool is_all = false; !is_all;) {
        const find_missed question{step.account, step.client_id, step.parent, missed.through, sent};
        auto answer = co_await engine.ask(question);
        if (!answer) co_return answer.error();
        auto* const found = std::get_if<find_missed::found>(&*answer);
        if (!found) co_return add_version::unknown_parent{};
        if (found->next.through <= missed.through) co_return add_version::too_far_behind{};
        is_all = found->is_all;
        const std::size_t bytes = found->next.bytes;
        missed.append(std::move(found->next));
        if (missed.is_too_much()) co_return add_version::too_far_behind{};
        if (!reserve(bytes)) co_return make_error_code(errc::overloaded);
    }
    co_return std::nullopt;
}

}  // namespace

awaitable<result<add_version::answer>> add_in_steps(context& with, add_version next,
                                                    std::vector<operation> all,
                                                    reserve_bytes reserve) {
    const std::size_t bytes = next.bytes;
    std::int64_t cut = 0;
    for (std::size_t begun = 0;;) {
        const auto rest = std::span<const operation>(all).subspan(begun);
        const auto step = rest.first(step_of(rest));
        add_version command = next;
        command.operations.assign(step.begin(), step.end());
        command.bytes = all.empty() ? bytes : bytes / all.size() * step.size();
        auto done = co_await with.engine.submit(std::move(command));
        auto* const added = done ? std::get_if<add_version::added>(&*done) : nullptr;
        if (added) {
            cut += added->cut;
            added->cut = cut;
        }
        if (done && std::holds_alternative<add_version::needs_missed>(*done)) {
            auto missed = std::make_shared<missed_changes>();
            if (next.missed) *missed = *next.missed;
            auto rejected = co_await read_missed(with.engine, next, all, reserve, *missed);
            if (!rejected) co_return rejected.error();
            if (*rejected) co_return **rejected;
            next.missed = std::move(missed);
            continue;
        }
        if (!added || begun + added->taken == all.size()) co_return done;
        begun += added->taken;
        // The device knows the parent that it sent; versions added since are known here alone.
        next.continues = next.continues || added->version != next.parent;
        next.parent = added->version;
    }
}

}  // namespace callsign::jobs
