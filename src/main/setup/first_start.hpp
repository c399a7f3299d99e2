#pragma once
// What a server makes for itself in an empty data directory, so that the first request works: the
// operator's token, in a file only its owner can read, and an account to try it with.
//
// A crash may come between any two steps. The operator's token is registered before its file
// appears, and the file appears whole, under its name, or not at all: a start that finds no file
// makes a new token. At worst a token is registered that nobody has ever seen.
//
// Failures are thrown (std::runtime_error): a server that cannot do this cannot start.

#include <callsign/api/service.hpp>
#include <callsign/engine/engine.hpp>

#include <boost/asio/awaitable.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace callsign::setup {

// Registers a token of the operator's and writes it to `file`, unless that exists.
boost::asio::awaitable<void> ensure_admin_token(engine& engine, entropy& entropy,
                                                std::filesystem::path file);

// The token of the account `home`, if this made it: no account existed.
boost::asio::awaitable<std::optional<std::string>> ensure_account(engine& engine, entropy& entropy);

// For people, once: the token and a line to paste.
std::string welcome(std::string_view url, std::string_view token,
                    const std::filesystem::path& admin_token);

}  // namespace callsign::setup
