#include "last_ids.hpp"

#include "statements.hpp"

namespace callsign::sqlite {

void last_ids::load(connection& db) {
    auto q = db.use(sql::last_ids_get);
    if (!q.step()) throw_damaged("totals", 1, "it is not there");
    int column = 0;
    for (std::int64_t& last : now_) last = q.integer(column++);
    committed_ = now_;
}

void last_ids::bind_to(query& q) const {
    for (const std::int64_t last : now_) q.bind(last);
}

}  // namespace callsign::sqlite
