#pragma once
// What a store keeps: tables of rows, found by keys.
//
// A table is declared once: a struct, its row; table<Row>, which names its columns; and indexes, of
// which the first is its primary key. From these come the keys, which order rows the same in every
// store, and table_info: what a store needs to read, write and find rows that it does not know. A
// row is not changed once it is shared.

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

// Its value: moved, if nobody else has it. Rows are made by make_shared<Row>.
template <class Row>
Row taken(row_of<Row>&& row) {
    if (row.use_count() > 1) return *row;
    return std::move(const_cast<Row&>(*row));
}
// None: there is no row.
template <class Row>
std::optional<Row> copy_of(const row_of<Row>& row) {
    return row ? std::optional<Row>(*row) : std::nullopt;
}

// ---- keys ----

// A key's parts, one behind the other, so that bytes are ordered as the parts are. Integers take
// eight bytes, ids sixteen, digests 32; text ends with what no text contains.
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

// Takes a key apart, in order. Requires: it is one of these parts.
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

// A store's: takes the columns of a row in their order. What it is handed by reference lives as
// long as the row.
class column_sink {
  public:
    virtual ~column_sink() = default;

    virtual void put_null() = 0;
    virtual void put_integer(std::int64_t value) = 0;
    virtual void put_text(const std::string& text) = 0;
    virtual void put_bytes(std::string_view bytes) = 0;
    // What was made for this call.
    virtual void put_made(std::string bytes) = 0;
    virtual void put_made_text(std::string text) = 0;
    // In a form of the store's.
    virtual void put_attributes(const attributes& set, std::span<const std::string> absent) = 0;
    virtual void put_operations(std::span<const operation> all) = 0;
    virtual void put_retry_record(const retry_record& record) = 0;
    virtual void put_way(const fork_version& fork) = 0;
};

// A store's: gives the columns of a row in their order.
class column_source {
  public:
    virtual ~column_source() = default;

    // True: the next one is NULL, and is behind.
    virtual bool take_null() = 0;
    virtual std::int64_t take_integer() = 0;
    // Text, too. Lives until the next row.
    virtual std::string_view take_bytes() = 0;
    virtual attribute_diff take_attributes() = 0;
    virtual std::vector<operation> take_operations() = 0;
    virtual retry_record take_retry_record() = 0;
    // Fills in what put_way() was given of `left_at`, which is there.
    virtual void take_way(fork_version& fork) = 0;
    // Throws store_failure, of this row.
    [[noreturn]] virtual void damaged(const char* why) = 0;
};

// A column of an enumeration, whose values lie side by side, or of one that may be NULL.
template <class Value, class Enum>
struct one_of {
    Value& value;
    Enum first;
    Enum last;
};
template <class Value, class Enum>
one_of(Value&, Enum, Enum) -> one_of<Value, Enum>;

// A column of a fork version's way; `left_at` comes before it.
template <class Fork>
struct way_of {
    Fork& fork;
};
template <class Fork>
way_of(Fork&) -> way_of<Fork>;

// A column of bytes that are no text.
template <class Value>
struct as_bytes {
    Value& value;
};
template <class Value>
as_bytes(Value&) -> as_bytes<Value>;

// The same; NULL where there are none.
template <class Value>
struct bytes_if_any {
    Value& value;
};
template <class Value>
bytes_if_any(Value&) -> bytes_if_any<Value>;

// A part of what may be none: NULL then. The first of its parts that is not makes it. `whole` null:
// it cannot be.
template <class Optional, class Part>
struct part_of {
    Optional* whole;
    Part part;  // a member, or a function that gives a column
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
inline void put_column(column_sink& to, const way_of<const fork_version>& v) {
    to.put_way(v.fork);
}
// The id of a token, or with a minus before it a device's; NULL: neither.
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
inline void take_column(column_source& from, const way_of<fork_version>& v) {
    from.take_way(v.fork);
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
    if (!v.whole) from.damaged("a part of what is not there");
    if (!*v.whole) v.whole->emplace();
    take_column(from, std::invoke(v.part, **v.whole));
}

// ---- what a store knows of a table ----

// How rows come to be in an index, and are found by it, for a store that makes it of something
// better than a tree of its keys.
enum class index_form : std::uint8_t {
    tree,
    // Keys come in another order than rows do, so that many may be entered at once. They are an
    // owner and a place.
    bulk,
    // A row is asked for by the whole key alone.
    hash,
    // Nearly every row is in it, and only from one commit to the next. Its keys end with the row's
    // id.
    brief,
};

struct table_info;

struct index_info {
    const table_info* table = nullptr;
    std::size_t number = 0;  // among its table's; 0: the primary key
    // The parts of its keys. No two rows that it has share all of them.
    std::vector<std::string_view> columns;
    std::vector<part_kind> kinds;
    std::string_view where;  // SQL, of the rows that it has; empty: all
    bool (*has)(const void* row) = nullptr;
    // None: it does not have the row.
    std::optional<row_key> (*key_of)(const void* row) = nullptr;
    // Whether two rows have one key, or it has neither: key_of() of both, without making them.
    bool (*is_same_key)(const void* row, const void* other) = nullptr;
    bool may_change = false;  // the key of a row
    index_form form = index_form::tree;
    bool may_clash = false;  // one row may take the key of another: it has no primary key in it
};

struct column_info {
    std::string_view name;
    bool may_change = true;
    bool is_in_key = false;  // of an index
};

struct table_info {
    std::size_t number = 0;  // this process's
    std::string_view name;
    std::vector<column_info> columns;
    std::size_t head_columns = 0;  // the first ones; all, if there is nothing large
    std::vector<index_info> indexes;
    void (*put_columns)(const void* row, column_sink& to) = nullptr;
    // Those that may change, of keys too or the rest alone, and then the primary key.
    void (*put_changed)(const void* row, column_sink& to, bool with_keys) = nullptr;
    void (*put_key)(const void* row, column_sink& to) = nullptr;
    row_ptr (*take_row)(column_source& from) = nullptr;
    row_ptr (*take_head)(column_source& from) = nullptr;
    std::size_t (*work_of)(const void* row) = nullptr;
};

// ---- declaring one ----

// Specialized for each row, as in tables/. It has
//
//     name        of the table;
//     indexes     an index_list, the first by its primary key;
//     columns     (row, visitor): for each calls visitor(name, column), or, if it never changes,
//                 visitor.fixed(name, column). The row may be const.
//
// Where a row has large values, it may have besides
//
//     head           a base of the row's, its first: all but those;
//     head_columns   (head, visitor): the first of the columns.
//
// An index is an index_on its row and the columns of its keys, that has
//
//     key         (head): a tuple of ids, integers, times and std::string_views;
//     where, has  SQL, and (head): if it does not have every row;
//     form        if it is no index_form::tree.
//
// A table of rows that may be large says what one costs besides: work(row), as domain/work.hpp has
// it. One whose columns agree says what is wrong with a row that came from the disk: fault(row), or
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
// A head says of which row it is one: `using whole`.
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
// What of a row is found and erased; the row itself, if it has none.
template <class Row>
using head_of = typename head_type<Row>::type;

// A text that a template can have.
template <std::size_t Size>
struct fixed_text {
    char chars[Size];

    consteval fixed_text(const char (&text)[Size]) {
        std::copy_n(text, Size, chars);
    }  // NOLINT: it is one
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

// These parts of a key, of which the first is its `First`-th.
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

// Lives for ever.
template <class Row>
const table_info& info_of_table();

template <class Index>
const index_info& info_of() {
    using row = typename Index::row;
    return info_of_table<row>().indexes[number_in<Index, typename table<row>::indexes>::value];
}

// ---- how it is made of what is declared ----

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

// A key is made for the call.
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

// 0, 1, 2 ...
std::size_t next_number();
// Which columns are in keys, and which keys may change or clash.
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
