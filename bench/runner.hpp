#pragma once
// Sends a workload over keep-alive connections and measures the answers. One thread, one request
// under way per connection, no coroutine and no allocation per request, so that on a machine with
// few cores the server gets what there is. That is why it has sockets of its own beside net's HTTP
// client, which has both.
//
// Closed loop (no rate): each connection sends its next request when it has its answer.
// Open loop: request n is due at n/rate, whether or not the server keeps up, and its latency counts
// from then. A late server thus cannot hide a queue by slowing the generator down.

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

// What one or more requests of a connection do, one after the other. `item` says which; a replay is
// an item sent before, sent again.
struct job {
    std::uint64_t item = 0;
    bool replay = false;
    unsigned connection = 0;  // the runner's, from 0
};

class workload {
  public:
    virtual ~workload() = default;
    // The n-th job of a run; called once for each n, in order.
    virtual job next(std::uint64_t n) = 0;
    // The bytes of its next request; valid until the next call.
    virtual std::string_view request(const job& j) = 0;
    // nullptr if the answer is as it should be; else what is wrong, in a few fixed words.
    virtual const char* fault_in(const job& j, const response& answer) = 0;
    // Asked after each answer without a fault. False: the job has another request, and its latency
    // goes on counting.
    virtual bool is_done(const job&) { return true; }
};

struct plan {
    unsigned connections = 1;
    double rate = 0;             // requests a second; 0: closed loop
    std::uint64_t requests = 0;  // measured ones; 0: as many as the duration allows
    nanoseconds warmup{};        // requests before this are sent but not measured
    nanoseconds duration{};      // after the warm-up
    nanoseconds timeout{};       // an answer that takes longer is an error
};

struct tally {
    histogram latency;                           // of jobs
    std::array<std::uint64_t, 600> by_status{};  // answers
    std::uint64_t replays = 0;
    std::uint64_t sent = 0;                       // warm-up included
    std::uint64_t unsent = 0;                     // open loop: due, but the server was too slow
    std::map<std::string, std::uint64_t> faults;  // what was unexpected, and how often
    std::string first_fault;                      // with the answer that showed it
    nanoseconds elapsed{};                        // of the measured part

    double per_second() const {
        const double seconds = std::chrono::duration<double>(elapsed).count();
        return seconds > 0 ? static_cast<double>(latency.total()) / seconds : 0;
    }
    bool ok() const { return faults.empty() && unsent == 0; }
};

class runner {
  public:
    // Connects at once; throws boost::system::system_error if the server is not there.
    runner(const asio::ip::tcp::endpoint& server, workload& work, const plan& p)
        : server_(server), work_(work), plan_(p), due_timer_(io_), guard_timer_(io_) {
        for (unsigned i = 0; i < plan_.connections; ++i) {
            connections_.push_back(std::make_unique<connection>(io_, i));
            open(*connections_.back());
        }
    }

    // Until the plan is done and every answer is in.
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
        time sent;  // its request under way
        bool counts = false;  // that request was due after the warm-up
        std::size_t received = 0;
        std::array<char, 262'144> in;
        std::string unsent;  // the rest of a request that did not fit the socket's buffer
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

    // Nothing more is to be sent: enough requests, or no time left for the next one.
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

    // One wait at a time: due times only grow, so a wait under way never ends too late. At high
    // rates requests go out in small groups, because waking up for each costs the machine more than
    // sending it; the delay is part of the measured latency.
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
        // The socket's buffer is empty, so all but the largest requests go out in this one call.
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
                                     if (error) return lost(c, "connection lost before the answer");
                                     c.received += bytes;
                                     read_answer(c);
                                 });
    }

    void read_answer(connection& c) {
        response answer;
        std::size_t used = 0;
        switch (parse_response({c.in.data(), c.received}, answer, used)) {
        case parse_outcome::broken: return lost(c, "not an HTTP answer we can read");
        case parse_outcome::incomplete:
            if (c.received == c.in.size()) return lost(c, "an answer too large");
            return receive(c);
        case parse_outcome::complete: break;
        }
        if (used != c.received) return lost(c, "bytes after the answer");

        const time now = steady_clock::now();
        const bool done = record(c, answer, now);
        if (answer.close) open(c);
        if (done || !c.socket.is_open()) return settle(c, now);
        if (now >= end() + plan_.timeout) return lost(c, "a job without an end");
        c.counts = is_measured(now);
        send_request(c, now);
    }

    // False: the job goes on.
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

    // The connection is free again.
    void settle(connection& c, time now) {
        c.busy = false;
        --busy_count_;
        if (c.socket.is_open()) idle_.push_back(&c);
        send_what_is_due(now);
    }

    // ---- the rest ----

    // Connecting to a loopback address takes microseconds, so it may block.
    void open(connection& c) {
        boost::system::error_code error;
        c.socket.close(error);
        c.socket.open(server_.protocol(), error);
        c.socket.connect(server_, error);
        if (error) {
            if (result_.sent == 0) throw boost::system::system_error(error, "connect");
            note("cannot connect again", error.message());
            c.socket.close(error);
            return;
        }
        c.socket.set_option(asio::ip::tcp::no_delay(true));
        c.socket.native_non_blocking(true);
    }

    // Once a second: requests that wait too long are given up, so a run ends whatever the server
    // does.
    void watch() {
        guard_timer_.expires_after(std::chrono::seconds(1));
        guard_timer_.async_wait([this](boost::system::error_code error) {
            if (error) return;
            const time now = steady_clock::now();
            for (auto& c : connections_)
                // Cancelled reads come back with an error and are counted as lost.
                if (c->busy && now - c->sent > plan_.timeout) {
                    boost::system::error_code ignored;
                    c->socket.cancel(ignored);
                }
            send_what_is_due(now);
            if (!finished_) watch();
        });
    }

    // Nothing more is sent; when the last answer is in, nothing keeps the loop running.
    void finish() {
        if (busy_count_ != 0) return;
        result_.unsent = planned() - std::min(planned(), measured_sent_);
        finished_ = true;
        due_timer_.cancel();
        guard_timer_.cancel();
    }

    // Requests that should have been sent and measured; 0 if there was no telling.
    std::uint64_t planned() const {
        if (plan_.requests != 0 || plan_.rate == 0) return plan_.requests;
        // One less at most, for a due time that falls on the edge.
        const double due = std::chrono::duration<double>(plan_.duration).count() * plan_.rate;
        return due < 1 ? 0 : static_cast<std::uint64_t>(due) - 1;
    }

    const asio::ip::tcp::endpoint server_;
    workload& work_;
    const plan plan_;
    // One thread uses it, so it needs no locks.
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
