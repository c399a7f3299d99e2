#include "turnstile.hpp"

#include <callsign/base/keyed_hash.hpp>
#include <callsign/engine/wakeup.hpp>

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace callsign::api {
namespace {

// Each queued replica waits for one turn; after this many a request is answered anyway.
constexpr int turns_waited_max = 20;

}  // namespace

struct turnstile::state {
    struct client_turn {
        std::optional<milliseconds> until;  // end of the current or last turn
        std::vector<visit*> sending;        // in-flight versions
        std::uint64_t accepted = 0;
        uuid latest{};  // the version accepted last
        // Only its sender knows of `latest`, and has not requested its child yet.
        bool is_senders_alone = false;
        bool more_may_follow = false;
        int visits = 0;
        std::unique_ptr<wakeup> changed;  // null: no visit has waited
    };

    client_turn& turn_of(const uuid& client) { return clients.at(client); }

    milliseconds left_until(milliseconds instant) const { return instant - clock.elapsed(); }
    bool is_taken(const client_turn& t) const {
        return !t.sending.empty() || (t.until && left_until(*t.until).count() > 0);
    }

    void take(const uuid& client, client_turn& t) {
        t.until = clock.elapsed() + hold;
        taken.emplace_back(*t.until, client);
    }
    static void release(client_turn& t) {
        t.until.reset();
        wake(t);
    }
    static void wake(client_turn& t) {
        if (t.changed) t.changed->notify();
    }

    void forget_if_idle(const uuid& client) {
        const auto found = clients.find(client);
        if (found == clients.end()) return;
        if (found->second.visits == 0 && !is_taken(found->second)) clients.erase(found);
    }
    // All turns have the same length, so they end in the order in which they were taken.
    void forget_what_is_over() {
        while (!taken.empty() && left_until(taken.front().first).count() <= 0) {
            forget_if_idle(taken.front().second);
            taken.pop_front();
        }
    }

    callsign::clock& clock;
    milliseconds hold;
    std::unordered_map<uuid, client_turn, keyed_hash> clients;
    std::deque<std::pair<milliseconds, uuid>> taken;  // end of the turn, client ID
};

turnstile::turnstile(clock& clock, milliseconds hold)
    : state_(std::make_shared<state>(state{clock, hold, {}, {}})) {}

turnstile::~turnstile() = default;

turnstile::visit turnstile::enter(const uuid& client) {
    return {state_, client};
}

milliseconds turnstile::timeout() const noexcept {
    return (turns_waited_max + 1) * state_->hold;
}

std::size_t turnstile::size() const noexcept {
    return state_->clients.size();
}

turnstile::visit::visit(std::shared_ptr<state> owner, const uuid& client)
    : state_(std::move(owner)), client_(client) {
    state_->forget_what_is_over();
    ++state_->clients[client_].visits;
}

turnstile::visit::~visit() {
    if (sending_) sent();
    --state_->turn_of(client_).visits;
    state_->forget_if_idle(client_);
}

void turnstile::visit::look() {
    seen_ = state_->turn_of(client_).accepted;
}

void turnstile::visit::found(const uuid& parent, const uuid& version) {
    auto& turn = state_->turn_of(client_);
    for (visit* sender : turn.sending) {
        if (sender->parent_ == parent) sender->is_known_ = true;
    }
    if (!turn.is_senders_alone || version != turn.latest) return;
    // From now on either replica may request the child of that version.
    turn.is_senders_alone = false;
    state::release(turn);
}

boost::asio::awaitable<bool> turnstile::visit::may_say_up_to_date(const uuid& parent) {
    if (state_->hold.count() == 0) co_return true;
    auto& turn = state_->turn_of(client_);
    if (turn.accepted != seen_) co_return false;  // accepted while the chain was read
    if (turn.is_senders_alone && parent == turn.latest) {
        turn.is_senders_alone = false;
        // After several versions of one sync comes another one, or the end.
        if (turn.more_may_follow) {
            state_->take(client_, turn);
        } else {
            state::release(turn);
        }
        co_return true;
    }
    if (!state_->is_taken(turn)) {
        state_->take(client_, turn);
        co_return true;
    }
    if (waited_ >= turns_waited_max * state_->hold) co_return true;

    const bool lasts = !turn.sending.empty() || !turn.until;
    const milliseconds span =
        lasts ? state_->hold
              : std::clamp(state_->left_until(*turn.until), milliseconds{1}, state_->hold);
    const auto executor = co_await boost::asio::this_coro::executor;
    const milliseconds begun = state_->clock.elapsed();
    // The visit keeps the turn in the map, and the turn's address survives a rehash.
    if (!turn.changed) turn.changed = std::make_unique<wakeup>(state_->clock, executor);
    co_await turn.changed->wait(turn.changed->now(), span);
    waited_ += std::clamp(state_->clock.elapsed() - begun, milliseconds{1}, span);
    co_return false;
}

void turnstile::visit::sending(const uuid& parent) {
    sending_ = true;
    parent_ = parent;
    state_->turn_of(client_).sending.push_back(this);
}

void turnstile::visit::accepted(const uuid& version, bool more_may_follow) {
    auto& turn = state_->turn_of(client_);
    ++turn.accepted;
    turn.latest = version;
    turn.is_senders_alone = !is_known_;
    turn.more_may_follow = more_may_follow;
    // The other replicas wait for this version. They receive it once its sender has reached the
    // end, so that the sender is known by its request; or a turn later, if it never does.
    if (is_known_ || state_->hold.count() == 0) {
        state::release(turn);
    } else {
        state_->take(client_, turn);
    }
    sent();
}

void turnstile::visit::sent() {
    sending_ = false;
    auto& turn = state_->turn_of(client_);
    std::erase(turn.sending, this);
    if (!state_->is_taken(turn)) state::wake(turn);
}

}  // namespace callsign::api
