#pragma once
// A slot is one allocation: (account, idempotency key) -> what became of it. A pending slot holds
// no number, and a failed one has consumed nothing.

#include <callsign/base/sha256.hpp>
#include <callsign/base/strong_id.hpp>
#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace callsign {

// in_flight: the task is being made on another server; whether it is there is not known yet.
enum class slot_state : std::uint8_t { pending = 1, committed = 2, failed = 3, in_flight = 4 };

// Why a slot failed. Stored as its number.
enum class failure_reason : std::uint8_t {
    none = 0,
    window_passed = 1,
    not_delivered = 2,  // the other server would not take it
};

struct slot {
    slot_id id;
    account_id account;
    std::string key;  // the client's idempotency key: 1..255 visible ASCII characters
    digest fingerprint{};
    callsign::uuid uuid{};  // reserved for the task
    slot_state state = slot_state::pending;
    failure_reason reason = failure_reason::none;
    bool created = true;          // what the receipt says: false if the task was there already
    std::int64_t attempts = 1;    // requests that worked on it while it was pending
    std::optional<task_id> task;  // once committed
    time_point created_at;
    std::optional<time_point> settled_at;  // committed or failed
};

// Neither committed nor failed.
constexpr bool is_open(slot_state state) noexcept {
    return state == slot_state::pending || state == slot_state::in_flight;
}

std::string_view to_string(slot_state state) noexcept;
std::optional<slot_state> parse_slot_state(std::string_view text) noexcept;
std::string_view to_string(failure_reason reason) noexcept;

// 1..255 visible ASCII characters (0x21..0x7E).
bool is_valid_idempotency_key(std::string_view text) noexcept;

}  // namespace callsign
