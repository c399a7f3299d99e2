// What precedes the first request.

#include "../server.hpp"
#include "../setup/first_start.hpp"
#include "../setup/listen_address.hpp"

#include <callsign/seal/at_rest.hpp>

#include <variant>

namespace callsign {

std::unique_ptr<store> server::open_store() {
    sqlite_options options = config_.store;
    options.lost_at_close = [this] {
        exit_code_ = exit_fatal;
        log_->log(log_level::error, "fatal: WAL sync failed; the WAL is kept for the next start",
                  {});
    };
    return open_sqlite(options);
}

// Returns null if the master key is missing or wrong.
std::unique_ptr<task_sink> server::open_sink(const remote_chain& r) {
    if (!config_.secrets.master_key) return nullptr;
    const seal::belongs_to owner{seal::purpose::remote_key, account_id{}, r.client_id};
    const auto opened = config_.secrets.master_key->open(owner, r.sealed_key);
    const auto* const secret = std::get_if<seal::secret_bytes>(&opened);
    if (!secret || secret->size() != seal::key_bytes) return nullptr;
    auto key = std::make_shared<const seal::key>(secret->bytes().first<seal::key_bytes>());
    return sinks_.open(r.account, r.url, r.client_id, std::move(key));
}

asio::awaitable<boost::system::error_code> server::offload(claim asks, std::function<void()> work) {
    auto run = [&work] {
        work();
        return std::monostate{};
    };
    const auto done = co_await engine_.offload(asks, std::move(run));
    co_return done ? boost::system::error_code{} : done.error();
}

// Prepares what the first request needs. Returns the text for a first start, if this is one.
asio::awaitable<std::string> server::prepare() {
    fs::path token_file = admin_token_file();
    co_await hold_after_loss();
    co_await setup::ensure_admin_token(engine_, *entropy_, std::move(token_file));
    const auto found = co_await outbox_.start();
    if (!found) throw std::runtime_error("cannot read the accounts: " + found.error().message());
    const auto account_token = co_await setup::ensure_account(engine_, *entropy_);
    co_await reseal();
    co_await finish_conversions();
    const bool opens = co_await service_.can_decrypt_devices();
    if (!opens) {
        log_->log(log_level::warn, "master key missing or wrong; devices cannot sync",
                  {{"setting", "secrets.master_key_file"}});
    }
    if (!account_token) co_return std::string();
    const std::string& known = config_.api.public_url;
    const std::string url =
        known.empty() ? setup::local_url(http_.local_endpoint(), speaks_tls()) : known;
    co_return setup::welcome(url, *account_token, admin_token_file());
}

// Numbers may have been assigned that the database has lost.
asio::awaitable<void> server::hold_after_loss() {
    shared_store* const shared = store_->shared();
    if (!shared || shared->lost_through() == 0) co_return;
    mark_restored command{draw_uuid(*entropy_), store_->totals()->last_moment};
    actor itself;
    const auto done = co_await engine_.submit(std::move(command), std::move(itself));
    if (!done) throw std::runtime_error("cannot hold the series: " + done.error().message());
    log_->log(log_level::error,
              "database lost committed batches; series are held until they are resumed",
              {{"lost_through", std::to_string(shared->lost_through())},
               {"held", std::to_string(done->held)}});
    shared->forget_loss();
}

// Re-encrypts secrets of a former master key with the current one. This takes some milliseconds for
// a thousand secrets, and is retried at the next start.
asio::awaitable<void> server::reseal() {
    if (!config_.secrets.master_key || config_.secrets.master_key->former() == 0) co_return;
    const auto done = co_await service_.reseal_secrets();
    if (!done) {
        log_->log(log_level::warn, "secrets not re-encrypted", {{"error", done.error().message()}});
        co_return;
    }
    log_->log(log_level::info, "secrets re-encrypted with the current master key",
              {{"resealed", std::to_string(done->resealed)},
               {"current", std::to_string(done->current)},
               {"unopened", std::to_string(done->unopened)}});
}

asio::awaitable<void> server::finish_conversions() {
    const auto done = co_await service_.finish_conversions();
    if (!done) {
        log_->log(log_level::warn,
                  "interrupted conversions not cleaned up; retrying at the next start",
                  {{"error", done.error().message()}});
    } else if (*done > 0) {
        log_->log(log_level::info, "interrupted conversions cleaned up",
                  {{"accounts", std::to_string(*done)}});
    }
}

}  // namespace callsign
