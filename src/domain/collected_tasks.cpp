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

// The row of a task says of which version it is; what came after that is carried out. A task
// without a row by then is told from the beginning: were it purged meanwhile, it is so in the end.
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
