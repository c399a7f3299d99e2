#pragma once
// An opaque account's history, opened with its secret: versions as operations, and the tasks they
// have made. Pure; it opens what it is given, version by version, in order.

#include <callsign/base/keyed_hash.hpp>
#include <callsign/domain/query.hpp>
#include <callsign/domain/replay.hpp>
#include <callsign/jobs/conversion.hpp>
#include <callsign/seal/envelope.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace callsign::jobs {

class history_opener {
  public:
    // Of all versions together: they are held in memory.
    static constexpr std::size_t operations_max = 500'000;
    static constexpr std::size_t bytes_max = std::size_t{256} << 20;

    explicit history_opener(const seal::key& key) : key_(key) {}

    // The versions after the last. A fault, in a sentence: why they are not taken, and the history
    // with them.
    std::optional<history_fault> add(const read_sealed_versions::answer& page);

    // The last version opened.
    const chain_head& head() const noexcept { return head_; }

    std::vector<version> take_history() { return std::move(history_); }

    // In the order of the operations that made them; those that only a snapshot tells of, in the
    // order of their attribute `entry`, come first. Once.
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
    std::int64_t known_from_ = 0;  // versions after this one are carried out
};

}  // namespace callsign::jobs
