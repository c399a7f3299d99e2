#pragma once
// The ids of rows: the store draws them, and none is given twice, whatever was removed meanwhile.

#include "connection.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace callsign::sqlite {

// In the order of the columns of sql::last_ids_get, and of sql::totals_set.
enum class id_of : std::uint8_t {
    account,
    series,
    counter,
    token,
    device,
    webhook,
    delivery,
    action,
    effect,
    sealed,
    history,
    task,
    version,  // its row
};

class last_ids {
  public:
    static constexpr std::size_t tables = static_cast<std::size_t>(id_of::version) + 1;

    void load(connection& db);

    std::int64_t last(id_of what) const noexcept { return now_[at(what)]; }
    std::int64_t next(id_of what) noexcept { return ++now_[at(what)]; }
    void skip(id_of what, std::int64_t ids) noexcept { now_[at(what)] += ids; }

    // The parameters of sql::totals_set that are left.
    void bind_to(query& q) const;
    // The transaction's end, one of them.
    void committed() noexcept { committed_ = now_; }
    void roll_back() noexcept { now_ = committed_; }

  private:
    static constexpr std::size_t at(id_of what) noexcept { return static_cast<std::size_t>(what); }

    std::array<std::int64_t, tables> now_{};
    std::array<std::int64_t, tables> committed_{};
};

}  // namespace callsign::sqlite
