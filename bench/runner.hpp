#pragma once
// Sends a workload over keep-alive connections and measures the responses. One thread, one request
// in flight per connection, no coroutines and no allocations per request, to leave as much CPU as
// possible to the server on small machines. Therefore it uses sockets directly instead of net's
// HTTP client.
//
// Closed loop (no rate): each connection sends its next request after its response. Open loop:
// request n is due at n/rate, even if the server falls behind, and its latency counts from then. So
// a slow server cannot hide a queue by slowing down the generator.

#include "histogram.hpp"
#include "response.hpp"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <vector>

namespace callsign::bench {

namespace asio = boost::asio;
using steady_clock = std::chrono::steady_clock;
using nanoseconds = std::chrono::nanoseconds;

// One or more consecutive requests of a connection. `item` identifies it; a replay repeats an
// earlier item.
struct job {
    std::uint64_t item = 0;
    bool replay = false;
    unsigned connection = 0;  // index of the connection
};

class workload {
  public:
    virtual ~workload() = default;
    // Returns the n-th job of a run; called once for each n, in order.
    virtual job next(std::uint64_t n) = 0;
    // Returns the bytes of its next request; valid until the next call.
    virtual std::string_view request(const job& j) = 0;
    // Returns nullptr for an expected response, otherwise a constant description of the error.
    virtual const char* fault_in(const job& j, const response& answer) = 0;
    // Called after each expected response. Returns false if the job has another request; its
    // latency continues.
    virtual bool is_done(const job&) { return true; }
};

struct plan {
    unsigned connections = 1;
    double rate = 0;             // requests per second; 0: closed loop
    std::uint64_t requests = 0;  // measured requests; 0: until the duration ends
    nanoseconds warmup{};        // initial time without measurement
    nanoseconds duration{};      // after the warm-up
    nanoseconds timeout{};       // maximum response time
};

struct tally {
    histogram latency;                           // of jobs
    std::array<std::uint64_t, 600> by_status{};  // responses
    std::uint64_t replays = 0;
    std::uint64_t sent = 0;    // including the warm-up
    std::uint64_t unsent = 0;  // open loop: due, but not sent, since the server was too slow
    std::map<std::string, std::uint64_t> faults;  // number of each unexpected result
    std::string first_fault;                      // with its response
    nanoseconds elapsed{};                        // of the measured part

    double per_second() const {
        const double seconds = std::chrono::duration<double>(elapsed).count();
        return seconds > 0 ? static_cast<double>(latency.total()) / seconds : 0;
    }
    bool ok() const { return faults.empty() && unsent == 0; }
};

class runner {
  public:
    // Connects at once; throws boost::system::system_error if the server is unreachable.
    runner(const asio::ip::tcp::endpoint& server, workload& work, const plan& p)
        : server_(server), work_(work), plan_(p), due_timer_(io_), guard_timer_(io_) {
        for (unsigned i = 0; i < plan_.connections; ++i) {
            connections_.push_back(std::make_unique<connection>(io_, i));
            open(*connections_.back());
        }
    }

    // Runs until the plan is done and every response has arrived.
    tally run() {
        start_ = steady_clock::now();
        last_answer_ = start_ + plan_.warmup;
        watch();
        for (auto& c : connections_) idle_.push_back(c.get());
        send_what_is_due(start_);
        io_.run();
        result_.elapsed = last_answer_ - (start_ + plan_.warmup);
        return std::move(result_);
    }

  private:
    using time = steady_clock::time_point;

    struct connection {
        connection(asio::io_context& io, unsigned n) : number(n), socket(io) {}

        const unsigned number;
        asio::ip::tcp::socket socket;
        job current;
        bool busy = false;
        time due;   // of the current job; in a closed loop, when its first request was sent
        time sent;  // the request in flight
        bool counts = false;  // the request was due after the warm-up
        std::size_t received = 0;
        std::array<char, 262'144> in;
        std::string unsent;  // rest of a request that exceeded the socket's buffer
    };

    // ---- sending ----

    void send_what_is_due(time now) {
        while (!idle_.empty() && may_send(now)) {
            connection& c = *idle_.front();
            idle_.pop_front();
            send_next(c, now);
        }
        if (is_done(now) || (idle_.empty() && busy_count_ == 0)) return finish();
        if (plan_.rate > 0 && !idle_.empty()) wait_until_due(now);
    }

    bool may_send(time now) const {
        return !is_done(now) && (plan_.rate == 0 || due_at(next_) <= now);
    }

    // True if no more requests will be sent: enough were, or no time is left.
    bool is_done(time now) const {
        if (plan_.requests != 0 && measured_sent_ >= plan_.requests) return true;
        if (plan_.rate == 0) return now >= end();
        return due_at(next_) >= end() || now >= end() + plan_.timeout;
    }

    time end() const { return start_ + plan_.warmup + plan_.duration; }

    time due_at(std::uint64_t n) const {
        return start_ + std::chrono::duration_cast<nanoseconds>(
                            std::chrono::duration<double>(static_cast<double>(n) / plan_.rate));
    }

    // One wait at a time: due times only increase, so a wait never ends too late. At high rates
    // requests are sent in small groups, because a wake-up costs more than a send; the delay is
    // part of the measured latency.
    void wait_until_due(time now) {
        constexpr auto pause_min = std::chrono::microseconds(200);
        if (waiting_) return;
        waiting_ = true;
        due_timer_.expires_at(std::max(due_at(next_), now + pause_min));
        due_timer_.async_wait([this](boost::system::error_code error) {
            waiting_ = false;
            if (!error) send_what_is_due(steady_clock::now());
        });
    }

    void send_next(connection& c, time now) {
        c.due = plan_.rate > 0 ? due_at(next_) : now;
        c.current = work_.next(next_++);
        c.current.connection = c.number;
        c.busy = true;
        ++busy_count_;
        if (is_measured(c.due)) ++measured_sent_;
        c.counts = is_measured(c.due);
        send_request(c, now);
    }

    void send_request(connection& c, time now) {
        c.sent = now;
        c.received = 0;
        ++result_.sent;
        const std::string_view bytes = work_.request(c.current);
        // The socket's buffer is empty, so this call sends all but the largest requests completely.
        const ssize_t sent =
            ::send(c.socket.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent == static_cast<ssize_t>(bytes.size())) return receive(c);
        if (sent < 0 && errno != EAGAIN) return lost(c, "connection lost while sending");
        c.unsent = bytes.substr(sent > 0 ? static_cast<std::size_t>(sent) : 0);
        asio::async_write(c.socket, asio::buffer(c.unsent),
                          [this, &c](boost::system::error_code error, std::size_t) {
                              if (error) return lost(c, "connection lost while sending");
                              receive(c);
                          });
    }

    // ---- receiving ----

    void receive(connection& c) {
        c.socket.async_read_some(asio::buffer(c.in.data() + c.received, c.in.size() - c.received),
                                 [this, &c](boost::system::error_code error, std::size_t bytes) {
                                     if (error)
                                         return lost(c, "connection lost before the response");
                                     c.received += bytes;
                                     read_answer(c);
                                 });
    }

    void read_answer(connection& c) {
        response answer;
        std::size_t used = 0;
        switch (parse_response({c.in.data(), c.received}, answer, used)) {
        case parse_outcome::broken: return lost(c, "malformed or unsupported HTTP response");
        case parse_outcome::incomplete:
            if (c.received == c.in.size()) return lost(c, "a response that is too large");
            return receive(c);
        case parse_outcome::complete: break;
        }
        if (used != c.received) return lost(c, "bytes after the response");

        const time now = steady_clock::now();
        const bool done = record(c, answer, now);
        if (answer.close) open(c);
        if (done || !c.socket.is_open()) return settle(c, now);
        if (now >= end() + plan_.timeout) return lost(c, "a job without an end");
        c.counts = is_measured(now);
        send_request(c, now);
    }

    // Returns false if the job continues.
    bool record(const connection& c, const response& answer, time now) {
        const char* fault = work_.fault_in(c.current, answer);
        if (fault != nullptr)
            note(fault, std::to_string(answer.status) + " " + std::string(answer.body));
        const bool done = fault != nullptr || work_.is_done(c.current);
        if (c.counts) {
            ++result_.by_status[answer.status < 600 ? answer.status : 0];
            result_.replays += answer.replayed ? 1 : 0;
            last_answer_ = now;
        }
        if (done && is_measured(c.due)) result_.latency.record(now - c.due);
        return done;
    }

    bool is_measured(time due) const { return due >= start_ + plan_.warmup; }

    void lost(connection& c, const char* what) {
        note(what, {});
        open(c);
        settle(c, steady_clock::now());
    }

    void note(const char* fault, const std::string& answer) {
        if (result_.faults.empty())
            result_.first_fault = fault + (answer.empty() ? "" : ": " + answer);
        ++result_.faults[fault];
    }

    // Makes the connection available again.
    void settle(connection& c, time now) {
        c.busy = false;
        --busy_count_;
        if (c.socket.is_open()) idle_.push_back(&c);
        send_what_is_due(now);
    }

    // ---- connections and end ----

    // Connecting to a loopback address takes microseconds, so it may block.
    void open(connection& c) {
        boost::system::error_code error;
        c.socket.close(error);
        c.socket.open(server_.protocol(), error);
        c.socket.connect(server_, error);
        if (error) {
            if (result_.sent == 0) throw boost::system::system_error(error, "connect");
            note("cannot reconnect", error.message());
            c.socket.close(error);
            return;
        }
        c.socket.set_option(asio::ip::tcp::no_delay(true));
        c.socket.native_non_blocking(true);
    }

    // Once a second, cancels requests that exceed the timeout, so that a run always ends.
    void watch() {
        guard_timer_.expires_after(std::chrono::seconds(1));
        guard_timer_.async_wait([this](boost::system::error_code error) {
            if (error) return;
            const time now = steady_clock::now();
            for (auto& c : connections_)
                // Cancelled reads return an error and count as lost.
                if (c->busy && now - c->sent > plan_.timeout) {
                    boost::system::error_code ignored;
                    c->socket.cancel(ignored);
                }
            send_what_is_due(now);
            if (!finished_) watch();
        });
    }

    // No more requests are sent; after the last response the loop ends.
    void finish() {
        if (busy_count_ != 0) return;
        result_.unsent = planned() - std::min(planned(), measured_sent_);
        finished_ = true;
        due_timer_.cancel();
        guard_timer_.cancel();
    }

    // Number of requests that should have been sent and measured; 0 if unknown.
    std::uint64_t planned() const {
        if (plan_.requests != 0 || plan_.rate == 0) return plan_.requests;
        // At most one less, for a due time at the end.
        const double due = std::chrono::duration<double>(plan_.duration).count() * plan_.rate;
        return due < 1 ? 0 : static_cast<std::uint64_t>(due) - 1;
    }

    const asio::ip::tcp::endpoint server_;
    workload& work_;
    const plan plan_;
    // Used by one thread only, so it needs no locks.
    asio::io_context io_{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE};
    asio::steady_timer due_timer_;
    asio::steady_timer guard_timer_;
    std::vector<std::unique_ptr<connection>> connections_;
    std::deque<connection*> idle_;

    time start_;
    time last_answer_;
    std::uint64_t next_ = 0;
    std::uint64_t measured_sent_ = 0;
    unsigned busy_count_ = 0;
    bool waiting_ = false;
    bool finished_ = false;
    tally result_;
};

}  // namespace callsign::bench
