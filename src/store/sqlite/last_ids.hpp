#pragma once
// The ids of rows: the store draws them, and none is given twice, whatever was removed meanwhile.

#include "connection.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace callsign::sqlite {

// In the order of the columns of sql::last_ids_get, and of sql::totals_set, which is that of
// drawn_id.
class last_ids {
  public:
    static constexpr std::size_t tables = static_cast<std::size_t>(drawn_id::slot) + 1;

    void load(connection& db);

    std::int64_t last(drawn_id what) const noexcept { return now_[at(what)]; }
    std::int64_t next(drawn_id what, std::int64_t count = 1) noexcept {
        return now_[at(what)] += count;
    }

    // The parameters of sql::totals_set that are left.
    void bind_to(query& q) const;
    // The transaction's end, one of them.
    void committed() noexcept { committed_ = now_; }
    void roll_back() noexcept { now_ = committed_; }

  private:
    static constexpr std::size_t at(drawn_id what) noexcept {
        return static_cast<std::size_t>(what);
    }

    std::array<std::int64_t, tables> now_{};
    std::array<std::int64_t, tables> committed_{};
};

}  // namespace callsign::sqlite
