#pragma once
// What TaskChampion's clients exchange inside their envelopes (seal/envelope.hpp): history segments
// and snapshots, in the form of TaskChampion 3. Pure.
//
//   segment    {"operations":[{"Create":{"uuid":U}},{"Delete":{"uuid":U}},
//              {"Update":{"uuid":U,"property":P,"value":V or null,"timestamp":RFC 3339}}]}
//   snapshot   zlib of {U:{P:V,...},...}
//
// Written: exactly the client's form, for a client that can't read a version ends there and then,
// with every other client of the account. Read: strictly. What a client would let pass unread, an
// unknown member say, is a fault here: it would be lost on the way to the other clients, and nobody
// would know.

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
    // Clients of TaskChampion 3 send at most 1,000,000 bytes at a time, unless it is for a single
    // operation; those before send all they have.
    std::size_t bytes_max = std::size_t{100} * 1024 * 1024;
    std::size_t operations_max = 200'000;
};

struct snapshot_limits {
    std::size_t packed_bytes_max = std::size_t{100} * 1024 * 1024;
    std::size_t bytes_max = std::size_t{256} * 1024 * 1024;  // after inflation
    std::size_t tasks_max = 1'000'000;
};

// What is wrong, and where: a sentence, with no more of the input in it than the names it should
// not have.
struct malformed {
    std::string detail;

    friend bool operator==(const malformed&, const malformed&) = default;
};

using decoded_segment = std::variant<std::vector<operation>, malformed>;

decoded_segment decode_segment(std::string_view json, const segment_limits& limits = {});

// Text that is not UTF-8 has U+FFFD in place of each bad byte. Requires: the times are between the
// years 1678 and 2261, as all are that were read or taken from a clock.
std::string encode_segment(std::span<const operation> operations);

using decoded_snapshot = std::variant<task_map, malformed>;

decoded_snapshot decode_snapshot(std::string_view packed, const snapshot_limits& limits = {});

// Text as in encode_segment.
std::string encode_snapshot(const task_map& tasks);

// The same, task by task: a large one takes seconds.
class snapshot_writer {
  public:
    snapshot_writer();
    ~snapshot_writer();
    snapshot_writer(const snapshot_writer&) = delete;
    snapshot_writer& operator=(const snapshot_writer&) = delete;

    void add(const uuid& id, const attributes& properties);
    // Once; nothing comes after it.
    std::string finish();

  private:
    class impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace callsign::wire
