#include <callsign/rules/rows/retry_records.hpp>
#include <callsign/rules/rules.hpp>

namespace callsign::rules {

keep_retry_times::answer apply(write_tx& tx, const keep_retry_times& c, const moment& /*m*/) {
    for (const kept_retry_times& k : c.times) retry_records::put(tx, k.accounts, k.record);
    return {};
}

}  // namespace callsign::rules
