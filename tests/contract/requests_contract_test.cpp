// Store contract: outcomes of requests with an idempotency key.

#include "store_contract.hpp"

#include <callsign/rules/rows/requests.hpp>

namespace callsign::testing {
namespace {

kept_request request(account_id account, const std::string& key, milliseconds at) {
    return {account, key, sha256(key), t0 + at, 7, 9, std::string("s\0", 2)};
}

TEST_P(store_contract, requests_are_found_by_account_and_key) {
    const auto one = make_account("one"), other = make_account("other");
    write([&](write_tx& tx) {
        requests::put(tx, request(one, "k", milliseconds{1}));
        requests::put(tx, request(other, "k", milliseconds{2}));
        requests::put(tx, request(account_id{}, "K", milliseconds{3}));
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    const auto found = requests::find(*tx, one, "k");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->fingerprint, sha256("k"));
    EXPECT_EQ(found->at, t0 + milliseconds{1});
    EXPECT_EQ(found->subject, 7);
    EXPECT_EQ(found->seq, 9);
    EXPECT_EQ(found->sealed, std::string("s\0", 2));
    EXPECT_TRUE(requests::find(*tx, other, "k"));
    EXPECT_FALSE(requests::find(*tx, one, "K"));
    EXPECT_TRUE(requests::find(*tx, account_id{}, "K")) << "of an operator";
}

TEST_P(store_contract, old_requests_are_forgotten_the_oldest_first) {
    const auto account = make_account("one");
    write([&](write_tx& tx) {
        for (const int n : {3, 1, 2, 4}) {
            requests::put(tx, request(account, std::to_string(n), milliseconds{n}));
        }
    });
    const auto left = [&] {
        const auto tx = store_->begin_read();
        std::string keys;
        for (const char* key : {"1", "2", "3", "4"}) {
            if (requests::find(*tx, account, key)) keys += key;
        }
        return keys;
    };
    const auto forget = [](write_tx& tx) {
        return requests::forget_before(tx, t0 + milliseconds{4}, 2);
    };
    EXPECT_EQ(write(forget), 2);
    EXPECT_EQ(left(), "34");
    EXPECT_EQ(write(forget), 1);
    EXPECT_EQ(left(), "4");
}

}  // namespace
}  // namespace callsign::testing
