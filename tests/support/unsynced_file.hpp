#pragma once
// A file on a disk that loses power: keeps the synced content and any part of the later writes, in
// sectors of 512 bytes, in any order.

#include "seeded_entropy.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace callsign::testing {

class unsynced_file {
  public:
    explicit unsynced_file(std::string durable = {}) : durable_(std::move(durable)) {}

    void write(std::size_t offset, std::string bytes) {
        since_.push_back(written{offset, std::move(bytes)});
    }
    // May also extend the file with zeros.
    void truncate(std::size_t size) { since_.push_back(truncated{size}); }

    // The number of changes; pass it to sync_to() when a sync that began now has ended.
    std::uint64_t changes() const { return synced_ + since_.size(); }
    void sync_to(std::uint64_t changes) {
        if (changes <= synced_) return;  // a concurrent sync did it
        const auto end = since_.begin() + static_cast<std::ptrdiff_t>(changes - synced_);
        for (auto c = since_.begin(); c != end; ++c) apply(durable_, *c);
        since_.erase(since_.begin(), end);
        synced_ = changes;
    }
    void sync() { sync_to(changes()); }
    // Some of the changes may have been written before the failure; the others never will be.
    void fail_to_sync(seeded_entropy& chance) {
        durable_ = after_power_cut(chance);
        synced_ = changes();
        since_.clear();
    }

    std::string after_power_cut(seeded_entropy& chance) const {
        std::string left = durable_;
        for (const change& c : since_) {
            const auto* w = std::get_if<written>(&c);
            if (!w) {
                if (chance.once_in(2)) apply(left, c);
                continue;
            }
            // Writes are complete, lost or torn.
            const auto fate = chance.below(3);
            for (std::size_t at = 0; at < w->bytes.size(); at += sector) {
                if (fate == 0 || (fate == 1 && chance.once_in(2))) {
                    apply(left, written{w->offset + at, w->bytes.substr(at, sector)});
                }
            }
        }
        return left;
    }

  private:
    static constexpr std::size_t sector = 512;

    struct written {
        std::size_t offset;
        std::string bytes;
    };
    struct truncated {
        std::size_t size;
    };
    using change = std::variant<written, truncated>;

    static void apply(std::string& to, const change& c) {
        if (const auto* t = std::get_if<truncated>(&c)) return to.resize(t->size);
        const auto& w = std::get<written>(c);
        if (to.size() < w.offset + w.bytes.size()) to.resize(w.offset + w.bytes.size());
        std::copy(w.bytes.begin(), w.bytes.end(),
                  to.begin() + static_cast<std::ptrdiff_t>(w.offset));
    }

    std::string durable_;
    std::vector<change> since_;
    std::uint64_t synced_ = 0;  // changes included in `durable_`
};

}  // namespace callsign::testing
