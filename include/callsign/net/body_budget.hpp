#pragma once
// Memory budget for bodies: of requests while they arrive and are processed, and of responses from
// before they are loaded until they are written. One total bounds them all, and each account's
// share.
//
// A handler reserves memory before it loads or generates something large for its response:
//
//     if (!c.request.reserve(bytes)) co_return answer_busy(c, "...");   // 503, Retry-After
//
// Any thread may reserve, also inside a query of the engine, where the size and the bytes come from
// one transaction. The handler does not release the memory: the session reduces the reservation to
// the size of the response's body, and releases it once the body is written. Code that keeps bytes
// beyond its request has a body_lease of its own.

#include <callsign/base/payer.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace callsign::net {

// Any thread: `mutex_` guards the totals.
class body_budget {
  public:
    body_budget(std::size_t bytes_max, std::size_t payer_bytes_max)
        : bytes_max_(bytes_max), payer_bytes_max_(payer_bytes_max) {}

    // False: nothing was taken, since the total or this payer's share would be exceeded.
    bool take(payer who, std::size_t bytes);
    // Ignores the limits.
    void take_anyway(payer who, std::size_t bytes);
    void give_back(payer who, std::size_t bytes) noexcept;
    // Transfers bytes between payers, ignoring the limits.
    void move(payer from, payer to, std::size_t bytes);

    std::size_t held() const;
    std::size_t held_by(payer who) const;

  private:
    void drop(payer who, std::size_t bytes) noexcept;

    const std::size_t bytes_max_;
    const std::size_t payer_bytes_max_;
    mutable std::mutex mutex_;
    std::size_t held_ = 0;
    std::unordered_map<payer, std::size_t> by_payer_;  // of those who hold some
};

// A part of the budget, returned when destroyed. One thread at a time.
class body_lease {
  public:
    // Without a budget: every reservation is granted.
    body_lease() = default;
    explicit body_lease(std::shared_ptr<body_budget> budget, payer who = payer::anonymous())
        : budget_(std::move(budget)), payer_(who) {}
    body_lease(body_lease&& other) noexcept;
    body_lease& operator=(body_lease&& other) noexcept;
    ~body_lease() { give_back(); }

    // Adds bytes. False: nothing has changed.
    bool reserve(std::size_t more);
    // Sets the number of bytes, more or fewer. False: nothing has changed.
    bool resize(std::size_t bytes);
    // As resize(), ignoring the limits.
    void resize_anyway(std::size_t bytes);
    void give_back() noexcept;
    // Changes the payer, also of the bytes held so far: they are in memory already, so its limit is
    // ignored.
    void pays(payer who);

    // Returns an empty lease of the same budget and payer.
    body_lease beside() const { return body_lease(budget_, payer_); }

    std::size_t bytes() const noexcept { return bytes_; }
    payer paid_by() const noexcept { return payer_; }

  private:
    std::shared_ptr<body_budget> budget_;  // shared: a lease may outlive the server
    payer payer_ = payer::anonymous();
    std::size_t bytes_ = 0;
};

}  // namespace callsign::net
