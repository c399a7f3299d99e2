#pragma once
// Tables: the rows that a store keeps, found by keys.
//
// A table is declared once: a struct, its row; table<Row>, which names its columns; and indexes, of
// which the first is its primary key. Derived from these are the keys, which sort rows alike in
// every store, and table_info: what a store needs to read, write and find rows of a type that it
// does not know. A row must not be changed once it is shared.

#include <callsign/base/sha256.hpp>
#include <callsign/base/strong_id.hpp>
#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/author.hpp>
#include <callsign/domain/retry_times.hpp>
#include <callsign/domain/task.hpp>
#include <callsign/domain/version.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace callsign {

using row_ptr = std::shared_ptr<const void>;
template <class Row>
using row_of = std::shared_ptr<const Row>;

// Returns the row, moved if there is no other reference. Requires: made by make_shared<Row>.
template <class Row>
Row taken(row_of<Row>&& row) {
    if (row.use_count() > 1) return *row;
    return std::move(const_cast<Row&>(*row));
}
// Returns a copy of the row; none: `row` is null.
template <class Row>
std::optional<Row> copy_of(const row_of<Row>& row) {
    return row ? std::optional<Row>(*row) : std::nullopt;
}

// ---- keys ----

// The parts of a key one after the other, encoded so that the bytes sort as the parts do. Integers
// take eight bytes, UUIDs sixteen, digests 32; text has a terminator that it cannot contain.
using row_key = std::string;

enum class part_kind : std::uint8_t { integer, uuid, digest, text };

template <class Part>
constexpr part_kind kind_of_part() {
    if constexpr (std::is_same_v<Part, uuid>) return part_kind::uuid;
    if constexpr (std::is_same_v<Part, digest>) return part_kind::digest;
    if constexpr (std::is_convertible_v<Part, std::string_view>) return part_kind::text;
    return part_kind::integer;
}

void append_part(row_key& to, std::int64_t value);
void append_part(row_key& to, std::string_view text);
inline void append_part(row_key& to, const uuid& id) {
    to.append(reinterpret_cast<const char*>(id.data), id.size());
}
inline void append_part(row_key& to, const digest& d) {
    to.append(reinterpret_cast<const char*>(d.data()), d.size());
}
inline void append_part(row_key& to, time_point at) {
    append_part(to, static_cast<std::int64_t>(at.time_since_epoch().count()));
}
template <class Tag>
void append_part(row_key& to, strong_id<Tag> id) {
    append_part(to, id.value);
}
template <class Enum>
requires std::is_enum_v<Enum>
void append_part(row_key& to, Enum value) {
    append_part(to, static_cast<std::int64_t>(value));
}
template <class... Parts>
row_key key_of_parts(const std::tuple<Parts...>& parts) {
    row_key key;
    std::apply([&](const auto&... part) { (append_part(key, part), ...); }, parts);
    return key;
}

// Reads a key's parts in order. Requires: the key has these parts.
class key_reader {
  public:
    explicit key_reader(std::string_view key) : left_(key) {}

    std::int64_t integer();
    std::string_view bytes(std::size_t size);
    std::string text();

  private:
    std::string_view left_;
};

// ---- columns ----

// Takes the columns of a row in their order; implemented by stores. What is passed by reference
// lives as long as the row.
class column_sink {
  public:
    virtual ~column_sink() = default;

    virtual void put_null() = 0;
    virtual void put_integer(std::int64_t value) = 0;
    virtual void put_text(const std::string& text) = 0;
    virtual void put_bytes(std::string_view bytes) = 0;
    // For values that were made for this call.
    virtual void put_made(std::string bytes) = 0;
    virtual void put_made_text(std::string text) = 0;
    // Encoded in the store's own form.
    virtual void put_attributes(const attributes& set, std::span<const std::string> absent) = 0;
    virtual void put_operations(std::span<const operation> all) = 0;
    virtual void put_retry_record(const retry_record& record) = 0;
    virtual void put_way(std::int64_t left_at, const fork_way& way) = 0;
};

// Returns the columns of a row in their order; implemented by stores.
class column_source {
  public:
    virtual ~column_source() = default;

    // True: the next column is NULL, and was skipped.
    virtual bool take_null() = 0;
    virtual std::int64_t take_integer() = 0;
    // Also for text. Valid until the next row.
    virtual std::string_view take_bytes() = 0;
    virtual attribute_diff take_attributes() = 0;
    virtual std::vector<operation> take_operations() = 0;
    virtual retry_record take_retry_record() = 0;
    // `left_at` as it was put.
    virtual fork_way take_way(std::int64_t left_at) = 0;
    // Throws store_failure for this row.
    [[noreturn]] virtual void damaged(const char* why) = 0;
};

// A column of an enumeration with contiguous values, or of an optional one.
template <class Value, class Enum>
struct one_of {
    Value& value;
    Enum first;
    Enum last;
};
template <class Value, class Enum>
one_of(Value&, Enum, Enum) -> one_of<Value, Enum>;

// The column of a fork version's way, whose numbers are stored relative to `left_at`.
template <class Way>
struct way_from {
    std::int64_t left_at;
    Way& way;
};
template <class Way>
way_from(std::int64_t, Way&) -> way_from<Way>;

// A column of bytes that are not text.
template <class Value>
struct as_bytes {
    Value& value;
};
template <class Value>
as_bytes(Value&) -> as_bytes<Value>;

// As as_bytes; NULL if empty.
template <class Value>
struct bytes_if_any {
    Value& value;
};
template <class Value>
bytes_if_any(Value&) -> bytes_if_any<Value>;

// A part of an optional value; NULL if there is none. The first part that is not NULL creates the
// value. `whole` null: the value is not possible, so that the column must be NULL.
template <class Optional, class Part>
struct part_of {
    Optional* whole;
    Part part;  // a member, or a function that returns a column
};
template <class Optional, class Part>
part_of(Optional*, Part) -> part_of<Optional, Part>;

inline void put_column(column_sink& to, std::int64_t v) {
    to.put_integer(v);
}
inline void put_column(column_sink& to, bool v) {
    to.put_integer(v ? 1 : 0);
}
inline void put_column(column_sink& to, const std::string& v) {
    to.put_text(v);
}
inline void put_column(column_sink& to, const uuid& v) {
    to.put_bytes({reinterpret_cast<const char*>(v.data), v.size()});
}
inline void put_column(column_sink& to, const digest& v) {
    to.put_bytes({reinterpret_cast<const char*>(v.data()), v.size()});
}
inline void put_column(column_sink& to, time_point v) {
    to.put_integer(v.time_since_epoch().count());
}
inline void put_column(column_sink& to, milliseconds v) {
    to.put_integer(v.count());
}
template <class Tag>
void put_column(column_sink& to, strong_id<Tag> v) {
    to.put_integer(v.value);
}
template <class T>
void put_column(column_sink& to, const std::optional<T>& v) {
    if (v) {
        put_column(to, *v);
    } else {
        to.put_null();
    }
}
inline void put_column(column_sink& to, std::size_t v) {
    to.put_integer(static_cast<std::int64_t>(v));
}
template <class Enum>
requires std::is_enum_v<Enum>
void put_column(column_sink& to, Enum v) {
    to.put_integer(static_cast<std::int64_t>(v));
}
inline void put_column(column_sink& to, const attributes& v) {
    to.put_attributes(v, {});
}
inline void put_column(column_sink& to, const attribute_diff& v) {
    to.put_attributes(v.set, v.absent);
}
inline void put_column(column_sink& to, const std::vector<operation>& v) {
    to.put_operations(v);
}
inline void put_column(column_sink& to, const retry_record& v) {
    to.put_retry_record(v);
}
inline void put_column(column_sink& to, const way_from<const fork_way>& v) {
    to.put_way(v.left_at, v.way);
}
// A token's ID, or a device's ID negated; NULL: neither.
void put_column(column_sink& to, const author& v);
template <class Value, class Enum>
void put_column(column_sink& to, const one_of<Value, Enum>& v) {
    put_column(to, v.value);
}
inline void put_column(column_sink& to, const as_bytes<const std::string>& v) {
    to.put_bytes(v.value);
}
inline void put_column(column_sink& to, const bytes_if_any<const std::string>& v) {
    if (v.value.empty()) {
        to.put_null();
    } else {
        to.put_bytes(v.value);
    }
}
template <class Optional, class Part>
void put_column(column_sink& to, const part_of<Optional, Part>& v) {
    if (v.whole && *v.whole) {
        put_column(to, std::invoke(v.part, **v.whole));
    } else {
        to.put_null();
    }
}

inline void take_column(column_source& from, std::int64_t& v) {
    v = from.take_integer();
}
inline void take_column(column_source& from, bool& v) {
    v = from.take_integer() != 0;
}
inline void take_column(column_source& from, std::string& v) {
    v = from.take_bytes();
}
template <class Bytes>
void take_exactly(column_source& from, Bytes& to) {
    const std::string_view bytes = from.take_bytes();
    if (bytes.size() != to.size()) from.damaged("the size of an id or a digest");
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(&*to.begin()));
}
inline void take_column(column_source& from, uuid& v) {
    take_exactly(from, v);
}
inline void take_column(column_source& from, digest& v) {
    take_exactly(from, v);
}
void take_column(column_source& from, time_point& v);
inline void take_column(column_source& from, milliseconds& v) {
    v = milliseconds{from.take_integer()};
}
template <class Tag>
void take_column(column_source& from, strong_id<Tag>& v) {
    v.value = from.take_integer();
}
template <class T>
void take_column(column_source& from, std::optional<T>& v) {
    v.reset();
    if (!from.take_null()) take_column(from, v.emplace());
}
void take_column(column_source& from, std::size_t& v);
void take_column(column_source& from, attributes& v);
inline void take_column(column_source& from, attribute_diff& v) {
    v = from.take_attributes();
}
inline void take_column(column_source& from, std::vector<operation>& v) {
    v = from.take_operations();
}
inline void take_column(column_source& from, retry_record& v) {
    v = from.take_retry_record();
}
inline void take_column(column_source& from, const way_from<fork_way>& v) {
    v.way = from.take_way(v.left_at);
}
void take_column(column_source& from, author& v);
template <class Enum>
Enum take_one_of(column_source& from, Enum first, Enum last) {
    const std::int64_t v = from.take_integer();
    if (v < static_cast<std::int64_t>(first) || v > static_cast<std::int64_t>(last)) {
        from.damaged("a value that there is not");
    }
    return static_cast<Enum>(v);
}
template <class Enum>
void take_column(column_source& from, const one_of<Enum, Enum>& v) {
    v.value = take_one_of(from, v.first, v.last);
}
template <class Enum>
void take_column(column_source& from, const one_of<std::optional<Enum>, Enum>& v) {
    v.value.reset();
    if (!from.take_null()) v.value = take_one_of(from, v.first, v.last);
}
inline void take_column(column_source& from, const as_bytes<std::string>& v) {
    v.value = from.take_bytes();
}
inline void take_column(column_source& from, const bytes_if_any<std::string>& v) {
    v.value.clear();
    if (!from.take_null()) v.value = from.take_bytes();
}
template <class Optional, class Part>
void take_column(column_source& from, const part_of<Optional, Part>& v) {
    if (from.take_null()) return;
    if (!v.whole) from.damaged("a part of a row that does not exist");
    if (!*v.whole) v.whole->emplace();
    take_column(from, std::invoke(v.part, **v.whole));
}

// ---- the description of a table, for stores ----

// How an index is used, for a store that can implement it better than by a tree of its keys.
enum class index_form : std::uint8_t {
    tree,
    // Keys, an owner and a position, come in no order, so that many should be entered at once.
    bulk,
    // Rows are looked up by whole keys only.
    hash,
    // Nearly every row enters it, but only from one commit to the next. Keys end with the row's ID.
    brief,
};

struct table_info;

struct index_info {
    const table_info* table = nullptr;
    std::size_t number = 0;  // within the table; 0: the primary key
    // The columns of its keys, which are unique among its rows.
    std::vector<std::string_view> columns;
    std::vector<part_kind> kinds;
    std::string_view where;  // SQL condition of its rows; empty: all
    bool (*has)(const void* row) = nullptr;
    // None: the index does not have the row.
    std::optional<row_key> (*key_of)(const void* row) = nullptr;
    // Whether two rows have the same key, or neither is in the index: compares without making keys.
    bool (*is_same_key)(const void* row, const void* other) = nullptr;
    bool may_change = false;  // the key of a row
    index_form form = index_form::tree;
    bool may_clash = false;  // a row may get another's key: it lacks the primary key
};

struct column_info {
    std::string_view name;
    bool may_change = true;
    bool is_in_key = false;  // of an index
};

struct table_info {
    std::size_t number = 0;  // assigned at run time
    std::string_view name;
    std::vector<column_info> columns;
    std::size_t head_columns = 0;  // the first columns; all if no value is large
    std::vector<index_info> indexes;
    void (*put_columns)(const void* row, column_sink& to) = nullptr;
    // Puts the columns that may change, with or without those of keys, and then the primary key.
    void (*put_changed)(const void* row, column_sink& to, bool with_keys) = nullptr;
    void (*put_key)(const void* row, column_sink& to) = nullptr;
    row_ptr (*take_row)(column_source& from) = nullptr;
    row_ptr (*take_head)(column_source& from) = nullptr;
    std::size_t (*work_of)(const void* row) = nullptr;
};

// ---- declaring a table ----

// Specialized for each row, as in tables/. Members:
//
//     name        of the table;
//     indexes     an index_list, the primary key first;
//     columns     (row, visitor): for each calls visitor(name, column), or, if it never changes,
//                 visitor.fixed(name, column). The row may be const.
//
// For a row with large values also
//
//     head           the row's first base class: all but those;
//     head_columns   (head, visitor): the first of the columns.
//
// An index is an index_on the row and the columns of its keys, with
//
//     key         (head): a tuple of IDs, integers, times and std::string_views;
//     where, has  SQL, and (head): unless it has every row;
//     form        unless it is index_form::tree.
//
// Optional: work(row), the additional cost of a row that may be large, as domain/work.hpp counts
// it; fault(row), what is wrong if a row from the disk has columns that contradict each other, or
// null.
template <class Row>
struct table;

template <class Row>
concept has_head = requires {
    typename table<Row>::head;
};
template <class Row>
struct head_type {
    using type = Row;
};
template <has_head Row>
struct head_type<Row> {
    using type = typename table<Row>::head;
};
// A head names the type of its row: `using whole`.
template <class Row>
struct whole_type {
    using type = Row;
};
template <class Head>
requires requires {
    typename Head::whole;
}
struct whole_type<Head> {
    using type = typename Head::whole;
};
template <class Head>
using whole_of = typename whole_type<Head>::type;
// The type by which rows are found and erased: the head, or the row if it has none.
template <class Row>
using head_of = typename head_type<Row>::type;

// A text as a template argument.
template <std::size_t Size>
struct fixed_text {
    char chars[Size];

    consteval fixed_text(const char (&text)[Size]) {
        std::copy_n(text, Size, chars);
    }  // NOLINT: implicit
    constexpr std::string_view view() const { return {chars, Size - 1}; }
};

template <class Row, fixed_text... Columns>
struct index_on {
    using row = Row;
    static constexpr std::array<std::string_view, sizeof...(Columns)> columns{Columns.view()...};
};

template <class... Index>
struct index_list {
    static constexpr std::size_t count = sizeof...(Index);
};

template <class List>
struct first_index_of;
template <class First, class... Rest>
struct first_index_of<index_list<First, Rest...>> {
    using type = First;
};
template <class Row>
using primary_of = typename first_index_of<typename table<Row>::indexes>::type;

template <class Index>
using index_key = decltype(Index::key(std::declval<const head_of<typename Index::row>&>()));

// Returns a key of these parts, of which the first is part number `First` of the index.
template <class Index, std::size_t First, class... Part>
row_key key_from(const Part&... parts) {
    row_key key;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (append_part(key, std::tuple_element_t<First + I, index_key<Index>>(parts)), ...);
    }
    (std::index_sequence_for<Part...>{});
    return key;
}

template <class Index>
bool is_in(const head_of<typename Index::row>& row) {
    if constexpr (requires { Index::has(row); }) {
        return Index::has(row);
    } else {
        return true;
    }
}

template <class Index>
std::optional<row_key> key_in(const head_of<typename Index::row>& row) {
    if (!is_in<Index>(row)) return std::nullopt;
    return key_of_parts(Index::key(row));
}

template <class Index, class List>
struct number_in;
template <class Index, class... Rest>
struct number_in<Index, index_list<Index, Rest...>> : std::integral_constant<std::size_t, 0> {};
template <class Index, class First, class... Rest>
struct number_in<Index, index_list<First, Rest...>>
    : std::integral_constant<std::size_t, 1 + number_in<Index, index_list<Rest...>>::value> {};

// Valid until the process ends.
template <class Row>
const table_info& info_of_table();

template <class Index>
const index_info& info_of() {
    using row = typename Index::row;
    return info_of_table<row>().indexes[number_in<Index, typename table<row>::indexes>::value];
}

// ---- derivation from a declaration ----

namespace tables {

struct names_of_columns {
    std::vector<column_info> all{};
    void fixed(std::string_view name, const auto& /*column*/) { all.push_back({name, false}); }
    void operator()(std::string_view name, const auto& /*column*/) { all.push_back({name, true}); }
};
struct columns_to {
    column_sink& to;
    void fixed(std::string_view /*name*/, const auto& column) { put_column(to, column); }
    void operator()(std::string_view /*name*/, const auto& column) { put_column(to, column); }
};
struct changing_columns_to {
    column_sink& to;
    bool with_keys;
    const column_info* next;
    void fixed(std::string_view /*name*/, const auto& /*column*/) { ++next; }
    void operator()(std::string_view /*name*/, const auto& column) {
        if (!next++->is_in_key || with_keys) put_column(to, column);
    }
};
struct columns_from {
    column_source& from;
    void fixed(std::string_view /*name*/, auto&& column) { take_column(from, column); }
    void operator()(std::string_view /*name*/, auto&& column) { take_column(from, column); }
};

// A key is temporary, so its parts are copied.
inline void put_part(column_sink& to, std::string_view text) {
    to.put_made_text(std::string(text));
}
inline void put_part(column_sink& to, const uuid& id) {
    to.put_made(std::string(id.begin(), id.end()));
}
inline void put_part(column_sink& to, const digest& d) {
    to.put_made(std::string(d.begin(), d.end()));
}
template <class Part>
requires(!std::is_convertible_v<Part, std::string_view>) void put_part(column_sink& to,
                                                                       const Part& part) {
    put_column(to, part);
}

template <class Index>
index_info info_of_index(const table_info* of, std::size_t number) {
    using head = head_of<typename Index::row>;
    static_assert(Index::columns.size() == std::tuple_size_v<index_key<Index>>);
    index_info i{
        .table = of,
        .number = number,
        .columns = {Index::columns.begin(), Index::columns.end()},
        .kinds = {},
        .where = {},
        .has = [](const void* r) { return is_in<Index>(*static_cast<const head*>(r)); },
        .key_of = [](const void* r) { return key_in<Index>(*static_cast<const head*>(r)); },
        .is_same_key =
            [](const void* row, const void* other) {
                const auto& a = *static_cast<const head*>(row);
                const auto& b = *static_cast<const head*>(other);
                if (!is_in<Index>(a) || !is_in<Index>(b)) return is_in<Index>(a) == is_in<Index>(b);
                return Index::key(a) == Index::key(b);
            }};
    [&]<class... Part>(std::type_identity<std::tuple<Part...>>) {
        i.kinds = {kind_of_part<Part>()...};
    }(std::type_identity<index_key<Index>>{});
    if constexpr (requires { Index::where; }) i.where = Index::where;
    if constexpr (requires { Index::form; }) i.form = Index::form;
    return i;
}

template <class Row>
void put_key(const void* row, column_sink& to) {
    std::apply([&](const auto&... part) { (put_part(to, part), ...); },
               primary_of<Row>::key(*static_cast<const head_of<Row>*>(row)));
}

// Returns 0, 1, 2 ...
std::size_t next_number();
// Sets which columns are in keys, and which keys may change or clash.
void note_keys(table_info& t);

template <class Row>
std::size_t work_of_row(const void* row) {
    if constexpr (requires { &table<Row>::work; }) {
        return table<Row>::work(*static_cast<const Row*>(row));
    } else {
        return 0;
    }
}

template <class Row>
struct made_info : table_info {
    made_info() {
        number = next_number();
        name = table<Row>::name;
        const Row none{};
        names_of_columns names;
        table<Row>::columns(none, names);
        columns = std::move(names.all);
        head_columns = columns.size();
        [&]<class... Index>(index_list<Index...>) {
            std::size_t number = 0;
            (indexes.push_back(info_of_index<Index>(this, number++)), ...);
        }(typename table<Row>::indexes{});
        put_columns = [](const void* row, column_sink& to) {
            columns_to all{to};
            table<Row>::columns(*static_cast<const Row*>(row), all);
        };
        note_keys(*this);
        put_changed = [](const void* row, column_sink& to, bool with_keys) {
            changing_columns_to changed{to, with_keys, info_of_table<Row>().columns.data()};
            table<Row>::columns(*static_cast<const Row*>(row), changed);
            tables::put_key<Row>(row, to);
        };
        put_key = tables::put_key<Row>;
        work_of = work_of_row<Row>;
        take_row = [](column_source& from) -> row_ptr {
            auto row = std::make_shared<Row>();
            columns_from all{from};
            table<Row>::columns(*row, all);
            if constexpr (requires { &table<Row>::fault; }) {
                if (const char* const why = table<Row>::fault(*row)) from.damaged(why);
            }
            return row;
        };
        take_head = take_row;
        if constexpr (has_head<Row>) {
            names_of_columns of_head;
            table<Row>::head_columns(static_cast<const head_of<Row>&>(none), of_head);
            head_columns = of_head.all.size();
            take_head = [](column_source& from) -> row_ptr {
                auto head = std::make_shared<head_of<Row>>();
                columns_from all{from};
                table<Row>::head_columns(*head, all);
                return head;
            };
        }
    }
    made_info(const made_info&) = delete;
    made_info& operator=(const made_info&) = delete;
};

}  // namespace tables

template <class Row>
const table_info& info_of_table() {
    static const tables::made_info<Row> info;
    return info;
}

}  // namespace callsign
