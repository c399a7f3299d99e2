#pragma once
// Limits of what may wait or run at once: in all, and for each account. Counts only: fair_queue
// decides the order. `held_share` returns what was taken, on whatever path its owner ends.
//
// A single account may take up to its own limit. Beside others it gets in proportion to what is
// left (dynamic thresholds, Choudhury and Hahne 1998): with limits of 3072 in 4096, an account has
// at most three times what is free. So some room is always left for another account.

#include <callsign/base/assert.hpp>
#include <callsign/domain/claim.hpp>
#include <callsign/engine/probe.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

namespace callsign {

struct share_limits {
    std::size_t depth_max = 0;
    std::size_t bytes_max = 0;
    std::size_t account_depth_max = 0;
    std::size_t account_bytes_max = 0;
};

// The limit that was exhausted.
using shortage = engine_probe::limit;

class shares {
  public:
    explicit shares(const share_limits& limits) : limits_(limits) {}

    // nullopt: taken, to be returned with the same arguments. Otherwise nothing has changed. One
    // claim at a time may be larger than the total limit, and one of an account larger than its
    // own: on a busy server they would never fit otherwise.
    std::optional<shortage> take(payer who, std::size_t bytes) {
        if (const auto why = missing_for(who, bytes)) return why;
        taken& mine = by_payer_[who];
        ++mine.depth;
        ++depth_;
        if (is_oversized(bytes)) {
            ++oversized_;
        } else {
            mine.bytes += bytes;
            bytes_ += bytes;
        }
        return std::nullopt;
    }

    // The limit that take() would exceed now; nullopt: none.
    std::optional<shortage> missing_for(payer who, std::size_t bytes) const {
        if (depth_ >= limits_.depth_max) return shortage::depth;
        const bool fits =
            is_oversized(bytes) ? oversized_ == 0 : bytes_ + bytes <= limits_.bytes_max;
        if (!fits) return shortage::bytes;
        if (who.is_system()) return std::nullopt;

        const auto found = by_payer_.find(who);
        const taken mine = found == by_payer_.end() ? taken{} : found->second;
        // An account that has nothing is not rejected for what others have.
        if (mine.depth > 0 && !leaves_enough(limits_.depth_max, depth_ + 1, mine.depth + 1,
                                             limits_.account_depth_max)) {
            return shortage::account_depth;
        }
        const bool is_first = mine.bytes == 0 || bytes == 0 || is_oversized(bytes);
        if (!is_first && !leaves_enough(limits_.bytes_max, bytes_ + bytes, mine.bytes + bytes,
                                        limits_.account_bytes_max)) {
            return shortage::account_bytes;
        }
        return std::nullopt;
    }

    void give_back(payer who, std::size_t bytes) {
        const auto mine = by_payer_.find(who);
        CALLSIGN_ASSERT(mine != by_payer_.end());
        --depth_;
        if (is_oversized(bytes)) {
            --oversized_;
        } else {
            mine->second.bytes -= bytes;
            bytes_ -= bytes;
        }
        if (--mine->second.depth == 0) by_payer_.erase(mine);
    }

    std::size_t depth() const noexcept { return depth_; }
    std::size_t bytes() const noexcept { return bytes_; }  // of what is not oversized

  private:
    struct taken {
        std::size_t depth = 0;
        std::size_t bytes = 0;
    };

    bool is_oversized(std::size_t bytes) const { return bytes > limits_.bytes_max; }

    // If `mine` is all that is taken, this is mine <= account_max.
    static bool leaves_enough(std::size_t whole, std::size_t taken, std::size_t mine,
                              std::size_t account_max) {
        const std::size_t most = std::min(account_max, whole);
        return mine * (whole - most) <= most * (whole - taken);
    }

    share_limits limits_;
    std::size_t depth_ = 0;
    std::size_t bytes_ = 0;
    std::size_t oversized_ = 0;  // claims larger than bytes_max
    std::unordered_map<payer, taken> by_payer_;
};

// What one request has taken. It lives in the request's frame, and returns its share when that
// ends, or before. The counters are shared, because a frame may be destroyed after the engine is.
class held_share {
  public:
    held_share() = default;
    held_share(std::shared_ptr<shares> book, payer who, std::size_t bytes)
        : book_(std::move(book)), who_(who), bytes_(bytes) {}
    held_share(held_share&& other) noexcept
        : book_(std::move(other.book_)), who_(other.who_), bytes_(other.bytes_) {}
    held_share& operator=(held_share&& other) noexcept {
        if (this != &other) {
            give_back();
            book_ = std::move(other.book_);
            who_ = other.who_;
            bytes_ = other.bytes_;
        }
        return *this;
    }
    ~held_share() { give_back(); }

    void give_back() {
        if (const auto book = std::exchange(book_, nullptr)) book->give_back(who_, bytes_);
    }

  private:
    std::shared_ptr<shares> book_;
    payer who_ = payer::system();
    std::size_t bytes_ = 0;
};

}  // namespace callsign
