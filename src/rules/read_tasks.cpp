// Everything that a managed account has, as of one version.

#include "work.hpp"

#include <callsign/rules/rules.hpp>

#include <algorithm>

namespace callsign::rules {
namespace {

// Rows at a time: each may be a large one.
constexpr std::int64_t page_rows = 16;

std::size_t bytes_of(const attributes& all) {
    std::size_t bytes = 0;
    for (const auto& [name, value] : all) bytes += name.size() + value.size();
    return bytes;
}

}  // namespace

bool tasks_reading::step(read_tx& tx, std::size_t work_max) {
    if (!begun_) begin(tx);
    std::size_t work = 0;
    while (work < work_max && bytes_ <= bytes_max_) {
        if (place_ < places_.size()) {
            work += read_page(tx);
            continue;
        }
        const auto more = catch_up(tx);
        if (!more) return false;
        work += *more;
    }
    return bytes_ <= bytes_max_;
}

std::optional<tasks_at> tasks_reading::take() {
    if (bytes_ > bytes_max_) return std::nullopt;
    return std::move(found_);
}

void tasks_reading::begin(read_tx& tx) {
    begun_ = true;
    const chain_head head = tx.head_of(account_);
    found_.version = head.version;
    caught_up_ = head.seq;
    // A period that begins later has tasks that later versions make.
    for (const series& from : tx.series_of(account_)) {
        for (std::string& period : tx.periods_of(from.id)) {
            places_.emplace_back(from.id, std::move(period));
        }
    }
}

std::size_t tasks_reading::read_page(read_tx& tx) {
    const auto& [series, period] = places_[place_];
    auto some = tx.numbered_tasks(series, period, last_number_, page_rows);
    std::size_t work = 0;
    for (task& t : some) {
        last_number_ = t.numbered->number;
        work += work_of_task + work_of(t.attributes);
        if (t.purged) continue;
        bytes_ += bytes_of(t.attributes);
        changed_.emplace(t.uuid, t.last_seq);
        found_.tasks.emplace(t.uuid, std::move(t.attributes));
    }
    if (static_cast<std::int64_t>(some.size()) < page_rows) {
        ++place_;
        last_number_ = 0;
    }
    return work;
}

// The row of a task says of which version it is; what came after that is carried out. A task
// without a row by then is told from the beginning: were it purged meanwhile, it is so in the end.
std::optional<std::size_t> tasks_reading::catch_up(read_tx& tx) {
    auto next = tx.versions(account_, caught_up_, 1);
    if (next.empty()) return std::nullopt;
    const version& v = next.front();
    std::size_t work = work_of_task;
    for (const operation& o : v.operations) {
        work += work_of(o);
        const auto known = changed_.find(o.uuid);
        if (known != changed_.end() && v.seq <= known->second) continue;
        if (carry_out(found_.tasks, o)) {
            bytes_ += o.property.size() + (o.value ? o.value->size() : 0);
        }
    }
    caught_up_ = v.seq;
    found_.version = v.id;
    return work;
}

std::optional<tasks_at> read_tasks(read_tx& tx, account_id account, std::size_t bytes_max) {
    tasks_reading reading(account, bytes_max);
    while (reading.step(tx)) {
    }
    return reading.take();
}

}  // namespace callsign::rules
