#pragma once
// Tasks as an interrupted sync leaves them.

#include "support/counted_ids.hpp"

#include <callsign/base/sha256.hpp>
#include <callsign/rules/rules.hpp>

#include <gtest/gtest.h>

namespace callsign::testing {

// Creates an account "ada" with `n` tasks of each kind: without any attribute, without a status,
// and complete.
inline void make_incomplete(store& where, int n, time_point now) {
    const auto tx = where.begin_write();
    counted_ids ids;
    const rules::moment at{now, ids};
    const auto made = rules::apply(*tx, create_account{"ada", "SYN", "t", sha256("ada")}, at);
    import_tasks all{std::get<account>(made).id};
    for (int i = 0; i < 3 * n; ++i) {
        attributes its;
        if (i % 3 > 0) its.emplace("description", "d");
        if (i % 3 > 1) its.emplace("status", "pending");
        all.tasks.push_back({make_uuid_v7(time_point{}, 1, static_cast<std::uint64_t>(i)), its});
    }
    const auto done = rules::apply(*tx, all, at);
    ASSERT_TRUE(std::holds_alternative<import_tasks::done>(done));
    tx->commit();
}

}  // namespace callsign::testing
