#include "rows.hpp"

#include <algorithm>

namespace callsign::postgres {
namespace {

class read_columns final : public columns::decoding_source {
  public:
    read_columns(const PGresult& rows, int row, const table_info& table, std::size_t& work)
        : rows_(rows), row_(row), table_(table), work_(work) {}

    bool take_null() override {
        const bool is = PQgetisnull(&rows_, row_, next_) != 0;
        if (is) ++next_;
        return is;
    }
    std::int64_t take_integer() override { return integer_in(rows_, row_, expect_value()); }
    std::string_view take_bytes() override {
        const std::string_view bytes = bytes_in(rows_, row_, expect_value());
        work_ += bytes.size();
        return bytes;
    }
    void damaged(const char* why) override {
        const bool has_id = table_.indexes.front().kinds.front() == part_kind::integer;
        throw_damaged(std::string(table_.name), has_id ? integer_in(rows_, row_, 0) : 0, why);
    }

  private:
    void worked(std::size_t more) override { work_ += more; }
    int expect_value() {
        if (PQgetisnull(&rows_, row_, next_) != 0) damaged("a column that is NULL");
        return next_++;
    }

    const PGresult& rows_;
    int row_;
    const table_info& table_;
    std::size_t& work_;
    int next_ = 0;
};

}  // namespace

column_arrays::column_arrays(const relation& of) {
    for (std::size_t n = 0; n < of.columns.size(); ++n) add(of.columns[n], of.types[n]);
}

column_arrays column_arrays::of_parts(std::span<const Oid> types) {
    column_arrays parts;
    for (std::size_t n = 0; n < types.size(); ++n) parts.add(n, types[n]);
    return parts;
}

void column_arrays::add(std::size_t column, Oid type) {
    if (array_of_.size() <= column) array_of_.resize(column + 1, -1);
    array_of_[column] = static_cast<int>(arrays_.size());
    arrays_.emplace_back(type);
}

array* column_arrays::next() {
    const std::size_t column = next_++;
    const int at = column < array_of_.size() ? array_of_[column] : -1;
    return at < 0 ? nullptr : &arrays_[static_cast<std::size_t>(at)];
}

void column_arrays::put_null() {
    if (array* const to = next()) to->add_null();
}

void column_arrays::put_integer(std::int64_t value) {
    if (array* const to = next()) to->add_integer(value);
}

void column_arrays::put_bytes(std::string_view bytes) {
    if (array* const to = next()) to->add_bytes(bytes);
}

parameters column_arrays::take() {
    parameters all;
    for (array& each : arrays_) all.add(each.take());
    rows_ = 0;
    return all;
}

row_ptr row_in(const PGresult& rows, int row, const table_info& table, bool head,
               std::size_t& work) {
    read_columns columns(rows, row, table, work);
    return head ? table.take_head(columns) : table.take_row(columns);
}

}  // namespace callsign::postgres
