#include <callsign/ports/tables/instance.hpp>
#include <callsign/rules/rows/instance.hpp>

namespace callsign {
namespace {

constexpr std::int64_t only = instance_row{}.id;

}  // namespace

uuid instance_of(read_tx& tx) {
    return tx.expect<instance_by_id>(only)->uuid;
}

void put_instance(write_tx& tx, const uuid& id) {
    tx.put(tx.expect<instance_by_id>(only), {.uuid = id});
    for (const auto seen : {drawn_id::token, drawn_id::action}) tx.draw(seen, ids_of_lost);
}

}  // namespace callsign
