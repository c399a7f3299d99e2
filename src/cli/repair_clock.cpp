// `callsign repair-clock`, on a data directory that no server has open.

#include "commands.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace callsign::cli {

void repair_clock(session& s, bool yes) {
    const std::filesystem::path dir = s.data_dir();
    const time_point now = s.around().now();
    confirm(s, yes,
            "Set the time of " + dir.string() + " back to " + to_rfc3339(now) +
                "? This machine's clock must be right.",
            "this sets the store's time from this machine's clock, which must be right");
    const clock_repair done = s.around().files.repair_clock(dir, now);
    if (s.json()) {
        return s.print_json(
            boost::json::serialize(boost::json::object{{"repaired", done.repaired},
                                                       {"lastMoment", to_rfc3339(done.last_moment)},
                                                       {"slots", done.slots}}));
    }
    if (!done.repaired) {
        s.out() << "Nothing to repair. Latest time in the store: " << to_rfc3339(done.last_moment)
                << ".\n";
        return;
    }
    s.out() << "The store's time was " << to_rfc3339(done.last_moment) << ", and is "
            << to_rfc3339(now) << ".\nSlots corrected: " << done.slots
            << ". Receipts keep their times.\n";
}

}  // namespace callsign::cli
