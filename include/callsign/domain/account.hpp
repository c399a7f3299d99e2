#pragma once
// The owner of tasks, its series of numbers, and the tokens that open it.

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

// How an account is named: by its id, or by the name that operators gave it.
using account_ref = std::variant<account_id, std::string>;

// managed: the server may read the tasks. opaque: it holds sealed bytes only.
enum class account_mode : std::uint8_t { managed = 1, opaque = 2 };

enum class account_state : std::uint8_t {
    active = 1,
    disabled,  // nobody gets in
    deleted,   // nor does anybody; it can be had back until its grace is over
    going,     // its rows are being removed, and it has no name of its own any more
};

std::string_view to_string(account_state state) noexcept;

// Where an account's tasks are: in this store, or on another server. Clients of either wait for
// other things, so the reaper has a window for each.
enum class account_class : std::uint8_t { here = 1, elsewhere = 2 };
inline constexpr std::array account_classes{account_class::here, account_class::elsewhere};

std::string_view to_string(account_class c) noexcept;

// One of each.
template <class T>
struct per_class {
    T here{};
    T elsewhere{};

    per_class() = default;
    template <std::convertible_to<T> Both>
    per_class(const Both& both) : here(both), elsewhere(both) {}  // NOLINT: the same for both

    T& operator[](account_class c) { return c == account_class::here ? here : elsewhere; }
    const T& operator[](account_class c) const {
        return c == account_class::here ? here : elsewhere;
    }
};

// All the fork versions that an account has had (domain/version.hpp), forgotten ones included.
struct fork_tally {
    std::int64_t versions = 0;
    std::int64_t bytes = 0;  // as size_of() has them
};

struct account {
    account_id id;
    std::string name{};
    std::string default_prefix{};  // of its default series; as shown
    time_point created_at{};
    account_mode mode = account_mode::managed;
    account_state state = account_state::active;
    std::optional<time_point> deleted_at{};  // of one that is deleted, or going
    // Its tasks live on another server (domain/remote_chain.hpp), and what is here is a mirror.
    bool elsewhere = false;
    chain_head head{};
    std::int64_t history_from = 0;  // how tasks stood before this seq is not known any more
    std::int64_t stored_bytes = 0;  // of its versions (size_of), sealed or not, and its snapshot
    fork_tally forks{};
};

// It stores as many bytes as it may.
struct account_full {};

// What of an account has a bound of the operator's.
enum class account_limit { stored_bytes, tokens, former_prefixes };

// One run of numbers, or one for each period.
struct series {
    series_id id;
    account_id account;
    std::string prefix;
    std::string project;  // bound project; empty: none
    bool is_default = false;
    time_point created_at{};
    std::string period;            // the last that numbers were taken in; empty: none, or no reset
    std::int64_t last_number = 0;  // of that period; as shown; 0: none taken yet
    reset_policy reset = reset_policy::never;
    std::string time_zone = "UTC";
    bool archived = false;     // takes no more numbers; its keys go on
    bool allows_gaps = false;  // its next number may be raised
    bool held = false;         // since a restore: it gives none until it is told where to go on
    bool numbering = false;    // resumed; tasks that came while it was held have no number yet
};

// More of them are no help to people; an account's are read together.
inline constexpr std::size_t series_max = 1'000;
// Beyond what people say; far below what a JSON number holds exactly.
inline constexpr std::int64_t number_max = 999'999'999'999;

// What a series has given in one period: 1..last_number, but for those that were skipped.
struct numbers_given {
    std::string period;  // empty: the series never resets
    std::int64_t last_number = 0;
};

// Numbers of a period that were left out on purpose, and are nobody's: first..last.
struct numbers_skipped {
    std::string period;
    std::int64_t first = 0;
    std::int64_t last = 0;

    friend bool operator==(const numbers_skipped&, const numbers_skipped&) = default;
};

enum class token_scope : std::uint8_t { read = 1, write = 2, admin = 3 };

// What a token proves. An admin token without an account is the operator's.
struct principal {
    token_id token;
    std::optional<account_id> account;
    token_scope scope = token_scope::read;
    account_mode mode = account_mode::managed;  // of the account
    std::optional<time_point> expires_at{};     // by the wall clock; from then on it opens nothing
    bool revoked = false;                       // it opens nothing any more
    std::string name{};                         // the token's
    std::string account_name{};                 // empty: the operator's
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

// [A-Z][A-Z0-9_]{0,9}.
bool is_valid_prefix(std::string_view text) noexcept;

// [A-Za-z0-9][A-Za-z0-9._-]{0,62}
bool is_valid_name(std::string_view text) noexcept;

std::string_view to_string(account_mode mode) noexcept;
std::string_view to_string(token_scope scope) noexcept;
std::optional<token_scope> parse_token_scope(std::string_view text) noexcept;

}  // namespace callsign
