#pragma once
// Stands between clients and the server and passes on what they say, one request at a time a
// connection. It keeps a list of what was asked and answered, and lets a test do something at
// the worst moment: when a version is on its way to the server, or its answer on the way back.
//
// Thread safe; it works on a thread of its own. The server may go and come back on its port.

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
        unsigned status = 0;  // 0: there was no answer
        std::string answer;
    };

    // To the server on that port of this machine.
    explicit recording_proxy(std::uint16_t server_port);
    ~recording_proxy();
    recording_proxy(const recording_proxy&) = delete;
    recording_proxy& operator=(const recording_proxy&) = delete;

    // Where clients connect.
    std::uint16_t port() const noexcept;

    // In the order in which they were asked.
    std::vector<exchange> exchanges() const;
    // How many requests of that method, to a target that begins so, had that status.
    int count(std::string_view method, std::string_view target, unsigned status) const;
    void forget_exchanges();

    enum class moment {
        arrived,   // here, whole, and the server knows nothing of it; it is passed on afterwards
        sent,      // the server has been sent all of it; the client is cut off without an answer
        answered,  // the answer has arrived here; the client is cut off without it
    };
    // Calls `then` at that moment of the next version that a client sends, or of the `nth`, on the
    // proxy's thread: meanwhile nothing is passed on. Once. Wait for what is returned before using
    // what `then` uses.
    [[nodiscard]] std::future<void> at_next_version(moment when, std::function<void()> then,
                                                    int nth = 1);

    // The next versions wait here for each other, until there are so many, and go on together: all
    // their senders have looked before any of them was sent.
    void gather_versions(int count);
    // One of them will not come. Nothing, if they have gone on.
    void gather_one_fewer();

    // The `nth` of the next versions is answered with that status, or not at all if that is 0,
    // before the server has it or after. Once.
    struct cut {
        int nth = 1;
        unsigned status = 0;
        bool is_passed_on = false;
        std::function<void()> then{};  // called at that moment, on the proxy's thread
    };
    void cut_off(cut where);

    // Of the answers to versions each `nth` one is lost: the client is cut off without it.
    void lose_answers(int nth);
    // Of the versions so many in a hundred are disturbed, as the seed draws: the request is lost,
    // or its answer, or a copy arrives later, instead of it or besides.
    void disturb(std::uint64_t seed, int in_hundred);
    // Of all requests so many in a hundred are cut off, as the seed draws, before the server has
    // them or after.
    void cut_off_some(std::uint64_t seed, int in_hundred);
    // As some proxies do: a connection, on either side, is for one request.
    void close_after_each();

  private:
    class impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace callsign::testing
