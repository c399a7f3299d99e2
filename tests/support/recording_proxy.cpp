#include "recording_proxy.hpp"

#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <limits>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

namespace callsign::testing {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::awaitable;
using asio::ip::tcp;

namespace {

constexpr auto use_result = asio::as_tuple(asio::use_awaitable);

// One side of a connection: its socket, and data received beyond the current message.
struct side {
    tcp::socket socket;
    boost::beast::flat_buffer unread{};
};

template <bool is_request>
awaitable<std::optional<http::message<is_request, http::string_body>>> read(side& from) {
    http::parser<is_request, http::string_body> parser;
    parser.body_limit(std::numeric_limits<std::uint64_t>::max());
    const auto [error, bytes] =
        co_await http::async_read(from.socket, from.unread, parser, use_result);
    if (error) co_return std::nullopt;
    co_return parser.release();
}

}  // namespace

class recording_proxy::impl {
  public:
    explicit impl(std::uint16_t server_port)
        : server_(asio::ip::address_v4::loopback(), server_port),
          acceptor_(io_, {asio::ip::address_v4::loopback(), 0}) {
        asio::co_spawn(io_, accept(), asio::detached);
        thread_ = std::thread([this] { io_.run(); });
    }
    ~impl() {
        io_.stop();
        thread_.join();
    }

    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

    std::vector<exchange> exchanges() const {
        const std::lock_guard lock(mutex_);
        return seen_;
    }
    void forget() {
        const std::lock_guard lock(mutex_);
        forgotten_ += seen_.size();
        seen_.clear();
    }
    std::future<void> at_next_version(moment when, std::function<void()> then, int nth) {
        const std::lock_guard lock(mutex_);
        awaited_.emplace(awaited{when, nth, std::packaged_task<void()>(std::move(then))});
        return awaited_->then.get_future();
    }

    void gather(int count) {
        const std::lock_guard lock(mutex_);
        missing_ = count;
    }
    void gather_one_fewer() {
        const std::lock_guard lock(mutex_);
        if (missing_ > 0) one_has_come();
    }

    void cut_off(cut where) {
        const std::lock_guard lock(mutex_);
        cut_ = std::move(where);
    }
    void lose_answers(int nth) { lost_nth_ = nth; }
    void close_after_each() { closes_ = true; }
    void disturb(std::uint64_t seed, int in_hundred) {
        const std::lock_guard lock(mutex_);
        random_.seed(seed);
        disturbed_in_hundred_ = in_hundred;
    }
    void cut_off_some(std::uint64_t seed, int in_hundred) {
        const std::lock_guard lock(mutex_);
        random_.seed(seed);
        cut_off_in_hundred_ = in_hundred;
    }

  private:
    bool is_lost() {
        const int nth = lost_nth_;
        return nth > 0 && ++answers_ % nth == 0;
    }

    awaitable<void> accept() {
        for (;;) {
            auto [error, socket] = co_await acceptor_.async_accept(use_result);
            if (error) co_return;
            asio::co_spawn(io_, serve({std::move(socket)}), asio::detached);
        }
    }

    // Serves until either side closes its connection.
    awaitable<void> serve(side client) {
        side server{tcp::socket(io_)};
        const auto [rejected] = co_await server.socket.async_connect(server_, use_result);
        if (rejected) co_return;
        for (bool go_on = true; go_on;) {
            auto request = co_await read<true>(client);
            if (!request) co_return;
            go_on = co_await pass_on(std::move(*request), client, server);
        }
    }

    awaitable<bool> pass_on(http::request<http::string_body> request, side& client, side& server) {
        const bool is_version = request.target().starts_with("/v1/client/add-version/");
        const std::size_t number =
            record({std::string(request.method_string()), std::string(request.target()), 0, {}});
        if (is_version) {
            reach(moment::arrived);
            co_await wait_for_others();
        }
        const std::optional<cut> cut_here = is_version ? reach_cut() : std::nullopt;
        if (cut_here && !cut_here->is_passed_on) co_return co_await reject(client, *cut_here);
        const fate drawn = draw(is_version);
        if (drawn == fate::lost) co_return false;
        if (drawn == fate::late || drawn == fate::twice) {
            asio::co_spawn(io_, deliver_later(request), asio::detached);
        }
        if (drawn == fate::late) co_return false;
        const auto [unsent, out] = co_await http::async_write(server.socket, request, use_result);
        if (unsent || (is_version && reach(moment::sent))) co_return false;
        auto answer = co_await read<false>(server);
        if (!answer) co_return false;
        if (is_version && (reach(moment::answered) || is_lost())) co_return false;
        if (drawn == fate::unanswered) co_return false;
        if (cut_here) co_return co_await reject(client, *cut_here);
        record_answer(number, *answer);
        if (closes_) answer->keep_alive(false);
        const auto [untold, in] = co_await http::async_write(client.socket, *answer, use_result);
        co_return !untold && answer->keep_alive();
    }

    std::optional<cut> reach_cut() {
        const std::lock_guard lock(mutex_);
        if (!cut_ || --cut_->nth > 0) return std::nullopt;
        return std::exchange(cut_, std::nullopt);
    }
    awaitable<bool> reject(side& client, const cut& here) {
        if (here.then) here.then();
        if (here.status == 0) co_return false;
        http::response<http::string_body> answer{http::int_to_status(here.status), 11};
        answer.prepare_payload();
        const auto [untold, in] = co_await http::async_write(client.socket, answer, use_result);
        co_return !untold;
    }

    struct awaited {
        moment when;
        int nth;
        std::packaged_task<void()> then;
    };

    enum class fate { none, lost, unanswered, late, twice };

    fate draw(bool is_version) {
        const std::lock_guard lock(mutex_);
        const auto between = [&](int first, int last) {
            return std::uniform_int_distribution<>(first, last)(random_);
        };
        if (between(0, 99) < cut_off_in_hundred_) return static_cast<fate>(between(1, 2));
        if (!is_version || between(0, 99) >= disturbed_in_hundred_) return fate::none;
        return static_cast<fate>(between(1, 4));
    }

    // Sends a copy on another connection, and ignores the response.
    awaitable<void> deliver_later(http::request<http::string_body> copy) {
        asio::steady_timer pause(io_, std::chrono::milliseconds{150});
        co_await pause.async_wait(use_result);
        side server{tcp::socket(io_)};
        const auto [rejected] = co_await server.socket.async_connect(server_, use_result);
        if (rejected) co_return;
        const auto [unsent, out] = co_await http::async_write(server.socket, copy, use_result);
        if (!unsent) co_await read<false>(server);
    }

    awaitable<void> wait_for_others() {
        asio::steady_timer together(io_, asio::steady_timer::time_point::max());
        {
            const std::lock_guard lock(mutex_);
            if (missing_ == 0) co_return;
            waiting_.push_back(&together);
            one_has_come();
        }
        co_await together.async_wait(use_result);
    }
    // Requires: the mutex is held. Only the proxy's thread uses the timers.
    void one_has_come() {
        if (--missing_ > 0) return;
        asio::post(io_, [all = std::exchange(waiting_, {})] {
            for (asio::steady_timer* const each : all) each->cancel();
        });
    }

    // Numbers continue after forget_exchanges().
    std::size_t record(exchange e) {
        const std::lock_guard lock(mutex_);
        seen_.push_back(std::move(e));
        return forgotten_ + seen_.size() - 1;
    }
    void record_answer(std::size_t number, const http::response<http::string_body>& answer) {
        const std::lock_guard lock(mutex_);
        if (number < forgotten_) return;
        seen_[number - forgotten_].status = answer.result_int();
        seen_[number - forgotten_].answer = answer.body();
    }

    // Returns true if this was the moment.
    bool reach(moment now) {
        std::packaged_task<void()> then;
        {
            const std::lock_guard lock(mutex_);
            if (!awaited_ || awaited_->when != now || --awaited_->nth > 0) return false;
            then = std::move(awaited_->then);
            awaited_.reset();
        }
        then();
        return true;
    }

    asio::io_context io_;
    const tcp::endpoint server_;
    tcp::acceptor acceptor_;
    mutable std::mutex mutex_;
    std::vector<exchange> seen_;
    std::size_t forgotten_ = 0;
    std::optional<awaited> awaited_;
    std::optional<cut> cut_;
    std::mt19937_64 random_;
    int disturbed_in_hundred_ = 0;
    int cut_off_in_hundred_ = 0;
    int missing_ = 0;                // versions that others wait for
    std::atomic<int> lost_nth_ = 0;  // 0: none
    int answers_ = 0;
    std::atomic<bool> closes_ = false;
    std::vector<asio::steady_timer*> waiting_;
    std::thread thread_;
};

recording_proxy::recording_proxy(std::uint16_t server_port)
    : impl_(std::make_unique<impl>(server_port)) {}
recording_proxy::~recording_proxy() = default;

std::uint16_t recording_proxy::port() const noexcept {
    return impl_->port();
}

std::vector<recording_proxy::exchange> recording_proxy::exchanges() const {
    return impl_->exchanges();
}

int recording_proxy::count(std::string_view method, std::string_view target,
                           unsigned status) const {
    int found = 0;
    for (const exchange& e : exchanges()) {
        if (e.method == method && e.target.starts_with(target) && e.status == status) ++found;
    }
    return found;
}

void recording_proxy::forget_exchanges() {
    impl_->forget();
}

std::future<void> recording_proxy::at_next_version(moment when, std::function<void()> then,
                                                   int nth) {
    return impl_->at_next_version(when, std::move(then), nth);
}

void recording_proxy::cut_off(cut where) {
    impl_->cut_off(std::move(where));
}

void recording_proxy::lose_answers(int nth) {
    impl_->lose_answers(nth);
}

void recording_proxy::disturb(std::uint64_t seed, int in_hundred) {
    impl_->disturb(seed, in_hundred);
}

void recording_proxy::cut_off_some(std::uint64_t seed, int in_hundred) {
    impl_->cut_off_some(seed, in_hundred);
}

void recording_proxy::close_after_each() {
    impl_->close_after_each();
}

void recording_proxy::gather_versions(int count) {
    impl_->gather(count);
}

void recording_proxy::gather_one_fewer() {
    impl_->gather_one_fewer();
}

}  // namespace callsign::testing
