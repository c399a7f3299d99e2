#include <callsign/domain/collected_tasks.hpp>

namespace callsign {

bool collected_tasks::add(read_tasks::answer rows) {
    if (!begun_) {
        begun_ = true;
        seq_ = rows.head.seq;
        version_ = rows.head.version;
    }
    for (task& t : rows.tasks) {
        if (t.purged) continue;
        bytes_ += size_of(t.attributes);
        changed_.emplace(t.uuid, t.last_seq);
        tasks_.put(t.uuid, std::move(t.attributes));
    }
    place_ = std::move(rows.next);
    rows_read_ = !place_;
    return !too_large();
}

// Operations up to the last_seq of a task's row are in the row. A task without a row is replayed
// from its creation; if it was purged in between, its Delete follows.
bool collected_tasks::add(const read_versions::answer& versions) {
    for (const callsign::version& v : versions) {
        for (const operation& o : v.operations) {
            const auto known = changed_.find(o.uuid);
            if (known != changed_.end() && v.seq <= known->second) continue;
            if (tasks_.carry_out(o)) {
                bytes_ += o.property.size() + (o.value ? o.value->size() : 0);
            }
        }
        seq_ = v.seq;
        version_ = v.id;
    }
    return !versions.empty() && !too_large();
}

}  // namespace callsign
