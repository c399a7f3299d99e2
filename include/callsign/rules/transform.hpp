#pragma once
// Concurrent edits, brought together as TaskChampion's clients do it: who holds in the end doesn't
// depend on whether a client met the others' edits or the server did. Pure; it knows no store.
//
// A server's operations and a client's, made on one state, make a square: the client's followed by
// the server's transformed ends in the same state as the server's followed by the client's
// transformed. This holds for lists in which every operation has an effect where it stands. It does
// not hold for others (Create against Delete and Create against Update are decided one way, which
// no effective pair ever needs): so the chain holds effective operations only, and what comes from
// a client goes through `effective_only` first.

#include <callsign/base/keyed_hash.hpp>
#include <callsign/domain/task.hpp>
#include <callsign/domain/version.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace callsign::rules {

// What becomes of two concurrent operations; empty: it is dropped.
struct transformed_pair {
    std::optional<operation> server;  // to be applied after the local one
    std::optional<operation> local;   // to be applied after the server's
};

transformed_pair transform(const operation& server, const operation& local);

struct transformed_lists {
    std::vector<operation> server;     // to be applied after all the local ones
    std::vector<operation> local;      // to be applied after all the server's
    std::vector<std::size_t> dropped;  // places in the server's list, of those that are gone
};

// List against list, as the client does it: one server operation at a time over all local ones;
// once it is dropped, the remaining local ones stay as they are. Takes no more steps than there are
// operations, times the logarithm of a task's properties.
transformed_lists transform_lists(std::vector<operation> server, std::vector<operation> local);

// Whether an operation of others can meet one of a list, in transform_lists: all about a task that
// the list makes or deletes, and else what makes or deletes it, or sets what the list sets.
class can_meet {
  public:
    // `list` outlives it.
    explicit can_meet(std::span<const operation> list);

    bool operator()(const operation& others) const;

  private:
    struct of_task {
        bool makes_or_deletes = false;
        std::set<std::string_view> properties;
    };
    std::unordered_map<uuid, of_task, keyed_hash> tasks_;
};

// Whether tasks are there.
using presence = std::unordered_map<uuid, bool, keyed_hash>;

// Whether each task that `since` is about was there before. Requires: they all had an effect. A
// task that is not in it was there before if it is there now.
presence there_before(std::span<const operation> since);

// The operations of a list that have an effect where they stand, in order. `is_there` is asked at
// most once a task, about the state the list was made on.
std::vector<operation> effective_only(std::vector<operation> operations,
                                      const std::function<bool(const uuid&)>& is_there);

// Without tasks that come and go again within the list: nobody else need ever hear of them. Those
// in `met` stay: others are about them too, and what the list says of them holds, the Delete above
// all. Requires: they all have an effect where they stand.
std::vector<operation> without_passing(std::vector<operation> effective, const presence& met);

}  // namespace callsign::rules
