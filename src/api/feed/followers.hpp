#pragma once
// Followers, which wait for changes. A follower joins before it reads: later commits wake it,
// earlier ones are in what it reads, so none is missed. Network
// executor.

#include <callsign/api/feed_options.hpp>
#include <callsign/domain/account.hpp>
#include <callsign/domain/event.hpp>
#include <callsign/engine/engine.hpp>
#include <callsign/engine/wakeup.hpp>

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

    // Waits until a seq beyond `seq` was announced, the follower must end, it is woken, or the span
    // has passed.
    boost::asio::awaitable<void> wait_beyond(std::int64_t seq, milliseconds span);
    // Waits until it is woken or the span has passed.
    boost::asio::awaitable<void> pause(milliseconds span);
    void wake() { changed_.notify(); }
    // Returns whether a higher seq was announced: a read begun before it joined may lack that one.
    bool is_beyond(std::int64_t seq) const noexcept { return latest_ > seq; }
    // Returns why the follower must end; none: it may stay.
    end ended() const;

  private:
    friend class followers;
    struct all;
    follower(std::shared_ptr<all> among, const principal& who, clock& clock,
             const boost::asio::any_io_executor& executor);

    std::shared_ptr<all> among_;  // shared: a follower may outlive the others
    principal who_;
    clock& clock_;
    wakeup changed_;
    std::int64_t latest_ = 0;  // the account's highest announced seq
    end ended_ = end::none;
    std::size_t place_ = 0;  // index among its account's followers
};

class followers {
  public:
    followers(clock& clock, const feed_options& options);
    ~followers();

    // Requires: `who` has an account. Returns nullptr if a limit of followers is reached.
    std::shared_ptr<follower> join(const principal& who,
                                   const boost::asio::any_io_executor& executor);
    // Wakes the followers that the event concerns.
    void follow(const event& happened);
    // Ends all followers; no more may join.
    void stop();

    std::size_t count() const noexcept;

  private:
    clock& clock_;
    feed_options options_;
    std::shared_ptr<follower::all> all_;
};

}  // namespace callsign::api
