// Store contract: observed retry times.

#include "store_contract.hpp"

#include <callsign/domain/retry_times.hpp>
#include <callsign/rules/rows/retry_records.hpp>

#include <gtest/gtest.h>

namespace callsign {
namespace {

using namespace testing;
using namespace std::chrono_literals;

retry_record some_times(int n) {
    retry_times t(24h);
    for (int i = 0; i < n; ++i) {
        t.saw(static_cast<std::size_t>(i) % retry_times::parts, i * 1700ms,
              static_cast<slot_state>(1 + i % 3));
        t.failed(1);
        t.pass(7min);
    }
    t.choose(62s, true, true);
    t.pass(1h);
    return t.record();
}

TEST_P(store_contract, retry_times_are_kept_to_the_last_bit) {
    EXPECT_FALSE(retry_records::find(*store_->begin_read(), account_class::local));
    const retry_record here = some_times(500), elsewhere = some_times(3);
    write([&](write_tx& tx) {
        retry_records::put(tx, account_class::local, here);
        retry_records::put(tx, account_class::remote, elsewhere);
        EXPECT_EQ(retry_records::find(tx, account_class::local), here);
    });
    if (GetParam().durable) reopen();
    const auto kept = [&](account_class c) {
        return retry_records::find(*store_->begin_read(), c);
    };
    EXPECT_EQ(kept(account_class::local), here);
    EXPECT_EQ(kept(account_class::remote), elsewhere);

    const retry_record later = some_times(501);
    write([&](write_tx& tx) { retry_records::put(tx, account_class::local, later); });
    if (GetParam().durable) reopen();
    EXPECT_EQ(kept(account_class::local), later);
    EXPECT_EQ(kept(account_class::remote), elsewhere);
    retry_records::put(*store_->begin_write(), account_class::local, here);  // not committed
    EXPECT_EQ(kept(account_class::local), later);
}

}  // namespace
}  // namespace callsign
