#pragma once
// A proxy between clients and the server, which forwards one request at a time per connection. It
// records requests and responses, and lets a test act at critical moments: when a version is being
// sent to the server, or its response to the client.
//
// Thread-safe; it runs on its own thread. The server may be restarted on its port.

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::testing {

class recording_proxy {
  public:
    struct exchange {
        std::string method;
        std::string target;
        unsigned status = 0;  // 0: no response
        std::string answer;
    };

    // Forwards to this port of the loopback address.
    explicit recording_proxy(std::uint16_t server_port);
    ~recording_proxy();
    recording_proxy(const recording_proxy&) = delete;
    recording_proxy& operator=(const recording_proxy&) = delete;

    // The port for clients.
    std::uint16_t port() const noexcept;

    // In the order of the requests.
    std::vector<exchange> exchanges() const;
    // Number of requests with this method, a target with this prefix, and this response status.
    int count(std::string_view method, std::string_view target, unsigned status) const;
    void forget_exchanges();

    enum class moment {
        arrived,   // received completely and not yet forwarded; it is forwarded afterwards
        sent,      // forwarded completely; the client is cut off without a response
        answered,  // the proxy has the response; the client is cut off without it
    };
    // Calls `then`, once, at that moment of the `nth` version sent from now on, on the proxy's
    // thread; nothing is forwarded until it returns. Wait for the returned future before using
    // anything that `then` uses.
    [[nodiscard]] std::future<void> at_next_version(moment when, std::function<void()> then,
                                                    int nth = 1);

    // Holds the next versions until there are `count` of them, then forwards them all: each sender
    // has queried the chain before any version was forwarded.
    void gather_versions(int count);
    // One of them will not arrive. No effect if they were already forwarded.
    void gather_one_fewer();

    // The `nth` version from now on gets this status, or no response if it is 0, before or after
    // the server has received it. Once.
    struct cut {
        int nth = 1;
        unsigned status = 0;
        bool is_passed_on = false;
        std::function<void()> then{};  // called at that moment, on the proxy's thread
    };
    void cut_off(cut where);

    // Loses every `nth` response to a version: the client is cut off without it.
    void lose_answers(int nth);
    // Disturbs this percentage of the versions, chosen by the seed: loses the request or its
    // response, or delays a copy, instead of it or in addition.
    void disturb(std::uint64_t seed, int in_hundred);
    // Cuts off this percentage of all requests, chosen by the seed, before or after the server has
    // received them.
    void cut_off_some(std::uint64_t seed, int in_hundred);
    // Uses each connection, on either side, for one request only, as some proxies do.
    void close_after_each();

  private:
    class impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace callsign::testing
