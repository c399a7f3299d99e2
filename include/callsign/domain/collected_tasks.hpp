#pragma once
// Collects all tasks of an account as of one version from rows that are read at different times:
// the operations of versions added in between are applied at the end. Pure: the caller sends the
// queries and adds their answers.

#include <callsign/base/keyed_hash.hpp>
#include <callsign/domain/queries/chain.hpp>
#include <callsign/domain/queries/tasks.hpp>
#include <callsign/domain/replay.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace callsign {

class collected_tasks {
  public:
    collected_tasks(account_id account, std::size_t bytes_max)
        : account_(account), bytes_max_(bytes_max) {}

    // The next query: next_rows() while wants_rows() is true, then next_versions().
    bool wants_rows() const noexcept { return !rows_read_; }
    read_tasks next_rows() const { return {account_, place_}; }
    read_versions next_versions() const { return {account_, seq_}; }

    // False: no further query; all tasks are collected, or they exceed `bytes_max`.
    bool add(read_tasks::answer rows);
    bool add(const read_versions::answer& versions);

    // Bytes of names and values read so far; more than the tasks have if values were overwritten.
    std::size_t bytes() const noexcept { return bytes_; }
    bool too_large() const noexcept { return bytes_ > bytes_max_; }

    // The last version collected, and the tasks as of it. Requires: not too_large().
    const uuid& version() const noexcept { return version_; }
    task_map& tasks() { return tasks_.tasks(); }

  private:
    account_id account_;
    std::size_t bytes_max_;
    bool begun_ = false;
    bool rows_read_ = false;
    std::optional<task_place> place_;
    std::int64_t seq_ = 0;  // versions up to this one are in the rows or were applied
    uuid version_{};
    std::size_t bytes_ = 0;
    replay tasks_;
    std::unordered_map<uuid, std::int64_t, keyed_hash> changed_;  // last_seq of each row
};

}  // namespace callsign
