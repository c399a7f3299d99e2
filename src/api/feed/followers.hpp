#pragma once
// Who waits for changes. A follower joins before it reads: what is committed after that wakes it,
// and what was committed before is in what it reads, so nothing falls between. A wake-up that comes
// while it is busy is kept. Network executor.

#include <callsign/api/feed_options.hpp>
#include <callsign/domain/account.hpp>
#include <callsign/domain/event.hpp>
#include <callsign/engine/engine.hpp>

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <unordered_map>
#include <vector>

namespace callsign::api {

class follower {
  public:
    enum class end : std::uint8_t { none, stopping, token_revoked, token_expired, account_closed };

    ~follower();
    follower(const follower&) = delete;
    follower& operator=(const follower&) = delete;

    // Until the account is beyond `seq`, as far as was heard since joining, or it has to go, or
    // somebody wakes it: true. False: the span has passed.
    boost::asio::awaitable<bool> wait_beyond(std::int64_t seq, milliseconds span);
    // Until somebody wakes it, or the span has passed.
    boost::asio::awaitable<void> pause(milliseconds span);
    void wake() { timer_->cancel(); }
    // What was heard of: a read that was begun before it joined may not have come so far.
    bool is_beyond(std::int64_t seq) const noexcept { return latest_ > seq; }
    // Why it has to go; none: it may stay.
    end ended() const;

  private:
    friend class followers;
    struct all;
    follower(std::shared_ptr<all> among, const principal& who, clock& clock,
             std::unique_ptr<timer> timer);

    std::shared_ptr<all> among_;  // shared: a follower may outlive those it is among
    principal who_;
    clock& clock_;
    std::unique_ptr<timer> timer_;
    std::int64_t latest_ = 0;  // seq of the account
    end ended_ = end::none;
    std::size_t place_ = 0;  // among its account's
};

class followers {
  public:
    followers(clock& clock, const feed_options& options);
    ~followers();

    // Requires: of an account. nullptr: there are as many as may be.
    std::shared_ptr<follower> join(const principal& who,
                                   const boost::asio::any_io_executor& executor);
    // Those it concerns wake up.
    void follow(const event& happened);
    // They all go, and no more come.
    void stop();

    std::size_t count() const noexcept;

  private:
    clock& clock_;
    feed_options options_;
    std::shared_ptr<follower::all> all_;
};

}  // namespace callsign::api
