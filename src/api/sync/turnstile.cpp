#include "turnstile.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

namespace callsign::api {
namespace {

// A queue of replicas moves by one turn each; whoever has waited so many is answered all the same.
constexpr int turns_waited_max = 20;

// A place among those who wait, for as long as the waiting lasts, dropped frames included.
class place {
  public:
    place(std::vector<timer*>& queue, timer& mine) : queue_(queue), mine_(&mine) {
        queue_.push_back(mine_);
    }
    ~place() { std::erase(queue_, mine_); }
    place(const place&) = delete;
    place& operator=(const place&) = delete;

  private:
    std::vector<timer*>& queue_;
    timer* mine_;
};

}  // namespace

struct turnstile::state {
    struct client_turn {
        std::uint64_t holder = 0;  // a connection; 0: nobody
        time_point until;          // when the holder has had its time
        bool sending = false;      // the holder's version is on its way
        std::uint64_t accepted = 0;
        int visits = 0;
        std::vector<timer*> waiting;  // each lives in a visit's frame
    };
    struct connection_turn {
        uuid client{};
        bool has_sent = false;  // a version, since it was last told "up to date"
    };

    client_turn& turn_of(const uuid& client) { return clients.at(client); }

    bool is_taken(const client_turn& t) const {
        return t.holder != 0 && (t.sending || clock.now() < t.until);
    }

    void take(client_turn& t, std::uint64_t connection) {
        t.holder = connection;
        t.until = clock.now() + hold;
    }

    void release(client_turn& t) {
        t.holder = 0;
        t.sending = false;
        wake(t);
    }

    static void wake(client_turn& t) {
        for (timer* waiting : t.waiting) waiting->cancel();
    }

    void forget_if_idle(const uuid& client) {
        const auto found = clients.find(client);
        if (found->second.visits == 0 && found->second.holder == 0) clients.erase(found);
    }

    // Lets go of what the connection held of another client id, or holds at its end.
    void leave(std::uint64_t connection, const uuid& client) {
        const auto held = clients.find(client);
        if (held == clients.end()) return;
        if (held->second.holder == connection) release(held->second);
        forget_if_idle(client);
    }

    // What is known of the connection, for this client id.
    connection_turn& turn_of(std::uint64_t connection, const uuid& client) {
        connection_turn& mine = connections[connection];
        if (mine.client == client) return mine;
        leave(connection, mine.client);
        mine = {client, false};
        return mine;
    }

    callsign::clock& clock;
    milliseconds hold;
    std::unordered_map<uuid, client_turn, boost::hash<uuid>> clients;
    std::unordered_map<std::uint64_t, connection_turn> connections;
};

turnstile::turnstile(clock& clock, milliseconds hold)
    : state_(std::make_shared<state>(state{clock, hold, {}, {}})) {}

turnstile::~turnstile() = default;

turnstile::visit turnstile::enter(const uuid& client, std::uint64_t connection) {
    return {state_, client, connection};
}

void turnstile::closed(std::uint64_t connection) {
    const auto found = state_->connections.find(connection);
    if (found == state_->connections.end()) return;
    const uuid client = found->second.client;
    state_->connections.erase(found);
    state_->leave(connection, client);
}

std::size_t turnstile::size() const noexcept {
    return state_->clients.size();
}

turnstile::visit::visit(std::shared_ptr<state> owner, const uuid& client, std::uint64_t connection)
    : state_(std::move(owner)), client_(client), connection_(connection) {
    ++state_->clients[client_].visits;
}

turnstile::visit::~visit() {
    if (sending_) sent(false);
    --state_->turn_of(client_).visits;
    state_->forget_if_idle(client_);
}

void turnstile::visit::look() {
    seen_ = state_->turn_of(client_).accepted;
}

boost::asio::awaitable<bool> turnstile::visit::may_say_up_to_date() {
    if (state_->hold.count() == 0 || connection_ == 0) co_return true;
    auto& turn = state_->turn_of(client_);
    if (turn.accepted != seen_) co_return false;  // one came while the chain was looked at
    auto& mine = state_->turn_of(connection_, client_);
    if (std::exchange(mine.has_sent, false)) co_return true;
    if (turn.holder == connection_ || !state_->is_taken(turn)) {
        state_->take(turn, connection_);
        co_return true;
    }
    if (waited_ >= turns_waited_max * state_->hold) co_return true;

    const milliseconds left = turn.until - state_->clock.now();
    const milliseconds span =
        turn.sending ? state_->hold : std::clamp(left, milliseconds{1}, state_->hold);
    const auto executor = co_await boost::asio::this_coro::executor;
    const auto alarm = state_->clock.make_timer(executor);
    const time_point begun = state_->clock.now();
    {
        // The visit keeps the turn in the map, and its address outlives a rehash.
        const place in_line(turn.waiting, *alarm);
        co_await alarm->wait(span);
    }
    waited_ += std::clamp(milliseconds{state_->clock.now() - begun}, milliseconds{1}, span);
    co_return false;
}

void turnstile::visit::sending() {
    sending_ = true;
    auto& turn = state_->turn_of(client_);
    if (connection_ != 0 && turn.holder == connection_) turn.sending = true;
}

void turnstile::visit::sent(bool accepted) {
    sending_ = false;
    auto& turn = state_->turn_of(client_);
    if (accepted) {
        ++turn.accepted;
        if (connection_ != 0) state_->turn_of(connection_, client_).has_sent = true;
    }
    const bool held = connection_ != 0 && turn.holder == connection_;
    if (held) {
        state_->release(turn);
    } else if (accepted) {
        state::wake(turn);
    }
}

}  // namespace callsign::api
