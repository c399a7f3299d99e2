#pragma once
// Prepares an empty data directory so that the first request works: an operator token, in a file
// that only its owner can read, and an account.
//
// A crash may come between any two steps. The operator token is registered before its file appears,
// and the file appears as a whole or not at all: a start without the file creates a new token. At
// worst a registered token remains that was never written.
//
// Errors are thrown (std::runtime_error): a server that cannot do this cannot start.

#include <callsign/api/service.hpp>
#include <callsign/engine/engine.hpp>

#include <boost/asio/awaitable.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace callsign::setup {

// Registers an operator token and writes it to `file`, unless that exists.
boost::asio::awaitable<void> ensure_admin_token(engine& engine, entropy& entropy,
                                                std::filesystem::path file);

// Returns the token of the account `home`, if no account existed and this call created it.
boost::asio::awaitable<std::optional<std::string>> ensure_account(engine& engine, entropy& entropy);

// Returns the text for a first start: the token and a line to paste.
std::string welcome(std::string_view url, std::string_view token,
                    const std::filesystem::path& admin_token);

}  // namespace callsign::setup
