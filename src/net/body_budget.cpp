#include <callsign/base/assert.hpp>
#include <callsign/net/body_budget.hpp>

#include <utility>

namespace callsign::net {

bool body_budget::take(payer who, std::size_t bytes) {
    if (bytes == 0) return true;
    const std::lock_guard lock(mutex_);
    const auto found = by_payer_.find(who);
    const std::size_t before = found == by_payer_.end() ? 0 : found->second;
    if (held_ + bytes > bytes_max_ || before + bytes > payer_bytes_max_) return false;
    by_payer_[who] += bytes;
    held_ += bytes;
    return true;
}

void body_budget::take_anyway(payer who, std::size_t bytes) {
    if (bytes == 0) return;
    const std::lock_guard lock(mutex_);
    by_payer_[who] += bytes;
    held_ += bytes;
}

void body_budget::give_back(payer who, std::size_t bytes) noexcept {
    if (bytes == 0) return;
    const std::lock_guard lock(mutex_);
    drop(who, bytes);
    held_ -= bytes;
}

void body_budget::move(payer from, payer to, std::size_t bytes) {
    if (bytes == 0 || from == to) return;
    const std::lock_guard lock(mutex_);
    by_payer_[to] += bytes;
    drop(from, bytes);
}

void body_budget::drop(payer who, std::size_t bytes) noexcept {
    const auto found = by_payer_.find(who);
    CALLSIGN_ASSERT(found != by_payer_.end() && found->second >= bytes);
    found->second -= bytes;
    if (found->second == 0) by_payer_.erase(found);
}

std::size_t body_budget::held() const {
    const std::lock_guard lock(mutex_);
    return held_;
}

std::size_t body_budget::held_by(payer who) const {
    const std::lock_guard lock(mutex_);
    const auto found = by_payer_.find(who);
    return found == by_payer_.end() ? 0 : found->second;
}

body_lease::body_lease(body_lease&& other) noexcept
    : budget_(std::move(other.budget_)),
      payer_(other.payer_),
      bytes_(std::exchange(other.bytes_, 0)) {}

body_lease& body_lease::operator=(body_lease&& other) noexcept {
    if (this == &other) return *this;
    give_back();
    budget_ = std::move(other.budget_);
    payer_ = other.payer_;
    bytes_ = std::exchange(other.bytes_, 0);
    return *this;
}

bool body_lease::reserve(std::size_t more) {
    if (budget_ && !budget_->take(payer_, more)) return false;
    bytes_ += more;
    return true;
}

bool body_lease::resize(std::size_t bytes) {
    if (bytes > bytes_) return reserve(bytes - bytes_);
    if (budget_) budget_->give_back(payer_, bytes_ - bytes);
    bytes_ = bytes;
    return true;
}

void body_lease::resize_anyway(std::size_t bytes) {
    if (bytes <= bytes_) {
        resize(bytes);
        return;
    }
    if (budget_) budget_->take_anyway(payer_, bytes - bytes_);
    bytes_ = bytes;
}

void body_lease::give_back() noexcept {
    if (budget_) budget_->give_back(payer_, bytes_);
    bytes_ = 0;
}

void body_lease::pays(payer who) {
    if (budget_) budget_->move(payer_, who, bytes_);
    payer_ = who;
}

}  // namespace callsign::net
