#include <callsign/rules/rules.hpp>

namespace callsign::rules {

keep_retry_times::answer apply(write_tx& tx, const keep_retry_times& c, const moment& /*m*/) {
    for (const kept_retry_times& k : c.times) tx.put_retry_times(k.accounts, k.record);
    return {};
}

}  // namespace callsign::rules
