#include "history.hpp"

#include <callsign/wire/envelope.hpp>

#include <algorithm>
#include <charconv>
#include <tuple>

namespace callsign::jobs {
namespace {

// Seconds since the epoch, as clients write them; 0: none, or unreadable.
std::int64_t entry_of(const attributes& all) {
    std::int64_t seconds = 0;
    const auto found = all.find("entry");
    if (found == all.end()) return seconds;
    const std::string& text = found->second;
    std::from_chars(text.data(), text.data() + text.size(), seconds);
    return seconds;
}

}  // namespace

std::optional<history_fault> history_opener::add(const read_sealed_versions::answer& page) {
    if (history_.empty() && !page.versions.empty()) {
        if (auto wrong = begin(page.versions.front().parent, page.before)) return wrong;
    }
    for (const sealed_version& each : page.versions) {
        if (auto wrong = add(each)) return wrong;
    }
    return std::nullopt;
}

// A history that does not begin with the first version needs the snapshot of what was before.
std::optional<history_fault> history_opener::begin(const uuid& first_parent,
                                                   const std::optional<sealed_snapshot>& snapshot) {
    if (first_parent.is_nil()) return std::nullopt;
    if (!snapshot) {
        return history_fault{false,
                             "the history does not begin with the first version, and has no "
                             "snapshot of the versions before"};
    }
    auto opened = wire::open_snapshot(key_, snapshot->mark.version, snapshot->bytes);
    if (auto* const error = std::get_if<wire::unreadable>(&opened)) {
        return history_fault{error->wrong_key, "snapshot: " + error->detail};
    }
    tasks_ = replay(std::get<task_map>(std::move(opened)));
    known_from_ = snapshot->mark.seq;
    return std::nullopt;
}

std::optional<history_fault> history_opener::add(const sealed_version& sealed) {
    const std::string place = "version " + std::to_string(sealed.seq) + ": ";
    auto opened = wire::open_segment(key_, sealed.parent, sealed.segment);
    if (auto* const error = std::get_if<wire::unreadable>(&opened)) {
        return history_fault{error->wrong_key, place + error->detail};
    }
    version v{sealed.seq, sealed.id, sealed.parent, sealed.created_at,
              std::get<std::vector<operation>>(std::move(opened))};
    operations_ += v.operations.size();
    bytes_ += sealed.segment.size();
    if (operations_ > operations_max || bytes_ > bytes_max) {
        return history_fault{false, place + "the history has more than " +
                                        std::to_string(operations_max) + " operations, or " +
                                        std::to_string(bytes_max) + " bytes"};
    }
    follow(v);
    head_ = {v.seq, v.id};
    history_.push_back(std::move(v));
    return std::nullopt;
}

// Drops operations without effect, where that is known: a managed account's chain contains none.
void history_opener::follow(version& v) {
    const bool known = v.seq > known_from_;
    std::erase_if(v.operations, [&](const operation& o) {
        if (known && !tasks_.carry_out(o)) return true;
        if (o.kind == operation_kind::create) {
            made_.try_emplace(o.uuid, making{v.seq, made_.size(), v.created_at});
        }
        return false;
    });
}

std::vector<manage_account::made_task> history_opener::take_tasks() {
    using ordered = std::tuple<std::int64_t, std::size_t, std::int64_t, uuid>;
    std::vector<std::pair<ordered, manage_account::made_task>> all;
    const time_point begun = history_.empty() ? time_point{} : history_.front().created_at;
    for (auto& [id, attributes] : tasks_.tasks()) {
        const auto found = made_.find(id);
        const making how = found == made_.end() ? making{0, 0, begun} : found->second;
        const std::int64_t entry = found == made_.end() ? entry_of(attributes) : 0;
        all.push_back({{how.seq, how.order, entry, id},
                       {id, std::max<std::int64_t>(how.seq, 1), how.at, std::move(attributes)}});
    }
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<manage_account::made_task> tasks;
    tasks.reserve(all.size());
    for (auto& [place, made] : all) tasks.push_back(std::move(made));
    tasks_ = replay();
    return tasks;
}

}  // namespace callsign::jobs
