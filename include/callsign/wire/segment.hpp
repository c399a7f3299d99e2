#pragma once
// History segments and snapshots: the content of TaskChampion's envelopes (seal/envelope.hpp), in
// the form of TaskChampion 3. Pure.
//
//   segment    {"operations":[{"Create":{"uuid":U}},{"Delete":{"uuid":U}},
//              {"Update":{"uuid":U,"property":P,"value":V or null,"timestamp":RFC 3339}}]}
//   snapshot   zlib of {U:{P:V,...},...}
//
// Written: exactly the client's form, because a client that cannot read a version stops there
// permanently, as does every other client of the account. Read: strictly. What a client would
// ignore, such as an unknown member, is an error: it would be lost silently on the way to the other
// clients.

#include <callsign/domain/task.hpp>
#include <callsign/domain/version.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace callsign::wire {

struct segment_limits {
    // TaskChampion 3 sends at most 1,000,000 bytes at a time, except for a single operation;
    // earlier versions send everything at once.
    std::size_t bytes_max = std::size_t{100} * 1024 * 1024;
    std::size_t operations_max = 200'000;
};

struct snapshot_limits {
    std::size_t packed_bytes_max = std::size_t{100} * 1024 * 1024;
    std::size_t bytes_max = std::size_t{256} * 1024 * 1024;  // after inflation
    std::size_t tasks_max = 1'000'000;
};

// The error and its position, in a sentence; of the input it has at most an unexpected name.
struct malformed {
    std::string detail;

    friend bool operator==(const malformed&, const malformed&) = default;
};

using decoded_segment = std::variant<std::vector<operation>, malformed>;

decoded_segment decode_segment(std::string_view json, const segment_limits& limits = {});

// Bytes that are not UTF-8 are replaced by U+FFFD. Requires: times of the years 1678 to 2261, as
// decoding and clocks ensure.
std::string encode_segment(std::span<const operation> operations);

using decoded_snapshot = std::variant<task_map, malformed>;

decoded_snapshot decode_snapshot(std::string_view packed, const snapshot_limits& limits = {});

// Replaces bytes as encode_segment does.
std::string encode_snapshot(const task_map& tasks);

// Encodes task by task, because a large snapshot takes seconds.
class snapshot_writer {
  public:
    snapshot_writer();
    ~snapshot_writer();
    snapshot_writer(const snapshot_writer&) = delete;
    snapshot_writer& operator=(const snapshot_writer&) = delete;

    void add(const uuid& id, const attributes& properties);
    // Called once, after the last add().
    std::string finish();

  private:
    class impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace callsign::wire
