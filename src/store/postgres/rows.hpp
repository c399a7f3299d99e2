#pragma once
// Rows as parameters, and from results.

#include "connection.hpp"
#include "statements.hpp"

#include <callsign/store/columns.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace callsign::postgres {

// The parts of a key as parameters.
class key_parameters final : public columns::encoding_sink {
  public:
    key_parameters(parameters& to, std::span<const Oid> types) : to_(to), types_(types) {}

    void put_null() override { to_.add_null(), ++next_; }
    void put_integer(std::int64_t value) override { to_.add_integer(value, types_[next_++]); }
    void put_text(const std::string& text) override { put_made(text); }
    void put_bytes(std::string_view bytes) override { put_made(std::string(bytes)); }
    void put_made(std::string bytes) override { to_.add(std::move(bytes)), ++next_; }
    void put_made_text(std::string text) override { put_made(std::move(text)); }

  private:
    void worked(std::size_t /*more*/) override {}

    parameters& to_;
    std::span<const Oid> types_;
    std::size_t next_ = 0;
};

// The columns of rows as arrays. A column of the table may be in some of the relations.
class column_arrays final : public columns::encoding_sink {
  public:
    explicit column_arrays(const relation& of);
    // For values of these types, in their order.
    static column_arrays of_parts(std::span<const Oid> types);
    // For rows of which only the key is put.
    static column_arrays of_keys(const relation& of) {
        return of_parts(std::span(of.types).first(of.key_columns));
    }

    // The columns of a row are put next.
    void begin_row() {
        next_ = 0;
        ++rows_;
    }
    std::size_t rows() const { return rows_; }
    // Leaves them empty.
    parameters take();

    void put_null() override;
    void put_integer(std::int64_t value) override;
    void put_text(const std::string& text) override { put_bytes(text); }
    void put_bytes(std::string_view bytes) override;
    void put_made(std::string bytes) override { put_bytes(bytes); }
    void put_made_text(std::string text) override { put_bytes(text); }

  private:
    void worked(std::size_t /*more*/) override {}
    column_arrays() = default;
    void add(std::size_t column, Oid type);
    // Null: the relation does not have the column.
    array* next();

    std::vector<array> arrays_;
    std::vector<int> array_of_;  // by number of the column in the table; -1: none
    std::size_t next_ = 0;
    std::size_t rows_ = 0;
};

// Returns a row of a result, and adds its cost to `work`. Throws store_failure if it is invalid.
row_ptr row_in(const PGresult& rows, int row, const table_info& table, bool head,
               std::size_t& work);

}  // namespace callsign::postgres
