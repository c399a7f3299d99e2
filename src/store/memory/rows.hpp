#pragma once
// Rows of any table, by the keys of its indexes. A value: copies share tables that neither has
// changed.

#include <callsign/ports/unit_of_work.hpp>

#include <boost/container/flat_map.hpp>
#include <memory>
#include <vector>

namespace callsign::memory {

class rows {
  public:
    row_ptr fetch(const index_info& index, const row_key& key) const;
    row_page scan(const row_range& range) const;
    void apply(const table_changes& changes);

  private:
    using by_key = boost::container::flat_map<row_key, row_ptr>;
    using table_rows = std::vector<by_key>;  // by index number

    const by_key* find(const index_info& index) const;

    std::vector<std::shared_ptr<const table_rows>> tables_;  // by table number
};

}  // namespace callsign::memory
