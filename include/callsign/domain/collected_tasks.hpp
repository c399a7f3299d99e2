#pragma once
// All tasks of an account as of one version, from rows that were read at different times: what
// changed in between is carried out at the end, operation by operation. Pure; it says what to ask
// for, and takes the answers.

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

    // What to ask next: for rows until all are read, then for versions until there are no more.
    bool wants_rows() const noexcept { return !rows_read_; }
    read_tasks next_rows() const { return {account_, place_}; }
    read_versions next_versions() const { return {account_, seq_}; }

    // False: no more is to be asked for; that was all, or it is more than `bytes_max`.
    bool add(read_tasks::answer rows);
    bool add(const read_versions::answer& versions);

    // Names and values so far; more than there are, if they changed meanwhile.
    std::size_t bytes() const noexcept { return bytes_; }
    bool too_large() const noexcept { return bytes_ > bytes_max_; }

    // The last version collected, and the tasks as of it. Requires: not too large.
    const uuid& version() const noexcept { return version_; }
    task_map& tasks() { return tasks_.tasks(); }

  private:
    account_id account_;
    std::size_t bytes_max_;
    bool begun_ = false;
    bool rows_read_ = false;
    std::optional<task_place> place_;
    std::int64_t seq_ = 0;  // versions up to this one are in the rows, or carried out
    uuid version_{};
    std::size_t bytes_ = 0;
    replay tasks_;
    std::unordered_map<uuid, std::int64_t, keyed_hash> changed_;  // the rows' last_seq
};

}  // namespace callsign
