#pragma once
// The rows of a new store.

#include "rows.hpp"

#include <callsign/ports/tables/instance.hpp>
#include <callsign/ports/tables/totals.hpp>

#include <memory>

namespace callsign::memory {

inline std::shared_ptr<rows> empty_rows() {
    auto all = std::make_shared<rows>();
    const auto begin_with = [&]<class Row>(Row row) {
        all->apply(
            {&info_of_table<Row>(), {{nullptr, std::make_shared<const Row>(std::move(row))}}});
    };
    begin_with(instance_row{});
    begin_with(store_totals{});
    return all;
}

}  // namespace callsign::memory
