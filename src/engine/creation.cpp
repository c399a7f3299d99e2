#include "creation.hpp"

#include <callsign/base/assert.hpp>

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
    if (reserved->elsewhere) {
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
    if (auto* reservation = std::get_if<reserve::answer>(&out)) {
        if (auto* given = std::get_if<receipted>(reservation)) {
            if (given->replayed) retried_since_ = given->reserved_at;
            return std::move(*given);
        }
        if (auto* failed = std::get_if<slot_failed>(reservation)) {
            retried_since_ = failed->reserved_at;
            return *failed;
        }
        if (auto* wrong = std::get_if<task_not_valid>(reservation)) return std::move(*wrong);
        if (auto* unmet = std::get_if<depends_unmet>(reservation)) return std::move(*unmet);
        if (auto* large = std::get_if<task_too_large>(reservation)) return *large;
        if (auto* held = std::get_if<series_held>(reservation)) return std::move(*held);
        if (std::holds_alternative<account_full>(*reservation)) return account_full{};
        if (std::holds_alternative<key_conflict>(*reservation)) return key_conflict{};
        if (std::holds_alternative<series_archived>(*reservation)) return series_archived{};
        CALLSIGN_ASSERT(std::holds_alternative<unknown_series>(*reservation));
        return unknown_series{};
    }
    if (auto* delivery = std::get_if<begin_delivery::answer>(&out)) {
        if (auto* given = std::get_if<receipted>(delivery)) return std::move(*given);
        if (auto* failed = std::get_if<slot_failed>(delivery)) return *failed;
        if (auto* large = std::get_if<task_too_large>(delivery)) return *large;
        if (auto* halted = std::get_if<remote_halted>(delivery)) return *halted;
        if (std::holds_alternative<fulfil::slot_missing>(*delivery)) return in_progress{};
        CALLSIGN_ASSERT(std::holds_alternative<unknown_series>(*delivery));
        return unknown_series{};
    }
    auto& fulfilment = std::get<fulfil::answer>(out);
    if (auto* given = std::get_if<receipted>(&fulfilment)) return std::move(*given);
    if (auto* failed = std::get_if<slot_failed>(&fulfilment)) return *failed;
    if (auto* large = std::get_if<task_too_large>(&fulfilment)) return *large;
    if (auto* held = std::get_if<series_held>(&fulfilment)) return std::move(*held);
    // The slot was settled and has expired since, which a short retention allows: its outcome is no
    // longer known, and the client has to retry.
    if (std::holds_alternative<fulfil::slot_missing>(fulfilment)) return in_progress{};
    CALLSIGN_ASSERT(std::holds_alternative<unknown_series>(fulfilment));
    return unknown_series{};
}

}  // namespace callsign
