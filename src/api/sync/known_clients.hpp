#pragma once
// Which account a client id opens, remembered: so that a stranger's upload does not take up the
// writer's time, and a client's one counts on its own account. Which account it is never changes.

#include <callsign/base/strong_id.hpp>
#include <callsign/base/uuid.hpp>

#include <cstddef>
#include <unordered_map>

namespace callsign::api {

class known_clients {
  public:
    explicit known_clients(std::size_t clients_max) : clients_max_(clients_max) {}

    // 0: not known here; the store may know it.
    account_id find(const uuid& client) const {
        const auto found = accounts_.find(client);
        return found == accounts_.end() ? account_id{} : found->second;
    }
    void remember(const uuid& client, account_id account) {
        // Starting anew costs each client one question, and nothing has to be kept in order.
        if (accounts_.size() >= clients_max_) accounts_.clear();
        accounts_.emplace(client, account);
    }

  private:
    std::size_t clients_max_;
    std::unordered_map<uuid, account_id, boost::hash<uuid>> accounts_;
};

}  // namespace callsign::api
