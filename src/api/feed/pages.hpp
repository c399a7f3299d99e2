#pragma once
// Reads of the feed. All followers of an account at the same place wake together and have the same
// query: it is run, and its result encoded, once for all of them.

#include "followers.hpp"

#include <callsign/base/result.hpp>
#include <callsign/domain/queries/feed.hpp>
#include <callsign/engine/engine.hpp>
#include <callsign/net/body_budget.hpp>

#include <array>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace callsign::api {

enum class page_form : std::uint8_t { events, json, protobuf };

struct feed_page {
    // Encoded by the first follower that needs it; the others wait.
    struct text {
        std::vector<std::string> messages{};  // empty: not encoded yet
        bool is_under_way = false;
        std::vector<std::weak_ptr<follower>> waiting{};
    };

    std::optional<result<read_changes::answer>> answer{};
    // Memory of the answer, held as long as the page exists.
    net::body_lease room{};
    bool has_room = true;         // if not, the page must not be kept
    std::array<text, 3> texts{};  // by form

    text& in(page_form form) { return texts[static_cast<std::size_t>(form)]; }
};

// Returns about how many bytes these changes take, both as read and as sent.
std::size_t body_bytes_of(const read_changes::part& part);

// Network executor.
class feed_pages {
  public:
    explicit feed_pages(engine& engine) : engine_(engine) {}

    // Returns a page with its answer. `like`: the lease that holds its memory.
    boost::asio::awaitable<std::shared_ptr<feed_page>> read(std::shared_ptr<follower> me,
                                                            read_changes question,
                                                            net::body_lease like);

  private:
    class read_under_way;
    using common = std::tuple<account_id, feed_place, std::size_t /*limit*/, std::size_t /*work*/>;

    using reads = std::map<common, std::shared_ptr<read_under_way>>;

    engine& engine_;
    // Shared: a read may outlive this.
    std::shared_ptr<reads> under_way_ = std::make_shared<reads>();
};

}  // namespace callsign::api
