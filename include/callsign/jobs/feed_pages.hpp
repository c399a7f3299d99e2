#pragma once
// Reads of the feed, for followers and webhooks. All of an account at the same place wake together
// and have the same query: it is run, and its result encoded, once for all of them, as long as one
// of them holds the page and the account has no later version.
//
// Network executor.

#include <callsign/base/result.hpp>
#include <callsign/domain/event.hpp>
#include <callsign/domain/queries/feed.hpp>
#include <callsign/engine/engine.hpp>
#include <callsign/engine/wakeup.hpp>
#include <callsign/net/body_budget.hpp>

#include <array>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace callsign::jobs {

// Server-sent events, WebSocket messages in JSON and in protobuf, a webhook's body.
enum class page_form : std::uint8_t { events, json, protobuf, webhook };

class feed_page : public std::enable_shared_from_this<feed_page> {
  public:
    using answer = read_changes::answer;

    feed_page(const feed_page&) = delete;
    feed_page& operator=(const feed_page&) = delete;
    ~feed_page();

    const result<answer>& read() const noexcept { return *answer_; }
    // Requires: the answer is a part.
    const read_changes::part& part() const { return std::get<read_changes::part>(**answer_); }
    // False: there is no memory for the page, which must not be kept.
    bool has_room() const noexcept { return has_room_; }
    // Requires: encoded in that form.
    const std::vector<std::string>& messages(page_form form) const {
        return texts_[static_cast<std::size_t>(form)].messages;
    }

  private:
    friend class feed_pages;
    // Raw: a page removes itself.
    using index = std::unordered_multimap<account_id, feed_page*>;
    struct text {
        std::vector<std::string> messages{};  // empty: not encoded yet
        bool in_progress = false;
    };

    feed_page(std::shared_ptr<index> among, read_changes asked, clock& clock,
              const boost::asio::any_io_executor& executor);
    bool is_for(const read_changes& question) const;
    void set_answer(result<answer> given, net::body_lease room);
    void remove_from_index();

    std::shared_ptr<index> index_;
    const read_changes asked_;
    wakeup changed_;
    std::optional<result<answer>> answer_{};
    // Memory of the answer and its texts, held as long as the page exists.
    net::body_lease room_{};
    bool has_room_ = true;
    bool is_outdated_ = false;     // the account has had a version since the read began
    std::array<text, 4> texts_{};  // by form
};

class feed_pages {
  public:
    feed_pages(engine& engine, clock& clock) : engine_(engine), clock_(clock) {}

    // Returns a page with its answer. `room`: an empty lease, which will hold the page's memory.
    boost::asio::awaitable<std::shared_ptr<feed_page>> read(read_changes question,
                                                            net::body_lease room);

    // Encodes the page's changes in a form with make(), unless they are. Errors as engine::offload.
    // Requires: has_room().
    template <class Make>
    boost::asio::awaitable<boost::system::error_code> encode(feed_page& page, page_form form,
                                                             Make make) {
        feed_page::text& text = page.texts_[static_cast<std::size_t>(form)];
        co_await page.changed_.until([&text] { return !text.in_progress; });
        if (!text.messages.empty()) co_return boost::system::error_code{};
        text.in_progress = true;
        // Runs also if this frame is destroyed.
        const std::shared_ptr<void> afterwards(nullptr, [&](void*) {
            text.in_progress = false;
            page.changed_.notify();
        });
        auto made = co_await engine_.encode(page.asked_.account, work_of(page.part().changes),
                                            std::move(make));
        if (!made) co_return made.error();
        text.messages = std::move(*made);
        co_return boost::system::error_code{};
    }

    // After a version, pages whose read began before it are found no more, once they are read.
    void follow(const event& happened);

  private:
    engine& engine_;
    clock& clock_;
    // Shared: a page may outlive this.
    std::shared_ptr<feed_page::index> pages_ = std::make_shared<feed_page::index>();
};

}  // namespace callsign::jobs
