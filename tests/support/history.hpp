#pragma once
// What clients of one account saw, and a judgement of it: is there an order of all operations, each
// between its request and its response, that a single server without failures could have produced?
//
// Most rules need no search, since numbers and receipts determine the order. Descriptions of a task
// are a register: writes of unique values and reads are judged by Wing and Gong's search, task by
// task (Wing and Gong, "Testing and Verifying Concurrent Objects", 1993), with a memory of the
// states that were visited (Lowe, "Testing for Linearizability", 2017).
//
// Threads: any may add; one judges.

#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace callsign::testing {

// An instant of one monotonic clock.
using tick = std::int64_t;
// No definite response: the operation may take effect at any time after its request, or never.
inline constexpr tick no_response = std::numeric_limits<tick>::max();

struct creation_seen {
    std::string key;      // idempotency key
    std::string receipt;  // byte for byte; empty: no definite response
    std::int64_t number = 0;
    std::string uuid{};
    tick sent = 0;
    tick returned = no_response;
};

// Of the description of a task that was acknowledged before.
struct write_seen {
    std::int64_t number = 0;  // of the task
    std::string value;        // unique
    tick sent = 0;
    tick returned = no_response;
};
struct read_seen {
    std::int64_t number = 0;
    std::string value;  // empty: the task does not exist
    tick sent = 0;
    tick returned = 0;
};

class history {
  public:
    void add(creation_seen c);
    void add(write_seen w);
    void add(read_seen r);
    // A task in the list at the end, when nothing is in progress. `value`: its description.
    void found(std::int64_t number, std::string uuid, std::string value);

    // Returns what no order explains; empty: all is explained.
    std::vector<std::string> violations() const;

    std::size_t creations() const { return creations_.size(); }
    std::size_t writes() const { return writes_.size(); }
    std::size_t reads() const { return reads_.size(); }

  private:
    struct found_task {
        std::int64_t number;
        std::string uuid;
        std::string value;
    };

    void judge_receipts(std::vector<std::string>& wrong) const;
    void judge_numbers(std::vector<std::string>& wrong) const;
    void judge_order(std::vector<std::string>& wrong) const;
    void judge_descriptions(std::vector<std::string>& wrong) const;

    mutable std::mutex mutex_;
    std::vector<creation_seen> creations_;
    std::vector<write_seen> writes_;
    std::vector<read_seen> reads_;
    std::vector<found_task> found_;
};

}  // namespace callsign::testing
