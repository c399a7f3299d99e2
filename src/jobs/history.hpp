#pragma once
// Decrypts an opaque account's history: versions as operations, and the tasks that they created.
// Pure; versions are passed in order.

#include <callsign/base/keyed_hash.hpp>
#include <callsign/domain/query.hpp>
#include <callsign/domain/replay.hpp>
#include <callsign/jobs/conversion.hpp>
#include <callsign/seal/secret.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace callsign::jobs {

class history_opener {
  public:
    // Limits of all versions together: they are held in memory.
    static constexpr std::size_t operations_max = 500'000;
    static constexpr std::size_t bytes_max = std::size_t{256} << 20;

    explicit history_opener(const seal::key& key) : key_(key) {}

    // Adds the versions after the last one. An error is a sentence: why the history cannot be
    // converted.
    std::optional<history_fault> add(const read_sealed_versions::answer& page);

    // The last version opened.
    const chain_head& head() const noexcept { return head_; }

    std::vector<version> take_history() { return std::move(history_); }

    // Returns the tasks in the order of the operations that created them. Tasks that only the
    // snapshot has come first, in the order of their attribute `entry`. Call once.
    std::vector<manage_account::made_task> take_tasks();

  private:
    struct making {
        std::int64_t seq = 0;
        std::size_t order = 0;
        time_point at;
    };

    std::optional<history_fault> begin(const uuid& first_parent,
                                       const std::optional<sealed_snapshot>& before);
    std::optional<history_fault> add(const sealed_version& sealed);
    void follow(version& v);

    const seal::key& key_;
    std::vector<version> history_;
    chain_head head_;
    std::size_t operations_ = 0;
    std::size_t bytes_ = 0;
    replay tasks_;
    std::unordered_map<uuid, making, keyed_hash> made_;
    std::int64_t known_from_ = 0;  // versions after this one are replayed
};

}  // namespace callsign::jobs
