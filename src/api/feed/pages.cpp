#include "pages.hpp"

#include <callsign/domain/query.hpp>

#include <algorithm>

namespace callsign::api {

using boost::asio::awaitable;

awaitable<std::shared_ptr<feed_page>> feed_pages::read(follower& me, read_changes question) {
    const bool is_common = !question.filter && !question.mark;
    const common at{question.account, question.after, question.limit, question.work_max};
    if (is_common) {
        const auto same = under_way_.find(at);
        if (same != under_way_.end()) {
            const auto read = same->second;
            read->waiting.push_back(&me);
            while (!read->page->answer) co_await me.pause(std::chrono::hours{1});
            co_return read->page;
        }
    }
    auto read = std::make_shared<read_under_way>();
    if (is_common) under_way_.emplace(at, read);
    auto answer = co_await engine_.ask(std::move(question));
    read->page->answer.emplace(std::move(answer));
    if (is_common) under_way_.erase(at);
    for (follower* const each : read->waiting) each->wake();
    co_return read->page;
}

}  // namespace callsign::api
