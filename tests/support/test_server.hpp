#pragma once
// A whole server without sockets, on one io_context: store, engine, reaper and service, with a
// virtual clock and seeded entropy. Nothing runs unless a test asks for it and lets time pass.
//
//     test_server h;
//     auto syn = h.make_account("syn", "SYN");
//     auto response = h.call(post("/v1/tasks", R"({"description":"Ship"})", syn.token, "k1"));
//
// A test can provide a disk, a clock and entropy that outlive the server, as the simulator does.
// Destroying the object kills the server: work in progress is dropped, and the next server on the
// same disk finds the committed data. close() is a graceful shutdown.

#include "support/seeded_entropy.hpp"
#include "support/spawn.hpp"
#include "support/virtual_clock.hpp"

#include <callsign/api/service.hpp>
#include <callsign/base/assert.hpp>
#include <callsign/engine/engine.hpp>
#include <callsign/engine/outbox.hpp>
#include <callsign/reaper/reaper.hpp>
#include <callsign/rules/rows/instance.hpp>
#include <callsign/store/memory.hpp>

#include <boost/asio/io_context.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace callsign::testing {

// ---- requests ----

using header_list = std::vector<std::pair<std::string, std::string>>;

inline net::http_request make_request(boost::beast::http::verb method, std::string_view target,
                                      std::string body, const header_list& headers) {
    net::http_request request;
    request.method(method);
    request.target({target.data(), target.size()});
    request.version(11);
    for (const auto& [name, value] : headers) request.insert(name, value);
    request.body() = std::move(body);
    request.id = "test";
    return request;
}

inline header_list bearer(std::string_view token) {
    if (token.empty()) return {};
    return {{"Authorization", "Bearer " + std::string(token)}};
}

inline net::http_request get(std::string_view target, std::string_view token = {}) {
    return make_request(boost::beast::http::verb::get, target, {}, bearer(token));
}

// With a JSON body, and with an idempotency key unless `key` is empty.
inline net::http_request post(std::string_view target, std::string body,
                              std::string_view token = {}, std::string_view key = {}) {
    header_list headers = bearer(token);
    headers.emplace_back("Content-Type", "application/json");
    if (!key.empty()) headers.emplace_back("Idempotency-Key", "\"" + std::string(key) + "\"");
    return make_request(boost::beast::http::verb::post, target, std::move(body), headers);
}

// Returns the value of a response's header field; empty: no such field.
inline std::string_view header(const net::http_response& response, std::string_view name) {
    for (const auto& [have, value] : response.headers) {
        if (have == name) return value;
    }
    return {};
}

// ---- server ----

struct test_server_options {
    std::uint64_t seed = 1;
    engine_options engine{};
    reaper_options reaper{};
    api::service_options service{};
    api::service_hooks hooks{};
    // Creates the connections to remote servers; without it no remote accounts are possible.
    callsign::outbox::sink_maker sinks{};
    outbox_options deliveries{};
    outbox_probe* delivery_probe = nullptr;
    // Null: the server has its own. Otherwise they must outlive it.
    store* disk = nullptr;
    virtual_clock* clock = nullptr;
    callsign::entropy* entropy = nullptr;
    engine_probe* probe = nullptr;
    reaper_probe* sweeps = nullptr;
    // Enables the reaper's scheduled sweeps. Without them a test runs the sweeps.
    bool reaping = false;
};

class test_server {
  public:
    explicit test_server(test_server_options options = {})
        : own_clock_(options.clock ? nullptr : std::make_unique<virtual_clock>()),
          own_entropy_(options.entropy ? nullptr : std::make_unique<seeded_entropy>(options.seed)),
          own_disk_(options.disk ? nullptr : make_memory_store()),
          clock_(options.clock ? *options.clock : *own_clock_),
          entropy_(options.entropy ? *options.entropy : *own_entropy_),
          disk_(options.disk ? *options.disk : *own_disk_),
          engine_(disk_, clock_, entropy_,
                  {.network = io_.get_executor(),
                   .writer = io_.get_executor(),
                   .reader = io_.get_executor(),
                   .sync = io_.get_executor()},
                  options.engine, options.probe ? *options.probe : no_probe_,
                  [this](std::string why) { fatal_ = std::move(why); }),
          outbox_(options.sinks
                      ? std::make_unique<callsign::outbox>(
                            engine_, clock_, entropy_, io_.get_executor(), options.deliveries,
                            std::move(options.sinks),
                            options.delivery_probe ? *options.delivery_probe : no_deliveries_)
                      : nullptr),
          reaper_(engine_, clock_, io_.get_executor(), options.reaper,
                  options.sweeps ? *options.sweeps : no_sweeps_),
          service_(engine_, reaper_, clock_, entropy_, options.service, std::move(options.hooks)) {
        if (outbox_) {
            engine_.set_remote_editor(*outbox_);
            reaper_.use_outbox(*outbox_);
            const auto found = run(outbox_->start());
            CALLSIGN_ASSERT(found);
        }
        if (options.reaping) spawn(reaper_.run());
    }

    // A kill: the coroutine frames of work in progress are destroyed first, while the objects they
    // refer to exist.
    ~test_server() { io_.shutdown(); }

    test_server(const test_server&) = delete;
    test_server& operator=(const test_server&) = delete;

    boost::asio::io_context& io() noexcept { return io_; }
    virtual_clock& clock() noexcept { return clock_; }
    callsign::entropy& entropy() noexcept { return entropy_; }
    store& disk() noexcept { return disk_; }
    callsign::engine& engine() noexcept { return engine_; }
    // Returns the ETag of a task in that state.
    std::string etag(std::int64_t seq, std::string_view prefix = "SYN") {
        const uuid instance = instance_of(*disk_.begin_read());
        return '"' + to_string(task_tag{seq, stamp_of(instance, prefix)}) + '"';
    }
    callsign::reaper& reaper() noexcept { return reaper_; }
    callsign::outbox& outbox() noexcept { return *outbox_; }
    api::service& service() noexcept { return service_; }

    // The engine's reason to end the process; none: no fatal error.
    const std::optional<std::string>& fatal() const noexcept { return fatal_; }

    // ---- running ----

    // Runs everything that can run without time passing.
    void settle() {
        io_.restart();
        while (io_.poll() > 0) {
        }
    }

    // Runs one ready handler. Returns false if there is none.
    bool step() {
        io_.restart();
        return io_.poll_one() > 0;
    }

    // Lets time pass, and runs each timer that expires with all that follows from it.
    void advance(milliseconds by) {
        settle();
        const milliseconds end = clock_.elapsed() + by;
        while (clock_.advance_to_next(end - clock_.elapsed())) settle();
        settle();
    }

    boost::asio::any_io_executor network() { return io_.get_executor(); }
    void spawn(boost::asio::awaitable<void> work) { testing::spawn(network(), std::move(work)); }

    // Runs `work` to its end, and lets time pass as needed, up to a limit that ends a hanging test.
    template <class T>
    T run(boost::asio::awaitable<T> work, milliseconds timeout = std::chrono::hours{1}) {
        const auto done = std::make_shared<std::optional<T>>();
        run(put_into(done, std::move(work)), timeout);
        return std::move(**done);
    }
    void run(boost::asio::awaitable<void> work, milliseconds timeout = std::chrono::hours{1}) {
        bool done = false;
        std::exception_ptr failed;
        testing::spawn(network(), std::move(work), [&](std::exception_ptr e) {
            done = true;
            failed = e;
        });
        const milliseconds end = clock_.elapsed() + timeout;
        for (settle(); !done; settle()) {
            if (!clock_.advance_to_next(end - clock_.elapsed())) break;
        }
        if (failed) std::rethrow_exception(failed);
        CALLSIGN_ASSERT(done);  // otherwise it waits for an event that cannot occur
    }

    // Sends a request and returns its response.
    net::http_response call(net::http_request request) {
        const net::http_header header = request;
        net::http_response answer = run(service_.handle(std::move(request)));
        service_.complete(header, answer);
        return answer;
    }

    // Returns whether a request's body is admitted, given its header.
    net::admission admit(net::http_request head) {
        head.body().clear();
        const net::http_header header = head;
        net::admission given = run(service_.admit(std::move(head)));
        if (given.rejected) service_.complete(header, *given.rejected);
        return given;
    }

    // Starts a request without waiting for it: `*response` is set once it was answered.
    std::shared_ptr<std::optional<net::http_response>> start(net::http_request request) {
        return spawn_for_result(network(), service_.handle(std::move(request)));
    }

    // Submits a command and ignores its result.
    template <class Command>
    void start_command(Command command) {
        spawn_for_result(network(), engine_.submit(std::move(command)));
    }

    // Reads the stored data with look(read_tx&).
    template <class Look>
    auto look(Look look) {
        const auto tx = disk_.begin_read();
        return look(*tx);
    }

    // Accepts no more requests and completes the queued ones.
    void close() {
        reaper_.stop();
        if (outbox_) {
            outbox_->stop();
            run(outbox_->stopped());
        }
        engine_.stop();
        run(engine_.drained());
    }

    // ---- accounts and tokens ----

    struct made_account {
        account_id id;
        std::string token;  // scope write
    };

    made_account make_account(std::string name, std::string prefix) {
        std::string token = api::make_token(entropy_);
        auto made = run(engine_.submit(
            create_account{std::move(name), std::move(prefix), "default", sha256(token)}));
        CALLSIGN_ASSERT(made && std::holds_alternative<account>(*made));
        return {std::get<account>(*made).id, std::move(token)};
    }

    // Creates a token of the account with this name, or (none) an operator token.
    std::string make_token(std::optional<std::string> owner, token_scope scope) {
        std::string token = api::make_token(entropy_);
        auto made =
            run(engine_.submit(create_token{std::move(owner), "test", scope, sha256(token)}));
        CALLSIGN_ASSERT(made && std::holds_alternative<callsign::token>(*made));
        return token;
    }

    std::string operator_token() { return make_token(std::nullopt, token_scope::admin); }

  private:
    // An io_context that can destroy all its handlers before its own destruction.
    struct droppable_io_context : boost::asio::io_context {
        using boost::asio::io_context::shutdown;
    };

    std::unique_ptr<virtual_clock> own_clock_;
    std::unique_ptr<seeded_entropy> own_entropy_;
    std::unique_ptr<store> own_disk_;
    engine_probe no_probe_;
    reaper_probe no_sweeps_;
    outbox_probe no_deliveries_;
    std::optional<std::string> fatal_;
    droppable_io_context io_;

    virtual_clock& clock_;
    callsign::entropy& entropy_;
    store& disk_;
    callsign::engine engine_;
    std::unique_ptr<callsign::outbox> outbox_;
    callsign::reaper reaper_;
    api::service service_;
};

}  // namespace callsign::testing
