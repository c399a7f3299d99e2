#include <callsign/domain/query.hpp>
#include <callsign/jobs/feed_pages.hpp>

#include <algorithm>
#include <boost/asio/this_coro.hpp>

namespace callsign::jobs {

using boost::asio::awaitable;

namespace {

// Returns about how many bytes these changes take, both as read and as sent.
std::size_t page_bytes_of(const read_changes::part& part) {
    std::size_t bytes = 0;
    for (const task_change& change : part.changes) {
        bytes += 1024 + 2 * size_of(change.task.attributes);
    }
    return bytes;
}

}  // namespace

feed_page::feed_page(std::shared_ptr<index> among, read_changes asked, clock& clock,
                     const boost::asio::any_io_executor& executor)
    : index_(std::move(among)), asked_(std::move(asked)), changed_(clock, executor) {
    index_->emplace(asked_.account, this);
}

feed_page::~feed_page() {
    remove_from_index();
}

void feed_page::remove_from_index() {
    const auto [from, to] = index_->equal_range(asked_.account);
    const auto me = std::find_if(from, to, [&](const auto& each) { return each.second == this; });
    if (me != to) index_->erase(me);
}

// Also one that was asked a moment later.
bool feed_page::is_for(const read_changes& question) const {
    return asked_.after == question.after && asked_.mark == question.mark &&
           asked_.limit == question.limit && asked_.work_max == question.work_max &&
           asked_.filter == question.filter;
}

void feed_page::set_answer(result<answer> given, net::body_lease room) {
    answer_.emplace(std::move(given));
    const auto* const part = *answer_ ? std::get_if<read_changes::part>(&**answer_) : nullptr;
    if (part != nullptr) {
        room_ = std::move(room);
        has_room_ = room_.resize(page_bytes_of(*part));
    }
    if (part == nullptr || !has_room_ || is_outdated_) remove_from_index();
    changed_.notify();
}

awaitable<std::shared_ptr<feed_page>> feed_pages::read(read_changes question,
                                                       net::body_lease room) {
    const auto [from, to] = pages_->equal_range(question.account);
    const auto known =
        std::find_if(from, to, [&](const auto& each) { return each.second->is_for(question); });
    if (known != to) {
        const std::shared_ptr<feed_page> page = known->second->shared_from_this();
        co_await page->changed_.until([&page] { return page->answer_.has_value(); });
        co_return page;
    }
    const auto executor = co_await boost::asio::this_coro::executor;
    const std::shared_ptr<feed_page> page(
        new feed_page(pages_, std::move(question), clock_, executor));
    // Others wait for this read: it ends for them even if this frame is destroyed.
    const std::shared_ptr<void> afterwards(nullptr, [page](void*) {
        if (!page->answer_) page->set_answer(make_error_code(errc::store_unavailable), {});
    });
    read_changes copy = page->asked_;
    auto answer = co_await engine_.ask(std::move(copy));
    page->set_answer(std::move(answer), std::move(room));
    co_return page;
}

// A read in progress may lack the version: those that joined it read again, and must not find it.
void feed_pages::follow(const event& happened) {
    const auto* const appended = std::get_if<events::version_appended>(&happened);
    if (appended == nullptr) return;
    const auto [from, to] = pages_->equal_range(appended->account);
    for (auto at = from; at != to;) {
        at->second->is_outdated_ = true;
        at = at->second->answer_ ? pages_->erase(at) : std::next(at);
    }
}

}  // namespace callsign::jobs
