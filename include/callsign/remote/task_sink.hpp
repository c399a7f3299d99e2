#pragma once
// The chain of one client ID on a remote TaskChampion sync server, over HTTP (docs/src/http.md of
// that project; where it differs from the reference server, the server is followed). Bodies are
// encrypted and decrypted as by its clients (seal/envelope.hpp, wire/segment.hpp).
//
// Responses are untrusted input: one that is not of the protocol becomes a sink_failure. Threads:
// the network executor; large bodies are encrypted and decrypted on another.

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
    // From connecting to the last byte of the response.
    milliseconds timeout{std::chrono::seconds{30}};
    // A larger response is a failure; it is held in memory.
    std::size_t answer_bytes_max = std::size_t{128} << 20;
    // All responses together, from arrival until decryption. What exceeds it is requested again
    // later; small ones are always accepted. At least answer_bytes_max.
    std::size_t answers_bytes_max = std::size_t{256} << 20;
    // PEM file with additional CA certificates. Empty: none.
    std::filesystem::path ca_file{};
};

// Runs work elsewhere that would block the network thread, charged to the claim. An error: there is
// no room for it now, and it was not begun.
using offloader =
    std::function<boost::asio::awaitable<boost::system::error_code>(claim, std::function<void()>)>;

// State shared by all sinks. Outlives them.
class sinks {
  public:
    // Throws std::runtime_error if `ca_file` cannot be read.
    sinks(boost::asio::any_io_executor network, offloader offload, entropy& entropy,
          sink_options options);

    // `who` is charged for encryption and decryption. `key`: of the client ID's bodies. Returns
    // nullptr if the URL is invalid or `key` is null.
    std::unique_ptr<task_sink> open(payer who, const std::string& url, const uuid& client_id,
                                    std::shared_ptr<const seal::key> key);

  private:
    boost::asio::any_io_executor network_;
    offloader offload_;
    entropy& entropy_;
    sink_options options_;
    std::shared_ptr<net::body_budget> bodies_;  // shared with its leases
    boost::asio::ssl::context tls_{boost::asio::ssl::context::tls_client};
};

}  // namespace callsign::remote
