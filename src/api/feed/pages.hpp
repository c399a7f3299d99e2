#pragma once
// Reads of the feed. All followers of an account who stand at the same place wake at once and ask
// the same: it is asked, and put into words, once for all of them.

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
    // Made by the first who needs it; the others wait for it.
    struct text {
        std::vector<std::string> messages{};  // none: it is not made yet
        bool is_under_way = false;
        std::vector<std::weak_ptr<follower>> waiting{};
    };

    std::optional<result<read_changes::answer>> answer{};
    // What it takes, for as long as anybody has it.
    net::body_lease room{};
    bool has_room = true;         // else nobody may keep it
    std::array<text, 3> texts{};  // by form

    text& in(page_form form) { return texts[static_cast<std::size_t>(form)]; }
};

// About what these changes take, as they are read and as they are sent.
std::size_t body_bytes_of(const read_changes::part& part);

// Network executor.
class feed_pages {
  public:
    explicit feed_pages(engine& engine) : engine_(engine) {}

    // The page's answer is there. `like`: what it is held on.
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
