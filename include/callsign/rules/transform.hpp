#pragma once
// Merges concurrent edits as TaskChampion's clients do: the result does not depend on whether a
// client or the server rebases. Pure; no access to a store.
//
// A server's and a client's operations made on one state form a square: the client's operations
// followed by the transformed server operations end in the same state as the server's followed by
// the transformed client operations. This holds for lists in which every operation has an effect
// where it stands, and for no others: Create against Delete and Create against Update, which never
// occur between effective operations, are decided one way only. So the chain holds effective
// operations only, and a client's operations pass `effective_only` first.

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

// The result of transforming two concurrent operations; empty: dropped.
struct transformed_pair {
    std::optional<operation> server;  // to be applied after the local one
    std::optional<operation> local;   // to be applied after the server's
};

transformed_pair transform(const operation& server, const operation& local);

struct transformed_lists {
    std::vector<operation> server;     // to be applied after all the local ones
    std::vector<operation> local;      // to be applied after all the server's
    std::vector<std::size_t> dropped;  // indexes into the server's list, of dropped operations
};

// Transforms list against list as clients do: each server operation passes over all local ones;
// once it is dropped, the remaining local ones stay unchanged. O(n log p) for n operations in all
// and p properties of a task.
transformed_lists transform_lists(std::vector<operation> server, std::vector<operation> local);

// Decides whether another replica's operation can conflict with one of a list in transform_lists().
// On a task of the list, that is any Create or Delete, and an Update if the list creates or deletes
// the task or updates the same property.
class can_meet {
  public:
    // `list` must outlive this object.
    explicit can_meet(std::span<const operation> list);

    bool operator()(const operation& others) const;

  private:
    struct of_task {
        bool makes_or_deletes = false;
        std::set<std::string_view> properties;
    };
    std::unordered_map<uuid, of_task, keyed_hash> tasks_;
};

// Whether each task exists.
using presence = std::unordered_map<uuid, bool, keyed_hash>;

// Returns whether each task of `since` existed before it. Requires: every operation had an effect.
// A task that is not in the result existed before if it exists now.
presence there_before(std::span<const operation> since);

// Returns the operations that have an effect where they stand, in order. Calls `is_there` at most
// once per task, about the state that the list was made on.
std::vector<operation> effective_only(std::vector<operation> operations,
                                      const std::function<bool(const uuid&)>& is_there);

// Drops tasks that the list both creates and finally deletes: no other replica needs them. Keeps
// tasks in `met`, since others' operations concern them and the list's operations on them, above
// all the Delete, must apply. Requires: every operation has an effect.
std::vector<operation> drop_transient(std::vector<operation> effective, const presence& met);

}  // namespace callsign::rules
