#pragma once
// Accounts, their number series and API tokens.

#include <callsign/base/sha256.hpp>
#include <callsign/base/strong_id.hpp>
#include <callsign/base/time.hpp>
#include <callsign/domain/period.hpp>
#include <callsign/domain/sealed.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace callsign {

// Names an account by ID or by name.
using account_ref = std::variant<account_id, std::string>;

// managed: the server can read the tasks. opaque: it stores encrypted data only.
enum class account_mode : std::uint8_t { managed = 1, opaque = 2 };

enum class account_state : std::uint8_t {
    active = 1,
    disabled,  // no access
    deleted,   // no access; can be restored until the grace period ends
    removing,  // its rows are being removed; its name is free
};

std::string_view to_string(account_state state) noexcept;

// local or remote: where an account's tasks are. Clients of the two wait for different things, so
// the reaper has a window for each class.
enum class account_class : std::uint8_t { local = 1, remote = 2 };
inline constexpr std::array account_classes{account_class::local, account_class::remote};

std::string_view to_string(account_class c) noexcept;

// One value for each class.
template <class T>
struct per_class {
    T local{};
    T remote{};

    per_class() = default;
    template <std::convertible_to<T> Both>
    per_class(const Both& both) : local(both), remote(both) {}  // NOLINT: one value for both

    T& operator[](account_class c) { return c == account_class::local ? local : remote; }
    const T& operator[](account_class c) const {
        return c == account_class::local ? local : remote;
    }
};

// Totals of all fork versions of an account (domain/version.hpp), including removed ones.
struct fork_tally {
    std::int64_t versions = 0;
    std::int64_t bytes = 0;  // as size_of() counts them
};

struct account {
    account_id id;
    std::string name{};
    std::string default_prefix{};  // of the default series; set for display
    time_point created_at{};
    account_mode mode = account_mode::managed;
    account_state state = account_state::active;
    std::optional<time_point> deleted_at{};  // set while deleted or removing
    // The account is remote (domain/remote_chain.hpp): its tasks here are a mirror.
    bool is_remote = false;
    chain_head head{};
    std::int64_t history_from = 0;  // task history before this seq is no longer retained
    // Of versions (size_of), encrypted or not, of the snapshot, and of outcomes that are remembered
    // for a time (size_of_outcome): those of requests, and of slots that created no task.
    std::int64_t stored_bytes = 0;
    fork_tally forks{};
};

// The account stores the maximum number of bytes.
struct account_full {};

// Limits of an account that the operator sets.
enum class account_limit { stored_bytes, tokens, former_prefixes };

// A number series: one sequence of numbers, or one for each period.
struct series {
    series_id id;
    account_id account;
    std::string prefix;
    std::string project;  // bound project; empty: none
    bool is_default = false;
    time_point created_at{};
    std::string period;            // the last one with numbers; empty: none, or no reset
    std::int64_t last_number = 0;  // of that period, set for display; 0: none
    reset_policy reset = reset_policy::never;
    std::string time_zone = "UTC";
    bool archived = false;     // assigns no more numbers; its keys stay valid
    bool allows_gaps = false;  // its next number may be raised
    bool held = false;         // assigns no numbers since a restore, until it is resumed
    bool numbering = false;    // resumed, but tasks that came while it was held still lack numbers
    // After a renaming: tasks last changed up to this seq may still have their former key as an
    // attribute; those up to this place have been updated.
    std::optional<std::int64_t> renamed_seq{};
    std::string renamed_period{};
    std::int64_t renamed_number = 0;
};

// All series of an account are read together, so their number is limited.
inline constexpr std::size_t series_max = 1'000;
// Far below what a JSON number holds exactly.
inline constexpr std::int64_t number_max = 999'999'999'999;

// The numbers of a series assigned in one period: 1..last_number, except skipped ones.
struct numbers_given {
    std::string period;  // empty: the series never resets
    std::int64_t last_number = 0;
};

// Numbers of a period that were skipped on purpose and belong to no task: first..last.
struct numbers_skipped {
    std::string period;
    std::int64_t first = 0;
    std::int64_t last = 0;

    friend bool operator==(const numbers_skipped&, const numbers_skipped&) = default;
};

enum class token_scope : std::uint8_t { read = 1, write = 2, admin = 3 };

// The rights of a token. An admin token without an account is an operator token.
struct principal {
    token_id token;
    std::optional<account_id> account;
    token_scope scope = token_scope::read;
    account_mode mode = account_mode::managed;    // of the account
    std::optional<time_point> expires_at{};       // by the wall clock; invalid from then on
    bool revoked = false;                         // no longer valid
    std::string name{};                           // the token's
    std::string account_name{};                   // empty: an operator token
    account_state state = account_state::active;  // of the account
};

struct token {
    token_id id;
    std::optional<account_id> account;
    std::string name;
    token_scope scope = token_scope::read;
    time_point created_at;
    std::optional<time_point> revoked_at;
    std::optional<time_point> expires_at{};
};

// Whether the text matches [A-Z][A-Z0-9_]{0,9}.
bool is_valid_prefix(std::string_view text) noexcept;

// Whether the text matches [A-Za-z0-9][A-Za-z0-9._-]{0,62}.
bool is_valid_name(std::string_view text) noexcept;

std::string_view to_string(account_mode mode) noexcept;
std::string_view to_string(token_scope scope) noexcept;
std::optional<token_scope> parse_token_scope(std::string_view text) noexcept;

}  // namespace callsign
