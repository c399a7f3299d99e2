#include "pages.hpp"

#include <callsign/domain/query.hpp>

#include <utility>

namespace callsign::api {

using boost::asio::awaitable;

namespace {

void set_answer(feed_page& page, result<read_changes::answer> answer, net::body_lease room) {
    page.answer.emplace(std::move(answer));
    const auto* const part =
        *page.answer ? std::get_if<read_changes::part>(&**page.answer) : nullptr;
    if (part == nullptr) return;
    page.room = std::move(room);
    page.has_room = page.room.resize(body_bytes_of(*part));
}

}  // namespace

std::size_t body_bytes_of(const read_changes::part& part) {
    std::size_t bytes = 0;
    for (const task_change& change : part.changes) {
        bytes += 1024 + 2 * size_of(change.task.attributes);
    }
    return bytes;
}

// Wakes the waiting followers when the read ends, whatever the outcome.
class feed_pages::read_under_way {
  public:
    explicit read_under_way(std::shared_ptr<feed_page> page) : page_(std::move(page)) {}

    const std::shared_ptr<feed_page>& page() const noexcept { return page_; }
    void await(const std::shared_ptr<follower>& who) { waiting_.push_back(who); }

    void end(result<read_changes::answer> answer, net::body_lease room) {
        set_answer(*page_, std::move(answer), std::move(room));
        for (const auto& each : waiting_) {
            if (const auto who = each.lock()) who->wake();
        }
    }

  private:
    std::shared_ptr<feed_page> page_;
    std::vector<std::weak_ptr<follower>> waiting_;
};

awaitable<std::shared_ptr<feed_page>> feed_pages::read(std::shared_ptr<follower> me,
                                                       read_changes question,
                                                       net::body_lease like) {
    auto page = std::make_shared<feed_page>();
    if (question.filter || question.mark) {
        auto answer = co_await engine_.ask(std::move(question));
        set_answer(*page, std::move(answer), std::move(like));
        co_return page;
    }
    const common at{question.account, question.after, question.limit, question.work_max};
    const auto same = under_way_->find(at);
    if (same != under_way_->end()) {
        page = same->second->page();
        same->second->await(me);
        while (!page->answer) co_await me->pause(std::chrono::hours{1});
        co_return page;
    }
    const auto own = std::make_shared<read_under_way>(page);
    under_way_->emplace(at, own);
    const std::shared_ptr<void> afterwards(nullptr, [all = under_way_, at, own](void*) {
        all->erase(at);
        if (!own->page()->answer) own->end(make_error_code(errc::store_unavailable), {});
    });
    auto answer = co_await engine_.ask(std::move(question));
    own->end(std::move(answer), std::move(like));
    co_return page;
}

}  // namespace callsign::api
