#pragma once
// A slot records the outcome of one creation, by account and idempotency key. Only a
// committed slot has used a number.

#include <callsign/base/sha256.hpp>
#include <callsign/base/strong_id.hpp>
#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace callsign {

// in_flight: the task is being created on a remote server; the outcome is not known yet.
enum class slot_state : std::uint8_t { pending = 1, committed = 2, failed = 3, in_flight = 4 };

// Why a slot failed. Stored as its number.
enum class failure_reason : std::uint8_t {
    none = 0,
    window_passed = 1,  // unfinished for longer than the reaper window ([reaper] window)
    not_delivered = 2,  // the remote server did not accept the task
};

struct slot {
    slot_id id;
    account_id account;
    std::string key;  // the client's idempotency key: 1..255 visible ASCII characters
    // Of the request; a retry with another one gets key_conflict. Zero: the task was purged, and
    // retries are not compared.
    digest fingerprint{};
    callsign::uuid uuid{};  // reserved for the task
    slot_state state = slot_state::pending;
    failure_reason reason = failure_reason::none;
    bool created = true;          // as in the receipt: false if the task existed before
    std::int64_t attempts = 1;    // requests that worked on the slot while it was open
    std::optional<task_id> task;  // set once committed
    time_point created_at;
    std::optional<time_point> settled_at;  // committed or failed
    bool expires = false;                  // deleted after the retention: it created no task
};

constexpr bool is_open(slot_state state) noexcept {
    return state == slot_state::pending || state == slot_state::in_flight;
}

std::string_view to_string(slot_state state) noexcept;
std::optional<slot_state> parse_slot_state(std::string_view text) noexcept;
std::string_view to_string(failure_reason reason) noexcept;

// 1..255 visible ASCII characters (0x21..0x7E).
bool is_valid_idempotency_key(std::string_view text) noexcept;

}  // namespace callsign
