#pragma once
// Cache of accounts and keys by client ID. An anonymous client's upload then takes no time of the
// writer, a known client's counts on its own account, and a device's key is decrypted once.
// follow() keeps the cache equal to the store. Network executor.

#include <callsign/base/keyed_hash.hpp>
#include <callsign/base/strong_id.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/account.hpp>
#include <callsign/domain/device.hpp>
#include <callsign/domain/event.hpp>
#include <callsign/seal/secret.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

namespace callsign::api {

struct known_client {
    account_id account;
    device_id device{};
    account_mode mode = account_mode::opaque;
    bool revoked = false;
    bool closed = false;  // its account is not active
    std::optional<callsign::resync> resync{};
    std::string account_name{};  // empty: incomplete, the store has the rest
    std::string name{};          // empty: the client of an opaque account
    // A managed account's device: its key. Null there: the master key does not decrypt it. Shared
    // with jobs that encrypt with it on other threads.
    std::shared_ptr<const seal::key> key{};
};

class known_clients {
  public:
    explicit known_clients(std::size_t clients_max) : clients_max_(clients_max) {}

    // Returns nullptr if the client is not cached. Valid until another function is called.
    const known_client* find(const uuid& client) const {
        const auto found = clients_.find(client);
        return found == clients_.end() ? nullptr : &found->second;
    }

    // Grows with each removal: what was read from the store before may be outdated.
    std::uint64_t edition() const noexcept { return edition_; }

    void remember(const uuid& client, known_client known) {
        // Clearing costs each client one query, and needs no order of entries.
        if (clients_.size() >= clients_max_) clients_.clear();
        clients_.insert_or_assign(client, std::move(known));
    }

    // Applies an event.
    void follow(const event& happened) {
        if (const auto* made = std::get_if<events::account_created>(&happened)) {
            if (made->client_id) remember(*made->client_id, {.account = made->account});
        } else if (const auto* managed = std::get_if<events::account_managed>(&happened)) {
            forget(managed->client_id);
        } else if (const auto* revoked = std::get_if<events::device_revoked>(&happened)) {
            forget(revoked->client_id);
        } else if (const auto* moved = std::get_if<events::device_resynced>(&happened)) {
            forget(moved->client_id);
        } else if (std::holds_alternative<events::account_state_changed>(happened) ||
                   std::holds_alternative<events::account_renamed>(happened) ||
                   std::holds_alternative<events::account_removed>(happened) ||
                   std::holds_alternative<events::outcome_lost>(happened)) {
            ++edition_;
            clients_.clear();
        }
    }

  private:
    void forget(const uuid& client) {
        ++edition_;
        clients_.erase(client);
    }

    std::size_t clients_max_;
    std::unordered_map<uuid, known_client, keyed_hash> clients_;
    std::uint64_t edition_ = 0;
};

}  // namespace callsign::api
