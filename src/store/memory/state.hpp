#pragma once
// All that a store in memory holds, as one value: tables by key, and rows that copies share.

#include "rows.hpp"

#include <callsign/ports/store.hpp>

#include <boost/container/flat_map.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace callsign::memory {

// A row that the copies of a state share, until one of them changes it.
template <class T>
class row {
  public:
    row(T value) : shared_(std::make_shared<const T>(std::move(value))) {}  // NOLINT: it is one

    const T& operator*() const { return *shared_; }
    const T* operator->() const { return shared_.get(); }

    template <class Change>
    void edit(const Change& change) {
        T mine = *shared_;
        change(mine);
        shared_ = std::make_shared<const T>(std::move(mine));
    }

  private:
    std::shared_ptr<const T> shared_;
};

// Flat: a state is copied for every batch.
template <class Key, class T>
using table = boost::container::flat_map<Key, T>;

struct state {
    memory::rows rows;
    table<slot_id, row<slot>> slots;
    table<std::pair<account_id, std::string>, slot_id> slot_keys;
    std::int64_t last_id = 0;  // of any row: ids grow and are never reused
    time_point last_moment{};
};

template <class Map>
typename Map::mapped_type* find(Map& map, const typename Map::key_type& key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
}

template <class T>
std::optional<T> copy(const T* found) {
    return found ? std::optional<T>(*found) : std::nullopt;
}
template <class T>
std::optional<T> copy(const row<T>* found) {
    return found ? std::optional<T>(**found) : std::nullopt;
}

}  // namespace callsign::memory
