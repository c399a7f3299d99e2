#include "creation.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/base/variants.hpp>

namespace callsign {
namespace {

claim until(claim asks, milliseconds deadline) {
    asks.deadline = deadline;
    return asks;
}

}  // namespace

creation::creation(callsign::command request, milliseconds deadline)
    : work(until(claim_of_any(request), deadline), std::move(request)),
      held_bytes_(price.bytes + size_of(std::get<reserve>(command).attributes)) {}

bool creation::proceed() {
    const auto* reservation = std::get_if<reserve::answer>(&out);
    if (!reservation) return false;
    if (const auto* known = std::get_if<reserve::in_flight>(reservation)) {
        slot_ = known->slot;
        retried_since_ = known->reserved_at;
    }
    const auto* reserved = std::get_if<reserve::reserved>(reservation);
    if (!reserved) return false;
    if (reserved->resumed) retried_since_ = reserved->reserved_at;
    auto& wanted = std::get<reserve>(command);
    for (const uuid& other : reserved->depends) wanted.attributes["dep_" + to_string(other)] = "";
    slot_ = reserved->slot;
    if (reserved->is_remote) {
        go_on_with(begin_delivery{slot_, std::move(wanted.prefix), std::move(wanted.attributes),
                                  wanted.author});
    } else {
        go_on_with(
            fulfil{slot_, std::move(wanted.prefix), std::move(wanted.attributes), wanted.author});
    }
    return true;
}

template <class Command>
void creation::go_on_with(Command next) {
    price = claim_of(next).price;
    weight = price.weight();
    command.emplace<Command>(std::move(next));
}

std::optional<slot_id> creation::in_flight() const {
    const auto* const reservation = std::get_if<reserve::answer>(&out);
    const auto* const delivery = std::get_if<begin_delivery::answer>(&out);
    const bool is_on_its_way =
        (reservation && std::holds_alternative<reserve::in_flight>(*reservation)) ||
        (delivery && std::holds_alternative<begin_delivery::delivering>(*delivery));
    return is_on_its_way ? std::optional(slot_) : std::nullopt;
}

create_answer creation::take_outcome() {
    // A phase that ended so has another phase after it.
    const auto goes_on = []<class T>(T&&) -> create_answer {
        CALLSIGN_ASSERT(!"the outcome of a whole creation");
    };
    // The slot was settled and has expired since, which a short retention allows: its outcome is no
    // longer known, and the client has to retry.
    const auto expired = [](fulfil::slot_missing&&) -> create_answer { return in_progress{}; };
    if (auto* reservation = std::get_if<reserve::answer>(&out)) {
        return widen<create_answer>(
            std::move(*reservation),
            [&](receipted&& given) -> create_answer {
                if (given.replayed) retried_since_ = given.reserved_at;
                return std::move(given);
            },
            [&](slot_failed&& failed) -> create_answer {
                retried_since_ = failed.reserved_at;
                return failed;
            },
            [&](reserve::reserved&& r) { return goes_on(std::move(r)); },
            [&](reserve::in_flight&& f) { return goes_on(std::move(f)); });
    }
    if (auto* delivery = std::get_if<begin_delivery::answer>(&out)) {
        return widen<create_answer>(
            std::move(*delivery), expired,
            [&](begin_delivery::delivering&& d) { return goes_on(std::move(d)); });
    }
    return widen<create_answer>(std::get<fulfil::answer>(std::move(out)), expired);
}

}  // namespace callsign
