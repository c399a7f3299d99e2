#pragma once
// A task store elsewhere: the chain of one client id on a TaskChampion sync server, over HTTP
// (docs/src/http.md of that project; where it and the reference server differ, the server holds).
// Bodies are sealed and opened as its clients do it (seal/envelope.hpp, wire/segment.hpp).
//
// Whatever comes is input: of a server that answers anything else than the protocol has, the
// failure says so. Threads: the network executor; large bodies are opened and sealed on another.

#include <callsign/domain/claim.hpp>
#include <callsign/net/body_budget.hpp>
#include <callsign/ports/entropy.hpp>
#include <callsign/ports/task_sink.hpp>
#include <callsign/seal/secret.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace callsign::remote {

struct sink_options {
    // From connecting to the last byte of the answer.
    milliseconds timeout{std::chrono::seconds{30}};
    // A larger answer is a failure; it is held in memory.
    std::size_t answer_bytes_max = std::size_t{128} << 20;
    // All answers together, as they come and until they are opened. What finds no room is asked for
    // again later; small ones always have it. At least answer_bytes_max.
    std::size_t answers_bytes_max = std::size_t{256} << 20;
    // Who may vouch for servers, besides those the system trusts; a PEM file. Empty: nobody.
    std::filesystem::path ca_file{};
};

// Runs what would hold up the network thread somewhere else, on that share. An error: there is no
// room for it now, and it was not begun.
using offloader =
    std::function<boost::asio::awaitable<boost::system::error_code>(claim, std::function<void()>)>;

// What all sinks share. Outlives them.
class sinks {
  public:
    // Throws std::runtime_error if `ca_file` cannot be read.
    sinks(boost::asio::any_io_executor network, offloader offload, entropy& entropy,
          sink_options options);

    // `who`: on whose share bodies are sealed and opened. `key`: of the client id's bodies.
    // nullptr: the URL is none, or there is no key.
    std::unique_ptr<task_sink> open(payer who, const std::string& url, const uuid& client_id,
                                    std::shared_ptr<const seal::key> key);

  private:
    boost::asio::any_io_executor network_;
    offloader offload_;
    entropy& entropy_;
    sink_options options_;
    std::shared_ptr<net::body_budget> bodies_;  // shared with the leases of it
    boost::asio::ssl::context tls_{boost::asio::ssl::context::tls_client};
};

}  // namespace callsign::remote
