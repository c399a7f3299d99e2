#include <callsign/ports/tables/instance.hpp>
#include <callsign/rules/rows/instance.hpp>

namespace callsign {
namespace {

row_of<instance_row> its_row(read_tx& tx) {
    const instance_row only;
    auto found = tx.get<instance_by_id>(only.id);
    if (!found) throw_damaged("instance", only.id, "it is not there");
    return found;
}

}  // namespace

uuid instance_of(read_tx& tx) {
    return its_row(tx)->uuid;
}

void put_instance(write_tx& tx, const uuid& id) {
    tx.put(its_row(tx), {.uuid = id});
    for (const auto seen : {drawn_id::token, drawn_id::action}) tx.draw(seen, ids_of_lost);
}

}  // namespace callsign
