#pragma once
// Memory for bodies: those of requests as they arrive and while they are worked on, and those of
// answers from before they are loaded until they are written. One total bounds them all, and one
// account's part of it is bounded too.
//
// A handler says before it loads (or makes) something large for its answer:
//
//     if (!c.request.reserve(bytes)) co_return answer_busy(c, "...");   // 503, Retry-After
//
// on any thread, a question of the engine's included: there the size and the bytes come from one
// transaction. It gives nothing back: when it has answered, the session keeps what the answer's
// body takes until that is written. Who keeps bytes beyond its request has a body_lease of its own.

#include <callsign/base/payer.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace callsign::net {

// Any thread.
class body_budget {
  public:
    body_budget(std::size_t bytes_max, std::size_t payer_bytes_max)
        : bytes_max_(bytes_max), payer_bytes_max_(payer_bytes_max) {}

    // False: nothing was taken, there is not as much left in all, or for this payer.
    bool take(payer who, std::size_t bytes);
    // Though there may be not as much left.
    void take_anyway(payer who, std::size_t bytes);
    void give_back(payer who, std::size_t bytes) noexcept;
    // What one has taken becomes another's.
    void move(payer from, payer to, std::size_t bytes);

    std::size_t held() const;
    std::size_t held_by(payer who) const;

  private:
    void drop(payer who, std::size_t bytes) noexcept;

    const std::size_t bytes_max_;
    const std::size_t payer_bytes_max_;
    mutable std::mutex mutex_;
    std::size_t held_ = 0;
    std::unordered_map<payer, std::size_t> by_payer_;  // of those who hold something
};

// A part of the budget, which goes back with it. One thread at a time.
class body_lease {
  public:
    // Of no budget: it is granted whatever it asks for.
    body_lease() = default;
    explicit body_lease(std::shared_ptr<body_budget> budget, payer who = payer::strangers())
        : budget_(std::move(budget)), payer_(who) {}
    body_lease(body_lease&& other) noexcept;
    body_lease& operator=(body_lease&& other) noexcept;
    ~body_lease() { give_back(); }

    // So many bytes more. False: it holds what it held.
    bool reserve(std::size_t more);
    // So many in all, more or fewer than now. False: it holds what it held.
    bool resize(std::size_t bytes);
    // The same, even if the budget has not as much left.
    void resize_anyway(std::size_t bytes);
    void give_back() noexcept;
    // On whose account from here on, with what it holds by now: even if that is more than the
    // payer's part, since it is there.
    void pays(payer who);

    // Of the same budget and on the same account, without a byte.
    body_lease beside() const { return body_lease(budget_, payer_); }

    std::size_t bytes() const noexcept { return bytes_; }
    payer paid_by() const noexcept { return payer_; }

  private:
    std::shared_ptr<body_budget> budget_;  // shared: a lease may outlive the server
    payer payer_ = payer::strangers();
    std::size_t bytes_ = 0;
};

}  // namespace callsign::net
