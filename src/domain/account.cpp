#include <callsign/base/assert.hpp>
#include <callsign/base/text.hpp>
#include <callsign/domain/account.hpp>

#include <algorithm>

namespace callsign {
namespace {

constexpr std::size_t prefix_bytes_max = 10;
constexpr std::size_t name_bytes_max = 63;

// Not <cctype>: the result must not depend on the process's locale.
constexpr bool is_upper(char c) noexcept {
    return c >= 'A' && c <= 'Z';
}
constexpr bool is_letter(char c) noexcept {
    return is_upper(c) || (c >= 'a' && c <= 'z');
}

}  // namespace

std::string_view to_string(account_class c) noexcept {
    return c == account_class::local ? "local" : "remote";
}

bool is_valid_prefix(std::string_view text) noexcept {
    return !text.empty() && text.size() <= prefix_bytes_max && is_upper(text.front()) &&
           std::all_of(text.begin(), text.end(),
                       [](char c) { return is_upper(c) || is_digit(c) || c == '_'; });
}

bool is_valid_name(std::string_view text) noexcept {
    return !text.empty() && text.size() <= name_bytes_max &&
           (is_letter(text.front()) || is_digit(text.front())) &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return is_letter(c) || is_digit(c) || c == '.' || c == '_' || c == '-';
           });
}

std::string_view to_string(account_mode mode) noexcept {
    switch (mode) {
    case account_mode::managed: return "managed";
    case account_mode::opaque: return "opaque";
    }
    CALLSIGN_ASSERT(!"an account mode without a name");
}

std::string_view to_string(account_state state) noexcept {
    switch (state) {
    case account_state::active: return "active";
    case account_state::disabled: return "disabled";
    case account_state::deleted: return "deleted";
    case account_state::removing: return "going";
    }
    CALLSIGN_ASSERT(!"an account state without a name");
}

std::string_view to_string(token_scope scope) noexcept {
    switch (scope) {
    case token_scope::read: return "read";
    case token_scope::write: return "write";
    case token_scope::admin: return "admin";
    }
    CALLSIGN_ASSERT(!"a token scope without a name");
}

std::optional<token_scope> parse_token_scope(std::string_view text) noexcept {
    for (const token_scope scope : {token_scope::read, token_scope::write, token_scope::admin}) {
        if (text == to_string(scope)) return scope;
    }
    return std::nullopt;
}

}  // namespace callsign
