#pragma once
// An opaque account's history, opened with its secret: versions as operations, and the tasks they
// have made. Pure; it opens what it is given, version by version, in order.

#include <callsign/domain/command.hpp>
#include <callsign/seal/envelope.hpp>

#include <boost/functional/hash.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace callsign::api {

class history_opener {
  public:
    // Of all versions together: they are held in memory, and written in one transaction. It is the
    // one that is not cut in steps, for nobody may see an account half taken over: so much keeps
    // the writer a few seconds (bench/heavy), once in an account's life, when an operator says so.
    static constexpr std::size_t operations_max = 500'000;
    static constexpr std::size_t bytes_max = std::size_t{256} << 20;

    explicit history_opener(const seal::key& key) : key_(key) {}

    // A sentence: why it is not taken, and the history with it.
    struct fault {
        bool wrong_secret = false;
        std::string why;
    };

    // Needed, before the first version, of a history whose first version has a parent: what was
    // there before is in no version. None is given: nothing is known of it.
    std::optional<fault> begin(const uuid& first_parent,
                               const std::optional<sealed_snapshot>& snapshot);

    std::optional<fault> add(const sealed_version& sealed);

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

    void follow(version& v);

    const seal::key& key_;
    std::vector<version> history_;
    std::size_t operations_ = 0;
    std::size_t bytes_ = 0;
    task_map tasks_;
    std::unordered_map<uuid, making, boost::hash<uuid>> made_;
    std::int64_t known_from_ = 0;  // versions after this one are carried out
};

}  // namespace callsign::api
